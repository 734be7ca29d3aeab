// Package ragged rewrites programs with ragged variables to ordinary ones.
//
//	ragged.go    Rewrite: declarations, statements
//	index.go     uses of ragged variables
//	function.go  functions with ragged arguments
//	helpers.go   functions of Stan source that the new program calls
//
// A ragged variable becomes a variable with all elements, one row after another. An array of
// integers, computed once in transformed data, has the position where each row starts. So a row is
// a range of elements, and everything that follows sees an ordinary program of Stan.
package ragged

import (
	"fmt"
	"iter"
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// Rewrite returns a checked program without ragged variables. It returns the tree itself if there
// are none.
func Rewrite(f *ast.File, info *check.Info) *ast.File {
	found := false
	for _, v := range info.Defs {
		found = found || v != nil && v.Ragged != nil
	}
	if !found {
		return f
	}
	r := &rewriter{
		info: info, names: ast.NamesOf(f), shared: map[*check.Var]string{}, rows: map[*check.Var]*rows{},
		types: map[*ast.TypeExpr]*ast.TypeExpr{}, made: map[string]string{}, uses: map[*ast.VarExpr]*check.Var{}, helped: map[string]string{},
		elements: map[*check.Var]*ast.IndexExpr{},
	}
	out := *f
	out.Blocks = nil
	for _, b := range f.Blocks {
		r.block = b.Kind
		c := *b
		c.Stmts = r.stmts(b.Stmts, true)
		out.Blocks = append(out.Blocks, &c)
	}
	made := r.functions()
	out.ChangeBlock(ast.TransformedData, func(ss []ast.Stmt) []ast.Stmt { return slices.Concat(r.first, ss, r.last) })
	out.ChangeBlock(ast.Functions, func(ss []ast.Stmt) []ast.Stmt { return slices.Concat(r.helpers(), ss, made) })
	return &out
}

// Copy marks the variables of a tree, which was derived from a rewritten one, as ragged, or as the
// values of sparse matrices, if they are so there. derived maps the names of other variables to
// those whose rows they have.
func Copy(to, from *ast.File, derived map[string]string) {
	rows := map[string]*ast.VarDecl{}
	for d := range declared(from) {
		if d.Rows != nil || d.Sparse != nil {
			rows[d.Name.Name] = d
		}
	}
	known := map[string]bool{}
	for d := range declared(to) {
		of := rows[d.Name.Name]
		if name, ok := derived[d.Name.Name]; ok {
			of = rows[name]
		}
		missing := false
		if of != nil {
			for _, e := range slices.Concat(of.Rows, of.Sparse) {
				ast.Inspect(e, func(n ast.Node) bool {
					v, ok := n.(*ast.VarExpr)
					missing = missing || ok && !known[v.Name]
					return true
				}, nil)
			}
		}
		if of != nil && !missing && dims(of.Type) == dims(d.Type) {
			for _, e := range of.Rows {
				d.Rows = append(d.Rows, ast.Fresh(e))
			}
			for _, e := range of.Sparse {
				d.Sparse = append(d.Sparse, ast.Fresh(e))
			}
		}
		known[d.Name.Name] = true
	}
}

// dims returns the number of dimensions of a declared type. Integers that belong to the elements of
// a vector are an array.
func dims(t *ast.TypeExpr) int { return len(t.ArrayDims) + len(t.Sizes) }

// declared yields the declarations at the top level of a program. Those of the model block count,
// because observations are local variables there if discrete parameters are summed out.
func declared(f *ast.File) iter.Seq[*ast.VarDecl] {
	return func(yield func(*ast.VarDecl) bool) {
		for _, b := range f.Blocks {
			for _, s := range b.Stmts {
				if d, ok := s.(*ast.VarDecl); ok && !yield(d) {
					return
				}
			}
		}
	}
}

// rewriter is the state of Rewrite.
type rewriter struct {
	info  *check.Info
	block ast.BlockKind // the block being rewritten
	names ast.Names

	shared   map[*check.Var]string         // by the variable of the sizes, the name of the starts
	rows     map[*check.Var]*rows          // by ragged variable
	elements map[*check.Var]*ast.IndexExpr // by variable of a loop over rows
	uses     map[*ast.VarExpr]*check.Var   // of new nodes
	types    map[*ast.TypeExpr]*ast.TypeExpr
	made     map[string]string // by function and its ragged arguments, the name of the new function
	waiting  []*instance       // functions to be made
	helped   map[string]string // by function of helpers.go that is called, its name in the program
	first    []ast.Stmt        // of transformed data
	last     []ast.Stmt        // of transformed data
}

// rows describes how a variable is stored.
type rows struct {
	*check.Ragged
	start, sizes func() ast.Expr // the first positions of the rows, and their sizes
}

// stmts rewrites a list of statements; global is set for the top level of a block.
func (r *rewriter) stmts(ss []ast.Stmt, global bool) []ast.Stmt {
	var out []ast.Stmt
	for _, s := range ss {
		switch s := s.(type) {
		case *ast.VarDecl:
			out = append(out, r.declare(s, global)...)
		case *ast.Assign:
			out = append(out, r.assign(s)...)
		default:
			out = append(out, r.rewrite(s).(ast.Stmt))
		}
	}
	return out
}

// declare rewrites a declaration. It returns the declarations of the starts of rows, too, if no
// other variable has them.
func (r *rewriter) declare(d *ast.VarDecl, global bool) []ast.Stmt {
	v := r.info.Defs[d]
	if v == nil || v.Ragged == nil {
		return []ast.Stmt{ast.Map(d, r.rewrite).(ast.Stmt)}
	}
	g := v.Ragged
	k := &rows{Ragged: g}
	r.rows[v] = k
	var out []ast.Stmt
	if x, ok := ast.Unparen(g.Sizes).(*ast.VarExpr); ok && r.lasting(r.info.Uses[x]) {
		k.sizes, k.start = named(x.Name), r.start(x)
	} else {
		sizes, start := r.names.New(v.Name+"_size"), r.names.New(v.Name+"_start")
		value := r.expr(g.Sizes)
		tables := []ast.Stmt{ints(sizes, g.Outer, value, value), ints(start, g.Outer, value, r.starts(g.Outer, &ast.VarExpr{Name: sizes}))}
		k.sizes, k.start = named(sizes), named(start)
		switch {
		case !global || r.block == ast.TransformedData || r.block == ast.Functions || r.block == ast.Model:
			out = tables
		case r.block == ast.Data:
			r.first = append(r.first, tables...)
		default:
			r.last = append(r.last, tables...)
		}
	}
	c := *d
	c.Type = r.flat(d.Type, g)
	if global && r.block != ast.Model && r.block != ast.Functions {
		for _, e := range slices.Concat(d.Type.ArrayDims, d.Type.Sizes) {
			c.Rows = append(c.Rows, ast.Fresh(r.expr(e)))
		}
	} else {
		out = append(out, r.counted(d, g, k)...)
	}
	c.Init = nil
	out = append(out, &c)
	if d.Init == nil {
		return out
	}
	if _, list := ast.Unparen(d.Init).(*ast.ArrayExpr); !list {
		c.Init = r.expr(d.Init)
		return out
	}
	return append(out, r.assign(&ast.Assign{Base: ast.Base{Pos: d.Init.Span()}, LHS: r.use(d), Op: "=", RHS: d.Init})...)
}

// counted returns statements that reject a local variable with more or fewer rows than sizes, if
// these may differ. The sizes of other variables are checked when their values are.
func (r *rewriter) counted(d *ast.VarDecl, g *check.Ragged, k *rows) (out []ast.Stmt) {
	var same []ast.Expr // the extents with which the sizes are declared
	if x, ok := ast.Unparen(g.Sizes).(*ast.VarExpr); ok {
		if v := r.info.Uses[x]; v != nil && r.lasting(v) {
			if of, ok := v.Decl.(*ast.VarDecl); ok {
				same = of.Type.ArrayDims
			}
		}
	}
	for i, e := range d.Type.ArrayDims[:g.Outer] {
		if x, ok := ast.Unparen(e).(*ast.VarExpr); ok && i < len(same) {
			if y, ok := ast.Unparen(same[i]).(*ast.VarExpr); ok && r.info.Uses[x] == r.info.Uses[y] && r.lasting(r.info.Uses[x]) {
				continue
			}
		}
		count := func() ast.Expr {
			if g.Outer > 1 {
				return element(call("dims", k.sizes()), literal(i+1))
			}
			return call("size", k.sizes())
		}
		out = append(out, &ast.If{Base: d.Base, Cond: &ast.Binary{Base: d.Base, Op: "!=", X: ast.Fresh(r.expr(e)), Y: count()},
			Then: &ast.Reject{Base: d.Base, Args: []ast.Expr{&ast.StringLit{Value: d.Name.Name + " is declared with "}, ast.Fresh(r.expr(e)), &ast.StringLit{Value: " rows, but the array of sizes has "}, count()}}})
	}
	return out
}

// use returns the variable of a declaration as an expression.
func (r *rewriter) use(d *ast.VarDecl) ast.Expr {
	x := &ast.VarExpr{Base: d.Name.Base, Name: d.Name.Name}
	r.uses[x] = r.info.Defs[d]
	return x
}

// lasting reports whether a variable has its final value whenever a ragged variable of these sizes
// is declared in the current block.
func (r *rewriter) lasting(v *check.Var) bool {
	if v == nil || !v.Global {
		return false
	}
	return v.Block == ast.Data || v.Block == ast.TransformedData && r.block > ast.TransformedData
}

// start returns the starts of rows whose sizes are a variable of data or transformed data.
func (r *rewriter) start(x *ast.VarExpr) func() ast.Expr {
	v := r.info.Uses[x]
	if r.shared[v] == "" {
		name := r.names.New(v.Name + "_start")
		r.shared[v] = name
		table := ints(name, v.Type.Dims, &ast.VarExpr{Name: v.Name}, r.starts(v.Type.Dims, &ast.VarExpr{Name: v.Name}))
		if v.Block == ast.Data {
			r.first = append(r.first, table)
		} else {
			r.last = append(r.last, table)
		}
	}
	name := r.shared[v]
	return func() ast.Expr {
		if r.block == ast.Data { // transformed data come later
			return r.starts(v.Type.Dims, &ast.VarExpr{Name: v.Name})
		}
		return &ast.VarExpr{Name: name}
	}
}

// flat returns the type of all rows of a variable.
func (r *rewriter) flat(t *ast.TypeExpr, g *check.Ragged) *ast.TypeExpr {
	if r.types[t] != nil {
		return r.types[t]
	}
	c := *ast.Map(t, r.rewrite).(*ast.TypeExpr)
	c.ArrayDims, c.Sizes = slices.Clone(c.ArrayDims), slices.Clone(c.Sizes)
	total := ast.Fresh(r.expr(g.Sizes))
	if g.Outer > 1 {
		total = call("to_array_1d", total)
	}
	total = call("sum", total)
	if n := len(c.ArrayDims); g.At < n {
		c.ArrayDims[g.At] = total
	} else {
		c.Sizes[g.At-n] = total
	}
	c.ArrayDims = c.ArrayDims[g.Outer:]
	if len(c.ArrayDims) == 0 {
		c.ArrayDims = nil
	}
	r.types[t] = &c
	return &c
}

// assign rewrites an assignment. A list of rows is stored row by row.
func (r *rewriter) assign(s *ast.Assign) []ast.Stmt {
	k := r.of(s.LHS)
	list, ok := ast.Unparen(s.RHS).(*ast.ArrayExpr)
	if k == nil || !ok {
		return []ast.Stmt{ast.Map(s, r.rewrite).(ast.Stmt)}
	}
	count := literal(len(list.Elems))
	out := []ast.Stmt{&ast.If{Base: s.Base, Cond: &ast.Binary{Base: s.Base, Op: "!=", X: call("size", k.sizes()), Y: count},
		Then: &ast.Reject{Base: s.Base, Args: []ast.Expr{&ast.StringLit{Value: "the number of rows of " + s.LHS.(*ast.VarExpr).Name + " is "}, call("size", k.sizes())}}}}
	for i, e := range list.Elems {
		row := &ast.IndexExpr{Base: s.LHS.(*ast.VarExpr).Base, X: s.LHS, Indices: []ast.Index{&ast.Single{Base: list.Base, X: literal(i + 1)}}}
		out = append(out, &ast.Assign{Base: ast.Base{Pos: e.Span()}, LHS: r.expr(row), Op: "=", RHS: r.expr(e)})
	}
	return out
}

// expr rewrites an expression.
func (r *rewriter) expr(e ast.Expr) ast.Expr {
	if e == nil {
		return nil
	}
	return r.rewrite(e).(ast.Expr)
}

// rewrite rewrites a node, but for declarations and lists of rows.
func (r *rewriter) rewrite(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.BlockStmt:
		c := *n
		c.Stmts = r.stmts(n.Stmts, false)
		return &c
	case *ast.Assign:
		ss := r.assign(n)
		if len(ss) == 1 {
			return ss[0]
		}
		return &ast.BlockStmt{Base: n.Base, Stmts: ss}
	case *ast.TypeExpr:
		if r.types[n] == nil {
			r.types[n] = ast.Map(n, r.rewrite).(*ast.TypeExpr)
		}
		return r.types[n]
	case *ast.ForEach:
		return r.forEach(n)
	case *ast.VarExpr:
		if e := r.elements[r.info.Uses[n]]; e != nil {
			return r.index(e)
		}
	case *ast.IndexExpr:
		return r.index(n)
	case *ast.CallExpr:
		return r.library(n)
	case *ast.Print:
		return r.print(n)
	case *ast.Tilde:
		return r.tilde(n)
	}
	return ast.Map(n, r.rewrite)
}

