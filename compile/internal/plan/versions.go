package plan

import (
	"iter"
	"slices"
)

// History records the writes to a variable: the versions of its elements, each written by one unit
// in one iteration.
type History struct {
	*Variable
	plan *Plan

	Writes []*Write // by unit, in program order
	Sum    bool     // units only add to it: their order does not matter

	// There are two cases. If Private, every iteration of the declaration's domain has its own
	// elements, and the units that write them have exactly that domain. The order of the units
	// alone then determines the last write.
	Private bool
	// Otherwise versions[starts[k]:starts[k+1]] are the versions of element first + k·stride, in
	// program order. Other elements have none. So a nest that writes one row or column of a table
	// costs as much as the row, not as the table.
	first, stride int32
	starts        []int32
	versions      []version
	order         []version // the writes of all lanes in program order; pos is the lane

	// For Origins: the last read, by place; the number of calls; the reads whose origins are kept.
	reads []read
	calls int32
	kept  map[readKey][]keptRead
}

// Write is a write of a unit. Position p of lane l of its value goes to element Base[l]+Offsets[p]
// of the variable's flat content: all lanes of its home, one after another.
type Write struct {
	History *History
	Unit    *Unit
	Index   int // in History.Writes
	Add     bool
	Base    []int32
	Offsets []int32

	// First is the index of the touch whose elements it writes. If Whole is true, it writes all
	// elements instead.
	First int // in Unit.Touches
	Whole bool

	// Apart means that the unit works on a copy of the elements and writes the final content of the
	// copy.
	Apart bool

	// Others means that the unit, which is compound, also reads elements that it does not write. It
	// reads these as other units do.
	Others bool

	// For a sum, Slot has the sum that each position is part of, and Runs the number of sums. A sum
	// is a run of additions to one element without another write in between.
	Slot []int32
	Runs int
}

// version is position pos of the value of a write, with its time in program order.
type version struct {
	time  int64
	write int32
	pos   int32
}

// index builds the lookup table of versions.
func (v *History) index() {
	if v.Sum || v.Private {
		return
	}
	v.first, v.stride, v.starts = 0, 1, make([]int32, 1)
	from, any := int32(0), false // one of the elements
	lo, hi, stride := int32(0), int32(0), int32(0)
	for _, w := range v.Writes {
		for _, s := range w.bases() {
			for _, o := range w.Offsets {
				e := s + o
				if !any {
					from, lo, hi, any = e, e, e, true
				}
				lo, hi = min(lo, e), max(hi, e)
				if d := e - from; stride == 0 || d%stride != 0 {
					stride = divisor(stride, max(d, -d))
				}
			}
		}
	}
	if !any {
		return
	}
	v.first, v.stride = lo, max(stride, 1)
	places := int((hi-lo)/v.stride) + 1
	v.plan.memory.Reserve(4, places+1)
	v.starts = make([]int32, places+1)
	v.plan.memory.Reserve(12, places)
	v.reads = make([]read, places)
	for _, w := range v.Writes {
		for _, s := range w.bases() {
			for _, o := range w.Offsets {
				v.starts[v.place(s+o)+1]++
			}
		}
	}
	for k := range places {
		v.starts[k+1] += v.starts[k]
	}
	v.plan.memory.Reserve(16, int(v.starts[places]))
	v.versions = make([]version, v.starts[places])
	next := slices.Clone(v.starts)
	for _, x := range v.order {
		w := v.Writes[x.write]
		s, pos := w.Base[x.pos], x.pos*int32(len(w.Offsets))
		for p, o := range w.Offsets {
			k := v.place(s + o)
			v.versions[next[k]] = version{x.time, x.write, pos + int32(p)}
			next[k]++
		}
	}
	v.order = nil
}

// divisor returns the greatest common divisor of two numbers, of which one may be 0.
func divisor(a, b int32) int32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// bases yields the lanes in which the write's index is valid, with their bases.
func (w *Write) bases() iter.Seq2[int, int32] {
	out := w.out()
	return func(yield func(int, int32) bool) {
		for l, s := range w.Base {
			if (out == nil || !out[l]) && !yield(l, s) {
				return
			}
		}
	}
}

// place returns the index of an element in starts, or -1.
func (v *History) place(elem int32) int32 {
	d := elem - v.first
	if v.stride > 1 {
		if d%v.stride != 0 {
			return -1
		}
		d /= v.stride
	}
	if d < 0 || int(d) >= len(v.starts)-1 {
		return -1
	}
	return d
}

// of returns the versions of an element, in program order.
func (v *History) of(elem int32) []version {
	k := v.place(elem)
	if k < 0 {
		return nil
	}
	return v.versions[v.starts[k]:v.starts[k+1]]
}

// Elements yields the elements that units write, in rising order.
func (v *History) Elements() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for k := range len(v.starts) - 1 {
			if v.starts[k] < v.starts[k+1] && !yield(v.first+int32(k)*v.stride) {
				return
			}
		}
	}
}

// out returns the lanes of the unit in which the write's index is invalid, or nil.
func (w *Write) out() []bool {
	if w.Whole {
		return nil
	}
	return w.Unit.Touches[w.First].Access.outIn(w.Unit.Domain)
}

// Last returns the last version of an element in the nest; ok is false if no unit writes the
// element.
func (v *History) Last(elem int32) (o Origin, ok bool) {
	list := v.of(elem)
	if len(list) == 0 {
		return o, false
	}
	return v.origin(list[len(list)-1]), true
}

// Versions calls f with the versions of an element, in program order.
func (v *History) Versions(elem int32, f func(Origin)) {
	for _, x := range v.of(elem) {
		f(v.origin(x))
	}
}

// Of returns the write of a unit to the variable, or nil.
func (v *History) Of(u *Unit) *Write {
	for _, w := range v.Writes {
		if w.Unit == u {
			return w
		}
	}
	return nil
}

// isPrivate reports whether every lane of the variable's home has its own elements, which units
// write only in that domain, and the same elements in every lane.
func (v *History) isPrivate() bool {
	if !v.Inside || v.Home == nil {
		return false
	}
	for _, w := range v.Writes {
		if w.Unit.Domain != v.Home || !w.Whole && w.Unit.Touches[w.First].Access.Out != nil {
			return false
		}
		for l, s := range w.Base {
			if s-int32(l*v.Size) != w.Base[0] {
				return false
			}
		}
	}
	return true
}
