package ir

import (
	"iter"
	"slices"
	"strconv"

	"github.com/ppl-lang/ppl/lang/types"
)

// Slot is a number of a declared variable: an element, in row-major order, of
// one of its leaves.
type Slot struct {
	Leaf    int
	Element int
}

// Declared groups a list of leaves by the declared variables. The groups are parts of the list.
func Declared(vars []*Var) iter.Seq2[int, []*Var] {
	return func(yield func(int, []*Var) bool) {
		for i := 0; len(vars) > 0; i++ {
			n := 1
			for n < len(vars) && vars[n].Whole != nil && vars[n].Whole == vars[0].Whole {
				n++
			}
			if !yield(i, vars[:n:n]) {
				return
			}
			vars = vars[n:]
		}
	}
}

// DeclaredName returns the name of the declared variable with these leaves.
func DeclaredName(leaves []*Var) string {
	if w := leaves[0].Whole; w != nil {
		return w.Name
	}
	return leaves[0].Name
}

// DeclaredType returns the type of the declared variable with these leaves.
func DeclaredType(leaves []*Var) types.Type {
	if w := leaves[0].Whole; w != nil {
		return w.Type
	}
	return leaves[0].Type
}

// Layout lists the numbers of a declared variable in the order of CmdStan; shapes are the shapes of
// its leaves. In arrays and matrices the first index changes fastest. The members of a tuple, and
// the parts of a complex number, are adjacent.
func Layout(leaves []*Var, shapes [][]int) []Slot {
	l := slots{shapes: shapes, inner: columnMajor}
	l.out = make([]Slot, 0, total(shapes))
	l.add(DeclaredType(leaves), "", 0, nil)
	return l.out
}

// FreeLayout lists the unconstrained numbers of a declared variable in the order of the
// unconstrained point. Arrays are stored element by element, matrices by columns. shapes are the
// shapes of the unconstrained numbers.
func FreeLayout(leaves []*Var, shapes [][]int) []Slot {
	l := slots{shapes: shapes, inner: freeOrder}
	l.out = make([]Slot, 0, total(shapes))
	l.add(DeclaredType(leaves), "", 0, nil)
	return l.out
}

// AppendNames appends the names of the numbers of [Layout], in its order and as in CmdStan's files:
// theta.2.1, t.1:2.3, z.real. rows describes the rows of a ragged variable, or the places in a
// sparse matrix; it is nil for others.
func AppendNames(names []string, leaves []*Var, shapes [][]int, rows *Rows) []string {
	return appendNames(names, leaves, shapes, rows, columnMajor)
}

// FreeNames returns the names of the numbers of [FreeLayout].
func FreeNames(leaves []*Var, shapes [][]int, rows *Rows) []string {
	return appendNames(nil, leaves, shapes, rows, freeOrder)
}

// Rows are the rows of a ragged variable.
type Rows struct {
	Outer []int // extents of the dimensions before a row
	Sizes []int // the sizes of the rows, in row-major order
	At    int   // the stored dimension along which the rows follow one another

	Sparse [][2]int // of the values of a sparse matrix, their rows and columns from 0; nil for rows
}

// places returns the indices, from 0, of the dimensions before a row, and within it, of the
// elements along the stored dimension.
func (r *Rows) places() (out [][]int) {
	for _, at := range r.Sparse {
		out = append(out, at[:])
	}
	for row, n := range r.Sizes {
		at := make([]int, len(r.Outer))
		for d := len(at) - 1; d >= 0; d-- {
			at[d], row = row%r.Outer[d], row/r.Outer[d]
		}
		for k := range n {
			out = append(out, append(at[:len(at):len(at)], k))
		}
	}
	return out
}

// appendNames stores the names of a variable in a single string, since models may have many.
func appendNames(names []string, leaves []*Var, shapes [][]int, rows *Rows, inner func(t types.Type, order []int)) []string {
	n := total(shapes)
	l := slots{shapes: shapes, inner: inner, named: true, ends: make([]int, 0, n)}
	if rows != nil {
		l.rows, l.at = rows.places(), rows.At
	}
	l.text = make([]byte, 0, n*(len(DeclaredName(leaves))+4))
	if p := leaves[0].Places; p != nil {
		l.names(leaves[0].Name, p)
	} else {
		l.add(DeclaredType(leaves), DeclaredName(leaves), 0, nil)
	}
	all, start := string(l.text), 0
	names = slices.Grow(names, n)
	for _, end := range l.ends {
		names, start = append(names, all[start:end]), end
	}
	return names
}

