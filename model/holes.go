package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/model/predict"
)

// This file: missing elements of new data, which a fit to other data knows nothing about.

// errHole says that new data lack a value.
var errHole = errors.New("the new data lack a value, which the fit knows nothing about")

// newHoles decides what becomes of the variables of new data that may have missing elements. Those
// that only their own statements read are drawn anyway. Covariates keep the values that they have;
// the other ones are drawn too. It returns the data of the derived program for covariates with
// missing elements, or nil.
func (m *Model) newHoles(fitted, values *data.Set, kind predict.Kind, o *predict.Options) (*data.Set, error) {
	if !o.Anew || fitted == nil || m.sameRows(fitted, values) {
		return nil, nil
	}
	covariates, drawn := predict.Covariates(m.program)
	b := data.NewBuilder()
	for _, v := range m.program.IR().Data {
		if !v.Missing || slices.Contains(o.Unknown, v.Name) {
			continue
		}
		at := m.program.Missing(values, v.Name)
		read := slices.Contains(covariates, v.Name)
		if read && kind == predict.Replicated {
			o.Given = append(o.Given, v.Name)
		}
		switch {
		case len(at) == 0:
			continue
		case !read && slices.Contains(drawn, v.Name):
			o.Unknown = append(o.Unknown, v.Name)
			continue
		case !read:
			return nil, fmt.Errorf("%w: %s, which no statement of the model draws", errHole, m.hole(values, v.Name))
		case kind != predict.Replicated:
			return nil, fmt.Errorf("%w: %s. Expected values depend on it: fill it, or draw the outcomes, whose draws include its uncertainty", errHole, m.hole(values, v.Name))
		case v.Ragged != nil:
			return nil, fmt.Errorf("%w: %s, in a ragged array. Fill it", errHole, m.hole(values, v.Name))
		}
		o.Holes = append(o.Holes, v.Name)
		value, _ := values.Filled(func(name string) bool { return name == v.Name }).Get(v.Name)
		whole := v.Type.Scalar() == types.Int
		for i, x := range value.Reals {
			if whole && math.IsNaN(x) {
				x = predict.Hole
			}
			if err := b.Add(v.Name, indexOf(i, value.Shape), x, whole); err != nil {
				return nil, err
			}
		}
	}
	if len(o.Holes) == 0 {
		return nil, nil
	}
	return b.Set(), nil
}

// hole returns the first missing element of a variable, such as x[2].
func (m *Model) hole(values *data.Set, name string) string {
	return values.Filled(func(n string) bool { return n == name }).Path(name, m.program.Missing(values, name)[0])
}

// indexOf returns the index of an element, such as 2.1; "" for a scalar.
func indexOf(element int, shape []int) (text string) {
	for _, n := range slices.Backward(shape) {
		text = "." + strconv.Itoa(element%n+1) + text
		element /= n
	}
	if text == "" {
		return ""
	}
	return text[1:]
}

// sameRows reports whether all variables that two data sets both have are equal. Missing elements
// are then those that a fit to the first set estimated.
func (m *Model) sameRows(a, b *data.Set) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	a, b = m.whole(a), m.whole(b)
	for _, name := range a.Names() {
		x, ok := a.Get(name)
		y, also := b.Get(name)
		if ok && also && !equalValues(x, y) {
			return false
		}
	}
	return true
}

// whole returns the data with values that have missing elements, or rows of unequal length.
func (m *Model) whole(d *data.Set) *data.Set {
	return m.program.Flattened(d).Filled(func(string) bool { return true })
}

// equalValues reports whether two values have the same elements, and lack the same ones.
func equalValues(x, y data.Value) bool {
	return slices.Equal(x.Shape, y.Shape) && slices.EqualFunc(x.Reals, y.Reals, func(v, w float64) bool { return v == w || math.IsNaN(v) && math.IsNaN(w) })
}
