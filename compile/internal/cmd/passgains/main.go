// Command passgains measures the gain of each pass of the compiler. For each row of the table of
// passes, it prints the models whose program the pass changes, and the time of a gradient without
// the pass divided by the time with it. It measures processor time in alternating runs.
//
//	go run ./compile/internal/cmd/passgains
//	go run ./compile/internal/cmd/passgains -posteriordb …/posterior_database -detail
//
// The models are those of everyday use with 1001 rows (run it from the root of the repository), the
// benchmark suite, and posteriordb if a flag names the folder posterior_database of a checkout.
// With -own, each pass is measured only on the model that its row names as the source of the
// recorded gain. A pass changes a model if the listing of the program differs without it. Passes
// that the executor carries out do not change the listing; they are measured on every model.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/internal/benchsuite"
	"github.com/ppl-lang/ppl/internal/cputime"
	"github.com/ppl-lang/ppl/lang/format"
	"github.com/ppl-lang/ppl/lang/source"
)

func main() {
	log.SetFlags(0)
	o := options{}
	posteriordb := flag.String("posteriordb", "", "folder posterior_database of a checkout of posteriordb")
	flag.StringVar(&o.only, "only", "", "models whose names have this part")
	pass := flag.String("pass", "", "passes to measure, with commas between them (default: all); those joined by + are left out together")
	flag.IntVar(&o.binds, "binds", 3, "pairs of programs: where a program lies in memory changes its time by some percent; 0: only list the models that are changed")
	flag.IntVar(&o.rounds, "rounds", 5, "pairs of runs of each pair of programs")
	flag.DurationVar(&o.each, "each", 4*time.Millisecond, "processor time of one run")
	flag.BoolVar(&o.own, "own", false, "measure each pass on the model of its row only")
	detail := flag.Bool("detail", false, "print every model and pass")
	flag.Parse()
	list, err := models(*posteriordb)
	if err != nil {
		log.Fatal(err)
	}
	var subjects []string
	if *pass != "" {
		subjects = strings.Split(*pass, ",")
	} else {
		for _, p := range passes.Table() {
			subjects = append(subjects, p.Name)
		}
	}
	runtime.GOMAXPROCS(1)
	runtime.LockOSThread() // times are those of this thread
	gains := map[string][]gain{}
	for _, p := range list {
		if !strings.Contains(p.Name, o.only) {
			continue
		}
		found, err := o.measure(p, subjects)
		if err != nil {
			log.Printf("%s: %v", p.Name, err)
			continue
		}
		for _, g := range found {
			gains[g.pass] = append(gains[g.pass], g)
			if *detail {
				fmt.Printf("%s\t%s\t%.3f\n", g.pass, g.model, g.ratio)
			}
		}
	}
	fmt.Println("pass\tmodels\tgeometric mean\tleast\tgreatest\tof")
	for _, name := range subjects {
		fmt.Println(summary(name, gains[name]))
	}
}

// gain is the gain of a pass on a model: the time without it divided by the time with it.
type gain struct {
	pass, model string
	ratio       float64
}

// summary returns the line for a pass.
func summary(name string, all []gain) string {
	if len(all) == 0 {
		return name + "\t0"
	}
	slices.SortStableFunc(all, func(a, b gain) int {
		if a.ratio < b.ratio {
			return -1
		}
		return 1
	})
	sum := 0.0
	for _, g := range all {
		sum += math.Log(g.ratio)
	}
	last := all[len(all)-1]
	return fmt.Sprintf("%s\t%d\t%.2f\t%.2f\t%.2f\t%s", name, len(all), math.Exp(sum/float64(len(all))), all[0].ratio, last.ratio, last.model)
}

