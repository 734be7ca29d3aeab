package ad

import "slices"

// This file: copies of graphs that compute values and tangents together (dual numbers). JVP adds
// tangents to an existing graph, so the regions that it adds compute values once more.

// duals copies nodes to g. Tangents are added when they are asked for.
type duals struct {
	*forward
	done map[Ref]bool // nodes whose tangent is known, in tan or as 0
}

// Duals adds a copy of body to g, whose inputs have the given values and tangents (None: 0), and
// returns the values of body's outputs and their tangents. Side effects are copied. Inputs have no
// lanes, but tangents may have them, with one direction in each. Values that come from a region
// then have the same lanes, all equal.
func (g *Graph) Duals(body *Graph, inputs, tangents []Ref) (outs, tans []Ref) {
	d := &duals{&forward{g: g, tan: map[Ref]Ref{}, parts: map[Ref][]Ref{}}, map[Ref]bool{}}
	for k, r := range inputs {
		d.done[r] = true
		if tangents[k] != None {
			d.tan[r] = g.Expand(tangents[k], g.Type(r))
		}
	}
	w := NewRewriter(body, g)
	w.PutAll(body.Inputs, inputs)
	results := map[Ref][]int{} // by region of body: where its results are now
	w.Node = func(r Ref, n *Node, attr any, args []Ref) Ref {
		if n.Op == OpResult {
			if at := results[n.Args[0]]; at != nil {
				return g.Result(args[0], at[n.ResultIndex()])
			}
		}
		if table[n.Op].Class == Region {
			if x, at := d.region(n, args); x != None {
				results[r] = at
				return x
			}
		}
		return g.Do(n.Op, attr, args...)
	}
	w.Run(body.Live(body.Outputs, true))
	for _, r := range body.Outputs {
		outs, tans = append(outs, w.At(r)), append(tans, d.tangent(w.At(r)))
	}
	return outs, tans
}

// tangent returns the tangent of r; None: 0.
func (d *duals) tangent(r Ref) Ref {
	if !d.done[r] {
		d.done[r] = true
		n := d.g.Nodes[r] // a copy, because the slice of nodes is reallocated as it grows
		if table[n.Op].Flat || table[n.Op].Class == Random || n.Op == OpConst {
			return None
		}
		if table[n.Op].Class != Region { // the tangents of regions are in parts
			for _, a := range n.Args {
				d.tangent(a)
			}
			old := d.g.SetSite(n.Site)
			d.node(r, &n)
			d.g.SetSite(old)
		}
	}
	return d.of(r)
}

// region adds a region that computes the results of n and their tangents. It returns None if no
// argument has a tangent; otherwise at has the new indices of n's results.
func (d *duals) region(n *Node, args []Ref) (r Ref, at []int) {
	tans := make([]Ref, len(args))
	has := make([]bool, len(args))
	l := n.Layout()
	for k, a := range args {
		if k >= l.First() {
			tans[k] = d.tangent(a)
			has[k] = tans[k] != None
		} else {
			tans[k] = None
		}
	}
	if !slices.Contains(has, true) {
		return None, nil
	}
	var t twins
	if l.Control == Chosen {
		t = d.sides(n, l, has[l.First():])
	} else {
		t = d.repeated(l, has)
	}
	all := append([]Ref{}, args[:l.First()]...)
	all = append(all, t.w.args(d.forward, args[l.First():], tans[l.First():])...)
	attr := n.Attr.(RegionAttr).With(t.layout)
	made := attr.Layout()
	r = d.g.Do(n.Op, attr, all...)
	parts := make([]Ref, len(made.Parts()))
	for k := range parts {
		parts[k] = None
	}
	for _, p := range l.Parts() {
		if p.From == Trips || p.From == Stride {
			at = append(at, made.At(p.From, 0))
			continue
		}
		to := made.At(p.From, t.value[p.Output])
		at = append(at, to)
		if k := t.tangent[p.Output]; k >= 0 {
			parts[to] = d.g.Result(r, made.At(p.From, k))
		}
	}
	d.parts[r] = parts
	return r, at
}

// twins describes a region that computes tangents with values: an example of its twin bodies, its
// layout, and for each output of the old bodies the new outputs that are its value and its tangent
// (-1: 0).
type twins struct {
	w              *twin
	layout         Layout
	value, tangent []int
}

