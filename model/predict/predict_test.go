package predict_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/model/predict"
)

// generated computes the generated quantities of a program at a fixed random point.
func generated(t *testing.T, p *compile.Program, values string) ([]string, []float64) {
	t.Helper()
	set, err := data.ParseJSON("data", []byte(values))
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Bind(set, compile.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, m.Dim())
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	dst := make([]float64, len(m.OutputNames()))
	if err := m.Generate(x, rand.New(rand.NewPCG(1, 2)), dst); err != nil {
		t.Fatal(err)
	}
	names := m.GeneratedNames()
	return names, dst[len(dst)-len(names):]
}

func compiled(t *testing.T, text string) *compile.Program {
	t.Helper()
	p, list := compile.Compile(source.NewFile("m.stan", text))
	if list.HasErrors() {
		t.Fatalf("%s\n%v", text, list.Errors()[0])
	}
	return p
}

func derive(t *testing.T, p *compile.Program, kind predict.Kind) *predict.Derived {
	t.Helper()
	d, err := predict.Derive(p, kind, predict.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("PPL_SHOW_DERIVED") != "" {
		fmt.Println(d.Text)
	}
	return d
}

// same compares the outputs of a derived program with those of a program written by hand.
func same(t *testing.T, d *predict.Derived, byHand *compile.Program, values string) {
	t.Helper()
	names, got := generated(t, d.Program, values)
	wantNames, want := generated(t, byHand, values)
	if fmt.Sprint(names) != fmt.Sprint(wantNames) {
		t.Fatalf("%v, not %v\n%s", names, wantNames, d.Text)
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= 1e-12*(1+math.Abs(want[i])) || got[i] == want[i] || math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Errorf("%s is %v, not %v\n%s", names[i], got[i], want[i], d.Text)
			return
		}
	}
}

// A family is a distribution with models whose generated quantities are written by hand, from the
// manual of the distribution and independently of the code under test.
type family struct {
	name       string // of the distribution
	y          string // its declaration
	args       string // in y ~ name(args), for all of y
	each       string // arguments of observation i; "": all of y is one observation
	rng        string // call of the generator; "": name_rng(each); "-": there is none
	perElement string // density of one observation, if its name differs
}

