package predict_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/model/predict"
)

// truncations lists statements about y with near and far bounds, so that draws use rejection and
// inversion.
var truncations = []struct{ variate, call, bounds, y string }{
	{"real", "normal(0, 1)", "T[-1, 0.5]", "[0.1, -0.5]"},
	{"real", "normal(0, 1)", "T[6, ]", "[6.5, 7]"},
	{"real", "normal(0, 1)", "T[, -9]", "[-9.5, -10]"},
	{"real", "normal(0, 1)", "T[8, 8.01]", "[8.005, 8.001]"},
	{"real", "normal(0, 1)", "T[-8.01, -8]", "[-8.005, -8.001]"},
	{"real", "cauchy(1, 2)", "T[, -200]", "[-300, -1e4]"},
	{"real", "student_t(3, 0, 1)", "T[2, ]", "[3, 4]"},
	{"real", "gamma(2, 3)", "T[, 0.01]", "[0.005, 0.009]"},
	{"real", "gamma(2, 3)", "T[1, 2]", "[1.5, 1.25]"},
	{"real", "exponential(2)", "T[20, ]", "[20.5, 21]"},
	{"real", "lognormal(0, 1)", "T[30, 40]", "[31, 35]"},
	{"real", "weibull(2, 1)", "T[0, 0.1]", "[0.05, 0.01]"},
	{"real", "beta(2, 5)", "T[0.9, ]", "[0.95, 0.91]"},
	{"real", "double_exponential(0, 1)", "T[-1, ]", "[0, 1]"},
	{"real", "logistic(0, 1)", "T[10, 12]", "[11, 10.5]"},
	{"int", "poisson(3)", "T[1, ]", "[1, 4]"},
	{"int", "poisson(3)", "T[15, ]", "[15, 16]"},
	{"int", "poisson(30)", "T[, 3]", "[2, 3]"},
	{"int", "poisson(30)", "T[2, 4]", "[2, 3]"},
	{"int", "neg_binomial_2(4, 2)", "T[1, 3]", "[2, 3]"},
	{"int", "binomial(10, 0.1)", "T[7, ]", "[7, 8]"},
	{"int", "binomial(10, 0.9)", "T[, 2]", "[1, 2]"},
	{"int", "bernoulli(0.001)", "T[1, ]", "[1, 1]"},
}

// TestTruncated checks that the log likelihoods of truncated observations add up to the model's log
// density, and that draws have the truncated distribution, by Kolmogorov's test.
func TestTruncated(t *testing.T) {
	const n = 600
	for _, c := range truncations {
		t.Run(c.call+c.bounds, func(t *testing.T) {
			dist, args, _ := strings.Cut(strings.TrimSuffix(c.call, ")"), "(")
			declare := "array[2] real y"
			if c.variate == "int" {
				declare = "array[2] int y"
			}
			text := "data { " + declare + "; } parameters { real a; } model { y ~ " + c.call + c.bounds + "; }"
			p := compiled(t, text)
			set, err := data.ParseJSON("data", []byte(`{"y": `+c.y+`}`))
			if err != nil {
				t.Fatal(err)
			}
			m, err := p.Bind(set, compile.BindOptions{NoPropto: true})
			if err != nil {
				t.Fatal(err)
			}
			want, err := m.LogDensityGrad([]float64{0}, []float64{0})
			if err != nil {
				t.Fatal(err)
			}
			_, got := generated(t, derive(t, p, predict.LogLikelihood).Program, `{"y": `+c.y+`}`)
			if sum := got[0] + got[1]; math.Abs(sum-want) > 1e-10*(1+math.Abs(want)) {
				t.Errorf("%v, not %v", sum, want)
			}

			// u is the position of x between the bounds in probability, relative to the largest
			// probability of the tail that is smaller at the lower bound.
			lower, upper, _ := strings.Cut(strings.Trim(c.bounds, "T[]"), ",")
			lower, upper = strings.TrimSpace(lower), strings.TrimSpace(upper)
			f := func(at string) string {
				return fmt.Sprintf("(high ? -%s_lccdf(%s | %s) : %s_lcdf(%s | %s))", dist, at, args, dist, at, args)
			}
			below := ""
			if c.variate == "int" {
				below = " - 1"
			}
			check := compiled(t, "data { int n; array[n] "+c.variate+" x; }\n"+fmt.Sprintf(`generated quantities {
			  int high = %s;
			  array[n] real u;
			  {
			    real from = %s;
			    real to = %s;
			    real top = high ? -from : to;
			    real first = high ? exp(-from - top) : exp(from - top);
			    real last = high ? exp(-to - top) : exp(to - top);
			    for (i in 1:n) {
			      real at = %s;
			      u[i] = ((high ? exp(-at - top) : exp(at - top)) - first) / (last - first);
			    }
			  }
			}`,
				orElse(lower, "0", fmt.Sprintf("%s_lccdf(%s | %s) < log(0.5)", dist, lower+below, args)),
				orElse(lower, "negative_infinity()", f(lower+below)),
				orElse(upper, "high ? positive_infinity() : 0", f(upper)), f("x[i]")))

			r, err := derive(t, p, predict.Replicated).Program.Bind(set, compile.BindOptions{})
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(3, 4))
			dst := make([]float64, 3)
			var drawn []float64
			for range n / 2 {
				if err := r.Generate([]float64{0}, rng, dst); err != nil {
					t.Fatal(err)
				}
				drawn = append(drawn, dst[1:]...)
			}
			slices.Sort(drawn)
			var x any = drawn
			if c.variate == "int" {
				var whole []int
				for _, v := range drawn {
					whole = append(whole, int(v))
				}
				x = whole
			}
			values, err := data.FromGo(map[string]any{"n": n, "x": x})
			if err != nil {
				t.Fatal(err)
			}
			q, err := check.Bind(values, compile.BindOptions{})
			if err != nil {
				t.Fatal(err)
			}
			u := make([]float64, n+1)
			if err := q.Generate(nil, rng, u); err != nil {
				t.Fatal(err)
			}
			u = u[1:]
			for i := range u {
				if !(u[i] >= -1e-9 && u[i] <= 1+1e-9) {
					t.Fatalf("%v is outside of the bounds (%v)", drawn[i], u[i])
				}
				if i+1 < n && drawn[i+1] == drawn[i] {
					continue // for ties, use the distribution function at the last
				}
				if d := math.Abs(float64(i+1)/n - u[i]); d > 1.95/math.Sqrt(n) { // p = 0.001
					t.Fatalf("the distribution functions differ by %v at %v", d, drawn[i])
				}
			}
		})
	}
}

