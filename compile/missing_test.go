package compile

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// missingCases are programs for data with missing values, each with the program that says the same
// by hand: with observed values, missing ones, and their indices. In both, the missing elements are
// the first parameters.
var missingCases = []struct {
	name, program, values string
	byHand, handValues    string
	outputs               string // first names of the outputs
}{
	{"vector with a bound",
		`data { int N; vector[N] x; vector<lower=0, missing>[N] y; } parameters { real a; real<lower=0> s; }
		model { y ~ normal(a + x, s); } generated quantities { real m = mean(y); }`,
		`{"N": 4, "x": [1, 2, 3, 4], "y": [0.5, null, 2, null]}`,
		`data { int N; vector[N] x; vector[2] seen; array[2] int is; array[2] int gone; }
		parameters { vector<lower=0>[2] mis; real a; real<lower=0> s; }
		transformed parameters { vector[N] y; y[is] = seen; y[gone] = mis; } model { y ~ normal(a + x, s); }`,
		`{"N": 4, "x": [1, 2, 3, 4], "seen": [0.5, 2], "is": [1, 3], "gone": [2, 4]}`, "y.2 y.4 a s m"},
	{"all missing", `data { int N; vector<missing>[N] y; } parameters { real a; } model { y ~ normal(a, 1); a ~ normal(0, 1); }`,
		`{"N": 2, "y": [null, "NaN"]}`,
		`data { int N; } parameters { vector[N] y; real a; } model { y ~ normal(a, 1); a ~ normal(0, 1); }`, `{"N": 2}`, "y.1 y.2 a"},
	{"none missing", `data { int N; vector<missing>[N] y; } parameters { real a; } model { y ~ normal(a, 1); a ~ normal(0, 1); }`,
		`{"N": 2, "y": [0.5, 2]}`,
		`data { int N; vector[N] y; } parameters { real a; } transformed parameters { vector[N] z = y; } model { z ~ normal(a, 1); a ~ normal(0, 1); }`,
		`{"N": 2, "y": [0.5, 2]}`, "a"},
	{"no elements", `data { int N; vector<missing>[N] y; } parameters { real a; } model { y ~ normal(a, 1); a ~ normal(0, 1); }`,
		`{"N": 0, "y": []}`, `parameters { real a; } model { a ~ normal(0, 1); }`, `{}`, "a"},
	{"a number", `data { real<upper=3, missing> w; } parameters { real a; } model { w ~ normal(a, 1); a ~ normal(0, 1); }`, `{"w": null}`,
		`parameters { real<upper=3> w; real a; } model { w ~ normal(a, 1); a ~ normal(0, 1); }`, `{}`, "w a"},
	{"a matrix of covariates", `data { int N; int K; matrix<missing>[N, K] x; vector[N] y; } parameters { vector[K] b; }
		model { for (n in 1:N) x[n] ~ normal(0, 2); y ~ normal(x * b, 1); b ~ normal(0, 1); }`,
		`{"N": 2, "K": 3, "x": [[1, null, 2], [null, 4, null]], "y": [1, 2]}`,
		`data { int N; int K; vector[N] y; } parameters { vector[3] m; vector[K] b; }
		transformed parameters { matrix[N, K] x = [[1, m[1], 2], [m[2], 4, m[3]]]; }
		model { for (n in 1:N) x[n] ~ normal(0, 2); y ~ normal(x * b, 1); b ~ normal(0, 1); }`,
		`{"N": 2, "K": 3, "y": [1, 2]}`, "x.1.2 x.2.1 x.2.3 b.1"},
	{"bounds for each element, in arrays", `data { array[2] row_vector[2] lo; array[2] row_vector<lower=lo, upper=5, missing>[2] v; array[3] real<lower=1, missing> z; }
		model { for (k in 1:2) v[k] ~ normal(1, 2); z ~ exponential(1); }`,
		`{"lo": [[0, 1], [2, 3]], "v": [[1, null], [null, 3.5]], "z": [null, 2, 3]}`,
		`parameters { real<lower=1, upper=5> p; real<lower=2, upper=5> q; real<lower=1> r; }
		model { [1, p] ~ normal(1, 2); [q, 3.5] ~ normal(1, 2); {r, 2, 3} ~ exponential(1); }`, `{}`, "v.1.2 v.2.1 z.1"},
	{"a series", `data { int T; vector<missing>[T] y; } parameters { real<lower=0, upper=1> rho; real<lower=0> s; }
		model { y[1] ~ normal(0, s); for (t in 2:T) y[t] ~ normal(rho * y[t-1], s); s ~ normal(0, 1); }`,
		`{"T": 6, "y": [1, 2, null, null, 0.5, null]}`,
		`parameters { vector[3] m; real<lower=0, upper=1> rho; real<lower=0> s; } transformed parameters { vector[6] y = [1, 2, m[1], m[2], 0.5, m[3]]'; }
		model { y[1] ~ normal(0, s); for (t in 2:6) y[t] ~ normal(rho * y[t-1], s); s ~ normal(0, 1); }`, `{}`, "y.3 y.4 y.6 rho"},
}

