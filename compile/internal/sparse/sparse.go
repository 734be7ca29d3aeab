// Package sparse rewrites programs with sparse matrices to ordinary ones.
//
//	sparse.go    Rewrite: declarations, statements
//	parts.go     the values and the pattern of expressions; functions of sparse matrices
//	helpers.go   functions of Stan source that the new program calls
//
// A sparse matrix becomes a vector of its values, row by row, and an array of integers, its
// pattern: the numbers of rows and columns, the position of each row's first value and the end, and
// the column of each value. Patterns never depend on parameters, so that they are evaluated when
// the data are bound. The values are ordinary vectors, and everything that follows sees an ordinary
// program of Stan with functions csr_….
package sparse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/types"
)

// Is reports whether a checked program has sparse matrices.
func Is(info *check.Info) bool {
	for _, t := range info.Types {
		if t.Type.Kind == types.SparseMatrix {
			return true
		}
	}
	for _, v := range info.Defs {
		if v != nil && v.Type.Kind == types.SparseMatrix {
			return true
		}
	}
	return false
}

// Rewrite returns a program without sparse matrices.
func Rewrite(f *ast.File, info *check.Info) *ast.File {
	r := &rewriter{info: info, names: ast.NamesOf(f), patterns: map[*check.Var]string{}, helped: map[string]string{}, named: map[string]*check.Var{}, fixed: map[string]bool{}, tables: map[string]string{}}
	for _, v := range info.Defs {
		if v != nil && v.Global && (v.Block == ast.Data || v.Block == ast.TransformedData) {
			r.named[v.Name] = v
		}
	}
	out := *f
	out.Blocks = nil
	for _, b := range f.Blocks {
		r.block = b.Kind
		c := *b
		c.Stmts = r.stmts(b.Stmts, true)
		out.Blocks = append(out.Blocks, &c)
	}
	out.ChangeBlock(ast.TransformedData, func(ss []ast.Stmt) []ast.Stmt { return slices.Concat(r.first, ss, r.last) })
	out.ChangeBlock(ast.Functions, func(ss []ast.Stmt) []ast.Stmt { return slices.Concat(r.helpers(), ss) })
	return &out
}

// rewriter is the state of Rewrite.
type rewriter struct {
	info  *check.Info
	block ast.BlockKind // the block being rewritten
	names ast.Names

	patterns map[*check.Var]string // by variable, the name of its pattern
	named    map[string]*check.Var // the variables of data and transformed data
	fixed    map[string]bool       // names of arrays that never change, once they are declared
	tables   map[string]string     // by expression, the name of the array with its value
	before   []ast.Stmt            // of transformed data, before the current statement
	next     bool                  // statements can be put into before
	helped   map[string]string     // by function of helpers.go that is called, its name in the program
	first    []ast.Stmt            // of transformed data
	last     []ast.Stmt            // of transformed data
}

// stmts rewrites a list of statements; global is set for the top level of a block.
func (r *rewriter) stmts(ss []ast.Stmt, global bool) []ast.Stmt {
	var out []ast.Stmt
	for _, s := range ss {
		var made []ast.Stmt
		d, ok := s.(*ast.VarDecl)
		r.next = r.next || global && r.block == ast.TransformedData
		if v := r.info.Defs[s]; ok && v != nil && v.Type.Kind == types.SparseMatrix {
			made = r.declare(d, v, global)
		} else {
			made = []ast.Stmt{r.rewrite(s).(ast.Stmt)}
		}
		if ok && global && r.block == ast.Data {
			r.fixed[d.Name.Name] = true
		}
		if global {
			out, r.before, r.next = append(out, r.before...), nil, false
		}
		out = append(out, made...)
	}
	return out
}