func orElse(bound, without, with string) string {
	if bound == "" {
		return without
	}
	return with
}

// TestTruncatedCensored checks that the log likelihoods of truncated observations, some of which
// are censored, add up to the model's log density.
func TestTruncatedCensored(t *testing.T) {
	for _, c := range []struct{ declared, statement, values string }{
		{"array[N] real<censored_below=1, censored_above=3> y", "normal(a, 2) T[0, ]", `{"N": 3, "y": [1, 2, 4]}`},
		{"array[N] real<censored_below=1, censored_above=3> y", "normal(a, 2) T[, 5]", `{"N": 3, "y": [1, 2, 4]}`},
		{"vector<censored_below=9, censored_above=11>[N] y", "normal(a, 1) T[8, 12]", `{"N": 3, "y": [9, 10, 11]}`},
		{"vector<censored_below=-1, censored_above=11>[N] y", "gamma(exp(a), 1) T[0.5, 12]", `{"N": 2, "y": [2, 11]}`},
		{"array[N] real to; array[N] real<censored_to=to> y", "weibull(2, exp(a)) T[1, ]", `{"N": 5, "y": [0.5, 2, "-Inf", 3, 4], "to": [2, 3, 4, "Inf", 4]}`},
		{"array[N] int<censored_below=2, censored_above=5> y", "poisson(exp(a)) T[1, ]", `{"N": 4, "y": [1, 2, 3, 7]}`},
		{"array[N] int<censored_below=2, censored_above=5> y", "binomial(9, inv_logit(a)) T[, 8]", `{"N": 4, "y": [1, 2, 3, 7]}`},
		{"array[N] int to; array[N] int<censored_to=to> y", "neg_binomial_2(exp(a), 2) T[1, 9]", `{"N": 3, "y": [0, 2, 4], "to": [3, 2, 12]}`},
		{"array[N] int cens; array[N] int<censored=cens> y", "neg_binomial_2(exp(a), 2) T[1, 9]", `{"N": 3, "y": [1, 2, 4], "cens": [-1, 0, 1]}`},
	} {
		text := "data { int N; " + c.declared + "; } parameters { real a; } model { y ~ " + c.statement + "; }"
		p := compiled(t, text)
		set, err := data.ParseJSON("data", []byte(c.values))
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Bind(set, compile.BindOptions{NoPropto: true})
		if err != nil {
			t.Fatal(err)
		}
		x := rand.New(rand.NewPCG(5, 6)).NormFloat64() // where generated evaluates
		want, err := m.LogDensityGrad([]float64{x}, []float64{0})
		if err != nil {
			t.Fatal(err)
		}
		d := derive(t, p, predict.LogLikelihood)
		_, got := generated(t, d.Program, c.values)
		sum := 0.0
		for _, v := range got {
			sum += v
		}
		if !(math.Abs(sum-want) <= 1e-10*(1+math.Abs(want))) {
			t.Errorf("%s: %v, not %v\n%s", text, sum, want, d.Text)
		}
		derive(t, p, predict.Replicated)
	}
	own := compiled(t, `functions { real own_lpdf(real y, real a) { return normal_lpdf(y | a, 1); } real own_lcdf(real y, real a) { return normal_lcdf(y | a, 1); }
		real own_lccdf(real y, real a) { return normal_lccdf(y | a, 1); } }
		data { int N; array[N] real<censored_below=1> y; } parameters { real a; } model { for (n in 1:N) y[n] ~ own(a) T[0, ]; }`)
	if _, err := predict.Derive(own, predict.LogLikelihood, predict.Options{}); err == nil || !strings.Contains(err.Error(), "y has censored values") {
		t.Errorf("a distribution of the program: %v, want a refusal", err)
	}
}
