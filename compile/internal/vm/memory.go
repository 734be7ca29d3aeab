package vm

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// finish assigns memory, and replaces slots by their places in it.
//
// The arena holds scalar constants, then scalars, then arrays. With reuse, values that are not live
// at the same time share memory: a scalar takes the free place that was freed last, an array the
// first gap that is large enough.
func (c *emitter) finish(reuse bool) {
	p := c.p
	for _, s := range c.slots {
		if r := &c.roots[s.root]; r.data != nil && !r.touched {
			r.touched, r.off = true, p.memory
			p.init = append(p.init, initial{p.memory, r.data[0]})
			p.memory++
		}
	}
	if reuse {
		c.updateInPlace()
	}
	var scalars, arrays []rootID
	for i := range c.roots {
		r := &c.roots[i]
		if !r.touched || r.in != none || r.data != nil || r.own {
			continue
		}
		if r.n == 1 {
			scalars = append(scalars, rootID(i))
		} else {
			arrays = append(arrays, rootID(i))
		}
	}
	if !reuse {
		for _, r := range append(scalars, arrays...) {
			c.roots[r].lo, c.roots[r].hi = -1, math.MaxInt
		}
	}
	c.placeScalars(scalars)
	p.memory = (p.memory + 7) &^ 7
	c.placeArrays(arrays)

	places := make([]int32, len(c.slots))
	for i, s := range c.slots {
		places[i] = int32(c.place(s.root) + s.off)
	}
	if p.target != nil {
		c.findLocal(p.blocks)
	}
	patchBlocks(p.blocks, places)
	p.findChains(p.blocks)
	p.views = make([]viewSpec, len(c.specs))
	for i, k := range c.specs {
		v := &p.views[i]
		if k.root == none {
			v.unset = true
			continue
		}
		r := &c.roots[k.root]
		switch {
		case r.data != nil:
			v.data = r.data[k.off : k.off+k.n : k.off+k.n]
		case r.bind != nil:
			v.unset = true
		default:
			v.off, v.n, v.own = c.place(k.root)+k.off, k.n, r.own
			v.caller = k.caller
		}
	}
	p.dropCopies(p.blocks)
	for i := range c.updates {
		if u := &c.updates[i]; u.node != nil {
			u.node.InPlace = c.place(u.dst) == c.place(u.src) && !c.roots[u.dst].own
		}
	}
}

// findLocal finds the results of scalar code whose lifetimes are within the code. Machine code need
// not store them.
func (c *emitter) findLocal(bs []block) {
	for i := range bs {
		b := &bs[i]
		if b.kind == scalarBlock {
			b.local = make([]bool, len(b.code))
			for k := range b.code {
				s := c.slots[b.code[k].dst]
				r := &c.roots[s.root]
				b.local[k] = r.n == 1 && r.in == none && r.data == nil && r.bind == nil && r.lo > b.began && r.hi < b.ended
			}
		}
		if b.reg != nil {
			c.findLocal(b.reg.bodies[0])
			c.findLocal(b.reg.bodies[1])
		}
	}
}

// place returns the offset of a root in the arena.
func (c *emitter) place(r rootID) int {
	off := 0
	for ; c.roots[r].in != none; r = c.roots[r].in {
		off += c.roots[r].at
	}
	return off + c.roots[r].off
}

func patchCode(code []instr, places []int32) {
	for k := range code {
		in := &code[k]
		in.dst = places[in.dst]
		in.a = places[in.a]
		if in.op != ad.OpCheck {
			in.b, in.c = places[in.b], places[in.c]
		}
	}
}

func patchBlocks(bs []block, places []int32) {
	for i := range bs {
		b := &bs[i]
		if b.kind == scalarBlock {
			patchCode(b.code, places)
		}
		if p := b.reg; p != nil {
			patchBlocks(p.bodies[0], places)
			patchBlocks(p.bodies[1], places)
			patchCode(p.nextScalars, places)
			for _, ms := range [][]scalarMove{p.laneLoads, p.stepLoads, p.history.scalars, p.keeps[0].scalars, p.keeps[1].scalars} {
				for k := range ms {
					ms[k].slot = places[ms[k].slot]
				}
			}
		}
	}
}

