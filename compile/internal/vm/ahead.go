package vm

import (
	"math"
	"slices"
	"unsafe"

	"github.com/ppl-lang/ppl/compile/internal/native"
)

// This file: chains by look-ahead. With a and b such that a step is n·a + b, the number after step
// t is n(t-4)·A(t) + B(t), where
//
//	A(t) = a(t)·a(t-1) · a(t-2)·a(t-3)
//	B(t) = a(t)·a(t-1) · (a(t-2)·b(t-3) + b(t-2)) + (a(t)·b(t-1) + b(t))
//
// Portable code and machine code of all widths round each of these operations alike, so they
// compute the same bits. Only roots are computed step by step by portable code, which is faster
// there.
//
// The error is a few roundings of each term of the sum that a number is, as it is step by step. But
// a product of four factors may leave the range of numbers where the chain does not. So the chain
// goes on step by step from the first group in which a number or a factor is not less than
// maxAhead. That finds every overflow, and it gives numbers that are truly infinite or NaN as the
// definition does. Where a product underflows, the error is less than 1e-140: a number less than
// maxAhead, two factors less than maxAhead, and the least number.

const (
	group    = 4 // number of steps of a group, and the distance by which it looks ahead
	maxAhead = 1e60
	// minAhead is the least number of steps: 50 take some 100 ns by look-ahead, of which 70 are its
	// beginning and end, or one by one in machine code.
	minAhead = 48
)

// Positions of addresses in Machine.addresses.
const (
	atX, atY, atZ, atKeeps, atHistory, numAddresses = 0, 1, 2, 3, 4, 5
)

// neighbours returns the distance in memory between the steps of a chain whose streams and results
// are contiguous, 1 or -1; otherwise 0. p is the region of the chain.
func (c *chain) neighbours(p *regionPlan) int {
	apart := func(m scalarMove) bool { return m.step != 1 }
	for _, o := range []chainOperand{c.x, c.y, c.z} {
		if o.stream >= 0 && apart(p.stepLoads[o.stream]) {
			return 0
		}
	}
	kept := slices.Concat(c.keeps, c.history)
	switch {
	case len(kept) == 0 || slices.ContainsFunc(kept, apart):
		return 0
	case p.control.(*counted).reverse:
		return -1
	}
	return 1
}

// brief reports whether machine code that runs step by step is faster, as there are few steps. The
// code of roots would round differently.
func (c *chain) brief(steps int) bool { return steps < minAhead && c.form != rootForm }

// ahead runs most steps of a chain by look-ahead: the first few are run step by step, and the last
// ones are left over. It returns the number after the steps that it has run, and how many these
// are. fn is the machine code, if there is any.
func (c *chain) ahead(w *chainWalk, m *Machine, fn *native.Func, n float64, steps int) (float64, int) {
	for k := range group {
		if f := w.y.at(k); !(math.Abs(f) < maxAhead) {
			return n, 0
		}
	}
	n = c.run(w, n, group)
	groups := (steps - group - 1) / group // the history of the step after the last one must exist
	if len(c.history) > 0 {
		w.history.data[w.history.pos+group*w.history.step] = n
	}
	left := 0
	if fn != nil {
		w.addresses(&m.addresses)
		left = fn.Run(m.memory, m.viewTable, m.scratchMemory, int(uintptr(unsafe.Pointer(&m.addresses))), groups, 0)
	} else {
		left = c.groups(w, groups)
	}
	done := group * (1 + groups - left)
	if len(c.keeps) > 0 {
		return w.keeps.at(done - 1), done
	}
	return w.history.at(done), done
}

// addresses sets the addresses of the operands of the second group. A group is a vector, of
// which the step that comes first in memory counts. The history of a step is the number after the
// step before.
func (w *chainWalk) addresses(as *[numAddresses]uintptr) {
	for i, o := range [...]*walkOperand{atX: &w.x, atY: &w.y, atZ: &w.z, atKeeps: &w.keeps, atHistory: &w.history} {
		steps := group
		if i == atHistory {
			steps++
		}
		if o.step < 0 {
			steps += group - 1
		}
		as[i] = uintptr(unsafe.Pointer(unsafe.SliceData(o.data))) + uintptr(8*(o.pos+steps*o.step))
	}
}

// groups runs groups of steps by look-ahead in Go, from the second on. It ends before the first
// group that must be run step by step, and returns the number of groups that are left.
func (c *chain) groups(w *chainWalk, groups int) int {
	kept, before := w.keeps, w.history
	before.pos += before.step // the history of the step after
	x, y, z := w.x, w.y, w.z
	var last [group]float64
	for k := range last {
		if len(c.keeps) > 0 {
			last[k] = kept.at(k)
		} else {
			last[k] = before.at(k)
		}
	}
	// Coefficients of a step, and those of it and the step before. Those of the first group are
	// computed in a round without results.
	var a, b, a2, b2, a2Before, b2Before float64
	for t := range group * (1 + groups) {
		a1, b1, a22, b22 := a, b, a2Before, b2Before
		a2Before, b2Before = a2, b2
		a = y.data[y.pos]
		switch c.form {
		case linearForm:
			b = z.data[z.pos]
		case shiftedForm:
			b = x.data[x.pos] * a
		default:
			b = float64(x.data[x.pos]*a) + z.data[z.pos]
		}
		a2, b2 = a*a1, float64(a*b1)+b
		if t >= group {
			v := float64(last[t%group]*float64(a2*a22)) + (float64(a2*b22) + b2)
			if !(math.Abs(v) < maxAhead && math.Abs(a) < maxAhead) {
				return groups + 1 - t/group
			}
			last[t%group] = v
			kept.data[kept.pos], before.data[before.pos] = v, v
		}
		x.pos += x.step
		y.pos += y.step
		z.pos += z.step
		kept.pos += kept.step
		before.pos += before.step
	}
	return 0
}
