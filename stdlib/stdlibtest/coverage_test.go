package stdlibtest

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// This file checks which functions have recorded values: values in high precision, and values of
// real Stan. It does not list what the loops over the registry test for every function: derivatives
// of orders 1 and 2 at random arguments, lanes, elements, errors, distribution functions and
// generators against densities.

// exactFunctions lists functions whose value is exact or rounded once, or that consist of ops that
// are tested elsewhere.
var exactFunctions = words(`abs add ceil choose divide elt_divide elt_multiply fdim floor fmax fmin int_step is_inf is_nan
	ldexp logical_and logical_eq logical_gt logical_gte logical_lt logical_lte logical_negation logical_neq logical_or max min
	minus modulus multiply plus round step subtract to_int trunc squared_distance`)

// noStan lists functions of containers that have no values of real Stan, with the reasons.
var noStan = map[string]string{
	"eigenvectors_sym": "up to signs", "svd_U": "up to signs", "svd_V": "up to signs",
	"wishart_cholesky_lpdf": "not in Stan 2.32",
	"poisson_binomial_lpmf": "not in Stan 2.32", "poisson_binomial_cdf": "not in Stan 2.32",
	"poisson_binomial_lcdf": "not in Stan 2.32", "poisson_binomial_lccdf": "not in Stan 2.32",
	"to_vector_array": "not in Stan 2.32", "to_row_vector_array": "not in Stan 2.32",
	"csr_mdivide_left_spd": "not in Stan", "csr_log_determinant_spd": "not in Stan",
}

// notYet lists functions that should have values of real Stan but do not have them yet.
var notYet = words(`binomial_logit_glm_lpmf dirichlet_multinomial_lpmf hmm_hidden_state_prob linspaced_array poisson_log_glm_lpmf
	prod qr_Q qr_R qr_thin_Q qr_thin_R quad_form quad_form_diag quad_form_sym quantile rank rep_array rep_matrix
	rep_row_vector rep_vector reverse row rows_dot_product rows_dot_self scale_matrix_exp_multiply sd segment
	singular_values softmax sort_asc sort_desc sort_indices_asc sort_indices_desc sub_col sub_row sum
	symmetrize_from_lower_tri tail tcrossprod to_array_1d to_array_2d to_matrix to_row_vector to_vector trace
	trace_dot trace_gen_quad_form trace_quad_form transpose uniform_simplex variance wishart_lpdf zeros_array
	zeros_int_array zeros_row_vector zeros_vector`)

// noGolden lists functions of numbers that should have golden values but do not have them yet.
var noGolden = words(`student_t_qf von_mises_cdf von_mises_lccdf von_mises_lcdf
	wiener_lccdf_unnorm wiener_lcdf_unnorm`)

var transformName = regexp.MustCompile("_(constrain|unconstrain|jacobian)$")

func words(s string) []string { return strings.Fields(s) }

// TestCoverage checks that every function of numbers has golden values, and each distribution at
// least five. Every other function must have a recorded value of real Stan.
func TestCoverage(t *testing.T) {
	golden := map[string]int{}
	for _, f := range readGolden(t) {
		golden[f.name] = len(f.points)
	}
	var cases []struct{ Name string }
	if b, err := os.ReadFile(stanFile); err != nil {
		t.Fatal(err)
	} else if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	stan := map[string]bool{}
	for _, c := range cases {
		stan[c.Name] = true
	}
	tests := ""
	for _, file := range words("random_test.go matrices_test.go") {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tests += string(b)
	}
	exact, without := map[string]bool{}, map[string]bool{}
	u := stdlib.Universe()
	for name := range u.Names() {
		f := u.Lookup(name)[0].(*stdlib.Func)
		ts := forms(f)[0]
		numbers := !slices.ContainsFunc(ts, func(t types.Type) bool { return !t.IsScalar() })
		log, isCDF := strings.CutSuffix(name, "_cdf")
		least := 3
		if slices.Contains(noGolden, name) {
			if golden[name] > 0 {
				t.Errorf("%s has golden values: delete it from the list", name)
			}
			continue
		}
		if f.Dist != nil {
			least = 5
		}
		switch {
		case f.Random && f.Dist == nil && !strings.Contains(tests, `"`+name+`"`):
			t.Errorf("%s: no test compares it with a distribution", name)
		// These are newer than Stan 2.32; stdlib/transform tests them in both directions.
		case transformName.MatchString(name):
		// Operators are also tested by the names of their functions.
		case f.Random, strings.HasPrefix(name, "operator"), len(ts) == 0:
		case f.OfShape != nil || numbers && len(f.Example) > 0 && f.Build == nil:
		case numbers && slices.Contains(exactFunctions, name):
			exact[name] = true
		// This is exp of the log distribution function, which has golden values.
		case numbers && isCDF:
			if golden[log+"_lcdf"] < least {
				t.Errorf("%s: %d golden values", name, golden[name])
			}
		case numbers && resultIsNumber(f, ts):
			if golden[name] < least {
				t.Errorf("%s: %d golden values; add some in testdata/golden", name, golden[name])
			}
		case !stan[name]:
			if noStan[name] == "" && !slices.Contains(notYet, name) {
				t.Errorf("%s: no value of real Stan; make some with testdata/stan.sh", name)
			}
			without[name] = true
		}
	}
	for _, name := range exactFunctions {
		if !exact[name] {
			t.Errorf("%s is not a function without golden values: delete it from the list", name)
		}
	}
	for _, name := range notYet {
		if !without[name] {
			t.Errorf("%s has values of real Stan, or is none: delete it from the list", name)
		}
	}
	for name := range noStan {
		if !without[name] {
			t.Errorf("%s has values of real Stan, or is none: delete it from the list", name)
		}
	}
}

