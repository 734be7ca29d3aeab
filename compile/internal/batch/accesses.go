package batch

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// accesses describes what statements do.
type accesses struct {
	info *check.Info
	loop *check.Var // the variable of the loop

	reads, writes map[*check.Var]bool
	shared        map[*check.Var]bool // an access is not to the element of the iteration: x[s], x[s, …]
	locals        map[*check.Var]bool // declared in the statements
	draws         bool                // random numbers
	several       bool                // more than one random number, so that lanes would draw them in another order
	acts          bool                // prints, ends the run or looks at the log density
	calls         bool                // functions of the program
	jumps         bool                // leaves the loop or the iteration
}

// accessesOf returns what nodes do. loop is the variable of the loop that they are in.
func accessesOf[N ast.Node](info *check.Info, loop *check.Var, nodes ...N) *accesses {
	a := &accesses{info: info, loop: loop, reads: map[*check.Var]bool{}, writes: map[*check.Var]bool{}, shared: map[*check.Var]bool{}, locals: map[*check.Var]bool{}}
	for _, n := range nodes {
		a.node(n, 0)
	}
	return a
}

// node adds a node. inner is the number of loops around it.
func (a *accesses) node(n ast.Node, inner int) {
	switch n := n.(type) {
	case *ast.VarDecl:
		a.locals[a.info.Defs[n]] = true
	case *ast.For, *ast.ForEach:
		a.locals[a.info.Defs[n]] = true
		inner++
	case *ast.While:
		inner++
	case *ast.Break, *ast.Continue:
		a.jumps = a.jumps || inner == 0
	case *ast.Return:
		a.jumps = true
	case *ast.Print, *ast.Target:
		a.acts = true
	case *ast.Reject:
		a.acts = a.acts || n.Fatal
	case *ast.Assign:
		for v := range ast.Targets(n.LHS) {
			a.writes[a.info.Uses[v]] = true
		}
		if n.Op == "=" {
			a.target(n.LHS, inner)
		} else {
			a.node(n.LHS, inner)
		}
		a.node(n.RHS, inner)
		return
	case *ast.CallExpr, *ast.Tilde:
		if c := a.info.Calls[n]; c != nil {
			if strings.HasSuffix(c.Name, "_rng") {
				a.several = a.several || a.draws || inner > 0 || c.Func != nil
				a.draws = true
			}
			a.calls = a.calls || c.Func != nil
		}
	case *ast.IndexExpr:
		if x, ok := n.X.(*ast.VarExpr); ok && a.own(n) {
			a.reads[a.info.Uses[x]] = true
			for _, i := range n.Indices {
				a.node(i, inner)
			}
			return
		}
	case *ast.VarExpr:
		if v := a.info.Uses[n]; v != nil {
			a.reads[v], a.shared[v] = true, true
		} else if a.info.Functors[n] != nil {
			a.calls = true
		}
	}
	for c := range ast.Children(n) {
		a.node(c, inner)
	}
}

// target adds the left side of an assignment, without its variables as values that are read.
func (a *accesses) target(lhs ast.Expr, inner int) {
	switch lhs := lhs.(type) {
	case *ast.IndexExpr:
		if x, ok := lhs.X.(*ast.VarExpr); !ok || !a.own(lhs) {
			if ok {
				a.shared[a.info.Uses[x]] = true
			} else {
				a.target(lhs.X, inner)
			}
		}
		for _, i := range lhs.Indices {
			a.node(i, inner)
		}
	case *ast.VarExpr:
		a.shared[a.info.Uses[lhs]] = true
	default:
		for c := range ast.Children(lhs) {
			if e, ok := c.(ast.Expr); ok {
				a.target(e, inner)
			}
		}
	}
}

// own reports whether an expression is about the element of the iteration.
func (a *accesses) own(x *ast.IndexExpr) bool {
	if len(x.Indices) == 0 {
		return false
	}
	one, ok := x.Indices[0].(*ast.Single)
	if !ok {
		return false
	}
	v, ok := ast.Unparen(one.X).(*ast.VarExpr)
	return ok && a.loop != nil && a.info.Uses[v] == a.loop
}

// actsIn reports whether functions print or end the run.
func actsIn(b *ast.Block) bool {
	for _, s := range b.Stmts {
		if accessesOf(&check.Info{}, nil, s).acts {
			return true
		}
	}
	return false
}
