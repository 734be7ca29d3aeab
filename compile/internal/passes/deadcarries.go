package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// removeDeadCarries is dead-code elimination of carried values (carries). It returns a graph equal
// to g without what loops carry, and what these and conditionals take, though nobody needs it.
// Derivatives are built before it is known which of the carried values they read: an array that a
// loop fills element by element need not be had again, step by step, if only the elements'
// derivatives count. Scans that carry no arrays element by element, where no while loop is either,
// are left as they are.
func removeDeadCarries(g *ad.Graph, o *Options) *ad.Graph {
	if !has(g, ad.OpWhile) && !has(g, ad.OpReplace) && !has(g, ad.OpAddAt) {
		return g
	}
	all := make([]bool, max(len(g.Outputs), len(g.Inputs)))
	for i := range all {
		all[i] = true
	}
	return needsOf(g, o).trimmed(all[:len(g.Outputs)], all[:len(g.Inputs)])
}

// regionUse is what of a region is needed: by argument, which are the inputs of its bodies, and
// by result; and the needs of its bodies, in the order of ad.Node.Bodies.
type regionUse struct {
	args, results []bool
	bodies        []*needs
}

// needs are the nodes of a graph that are needed, and what they need of regions. A body has
// needs for each region that it is the body of.
type needs struct {
	g    *ad.Graph
	live []bool
	uses map[ad.Ref]*regionUse

	inputs map[ad.Ref]int // their positions
	region *needs         // where the region is whose body g is; nil: nowhere
	at     ad.Ref         // that region
	first  int            // which of its arguments the first input is

	all *demands
}

// demands is what was found to be needed whose own needs are not yet: what is needed only
// grows, and each node of each body is looked at once, however deep regions lie in one another.
type demands struct {
	o     *Options
	todo  []demand
	laned []demand // regions of lanes
	acts  map[*ad.Graph]bool
}

type demand struct {
	s *needs
	r ad.Ref
}

// needsOf is what outputs of g, all of them, and its effects need.
func needsOf(g *ad.Graph, o *Options) *needs {
	all := &demands{o: o, acts: map[*ad.Graph]bool{}}
	s := all.open(g, nil, ad.None, 0)
	for _, r := range g.Outputs {
		s.mark(r)
	}
	for {
		for len(all.todo) > 0 {
			d := all.todo[len(all.todo)-1]
			all.todo = all.todo[:len(all.todo)-1]
			d.s.visit(d.r)
		}
		if len(all.laned) == 0 {
			return s
		}
		d := all.laned[len(all.laned)-1]
		all.laned = all.laned[:len(all.laned)-1]
		d.s.keepLanes(d.r)
	}
}

// open begins the needs of a graph with what is needed whoever reads it.
func (all *demands) open(g *ad.Graph, region *needs, at ad.Ref, first int) *needs {
	s := &needs{g: g, live: make([]bool, len(g.Nodes)), uses: map[ad.Ref]*regionUse{},
		inputs: make(map[ad.Ref]int, len(g.Inputs)), region: region, at: at, first: first, all: all}
	for k, r := range g.Inputs {
		s.inputs[r] = k
	}
	for _, r := range g.Effects {
		s.mark(r)
	}
	for i, live := range g.Live(g.Outputs, true) {
		if live && all.mustStay(&g.Nodes[i]) {
			s.mark(ad.Ref(i))
		}
	}
	return s
}

// mustStay reports whether a node that is no effect must stay whoever reads it: it draws numbers,
// or may fail. Elements at computed places are checked apart, where the program asks for them.
func (all *demands) mustStay(n *ad.Node) bool {
	if n.Op.Row().Class != ad.Region {
		return n.Op != ad.OpTake && mustRun(n)
	}
	return slices.ContainsFunc(n.Bodies(), func(g *ad.Graph) bool {
		acts, known := all.acts[g]
		if !known {
			for i, live := range g.Live(g.Outputs, true) {
				acts = acts || live && all.mustStay(&g.Nodes[i])
			}
			all.acts[g] = acts
		}
		return acts
	})
}

// mark notes that a node is needed.
func (s *needs) mark(r ad.Ref) {
	if !s.live[r] {
		s.live[r] = true
		s.all.todo = append(s.all.todo, demand{s, r})
	}
}

// visit notes what a node needs that is needed.
func (s *needs) visit(r ad.Ref) {
	n := &s.g.Nodes[r]
	switch {
	case n.Op == ad.OpResult:
		s.result(n.Args[0], n.ResultIndex())
		s.mark(n.Args[0])
	case n.Op.Row().Class == ad.Region:
		s.use(r)
		if n.Type.Lanes > 0 {
			s.all.laned = append(s.all.laned, demand{s, r})
		}
	default:
		for _, a := range n.Args {
			s.mark(a)
		}
		if k, ok := s.inputs[r]; ok && s.region != nil {
			s.region.arg(s.at, s.first+k)
		}
	}
}

