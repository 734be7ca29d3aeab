package marginal

import (
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
)

// undefined refuses an expression that data and the first or the last value of an element make NaN,
// as log(N - 20) at N = 0: the density would be NaN at all points, with no sign of where.
func (p *program) undefined(patterns []*pattern) error {
	t := p.tracer()
	work := 0
	for _, pat := range patterns {
		if !slices.ContainsFunc(pat.leaf.code, p.mayBeNaN) {
			continue
		}
		for k := range pat.instances {
			in := &pat.instances[k]
			if len(in.elements) != 1 || work > maxTried {
				continue
			}
			work++
			if err := t.enter(pat, in); err != nil {
				return nil // a run has the error
			}
			e := in.elements[0]
			el := p.elements[e]
			set := t.give(el.of)
			for _, value := range []int64{el.lo, el.hi} {
				set(el.of.cell(e), value)
				d := &denial{t: t, leaf: pat.leaf, local: map[*ir.Var]bool{}}
				at := d.firstNaN(pat.leaf.code)
				d.forget()
				if at != nil {
					return p.errorf(diag.DiscreteUse, at.Span(), "this is not a number (NaN) at `%s` = %d", "The density is a sum over all values between the bounds.",
						"change the bounds of `"+el.of.name+"`, or give such values the log density negative_infinity(), as in N > 20 ? log(N - 20) : negative_infinity()", p.name(e), value)
				}
			}
			delete(t.set, p.nodes.Vars[el.of.v][0])
		}
	}
	return nil
}

// mayBeNaN reports whether a statement applies a function to a discrete parameter, or divides or
// raises it, apart from masses and densities.
func (p *program) mayBeNaN(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Binary:
			op := strings.TrimPrefix(n.Op, ".")
			found = found || (op == "/" || op == "^") && p.involved(n)
		case *ast.CallExpr:
			c := p.info.Calls[n]
			density := c != nil && (strings.HasSuffix(c.Name, "pmf") || strings.HasSuffix(c.Name, "pdf"))
			found = found || !density && p.involved(n)
		}
		return !found
	}, nil)
	return found
}

// firstNaN returns the first expression of statements that is NaN; nil if none is known to be.
func (d *denial) firstNaN(ss []ast.Stmt) (at ast.Expr) {
	var visit func(n ast.Node)
	visit = func(n ast.Node) {
		if at != nil {
			return
		}
		switch n := n.(type) {
		case *ast.If:
			visit(n.Cond)
			if c, ok := d.value(n.Cond); ok && c != 0 {
				visit(n.Then)
			} else if ok && n.Else != nil {
				visit(n.Else)
			}
			d.t.forget(n)
			return
		case *ast.Cond:
			visit(n.Cond)
			if c, ok := d.value(n.Cond); ok && c != 0 {
				visit(n.Then)
			} else if ok {
				visit(n.Else)
			}
			return
		case *ast.For, *ast.ForEach, *ast.While: // they may have no iteration
			d.t.forget(n.(ast.Stmt))
			return
		case *ast.VarDecl:
			if n.Init != nil {
				visit(n.Init)
				_ = d.t.store(d.t.variable(n), n.Init, d.local) // an error leaves it unknown
			}
			return
		case *ast.Assign:
			visit(n.RHS)
			d.t.forget(n)
			return
		case *ast.Binary:
			if n.Op == "&&" || n.Op == "||" {
				visit(n.X)
				return
			}
			if n.Op == "*" { // 0 * x is 0
				if k, _, ok := d.t.p.multiple(n); ok {
					if x, ok := d.value(k); ok && x == 0 {
						return
					}
				}
			}
		}
		for c := range ast.Children(n) {
			visit(c)
		}
		if e, ok := n.(ast.Expr); ok && at == nil && d.t.p.involved(e) {
			if x, ok := d.value(e); ok && math.IsNaN(x) {
				at = e
			}
		}
	}
	for _, s := range ss {
		visit(s)
	}
	return at
}
