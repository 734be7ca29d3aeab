package projection

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/internal/sorting"
)

// minimise finds a minimum by the method of Nelder and Mead, from x and points at a distance that
// is relative to the size of the coordinate, or absolute for small ones. The result does not depend
// on anything but the arguments.
func minimise(f func(x []float64) float64, x []float64, step float64) []float64 {
	n := len(x)
	type point struct {
		x []float64
		f float64
	}
	at := func(x []float64) point {
		v := f(x)
		if math.IsNaN(v) {
			v = math.Inf(1)
		}
		return point{x, v}
	}
	simplex := []point{at(slices.Clone(x))}
	for i := range n {
		y := slices.Clone(x)
		y[i] += step * max(math.Abs(y[i]), 0.2)
		simplex = append(simplex, at(y))
	}
	// moved returns a point on the line from the worst one through the centre of the others.
	moved := func(by float64) point {
		y := make([]float64, n)
		for i := range n {
			centre := 0.0
			for _, p := range simplex[:n] {
				centre += p.x[i] / float64(n)
			}
			y[i] = centre + by*(simplex[n].x[i]-centre)
		}
		return at(y)
	}
	const tolerance = 1e-7
	for range 200 * n {
		sorting.Stable(simplex, func(a, b point) int {
			switch {
			case a.f < b.f:
				return -1
			case a.f > b.f:
				return 1
			}
			return 0
		})
		best, worst := simplex[0], simplex[n]
		size := 0.0
		for i := range n {
			size = max(size, math.Abs(worst.x[i]-best.x[i])/(0.01+math.Abs(best.x[i])))
		}
		if worst.f-best.f <= tolerance && size <= 1e-3 || size <= 1e-8 {
			break
		}
		reflected := moved(-1)
		switch {
		case reflected.f < best.f:
			if further := moved(-2); further.f < reflected.f {
				reflected = further
			}
			simplex[n] = reflected
		case reflected.f < simplex[n-1].f:
			simplex[n] = reflected
		default:
			by := 0.5
			if reflected.f < worst.f {
				by = -0.5
			}
			if nearer := moved(by); nearer.f < min(worst.f, reflected.f) {
				simplex[n] = nearer
				continue
			}
			for k := 1; k <= n; k++ {
				y := slices.Clone(simplex[k].x)
				for i := range y {
					y[i] = (y[i] + best.x[i]) / 2
				}
				simplex[k] = at(y)
			}
		}
	}
	best := slices.MinFunc(simplex, func(a, b point) int {
		switch {
		case a.f < b.f:
			return -1
		case a.f > b.f:
			return 1
		}
		return 0
	})
	return best.x
}
