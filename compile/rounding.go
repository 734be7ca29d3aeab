package compile

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
)

// rounding estimates the rounding error of the reference's log density at x. It sums over all
// numbers computed from x: half a unit in the last place times the derivative of the log density
// with respect to the number (Linnainmaa 1976; Griewank and Walther, Evaluating Derivatives, 2008).
// The estimate is +Inf if a term is not finite. Infinite numbers, such as the outer cut points of
// an ordered outcome, are exact. It costs about as much as an interpreted gradient, so use it only
// where something looks wrong.
func (m *Model) rounding(x []float64) (total float64, err error) {
	defer ad.Recover(&err)
	r, err := m.record(x, m.env)
	if err != nil {
		return 0, err
	}
	return m.roundingOf(r, x)
}

// roundingOf is the same estimate for the first output of a record.
func (m *Model) roundingOf(r *interp.Record, x []float64) (total float64, err error) {
	g := r.Graph
	out := g.Outputs[0]
	from := make([]bool, int(out)+1) // computed from the inputs
	for _, in := range g.Inputs {
		if in <= out {
			from[in] = true
		}
	}
	var numbers []ad.Ref
	for i := range from {
		for _, arg := range g.Nodes[i].Args {
			from[i] = from[i] || from[arg]
		}
		if from[i] && len(g.Nodes[i].Results()) == 0 {
			numbers = append(numbers, ad.Ref(i))
		}
	}
	g.Outputs = nil
	adjoints := g.Backprop([]ad.Ref{out}, []ad.Ref{g.Const(1)}, numbers)
	for k, a := range adjoints {
		if a != ad.None {
			g.Output(a)
			g.Output(numbers[k])
		}
	}
	parts, err := g.Eval(m.split(x), &ad.Env{Stop: m.env.Stop})
	if err != nil {
		return 0, err
	}
	for k := 0; k < len(parts); k += 2 {
		for i, a := range parts[k] {
			v := parts[k+1][i]
			if a == 0 || math.IsInf(v, 0) { // no effect on the result, or no digits to round
				continue
			}
			if !finite(a * v) {
				return math.Inf(1), nil
			}
			total += 0x1p-53 * math.Abs(a*v)
		}
	}
	return total, nil
}
