package ir

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/types"
)

// slice lowers segment(x, i, n), col(x, j) and similar calls on a variable to an index expression,
// so that evaluators need not read all of x. Otherwise a container from outside a loop that the
// loop fills would be rebuilt in every iteration. The result is nil for other calls.
func (l *lowerer) slice(ty Typed, name string, args []Expr) Expr {
	if len(args) < 2 || len(args) > 5 {
		return nil
	}
	x, ok := args[0].(*VarRef)
	if !ok {
		return nil
	}
	for _, a := range args[1:] {
		// A bound is evaluated twice, so that must not matter.
		if !a.Type().Equal(types.IntType) || !repeatable(a) {
			return nil
		}
	}
	one := func() Expr { return &IntLit{Typed{ty.At, types.IntType, Data}, 1} }
	single := func(i Expr) Index { return Index{Kind: IndexSingle, A: i, At: i.Span()} }
	all := Index{Kind: IndexAll, At: ty.At}
	part := func(p Part, i, n Expr) Index {
		last := l.library("operator-", l.library("operator+", i, n), one())
		return Index{Kind: IndexRange, Part: p, A: i, B: last, At: i.Span()}
	}
	from := func(i, n Expr) Index { return part(Positioned, i, n) }
	var is []Index
	switch a := args[1:]; {
	case name == "row" && len(a) == 1:
		is = []Index{single(a[0]), all}
	case name == "col" && len(a) == 1:
		is = []Index{all, single(a[0])}
	case name == "sub_row" && len(a) == 3:
		is = []Index{single(a[0]), from(a[1], a[2])}
	case name == "sub_col" && len(a) == 3:
		is = []Index{from(a[0], a[2]), single(a[1])}
	case name == "block" && len(a) == 4:
		is = []Index{part(Enclosed, a[0], a[2]), part(Enclosed, a[1], a[3])}
	case name == "segment" && len(a) == 2:
		is = []Index{from(a[0], a[1])}
	case name == "head" && len(a) == 1:
		is = []Index{{Kind: IndexRange, Part: Counted, A: one(), B: a[0], At: a[0].Span()}}
	case name == "tail" && len(a) == 1:
		size := l.library("size", &VarRef{Typed: x.Typed, Var: x.Var})
		first := l.library("operator+", l.library("operator-", size, a[0]), one())
		is = []Index{{Kind: IndexRange, Part: Counted, A: first, B: l.library("size", &VarRef{Typed: x.Typed, Var: x.Var}), At: a[0].Span()}}
	default:
		return nil
	}
	ty.Lv = x.Level()
	return &IndexExpr{ty, x, is}
}

// repeatable reports whether an expression is cheap and gives the same value if evaluated twice.
func repeatable(e Expr) bool {
	switch e := e.(type) {
	case *IntLit, *RealLit, *VarRef:
		return true
	case *Tuple:
		return !slices.ContainsFunc(e.Elems, func(e Expr) bool { return !repeatable(e) })
	case *IndexExpr:
		ok := repeatable(e.X)
		for _, i := range e.Indices {
			ok = ok && i.Kind == IndexSingle && repeatable(i.A)
		}
		return ok
	case *Call:
		if strings.HasSuffix(e.Name, "_rng") {
			return false
		}
		for _, a := range e.Args {
			if !repeatable(a) {
				return false
			}
		}
		return true
	}
	return false
}
