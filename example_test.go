package ppl_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer/hmc"
)

// Go from a model's text to its posterior: how much does coaching help pupils, judged by the
// results of eight schools?
func Example() {
	model, err := ppl.CompileFile("examples/eight_schools/eight_schools.model")
	if err != nil {
		log.Fatal(err) // the error has file, line, column and advice
	}
	posterior, err := model.Bind(map[string]any{
		"J":     8,
		"y":     []float64{28, 8, -3, 7, -1, 1, 18, 12},
		"sigma": []float64{15, 10, 16, 11, 9, 11, 10, 18},
	})
	if err != nil {
		log.Fatal(err)
	}
	fit, err := ppl.Sample(context.Background(), posterior, ppl.Options{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	effect, err := fit.Quantity("mu") // or fit.Variable("theta"), for all schools
	if err != nil {
		log.Fatal(err)
	}
	above := effect.Probability(func(mu float64) bool { return mu > 2 })
	fmt.Printf("sd %.0f, above 2 with probability %.1f\n", effect.Row().SD, above)
	for _, f := range fit.Findings() {
		log.Println(f.Summary, f.Advice) // such as divergences
	}
	// Output:
	// sd 4, above 2 with probability 0.9
}

const coin = `
data {
  int<lower=0> n;
  int<lower=0, upper=n> heads;
}
parameters {
  real<lower=0, upper=1> p;
}
model {
  heads ~ binomial(n, p);
}
generated quantities {
  int next = bernoulli_rng(p);
}
`

// An error in a model is reported with its position.
func ExampleCompile() {
	_, err := ppl.Compile("coin.model", strings.Replace(coin, "(n, p)", "(n, q)", 1))
	fmt.Println(err)
	for _, d := range ppl.Diagnostics(err) {
		fmt.Println(d.Code, "in line", d.Span.Begin().Line)
	}
	// Output:
	// coin.model:10:23: error: `q` is not declared [E0201]
	// E0201 in line 10
}

// Data can come from a struct.
func ExampleModel_Bind() {
	model, err := ppl.Compile("coin.model", coin)
	if err != nil {
		log.Fatal(err)
	}
	type tosses struct {
		N     int `ppl:"n"`
		Heads int `ppl:"heads"`
	}
	posterior, err := model.Bind(tosses{N: 10, Heads: 7})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(posterior.Dim(), posterior.UnconstrainedNames(), posterior.OutputNames())
	// Output: 1 [p] [p next]
}

// Data can be JSON, in Stan's format.
func ExampleModel_Bind_json() {
	model, err := ppl.Compile("coin.model", coin)
	if err != nil {
		log.Fatal(err)
	}
	if _, err = model.Bind(ppl.JSON(`{"n": 10, "heads": 7}`)); err != nil {
		log.Fatal(err)
	}
	_, err = model.Bind(ppl.JSON(`{"n": 10, "heads": 11}`))
	fmt.Println(strings.SplitN(err.Error(), "\n", 2)[0])
	// Output: data:1:20: error: `heads` is 11, but must be at most 10 [E0604]
}

// Compute the log density and its gradient at a point of the unconstrained space, and the values of
// the model's parameters there.
func ExamplePosterior_LogDensityGrad() {
	model, err := ppl.Compile("coin.model", coin)
	if err != nil {
		log.Fatal(err)
	}
	posterior, err := model.Bind(map[string]int{"n": 10, "heads": 7})
	if err != nil {
		log.Fatal(err)
	}
	x, gradient := []float64{0}, make([]float64, 1)
	lp, err := posterior.LogDensityGrad(x, gradient)
	if err != nil {
		log.Fatal(err) // the model rejects x
	}
	values, err := posterior.Constrain(x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("log density %.6f, gradient %.6f, %s = %.2f\n", lp, gradient[0], posterior.ConstrainedNames()[0], values[0])
	// Output: log density -8.317766, gradient 2.000000, p = 0.50
}

// Limit the time of a run, choose another sampler, and read draws by name.
func ExampleSample() {
	model, err := ppl.Compile("coin.model", coin)
	if err != nil {
		log.Fatal(err)
	}
	posterior, err := model.Bind(map[string]int{"n": 10, "heads": 7})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fit, err := ppl.Sample(ctx, posterior, ppl.Options{
		Sampler: hmc.Sampler{},
		Chains:  2,
		Draws:   2000,
		Seed:    1,
	})
	if err != nil {
		log.Fatal(err)
	}
	p, err := fit.Quantity("p")
	if err != nil {
		log.Fatal(err)
	}
	above := p.Probability(func(p float64) bool { return p > 0.5 })
	fmt.Printf("%d draws, probability that heads come more often: %.1f\n", len(p.Values()), above)
	// Output: 4000 draws, probability that heads come more often: 0.9
}
