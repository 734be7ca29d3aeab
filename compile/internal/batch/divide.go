package batch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// division divides a loop before the statement that has the call.
type division struct {
	*rewriter
	loop   *ast.For
	v      *check.Var // of the loop
	before []ast.Stmt
	after  []ast.Stmt // from the statement with the call
	call   *ast.CallExpr
	batch  *types.Batch

	whole, first, second *accesses // of the loop's body, before and after

	declared map[*check.Var]*ast.VarDecl // at the top level of before
	copied   map[*check.Var]bool         // their declarations are evaluated again where they are needed
	kept     []*ast.VarDecl              // variables of which each iteration keeps the value
}

// impossible returns why the loop may not be divided; "" if it may.
func (d *division) impossible() string {
	d.v = d.info.Defs[d.loop]
	args := []ast.Node{}
	for _, s := range d.before {
		args = append(args, s)
	}
	for _, e := range d.call.Args {
		args = append(args, e)
	}
	d.whole = accessesOf(d.info, d.v, d.loop.Body)
	d.first, d.second = accessesOf(d.info, d.v, args...), accessesOf(d.info, d.v, d.after...)
	switch {
	case d.whole.jumps:
		return "the loop has break, continue or return"
	case d.whole.acts, d.whole.calls && d.acts:
		return "the loop prints, ends the run or reads target(); do that in a loop of its own"
	case d.first.draws && d.second.draws, accessesOf(d.info, d.v, append([]ast.Expr{d.loop.From, d.loop.To}, d.call.Args...)...).draws:
		return "random numbers are drawn before and after the call, or in it; draw them in two loops"
	}
	for v := range d.second.writes {
		if d.whole.shared[v] && !d.whole.locals[v] && (d.first.reads[v] || d.first.writes[v]) {
			return "an iteration needs what those before it store in `" + v.Name + "`"
		}
	}
	if !d.values() {
		return "a variable of the loop has a size that is not known before it"
	}
	for i, e := range d.call.Args {
		if !d.argument(i, e) {
			return fmt.Sprintf("the size of argument %d is not known before the loop", i+1)
		}
	}
	return ""
}

// values determines what happens to the variables that the first part of an iteration assigns and
// the second uses. It returns false if one cannot be kept.
func (d *division) values() bool {
	d.declared, d.copied = map[*check.Var]*ast.VarDecl{}, map[*check.Var]bool{}
	for _, s := range d.before {
		l, ok := s.(*ast.VarDecl)
		if !ok {
			continue
		}
		v := d.info.Defs[l]
		d.declared[v] = l
		d.copied[v] = d.again(l)
		if !d.copied[v] && (d.second.reads[v] || d.second.writes[v]) {
			d.kept = append(d.kept, l)
		}
	}
	for v := range d.first.writes {
		if d.whole.locals[v] || !d.whole.shared[v] || !d.second.reads[v] && !d.second.writes[v] {
			continue
		}
		l, ok := v.Decl.(*ast.VarDecl)
		if !ok {
			return false
		}
		d.kept = append(d.kept, l)
	}
	sorting.Stable(d.kept, func(a, b *ast.VarDecl) int { return a.Name.Pos.Start - b.Name.Pos.Start })
	return !slices.ContainsFunc(d.kept, func(l *ast.VarDecl) bool { return !d.keepable(l) })
}

// again reports whether a declaration has the same value if it is evaluated again: later in the
// iteration, or before the loop for the same iteration. One without a value has if only the second
// part uses it.
func (d *division) again(l *ast.VarDecl) bool {
	v := d.info.Defs[l]
	if l.Init == nil && (d.first.reads[v] || d.first.writes[v]) || l.Init != nil && d.whole.writes[v] {
		return false
	}
	a := accessesOf(d.info, d.v, ast.Node(l))
	if a.draws || a.calls {
		return false
	}
	for v := range a.reads {
		if v != d.v && !d.copied[v] && (d.whole.writes[v] || d.whole.locals[v]) {
			return false
		}
	}
	return true
}

