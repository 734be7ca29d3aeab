package vm

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// This file updates arrays in place.
//
// The nest is in SSA form: replacing an element of an array makes another array, a carried array is
// a different one in each step, and the result of a conditional is a copy of a branch's value. This
// file puts these versions of an array into one piece of memory, if no version is read after the
// next one exists. Compilers do such copy coalescing when they leave SSA form. It runs when all
// code has been emitted, because it uses the times at which arrays are read.

// interval is an interval of time that includes both ends.
type interval struct{ from, to int }

// update says that the array dst may use the memory of src from time t on: their values are equal
// except for a few elements.
type update struct {
	dst, src rootID
	body     *loopnest.Body // the body in which dst is made
	t        int
	node     *node            // the node that changes elements; nil: no node does
	others   []rootID         // the other roots that the node reads
	sides    [2]rootID        // for a conditional: the result of each branch
	merges   bool             // dst is the result of a conditional
	region   *loopnest.Region // set if the region passes its carried values to the next step here
}

// mayUpdate records a node that changes elements of an array.
func (x *context) mayUpdate(n *node, t int) {
	if n.Kind != loopnest.Array || n.Op != ad.OpReplace && n.Op != ad.OpAddAt {
		return
	}
	u := update{dst: n.Dst, src: n.Args[0].Buf, body: x.Body, t: t, node: n}
	if n.Args[0] != x.whole(u.src) {
		return
	}
	for _, a := range n.Args[1:] {
		u.others = append(u.others, a.Buf)
	}
	x.updates = append(x.updates, u)
}

// mayGoOn records a carried value that starts from an existing array.
func (x *context) mayGoOn(reg *loopnest.Region, c loopnest.Carry, t int) {
	if reg.Lanes <= 1 && c.Init.Value == x.whole(c.Init.Buf) {
		x.updates = append(x.updates, update{dst: c.Buf, src: c.Init.Buf, body: x.Body, t: t})
	}
}

// mayMerge records a conditional that returns an existing array, in which each branch may have
// changed elements.
func (x *context) mayMerge(reg *loopnest.Region, n *node, t int) {
	if reg.Layout.Control != ad.Chosen || reg.Lanes > 1 {
		return
	}
	for i, k := range reg.Outs[0] {
		o := reg.Outs[1][i]
		if k.Value != x.whole(k.Buf) || o.Value != x.whole(o.Buf) || k.Dst != o.Dst || x.roots[k.Dst].n < minUpdated {
			continue
		}
		for _, a := range n.Args[1:] {
			if a == x.whole(a.Buf) && a.N == x.roots[k.Dst].n {
				x.updates = append(x.updates, update{dst: k.Dst, src: a.Buf, body: x.Body, t: t, sides: [2]rootID{k.Buf, o.Buf}, merges: true})
			}
		}
	}
}

// passedOn records that a region passes on its carried values.
func (x *context) passedOn(reg *loopnest.Region, t int) {
	x.updates = append(x.updates, update{body: x.Body, t: t, region: reg, dst: none, src: none})
}

// startsOnly reports whether argument k of a region is read only as the first value of a carried
// value.
func startsOnly(reg *loopnest.Region, k int) bool {
	if k >= len(reg.Carries) || reg.Lanes > 1 || reg.Carries[k].Init.Rep {
		return false
	}
	buf := reg.Carries[k].Init.Buf
	for i, c := range reg.Carries {
		if i != k && c.Init.Buf == buf {
			return false
		}
	}
	return !slices.ContainsFunc(reg.Bindings, func(b *loopnest.Binding) bool { return b.Src.Buf == buf })
}

// carries reports whether a root is a carried value of the region.
func carries(reg *loopnest.Region, r rootID) bool {
	return slices.ContainsFunc(reg.Carries, func(c loopnest.Carry) bool { return c.Buf == r })
}

// updateInPlace decides which arrays use the memory of others.
func (e *emitter) updateInPlace() {
	parts := make([]bool, len(e.roots)) // for each root, whether others are parts of it
	for i := range e.roots {
		if in := e.roots[i].in; in != none && !e.isFinal(rootID(i)) {
			parts[in] = true
		}
	}
	for i := range e.updates {
		u := &e.updates[i]
		switch {
		case u.region != nil:
			e.separate(u.region)
		case e.fits(u, parts):
			e.join(u.dst, u.src)
		}
	}
}

// isFinal reports whether a root is the final value of a carried value and uses its memory.
func (e *emitter) isFinal(r rootID) bool {
	in := e.roots[r].in
	return in != none && e.roots[r].n == e.roots[in].n && e.roots[r].at == 0
}

