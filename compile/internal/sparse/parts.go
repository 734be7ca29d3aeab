package sparse

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// values returns the vector of the values of a sparse matrix.
func (r *rewriter) values(e ast.Expr) ast.Expr { w, _ := r.parts(e); return w }

// pattern returns the array of integers that says where the values are.
func (r *rewriter) pattern(e ast.Expr) ast.Expr { _, p := r.parts(e); return p }

// parts returns the values and the pattern of a sparse matrix.
func (r *rewriter) parts(e ast.Expr) (values, pattern ast.Expr) {
	switch e := e.(type) {
	case *ast.Paren:
		return r.parts(e.X)
	case *ast.VarExpr:
		v := r.info.Uses[e]
		return &ast.VarExpr{Base: e.Base, Name: e.Name}, &ast.VarExpr{Base: e.Base, Name: r.patterns[v]}
	case *ast.Unary:
		w, p := r.parts(e.X)
		switch e.Op {
		case "'":
			return r.transposed(e, w, p)
		case "+":
			return w, p
		}
		return &ast.Unary{Base: written(e), Op: e.Op, X: paren(w)}, p
	case *ast.Binary:
		return r.operation(e)
	case *ast.Cond:
		w, p := r.parts(e.Then)
		x, q := r.parts(e.Else)
		if !same(p, q) {
			p = r.table(r.called(e.Base, "sparse_same", p, q), "sparse_pattern")
		}
		return &ast.Cond{Base: written(e), Cond: r.expr(e.Cond), Then: w, Else: x}, p
	case *ast.CallExpr:
		return r.made(e)
	}
	return nil, nil // the checker has refused other expressions
}

// at returns x[i].
func at(e ast.Node, x, i ast.Expr) ast.Expr {
	return &ast.IndexExpr{Base: written(e), X: paren(x), Indices: []ast.Index{&ast.Single{Base: ast.Base{Pos: e.Span()}, X: i}}}
}

// paren returns an expression as an operand.
func paren(e ast.Expr) ast.Expr {
	switch e.(type) {
	case *ast.Binary, *ast.Unary, *ast.Cond:
		return &ast.Paren{Base: ast.Base{Pos: e.Span()}, X: e}
	}
	return e
}

// operation returns the parts of X op Y.
func (r *rewriter) operation(e *ast.Binary) (values, pattern ast.Expr) {
	if !r.is(e.X) || !r.is(e.Y) { // one is a number
		out := &ast.Binary{Base: written(e), Op: e.Op, OpPos: e.OpPos}
		if r.is(e.X) {
			out.X, pattern = r.parts(e.X)
			out.Y = r.expr(e.Y)
		} else {
			out.X = r.expr(e.X)
			out.Y, pattern = r.parts(e.Y)
		}
		out.X, out.Y = paren(out.X), paren(out.Y)
		return out, pattern
	}
	w, p := r.parts(e.X)
	x, q := r.parts(e.Y)
	if e.Op != "*" {
		return r.sum(e, e.Op, w, p, x, q)
	}
	pairs := r.table(r.called(written(e), "sparse_pairs", p, q), "sparse_pairs")
	first := r.table(r.called(written(e), "sparse_first", pairs), "sparse_first")
	places := r.table(r.called(written(e), "sparse_product_pattern", ast.Fresh(p), ast.Fresh(q), ast.Fresh(pairs), ast.Fresh(first)), "sparse_pattern")
	return r.called(written(e), "sparse_product", w, x, ast.Fresh(pairs), ast.Fresh(first)), places
}

// sum returns the parts of a sum or difference.
func (r *rewriter) sum(e ast.Node, op string, w, p, x, q ast.Expr) (values, pattern ast.Expr) {
	if same(p, q) {
		return &ast.Binary{Base: written(e), Op: op, X: paren(w), Y: paren(x)}, p
	}
	both := r.table(r.called(written(e), "sparse_union", p, q), "sparse_pattern")
	place := func(w, p ast.Expr) ast.Expr {
		return r.placed(e, w, r.table(r.called(written(e), "sparse_places", ast.Fresh(p), ast.Fresh(both)), "sparse_places"))
	}
	return &ast.Binary{Base: written(e), Op: op, X: place(w, p), Y: place(x, q)}, both
}

// same reports whether two patterns are the same variable.
func same(p, q ast.Expr) bool {
	x, ok := p.(*ast.VarExpr)
	y, also := q.(*ast.VarExpr)
	return ok && also && x.Name == y.Name
}

// placed returns the values w in the order of places; those after the last one are 0.
func (r *rewriter) placed(e ast.Node, w, places ast.Expr) ast.Expr {
	return r.called(written(e), "sparse_placed", w, places)
}

