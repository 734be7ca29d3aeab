package predict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
)

// This file derives programs whose parameters have more elements than the fit, such as the effects
// of new groups. In the derived program they are local variables. Their known elements are copied
// from the parameters of the fit. The model's own statements draw the others, each given the
// elements before it.

// Grown is a parameter whose sizes differ between the current data and the fit.
type Grown struct {
	Name  string
	Shape []int // sizes in the fit
	// Known has, for each dimension, the number of leading indices for which the fit has elements;
	// -1 if the sizes agree.
	Known []int

	// Anew says that every element that a statement is about is drawn, also those of the fit. Known
	// is then -1 everywhere.
	Anew bool
}

// NewLevels says how the elements that a fit does not have are chosen.
type NewLevels string

// The values of NewLevels.
const (
	SampleNewLevels NewLevels = "sample" // drawn from their distribution, anew at each draw of the fit
	MeanNewLevels   NewLevels = "mean"   // the mean of that distribution, at each draw of the fit
)

// ErrNoPopulation says that the model has no distribution for further elements of a parameter.
var ErrNoPopulation = errors.New("the model does not say how further elements arise")

// growing returns the parameters that grow, by variable.
func growing(info *check.Info, all []Grown) map[*check.Var]*Grown {
	out := map[*check.Var]*Grown{}
	for i := range all {
		for _, v := range info.Defs {
			if v.Name == all[i].Name && v.Global && v.Block == ast.Parameters {
				out[v] = &all[i]
			}
		}
	}
	return out
}

// grow rewrites generated quantities for parameters that grow. Their last statement is the model
// block. Before it, grow declares and fills these parameters, and computes the transformed
// parameters. known is the parameters block with the sizes of the fit.
func (e *emitter) grow(quantities *ast.Block, all []Grown, how NewLevels) (known *ast.Block, names map[string]string, err error) {
	grown := growing(e.info, all)
	names = map[string]string{}
	known = &ast.Block{Kind: ast.Parameters}
	var fill []ast.Stmt
	for _, s := range e.tree.Block(ast.Parameters).Stmts {
		d, ok := s.(*ast.VarDecl)
		g := grown[e.info.Defs[s]]
		if !ok || g == nil {
			known.Stmts = append(known.Stmts, s)
			continue
		}
		v := e.info.Defs[s]
		if len(g.Shape) != v.Type.Rank() || dependent(v, g) {
			return nil, nil, fmt.Errorf("%w: %s is of type %s", ErrNoPopulation, v.Name, v.Constraint)
		}
		name := e.fresh(v.Name + "_known")
		names[name] = v.Name
		t := *d.Type
		var shape []ast.Expr
		for _, n := range g.Shape {
			shape = append(shape, literal(int64(n)))
		}
		t.ArrayDims, t.Sizes = shape[:len(t.ArrayDims)], shape[len(t.ArrayDims):][:len(t.Sizes)]
		known.Stmts = append(known.Stmts, &ast.VarDecl{Type: &t, Name: ast.Ident{Name: name}})
		fill = append(fill, declare(typeExpr(v.Type, sizesOf(d.Type, v.Type)), v.Name, nil))
		if !slices.Contains(g.Known, 0) {
			var at []ast.Index
			for _, k := range g.Known {
				r := &ast.Range{}
				if k >= 0 {
					r.From, r.To = literal(1), literal(int64(k))
				}
				at = append(at, r)
			}
			fill = append(fill, assign(indexed(variable(v.Name), at), "=", indexed(variable(name), at)))
		}
	}
	drawn, err := e.drawNew(grown, how)
	if err != nil {
		return nil, nil, err
	}
	fill = append(fill, drawn)
	if b := e.tree.Block(ast.TransformedParameters); b != nil {
		fill = append(fill, e.locals(b.Stmts)...)
	}
	last := len(quantities.Stmts) - 1
	quantities.Stmts[last] = &ast.BlockStmt{Stmts: append(fill, quantities.Stmts[last])}
	return known, names, nil
}

// locals converts the statements of a block to those of a local block, in which declarations have
// no constraints.
func (e *emitter) locals(stmts []ast.Stmt) (out []ast.Stmt) {
	for _, s := range stmts {
		if d, ok := s.(*ast.VarDecl); ok && e.info.Defs[s] != nil {
			v := e.info.Defs[s]
			s = declare(typeExpr(v.Type, sizesOf(d.Type, v.Type)), v.Name, d.Init)
		}
		out = append(out, s)
	}
	return out
}

