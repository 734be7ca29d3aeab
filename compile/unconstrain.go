package compile

import (
	"fmt"

	"github.com/ppl-lang/ppl/compile/ir"
)

// This file converts the values of a draw back to its unconstrained point, and computes the
// parameters of a point without transformed parameters.

// ParameterNames names the constrained values of the parameters; they are the first of
// ConstrainedNames.
func (m *Model) ParameterNames() []string {
	n := 0
	for _, p := range m.bound.Params {
		for _, leaf := range p.Leaves {
			n += product(leaf.Shape)
		}
	}
	return m.bound.Names[:n]
}

// GeneratedNames names the generated quantities; they are the last of OutputNames.
func (m *Model) GeneratedNames() []string { return m.bound.Names[m.bound.NumConstrained:] }

// ConstrainParameters computes the values that ParameterNames names at the point x. It does not run
// transformed parameters, which may reject the point.
func (m *Model) ConstrainParameters(x, dst []float64) error {
	n := len(m.ParameterNames())
	if err := m.fits(x, dst, n); err != nil {
		return err
	}
	if n == m.bound.NumConstrained && len(m.program.TransformedParameters) == 0 {
		return m.Constrain(x, dst)
	}
	plain, err := m.plain()
	if err != nil {
		return err
	}
	values, err := plain.Parameters(m.split(x), m.env)
	if err != nil {
		return m.rejection(err)
	}
	copy(dst, values)
	return nil
}

// UnconstrainValues finds the unconstrained point x, of length Dim, of the parameters' values in
// the order of ParameterNames. A value on the edge of its bounds, as in a file with few digits, has
// an infinite coordinate. A value outside its bounds, or a matrix that violates its type, has NaN
// coordinates. Neither is an error: values computed from x show it.
func (m *Model) UnconstrainValues(values, x []float64) error {
	return m.unconstrainValues(values, x, nil)
}

// UnconstrainRounded is UnconstrainValues for values rounded to a number of significant digits, as
// in a file of draws. digits 0 means exact values. A value that violates its type only because of
// rounding is replaced by the nearest valid value. Exact values may also need that: elements of an
// ordered vector can be equal to the last bit.
func (m *Model) UnconstrainRounded(values []float64, digits int, x []float64) error {
	return m.unconstrainValues(values, x, &digits)
}

func (m *Model) unconstrainValues(values, x []float64, digits *int) error {
	if n := len(m.ParameterNames()); len(values) != n || len(x) != m.dim {
		return fmt.Errorf("%d values and a point of length %d for %d values of parameters and dimension %d", len(values), len(x), n, m.dim)
	}
	var parts [][]float64 // by leaf
	at := 0
	for i, leaves := range ir.Declared(m.program.Parameters) {
		shapes := make([][]int, len(leaves))
		first := len(parts)
		for k := range leaves {
			shapes[k] = m.bound.Params[i].Leaves[k].Shape
			parts = append(parts, make([]float64, product(shapes[k])))
		}
		for _, slot := range ir.Layout(leaves, shapes) {
			parts[first+slot.Leaf][slot.Element] = values[at]
			at++
		}
	}
	plain, err := m.plain()
	if err != nil {
		return err
	}
	points, err := [][]float64(nil), error(nil)
	if digits == nil {
		points, err = plain.Unconstrain(parts)
	} else {
		points, err = plain.UnconstrainRounded(parts, *digits)
	}
	if err != nil {
		return m.rejection(err)
	}
	for i, point := range points {
		copy(x[m.offsets[i]:], point)
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
