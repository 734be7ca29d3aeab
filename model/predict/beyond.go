package predict

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file finds models that have no distribution from which further elements of a parameter can
// be drawn, or whose distribution would change with the number of elements.

// dependent reports whether the elements of a parameter cannot be drawn one after another, because
// its type restricts them jointly.
func dependent(v *check.Var, g *Grown) bool {
	switch v.Constraint {
	case types.Unconstrained, types.LowerUpper, types.OffsetMultiplier:
		return false
	case types.Ordered, types.PositiveOrdered, types.SumToZeroVector, types.SumToZeroMatrix:
		return true // draws from the usual distributions do not satisfy this type's constraint
	}
	return slices.ContainsFunc(g.Known[v.Type.Dims:], func(known int) bool { return known >= 0 })
}

// atKnown reports whether a term is only about elements that the fit has, because its index is a
// literal number.
func (e *emitter) atKnown(t *term) bool {
	g := e.grown[t.place.v]
	if g == nil || g.Anew || t.place.flat != "" {
		return false
	}
	for d, known := range g.Known {
		if known < 0 {
			continue
		}
		if d >= len(t.place.indices) || t.place.indices[d].many {
			return false
		}
		last := t.place.indices[d].b
		if t.place.indices[d].single {
			last = t.place.indices[d].a
		}
		if n, ok := intLiteral(last); !ok || n > known {
			return false
		}
	}
	return true
}

// intLiteral returns the value of an integer in the text.
func intLiteral(x ast.Expr) (int, bool) {
	if x == nil {
		return 0, false
	}
	l, ok := ast.Unparen(x).(*ast.IntLit)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(l.Text)
	return n, err == nil
}

// single returns an error unless exactly one statement is about each further element of a
// parameter. With several statements the density is a product, and a draw from one factor does not
// have that density.
func (e *emitter) single(v *check.Var) error {
	var terms []*term
	beyond := false
	for _, s := range e.order {
		for i := range e.findings[s].terms {
			t := &e.findings[s].terms[i]
			if t.place.v != v || e.atKnown(t) {
				continue
			}
			beyond = true
			if !e.reachesLast(t) {
				continue
			}
			for _, u := range terms {
				if e.overlap(t, u) {
					return fmt.Errorf("%w: each element of %s has two statements (lines %d and %d), whose densities are multiplied", ErrNoPopulation, v.Name, u.at.Span().Begin().Line, t.at.Span().Begin().Line)
				}
			}
			terms = append(terms, t)
		}
	}
	if !beyond {
		for _, l := range e.left {
			if e.mentions(l, v) {
				return fmt.Errorf("%w: %s: %s", ErrNoPopulation, v.Name, l)
			}
		}
		return fmt.Errorf("%w: there is no statement such as %s ~ normal(mu, tau)", ErrNoPopulation, v.Name)
	}
	return nil
}

// reachesLast reports whether a term is certainly about the last elements of a parameter.
func (e *emitter) reachesLast(t *term) bool {
	if e.conditional(t.at) {
		return false
	}
	v := t.place.v
	sizes := sizesOf(v.Decl.(*ast.VarDecl).Type, v.Type)
	for d, known := range e.grown[v].Known {
		if known < 0 || d >= len(t.place.indices) {
			continue
		}
		x, size := t.place.indices[d], printer.Line(sizes[d])
		last := x.b
		if x.single {
			last = nil
			if loop := e.loopOf(x.a); loop != nil {
				last = loop.To
			}
		}
		if x.many || x.single && last == nil || last != nil && printer.Line(last) != size {
			return false
		}
	}
	return true
}

// conditional reports whether a statement of the model may be skipped.
func (e *emitter) conditional(at ast.Stmt) (found bool) {
	for _, s := range e.model {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.If, *ast.While, *ast.ForEach:
				ast.Inspect(n, func(m ast.Node) bool { found = found || m == at; return !found }, nil)
			}
			return !found
		}, nil)
	}
	return found
}

// loopOf returns the loop whose variable the expression is; nil if there is none.
func (e *emitter) loopOf(x ast.Expr) *ast.For {
	use, ok := ast.Unparen(x).(*ast.VarExpr)
	if !ok || e.info.Uses[use] == nil {
		return nil
	}
	loop, _ := e.info.Uses[use].Decl.(*ast.For)
	return loop
}

// overlap reports whether two terms that both reach the last element are about the same elements:
// whether their indices agree in the dimensions that do not grow.
func (e *emitter) overlap(t, u *term) bool {
	for d, known := range e.grown[t.place.v].Known {
		if known < 0 && e.indexText(t.place, d) != e.indexText(u.place, d) {
			return false
		}
	}
	return true
}

// indexText describes the elements of a place in one dimension; a loop variable represents the
// range of its loop.
func (e *emitter) indexText(p *place, d int) string {
	if d >= len(p.indices) {
		return ":"
	}
	text := func(x ast.Expr) string {
		if x == nil {
			return ""
		}
		return printer.Line(x)
	}
	x := p.indices[d]
	if x.single {
		if loop := e.loopOf(x.a); loop != nil {
			return text(loop.From) + ":" + text(loop.To)
		}
		return text(x.a)
	}
	return text(x.a) + ":" + text(x.b)
}