// drawNew returns a block that assigns the new elements: the part of the model block that is about
// parameters that grow.
func (e *emitter) drawNew(grown map[*check.Var]*Grown, how NewLevels) (ast.Stmt, error) {
	kind := Replicated
	if how == MeanNewLevels {
		kind = Expected
	}
	n := &emitter{
		analysis: analyse(e.tree, e.info, grown), kind: kind, used: e.used, comments: e.comments, truncated: e.truncated,
		dims: map[*check.Var]int{}, names: map[*check.Var]string{}, now: rename{}, grows: true, ahead: e.ahead,
	}
	n.gather()
	for v := range grown {
		if err := n.single(v); err != nil {
			return nil, err
		}
		n.names[v] = v.Name
	}
	var needed []ast.Expr
	for _, f := range n.findings {
		for _, t := range f.terms {
			if grown[t.place.v] != nil {
				if err := n.unknownOutcome(&t, e.variables, e.ahead); err != nil {
					return nil, err
				}
				needed = append(needed, t.args...)
			}
		}
	}
	before, err := n.transformedBefore(needed, grown)
	if err != nil {
		return nil, err
	}
	stmts := n.stmts(n.model)
	if n.joint != "" {
		return nil, fmt.Errorf("%w: the elements of %s have one joint distribution", ErrNoPopulation, n.joint)
	}
	e.functions = append(e.functions, n.functions...)
	if e.truncated == nil {
		e.truncated = n.truncated
	}
	return &ast.BlockStmt{Stmts: append(before, stmts...)}, nil
}

// mentions reports whether a statement in Left is about a variable.
func (e *emitter) mentions(l Left, v *check.Var) bool {
	for _, s := range e.order {
		if s.Span() == l.Span {
			return e.directly(s, func(u *check.Var) bool { return u == v })
		}
	}
	return false
}

// transformedBefore returns the statements that compute the transformed parameters on which the
// distributions of new elements depend. These must not depend on the new elements.
func (e *emitter) transformedBefore(needed []ast.Expr, grown map[*check.Var]*Grown) (out []ast.Stmt, err error) {
	b := e.tree.Block(ast.TransformedParameters)
	transformed := func(v *check.Var) bool { return v.Global && v.Block == ast.TransformedParameters }
	uses := func(yes func(*check.Var) bool) bool {
		return slices.ContainsFunc(needed, func(x ast.Expr) bool { return e.reads(x, yes) })
	}
	if b == nil || !uses(transformed) {
		return nil, nil
	}
	is := func(v *check.Var) bool { return grown[v] != nil }
	for _, x := range needed {
		ast.Inspect(x, func(n ast.Node) bool {
			if y, ok := n.(*ast.VarExpr); ok && e.info.Uses[y] != nil && transformed(e.info.Uses[y]) && e.reads(y, is) {
				err = fmt.Errorf("%w: `%s` depends on the new elements themselves", ErrNoPopulation, printer.Line(x))
			}
			return true
		}, nil)
	}
	if err != nil {
		return nil, err
	}
	for _, s := range b.Stmts {
		if !e.reads(s, is) {
			out = append(out, e.locals([]ast.Stmt{s})...)
		}
	}
	return out, nil
}

// bounded truncates the distribution of a growing parameter to the parameter's bounds, unless the
// distribution's support lies within them.
func (e *emitter) bounded(t *term) {
	d, ok := t.place.v.Decl.(*ast.VarDecl)
	if !ok || t.trunc != nil || t.function == "" || e.grown[t.place.v] == nil {
		return
	}
	bound := map[string]ast.Expr{}
	for _, b := range d.Type.Bounds {
		if b.Kind == "lower" || b.Kind == "upper" {
			bound[b.Kind] = b.Value
		}
	}
	if dist := distOf(t.function); len(bound) > 0 && (dist == nil || !inside(dist.Support, dist.Variate, bound)) {
		t.trunc = &ast.Truncation{Lower: bound["lower"], Upper: bound["upper"]}
	}
}

// unlessKnown wraps a statement that assigns an element in a condition, so that it runs only if the
// fit lacks the element.
func (e *emitter) unlessKnown(v *check.Var, at []ast.Index, s ast.Stmt) ast.Stmt {
	g := cmp.Or(e.grown[v], e.later[v])
	if g == nil || g.Anew {
		return s
	}
	var beyond ast.Expr
	for d, known := range g.Known {
		if known < 0 {
			continue
		}
		var single *ast.Single
		if d < len(at) {
			single, _ = at[d].(*ast.Single)
		}
		if single == nil || e.info.Types[single.X].Type.Dims > 0 {
			e.joint = v.Name
			return s
		}
		c := binary(">", single.X, literal(int64(known)))
		if beyond == nil {
			beyond = c
		} else {
			beyond = binary("||", beyond, c)
		}
	}
	return &ast.If{Cond: beyond, Then: &ast.BlockStmt{Stmts: []ast.Stmt{s}}}
}
