package stdlib

import (
	"slices"
	"strings"
)

// Example is an executed example. Value is an expression of the language, and so is the call's
// addend of the log density, if it has one. If a call passes functions, Functions defines them.
type Example struct {
	Call, Value, Adds string
	Functions         []string
}

// Examples returns the declared examples of a function that has no simple ones; for the others, see
// Func.Demonstration.
func Examples(name string) []Example {
	var out []Example
	for line := range strings.Lines(declaredExamples) {
		head, _, ok := strings.Cut(line, "(")
		if ok && len(Language().Lookup(head)) == 0 {
			panic("an example of no function: " + line) // a mistake in the table below
		}
		if head != name {
			continue
		}
		e := Example{Call: strings.TrimSpace(line)}
		e.Call, e.Adds, _ = strings.Cut(e.Call, "; adds ")
		at := strings.LastIndex(e.Call, " = ")
		e.Call, e.Value = e.Call[:at], e.Call[at+len(" = "):]
		for f := range strings.Lines(exampleFunctions) {
			head, _, _ := strings.Cut(f, "(")
			passed := head[strings.LastIndex(head, " ")+1:]
			if slices.Contains(strings.FieldsFunc(e.Call, func(r rune) bool { return strings.ContainsRune("(), ", r) }), passed) {
				e.Functions = append(e.Functions, strings.TrimSpace(f))
			}
		}
		out = append(out, e)
	}
	return out
}

// exampleFunctions are the functions that the examples pass to other functions, one on each line.
const exampleFunctions = `vector decay(real t, vector y, real rate) { return -rate * y; }
vector balance(real t, vector y, vector yp, real rate) { return yp + rate * y; }
array[] real decline(real t, array[] real y, array[] real rate, data array[] real x_r, data array[] int x_i) { return {-rate[1] * y[1]}; }
vector eliminated(real t, vector y, array[] real theta, array[] real x_r, array[] int x_i) { return -theta[1] * y; }
real quadratic(real t, array[] real theta, array[] real x_r, array[] int x_i) { return theta[1] + theta[2] * t^2; }
vector driven(real t, vector y, vector z, array[] real theta, array[] real x_r, array[] int x_i) { return [z[2], 0.5 * z[2]]'; }
vector difference(vector y, real x) { return square(y) - x; }
vector differences(vector y, vector x, data array[] real x_r, data array[] int x_i) { return square(y) - x; }
real bell(real x, real xc) { return exp(-square(x)); }
real power(real x, real xc, array[] real theta, data array[] real x_r, data array[] int x_i) { return x^theta[1]; }
real squares(array[] real x, int start, int end) { return dot_self(to_vector(x)); }
vector scaled(vector phi, vector theta, data array[] real x_r, data array[] int x_i) { return phi .* theta; }
real seen(vector theta, real y) { return normal_lpdf(y | theta, 1); }
matrix prior(real v) { return [[v]]; }
`

