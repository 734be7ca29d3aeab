package stdlib

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/lang/types"
)

// Language is the whole library of Stan, as the checker wants it: what Universe
// evaluates, and the forms that have types only (types.Planned). Of a form that
// is both, the evaluated one counts, so that a function may be declared without
// touching the table of planned forms.
func Language() *Signatures { return language() }

// Signatures is a set of overloads by name. It implements check.Universe.
type Signatures struct {
	byName map[string][]types.Overload
	names  []string // sorted
}

var language = sync.OnceValue(func() *Signatures {
	s := &Signatures{byName: maps.Clone(Universe().byName)}
	for name, forms := range plannedForms() {
		s.byName[name] = slices.Concat(s.byName[name], forms)
	}
	s.names = slices.Sorted(maps.Keys(s.byName))
	return s
})

// Lookup returns the overloads of a name, none if there is no such name. The
// slice is not to be modified.
func (s *Signatures) Lookup(name string) []types.Overload { return s.byName[name] }

// Names yields every name in alphabetical order.
func (s *Signatures) Names() iter.Seq[string] { return slices.Values(s.names) }

// plannedForms collects the forms that nothing evaluates yet.
func plannedForms() map[string][]types.Overload {
	out := map[string][]types.Overload{}
	add := func(name string, o types.Overload) {
		if w, ok := written(name, o); ok {
			o = w
		} else {
			o = types.Planned{Overload: o}
		}
		out[name] = append(out[name], o)
	}
	for line := range strings.Lines(plannedFixed) {
		form, names, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		params, result, _ := strings.Cut(form, "=>")
		f := types.Fixed{Result: shortType(strings.TrimSpace(result))}
		for p := range strings.FieldsSeq(params) {
			p, data := strings.CutPrefix(p, "data-")
			f.Params = append(f.Params, shortType(p))
			f.DataOnly = append(f.DataOnly, data)
		}
		if !slices.Contains(f.DataOnly, true) {
			f.DataOnly = nil
		}
		for name := range strings.FieldsSeq(names) {
			f.Name = name
			add(name, f)
		}
	}
	for _, o := range plannedFamilies() {
		switch o := o.(type) {
		case types.Elementwise:
			add(o.Name, o)
		case types.Vectorised:
			add(o.Name, o)
		case types.HigherOrder:
			add(o.Name, o)
		case types.ReduceSum:
			add(o.Name, o)
		case types.Laplace:
			add(o.Name, o)
		case types.Fixed:
			add(o.Name, o)
		case types.Computed:
			name, _, _ := strings.Cut(o.Form, "(")
			add(name, o)
		}
	}
	for op, functions := range operatorNames {
		for name := range strings.FieldsSeq(functions) {
			out["operator"+op] = append(out["operator"+op], out[name]...)
		}
	}
	return out
}

