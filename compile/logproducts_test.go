package compile_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
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
// states that cannot be reached. Zeros alone, of transitions and at the start, do not underflow. A
// scan that is known to underflow has no product.
//
// A fifth of the cases is due each day: each program with each kind of terms, and each size with
// each kind. Most are compared with package interp, and a third with all evaluators.
func TestLogProducts(t *testing.T) {
	const twoStates = "numbers, two states"
	const head = `data { int K, T; matrix[K, T] y; matrix[K, K] jump; vector[K] start; real scale; }
parameters { matrix[K, K] A; vector[K] mu; real s; }
model {
  matrix[K, K] M = scale * A + jump;
  vector[K] first = mu + start;
`
	for row, c := range []struct{ name, text string }{
		{"element by element", `array[T] vector[K] g; vector[K] acc;
g[1] = first;
for (t in 2:T) for (k in 1:K) {
  for (j in 1:K) acc[j] = g[t - 1, j] + M[j, k] + s * y[k, t];
  g[t, k] = log_sum_exp(acc);
}
target += log_sum_exp(g[T]);`},
		{"the first step in the loop", `array[T] vector[K] g;
for (t in 1:T) {
  if (t == 1) {
    for (k in 1:K) g[t, k] = first[k];
  } else {
    for (k in 1:K) {
      vector[K] acc;
      for (j in 1:K) acc[j] = g[t - 1, j] + M[j, k];
      g[t, k] = log_sum_exp(acc) + s * y[k, t];
    }
  }
}
target += log_sum_exp(g[T]);`},
		{"vectors", `vector[K] g = first;
for (t in 2:T) {
  vector[K] h;
  for (k in 1:K) h[k] = log_sum_exp(g + M[, k]) + s * y[k, t];
  g = h;
}
target += log_sum_exp(g);`},
		{"rows, with all states used", `array[T] vector[K] g;
g[1] = first;
for (t in 2:T) for (k in 1:K) g[t, k] = s * y[k, t] - 1 + log_sum_exp(M[k]' + g[t - 1] + 0.1 * y[, t]);
for (t in 1:T) target += 0.1 * sin(g[t, 1]) + log_sum_exp(g[t]) / T;`},
		{"two products a step", `vector[K] g = first;
for (t in 2:T) {
  vector[K] h; vector[K] f;
  for (k in 1:K) h[k] = log_sum_exp(g + M[, k]) + 0.1 * y[k, t];
  for (k in 1:K) f[k] = 0.5 * log_sum_exp(M[k]' + h) + s;
  g = f;
}
target += log_sum_exp(g);`},
		{"backward", `vector[K] g = first;
for (i in 2:T) {
  int t = T - i + 1;
  vector[K] h;
  for (k in 1:K) h[k] = log_sum_exp(g + M[k]' + y[, t] * s);
  g = h;
}
target += log_sum_exp(g + mu);`},
		{"backward, with all states used", `array[T] vector[K] g;
g[T] = first;
for (i in 2:T) {
  int t = T - i + 1;
  for (k in 1:K) g[t, k] = log_sum_exp(g[t + 1] + M[k]') + 0.2 * y[k, t] * s;
}
for (t in 1:T) target += 0.1 * sin(g[t, K]) + log_sum_exp(g[t] + mu) / T;`},
		{"states in another order", `vector[K] g = first;
for (t in 2:T) {
  vector[K] h;
  for (k in 1:K) h[K - k + 1] = log_sum_exp(g + M[k]') + s * y[k, t];
  g = h;
}
target += log_sum_exp(g + mu);`},
		{twoStates, `real a = first[1]; real b = first[K];
for (t in 2:T) {
  real c = log_sum_exp(a + M[1, 1], b + M[1, K]) + s * y[1, t];
  b = log_sum_exp(a + M[K, 1], b + M[K, K]) + s * y[K, t];
  a = c;
}
target += log_sum_exp(a, b) + 0.1 * a;`},
		{"subjects", `for (i in 1:3) {
  vector[K] g = first * i;
  for (t in 2:T) {
    vector[K] h;
    for (k in 1:K) h[k] = log_sum_exp(g + M[, k]) + s * i * y[k, t];
    g = h;
  }
  target += log_sum_exp(g);
}`},
		{"sequences", `int n = K > 16 ? 66 : 18; // more than are unrolled
for (i in 1:4) {
  array[n] vector[K] g;
  for (t in 1:n) {
    for (k in 1:K) {
      if (t == 1) g[t, k] = first[k] * i;
      else g[t, k] = log_sum_exp(g[t - 1] + M[, k]) + s * i * y[k, 1 + t % T];
    }
  }
  target += log_sum_exp(g[n]);
}`},
		{"sequences of different lengths, with all states used", `for (i in 1:6) {
  int n = T - i % 4;
  vector[K] g = first + i * s;
  for (t in 2:n) {
    vector[K] h;
    for (k in 1:K) h[k] = log_sum_exp(g + 0.1 * y[, t] + M[, k]) + s * y[k, t];
    g = h;
    target += 0.1 * sin(g[1]);
  }
  target += log_sum_exp(g);
}`},
		{"sequences, backward", `int n = K > 16 ? 66 : 18;
for (i in 1:4) {
  array[n] vector[K] g;
  g[n] = first * i;
  for (j in 2:n) {
    int t = n - j + 1;
    for (k in 1:K) g[t, k] = log_sum_exp(g[t + 1] + M[k]') + 0.2 * y[k, 1 + t % T] * s;
  }
  target += log_sum_exp(g[1] + mu);
}`},
		{"another value from step to step", `vector[K] g = first; real best = 0;
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
		for column, size := range [][2]int{{1, 12}, {2, 12}, {3, 2}, {3, 12}, {4, 12}, {5, 9}, {5, 10}, {6, 20}, {8, 10}, {9, 10}, {17, 12}} {
			k, n := size[0], size[1]
			rng := rand.New(rand.NewPCG(uint64(k), uint64(n)))
			matrix := func(rows, cols int, of func(i, j int) any) [][]any {
				x := make([][]any, rows)
				for i := range x {
					x[i] = make([]any, cols)
					for j := range x[i] {
						x[i][j] = of(i, j)
					}
				}
				return x
			}
			y := matrix(k, n, func(int, int) any { return rng.NormFloat64() })
			for layer, kind := range []struct {
				name  string
				scale float64
				jump  func(i, j int) any
				start any // of all states but the first
				stays bool
			}{
				{name: "near", scale: 1},
				{name: "far", scale: 1500},
				{name: "zeros", scale: 1, start: "-inf", jump: func(i, j int) any {
					if d := (j - i + k) % k; d > 0 && d <= k/2 {
						return "-inf"
					}
					return 0
				}},
				{name: "left to right", scale: 1, start: "-inf", stays: true, jump: func(i, j int) any {
					if j < i {
						return "-inf"
					}
					return 0
				}},
				{name: "almost left to right", scale: 1, stays: true, jump: func(i, j int) any {
					if j < i {
						return -1e300
					}
					return 0
				}},
			} {
				if !short.Turn(row+column+layer, 5) {
					continue
				}
				if kind.jump == nil {
					kind.jump = func(int, int) any { return 0 }
				}
				start := make([]any, k)
				for i := range start {
					if start[i] = 0; i > 0 && kind.start != nil {
						start[i] = kind.start
					}
				}
				raw, err := json.Marshal(map[string]any{"K": k, "T": n, "y": y, "jump": matrix(k, k, kind.jump), "start": start, "scale": kind.scale})
				if err != nil {
					t.Fatal(err)
				}
				set, err := data.ParseJSON("data.json", raw)
				if err != nil {
					t.Fatal(err)
				}
				compare := contest.Fast
				if (row+column+layer)/5%3 == 0 {
					compare = contendAtOnePoint
				}
				if rep := compare(text, c.name, set, 1); rep.Wrong != nil {
					t.Errorf("%s, K = %d, T = %d, %s: %v", c.name, k, n, kind.name, rep.Wrong)
				}
				if k < 9 || n < 10 || c.name == twoStates { // smaller products are written out
					continue
				}
				m, err := prog.Bind(set, compile.BindOptions{})
				if err != nil {
					t.Fatal(c.name, err)
				}
				g := m.DensityGraph()
				if multiplies(g) == kind.stays {
					t.Errorf("%s, K = %d, T = %d, %s: a scan has a product: %t", c.name, k, n, kind.name, kind.stays)
				}
				if kind.name == "zeros" && underflows(t, g) {
					t.Errorf("%s, K = %d, T = %d: zeros underflow", c.name, k, n)
				}
			}
		}
	}
}

// contendAtOnePoint compares all evaluators. It has the parameters of contest.Fast.
func contendAtOnePoint(text, name string, set *data.Set, seed uint64) contest.Report {
	return contest.Contend(text, name, set, seed, 1)
}

// underflows reports whether a graph runs a scan again, at one point.
func underflows(t *testing.T, g *ad.Graph) bool {
	again := *g
	again.Outputs, again.SideEffects = nil, nil
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Op == ad.OpIf {
			again.Outputs = append(again.Outputs, n.Args[0])
		}
	}
	var x [][]float64
	for _, in := range g.Inputs {
		x = append(x, make([]float64, g.Type(in).Size()))
	}
	out, err := again.Eval(x, &ad.Env{})
	if err != nil || len(out) == 0 {
		t.Fatal(len(out), err)
	}
	return slices.ContainsFunc(out, func(v []float64) bool { return v[0] != 0 })
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

// TestImpossibleObservations has a hidden Markov model in which no state can make an observation,
// as a term of a mixture, so that the log density is finite.
func TestImpossibleObservations(t *testing.T) {
	const text = `data { matrix[3, 13] y; }
parameters { vector[3] mu; }
model {
  matrix[3, 13] l = y + rep_matrix(mu, 13);
  target += log_sum_exp(hmm_marginal(l, rep_matrix(1.0 / 3, 3, 3), rep_vector(1.0 / 3, 3)), std_normal_lpdf(mu));
}`
	y := make([][]any, 3)
	for k := range y {
		y[k] = make([]any, 13)
		for i := range y[k] {
			y[k][i] = 0.1 * float64(k*i)
		}
		y[k][9] = "-inf"
	}
	raw, err := json.Marshal(map[string]any{"y": y})
	if err != nil {
		t.Fatal(err)
	}
	set, err := data.ParseJSON("data.json", raw)
	if err != nil {
		t.Fatal(err)
	}
	if rep := contest.Contend(text, "mixture", set, 1, 2); rep.Wrong != nil || rep.Compared == 0 {
		t.Error(rep.Compared, rep.Wrong)
	}
}
