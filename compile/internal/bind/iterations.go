package bind

import (
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/ir"
)

// Loops as the iterations that they have: numbers, an axis of lanes, and what makes the
// loop variable's value of them.

// loop is a loop about to run.
type loop struct {
	body ir.Stmt
	v    *ir.Var
	// bind makes the loop variable's value from the iteration number (from 1).
	bind func(i value) value

	tracked []tracked    // integers known before every iteration
	groups  lanes.Groups // in which iterations run, in lanes
	across  []ir.Stmt    // inner loops that keep a plan from being a recurrence
	steps   []ir.Stmt    // those of them whose iterations depend on one another through loops within
	why     []string     // why it was not evaluated in the ways that were looked at so far
}

// iterations is the axis of n iterations in every lane in force, and their
// numbers from 1.
func (b *binder) iterations(n int) (*axis, value) {
	ax, i := lanes.Iterations(n, b.axis, b.lvl, b.reserve)
	return ax, ofLanes(i)
}

// ragged is a loop whose bounds differ between lanes: one axis of all iterations.
func (b *binder) ragged(s *ir.For, from, to value) (*axis, *loop, value) {
	ax, i := lanes.Ragged(from.known(), to.known(), b.axis, b.reserve)
	return ax, &loop{body: s.Body, v: s.Var, bind: func(i value) value { return i }}, ofLanes(i)
}

func addInt(v value, by int64) value {
	v.ints = v.known().Plus(by).Ints
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
		acc := lanes.Access{Index: lanes.Contiguous(over.shape[1:])}
		size := sizeOf(over.shape[1:])
		if i.axis == nil {
			acc.Index.Offset += int(i.ints[0]-1) * size
		} else {
			acc.Axis, acc.Base = i.axis, make([]int32, len(i.ints))
			for l, x := range i.ints {
				acc.Base[l] = int32(int(x-1) * size)
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
