package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// dropCarries returns a graph equal to g without what while loops carry, and what these and
// conditionals take, though nobody needs it. Derivatives are built before it is known which of
// the carried values they read: an array that a loop fills element by element need not be had
// again, trip by trip, if only the elements' derivatives count.
func dropCarries(g *ad.Graph) *ad.Graph {
	if !hasWhile(g) {
		return g
	}
	all := make([]bool, max(len(g.Outputs), len(g.Inputs)))
	for i := range all {
		all[i] = true
	}
	return trimmed(g, all[:len(g.Outputs)], all[:len(g.Inputs)])
}

// hasWhile reports whether the graph or a region in it has a while loop.
func hasWhile(g *ad.Graph) bool {
	return slices.ContainsFunc(g.Nodes, func(n ad.Node) bool {
		return n.Op == ad.OpWhile || slices.ContainsFunc(n.Bodies(), hasWhile)
	})
}

// regionUse is what of a region is needed: by argument, which are the inputs of its bodies, and
// by result.
type regionUse struct{ args, results []bool }

// needs are the nodes that some outputs of g, and its effects, need, and what they need of
// regions.
type needs struct {
	g    *ad.Graph
	live []bool
	uses map[ad.Ref]*regionUse
}

func needsOf(g *ad.Graph, outputs []bool) *needs {
	s := &needs{g, make([]bool, len(g.Nodes)), map[ad.Ref]*regionUse{}}
	for k, r := range g.Outputs {
		if outputs[k] {
			s.live[r] = true
		}
	}
	for _, r := range g.Effects {
		s.live[r] = true
	}
	all := g.Live(g.Outputs, true)
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		if all[i] && acts(&g.Nodes[i]) {
			s.live[i] = true
		}
		if s.live[i] {
			s.visit(ad.Ref(i))
		}
	}
	return s
}

// acts reports whether a node that is no effect must stay whoever reads it: it draws numbers, or
// may fail. Elements at computed places are checked apart, where the program asks for them.
func acts(n *ad.Node) bool {
	if n.Op.Row().Class != ad.Region {
		return n.Op != ad.OpTake && mustRun(n)
	}
	return slices.ContainsFunc(n.Bodies(), func(g *ad.Graph) bool {
		all := g.Live(g.Outputs, true)
		for i := range g.Nodes {
			if all[i] && acts(&g.Nodes[i]) {
				return true
			}
		}
		return false
	})
}

// inputs are the inputs that are needed.
func (s *needs) inputs() []bool {
	in := make([]bool, len(s.g.Inputs))
	for k, r := range s.g.Inputs {
		in[k] = s.live[r]
	}
	return in
}

func (s *needs) visit(r ad.Ref) {
	n := &s.g.Nodes[r]
	switch {
	case n.Op == ad.OpResult:
		s.use(n.Args[0]).results[n.ResultIndex()] = true
		s.live[n.Args[0]] = true
	case n.Op == ad.OpWhile || n.Op == ad.OpIf:
		u := s.use(r) // all its results come later in the graph, and have been seen
		if n.Op == ad.OpIf {
			u.ofIf(n.Attr.(*ad.If))
		} else {
			u.ofWhile(n.Attr.(*ad.While))
		}
		if n.Type.Lanes > 0 && !u.hasLanes(s.g, n) { // lanes must come from somewhere
			for _, all := range [][]bool{u.args, u.results} {
				for i := range all {
					all[i] = true
				}
			}
		}
		for i, a := range n.Args {
			s.live[a] = s.live[a] || u.args[i]
		}
	default:
		for _, a := range n.Args {
			s.live[a] = true
		}
	}
}

func (s *needs) use(r ad.Ref) *regionUse {
	u := s.uses[r]
	if u == nil {
		n := &s.g.Nodes[r]
		u = &regionUse{make([]bool, len(n.Args)), make([]bool, len(n.Results()))}
		s.uses[r] = u
	}
	return u
}

