package compile_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
)

// filter is a loop with a carried array and conditions that differ in the first or last
// iterations.
const filter = `data { int T; vector[T] y; }
parameters { real<lower=0> q; real<lower=0, upper=1> phi; }
transformed parameters {
  array[T + 1] matrix[2, 2] P;
  vector[2] x = [phi, q]';
  P[T + 1] = rep_matrix(q, 2, 2);
  {
    int k = 1;
    for (t in %[1]s) {
      %[2]s
      real f = P[t, 1, 1] + q;
      vector[2] gain = P[t][, 1] / f;
      x += gain * (y[t] - x[1]);
      P[t] -= gain * P[t][1];
      x = [x[1] + phi * x[2], phi * x[2]]';
      %[3]s
      k += 1;
    }
  }
}
model {
  target += -0.5 * dot_self(x) - 0.5 * sum(P[T]);
  y ~ normal(to_array_1d(P[, 1, 1])[1:T], 1);
}`

// TestPeeled compares the evaluators on loops whose first or last iterations are peeled, with
// numbers of iterations on both sides of the limits.
func TestPeeled(t *testing.T) {
	const first, next = "if (t == 1) P[1] = identity_matrix(2);", "P[t + 1] = phi * P[t] + 0.1 * identity_matrix(2);"
	for _, c := range []struct{ iterations, before, after string }{
		{"1:T", first, "if (t < T) " + next},
		{"1:T", first, next},
		{"1:T", first, "if (t + 2 < T) " + next + " else if (t < T) P[t + 1] = q * P[t];"},
		{"1:T", first, "if (k % 2 == 0 || t < 3) " + next + " else if (t < T) P[t + 1] = identity_matrix(2) * t;"},
		{"1:T", first, "if (k > 3 && k < T - 3) " + next + " else P[t + 1] = identity_matrix(2) * k;"},
		{"1:T", first, "if (t < 5) " + next + " else P[t + 1] = q * P[t];"},
		{"1:T", "if (k == 1) P[1] = identity_matrix(2);", "if (y[t] < 9) " + next},
		{"1:T", first, "if (t == T - 1) { P[t + 1] = q * P[t]; continue; } if (t < T) " + next},
	} {
		for _, n := range []int{1, 2, 3, 4, 12, 13, 14, 40, 70} {
			y := make([]float64, n)
			for i := range y {
				y[i] = float64(i%7) / 7
			}
			y[n-1] = 9
			raw, err := json.Marshal(map[string]any{"T": n, "y": y})
			if err != nil {
				t.Fatal(err)
			}
			set, err := data.ParseJSON("data.json", raw)
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf(filter, c.iterations, c.before, c.after)
			if rep := contest.Contend(text, "peeled.stan", set, 1, 2); rep.Wrong != nil {
				t.Errorf("%s\n%s, T = %d: %v", c.before, c.after, n, rep.Wrong)
			}
		}
	}
}
