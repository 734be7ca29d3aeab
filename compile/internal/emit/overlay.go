package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/ir"
)

// Copies on which units work. What a unit under way writes to a variable is kept apart
// from what other units write; within a unit that parameters hold together, or whose
// elements are not known beforehand, it is a separate variable.

// overlay is a unit's own copy of elements of a variable: of a statement that
// parameters hold together, or whose elements are not known beforehand. Within
// the unit it is an ordinary variable; what it holds in the end is what the unit
// writes.
type overlay struct {
	w     *write
	whole bool
	temp  *cell
	delta bool // of additions alone: what is added
}

// resolve is the variable that an access is to, and the access to it, where units
// under way work on copies: the unit of a nest on a copy of what the unit around works
// on.
func (vs *variables) resolve(c *cell, acc lanes.Access) (*cell, lanes.Access) {
	for o := vs.overlayOn(vs.at.nest, c); o != nil; o = vs.overlayOn(vs.at.nest, c) {
		switch {
		case o.whole:
		case vs.sameElements(o.w, acc):
			acc = lanes.WholeOf(o.temp.shape)
		default:
			panic(&fault{Reason: "elements that were not foreseen"})
		}
		c = o.temp
	}
	return c, acc
}

// overlayOn is the overlay of the units of n and of the nests around it for a cell.
func (vs *variables) overlayOn(n *nest, c *cell) *overlay {
	for ; n != nil; n = n.around {
		if n.unit != nil && n.unit.overlays[c] != nil {
			return n.unit.overlays[c]
		}
	}
	return nil
}

// overlayOf is the innermost overlay of units under way for a variable, nil if there is
// none.
func (vs *variables) overlayOf(c *cell) (last *overlay) {
	for o := vs.overlayOn(vs.at.nest, c); o != nil; o = vs.overlayOn(vs.at.nest, o.temp) {
		last = o
	}
	return last
}

// storage is the cell that holds a variable, or the copy of it or of elements of it
// on which a unit under way works.
func (vs *variables) storage(v *ir.Var) *cell {
	c := vs.cell(v)
	if o := vs.overlayOf(c); o != nil {
		return o.temp
	}
	return c
}

// sameElements reports whether an access by the unit under way, perhaps known for
// more iterations than execute it, is to the elements of the write.
func (vs *variables) sameElements(w *write, acc lanes.Access) bool {
	ax := lanes.Innermost(w.u.Domain, acc.Axis)
	offs, of := acc.Offsets(), w.acc.Offsets()
	if len(offs) != len(of) {
		return false
	}
	// What is the same in all lanes may stand with the lanes or with the offsets.
	apart := int32(0)
	for p := range offs {
		if p == 0 {
			apart = of[0] - offs[0]
		}
		if of[p]-offs[p] != apart {
			return false
		}
	}
	return slices.EqualFunc(acc.FlatBase(nil, ax, 0), w.acc.FlatBase(nil, ax, 0), func(x, y int32) bool { return x-y == apart })
}

// record keeps the value that the unit under way writes.
func (vs *variables) record(h *history, val value, negate bool) {
	w := h.ofUnit(vs.at.nest.unit)
	if w == nil {
		panic(&fault{Reason: "a write that was not foreseen"})
	}
	w.val, w.negate = val, negate
}