// build adds the outputs of a body: values in groups, and after each group the tangents of those
// where want is set. It returns the number of outputs of each group.
func (t *twins) build(w *twin, body *Graph, outs, tans []Ref, want []bool, groups ...int) (sizes []int) {
	t.w, t.value, t.tangent = w, make([]int, len(outs)), slices.Repeat([]int{-1}, len(outs))
	first := 0
	for _, n := range groups {
		before := len(w.b.Outputs)
		for i := first; i < first+n; i++ {
			t.value[i] = len(w.b.Outputs)
			w.b.Output(outs[i])
		}
		for i := first; i < first+n; i++ {
			if want[i] {
				x := tans[i]
				if x == None {
					x = w.b.Const(0)
				}
				t.tangent[i] = len(w.b.Outputs)
				w.b.Output(w.b.Expand(x, body.Type(body.Outputs[i])))
			}
		}
		first += n
		sizes = append(sizes, len(w.b.Outputs)-before)
	}
	return sizes
}

// repeated returns the twin of a loop.
func (d *duals) repeated(l Layout, has []bool) (t twins) {
	body := l.Repeated()
	has = slices.Clone(has)
	copy(has, activeCarries(body, l.Carries, has))
	w := newTwin(d.g, body, has, l.Carries, l.Streams, len(has)-l.Carries-l.Streams)
	outs, tans := w.b.Duals(body, w.old, w.tan)
	want := make([]bool, len(outs))
	for i := range want {
		want[i] = i < l.Carries && has[i] || i >= l.Carries && tans[i] != None
	}
	sizes := t.build(w, body, outs, tans, want, l.Carries, l.Outs, l.Sums)
	t.layout = l
	t.layout.WithRepeated(w.b)
	t.layout.Carries, t.layout.Streams, t.layout.Outs, t.layout.Sums = w.groups[0], w.groups[1], sizes[1], sizes[2]
	if l.Control == Tested {
		t.layout.Bodies[0] = w.condition(d.g, l.Bodies[0], true)
	}
	return t
}

// sides returns the twin of a conditional.
func (d *duals) sides(n *Node, l Layout, has []bool) (t twins) {
	want := make([]bool, len(l.Bodies[0].Outputs)) // outputs with a tangent on either side
	for _, b := range reaches(l.Bodies...) {
		for i, dep := range b.through(has) {
			want[i] = want[i] || dep
		}
	}
	t.layout = l
	t.layout.Bodies = nil
	for _, b := range l.Bodies {
		w := newTwin(d.g, b, has, len(has))
		outs, tans := w.b.Duals(b, w.old, w.tan)
		t.build(w, b, outs, tans, want, len(outs))
		t.layout.Bodies = append(t.layout.Bodies, w.b)
	}
	return t
}

