package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestSkew compares tables that loops fill in wavefronts with the same tables filled cell by cell.
// Reads go left, up, up left, up right, and two rows up; results are the last cell, cells along a
// row, and a row before the last.
func TestSkew(t *testing.T) {
	const head = `data { int R, C; matrix[R, C] z; array[R, C] int skip; }
parameters { real<lower=0> gap; real m; vector[C] u; }
model {
  matrix[R + 2, C + 2] s;
  for (i in 0:(R + 1)) { s[i + 1, 1] = -gap * i; s[i + 1, C + 2] = m * i; }
  for (j in 0:C) { s[1, j + 1] = -m * j; s[2, j + 1] = j > 0 ? u[j] : m; }
  for (i in 2:(R + 1)) for (j in 1:C) `
	const tail = `
  target += 0.1 * s[R + 2, C + 1] + 0.01 * sum(s[R %/% 2 + 2, 1:(C + 1)]);
  if (R > 0) target += 0.1 * s[R + 1, C + 1];
  target += std_normal_lpdf(u) + std_normal_lpdf(m) + std_normal_lpdf(gap);
}`
	skewed := 0
	for _, c := range []struct {
		cell  string
		slope int // wavefronts for each row
	}{
		{"s[i + 1, j + 1] = log_sum_exp([s[i, j + 1] - gap, s[i + 1, j] - gap, s[i, j] + m * z[i - 1, j]]);", 1},
		{"s[i + 1, j + 1] = fmax(s[i, j + 1] - gap, fmax(s[i + 1, j] - gap, s[i, j] + m * z[i - 1, j]));", 1},
		{"s[i + 1, j + 1] = 0.3 * s[i, j + 2] + 0.3 * s[i, j] + tanh(s[i + 1, j]) + m * z[i - 1, j];", 2},
		{"s[i + 1, j + 1] = 0.3 * tanh(s[i - 1, j]) + log(1 + square(s[i + 1, j])) + u[j] * z[i - 1, j];", 1},
		{"s[i + 1, j + 1] = sqrt(fmax(s[i, j], 0) + exp(m)) + (skip[i - 1, j] ? 0 : 0.2 * s[i + 1, j]);", 1},
	} {
		for _, size := range [][2]int{{0, 9}, {1, 40}, {2, 40}, {7, 60}, {8, 60}, {9, 60}, {24, 24}, {40, 20}, {45, 20}} {
			rows, columns := size[0], size[1]
			rng := rand.New(rand.NewPCG(uint64(rows), uint64(columns)))
			z, skip := make([][]float64, rows), make([][]int, rows)
			for i := range z {
				for range columns {
					z[i], skip[i] = append(z[i], rng.NormFloat64()), append(skip[i], rng.IntN(2))
				}
			}
			values := map[string]any{"R": rows, "C": columns, "z": z, "skip": skip}
			of := [2]*Model{
				boundWith(t, head+c.cell+tail, values, BindOptions{}),
				boundWith(t, head+c.cell+tail, values, BindOptions{Without: []string{"skew"}}),
			}
			x := make([]float64, of[0].Dim())
			for i := range x {
				x[i] = 0.5 * rng.NormFloat64()
			}
			var lp [2]float64
			var grad [2][]float64
			for i, m := range of {
				grad[i] = make([]float64, len(x))
				var err error
				if lp[i], err = m.LogDensityGrad(x, grad[i]); err != nil {
					t.Fatal(err)
				}
			}
			where := fmt.Sprintf("%d × %d: %s", rows, columns, c.cell)
			if !(math.Abs(lp[0]-lp[1]) <= 1e-12*math.Abs(lp[1])) {
				t.Errorf("%s: the log density is %v, without the pass %v", where, lp[0], lp[1])
			}
			for i, d := range grad[0] {
				if !(math.Abs(d-grad[1][i]) <= 1e-11*max(1, math.Abs(grad[1][i]))) {
					t.Errorf("%s: derivative %d is %v, without the pass %v", where, i, d, grad[1][i])
					break
				}
			}
			g := of[0].DensityGraph()
			for i := range g.Nodes {
				// Two rows of cells that do not look at the row before may be one.
				s, ok := g.Nodes[i].Attr.(*ad.Scan)
				if ok && rows > 2 && (s.Steps == c.slope*(rows-1)+columns || s.Steps == c.slope*(rows/2-1)+2*columns) {
					skewed++
					break
				}
			}
		}
	}
	if skewed < 15 {
		t.Errorf("only %d tables were filled in wavefronts", skewed)
	}
}
