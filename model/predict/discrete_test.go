package predict_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/model/predict"
)

// summedCase is a model with discrete parameters, which all have the same number of values. Its
// observations are those of y.
type summedCase struct {
	name, data, parameters, discrete, model, values string
	lo, hi                                          int
	around                                          int // the most elements that a sum depends on
}

var summedCases = []summedCase{
	{name: "mixture", lo: 1, hi: 2, values: `{"N":3,"y":[0.3,-1,2.5]}`,
		data: `int N; vector[N] y;`, parameters: `simplex[2] w; vector[2] mu;`, discrete: `array[N] int<lower=1, upper=2> z;`,
		model: `mu ~ normal(0, 3); z ~ categorical(w); for (n in 1:N) y[n] ~ normal(mu[z[n]], 1);`},
	{name: "vectorised, with a covariate", lo: 1, hi: 3, values: `{"N":3,"y":[0.3,-1,2.5],"x":[1,2,0]}`,
		data: `int N; vector[N] y; vector[N] x;`, parameters: `simplex[3] w; vector[3] mu; real b; real<lower=0> s;`, discrete: `array[N] int<lower=1, upper=3> z;`,
		model: `z ~ categorical(w); y ~ normal(mu[z] + b * x, s);`},
	{name: "hmm", around: 1, lo: 1, hi: 2, values: `{"N":5,"y":[0.3,-1,2.5,1,0]}`,
		data: `int N; vector[N] y;`, parameters: `array[2] simplex[2] G; vector[2] mu;`, discrete: `array[N] int<lower=1, upper=2> z;`,
		model: `for (n in 2:N) z[n] ~ categorical(G[z[n - 1]]); y ~ normal(mu[z], 1);`},
	{name: "hmm of one", lo: 1, hi: 2, values: `{"N":1,"y":[0.3]}`,
		data: `int N; vector[N] y;`, parameters: `array[2] simplex[2] G; vector[2] mu;`, discrete: `array[N] int<lower=1, upper=2> z;`,
		model: `for (n in 2:N) z[n] ~ categorical(G[z[n - 1]]); y ~ normal(mu[z], 1);`},
	{name: "no elements", lo: 1, hi: 2, values: `{"N":0,"y":[]}`,
		data: `int N; vector[N] y;`, parameters: `simplex[2] w; vector[2] mu;`, discrete: `array[N] int<lower=1, upper=2> z;`,
		model: `z ~ categorical(w); for (n in 1:N) y[n] ~ normal(mu[z[n]], 1);`},
	{name: "occupancy, where values are impossible", lo: 0, hi: 1, values: `{"R":3,"J":2,"y":[[0,1],[0,0],[1,0]]}`,
		data: `int R; int J; array[R, J] int y;`, parameters: `real<lower=0, upper=1> psi; real<lower=0, upper=1> p;`, discrete: `array[R] int<lower=0, upper=1> z;`,
		model: `z ~ bernoulli(psi); for (r in 1:R) for (j in 1:J) y[r, j] ~ bernoulli(z[r] * p);`},
	{name: "counts", lo: 0, hi: 4, values: `{"R":3,"J":2,"y":[[1,2],[0,0],[3,1]]}`,
		data: `int R; int J; array[R, J] int y;`, parameters: `real<lower=0> lambda; real<lower=0, upper=1> p;`, discrete: `array[R] int<lower=0, upper=4> M;`,
		model: `M ~ poisson(lambda); for (r in 1:R) y[r] ~ poisson(M[r] * p + 0.1);`},
	{name: "a choice between two densities", lo: 0, hi: 1, values: `{"N":3,"y":[0,2,0],"x":[0.5,1,-1]}`,
		data: `int N; array[N] int y; vector[N] x;`, parameters: `real<lower=0, upper=1> theta; real a;`, discrete: `array[N] int<lower=0, upper=1> z;`,
		model: `z ~ bernoulli(theta); for (n in 1:N) if (z[n]) { if (y[n] != 0) y[n] ~ poisson(0.1); } else { array[1] real m = {a}; real q = m[z[n] + 1] + x[n]; y[n] ~ poisson_log(q); }`},
	{name: "a choice of three", lo: 1, hi: 3, values: `{"N":3,"y":[0,2,0.4]}`,
		data: `int N; vector[N] y;`, parameters: `simplex[3] w; real a;`, discrete: `array[N] int<lower=1, upper=3> z;`,
		model: `for (n in 1:N) { if (z[n] == 1) { target += 0.3; y[n] ~ normal(a, 1); } else if (z[n] == 2) y[n] ~ cauchy(a, 2); else y[n] ~ std_normal(); z[n] ~ categorical(w); }`},
	{name: "raters of items", lo: 1, hi: 2, values: `{"I":2,"N":5,"y":[1,2,2,1,2],"item":[1,1,2,2,2],"rater":[1,2,1,2,3]}`,
		data: `int I; int N; array[N] int y; array[N] int item; array[N] int rater;`, parameters: `simplex[2] w; array[3, 2] simplex[2] theta;`,
		discrete: `array[I] int<lower=1, upper=2> z;`,
		model:    `z ~ categorical(w); for (n in 1:N) y[n] ~ categorical(theta[rater[n], z[item[n]]]);`},
	{name: "a change point", lo: 1, hi: 4, values: `{"T":4,"y":[3,1,0,2]}`,
		data: `int T; array[T] int y;`, parameters: `real<lower=0> e; real<lower=0> l;`, discrete: `int<lower=1, upper=4> s;`,
		model: `e ~ exponential(1); l ~ exponential(1); for (t in 1:T) y[t] ~ poisson(t < s ? e : l);`},
	{name: "crossed chains", around: 2, lo: 1, hi: 2, values: `{"T":3,"y":[0.3,-1,2.5]}`,
		data: `int T; vector[T] y;`, parameters: `array[2] simplex[2] G; vector[2] a; vector[2] b;`,
		discrete: `array[T] int<lower=1, upper=2> u; array[T] int<lower=1, upper=2> v;`,
		model: `for (t in 2:T) { u[t] ~ categorical(G[u[t - 1]]); v[t] ~ categorical(G[v[t - 1]]); }
  for (t in 1:T) { real m = a[u[t]] + b[v[t]]; y[t] ~ normal(m, 1); }`},
	{name: "some observations without", lo: 0, hi: 1, values: `{"N":4,"y":[1,0.5,2,-1],"x":[1,0,0,1],"miss":[0,0,1,1]}`,
		data: `int N; vector[N] y; array[N] int x; array[N] int miss;`, parameters: `real a; real b; real<lower=0, upper=1> p;`,
		discrete: `array[N] int<lower=0, upper=1> xm;`,
		model:    `xm ~ bernoulli(p); for (n in 1:N) if (miss[n] == 1) y[n] ~ normal(a + b * xm[n], 1); else y[n] ~ normal(a + b * x[n], 1);`},
}

