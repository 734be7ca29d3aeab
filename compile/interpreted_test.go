package compile

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestInterpretedQuantities checks generated quantities whose sizes depend on parameters or random
// draws.
func TestInterpretedQuantities(t *testing.T) {
	const text = `
functions {
  real halves(real x) {
    return abs(x) < 0.1 ? 0 : 1 + halves(x / 2);
  }
}
data {
  int N;
  vector[N] y;
}
transformed data {
  real u = normal_rng(0, 1);
}
parameters {
  real a;
  real<lower=0> s;
}
transformed parameters {
  real b = a + s;
}
model {
  a ~ normal(0, 1);
  s ~ exponential(1);
}
generated quantities {
  real same = u;
  int k = 1;
  while (k < N && y[k] < a) {
    k += 1;
  }
  real total = sum(y[1:k]);
  vector[2] part = tail(y, 2);
  real depth = halves(s);
  int n = poisson_rng(3);
  real least = 0;
  if (n > 0) {
    vector[n] v;
    for (i in 1:n) v[i] = normal_rng(0, 1);
    least = min(v);
  }
  array[2, 2] int m = {{k, 2}, {3, n}};
  if (a > 5) reject("too high: ", a);
}
`
	set := parsed(t, `{"N": 4, "y": [0.5, 1, 2, 4]}`)
	m := bound(t, "interpreted.model", text, set)
	if m.bound.Generated != nil || !slices.ContainsFunc(m.Loops().Notes, func(s string) bool { return strings.Contains(s, "are interpreted") }) {
		t.Error("the generated quantities have a graph")
	}
	names := []string{"a", "s", "b", "same", "k", "total", "part.1", "part.2", "depth", "n", "least", "m.1.1", "m.2.1", "m.1.2", "m.2.2"}
	if got := m.OutputNames(); !slices.Equal(got, names) {
		t.Fatalf("names %v, want %v", got, names)
	}
	known := bound(t, "known.model", text[:strings.Index(text, "  int k = 1;")]+"}", set)
	u := make([]float64, 4)
	if err := known.Generate([]float64{0, 0}, nil, u); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[float64]bool{}
	for _, a := range []float64{0.2, 0.7, 1.5, 3, 9.0 / 2} {
		out := make([]float64, len(names))
		if err := m.Generate([]float64{a, math.Log(0.35)}, rng, out); err != nil {
			t.Fatal(err)
		}
		k := 1
		y := []float64{0.5, 1, 2, 4}
		for k < 4 && y[k-1] < a {
			k++
		}
		total := 0.0
		for _, v := range y[:k] {
			total += v
		}
		want := []float64{a, 0.35, a + 0.35, u[3], float64(k), total, 2, 4, 2}
		for i, w := range want {
			if math.Abs(out[i]-w) > 1e-12 {
				t.Errorf("at %v: %s is %v, want %v", a, names[i], out[i], w)
			}
		}
		if out[11] != float64(k) || out[12] != 3 || out[13] != 2 || out[14] != out[9] {
			t.Errorf("at %v: m is %v", a, out[11:])
		}
		seen[out[9]] = true
	}
	if len(seen) < 2 {
		t.Error("the draws are all the same")
	}
	out := make([]float64, len(names))
	err := m.Generate([]float64{6, 0}, rng, out)
	var rejected *Rejection
	if !errors.As(err, &rejected) || !strings.Contains(err.Error(), "too high: 6") || rejected.Span.Begin().Line == 0 {
		t.Errorf("rejected with %v", err)
	}
	if out[0] != 6 || !math.IsNaN(out[4]) {
		t.Errorf("after a rejection: %v", out)
	}
}
