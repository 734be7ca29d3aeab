package compile_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestLogProducts compares the evaluators on forward algorithms, in several spellings: with sizes
// below and above those of products, with terms so far apart that products underflow, and with
// states that cannot be reached.
func TestLogProducts(t *testing.T) {
	const head = `data { int K, T; matrix[K, T] y; matrix[K, K] jump; real scale; }
parameters { matrix[K, K] A; vector[K] mu; real s; }
model {
  matrix[K, K] M = scale * A + jump;
`
	for _, c := range []struct{ name, text string }{
		{"element by element", `array[T] vector[K] g; vector[K] acc;
g[1] = mu;
for (t in 2:T) for (k in 1:K) {
  for (j in 1:K) acc[j] = g[t - 1, j] + M[j, k] + s * y[k, t];
  g[t, k] = log_sum_exp(acc);
}
target += log_sum_exp(g[T]);`},
		{"vectors", `vector[K] g = mu;
for (t in 2:T) {
  vector[K] h;
  for (k in 1:K) h[k] = log_sum_exp(g + M[, k]) + s * y[k, t];
  g = h;
}
target += log_sum_exp(g);`},
		{"rows, with all states used", `array[T] vector[K] g;
g[1] = mu;
for (t in 2:T) for (k in 1:K) g[t, k] = s * y[k, t] - 1 + log_sum_exp(M[k]' + g[t - 1] + 0.1 * y[, t]);
for (t in 1:T) target += 0.1 * sin(g[t, 1]) + log_sum_exp(g[t]) / T;`},
		{"two products a step", `vector[K] g = mu;
for (t in 2:T) {
  vector[K] h; vector[K] f;
  for (k in 1:K) h[k] = log_sum_exp(g + M[, k]) + 0.1 * y[k, t];
  for (k in 1:K) f[k] = 0.5 * log_sum_exp(M[k]' + h) + s;
  g = f;
}
target += log_sum_exp(g);`},
		{"backward", `vector[K] g = mu;
for (i in 2:T) {
  int t = T - i + 1;
  vector[K] h;
  for (k in 1:K) h[k] = log_sum_exp(g + M[k]' + y[, t] * s);
  g = h;
}
target += log_sum_exp(g + mu);`},
		{"subjects", `for (i in 1:3) {
  vector[K] g = mu * i;
  for (t in 2:T) {
    vector[K] h;
    for (k in 1:K) h[k] = log_sum_exp(g + M[, k]) + s * i * y[k, t];
    g = h;
  }
  target += log_sum_exp(g);
}`},
		{"another value from step to step", `vector[K] g = mu; real best = 0;
for (t in 2:T) {
  vector[K] h;
  for (k in 1:K) h[k] = log_sum_exp(g + M[, k]) + s * y[k, t];
  best = fmax(best, max(h)) - 0.1 * h[1];
  g = h;
}
target += log_sum_exp(g) + 0.1 * best;`},
	} {
		text := head + c.text + "\ntarget += -0.5 * dot_self(to_vector(A)) - dot_self(mu) - square(s);\n}"
		prog, list := compile.Compile(source.NewFile("m.model", text))
		if prog == nil {
			t.Fatal(c.name, list)
		}
		for _, size := range [][2]int{{1, 12}, {2, 12}, {3, 2}, {4, 12}, {5, 9}, {5, 10}, {6, short.Of(40, 12)}, {17, 12}} {
			k, n := size[0], size[1]
			rng := rand.New(rand.NewPCG(uint64(k), uint64(n)))
			matrix := func(rows, cols int, of func() float64) [][]float64 {
				x := make([][]float64, rows)
				for i := range x {
					x[i] = make([]float64, cols)
					for j := range x[i] {
						x[i][j] = of()
					}
				}
				return x
			}
			for _, kind := range []string{"near", "far", "blocked"} {
				scale, jump := 1.0, matrix(k, k, func() float64 { return 0 })
				switch kind {
				case "far":
					scale = 1500
				case "blocked": // no way from later states to earlier ones
					for i := range jump {
						for j := range i {
							jump[i][j] = -1e300
						}
					}
				}
				raw, err := json.Marshal(map[string]any{"K": k, "T": n, "y": matrix(k, n, rng.NormFloat64), "jump": jump, "scale": scale})
				if err != nil {
					t.Fatal(err)
				}
				set, err := data.ParseJSON("data.json", raw)
				if err != nil {
					t.Fatal(err)
				}
				if rep := contest.Contend(text, c.name, set, 1, 2); rep.Wrong != nil {
					t.Errorf("%s, K = %d, T = %d, %s: %v", c.name, k, n, kind, rep.Wrong)
				}
				if k < 5 || n < 10 {
					continue
				}
				m, err := prog.Bind(set, compile.BindOptions{})
				if err != nil {
					t.Fatal(c.name, err)
				}
				if !multiplies(m.DensityGraph()) {
					t.Errorf("%s, K = %d, T = %d: no scan has a product", c.name, k, n)
				}
			}
		}
	}
}

// multiplies reports whether a scan of the graph, not of its regions, has a product of matrices.
func multiplies(g *ad.Graph) bool {
	for i := range g.Nodes {
		if s, ok := g.Nodes[i].Attr.(*ad.Scan); ok {
			for k := range s.Body.Nodes {
				if s.Body.Nodes[k].Op == ad.OpMatMul {
					return true
				}
			}
		}
	}
	return false
}
