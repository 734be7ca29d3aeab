package marginal

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// functions are functions of one number, by the shape of their argument.
var functions = map[string]map[shape]shape{
	"log":             {linear: logLinear, geometric: rounded, scaled: rounded, chance: rounded},
	"log1m":           {linear: logLinear, geometric: concave, chance: rounded},
	"log1p":           {linear: logLinear, opposite: rounded},
	"exp":             {linear: geometric, logLinear: linear},
	"expm1":           {linear: opposite},
	"lgamma":          {linear: convex},
	"square":          {linear: convex},
	"log1p_exp":       {linear: convex},
	"log1m_exp":       {linear: concave},
	"log_inv_logit":   {linear: concave},
	"log1m_inv_logit": {linear: concave},
	"inv_logit":       {linear: chance},
	"inv_cloglog":     {linear: chance},
	"Phi":             {linear: chance},
	"Phi_approx":      {linear: chance},
	"sum":             {linear: linear, logLinear: concave, concave: concave, rounded: rounded},
	"mean":            {linear: linear},
}

// argument has the shape of a log density as a function of one argument, by the shape of that.
type argument map[shape]shape

// The usual arguments.
var (
	free   argument
	plain  = argument{linear: concave}
	means  = argument{linear: concave, geometric: rounded, scaled: rounded}
	shares = argument{linear: concave, geometric: rounded, scaled: rounded, chance: rounded}
	logits = argument{linear: concave, logLinear: tapering}
	odd    = argument{linear: tapering}
	clumps = argument{linear: clumped}
)

// families has the arguments of distributions, each for the others fixed.
//
// Most are concave. The log of the mass of a beta-binomial distribution changes from N - 1 trials
// to N by log(1 + (y (a + b - 1) - a N) / ((N - y) (N - 1 + a + b))), which decreases until it is
// negative, and stays so. The same holds for a beta negative binomial distribution and its variate,
// for y log u - n log(1 + u), and for -log s - r^2 / (2 s^2). The mass of n successes in m draws
// from a successes and b failures changes by a factor 1 + ((m - n) a - n b) / ((b - m + n) (a + b))
// from b - 1 to b, and that of a discrete range by one that rises to 1.
var families = map[string][]argument{
	"poisson_lpmf":            {plain, means},
	"poisson_log_lpmf":        {plain, {linear: concave, logLinear: concave}},
	"neg_binomial_lpmf":       {clumps, plain, free},
	"neg_binomial_2_lpmf":     {clumps, {linear: tapering, geometric: rounded, scaled: rounded}, free},
	"neg_binomial_2_log_lpmf": {clumps, logits, free},
	"beta_neg_binomial_lpmf":  {odd, free, free, free},
	"yule_simon_lpmf":         {odd, free},
	"binomial_lpmf":           {plain, plain, shares},
	"binomial_logit_lpmf":     {plain, plain, logits},
	"beta_binomial_lpmf":      {odd, odd, free, free},
	"bernoulli_lpmf":          {free, shares},
	"bernoulli_logit_lpmf":    {free, logits},
	"discrete_range_lpmf":     {plain, free, odd},
	"hypergeometric_lpmf":     {plain, plain, odd, odd},
	"normal_lpdf":             {plain, plain, odd},
	"std_normal_lpdf":         {plain},
	"lognormal_lpdf":          {free, plain, free},
	"exponential_lpdf":        {plain, plain},
	"gamma_lpdf":              {free, plain, plain},
	"chi_square_lpdf":         {free, plain},
	"beta_lpdf":               {free, plain, plain},
	"logistic_lpdf":           {plain, plain, free},
	"double_exponential_lpdf": {plain, plain, free},
	"gumbel_lpdf":             {plain, plain, free},
}

// function returns the shape of a call of a function of the program, which computes variables and
// returns once, at its end.
func (s *shaper) function(f *check.Func, ks []shape) shape {
	d := f.Decl
	if d.Body == nil || len(f.Params) != len(ks) || s.among() && denying(d.Body) {
		return unshaped
	}
	body := statements(d.Body)
	if len(body) == 0 {
		return unshaped
	}
	last, ok := body[len(body)-1].(*ast.Return)
	if !ok || last.Value == nil {
		return unshaped
	}
	inner := &shaper{p: s.p, pat: s.pat, axis: s.axis, several: s.several, env: map[*check.Var]shape{}, period: s.period}
	for i, v := range f.Params {
		inner.env[v] = ks[i]
	}
	for _, st := range body[:len(body)-1] {
		if jumps(st) || calls(st) {
			return unshaped
		}
		inner.run(st)
	}
	k := inner.of(last.Value)
	if inner.bad != nil || len(inner.tests) > 0 {
		return unshaped
	}
	s.period = inner.period
	return k
}

// denying reports whether a statement has a mass or an infinite number.
func denying(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			found = found || strings.HasSuffix(c.Func.Name, "pmf") || strings.HasSuffix(c.Func.Name, "_infinity")
		}
		return !found
	}, nil)
	return found
}

// calls reports whether a statement adds to the target.
func calls(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.Tilde, *ast.TargetPlus, *ast.CallStmt:
			found = true
		}
		return !found
	}, nil)
	return found
}
