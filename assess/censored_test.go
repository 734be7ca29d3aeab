package assess_test

import (
	"math"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
)

// TestCensoredByLimits checks that log likelihoods of censored values are those of their
// probabilities, and that replications and simulated data are recorded at the limits.
func TestCensoredByLimits(t *testing.T) {
	const head = `data { int N; real lod; vector<censored_below=lod, censored_above=4>[N] y; array[N] int<censored_above=3> k; }
parameters { real a; } model { a ~ normal(0, 5); y ~ normal(a, 2); k ~ poisson(exp(a)); }`
	m, err := model.Compile("m.stan", head+` generated quantities { vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | a, 2); }`)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{"N": 5, "lod": 0.5, "y": []float64{0.1, 0.5, 2, 4, 7}, "k": []int{0, 1, 5, 3, 2}}
	p, err := m.Bind(values)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Sample(t.Context(), p, fit.Options{Chains: 2, Warmup: 200, Draws: 200, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	l, err := assess.LogLikOf(t.Context(), f, assess.LogLikOptions{Derive: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"y[1]", "y[2]", "y[3]", "y[4]", "y[5]", "k[1]", "k[2]", "k[3]", "k[4]", "k[5]"}; !slices.Equal(l.Names, want) {
		t.Errorf("log likelihoods of %v", l.Names)
	}
	sums, err := l.Sums(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	column := f.Draws.Column(nil, 0, slices.Index(f.Names(), "a"))
	phi := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	for i, a := range column {
		r := math.Exp(a)
		want := 2*math.Log(phi((0.5-a)/2)) + 2*math.Log(1-phi((4-a)/2)) - 0.5*math.Pow((2-a)/2, 2) - math.Log(2*math.Sqrt(2*math.Pi))
		want += -r + (a - r) + (2*a - r - math.Log(2)) + 2*math.Log(1-math.Exp(-r)*(1+r+r*r/2))
		if math.Abs(sums[i]-want) > 1e-7*max(1, math.Abs(want)) {
			t.Fatalf("at a = %v: log likelihood %v, want %v", a, sums[i], want)
		}
	}
	own := f.Draws.Column(nil, 0, slices.Index(f.Names(), "log_lik.5"))
	if want := math.Log(1 - phi((4-column[0])/2)); math.Abs(own[0]-want) > 1e-9 {
		t.Errorf("log_lik[5] = %v, want %v", own[0], want)
	}
	r, err := assess.PredictiveOf(t.Context(), f, assess.PredictiveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Variables[0].Observed; !slices.Equal(got, []float64{0.5, 0.5, 2, 4, 4}) {
		t.Errorf("observed: %v", got)
	}
	if got := r.Variables[1].Observed; !slices.Equal(got, []float64{0, 1, 3, 3, 2}) {
		t.Errorf("observed: %v", got)
	}
	at := 0
	for i, v := range r.Variables {
		for _, set := range v.Replicated {
			for _, x := range set {
				if x < 0.5 && i == 0 || x > float64(4-i) {
					t.Fatalf("replicated: %v", set)
				}
				if x == 0.5 || x == float64(4-i) {
					at++
				}
			}
		}
	}
	if at == 0 {
		t.Error("no replicated value is at a limit")
	}
	s, err := assess.NewSimulator(t.Context(), m, map[string]any{"N": 5, "lod": 0.5}, 3, 1, assess.SimulatorOptions{Params: map[string]any{"a": 1}})
	if err != nil {
		t.Fatal(err)
	}
	made, _, err := s.Set(0)
	if err != nil {
		t.Fatal(err)
	}
	if y, _ := made.Get("y"); slices.Min(y.Reals) < 0.5 || slices.Max(y.Reals) > 4 {
		t.Errorf("simulated: %v", y.Reals)
	}
}

// TestCensoredBySides checks simulated data whose values are censored one by one, and that they
// need the bounds.
func TestCensoredBySides(t *testing.T) {
	const program = `data { int N; array[N] int cens; vector[N] up; vector<censored=cens, censored_to=up>[N] y; vector[N] to; vector<censored_to=to>[N] z; array[N] int<censored=cens, censored_to=cens> k; }
parameters { real a; } model { a ~ normal(0, 5); y ~ normal(a, 2); z ~ normal(a, 2); k ~ poisson(2); }`
	m, err := model.Compile("m.stan", program)
	if err != nil {
		t.Fatal(err)
	}
	inf := math.Inf(1)
	values := map[string]any{"N": 5, "cens": []int{0, -1, 1, 2, 2}, "y": []float64{1, 2, 1, 0, -1}, "up": []float64{9, 9, 9, 1, 1},
		"z": []float64{1, -inf, 2, 0, 3}, "to": []float64{1, 0, inf, 1, 4}, "k": []int{1, 2, 2, 1, 2}}
	seen := map[float64]int{}
	for seed := range uint64(20) {
		s, err := assess.NewSimulator(t.Context(), m, values, 1, seed, assess.SimulatorOptions{Params: map[string]any{"a": 0.5}})
		if err != nil {
			t.Fatal(err)
		}
		made, _, err := s.Set(0)
		if err != nil {
			t.Fatal(err)
		}
		get := func(name string) data.Value { v, _ := made.Get(name); return v }
		y, up, cens, z, to := get("y").Reals, get("up").Reals, get("cens").Reals, get("z").Reals, get("to").Reals
		for i := range 5 {
			seen[cens[i]]++
			bad := cens[i] == 2 && (i < 3 || y[i] != float64(3-i) || up[i] != 1)
			bad = bad || i == 0 && cens[i] != 0 || i == 1 && cens[i] < 0 && y[i] != 2 || i == 2 && cens[i] == 1 && y[i] != 1
			bad = bad || !(z[i] <= to[i]) || (i == 0) != (z[i] == to[i]) && i != 1 && i != 2
			if bad {
				t.Errorf("element %d: %v to %v (%v), %v to %v", i, y[i], up[i], cens[i], z[i], to[i])
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("sides: %v", seen)
	}
	if _, err := assess.NewSimulator(t.Context(), m, map[string]any{"N": 2, "cens": []int{0, 1}}, 1, 1, assess.SimulatorOptions{}); err == nil {
		t.Error("data are simulated without the bounds")
	}
}