var families = []family{
	{name: "normal", args: "mu, sigma", each: "mu[i], sigma"},
	{name: "std_normal", args: "", each: "", rng: "std_normal_rng()"},
	{name: "student_t", args: "nu, mu, sigma", each: "nu, mu[i], sigma"},
	{name: "cauchy", args: "mu, tau", each: "mu[i], tau[i]"},
	{name: "double_exponential", args: "m, tau", each: "m, tau[i]"},
	{name: "logistic", args: "mu, sigma", each: "mu[i], sigma"},
	{name: "gumbel", args: "mu, sigma", each: "mu[i], sigma"},
	{name: "exp_mod_normal", args: "mu, sigma, nu", each: "mu[i], sigma, nu"},
	{name: "skew_normal", args: "mu, sigma, m", each: "mu[i], sigma, m"},
	{name: "skew_double_exponential", args: "mu, sigma, p", each: "mu[i], sigma, p[i]"},
	{name: "von_mises", args: "mu, sigma", each: "mu[i], sigma"},
	{name: "lognormal", args: "mu, sigma", each: "mu[i], sigma"},
	{name: "chi_square", args: "nu", each: "nu"},
	{name: "inv_chi_square", args: "tau", each: "tau[i]"},
	{name: "scaled_inv_chi_square", args: "nu, tau", each: "nu, tau[i]"},
	{name: "exponential", args: "tau", each: "tau[i]"},
	{name: "gamma", args: "nu, tau", each: "nu, tau[i]"},
	{name: "inv_gamma", args: "nu, tau", each: "nu, tau[i]"},
	{name: "weibull", args: "nu, tau", each: "nu, tau[i]"},
	{name: "frechet", args: "nu, tau", each: "nu, tau[i]"},
	{name: "rayleigh", args: "tau", each: "tau[i]"},
	{name: "loglogistic", args: "tau, nu", each: "tau[i], nu"},
	{name: "pareto", args: "0.01, tau", each: "0.01, tau[i]"},
	{name: "pareto_type_2", args: "0.01, tau, nu", each: "0.01, tau[i], nu"},
	{name: "beta", args: "tau, nu", each: "tau[i], nu"},
	{name: "beta_proportion", args: "p, nu", each: "p[i], nu"},
	{name: "uniform", args: "0, 1 + tau", each: "0, (1 + tau)[i]"},

	{name: "bernoulli", y: bits, args: "p", each: "p[i]"},
	{name: "bernoulli_logit", y: bits, args: "mu", each: "mu[i]"},
	{name: "binomial", y: bits, args: "trials, p", each: "trials[i], p[i]"},
	{name: "binomial_logit", y: bits, args: "3, mu", each: "3, mu[i]", rng: "binomial_rng(3, inv_logit(mu[i]))"},
	{name: "beta_binomial", y: bits, args: "trials, tau, nu", each: "trials[i], tau[i], nu"},
	{name: "beta_neg_binomial", y: counts, args: "nu, tau, nu", each: "nu, tau[i], nu"},
	{name: "poisson", y: counts, args: "tau", each: "tau[i]"},
	{name: "poisson_log", y: counts, args: "mu", each: "mu[i]"},
	{name: "neg_binomial", y: counts, args: "tau, nu", each: "tau[i], nu"},
	{name: "neg_binomial_2", y: counts, args: "tau, nu", each: "tau[i], nu"},
	{name: "neg_binomial_2_log", y: counts, args: "mu, nu", each: "mu[i], nu"},
	{name: "yule_simon", y: ones, args: "tau", each: "tau[i]"},
	{name: "discrete_range", y: ones, args: "0, trials", each: "0, trials[i]"},
	{name: "categorical", y: ones, args: "theta", each: "theta"},
	{name: "categorical_logit", y: ones, args: "to_vector(m3)", each: "to_vector(m3)"},
	{name: "ordered_logistic", y: ones, args: "mu, cut", each: "mu[i], cut"},
	{name: "ordered_probit", y: ones, args: "mu, cut", each: "mu[i], cut"},

	{name: "normal_id_glm", args: "x, m, beta, sigma", each: "m + x[i] * beta, sigma", perElement: "normal"},
	{name: "normal_id_glm", args: "x, mu, beta, tau", each: "mu[i] + x[i] * beta, tau[i]", perElement: "normal"},
	{name: "normal_id_glm", args: "x[1], m, beta, sigma", each: "m + x[1] * beta, sigma", perElement: "normal"},
	{name: "bernoulli_logit_glm", y: bits, args: "x, m, beta", each: "m + x[i] * beta", perElement: "bernoulli_logit"},
	{name: "binomial_logit_glm", y: bits, args: "trials, x, mu, beta", each: "trials[i], mu[i] + x[i] * beta", perElement: "binomial_logit",
		rng: "binomial_rng(trials[i], inv_logit(mu[i] + x[i] * beta))"},
	{name: "poisson_log_glm", y: counts, args: "x, m, beta", each: "m + x[i] * beta", perElement: "poisson_log"},
	{name: "neg_binomial_2_log_glm", y: counts, args: "x, m, beta, nu", each: "m + x[i] * beta, nu", perElement: "neg_binomial_2_log"},
	{name: "categorical_logit_glm", y: ones, args: "x, to_vector(m3), b3", each: "to_vector(m3) + (x[i] * b3)'", perElement: "categorical_logit"},
	{name: "ordered_logistic_glm", y: ones, args: "x, beta, cut", each: "x[i] * beta, cut", perElement: "ordered_logistic"},

	{name: "multi_normal", y: vectors, args: "to_vector(m3), S", each: "to_vector(m3), S"},
	{name: "multi_normal", y: rows, args: "to_vector(m3), S", each: "to_vector(m3), S", rng: "multi_normal_rng(to_vector(m3), S)'"},
	{name: "multi_normal", y: vectors, args: "M, S", each: "M[i], S"},
	{name: "multi_normal_cholesky", y: vectors, args: "M, L", each: "M[i], L"},
	{name: "multi_normal_prec", y: vectors, args: "M, S", each: "M[i], S", rng: "multi_normal_rng(M[i], inverse_spd(S))"},
	{name: "multi_student_t", y: vectors, args: "nu, M, S", each: "nu, M[i], S"},
	{name: "multi_student_t_cholesky", y: vectors, args: "nu, M, L", each: "nu, M[i], L"},
	{name: "dirichlet", y: simplexes, args: "exp(to_vector(m3))", each: "exp(to_vector(m3))"},
}

