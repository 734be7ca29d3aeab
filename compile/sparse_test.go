package compile

import (
	"math"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestSparseProducts checks that products with matrices of data that are mostly zero leave out the
// zeros, however they are spelled. Densities, gradients and rejections must be the same as without
// the pass.
func TestSparseProducts(t *testing.T) {
	const n, k = 60, 40
	x, q, w, u, v := make([][]float64, n), make([][]float64, k), []float64{}, []int{1}, []int{}
	y, z := make([]int, n), make([]float64, n)
	for i := range x {
		x[i] = make([]float64, k)
		for _, j := range [...]int{i * 7 % k, (i*i + 11*i + 1) % k} {
			x[i][j] = float64(1 + i%3)
		}
		for j, e := range x[i] {
			if e != 0 {
				w, v = append(w, e), append(v, j+1)
			}
		}
		u = append(u, len(w)+1)
		y[i], z[i] = i%2, float64(i%9)-4
	}
	for i := range q {
		q[i] = make([]float64, k)
		q[i][i] = 2
		q[i][(i+1)%k], q[i][(i+k-1)%k] = -1, -1
	}
	q[0][5] = 0.5 // not symmetric
	values := map[string]any{"n": n, "k": k, "m": len(w), "X": x, "Q": q, "w": w, "v": v, "u": u, "y": y, "z": z}
	const head = `data { int n, k, m; matrix[n, k] X; matrix[k, k] Q; vector[m] w; array[m] int v; array[n + 1] int u; array[n] int y; vector[n] z; }
transformed data { matrix[k, k] S = Q + Q'; }
parameters { vector<lower=0>[k] b; vector[n] r; real<lower=0> s; }
model { `
	for _, text := range []string{
		"y ~ bernoulli_logit(X * b);",
		"y ~ bernoulli_logit_glm(X, s, b);",
		"y ~ poisson_log_glm(X, r, b);",
		"z ~ normal_id_glm(X, s, b, exp(r));",
		"for (i in 1:n) y[i] ~ bernoulli_logit(dot_product(X[i], b));",
		"for (i in 1:n) y[i] ~ bernoulli_logit(X[i] * b + r[i]);",
		"target += sum(sin(X' * r));",
		"target += sum(cos(r' * X));",
		"target += -0.5 * s * quad_form(Q, b);",
		"target += -0.5 * s * quad_form(S, b);",
		"target += -0.5 * s * b' * Q * b;",
		"target += -0.5 * quad_form_sym(S, b - s);",
		"for (i in 1:3) target += sum(sin(X * (b * i)));",
		"vector[k] c = b; for (i in 1:4) c = sin(Q * c + i); target += sum(c);",
		"target += sum(tanh(csr_matrix_times_vector(n, k, w, v, u, b)));",
		"target += sum(tanh(csr_matrix_times_vector(n, k, w * s, v, u, b)));",
	} {
		text = head + text + " }"
		with := boundWith(t, text, values, BindOptions{})
		without := boundWith(t, text, values, BindOptions{Without: []string{"sparse"}})
		products := 0
		g := with.DensityGraph()
		for i, live := range g.Live(g.Outputs, true) {
			if live && g.Nodes[i].Op == ad.OpMatMul {
				products++
			}
		}
		e, err := with.Explain(make([]float64, with.Dim()), 0)
		if err != nil {
			t.Fatal(text, err)
		}
		if products > 0 && len(e.Sparse) == 0 {
			t.Errorf("%s: %d products, none without zeros", text, products)
		}
		for _, s := range e.Sparse {
			if s.Line != 4 || s.Nonzero != len(w) && s.Nonzero > 3*k+2 {
				t.Errorf("%s: %+v", text, s)
			}
		}
		p := make([]float64, with.Dim())
		got, want := make([]float64, len(p)), make([]float64, len(p))
		for round := range 6 {
			for i := range p {
				p[i] = math.Sin(float64(i*(round+1))) * 0.8
			}
			if round >= 4 { // infinite elements
				p[3], p[k-1] = 800, float64(round-4)*800
			}
			a, errA := with.LogDensityGrad(p, got)
			b, errB := without.LogDensityGrad(p, want)
			if (errA != nil) != (errB != nil) || !(math.IsNaN(a) && math.IsNaN(b)) && !(math.Abs(a-b) <= 1e-11*(1+math.Abs(b))) && a != b {
				t.Errorf("%s: %v (%v), want %v (%v)", text, a, errA, b, errB)
			}
			for i := range want {
				if errB == nil && round < 4 && !(math.Abs(got[i]-want[i]) <= 1e-10*(1+math.Abs(want[i]))) {
					t.Fatalf("%s: derivative %d is %v, want %v", text, i, got[i], want[i])
				}
			}
		}
	}
}
