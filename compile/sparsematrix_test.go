package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// sparsePatterns are the elements of square matrices, row by row: none, one, an empty row, an
// unsymmetric one, a full one, a cycle.
var sparsePatterns = []struct {
	n int
	s string
}{{0, ""}, {1, "1"}, {1, "0"}, {2, "01 10"}, {2, "00 01"}, {3, "010 101 010"}, {3, "011 000 100"}, {4, "1111 1111 1111 1111"}, {5, "01001 10100 01010 00101 10010"}}

// sparseCases are programs with sparse matrices. With ordinary matrices they must mean the same: S
// is a matrix of n rows and columns, G a symmetric positive definite one, both in the data, and b
// is a vector of them. The cases of spd are for n > 0.
var sparseCases = []struct {
	name, program string
	spd           bool
}{
	{"products", `parameters { vector[n] x; real r; } transformed parameters { vector[n] y = S * x; }
		model { y ~ normal(0, 1); x' * S ~ normal(0, 2); (2 * S) * x ~ normal(b, 1); S' * x ~ normal(r, 1); r ~ normal(0, 1);
			target += sum(S * [x', x']') * 0; }`, false},
	{"sums", `parameters { vector[n] x; real r; } model { sparse_matrix[n, n] Q = r * (S + G) - S' / 2; sparse_matrix[n, n] R = -Q; R += S; R *= r; Q = S * r;
			Q * x ~ normal(0, 1); R * x ~ normal(0, 1); r ~ normal(0, 1); target += sum(R) + trace(Q) + sum(diagonal(G * r)); }`, false},
	{"matrices", `parameters { matrix[n, 2] x; real r; } model { to_vector(S * x) ~ normal(0, 1); to_vector(x' * (r * S)) ~ normal(0, 1); to_vector(x) ~ normal(0, 1); r ~ normal(0, 1); }`, false},
	{"products of matrices", `parameters { vector[n] x; real r; } model { sparse_matrix[n, n] Q = (r * S) * (G + S); Q * x ~ normal(r, 1); x ~ normal(0, 1); r ~ normal(0, 1); }`, false},
	{"forms", `parameters { vector[n] x; matrix[n, 2] y; real r; } model { target += -quad_form(G, x) - quad_form_sym(exp(r) * G, x) - trace_quad_form(G, y) + 0.1 * quad_form(S, x) - sum(quad_form_sym(G, y)) * 0.1;
			x ~ normal(0, 1); to_vector(y) ~ normal(0, 1); r ~ normal(0, 1); }`, false},
	{"diagonals", `parameters { vector<lower=0>[n] d; real r; vector[n] x; } model { sparse_matrix[n, n] Q = add_diag(diag_pre_multiply(d, S), r); sparse_matrix[n, n] R = add_diag(diag_post_multiply(S, x), d) + quad_form_diag(S, d);
			Q * x ~ normal(0, 1); R * x ~ normal(0, 1); d ~ exponential(1); r ~ normal(0, 1); x ~ normal(0, 1); target += sum(to_matrix(Q) * to_matrix(R)) * 0.01; }`, false},
	{"elements and sizes", `parameters { real r; vector[n] x; } model { sparse_matrix[n, n] Q = r * S; for (i in 1:n) for (j in 1:n) target += Q[i, j] * x[i] * (i + 2 * j); x ~ normal(0, 1); r ~ normal(rows(Q) + cols(S) + num_elements(Q) + dims(S)[1], 1); }`, false},
	{"functions", `functions { real energy(sparse_matrix A, vector x, real r) { sparse_matrix[rows(A), cols(A)] B = r * A + A; return quad_form(B, x); } vector twice(data sparse_matrix A, vector x) { return A * (A * x); }
			real bell_lpdf(vector y, sparse_matrix A) { return normal_lpdf(A * y | 0, 1); } void add_lp(sparse_matrix A, vector x) { target += energy(A, x, 0.1); } }
		DATA parameters { vector[n] x; real r; } model { target += energy(G, x, r) * 0.1; twice(S, x) ~ normal(r, 1); x ~ bell(S); target += bell_lpdf(x | r * S); add_lp(S, x); x ~ normal(0, 1); r ~ normal(0, 1); }`, false},
	{"made from values", `transformed data { array[2] int row = {2, 1}; array[2] int column = {1, 2}; sparse_matrix[2, 3] T = to_sparse_matrix(2, 3, row, column, [3, 4]'); sparse_matrix[3, 2] U = T'; sparse_matrix[n, n] H = to_sparse_matrix(to_matrix(G)) * G; }
		parameters { vector[2] w; vector[3] x; real<lower=0, upper=1> p; vector[n] z; } transformed parameters { sparse_matrix[2, 3] V = to_sparse_matrix(2, 3, row, column, w) + T; }
		model { V * x ~ normal(0, 1); sparse_matrix[2, 2] Z = p > 0.5 ? U' * V' * p : T * V'; target += sum(Z) * 0.1; x ~ normal(0, 1); w ~ normal(0, 1); H * z ~ normal(0, 30); z ~ normal(0, 1); }`, false},
	{"arguments of functionals", `functions { vector rate(real t, vector u, sparse_matrix A, real r) { return r * (A * u); }
		real part(array[] int k, int first, int last, sparse_matrix A, vector x) { return quad_form(A, x) * (last - first + 1); } }
		DATA parameters { vector[n] x; real r; } model { if (n > 0) target += -sum(ode_rk45(rate, b, 0, {0.1}, S, r)[1]); target += reduce_sum(part, {1, 2}, 1, G * r, x); x ~ normal(0, 1); r ~ normal(0, 1); }`, false},
	{"places of a block", `parameters { vector[3] x; } model { int k = 1 + (x[1] > 0); sparse_matrix[3, 3] B = to_sparse_matrix(3, 3, {k}, {1}, x[1:1]);
			for (i in 1:3) { sparse_matrix[3, 3] A = to_sparse_matrix(3, 3, {i, i}, {1, 2}, x[1:2]); target += i * sum((A + B) * x) + A[i, 1]; } x ~ normal(0, 0.1); }`, false},
	{"solves", `parameters { real<lower=0> tau; vector[n] x; matrix[n, 2] y; } model { sparse_matrix[n, n] Q = add_diag(G, tau); mdivide_left_spd(Q, x) ~ normal(0, 1); (mdivide_right_spd(x', 2 * Q))' ~ normal(b, 1);
			to_vector(mdivide_left_spd(Q, y)) ~ normal(0, 1); to_vector(mdivide_right_spd(y', Q)) ~ normal(0, 1); to_vector(y) ~ normal(0, 1); x ~ normal(0, 1); tau ~ exponential(1); }`, true},
	{"densities", `parameters { real<lower=0> tau; real<lower=0, upper=1> rho; vector[n] x; } model { sparse_matrix[n, n] Q = tau * (add_diag(G, 1) - rho * G); x ~ multi_normal_prec(b, Q); tau ~ exponential(1); target += 0.5 * log_determinant_spd(G * tau);
			target += multi_normal_prec_lpdf(x' | rho * b', Q) + multi_normal_prec_lupdf(b | x', Q); }`, true},
	{"densities of several variates", `transformed data { array[2] row_vector[n] r = {b', 2 * b'}; array[0] vector[n] none; } parameters { real<lower=0> tau; vector[n] x; array[2] vector[n] y; }
		model { sparse_matrix[n, n] Q = tau * G; y ~ multi_normal_prec(x, Q); y ~ multi_normal_prec(r, G); r ~ multi_normal_prec(x', Q); x ~ multi_normal_prec(y, G); none ~ multi_normal_prec(none, Q);
			target += multi_normal_prec_lpdf(r | y, Q) + multi_normal_prec_lupdf(x' | r, G); x ~ normal(0, 1); tau ~ exponential(1); }`, true},
}

