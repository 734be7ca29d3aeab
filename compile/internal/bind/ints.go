package bind

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// Integers that a loop in lanes writes to variables of outside are known, so
// they are looked up and stored at once instead of becoming nodes of a graph.

// intAt is position p of known integers in lane l of ax.
func intAt(v value, ax *axis, up []int32, l, p int) int64 {
	n := v.size()
	if len(v.shape) == 0 {
		p = 0
	}
	if v.axis == nil {
		return v.ints[p]
	}
	if up != nil {
		l = int(up[l])
	}
	return v.ints[l*n+p]
}

// upTo is the map of ax's lanes to those of the axis of known integers; nil if
// they are the same or there is none.
func upTo(ax, of *axis) []int32 {
	if of == nil || of == ax {
		return nil
	}
	return ax.lanesOf(of)
}

// at is the integer of an entry at a position of its flat value.
func (e *entry) at(pos int32) int64 {
	n := len(e.offs)
	return intAt(e.val, e.ax, upTo(e.ax, e.val.axis), int(pos)/n, int(pos)%n)
}

// readInts is the part of readOuter for integers.
func (b *binder) readInts(f *frame, c *cell, v *ir.Var, rec *readRecord, ax *axis, acc access, typ types.Type) value {
	before := value{}
	if slices.ContainsFunc(rec.from, func(s origin) bool { return s.e == nil }) {
		before = b.readOuter(f.parent, c, v, acc, typ)
		if before.ints == nil {
			panic(&abort{reason: "an integer variable whose value is not known"})
		}
	}
	width := len(rec.offs)
	out := value{typ: typ, shape: acc.ix.Shape(), axis: ax, ints: make([]int64, len(rec.from))}
	up := upTo(ax, before.axis)
	for i, s := range rec.from {
		if s.e == nil {
			out.ints[i] = intAt(before, ax, up, i/width, i%width)
		} else {
			out.ints[i] = s.e.at(s.pos)
		}
	}
	return out
}

// commitInts applies the log of an integer variable.
func (b *binder) commitInts(f *frame, c *cell, v *ir.Var, lg *log) {
	old := b.load(c, v, wholeOf(c.shape), c.typ)
	if old.ints == nil {
		panic(&abort{reason: "an integer variable whose value is not known"})
	}
	lanes := 1
	if c.home != nil {
		lanes = c.home.n
	}
	ints := make([]int64, lanes*c.size)
	up := upTo(c.home, old.axis)
	for l := range lanes {
		for p := range c.size {
			ints[l*c.size+p] = intAt(old, c.home, up, l, p)
		}
	}
	type last struct{ lane, seq int }
	written := map[int32]last{}
	for _, e := range lg.entries {
		eu := upTo(e.ax, e.val.axis)
		for l, s := range e.base {
			lane := int(frameLane(e.lane, l))
			for p, o := range e.offs {
				if w, ok := written[s+o]; ok && (w.lane > lane || w.lane == lane && w.seq > e.seq) {
					continue
				}
				written[s+o] = last{lane, e.seq}
				ints[s+o] = intAt(e.val, e.ax, eu, l, p)
			}
		}
	}
	for _, e := range lg.sums {
		eu := upTo(e.ax, e.val.axis)
		for l, s := range e.base {
			for p, o := range e.offs {
				x := intAt(e.val, e.ax, eu, l, p)
				if e.negate {
					x = -x
				}
				ints[s+o] += x
			}
		}
	}
	w := value{typ: c.typ, shape: c.shape, axis: c.home, ints: ints, param: c.param}
	b.saveForBranch(c)
	b.journal.note(c)
	if b.axis == c.home {
		c.setWhole(w)
		return
	}
	b.writeLocal(c, wholeOf(c.shape), w, b.axis)
}
