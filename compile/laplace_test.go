package compile

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// laplaceModel has the functions and data for the calls.
const laplaceModel = `functions {
  real normal_likelihood(vector theta, vector y, real s) { return normal_lpdf(y | theta, s); }
  real poisson_likelihood(vector theta, array[] int c, vector m) { return poisson_log_lpmf(c | theta + m); }
  real pairs(vector theta, array[] int c, real s) { // blocks of two
    real l = 0;
    for (j in 1:(size(c) %/% 2)) {
      l += poisson_log_lpmf(c[2 * j - 1] | theta[2 * j - 1]) + poisson_log_lpmf(c[2 * j] | theta[2 * j] - 0.5 * theta[2 * j - 1]);
      l += -0.1 * s * square(theta[2 * j - 1] * theta[2 * j]);
    }
    return l;
  }
  real student(vector theta, vector y, data real nu) { return student_t_lpdf(y | nu, theta, 1); }
  matrix covariance(array[] real x, real a, real r) { return add_diag(gp_exp_quad_cov(x, a, r), 1e-6); }
  matrix fixed(int n) { return add_diag(rep_matrix(0.3, n, n), 1); }
}
transformed data {
  int N = 6;
  array[N] real x = {0, 0.5, 1, 2, 2.5, 4};
  vector[N] y = [0.1, 0.5, 1.1, -0.4, 2, -1]';
  array[N] int c = {0, 2, 5, 1, 0, 9};
  array[N] int bits = {0, 1, 1, 0, 1, 1};
  array[N] int each = {1, 2, 3, 4, 5, 6};
  array[8] int many = {1, 0, 7, 2, 0, 1, 4, 1};
  array[8] int index = {1, 1, 2, 4, 4, 5, 6, 6};
}
parameters { real<lower=0> a; real<lower=0> r; real<lower=0> s; real b; }
`

var laplacePoint = []float64{0.1, 0.2, -0.3, 0.5}

// laplaceValue returns the value of an expression at a point, evaluated by a model.
func laplaceValue(t *testing.T, expr string, at []float64) float64 {
	t.Helper()
	m := modelOf(t, laplaceModel+"model { target += "+expr+"; }", BindOptions{NoJacobian: true})
	grad := make([]float64, len(at))
	v, err := m.LogDensityGrad(at, grad)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	for i, g := range grad {
		const h = 1e-4
		moved := slices.Clone(at)
		side := func(k float64) float64 {
			moved[i] = at[i] + k*h
			v, err := m.LogDensityGrad(moved, make([]float64, len(at)))
			if err != nil {
				t.Fatalf("%s: %v", expr, err)
			}
			return v
		}
		d := (8*(side(1)-side(-1)) - (side(2) - side(-2))) / (12 * h)
		if !(math.Abs(g-d) <= 1e-9*max(1, math.Abs(v))) {
			t.Errorf("%s: derivative %d is %.12g, by differences %.12g", expr, i+1, g, d)
		}
	}
	return v
}

