package whiten

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
)

// Map is the affine map x = μ + Ly to the coordinates y in which a metric is the
// identity: M⁻¹ = LLᵀ.
type Map struct {
	metric infer.Metric
	scale  []float64         // Unit, Diagonal: L is diagonal
	rows   []float64         // Dense, of up to fewRows dimensions: the rows of L, one after another
	upper  blas64.Triangular // Dense: M⁻¹ = UᵀU, L = Uᵀ
	low    *LowRank          // LowRank: L = S(I + Uᵀ(√Λ - I)U)
	mean   []float64
}

// NewMap makes the map of a metric with its mean, which are copied. An error says
// that the metric is not positive definite and finite.
func NewMap(m infer.Metric) (*Map, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	m.Inverse, m.Mean = append([]float64(nil), m.Inverse...), append([]float64(nil), m.Mean...)
	h := &Map{metric: m, mean: make([]float64, m.Dim)}
	copy(h.mean, m.Mean)
	switch m.Kind {
	case infer.Unit, infer.Diagonal:
		h.scale = make([]float64, m.Dim)
		for i := range h.scale {
			h.scale[i] = 1
			if m.Kind == infer.Diagonal {
				h.scale[i] = math.Sqrt(m.Inverse[i])
			}
		}
	case infer.LowRank:
		h.low = NewLowRank(m)
	case infer.Dense:
		if m.Dim == 0 {
			break
		}
		var factor mat.Cholesky
		if !factor.Factorize(mat.NewSymDense(m.Dim, append([]float64(nil), m.Inverse...))) {
			return nil, errors.New("the inverse metric is not positive definite")
		}
		var u mat.TriDense
		factor.UTo(&u)
		h.upper = u.RawTriangular()
		for i := range m.Dim {
			for j := 0; j <= i && m.Dim <= fewRows; j++ {
				h.rows = append(h.rows, h.upper.Data[j*m.Dim+i])
			}
		}
	}
	return h, nil
}

// Metric returns a copy of the metric.
func (h *Map) Metric() infer.Metric {
	m := h.metric
	m.Inverse, m.Mean = append([]float64(nil), m.Inverse...), append([]float64(nil), m.Mean...)
	return m
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// fewRows is the dimension up to which loops beat the calls of a library.
const fewRows = 48

// Forward writes μ + Ly to x.
func (h *Map) Forward(y, x []float64) {
	switch {
	case h.scale != nil:
		mean, scale := h.mean[:len(x)], h.scale[:len(x)]
		y = y[:len(x)]
		for i := range x {
			x[i] = mean[i] + scale[i]*y[i]
		}
		return
	case h.low != nil:
		copy(x, y)
		h.low.inner(h.low.roots, x)
		mean, scale := h.mean[:len(x)], h.low.scale[:len(x)]
		for i, v := range x {
			x[i] = mean[i] + scale[i]*v
		}
		return
	case len(x) <= fewRows:
		h.forward(y, x)
		return
	default:
		copy(x, y)
		blas64.Trmv(blas.Trans, h.upper, vector(x))
	}
	floats.Add(x, h.mean)
}

// forward is Forward of a dense metric, by two rows of L at a time and two sums for each: a
// single sum would wait for its last addition.
func (h *Map) forward(y, x []float64) {
	mean, rows := h.mean[:len(x)], h.rows
	i := 0
	for ; i+1 < len(x); i += 2 {
		v := y[:i+1]
		a, b := rows[:len(v)], rows[len(v):][:len(v)]
		corner := rows[2*i+2]
		rows = rows[2*i+3:]
		var sumA, sumA1, sumB, sumB1 float64
		j := 0
		for ; j+1 < len(v); j += 2 {
			y0, y1 := v[j], v[j+1]
			sumA += a[j] * y0
			sumB += b[j] * y0
			sumA1 += a[j+1] * y1
			sumB1 += b[j+1] * y1
		}
		if j < len(v) {
			sumA += a[j] * v[j]
			sumB += b[j] * v[j]
		}
		x[i] = mean[i] + (sumA + sumA1)
		x[i+1] = mean[i+1] + (sumB + sumB1 + corner*y[i+1])
	}
	if i < len(x) {
		sum := 0.0
		for j, v := range y[:i+1] {
			sum += rows[j] * v
		}
		x[i] = mean[i] + sum
	}
}

// solve replaces y by L⁻¹y, of a dense metric with few rows.
func (h *Map) solve(y []float64) {
	d := len(y)
	for i := range y {
		row := h.upper.Data[i*d+i : (i+1)*d]
		v := y[i] / row[0]
		y[i] = v
		row = row[1:]
		rest := y[i+1:][:len(row)]
		for j, u := range row {
			rest[j] -= u * v
		}
	}
}

// Pull writes Lᵀg to w.
func (h *Map) Pull(g, w []float64) {
	switch {
	case h.scale != nil:
		scale := h.scale[:len(w)]
		g = g[:len(w)]
		for i := range w {
			w[i] = scale[i] * g[i]
		}
	case h.low != nil:
		floats.MulTo(w, h.low.scale, g)
		h.low.inner(h.low.roots, w)
	case len(w) <= fewRows:
		d := len(w)
		for i := range w {
			row := h.upper.Data[i*d+i : (i+1)*d]
			in := g[i:d][:len(row)]
			sum, sum1 := 0.0, 0.0 // a single sum would wait for its last addition
			j := 0
			for ; j+1 < len(row); j += 2 {
				sum += row[j] * in[j]
				sum1 += row[j+1] * in[j+1]
			}
			if j < len(row) {
				sum += row[j] * in[j]
			}
			w[i] = sum + sum1
		}
	default:
		copy(w, g)
		blas64.Trmv(blas.NoTrans, h.upper, vector(w))
	}
}

// Whiten writes L⁻¹(x - μ) to y and Lᵀg to w: a position and its score in the
// coordinates in which the metric is the identity.
func (h *Map) Whiten(x, g, y, w []float64) {
	if len(x) == 0 {
		return
	}
	floats.SubTo(y, x, h.mean)
	switch {
	case h.scale != nil:
		floats.Div(y, h.scale)
	case h.low != nil:
		floats.Div(y, h.low.scale)
		h.low.inner(h.low.inverse, y)
	case len(x) <= fewRows:
		h.solve(y)
	default:
		blas64.Trsv(blas.Trans, h.upper, vector(y))
	}
	h.Pull(g, w)
}
