package check

import (
	"fmt"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// indices types the expressions within indices; ok is false if one is Invalid or cannot be an
// index.
func (c *checker) indices(is []ast.Index) (ok bool) {
	ok = true
	bound := func(e ast.Expr) {
		if e != nil {
			c.intExpr(e, "the bound of an index range")
		}
	}
	for _, i := range is {
		switch i := i.(type) {
		case *ast.Single:
			if x, ok := constant(i.X); ok && x < 1 {
				d := diag.Warnf(diag.IndexFromOne, i.X.Span(), "there is no element %g", x)
				d.Detail = "Indices count from 1."
				d.Fix = "the first element is `[1]`"
				c.diags.Add(d)
			}
			if x, isRow := i.X.(*ast.RowVectorExpr); isRow && len(x.Elems) == 1 && c.expr(x.Elems[0]).Type.Scalar() == types.Int {
				d := diag.Errorf(diag.BadIndex, x.Span(), "an index is written in one pair of brackets")
				d.Fix = "remove the inner brackets"
				d.Edits = []diag.Edit{{Span: x.Span(), Text: x.Elems[0].Span().Text()}}
				c.diags.Add(d)
				return false
			}
			t := c.wanting(true, i.X).Type
			switch {
			case t.Kind == types.Invalid:
				ok = false
			case !t.Equal(types.IntType) && !t.Equal(types.IntType.Array(1)):
				ok = false
				if x, isVar := i.X.(*ast.VarExpr); isVar && !c.firstTime(diag.BadIndex, x.Name) {
					break
				}
				d := diag.Errorf(diag.BadIndex, i.X.Span(), "an index must be int or array[] int, but is %s", t)
				if t.Equal(types.RealType) {
					c.declareAsInt(&d, i.X)
				}
				c.diags.Add(d)
			}
		case *ast.Range:
			if x, ok := constant(i.From); i.From != nil && ok && x < 1 {
				d := diag.Warnf(diag.IndexFromOne, i.From.Span(), "there is no element %g", x)
				d.Detail = "Indices count from 1, and a range includes its last element."
				d.Fix = "the first n elements are `[1:n]`"
				c.diags.Add(d)
			}
			bound(i.From)
			bound(i.To)
		}
	}
	return ok
}

// belowOne warns if a loop uses an element before the first of a container: an index that is the
// loop variable, plus or minus a constant, is less than 1 in the first iteration. Conditions and
// inner loops may prevent it, so they are not searched.
func (c *checker) belowOne(s *ast.For) {
	from, ok := constant(s.From)
	if !ok || len(c.diags) > maxErrors {
		return
	}
	var found *ast.Single
	at := 0.0
	leaves := false // set once a condition may skip the rest of the first iteration
	ast.Inspect(s.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.If, *ast.Cond, *ast.While, *ast.For, *ast.ForEach:
			ast.Inspect(n, func(n ast.Node) bool {
				switch n.(type) {
				case *ast.Continue, *ast.Break, *ast.Return, *ast.Reject:
					leaves = true
				}
				return !leaves
			}, nil)
			return false
		case *ast.Single:
			if d, isVar := offset(n.X, s.Var.Name); isVar && from+d < 1 && found == nil {
				found, at = n, from+d
			}
		}
		return found == nil
	}, nil)
	if found == nil || leaves {
		return
	}
	d := diag.Warnf(diag.IndexFromOne, found.X.Span(), "there is no element %g", at)
	d.Detail = fmt.Sprintf("`%s` is %g in the first iteration, and indices count from 1.", s.Var.Name, from)
	d.Fix = fmt.Sprintf("begin the loop at %g", from+1-at)
	d.Related = append(d.Related, diag.Note{Span: s.From.Span(), Message: "the loop begins here"})
	c.diags.Add(d)
}

// offset returns d if an expression is the variable name plus d.
func offset(e ast.Expr, name string) (d float64, ok bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.VarExpr:
		return 0, e.Name == name
	case *ast.Binary:
		d, isConst := constant(e.Y)
		if x, isVar := ast.Unparen(e.X).(*ast.VarExpr); isVar && isConst && x.Name == name && (e.Op == "+" || e.Op == "-") {
			if e.Op == "-" {
				d = -d
			}
			return d, true
		}
	}
	return 0, false
}

// isSingle reports whether an index selects one element rather than several. Its expressions must
// have been typed.
func (c *checker) isSingle(i ast.Index) bool { return c.info.Single(i) }

// indexed returns the type of a value of type t after indexing. ok says whether the indices are
// valid. It reports too many indices.
func (c *checker) indexed(e *ast.IndexExpr, t types.Type, ok bool) (types.Type, bool) {
	if !ok {
		return types.Type{}, false
	}
	if t.Kind == types.SparseMatrix {
		return c.sparseElement(e)
	}
	// Array dimensions that an index keeps come first.
	keep := 0
	u := t
	is := e.Indices
	for len(is) > 0 && u.Dims > 0 {
		u.Dims--
		if !c.isSingle(is[0]) {
			keep++
		}
		is = is[1:]
	}
	if len(is) > u.Rank() {
		d := diag.Errorf(diag.TooManyIndices, is[u.Rank()].Span(), "too many indices for %s", t)
		d.Detail = tooMany(t)
		d.Fix = "leave this index out, or declare the variable with more dimensions"
		c.diags.Add(d)
		return types.Type{}, false
	}
	single := func(i int) bool { return c.isSingle(is[i]) }
	complexElem := u.Scalar() == types.Complex
	kind := func(real, cplx types.Kind) types.Type {
		if complexElem {
			return types.Type{Kind: cplx}
		}
		return types.Type{Kind: real}
	}
	switch {
	case len(is) == 0:
	case u.Rank() == 1:
		if single(0) {
			u = kind(types.Real, types.Complex)
		}
	case len(is) == 1:
		if single(0) {
			u = kind(types.RowVector, types.ComplexRowVector)
		}
	default:
		switch r, col := single(0), single(1); {
		case r && col:
			u = kind(types.Real, types.Complex)
		case r:
			u = kind(types.RowVector, types.ComplexRowVector)
		case col:
			u = kind(types.Vector, types.ComplexVector)
		}
	}
	return u.Array(keep), true
}

// tooMany describes how many indices a type takes.
func tooMany(t types.Type) string {
	switch n := t.Rank(); n {
	case 0:
		if t.Kind == types.Tuple {
			return "The members of a tuple are x.1, x.2 and so on."
		}
		return "A scalar cannot be indexed."
	case 1:
		return "It takes one index."
	case 2:
		return "It takes at most two indices."
	default:
		return "It takes at most as many indices as it has dimensions."
	}
}