// names lists the names of some elements of an array.
func (l *slots) names(name string, p *Places) {
	is := make([]int, len(p.Shape))
	for _, e := range p.Elements {
		for d := len(is) - 1; d >= 0; d-- {
			is[d], e = e%p.Shape[d], e/p.Shape[d]
		}
		l.text = l.subscripts(append(l.text, name...), is)
		l.ends = append(l.ends, len(l.text))
	}
}

// freeOrder sets the order of dimensions of [FreeLayout].
func freeOrder(t types.Type, order []int) {
	n := len(order)
	for k := range order {
		order[k] = n - 1 - k
	}
	if n-t.Dims == 2 {
		order[0], order[1] = n-2, n-1
	}
}

// columnMajor sets the order of dimensions of [Layout].
func columnMajor(_ types.Type, order []int) {
	for k := range order {
		order[k] = k
	}
}

// total returns the number of elements of arrays.
func total(shapes [][]int) int {
	n := 0
	for _, s := range shapes {
		n += elements(s)
	}
	return n
}

type slots struct {
	shapes [][]int
	// inner sets the order of the dimensions, the one that changes fastest first.
	inner func(t types.Type, order []int)
	out   []Slot

	named bool // makes names instead of slots
	text  []byte
	ends  []int // the end of each name in text

	rows [][]int // of a ragged variable, the indices along dimension at
	at   int
}

// subscripts appends the indices of an element, which are those before and within its row if the
// variable is ragged.
func (l *slots) subscripts(b []byte, is []int) []byte {
	if l.rows == nil || l.at >= len(is) || is[l.at] >= len(l.rows) {
		return appendSubscripts(b, is)
	}
	place := l.rows[is[l.at]]
	outer := len(place) - 1
	is = slices.Clone(is)
	is[l.at] = place[outer]
	return appendSubscripts(appendSubscripts(b, place[:outer]), is)
}

// add lists the numbers of a value of type t, which is the element with indices at of the enclosing
// arrays. leaf is the number of its first leaf.
func (l *slots) add(t types.Type, name string, leaf int, at []int) {
	shape := l.shapes[leaf][len(at):]
	if t.Kind == types.Tuple {
		order := make([]int, t.Dims)
		columnMajor(t, order)
		for is := range each(shape[:t.Dims], order) {
			from, sub := leaf, ""
			if l.named {
				sub = name + string(appendSubscripts(nil, is)) + ":"
			}
			for i, m := range t.Members {
				member := sub
				if l.named {
					member += strconv.Itoa(i + 1)
				}
				l.add(m, member, from, append(at[:len(at):len(at)], is...))
				from += m.NumLeaves()
			}
		}
		return
	}
	parts := [2]string{}
	numbers := parts[:1]
	if t.Scalar() == types.Complex {
		parts = [2]string{".real", ".imag"}
		numbers = parts[:]
	}
	start := 0
	for k, i := range at {
		start = start*l.shapes[leaf][k] + i
	}
	start *= elements(shape)
	order := slices.Clone(shape)
	l.inner(t, order)
	for is := range each(shape, order) {
		e := 0
		for k, i := range is {
			e = e*shape[k] + i
		}
		for p, part := range numbers {
			if l.named {
				l.text = append(l.subscripts(append(l.text, name...), is), part...)
				l.ends = append(l.ends, len(l.text))
			} else {
				l.out = append(l.out, Slot{Leaf: leaf + p, Element: start + e})
			}
		}
	}
}

// each yields all indices of an array, counted from 0. fastest is the order of dimensions, the one
// that changes fastest first.
func each(shape, fastest []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		is := make([]int, len(shape))
		for range elements(shape) {
			if !yield(is) {
				return
			}
			for _, d := range fastest {
				if is[d]++; is[d] < shape[d] {
					break
				}
				is[d] = 0
			}
		}
	}
}

func appendSubscripts(b []byte, is []int) []byte {
	for _, i := range is {
		b = strconv.AppendInt(append(b, '.'), int64(i+1), 10)
	}
	return b
}

func elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