func boundTo(t *testing.T, p *compile.Program, values map[string]any) *compile.Model {
	t.Helper()
	b, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	set, err := data.ParseText("data.json", string(b), data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Bind(set, compile.BindOptions{NoPropto: true})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// outputsAt returns the outputs at a point.
func outputsAt(t *testing.T, m *compile.Model, x []float64) map[string]float64 {
	t.Helper()
	names := m.OutputNames()
	dst := make([]float64, len(names))
	if err := m.Generate(x, rand.New(rand.NewPCG(1, 1)), dst); err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for i, n := range names {
		out[n] = dst[i]
	}
	return out
}

func logSum(xs []float64) float64 {
	top := math.Inf(-1)
	for _, x := range xs {
		top = max(top, x)
	}
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for _, x := range xs {
		sum += math.Exp(x - top)
	}
	return top + math.Log(sum)
}

// TestSummedOut compares log likelihoods, probabilities of values and the most likely configuration
// with sums over all configurations, each evaluated by the program in which they are data.
func TestSummedOut(t *testing.T) {
	declared := regexp.MustCompile(`(array\[(\w+)\] )?int<[^>]*> (\w+);`)
	for _, c := range summedCases {
		t.Run(c.name, func(t *testing.T) {
			whole := compiled(t, fmt.Sprintf("data { %s }\nparameters { %s %s }\nmodel { %s }", c.data, c.parameters, c.discrete, c.model))
			given := compiled(t, fmt.Sprintf("data { %s %s }\nparameters { %s }\nmodel { %s }", c.data, c.discrete, c.parameters, c.model))
			terms, prior := derive(t, given, predict.LogLikelihood), derive(t, given, predict.Prior)
			var values map[string]any
			if err := json.Unmarshal([]byte(c.values), &values); err != nil {
				t.Fatal(err)
			}
			for _, step := range boundTo(t, derive(t, whole, predict.LogLikelihood).Program, values).Discrete() {
				if around := step.Around; around > c.around {
					t.Errorf("a sum depends on %d other elements, not at most %d", around, c.around)
				}
			}
			likelihood := boundTo(t, derive(t, whole, predict.LogLikelihood).Program, values)
			p, err := predict.Probabilities(whole)
			if err != nil {
				t.Fatal(err)
			}
			probabilities := boundTo(t, p.Program, values)
			rng := rand.New(rand.NewPCG(1, 2))
			x := make([]float64, likelihood.Dim())
			for i := range x {
				x[i] = 1.6*rng.Float64() - 0.8
			}
			// All configurations.
			var names []string // of the elements, as in z.2
			for _, m := range declared.FindAllStringSubmatch(c.discrete, -1) {
				if m[2] == "" {
					names = append(names, m[3])
					continue
				}
				for i := range int(values[m[2]].(float64)) {
					names = append(names, fmt.Sprintf("%s.%d", m[3], i+1))
				}
			}
			config := make([]int, len(names))
			for i := range config {
				config[i] = c.lo
			}
			var all []float64
			without, of := map[string][]float64{}, map[string][]float64{} // of: by element and value
			best, most := math.Inf(-1), map[string]int{}
			for {
				with := map[string]any{}
				for k, v := range values {
					with[k] = v
				}
				for _, m := range declared.FindAllStringSubmatch(c.discrete, -1) {
					with[m[3]] = []int{}
				}
				for i, n := range names {
					stem, _, many := strings.Cut(n, ".")
					if !many {
						with[stem] = config[i]
					} else {
						with[stem] = append(with[stem].([]int), config[i])
					}
				}
				base, err := boundTo(t, prior.Program, with).LogDensityGrad(x, make([]float64, len(x)))
				if err != nil {
					t.Fatal(err)
				}
				each := map[string]float64{}
				for n, v := range outputsAt(t, boundTo(t, terms.Program, with), x) {
					switch {
					case strings.HasPrefix(n, "log_lik_y.") || strings.HasPrefix(n, "log_lik."):
						each[n[strings.Index(n, "."):]] = v
					case strings.HasPrefix(n, "log_lik_"):
						base += v
					}
				}
				// Without one of the observations; -Inf − -Inf has no value.
				sum := base
				for _, v := range each {
					sum += v
				}
				for n := range each {
					rest := base
					for o, v := range each {
						if o != n {
							rest += v
						}
					}
					without[n] = append(without[n], rest)
				}
				all = append(all, sum)
				for i, n := range names {
					key := fmt.Sprintf("%s=%d", n, config[i])
					of[key] = append(of[key], sum)
				}
				if sum > best {
					best = sum
					for i, n := range names {
						most[n] = config[i]
					}
				}
				k := 0
				for k < len(config) && config[k] == c.hi {
					config[k] = c.lo
					k++
				}
				if k == len(config) {
					break
				}
				config[k]++
			}
			got := outputsAt(t, likelihood, x)
			for n, rest := range without {
				want := logSum(all) - logSum(rest)
				v, ok := got["log_lik"+n]
				if !ok || math.Abs(v-want) > 1e-10*max(1, math.Abs(want)) {
					t.Errorf("log_lik%s = %.14g, enumerated %.14g\n%s", n, v, want, likelihood.Stan())
				}
			}
			got = outputsAt(t, probabilities, x)
			for _, n := range names {
				stem, rest, many := strings.Cut(n, ".")
				if many {
					rest = "." + rest
				}
				for v := c.lo; v <= c.hi; v++ {
					want := math.Exp(logSum(of[fmt.Sprintf("%s=%d", n, v)]) - logSum(all))
					at := fmt.Sprintf("%s_probability%s.%d", stem, rest, v-c.lo+1)
					if p, ok := got[at]; !ok || math.Abs(p-want) > 1e-12 {
						t.Errorf("%s = %.14g, enumerated %.14g", at, p, want)
					}
				}
				if v, ok := got[stem+"_mode"+rest]; !ok || int(v) != most[n] {
					t.Errorf("the most likely configuration has %s = %v, enumerated %d", n, v, most[n])
				}
			}
			if t.Failed() {
				t.Log(probabilities.Stan())
			}
		})
	}
}
