package compile

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestSameInAllLanes checks values that all lanes of a loop write, or all of some lanes, outside
// and inside a branch: their loops are carried out as planned, and the last write counts.
func TestSameInAllLanes(t *testing.T) {
	prog, list := Compile(source.NewFile("same.stan", `data { int N; }
parameters { real a; }
generated quantities {
  real last = -1;
  real inside = -1;
  array[N] real each;
  for (i in 1:N) last = i % 2 == 1 ? 0.5 : 0.07;
  for (i in 1:N) each[i] = i % 3 == 0 ? 0.25 : 0.75;
  if (a > 0) {
    for (i in 1:N) inside = i % 2 == 1 ? 0.5 : 0.07;
  }
}`))
	if prog == nil {
		t.Fatal(list)
	}
	for n, want := range [][]float64{{-1}, {0.5, 0.75}, {0.07, 0.75, 0.75}, {0.5, 0.75, 0.75, 0.25},
		{0.07, 0.75, 0.75, 0.25, 0.75}, {0.5, 0.75, 0.75, 0.25, 0.75, 0.75}} {
		set, err := data.FromGo(map[string]any{"N": n})
		if err != nil {
			t.Fatal(err)
		}
		m, err := prog.Bind(set, BindOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []float64{-1, 1} {
			got := make([]float64, len(m.OutputNames()))
			if err := m.Generate([]float64{a}, rand.New(rand.NewPCG(1, 2)), got); err != nil {
				t.Fatal(err)
			}
			inside := -1.0
			if a > 0 {
				inside = want[0]
			}
			if all := slices.Concat([]float64{a, want[0], inside}, want[1:]); !slices.Equal(got, all) {
				t.Errorf("N = %d, a = %v: %v, want %v", n, a, got, all)
			}
		}
		if f := m.Loops().Faults; len(f) > 0 {
			t.Errorf("N = %d: %q", n, f)
		}
	}
}
