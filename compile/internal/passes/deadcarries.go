package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// removeDeadCarries is dead-code elimination of carried values (carries). It returns a graph equal
// to g without carried values, and arguments of loops and conditionals, that nothing needs. When
// derivatives are built, it is not yet known which carried values they read. If only the
// derivatives of elements matter, an array that a loop fills need not be recomputed step by step.
// Scans that contain no while loop and carry no arrays element by element do not change.
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

// regionUse describes the parts of a region that are needed: arguments, results and, for each body
// in the order of ad.Node.Bodies, its needs. Arguments are the inputs of the bodies.
type regionUse struct {
	layout        ad.Layout
	parts         []ad.Part // the origin of each result
	args, results []bool
	bodies        []*needs
}

// needs describes the nodes of a graph that are needed, and the parts of its regions. A body has
// separate needs for each region that contains it.
type needs struct {
	g    *ad.Graph
	live []bool
	uses map[ad.Ref]*regionUse

	inputs map[ad.Ref]int // their positions
	region *needs         // needs of the graph with the region whose body g is; nil: none
	at     ad.Ref         // that region
	first  int            // index of the region's argument for the first input of g

	all *demands
}

// demands lists needed nodes whose own needs have not been followed yet. Needs only grow, and each
// node of each body is visited once, however deeply regions are nested.
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

// needsOf returns the needs of a graph of which all outputs and side effects are needed.
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

// open starts the needs of a graph: it marks the nodes that are needed whether or not anything
// reads them.
func (all *demands) open(g *ad.Graph, region *needs, at ad.Ref, first int) *needs {
	s := &needs{g: g, live: make([]bool, len(g.Nodes)), uses: map[ad.Ref]*regionUse{},
		inputs: make(map[ad.Ref]int, len(g.Inputs)), region: region, at: at, first: first, all: all}
	for k, r := range g.Inputs {
		s.inputs[r] = k
	}
	for _, r := range g.SideEffects {
		s.mark(r)
	}
	for i, live := range g.Live(g.Outputs, true) {
		if live && all.mustStay(&g.Nodes[i]) {
			s.mark(ad.Ref(i))
		}
	}
	return s
}

// mustStay reports whether a node that is no side effect must stay even if nothing reads it: it
// draws random numbers, or may fail. OpTake does not count: its positions are checked by separate
// nodes.
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

// mark records that a node is needed.
func (s *needs) mark(r ad.Ref) {
	if !s.live[r] {
		s.live[r] = true
		s.all.todo = append(s.all.todo, demand{s, r})
	}
}

// visit marks the needs of a needed node.
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

// use returns the use of the region at r, which is needed.
func (s *needs) use(r ad.Ref) *regionUse {
	u := s.uses[r]
	if u != nil {
		return u
	}
	n := &s.g.Nodes[r]
	layout := n.Layout()
	parts := layout.Parts()
	u = &regionUse{layout: layout, parts: parts, args: make([]bool, len(n.Args)), results: make([]bool, len(parts))}
	s.uses[r] = u
	for _, b := range u.layout.Bodies {
		u.bodies = append(u.bodies, s.all.open(b, s, r, u.layout.First()))
	}
	switch u.layout.Control {
	case ad.Chosen:
		s.arg(r, 0)
	case ad.Tested:
		u.bodies[0].mark(u.layout.Bodies[0].Outputs[0])
	}
	return u
}

// arg records that an argument of a region is needed. If a loop carries it, its next value in each
// trip is needed too.
func (s *needs) arg(r ad.Ref, i int) {
	u, n := s.use(r), &s.g.Nodes[r]
	if u.args[i] {
		return
	}
	u.args[i] = true
	s.mark(n.Args[i])
	if i < u.layout.Carries {
		u.repeated().output(i)
	}
}

// repeated returns the needs of the body that repeats.
func (u *regionUse) repeated() *needs { return u.bodies[len(u.bodies)-1] }

// output records that an output of a body is needed.
func (s *needs) output(k int) { s.mark(s.g.Outputs[k]) }

// result records that a result of a region is needed. The final value and the history of a carried
// value need the carried value itself.
func (s *needs) result(r ad.Ref, i int) {
	u := s.use(r)
	if u.results[i] {
		return
	}
	u.results[i] = true
	switch p := u.parts[i]; p.From {
	case ad.Taken:
		for _, b := range u.bodies {
			b.output(p.Output)
		}
	case ad.Final, ad.History:
		s.arg(r, p.Output)
	case ad.Kept, ad.Sum:
		u.repeated().output(p.Output)
	}
}

// keepLanes marks all of a region in lanes if none of its needed arguments has lanes: the lanes
// must come from some argument.
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

// outputs reports which outputs of a body are needed.
func (u *regionUse) outputs() []bool {
	need := make([]bool, len(u.repeated().g.Outputs))
	copy(need, u.args[:u.layout.Carries])
	for i, p := range u.parts {
		switch p.From {
		case ad.Taken, ad.Kept, ad.Sum:
			need[p.Output] = need[p.Output] || u.results[i]
		}
	}
	return need
}

// trimmed returns the region's attribute without the parts that are not needed.
func (u *regionUse) trimmed(n *ad.Node) any {
	l := u.layout
	inputs, outputs := u.args[l.First():], u.outputs()
	bodies := make([]*ad.Graph, len(u.bodies))
	for k, b := range u.bodies {
		bodies[k] = b.trimmed(outputs, inputs)
		if l.Control == ad.Tested && k == 0 {
			bodies[k] = b.trimmed([]bool{true}, inputs)
		}
	}
	l.Bodies = bodies
	if l.Control != ad.Chosen {
		outs := l.Carries + l.Outs // the sums follow
		l.Outs, l.Sums = count(outputs[l.Carries:outs]), count(outputs[outs:])
		l.Streams = count(inputs[l.Carries : l.Carries+l.Streams])
		l.Carries = count(inputs[:l.Carries])
	}
	return n.Attr.(ad.RegionAttr).With(l)
}

// trimmed returns the needed part of the graph, with the inputs and outputs that are kept.
func (s *needs) trimmed(outputs, inputs []bool) *ad.Graph {
	g := s.g
	w := ad.NewRewriter(g, s.all.o.empty())
	w.Keep = mustRun
	for k, r := range g.Inputs {
		if inputs[k] {
			w.Input(r)
		}
	}
	at := map[ad.Ref][]int{} // by region: indices of its results in the trimmed one
	positions := func(region ad.Ref) []int {
		if at[region] == nil {
			k := 0
			for _, present := range s.uses[region].present() {
				at[region] = append(at[region], k)
				if present {
					k++
				}
			}
		}
		return at[region]
	}
	w.Node = func(r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		u := s.uses[r]
		if u != nil {
			attr, args = u.trimmed(n), kept(args, u.args)
		}
		if n.Op == ad.OpResult {
			return w.To.Result(args[0], positions(n.Args[0])[n.ResultIndex()])
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

// present reports which results the trimmed region has.
func (u *regionUse) present() []bool {
	outputs := u.outputs()
	out := make([]bool, len(u.parts))
	for i, p := range u.parts {
		out[i] = p.From == ad.Trips || p.From == ad.Stride || outputs[p.Output]
	}
	return out
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
