package static

import (
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// Levels reports which leaves of an expression have parameter level, given the variables that have
// it. The level depends on all parts, whether or not their values are used. Integers never have
// parameter level.
func Levels(e ir.Expr, param func(*ir.Var) bool) []bool {
	leaves := e.Type().Leaves()
	out := make([]bool, len(leaves))
	highest := func(es ...ir.Expr) {
		for _, x := range es {
			for k, p := range Levels(x, param) {
				out[k] = out[k] || p
			}
		}
	}
	switch e := e.(type) {
	case *ir.Cond:
		highest(e.Then, e.Else)
	case *ir.ArrayLit:
		highest(e.Elems...)
	case *ir.RowVectorLit:
		highest(e.Elems...)
	case *ir.IndexExpr:
		highest(e.X)
	case *ir.Tuple:
		out = out[:0]
		for _, x := range e.Elems {
			out = append(out, Levels(x, param)...)
		}
	case *ir.Member:
		from, to := e.X.Type().LeafRange(e.I)
		out = Levels(e.X, param)[from:to]
	case *ir.Promote:
		out = types.PromotedLeaves(Levels(e.X, param), e.X.Type(), e.Ty)
	default:
		p := hasParam(e, param)
		for k := range out {
			out[k] = p
		}
	}
	for k, leaf := range leaves {
		switch {
		case leaf.Type.Kind == types.Int:
			out[k] = false
		case leaf.Part == types.ImagPart: // both parts of a complex number have the same level
			out[k-1] = out[k-1] || out[k]
			out[k] = out[k-1]
		}
	}
	return out
}

// hasParam reports whether a part of an expression that is not an integer has parameter level.
func hasParam(e ir.Expr, param func(*ir.Var) bool) (has bool) {
	ir.Inspect(e, func(n ir.Node) bool {
		switch n := n.(type) {
		case *ir.VarRef:
			has = has || param(n.Var)
		case *ir.TargetValue:
			has = true
		}
		return n.(ir.Expr).Type().Kind != types.Int
	})
	return has
}