// print rewrites a print statement. It shows the rows of a ragged variable.
func (r *rewriter) print(s *ast.Print) ast.Node {
	c := *s
	c.Args = nil
	for _, a := range s.Args {
		x := r.expr(a)
		if k := r.of(a); k != nil {
			x = &ast.TupleExpr{Base: written(a), Elems: []ast.Expr{x, k.sizes()}, Rows: k.At - k.Outer + 1}
		}
		c.Args = append(c.Args, x)
	}
	return &c
}

// forEach rewrites a loop over the rows of a variable to one over their numbers. The loop variable
// is read-only, so that the row can replace it.
func (r *rewriter) forEach(s *ast.ForEach) ast.Node {
	k := r.of(s.Over)
	if k == nil {
		return ast.Map(s, r.rewrite)
	}
	i := r.names.New(s.Var.Name + "_row")
	r.elements[r.info.Defs[s]] = &ast.IndexExpr{Base: s.Var.Base, X: ast.Unparen(s.Over), Indices: []ast.Index{&ast.Single{Base: s.Var.Base, X: &ast.VarExpr{Base: s.Var.Base, Name: i}}}}
	return &ast.For{Base: written(s), Var: ast.Ident{Base: s.Var.Base, Name: i}, From: literal(1), To: call("size", k.sizes()), Body: r.rewrite(s.Body).(ast.Stmt)}
}

