package fit

import (
	"math"
	"testing"

	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/model"
)

// TestStartsNearPrior checks that chains start at plausible values if the model rejects others, and
// that the prior's mode is found without the transformed parameters that reject.
func TestStartsNearPrior(t *testing.T) {
	const declared = `data { int n; array[n] real y; }
parameters { real<lower=0> a; vector[2] b; }
transformed parameters {
  real c = log(a);
  if (abs(c - 7) > 0.5 || abs(b[1]) > 0.8) reject("a = ", a, " is far");
}
model {
  y ~ normal(b[1] + c, 1);
`
	for name, c := range map[string]struct {
		prior  string
		starts bool
	}{
		"plausible": {"a ~ lognormal(7, 0.1); b ~ normal(0, 0.2); }", true},
		"improper":  {"b ~ normal(0, 0.2); }", false},
		"used":      {"c ~ normal(7, 0.1); b ~ normal(0, 0.2); }", true}, // the prior needs c, not its rejection
	} {
		m, err := model.Compile("m", declared+c.prior)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Bind(map[string]any{"n": 2, "y": []float64{7, 7.5}})
		if err != nil {
			t.Fatal(err)
		}
		f, err := Sample(t.Context(), p, Options{Sampler: nuts.Sampler{}, Chains: 2, Warmup: 5, Draws: 5, Seed: 3})
		if (err == nil) != c.starts {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		for _, r := range f.Report.Chains {
			if r.InitAttempts <= 20 || !(math.Abs(r.Start[0]-7) <= 0.5) {
				t.Errorf("%s: %d attempts, start %v", name, r.InitAttempts, r.Start)
			}
		}
	}
}
