package fit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// TestRejectingDivergences checks the advice about divergences. If they end where the density is
// zero, it is about bounds; in a funnel, it is about steps; if some do, it is about both.
func TestRejectingDivergences(t *testing.T) {
	for _, c := range []struct {
		name, text string
		bounds     bool // the advice is about bounds
		steps      bool // it is about steps
	}{
		{"negative scale", "parameters { real s; }\nmodel { s ~ normal(0, 1); 1 ~ normal(0, s); }\n", true, true},
		{"wall", "parameters { real x; }\nmodel { x ~ normal(0, 1); if (x < 0) target += negative_infinity(); }\n", true, false},
		{"funnel", "parameters { real v; vector[9] x; }\nmodel { v ~ normal(0, 3); x ~ normal(0, exp(v / 2)); }\n", false, true},
	} {
		fit, err := fit.Sample(context.Background(), bound(t, c.text), fit.Options{Chains: 2, Seed: 1, Warmup: 200, Draws: 200, Sampler: nuts.Sampler{}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range fit.Report.Chains {
			r := &fit.Report.Chains[i]
			if r.Warmup.Rejected+r.Sampling.Rejected != r.Rejected {
				t.Errorf("%s: %d rejections in warm-up and %d after it, but %d in all", c.name, r.Warmup.Rejected, r.Sampling.Rejected, r.Rejected)
			}
			r.Warmup.Rejected += 1e6 // these say nothing about the draws
			r.Rejected += 1e6
		}
		found := false
		for _, f := range fit.Findings() {
			if f.Code != "divergences" {
				continue
			}
			found = true
			if (len(f.Settings) > 0) != c.steps || strings.Contains(f.Advice, "Smaller steps do not help") == c.steps ||
				strings.Contains(f.Advice, "Declare the bounds") != c.bounds || strings.Contains(f.Summary, "the model rejected") != c.bounds {
				t.Errorf("%s: %s %s", c.name, f.Summary, f.Advice)
			}
		}
		if !found {
			t.Errorf("%s: no divergences among the findings: %v", c.name, fit.Findings())
		}
	}
}
