package predict

import (
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/lang/types"
)

// argument is an argument of a density, as text.
type argument struct {
	text string
	typ  types.Type
	// elem gives the argument for observation i where there is no text for all of
	// them together; typ is then that of an array of them.
	elem func(i string) string
}

// operand is the text of an argument such that an index may follow.
func (x argument) operand() string {
	if strings.ContainsAny(x.text, " +-*/'?") && !(strings.HasPrefix(x.text, "(") && strings.HasSuffix(x.text, ")")) {
		return "(" + x.text + ")"
	}
	return x.text
}

// linear are the distributions whose mean is linear in covariates, by what they
// stand for: dist_glm(x, alpha, beta, rest) is dist(alpha + x * beta, rest).
// The number is that of the arguments before x.
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

// plain gives the distribution of single observations that one of covariates
// stands for, with its arguments; others as they are. ok is false where an
// observation has no distribution of its own, as a number with a matrix of
// covariates.
func plain(dist string, variate types.Type, args []argument) (string, []argument, bool) {
	scalar := variate.IsScalar()
	if l, ok := linear[dist]; ok && len(args) >= l.before+3 {
		x, alpha, beta := args[l.before], args[l.before+1], args[l.before+2]
		if scalar && (x.typ.Kind == types.Matrix || !alpha.typ.IsScalar()) {
			return dist, args, false
		}
		mean := argument{text: fmt.Sprintf("%s + %s * %s", alpha.operand(), x.operand(), beta.operand()), typ: types.VectorType}
		if x.typ.Kind == types.RowVector && alpha.typ.IsScalar() {
			mean.typ = types.RealType
		}
		out := append([]argument{}, args[:l.before]...)
		return l.dist, append(append(out, mean), args[l.before+3:]...), true
	}
	each := func(x argument, f func(row string) string) (argument, bool) {
		if x.typ.Kind == types.RowVector {
			return argument{text: f(x.operand()), typ: types.VectorType}, true
		}
		return argument{typ: types.VectorType.Array(1), elem: func(i string) string { return f(x.operand() + "[" + i + "]") }}, !scalar
	}
	switch {
	case dist == "categorical_logit_glm" && len(args) == 3:
		eta, ok := each(args[0], func(row string) string {
			return fmt.Sprintf("%s + (%s * %s)'", args[1].operand(), row, args[2].operand())
		})
		return "categorical_logit", []argument{eta}, ok
	case dist == "ordered_logistic_glm" && len(args) == 3:
		eta := argument{text: args[0].operand() + " * " + args[1].operand(), typ: types.VectorType}
		if args[0].typ.Kind == types.RowVector {
			eta.typ = types.RealType
		}
		return "ordered_logistic", []argument{eta, args[2]}, !scalar || eta.typ.IsScalar()
	}
	return dist, args, true
}

// generator writes the call that draws a variate of a distribution given its
// arguments. variate is the text of the observation, for its sizes; "" if there
// is no generator.
func generator(dist, variate string, args []string) (name string, all []string, wrap string) {
	switch dist {
	case "multinomial", "multinomial_logit", "dirichlet_multinomial":
		return dist + "_rng", append(args, "sum("+variate+")"), "%s"
	case "lkj_corr", "lkj_corr_cholesky":
		return dist + "_rng", append([]string{"rows(" + variate + ")"}, args...), "%s"
	case "binomial_logit":
		return "binomial_rng", []string{args[0], "inv_logit(" + args[1] + ")"}, "%s"
	case "multi_normal_prec":
		return "multi_normal_rng", []string{args[0], "inverse_spd(" + args[1] + ")"}, "%s"
	}
	return dist + "_rng", args, "%s"
}
