package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// TestComputeAtSource checks that functions of gathered elements are computed before the gather if
// the source array is shorter. Expensive functions are also computed once for each distinct row.
// Densities, gradients and messages must be the same as without the pass.
func TestComputeAtSource(t *testing.T) {
	const head = `data { int N, M; array[N] int g, h; array[M] int few; vector[N] y; vector[M] z; }
parameters { vector[5] a; vector[5] b; real s; matrix[5, 3] m; array[5] vector[3] q; real r; vector[8] u; }
model { `
	const n, few = 100, 6
	rng := rand.New(rand.NewPCG(3, 1))
	g, h, y := make([]int, n), make([]int, n), make([]float64, n)
	for i := range n {
		g[i], h[i], y[i] = rng.IntN(5)+1, rng.IntN(3)+1, rng.NormFloat64()
	}
	values := map[string]any{"N": n, "M": few, "g": g, "h": h, "few": []int{1, 2, 3, 4, 5, 1}, "y": y, "z": y[:few]}
	for _, c := range []struct {
		spelling string
		of       ad.OpCode // the op whose operands are examined
		elements int       // of the longest
	}{
		{"for (n in 1:N) target += y[n] * exp(a[g[n]]);", ad.OpExp, 5},
		{"target += y .* exp(a[g]);", ad.OpExp, 5},
		{"for (n in 1:N) target += y[n] * exp(a[g[n]] * b[g[n]] + s);", ad.OpExp, 5},
		{"for (n in 1:N) target += y[n] * tgamma(2 + square(exp(-b[g[n]])));", ad.OpTgamma, 5},
		{"for (n in 1:N) target += y[n] * exp(sin(m[g[n], h[n]]));", ad.OpExp, 15},
		{"for (n in 1:N) target += y[n] * sum(exp(m[g[n]]));", ad.OpExp, 15},
		{"for (n in 1:N) { array[3] real l; for (k in 1:3) l[k] = atan(q[g[n], k]) + y[n] * m[g[n], k]; target += log_sum_exp(l); }", ad.OpAtan, 5},
		{"for (n in 1:N) target += normal_lpdf(y[n] | a[g[n]], exp(b[g[n]]));", ad.OpExp, 5},
		// Elements that are not gathered do not count, whatever their values.
		{"for (n in 1:N) target += y[n] * exp(u[g[n]]);", ad.OpExp, 5},
		{"for (n in 1:N) target += y[n] * exp(u[2 + 2 * h[n]]) * sqrt(abs(u[2 * h[n]]));", ad.OpExp, 3},
		{"for (n in 1:N) target += y[n] * exp(u[g[n] + (g[n] > 2)] / 100) * tgamma(1 + square(u[h[n]]));", ad.OpExp, 5},
		{"for (n in 1:N) target += y[n] * exp(m[g[n], 2]) * exp(m[1 + h[n], 3]);", ad.OpExp, 5},
		// Nor do elements that only untaken sides of conditionals gather.
		{"for (n in 1:N) if (y[n] > r + 5) target += log(u[g[n] + 3]); else target += a[g[n]];", ad.OpLog, 100},
		{"vector[N] l = log(u[g]); for (n in 1:N) if (y[n] > r + 5) target += l[n]; else target += a[g[n]];", ad.OpLog, 5},
		{"for (n in 1:N) target += y[n] * (1 + square(a[g[n]])) ^ h[n];", ad.OpPow, 15},
		{"target += y .* pow(exp(a[g]), to_vector(h));", ad.OpPow, 15},
		{"for (n in 1:N) target += y[n] * tgamma(h[n] + 1 + square(s));", ad.OpTgamma, 3},
		{"for (n in 1:N) target += y[n] * (1 + square(a[g[n]])) ^ y[n];", ad.OpPow, 100},
		{"for (n in 1:N) target += y[n] * exp(a[g[n]] + b[h[n]]);", ad.OpExp, 100},
		{"for (n in 1:N) target += y[n] * exp(a[g[n]] + y[n]);", ad.OpExp, 100},
		{"for (n in 1:N) target += y[n] * exp(b[h[n]] + exp(a[g[n]] - r));", ad.OpExp, 100},
		{"for (n in 1:M) target += z[n] * exp(a[few[n]]);", ad.OpExp, 6},
	} {
		at := boundText(t, head+c.spelling+" }", values)
		by := boundWith(t, head+c.spelling+" }", values, BindOptions{Without: []string{"exchange"}})
		density := at.DensityGraph()
		if err := loopnest.VerifyGraph(density); err != nil {
			t.Error(c.spelling, err)
		}
		long := 0
		for i, live := range density.Live(density.Outputs, true) {
			if n := &density.Nodes[i]; live && n.Op == c.of && ops.Of(n.Op).Cost > 0 {
				long = max(long, n.Type.Total())
			}
		}
		if long != c.elements {
			t.Errorf("%s: %v is computed for %d elements, want %d", c.spelling, c.of, long, c.elements)
		}
		x, got, want := make([]float64, 50), make([]float64, 50), make([]float64, 50)
		for k := range 8 {
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			for i := range 3 { // elements of u that no case gathers, and some that few cases do
				x[[]int{42 + 5, 42 + 6, 42 + 7}[i]] = []float64{0, 800, -800, math.Inf(1), math.NaN()}[(k+i)%5]
			}
			if k == 2 { // no side with a logarithm is taken; one logarithm would be infinite
				x[41], x[43] = 50, 0
			}
			if k > 2 { // an element that few or all rows gather is at a limit, or is NaN
				x[rng.IntN(10)] = []float64{800, -800, math.Inf(1), math.Inf(-1), math.NaN()}[k-3]
			}
			lp, err := at.LogDensityGrad(x, got)
			lpWant, errWant := by.LogDensityGrad(x, want)
			if fmt.Sprint(err) != fmt.Sprint(errWant) {
				t.Errorf("%s at %v: %v, want %v", c.spelling, x, err, errWant)
			}
			for i, v := range append(got, lp) {
				w := append(want, lpWant)[i]
				if err == nil && !(math.Abs(v-w) <= 1e-12*(n+math.Abs(w))) && !(v == w || math.IsNaN(w)) {
					t.Errorf("%s at %v: %d is %.17g, want %.17g", c.spelling, x, i, v, w)
				}
			}
		}
	}
}

