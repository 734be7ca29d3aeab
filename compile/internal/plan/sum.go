package plan

// isSum reports whether units only add to one variable and only complete sums are read. Each run of
// additions to an element, without another write in between, is one sum.
func (p *planner) isSum(units []*Unit) bool {
	v, among := p.addedTo(units)
	if v == nil {
		return false
	}
	for _, w := range v.Writes {
		if among[w] {
			p.memory.Reserve(4, len(w.Base), len(w.Offsets))
			w.Slot = make([]int32, len(w.Base)*len(w.Offsets))
		}
	}
	runs := int32(0)
	for e := range v.Elements() {
		in := false
		for _, x := range v.of(e) {
			w := v.Writes[x.write]
			if !among[w] {
				in = false
				continue
			}
			if !in {
				runs++
			}
			in = true
			w.Slot[x.pos] = runs - 1
		}
	}
	ok := p.readsComplete(v, among, units, int(runs))
	for w := range among {
		if !ok {
			w.Slot = nil
			continue
		}
		w.Runs = int(runs)
	}
	return ok
}

// addedTo returns the one variable that units add to, with their writes. It returns nil if they do
// anything else.
func (p *planner) addedTo(units []*Unit) (v *History, among map[*Write]bool) {
	among = map[*Write]bool{}
	for _, u := range units {
		var w *Write
		for _, x := range p.Histories {
			if y := x.Of(u); y != nil && (w != nil || !y.Add || y.Apart) {
				return nil, nil
			} else if y != nil {
				w = y
			}
		}
		if w == nil || v != nil && v != w.History {
			return nil, nil
		}
		v = w.History
		among[w] = true
		access := u.Touches[w.First].Access
		reads, adds := 0, 0
		for _, t := range p.touches[u.ID] {
			switch {
			case p.of(t) != v:
			case t.How == Writes:
				return nil, nil
			case t.How == Adds:
				adds++
			case !t.Access.equal(access) || t.Axis != u.Domain: // the term may depend on the sum
				return nil, nil
			default:
				reads++
			}
		}
		if adds == 0 || reads != 1 { // more reads than += itself has
			return nil, nil
		}
	}
	return v, among
}

// readsComplete reports whether other units read only complete sums: versions that no further
// addition of the same run follows.
func (p *planner) readsComplete(v *History, among map[*Write]bool, units []*Unit, runs int) bool {
	in := make(Among, len(v.Writes)+1)
	last := make([]int64, runs)
	for w := range among {
		in[w.Index+1] = true
		width := len(w.Offsets)
		for pos, k := range w.Slot {
			last[k] = max(last[k], p.time[w.Unit.ID][pos/width])
		}
	}
	for _, u := range p.Units {
		if Has(units, u) {
			continue
		}
		for _, t := range p.touches[u.ID] {
			if p.of(t) != v || t.How != Reads {
				continue
			}
			for _, o := range v.Origins(u, t.Access, t.Axis, nil) {
				if !in.Has(o) {
					continue
				}
				if w := v.Source(o); p.time[w.Unit.ID][int(o.Pos)/len(w.Offsets)] != last[w.Slot[o.Pos]] {
					return false
				}
			}
		}
	}
	return true
}
