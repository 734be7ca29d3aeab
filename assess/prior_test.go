package assess_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// TestPrior checks that direct draws from the prior and draws by NUTS have the same distribution:
// their quantiles must agree within their errors.
func TestPrior(t *testing.T) {
	const text = `data { int N; vector[N] x; vector[N] y; }
parameters {
  real<lower=0> tau; vector<offset=1, multiplier=tau>[3] theta; real<lower=-1, upper=2> u; simplex[3] p; ordered[2] c; cholesky_factor_corr[2] L;
  matrix[2, 2] M; real<lower=1> above; cov_matrix[2] S; array[2] real a;
  real<lower=-3, upper=N> w; vector<lower=0, upper=x[2]>[3] ws;
  vector[2] pair; array[2] real<lower=0> scales;
  vector[4] walk; array[N, 3] real grid; array[N] simplex[2] shares;
}
transformed parameters { real twice = 2 * tau; }
model {
  theta ~ normal(1, tau);
  tau ~ normal(0, 2);
  u ~ normal(0, 1);
  p ~ dirichlet([2, 1, 3]');
  c ~ normal(0, 1);
  L ~ lkj_corr_cholesky(2);
  to_vector(M) ~ student_t(7, 0, 1);
  above ~ exponential(1);
  S ~ wishart(5, identity_matrix(2));
  a ~ std_normal();
  pair[1] ~ normal(10, tau); pair[2] ~ normal(-1, 3);
  scales[2] ~ normal(0, 2); scales[1] ~ exponential(3);
  walk[1] ~ normal(2, 1);
  for (t in 2:4) walk[t] ~ normal(0.8 * walk[t - 1], 0.5);
  for (i in 1:N) { for (j in 1:3) grid[i, j] ~ normal(walk[i], j); shares[i] ~ dirichlet([2, 3]'); }
  y ~ normal(theta[1] + x, tau);
}`
	ctx := context.Background()
	values := map[string]any{"N": 2, "x": []float64{1, 2}} // y is not needed
	compiled, err := model.Compile("m", text)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := assess.SamplePrior(ctx, compiled, values, model.BindOptions{}, fit.Options{Seed: 1, Draws: 2000})
	if err != nil {
		t.Fatal(err)
	}
	if !direct.Direct {
		t.Fatalf("the prior was not drawn directly: %s", direct.Reason)
	}
	// The same prior, written with a computation so that it must be sampled.
	other, err := model.Compile("m", strings.Replace(text, "theta ~ normal(1, tau)", "theta ~ normal(1, twice / 2)", 1))
	if err != nil {
		t.Fatal(err)
	}
	sampled, err := assess.SamplePrior(ctx, other, values, model.BindOptions{}, fit.Options{Seed: 1, Draws: 2000})
	if err != nil {
		t.Fatal(err)
	}
	if sampled.Direct || sampled.Reason != "the prior of theta depends on twice, which is computed" {
		t.Fatal(sampled.Direct, sampled.Reason)
	}
	compared := 0
	// A density that is truncated at a parameter is not divided by the remaining
	// probability, so it changes the prior of that parameter.
	for change, reason := range map[string][2]string{
		"above is cut off by its bounds, at a probability that depends on other parameters": {"real<lower=1> above", "real<lower=tau> above"},
		"u is cut off by its bounds, at a probability that depends on other parameters":     {"u ~ normal(0, 1)", "u ~ normal(theta[1], 1)"},
		"a has no prior":                         {"a ~ std_normal();", ""},
		"w has no prior, and bounds that differ": {"upper=N> w", "upper=tau> w"},
		"w has no prior":                         {"real<lower=-3, upper=N> w", "real<lower=-3> w"},
		"the prior of tau depends on itself":     {"tau ~ normal(0, 2)", "tau ~ normal(theta[1], 2)"},
		"the left side of `u * 2 ~ normal(0, 1);` is neither a whole parameter nor one of its elements": {"u ~ normal(0, 1)", "u * 2 ~ normal(0, 1)"},
		"pair has two priors":                 {"pair[2] ~ normal(-1, 3)", "pair[2] ~ normal(-1, 3); pair[2] ~ std_normal()"},
		"some elements of pair have no prior": {"pair[2] ~ normal(-1, 3);", ""},
		"some elements of walk have no prior": {"t in 2:4", "t in 2:3"},
		"some elements of grid have no prior": {"i in 1:N", "i in 1:2"},
		"walk has two priors":                 {"t in 2:4", "t in 1:4"},
		"tau has two priors":                  {"shares[i] ~ dirichlet([2, 3]');", "shares[i] ~ dirichlet([2, 3]'); tau ~ exponential(1);"},
		"the prior of walk depends on itself": {"walk[t - 1]", "walk[t]"},
		"the left side of `grid[i, 1] ~ normal(walk[i], j);` is neither a whole parameter nor one of its elements":    {"grid[i, j]", "grid[i, 1]"},
		"`for (t in 2:4) { if (t < N) continue; walk[t] ~ normal(0.…` is not of the form parameter ~ distribution(…)": {"for (t in 2:4) walk[t] ~ normal(0.8 * walk[t - 1], 0.5);", "for (t in 2:4) { if (t < N) continue; walk[t] ~ normal(0.8 * walk[t - 1], 0.5); }"},
		"the prior of pair depends on itself": {"pair[1] ~ normal(10, tau)", "pair[1] ~ normal(pair[2], tau)"},
	} {
		m, err := model.Compile("m", strings.Replace(text, reason[0], reason[1], 1))
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.DeriveWith(predict.Forward, predict.Options{Unknown: []string{"y"}})
		if err == nil || err.Error() != "the prior cannot be drawn directly: "+change {
			t.Errorf("%v, not %s", err, change)
		}
	}
	for _, name := range direct.Names() {
		if name == "L.1.1" || name == "L.1.2" {
			continue // constants
		}
		var a, b [][]float64
		for chain := range 4 {
			a = append(a, column(t, direct.Fit, name, chain))
			b = append(b, column(t, sampled.Fit, name, chain))
		}
		for _, q := range []float64{0.1, 0.5, 0.9} {
			x, y := diagnose.Quantile(flat(a), q), diagnose.Quantile(flat(b), q)
			error := math.Hypot(diagnose.MCSEQuantile(a, q), diagnose.MCSEQuantile(b, q))
			if !(math.Abs(x-y) <= 4.5*error+1e-12) {
				t.Errorf("the %v quantile of %s is %v drawn directly, %v sampled, with a standard error of %v", q, name, x, y, error)
			}
			compared++
		}
	}
	if compared < 60 {
		t.Errorf("%d comparisons", compared)
	}

	// Data can be drawn with both kinds of draws.
	d, err := compiled.DeriveWith(predict.Replicated, predict.Options{Unknown: []string{"y"}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Bind(values)
	if err != nil {
		t.Fatal(err)
	}
	g, err := fit.Generate(ctx, p, direct.Fit, fit.GenerateOptions{Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	theta, tau, y := column(t, direct.Fit, "theta.1", 0), column(t, direct.Fit, "tau", 0), g.Draws.Column(nil, 0, 1)
	z := make([]float64, len(y))
	for i := range y {
		z[i] = (y[i] - theta[i] - 2) / tau[i]
	}
	if m := flatMean(z); math.Abs(m) > 4.5/math.Sqrt(float64(len(z))) {
		t.Errorf("the mean of standardised draws is %v", m)
	}
}

func column(t *testing.T, f *fit.Fit, name string, chain int) []float64 {
	t.Helper()
	for i, n := range f.Names() {
		if n == name {
			return f.Draws.Column(nil, chain, i)
		}
	}
	t.Fatalf("no %s among %v", name, f.Names())
	return nil
}

func flat(chains [][]float64) []float64 {
	var out []float64
	for _, c := range chains {
		out = append(out, c...)
	}
	return out
}

func flatMean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// TestDirectPrior: parameters without a prior are left out, with those whose priors depend on them.
// The others are drawn as in a model that has only them. Where leaving out a parameter would change
// the prior of another, nothing is drawn.
func TestDirectPrior(t *testing.T) {
	const others = "real<lower=0> tau; vector[2] theta;"
	draw := func(parameters, statements string) (*assess.Prior, error) {
		m, err := model.Compile("m", "data { real y; } parameters { "+parameters+" } model { "+statements+" y ~ normal(theta[1], tau); }")
		if err != nil {
			t.Fatal(err)
		}
		return assess.DirectPrior(context.Background(), m, map[string]any{"y": 1.0}, model.BindOptions{}, fit.Options{Seed: 3, Chains: 1, Draws: 50})
	}
	const statements = "tau ~ exponential(1); theta ~ normal(0, tau);"
	want, err := draw(others, statements)
	if err != nil || want.Undrawn != nil {
		t.Fatal(err, want)
	}
	got, err := draw("real flat; real on_flat; real further; "+others, statements+" on_flat ~ normal(flat, 1); further ~ normal(on_flat, 1);")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Draws.Names(), want.Draws.Names()) || !slices.Equal(got.Undrawn, []string{"flat has no prior"}) {
		t.Errorf("%q, %q", got.Draws.Names(), got.Undrawn)
	}
	for i := range want.Draws.Names() {
		if !slices.Equal(got.Draws.Column(nil, 0, i), want.Draws.Column(nil, 0, i)) {
			t.Errorf("%s has other draws", want.Draws.Names()[i])
		}
	}
	for _, c := range [][2]string{{others + " real<upper=tau> flat;", statements}, {others, ""}} {
		var not *predict.NotForwardError
		if _, err := draw(c[0], c[1]); !errors.As(err, &not) {
			t.Errorf("%s %s: %v", c[0], c[1], err)
		}
	}
}

// TestPriorOfWalk: random walks of any length are drawn, and so are elements that depend on those
// two before them.
func TestPriorOfWalk(t *testing.T) {
	m, err := model.Compile("m", `data { int<lower=0> T; } parameters { vector[T] z; vector[T + 1] walk; array[T + 2] real ar; }
model {
  for (t in 1:T) z[t] ~ normal(100, 1);
  walk[1] ~ normal(0, 1); for (t in 2:(T + 1)) walk[t] ~ normal(walk[t - 1] + z[t - 1], 0.1);
  ar[1] ~ normal(1, 0.1); ar[2] ~ normal(10, 0.1); for (t in 3:(T + 2)) { ar[t] ~ normal(ar[t - 1] + 100 * ar[t - 2], 0.1); }
}`)
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range [][]float64{{0, 1, 10}, {100, 0, 100, 1, 10, 110}, {100, 100, 0, 100, 200, 1, 10, 110, 1110}} {
		prior, err := assess.DirectPrior(t.Context(), m, map[string]any{"T": size}, model.BindOptions{}, fit.Options{Seed: 1, Chains: 1, Draws: 400})
		if err != nil {
			t.Fatal(err)
		}
		names := prior.Draws.Names()
		if len(names) != len(want) {
			t.Fatalf("%d: %v", size, names)
		}
		for i, name := range names {
			if got := flatMean(prior.Draws.Column(nil, 0, i)); math.Abs(got-want[i]) > 4 {
				t.Errorf("T = %d: the mean of %s is %.2f, want %v", size, name, got, want[i])
			}
		}
	}
}

// TestPriorPredictiveIndependent: data drawn for parameters from the prior do not use the random
// numbers of the parameters. The probability of y is then 1/2.
func TestPriorPredictiveIndependent(t *testing.T) {
	m, err := model.Compile("m", "data { array[2] int<lower=0, upper=1> y; } parameters { real<lower=0, upper=1> p; } model { y ~ bernoulli(p); }")
	if err != nil {
		t.Fatal(err)
	}
	const draws = 2000
	_, prior, err := assess.PriorPredictive(context.Background(), m, map[string]any{"y": []int{0, 1}}, model.BindOptions{}, fit.Options{Seed: 1, Chains: 1, Draws: draws}, assess.PredictiveOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	derived, err := m.DeriveWith(predict.Replicated, predict.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := derived.Bind(map[string]any{"y": []int{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range []uint64{1, 2} {
		g, err := fit.Generate(context.Background(), p, prior.Fit, fit.GenerateOptions{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range p.GeneratedNames() {
			mean := 0.0
			for _, y := range g.Draws.Column(nil, 0, i) {
				mean += y / draws
			}
			if sd := math.Sqrt(0.25 / draws); math.Abs(mean-0.5) > 5*sd {
				t.Errorf("seed %d: %s is 1 in %.3f of the draws, want 0.5", seed, name, mean)
			}
		}
	}
}
