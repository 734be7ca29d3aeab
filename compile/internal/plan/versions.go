package plan

import (
	"cmp"
	"slices"
	"sort"
)

// History is what units do to a variable: the versions of its elements, each of which one unit
// wrote in one iteration.
type History struct {
	*Variable
	plan *Plan

	Writes []*Write // by unit, in the order of the program
	Sum    bool     // units only add to it: their order does not matter

	// Either every iteration of the declaration's domain has its own elements,
	// and the units that write them run in that very domain, so that who wrote
	// last follows from the order of the units alone …
	Private bool
	// … or versions[starts[e]:starts[e+1]] are those of element e, in the order of
	// the program.
	starts   []int32
	versions []version
}

// Write is a write of a unit: position p of lane l of its value goes to element
// Base[l]+Offsets[p] of the content of all lanes of the variable's home.
type Write struct {
	History *History
	Unit    *Unit
	Index   int // in History.Writes
	Add     bool
	Base    []int32
	Offsets []int32

	// First is the touch whose elements it writes, if Whole is false; else it writes all elements.
	First int // in Unit.Touches
	Whole bool

	// Apart: the unit works on a copy of the elements, whose content in the end it writes.
	Apart bool

	// Of a sum: which sum each position is part of, and the number of sums. A sum is a run of
	// additions to one element without another write in between.
	Slot []int32
	Runs int
}

// version is position pos of the value that a write made, at a time.
type version struct {
	time  int64
	write int32
	pos   int32
}

// Origin is where a read finds a position: position Pos of the value of a write or, with Write nil,
// what there was before the nest. None of a read that does not matter.
type Origin struct {
	Write *Write
	Pos   int32
	None  bool
}

// index prepares the look-up of versions.
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

// out tells for every lane of the unit whether the write's index is wrong there; nil if none is.
func (w *Write) out() []bool {
	if w.Whole {
		return nil
	}
	return w.Unit.Touches[w.First].Access.outIn(w.Unit.Domain)
}

// before finds the version of an element that is seen at a time; ok is false if
// there is none.
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

// Last is where an element comes from after the nest; ok is false if no unit writes it.
func (v *History) Last(elem int32) (o Origin, ok bool) {
	lo, hi := v.starts[elem], v.starts[elem+1]
	if lo == hi {
		return o, false
	}
	return v.origin(v.versions[hi-1]), true
}

// Versions calls f with the versions of an element, in the order of the program.
func (v *History) Versions(elem int, f func(Origin)) {
	for _, x := range v.versions[v.starts[elem]:v.starts[elem+1]] {
		f(v.origin(x))
	}
}

func (v *History) origin(x version) Origin { return Origin{Write: v.Writes[x.write], Pos: x.pos} }

// Of is the write of a unit to the variable, nil if there is none.
func (v *History) Of(u *Unit) *Write {
	for _, w := range v.Writes {
		if w.Unit == u {
			return w
		}
	}
	return nil
}

// Origins finds what a read of elements by a unit sees, position after position in
// each lane of ax, of a variable that some unit writes. skip are lanes in which it does not matter.
func (v *History) Origins(u *Unit, a Access, ax *Axis, skip []bool) []Origin {
	base, offs := v.elements(a, ax)
	back := v.plan.used()
	v.plan.memory.Reserve(16, len(base), len(offs))
	defer back() // the caller keeps less of it
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

// privateOrigins is Origins where the order of the units tells who wrote.
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

// isPrivate reports whether every lane of the variable's home has its own
// elements, which units write in that domain alone, the same ones in every lane.
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
