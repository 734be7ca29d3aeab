package ad

import "slices"

// This file: which nodes depend on others, across nested regions. The body of a loop is visited
// until no further carried values become dependent. Marks of inner regions are kept between visits,
// because they only grow; so the cost does not multiply with the depth of nesting.

// dependents marks the nodes before end that depend on wrt through ops with derivatives. A region
// is marked if it reads a marked node. A result of it is marked only if it depends on a marked node
// within the region's bodies; for instance, a loop that only searches has no derivative.
func (g *Graph) dependents(wrt []Ref, end int) []bool {
	d := reach{g: g, dep: make([]bool, end)}
	d.spread(wrt)
	return d.dep
}

// reach holds the marks of one graph: which of its first nodes depend on given ones.
type reach struct {
	g       *Graph
	dep     []bool
	regions map[Ref]*regionReach // for each marked region
}

// regionReach holds the marks of a region: which results depend on the marked arguments.
type regionReach struct {
	need, results []bool
	bodies        []reach // in the order of the region's bodies
	carried       []bool  // for each carried value, whether it depends on marked arguments, in the first or a later step
}

// spread marks nodes, and all nodes that depend on them.
func (d *reach) spread(wrt []Ref) {
	for _, r := range wrt {
		if int(r) < len(d.dep) {
			d.dep[r] = true
		}
	}
	for i := range d.dep {
		n := &d.g.Nodes[i]
		region := table[n.Op].Class == Region
		if d.dep[i] && !region || table[n.Op].Flat || table[n.Op].Class == Random {
			continue
		}
		if n.Op == OpResult {
			d.dep[i] = d.dep[n.Args[0]] && d.regions[n.Args[0]].results[n.ResultIndex()]
			continue
		}
		d.dep[i] = d.dep[i] || slices.ContainsFunc(n.Args, func(a Ref) bool { return d.dep[a] })
		if d.dep[i] && region {
			need := make([]bool, len(n.Args))
			for k, a := range n.Args {
				need[k] = d.dep[a]
			}
			d.region(Ref(i), n).spread(n, need)
		}
	}
}

func (d *reach) region(r Ref, n *Node) *regionReach {
	u := d.regions[r]
	if u == nil {
		u = &regionReach{results: make([]bool, len(n.Results()))}
		if l := n.Layout(); l.Control == Chosen {
			u.bodies = reaches(l.Bodies...)
		} else {
			u.bodies = reaches(l.Repeated()) // conditions are not differentiated
		}
		if d.regions == nil {
			d.regions = map[Ref]*regionReach{}
		}
		d.regions[r] = u
	}
	return u
}

func reaches(bodies ...*Graph) (ds []reach) {
	for _, b := range bodies {
		ds = append(ds, reach{g: b, dep: make([]bool, len(b.Nodes))})
	}
	return ds
}

// through marks the given inputs and what depends on them, and returns the marks of the outputs.
func (d *reach) through(need []bool) []bool {
	var from []Ref
	for i, in := range d.g.Inputs {
		if need[i] {
			from = append(from, in)
		}
	}
	d.spread(from)
	out := make([]bool, len(d.g.Outputs))
	for i, r := range d.g.Outputs {
		out[i] = d.dep[r]
	}
	return out
}

// spread marks the results of the region that depend on the marked arguments need. Marks of earlier
// calls, which had fewer marked arguments, remain.
func (u *regionReach) spread(n *Node, need []bool) {
	if u.need != nil && slices.Equal(u.need, need) {
		return
	}
	u.need = need
	l := n.Layout()
	if l.Control == Chosen {
		for b := range u.bodies {
			out := u.bodies[b].through(need[l.First():])
			for i, p := range l.Parts() {
				u.results[i] = u.results[i] || out[p.Output]
			}
		}
		return
	}
	out := u.loop(l.Carries, need)
	for i, p := range l.Parts() {
		switch p.From {
		case Final, History:
			u.results[i] = u.carried[p.Output]
		case Kept, Sum:
			u.results[i] = out[p.Output]
		}
	}
}

// loop marks what depends on the marked inputs of a body that repeats, and returns the marks of its
// outputs. The first carries inputs and outputs are the carried values.
func (u *regionReach) loop(carries int, need []bool) []bool {
	need = slices.Clone(need)
	for {
		out, grown := u.bodies[0].through(need), false
		for i, d := range out[:carries] {
			if d && !need[i] {
				need[i], grown = true, true
			}
		}
		if !grown {
			u.carried = need[:carries]
			return out
		}
	}
}

// activeCarries returns the carried values of a region that depend on marked inputs, in the first
// or a later step.
func activeCarries(body *Graph, carries int, need []bool) []bool {
	u := regionReach{bodies: reaches(body)}
	u.loop(carries, need)
	return u.carried
}
