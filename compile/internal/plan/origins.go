package plan

import "slices"

// Origin is the source of a position of a read: position Pos of the value of a write. It has no
// pointer, since a read of a table has millions.
type Origin struct {
	write int32 // its History.Writes index plus 1; 0: the value from before the nest; -1: unread
	Pos   int32 // without a write: the position in the read, lanes included
}

// Unread is the origin of a position that does not matter.
var Unread = Origin{write: -1}

// Before returns the origin of a position pos that has its value from before the nest.
func Before(pos int32) Origin { return Origin{Pos: pos} }

// Unread reports whether the position does not matter.
func (o Origin) Unread() bool { return o.write < 0 }

// Written reports whether a write of the nest is the source.
func (o Origin) Written() bool { return o.write > 0 }

// Index returns the index of the write in History.Writes. There must be one.
func (o Origin) Index() int { return int(o.write) - 1 }

// Source returns the write of an origin of the variable, or nil.
func (v *History) Source(o Origin) *Write {
	if o.write <= 0 {
		return nil
	}
	return v.Writes[o.write-1]
}

func (v *History) origin(x version) Origin { return Origin{x.write + 1, x.pos} }

// Among is a set of writes to one variable.
type Among []bool // by Origin.write; those below 1 are false

// Among returns the writes of some units, which must be in program order.
func (v *History) Among(units []*Unit) Among {
	in := make(Among, len(v.Writes)+1)
	for _, w := range v.Writes {
		in[w.Index+1] = Has(units, w.Unit)
	}
	return in
}

// Has reports whether one of the writes is the source.
func (in Among) Has(o Origin) bool { return o.write > 0 && in[o.write] }

// read is the number of versions before a read, and before it since the read before.
type read struct{ before, since, call int32 }

// before finds the version of an element that a read at a time sees; ok is false if there is none.
// In a call of Origins, the time is at least that of the read before it.
func (v *History) before(elem int32, time int64) (seen version, ok bool) {
	at := v.place(elem)
	if at < 0 {
		return version{}, false
	}
	list := v.versions[v.starts[at]:v.starts[at+1]]
	last := &v.reads[at]
	if last.call != v.calls {
		*last = read{call: v.calls}
	}
	old := int(last.before)
	k := old + int(last.since) // reads in a pattern pass equally many versions each
	if k > len(list) || k > old && list[k-1].time >= time {
		k = old
	}
	for step := 1; k < len(list) && list[k].time < time; { // by steps that double, then halve
		if j := k + step; j < len(list) && list[j].time < time {
			k, step = j, 2*step
		} else if step > 1 {
			step /= 2
		} else {
			k++
		}
	}
	last.before, last.since = int32(k), int32(k-old)
	if k == 0 {
		return version{}, false
	}
	return list[k-1], true
}

// maxKept bounds the origins that a plan keeps: 32 MB.
const maxKept = 1 << 22

// readKey has what reads of a variable with the same origins have in common, except the elements.
// Between two units of the same loop and domain, there is no write if the number of writes before
// them is the same.
type readKey struct {
	loop       *Loop
	domain, ax *Axis
	writes     int // writes to the variable by earlier units
	lanes      int // of the access
	width      int
	some       [3]int32 // some of the elements
}

// keptRead has the origins of a read.
type keptRead struct {
	access Access
	skip   []bool
	from   []Origin
}

// keyOf returns the key of a read.
func (v *History) keyOf(u *Unit, a Access, ax *Axis) readKey {
	k := readKey{loop: u.Loop, domain: u.Domain, ax: ax, lanes: len(a.Base), width: len(a.Offsets)}
	for k.writes < len(v.Writes) && v.Writes[k.writes].Unit.ID < u.ID {
		k.writes++
	}
	if n := len(a.Base); n > 0 {
		k.some[0], k.some[1] = a.Base[0], a.Base[n/2]
	}
	if n := len(a.Offsets); n > 0 {
		k.some[2] = a.Offsets[0]
	}
	return k
}

// Origins finds the versions that a read by a unit sees, for each lane of ax and each position. The
// variable must be written by some unit. skip marks lanes in which the read does not matter. Do not
// modify the result: a plan keeps up to maxKept origins. Planning and evaluation ask for the same
// reads, as do the statements of an unrolled loop.
func (v *History) Origins(u *Unit, a Access, ax *Axis, skip []bool) []Origin {
	key := v.keyOf(u, a, ax)
	for _, r := range v.kept[key] {
		if r.access.equal(a) && (r.skip == nil) == (skip == nil) && slices.Equal(r.skip, skip) {
			return r.from
		}
	}
	out := v.find(u, a, ax, skip)
	if p := v.plan; p.making && p.kept+len(out) <= maxKept {
		p.kept += len(out)
		p.memory.Reserve(8, len(out))
		if v.kept == nil {
			v.kept = map[readKey][]keptRead{}
		}
		v.kept[key] = append(v.kept[key], keptRead{a, skip, out})
	}
	return out
}

// find is Origins for a read that is not kept.
func (v *History) find(u *Unit, a Access, ax *Axis, skip []bool) []Origin {
	base, offs := v.elements(a, ax)
	back := v.plan.used()
	v.plan.memory.Reserve(8, len(base), len(offs))
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
	v.calls++
	k := 0
	for l, s := range base {
		if skip != nil && skip[l] {
			for range offs {
				out[k] = Unread
				k++
			}
			continue
		}
		at := l
		if up != nil {
			at = int(up[l])
		}
		t := v.plan.time[u.ID][at]
		for _, o := range offs {
			if x, ok := v.before(s+o, t); ok {
				out[k] = v.origin(x)
			} else {
				out[k].Pos = int32(k)
			}
			k++
		}
	}
	return out
}

// privateOrigins is find for a private variable, where the order of the units determines the last
// write.
func (v *History) privateOrigins(u *Unit, base, offs []int32, ax *Axis, out []Origin) {
	size := int32(v.Size)
	who := make([]Origin, size)
	for _, w := range v.Writes {
		if w.Unit.ID >= u.ID {
			continue
		}
		first := w.Base[0]
		for p, o := range w.Offsets {
			who[first+o] = Origin{int32(w.Index) + 1, int32(p)}
		}
	}
	home := ax.LanesOf(v.Home)
	k := 0
	for l, s := range base {
		lane := int32(l)
		if home != nil {
			lane = home[l]
		}
		for _, o := range offs {
			x := who[s+o-lane*size]
			if x.Written() {
				x.Pos += lane * int32(len(v.Source(x).Offsets))
			} else {
				x.Pos = int32(k)
			}
			out[k] = x
			k++
		}
	}
}
