package bind

import (
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// Loops as the iterations that they have: numbers, an axis of lanes, and what makes the
// loop variable's value of them.

// loop is a loop about to run.
type loop struct {
	body ir.Stmt
	v    *ir.Var
	// bind makes the loop variable's value from the iteration number (from 1).
	bind func(i value) value

	tracked []tracked // integers known before every iteration
	groups  groups    // in which iterations run, in lanes
	across  []ir.Stmt // inner loops that keep a plan from being a recurrence
	steps   []ir.Stmt // those of them whose iterations depend on one another through loops within
	why     []string  // why it was not evaluated in the ways that were looked at so far
}

// iterations is the axis of n iterations in every lane in force, and their
// numbers from 1.
func (b *binder) iterations(n int) (*axis, value) {
	ax := &axis{N: n, Parent: b.axis, Level: b.lvl}
	if b.axis != nil {
		ax.N *= b.axis.N
		ax.Level = b.axis.Level
	}
	b.reserveLanes(ax.N)
	ints := make([]int64, ax.N)
	ax.Up = make([]int32, ax.N)
	for i := range ints {
		ints[i] = int64(i%n) + 1
		ax.Up[i] = int32(i / n)
	}
	return ax, value{typ: types.IntType, axis: ax, ints: ints}
}

// ragged is a loop whose bounds differ between lanes: one axis of all iterations.
func (b *binder) ragged(s *ir.For, from, to value) (*axis, *loop, value) {
	ax := innermost(b.axis, innermost(from.axis, to.axis))
	inner := &axis{Parent: ax, Level: levelOf(ax)}
	upFrom, upTo := plan.UpTo(ax, from.axis), plan.UpTo(ax, to.axis)
	for l := range ax.N {
		n := int(max(0, intAt(to, ax, upTo, l, 0)-intAt(from, ax, upFrom, l, 0)+1))
		b.reserveLanes(n)
		inner.N += n
	}
	ints := make([]int64, 0, inner.N)
	inner.Up = make([]int32, 0, inner.N)
	for l := range ax.N {
		for i := intAt(from, ax, upFrom, l, 0); i <= intAt(to, ax, upTo, l, 0); i++ {
			inner.Up = append(inner.Up, int32(l))
			ints = append(ints, i)
		}
	}
	lp := &loop{body: s.Body, v: s.Var, bind: func(i value) value { return i }}
	i := value{typ: types.IntType, axis: inner, ints: ints}
	return inner, lp, i
}

func addInt(v value, by int64) value {
	if by == 0 {
		return v
	}
	ints := make([]int64, len(v.ints))
	for i, x := range v.ints {
		ints[i] = x + by
	}
	v.ints = ints
	return v
}

// overElements is the loop over the elements of a container, and their number.
func (b *binder) overElements(s *ir.ForEach) (int, *loop) {
	over := b.eval(s.Over)
	n := 0
	if len(over.shape) > 0 {
		n = over.shape[0]
	}
	element := func(i value) value {
		acc := access{ix: contiguous(over.shape[1:])}
		size := sizeOf(over.shape[1:])
		if i.axis == nil {
			acc.ix.Offset += int(i.ints[0]-1) * size
		} else {
			acc.axis, acc.base = i.axis, make([]int32, len(i.ints))
			for l, x := range i.ints {
				acc.base[l] = int32(int(x-1) * size)
			}
		}
		v := b.gather(over, acc, s.Var.Type)
		v.typ = s.Var.Type
		return v
	}
	return n, &loop{body: s.Body, v: s.Var, bind: element}
}

func (b *binder) bindVar(lp *loop, i value) {
	v := lp.bind(i)
	c := b.newCell(lp.v, lp.v.Name, lp.v.Type, v.shape)
	c.param = v.param
	c.state = state{whole: &v}
	b.cells[lp.v.ID] = c
}