// DualScan adds a scan that computes the results of s and, in each of some directions, the tangents
// of those that have one. tangents are those of args, with the directions as lanes; None: 0.
// Streams must have none. The scan has no lanes: the directions of each number are a carried array,
// which the body turns into lanes. value returns a result of s. tangent returns an array of its
// shape with a further dimension for the directions; None: 0. finish may replace the body; if it
// returns nil, no scan is added, and r is None.
func (g *Graph) DualScan(s *Scan, args, tangents []Ref, directions int, finish func(*Graph) *Graph) (r Ref, value, tangent func(i int) Ref) {
	l := s.Layout()
	has := make([]bool, len(args))
	for k, t := range tangents {
		has[k] = t != None
	}
	copy(has, activeCarries(s.Body, s.Carries, has))
	b := g.Sibling()
	b.site = g.site
	row := Type{Shape: []int{directions}}
	size := func(i int) int { return s.Body.Type(s.Body.Inputs[i]).Size() }
	inputs, tans := make([]Ref, len(args)), make([]Ref, len(args))
	var all []Ref
	var counts [3]int // carried, streams, captured
	first := 0
	for k, n := range []int{s.Carries, s.Streams, len(args) - s.Carries - s.Streams} {
		for i := first; i < first+n; i++ {
			inputs[i], tans[i] = b.Input(s.Body.Type(s.Body.Inputs[i])), None
			all = append(all, args[i])
		}
		for i := first; i < first+n; i++ {
			if !has[i] {
				continue
			}
			t := Type{Shape: s.Body.Type(s.Body.Inputs[i]).Shape, Lanes: directions}
			x := tangents[i]
			if x == None {
				x = g.fill(t, 0)
			}
			if data, ok := g.Value(x); ok && k == 2 {
				tans[i] = b.ConstArray(t, data)
				continue
			}
			parts := make([]Ref, size(i))
			for e := range parts {
				parts[e] = b.Lane(b.Input(row))
				all = append(all, g.Unlane(g.Slice(x, e, nil)))
			}
			tans[i] = b.Reshape(b.Concat(parts...), t.Shape)
		}
		first += n
		counts[k] = len(b.Inputs)
	}
	outs, outTans := b.Duals(s.Body, inputs, tans)
	at, tanAt := make([]int, len(outs)), make([]int, len(outs)) // outputs of b: the value, and the tangent of the first element
	var sizes [3]int
	first = 0
	for k, n := range []int{s.Carries, s.Outs, s.Sums} {
		for i := first; i < first+n; i++ {
			x := outs[i]
			if b.Type(x).Lanes > 0 {
				x = b.Slice(b.Unlane(x), 0, b.Type(x).Shape)
			}
			at[i] = len(b.Outputs)
			b.Output(x)
		}
		for i := first; i < first+n; i++ {
			tanAt[i] = -1
			x := outTans[i]
			if x == None && (k > 0 || !has[i]) {
				continue
			}
			if x == None {
				x = b.Const(0)
			}
			x = b.Expand(x, Type{Shape: s.Body.Type(s.Body.Outputs[i]).Shape, Lanes: directions})
			tanAt[i] = len(b.Outputs)
			for e := range s.Body.Type(s.Body.Outputs[i]).Size() {
				b.Output(b.Unlane(b.Slice(x, e, nil)))
			}
		}
		first += n
		sizes[k] = len(b.Outputs)
	}
	types := make([]Type, len(outs))
	for i, o := range s.Body.Outputs {
		types[i] = s.Body.Type(o)
	}
	if b = finish(b); b == nil {
		return None, nil, nil
	}
	made := &Scan{Body: b, Carries: counts[0], Streams: counts[1] - counts[0], Outs: sizes[1] - sizes[0], Sums: sizes[2] - sizes[1],
		Steps: s.Steps, Reverse: s.Reverse, Limit: s.Limit, Finite: s.Finite}
	r = g.DoScan(made, all)
	to := made.Layout()
	value = func(i int) Ref {
		p, _ := l.Part(i)
		return g.Result(r, to.At(p.From, at[p.Output]))
	}
	tangent = func(i int) Ref {
		p, _ := l.Part(i)
		if tanAt[p.Output] < 0 {
			return None
		}
		t := types[p.Output]
		parts := make([]Ref, t.Size())
		for e := range parts {
			parts[e] = g.Result(r, to.At(p.From, tanAt[p.Output]+e))
		}
		shape := append(slices.Clone(t.Shape), directions)
		if p.From == Final || p.From == Sum {
			return g.Reshape(g.Concat(parts...), shape)
		}
		// From elements by steps by directions to steps by elements by directions.
		n := s.Steps * directions
		x := g.Gather(g.Concat(parts...), Index{Dims: []Dim{{N: s.Steps, Stride: directions}, {N: len(parts), Stride: n}, {N: directions, Stride: 1}}})
		return g.Reshape(x, append([]int{s.Steps}, shape...))
	}
	return r, value, tangent
}

// Bottleneck returns values of few numbers through which alone args depend on the graph's inputs,
// the narrowest that it finds on the way back to the inputs. It goes back over elementwise ops and
// ops that move numbers, but not from parts to a whole that it does not need, and over at most as
// many nodes as steps.
func (g *Graph) Bottleneck(args []Ref, steps int) []Ref {
	active := g.dependents(g.Inputs, len(g.Nodes))
	cut := map[Ref]bool{}
	for _, a := range args {
		if active[a] {
			cut[a] = true
		}
	}
	width := func() (n int) {
		for r := range cut {
			n += g.Type(r).Total()
		}
		return n
	}
	sorted := func() (rs []Ref) {
		for r := range cut {
			rs = append(rs, r)
		}
		slices.Sort(rs)
		return rs
	}
	best, narrowest := sorted(), width()
	for ; steps > 0; steps-- {
		last := None
		for r := range cut {
			n := &g.Nodes[r]
			c := table[n.Op].Class
			wider := func(a Ref) bool { return active[a] && !cut[a] && g.Type(a).Total() > n.Type.Total() }
			if r > last && n.Type.Lanes == 0 && (c == Elementwise || c == Linear) && !slices.ContainsFunc(n.Args, wider) {
				last = r
			}
		}
		if last == None {
			break
		}
		delete(cut, last)
		for _, a := range g.Nodes[last].Args {
			if active[a] {
				cut[a] = true
			}
		}
		if w := width(); w < narrowest {
			best, narrowest = sorted(), w
		}
	}
	return best
}
