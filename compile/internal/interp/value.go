package interp

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// array is a value of a simple type: numbers of the given shape, with the last index fastest. ints
// is not nil exactly for values of ints. A scalar has a nil shape. Shapes never change. The
// variable that owns an array may change its numbers.
type array struct {
	shape []int
	ints  []int64
	reals []float64
	rec   *recorded // nil: constants
}

func intArray(n int64) *array { return &array{ints: []int64{n}} }

// realArray returns a number that was recorded as r.
func realArray(x float64, r ad.Ref) *array {
	one := &struct {
		is    array
		reals [1]float64
	}{reals: [1]float64{x}}
	a := &one.is
	a.reals = one.reals[:]
	if r != ad.None {
		a.rec = &recorded{whole: r}
	}
	return a
}

// count returns the number of elements of a shape.
func count(shape []int) int {
	return ad.SizeOf(shape)
}

// bytes returns the memory of the numbers and of their record.
func (a *array) bytes() int64 {
	n := 8 * int64(len(a.ints)+len(a.reals))
	if a.rec != nil {
		n += 4 * int64(len(a.rec.refs))
	}
	return n
}

func (a *array) isInt() bool { return a.ints != nil }

// floats returns the numbers as reals; they must not be changed.
func (a *array) floats() []float64 {
	if !a.isInt() {
		return a.reals
	}
	return toReals(a.ints)
}

func toReals(ints []int64) []float64 {
	out := make([]float64, len(ints))
	for i, n := range ints {
		out[i] = float64(n)
	}
	return out
}

// unset returns the content of a variable that has not been assigned.
func unset(t types.Type, shape []int) *array {
	a := &array{shape: shape}
	if t.Kind == types.Int {
		a.ints = make([]int64, count(shape))
	} else {
		a.reals = make([]float64, count(shape))
	}
	a.clear()
	return a
}

// clear resets an array to the content of a variable that has not been assigned.
func (a *array) clear() {
	for i := range a.ints {
		a.ints[i] = math.MinInt32
	}
	for i := range a.reals {
		a.reals[i] = math.NaN()
	}
	a.rec = nil
}

// clone returns a copy.
func (a *array) clone() *array {
	b := *a
	b.ints, b.reals, b.rec = slices.Clone(a.ints), slices.Clone(a.reals), a.rec.clone()
	return &b
}

// part copies n elements, beginning at position at.
func (m *machine) part(a *array, at, n int, shape []int) *array {
	out := &array{shape: shape}
	if a.isInt() {
		out.ints = append(make([]int64, 0, n), a.ints[at:at+n]...)
		return out
	}
	out.reals = append(make([]float64, 0, n), a.reals[at:at+n]...)
	if a.rec != nil {
		out.rec = m.partOf(a, n, func(k int) int { return at + k })
	}
	return m.shaped(out)
}

// gather copies the elements at the given positions.
func (m *machine) gather(a *array, places []int, shape []int) *array {
	out := m.newArray()
	out.shape = shape
	if a.isInt() {
		out.ints = make([]int64, len(places))
		for k, p := range places {
			out.ints[k] = a.ints[p]
		}
		return out
	}
	out.reals = m.newReals(len(places))
	for k, p := range places {
		out.reals[k] = a.reals[p]
	}
	if a.rec != nil {
		out.rec = m.partOf(a, len(places), func(k int) int { return places[k] })
	}
	return m.shaped(out)
}

// put stores element k of b at position place(k) of a, in order. Where a position occurs twice, the
// last element remains.
func (m *machine) put(a, b *array, place func(k int) int) {
	if a.isInt() {
		for k, x := range b.ints {
			a.ints[place(k)] = x
		}
		return
	}
	for k, x := range b.reals {
		a.reals[place(k)] = x
	}
	if a.rec != nil || b.rec != nil {
		for k := range b.reals {
			m.setRef(a, place(k), m.refAt(b, k))
		}
	}
}

// stack joins arrays of one shape into one array with an additional first dimension.
func (m *machine) stack(t types.Type, shape []int, parts []*array) *array {
	n := count(shape)
	out := &array{shape: append([]int{len(parts)}, shape...)}
	if t.Kind == types.Int {
		out.ints = make([]int64, 0, n*len(parts))
		for _, p := range parts {
			out.ints = append(out.ints, p.ints...)
		}
		return out
	}
	out.reals = make([]float64, 0, n*len(parts))
	for i, p := range parts {
		out.reals = append(out.reals, p.reals...)
		if p.rec != nil {
			if out.rec == nil {
				out.rec = &recorded{whole: ad.None, refs: absent(n * len(parts)), written: true}
			}
			for k := range n {
				out.rec.refs[i*n+k] = m.refAt(p, k)
			}
		}
	}
	return out
}

// columnMajor returns the positions of the numbers of a matrix by columns.
func columnMajor(shape []int) []int {
	rows, cols := shape[0], shape[1]
	out := make([]int, 0, rows*cols)
	for j := range cols {
		for i := range rows {
			out = append(out, i*cols+j)
		}
	}
	return out
}

// isNumber reports whether values of a type are one number: complex numbers are two.
func isNumber(t types.Type) bool {
	return t.Dims == 0 && (t.Kind == types.Int || t.Kind == types.Real)
}
