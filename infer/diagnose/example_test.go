package diagnose_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/infer/diagnose"
)

// Two chains that sample different distributions: the summary and the checks
// both say so.
func Example() {
	rng := rand.New(rand.NewPCG(1, 2))
	draws := make([][][]float64, 2)
	for chain := range draws {
		for range 500 {
			draws[chain] = append(draws[chain], []float64{rng.NormFloat64(), rng.NormFloat64() + 3*float64(chain)})
		}
	}
	d := diagnose.Slices([]string{"a", "b"}, draws)
	rows := diagnose.Summarize(d)
	for _, r := range rows {
		fmt.Printf("%s: mean %.1f, R-hat %.1f\n", r.Name, r.Mean, r.Rhat)
	}
	for _, f := range diagnose.Check(d, rows, diagnose.Options{}) {
		fmt.Println(f.Code, f.Quantities)
	}
	// Output:
	// a: mean 0.0, R-hat 1.0
	// b: mean 1.5, R-hat 1.7
	// rhat [b]
	// ess [b]
}