// ints returns the declaration of an array of integers with the sizes of another one.
func ints(name string, dims int, like, value ast.Expr) ast.Stmt {
	t := &ast.TypeExpr{Elem: types.IntType.String(), ArrayDims: []ast.Expr{call("size", ast.Fresh(like))}}
	if dims > 1 {
		t.ArrayDims = nil
		for d := range dims {
			t.ArrayDims = append(t.ArrayDims, element(call("dims", ast.Fresh(like)), literal(d+1)))
		}
	}
	return &ast.VarDecl{Type: t, Name: ast.Ident{Name: name}, Init: ast.Fresh(value)}
}

// written returns the base of a node that replaces one of the program.
func written(n ast.Node) ast.Base { return ast.Base{Pos: n.Span(), Written: n} }

func named(name string) func() ast.Expr { return func() ast.Expr { return &ast.VarExpr{Name: name} } }

func call(name string, args ...ast.Expr) ast.Expr {
	return &ast.CallExpr{Func: ast.Ident{Name: name}, Args: args}
}

func literal(n int) ast.Expr { return &ast.IntLit{Text: fmt.Sprint(n), Value: int64(n)} }

// element returns x[i, …].
func element(x ast.Expr, indices ...ast.Expr) *ast.IndexExpr {
	out := &ast.IndexExpr{X: x}
	for _, i := range indices {
		out.Indices = append(out.Indices, &ast.Single{X: i})
	}
	return out
}