// TestLaplace checks that the approximation is exact with a normal likelihood, that equivalent
// forms give the same value, and that derivatives agree with differences.
func TestLaplace(t *testing.T) {
	const k, m = "covariance, (x, a, r)", "rep_vector(b, N)"
	for _, c := range []struct{ got, want string }{
		{"laplace_marginal(normal_likelihood, (y, s), 1, " + k + ")",
			"multi_normal_lpdf(y | rep_vector(0, N), add_diag(covariance(x, a, r), s^2))"},
		{"laplace_marginal(poisson_likelihood, (c, " + m + "), 1, " + k + ")", "laplace_marginal_poisson_log_lpmf(c | each, " + m + ", 1, " + k + ")"},
		{"laplace_marginal(poisson_likelihood, (c, " + m + "), 2, " + k + ")", "laplace_marginal_poisson_log_lpmf(c | each, " + m + ", 1, " + k + ")"},
		{"laplace_marginal_tol_poisson_log_lpmf(c | each, " + m + ", N, " + k + ", (rep_vector(2, N), 1e-9, 100, 2, 0, 0))",
			"laplace_marginal_poisson_log_lpmf(c | each, " + m + ", 1, " + k + ")"},
		{"laplace_marginal_tol_poisson_log_lpmf(c | each, " + m + ", N, " + k + ", generate_laplace_options(N))",
			"laplace_marginal_poisson_log_lpmf(c | each, " + m + ", 1, " + k + ")"},
		{"laplace_marginal_tol_poisson_log_lpmf(c | each, " + m + ", N, " + k + ", generate_laplace_options(y))",
			"laplace_marginal_poisson_log_lpmf(c | each, " + m + ", 1, " + k + ")"},
		{"laplace_marginal_neg_binomial_2_log_lpmf(many | index, s, " + m + ", 1, " + k + ")",
			"laplace_marginal_neg_binomial_2_log_lpmf(many | index, rep_vector(s, N), " + m + ", 3, " + k + ")"},
		// With a precision of 1e9 the distribution is Poisson's, to 1e-7.
		{"laplace_marginal_neg_binomial_2_log_lpmf(many | index, 1e9, " + m + ", 1, " + k + ")", "0 * s + laplace_marginal_poisson_log_lpmf(many | index, " + m + ", 1, " + k + ")"},
		{"laplace_marginal(pairs, (c, s), 2, " + k + ")", "laplace_marginal(pairs, (c, s), 6, " + k + ")"},
		{"laplace_marginal(student, (y, 4), 1, " + k + ")", "laplace_marginal_tol(student, (y, 4.0), 1, " + k + ", (y, 1e-12, 50, 1, 20, 1))"},
	} {
		got, want := laplaceValue(t, c.got, laplacePoint), laplaceValue(t, c.want, laplacePoint)
		tolerance := 1e-12
		if strings.Contains(c.got, "1e9") {
			tolerance = 1e-7
		}
		if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
			t.Errorf("%s\nis %.14g, but\n%s\nis %.14g", c.got, got, c.want, want)
		}
	}
	// A statement with ~ adds the same as the mass function: there are no terms to drop.
	m1 := modelOf(t, laplaceModel+"model { bits ~ laplace_marginal_bernoulli_logit(each, rep_vector(b, N), 1, "+k+"); }", BindOptions{NoJacobian: true})
	v, err := m1.LogDensityGrad(laplacePoint, make([]float64, 4))
	if want := laplaceValue(t, "laplace_marginal_bernoulli_logit_lpmf(bits | each, rep_vector(b, N), 1, "+k+")", laplacePoint); err != nil || v != want {
		t.Errorf("the statement gives %g (%v), the mass %g", v, err, want)
	}
}

