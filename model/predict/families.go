package predict

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/types"
)

// argument is an argument of a density.
type argument struct {
	expr ast.Expr
	typ  types.Type
	// elem returns the argument's value for observation i, if no single expression covers all
	// observations. typ is then the type of the array of these values.
	elem func(i ast.Expr) ast.Expr
}

// linear maps distributions with a linear predictor to those without: dist_glm(x, alpha, beta,
// rest) is dist(alpha + x * beta, rest). before is the number of arguments before x.
var linear = map[string]struct {
	dist   string
	before int
}{
	"normal_id_glm":          {"normal", 0},
	"bernoulli_logit_glm":    {"bernoulli_logit", 0},
	"binomial_logit_glm":     {"binomial_logit", 1},
	"poisson_log_glm":        {"poisson_log", 0},
	"neg_binomial_2_log_glm": {"neg_binomial_2_log", 0},
}

// plain converts a distribution with covariates to the distribution of a single observation and its
// arguments. It returns other distributions unchanged. ok is false if single observations have no
// distribution, as for a number with a matrix of covariates.
func plain(dist string, variate types.Type, args []argument) (string, []argument, bool) {
	scalar := variate.IsScalar()
	if l, ok := linear[dist]; ok && len(args) >= l.before+3 {
		x, alpha, beta := args[l.before], args[l.before+1], args[l.before+2]
		if scalar && (x.typ.Kind == types.Matrix || !alpha.typ.IsScalar()) {
			return dist, args, false
		}
		mean := argument{expr: binary("+", alpha.expr, binary("*", x.expr, beta.expr)), typ: types.VectorType}
		if x.typ.Kind == types.RowVector && alpha.typ.IsScalar() {
			mean.typ = types.RealType
		}
		out := append([]argument{}, args[:l.before]...)
		return l.dist, append(append(out, mean), args[l.before+3:]...), true
	}
	each := func(x argument, f func(row ast.Expr) ast.Expr) (argument, bool) {
		if x.typ.Kind == types.RowVector {
			return argument{expr: f(x.expr), typ: types.VectorType}, true
		}
		return argument{typ: types.VectorType.Array(1), elem: func(i ast.Expr) ast.Expr { return f(element(x.expr, i)) }}, !scalar
	}
	switch {
	case dist == "categorical_logit_glm" && len(args) == 3:
		eta, ok := each(args[0], func(row ast.Expr) ast.Expr {
			return binary("+", args[1].expr, transposed(binary("*", row, args[2].expr)))
		})
		return "categorical_logit", []argument{eta}, ok
	case dist == "ordered_logistic_glm" && len(args) == 3:
		eta := argument{expr: binary("*", args[0].expr, args[1].expr), typ: types.VectorType}
		if args[0].typ.Kind == types.RowVector {
			eta.typ = types.RealType
		}
		return "ordered_logistic", []argument{eta, args[2]}, !scalar || eta.typ.IsScalar()
	}
	return dist, args, true
}

// generator returns the call that draws a variate from a distribution. Some generators need the
// sizes of the variate.
func generator(dist string, variate ast.Expr, args []ast.Expr) ast.Expr {
	switch dist {
	case "multinomial", "multinomial_logit", "dirichlet_multinomial":
		args = append(args, call("sum", variate))
	case "lkj_corr", "lkj_corr_cholesky":
		args = append([]ast.Expr{call("rows", variate)}, args...)
	case "binomial_logit":
		dist, args = "binomial", []ast.Expr{args[0], call("inv_logit", args[1])}
	case "multi_normal_prec":
		dist, args = "multi_normal", []ast.Expr{args[0], call("inverse_spd", args[1])}
	}
	return call(dist+"_rng", args...)
}