// unknownOutcome returns an error if the distribution of further elements of a parameter depends on
// outcomes in the rows ahead, which are drawn only after the parameters.
func (e *emitter) unknownOutcome(t *term, outcomes []*check.Var, a *Ahead) error {
	if a == nil || e.atKnown(t) {
		return nil
	}
	for _, y := range outcomes {
		is := func(u *check.Var) bool { return u == y }
		for _, x := range t.args {
			if y.Block == ast.Data && firstSize(y) == a.Rows && e.readsValues(x, is) && !(e.directly(x, is) && e.readsKnown(x, y)) {
				return fmt.Errorf("%w: later values of %s depend on values of %s that are not known (line %d)", ErrNoFuture, t.place.v.Name, y.Name, t.at.Span().Begin().Line)
			}
		}
	}
	return nil
}

// sizeArgs has, for functions with arguments that are sizes or positions, the number of arguments
// before these.
var sizeArgs = map[string]int{
	"rep_vector": 1, "rep_row_vector": 1, "rep_matrix": 1, "rep_array": 1, "head": 1, "tail": 1, "segment": 1, "block": 1,
	"sub_row": 1, "sub_col": 1, "row": 1, "col": 1, "zeros_vector": 0, "zeros_row_vector": 0, "zeros_int_array": 0, "zeros_array": 0,
	"ones_vector": 0, "ones_row_vector": 0, "ones_int_array": 0, "ones_array": 0, "identity_matrix": 0,
}

// countAsValue finds an expression that uses the number of rows or times as a value, as `b * t / T`
// does. With more rows it means something else than in the fit. Sizes, positions, ends of loops and
// comparisons do not count as values.
func (e *emitter) countAsValue(t *Timeline) (value ast.Expr) {
	counts := map[string]bool{t.Size: true, t.Rows: true}
	isCount := func(x *ast.VarExpr) bool { v := e.info.Uses[x]; return v != nil && counts[v.Name] }
	sized := func(v *check.Var) bool {
		d, ok := v.Decl.(*ast.VarDecl)
		return ok && slices.ContainsFunc(sizesOf(d.Type, v.Type), func(x ast.Expr) bool {
			return x != nil && (printer.Line(x) == t.Size || printer.Line(x) == t.Rows)
		})
	}
	var walk, position func(n ast.Node)
	position = func(n ast.Node) {
		switch x := n.(type) {
		case nil:
		case *ast.Paren:
			position(x.X)
		case *ast.Binary:
			if x.Op == "+" || x.Op == "-" {
				position(x.X)
				position(x.Y)
				return
			}
			walk(x)
		case *ast.VarExpr, *ast.IntLit:
		case *ast.CallExpr:
			if !ofSizes[x.Func.Name] {
				walk(x)
			}
		default:
			walk(x)
		}
	}
	positions := func(list ...ast.Expr) {
		for _, x := range list {
			if x != nil {
				position(x)
			}
		}
	}
	walk = func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if value != nil {
				return false
			}
			switch x := n.(type) {
			case *ast.VarDecl:
				v := e.info.Defs[x]
				if v == nil {
					return true
				}
				positions(sizesOf(x.Type, v.Type)...)
				for _, b := range x.Type.Bounds {
					walk(b.Value)
				}
				if x.Init != nil && v.Type.IsScalar() && v.Type.Scalar() == types.Int {
					positions(x.Init) // another count, such as T - 1
					counts[v.Name] = counts[v.Name] || e.directly(x.Init, func(u *check.Var) bool { return counts[u.Name] })
				} else if x.Init != nil {
					walk(x.Init)
				}
				return false
			case *ast.For:
				positions(x.From, x.To)
				walk(x.Body)
				return false
			case *ast.Single:
				positions(x.X)
				return false
			case *ast.Range:
				positions(x.From, x.To)
				return false
			case *ast.Binary:
				if slices.Contains([]string{"<", "<=", ">", ">=", "==", "!="}, x.Op) {
					positions(x.X, x.Y)
					return false
				}
			case *ast.CallExpr:
				if ofSizes[x.Func.Name] {
					if len(x.Args) == 1 && e.directly(x.Args[0], sized) {
						value = x
					}
					return false
				}
				if k, ok := sizeArgs[x.Func.Name]; ok && k <= len(x.Args) {
					for _, a := range x.Args[:k] {
						walk(a)
					}
					positions(x.Args[k:]...)
					return false
				}
			case *ast.Tilde, *ast.TargetPlus:
				s := x.(ast.Stmt)
				return len(e.findings[s].terms) > 0 || e.directly(s, sized) // skip priors of other parameters
			case *ast.VarExpr:
				if isCount(x) {
					value = x
				}
			}
			return value == nil
		}, nil)
	}
	for _, b := range e.tree.Blocks {
		if slices.Contains([]ast.BlockKind{ast.TransformedData, ast.Parameters, ast.TransformedParameters, ast.Model}, b.Kind) {
			for _, s := range b.Stmts {
				walk(s)
			}
		}
	}
	return value
}
