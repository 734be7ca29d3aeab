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
// can be taken one after another, or two at a time.
func (l *LowRank) inner(f, x []float64) {
	k := 0
	if len(x) <= fewRows {
		for ; k+1 < len(f); k += 2 {
			two(f[k], f[k+1], l.vectors[k], l.vectors[k+1], x)
		}
	}
	for ; k < len(f); k++ {
		u := l.vectors[k]
		floats.AddScaled(x, f[k]*floats.Dot(u, x), u)
	}
}

// two adds to x its parts along the orthogonal vectors u and v, times f and g.
func two(f, g float64, u, v, x []float64) {
	u, v = u[:len(x)], v[:len(x)]
	var a, b, a1, b1 float64 // a single sum for each would wait for its last addition
	i := 0
	for ; i+1 < len(x); i += 2 {
		a += u[i] * x[i]
		b += v[i] * x[i]
		a1 += u[i+1] * x[i+1]
		b1 += v[i+1] * x[i+1]
	}
	if i < len(x) {
		a += u[i] * x[i]
		b += v[i] * x[i]
	}
	a, b = f*(a+a1), g*(b+b1)
	for i := range x {
		x[i] += a*u[i] + b*v[i]
	}
}

// forward writes mean + S(I + Uᵀ(√Λ - I)U)y to x.
func (l *LowRank) forward(mean, y, x []float64) {
	copy(x, y)
	l.inner(l.roots, x)
	mean, scale := mean[:len(x)], l.scale[:len(x)]
	for i, v := range x {
		x[i] = mean[i] + scale[i]*v
	}
}

// pull writes (I + Uᵀ(√Λ - I)U)S g to w.
func (l *LowRank) pull(g, w []float64) {
	scale := l.scale[:len(w)]
	for i, v := range g[:len(w)] {
		w[i] = scale[i] * v
	}
	l.inner(l.roots, w)
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
