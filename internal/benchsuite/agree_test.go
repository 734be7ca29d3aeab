package benchsuite_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/internal/benchsuite"
)

// TestSuiteAgrees checks that the compiled log densities and slopes of the suite agree with the
// reference evaluator, and that two bindings have the same listing.
func TestSuiteAgrees(t *testing.T) {
	for _, w := range benchsuite.All() {
		values, _ := w.Make()
		set, err := data.FromGo(values)
		if err != nil {
			t.Fatal(err)
		}
		prog, _ := compile.Compile(w.Source())
		var listings []string
		for range 2 {
			m, err := prog.Bind(set, compile.BindOptions{})
			if err != nil {
				t.Fatal(err)
			}
			text, err := m.Listing()
			if err != nil {
				t.Fatal(err)
			}
			if listings = append(listings, text); len(listings) > 1 {
				continue
			}
			rng := rand.New(rand.NewPCG(1, 2))
			x := make([]float64, m.Dim())
			for i := range x {
				x[i] = rng.Float64() - 0.5
			}
			if a, err := m.Agree(x, rng, time.Hour); err != nil || a.Verdict != compile.Agrees || !a.Sloped {
				t.Errorf("%s: %+v, %v", w.Name, a, err)
			}
		}
		if listings[0] != listings[1] {
			t.Errorf("%s: two bindings have different listings", w.Name)
		}
	}
}
