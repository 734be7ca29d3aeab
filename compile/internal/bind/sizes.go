package bind

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// Which integers decide the sizes of values. A graph fixes all sizes, so that a
// statement that is evaluated once for many iterations must make values of one size
// in all of them. That is found out here, before anything is evaluated.

// sizing follows, through statements, which variables may differ between
// iterations, and whether the size of a value depends on one of them. It goes
// through the statements as often as it takes until no further variable is found.
type sizing struct {
	b     *binder
	vary  map[*ir.Var]bool
	found bool // a size that varies
}

// sizesVary reports whether the sizes of values that a statement makes depend on
// variables that differ between iterations: on those given, or on what follows from
// them.
func (b *binder) sizesVary(s ir.Stmt, vary map[*ir.Var]bool) bool {
	z := &sizing{b: b, vary: vary}
	for known := -1; known < len(z.vary) && !z.found; {
		known = len(z.vary)
		z.stmt(s, false)
	}
	return z.found
}

// stmt follows a statement; some tells that only some iterations execute it.
func (z *sizing) stmt(s ir.Stmt, some bool) {
	for _, e := range expressions(s) {
		z.expr(e)
	}
	switch s := s.(type) {
	case *ir.Declare:
		for _, e := range s.Var.Sizes {
			z.found = z.found || z.varies(e)
		}
		z.assign(s.Var, z.varies(s.Init))
	case *ir.Unpack:
		for _, v := range s.Vars {
			z.assign(v, z.varies(s.Value))
		}
	case *ir.Assign:
		z.assign(s.Var, some || z.varies(s.Value))
		for _, ix := range s.Indices {
			z.assign(s.Var, z.varies(ix.A) || z.varies(ix.B))
		}
		for _, e := range sliceBounds(s.Indices) {
			z.found = z.found || z.varies(e)
		}
	case *ir.Block:
		for _, t := range s.Stmts {
			z.stmt(t, some)
			if f, ok := t.(*ir.If); ok && mayJump(f) && z.varies(f.Cond) {
				some = true
			}
		}
	case *ir.If:
		some = some || z.varies(s.Cond)
		z.stmt(s.Then, some)
		if s.Else != nil {
			z.stmt(s.Else, some)
		}
	case *ir.For:
		uneven := z.varies(s.From) || z.varies(s.To)
		z.assign(s.Var, uneven)
		z.stmt(s.Body, some || uneven)
	case *ir.ForEach:
		z.assign(s.Var, z.varies(s.Over))
		z.stmt(s.Body, some)
	case *ir.While:
		z.stmt(s.Body, some || z.varies(s.Cond))
	}
}

func (z *sizing) assign(v *ir.Var, varies bool) {
	if varies {
		z.vary[v] = true
	}
}

// varies reports whether the value of an expression may differ between iterations.
func (z *sizing) varies(e ir.Expr) bool {
	found := false
	ir.Walk(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.VarRef:
			found = found || z.vary[e.Var]
		case *ir.Call:
			return funcOf(e).OfShape == nil // sizes do not differ
		}
		return !found
	})
	return found
}

// expr looks at the sizes of what an expression makes: the bounds of slices, and
// arguments of functions.
func (z *sizing) expr(e ir.Expr) {
	ir.Walk(e, func(e ir.Expr) bool {
		var list []ir.Expr
		switch e := e.(type) {
		case *ir.IndexExpr:
			list = sliceBounds(e.Indices)
		case *ir.Call:
			list = sizeArgs(e)
		case *ir.UserCall:
			list = z.b.sizesOf(e.Func).args(e)
		}
		for _, x := range list {
			z.found = z.found || z.varies(x)
		}
		return !z.found
	})
}

// sliceBounds are those of slices.
func sliceBounds(indices []ir.Index) (list []ir.Expr) {
	for _, ix := range indices {
		if ix.Kind == ir.IndexRange {
			list = append(list, ix.A, ix.B)
		}
	}
	return list
}

// sizeArgs are the arguments of a library function that decide the size of its value:
// the integers of one that returns a container, but for the places where parts of
// containers begin.
func sizeArgs(e *ir.Call) []ir.Expr {
	f := funcOf(e)
	if f.OfShape != nil || f.Terms != nil || e.Ty.IsScalar() {
		return nil
	}
	first := 0
	switch e.Name {
	case "row", "col":
		return nil
	case "segment":
		first = 2
	case "sub_row", "sub_col", "block":
		first = 3
	}
	var list []ir.Expr
	for _, a := range e.Args[first:] {
		if a.Type().Equal(types.IntType) {
			list = append(list, a)
		}
	}
	return list
}

// sizes tells what decides the sizes of the values that a function makes: for each of
// its parameters, whether that one does.
type sizes []bool

// sizesOf finds out what decides the sizes in a function.
func (b *binder) sizesOf(f *ir.Function) sizes {
	if d, ok := b.sized[f]; ok {
		return d
	}
	d := make(sizes, len(f.Params))
	b.sized[f] = d // of calls of itself
	if f.Body == nil {
		return d
	}
	for k, p := range f.Params {
		d[k] = b.sizesVary(f.Body, map[*ir.Var]bool{p: true})
	}
	return d
}

// args are the arguments of a call that decide sizes.
func (d sizes) args(e *ir.UserCall) (list []ir.Expr) {
	k := 0
	for _, a := range e.Args {
		n := len(a.Type().Leaves())
		if slices.Contains(d[k:k+n], true) {
			list = append(list, a)
		}
		k += n
	}
	return list
}