const (
	bits      = "array[N] int y; array[N] int trials = rep_array(3, N)"
	counts    = "array[N] int y "
	ones      = "array[N] int y; array[N] int trials = rep_array(3, N) "
	vectors   = "array[N] vector[3] y"
	rows      = "array[N] row_vector[3] y"
	simplexes = "array[N] simplex[3] y"
)

var yValues = map[string]string{
	"": "[0.5, 0.25, 0.75, 0.9]", bits: "[0, 1, 1, 0]", counts: "[0, 3, 1, 12]", ones: "[1, 3, 2, 1]",
	vectors: "[[1, 2, 3], [0.5, -1, 2], [0, 0, 1], [2, 2, 2]]", rows: "[[1, 2, 3], [0.5, -1, 2], [0, 0, 1], [2, 2, 2]]",
	simplexes: "[[0.25, 0.25, 0.5], [0.125, 0.375, 0.5], [0.5, 0.25, 0.25], [0.125, 0.125, 0.75]]",
}

const parameters = `
parameters {
  vector[N] mu; vector<lower=0>[N] tau; vector<lower=0, upper=1>[N] p; real m; real<lower=0> sigma; real<lower=0> nu;
  vector[2] beta; matrix[2, 3] b3; row_vector[3] m3; simplex[3] theta; ordered[2] cut;
  array[N] vector[3] M; cov_matrix[3] S; cholesky_factor_cov[3] L;
}
`

func (f family) texts() (model, logLik, yRep string) {
	y := f.y
	if y == "" {
		y = "vector[N] y"
	}
	y, more, _ := strings.Cut(y, ";")
	suffix := "_lpdf"
	if strings.Contains(y, "int y") {
		suffix = "_lpmf"
	}
	one := f.perElement
	if one == "" {
		one = f.name
	}
	rng := f.rng
	if rng == "" {
		rng = one + "_rng(" + f.each + ")"
	}
	data := "data { int N; " + y + "; matrix[N, 2] x; }\n"
	if more != "" {
		data += "transformed data { " + more + "; }\n"
	}
	model = data + parameters + "model { y ~ " + f.name + "(" + f.args + "); mu ~ normal(0, 1); }\n"
	logLik = data + parameters + "generated quantities { vector[N] log_lik; for (i in 1:N) { log_lik[i] = " + one + suffix + "(y[i] | " + f.each + "); } }\n"
	rep := strings.Replace(strings.Replace(y, " y", " y_rep", 1), "simplex", "vector", 1)
	yRep = data + parameters + "generated quantities { " + rep + "; for (i in 1:N) { y_rep[i] = " + rng + "; } }\n"
	return model, logLik, yRep
}

func TestFamilies(t *testing.T) {
	for _, f := range short.Every(3, families) {
		t.Run(f.name, func(t *testing.T) {
			model, logLik, yRep := f.texts()
			p := compiled(t, model)
			values := `{"N": 4, "x": [[1, 2], [0.5, -1], [-1, 0], [2, 1]], "y": ` + yValues[f.y] + "}"
			same(t, derive(t, p, predict.LogLikelihood), compiled(t, logLik), values)
			same(t, derive(t, p, predict.Replicated), compiled(t, yRep), values)
			names, terms := generated(t, derive(t, p, predict.Terms).Program, values)
			for i, n := range terms {
				if n != 1 || len(terms) != 4 {
					t.Errorf("%s is %v", names[i], n)
				}
			}
		})
	}
}
