package fit_test

import (
	"context"
	"sync"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/model"
)

// A run can be looked at while it goes on: what is seen is the beginning of what it
// draws, and its summary and findings can be asked for.
func TestWatch(t *testing.T) {
	model, err := model.Compile("m.stan", "parameters { real x; vector[2] y; } model { x ~ normal(0, 1); y ~ normal(x, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := model.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	var sofar func() *fit.Fit
	var seen []*fit.Fit
	var looking sync.WaitGroup
	look := make(chan struct{}, 1)
	fit, err := fit.Sample(context.Background(), posterior, fit.Options{Seed: 1, Chains: 2, Parallel: 1, Draws: 2000,
		Watch: func(f func() *fit.Fit) {
			sofar = f
			looking.Go(func() {
				for range look {
					f := sofar()
					if every, running := f.Running(); !running || every != 1 {
						t.Errorf("every %d, running %t", every, running)
					}
					f.Summary()
					f.Findings()
					seen = append(seen, f)
				}
			})
		},
		Progress: func(infer.Progress) {
			select {
			case look <- struct{}{}:
			default:
			}
		}})
	close(look)
	looking.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if _, running := fit.Running(); running || sofar == nil || len(seen) == 0 {
		t.Fatalf("running %t, seen %d times", running, len(seen))
	}
	seen = append(seen, sofar())
	whole := map[int][]float64{}
	for chain := range 2 {
		whole[chain] = fit.Draws.Column(nil, chain, 0)
	}
	for _, f := range seen {
		for chain := range 2 {
			for i, v := range f.Draws.Column(nil, chain, 0) {
				if v != whole[chain][i] {
					t.Fatalf("draw %d of chain %d is %v, then %v", i, chain, v, whole[chain][i])
				}
			}
		}
	}
	if last := seen[len(seen)-1]; last.Draws.Len(0) != 2000 || last.Summary()[0] != fit.Summary()[0] {
		t.Error("the last look differs from the fit")
	}
}
