package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// TestJoint checks that the field of the joint model has the right covariance at any variance and
// beta: for all cells on small grids, and for some pairs on a large one. Its log density must equal
// that of the formula.
func TestJoint(t *testing.T) {
	for _, d := range []int{2, 6, 64, 128} {
		rng := rand.New(rand.NewPCG(7, 8))
		c := &cox{d: d, y: make([]int, d*d)}
		for i := range c.y {
			c.y[i] = rng.IntN(3)
		}
		target, err := c.jointPosterior()
		if err != nil {
			t.Fatal(err)
		}
		cells := []int{0, d*d/2 + d/2, d*d/2 + d/2 + 1}
		if d <= 6 {
			cells = nil
			for i := range d * d {
				cells = append(cells, i)
			}
		}
		// The same data with one more point in one of the cells.
		var others []*ppl.Posterior
		for _, cell := range cells {
			more := *c
			more.y = slices.Clone(c.y)
			more.y[cell]++
			other, err := more.jointPosterior()
			if err != nil {
				t.Fatal(err)
			}
			others = append(others, other)
		}
		constant := math.NaN()
		for _, h := range [][2]float64{{coxVariance, trueReach}, {1.06, 0.087}, {0.3, 0.195}} {
			variance, beta := h[0], h[1]
			x := make([]float64, target.Dim())
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			x[0], x[1] = math.Log(variance), math.Log(beta/(jointReach-beta))
			grad := make([]float64, len(x))
			lp, err := target.LogDensityGrad(x, grad)
			if err != nil {
				t.Fatal(err)
			}
			if d <= 6 {
				if err := infertest.CheckGradient(target, x); err != nil {
					t.Error(err)
				}
			}
			// The formula without its constant.
			values := reportJoint(target, c)(x)
			field := values[2:]
			formula := math.Log(variance) - 2*variance + math.Log(beta) - 2*beta + // gamma(2, 2)
				math.Log(variance) + math.Log(beta) + math.Log(jointReach-beta) // Jacobians
			for _, z := range x[2:] {
				formula -= 0.5 * z * z
			}
			for i, f := range field {
				formula += float64(c.y[i])*f - math.Exp(f)/float64(d*d)
			}
			if math.IsNaN(constant) {
				constant = lp - formula
			}
			if math.Abs(lp-formula-constant) > 1e-9*math.Abs(lp) {
				t.Errorf("%d × %d cells: the log density differs by %v from its formula", d, d, lp-formula-constant)
			}
			// One more point in a cell adds the gradient of the field in that cell, which is a row
			// of the root of the covariance.
			rows := make([][]float64, len(cells))
			for k, other := range others {
				rows[k] = make([]float64, len(x))
				if _, err := other.LogDensityGrad(x, rows[k]); err != nil {
					t.Fatal(err)
				}
				for i := range rows[k] {
					rows[k][i] -= grad[i]
				}
			}
			for a := range cells {
				for b := range a + 1 {
					got := 0.0
					for i := 2; i < len(x); i++ {
						got += rows[a][i] * rows[b][i]
					}
					p, q := cells[a], cells[b]
					want := variance * math.Exp(-math.Hypot(float64(p%d-q%d), float64(p/d-q/d))/(beta*float64(d)))
					if math.Abs(got-want) > 1e-9 {
						t.Errorf("%d × %d cells, variance %v, beta %v: cells %d and %d have covariance %v instead of %v", d, d, variance, beta, p, q, got, want)
					}
				}
			}
		}
	}
}
