package assess_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
)

// fixedScales fixes the mean and the standard deviation of a population to 1e-4.
const fixedScales = `tau ~ normal(1, 1e-4); m ~ normal(0.3, 1e-4); `

// TestCWRES compares conditional weighted residuals with exact ones. Observations of a subject have
// the covariance matrix σ² I + τ² 1 1'. Its eigenvalues are σ² and, for the vector 1, σ² + n τ².
// Its inverse square root follows by hand. All models are linear on some scale.
func TestCWRES(t *testing.T) {
	const parameters = `parameters { real m; real<lower=0> tau; vector[J] u; } `
	logged := subjects()
	var y []float64
	for _, x := range logged["y"].([]float64) {
		y = append(y, math.Exp(x))
	}
	logged["y"] = y
	for _, c := range []struct {
		text string
		data map[string]any
	}{
		{subjectData + parameters + `model { ` + fixedScales + `u ~ normal(m, tau); y ~ normal(u[id], 0.5); }`, subjects()},
		{subjectData + parameters + `model { ` + fixedScales + `u ~ std_normal(); y ~ normal(m + tau * u[id], 0.5); }`, subjects()},
		{subjectData + parameters + `model { ` + fixedScales + `u ~ normal(m, tau); y ~ lognormal(u[id], 0.5); }`, logged},
		{subjectData + parameters + `model { ` + fixedScales + `u ~ normal(m, tau); log(y) ~ normal(u[id], 0.5); }`, logged},
		{subjectData + `parameters { real m; real<lower=0> tau; vector<lower=0>[J] u; } model { ` + fixedScales + `u ~ lognormal(m, tau); y ~ lognormal(log(u[id]), 0.5); }`, logged},
		{subjectData + parameters + `transformed parameters { matrix[J, J] S = add_diag(rep_matrix(0, J, J), tau^2); }
			model { ` + fixedScales + `u ~ multi_normal(rep_vector(m, J), S); y ~ normal(u[id], 0.5); }`, subjects()},
	} {
		sets, err := assess.IndividualsOf(t.Context(), sampled(t, c.text, c.data, fit.Options{Seed: 1, Chains: 2, Draws: 200}), assess.IndividualOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(sets) != 1 || sets[0].NoCWRES != nil {
			t.Fatalf("%s: %v", c.text, sets[0].NoCWRES)
		}
		for j, s := range sets[0].Subjects {
			n, mean := float64(len(s.Rows)), 0.0
			residual := make([]float64, len(s.Rows))
			for i, r := range s.Rows {
				y := r.Observed
				if strings.Contains(c.text, "log") {
					y = math.Log(y)
				}
				residual[i] = y - 0.3
				mean += residual[i] / n
			}
			for i, r := range s.Rows {
				if want := (residual[i]-mean)/0.5 + mean/math.Sqrt(0.25+n); !(math.Abs(r.CWRES-want) <= 2e-4*(1+math.Abs(want))) {
					t.Errorf("%s: subject %d, observation %d: CWRES %.6f, want %.6f", c.text, j+1, i+1, r.CWRES, want)
				}
			}
		}
	}
}

// TestCWRESOfCurves compares the residuals of a model that is not linear in the subjects'
// parameters with the definition, written for it: the mode by a search in small steps, and the
// derivative by hand.
func TestCWRESOfCurves(t *testing.T) {
	const text = subjectData + `parameters { real m; real<lower=0> tau; vector[J] u; }
		model { ` + fixedScales + `u ~ normal(0, tau); y ~ normal(exp(m + 0.5 * u[id]), 0.5 + 0.1 * exp(m + 0.5 * u[id])); }`
	sets, err := assess.IndividualsOf(t.Context(), sampled(t, text, subjects(), fit.Options{Seed: 1, Chains: 2, Draws: 200}), assess.IndividualOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for j, s := range sets[0].Subjects {
		density := func(u float64) float64 {
			f := math.Exp(0.3 + 0.5*u)
			lp, sd := -u*u/2, 0.5+0.1*f
			for _, r := range s.Rows {
				lp -= (r.Observed-f)*(r.Observed-f)/(2*sd*sd) + math.Log(sd)
			}
			return lp
		}
		u := 0.0
		for step := 1.0; step > 1e-9; step /= 2 {
			for density(u+step) > density(u) {
				u += step
			}
			for density(u-step) > density(u) {
				u -= step
			}
		}
		f := math.Exp(0.3 + 0.5*u)
		slope, variance, n := 0.5*f, (0.5+0.1*f)*(0.5+0.1*f), float64(len(s.Rows))
		mean := 0.0
		for _, r := range s.Rows {
			mean += (r.Observed - f + slope*u) / n
		}
		for i, r := range s.Rows {
			want := (r.Observed-f+slope*u-mean)/math.Sqrt(variance) + mean/math.Sqrt(variance+n*slope*slope)
			if !(math.Abs(r.CWRES-want) <= 5e-4*(1+math.Abs(want))) {
				t.Errorf("subject %d, observation %d: CWRES %.6f, want %.6f", j+1, i+1, r.CWRES, want)
			}
		}
	}
}

// TestNoCWRES: models without conditional weighted residuals say why.
func TestNoCWRES(t *testing.T) {
	for _, c := range []struct{ model, want string }{
		{`u ~ student_t(4, 0, tau); y ~ normal(u[id], 0.5);`, "the distribution of u[1] is not normal"},
		{`u ~ normal(0, 1); y ~ normal(u[id], 0.5);`, "no parameter describes a population"},
		{`u ~ normal(m, tau); for (n in 1:N) y[n] ~ normal(u[id[n]], 0.5) T[-9, 9];`, "truncated, is not known"},
	} {
		f := sampled(t, subjectData+`parameters { real m; real<lower=0> tau; vector[J] u; } model { `+fixedScales+c.model+` }`, subjects(), fit.Options{Seed: 1, Chains: 1, Draws: 20})
		sets, err := assess.IndividualsOf(t.Context(), f, assess.IndividualOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(sets) != 1 || sets[0].NoCWRES == nil || !strings.Contains(sets[0].NoCWRES.Error(), c.want) || !math.IsNaN(sets[0].Subjects[0].Rows[0].CWRES) {
			t.Errorf("%s: %v, want %q", c.model, sets[0].NoCWRES, c.want)
		}
	}
}
