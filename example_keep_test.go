package ppl_test

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"log"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/nuts"
)

//go:embed examples/eight_schools/eight_schools.model
var models embed.FS

// Embed a model in the program.
func ExampleCompileFS() {
	model, err := ppl.CompileFS(models, "examples/eight_schools/eight_schools.model")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(model.Name())
	// Output: examples/eight_schools/eight_schools.model
}

// sampled returns a fit of the coin model, sampled with NUTS.
func sampled() *ppl.Fit {
	f, err := ppl.Sample(context.Background(), coinPosterior(), ppl.Options{Sampler: nuts.Sampler{}, Seed: 1, Chains: 2})
	if err != nil {
		log.Fatal(err)
	}
	return f
}

// Write a fit to one file, or to a blob in a database, and read it back with its model, its data
// and the options of its run.
func ExampleReadArchive() {
	var blob bytes.Buffer
	if _, err := sampled().WriteTo(&blob); err != nil {
		log.Fatal(err)
	}
	again, err := ppl.ReadArchive(bytes.NewReader(blob.Bytes()), int64(blob.Len()))
	if err != nil {
		log.Fatal(err)
	}
	p, err := again.Quantity("p")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%T, seed %d, mean %.1f\n", again.Config().Sampler, again.Config().Seed, p.Row().Mean)
	// Output: nuts.Sampler, seed 1, mean 0.7
}

// When new data arrive, start from the step size and metric of the last run, without warm-up.
func ExampleSample_warmStart() {
	yesterday := sampled()
	model, err := yesterday.Model()
	if err != nil {
		log.Fatal(err)
	}
	posterior, err := model.Bind(map[string]int{"n": 12, "heads": 9})
	if err != nil {
		log.Fatal(err)
	}
	today, err := ppl.Sample(context.Background(), posterior, ppl.Options{
		Sampler: nuts.Sampler{},
		From:    yesterday,
		Warmup:  -1, // none
		Seed:    2,
	})
	if err != nil {
		log.Fatal(err)
	}
	p, err := today.Quantity("p")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d transitions of warm-up, mean %.2f\n", today.Report.Chains[0].Warmup.Transitions, p.Row().Mean)
	// Output: 0 transitions of warm-up, mean 0.72
}

// A service makes limits once, for all its requests. A mistake in the data is the client's error; a
// run that exceeds the limits is the service's.
func ExampleNewLimits() {
	limits, err := ppl.NewLimits(2, 64<<20)
	if err != nil {
		log.Fatal(err)
	}
	model, err := ppl.Compile("coin.model", coin)
	if err != nil {
		log.Fatal(err)
	}
	request := func(heads, draws int) string {
		posterior, err := model.Bind(map[string]int{"n": 10, "heads": heads})
		if err != nil {
			return "400 " + err.Error()
		}
		_, err = ppl.Sample(context.Background(), posterior, ppl.Options{Seed: 1, Draws: draws, Limits: limits})
		if errors.As(err, new(*ppl.LimitError)) {
			return "503 " + err.Error()
		}
		return fmt.Sprint("200 ", err)
	}
	fmt.Println(request(7, 500))
	fmt.Println(request(11, 500))
	fmt.Println(request(7, 1_000_000))
	// Output:
	// 200 <nil>
	// 400 coin.model:4:25: error: `heads` is 11, but must be at most 10 [E0604]
	// 503 the run needs 288 MB of memory, but all runs together may take 67.1 MB
}

// Set your own metric, here for a parameter whose scale is known, and skip warm-up.
func ExampleSample_metric() {
	fit, err := ppl.Sample(context.Background(), coinPosterior(), ppl.Options{
		Sampler:  nuts.Sampler{},
		Metric:   []infer.Metric{{Kind: infer.Diagonal, Dim: 1, Inverse: []float64{0.4}}},
		StepSize: []float64{0.9},
		Warmup:   -1,
		Seed:     1,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fit.Report.Chains[0].Metric.Inverse, fit.Report.Chains[0].StepSize)
	// Output: [0.4] 0.9
}

// Compute the generated quantities of a later version of the model from the draws of a fit.
func Example_generatedQuantities() {
	f := sampled()
	later, err := ppl.Compile("later.model", coin+"// the same\n")
	if err != nil {
		log.Fatal(err)
	}
	posterior, err := later.Bind(map[string]int{"n": 10, "heads": 7})
	if err != nil {
		log.Fatal(err)
	}
	generated, err := fit.Generate(context.Background(), posterior, f, fit.GenerateOptions{Seed: 3})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(generated.Draws.Names(), generated.Draws.Len(0), "draws of each chain")
	// Output: [next] 1000 draws of each chain
}
