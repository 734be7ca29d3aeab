package tempered

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Redraw gives every replica an exact draw of its level, and the one at the target the position x.
// Target and references must be normal distributions with independent coordinates.
func (k *Kernel) Redraw(rng *rand.Rand, x []float64) {
	d := len(x)
	grad, at := make([]float64, d), make([]float64, d)
	for i, l := range k.levels {
		z := k.replicas[i].point
		if i == k.cold {
			copy(z.Position, x)
		} else {
			// The log density is Σ b x - ½ a x², whose gradients give a and b.
			l.h.density.LogDensityGrad(at, grad)
			b := append([]float64(nil), grad...)
			for j := range at {
				at[j] = 1
			}
			l.h.density.LogDensityGrad(at, grad)
			for j := range at {
				at[j] = 0
				a := b[j] - grad[j]
				z.Position[j] = b[j]/a + rng.NormFloat64()/math.Sqrt(a)
			}
		}
		if err := l.h.Reset(z); err != nil {
			panic(err)
		}
	}
}

// Check reports whether the values that each replica carries equal those of its level at its
// position.
func (k *Kernel) Check() bool {
	for i, l := range k.levels {
		z, fresh := k.replicas[i].point, newPoint(k.target.Dim())
		copy(fresh.Position, z.Position)
		if err := l.h.Reset(fresh); err != nil {
			panic(err)
		}
		log, score := ofTarget(z)
		want, wantScore := ofTarget(fresh)
		if log != want || !slices.Equal(score, wantScore) || l.beta > 0 && (z.LogDensity != fresh.LogDensity || !slices.Equal(z.Gradient, fresh.Gradient)) {
			return false
		}
	}
	return true
}
