package assess_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
)

// TestNPDE compares prediction distribution errors with exact ones, of a normal model whose scales
// are known: observations of a subject have the variance τ² + σ² and the covariance τ², and are
// decorrelated by the Cholesky factor. Counts and models without groups are judged too.
func TestNPDE(t *testing.T) {
	const known = `parameters { real<lower=0> tau; vector[J] u; } model { tau ~ normal(1, 0.001); `
	for _, text := range []string{known + `u ~ normal(0, tau); y ~ normal(u[id], 0.5); }`, known + `u ~ std_normal(); y ~ normal(tau * u[id], 0.5); }`} {
		f := sampled(t, subjectData+text, subjects(), thousand)
		sets, err := assess.IndividualsOf(t.Context(), f, assess.IndividualOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for j, s := range sets[0].Subjects {
			// The part of an observation that those before do not predict, by the formula for n
			// observations with equal correlations.
			sum := 0.0
			for k, r := range s.Rows {
				n := float64(k)
				want := (r.Observed - sum/(n+0.25)) / math.Sqrt(0.25+0.25/(n+0.25))
				sum += r.Observed
				if tol := 0.12 * (1 + want*want/2); !(math.Abs(r.NPDE-want) <= tol) {
					t.Errorf("subject %d, observation %d: NPDE %.3f, want %.3f within %.2f", j+1, k+1, r.NPDE, want, tol)
				}
			}
		}
		if n, mean, sd := sets[0].Residuals(assess.NPDE); n != 9 || math.IsNaN(mean) || !(sd > 0) || sets[0].NoNPDE != nil {
			t.Errorf("%d NPDE with mean %g and standard deviation %g: %v", n, mean, sd, sets[0].NoNPDE)
		}
	}
	counts := subjects()
	counts["y"] = []int{1, 0, 2, 3, 0, 1, 4, 2, 1}
	f := sampled(t, `data { int N, J; array[N] int id; vector[N] time; array[N] int y; } parameters { real m; vector[J] u; }
		model { m ~ normal(0, 1); u ~ normal(m, 1); y ~ poisson_log(u[id]); }`, counts, thousand)
	sets, err := assess.IndividualsOf(t.Context(), f, assess.IndividualOptions{})
	if err != nil || sets[0].NoNPDE == nil || !math.IsNaN(sets[0].Subjects[0].Rows[0].NPDE) {
		t.Errorf("counts: %+v, %v", sets, err)
	}
	counts["y"] = []int{1, 1, 2, 3, 1, 1, 3, 2, 1}
	f = sampled(t, `data { int N, J; array[N] int id; vector[N] time; array[N] int<lower=1, upper=3> y; } parameters { ordered[2] c; vector[J] u; }
		model { c ~ normal(0, 2); u ~ normal(0, 1); for (i in 1:N) y[i] ~ ordered_logistic(u[id[i]], c); }`, counts, thousand)
	if _, err = assess.IndividualsOf(t.Context(), f, assess.IndividualOptions{}); err == nil || !strings.Contains(err.Error(), "the values of y are categories (ordered_logistic)") {
		t.Errorf("categories: %v", err)
	}
}
