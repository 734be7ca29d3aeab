package compile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/vm"
)

// elements describes the elements of the expected Fisher information that may differ from 0, or
// only its diagonal.
type elements struct {
	pattern      *ad.SparsePattern // nil: too many
	value, trace *vm.Program
}

// elementsOf returns the diagonal or all elements.
func (m *Model) elementsOf(diagonal bool) *elements {
	if diagonal {
		return &m.curvature.elements[1]
	}
	return &m.curvature.elements[0]
}

// FisherPattern lists the elements of FisherMetric that may differ from 0. rows and cols hold their
// indices in the lower triangle, row by row, including the diagonal. The metric also contains sums
// of outer products: number k has ranks[k] vectors, whose columns are wide[k]. ok is false if too
// many elements may differ from 0. With diagonal, the pattern is that of the metric's diagonal.
// Statements with too many derivatives are not part of it; see FisherTooLarge.
func (m *Model) FisherPattern(diagonal bool) (rows, cols []int32, wide [][]int32, ranks []int, ok bool, err error) {
	e, err := m.planElements(diagonal)
	if err != nil || e.pattern == nil {
		return nil, nil, nil, nil, false, err
	}
	for _, w := range e.pattern.Wide {
		wide, ranks = append(wide, w.Columns), append(ranks, w.Rank)
	}
	return e.pattern.Rows, e.pattern.Cols, wide, ranks, true, nil
}

// FisherTooLarge lists the statements that FisherPattern leaves out.
func (m *Model) FisherTooLarge(diagonal bool) ([]LeftOut, error) {
	e, err := m.planElements(diagonal)
	if err != nil || e.pattern == nil {
		return nil, err
	}
	var left []LeftOut
	for _, i := range e.pattern.Left {
		left = append(left, LeftOut{m.curvature.information.Calls[i].At, "it depends on so many parameters in so many ways that its part would take too long"})
	}
	return left, nil
}

// FisherLeaves reports whether FisherTooLarge lists any.
func (m *Model) FisherLeaves(diagonal bool) bool {
	left, err := m.FisherTooLarge(diagonal)
	return err == nil && len(left) > 0
}

// planElements plans FisherElements. If this clone has done so before, it takes no lock.
func (m *Model) planElements(diagonal bool) (*elements, error) {
	e, ready := m.elementsOf(diagonal), &m.planned.elements[0]
	if diagonal {
		ready = &m.planned.elements[1]
	}
	if *ready {
		return e, nil
	}
	if err := m.FisherSingular(); err != nil && !errors.As(err, new(*SingularError)) {
		return nil, err
	}
	err := m.planOnce(&e.value, func() (*ad.Graph, ad.Ref, error) {
		g, x := m.point()
		pattern, out, ok := g.FisherSparse(x, m.statements(g, x, m.curvature.information), diagonal)
		if !ok { // an unused placeholder
			return g, g.Const(0), nil
		}
		e.pattern = &pattern
		return g, out, nil
	})
	if err != nil {
		return nil, err
	}
	*ready = true
	return e, nil
}

// FisherElements writes the elements of FisherPattern at x to e. First come the elements at its
// rows and columns. Then, for each sum of outer products, come its vectors, all numbers of one
// column together, and their weights.
func (m *Model) FisherElements(diagonal bool, x, e []float64) error {
	planned, err := m.planElements(diagonal)
	if err != nil {
		return err
	}
	if err := m.fitsElements(planned, x, e); err != nil {
		return err
	}
	return m.second(planned.value, e, x)
}

// FisherElementsTraceGrad is FisherTraceGrad for the layout of FisherElements. a holds the elements
// of A at the rows and columns of the pattern. For each vector u of a sum of outer products, A·u at
// its columns takes the place of u, and uᵀA·u that of its weight.
func (m *Model) FisherElementsTraceGrad(diagonal bool, x, a, grad []float64) error {
	planned, err := m.planElements(diagonal)
	if err != nil {
		return err
	}
	if err := m.fitsElements(planned, x, a); err != nil {
		return err
	}
	if len(grad) != m.dim {
		return fmt.Errorf("a gradient of length %d for a model of dimension %d", len(grad), m.dim)
	}
	ready := &m.planned.elementsTrace[0]
	if diagonal {
		ready = &m.planned.elementsTrace[1]
	}
	if !*ready {
		err := m.planOnce(&planned.trace, func() (*ad.Graph, ad.Ref, error) {
			g, x := m.point()
			weights := g.Input(ad.Type{Shape: []int{len(a)}})
			trace := g.FisherSparseTrace(x, weights, m.statements(g, x, m.curvature.information), diagonal)
			return g, g.Grad(trace, x)[0], nil
		})
		if err != nil {
			return err
		}
		*ready = true
	}
	return m.second(planned.trace, grad, x, a)
}

// fitsElements checks the sizes of a point and the elements of a metric.
func (m *Model) fitsElements(planned *elements, x, e []float64) error {
	p := planned.pattern
	if p == nil {
		return errors.New("too many elements of the metric may differ from 0")
	}
	n := len(p.Rows)
	for _, w := range p.Wide {
		n += (len(w.Columns) + 1) * w.Rank
	}
	if len(x) != m.dim || len(e) != n {
		return fmt.Errorf("a point of length %d and %d elements for a model of dimension %d whose metric has %d", len(x), len(e), m.dim, n)
	}
	return nil
}

// FisherTimes writes the product of FisherMetric at x with the vector u to product. It costs a few
// evaluations of the density. With whole it includes all statements, otherwise only those that
// FisherPattern includes.
func (m *Model) FisherTimes(whole bool, x, u, product []float64) error {
	return m.fisherAlong(whole, times, x, u, product)
}

// FisherSquareGrad writes the gradient at x of uᵀGu to grad. G is the metric of FisherTimes; the
// vector u is held fixed. It costs about as much as FisherTimes.
func (m *Model) FisherSquareGrad(whole bool, x, u, grad []float64) error {
	return m.fisherAlong(whole, squareGrad, x, u, grad)
}

// The two computations of fisherAlong.
const (
	times = iota
	squareGrad
)

// fisherAlong computes G·u or the gradient of uᵀGu. Each is planned once, with and without the
// statements that FisherPattern leaves out.
func (m *Model) fisherAlong(whole bool, what int, x, u, dst []float64) error {
	if len(x) != m.dim || len(u) != m.dim || len(dst) != m.dim {
		return fmt.Errorf("vectors of length %d, %d and %d for a model of dimension %d", len(x), len(u), len(dst), m.dim)
	}
	of := 0
	if whole {
		of = 1
	}
	p, ready := &m.curvature.along[of][what], &m.planned.along[of][what]
	if *ready {
		return m.second(*p, dst, x, u)
	}
	if _, err := m.information(); err != nil {
		return err
	}
	var left []int
	if !whole {
		e, err := m.planElements(false)
		if err != nil {
			return err
		}
		if e.pattern != nil {
			left = e.pattern.Left
		}
	}
	err := m.planOnce(p, func() (*ad.Graph, ad.Ref, error) {
		g, x := m.point()
		u := g.Input(ad.Type{Shape: []int{m.dim}})
		var statements []ad.Statement
		for i, s := range m.statements(g, x, m.curvature.information) {
			if !slices.Contains(left, i) {
				statements = append(statements, s)
			}
		}
		square := g.FisherSquare(x, u, statements)
		if what == times {
			return g, g.Scale(0.5, g.Grad(square, u)[0]), nil
		}
		return g, g.Grad(square, x)[0], nil
	})
	if err != nil {
		return err
	}
	*ready = true
	return m.second(*p, dst, x, u)
}
