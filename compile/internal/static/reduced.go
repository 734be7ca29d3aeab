package static

import (
	"math"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// Neutral has, for functions of one container, the neutral number: replacing an element by it has
// the effect of leaving the element out. It is also the value of the function for no elements.
var Neutral = map[string]float64{
	"sum": 0, "prod": 1, "dot_self": 0, "log_sum_exp": math.Inf(-1), "max": math.Inf(-1), "min": math.Inf(1),
}

// ReducedSlice returns the argument of a call of one of these functions if it is a slice, as in
// log_sum_exp(x[m:n]), and nil for other calls.
func ReducedSlice(e *ir.Call) *ir.IndexExpr {
	if _, ok := Neutral[e.Name]; !ok || len(e.Args) != 1 || e.Type().Kind == types.Int {
		return nil
	}
	x, ok := e.Args[0].(*ir.IndexExpr)
	if !ok || x.X.Type().Composite() || x.X.Type().Rank() != 1 || len(x.Indices) != 1 {
		return nil
	}
	if ix := x.Indices[0]; ix.Kind != ir.IndexRange || ix.Part != ir.NoPart && ix.Part != ir.Begun || mayAct(ix.A) || mayAct(ix.B) || mayAct(x.X) {
		return nil
	}
	return x
}

// mayAct reports whether an expression calls functions of the program or draws random numbers, so
// that it must not be evaluated twice.
func mayAct(e ir.Expr) bool {
	acts := false
	ir.Inspect(e, func(e ir.Node) bool {
		switch e := e.(type) {
		case *ir.UserCall:
			acts = true
		case *ir.Call:
			acts = acts || FuncOf(e).Random
		}
		return !acts
	})
	return acts
}