// TestKnownSums checks that sums of gathered elements times known numbers are sums over the source
// of the elements: no value of the density has as many elements as there are rows. Densities,
// gradients and errors must be the same as without the pass.
func TestKnownSums(t *testing.T) {
	const head = `data { int N; array[N] int g, h; vector[N] y; array[N] int k; }
parameters { vector[8] a; matrix[4, 2] m; real r; }
model { `
	rng := rand.New(rand.NewPCG(3, 2))
	for _, c := range []struct {
		spelling string
		short    bool // whether rows are summed beforehand, if there are many
	}{
		{"for (n in 1:N) target += y[n] * a[g[n]];", true},
		{"target += sum(a[g] .* y);", true},
		{"target += y .* (r - 2 * a[g]);", true},
		{"for (n in 1:N) target += y[n] * m[h[n], 2];", true},
		{"for (n in 1:N) target += 3 * a[g[n]];", true},
		{"k ~ poisson_log(a[g]);", true},
		{"k ~ poisson_log(r + a[g] * exp(r));", true},
		{"for (n in 1:N) target += y[n] * (a[g[n]] + m[h[n], 1]);", false},
		{"for (n in 1:N) target += abs(y[n] - a[g[n]]);", false},
	} {
		for _, n := range []int{0, 1, 2, 5, 10, 11, 12, 90} {
			g, h, k, y := make([]int, n), make([]int, n), make([]int, n), make([]float64, n)
			for i := range n {
				g[i], h[i], k[i], y[i] = rng.IntN(8)+1, rng.IntN(4)+1, rng.IntN(3), rng.NormFloat64()
			}
			values := map[string]any{"N": n, "g": g, "h": h, "k": k, "y": y}
			at := boundText(t, head+c.spelling+" }", values)
			by := boundWith(t, head+c.spelling+" }", values, BindOptions{Without: []string{"exchange"}})
			density := at.DensityGraph()
			if err := loopnest.VerifyGraph(density); err != nil {
				t.Error(c.spelling, err)
			}
			if n == 90 {
				long := false
				for i, live := range density.Live(density.Outputs, true) {
					long = long || live && density.Nodes[i].Op != ad.OpConst && density.Nodes[i].Type.Total() >= n
				}
				if long == c.short {
					t.Errorf("%s: rows in the density: %v", c.spelling, long)
				}
			}
			x, got, want := make([]float64, 17), make([]float64, 17), make([]float64, 17)
			for at0 := range 4 {
				for i := range x {
					x[i] = rng.NormFloat64()
				}
				if at0 > 1 {
					x[rng.IntN(8)] = []float64{math.Inf(1), math.NaN()}[at0-2]
				}
				lp, err := at.LogDensityGrad(x, got)
				lpWant, errWant := by.LogDensityGrad(x, want)
				if fmt.Sprint(err) != fmt.Sprint(errWant) {
					t.Errorf("%s at %v: %v, want %v", c.spelling, x, err, errWant)
				}
				for i, v := range append(got, lp) {
					w := append(want, lpWant)[i]
					if err == nil && !(math.Abs(v-w) <= 1e-12*(float64(n)+math.Abs(w))) && !(v == w || math.IsNaN(w)) {
						t.Errorf("%d rows, %s at %v: %d is %.17g, want %.17g", n, c.spelling, x, i, v, w)
					}
				}
			}
		}
	}
}
