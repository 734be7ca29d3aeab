package ir

import (
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// Stan evaluates the upper bound of a loop before each iteration. In a loop over elements, it
// evaluates each element when its iteration begins. This matters only if the body assigns to
// variables that these expressions read, or if evaluating a bound has side effects or depends on
// them. All other loops are lowered as if these expressions were evaluated once, which evaluators
// do fastest.

// acts reports whether n has side effects or depends on them. It does if it draws random numbers,
// adds to the target or reads it, or prints, directly or in functions that it calls. Functions in
// seen have been examined already.
func (l *lowerer) acts(n ast.Node, seen map[*check.Func]bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Target, *ast.TargetPlus, *ast.Tilde, *ast.Print:
			found = true
		case *ast.CallExpr:
			_, suffix := check.SplitSuffix(n.Func.Name)
			found = found || suffix == "_rng"
			if call := l.info.Calls[n]; call != nil && call.Func != nil && !seen[call.Func] {
				seen[call.Func] = true
				found = found || l.acts(call.Func.Decl, seen)
			}
		}
		return !found
	}, nil)
	return found
}

// assigns reports whether a statement assigns to a variable that e reads. A bound that is the size
// of a variable, as in for (i in 1:size(x)) x[i] = …, does not count. Assignments to elements do
// not change the size.
func (l *lowerer) assigns(s ast.Stmt, e ast.Expr) bool {
	var reads, sizes []*check.Var
	ast.Inspect(e, func(n ast.Node) bool {
		if v := l.measured(n); v != nil {
			sizes = append(sizes, v)
			return false
		}
		if v, ok := n.(*ast.VarExpr); ok && l.info.Uses[v] != nil {
			reads = append(reads, l.info.Uses[v])
		}
		return true
	}, nil)
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		if a, ok := n.(*ast.Assign); ok && !found {
			ast.Inspect(a.LHS, func(n ast.Node) bool {
				if x, ok := n.(*ast.IndexExpr); ok {
					n = x.X
					for {
						x, ok := n.(*ast.IndexExpr)
						if !ok {
							break
						}
						n = x.X
					}
					if v, ok := n.(*ast.VarExpr); ok {
						found = found || slices.Contains(reads, l.info.Uses[v])
						// The assigned variable is the container, not those in its indices.
						return false
					}
				}
				if v, ok := n.(*ast.VarExpr); ok {
					found = found || slices.Contains(reads, l.info.Uses[v]) || slices.Contains(sizes, l.info.Uses[v])
				}
				return true
			}, nil)
		}
		return !found
	}, nil)
	return found
}

// measured returns the variable x of a call such as size(x) whose result does not change if
// elements of x are assigned. It returns nil for other expressions. In an array of arrays, an
// element that is empty may become longer, so its size does not count.
func (l *lowerer) measured(n ast.Node) *check.Var {
	e, ok := n.(*ast.CallExpr)
	if !ok || len(e.Args) != 1 {
		return nil
	}
	call := l.info.Calls[e]
	if call == nil {
		return nil
	}
	if f, ok := call.Overload.(interface{ OnlyShape() bool }); !ok || !f.OnlyShape() {
		return nil
	}
	x, ok := e.Args[0].(*ast.VarExpr)
	if !ok || l.info.Uses[x] == nil {
		return nil
	}
	if v := l.info.Uses[x]; v.Type.Dims == 0 || call.Name == "size" {
		return v
	}
	return nil
}

// stepped lowers a loop whose upper bound may differ between iterations:
//
//	next = from;
//	while (next <= to) { i = next; next += 1; body }
//
// The counter is incremented before the body, so that continue works.
func (l *lowerer) stepped(s *ast.For) Stmt {
	pos, at := Pos{s.Span()}, s.Span()
	from := l.expr(s.From)
	next := &Var{ID: *l.frame, Name: "next", Type: types.IntType, Block: ast.Functions, Span: at}
	*l.frame++
	number := func() Expr { return &VarRef{Typed: leaf(at, types.IntType, Data), Var: next} }
	one := &IntLit{leaf(at, types.IntType, Data), 1}
	cond := l.library("operator<=", number(), l.expr(s.To))
	i := l.variable(l.info.Defs[s])[0]
	body := &Block{Pos: pos, Stmts: []Stmt{
		&Unpack{pos, []*Var{i}, number()},
		&Assign{Pos: pos, Var: next, Value: l.library("operator+", number(), one)},
		l.body(s.Body),
	}}
	return &Block{Pos: pos, Stmts: []Stmt{
		&Unpack{pos, []*Var{next}, from},
		&While{Pos: pos, Cond: cond, Body: body},
	}}
}

// eachAtItsTurn lowers a loop over the elements of a variable that the body changes. It reads each
// element when its iteration begins: for (i in 1:size(x)) { element = x[i]; body }.
func (l *lowerer) eachAtItsTurn(s *ast.ForEach, over *VarRef) Stmt {
	pos, at := Pos{s.Span()}, over.Span()
	i := &Var{ID: *l.frame, Name: "element", Type: types.IntType, Block: ast.Functions, Loop: true, Span: at}
	*l.frame++
	place := Index{Kind: IndexSingle, A: &VarRef{Typed: leaf(at, types.IntType, Data), Var: i}, At: at}
	v := l.variable(l.info.Defs[s])[0]
	return &For{
		Pos: pos, Var: i, From: &IntLit{leaf(at, types.IntType, Data), 1}, To: l.library("size", over),
		Body: &Block{Pos: pos, Stmts: []Stmt{
			&Unpack{pos, []*Var{v}, &IndexExpr{leaf(at, v.Type, over.Level()), over, []Index{place}}},
			l.body(s.Body),
		}},
	}
}

// rowByRow lowers a loop over the elements of a matrix to two nested loops, as in Stan. It goes row
// by row and reads each element when its iteration begins. So break leaves only the current row.
//
//	for (i in 1:rows(x)) for (j in 1:cols(x)) { element = x[i, j]; body }
func (l *lowerer) rowByRow(s *ast.ForEach, over Expr) Stmt {
	pos, at := Pos{s.Span()}, over.Span()
	out := &Block{Pos: pos}
	if _, ok := over.(*VarRef); !ok { // so that it is evaluated once
		before, once := l.apart(pos, over)
		out.Stmts, over = before, once[0]
	}
	number := func(name string) *Var {
		*l.frame++
		return &Var{ID: *l.frame - 1, Name: name, Type: types.IntType, Block: ast.Functions, Loop: true, Span: at}
	}
	loop := func(i *Var, size string, body Stmt) Stmt {
		return &For{Pos: pos, Var: i, From: &IntLit{leaf(at, types.IntType, Data), 1}, To: l.library(size, over), Body: body}
	}
	place := func(i *Var) Index {
		return Index{Kind: IndexSingle, A: &VarRef{Typed: leaf(at, types.IntType, Data), Var: i}, At: at}
	}
	i, j := number("row"), number("column")
	v := l.variable(l.info.Defs[s])[0]
	body := &Block{Pos: pos, Stmts: []Stmt{
		&Unpack{pos, []*Var{v}, &IndexExpr{leaf(at, v.Type, over.Level()), over, []Index{place(i), place(j)}}},
		l.body(s.Body),
	}}
	out.Stmts = append(out.Stmts, loop(i, "rows", loop(j, "cols", body)))
	return out
}
