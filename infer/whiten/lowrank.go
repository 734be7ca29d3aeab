package whiten

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
)

// LowRank computes with a metric of the kind infer.LowRank: M⁻¹ = S(I + Uᵀ(Λ - I)U)S. All
// functions of it have the form S^a (I + Uᵀ(f(Λ) - I)U) S^b, at a cost of O(D·r).
type LowRank struct {
	scale   []float64
	values  []float64   // Λ - 1
	roots   []float64   // √Λ - 1
	inverse []float64   // 1/√Λ - 1
	vectors [][]float64 // rows of U
}

// NewLowRank prepares a metric of that kind, which must pass its Check.
func NewLowRank(m infer.Metric) *LowRank {
	m.Inverse = append([]float64(nil), m.Inverse...)
	l := &LowRank{}
	l.scale, l.values, l.vectors = m.LowRank()
	for i, v := range l.values {
		l.roots = append(l.roots, math.Sqrt(v)-1)
		l.inverse = append(l.inverse, 1/math.Sqrt(v)-1)
		l.values[i] = v - 1
	}
	return l
}

// inner replaces x by (I + Uᵀ diag(f) U)x. The rows of U are orthogonal, so they
// can be taken one after another.
func (l *LowRank) inner(f, x []float64) {
	if len(x) > fewRows {
		for k, u := range l.vectors {
			floats.AddScaled(x, f[k]*floats.Dot(u, x), u)
		}
		return
	}
	for k, u := range l.vectors {
		u = u[:len(x)]
		var sum, sum1 float64
		i := 0
		for ; i+1 < len(x); i += 2 {
			sum += u[i] * x[i]
			sum1 += u[i+1] * x[i+1]
		}
		if i < len(x) {
			sum += u[i] * x[i]
		}
		sum = f[k] * (sum + sum1)
		for i, v := range u {
			x[i] += sum * v
		}
	}
}

// Velocity writes M⁻¹p to v.
func (l *LowRank) Velocity(p, v []float64) {
	floats.MulTo(v, l.scale, p)
	l.inner(l.values, v)
	floats.Mul(v, l.scale)
}

// Momentum turns standard normals into a draw from normal(0, M).
func (l *LowRank) Momentum(z []float64) {
	l.inner(l.inverse, z)
	floats.Div(z, l.scale)
}
