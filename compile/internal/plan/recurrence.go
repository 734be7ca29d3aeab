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
			if t.Axis != u.Domain {
				return Irregular
			}
			width := len(t.Access.Offsets)
			if total += width; total*u.Domain.N > MaxHistory {
				return "too much to carry"
			}
			if width == 0 {
				continue
			}
			if _, ok := v.Pattern(units, v.Origins(u, t.Access, t.Axis, t.Access.outIn(t.Axis)), width); !ok {
				return Irregular
			}
		}
	}
	return ""
}