// transposed returns the parts of the transpose of a matrix.
func (r *rewriter) transposed(e ast.Node, w, p ast.Expr) (values, pattern ast.Expr) {
	order := r.table(r.called(written(e), "sparse_transposition", p), "sparse_transposition")
	return at(e, w, order), r.table(r.called(written(e), "sparse_transpose", ast.Fresh(p)), "sparse_pattern")
}

// mirrored returns arrays with which functions check that a matrix is symmetric.
func (r *rewriter) mirrored(p ast.Expr) []ast.Expr {
	return []ast.Expr{r.table(r.called(ast.Base{}, "sparse_own", ast.Fresh(p)), "sparse_own"), r.table(r.called(ast.Base{}, "sparse_mirror", ast.Fresh(p)), "sparse_mirror")}
}

// made returns the parts of a sparse matrix that a library function returns.
func (r *rewriter) made(e *ast.CallExpr) (values, pattern ast.Expr) {
	base := written(e)
	switch e.Func.Name {
	case "to_sparse_matrix":
		args := r.arguments(e.Args)
		switch {
		case len(args) == 1:
			return call("csr_extract_w", args[0]), r.table(r.called(base, "sparse_of_matrix", ast.Fresh(args[0])), "sparse_pattern")
		case r.info.Types[e.Args[2]].Type.Kind == types.Vector:
			w := r.called(base, "sparse_counted", args[2], args[3])
			return w, r.table(r.called(base, "sparse_of_rows", fresh(args[:2], args[3:])...), "sparse_pattern")
		}
		w := r.called(base, "sparse_counted", args[4], args[2])
		order := r.table(r.called(base, "sparse_order", args[:4]...), "sparse_order")
		return at(e, w, order), r.table(r.called(base, "sparse_pattern", fresh(args[:4])...), "sparse_pattern")
	case "add_diag":
		w, p := r.parts(e.Args[0])
		d := r.expr(e.Args[1])
		if t := r.info.Types[e.Args[1]].Type; t.IsScalar() {
			d = call("rep_vector", d, element(ast.Fresh(p), 1))
		}
		q := r.table(r.called(base, "sparse_diagonal_pattern", ast.Fresh(p)), "sparse_pattern")
		return r.sum(e, "+", w, p, r.called(base, "sparse_sized", d, element(ast.Fresh(p), 1)), q)
	case "diag_pre_multiply":
		w, p := r.parts(e.Args[1])
		return r.scaled(e, w, p, e.Args[0], "sparse_rows", 1), p
	}
	w, p := r.parts(e.Args[0])
	if e.Func.Name == "quad_form_diag" {
		w = r.scaled(e, w, p, e.Args[1], "sparse_rows", 1)
	}
	return r.scaled(e, w, p, e.Args[1], "sparse_columns", 2), p
}

// scaled returns the values of the product with a diagonal matrix. of is the function for the rows
// or columns of the values.
func (r *rewriter) scaled(e ast.Node, w, p, v ast.Expr, of string, dim int) ast.Expr {
	places := r.table(r.called(written(e), of, ast.Fresh(p)), of)
	d := r.called(written(e), "sparse_sized", r.expr(v), element(ast.Fresh(p), dim))
	return &ast.Binary{Base: written(e), Op: ".*", X: at(e, d, places), Y: paren(w)}
}

func fresh(lists ...[]ast.Expr) []ast.Expr {
	var out []ast.Expr
	for _, e := range slices.Concat(lists...) {
		out = append(out, ast.Fresh(e))
	}
	return out
}

// functions maps library functions of sparse matrices, whose result is none, to functions of
// helpers.go; those of a vector, a row vector or a matrix have the kind of this argument appended.
var functions = map[string]string{
	"to_matrix": "sparse_to_matrix", "sum": "sparse_total",
	"quad_form": "sparse_quad_form_", "quad_form_sym": "sparse_quad_form_sym_", "trace_quad_form": "sparse_trace_quad_form_",
	"mdivide_left_spd": "sparse_solve_", "mdivide_right_spd": "sparse_solve_right_", "log_determinant_spd": "sparse_log_determinant",
	"multi_normal_prec_lpdf": "sparse_multi_normal_prec_lpdf",
	"num_elements":           "sparse_size", "size": "sparse_size", "dims": "sparse_dims",
	"csr_extract_v": "sparse_columns_of", "csr_extract_u": "sparse_starts_of",
}

// own are the library functions that call rewrites itself. Those in neither table have the sparse
// matrix as an argument for a function that they call, such as an ode_rk45's.
var own = map[string]bool{"rows": true, "cols": true, "csr_extract_w": true, "diagonal": true, "trace": true}

