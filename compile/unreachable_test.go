package compile_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestUnreachableStates has hidden Markov models whose chain stays in the first state, while the
// observations favour the last one: so much that what follows it would overflow, relative to the
// first state. The gradient is known. With a few sizes, the evaluators are compared as well.
func TestUnreachableStates(t *testing.T) {
	const head = `data { int K, T; matrix[K, T] y; matrix[K, K] G; vector[K] start; real sign; }
parameters { vector[K] mu; real<lower=0, upper=1> p; }
model {
  matrix[K, T] l = y + rep_matrix(mu, T);
  matrix[K, K] H = G;
  if (K > 1) { H[K, K] = p; H[K, K - 1] = 1 - p; }
  target += -0.5 * dot_self(mu);
`
	for _, c := range []struct{ name, text string }{
		{name: "function", text: "target += sign * hmm_marginal(l, H, start);"},
		{name: "by hand", text: `vector[K] g = log(start) + l[, 1];
for (t in 2:T) {
  vector[K] h;
  for (k in 1:K) h[k] = log_sum_exp(g + log(H[, k])) + l[k, t];
  g = h;
}
target += sign * log_sum_exp(g);`},
		{name: "by hand, on probabilities", text: `vector[K] g = start .* exp(l[, 1]);
target += sign * log(sum(g));
g /= sum(g);
for (t in 2:T) {
  g = (H' * g) .* exp(l[, t]);
  target += sign * log(sum(g));
  g /= sum(g);
}`},
		{name: "by hand, with all states used", text: `array[T] vector[K] g;
g[1] = log(start) + l[, 1];
for (t in 2:T) for (k in 1:K) g[t, k] = log_sum_exp(g[t - 1] + log(H[, k])) + l[k, t];
for (t in 1:T) target += sign * (log_sum_exp(g[t]) - (t < T ? g[t, 1] : 0));`},
	} {
		text := head + c.text + "\n}"
		prog, list := compile.Compile(source.NewFile("m.model", text))
		if prog == nil {
			t.Fatal(c.name, list)
		}
		for k := 1; k <= 5; k++ {
			for _, n := range []int{30, 120, 400} {
				const nats = 5
				y, jump, start := make([][]float64, k), make([][]float64, k), make([]float64, k)
				for i := range y {
					y[i], jump[i] = make([]float64, n), make([]float64, k)
					for at := range y[i] {
						if y[i][at] = math.Sin(float64(at)); i == k-1 {
							y[i][at] += nats
						}
					}
					if jump[i][i] = 1; i > 0 {
						jump[i][i], jump[i][i-1] = 0.5, 0.5
					}
				}
				start[0] = 1
				sign := 1.0
				if (k+n)%4 < 2 {
					sign = -1
				}
				raw, err := json.Marshal(map[string]any{"K": k, "T": n, "y": y, "G": jump, "start": start, "sign": sign})
				if err != nil {
					t.Fatal(err)
				}
				set, err := data.ParseJSON("data.json", raw)
				if err != nil {
					t.Fatal(err)
				}
				m, err := prog.Bind(set, compile.BindOptions{})
				if err != nil {
					t.Fatal(c.name, err)
				}
				x, grad := make([]float64, m.Dim()), make([]float64, m.Dim())
				for i := range x {
					x[i] = 0.1 * float64(1+i)
				}
				lp, err := m.LogDensityGrad(x, grad)
				if err != nil {
					t.Fatal(err)
				}
				p := 1 / (1 + math.Exp(-x[k]))
				want := make([]float64, k+1)
				for i := range k {
					want[i] = -x[i]
				}
				want[0] += sign * float64(n)
				want[k] = 1 - 2*p // of the log Jacobian
				for i, d := range grad {
					if math.IsInf(lp, 0) || math.IsNaN(lp) || !(math.Abs(d-want[i]) <= 1e-12*float64(n)) {
						t.Errorf("%s, K = %d, T = %d: log density %v, gradient %v, want %v", c.name, k, n, lp, grad, want)
						break
					}
				}
				if n != 400 || k != 3 {
					continue
				}
				if rep := contest.Contend(text, c.name, set, 1, 1); rep.Wrong != nil || rep.Compared == 0 {
					t.Errorf("%s, K = %d, T = %d: %d compared, %v", c.name, k, n, rep.Compared, rep.Wrong)
				}
			}
		}
	}
}
