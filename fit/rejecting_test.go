package fit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// TestRejectingDivergences checks the advice about divergences. If they end where the model has no
// density, it is about bounds; in a funnel, it is about steps.
func TestRejectingDivergences(t *testing.T) {
	for _, c := range []struct {
		name, text string
		rejected   bool
	}{
		{"negative scale", "parameters { real s; }\nmodel { s ~ normal(0, 1); 1 ~ normal(0, s); }\n", true},
		{"wall", "parameters { real x; }\nmodel { x ~ normal(0, 1); if (x < 0) target += negative_infinity(); }\n", true},
		{"funnel", "parameters { real v; vector[9] x; }\nmodel { v ~ normal(0, 3); x ~ normal(0, exp(v / 2)); }\n", false},
	} {
		fit, err := fit.Sample(context.Background(), bound(t, c.text), fit.Options{Chains: 2, Seed: 1, Warmup: 200, Draws: 200, Sampler: nuts.Sampler{}})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range fit.Findings() {
			if f.Code != "divergences" {
				continue
			}
			found = true
			if (len(f.Settings) == 0) != c.rejected || strings.Contains(f.Advice, "Smaller steps do not help") != c.rejected || strings.Contains(f.Summary, "The model rejected") != c.rejected {
				t.Errorf("%s: %s %s", c.name, f.Summary, f.Advice)
			}
		}
		if !found {
			t.Errorf("%s: no divergences among the findings: %v", c.name, fit.Findings())
		}
	}
}