// call rewrites a call whose result is no sparse matrix.
func (r *rewriter) call(e *ast.CallExpr) ast.Node {
	f := r.info.Calls[e]
	var other types.Type // of the last argument that is no sparse matrix
	sparse := ast.Expr(nil)
	for _, a := range e.Args {
		if r.is(a) {
			sparse = a
		} else {
			other = r.info.Types[a].Type
		}
	}
	if sparse == nil || f == nil {
		return ast.Map(e, r.rewrite)
	}
	if functional := functions[f.Name] == "" && !own[f.Name]; f.Func != nil || functional {
		c := *e
		c.Base, c.Args = written(e), r.arguments(e.Args)
		return &c
	}
	switch e.Func.Name {
	case "rows", "cols":
		return r.extent(e, sparse)
	case "csr_extract_w":
		return paren(r.values(sparse))
	case "diagonal", "trace":
		w, p := r.parts(sparse)
		d := r.placed(e, w, r.table(r.called(written(e), "sparse_diagonal_places", p), "sparse_diagonal"))
		if f.Name == "trace" {
			return call("sum", d)
		}
		return d
	}
	name := functions[f.Name]
	if name[len(name)-1] == '_' {
		name += kindOf(other)
	}
	w, p := r.parts(sparse)
	args := []ast.Expr{w, p}
	if checked[f.Name] {
		args = append(args, r.mirrored(p)...)
	}
	if _, suffix := check.SplitSuffix(name); suffix != "" {
		helper, y, mu := r.normal(f, e.Args[0], e.Args[1])
		c := *e
		c.Base, c.Args, c.Func.Name = written(e), append([]ast.Expr{y, mu}, args...), helper
		if check.Unnormalised(e.Func.Name) {
			c.Func.Name = strings.TrimSuffix(helper, suffix) + "_lupdf"
		}
		return &c
	}
	for _, a := range e.Args {
		if !r.is(a) {
			args = append(args, r.expr(a))
		}
	}
	return r.called(written(e), name, args...)
}

// normal returns the function for the density of a normal distribution, or of several, and its
// variates and locations.
func (r *rewriter) normal(f *check.Call, y, mu ast.Expr) (helper string, variates, locations ast.Expr) {
	array := func(e ast.Expr) bool { return r.info.Types[e].Type.Dims > 0 }
	r.helper("sparse_multi_normal_prec_rng") // for replicated data
	helper = r.helper("sparse_" + f.Name)
	if !array(y) && !array(mu) {
		return helper, r.column(y), r.column(mu)
	}
	vectors := func(e ast.Expr) ast.Expr {
		if r.info.Types[e].Type.Kind == types.RowVector {
			return r.called(written(e), "sparse_vectors", r.expr(e))
		}
		return r.expr(e)
	}
	repeated := func(e, other ast.Expr) ast.Expr {
		return call("rep_array", r.column(e), call("size", ast.Fresh(r.expr(other))))
	}
	switch {
	case !array(y):
		variates, locations = repeated(y, mu), vectors(mu)
	case !array(mu):
		variates, locations = vectors(y), repeated(mu, y)
	default:
		variates, locations = vectors(y), vectors(mu)
	}
	return helper, variates, locations
}

// checked are the functions that check that a matrix is symmetric.
var checked = map[string]bool{
	"quad_form_sym": true, "mdivide_left_spd": true, "mdivide_right_spd": true, "log_determinant_spd": true, "multi_normal_prec_lpdf": true,
}

func kindOf(t types.Type) string {
	switch t.Kind {
	case types.Vector:
		return "vector"
	case types.RowVector:
		return "row"
	}
	return "matrix"
}

// extent rewrites rows(S) and cols(S). Those of data are what was declared, so that other data can
// have these sizes.
func (r *rewriter) extent(e *ast.CallExpr, s ast.Expr) ast.Node {
	i := 0
	if e.Func.Name == "cols" {
		i = 1
	}
	if x, ok := ast.Unparen(s).(*ast.VarExpr); ok {
		v := r.info.Uses[x]
		if d, ok := v.Decl.(*ast.VarDecl); ok && v.Global && v.Block == ast.Data {
			return paren(ast.Fresh(r.expr(d.Type.Sizes[i])))
		}
	}
	return element(paren(r.pattern(s)), i+1)
}

// product rewrites a product of a sparse matrix with a vector or matrix.
func (r *rewriter) product(e *ast.Binary) ast.Node {
	if r.is(e.X) {
		w, p := r.parts(e.X)
		return r.called(written(e), "sparse_times_"+kindOf(r.info.Types[e.Y].Type), w, p, r.expr(e.Y))
	}
	w, p := r.parts(e.Y)
	w, p = r.transposed(e, w, p)
	flip := func(x ast.Expr) ast.Expr { return &ast.Unary{Base: written(e), Op: "'", X: paren(x)} }
	kind := "matrix"
	if r.info.Types[e.X].Type.Kind == types.RowVector {
		kind = "vector"
	}
	return flip(r.called(written(e), "sparse_times_"+kind, w, p, flip(r.expr(e.X))))
}