// sparseData returns the data of a case, sparse and dense, and in the form that Stan's program
// reads.
func sparseData(n int, pattern string) (sparse, dense, stan string) {
	rows := strings.Fields(pattern)
	element := func(i, j int) (s, g float64) {
		if rows[i][j] == '1' {
			s = float64((i*7+j*5)%4) + 0.5
		}
		if rows[i][j] == '1' || rows[j][i] == '1' {
			g = -0.25 * float64((i+j)%3)
		}
		if i == j {
			g = 4 + 0.5*float64(i)
		}
		return s, g
	}
	text := func(list any) string { return strings.ReplaceAll(fmt.Sprint(list), " ", ", ") }
	var values [2][]float64
	var row, column [2][]int
	var full [2][][]float64
	b := []float64{}
	for i := range n {
		full[0], full[1] = append(full[0], nil), append(full[1], nil)
		b = append(b, float64(i)*0.5-1)
		for j := range n {
			s, g := element(i, j)
			for k, x := range [2]float64{s, g} {
				full[k][i] = append(full[k][i], x)
				if x != 0 {
					values[k], row[k], column[k] = append(values[k], x), append(row[k], i+1), append(column[k], j+1)
				}
			}
		}
	}
	sparse, dense = fmt.Sprintf(`{"n": %d, "b": %s`, n, text(b)), fmt.Sprintf(`{"n": %d, "b": %s`, n, text(b))
	stan = sparse
	for k, name := range []string{"S", "G"} {
		slices.Reverse(values[k]) // the order does not matter
		slices.Reverse(row[k])
		slices.Reverse(column[k])
		sparse += fmt.Sprintf(`, "%s": {"row": %s, "column": %s, "value": %s}`, name, text(row[k]), text(column[k]), text(values[k]))
		slices.Reverse(values[k])
		slices.Reverse(row[k])
		slices.Reverse(column[k])
		dense += fmt.Sprintf(`, "%s": %s`, name, text(full[k]))
		stan += fmt.Sprintf(`, "%[1]s_nonzeros": %[5]d, "%[1]s_row": %[2]s, "%[1]s_column": %[3]s, "%[1]s": %[4]s`, name, text(row[k]), text(column[k]), text(values[k]), len(row[k]))
	}
	return sparse + "}", dense + "}", stan + "}"
}

