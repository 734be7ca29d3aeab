package stdlib

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// FormOf says how print writes values of a type; nil for real ones and their
// containers.
func FormOf(t types.Type) *ad.Form {
	switch {
	case t.Kind == types.Tuple:
		f := &ad.Form{Dims: t.Dims}
		for _, m := range t.Members {
			member := FormOf(m)
			if member == nil {
				member = &ad.Form{}
			}
			f.Members = append(f.Members, member)
		}
		return f
	case t.Scalar() == types.Complex:
		return &ad.Form{Dims: t.Rank(), Members: []*ad.Form{{}, {}}}
	case t.Scalar() == types.Int:
		return &ad.Form{Int: true}
	}
	return nil
}

// OfLeaves adds the leaves of a call's result, which has a composite type, given the leaves of its
// arguments. A function that is not made for composite types ignores the elements of containers and
// treats every leaf alike.
func (f *Func) OfLeaves(b *Builder, a []Arg, params []types.Type, result types.Type) []ad.Ref {
	if f.Leaves != nil {
		return f.Leaves(b, a)
	}
	var out []ad.Ref
	for k := range result.NumLeaves() {
		var args []Arg
		rest := a
		for _, p := range params {
			n := p.NumLeaves()
			args = append(args, rest[min(k, n-1)])
			rest = rest[n:]
		}
		out = append(out, f.Build(b, args))
	}
	return out
}

// compositeForm returns the declaration, with its meaning, of a function of the table below; nil if
// there is none yet.
func compositeForm(name string, o types.Overload) *Func {
	var params []types.Type
	var result types.Type
	switch o := o.(type) {
	case types.Fixed:
		params, result = o.Params, o.Result
	case types.Elementwise:
		for _, k := range o.Args {
			params = append(params, types.Type{Kind: k})
		}
		result = types.Type{Kind: o.Result}
	default:
		return nil
	}
	isComplex := func(t types.Type) bool { return t.Scalar() == types.Complex }
	leaves := slices.Concat(list(result), result.Members, params)
	if !slices.ContainsFunc(leaves, isComplex) {
		m := realTuples[name]
		if m == nil {
			return nil
		}
		return &Func{Overload: o, Name: name, Doc: compositeDocs[name], Leaves: m}
	}
	doc := compositeDocs[name]
	if forms := Universe().Lookup(name); doc == "" && len(forms) > 0 {
		doc = forms[len(forms)-1].(*Func).Doc
	}
	if hasWord(ofShapes, name) {
		f := realForm(name, params)
		return &Func{Overload: o, Name: name, Doc: f.Doc, OfShape: f.OfShape}
	}
	m := complexMeaning(name, params)
	if m == nil {
		return nil
	}
	var kinds []types.Kind
	for _, p := range params {
		kinds = append(kinds, p.Scalar())
	}
	f := ofComplex(o, name, kinds, result, m)
	f.Doc = doc
	return f
}

// realTuples are the functions of real matrices that return tuples.
var realTuples = map[string]func(b *Builder, a []Arg) []ad.Ref{
	"qr":      func(b *Builder, a []Arg) []ad.Ref { q, r := b.householder(a[0].Ref, false); return []ad.Ref{q, r} },
	"qr_thin": func(b *Builder, a []Arg) []ad.Ref { q, r := b.householder(a[0].Ref, true); return []ad.Ref{q, r} },
	"svd":     func(b *Builder, a []Arg) []ad.Ref { s, u, v := b.singular(a); return []ad.Ref{u, s, v} },
	"eigendecompose_sym": func(b *Builder, a []Arg) []ad.Ref {
		values, vectors := b.eigen(a)
		return []ad.Ref{vectors, values}
	},
	"csr_extract": (*Builder).compressed,
}

var compositeDocs = map[string]string{
	"qr":                        "The factors (Q, R) of A = QR: qr_Q and qr_R.",
	"qr_thin":                   "The factors (Q, R) of A = QR, without the columns that are not needed: qr_thin_Q and qr_thin_R.",
	"svd":                       "The singular value decomposition (U, σ, V) of A = U diag(σ) V*: svd_U, singular_values and svd_V.",
	"eigendecompose_sym":        "The eigenvectors, in columns, and the eigenvalues of a symmetric or Hermitian matrix.",
	"abs":                       "The absolute value.",
	"arg":                       "The angle of a complex number, between -π and π.",
	"norm":                      "The square of the absolute value of a complex number.",
	"conj":                      "The complex conjugate.",
	"proj":                      "The projection onto the Riemann sphere: the number itself, unless it is infinite.",
	"polar":                     "The complex number of a given absolute value and angle.",
	"to_complex":                "The complex number with the given real and imaginary part; a part that is not given is 0.",
	"get_real":                  "The real part.",
	"get_imag":                  "The imaginary part.",
	"eigenvalues":               "The eigenvalues of a square matrix, in no particular order.",
	"eigenvectors":              "The eigenvectors of a square matrix, in columns, in the order of eigenvalues, of norm 1. Each is determined up to its phase; here the largest element is real and positive.",
	"eigendecompose":            "The eigenvectors, in columns, and the eigenvalues of a square matrix.",
	"complex_schur_decompose":   "The factors (U, T) of A = U T U*, with unitary U and upper triangular T.",
	"complex_schur_decompose_t": "The triangular T of A = U T U*, with unitary U.",
	"complex_schur_decompose_u": "The unitary U of A = U T U*, with triangular T.",
	"csr_extract":               "The compressed rows (w, v, u) of a matrix that is known when the data are bound.",
	"fft":                       "The discrete Fourier transform: the sums over j of x[j] exp(-2πi (j - 1) (k - 1)/n), for k from 1.",
	"inv_fft":                   "The inverse of fft.",
	"fft2":                      "The discrete Fourier transform of the rows and the columns of a matrix.",
	"inv_fft2":                  "The inverse of fft2.",
}

// compositeFixed lists plain forms of tuples and complex numbers, in the notation
// of shortType: "arguments => result: names".
const compositeFixed = `
m => (m,m): qr qr_thin
m => (m,v): eigendecompose_sym
m => (m,v,m): svd
m => (v,1i,1i): csr_extract

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
1cv => cm: to_matrix
cm => 1cv: to_vector_array
cm => 1cw: to_row_vector_array
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

`