// operatorNames are the functions whose forms the operators have.
var operatorNames = map[string]string{
	"+": "add plus", "-": "subtract minus", "*": "multiply", "/": "divide mdivide_right",
	".*": "elt_multiply", "./": "elt_divide", `\`: "mdivide_left", "^": "pow", ".^": "pow",
	"'": "transpose", "==": "logical_eq", "!=": "logical_neq",
}

// shortType reads the notation of plannedFixed: a digit for the number of array
// dimensions, then i r v w m for int, real, vector, row_vector and matrix, with
// c in front for complex; (…) is a tuple.
func shortType(s string) types.Type {
	var t types.Type
	if s != "" && s[0] >= '1' && s[0] <= '9' {
		t.Dims = int(s[0] - '0')
		s = s[1:]
	}
	if inner, ok := strings.CutPrefix(s, "("); ok {
		t.Kind = types.Tuple
		for m := range strings.SplitSeq(strings.TrimSuffix(inner, ")"), ",") {
			t.Members = append(t.Members, shortType(m))
		}
		return t
	}
	t.Kind = map[string]types.Kind{
		"i": types.Int, "r": types.Real, "v": types.Vector, "w": types.RowVector, "m": types.Matrix,
		"c": types.Complex, "cv": types.ComplexVector, "cw": types.ComplexRowVector, "cm": types.ComplexMatrix,
	}[s]
	return t
}

// plannedFixed lists plain forms, "arguments => result: names", in the notation
// of shortType.
const plannedFixed = `
m => (m,m): qr qr_thin
m => (m,v): eigendecompose_sym
m => (m,v,m): svd
m => (v,1i,1i): csr_extract
m => v: csr_extract_w
m => 1i: csr_extract_v csr_extract_u

cm => cm: eigenvectors_sym svd_U svd_V complex_schur_decompose_t complex_schur_decompose_u eigenvectors fft2 inv_fft2 symmetrize_from_lower_tri transpose
m => cm: complex_schur_decompose_t complex_schur_decompose_u eigenvectors
cm => cv: eigenvalues eigenvalues_sym diagonal to_vector
m => cv: eigenvalues
cm => v: singular_values
cm => (cm,cv): eigendecompose eigendecompose_sym
m => (cm,cv): eigendecompose
m => (cm,cm): complex_schur_decompose
cm => (cm,cm): complex_schur_decompose
cm => (cm,v,cm): svd
cv => cv: fft inv_fft cumulative_sum reverse to_vector
cw => cw: cumulative_sum reverse to_row_vector
1c => 1c: cumulative_sum

c => c: acos acosh asin asinh atan atanh cos cosh exp log log10 plus proj sin sinh sqrt tan tanh
c => r: arg norm
c => i: size
r r => c: polar
=> c: to_complex
r => c: to_complex
c r => i: logical_eq logical_neq
c c => i: logical_eq logical_neq
c c => c: add subtract multiply divide elt_multiply elt_divide
c cv => cv: add subtract multiply divide elt_multiply elt_divide
c cw => cw: add subtract multiply divide elt_multiply elt_divide
c cm => cm: add subtract multiply divide elt_multiply elt_divide
cv c => cv: add subtract multiply divide elt_multiply elt_divide
cw c => cw: add subtract multiply divide elt_multiply elt_divide
cm c => cm: add subtract multiply divide elt_multiply elt_divide
cv cv => cv: add subtract elt_multiply elt_divide rows_dot_product
cw cw => cw: add subtract elt_multiply elt_divide
cm cm => cm: add subtract multiply elt_multiply elt_divide mdivide_right
cw cm => cw: multiply mdivide_right
cm cv => cv: multiply
cv cw => cm: multiply
cw cv => c: multiply

cv => i: cols num_elements rows size
cw => i: cols num_elements rows size
cm => i: cols num_elements rows size
cv => c: dot_self prod sum
cw => c: dot_self prod sum
cm => c: prod sum trace
1c => c: prod sum
cv cv => c: dot_product
cv cw => c: dot_product
cw cv => c: dot_product
cw cw => c: dot_product
1c 1c => c: dot_product
cv cv => cw: columns_dot_product
cw cw => cw: columns_dot_product
cm cm => cw: columns_dot_product
cw cw => cv: rows_dot_product
cm cm => cv: rows_dot_product
cv => cw: columns_dot_self to_row_vector transpose
cw => cw: columns_dot_self
cm => cw: columns_dot_self to_row_vector
cv => cv: rows_dot_self
cw => cv: rows_dot_self to_vector transpose
cm => cv: rows_dot_self
1c => cv: to_vector
1c => cw: to_row_vector
cv => 1c: to_array_1d
cw => 1c: to_array_1d
cm => 1c: to_array_1d
cm => 2c: to_array_2d
cv => cm: diag_matrix to_matrix
cw => cm: to_matrix
cm => cm: to_matrix
2c => cm: to_matrix
1cw => cm: to_matrix
cv i i => cm: to_matrix
cw i i => cm: to_matrix
cm i i => cm: to_matrix
1c i i => cm: to_matrix
cv i i i => cm: to_matrix
cw i i i => cm: to_matrix
cm i i i => cm: to_matrix
1c i i i => cm: to_matrix
cm c => cm: add_diag
cm cv => cm: add_diag diag_post_multiply
cm cw => cm: add_diag diag_post_multiply
cv cm => cm: diag_pre_multiply
cw cm => cm: diag_pre_multiply
c cw => cw: append_col
cw c => cw: append_col
cw cw => cw: append_col
cv cv => cm: append_col
cv cm => cm: append_col
cm cv => cm: append_col
cm cm => cm: append_col append_row
c cv => cv: append_row
cv c => cv: append_row
cv cv => cv: append_row
cw cw => cm: append_row
cw cm => cm: append_row
cm cw => cm: append_row
cm i => cv: col
cm i => cw: row
cm i i i => cv: sub_col
cm i i i => cw: sub_row
cm i i i i => cm: block
cv i => cv: head tail
cw i => cw: head tail
cv i i => cv: segment
cw i i => cw: segment
c i i => cm: rep_matrix
cv i => cm: rep_matrix
cw i => cm: rep_matrix
c i => cw: rep_row_vector
c i => cv: rep_vector

i => (v,r,i,i,i,i): generate_laplace_options
v => (v,r,i,i,i,i): generate_laplace_options
r r r r => r: hypergeometric_2F1
`

// Support is where the density of a distribution is positive, as far as numbers
// can tell; Text is empty where nothing is known. The checker warns of parameters
// that can leave it.
func (f *Func) Support() types.Constraint {
	if f.Dist == nil || f.Dist.Discrete {
		return types.Constraint{}
	}
	v, s := f.Dist.Variate, f.Dist.Support
	if v.Text == "" {
		return s
	}
	if s.Text == "" {
		return v
	}
	v.Lo, v.Hi = max(v.Lo, s.Lo), min(v.Hi, s.Hi)
	return v
}
