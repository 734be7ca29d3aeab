package fit_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// TestFrom checks that a run that starts from an earlier fit needs no warm-up, with any number of
// chains and whichever sampler the earlier run had.
func TestFrom(t *testing.T) {
	const text = `data { vector[5] y; } parameters { real mu; real<lower=0> sigma; vector[2] z; }
model { y ~ normal(1000 * mu, sigma); mu ~ normal(0, 1); sigma ~ normal(0, 1); z ~ normal(0, 100); }`
	at := func(shift float64) map[string]any {
		return map[string]any{"y": []float64{shift, shift + 1, shift - 1, shift + 0.5, shift - 0.5}}
	}
	for _, s := range []infer.Sampler{nil, nuts.Sampler{}} {
		old, err := fit.Sample(t.Context(), bind(t, text, at(3)), fit.Options{Sampler: s, Seed: 1, Chains: 3, Warmup: 400, Draws: 200})
		if err != nil {
			t.Fatal(err)
		}
		for _, chains := range []int{2, 4} {
			f, err := fit.Sample(t.Context(), bind(t, text, at(3.2)), fit.Options{Sampler: nuts.Sampler{}, From: old, Seed: 2, Chains: chains, Warmup: -1, Draws: 300})
			if err != nil {
				t.Fatal(err)
			}
			last := old.Report.Chains[1]
			if c := f.Report.Chains[1]; c.StepSize != last.StepSize || c.Start[0] != last.Last[0] || c.Metric.Kind != last.Metric.Kind || c.Metric.Inverse[0] != last.Metric.Inverse[0] {
				t.Errorf("chain 2 began with %v, %v at %v; chain 2 before: %v, %v, %v", c.StepSize, c.Metric, c.Start, last.StepSize, last.Metric, last.Last)
			}
			mu, err := f.Quantity("mu")
			if err != nil {
				t.Fatal(err)
			}
			if row := mu.Row(); math.Abs(row.Mean-0.0032) > 0.0005 || row.Rhat > 1.05 || row.ESSBulk < 100 {
				t.Errorf("%+v", row)
			}
		}
		if _, err := fit.Sample(t.Context(), bind(t, pair, nil), fit.Options{From: old}); err == nil || !strings.Contains(err.Error(), "4 unconstrained parameters, but this posterior has") {
			t.Error(err)
		}
	}
	if _, err := fit.Sample(t.Context(), bind(t, pair, nil), fit.Options{From: &fit.Fit{}}); err == nil || !strings.Contains(err.Error(), "Options.From") {
		t.Error(err)
	}
}
