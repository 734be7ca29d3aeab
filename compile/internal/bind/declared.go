package bind

import (
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// wrongItem finds the first vector or matrix of a variable of a constrained
// type that is not what it is declared to be. The function does not allocate
// where there is none.
func wrongItem(v *ir.Var, shape []int) func(x []float64) (item int, wrong string) {
	size := sizeOf(shape[v.Type.Dims:])
	lanes, shape := sizeOf(shape[:v.Type.Dims]), shape[v.Type.Dims:]
	work := sync.Pool{New: func() any { w := make([]float64, size); return &w }}
	return func(x []float64) (int, string) {
		w := work.Get().(*[]float64)
		defer work.Put(w)
		for i := range lanes {
			if wrong := v.Constraint.Kind.Wrong(shape, x[i*size:(i+1)*size], *w, types.Tolerance); wrong != "" {
				return i, wrong
			}
		}
		return 0, ""
	}
}

// checkItems adds the check that a variable is of its constrained type.
func (b *binder) checkItems(v *ir.Var) {
	x := b.numeric(b.pack(b.cell(v)))
	shape, find := x.shape, wrongItem(v, x.shape)
	b.emitEffect([]value{x}, func(g *ad.Graph, a []ad.Ref) {
		g.Require(&ad.Requirement{Wrong: func(x []float64) string {
			if i, wrong := find(x); wrong != "" {
				return interp.ItemName(v, shape, i) + " must be " + v.Constraint.Kind.Text() + ", but " + wrong
			}
			return ""
		}}, a[0])
	})
}

// checkDeclared checks a variable against its declared bounds at the end of its
// block, at every evaluation.
func (b *binder) checkDeclared(v *ir.Var) {
	if v.Constraint.Kind == types.Unconstrained || v.Constraint.Kind == types.OffsetMultiplier {
		return
	}
	b.at(v.Span)
	if v.Constraint.Kind != types.LowerUpper {
		b.checkItems(v)
		return
	}
	x := b.numeric(b.pack(b.cell(v)))
	g := b.root.g
	for k, e := range []ir.Expr{v.Constraint.Lower, v.Constraint.Upper} {
		if e == nil {
			continue
		}
		// NaN fails both comparisons, so the check is of "not in order".
		bound := b.eval(e)
		xr, br := b.use(x, b.root, nil), b.use(bound, b.root, nil)
		lo, hi, rel := br, xr, "at least"
		where := func(x, bound float64) bool { return !(bound <= x) }
		if k == 1 {
			lo, hi, rel = xr, br, "at most"
			where = func(x, bound float64) bool { return !(x <= bound) }
		}
		g.SetSite(b.site())
		wrong := g.Do(ad.OpNot, nil, g.Do(ad.OpLessEqual, nil, lo, hi))
		if data, ok := g.Value(wrong); ok && !slices.Contains(data, 1) {
			continue
		}
		if len(g.Type(wrong).Shape) > 0 {
			wrong = g.Sum(wrong)
		}
		m := &ad.Message{Where: where, Parts: []ad.MessagePart{
			{Text: v.Name, Arg: -1}, {Arg: ad.Which}, {Text: " is ", Arg: -1}, {Arg: 0}, {Text: ", but must be " + rel + " ", Arg: -1}, {Arg: 1}}}
		g.RejectIf(wrong, m, xr, br)
	}
}
