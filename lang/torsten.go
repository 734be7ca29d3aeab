package lang

import (
	"strconv"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/internal/legacy"
	"github.com/ppl-lang/ppl/lang/source"
)

// array is the type of a variable: its number of indices, and whether its elements are integers.
type array struct {
	depth   int
	integer bool
}

// scope has the types of the variables and arguments in a function, or outside functions.
type scope struct {
	where source.Span // of the function
	types map[string]array
}

// scopes returns the scopes of a program: its functions, and then all else.
func scopes(f *ast.File) []scope {
	var out []scope
	all := scope{types: map[string]array{}}
	for _, b := range f.Blocks {
		if b.Kind != ast.Functions {
			all.add(b)
			continue
		}
		for _, s := range b.Stmts {
			one := scope{where: s.Span(), types: map[string]array{}}
			one.add(s)
			out = append(out, one)
		}
	}
	return append(out, all)
}

// add adds the declarations in a node. Names with several types, and types that have no elements,
// have the depth -1.
func (s scope) add(n ast.Node) {
	own := map[string]int{"int": 0, "real": 0, "vector": 1, "row_vector": 1, "matrix": 2}
	add := func(name string, t *ast.TypeExpr) {
		n, ok := own[t.Elem]
		a := array{depth: len(t.ArrayDims) + n, integer: t.Elem == "int"}
		if before, seen := s.types[name]; !ok || seen && a != before {
			a.depth = -1
		}
		s.types[name] = a
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.VarDecl:
			add(n.Name.Name, n.Type)
		case *ast.Param:
			add(n.Name.Name, n.Type)
		}
		return true
	}, nil)
}

// arrayOf returns the type of a variable, or of a part of one.
func (u *upgrader) arrayOf(e ast.Expr) (array, bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.VarExpr:
		for _, s := range u.scopes {
			if s.where == (source.Span{}) || s.where.File == e.Pos.File && s.where.Start <= e.Pos.Start && e.Pos.Start < s.where.End {
				a, ok := s.types[e.Name]
				return a, ok && a.depth >= 0
			}
		}
	case *ast.IndexExpr:
		a, ok := u.arrayOf(e.X)
		for _, i := range e.Indices {
			if _, one := i.(*ast.Single); one {
				a.depth--
			}
		}
		return a, ok && a.depth >= 0
	}
	return array{}, false
}

// inOrder returns the arguments of a call of Torsten in the order of today. In its first versions
// the parameters came before the events, and bioavailabilities and lag times were the last numbers
// among them. It returns nil if the parts of such parameters cannot be named.
func (u *upgrader) inOrder(e *ast.CallExpr, o legacy.Order) []ast.Expr {
	const events = 8
	ss := o.Parameters + events
	if len(e.Args) <= ss {
		return e.Args
	}
	if a, ok := u.arrayOf(e.Args[ss]); !ok || !a.integer {
		return e.Args // the last argument of the events has integers
	}
	p := e.Args[o.Parameters]
	a, ok := u.arrayOf(p)
	if !ok || a.depth < 1 || a.depth > 2 {
		return nil
	}
	here := ast.Base{Pos: p.Span()}
	number := func(n int) ast.Expr { return &ast.IntLit{Base: here, Text: strconv.Itoa(n), Value: int64(n)} }
	call := func(name string, x ast.Expr) ast.Expr {
		return &ast.CallExpr{Base: here, Func: ast.Ident{Base: here, Name: name}, Args: []ast.Expr{x}}
	}
	first := func(x ast.Expr) ast.Expr {
		return &ast.IndexExpr{Base: here, X: x, Indices: []ast.Index{&ast.Single{Base: here, X: number(1)}}}
	}
	part := func(from, to ast.Expr) ast.Expr {
		out := &ast.IndexExpr{Base: here, X: p, Indices: []ast.Index{&ast.Range{Base: here, From: from, To: to}}}
		if a.depth == 2 {
			out.Indices = []ast.Index{&ast.All{Base: here}, out.Indices[0]}
		}
		return out
	}
	theta, states := p, number(o.States)
	switch {
	case o.Own > 0:
		theta = part(nil, number(o.Own))
	case o.Matrix:
		theta = e.Args[0]
		K, ok := u.arrayOf(theta)
		switch states = call("rows", theta); {
		case !ok:
			return nil
		case K.depth > 2:
			states = call("rows", first(theta))
		}
	default:
		states = e.Args[1]
	}
	size := call("num_elements", p)
	if a.depth == 2 {
		size = call("num_elements", first(p))
	}
	// before returns the position of the number that n bioavailabilities and lag times follow.
	before := func(n int, more int) ast.Expr {
		if k, ok := states.(*ast.IntLit); ok {
			back := n*int(k.Value) - more
			if o.Own > 0 {
				return number(o.Own + 2*int(k.Value) - back)
			}
			if back == 0 {
				return size
			}
			return &ast.Binary{Base: here, Op: "-", X: size, Y: number(back)}
		}
		back := states
		if n == 2 {
			back = &ast.Binary{Base: here, Op: "*", X: number(2), Y: states}
		}
		var out ast.Expr = &ast.Binary{Base: here, Op: "-", X: size, Y: back}
		if more > 0 {
			out = &ast.Binary{Base: here, Op: "+", X: out, Y: number(more)}
		}
		return out
	}
	var out []ast.Expr
	if !o.Matrix {
		out = append(out, e.Args[:o.Parameters]...)
	}
	out = append(out, e.Args[o.Parameters+1:ss+1]...)
	out = append(out, theta, part(before(2, 1), before(1, 0)), part(before(1, 1), nil))
	return append(out, e.Args[ss+1:]...)
}
