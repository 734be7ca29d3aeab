package plan

import "slices"

// Irregular is the reason if the reads of a recurrence follow no pattern.
const Irregular = "a carried value whose distance varies"

// From is the source of one position of a read in a recurrence: position Pos of the value of a
// write, Distance steps before. Write is nil if all steps read it from outside.
type From struct {
	Write         *Write
	Pos, Distance int
	Outside       bool // some steps read it from outside
}

// Pattern finds the sources of the positions of a read. They must be the same in each step, except
// steps that read from outside. ok is false if there is no such pattern.
func (v *History) Pattern(units []*Unit, from []Origin, width int) (at []From, ok bool) {
	in := v.Among(units)
	at = make([]From, width)
	lanes := len(from) / width
	for p := range width {
		x := &at[p]
		write, size, next := int32(0), 0, int32(0) // of the pattern, and the position that is next
		for l := range lanes {
			o := from[l*width+p]
			switch {
			case o.Unread():
			case write > 0 && o.write == write:
				if o.Pos != next {
					return nil, false
				}
			case !in.Has(o):
				x.Outside = true
			case write == 0:
				write, next = o.write, o.Pos
				x.Write = v.Source(o)
				size = len(x.Write.Offsets)
				x.Distance, x.Pos = l-int(o.Pos)/size, int(o.Pos)%size
			default:
				return nil, false
			}
			next += int32(size)
		}
	}
	return at, true
}

// regular checks that the reads of units that depend on one another follow a pattern. If not, it
// returns the reason.
func (p *planner) regular(units []*Unit) (why string) {
	total := 0
	for _, u := range units {
		for _, t := range p.touches[u.ID] {
			v := p.of(t)
			if t.How != Reads || v.Sum || !slices.ContainsFunc(v.Writes, func(w *Write) bool { return Has(units, w.Unit) }) {
				continue
			}
			access, skip := t.Access, t.Access.outIn(t.Axis)
			if t.Axis != u.Domain {
				if access, skip = t.inAll(u.Domain); skip == nil {
					return Irregular
				}
			}
			width := len(t.Access.Offsets)
			if total += width; total*u.Domain.N > MaxHistory {
				return "too much to carry"
			}
			if width == 0 {
				continue
			}
			if _, ok := v.Pattern(units, v.Origins(u, access, u.Domain, skip), width); !ok {
				return Irregular
			}
		}
	}
	return ""
}

// Crosses reports whether units that depend on one another read a value of the variable that they
// wrote before the last start. The starts are steps, in order.
func (v *History) Crosses(units []*Unit, starts []int) bool {
	in := v.Among(units)
	for _, u := range units {
		for _, t := range u.Touches {
			if t.How != Reads || v.plan.of(t) != v {
				continue
			}
			access, skip := t.Access, t.Access.outIn(t.Axis)
			if t.Axis != u.Domain {
				if access, skip = t.inAll(u.Domain); skip == nil {
					return true
				}
			}
			from, width, next, last := v.Origins(u, access, u.Domain, skip), len(t.Access.Offsets), 0, 0
			for l := range u.Domain.N {
				for next < len(starts) && starts[next] <= l {
					last, next = starts[next], next+1
				}
				for _, o := range from[l*width : (l+1)*width] {
					if in.Has(o) && int(o.Pos)/len(v.Source(o).Offsets) < last {
						return true
					}
				}
			}
		}
	}
	return false
}

// Carried returns the greatest number of elements that one read in a recurrence of the plan takes
// from a variable that the recurrence writes.
func (p *Plan) Carried() (most int) {
	for _, g := range p.Groups {
		if g.Kind != Recurrence {
			continue
		}
		for _, u := range g.Units {
			for _, t := range u.Touches {
				if v := p.Histories[t.Variable.ID]; slices.ContainsFunc(v.Writes, func(w *Write) bool { return Has(g.Units, w.Unit) }) {
					most = max(most, len(t.Access.Offsets))
				}
			}
		}
	}
	return most
}

// inAll expands the access of a use in some lanes of a domain, as of one side of a choice that data
// decide, to all its lanes. skip marks those added. It is nil if the use has other lanes.
func (t *Touch) inAll(domain *Axis) (a Access, skip []bool) {
	for ax := t.Axis; ax != domain; ax = ax.Parent {
		if ax == nil || !ax.Subset {
			return a, nil
		}
	}
	skip = make([]bool, domain.N)
	for l := range skip {
		skip[l] = true
	}
	a, out := t.Access, t.Access.outIn(t.Axis)
	wide := a.Axis != nil && a.Axis != domain && domain.Within(a.Axis) // the bases are of some of its lanes
	var base []int32
	if wide {
		base = make([]int32, domain.N)
	}
	var up []int32
	if a.Axis != nil {
		up = UpTo(t.Axis, a.Axis)
	}
	for l, d := range t.Axis.LanesOf(domain) {
		skip[d] = out != nil && out[l]
		if !wide {
			continue
		}
		from := l
		if up != nil {
			from = int(up[l])
		}
		base[d] = a.Base[from]
	}
	if a.Out = skip; wide {
		a.Axis, a.Base = domain, base
	}
	return a, skip
}
