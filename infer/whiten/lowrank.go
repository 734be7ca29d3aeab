package whiten

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/internal/vector"
)

// LowRank computes with a metric of the kind infer.LowRank: M⁻¹ = S(I + Uᵀ(Λ - I)U)S. All
// functions of it have the form S^a (I + Uᵀ(f(Λ) - I)U) S^b, at a cost of O(D·r).
type LowRank struct {
	scale   []float64
	values  []float64   // Λ - 1
	roots   []float64   // √Λ - 1
	inverse []float64   // 1/√Λ - 1
	vectors [][]float64 // rows of U
	pairs   []pair      // the same for few dimensions, two rows at a time
}

// pair holds two rows of U, the second of zeros if their number is odd, with the factors that (I +
// Uᵀ(√Λ - I)U) applies along them, and S times the rows.
type pair struct {
	f, g             float64
	u, v             []float64
	scaledU, scaledV []float64
}

// NewLowRank prepares a metric of that kind, which must pass its Check.
func NewLowRank(m infer.Metric) *LowRank {
	m.Inverse = append([]float64(nil), m.Inverse...)
	return newLowRank(m, func(n int) []float64 { return make([]float64, n) })
}

// newLowRank is NewLowRank of a metric that nobody changes; take makes room for numbers.
func newLowRank(m infer.Metric, take func(n int) []float64) *LowRank {
	l := &LowRank{}
	var values []float64
	l.scale, values, l.vectors = m.LowRank()
	d, r := len(l.scale), len(values)
	room := take(3 * r)
	l.values, l.roots, l.inverse = room[:r], room[r:2*r], room[2*r:]
	for i, v := range values {
		l.roots[i] = math.Sqrt(v) - 1
		l.inverse[i] = 1/math.Sqrt(v) - 1
		l.values[i] = v - 1
	}
	if d <= fewRows && r > 0 {
		l.pairs = make([]pair, (r+1)/2)
		room := take((2*len(l.pairs) + r%2) * d)
		clear(room)
		next := func() (x []float64) { x, room = room[:d:d], room[d:]; return x }
		for i := range l.pairs {
			k := 2 * i
			p := pair{f: l.roots[k], u: l.vectors[k]}
			if k+1 < r {
				p.g, p.v = l.roots[k+1], l.vectors[k+1]
			} else {
				p.v = next()
			}
			p.scaledU, p.scaledV = floats.MulTo(next(), l.scale, p.u), floats.MulTo(next(), l.scale, p.v)
			l.pairs[i] = p
		}
	}
	return l
}

// inner replaces x by (I + Uᵀ diag(f) U)x. The rows of U are orthogonal, so they can be applied one
// after another or, which saves passes over memory in many dimensions, four at a time.
func (l *LowRank) inner(f, x []float64) {
	k := 0
	for ; len(x) > fewRows && k+4 <= len(l.vectors); k += 4 {
		u := (*[4][]float64)(l.vectors[k:])
		p := vector.Products(x, u)
		for i := range p {
			p[i] *= f[k+i]
		}
		vector.AddScaled(x, &p, u)
	}
	for ; k < len(l.vectors); k++ {
		u := l.vectors[k]
		floats.AddScaled(x, f[k]*floats.Dot(u, x), u)
	}
}

// forward writes mean + S(I + Uᵀ(√Λ - I)U)y to x, which must be neither mean nor y.
func (l *LowRank) forward(mean, y, x []float64) {
	mean, y, scale := mean[:len(x)], y[:len(x)], l.scale[:len(x)]
	if len(l.pairs) == 0 {
		copy(x, y)
		l.inner(l.roots, x)
		for i, v := range x {
			x[i] = mean[i] + scale[i]*v
		}
		return
	}
	p := &l.pairs[0]
	a, b := p.along(p.u, p.v, y)
	u, v := p.scaledU[:len(x)], p.scaledV[:len(x)]
	for i := range x {
		x[i] = mean[i] + (scale[i]*y[i] + (a*u[i] + b*v[i]))
	}
	for k := range l.pairs[1:] {
		p := &l.pairs[k+1]
		a, b := p.along(p.u, p.v, y)
		addTwo(a, b, p.scaledU, p.scaledV, x)
	}
}

// pull writes (I + Uᵀ(√Λ - I)U)S g to w, which must not be g.
func (l *LowRank) pull(g, w []float64) {
	g, scale := g[:len(w)], l.scale[:len(w)]
	if len(l.pairs) == 0 {
		for i, v := range g {
			w[i] = scale[i] * v
		}
		l.inner(l.roots, w)
		return
	}
	p := &l.pairs[0]
	a, b := p.along(p.scaledU, p.scaledV, g)
	u, v := p.u[:len(w)], p.v[:len(w)]
	for i := range w {
		w[i] = scale[i]*g[i] + (a*u[i] + b*v[i])
	}
	for k := range l.pairs[1:] {
		p := &l.pairs[k+1]
		a, b := p.along(p.scaledU, p.scaledV, g)
		addTwo(a, b, p.u, p.v, w)
	}
}

// along returns f·(u·x) and g·(v·x).
func (p *pair) along(u, v, x []float64) (a, b float64) {
	u, v = u[:len(x)], v[:len(x)]
	var a1, b1 float64 // with single sums each addition would wait for the last
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
	return p.f * (a + a1), p.g * (b + b1)
}

func addTwo(a, b float64, u, v, x []float64) {
	u, v = u[:len(x)], v[:len(x)]
	for i := range x {
		x[i] += a*u[i] + b*v[i]
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