// declare rewrites the declaration of a sparse matrix.
func (r *rewriter) declare(d *ast.VarDecl, v *check.Var, global bool) []ast.Stmt {
	rows, columns := r.expr(d.Type.Sizes[0]), r.expr(d.Type.Sizes[1])
	values := *d
	values.Init = nil
	if r.block == ast.Data && global {
		pattern := r.names.New(v.Name + "_pattern")
		r.patterns[v], r.fixed[pattern] = pattern, true
		return r.data(&values, pattern, rows, columns)
	}
	w, p := r.parts(d.Init)
	from := r.called(d.Base, "sparse_of", p, rows, columns)
	var out []ast.Stmt
	if x, ok := r.table(from, v.Name+"_pattern").(*ast.VarExpr); ok {
		r.patterns[v] = x.Name
	} else {
		r.patterns[v] = r.names.New(v.Name + "_pattern")
		table := ints(d.Base, r.patterns[v], call("size", ast.Fresh(from)), from)
		if global && r.block != ast.TransformedData && r.block != ast.Model { // the checker demands data
			r.last = append(r.last, table)
		} else {
			out = append(out, table)
			global = global && r.block == ast.TransformedData
		}
	}
	if global {
		r.fixed[r.patterns[v]] = true
	}
	pattern := variable(r.patterns[v])
	values.Type = vector(d.Type.Base, minus(minus(call("size", pattern), 3), element(ast.Fresh(pattern), 1)))
	values.Init = w
	if global && r.block > ast.TransformedData && r.block != ast.Model {
		values.Sparse = []ast.Expr{ast.Fresh(rows), ast.Fresh(columns), ast.Fresh(pattern)}
	}
	return append(out, &values)
}

// table returns the value of an array of integers, which is computed once if it never changes.
func (r *rewriter) table(e ast.Expr, name string) ast.Expr {
	if x, ok := e.(*ast.VarExpr); ok {
		return ast.Fresh[ast.Expr](x)
	}
	if r.block < ast.TransformedData || r.block == ast.TransformedData && !r.next {
		return e
	}
	lasts := true
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(*ast.VarExpr); ok {
			lasts = lasts && (r.fixed[x.Name] || r.block > ast.TransformedData && r.known(x))
		}
		return lasts
	}, nil)
	if !lasts {
		return e
	}
	key := printer.String(e)
	if r.tables[key] == "" {
		made := r.names.New(name)
		r.tables[key], r.fixed[made] = made, true
		d := ints(ast.Base{Pos: e.Span()}, made, call("size", ast.Fresh(e)), e)
		if r.block == ast.TransformedData {
			r.before = append(r.before, d)
		} else {
			r.last = append(r.last, d)
		}
	}
	return variable(r.tables[key])
}

// known reports whether a variable is one of data or transformed data.
func (r *rewriter) known(x *ast.VarExpr) bool {
	v := r.info.Uses[x]
	if v == nil { // a copy
		v = r.named[x.Name]
	}
	return v != nil && v.Global && v.Block <= ast.TransformedData && v.Block != ast.Functions
}

// data declares the variables of which a sparse matrix in the data consists.
func (r *rewriter) data(d *ast.VarDecl, pattern string, rows, columns ast.Expr) []ast.Stmt {
	count, row, column := r.names.New(d.Name.Name+"_nonzeros"), r.names.New(d.Name.Name+"_row"), r.names.New(d.Name.Name+"_column")
	place := func(name string, upper ast.Expr) *ast.VarDecl {
		out := ints(d.Base, name, variable(count), nil)
		out.Type.Bounds = []ast.Bound{{Kind: "lower", Value: literal(1)}, {Kind: "upper", Value: ast.Fresh(upper)}}
		return out
	}
	number := &ast.VarDecl{Base: d.Base, Type: &ast.TypeExpr{Base: d.Type.Base, Elem: "int", Bounds: []ast.Bound{{Kind: "lower", Value: literal(0)}}}, Name: ast.Ident{Base: d.Name.Base, Name: count}}
	d.Type = vector(d.Type.Base, variable(count))
	d.Sparse = []ast.Expr{rows, columns, variable(count), variable(row), variable(column)}
	from := r.called(d.Base, "sparse_sorted", ast.Fresh(rows), ast.Fresh(columns), variable(row), variable(column))
	r.first = append(r.first, ints(d.Base, pattern, call("size", ast.Fresh(from)), from))
	// The values come first: messages about missing data are about them.
	return []ast.Stmt{number, place(row, rows), place(column, columns), d}
}

