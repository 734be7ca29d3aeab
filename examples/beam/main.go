// Command beam fits a model to each of many data sets with Apache Beam. It is an example of a fit
// as a step in an existing pipeline. If you do not use Beam yet, use `ppl study` instead.
//
//	go run . --model m.stan --data 'sets/*.json' --out results.jsonl
//
// It runs in this process, on Beam's runner prism, unless --runner names another runner.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"log"
	"os"
	"path/filepath"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

func init() {
	register.DoFn4x1[context.Context, string, string, func(string, Result), error](&Fit{})
	register.Emitter2[string, Result]()
	register.Function2x1(asLine)
	beam.RegisterType(reflect.TypeFor[Result]())
}

// Fit fits a model to data sets. It takes names with JSON data, and emits names with results.
type Fit struct {
	Model string // the text of the model
	Seed  uint64

	model      *ppl.Model
	summarizer *diagnose.Summarizer
}

// Result is the result of a fit.
type Result struct {
	Error    string   // why the other fields are empty
	Findings []string // codes of what is wrong
	Rows     []diagnose.Row
}

// Setup compiles the model once for all elements that a worker processes.
func (f *Fit) Setup() (err error) {
	f.summarizer = &diagnose.Summarizer{Parallel: 1}
	f.model, err = ppl.Compile("model", f.Model)
	return err
}

// ProcessElement runs a fit. Data that do not match the model give a Result with an error, because
// Beam would retry a returned error several times and then fail the pipeline.
func (f *Fit) ProcessElement(ctx context.Context, name, data string, emit func(string, Result)) error {
	posterior, err := f.model.Bind(ppl.JSON(data))
	if err != nil {
		emit(name, Result{Error: err.Error()})
		return nil
	}
	// The seed depends only on the name, so that processing an element twice gives the same result.
	seed := fnv.New64a()
	fmt.Fprintf(seed, "%d %s", f.Seed, name)
	fit, err := ppl.Sample(ctx, posterior, ppl.Options{Seed: seed.Sum64() >> 32, Parallel: 1})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		emit(name, Result{Error: err.Error()})
		return nil
	}
	r := Result{Rows: fit.SummaryOf(f.summarizer, nil, diagnose.AllMeasures)}
	for _, finding := range fit.FindingsOf(r.Rows) {
		r.Findings = append(r.Findings, finding.Code)
	}
	emit(name, r)
	return nil
}

// asLine encodes a result as a line of JSON.
func asLine(name string, r Result) string {
	line, err := json.Marshal(struct {
		Name string
		Result
	}{name, r})
	if err != nil {
		return err.Error()
	}
	return string(line)
}

// pipeline builds the steps that fit a model to the data of files.
func pipeline(s beam.Scope, model string, names, data []string, seed uint64) beam.PCollection {
	sets := make([]set, len(names))
	for i := range names {
		sets[i] = set{names[i], data[i]}
	}
	list := beam.CreateList(s, sets)
	return beam.ParDo(s, &Fit{Model: model, Seed: seed}, beam.Reshuffle(s, beam.ParDo(s, pair, list)))
}

// set is a data set.
type set struct{ Name, Data string }

func pair(x set) (string, string) { return x.Name, x.Data }

func init() {
	register.Function1x2(pair)
	beam.RegisterType(reflect.TypeFor[set]())
}

func main() {
	model := flag.String("model", "", "file of the model")
	pattern := flag.String("data", "", "files of data, as JSON, such as 'sets/*.json'")
	out := flag.String("out", "", "file for the results, a line of JSON for each")
	seed := flag.Uint64("seed", 1, "seed of the random numbers")
	flag.Parse()
	beam.Init()
	if err := run(context.Background(), *model, *pattern, *out, *seed); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, model, pattern, out string, seed uint64) error {
	text, err := os.ReadFile(model)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 || out == "" {
		return fmt.Errorf("no files are called %q, or --out is missing", pattern)
	}
	data := make([]string, len(files))
	for i, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		data[i] = string(content)
	}
	p, s := beam.NewPipelineWithRoot()
	textio.Write(s, out, beam.ParDo(s, asLine, pipeline(s, string(text), files, data, seed)))
	return beamx.Run(ctx, p)
}
