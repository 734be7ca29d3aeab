package whiten

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/internal/vector"
)

// Map is the affine map x = μ + Ly to the coordinates y in which a metric is the
// identity: M⁻¹ = LLᵀ.
type Map struct {
	metric infer.Metric
	scale  []float64         // Unit, Diagonal: L is diagonal
	upper  blas64.Triangular // Dense: M⁻¹ = UᵀU, L = Uᵀ
	few    *triangle         // Dense, of up to fewRows dimensions: L
	low    *LowRank          // LowRank: L = S(I + Uᵀ(√Λ - I)U)
	mean   []float64
}

// NewMap returns the map of a metric with its mean; it copies both. It returns an error if the
// metric is not positive definite and finite.
func NewMap(m infer.Metric) (*Map, error) {
	w := workspace{room: make([]float64, len(m.Inverse)+2*m.Dim)}
	return newMap(m, w.numbers)
}

// newMap is NewMap; take makes room for numbers.
func newMap(m infer.Metric, take func(n int) []float64) (*Map, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	known := len(m.Mean)
	inverse, mean := take(len(m.Inverse)), take(m.Dim)
	clear(mean)
	copy(inverse, m.Inverse)
	copy(mean, m.Mean)
	if m.Inverse != nil {
		m.Inverse = inverse
	}
	if m.Mean = nil; known > 0 {
		m.Mean = mean
	}
	h := &Map{metric: m, mean: mean}
	switch m.Kind {
	case infer.Unit, infer.Diagonal:
		h.scale = take(m.Dim)
		for i := range h.scale {
			h.scale[i] = 1
			if m.Kind == infer.Diagonal {
				h.scale[i] = math.Sqrt(m.Inverse[i])
			}
		}
	case infer.LowRank:
		h.low = newLowRank(m, take)
	case infer.Dense:
		if m.Dim == 0 {
			h.few = newTriangle(0, nil, nil)
			break
		}
		h.upper.Data = take(len(m.Inverse))
		copy(h.upper.Data, m.Inverse)
		var ok bool
		if h.upper, ok = lapack64.Potrf(blas64.Symmetric{N: m.Dim, Stride: m.Dim, Uplo: blas.Upper, Data: h.upper.Data}); !ok {
			return nil, errors.New("the inverse metric is not positive definite")
		}
		if m.Dim <= fewRows {
			h.few = newTriangle(m.Dim, take(m.Dim*(m.Dim+1)), func(i, j int) float64 { return h.upper.Data[j*m.Dim+i] })
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

func blasVector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// Forward writes μ + Ly to x.
func (h *Map) Forward(y, x []float64) {
	switch {
	case h.scale != nil:
		vector.Affine(x, h.mean, h.scale, y)
	case h.low != nil:
		h.low.forward(h.mean, y, x)
	case h.few != nil:
		h.few.multiply(h.mean, y, x)
	default:
		copy(x, y)
		blas64.Trmv(blas.Trans, h.upper, blasVector(x))
		floats.Add(x, h.mean)
	}
}

// Diagonal returns μ and the diagonal of L, which must not be changed, or nil if the metric is not
// diagonal. With them, a caller can do other work in the same pass over memory.
func (h *Map) Diagonal() (mean, scale []float64) {
	if h.scale == nil {
		return nil, nil
	}
	return h.mean, h.scale
}

// solve replaces y by L⁻¹y, for a dense metric with few rows.
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
		vector.Times(w, h.scale, g)
	case h.low != nil:
		h.low.pull(g, w)
	case h.few != nil:
		h.few.transposed(g, w)
	default:
		copy(w, g)
		blas64.Trmv(blas.NoTrans, h.upper, blasVector(w))
	}
}

// Whiten writes L⁻¹(x - μ) to y and Lᵀg to w: a position and its score in the
// coordinates in which the metric is the identity.
func (h *Map) Whiten(x, g, y, w []float64) {
	h.Inverse(x, y)
	h.Pull(g, w)
}

// LogScale returns the log determinant of L, half that of the inverse metric.
func (h *Map) LogScale() float64 {
	sum := 0.0
	switch m := h.metric; m.Kind {
	case infer.Diagonal:
		for _, v := range m.Inverse {
			sum += 0.5 * math.Log(v)
		}
	case infer.LowRank:
		for _, v := range m.Inverse[:m.Dim] {
			sum += math.Log(v)
		}
		for _, v := range m.Inverse[m.Dim:][:len(h.low.values)] {
			sum += 0.5 * math.Log(v)
		}
	case infer.Dense:
		for i := range m.Dim {
			sum += math.Log(math.Abs(h.upper.Data[i*(m.Dim+1)]))
		}
	}
	return sum
}

// Inverse writes L⁻¹(x - μ) to y.
func (h *Map) Inverse(x, y []float64) {
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
	case h.few != nil:
		h.solve(y)
	default:
		blas64.Trsv(blas.Trans, h.upper, blasVector(y))
	}
}
