package compile

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

const groupedHead = `data { int N, J; array[N] int<lower=1, upper=J> g, h; vector[N] x, z, y; matrix[N, 3] X; }
parameters { vector[J] a, d; matrix[J, 3] B; array[J] vector[3] A; real b; real<lower=0> s; vector[3] c; }
model { `

// groupedData makes n rows in j groups. Some groups have one row. row gives a row's numbers.
func groupedData(rng *rand.Rand, n, j int, row func(i int) (x, z, y float64)) map[string]any {
	g, h := make([]int, n), make([]int, n)
	x, z, y, m := make([]float64, n), make([]float64, n), make([]float64, n), make([][]float64, n)
	for i := range n {
		g[i], h[i] = 1+rng.IntN(j), 1+rng.IntN(min(j, 2))
		if i < min(j, 4) {
			g[i] = j - i
		}
		x[i], z[i], y[i] = row(i)
		m[i] = []float64{1, x[i] - z[i], rng.NormFloat64()}
	}
	return map[string]any{"N": n, "J": j, "g": g, "h": h, "x": x, "z": z, "y": y, "X": m}
}

// TestProjectGroups checks regressions whose rows select coefficients, in many spellings. Density,
// gradient and messages must be the same as without the pass, and no value may have as many
// elements as the data have rows.
func TestProjectGroups(t *testing.T) {
	spellings := []struct {
		text  string
		short bool // with 2000 rows
	}{
		{"y ~ normal(a[g], s);", true},
		{"target += -sum(square(a[g]));", true},
		{"y ~ normal(a[g] + b * x, s);", true},
		{"y ~ normal(a[g] - d[h] + b, s);", true},
		{"y ~ normal_id_glm(X, a[g], c, s);", true},
		{"y ~ normal(X[, 1:0] * c[1:0] + a[g], s); y ~ normal(X[, 1:0] * c[1:0], s);", true},
		{"y ~ normal(b * (X * c) - 2 * a[g] / exp(b), s);", true},
		{"y ~ normal(a[g] + d[g] .* x, s);", true},
		{"y ~ normal((a[g] + X * c + d[h] .* x) ./ (1 + square(z)), 0.5);", true},
		{"y ~ normal(B[g, 1] + B[g, 3] .* z, s);", true},
		{"y ~ normal(rows_dot_product(X, B[g]), s);", true},
		{"for (n in 1:N) y[n] ~ normal(a[g[n]] + b * x[n], s);", true},
		{"for (n in 1:N) y[n] ~ normal(X[n] * A[g[n]] + d[h[n]], s);", true},
		{"for (n in 1:N) y[n] ~ normal(A[g[n], 1] + x[n] * A[g[n], 2] + X[n] * c, s);", true},
		{"for (n in 1:N) { real m = a[g[n]] * x[n] + d[h[n]]; target += -0.5 * square((y[n] - m) / s); }", true},
		{"y ~ normal(a[g] + b * x, exp(a[h]));", false},
		{"y ~ normal(a[g] .* d[h], s);", false},
		{"vector[N] m = a[g] + b * x; y ~ normal(m, s); target += sum(m);", false},
	}
	rng := rand.New(rand.NewPCG(11, 12))
	for kind, row := range map[string]func(i int) (x, z, y float64){
		"ordinary": func(int) (float64, float64, float64) {
			return rng.NormFloat64(), rng.NormFloat64(), 1 + rng.NormFloat64()
		},
		"hard": func(i int) (float64, float64, float64) { // collinear, with zeros, far from zero
			return 1e4 + float64(i%2), 2e4 + 2*float64(i%2), 1e5 + 1e-3*rng.NormFloat64()
		},
	} {
		for _, size := range [][2]int{{0, 1}, {1, 1}, {2, 2}, {15, 2}, {16, 2}, {63, 3}, {64, 1}, {64, 3}, {64, 16}, {64, 17}, {100, 25}, {100, 26}, {2000, 7}, {1025, 1}, {1026, 1}, {1027, 1}, {1028, 1}, {5000, 2}} {
			values := groupedData(rng, size[0], size[1], row)
			for _, spelling := range spellings {
				what := fmt.Sprint(kind, size, spelling.text)
				var ms [2]*Model
				for k, without := range [][]string{nil, {"project"}} {
					ms[k] = boundWith(t, groupedHead+spelling.text+" }", values, BindOptions{Without: without})
				}
				if err := loopnest.VerifyGraph(ms[0].DensityGraph()); err != nil {
					t.Error(what, err)
				}
				if size[0] == 2000 && kind == "ordinary" && rows(ms[0], size[0]) == spelling.short {
					t.Errorf("%s: a value of all rows is left: %v", what, spelling.short)
				}
				for range 3 {
					at := make([]float64, ms[0].Dim())
					for i := range at {
						at[i] = rng.NormFloat64()
					}
					compareGrouped(t, what, ms, at)
				}
				for i := range ms[0].Dim() {
					at := make([]float64, ms[0].Dim())
					at[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[i%3]
					_, err := ms[0].LogDensityGrad(at, make([]float64, len(at)))
					_, errWant := ms[1].LogDensityGrad(at, make([]float64, len(at)))
					if fmt.Sprint(err) != fmt.Sprint(errWant) {
						t.Fatalf("%s with parameter %d %v: %v, want %v", what, i+1, at[i], err, errWant)
					}
				}
			}
		}
	}
}

// compareGrouped compares the models at a point, relative to the largest derivative.
func compareGrouped(t *testing.T, what string, ms [2]*Model, at []float64) {
	t.Helper()
	g, want := make([]float64, len(at)), make([]float64, len(at))
	lp, err := ms[0].LogDensityGrad(at, g)
	lpWant, errWant := ms[1].LogDensityGrad(at, want)
	if err != nil || errWant != nil {
		t.Fatal(what, err, errWant)
	}
	size := 1 + math.Abs(lpWant)
	for _, v := range want {
		size = max(size, math.Abs(v))
	}
	near := 1e-12 * size
	if !(math.Abs(lp-lpWant) <= near) {
		t.Errorf("%s: %.17g, want %.17g", what, lp, lpWant)
	}
	for i := range g {
		if !(math.Abs(g[i]-want[i]) <= near) {
			t.Errorf("%s: derivative %d is %.17g, want %.17g", what, i+1, g[i], want[i])
		}
	}
}

// TestProjectGroupsExact checks a regression whose outcomes are far from zero compared to their
// standard deviation, near the mode, with the sums in arithmetic of 200 bits.
func TestProjectGroupsExact(t *testing.T) {
	const n, j, centre = 20000, 40, 1e4
	rng := rand.New(rand.NewPCG(3, 4))
	effects := make([]float64, j)
	for i := range effects {
		effects[i] = centre + rng.NormFloat64()
	}
	values := groupedData(rng, n, j, func(int) (float64, float64, float64) { return 100 + rng.NormFloat64(), 0, 0 })
	g, x, y := values["g"].([]int), values["x"].([]float64), values["y"].([]float64)
	for i := range y {
		y[i] = effects[g[i]-1] + 0.3*x[i] + 1e-4*rng.NormFloat64()
	}
	m := boundWith(t, `data { int N, J; array[N] int g; vector[N] x, y; }
parameters { vector[J] a; real b; real<lower=0> s; }
model { target += normal_lupdf(y | a[g] + b * x, s); }`, map[string]any{"N": n, "J": j, "g": g, "x": x, "y": y}, BindOptions{})
	if rows(m, n) {
		t.Error("a value of all rows is left")
	}
	for _, b := range []float64{0.3, 0.3 + 1e-6} {
		at := append(append([]float64{}, effects...), b, math.Log(1e-4))
		got := make([]float64, len(at))
		lp, err := m.LogDensityGrad(at, got)
		if err != nil {
			t.Fatal(err)
		}
		exact := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
		zero := func() *big.Float { return exact(0) }
		squares, sums, weights := zero(), make([]*big.Float, j+1), make([]float64, j+1)
		for k := range sums {
			sums[k] = zero()
		}
		for i := range y {
			r := zero().Sub(exact(y[i]), exact(effects[g[i]-1]))
			r.Sub(r, zero().Mul(exact(b), exact(x[i])))
			squares.Add(squares, zero().Mul(r, r))
			sums[g[i]-1].Add(sums[g[i]-1], r)
			sums[j].Add(sums[j], zero().Mul(r, exact(x[i])))
			weights[g[i]-1]++
			weights[j] += x[i]
		}
		s := math.Exp(at[j+1])
		ss, _ := squares.Float64()
		ss /= s * s
		// An element may change by as much as if each residual changed by two units in the last
		// place of a's elements.
		const unit = 2 * centre * 0x1p-52
		if want, near := -0.5*ss-(n-1)*at[j+1], math.Sqrt(n*ss)*unit/s; !(math.Abs(lp-want) <= near) {
			t.Errorf("b = %v: the log density is %.17g, want %.17g ± %.2g", b, lp, want, near)
		}
		for k := range at {
			want, near := ss-n+1, 2*math.Sqrt(n*ss)*unit/s
			if k <= j {
				d, _ := sums[k].Float64()
				want, near = d/(s*s), weights[k]*unit/(s*s)
			}
			if !(math.Abs(got[k]-want) <= near) {
				t.Errorf("b = %v: derivative %d is %.17g, want %.17g ± %.2g", b, k+1, got[k], want, near)
			}
		}
	}
}
