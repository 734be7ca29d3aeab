package contest

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
)

// undefined reports whether the derivative at a point is NaN in Stan, too, although the log density
// is finite. There, neither a finite nor a non-finite gradient is a fault. Two causes are
// recognised on the executed path: the derivative of an operation is not finite (tanh of an
// infinite density), or a number computed from parameters is NaN but not used in the end (an
// element that was read before it was assigned, whose adjoint becomes 0 times NaN).
func undefined(m *interp.Model, x [][]float64) bool {
	r, err := m.Record(x, &ad.Env{Print: func(string) {}})
	if err != nil {
		return false
	}
	if _, grad, err := gradient(r.Graph, x); err != nil || !finite(grad) {
		return true
	}
	g := *r.Graph
	depends := make([]bool, len(g.Nodes))
	for _, in := range g.Inputs {
		depends[in] = true
	}
	g.Outputs, g.SideEffects = nil, nil
	for i, n := range g.Nodes {
		if slices.ContainsFunc(n.Args, func(a ad.Ref) bool { return depends[a] }) {
			depends[i] = true
			g.Outputs = append(g.Outputs, ad.Ref(i))
		}
	}
	out, err := g.Eval(x, &ad.Env{Print: func(string) {}})
	if err != nil {
		return false
	}
	return slices.ContainsFunc(out, func(v []float64) bool { return slices.ContainsFunc(v, math.IsNaN) })
}

func finite(v []float64) bool {
	return !slices.ContainsFunc(v, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}