// keepable reports whether an array can have a variable's values for all iterations.
func (d *division) keepable(l *ast.VarDecl) bool {
	if plain(l.Type) == nil {
		return false
	}
	for _, e := range slices.Concat(l.Type.ArrayDims, l.Type.Sizes) {
		if e == nil || !d.constant(e) {
			return false
		}
	}
	return true
}

// constant reports whether an expression has the same value before, in and after the loop, and at
// the declarations of its variables.
func (d *division) constant(e ast.Expr) bool {
	for v := range accessesOf(d.info, d.v, e).reads {
		data := v.Global && v.Block <= ast.TransformedData
		if !data && d.assigned[v] || v == d.v || d.whole.locals[v] {
			return false
		}
	}
	return true
}

// invariant reports whether an expression has the same value in all iterations.
func (d *division) invariant(e ast.Expr) bool {
	for v := range accessesOf(d.info, d.v, e).reads {
		if v == d.v || d.whole.writes[v] || d.whole.locals[v] {
			return false
		}
	}
	return true
}

// early reports whether an expression has its value of an iteration also before the loop.
func (d *division) early(e ast.Expr) bool {
	a := accessesOf(d.info, d.v, e)
	for v := range a.reads {
		if v != d.v && !d.copied[v] && (d.whole.writes[v] || d.whole.locals[v]) {
			return false
		}
	}
	return !a.draws
}

// sizeable reports whether an expression has its size of an iteration also before the loop, though
// it may have another value. Its variables may then be NaN, which must not be an error. Elements of
// literals do not count: see shape.
func (d *division) sizeable(e ast.Expr) bool {
	if d.early(e) {
		return true
	}
	ok := true
	literal := func(elems []ast.Expr) bool {
		for _, x := range elems {
			ok = ok && (d.info.Types[x].Type.IsScalar() || d.sizeable(x))
		}
		return false
	}
	ast.Inspect(e, func(n ast.Node) bool {
		if x, is := n.(ast.Expr); is && d.early(x) {
			return false
		}
		switch n := n.(type) {
		case *ast.ArrayExpr:
			return literal(n.Elems)
		case *ast.RowVectorExpr:
			return literal(n.Elems)
		case *ast.Binary:
			ok = ok && (n.Op != "/" && n.Op != "\\" && n.Op != "^" || d.info.Types[n.Y].Type.IsScalar())
		case *ast.Single:
			ok = ok && d.counted(n.X)
			return false
		case *ast.Range:
			ok = ok && (n.From == nil || d.counted(n.From)) && (n.To == nil || d.counted(n.To))
			return false
		case *ast.Cond:
			ok = ok && d.early(n.Cond)
		case *ast.CallExpr:
			c := d.info.Calls[n]
			ok = ok && c != nil && c.Func == nil && accepting[c.Name]
		case *ast.VarExpr:
			v := d.info.Uses[n]
			switch l := d.declared[v]; {
			case v == nil:
				ok = false
			case v.Type.Scalar() == types.Int && v.Type.Dims == 0:
				ok = ok && d.early(n)
			case l != nil && !d.copied[v]:
				ok = ok && plain(l.Type) != nil && d.known(l)
			case l == nil && d.whole.locals[v]:
				ok = false
			}
		}
		return ok
	}, nil)
	return ok
}

// counted reports whether an integer has its value of an iteration also before the loop, as early
// does, where sizes count as known.
func (d *division) counted(e ast.Expr) bool {
	if d.early(e) {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Binary:
		return strings.Contains(" + - * ", " "+e.Op+" ") && d.counted(e.X) && d.counted(e.Y)
	case *ast.CallExpr:
		c := d.info.Calls[e]
		return c != nil && c.Func == nil && strings.Contains(" size num_elements rows cols ", " "+c.Name+" ") && d.sizeable(e.Args[0])
	}
	return false
}

