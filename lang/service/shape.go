package service

import (
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// size is one size of a shape: an expression of the program, or only a text, with its value if that
// is known.
type size struct {
	text  string
	known bool
	n     int64
}

// shape is the list of the sizes of a value, those of arrays before those of vectors and matrices;
// empty for a scalar.
type shape []size

func (sh shape) text() string {
	var parts []string
	for _, d := range sh {
		parts = append(parts, d.text)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// typed returns a type with a shape in the form of a declaration: array[N] vector[K].
func (sh shape) typed(t types.Type) string {
	if len(sh) != t.Rank() {
		return t.String()
	}
	out := ""
	if t.Dims > 0 {
		out = "array" + sh[:t.Dims].text() + " "
	}
	out += t.Kind.String()
	if rest := sh[t.Dims:]; len(rest) > 0 {
		out += rest.text()
	}
	return out
}

// numbers returns the shape with the values of its sizes; ok is false if one is not known.
func (s *Snapshot) numbers(sh shape) (shape, bool) {
	out := make(shape, len(sh))
	for i, d := range sh {
		if !d.known {
			return nil, false
		}
		out[i] = size{text: strconv.FormatInt(d.n, 10), known: true, n: d.n}
	}
	return out, true
}

// best returns the shape with the values of its sizes if they are known, else unchanged.
func (s *Snapshot) best(sh shape) shape {
	if n, ok := s.numbers(sh); ok {
		return n
	}
	return sh
}

// size returns the size that an expression defines.
func (s *Snapshot) size(e ast.Expr) size {
	n, ok := s.Info.Number(e, s.known(s.ints()))
	return size{text: strings.Join(strings.Fields(e.Span().Text()), " "), known: ok && !n.Real, n: n.Int}
}

// varShape returns the shape of a variable in terms of the sizes in its declaration; ok is false
// for arguments of functions, which have none.
func (s *Snapshot) varShape(v *check.Var) (shape, bool) {
	switch d := v.Decl.(type) {
	case *ast.VarDecl:
		if v.Type.Kind == types.Tuple {
			return nil, false
		}
		var sh shape
		for _, e := range append(append([]ast.Expr{}, d.Type.ArrayDims...), d.Type.Sizes...) {
			if e == nil {
				return nil, false
			}
			sh = append(sh, s.size(e))
		}
		if n := len(sh); n > 0 && n == v.Type.Rank()-1 { // a square matrix with one size
			sh = append(sh, sh[n-1])
		}
		return sh, len(sh) == v.Type.Rank()
	case *ast.For:
		return nil, true
	case *ast.ForEach:
		if over, ok := s.shape(d.Over); ok && len(over) > 0 {
			if v.Type.IsScalar() {
				return nil, true
			}
			return over[1:], true
		}
	}
	return nil, v.Type.IsScalar()
}

// shape returns the shape of an expression; ok is false if it does not follow from declarations.
func (s *Snapshot) shape(e ast.Expr) (sh shape, ok bool) {
	t := s.Info.Types[e].Type
	if t.Kind == types.Invalid || t.Kind == types.Tuple || t.Kind == types.Function {
		return nil, false
	}
	if t.IsScalar() {
		return nil, true
	}
	switch e := e.(type) {
	case *ast.VarExpr:
		if v := s.Info.Uses[e]; v != nil {
			sh, ok = s.varShape(v)
		}
	case *ast.Paren:
		return s.shape(e.X)
	case *ast.Unary:
		sh, ok = s.shape(e.X)
		if n := len(sh); e.Op == "'" && n == 2 {
			sh = shape{sh[1], sh[0]}
		}
	case *ast.Cond:
		if sh, ok = s.shape(e.Then); !ok {
			sh, ok = s.shape(e.Else)
		}
	case *ast.Binary:
		sh, ok = s.binaryShape(e)
	case *ast.IndexExpr:
		sh, ok = s.indexShape(e)
	case *ast.ArrayExpr:
		sh, ok = s.listShape(e.Elems)
	case *ast.RowVectorExpr:
		sh, ok = s.listShape(e.Elems)
	case *ast.CallExpr:
		sh, ok = s.callShape(e)
	}
	if len(sh) != t.Rank() {
		return nil, false
	}
	return sh, ok
}

func (s *Snapshot) listShape(elems []ast.Expr) (shape, bool) {
	if len(elems) == 0 {
		return nil, false
	}
	first, ok := s.shape(elems[0])
	return append(shape{size{text: strconv.Itoa(len(elems)), known: true, n: int64(len(elems))}}, first...), ok
}

func (s *Snapshot) binaryShape(e *ast.Binary) (shape, bool) {
	x, okX := s.shape(e.X)
	y, okY := s.shape(e.Y)
	tx, ty := s.Info.Types[e.X].Type, s.Info.Types[e.Y].Type
	matrices := tx.Rank() > 0 && ty.Rank() > 0
	switch {
	case e.Op == "*" && matrices && okX && okY:
		// Sizes [.., k] and [k, ..] give [.., ..]; vectors are columns, row vectors are rows.
		var sh shape
		if len(x) == 2 || tx.Kind == types.Vector {
			sh = append(sh, x[0])
		}
		if len(y) == 2 || ty.Kind == types.RowVector {
			sh = append(sh, y[len(y)-1])
		}
		return sh, true
	case e.Op == "*" && matrices:
		return nil, false
	case e.Op == `\`, e.Op == "/" && matrices:
		if e.Op == "/" {
			return x, okX
		}
		return y, okY
	case len(x) > 0 && okX:
		return x, true
	}
	return y, okY
}

func (s *Snapshot) indexShape(e *ast.IndexExpr) (shape, bool) {
	x, ok := s.shape(e.X)
	if !ok || len(e.Indices) > len(x) {
		return nil, false
	}
	var sh shape
	for i, index := range e.Indices {
		switch index := index.(type) {
		case *ast.All:
			sh = append(sh, x[i])
		case *ast.Single:
			if s.Info.Types[index.X].Type.IsScalar() {
				continue
			}
			of, ok := s.shape(index.X)
			if !ok {
				return nil, false
			}
			sh = append(sh, of...)
		case *ast.Range:
			d, ok := s.rangeSize(index, x[i])
			if !ok {
				return nil, false
			}
			sh = append(sh, d)
		}
	}
	return append(sh, x[len(e.Indices):]...), true
}

// rangeSize returns the number of elements that a range selects from a dimension of size of.
func (s *Snapshot) rangeSize(r *ast.Range, of size) (size, bool) {
	to := of
	if r.To != nil {
		to = s.size(r.To)
	}
	if r.From == nil {
		return to, true
	}
	from := s.size(r.From)
	switch {
	case from.known && from.n == 1:
		return to, true
	case from.known && to.known:
		n := max(0, to.n-from.n+1)
		return size{text: strconv.FormatInt(n, 10), known: true, n: n}, true
	}
	return size{}, false
}

// shapeRules lists functions whose arguments determine the shape of the result. Each letter or
// number pair is a size: "2" is the value of the second argument, "1.0" the first size of the first
// argument. "=" is the shape of the first argument.
var shapeRules = map[string]string{
	"rep_vector": "2", "rep_row_vector": "2", "rep_matrix": "2 3", "rep_array": "2", "zeros_vector": "1", "ones_vector": "1",
	"zeros_row_vector": "1", "ones_row_vector": "1", "zeros_array": "1", "ones_array": "1", "identity_matrix": "1 1",
	"linspaced_vector": "1", "linspaced_row_vector": "1", "linspaced_array": "1", "linspaced_int_array": "1",
	"head": "2", "tail": "2", "segment": "3", "sub_col": "4", "sub_row": "4", "block": "4 5",
	"col": "1.0", "row": "1.1", "diagonal": "1.0", "diag_matrix": "1.0 1.0", "rows_dot_product": "1.0", "columns_dot_product": "1.1",
	"softmax": "=", "log_softmax": "=", "cumulative_sum": "=", "sort_asc": "=", "sort_desc": "=", "reverse": "=",
	"cholesky_decompose": "=", "inverse": "=", "inverse_spd": "=", "multiply_lower_tri_self_transpose": "1.0 1.0",
	"tcrossprod": "1.0 1.0", "crossprod": "1.1 1.1", "diag_pre_multiply": "2.0 2.1", "diag_post_multiply": "1.0 1.1",
	"quad_form_diag": "1.0 1.1", "add_diag": "=", "gp_exp_quad_cov": "1.0 1.0", "gp_matern32_cov": "1.0 1.0", "gp_matern52_cov": "1.0 1.0",
	"mdivide_left_tri_low": "2.0", "mdivide_left_spd": "2.0", "multi_normal_rng": "1.0", "multi_normal_cholesky_rng": "1.0",
	"dirichlet_rng": "1.0",
}

func (s *Snapshot) callShape(e *ast.CallExpr) (shape, bool) {
	c := s.Info.Calls[e]
	if c == nil || c.Func != nil {
		return nil, false
	}
	if rule, ok := shapeRules[c.Name]; ok {
		if rule == "=" {
			return s.shape(e.Args[0])
		}
		var sh shape
		for part := range strings.FieldsSeq(rule) {
			arg, dim, ofShape := strings.Cut(part, ".")
			i := int(arg[0] - '1')
			if i >= len(e.Args) {
				return nil, false
			}
			if !ofShape {
				sh = append(sh, s.size(e.Args[i]))
				continue
			}
			of, ok := s.shape(e.Args[i])
			if k := int(dim[0] - '0'); ok && k < len(of) {
				sh = append(sh, of[k])
			} else {
				return nil, false
			}
		}
		return sh, true
	}
	if !s.elementwise(c.Name, len(e.Args)) {
		return nil, false
	}
	for _, a := range e.Args {
		if sh, ok := s.shape(a); ok && len(sh) > 0 {
			return sh, true
		}
	}
	return nil, false
}

// elementwise reports whether a function also takes scalars and then returns a scalar. For
// containers its result has their shape.
func (s *Snapshot) elementwise(name string, n int) bool {
	args := make([]types.Type, n)
	for i := range args {
		args[i] = types.IntType
	}
	for _, o := range s.options.Library.Lookup(name) {
		if m, ok := o.Match(args); ok {
			return m.Result.IsScalar()
		}
	}
	return false
}

// knownInts returns the values of variables that follow from the data: those in the data block, and
// those that are assigned once from such values.
func (s *Snapshot) knownInts() map[*check.Var]int64 {
	out := map[*check.Var]int64{}
	for _, v := range s.Info.Defs {
		if n, ok := s.options.Ints[v.Name]; ok && v.Global && v.Block == ast.Data && v.Type.Equal(types.IntType) {
			out[v] = n
		}
	}
	if len(out) == 0 {
		return out
	}
	again := map[*check.Var]bool{}
	ast.Inspect(s.Tree, func(n ast.Node) bool {
		if a, ok := n.(*ast.Assign); ok {
			for v := range ast.Targets(a.LHS) {
				again[s.Info.Uses[v]] = true
			}
		}
		return true
	}, nil)
	if b := s.Tree.Block(ast.TransformedData); b != nil {
		for _, st := range b.Stmts {
			d, ok := st.(*ast.VarDecl)
			if !ok || d.Init == nil {
				continue
			}
			v := s.Info.Defs[d]
			if v == nil || again[v] || !v.Type.Equal(types.IntType) {
				continue
			}
			if n, ok := s.Info.Number(d.Init, s.known(out)); ok && !n.Real {
				out[v] = n.Int
			}
		}
	}
	return out
}

// known converts values of variables to the form that the checker takes.
func (s *Snapshot) known(ints map[*check.Var]int64) check.Known {
	return func(v *ast.VarExpr) (check.Number, bool) {
		n, ok := ints[s.Info.Uses[v]]
		return check.IntNumber(n), ok
	}
}