// rewrite rewrites a node that is no sparse matrix.
func (r *rewriter) rewrite(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.BlockStmt:
		c := *n
		c.Stmts = r.stmts(n.Stmts, false)
		return &c
	case *ast.Assign:
		if r.is(n.LHS) {
			return r.assign(n)
		}
	case *ast.FunctionDecl:
		return r.function(n)
	case *ast.Print:
		c := *n
		c.Args = r.shown(n.Args)
		return &c
	case *ast.Reject:
		c := *n
		c.Args = r.shown(n.Args)
		return &c
	case *ast.Tilde:
		return r.tilde(n)
	case *ast.CallExpr:
		return r.call(n)
	case *ast.Binary:
		if r.is(n.X) || r.is(n.Y) {
			return r.product(n)
		}
	case *ast.IndexExpr:
		if r.is(n.X) {
			w, p := r.parts(n.X)
			i, j := n.Indices[0].(*ast.Single), n.Indices[1].(*ast.Single)
			return r.called(written(n), "sparse_element", w, p, r.expr(i.X), r.expr(j.X))
		}
	}
	return ast.Map(n, r.rewrite)
}

// is reports whether an expression is a sparse matrix.
func (r *rewriter) is(e ast.Expr) bool { return r.info.Types[e].Type.Kind == types.SparseMatrix }

// expr rewrites an expression. A sparse matrix becomes an ordinary one.
func (r *rewriter) expr(e ast.Expr) ast.Expr {
	if e == nil {
		return nil
	}
	if r.is(e) {
		w, p := r.parts(e)
		return r.called(written(e), "sparse_to_matrix", w, p)
	}
	return r.rewrite(e).(ast.Expr)
}

// shown rewrites the arguments of a message.
func (r *rewriter) shown(es []ast.Expr) []ast.Expr {
	var out []ast.Expr
	for _, e := range es {
		out = append(out, r.expr(e))
	}
	return out
}

// assign rewrites an assignment. The new values must be where the variable has values.
func (r *rewriter) assign(s *ast.Assign) ast.Node {
	c := *s
	c.Op = "="
	c.LHS = r.values(s.LHS)
	to := r.pattern(s.LHS)
	var w, p ast.Expr
	if s.Op == "=" {
		w, p = r.parts(s.RHS)
	} else {
		w, p = r.operation(&ast.Binary{Base: s.Base, Op: s.Op[:len(s.Op)-1], X: s.LHS, Y: s.RHS})
	}
	c.RHS = w
	if !same(p, to) {
		c.RHS = r.placed(s, w, r.table(r.called(written(s), "sparse_places_in", p, to), "sparse_places"))
	}
	return &c
}

// function rewrites a function. A parameter that is a sparse matrix becomes two.
func (r *rewriter) function(d *ast.FunctionDecl) ast.Node {
	c := *d
	c.Params = nil
	for _, p := range d.Params {
		if p.Type.Elem != types.SparseMatrix.String() {
			c.Params = append(c.Params, p)
			continue
		}
		values := *p
		values.Type = &ast.TypeExpr{Base: p.Type.Base, Unsized: true, Elem: "vector"}
		pattern := r.names.New(p.Name.Name + "_pattern")
		if v := r.info.Defs[p]; v != nil {
			r.patterns[v] = pattern
		}
		table := &ast.Param{Base: p.Base, DataOnly: p.DataOnly, Name: ast.Ident{Base: p.Name.Base, Name: pattern}, Type: &ast.TypeExpr{Base: p.Type.Base, Unsized: true, Elem: "int", ArrayDims: make([]ast.Expr, 1)}}
		c.Params = append(c.Params, &values, table)
	}
	if d.Body != nil {
		c.Body = r.rewrite(d.Body).(*ast.BlockStmt)
	}
	return &c
}

