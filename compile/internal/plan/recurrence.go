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
func Pattern(units []*Unit, from []Origin, width int) (at []From, ok bool) {
	at = make([]From, width)
	lanes := len(from) / width
	for p := range width {
		x := &at[p]
		size, next := 0, int32(0) // of the write, and the position that the pattern has next
		for l := range lanes {
			o := &from[l*width+p]
			switch {
			case o.None:
			case o.Write != nil && o.Write == x.Write:
				if o.Pos != next {
					return nil, false
				}
			case o.Write == nil || !Has(units, o.Write.Unit):
				x.Outside = true
			case x.Write == nil:
				size = len(o.Write.Offsets)
				x.Write, x.Distance, x.Pos, next = o.Write, l-int(o.Pos)/size, int(o.Pos)%size, o.Pos
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
			if _, ok := Pattern(units, v.Origins(u, t.Access, t.Axis, t.Access.outIn(t.Axis)), width); !ok {
				return Irregular
			}
		}
	}
	return ""
}