func resultIsNumber(f *stdlib.Func, ts []types.Type) bool {
	m, ok := f.Match(ts)
	return ok && m.Result.IsScalar()
}

// lacks lists the optional parts that a distribution's declaration does not have, with the reasons.
// All other parts must exist. The list may only become shorter.
var lacks = func() map[string]string {
	out := map[string]string{}
	add := func(parts, names, why string) {
		for part := range strings.SplitSeq(parts, ", ") {
			for _, n := range words(names) {
				out[n+" "+part] = why
			}
		}
	}
	add("generator", `binomial_logit_glm binomial_logit categorical_logit_glm gaussian_dlm_obs lkj_cov multi_gp_cholesky multi_gp multi_normal_prec neg_binomial_2_log_glm normal_id_glm ordered_logistic_glm poisson_log_glm wiener`,
		"Stan has none")
	add("distribution function, quantiles", `bernoulli_logit binomial_logit neg_binomial_2_log poisson_log wiener`, "Stan has none for this parametrisation")
	add("formula", "wiener", "a series, not one expression")
	add("information", `discrete_range hypergeometric`, "all arguments are ints, which have no derivatives")
	add("information", `beta_neg_binomial yule_simon wiener`, "no closed form; its sums and integrals have heavy tails or are series")
	add("information", `dirichlet inv_wishart_cholesky inv_wishart lkj_corr_cholesky lkj_corr wishart_cholesky wishart lkj_cov`,
		"not derived: of a constrained variate, on the scale of its transform, so that metrics leave these statements out and say so")
	add("information", `poisson_binomial dirichlet_multinomial gaussian_dlm_obs multi_gp_cholesky multi_gp multi_student_t_cholesky multi_student_t ordered_logistic_glm`,
		"not derived: metrics leave these statements out and say so")
	return out
}()

// TestComplete checks that every distribution has all parts of a declaration.
func TestComplete(t *testing.T) {
	u := stdlib.Universe()
	found := map[string]bool{}
	for name := range u.Names() {
		base, ok := strings.CutSuffix(name, "_lpdf")
		if !ok {
			base, ok = strings.CutSuffix(name, "_lpmf")
		}
		if !ok {
			continue
		}
		must := func(part string, there bool) {
			key := base + " " + part
			if !there {
				found[key] = true
			}
			if !there && lacks[key] == "" {
				t.Errorf("%s", key)
			}
		}
		f := find(name)
		has := func(suffix string) bool { return len(u.Lookup(base+suffix)) > 0 }
		_, _, example := f.Demonstration()
		must("text", f.Doc != "")
		must("example", example)
		must("generator", has("_rng"))
		must("information", f.Statements != nil)
		d := f.Dist
		if d == nil {
			continue
		}
		must("formula", d.Formula != "")
		must("source", d.Source() != "")
		for _, p := range d.Params {
			must("check of "+p.Name, p.In.Text != "" && p.Is != "")
		}
		must("distribution function", has("_cdf") && has("_lcdf") && has("_lccdf"))
		must("quantiles", d.Quantile != nil || d.LogCDF != nil && d.LogCCDF != nil)
	}
	for key := range lacks {
		if !found[key] {
			t.Errorf("%s is there: delete it from the list", key)
		}
	}
}