// arguments rewrites the arguments of a function.
func (r *rewriter) arguments(es []ast.Expr) []ast.Expr {
	var out []ast.Expr
	for _, e := range es {
		if r.is(e) {
			w, p := r.parts(e)
			out = append(out, w, p)
		} else {
			out = append(out, r.expr(e))
		}
	}
	return out
}

// tilde rewrites y ~ dist(…).
func (r *rewriter) tilde(s *ast.Tilde) ast.Node {
	f := r.info.Calls[s]
	if f == nil || !slices.ContainsFunc(append(s.Args[:len(s.Args):len(s.Args)], s.Variate), r.is) {
		return ast.Map(s, r.rewrite)
	}
	c := *s
	c.Base = written(s)
	if f.Func != nil {
		args := r.arguments(append([]ast.Expr{s.Variate}, s.Args...))
		c.Variate, c.Args = args[0], args[1:]
		return &c
	}
	helper, y, mu := r.normal(f, s.Variate, s.Args[0])
	c.Dist.Name, _ = check.SplitSuffix(helper)
	w, p := r.parts(s.Args[1])
	c.Variate, c.Args = y, append([]ast.Expr{mu, w, p}, r.mirrored(p)...)
	return &c
}

// ints returns the declaration of an array of integers.
func ints(at ast.Base, name string, size, value ast.Expr) *ast.VarDecl {
	return &ast.VarDecl{Base: at, Type: &ast.TypeExpr{Base: at, Elem: "int", ArrayDims: []ast.Expr{size}}, Name: ast.Ident{Base: at, Name: name}, Init: value}
}

func vector(at ast.Base, size ast.Expr) *ast.TypeExpr {
	return &ast.TypeExpr{Base: at, Elem: "vector", Sizes: []ast.Expr{size}}
}

// written returns the base of a node that replaces one of the program.
func written(n ast.Node) ast.Base { return ast.Base{Pos: n.Span(), Written: n} }

func variable(name string) ast.Expr { return &ast.VarExpr{Name: name} }

func call(name string, args ...ast.Expr) *ast.CallExpr {
	return &ast.CallExpr{Func: ast.Ident{Name: name}, Args: args}
}

func literal(n int) ast.Expr { return &ast.IntLit{Text: fmt.Sprint(n), Value: int64(n)} }

func minus(x ast.Expr, y any) ast.Expr {
	e, ok := y.(ast.Expr)
	if !ok {
		e = literal(y.(int))
	}
	return &ast.Binary{Op: "-", X: x, Y: e}
}

func element(x ast.Expr, i int) ast.Expr {
	return &ast.IndexExpr{X: x, Indices: []ast.Index{&ast.Single{X: literal(i)}}}
}

// column returns a vector with the elements of a vector or row vector.
func (r *rewriter) column(e ast.Expr) ast.Expr {
	if r.info.Types[e].Type.Kind == types.Vector {
		return r.expr(e)
	}
	return call("to_vector", r.expr(e))
}

// Dense returns a rewritten tree in which ordinary functions of ordinary matrices replace those
// that Stan does not have.
func Dense(f *ast.File) *ast.File {
	return ast.Rewrite(f, nil, func(n ast.Node) ast.Node {
		c, ok := n.(*ast.CallExpr)
		if !ok || c.Func.Name != solve && c.Func.Name != logDeterminant {
			return n
		}
		a := c.Args
		dense := call("csr_to_dense_matrix", a[0], ast.Fresh(a[0]), a[1], a[2], a[3])
		return call(strings.TrimPrefix(c.Func.Name, "csr_"), append([]ast.Expr{dense}, a[4:]...)...)
	}).(*ast.File)
}

// The functions that Stan does not have.
const (
	solve          = "csr_mdivide_left_spd"
	logDeterminant = "csr_log_determinant_spd"
)