// use is what is needed of the region at r, which is needed.
func (s *needs) use(r ad.Ref) *regionUse {
	u := s.uses[r]
	if u != nil {
		return u
	}
	n := &s.g.Nodes[r]
	u = &regionUse{args: make([]bool, len(n.Args)), results: make([]bool, len(n.Results()))}
	s.uses[r] = u
	switch a := n.Attr.(type) {
	case *ad.If:
		u.bodies = []*needs{s.all.open(a.Then, s, r, 1), s.all.open(a.Else, s, r, 1)}
		s.arg(r, 0)
	case *ad.Scan:
		u.bodies = []*needs{s.all.open(a.Body, s, r, 0)}
	case *ad.While:
		u.bodies = []*needs{s.all.open(a.Cond, s, r, 0), s.all.open(a.Body, s, r, 0)}
		u.bodies[0].mark(a.Cond.Outputs[0])
	}
	return u
}

// arg notes that an argument of a region is needed: of a loop that carries it, what it becomes
// in each trip, too.
func (s *needs) arg(r ad.Ref, i int) {
	u, n := s.use(r), &s.g.Nodes[r]
	if u.args[i] {
		return
	}
	u.args[i] = true
	s.mark(n.Args[i])
	switch a := n.Attr.(type) {
	case *ad.Scan:
		if i < a.Carries {
			u.bodies[0].mark(a.Body.Outputs[i])
		}
	case *ad.While:
		if i < a.Carries {
			u.bodies[1].mark(a.Body.Outputs[i])
		}
	}
}

// result notes that a result of a region is needed: of what a loop carries its end and its
// history are had by carrying it.
func (s *needs) result(r ad.Ref, i int) {
	u := s.use(r)
	if u.results[i] {
		return
	}
	u.results[i] = true
	switch a := s.g.Nodes[r].Attr.(type) {
	case *ad.If:
		u.bodies[0].mark(a.Then.Outputs[i])
		u.bodies[1].mark(a.Else.Outputs[i])
	case *ad.Scan:
		if i < 2*a.Carries {
			s.arg(r, i%a.Carries)
		} else {
			u.bodies[0].mark(a.Body.Outputs[i-a.Carries])
		}
	case *ad.While:
		trips, stride := a.Carries, 2*a.Carries+1
		switch {
		case i < trips:
			s.arg(r, i)
		case i > trips && i < stride:
			s.arg(r, i-trips-1)
		case i > stride:
			u.bodies[1].mark(a.Body.Outputs[a.Carries+i-stride-1])
		}
	}
}

// keepLanes has all of a region of lanes if nothing of what it is known to need has lanes: they
// must come from somewhere.
func (s *needs) keepLanes(r ad.Ref) {
	u, n := s.use(r), &s.g.Nodes[r]
	for i, a := range n.Args {
		if u.args[i] && s.g.Type(a).Lanes > 0 {
			return
		}
	}
	for i := range u.args {
		s.arg(r, i)
	}
	for i := range u.results {
		s.result(r, i)
	}
}

// outputs are those of a loop's body that are needed, of which the first are carried, and the
// results behind those of carried values begin at rest.
func (u *regionUse) outputs(carries, rest int) []bool {
	return append(slices.Clone(u.args[:carries]), u.results[rest:]...)
}

// trimmed is what is needed of the graph, with the inputs and outputs that are kept.
func (s *needs) trimmed(outputs, inputs []bool) *ad.Graph {
	g := s.g
	w := ad.NewRewriter(g, s.all.o.empty())
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
			c := *a
			out := u.outputs(a.Carries, 2*a.Carries)
			c.Body = u.bodies[0].trimmed(out, u.args)
			c.Carries, c.Streams = count(u.args[:a.Carries]), count(u.args[a.Carries:a.Carries+a.Streams])
			c.Outs, c.Sums = count(out[a.Carries:a.Carries+a.Outs]), count(out[a.Carries+a.Outs:])
			attr, args = &c, kept(args, u.args)
		case *ad.If:
			attr = &ad.If{Then: u.bodies[0].trimmed(u.results, u.args[1:]), Else: u.bodies[1].trimmed(u.results, u.args[1:])}
			args = kept(args, u.args)
		case *ad.While:
			c := *a
			c.Cond = u.bodies[0].trimmed([]bool{true}, u.args)
			out := u.outputs(a.Carries, 2*a.Carries+2)
			c.Body = u.bodies[1].trimmed(out, u.args)
			c.Carries, c.Sums = count(out[:a.Carries]), count(out[a.Carries:])
			attr, args = &c, kept(args, u.args)
		}
		if n.Op == ad.OpResult {
			region := &g.Nodes[n.Args[0]]
			return w.To.Result(args[0], count(s.uses[n.Args[0]].present(region)[:n.ResultIndex()]))
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
	switch a := n.Attr.(type) {
	case *ad.Scan:
		carries := u.args[:a.Carries]
		return slices.Concat(carries, carries, u.results[2*a.Carries:])
	case *ad.While:
		carries := u.args[:a.Carries]
		return slices.Concat(carries, []bool{true}, carries, []bool{true}, u.results[2*a.Carries+2:])
	}
	return u.results
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
