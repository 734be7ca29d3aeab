package compile_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestDiscreteMerged compares subjects with equal data, sums over which are one, with an
// enumeration: chains and trees of states, some of which data determine, by transitions that are
// impossible and by states that were seen.
func TestDiscreteMerged(t *testing.T) {
	const text = `
data { int S; int T; int K; array[T] int parent; array[K, K] int may; array[S, T] int y; array[S] int g; vector[T] x; }
parameters { simplex[K] w; matrix[K, K] v; vector[K] q; vector[2] b; array[S, T] int<lower=1, upper=K> z; }
model {
  to_vector(v) ~ normal(0, 1);
  for (s in 1:S) {
    z[s, 1] ~ categorical(w);
    for (t in 2:T) {
      target += log(may[z[s, parent[t]], z[s, t]]) + v[z[s, parent[t]], z[s, t]] * x[t];
      if (g[s] > 0) target += b[g[s]] * z[s, t] * z[s, parent[t]];
    }
    for (t in 1:T) {
      if (y[s, t] < 0) target += 0;
      else if (y[s, t] == 0) target += log1m(inv_logit(q[z[s, t]]));
      else target += log_inv_logit(q[z[s, t]]) + log(y[s, t] == z[s, t]);
    }
  }
}`
	shared, determined := 0, 0
	for seed := range uint64(short.Of(60, 8)) {
		if !short.Turn(int(seed), 4) {
			continue
		}
		rng := rand.New(rand.NewPCG(seed, 45))
		K := 2 + rng.IntN(2)
		T := 1 + rng.IntN(4)
		S := max(1, []int{8, 5}[K-2]/T)
		if seed == 0 {
			S = 0
		}
		parent := make([]int, T)
		x := make([]float64, T)
		for i := 1; i < T; i++ {
			parent[i] = i
			if rng.IntN(3) == 0 {
				parent[i] = 1 + rng.IntN(i)
			}
			x[i] = float64(rng.IntN(2))
		}
		may := make([][]int, K)
		for i := range may {
			may[i] = make([]int, K)
			for k := range may[i] {
				if i == k || rng.IntN(3) > 0 {
					may[i][k] = 1
				}
			}
		}
		y, g := make([][]int, S), make([]int, S)
		for s := range y {
			g[s] = max(0, rng.IntN(5)-2)
			if s > 0 && rng.IntN(2) == 0 { // like the one before, or its end is
				y[s], g[s] = append([]int(nil), y[s-1]...), g[s-1]
				y[s][0] = rng.IntN(2)
				continue
			}
			y[s] = make([]int, T)
			// A path that is possible, some of which is seen.
			path := make([]int, T)
			for i := range path {
				path[i] = rng.IntN(K)
				for i > 0 && may[path[parent[i]-1]][path[i]] == 0 {
					path[i] = rng.IntN(K)
				}
				if y[s][i] = rng.IntN(3) - 1; y[s][i] > 0 {
					y[s][i] = path[i] + 1
				}
			}
		}
		if S == 0 {
			y = [][]int{}
		}
		values, err := json.Marshal(map[string]any{"S": S, "T": T, "K": K, "parent": parent, "may": may, "y": y, "g": g, "x": x})
		if err != nil {
			t.Fatal(err)
		}
		c := discreteCase{name: "merged", text: text, data: string(values), bounds: between(1, int64(K), "z")}
		if S > 0 {
			c.check(t, 300)
			c.probabilities(t)
		}
		for _, d := range bindText(t, text, c.data).Discrete() {
			switch {
			case d.Sums == 0:
				determined++
			case d.Sums < d.Elements:
				shared++
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d, data %s", seed, values)
		}
	}
	if shared == 0 || determined == 0 {
		t.Errorf("%d groups of equal sums, %d of determined elements", shared, determined)
	}
}

// probabilities compares the probabilities of all values, and the most likely configuration, with
// an enumeration.
func (c discreteCase) probabilities(t *testing.T) {
	t.Helper()
	e := enumerate(t, c.text, c.data, c.bounds, c.perElement)
	p, list := compile.CompileWith(source.NewFile("m.stan", c.text), compile.Options{Sums: compile.SumsProbabilities})
	if list.HasErrors() {
		t.Fatal(list)
	}
	set, err := data.ParseText("data.json", c.data, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Bind(set, compile.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	x := make([]float64, m.Dim())
	for i := range x {
		x[i] = 1.6*rng.Float64() - 0.8
	}
	_, _, prob := e.at(x)
	if prob == nil {
		return
	}
	names := m.OutputNames()
	dst := make([]float64, len(names))
	if err := m.Generate(x, rng, dst); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for i, n := range names {
		got[n] = dst[i]
	}
	want := map[string]float64{}
	top := 0
	for k, z := range e.configs {
		if prob[k] > prob[top] {
			top = k
		}
		for i, n := range e.names {
			want[fmt.Sprintf("z_probability%s.%d", n[1:], z[i])] += prob[k]
		}
	}
	for n, v := range want {
		if !near(got[n], v, 1e-10) {
			t.Errorf("%s is %v, enumerated %v", n, got[n], v)
		}
	}
	mode := make([]int64, len(e.names))
	for i, n := range e.names {
		mode[i] = int64(got["z_mode"+n[1:]])
	}
	for k, z := range e.configs {
		if fmt.Sprint(z) == fmt.Sprint(mode) && !near(prob[k], prob[top], 1e-12) {
			t.Errorf("the most likely configuration is %v with %v, not %v with %v", e.configs[top], prob[top], z, prob[k])
		}
	}
}

// TestDiscreteImpossible compares graphs of elements with an enumeration, where values of one rule
// out values of others: factors of two and three elements that are 0 at some of their values.
func TestDiscreteImpossible(t *testing.T) {
	const text = `
data {
  int N; int K; int E; int F; array[E, 2] int e; array[F, 3] int f; array[E] int type;
  array[2, K, K] int may; array[N] int known;
}
parameters { vector[K] h; matrix[K, K] v; real u; array[N] int<lower=1, upper=K> z; }
model {
  to_vector(v) ~ normal(0, 1);
  for (n in 1:N) {
    target += h[z[n]];
    if (known[n] > 0) target += log(z[n] != known[n]);
  }
  for (i in 1:E) target += v[z[e[i, 1]], z[e[i, 2]]] + log(may[type[i], z[e[i, 1]], z[e[i, 2]]]);
  for (i in 1:F) target += u * z[f[i, 1]] * z[f[i, 2]] * z[f[i, 3]] + log(z[f[i, 1]] <= max(z[f[i, 2]], z[f[i, 3]]));
}`
	fewer := 0
	for seed := range uint64(short.Of(40, 8)) {
		if !short.Turn(int(seed), 4) {
			continue
		}
		rng := rand.New(rand.NewPCG(seed, 46))
		K := 2 + rng.IntN(2)
		N := 1 + rng.IntN(7)
		pick := func(n, of int) [][]int {
			out := make([][]int, n)
			for i := range out {
				out[i] = rng.Perm(N)[:of]
				for k := range out[i] {
					out[i][k]++
				}
			}
			return out
		}
		var e, f [][]int
		if N > 1 {
			e = pick(rng.IntN(N+2), 2)
		}
		if N > 2 {
			f = pick(rng.IntN(2), 3)
		}
		may := make([][][]int, 2)
		for i := range may {
			may[i] = make([][]int, K)
			for a := range may[i] {
				may[i][a] = make([]int, K)
				for b := range may[i][a] {
					if a == b || rng.IntN(2) == 0 {
						may[i][a][b] = 1
					}
				}
			}
		}
		kinds, known := make([]int, len(e)), make([]int, N)
		for i := range kinds {
			kinds[i] = 1 + rng.IntN(2)
		}
		for i := range known {
			known[i] = max(0, rng.IntN(2*K)-K+1)
		}
		if e == nil {
			e = [][]int{}
		}
		if f == nil {
			f = [][]int{}
		}
		values, err := json.Marshal(map[string]any{"N": N, "K": K, "E": len(e), "F": len(f), "e": e, "f": f, "type": kinds, "may": may, "known": known})
		if err != nil {
			t.Fatal(err)
		}
		c := discreteCase{name: "impossible", text: text, data: string(values), bounds: between(1, int64(K), "z")}
		c.check(t, 300)
		c.probabilities(t)
		for _, d := range bindText(t, text, c.data).Discrete() {
			if d.Around == 1 && d.Sums > 0 && d.Total < d.Sums*K*K {
				fewer++
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d, data %s", seed, values)
		}
	}
	if fewer == 0 {
		t.Error("no sum leaves impossible values out")
	}
}