// findChains finds the scans that are chains.
func (p *Program) findChains(bs []block) {
	for i := range bs {
		r := bs[i].reg
		if r == nil {
			continue
		}
		if c, ok := r.control.(*counted); ok && c.tight {
			c.chain = findChain(r)
		}
		p.findChains(r.bodies[0])
		p.findChains(r.bodies[1])
	}
}

// lives is a heap of roots that have a place, ordered by the end of their lifetime.
type lives struct {
	c  *emitter
	rs []rootID
}

func (h *lives) Len() int           { return len(h.rs) }
func (h *lives) Less(i, j int) bool { return h.c.roots[h.rs[i]].hi < h.c.roots[h.rs[j]].hi }
func (h *lives) Swap(i, j int)      { h.rs[i], h.rs[j] = h.rs[j], h.rs[i] }
func (h *lives) Push(x any)         { h.rs = append(h.rs, x.(rootID)) }
func (h *lives) Pop() any {
	r := h.rs[len(h.rs)-1]
	h.rs = h.rs[:len(h.rs)-1]
	return r
}

func (c *emitter) byStart(rs []rootID) {
	sorting.Stable(rs, func(a, b rootID) int { return cmp.Compare(c.roots[a].lo, c.roots[b].lo) })
}

func (c *emitter) placeScalars(rs []rootID) {
	c.byStart(rs)
	var free []int
	active := &lives{c: c}
	for _, id := range rs {
		r := &c.roots[id]
		for len(active.rs) > 0 && c.roots[active.rs[0]].hi < r.lo {
			free = append(free, c.roots[heap.Pop(active).(rootID)].off)
		}
		if n := len(free); n > 0 {
			r.off, free = free[n-1], free[:n-1]
		} else {
			r.off = c.p.memory
			c.p.memory++
		}
		heap.Push(active, id)
	}
}

// placeArrays puts each array, in order of the start of its lifetime, into the first gap between
// live arrays that is large enough (first fit). Arrays start at a multiple of a cache line.
func (c *emitter) placeArrays(rs []rootID) {
	c.byStart(rs)
	if len(rs) > manyArrays {
		c.placeMany(rs)
		return
	}
	base := c.p.memory
	var active []rootID // in order of their place
	for _, id := range rs {
		r := &c.roots[id]
		active = slices.DeleteFunc(active, func(a rootID) bool { return c.roots[a].hi < r.lo })
		at, k := base, 0
		for ; k < len(active); k++ {
			a := &c.roots[active[k]]
			if a.off-at >= r.n {
				break
			}
			at = max(at, (a.off+a.n+7)&^7)
		}
		r.off = at
		active = slices.Insert(active, k, id)
		c.p.memory = max(c.p.memory, at+r.n)
	}
}

// placeMany puts each array, in order of the start of its lifetime, where an array of the same size
// (rounded up to a cache line) is no longer live, or at the end.
func (c *emitter) placeMany(rs []rootID) {
	alive := &lives{c: c}
	free := map[int][]int{} // for each size, the free places
	for _, id := range rs {
		r := &c.roots[id]
		for alive.Len() > 0 && c.roots[alive.rs[0]].hi < r.lo {
			dead := &c.roots[heap.Pop(alive).(rootID)]
			n := (dead.n + 7) &^ 7
			free[n] = append(free[n], dead.off)
		}
		n := (r.n + 7) &^ 7
		if places := free[n]; len(places) > 0 {
			r.off, free[n] = places[len(places)-1], places[:len(places)-1]
		} else {
			r.off = (c.p.memory + 7) &^ 7
			c.p.memory = r.off + n
		}
		heap.Push(alive, id)
	}
}
