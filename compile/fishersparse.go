package compile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/vm"
)

// elements are the elements of the expected Fisher information that may differ from 0, or its
// diagonal alone.
type elements struct {
	pattern      *ad.SparsePattern // nil: too many
	value, trace *vm.Program
}

// elementsOf is the one or the other.
func (m *Model) elementsOf(diagonal bool) *elements {
	if diagonal {
		return &m.curvature.elements[1]
	}
	return &m.curvature.elements[0]
}

// FisherPattern tells which elements of FisherMetric may differ from 0: places in the lower
// triangle, row by row, the diagonal among them, and beside that sums of outer products of
// ranks vectors each, which have the columns wide. ok is false if too many may differ from 0.
// With diagonal it is that of the metric's diagonal. Statements with too many derivatives
// are not part of it, see FisherTooLarge.
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

// planElements plans FisherElements. Where that has been done it asks nobody.
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
		if !ok { // what is planned is read by nobody
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

// FisherElements writes the elements of FisherPattern at x to e: those at the places, then, for
// each sum of outer products, its vectors, all of one column together, and their weights.
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

// FisherElementsTraceGrad is FisherTraceGrad with, in a, only the elements of A at the places,
// and in place of vectors u and weights A·u at their columns and uᵀA·u.
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

// FisherTimes writes the product of FisherMetric at x with the vector u to product, which takes a
// few times the work of the density. With whole it is of all statements, else without those
// that FisherPattern leaves out.
func (m *Model) FisherTimes(whole bool, x, u, product []float64) error {
	return m.fisherAlong(whole, times, x, u, product)
}

// FisherSquareGrad writes the gradient at x of uᵀGu to grad, where G is that of FisherTimes and
// the vector u is held fixed, at about the same cost.
func (m *Model) FisherSquareGrad(whole bool, x, u, grad []float64) error {
	return m.fisherAlong(whole, squareGrad, x, u, grad)
}

// What is had of the information along one direction, by whether it is of all statements.
const (
	times = iota
	squareGrad
)

// fisherAlong evaluates one of these, which is planned once.
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
