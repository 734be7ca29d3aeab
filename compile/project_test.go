package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestProject checks linear regressions in many spellings. Density, gradient and messages must be
// the same as without the pass. No value in the program may have as many elements as the data have
// rows. Besides ordinary data there are hard ones: a zero column, collinear columns, columns of
// different scales, and outcomes far from zero.
func TestProject(t *testing.T) {
	const head = `data { int N; matrix[N, 5] x; vector[N] y; real<lower=0> known; }
transformed data { array[N] real ys = to_array_1d(y); vector[N] x1 = x[, 1]; }
parameters { real a; vector[5] b; real<lower=0> s; }
model { `
	spellings := []string{
		"y ~ normal(a + x * b, s);",
		"y ~ normal(a + x * b, known);",
		"ys ~ normal(x * b, s);",
		"y ~ normal(a, s);",
		"y ~ normal_id_glm(x, a, b, s);",
		"target += normal_lpdf(y | -(x * b) / known + 2 * a, s);",
		"for (n in 1:N) y[n] ~ normal(a + x[n] * b, s);",
		"for (n in 1:N) { real mu = a + b[1] * x1[n] - x[n, 2] * b[2] * a / known; ys[n] ~ normal(mu, s * exp(a)); }",
		"vector[N] mu = rep_vector(a, N); mu += b[1] * x1; mu += b[2] * x[, 2]; y ~ normal(mu, s);",
		"target += -0.5 * sum(square((y - (x1 .* (a + x * b)) ./ (1 + square(x1))) / s)) - N * log(s);",
		"log(y + 2e5) ~ normal(a + b[1] * x[, 2], s);",
		"y - a ~ normal(x * b, s); y ~ normal(x1 * b[1], 2);",
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for kind, row := range map[string]func(i int) (row [5]float64, y float64){
		"ordinary": func(int) (row [5]float64, y float64) {
			for j := range row {
				row[j] = rng.NormFloat64()
			}
			return row, 1 + row[0] - row[1] + 0.5*rng.NormFloat64()
		},
		"hard": func(i int) (row [5]float64, y float64) {
			u := rng.NormFloat64()
			return [5]float64{u, 0, 2*u + 1, 1e6 * rng.NormFloat64(), 1e-6 * float64(i)}, 1e5 + u + 1e-3*rng.NormFloat64()
		},
	} {
		for _, n := range []int{3, 40, 2500} { // few rows do not change; many come in blocks
			set, size := regression(t, n, row)
			for i, spelling := range spellings {
				for _, whole := range []bool{false, true} {
					var ms [2]*Model
					for k, without := range [][]string{nil, {"project"}} {
						p, list := Compile(source.NewFile("spelling", head+spelling+" }"))
						if p == nil {
							t.Fatal(spelling, list)
						}
						var err error
						if ms[k], err = p.Bind(set, BindOptions{NoPropto: whole, Without: without}); err != nil {
							t.Fatal(spelling, err)
						}
					}
					if err := loopnest.VerifyGraph(ms[0].DensityGraph()); err != nil {
						t.Error(spelling, err)
					}
					if n > 20 && rows(ms[0], n) {
						t.Errorf("%s: a value of %d rows is left", spelling, n)
					}
					for range 5 {
						at := []float64{}
						for range 7 {
							at = append(at, rng.NormFloat64())
						}
						compareProjected(t, kind+": "+spelling, ms, at, size)
					}
					for j, v := range []float64{math.Inf(1), math.NaN()} {
						at := []float64{1, 1, 1, 1, 1, 1, 0.5}
						at[(i+j)%2] = v // a or b[1]
						_, err := ms[0].LogDensityGrad(at, make([]float64, 7))
						_, errWant := ms[1].LogDensityGrad(at, make([]float64, 7))
						if fmt.Sprint(err) != fmt.Sprint(errWant) {
							t.Errorf("%s at %v: %v, want %v", spelling, at, err, errWant)
						}
					}
				}
			}
		}
	}
}

// regression makes data of n rows, and returns the sum of their squares.
func regression(t *testing.T, n int, row func(i int) ([5]float64, float64)) (*data.Set, float64) {
	var xs, ys []string
	size := 0.0
	for i := range n {
		x, y := row(i)
		xs = append(xs, strings.ReplaceAll(fmt.Sprint(x), " ", ","))
		ys = append(ys, fmt.Sprint(y))
		for _, v := range x {
			size += v * v
		}
		size += y * y
	}
	set, err := data.ParseJSON("d", fmt.Appendf(nil, `{"N":%d,"x":[%s],"y":[%s],"known":0.7}`, n, strings.Join(xs, ","), strings.Join(ys, ",")))
	if err != nil {
		t.Fatal(err)
	}
	return set, size
}

// rows reports whether any computed value has n elements or more.
func rows(m *Model, n int) bool {
	g := m.DensityGraph()
	for i, live := range g.Live(g.Outputs, true) {
		if node := &g.Nodes[i]; live && len(node.Args) > 0 && node.Type.Total() >= n {
			return true
		}
	}
	return false
}

// compareProjected compares the models at a point. size is the size of the summed terms: the
// squares of the data over the variance.
func compareProjected(t *testing.T, what string, ms [2]*Model, at []float64, size float64) {
	t.Helper()
	g, want := make([]float64, 7), make([]float64, 7)
	lp, err := ms[0].LogDensityGrad(at, g)
	lpWant, errWant := ms[1].LogDensityGrad(at, want)
	if err != nil || errWant != nil {
		t.Fatal(what, err, errWant)
	}
	largest := 1.0
	for _, v := range at {
		largest = max(largest, math.Abs(v))
	}
	size *= 10 * largest * largest * math.Exp(-2*min(at[6]+at[0], at[6], 0)) / 0.49
	if !(math.Abs(lp-lpWant) <= 1e-12*(size+math.Abs(lpWant))) {
		t.Errorf("%s: %.17g, want %.17g", what, lp, lpWant)
	}
	for i := range g {
		if !(math.Abs(g[i]-want[i]) <= 1e-12*(size+math.Abs(want[i]))) {
			t.Errorf("%s: derivative %d is %.17g, want %.17g", what, i+1, g[i], want[i])
		}
	}
}

// TestProjectWide checks regressions with so many columns that the triangle is cut into blocks: on
// both sides of the numbers of columns and rows from which it is, and with data in several blocks.
func TestProjectWide(t *testing.T) {
	const text = `data { int N, D; matrix[N, D] x; vector[N] y; }
parameters { real a; vector[D] b; real<lower=0> s; }
model { y ~ normal(a + x * b, s); }`
	for _, c := range []struct {
		rows, columns int
		short         bool
	}{{93, 45, false}, {94, 45, true}, {55, 46, false}, {56, 46, true}, {57, 47, true}, {150, 70, true}, {1100, 62, true}} {
		rng := rand.New(rand.NewPCG(uint64(c.rows), uint64(c.columns)))
		x, y := make([][]float64, c.rows), make([]float64, c.rows)
		for i := range x {
			for range c.columns {
				x[i] = append(x[i], rng.NormFloat64())
			}
			y[i] = 3 + x[i][0] - x[i][c.columns-1] + rng.NormFloat64()
		}
		values := map[string]any{"N": c.rows, "D": c.columns, "x": x, "y": y}
		var lp [2]float64
		var grad [2][]float64
		at := make([]float64, c.columns+2)
		for i := range at {
			at[i] = rng.NormFloat64()
		}
		for k, without := range [][]string{nil, {"project"}} {
			m := boundWith(t, text, values, BindOptions{Without: without})
			if k == 0 && rows(m, c.rows) == c.short {
				t.Errorf("%d × %d: a value of all rows: %v", c.rows, c.columns, c.short)
			}
			grad[k] = make([]float64, len(at))
			var err error
			if lp[k], err = m.LogDensityGrad(at, grad[k]); err != nil {
				t.Fatal(err)
			}
		}
		if !(math.Abs(lp[0]-lp[1]) <= 1e-12*math.Abs(lp[1])) {
			t.Errorf("%d × %d: the log density is %v, without the pass %v", c.rows, c.columns, lp[0], lp[1])
		}
		for i, d := range grad[0] {
			if !(math.Abs(d-grad[1][i]) <= 1e-11*math.Abs(lp[1])) {
				t.Errorf("%d × %d: derivative %d is %v, without the pass %v", c.rows, c.columns, i, d, grad[1][i])
			}
		}
	}
}
