package ir

import (
	"strconv"

	"github.com/ppl-lang/ppl/lang/types"
)

// Slot is a number of a declared variable: an element, in row-major order, of
// one of its leaves.
type Slot struct {
	Leaf    int
	Element int
	Name    string // as in CmdStan's files: theta.2.1, t.1:2.3, z.real
}

// Declared groups a list of leaves by the declared variables.
func Declared(vars []*Var) [][]*Var {
	var out [][]*Var
	for i, v := range vars {
		if i > 0 && v.Whole != nil && v.Whole == vars[i-1].Whole {
			out[len(out)-1] = append(out[len(out)-1], v)
		} else {
			out = append(out, []*Var{v})
		}
	}
	return out
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
func Layout(leaves []*Var, shapes [][]int) []Slot { return layout(leaves, shapes, columnMajor) }

// FreeLayout lists the unconstrained numbers of a declared variable in the order of the
// unconstrained point. Arrays are stored element by element, matrices by columns. shapes are the
// shapes of the unconstrained numbers.
func FreeLayout(leaves []*Var, shapes [][]int) []Slot {
	return layout(leaves, shapes, func(t types.Type, n int) []int {
		order := make([]int, n)
		for k := range order {
			order[k] = n - 1 - k
		}
		if n-t.Dims == 2 {
			order[0], order[1] = n-2, n-1
		}
		return order
	})
}

// columnMajor returns the numbers of n dimensions, the one that changes fastest first.
func columnMajor(_ types.Type, n int) []int {
	order := make([]int, n)
	for k := range order {
		order[k] = k
	}
	return order
}

func layout(leaves []*Var, shapes [][]int, inner func(t types.Type, n int) []int) []Slot {
	l := &slots{shapes: shapes, inner: inner}
	n := 0
	for _, s := range shapes {
		n += elements(s)
	}
	l.out = make([]Slot, 0, n)
	l.add(DeclaredType(leaves), DeclaredName(leaves), 0, nil)
	return l.out
}

type slots struct {
	shapes [][]int
	inner  func(t types.Type, n int) []int
	out    []Slot
}

// add lists the numbers of a value of type t at the indices at of the arrays around it. leaf is the
// number of its first leaf.
func (l *slots) add(t types.Type, name string, leaf int, at []int) {
	shape := l.shapes[leaf][len(at):]
	if t.Kind == types.Tuple {
		each(shape[:t.Dims], columnMajor(t, t.Dims), func(is []int) {
			from := leaf
			for i, m := range t.Members {
				l.add(m, name+subscripts(is)+":"+strconv.Itoa(i+1), from, append(at[:len(at):len(at)], is...))
				from += m.NumLeaves()
			}
		})
		return
	}
	parts := []string{""}
	if t.Scalar() == types.Complex {
		parts = []string{".real", ".imag"}
	}
	start := 0
	for k, i := range at {
		start = start*l.shapes[leaf][k] + i
	}
	start *= elements(shape)
	each(shape, l.inner(t, len(shape)), func(is []int) {
		e := 0
		for k, i := range is {
			e = e*shape[k] + i
		}
		sub := subscripts(is)
		for p, part := range parts {
			l.out = append(l.out, Slot{Leaf: leaf + p, Element: start + e, Name: name + sub + part})
		}
	})
}

// each calls f with all indices, counted from 0, of an array; fastest lists the
// dimensions, the one that changes fastest first.
func each(shape, fastest []int, f func(is []int)) {
	is := make([]int, len(shape))
	for range elements(shape) {
		f(is)
		for _, d := range fastest {
			if is[d]++; is[d] < shape[d] {
				break
			}
			is[d] = 0
		}
	}
}

func subscripts(is []int) string {
	s := ""
	for _, i := range is {
		s += "." + strconv.Itoa(i+1)
	}
	return s
}

func elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
