package ad

import "slices"

// Recurrence is a loop in which each step reads values of the step before. Its body is the graph of
// one step.
type Recurrence struct {
	Body  *Graph
	Steps int

	Carried []Ref // inputs of the body with values of the step before
	Next    []Ref // nodes of the body with their next values
	Start   []Ref // their values before the first step

	// The other inputs: those that differ between steps, and those that do not.
	Streams, Captures []Entry
}

// Entry is an input of a body with its value in the graph around the loop. Outer is that value; for
// a stream, it is an array whose first dimension is the step, and Lane has the steps as lanes.
type Entry struct{ In, Outer, Lane Ref }

// DoRecurrence adds a loop to g. It returns the counterparts of the wanted nodes of its body, for
// all steps, which are lanes. Only the recurrence runs step by step: the next carried values and
// everything that they need. Random draws also belong to it, so that every step gets its own
// number. In lanes, equal arguments would give a single number. The rest is computed in lanes from
// values that the scan keeps.
func (g *Graph) DoRecurrence(r *Recurrence, wanted []Ref) (lane func(Ref) Ref) {
	body := r.Body
	needed := slices.Clone(r.Next)
	for i := range body.Nodes {
		if body.Nodes[i].Draws() {
			needed = append(needed, Ref(i))
		}
	}
	inner := body.Live(needed, false)
	body.MarkResults(inner)

	// What the wanted values need outside the scan, and the values that the scan keeps for that.
	outer := make([]bool, len(body.Nodes))
	var kept []Ref
	keptAt := map[Ref]int{}
	var visit func(x Ref)
	visit = func(x Ref) {
		if outer[x] {
			return
		}
		outer[x] = true
		n := &body.Nodes[x]
		switch {
		case n.Op == OpConst || n.Op == OpInput:
		case inner[x] && table[n.Op].Class == Region: // it has no value
		case inner[x]:
			keptAt[x] = len(kept)
			kept = append(kept, x)
		default:
			for _, a := range n.Args {
				visit(a)
			}
		}
	}
	for _, x := range slices.Concat(wanted, body.SideEffects) {
		visit(x)
	}

	// The scan.
	w := NewRewriter(body, NewGraph())
	args := slices.Clone(r.Start)
	carried := map[Ref]int{}
	for k, x := range r.Carried {
		carried[x] = k
		w.Put(x, w.To.Input(body.Type(x)))
	}
	enter := func(entries []Entry) (n int) {
		for _, e := range entries {
			if inner[e.In] {
				w.Put(e.In, w.To.Input(body.Type(e.In)))
				args = append(args, e.Outer)
				n++
			}
		}
		return n
	}
	streams := enter(r.Streams)
	enter(r.Captures)
	w.Run(inner)
	for _, x := range slices.Concat(r.Next, kept) {
		w.To.Output(w.At(x))
	}
	keptOf, history := g.scanOrConstants(&Scan{Body: w.To, Carries: len(r.Carried), Streams: streams, Outs: len(kept), Steps: r.Steps}, args)

	// The rest, in lanes.
	rest := NewRewriter(body, g)
	for _, e := range r.Streams {
		rest.Put(e.In, e.Lane)
	}
	for _, e := range r.Captures {
		rest.Put(e.In, e.Outer)
	}
	for i, used := range outer {
		if x := Ref(i); used {
			if k, ok := keptAt[x]; ok {
				rest.Put(x, g.Lane(keptOf(k)))
			} else if k, ok := carried[x]; ok {
				rest.Put(x, g.Lane(history(k)))
			}
			outer[i] = !inner[x] || table[body.Nodes[x].Op].Class != Region // else the scan runs it
		}
	}
	rest.Run(outer)
	return rest.At
}

// scanOrConstants adds a scan. If all its inputs are known, it adds constants with the scan's
// results instead. It returns the arrays over the steps of values that the scan keeps, and of
// carried values before each step.
func (g *Graph) scanOrConstants(s *Scan, args []Ref) (kept, history func(k int) Ref) {
	known := len(s.Body.SideEffects) == 0 && !slices.ContainsFunc(s.Body.Nodes, func(n Node) bool { return n.Draws() })
	h := NewGraph()
	var in []Ref
	for _, a := range args {
		data, ok := g.Value(a)
		if known = known && ok; !known {
			break
		}
		in = append(in, h.ConstArray(g.Type(a), data))
	}
	if known {
		scan := h.DoScan(s, in)
		for k := range s.Outs {
			h.Output(h.Kept(scan, k))
		}
		for k := range s.Carries {
			h.Output(h.History(scan, k))
		}
		if out, err := h.Eval(nil, &Env{}); err == nil {
			at := func(k int) Ref { return g.ConstArray(h.Type(h.Outputs[k]), out[k]) }
			return at, func(k int) Ref { return at(s.Outs + k) }
		}
	}
	scan := g.DoScan(s, args)
	if len(s.Body.SideEffects) > 0 {
		g.SideEffects = append(g.SideEffects, scan)
	}
	return func(k int) Ref { return g.Kept(scan, k) }, func(k int) Ref { return g.History(scan, k) }
}
