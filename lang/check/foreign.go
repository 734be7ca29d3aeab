package check

import (
	"regexp"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// This file: names that users bring from BUGS, R, Python and everyday language. Each list maps the
// name to advice. Names that the program or the library defines take precedence, so these lists
// matter only for unknown names.

// foreignDistributions maps names of distributions in other languages to their names in this one.
var foreignDistributions = table(`
	normal: dnorm norm gaussian gauss gaus normal_sd n
	uniform: dunif unif
	gamma: dgamma gam
	inv_gamma: dinvgamma igamma invgamma inverse_gamma inversegamma ig
	beta: dbeta
	exponential: dexp expon expo exp
	double_exponential: ddexp laplace dlaplace
	student_t: dt t studentt student students_t dstudent
	cauchy: dcauchy
	lognormal: dlnorm lnorm log_normal logn
	logistic: dlogis
	weibull: dweib dweibull
	chi_square: dchisq dchisqr chisq chi2 chisquare chisquared chi_squared
	pareto: dpar dpareto
	gumbel: dgumbel
	bernoulli: dbern bern
	binomial: dbin dbinom binom
	poisson: dpois pois
	neg_binomial_2: dnegbin dnbinom nbinom negbin negbinomial negativebinomial negative_binomial neg_binom
	categorical: dcat cat discrete
	multinomial: dmulti dmultinom multinom
	hypergeometric: dhyper
	dirichlet: ddirich ddirch dir
	multi_normal: dmnorm dmvnorm mvn mvnormal mvnorm multinormal multivariate_normal multivariatenormal multivariate_normal_diag
	multi_student_t: dmt mvt mvstudentt multivariate_t
	wishart: dwish
	inv_wishart: dinvwishart iw inverse_wishart
	lkj_corr: lkj lkjcorr
	lkj_corr_cholesky: lkjcholesky lkj_cholesky lkjcorrcholesky
`)

// halves lists one-sided distributions, which are written with a bound.
var halves = table(`
	normal: half_normal halfnormal truncated_normal truncnorm truncnormal
	cauchy: half_cauchy halfcauchy
	student_t: half_student_t halfstudentt half_t halft
`)

// foreignFunctions maps names of functions in other languages to advice.
var foreignFunctions = table(`
	num_elements(x), or size(x) for the first dimension of an array: length len numel
	rows(x): nrow nrows
	cols(x): ncol ncols
	dims(x): dim shape
	{a, b} for an array, [a, b]' for a vector: c list array vector
	linspaced_vector(n, a, b), or a:b in an index or a loop: seq linspace seq_len seq_along arange range
	rep_vector(x, n), rep_array(x, n) or rep_matrix(x, m, n): rep repeat tile full
	zeros_vector(n), rep_vector(0, n) or rep_matrix(0, m, n): zeros
	ones_vector(n) or rep_vector(1, n): ones
	identity_matrix(n): eye
	log(x): ln
	condition ? a : b: ifelse where
	inv_logit(x): expit sigmoid plogis ilogit logit_inv invlogit logisticfunction logistic_sigmoid
	inv_cloglog(x): icloglog
	Phi(x) or normal_cdf(x | mu, sigma): pnorm phi
	inv_Phi(p): qnorm probit
	normal_rng(mu, sigma): rnorm
	uniform_rng(a, b): runif
	bernoulli_rng(p): rbern
	binomial_rng(n, p): rbinom
	poisson_rng(lambda): rpois
	x * y': outer
	dot_product(x, y): dot vdot inprod
	x * y: matmul mm
	x': transpose t
	log_sum_exp(x): logsumexp
	determinant(x): det
	mdivide_left(A, b), or A \ b: solve
	diag_matrix(x) to make a matrix, diagonal(x) to take its diagonal: diag
	cholesky_decompose(x): chol cholesky
	tgamma(n + 1): factorial
	tgamma(x): gamma gammafn
	lgamma(x): loggamma gammaln logfact
	beta(a, b): betafn
	mean(x): average avg
	sd(x): stdev std stddev
	variance(x): var
	quantile(x, 0.5): median
	ceil(x): ceiling
	acos(x): arccos
	asin(x): arcsin
	atan(x): arctan
	atan2(y, x): arctan2
	to_int(x), which takes data only: int as_integer integer as_int
	to_vector(x): as_vector
	to_matrix(x): as_matrix
	append_col(x, y): cbind hstack
	append_row(x, y) for matrices and vectors, append_array(x, y) for arrays: rbind vstack append concat concatenate
	cumulative_sum(x): cumsum
	is_nan(x): isnan
	is_inf(x): isinf
	sort_indices_asc(x): order argsort
	sort_asc(x): sort sorted
	reverse(x): rev reversed
	norm2(x): norm
	x % y for integers, fmod(x, y) for reals: mod
	reject(…): stop error raise
	pow(x, y), or x ^ y: power
	sqrt(x): root
	abs(x): absolute
	log1p_exp(x): softplus
	max(x) after a comparison in a loop: any
	min(x) after a comparison in a loop: all
	block(x, i, j, m, n), or x[i:j, k:l]: submatrix
`)

// foreignValues maps names of values in other languages to advice.
var foreignValues = table(`
	1: TRUE True true
	0: FALSE False false
	not_a_number(): NaN NAN nan NA NA_real_ None NULL null nil missing
	positive_infinity(): Inf inf INF Infinity infinity
	target(): lp__ log_prob logp
`)

// table parses lines "today: name name …" into a map from name to today, at its first use.
func table(text string) func() map[string]string {
	return sync.OnceValue(func() map[string]string {
		out := map[string]string{}
		for line := range strings.Lines(text) {
			if i := strings.LastIndex(line, ": "); i >= 0 {
				for name := range strings.FieldsSeq(line[i+2:]) {
					out[name] = strings.TrimSpace(line[:i])
				}
			}
		}
		return out
	})
}

// foreign finds a name in a list. It also finds a name that is written in capitals.
func foreign(list func() map[string]string, name string) (string, bool) {
	if today, ok := list()[name]; ok {
		return today, true
	}
	today, ok := list()[strings.ToLower(name)]
	return today, ok
}

// otherDistribution returns advice about the name of a distribution from another language, or "".
func otherDistribution(name string) string {
	if today, ok := foreign(foreignDistributions, name); ok {
		advice := "write " + quote(today)
		if name == "dnorm" || name == "dlnorm" {
			advice += ", whose second argument is a standard deviation, not a precision as in BUGS"
		}
		return advice
	}
	if today, ok := foreign(halves, name); ok {
		return "declare the variable with <lower=0> and write " + quote(today)
	}
	return ""
}

// otherFunction returns advice about the name of a function from another language, or "".
func otherFunction(name string) string {
	if today, ok := foreign(foreignFunctions, name); ok {
		return "write " + today
	}
	return ""
}

// replacement returns the edit for advice such as "write mean(x)" or "write `1`", if only the name
// changes; nil for other advice.
func replacement(at source.Span, advice string) []diag.Edit {
	m := onlyName.FindStringSubmatch(advice)
	if m == nil {
		return nil
	}
	return []diag.Edit{{Span: at, Text: m[1] + m[2]}}
}

var onlyName = regexp.MustCompile("^write (?:`([^`]+)`|([a-zA-Z0-9_]+)\\([a-z](?:, [a-z])*\\))$")

// otherValue returns advice about the name of a value from another language, or "".
func otherValue(name string) string {
	if today, ok := foreignValues()[name]; ok {
		return "write " + quote(today)
	}
	return ""
}

// missingValue reports a comparison with a missing value of another language, such as x != NULL. No
// number equals not_a_number(), so that advice for the value alone would mislead.
func (c *checker) missingValue(e *ast.Binary) bool {
	if e.Op != "==" && e.Op != "!=" {
		return false
	}
	value, other := ast.Unparen(e.Y), e.X
	v, ok := value.(*ast.VarExpr)
	if !ok {
		value, other = ast.Unparen(e.X), e.Y
		if v, ok = value.(*ast.VarExpr); !ok {
			return false
		}
	}
	if foreignValues()[v.Name] != "not_a_number()" || c.lookup(v.Name) != nil || c.exists(v.Name) {
		return false
	}
	c.expr(other)
	text := "is_nan(" + other.Span().Text() + ")"
	if e.Op == "!=" {
		text = "!" + text
	}
	d := diag.Errorf(diag.UnknownVariable, v.Span(), "`%s` is not declared", v.Name)
	d.Detail = "Every number differs from a missing value, so a comparison cannot find one. Data may have NaN, but no NULL or NA."
	d.Fix = "write " + quote(text)
	d.Edits = []diag.Edit{{Span: e.Span(), Text: text}}
	c.diags.Add(d)
	return true
}
