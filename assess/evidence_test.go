package assess_test

import (
	"context"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/infer/tempered"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/model"
)

// evidenceOf fits a model and estimates its evidence.
func evidenceOf(t *testing.T, text string, values map[string]any, o fit.Options) *assess.Evidence {
	t.Helper()
	f := sampled(t, text, values, o)
	e, err := assess.EvidenceOf(context.Background(), f, o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// integral returns the integral of f between a and b, by Simpson's rule.
func integral(f func(x float64) float64, a, b float64) float64 {
	const n = 4000
	sum := f(a) + f(b)
	for i := 1; i < n; i++ {
		sum += float64(2+2*(i%2)) * f(a+(b-a)*float64(i)/n)
	}
	return sum * (b - a) / n / 3
}

// normal returns the density of a normal distribution.
func normal(x, mu, sigma float64) float64 {
	z := (x - mu) / sigma
	return math.Exp(-z*z/2) / (sigma * math.Sqrt(2*math.Pi))
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// exactEvidence is a model whose evidence is known: a conjugate model, or one whose single
// parameter can be integrated out.
type exactEvidence struct {
	name, text string
	values     map[string]any
	want       float64
	codes      []string // of findings
}

func exactEvidences() []exactEvidence {
	y := []float64{0.3, -1.2, 2.1, 0.8, 1.4}
	likelihood := func(mu, sigma float64) float64 {
		p := 1.0
		for _, v := range y {
			p *= normal(v, mu, sigma)
		}
		return p
	}
	pairs := [][]float64{{1, 0.5}, {-1, -1.2}, {0.3, 0.8}, {2, 1.5}}
	correlated := math.Log(integral(func(r float64) float64 {
		p := 0.5
		for _, v := range pairs {
			p *= normal(v[0], 0, 1) * normal(v[1], r*v[0], math.Sqrt(1-r*r))
		}
		return p
	}, -1+1e-9, 1-1e-9))
	return []exactEvidence{
		{"uniform probability", `data { int n; int y; } parameters { real<lower=0, upper=1> p; } model { y ~ binomial(n, p); }`,
			map[string]any{"n": 10, "y": 7}, -math.Log(11), nil},
		{"gamma and Poisson", `data { array[3] int y; } parameters { real<lower=0> r; } model { r ~ gamma(2, 1); y ~ poisson(r); }`,
			map[string]any{"y": []int{3, 5, 2}}, lgamma(12) - 12*math.Log(4) - math.Log(6*120*2), nil},
		{"a bound that cuts off half of the prior", `data { vector[5] y; } parameters { real<lower=0> s; } model { s ~ normal(0, 2); y ~ normal(0, s); }`,
			map[string]any{"y": y}, math.Log(integral(func(s float64) float64 {
				if s == 0 {
					return 0
				}
				return 2 * normal(s, 0, 2) * likelihood(0, s)
			}, 0, 40)), []string{"prior-mass"}},
		{"the same with a truncated prior", `data { vector[5] y; } parameters { real<lower=0> s; } model { s ~ normal(0, 2) T[0, ]; y ~ normal(0, s); }`,
			map[string]any{"y": y}, math.Log(integral(func(s float64) float64 {
				if s == 0 {
					return 0
				}
				return 2 * normal(s, 0, 2) * likelihood(0, s)
			}, 0, 40)), nil},
		{"a flat prior", `data { vector[5] y; } parameters { real mu; } model { y ~ normal(mu, 1); }`,
			map[string]any{"y": y}, math.Log(integral(func(mu float64) float64 { return likelihood(mu, 1) }, -20, 20)), []string{"improper-prior"}},
		{"a prior of a computed quantity", `data { vector[5] y; } parameters { real mu; } transformed parameters { real half = mu / 2; } model { half ~ normal(0, 0.5); y ~ normal(mu, 1); }`,
			map[string]any{"y": y}, math.Log(integral(func(mu float64) float64 { return normal(mu, 0, 1) * likelihood(mu, 1) }, -20, 20)), []string{"prior-mass"}},
		{"groups", `data { vector[5] y; } parameters { real mu; vector[5] theta; } model { mu ~ normal(0, 2); theta ~ normal(mu, 1); y ~ normal(theta, 0.5); }`,
			map[string]any{"y": y}, math.Log(integral(func(mu float64) float64 {
				return normal(mu, 0, 2) * likelihood(mu, math.Sqrt(1+0.25))
			}, -30, 30)), nil},
		{"Dirichlet and multinomial", `data { array[3] int y; } parameters { simplex[3] p; } model { p ~ dirichlet([1, 2, 3]'); y ~ multinomial(p); }`,
			map[string]any{"y": []int{4, 0, 6}}, lgamma(6) - lgamma(1) - lgamma(2) - lgamma(3) +
				lgamma(5) + lgamma(2) + lgamma(9) - lgamma(16) + lgamma(11) - lgamma(5) - lgamma(1) - lgamma(7), nil},
		{"inverse gamma variance", `data { vector[5] y; } parameters { real<lower=0> v; } model { v ~ inv_gamma(3, 2); y ~ normal(0, sqrt(v)); }`,
			map[string]any{"y": y}, func() float64 {
				square := 0.0
				for _, x := range y {
					square += x * x
				}
				return 3*math.Log(2) - lgamma(3) + lgamma(5.5) - 5.5*math.Log(2+square/2) - 2.5*math.Log(2*math.Pi)
			}(), nil},
		{"Pareto and uniform", `data { vector[5] y; } parameters { real<lower=4> top; } model { top ~ pareto(4, 3); y ~ uniform(-1.5, top - 1); }`,
			map[string]any{"y": y}, math.Log(integral(func(u float64) float64 { // u = 4/top
				return 3 * u * u * math.Pow(4/u+0.5, -5)
			}, 1e-9, 1)), nil},
		{"ordered values", `data { vector[5] y; } parameters { ordered[3] c; } model { c ~ normal(0, 1); y ~ normal(c[2], 1); }`,
			map[string]any{"y": y}, math.Log(integral(func(m float64) float64 { // 3! times below, at, above
				below := 0.5 * math.Erfc(-m/math.Sqrt2)
				return 6 * below * normal(m, 0, 1) * (1 - below) * likelihood(m, 1)
			}, -10, 10)), []string{"prior-mass"}},
		{"bounds and no statement", `data { int n; int y; } parameters { real<lower=0, upper=10> r; vector<lower=-2, upper=2>[2] w; } model { y ~ poisson(r); }`,
			map[string]any{"n": 1, "y": 3}, math.Log(integral(func(r float64) float64 { return r * r * r * math.Exp(-r) / 6 / 10 }, 0, 10)), []string{"prior-mass"}},
		{"a hundred dimensions", `data { vector[100] y; } parameters { vector[100] b; } model { b ~ normal(0, 1); y ~ normal(b, 0.5); }`,
			map[string]any{"y": make([]float64, 100)}, 100 * math.Log(normal(0, 0, math.Sqrt(1.25))), nil},
		{"long tails", `data { vector[5] y; } parameters { real m; } model { m ~ cauchy(0, 1); y ~ student_t(3, m, 1); }`,
			map[string]any{"y": y}, math.Log(integral(func(u float64) float64 { // m = tan u
				m, p := math.Tan(u), 1/math.Pi
				for _, x := range y {
					p *= 2 / (math.Pi * math.Sqrt(3)) * math.Pow(1+(x-m)*(x-m)/3, -2)
				}
				return p
			}, -math.Pi/2, math.Pi/2)), nil},
		{"correlated coefficients", `data { vector[5] y; } parameters { vector[2] b; } model { b ~ multi_normal([0, 0]', [[1, 0.99], [0.99, 1]]); y ~ normal(b[1] - b[2], 1); }`,
			map[string]any{"y": y}, math.Log(integral(func(d float64) float64 { return normal(d, 0, math.Sqrt(0.02)) * likelihood(d, 1) }, -2, 2)), nil},
		{"categories", `data { array[4] int y; } parameters { real a; } model { a ~ logistic(0, 1); y ~ bernoulli_logit(a); }`,
			map[string]any{"y": []int{1, 1, 0, 1}}, math.Log(1.0 / 20), nil}, // the prior probability is uniform
		{"a simplex and no statement", `data { array[3] int y; } parameters { simplex[3] p; } model { y ~ multinomial(p); }`,
			map[string]any{"y": []int{4, 0, 6}}, math.Log(2.0 / (12 * 11)), []string{"prior-mass"}}, // all counts are equally probable
		{"a correlation matrix and no statement", `data { array[4] vector[2] y; } parameters { corr_matrix[2] R; } model { y ~ multi_normal([0, 0]', R); }`,
			map[string]any{"y": pairs}, correlated, []string{"prior-mass"}},
		{"its Cholesky factor and no statement", `data { array[4] vector[2] y; } parameters { cholesky_factor_corr[2] L; } model { y ~ multi_normal_cholesky([0, 0]', L); }`,
			map[string]any{"y": pairs}, correlated, []string{"prior-mass"}},
		{"a unit vector and no statement", `data { vector[5] y; } parameters { unit_vector[2] u; } model { y ~ normal(u[1], 1); }`,
			map[string]any{"y": y}, math.Log(integral(func(t float64) float64 { return likelihood(math.Cos(t), 1) / (2 * math.Pi) }, 0, 2*math.Pi)), []string{"prior-mass"}},
		{"target += without constants", `data { vector[5] y; } parameters { real mu; } model { target += -mu^2 / 8; y ~ normal(mu, 1); }`,
			map[string]any{"y": y}, math.Log(integral(func(mu float64) float64 { return normal(mu, 0, 2) * likelihood(mu, 1) }, -30, 30)), []string{"prior-mass"}},
		{"target += a density", `data { vector[5] y; } parameters { real mu; } model { target += normal_lpdf(mu | 0, 2) + normal_lpdf(y | mu, 1); }`,
			map[string]any{"y": y}, math.Log(integral(func(mu float64) float64 { return normal(mu, 0, 2) * likelihood(mu, 1) }, -30, 30)), nil},
		{"a prior of each element", `data { vector[5] y; } parameters { vector[2] u; } model { u[1] ~ normal(0, 1); u[2] ~ normal(0, 2); y ~ normal(u[1] + u[2], 1); }`,
			map[string]any{"y": y}, math.Log(integral(func(d float64) float64 { return normal(d, 0, math.Sqrt(5)) * likelihood(d, 1) }, -30, 30)), nil},
	}
}

// TestEvidence compares the evidence with exact values.
func TestEvidence(t *testing.T) {
	for _, c := range short.Every(3, exactEvidences()) {
		e := evidenceOf(t, c.text, c.values, fit.Options{Seed: 3, Chains: 4, Draws: 500})
		if !(math.Abs(e.Log-c.want) <= 4*e.Error) || !(e.Error < 0.05) {
			t.Errorf("%s: log evidence %.4f ± %.4f, want %.4f", c.name, e.Log, e.Error, c.want)
		}
		var codes []string
		for _, f := range e.Findings("m") {
			codes = append(codes, f.Code)
		}
		if !slices.Equal(codes, c.codes) {
			t.Errorf("%s: findings %v, want %v", c.name, codes, c.codes)
		}
	}
}

// TestEvidenceCovers counts the intervals that contain the exact evidence, over as many seeds of
// each model as the variable says. It fails if the share of 90 % or of 95 % intervals is too small
// to be chance. doc/how-to/evidence.md has the shares.
func TestEvidenceCovers(t *testing.T) {
	const variable = "PPL_EVIDENCE_SEEDS"
	seeds, err := strconv.Atoi(os.Getenv(variable))
	if err != nil || seeds < 1 {
		t.Skipf("%s is not the number of seeds of each model, as in %s=20", variable, variable)
	}
	levels := []struct{ level, width float64 }{{0.9, 1.645}, {0.95, 1.96}}
	total, all := 0, make([]int, len(levels))
	for _, c := range exactEvidences() {
		if slices.Contains(c.codes, "improper-prior") {
			continue // the evidence has an arbitrary factor
		}
		within, square := make([]int, len(levels)), 0.0
		for seed := range seeds {
			e := evidenceOf(t, c.text, c.values, fit.Options{Seed: 1000 + uint64(seed), Chains: 4, Draws: 500})
			z := (e.Log - c.want) / e.Error
			square += z * z
			for i, l := range levels {
				if math.Abs(z) <= l.width {
					within[i]++
				}
			}
		}
		t.Logf("%s: %d and %d of %d, root mean square %.2f standard errors", c.name, within[0], within[1], seeds, math.Sqrt(square/float64(seeds)))
		total += seeds
		for i := range all {
			all[i] += within[i]
		}
	}
	for i, l := range levels {
		share := float64(all[i]) / float64(total)
		t.Logf("%.0f %% intervals: %.1f %% of %d", 100*l.level, 100*share, total)
		if least := l.level - 3*math.Sqrt(l.level*(1-l.level)/float64(total)); share < least {
			t.Errorf("%.0f %% intervals contain the exact value in %.1f %% of %d runs, want at least %.1f %%", 100*l.level, 100*share, total, 100*least)
		}
	}
}

// TestEvidenceImproper has priors that do not determine the evidence. A problem says so, although
// each parameter is in some statement.
func TestEvidenceImproper(t *testing.T) {
	y := map[string]any{"y": []float64{0.3, -1.2, 2.1, 0.8, 1.4}}
	for name, text := range map[string]string{
		"an element without prior": `data { vector[5] y; } parameters { vector[2] u; } model { u[1] ~ normal(0, 1); y ~ normal(u[1] + u[2], 1); }`,
		"1/s":                      `data { vector[5] y; } parameters { real<lower=0> s; } model { target += -log(s); y ~ normal(0, s); }`,
		"a difference":             `data { vector[5] y; } parameters { vector[2] u; } model { u[1] - u[2] ~ normal(0, 1); y ~ normal(u[1] + u[2], 1); }`,
	} {
		var problems []string
		for _, f := range evidenceOf(t, text, y, fit.Options{Seed: 3, Chains: 4, Draws: 500}).Findings("m") {
			if f.Severity == diagnose.Problem {
				problems = append(problems, f.Code)
			}
		}
		if !slices.Contains(problems, "improper-prior") {
			t.Errorf("%s: problems %v, want improper-prior", name, problems)
		}
	}
}

// TestEvidenceTempered has a density with two modes, one of which has three times the mass of the
// other. Tempering must find the evidence. The sampled density lacks the constants that ~ drops,
// which must be added.
func TestEvidenceTempered(t *testing.T) {
	const text = `parameters { real x; real w; } model { target += log_mix(0.25, normal_lpdf(x | -30, 1), normal_lpdf(x | 30, 1)); w ~ normal(0, 3); }`
	e := evidenceOf(t, text, nil, fit.Options{Seed: 3, Chains: 2, Draws: 500, Sampler: tempered.Sampler{}})
	if !e.Tempering || !(math.Abs(e.Log) <= 4*e.Error) || !(e.Error < 0.2) {
		t.Errorf("%+v", e)
	}
}

// TestEvidenceRefused checks that draws from the prior, fixed parameters, and no fit are refused.
func TestEvidenceRefused(t *testing.T) {
	ctx := context.Background()
	m, err := model.Compile("m", "parameters { real x; } model { x ~ std_normal(); }")
	if err != nil {
		t.Fatal(err)
	}
	prior, err := assess.SamplePrior(ctx, m, nil, model.BindOptions{}, fit.Options{Draws: 20})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := assess.EvidenceOf(ctx, prior.Fit, 1); err == nil || !strings.Contains(err.Error(), "from the prior") {
		t.Error(err)
	}
	p, err := m.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := fit.Sample(ctx, p, fit.Options{Draws: 20, Sampler: sampler.Fixed{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := assess.EvidenceOf(ctx, fixed, 1); err == nil || !strings.Contains(err.Error(), "fixed") {
		t.Error(err)
	}
	if _, err := assess.EvidenceOf(ctx, nil, 1); err == nil {
		t.Error("a nil fit has evidence")
	}
}
