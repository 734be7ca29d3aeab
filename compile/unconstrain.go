package compile

import (
	"fmt"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
)

// This file: from the values of a draw back to its unconstrained point.

// ParameterNames names the constrained values of the parameters alone, the first
// of ConstrainedNames.
func (m *Model) ParameterNames() []string {
	n := 0
	for _, p := range m.bound.Params {
		for _, leaf := range p.Leaves {
			n += product(leaf.Shape)
		}
	}
	return m.bound.Names[:n]
}

// GeneratedNames names the generated quantities, the last of OutputNames.
func (m *Model) GeneratedNames() []string { return m.bound.Names[m.bound.NumConstrained:] }

// UnconstrainValues finds the unconstrained point x, of length Dim, of the
// parameters' values in the order of ParameterNames. A value on the edge of its
// bounds, as a file with few digits may hold, has an infinite coordinate; one
// outside of them, or a matrix that is none of its type, has NaN, which is no
// error either: the values that are computed from x show it.
func (m *Model) UnconstrainValues(values, x []float64) error {
	if n := len(m.ParameterNames()); len(values) != n || len(x) != m.dim {
		return fmt.Errorf("%d values and a point of length %d for %d values of parameters and dimension %d", len(values), len(x), n, m.dim)
	}
	if m.inv == nil {
		m.inv = m.inverse.New()
	}
	first, at := 0, 0 // leaf, value
	for i, leaves := range ir.Declared(m.program.Parameters) {
		shapes := make([][]int, len(leaves))
		for k := range leaves {
			shapes[k] = m.bound.Params[i].Leaves[k].Shape
		}
		for _, slot := range ir.Layout(leaves, shapes) {
			m.inv.Input(first + slot.Leaf)[slot.Element] = values[at]
			at++
		}
		first += len(leaves)
	}
	if err := m.inv.Run(&ad.Env{}); err != nil {
		return m.rejection(err)
	}
	for i := range m.bound.Params {
		copy(x[m.offsets[i]:], m.inv.Output(i))
	}
	return nil
}

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
