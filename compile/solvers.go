package compile

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file finds the accuracy of a program's solvers. Two correct evaluations of a solution differ
// by about its tolerance, since one rounding may change the number of steps. A loop written in the
// program is not a solver: its value and derivative are accurate up to rounding.

// looseSolver is the tolerance assumed for a solver whose tolerance is not decided by data outside
// of functions.
const looseSolver = 1e-3

// toleranceNames lists the names of the solvers' tolerance parameters.
var toleranceNames = []string{"rtol", "atol", "relative", "absolute", "tolerance"}

// solverTolerance returns the loosest tolerance of the solvers that statements call, directly or
// through functions. It is 0 if they call none.
func (m *Model) solverTolerance(statements ...[]ir.Stmt) (loosest float64) {
	seen := map[*ir.Function]bool{}
	var visit func(n ir.Node)
	function := func(f *ir.Function) {
		if f != nil && !seen[f] {
			seen[f] = true
			if f.Body != nil {
				visit(f.Body)
			}
			if f.Of != nil {
				visit(f.Of.Body)
			}
		}
	}
	visit = func(n ir.Node) {
		ir.Inspect(n, func(n ir.Node) bool {
			c, ok := n.(*ir.UserCall)
			if !ok {
				return true
			}
			if c.Func.Tolerance > 0 && c.Level() != ir.Data {
				loosest = max(loosest, m.toleranceOf(c))
			}
			function(c.Func)
			return true
		})
	}
	for _, s := range slices.Concat(statements...) {
		visit(s)
	}
	return loosest
}

// toleranceOf returns the tolerance of a solver call, the loosest if it has several.
func (m *Model) toleranceOf(c *ir.UserCall) float64 {
	given, loosest := false, 0.0
	for i, v := range c.Func.Params {
		if i >= len(c.Args) || v.Type.Kind == types.Int || !slices.Contains(toleranceNames, v.Name) {
			continue
		}
		given = true
		t, ok := m.knownReals(c.Args[i])
		if !ok {
			return looseSolver
		}
		loosest = max(loosest, slices.Max(append(t, 0)))
	}
	if !given {
		return c.Func.Tolerance
	}
	return loosest
}

// knownReals returns the numbers of an expression that depends only on data and transformed data.
func (m *Model) knownReals(e ir.Expr) (numbers []float64, ok bool) {
	needed := map[*ir.Var]bool{}
	for v := range ir.Vars(e) {
		needed[v] = true
	}
	ev := interp.NewEvaluator(m.program, m.program.NumVars, interp.Options{Transforms: m.options.Transforms, Memory: m.options.Memory, Statements: 1e6}, nil)
	m.bound.Known.Each(func(v *ir.Var, shape []int, ints []int64, reals []float64) {
		if needed[v] {
			delete(needed, v)
			ev.Set(v, interp.Number{Shape: shape, Ints: ints, Reals: reals})
		}
	})
	if len(needed) > 0 {
		return nil, false
	}
	n, err := ev.Value(ev.Resolve(e))
	for _, i := range n.Ints {
		numbers = append(numbers, float64(i))
	}
	return append(numbers, n.Reals...), err == nil
}