// declaredExamples has lines "call = value", or "call = value; adds log Jacobian". The values are
// closed forms. In the examples of the Laplace approximation, a normal likelihood makes it exact;
// for the others, the outcomes are such that the mode is 0.
const declaredExamples = `
not_a_number() == not_a_number() = 0
positive_infinity() > 1e308 = 1
negative_infinity() < -1e308 = 1
append_array({1}, {2, 3}) = {1, 2, 3}
rep_array(3, 2) = {3, 3}
dims([[1, 2, 3]]) = {1, 3}
dims([1, 2, 3]) = {1, 3}
dims({[1, 2, 3]'}) = {1, 3, 1}
dims(rep_array([1, 2], 0)) = {0}
rows([[1, 2, 3]]) = 1
cols([[1, 2, 3]]) = 3
num_elements([[1, 2, 3]]) = 3
size({4, 5}) = 2
lmgamma(0, [1, 2]) = [0, 0]
csr_to_dense_matrix(2, 2, [1, 2]', {1, 2}, {1, 2, 3}) = [[1, 0], [0, 2]]
csr_mdivide_left_spd(2, [4, 2]', {1, 2}, {1, 2, 3}, [8, 6]') = [2, 3]'
csr_log_determinant_spd(2, [4, 0.25]', {1, 2}, {1, 2, 3}) = 0
to_sparse_matrix(2, 2, {1, 2}, {2, 1}, [3, 4]') * [1, 2]' = [6, 4]'
csr_extract([[1, 0], [0, 2]]).1 = [1, 2]'
qr([[3, 1], [4, 2]]).2 = [[5, 2.2], [0, 0.4]]
qr_thin([[3], [4]]).1 = [[0.6], [0.8]]
svd([[3, 0], [0, 2]]).2 = [3, 2]'
eigendecompose_sym([[2, 1], [1, 2]]).2 = [1, 3]'
eigendecompose([[2, 1], [0, 2]]).2 = [2, 2]'
eigenvalues([[2, 1], [0, 2]]) = [2, 2]'
eigenvectors([[3, 0], [0, 3]]) = [[1, 0], [0, 1]]
complex_schur_decompose([[2, 1], [0, 3]]).2 = [[2, 1], [0, 3]]
complex_schur_decompose_t([[2, 1], [0, 3]]) = [[2, 1], [0, 3]]
complex_schur_decompose_u([[2, 1], [0, 3]]) = [[1, 0], [0, 1]]

to_complex(1, 2) = 1 + 2i
get_real(1 + 2i) = 1
get_imag(1 + 2i) = 2
conj(1 + 2i) = 1 - 2i
proj(1 + 2i) = 1 + 2i
arg(2i) = pi() / 2
norm(3 + 4i) = 25
polar(2, pi() / 2) = 2i
fft([0, 1, 0, 0]') = [1, -1i, -1, 1i]'
inv_fft([1, -1i, -1, 1i]') = [0, 1, 0, 0]'
fft2([[1, 2], [3, 4]]) = [[10, -2], [-4, 0]]
inv_fft2([[10, -2], [-4, 0]]) = [[1, 2], [3, 4]]

lower_bound_constrain(0.5, 1) = 1 + exp(0.5)
lower_bound_jacobian(0.5, 1) = 1 + exp(0.5); adds 0.5
lower_bound_unconstrain(3, 1) = log(2)
upper_bound_constrain(0.5, 1) = 1 - exp(0.5)
upper_bound_jacobian(0.5, 1) = 1 - exp(0.5); adds 0.5
upper_bound_unconstrain(-1, 1) = log(2)
lower_upper_bound_constrain(0, 1, 3) = 2
lower_upper_bound_jacobian(0, 1, 3) = 2; adds -log(2)
lower_upper_bound_unconstrain(2.5, 1, 3) = log(3)
offset_multiplier_constrain(0.5, 1, 4) = 3
offset_multiplier_jacobian(0.5, 1, 4) = 3; adds log(4)
offset_multiplier_unconstrain(3, 1, 4) = 0.5
ordered_constrain([1, 0, 0.5]') = [1, 2, 2 + exp(0.5)]'
ordered_jacobian([1, 0, 0.5]') = [1, 2, 2 + exp(0.5)]'; adds 0.5
ordered_unconstrain([1, 2, 4]') = [1, 0, log(2)]'
positive_ordered_constrain([0, 0.5]') = [1, 1 + exp(0.5)]'
positive_ordered_jacobian([0, 0.5]') = [1, 1 + exp(0.5)]'; adds 0.5
positive_ordered_unconstrain([2, 3]') = [log(2), 0]'
unit_vector_constrain([3, 4]') = [0.6, 0.8]'
unit_vector_jacobian([3, 4]') = [0.6, 0.8]'; adds -12.5
unit_vector_unconstrain([0.6, 0.8]') = [0.6, 0.8]'
sum_to_zero_constrain([sqrt(2)]') = [1, -1]'
sum_to_zero_jacobian([sqrt(2)]') = [1, -1]'; adds 0
sum_to_zero_unconstrain([1, -1]') = [sqrt(2)]'
simplex_constrain([sqrt(2)]') = [inv_logit(2), inv_logit(-2)]'
simplex_jacobian([0]') = [0.5, 0.5]'; adds -1.5 * log(2)
simplex_unconstrain([0.25, 0.75]') = [-log(3) / sqrt(2)]'
stochastic_column_constrain([[0, sqrt(2)]]) = [[0.5, inv_logit(2)], [0.5, inv_logit(-2)]]
stochastic_column_jacobian([[0, 0]]) = [[0.5, 0.5], [0.5, 0.5]]; adds -3 * log(2)
stochastic_column_unconstrain([[0.5, 0.25], [0.5, 0.75]]) = [[0, -log(3) / sqrt(2)]]
stochastic_row_constrain([[0], [sqrt(2)]]) = [[0.5, 0.5], [inv_logit(2), inv_logit(-2)]]
stochastic_row_jacobian([[0], [0]]) = [[0.5, 0.5], [0.5, 0.5]]; adds -3 * log(2)
stochastic_row_unconstrain([[0.5, 0.5], [0.25, 0.75]]) = [[0], [-log(3) / sqrt(2)]]
cholesky_factor_corr_constrain([atanh(0.6)]', 2) = [[1, 0], [0.6, 0.8]]
cholesky_factor_corr_jacobian([atanh(0.6)]', 2) = [[1, 0], [0.6, 0.8]]; adds log(0.64)
cholesky_factor_corr_unconstrain([[1, 0], [0.6, 0.8]]) = [atanh(0.6)]'
corr_matrix_constrain([atanh(0.6)]', 2) = [[1, 0.6], [0.6, 1]]
corr_matrix_jacobian([atanh(0.6)]', 2) = [[1, 0.6], [0.6, 1]]; adds log(0.64)
corr_matrix_unconstrain([[1, 0.6], [0.6, 1]]) = [atanh(0.6)]'
cov_matrix_constrain([log(2), 1, 0]', 2) = [[4, 2], [2, 2]]
cov_matrix_jacobian([log(2), 1, 0]', 2) = [[4, 2], [2, 2]]; adds 5 * log(2)
cov_matrix_unconstrain([[4, 2], [2, 2]]) = [log(2), 1, 0]'
cholesky_factor_cov_constrain([log(2), 1, 0]', 2, 2) = [[2, 0], [1, 1]]
cholesky_factor_cov_jacobian([log(2), 1, 0]', 2, 2) = [[2, 0], [1, 1]]; adds log(2)
cholesky_factor_cov_unconstrain([[2, 0], [1, 1]]) = [log(2), 1, 0]'

hypergeometric_2F1(1, 1, 2, 0.5) = 2 * log(2)
hypergeometric_2F1(-3, 2, -5, 0.5) = 1.875
hypergeometric_2F1(-3, 2, 1, 5) = -304
hypergeometric_3F2([-2, 1, 1]', [2, 3]', 4) = 5.0 / 9
hypergeometric_pFq([-2, 1, 1]', [2, 3]', 4) = 5.0 / 9
hypergeometric_3F2([1, 1, 1]', [2, 2]', 0.5) = pi()^2 / 6 - log(2)^2
hypergeometric_pFq([1]', [1]', 2) = exp(2)

ode_rk45(decay, [2]', 0, {1}, 0.5)[1] = [2 * exp(-0.5)]'
ode_rk45_tol(decay, [2]', 0, {1}, 1e-8, 1e-8, 1000, 0.5)[1] = [2 * exp(-0.5)]'
ode_ckrk(decay, [2]', 0, {1}, 0.5)[1] = [2 * exp(-0.5)]'
ode_ckrk_tol(decay, [2]', 0, {1}, 1e-8, 1e-8, 1000, 0.5)[1] = [2 * exp(-0.5)]'
ode_adams(decay, [2]', 0, {1}, 0.5)[1] = [2 * exp(-0.5)]'
ode_adams_tol(decay, [2]', 0, {1}, 1e-8, 1e-8, 1000, 0.5)[1] = [2 * exp(-0.5)]'
ode_bdf(decay, [2]', 0, {1}, 0.5)[1] = [2 * exp(-0.5)]'
ode_bdf_tol(decay, [2]', 0, {1}, 1e-8, 1e-8, 1000, 0.5)[1] = [2 * exp(-0.5)]'
ode_adjoint_tol_ctl(decay, [2]', 0, {1}, 1e-8, [1e-8]', 1e-8, [1e-8]', 1e-8, 1e-8, 1000, 100, 1, 1, 1, 0.5)[1] = [2 * exp(-0.5)]'
integrate_ode(decline, {2}, 0, {1}, {0.5}, {0}, {0})[1] = {2 * exp(-0.5)}
integrate_ode_rk45(decline, {2}, 0, {1}, {0.5}, {0}, {0})[1] = {2 * exp(-0.5)}
integrate_ode_adams(decline, {2}, 0, {1}, {0.5}, {0}, {0})[1] = {2 * exp(-0.5)}
integrate_ode_bdf(decline, {2}, 0, {1}, {0.5}, {0}, {0})[1] = {2 * exp(-0.5)}
dae(balance, [2]', [-1]', 0, {1}, 0.5)[1] = [2 * exp(-0.5)]'
dae_tol(balance, [2]', [-1]', 0, {1}, 1e-8, 1e-8, 1000, 0.5)[1] = [2 * exp(-0.5)]'
solve_newton(difference, [1]', 2) = [sqrt(2)]'
solve_newton_tol(difference, [1]', 1e-3, 1e-9, 100, 2) = [sqrt(2)]'
solve_powell(difference, [1]', 2) = [sqrt(2)]'
solve_powell_tol(difference, [1]', 1e-10, 1e-9, 100, 2) = [sqrt(2)]'
algebra_solver(differences, [1]', [2]', {0}, {0}) = [sqrt(2)]'
algebra_solver_newton(differences, [1]', [2]', {0}, {0}) = [sqrt(2)]'
integrate_1d(power, 0, 1, {0.5}, {0}, {0}) = 2 / 3.0
integrate_1d_gauss_kronrod(bell, negative_infinity(), positive_infinity()) = sqrt(pi())
integrate_1d_gauss_kronrod_tol(bell, 0, positive_infinity(), 1e-8, 1e-12, 10) = sqrt(pi()) / 2
integrate_1d_double_exponential(bell, negative_infinity(), positive_infinity()) = sqrt(pi())
integrate_1d_double_exponential_tol(bell, 0, positive_infinity(), 1e-8, 1e-12, 10) = sqrt(pi()) / 2
reduce_sum(squares, {1.0, 2.0, 3.0}, 1) = 14
reduce_sum_static(squares, {1.0, 2.0, 3.0}, 1) = 14
map_rect(scaled, [2]', {[1]', [3]'}, {{0}, {0}}, {{0}, {0}}) = [2, 6]'

pmx_solve_onecpt({0, 2}, {6, 0}, {0, 0}, {0, 0}, {1, 0}, {2, 2}, {0, 0}, {0, 0}, {1, 4, 0}) = [[0, 0], [6, 6 * exp(-0.5)]]
pmx_solve_onecpt({0, 2}, {6, 0}, {0, 0}, {2, 0}, {1, 0}, {2, 2}, {0, 0}, {1, 0}, {1, 4, 0}) = [[0, 0], [6 / (1 - exp(-0.5)), 6 / expm1(0.5)]]
pmx_solve_onecpt({0, 2}, {6, 0}, {0, 0}, {0, 0}, {1, 0}, {2, 2}, {0, 0}, {0, 0}, {1, 4, 0}, {1, 0.5}, {0, 1}) = [[0, 0], [0, 3 * exp(-0.25)]]
pmx_solve_twocpt({0, 2}, {6, 0}, {0, 0}, {0, 0}, {1, 0}, {2, 2}, {0, 0}, {0, 0}, {1, 0, 4, 9, 0}) = [[0, 0], [6, 6 * exp(-0.5)], [0, 0]]
pmx_solve_onecpt_effcpt({0, 2}, {6, 0}, {0, 0}, {0, 0}, {1, 0}, {2, 2}, {0, 0}, {0, 0}, {1, 4, 0, 0.5}) = [[0, 0], [6, 6 * exp(-0.5)], [0, 12 * (exp(-0.5) - exp(-1))]]
pmx_solve_twocpt_effcpt({0, 2}, {6, 0}, {0, 0}, {0, 0}, {1, 0}, {2, 2}, {0, 0}, {0, 0}, {1, 0, 4, 9, 0, 0.5}) = [[0, 0], [6, 6 * exp(-0.5)], [0, 0], [0, 12 * (exp(-0.5) - exp(-1))]]
pmx_solve_group_onecpt_effcpt({2, 1}, {0, 2, 0}, {6, 0, 4}, {0, 0, 0}, {0, 0, 0}, {1, 0, 1}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}, {1, 4, 0, 0.5}) = [[0, 0, 0], [6, 6 * exp(-0.5), 4], [0, 12 * (exp(-0.5) - exp(-1)), 0]]
pmx_solve_group_twocpt_effcpt({2, 1}, {0, 2, 0}, {6, 0, 4}, {0, 0, 0}, {0, 0, 0}, {1, 0, 1}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}, {1, 0, 4, 9, 0, 0.5}) = [[0, 0, 0], [6, 6 * exp(-0.5), 4], [0, 0, 0], [0, 12 * (exp(-0.5) - exp(-1)), 0]]
pmx_solve_linode({0, 2}, {6, 0}, {3, 0}, {0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, [[-0.5]]) = [[0, 6 * (1 - exp(-1))]]
pmx_solve_group_onecpt({2, 1}, {0, 2, 0}, {6, 0, 4}, {0, 0, 0}, {0, 0, 0}, {1, 0, 1}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}, {{1, 4, 0}, {2, 4, 0}}) = [[0, 0, 0], [6, 6 * exp(-0.5), 4]]
pmx_solve_group_twocpt({2, 1}, {0, 2, 0}, {6, 0, 4}, {0, 0, 0}, {0, 0, 0}, {1, 0, 1}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}, {1, 0, 4, 9, 0}) = [[0, 0, 0], [6, 6 * exp(-0.5), 4], [0, 0, 0]]
pmx_solve_group_linode({2, 1}, {0, 2, 0}, {6, 0, 4}, {0, 0, 0}, {0, 0, 0}, {1, 0, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, [[-0.5]]) = [[6, 6 * exp(-1), 4]]
pmx_solve_rk45(eliminated, 1, {0, 2}, {6, 0}, {0, 0}, {0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {0.5}) = [[6, 6 * exp(-1)]]
pmx_solve_adams(eliminated, 1, {0, 2}, {6, 0}, {0, 0}, {0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {0.5}, {0.5}) = [[3, 3 * exp(-1)]]
pmx_solve_bdf(eliminated, 1, {0, 2}, {6, 0}, {0, 0}, {2, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {0.5}, {1}, {0}, 1e-8, 1e-8, 1e8) = [[6 / (1 - exp(-1)), 6 / expm1(1)]]
pmx_solve_group_rk45(eliminated, 1, {2, 1}, {0, 2, 0}, {6, 0, 4}, {0, 0, 0}, {0, 0, 0}, {1, 0, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {0.5}) = [[6, 6 * exp(-1), 4]]
pmx_solve_group_adams(eliminated, 1, {2, 1}, {0, 2, 0}, {6, 0, 4}, {0, 0, 0}, {0, 0, 0}, {1, 0, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {0.5}) = [[6, 6 * exp(-1), 4]]
pmx_solve_group_bdf(eliminated, 1, {2, 1}, {0, 2, 0}, {6, 0, 4}, {0, 0, 0}, {0, 0, 0}, {1, 0, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {{0.5}, {2}}) = [[6, 6 * exp(-1), 4]]
pmx_solve_onecpt_rk45(driven, 2, {0, 2}, {6, 0}, {0, 0}, {0, 0}, {1, 0}, {2, 2}, {0, 0}, {0, 0}, {1, 2, 0}) = [[0, 0], [6, 6 * exp(-1)], [0, 12 * (1 - exp(-1))], [0, 6 * (1 - exp(-1))]]
pmx_solve_group_onecpt_rk45(driven, 2, {2, 1}, {0, 2, 0}, {6, 0, 4}, {0, 0, 0}, {0, 0, 0}, {1, 0, 1}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}, {1, 2, 0}) = [[0, 0, 0], [6, 6 * exp(-1), 4], [0, 12 * (1 - exp(-1)), 0], [0, 6 * (1 - exp(-1)), 0]]
pmx_solve_onecpt_bdf(driven, 2, {0, 2}, {6, 0}, {0, 0}, {0, 0}, {1, 0}, {2, 2}, {0, 0}, {0, 0}, {1, 2, 0}) = [[0, 0], [6, 6 * exp(-1)], [0, 12 * (1 - exp(-1))], [0, 6 * (1 - exp(-1))]]
pmx_solve_group_onecpt_bdf(driven, 2, {2, 1}, {0, 2, 0}, {6, 0, 4}, {0, 0, 0}, {0, 0, 0}, {1, 0, 1}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}, {1, 2, 0}) = [[0, 0, 0], [6, 6 * exp(-1), 4], [0, 12 * (1 - exp(-1)), 0], [0, 6 * (1 - exp(-1)), 0]]
pmx_solve_twocpt_rk45(driven, 2, {0, 2}, {6, 0}, {0, 0}, {0, 0}, {1, 0}, {2, 2}, {0, 0}, {0, 0}, {1, 0, 2, 9, 0}) = [[0, 0], [6, 6 * exp(-1)], [0, 0], [0, 12 * (1 - exp(-1))], [0, 6 * (1 - exp(-1))]]
pmx_solve_group_twocpt_rk45(driven, 2, {2, 1}, {0, 2, 0}, {6, 0, 4}, {0, 0, 0}, {0, 0, 0}, {1, 0, 1}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}, {1, 0, 2, 9, 0}) = [[0, 0, 0], [6, 6 * exp(-1), 4], [0, 0, 0], [0, 12 * (1 - exp(-1)), 0], [0, 6 * (1 - exp(-1)), 0]]
pmx_solve_twocpt_bdf(driven, 2, {0, 2}, {6, 0}, {0, 0}, {0, 0}, {1, 0}, {2, 2}, {0, 0}, {0, 0}, {1, 0, 2, 9, 0}) = [[0, 0], [6, 6 * exp(-1)], [0, 0], [0, 12 * (1 - exp(-1))], [0, 6 * (1 - exp(-1))]]
pmx_solve_group_twocpt_bdf(driven, 2, {2, 1}, {0, 2, 0}, {6, 0, 4}, {0, 0, 0}, {0, 0, 0}, {1, 0, 1}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}, {1, 0, 2, 9, 0}) = [[0, 0, 0], [6, 6 * exp(-1), 4], [0, 0, 0], [0, 12 * (1 - exp(-1)), 0], [0, 6 * (1 - exp(-1)), 0]]
pmx_ode_rk45(decay, [2]', 0, {1}, 0.5)[1] = [2 * exp(-0.5)]'
pmx_ode_rk45_ctrl(decay, [2]', 0, {1}, 1e-8, 1e-8, 1000, 0.5)[1] = [2 * exp(-0.5)]'
pmx_ode_ckrk(decay, [2]', 0, {1}, 0.5)[1] = [2 * exp(-0.5)]'
pmx_ode_ckrk_ctrl(decay, [2]', 0, {1}, 1e-8, 1e-8, 1000, 0.5)[1] = [2 * exp(-0.5)]'
pmx_ode_adams(decay, [2]', 0, {1}, 0.5)[1] = [2 * exp(-0.5)]'
pmx_ode_adams_ctrl(decay, [2]', 0, {1}, 1e-8, 1e-8, 1000, 0.5)[1] = [2 * exp(-0.5)]'
pmx_ode_bdf(decay, [2]', 0, {1}, 0.5)[1] = [2 * exp(-0.5)]'
pmx_ode_bdf_ctrl(decay, [2]', 0, {1}, 1e-8, 1e-8, 1000, 0.5)[1] = [2 * exp(-0.5)]'
pmx_integrate_ode_rk45(eliminated, {2}, 0, {1}, {0.5}, {0}, {0})[1] = {2 * exp(-0.5)}
pmx_integrate_ode_adams(eliminated, {2}, 0, {1}, {0.5}, {0}, {0})[1] = {2 * exp(-0.5)}
pmx_integrate_ode_bdf(eliminated, {2}, 0, {1}, {0.5}, {0}, {0}, 1e-8, 1e-8, 1000)[1] = {2 * exp(-0.5)}
pmx_integrate_ode_group_rk45(eliminated, {{2}, {3}}, 0, {1, 1}, {1, 2}, {{0.5}, {1}}, {{0}, {0}}, {{0}, {0}}) = [[2 * exp(-0.5), 3 * exp(-2)]]
pmx_integrate_ode_group_adams(eliminated, {{2}, {3}}, 0, {1, 1}, {1, 2}, {{0.5}, {1}}, {{0}, {0}}, {{0}, {0}}) = [[2 * exp(-0.5), 3 * exp(-2)]]
pmx_integrate_ode_group_bdf(eliminated, {{2}, {3}}, 0, {1, 1}, {1, 2}, {{0.5}, {1}}, {{0}, {0}}, {{0}, {0}}) = [[2 * exp(-0.5), 3 * exp(-2)]]
univariate_integral_rk45(quadratic, 0, 2, {1, 3}, {0}, {0}) = 10
univariate_integral_rk45(quadratic, 2, 0, {1, 3}, {0}, {0}) = -10
univariate_integral_bdf(quadratic, 0, 2, {1, 3}, {0}, {0}) = 10
pmx_ln_interpolate(2.5, {1, 2, 4}, {0, 10, 30}) = 15
linear_interpolation({0, 2.5, 5}, {1, 2, 4}, {0, 10, 30}) = {0, 15, 30}

generate_laplace_options(2).1 = [0, 0]'
laplace_marginal(seen, (0.5,), 1, prior, (3,)) = normal_lpdf(0.5 | 0, 2)
laplace_marginal_tol(seen, (0.5,), 1, prior, (3,), generate_laplace_options(1)) = normal_lpdf(0.5 | 0, 2)
laplace_latent_solve(seen, (4,), 1, prior, (3,)).1 = [3]'
laplace_latent_solve_tol(seen, (4,), 1, prior, (3,), generate_laplace_options(1)).1 = [3]'
laplace_marginal_poisson_log_lpmf({1} | {1}, [0]', 1, prior, (3,)) = -1 - log(2)
laplace_marginal_tol_poisson_log_lpmf({1} | {1}, [0]', 1, prior, (3,), generate_laplace_options(1)) = -1 - log(2)
laplace_marginal_bernoulli_logit_lpmf({0, 1} | {1, 1}, [0]', 1, prior, (6,)) = -3 * log(2)
laplace_marginal_tol_bernoulli_logit_lpmf({0, 1} | {1, 1}, [0]', 1, prior, (6,), generate_laplace_options(1)) = -3 * log(2)
laplace_marginal_neg_binomial_2_log_lpmf({1} | {1}, 1.0, [0]', 1, prior, (6,)) = -3 * log(2)
laplace_marginal_tol_neg_binomial_2_log_lpmf({1} | {1}, 1.0, [0]', 1, prior, (6,), generate_laplace_options(1)) = -3 * log(2)
`