func (u *regionUse) hasLanes(g *ad.Graph, n *ad.Node) bool {
	for i, a := range n.Args {
		if u.args[i] && g.Type(a).Lanes > 0 {
			return true
		}
	}
	return false
}

// add marks the arguments, from the first on, that are inputs of a graph that it needs for
// some outputs; it reports whether there are new ones.
func (u *regionUse) add(g *ad.Graph, first int, outputs []bool) bool {
	found := false
	for i, need := range needsOf(g, outputs).inputs() {
		if need && !u.args[first+i] {
			u.args[first+i], found = true, true
		}
	}
	return found
}

func (u *regionUse) ofIf(f *ad.If) {
	u.args[0] = true
	u.add(f.Then, 1, u.results)
	u.add(f.Else, 1, u.results)
}

// ofWhile: a carried value is needed if its end or its history is, by the condition, or by the
// next value of a needed one.
func (u *regionUse) ofWhile(w *ad.While) {
	for i := range w.Carries {
		u.args[i] = u.results[i] || u.results[w.Carries+1+i]
	}
	u.add(w.Cond, 0, []bool{true})
	for again := true; again; {
		again = u.add(w.Body, 0, u.outputs(w))
	}
}

// outputs are those of the loop's body that are needed.
func (u *regionUse) outputs(w *ad.While) []bool {
	return append(slices.Clone(u.args[:w.Carries]), u.results[2*w.Carries+2:]...)
}

// trimmed is g with the inputs and outputs that are kept.
func trimmed(g *ad.Graph, outputs, inputs []bool) *ad.Graph {
	s := needsOf(g, outputs)
	w := ad.NewRewriter(g, ad.NewGraph())
	w.Keep = mustRun
	for k, r := range g.Inputs {
		if inputs[k] {
			w.Input(r)
		}
	}
	w.Node = func(r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		u := s.uses[r]
		switch a := n.Attr.(type) {
		case *ad.Scan:
			if slices.ContainsFunc(n.Bodies(), hasWhile) {
				c := *a
				c.Body = dropCarries(a.Body)
				attr = &c
			}
		case *ad.If:
			attr = &ad.If{Then: trimmed(a.Then, u.results, u.args[1:]), Else: trimmed(a.Else, u.results, u.args[1:])}
			args = kept(args, u.args)
		case *ad.While:
			c := *a
			c.Cond = trimmed(a.Cond, []bool{true}, u.args)
			out := u.outputs(a)
			c.Body = trimmed(a.Body, out, u.args)
			c.Carries, c.Sums = count(out[:a.Carries]), count(out[a.Carries:])
			attr, args = &c, kept(args, u.args)
		}
		if n.Op == ad.OpResult {
			region := &g.Nodes[n.Args[0]]
			if u := s.uses[n.Args[0]]; region.Op == ad.OpIf || region.Op == ad.OpWhile {
				return w.To.Result(args[0], count(u.present(region)[:n.ResultIndex()]))
			}
		}
		return w.To.Do(n.Op, attr, args...)
	}
	w.Run(s.live)
	for k, r := range g.Outputs {
		if outputs[k] {
			w.To.Output(w.At(r))
		}
	}
	return w.To
}

// present are the results that the trimmed region has.
func (u *regionUse) present(n *ad.Node) []bool {
	w, ok := n.Attr.(*ad.While)
	if !ok {
		return u.results
	}
	carries := u.args[:w.Carries]
	return slices.Concat(carries, []bool{true}, carries, []bool{true}, u.results[2*w.Carries+2:])
}

func kept(refs []ad.Ref, keep []bool) []ad.Ref {
	var out []ad.Ref
	for i, r := range refs {
		if keep[i] {
			out = append(out, r)
		}
	}
	return out
}

func count(truths []bool) int {
	n := 0
	for _, t := range truths {
		if t {
			n++
		}
	}
	return n
}