// fits reports whether an array may use the memory of the array that it is made from.
func (e *emitter) fits(u *update, parts []bool) bool {
	d, s := &e.roots[u.dst], &e.roots[u.src]
	if d.n != s.n || d.n < minUpdated || d.data != nil || s.data != nil || d.bind != nil || s.bind != nil || d.own || s.own {
		return false
	}
	if d.in != none || s.in != none && !e.isFinal(u.src) || parts[u.dst] || parts[u.src] || u.dst == u.src || len(d.clears) > 0 {
		return false
	}
	if !e.touchedIn(u.src, u.body) {
		return false
	}
	memory := e.memoryOf(u.src)
	if memory == e.memoryOf(u.dst) || e.roots[memory].own {
		return false
	}
	for _, o := range u.others {
		if e.memoryOf(o) == memory {
			return false
		}
	}
	if u.merges {
		for _, side := range u.sides {
			if e.memoryOf(side) != memory {
				return false
			}
		}
	}
	for r := u.src; r != none; r = e.roots[r].in {
		if slices.ContainsFunc(e.roots[r].reads, func(t int) bool { return t > u.t && !e.elsewhere(u.body, t) }) {
			return false
		}
	}
	return true
}

// elsewhere reports whether the code that runs at time t is in a branch that excludes body b.
func (e *emitter) elsewhere(b *loopnest.Body, t int) bool {
	for ; b.Region != nil; b = b.Parent {
		for _, other := range b.Region.Bodies {
			if s, ok := e.sides[other]; ok && other != b && t >= s.from && t <= s.to {
				return true
			}
		}
	}
	return false
}

// touchedIn reports whether each run of body b makes array r anew, or carries it. The branches of a
// conditional count as part of the body that contains the conditional.
func (e *emitter) touchedIn(r rootID, b *loopnest.Body) bool {
	for {
		if e.roots[r].body == b {
			return true
		}
		reg := b.Region
		if reg == nil {
			return false
		}
		if reg.Layout.Control != ad.Chosen {
			return b == reg.Bodies[len(reg.Bodies)-1] && carries(reg, r)
		}
		if reg.Lanes > 1 {
			return false
		}
		b = b.Parent
	}
}

// memoryOf returns the root whose memory r uses.
func (e *emitter) memoryOf(r rootID) rootID {
	for e.roots[r].in != none {
		r = e.roots[r].in
	}
	return r
}

// join moves an array to the memory of another one, whose lifetime then covers both.
func (e *emitter) join(dst, src rootID) {
	d, s := &e.roots[dst], &e.roots[e.memoryOf(src)]
	d.in, d.at = src, 0
	s.lo, s.hi, s.touched = min(s.lo, d.lo), max(s.hi, d.hi), s.touched || d.touched
}

// separate undoes joins with a carried value that becomes the next value of another carried value.
// The two are passed on one after the other, so the first would overwrite the second.
func (e *emitter) separate(reg *loopnest.Region) {
	for i, c := range reg.Carries {
		for j, d := range reg.Carries {
			if i == j || c.Next.Buf == d.Buf || !e.within(c.Next.Buf, d.Buf) || e.within(d.Next.Buf, d.Buf) && e.whole(d.Next.Buf) == d.Next {
				continue
			}
			for r := range e.roots {
				if x := &e.roots[r]; x.in == d.Buf && x.body != e.roots[d.Buf].body && !e.isFinalOf(rootID(r), reg) {
					x.in = none
				}
			}
		}
	}
}

// isFinalOf reports whether a root is a final value of this region.
func (e *emitter) isFinalOf(r rootID, reg *loopnest.Region) bool {
	return slices.ContainsFunc(reg.Results, func(v loopnest.LaneValue) bool { return v.Buf == r })
}

// within reports whether r uses the memory of root `of`.
func (e *emitter) within(r, of rootID) bool {
	for ; r != none; r = e.roots[r].in {
		if r == of {
			return true
		}
	}
	return false
}

// dropCopies removes copies of arrays onto themselves.
func (p *Program) dropCopies(bs []block) {
	same := func(c copying) bool {
		d, s := &p.views[c.dst], &p.views[c.src]
		return !c.rep && c.lane == 0 && c.step == 0 && !d.unset && !s.unset && d.data == nil && s.data == nil && d.own == s.own && d.off == s.off && c.n > 1
	}
	for i := range bs {
		b := &bs[i]
		if b.reg == nil {
			continue
		}
		p.dropCopies(b.reg.bodies[0])
		p.dropCopies(b.reg.bodies[1])
		r := b.reg
		lanes := r.lanes
		r.inits = slices.DeleteFunc(r.inits, func(c copying) bool { return lanes == 1 && same(c) })
		r.nexts = slices.DeleteFunc(r.nexts, same)
		if _, ok := r.control.(*chosen); ok && lanes == 1 {
			for side := range r.keeps {
				ks := &r.keeps[side]
				ks.arrays = slices.DeleteFunc(ks.arrays, func(c copying) bool { c.lane = 0; return same(c) })
			}
		}
	}
}

// inPlace reports whether a block changes elements of an array in the array's own memory.
func (p *Program) inPlace(b *block) bool {
	d, s := &p.views[b.dst], &p.views[b.args[0]]
	return !d.unset && !s.unset && d.data == nil && s.data == nil && d.own == s.own && d.off == s.off
}