// accepting are functions that accept NaN, and whose results have a size that values of reals do
// not decide.
var accepting = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(`abs append_array append_col append_row block col cols cumulative_sum
		diag_matrix diag_post_multiply diag_pre_multiply diagonal dot_product exp expm1 head inv inv_cloglog
		inv_logit inv_sqrt log log10 log1m log1p log2 logit num_elements pow prod rep_array rep_matrix
		rep_row_vector rep_vector reverse row rows segment size sqrt square sub_col sub_row sum tail tanh
		to_array_1d to_array_2d to_matrix to_row_vector to_vector zeros_vector`) {
		m[name] = true
	}
	return m
}()

// shape returns an expression of the same size whose literals have zeros as elements.
func (d *division) shape(e ast.Expr) ast.Expr {
	zeros := func(elems []ast.Expr) []ast.Expr {
		out := slices.Clone(elems)
		for i, x := range out {
			if d.info.Types[x].Type.IsScalar() {
				out[i] = &ast.RealLit{Text: "0.0"}
			}
		}
		return out
	}
	return ast.Rewrite(e, nil, func(n ast.Node) ast.Node {
		switch n := n.(type) {
		case *ast.ArrayExpr:
			c := *n
			c.Elems = zeros(n.Elems)
			return &c
		case *ast.RowVectorExpr:
			c := *n
			c.Elems = zeros(n.Elems)
			return &c
		}
		return n
	}).(ast.Expr)
}

// span returns the range if an expression is a slice of something that all iterations share, and
// the range is known before the loop.
func (d *division) span(e ast.Expr) (x *ast.IndexExpr, of *ast.Range) {
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok || len(x.Indices) != 1 || !d.invariant(x.X) {
		return nil, nil
	}
	of, ok = x.Indices[0].(*ast.Range)
	if !ok || of.From == nil || of.To == nil || of.Row || !d.early(of.From) || !d.early(of.To) {
		return nil, nil
	}
	return x, of
}

// element returns x if an expression is x[s], where s is the loop's variable and all iterations
// share x.
func (d *division) element(e ast.Expr) ast.Expr {
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok || len(x.Indices) != 1 || !d.whole.own(x) || !d.invariant(x.X) {
		return nil
	}
	return x.X
}

// argument reports whether the arguments of all iterations can be one of the batch.
func (d *division) argument(i int, e ast.Expr) bool {
	if d.batch.Roles[i] == types.BatchSame {
		return d.invariant(e)
	}
	t := d.info.Types[e].Type
	if d.batch.Roles[i] == types.BatchRecords {
		x, _ := d.span(e)
		return x != nil || i != d.batch.Len || d.sizeable(e)
	}
	if d.invariant(e) || d.element(e) != nil && t.Dims == 1 && t.Scalar() == t.Kind {
		return true
	}
	if _, of := d.span(e); of != nil && d.sameSpan(of) {
		return true
	}
	m := d.info.Calls[d.call].Match
	if m.DataOnly != nil && m.DataOnly[i] && d.v.Block != ast.GeneratedQuantities {
		return false // a local variable of reals is not data
	}
	return d.sizeable(e)
}

// sameSpan reports whether a range is that of the records.
func (d *division) sameSpan(of *ast.Range) bool {
	_, records := d.span(d.call.Args[d.batch.Len])
	return records != nil && ast.Equal(of, records)
}

// plain returns a declared type without constraints and sizes; nil for tuples and others.
func plain(t *ast.TypeExpr) *ast.TypeExpr {
	out := *t
	out.Bounds = nil
	switch t.Elem {
	case "int", "real", "complex", "vector", "row_vector", "matrix", "complex_vector", "complex_row_vector", "complex_matrix":
	case "ordered", "positive_ordered", "simplex", "unit_vector", "sum_to_zero_vector":
		out.Elem = "vector"
	case "corr_matrix", "cov_matrix", "cholesky_factor_corr":
		out.Elem, out.Sizes = "matrix", []ast.Expr{t.Sizes[0], t.Sizes[0]}
	default:
		return nil
	}
	return &out
}
