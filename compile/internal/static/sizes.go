package static

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file determines which integers affect the sizes of values. All sizes in a graph are fixed,
// so a statement that is evaluated once for many iterations must compute values of the same size in
// all of them. The analysis runs before anything is evaluated.

// sizing finds the variables that may differ between iterations, and whether the size of a value
// depends on one of them. It walks the statements repeatedly, until it finds no further variable.
type sizing struct {
	known  *Functions
	vary   map[*ir.Var]bool
	params map[*ir.Var]int // parameters of the analysed function, with their indices
	spans  []span          // slices whose bounds are two parameters; callers check them
	found  bool            // a size may differ between iterations

	// reals is set if vary contained only real variables at first. Integers computed from these are
	// known only when the program runs. A slice with such bounds is ignored if it is reduced at
	// once; see ReducedSlice.
	reals bool
}

// span is a slice of a function's whose bounds are two of its parameters, so that its size depends
// on their difference.
type span struct{ from, to int }

// SizesVary reports whether the sizes of values in a statement depend on variables that differ
// between iterations: the given variables, and those computed from them.
func (fs *Functions) SizesVary(s ir.Stmt, vary map[*ir.Var]bool) bool {
	return (&sizing{known: fs, vary: vary}).run(s)
}

func (z *sizing) run(s ir.Stmt) bool {
	for known := -1; known < len(z.vary) && !z.found; {
		known = len(z.vary)
		z.stmt(s, false)
	}
	return z.found
}

// stmt analyses a statement. some is set if only some iterations execute it.
func (z *sizing) stmt(s ir.Stmt, some bool) {
	for e := range ir.Exprs(s) {
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
		z.slices(s.Indices)
	case *ir.Block:
		for _, t := range s.Stmts {
			z.stmt(t, some)
			if f, ok := t.(*ir.If); ok && MayJump(f) && z.varies(f.Cond) {
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
	ir.Inspect(e, func(e ir.Node) bool {
		switch e := e.(type) {
		case *ir.VarRef:
			found = found || z.vary[e.Var]
		case *ir.Call:
			return FuncOf(e).OfShape == nil // the value depends on shapes only, which do not differ
		}
		return !found
	})
	return found
}

// expr checks the sizes of the values that an expression computes: the bounds of slices, and the
// arguments of functions.
func (z *sizing) expr(e ir.Expr) {
	var reduced *ir.IndexExpr
	ir.Inspect(e, func(e ir.Node) bool {
		var list []ir.Expr
		switch e := e.(type) {
		case *ir.IndexExpr:
			if e != reduced {
				z.slices(e.Indices)
			}
		case *ir.Call:
			if list = SizeArgs(e); z.reals {
				reduced = ReducedSlice(e)
			}
		case *ir.UserCall:
			var parts [][2]ir.Expr
			list, parts = z.known.Call(e)
			for _, s := range parts {
				z.slice(s[0], s[1])
			}
		}
		for _, x := range list {
			z.found = z.found || z.varies(x)
		}
		return !z.found
	})
}

// slices checks the sizes of slices.
func (z *sizing) slices(indices []ir.Index) {
	for _, ix := range indices {
		if ix.Kind != ir.IndexRange {
			continue
		}
		if n := countOf(ix); n != nil {
			z.found = z.found || z.varies(n)
		} else {
			z.slice(ix.A, ix.B)
		}
	}
}

// slice checks the size of a slice with these bounds.
func (z *sizing) slice(from, to ir.Expr) {
	if v, ok := from.(*ir.VarRef); ok {
		if w, ok := to.(*ir.VarRef); ok {
			i, ok1 := z.params[v.Var]
			j, ok2 := z.params[w.Var]
			if ok1 && ok2 {
				if s := (span{i, j}); !slices.Contains(z.spans, s) {
					z.spans = append(z.spans, s)
				}
				return
			}
		}
	}
	z.found = z.found || z.varies(from) || z.varies(to)
}

// countOf returns the expression n if a slice has the form A:(A + n - 1), which calls of segment
// have; nil for other slices.
func countOf(ix ir.Index) ir.Expr {
	last, ok := ix.B.(*ir.Call)
	if ix.Part != ir.Positioned && ix.Part != ir.Enclosed || !ok || last.Name != "operator-" {
		return nil
	}
	if sum, ok := last.Args[0].(*ir.Call); ok && sum.Name == "operator+" && sum.Args[0] == ix.A {
		return sum.Args[1]
	}
	return nil
}

// SizeArgs returns the arguments of a library function that determine the size of its value. These
// are the int arguments of functions that return a container, except positions at which a part of a
// container begins.
func SizeArgs(e *ir.Call) []ir.Expr {
	f := FuncOf(e)
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

// sizes describes which parameters determine the sizes of the values that a function computes.
type sizes struct {
	decides []bool // for each parameter, whether it determines a size
	spans   []span // pairs of parameters whose difference is a size
}

// sizesOf analyses which parameters of a function determine sizes.
func (fs *Functions) sizesOf(f *ir.Function) sizes {
	if d, ok := fs.sizes[f]; ok {
		return d
	}
	d := sizes{decides: make([]bool, len(f.Params))}
	fs.sizes[f] = d // recursive calls add nothing
	if f.Body == nil {
		return d
	}
	params := map[*ir.Var]int{}
	for k, p := range f.Params {
		params[p] = k
	}
	for k, p := range f.Params {
		z := &sizing{known: fs, vary: map[*ir.Var]bool{p: true}, params: params, reals: p.Type.Kind != types.Int}
		d.decides[k] = z.run(f.Body)
		for _, s := range z.spans {
			if !slices.Contains(d.spans, s) {
				d.spans = append(d.spans, s)
			}
		}
	}
	fs.sizes[f] = d
	return d
}

// Call returns the expressions that determine the sizes of values in a call of a user function:
// single arguments, and pairs of bounds, where only the difference matters.
func (fs *Functions) Call(e *ir.UserCall) (args []ir.Expr, slices [][2]ir.Expr) {
	d := fs.sizesOf(e.Func)
	for _, s := range d.spans {
		slices = append(slices, [2]ir.Expr{argument(e, s.from), argument(e, s.to)})
	}
	return d.args(e), slices
}

// args returns the arguments of a call each of which determines a size.
func (d sizes) args(e *ir.UserCall) (list []ir.Expr) {
	k := 0
	for _, a := range e.Args {
		n := a.Type().NumLeaves()
		if slices.Contains(d.decides[k:k+n], true) {
			list = append(list, a)
		}
		k += n
	}
	return list
}

// argument returns the argument of a call for the k-th parameter, an integer.
func argument(e *ir.UserCall, k int) ir.Expr {
	for _, a := range e.Args {
		n := a.Type().NumLeaves()
		if k < n {
			return a
		}
		k -= n
	}
	return nil
}
