package ad

import "slices"

// JVP appends to g the tangents of outs (forward mode): for each, Σ_k ∂outs/∂wrt[k]·tangents[k], of
// its type, or None if it does not depend on wrt. The result is part of the same graph, in the same
// ops, and can be differentiated again, in either mode. tangents[k] has the type of wrt[k]; None
// counts as 0. Values that wrt depends on are held fixed.
//
// If the graph has no lanes, tangents may have lanes, with one direction in each; the results then
// have the same lanes.
//
// It is forward accumulation in one sweep over the nodes. Elementwise ops use their row's Partials
// or Factors. Linear ops are their own derivative. The tangent of other array ops is the transpose
// of their VJP, which is linear in the adjoint. The tangent of a region is a region of the same
// kind, which computes the values as well.
func (g *Graph) JVP(outs, wrt, tangents []Ref) []Ref {
	f := &forward{g: g, tan: map[Ref]Ref{}, parts: map[Ref][]Ref{}}
	last := Ref(-1)
	for _, r := range outs {
		last = max(last, r)
	}
	end := int(last) + 1
	given := map[Ref]bool{}
	for k, r := range wrt {
		given[r] = true
		if tangents[k] != None {
			f.tan[r] = g.Expand(tangents[k], g.Type(r))
		}
	}
	active := g.dependents(wrt, end)
	moving := g.moving(outs, end)
	old := g.site
	for i := range end {
		if !active[i] || !moving[i] || given[Ref(i)] {
			continue
		}
		n := g.Nodes[i] // a copy, because the slice of nodes is reallocated as it grows
		g.site = n.Site
		f.node(Ref(i), &n)
	}
	g.site = old
	res := make([]Ref, len(outs))
	for k, r := range outs {
		res[k] = f.of(r)
	}
	return res
}

// moving marks the nodes before end whose tangents contribute to those of outs. It does not mark
// the second argument of OpSlope: only its value is used, which may come from ops without
// derivatives.
func (g *Graph) moving(outs []Ref, end int) []bool {
	moving := make([]bool, end)
	for _, r := range outs {
		if r != None {
			moving[r] = true
		}
	}
	for i := end - 1; i >= 0; i-- {
		if !moving[i] {
			continue
		}
		n := &g.Nodes[i]
		for k, a := range n.Args {
			if a != None && !(n.Op == OpSlope && k == 1) {
				moving[a] = true
			}
		}
	}
	return moving
}

type forward struct {
	g     *Graph
	tan   map[Ref]Ref   // the tangent of each node, if it is not 0
	parts map[Ref][]Ref // for each region, the tangents of its results; None: 0
}

// of returns the tangent of r.
func (f *forward) of(r Ref) Ref {
	if t, ok := f.tan[r]; ok {
		return t
	}
	return None
}

// orZero returns t, or zeros of the given type if t is None.
func (f *forward) orZero(t Ref, of Type) Ref {
	if t == None {
		return f.g.Expand(f.g.Const(0), of)
	}
	return t
}

func (f *forward) plus(t, u Ref) Ref {
	if t == None {
		return u
	}
	return f.g.Add(t, u)
}

func (f *forward) node(r Ref, n *Node) {
	g, row := f.g, &table[n.Op]
	if n.Op == OpResult {
		if ps, ok := f.parts[n.Args[0]]; ok && ps[n.ResultIndex()] != None {
			f.tan[r] = g.Expand(ps[n.ResultIndex()], n.Type)
		}
		return
	}
	tans := make([]Ref, len(n.Args))
	some := false
	for k, a := range n.Args {
		tans[k] = f.of(a)
		some = some || tans[k] != None
	}
	if !some {
		return
	}
	t := None
	switch {
	case n.Op == OpSelect:
		if tans[1] != None || tans[2] != None {
			t = g.Select(n.Args[0], f.orZero(tans[1], Scalar), f.orZero(tans[2], Scalar))
		}
	case n.Op == OpBoundAdjoint:
		t = tans[0]
	case n.Op == OpMulGuarded: // on a side that is not taken, the tangent is 0, too
		if tans[0] != None {
			t = f.plus(t, g.Do(OpMulGuarded, nil, tans[0], n.Args[1]))
		}
		if tans[1] != None {
			t = f.plus(t, g.Do(OpMulGuarded, nil, n.Args[0], tans[1]))
		}
	case row.Partials != nil || row.Factors != nil:
		for k, factors := range row.partials(g, r, n.Args) {
			v := tans[k]
			if len(factors) == 0 || v == None {
				continue
			}
			for _, p := range factors {
				// An element that does not change in this direction contributes 0 even where its
				// slope is infinite, as for the square root at 0.
				op := OpMulGuarded
				if n.Op == OpMul || n.Op == OpSquare || g.finiteConst(p) {
					op = OpMul
				}
				v = g.Do(op, nil, v, p)
			}
			t = f.plus(t, v)
		}
	case row.Class == Linear:
		for k, a := range n.Args {
			tans[k] = f.orZero(tans[k], g.Type(a))
		}
		t = g.Do(n.Op, n.Attr, tans...)
	case row.Class == Region:
		f.parts[r] = f.region(n, tans)
	case row.VJP != nil:
		t = f.transposed(r, n, row, tans)
	default:
		g.fail(n.Op, "has no derivative")
	}
	if t != None {
		f.tan[r] = g.Expand(t, n.Type)
	}
}

