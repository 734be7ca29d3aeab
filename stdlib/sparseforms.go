package stdlib

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/types"
)

// sparseForms returns the overloads for sparse matrices by name. What they compute is in package
// compile/internal/sparse, which rewrites programs that call them.
func sparseForms() map[string][]types.Overload {
	out := map[string][]types.Overload{}
	for line := range strings.Lines(sparseTable) {
		form, rest, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		names, doc, _ := strings.Cut(strings.TrimSpace(rest), " | ")
		f := shortForm(form)
		for name := range strings.FieldsSeq(names) {
			f.Name = name
			out[name] = append(out[name], types.SparseForm{Overload: f, Doc: doc})
		}
	}
	vectors := []string{"v", "w", "1v", "1w"}
	for _, y := range vectors {
		for _, mu := range vectors {
			f := shortForm(y + " " + mu + " s => r")
			f.Name = "multi_normal_prec_lpdf"
			out[f.Name] = append(out[f.Name], types.SparseForm{Overload: f, Doc: "The log density of a multivariate normal distribution with a sparse precision matrix."})
		}
	}
	return out
}

// sparseTable lists the forms as "arguments => result: names | documentation", in the notation of
// shortType.
const sparseTable = `
s v => v: operator* | The product of a sparse matrix and a vector.
w s => w: operator* | The product of a row vector and a sparse matrix.
s m => m: operator* | The product of a sparse matrix and a matrix.
m s => m: operator* | The product of a sparse matrix and a matrix.
s s => s: operator* | The product of two sparse matrices.
r s => s: operator* | A sparse matrix with all values multiplied by a number.
s r => s: operator* operator/ | A sparse matrix with all values multiplied or divided by a number.
s s => s: operator+ operator- | The sum or difference of two sparse matrices.
s => s: operator- operator+ | A sparse matrix with the same values, or with their opposites.
s => s: operator' | The transpose of a sparse matrix.
i i 1i 1i v => s: to_sparse_matrix | The sparse matrix of m rows and n columns with these rows, columns and values, each place once.
i i v 1i 1i => s: to_sparse_matrix | The sparse matrix of m rows and n columns, given by w, v, u in compressed row storage.
data-m => s: to_sparse_matrix | The elements of a matrix that are not zero.
s => m: to_matrix | The ordinary matrix with the same elements.
s => i: rows cols size num_elements | A size of a sparse matrix; zeros count.
s => 1i: dims | The sizes of a sparse matrix.
s => r: sum trace | The sum of the elements, or of those on the diagonal.
s => v: diagonal | The diagonal of a sparse matrix.
s v => s: add_diag | The sum of a sparse matrix and a diagonal one.
s r => s: add_diag | The sum of a sparse matrix and a multiple of the identity.
v s => s: diag_pre_multiply | diag(v) S.
s v => s: diag_post_multiply quad_form_diag | S diag(v), or diag(v) S diag(v).
s v => r: quad_form quad_form_sym trace_quad_form | vᵀ S v.
s m => m: quad_form quad_form_sym | Bᵀ S B.
s m => r: trace_quad_form | The trace of Bᵀ S B.
s v => v: mdivide_left_spd | S⁻¹ v for a symmetric positive definite S, by a sparse Cholesky factor.
s m => m: mdivide_left_spd | S⁻¹ B for a symmetric positive definite S, by a sparse Cholesky factor.
w s => w: mdivide_right_spd | v S⁻¹ for a symmetric positive definite S, by a sparse Cholesky factor.
m s => m: mdivide_right_spd | B S⁻¹ for a symmetric positive definite S, by a sparse Cholesky factor.
s => r: log_determinant_spd | log det S of a symmetric positive definite S, by a sparse Cholesky factor.
s => v: csr_extract_w | The values of a sparse matrix, row by row.
s => 1i: csr_extract_v | The columns of the values of a sparse matrix, row by row.
s => 1i: csr_extract_u | The position of each row's first value of a sparse matrix, and their number plus 1.
`
