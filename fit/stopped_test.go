package fit_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/model"
)

// TestStoppedClock checks that a run makes the same draws if its clock moves only while it waits:
// no draw depends on time.
func TestStoppedClock(t *testing.T) {
	options := fit.Options{Chains: 3, Warmup: 150, Draws: 200, Seed: 5, SigFigs: 17, TargetESS: 100000, Resumable: true}
	options.Output = filepath.Join(t.TempDir(), "m")
	want, err := fit.Sample(context.Background(), bind(t, pair, nil), options)
	if err != nil {
		t.Fatal(err)
	}
	p := bind(t, pair, nil)
	options.Output = filepath.Join(t.TempDir(), "m")
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		got, err := fit.Sample(t.Context(), p, options)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.Files {
			if rows(t, got.Files[i]) != rows(t, want.Files[i]) {
				t.Errorf("%s differs", got.Files[i])
			}
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("the run waited for %v", d)
		}
	})
}

// TestSeparationWithoutDraws checks that complete separation is distinguished from other flat
// densities even if no step size is found, and that one message is about all chains.
func TestSeparationWithoutDraws(t *testing.T) {
	for text, want := range map[string]string{
		`data { vector[6] x; array[6] int y; } parameters { real a; real b; } model { y ~ bernoulli_logit(a + b * x); }`: "Without a prior: a, b. On the logit scale that is what complete separation does",
		`data { vector[6] x; array[6] int y; } parameters { real a; } model { target += 0 * a; }`:                        "Without a prior: a.",
	} {
		model, err := model.Compile("m", text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := model.Bind(map[string]any{"x": []float64{-3, -2, -1, 1, 2, 3}, "y": []int{0, 0, 0, 1, 1, 1}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fit.Sample(context.Background(), p, fit.Options{Sampler: nuts.Sampler{}, Seed: 2, Chains: 3}); err == nil || strings.Count(err.Error(), want) != 1 || !strings.HasPrefix(err.Error(), "chains 1, 2, 3: ") {
			t.Errorf("%v, not %q", err, want)
		}
	}
}