// TestMissing compares data with missing values with the program by hand: log density, gradient,
// and values of the parameters.
func TestMissing(t *testing.T) {
	for _, c := range missingCases {
		t.Run(c.name, func(t *testing.T) {
			for _, plain := range []bool{false, true} {
				o := BindOptions{NoPropto: plain}
				got, want := boundTo(t, c.program, c.values, o), boundTo(t, c.byHand, c.handValues, o)
				if names := strings.Join(got.OutputNames(), " "); !strings.HasPrefix(names, c.outputs) {
					t.Errorf("outputs %s, want %s", names, c.outputs)
				}
				if got.Dim() != want.Dim() {
					t.Fatalf("%d parameters, want %d", got.Dim(), want.Dim())
				}
				stan := boundTo(t, got.Stan(), c.values, o)
				rng := rand.New(rand.NewPCG(1, 2))
				for range 5 {
					x := make([]float64, got.Dim())
					for i := range x {
						x[i] = rng.NormFloat64()
					}
					g, h := make([]float64, len(x)), make([]float64, len(x))
					lp, err := got.LogDensityGrad(x, g)
					if err != nil {
						t.Fatal(err)
					}
					lq, err := want.LogDensityGrad(x, h)
					if err != nil {
						t.Fatal(err)
					}
					same := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(b)) }
					if !same(lp, lq) || !slices.EqualFunc(g, h, same) {
						t.Errorf("log density %v and gradient %v, by hand %v and %v", lp, g, lq, h)
					}
					if lq, err = stan.LogDensityGrad(x, h); err != nil || !same(lp, lq) || !slices.EqualFunc(g, h, same) {
						t.Errorf("log density %v and gradient %v, in Stan's program %v, %v and %v\n%s", lp, g, lq, err, h, got.Stan())
					}
					if a, err := got.Agree(x, rng, time.Minute); err != nil || a.Wrong() {
						t.Errorf("the engines differ: %v %v", a, err)
					}
				}
			}
		})
	}
}

func boundTo(t *testing.T, program, values string, o BindOptions) *Model {
	t.Helper()
	p, list := Compile(source.NewFile("m.stan", program))
	if p == nil {
		t.Fatal(list)
	}
	set, err := data.ParseJSON("data.json", []byte(values))
	if err != nil {
		t.Fatal(err)
	}
	if set, _, err = p.Coded(set.Filled(func(string) bool { return true })); err != nil {
		t.Fatal(err)
	}
	whole := complete(p.ir, set)
	if err := whole.Verify(); err != nil {
		t.Error(err)
	}
	if complete(whole, set) != whole {
		t.Error("a complete program is rewritten again")
	}
	m, err := p.Bind(set, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
