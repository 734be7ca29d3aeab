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
// row, and a row before the last. Tables without reads to the left are filled row by row.
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
	skewed, windows, byRow := 0, 0, 0
	for _, c := range []struct {
		cell  string
		slope int // wavefronts for each row; 0: rows are lanes
	}{
		{"s[i + 1, j + 1] = log_sum_exp([s[i, j + 1] - gap, s[i + 1, j] - gap, s[i, j] + m * z[i - 1, j]]);", 1},
		{"s[i + 1, j + 1] = fmax(s[i, j + 1] - gap, fmax(s[i + 1, j] - gap, s[i, j] + m * z[i - 1, j]));", 1},
		{"s[i + 1, j + 1] = 0.3 * s[i, j + 2] + 0.3 * s[i, j] + tanh(s[i + 1, j]) + m * z[i - 1, j];", 2},
		{"s[i + 1, j + 1] = 0.3 * tanh(s[i - 1, j]) + log(1 + square(s[i + 1, j])) + u[j] * z[i - 1, j];", 1},
		{"s[i + 1, j + 1] = sqrt(fmax(s[i, j], 0) + exp(m)) + (skip[i - 1, j] ? 0 : 0.2 * s[i + 1, j]);", 1},
		{"{ vector[3] p = [s[i, j + 1], s[i + 1, j], s[i, j]]'; s[i + 1, j + 1] = m * z[i - 1, j] - gap * log_sum_exp(-(0.5 * p) / (1 + gap)); }", 1},
		{"s[i + 1, j + 1] = tanh(s[i, j + 1]) + m * z[i - 1, j];", 0},
		{"s[i + 1, j + 1] = 0.3 * s[i, j + 2] + exp(0.1 * s[i, j]) + u[j] * z[i - 1, j];", 0},
		{"s[i + 1, j + 1] = log_sum_exp([s[i - 1, j + 1] - gap, s[i, j + 2], s[i - 1, j] * 0.5]) + m * z[i - 1, j];", 0},
	} {
		for _, size := range [][2]int{{0, 9}, {1, 40}, {2, 40}, {7, 60}, {8, 60}, {9, 60}, {15, 30}, {16, 30}, {24, 24}, {40, 20}, {45, 20}, {50, 15}, {50, 16}, {50, 17}, {50, 18}, {48, 48}, {56, 56}, {30, 130}} {
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
			steps, scans := 0, 0
			for i := range g.Nodes {
				if s, ok := g.Nodes[i].Attr.(*ad.Scan); ok && !s.Reverse {
					steps, scans = steps+s.Steps, scans+1
				}
			}
			switch {
			case rows <= 2 || scans == 0:
			case c.slope == 0 && steps < 2*rows:
				byRow++
			// Two rows of cells that do not look at the row before may be one.
			case c.slope > 0 && (steps == c.slope*(rows-1)+columns || steps == c.slope*(rows/2-1)+2*columns):
				if skewed++; scans > 1 {
					windows++
				}
			}
		}
	}
	if skewed < 42 || windows < 5 || byRow < 36 {
		t.Errorf("only %d tables were filled in wavefronts, %d of them in windows, and %d row by row", skewed, windows, byRow)
	}
}