// transposed returns the tangent of an op that has a VJP. With v = VJP(w), the tangent is the
// derivative of Σ v·tangent with respect to w, because the VJP is linear in w.
func (f *forward) transposed(r Ref, n *Node, row *Op, tans []Ref) Ref {
	g, sub := f.g, f.g.Sibling()
	sub.site = g.site
	var args []Ref
	in := func(a Ref) Ref {
		args = append(args, a)
		return sub.Input(core(g.Type(a)))
	}
	m := Node{Op: n.Op, Type: core(n.Type), Attr: n.Attr, Site: n.Site}
	for _, a := range n.Args {
		m.Args = append(m.Args, in(a))
	}
	out, w := in(r), in(r)
	need := make([]bool, len(tans))
	seeds := make([]Ref, len(tans))
	for k, t := range tans {
		seeds[k] = None
		if t != None {
			need[k], seeds[k] = true, in(t)
		}
	}
	var outs, given []Ref
	for k, v := range row.VJP(sub, &m, out, w, need) {
		if need[k] && v != None {
			t := sub.Type(m.Args[k]) // the op may have broadcast its argument
			outs, given = append(outs, sub.Expand(sub.ReduceTo(v, t), t)), append(given, seeds[k])
		}
	}
	t := sub.Backprop(outs, given, []Ref{w})[0]
	if t == None {
		return None
	}
	if sub.Live([]Ref{t}, false)[w] {
		g.fail(n.Op, "has no forward derivative: its adjoint is not linear")
	}
	return g.inline(sub, args, []Ref{t}, false)[0]
}

// twin builds the body of a region that also carries tangents. Its inputs are the inputs of the old
// body, in groups: carried values, streams, captured values. After each group come the tangents of
// those that have one. groups has the number of inputs of each group with its tangents. tangentOf
// has, for each new input, the index of the old input whose tangent it is, or -1.
type twin struct {
	b         *Graph
	old       []Ref // inputs of b that correspond to inputs of the old body
	tan       []Ref // their tangents, None where 0
	groups    []int
	tangentOf []int
}

func newTwin(g, body *Graph, has []bool, groups ...int) *twin {
	w := &twin{b: g.Sibling(), old: make([]Ref, len(has)), tan: make([]Ref, len(has)), groups: groups}
	w.b.site = g.site
	first := 0
	for k, n := range groups {
		for i := first; i < first+n; i++ {
			w.old[i], w.tan[i] = w.b.Input(body.Type(body.Inputs[i])), None
			w.tangentOf = append(w.tangentOf, -1)
		}
		for i := first; i < first+n; i++ {
			if has[i] {
				w.tan[i] = w.b.Input(body.Type(body.Inputs[i]))
				w.tangentOf = append(w.tangentOf, i)
				w.groups[k]++
			}
		}
		first += n
	}
	return w
}

// tangents returns the tangents of outs. Where want is set but there is no tangent, it returns
// zeros.
func (w *twin) tangents(outs []Ref, want []bool) []Ref {
	tans := w.b.JVP(outs, w.old, w.tan)
	for i, t := range tans {
		if t == None && want[i] {
			tans[i] = w.b.Expand(w.b.Const(0), w.b.Type(outs[i]))
		}
	}
	return tans
}

// condition returns the condition of a loop for the inputs of the twin of its body: those that are
// tangents are not read. Side effects are copied if effects is set.
func (w *twin) condition(g, old *Graph, effects bool) *Graph {
	cond := g.Sibling()
	cond.site = g.site
	var inputs []Ref // the inputs that the old condition has
	for i, of := range w.tangentOf {
		if in := cond.Input(w.b.Type(w.b.Inputs[i])); of < 0 {
			inputs = append(inputs, in)
		}
	}
	cond.Output(cond.Inline(old, inputs, effects)[0])
	return cond
}