// TestSparseConstants checks that statements with ~ drop what those of ordinary matrices drop.
func TestSparseConstants(t *testing.T) {
	for _, statements := range []string{
		"b ~ multi_normal_prec(b, r * G); target += multi_normal_prec_lupdf(b | b, r * G) + multi_normal_prec_lpdf(b | b, r * G);",
		"rep_vector(r, n) ~ multi_normal_prec(b, G);",
		"b ~ multi_normal_prec(rep_vector(r, n), G); target += multi_normal_prec_lpdf(b | rep_vector(r, n), G);",
		"{b, b} ~ multi_normal_prec(rep_vector(r, n), G); {b', 2 * b'} ~ multi_normal_prec(b, r * G); target += multi_normal_prec_lupdf({b, b} | {b, r * b}, G);",
		"b ~ multi_normal_prec(b, G); target += r;",
	} {
		program := "data { int n; sparse_matrix[n, n] G; vector[n] b; } parameters { real<lower=0> r; } model { " + statements + " }"
		sparse, dense, _ := sparseData(3, "010 101 010")
		got, _ := densityAt(t, boundTo(t, program, sparse, BindOptions{}), []float64{0.5})
		want, _ := densityAt(t, boundTo(t, strings.ReplaceAll(program, "sparse_matrix", "matrix"), dense, BindOptions{}), []float64{0.5})
		if math.Abs(got-want) > 1e-10 {
			t.Errorf("%s: log density %v, with ordinary matrices %v", statements, got, want)
		}
	}
}

// TestSparseMatrices compares programs of sparse matrices with the same programs of ordinary ones,
// and with the program for Stan.
func TestSparseMatrices(t *testing.T) {
	const declared = " data { int<lower=0> n; sparse_matrix[n, n] S; sparse_matrix[n, n] G; vector[n] b; } "
	const made = " matrix made(int m, int n, array[] int row, array[] int column, vector w) { matrix[m, n] x = rep_matrix(0, m, n); for (k in 1:size(row)) x[row[k], column[k]] = w[k]; return x; } matrix made(matrix x) { return x; } "
	for _, c := range sparseCases {
		t.Run(c.name, func(t *testing.T) {
			program := strings.Replace(c.program, "DATA", declared, 1)
			if program == c.program {
				program = declared + program
			}
			dense := strings.NewReplacer("to_sparse_matrix", "made", "sparse_matrix", "matrix").Replace(program)
			if strings.Contains(dense, "functions {") {
				dense = strings.Replace(dense, "functions {", "functions {"+made, 1)
			} else {
				dense = "functions {" + made + "}" + dense
			}
			for _, p := range sparsePatterns {
				if c.spd && p.n == 0 {
					continue
				}
				values, full, flat := sparseData(p.n, p.s)
				got := boundTo(t, program, values, BindOptions{NoPropto: true})
				others := map[string]*Model{
					"ordinary matrices": boundTo(t, dense, full, BindOptions{NoPropto: true}),
					"a dense value":     boundTo(t, program, full, BindOptions{NoPropto: true}),
					"Stan's program":    boundTo(t, got.Stan(), flat, BindOptions{NoPropto: true}),
				}
				rng := rand.New(rand.NewPCG(1, 2))
				for range 2 {
					x := make([]float64, got.Dim())
					for i := range x {
						x[i] = rng.NormFloat64()
					}
					lp, g := densityAt(t, got, x)
					same := func(a, b float64) bool { return math.Abs(a-b) <= 1e-10*max(1, math.Abs(b)) }
					for what, m := range others {
						if lq, h := densityAt(t, m, x); !same(lp, lq) || !slices.EqualFunc(g, h, same) {
							t.Errorf("%s: log density %v and gradient %v, with %s %v and %v", p.s, lp, g, what, lq, h)
						}
					}
					if a, err := got.Agree(x, rng, time.Minute); err != nil || a.Wrong() {
						t.Errorf("%s: the engines differ: %v %v", p.s, a, err)
					}
				}
			}
		})
	}
}
