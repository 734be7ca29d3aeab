package plan

import (
	"cmp"
	"slices"
	"sort"
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
	// Otherwise versions[starts[e]:starts[e+1]] are the versions of element e, in program order.
	starts   []int32
	versions []version
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

// Origin is the source of a position of a read: position Pos of the value of a write. If Write is
// nil, it is the value from before the nest. None marks a read that does not matter.
type Origin struct {
	Write *Write
	Pos   int32
	None  bool
}

// index builds the lookup table of versions.
func (v *History) index() {
	if v.Sum || v.Private {
		return
	}
	v.plan.memory.Reserve(4, v.Total()+1)
	v.starts = make([]int32, v.Total()+1)
	for _, w := range v.Writes {
		out := w.out()
		for l, s := range w.Base {
			if out != nil && out[l] {
				continue
			}
			for _, o := range w.Offsets {
				v.starts[s+o+1]++
			}
		}
	}
	for i := range v.Total() {
		v.starts[i+1] += v.starts[i]
	}
	v.plan.memory.Reserve(16, int(v.starts[len(v.starts)-1]))
	v.versions = make([]version, v.starts[len(v.starts)-1])
	next := slices.Clone(v.starts)
	for _, w := range v.Writes {
		width, out := int32(len(w.Offsets)), w.out()
		for l, s := range w.Base {
			if out != nil && out[l] {
				continue
			}
			t := v.plan.time[w.Unit.ID][l]
			for p, o := range w.Offsets {
				v.versions[next[s+o]] = version{t, int32(w.Index), int32(l)*width + int32(p)}
				next[s+o]++
			}
		}
	}
	if len(v.Writes) > 1 || slices.ContainsFunc(v.Writes, func(w *Write) bool { return !Distinct(w.Offsets) }) {
		for e := range v.Total() {
			if list := v.versions[v.starts[e]:v.starts[e+1]]; len(list) > 1 {
				slices.SortStableFunc(list, func(a, b version) int { return cmp.Compare(a.time, b.time) })
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

// before returns the version of an element that a read at a given time sees; ok is false if there
// is none.
func (v *History) before(elem int32, time int64) (seen version, ok bool) {
	list := v.versions[v.starts[elem]:v.starts[elem+1]]
	k := len(list)
	if k == 1 && list[0].time >= time { // most elements are written once
		k = 0
	} else if k > 1 {
		k = sort.Search(k, func(i int) bool { return list[i].time >= time })
	}
	if k == 0 {
		return version{}, false
	}
	return list[k-1], true
}

// Last returns the last version of an element in the nest; ok is false if no unit writes the
// element.
func (v *History) Last(elem int32) (o Origin, ok bool) {
	lo, hi := v.starts[elem], v.starts[elem+1]
	if lo == hi {
		return o, false
	}
	return v.origin(v.versions[hi-1]), true
}

// Versions calls f with the versions of an element, in program order.
func (v *History) Versions(elem int, f func(Origin)) {
	for _, x := range v.versions[v.starts[elem]:v.starts[elem+1]] {
		f(v.origin(x))
	}
}

func (v *History) origin(x version) Origin { return Origin{Write: v.Writes[x.write], Pos: x.pos} }

// Of returns the write of a unit to the variable, or nil.
func (v *History) Of(u *Unit) *Write {
	for _, w := range v.Writes {
		if w.Unit == u {
			return w
		}
	}
	return nil
}

// Origins finds the versions that a read by a unit sees, for each lane of ax and each position. The
// variable must be written by some unit. skip marks lanes in which the read does not matter.
func (v *History) Origins(u *Unit, a Access, ax *Axis, skip []bool) []Origin {
	base, offs := v.elements(a, ax)
	back := v.plan.used()
	v.plan.memory.Reserve(16, len(base), len(offs))
	defer back() // the caller keeps less memory
	out := make([]Origin, len(base)*len(offs))
	if v.Private {
		v.privateOrigins(u, base, offs, ax, out)
		return out
	}
	var up []int32
	if ax != u.Domain {
		up = ax.LanesOf(u.Domain)
	}
	for l, s := range base {
		to := out[l*len(offs) : (l+1)*len(offs)]
		if skip != nil && skip[l] {
			for p := range to {
				to[p].None = true
			}
			continue
		}
		at := l
		if up != nil {
			at = int(up[l])
		}
		t := v.plan.time[u.ID][at]
		for p, o := range offs {
			if x, ok := v.before(s+o, t); ok {
				to[p] = v.origin(x)
			}
		}
	}
	return out
}

// privateOrigins is Origins for a private variable, where the order of the units determines the
// last write.
func (v *History) privateOrigins(u *Unit, base, offs []int32, ax *Axis, out []Origin) {
	type place struct {
		w *Write
		p int32
	}
	size := int32(v.Size)
	who := make([]place, size)
	for _, w := range v.Writes {
		if w.Unit.ID >= u.ID {
			continue
		}
		first := w.Base[0]
		for p, o := range w.Offsets {
			who[first+o] = place{w, int32(p)}
		}
	}
	home := ax.LanesOf(v.Home)
	for l, s := range base {
		lane := int32(l)
		if home != nil {
			lane = home[l]
		}
		for p, o := range offs {
			x := who[s+o-lane*size]
			if x.w != nil {
				out[l*len(offs)+p] = Origin{Write: x.w, Pos: lane*int32(len(x.w.Offsets)) + x.p}
			}
		}
	}
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
