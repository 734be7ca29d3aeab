package interp

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// initialTolerance is by how much sums of initial values may be off: they may
// have been written with six digits, and what is missing does not matter.
const initialTolerance = 1e-4

// Unconstrain finds the unconstrained numbers of each parameter for values of
// their leaves, one leaf after another, in row-major order. NaN stands for what is
// not given. Values outside their bounds give NaN and infinities; vectors and
// matrices that are not of their declared type are an error.
func (m *Model) Unconstrain(leaves [][]float64) (x [][]float64, err error) {
	defer caught(&err)
	o := m.options(&ad.Env{})
	f := m.begin(&o, nil)
	next := 0
	for _, p := range m.params {
		out := make([]float64, p.size)
		for i := range p.leaves {
			l := &p.leaves[i]
			a := &array{shape: l.shape, reals: leaves[next]}
			next++
			l.checkInitial(f.m, a)
			l.store(f, a)
			for k, u := range l.unconstrain(f, a) {
				out[l.places[k]] = u
			}
		}
		x = append(x, out)
	}
	return x, nil
}

// checkInitial rejects an initial value that is not of its constrained type.
func (l *leaf) checkInitial(m *machine, a *array) {
	v, kind := l.v, l.v.Constraint.Kind
	if kind < types.Ordered {
		return
	}
	item := l.shape[v.Type.Dims:]
	n := count(item)
	work := make([]float64, n)
	if len(a.reals) == 0 || math.IsNaN(a.reals[0]) {
		return
	}
	for k := range count(l.shape[:v.Type.Dims]) {
		if wrong := kind.Wrong(item, a.reals[k*n:(k+1)*n], work, initialTolerance); wrong != "" {
			text := "the initial value of " + ItemName(v, l.shape, k) + " must be " + kind.Text() + ", but " + wrong
			e := m.fail(v.Span, diag.Rejected, "%s", text)
			e.Err = &ad.RejectError{Message: text}
			e.throw()
		}
	}
}

// unconstrain applies the inverse of a transform.
func (l *leaf) unconstrain(f *frame, a *array) []float64 {
	args, lower, upper := l.arguments(f, a)
	free := l.free[l.v.Type.Dims:]
	out := f.m.compute(l.v.Span, args, true, func(g *ad.Graph, r []ad.Ref) []ad.Ref {
		bounds := boundsOf(r, lower, upper)
		x, _ := l.tr.Each(g, l.v.Type.Dims, r[0], free, func(y ad.Ref) (ad.Ref, []ad.Ref) { return l.tr.Unconstrain(g, y, bounds), nil })
		return []ad.Ref{g.Broadcast(x, l.free)}
	})
	return out[0].reals
}

// arguments are those of a transform: a number or numbers, and the bounds, by
// their places; -1: there is none.
func (l *leaf) arguments(f *frame, a *array) (args []*array, lower, upper int) {
	args, lower, upper = []*array{a}, -1, -1
	if l.lower != nil {
		lower, args = len(args), append(args, l.lower(f))
	}
	if l.upper != nil {
		upper, args = len(args), append(args, l.upper(f))
	}
	return args, lower, upper
}

func boundsOf(args []ad.Ref, lower, upper int) transform.Bounds {
	b := transform.Bounds{Lower: none, Upper: none}
	if lower > 0 {
		b.Lower = args[lower]
	}
	if upper > 0 {
		b.Upper = args[upper]
	}
	return b
}