// args returns the arguments of the new region, in the order of the twin's inputs.
func (w *twin) args(f *forward, old, tans []Ref) []Ref {
	var res []Ref
	k := 0
	for _, of := range w.tangentOf {
		if of < 0 {
			res = append(res, old[k])
			k++
		} else {
			res = append(res, f.orZero(tans[of], f.g.Type(old[of])))
		}
	}
	return res
}

// carried builds the body of a loop that also carries tangents. Its outputs are the next carried
// values, their tangents, and the tangents of the other outputs that have one (marked in extra).
func (f *forward) carried(body *Graph, carries, streams int, tans []Ref) (w *twin, extra []bool) {
	has := make([]bool, len(tans))
	for i, t := range tans {
		has[i] = t != None
	}
	copy(has, activeCarries(body, carries, has))
	w = newTwin(f.g, body, has, carries, streams, len(tans)-carries-streams)
	outs := w.b.Inline(body, w.old, false)
	want := make([]bool, len(outs))
	copy(want, has[:carries])
	ts := w.tangents(outs, want)
	for _, r := range outs[:carries] {
		w.b.Output(r)
	}
	for i, t := range ts[:carries] {
		if has[i] {
			w.b.Output(t)
		}
	}
	extra = make([]bool, len(outs))
	for i := carries; i < len(outs); i++ {
		if extra[i] = ts[i] != None; extra[i] {
			w.b.Output(ts[i])
		}
	}
	return w, extra
}

// region adds a region of the same kind as n that computes the tangents of n's results, and returns
// these tangents.
func (f *forward) region(n *Node, tans []Ref) []Ref {
	l := n.Layout()
	if l.Control == Chosen {
		return f.conditional(n, l, tans)
	}
	w, extra := f.carried(l.Repeated(), l.Carries, l.Streams, tans)
	d := l
	d.WithRepeated(w.b)
	d.Carries, d.Streams, d.Outs, d.Sums = w.groups[0], w.groups[1], 0, 0
	for i, e := range extra {
		switch {
		case !e:
		case i < l.Carries+l.Outs:
			d.Outs++
		default:
			d.Sums++
		}
	}
	if l.Control == Tested {
		d.Bodies[0] = w.condition(f.g, l.Bodies[0], false)
	}
	attr := n.Attr.(RegionAttr).With(d)
	d = attr.Layout()
	r := f.g.Do(n.Op, attr, w.args(f, n.Args, tans)...)
	res := f.none(n)
	take := func(from Source, output, made int) {
		if k := l.At(from, output); k >= 0 {
			res[k] = f.g.Result(r, d.At(from, made))
		}
	}
	for i, of := range w.tangentOf[:d.Carries] {
		if of >= 0 {
			take(Final, of, i)
			take(History, of, i)
		}
	}
	made := d.Carries
	for i := l.Carries; i < len(extra); i++ {
		if extra[i] {
			take(Kept, i, made)
			take(Sum, i, made)
			made++
		}
	}
	return res
}

// none returns a list of None, one for each result of a region.
func (f *forward) none(n *Node) []Ref {
	res := make([]Ref, len(n.Results()))
	for i := range res {
		res[i] = None
	}
	return res
}

func (f *forward) conditional(n *Node, l Layout, tans []Ref) []Ref {
	first := l.First()
	has := make([]bool, len(tans)-first)
	for i, t := range tans[first:] {
		has[i] = t != None
	}
	want := make([]bool, len(l.Bodies[0].Outputs)) // outputs with a tangent in either branch
	for _, b := range reaches(l.Bodies...) {
		for i, d := range b.through(has) {
			want[i] = want[i] || d
		}
	}
	var args []Ref
	d := l
	d.Bodies = nil
	for _, b := range l.Bodies {
		w := newTwin(f.g, b, has, len(has))
		ts := w.tangents(w.b.Inline(b, w.old, false), want)
		for i := range want {
			if want[i] {
				w.b.Output(ts[i])
			}
		}
		args = w.args(f, n.Args[first:], tans[first:])
		d.Bodies = append(d.Bodies, w.b)
	}
	attr := n.Attr.(RegionAttr).With(d)
	d = attr.Layout()
	r := f.g.Do(n.Op, attr, append(slices.Clone(n.Args[:first]), args...)...)
	res := f.none(n)
	made := 0
	for i := range want {
		if want[i] {
			if k := l.At(Taken, i); k >= 0 {
				res[k] = f.g.Result(r, d.At(Taken, made))
			}
			made++
		}
	}
	return res
}