// models returns the models to measure.
func models(posteriordb string) (list []contest.Posterior, err error) {
	for _, m := range contest.EverydayModels() {
		text, values, err := m.Read(".")
		if err == nil {
			values, err = m.Sized(values, contest.EverydayRows)
		}
		if err != nil {
			return nil, fmt.Errorf("run it from the root of the repository: %w", err)
		}
		list = append(list, contest.Posterior{Name: m.Name, Text: text, Data: values})
	}
	for _, w := range benchsuite.All() {
		values, _ := w.Make()
		b, err := json.Marshal(values)
		if err != nil {
			return nil, err
		}
		list = append(list, contest.Posterior{Name: "benchmark/" + w.Name, Text: w.Source().Text, Data: string(b)})
	}
	if posteriordb == "" {
		return list, nil
	}
	more, err := contest.Posteriors(posteriordb)
	for i := range more {
		more[i].Name = "posteriordb/" + more[i].Name
	}
	return append(list, more...), err
}

type options struct {
	only          string
	binds, rounds int
	each          time.Duration
	own           bool
}

// measure returns the gains of the passes that change a model.
func (o *options) measure(p contest.Posterior, subjects []string) (gains []gain, err error) {
	text := p.Text
	if upgraded, list := format.Upgrade(source.NewFile(p.Name, text), compile.Known); !list.HasErrors() {
		text = upgraded
	}
	prog, list := compile.Compile(source.NewFile(p.Name, text))
	if prog == nil {
		return nil, errors.New(list[0].String())
	}
	set, err := data.ParseJSON("data", []byte(p.Data))
	if err != nil {
		return nil, err
	}
	bind := func(without ...string) (m *compile.Model, listing string, err error) {
		if m, err = prog.Bind(set, compile.BindOptions{Without: without}); err == nil {
			listing, err = m.Listing()
		}
		return m, listing, err
	}
	with, listing, err := bind()
	if err != nil || listing == "" {
		return nil, err
	}
	x, err := point(with)
	if err != nil {
		return nil, err
	}
	for _, s := range subjects {
		names := strings.Split(s, "+")
		if o.own && !slices.ContainsFunc(passes.Table(), func(row passes.Pass) bool { return row.Name == s && row.Model == p.Name }) {
			continue
		}
		without, other, err := bind(names...)
		if err != nil {
			return nil, fmt.Errorf("without %s: %w", s, err)
		}
		executor := slices.ContainsFunc(names, func(n string) bool {
			return n == passes.MemoryPass || n == passes.NativePass || n == passes.PartsPass
		})
		if other == listing && !executor {
			continue
		}
		var ratios []float64
		for k := range o.binds {
			if k > 0 {
				if without, _, err = bind(names...); err != nil {
					return nil, err
				}
				if with, _, err = bind(); err != nil {
					return nil, err
				}
			}
			ratios = append(ratios, o.ratios(without, with, x)...)
		}
		slices.Sort(ratios)
		g := gain{s, p.Name, 1}
		if len(ratios) > 0 {
			g.ratio = ratios[len(ratios)/2]
		}
		gains = append(gains, g)
	}
	return gains, nil
}

// point returns a point that the model accepts.
func point(m *compile.Model) ([]float64, error) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, grad := make([]float64, m.Dim()), make([]float64, m.Dim())
	var last error
	for range 50 {
		for i := range x {
			x[i] = rng.Float64() - 0.5
		}
		lp, err := m.LogDensityGrad(x, grad)
		if err == nil && lp-lp == 0 {
			return x, nil
		}
		last = err
	}
	return nil, fmt.Errorf("no point is accepted: %v", last)
}

// ratios returns the times of a divided by the times of b, in alternating runs.
func (o *options) ratios(a, b *compile.Model, x []float64) []float64 {
	grad := make([]float64, len(x))
	run := func(m *compile.Model, n int) time.Duration {
		begin := cputime.Thread()
		for range n {
			m.LogDensityGrad(x, grad)
		}
		return cputime.Thread() - begin
	}
	times := func(m *compile.Model) int {
		run(m, 1)
		return max(1, int(o.each/max(run(m, 3)/3, 1)))
	}
	na, nb := times(a), times(b)
	var ratios []float64
	for range o.rounds {
		ta, tb := run(a, na), run(b, nb)
		ratios = append(ratios, float64(ta)/float64(na)/(float64(tb)/float64(nb)))
	}
	return ratios
}