// TestLaplaceValue compares with Newton's method and Laplace's formula, written out in Go. The
// counts are 3 and 0, and the log rates have covariance matrix [[1.3, 0.3], [0.3, 1.3]].
func TestLaplaceValue(t *testing.T) {
	k := [2][2]float64{{1.3, 0.3}, {0.3, 1.3}}
	counts := [2]float64{3, 0}
	det := k[0][0]*k[1][1] - k[0][1]*k[1][0]
	p := [2][2]float64{{k[1][1] / det, -k[0][1] / det}, {-k[1][0] / det, k[0][0] / det}}
	var theta [2]float64
	var h [2][2]float64
	for range 50 {
		var g [2]float64
		h = p
		for i := range 2 {
			g[i] = counts[i] - math.Exp(theta[i]) - p[i][0]*theta[0] - p[i][1]*theta[1]
			h[i][i] += math.Exp(theta[i])
		}
		d := h[0][0]*h[1][1] - h[0][1]*h[1][0]
		theta[0] += (h[1][1]*g[0] - h[0][1]*g[1]) / d
		theta[1] += (h[0][0]*g[1] - h[1][0]*g[0]) / d
	}
	want := -0.5 * math.Log(det*(h[0][0]*h[1][1]-h[0][1]*h[1][0]))
	for i := range 2 {
		l, _ := math.Lgamma(counts[i] + 1)
		want += counts[i]*theta[i] - math.Exp(theta[i]) - l - 0.5*theta[i]*(p[i][0]*theta[0]+p[i][1]*theta[1])
	}
	const call = "({3, 0}, rep_vector(0, 2)), 1, fixed, (2,))"
	if got := laplaceValue(t, "laplace_marginal(poisson_likelihood, "+call, laplacePoint); !(math.Abs(got-want) <= 1e-13) {
		t.Errorf("%.15g, want %.15g", got, want)
	}

	// Draws come from the approximation: check the mean and the Cholesky factor.
	m := modelOf(t, laplaceModel+`model {} generated quantities {
  tuple(vector[2], matrix[2, 2]) z = laplace_latent_solve(poisson_likelihood, `+call+`;
  vector[2] mean_of = rep_vector(0, 2);
  matrix[2, 2] square_of = rep_matrix(0, 2, 2);
  for (i in 1:20000) {
    vector[2] v = mdivide_left_tri_low(z.2, laplace_latent_rng(poisson_likelihood, `+call+` - z.1);
    mean_of += v / sqrt(20000);
    square_of += (v * v' - identity_matrix(2)) / sqrt(20000);
  }
}`, BindOptions{})
	out := make([]float64, len(m.OutputNames()))
	if err := m.Generate(laplacePoint, rand.New(rand.NewPCG(1, 1)), out); err != nil {
		t.Fatal(err)
	}
	at := func(name string) float64 { return out[slices.Index(m.OutputNames(), name)] }
	d := h[0][0]*h[1][1] - h[0][1]*h[1][0]
	for name, want := range map[string]float64{"z:1.1": theta[0], "z:1.2": theta[1], "z:2.1.1": math.Sqrt(h[1][1] / d),
		"z:2.2.1": -h[0][1] / d / math.Sqrt(h[1][1]/d), "z:2.1.2": 0, "z:2.2.2": math.Sqrt(1 / h[1][1])} {
		if got := at(name); !(math.Abs(got-want) <= 1e-8) {
			t.Errorf("%s is %.12g, want %.12g", name, got, want)
		}
	}
	for _, name := range []string{"mean_of.1", "mean_of.2", "square_of.1.1", "square_of.2.1", "square_of.2.2"} {
		if z := at(name); !(math.Abs(z) < 6*math.Sqrt2) { // standard deviation 1, of squares √2
			t.Errorf("%s is %g standard errors off", name, z)
		}
	}
}

// TestLaplaceErrors checks the messages about wrong calls.
func TestLaplaceErrors(t *testing.T) {
	const k = "covariance, (x, a, r)"
	for call, want := range map[string]string{
		"laplace_marginal(normal_likelihood, (y, s), 4, " + k + ")":                                              "must divide the number of latent variables, 6, but is 4",
		"laplace_marginal_tol(normal_likelihood, (y, s), 1, " + k + ", generate_laplace_options(2))":             "the initial guess must have 6 elements, as the covariance matrix has rows, but has 2",
		"laplace_marginal_tol(normal_likelihood, (y, s), 1, " + k + ", (rep_vector(0, 6), 1e-9, 100, 4, 10, 1))": "the solver must be 1, 2 or 3, but is 4",
		"laplace_marginal_tol(normal_likelihood, (y, s), 1, " + k + ", (rep_vector(0, 6), 1e-9, 0, 1, 10, 1))":   "the steps must be positive",
		"laplace_marginal_tol(poisson_likelihood, (c, y), 1, " + k + ", (rep_vector(0, 6), 1e-9, 1, 1, 10, 1))":  "the mode is not found after 1 steps",
		"laplace_marginal_poisson_log_lpmf(c | each, [0, 1]', 1, " + k + ")":                                     "sizes do not match: argument 1 has size 6, argument 2 has size 2",
		"laplace_marginal(normal_likelihood, (y, -s), 1, " + k + ")":                                             "normal_lpdf: Scale parameter",
	} {
		set, err := data.ParseJSON("data", []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		prog, list := Compile(source.NewFile("test.model", laplaceModel+"model { target += "+call+"; }"))
		if prog == nil {
			t.Fatalf("%s: %v", call, list[0])
		}
		m, err := prog.Bind(set, BindOptions{})
		if err == nil {
			_, err = m.LogDensityGrad(laplacePoint, make([]float64, 4))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", call, err, want)
		}
	}
}
