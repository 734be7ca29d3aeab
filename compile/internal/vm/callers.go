package vm

import (
	"cmp"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// This file lets strips read the point, and write the gradient, in the memory of Gradient's caller.
// In thousands of dimensions, copying both takes a fifth of the time of a cheap gradient.
//
// Blocks of the main body that consist of several strips show inputs, and elements of arrays that
// are outputs, by separate views. Machine code reads the addresses of these views from the table of
// views. Normally they show the machine's memory; Gradient sets them for one evaluation. What other
// code reads of the point is still copied. A view of an output is set only if no other code, such
// as scalar code, touches the same elements.

// callers is what Gradient does if it does not copy everything.
type callers struct {
	views           []callersView
	point, gradient []transfer // what is still copied
}

// callersView is a view of n numbers of the point or the gradient, from position at on.
type callersView struct {
	view     int32
	gradient bool
	at, n    int
}

// maxCallers is the maximum number of such views. Setting one takes a few nanoseconds.
const maxCallers = 64

// isExchanged reports whether a root is an input or is part of a root that contains an output.
func (e *emitter) isExchanged(r rootID) bool {
	if e.exchanged == nil {
		e.exchanged = map[rootID]bool{}
		for _, r := range e.nest.Inputs {
			e.exchanged[r] = true
		}
		for _, v := range e.nest.Outputs {
			top, _ := e.top(v.Buf)
			e.exchanged[top] = true
		}
	}
	top, _ := e.top(r)
	return e.roots[top].data == nil && (e.exchanged[r] || e.exchanged[top])
}

// top returns the root that contains r and is not part of another one, and the position of r in it.
func (e *emitter) top(r rootID) (top rootID, at int) {
	for ; e.roots[r].in != none; r = e.roots[r].in {
		at += e.roots[r].at
	}
	return r, at
}

// elements returns the view of a value with one element for each of the block.
func (s *stripper) elements(v val) int32 {
	if !s.multi || s.Body != s.nest.Main || v.Rep || v.N != s.b.n || !s.isExchanged(v.Buf) {
		return s.view(v)
	}
	key := viewKey{root: v.Buf, off: v.Off, n: v.N, caller: true}
	id, ok := s.viewIDs[key]
	if !ok {
		id = s.newView(key)
		s.viewIDs[key] = id
	}
	return id
}

// stretch is a part of a root that is not part of another one. For parts of the point and the
// gradient, at is the position there.
type stretch struct {
	root     rootID
	from, to int
	at       int
}

func (a *stretch) overlaps(b *stretch) bool {
	return a.root == b.root && a.from < b.to && b.from < a.to
}

func (a *stretch) contains(b *stretch) bool {
	return a.root == b.root && a.from <= b.from && b.to <= a.to
}

// shown returns the elements that a view shows.
func (e *emitter) shown(k viewKey) stretch {
	top, at := e.top(k.root)
	return stretch{root: top, from: at + k.off, to: at + k.off + k.n}
}

// findCallers decides which views Gradient sets. The first blocks views are those of blocks; those
// of outputs follow, up to used.
func (e *emitter) findCallers(blocks, used int) {
	if !slices.ContainsFunc(e.specs[:blocks], func(k viewKey) bool { return k.caller }) {
		return // without an allocation
	}
	var asked []int32 // views that Gradient could set
	var other []stretch
	for i, k := range e.specs[:blocks] {
		switch {
		case k.caller:
			asked = append(asked, int32(i))
		case k.root != none:
			other = append(other, e.shown(k))
		}
	}
	for _, s := range e.slots {
		other = append(other, e.shown(viewKey{root: s.root, off: s.off, n: 1}))
	}
	inputs, outputs := make([]stretch, 0, len(e.nest.Inputs)), make([]stretch, 0, len(e.nest.Outputs))
	add := func(to []stretch, v val) []stretch {
		s := e.shown(viewKey{root: v.Buf, off: v.Off, n: v.N})
		if n := len(to); n > 0 {
			s.at = to[n-1].at + to[n-1].to - to[n-1].from
		}
		return append(to, s)
	}
	for _, r := range e.nest.Inputs {
		inputs = add(inputs, e.whole(r))
	}
	for _, v := range e.nest.Outputs[min(1, len(e.nest.Outputs)):] {
		outputs = add(outputs, v)
	}
	// A view of an output that Gradient does not set is other code for the remaining ones.
	free := func(s *stretch) bool {
		return !slices.ContainsFunc(other, func(o stretch) bool { return o.overlaps(s) })
	}
	c := &callers{}
	for n := -1; len(asked) != n && len(asked) <= maxCallers; {
		n, c.views = len(asked), c.views[:0]
		asked = slices.DeleteFunc(asked, func(view int32) bool {
			s := e.shown(e.specs[view])
			v := callersView{view: view, n: s.to - s.from}
			if k := slices.IndexFunc(inputs, func(in stretch) bool { return in.contains(&s) }); k >= 0 {
				v.at = inputs[k].at + s.from - inputs[k].from
			} else if k := only(outputs, &s); k >= 0 && free(&s) {
				v.gradient, v.at = true, outputs[k].at+s.from-outputs[k].from
			} else {
				other = append(other, s)
				e.p.views[view].caller = false
				return true
			}
			c.views = append(c.views, v)
			return false
		})
	}
	if len(asked) == 0 || len(asked) > maxCallers {
		for _, view := range asked {
			e.p.views[view].caller = false
		}
		return
	}
	var written []stretch
	for _, v := range c.views {
		if v.gradient {
			written = append(written, e.shown(e.specs[v.view]))
		}
	}
	for _, k := range e.specs[blocks:used] { // outputs, which may be inputs
		other = append(other, e.shown(k))
	}
	for i := range inputs {
		c.point = append(c.point, e.transfers(inputs[i], other, true)...)
	}
	for i := range outputs {
		if v := e.p.outputs[1+i]; e.p.views[v].data != nil {
			c.gradient = append(c.gradient, transfer{at: outputs[i].at, n: outputs[i].to - outputs[i].from, view: v})
			continue
		}
		c.gradient = append(c.gradient, e.transfers(outputs[i], written, false)...)
	}
	e.p.callers = c
}

// only returns the index of the stretch that contains s, or -1 if none does or another one overlaps
// it.
func only(all []stretch, s *stretch) int {
	at := -1
	for i := range all {
		switch {
		case !all[i].overlaps(s):
		case at >= 0 || !all[i].contains(s):
			return -1
		default:
			at = i
		}
	}
	return at
}

// transfers returns the parts of s that are covered by others, or those that are not.
func (e *emitter) transfers(s stretch, by []stretch, covered bool) (ts []transfer) {
	var parts []stretch
	for i := range by {
		if by[i].overlaps(&s) {
			parts = append(parts, stretch{from: max(by[i].from, s.from), to: min(by[i].to, s.to)})
		}
	}
	sorting.Stable(parts, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	add := func(from, to int) {
		if from < to {
			ts = append(ts, transfer{at: s.at + from - s.from, n: to - from, view: -1, off: e.roots[s.root].off + from})
		}
	}
	end := s.from // the end of the parts so far
	for _, p := range parts {
		if covered {
			add(max(p.from, end), p.to)
		} else {
			add(end, p.from)
		}
		end = max(end, p.to)
	}
	if !covered {
		add(end, s.to)
	}
	return ts
}

// withCallers is Gradient with the point and the gradient in the memory of the caller.
func (m *Machine) withCallers(c *callers, env *ad.Env, x, grad []float64) (float64, error) {
	m.take(c.point, x)
	for i := range c.views {
		v := &c.views[i]
		from := x
		if v.gradient {
			from = grad
		}
		if v.at+v.n <= len(from) {
			m.views[v.view] = from[v.at : v.at+v.n : v.at+v.n]
		}
	}
	m.env = env
	err := m.run(m.p.blocks)
	for i := range c.views {
		v := &c.views[i]
		s := &m.p.views[v.view]
		m.views[v.view] = m.mem[s.off : s.off+s.n : s.off+s.n]
	}
	if err != nil {
		return 0, err
	}
	m.give(c.gradient, grad)
	return m.Output(0)[0], nil
}
