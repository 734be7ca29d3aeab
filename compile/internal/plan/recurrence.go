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
	for p := range width {
		x := &at[p]
		for l := range len(from) / width {
			o := from[l*width+p]
			switch {
			case o.None:
			case o.Write == nil || !Has(units, o.Write.Unit):
				x.Outside = true
			default:
				size := len(o.Write.Offsets)
				d, pos := l-int(o.Pos)/size, int(o.Pos)%size
				if x.Write == nil {
					x.Write, x.Distance, x.Pos = o.Write, d, pos
				} else if x.Write != o.Write || x.Distance != d || x.Pos != pos {
					return nil, false
				}
			}
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
