package passes

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// Loop distribution: what the body of a scan computes without the carried
// values (before), or from them without being passed on (after), is computed
// for all steps at once, as lanes. What is left in the scan is the recurrence:
// for GARCH(1,1) 5 of the 14 operations of a step, and 5 of the 38 of a step of
// the adjoint. A step's operation costs 3.4 ns in scalar code, 0.5 as a lane.

// minSteps is the number of steps from which a scan is worth taking apart;
// maxMoved the most elements that a value may have for all steps together, lest
// a long scan over large arrays store every intermediate.
const (
	minSteps = 8
	maxMoved = 1 << 22
)

// distribute returns a graph equal to g with its scans taken apart.
func distribute(g *ad.Graph) *ad.Graph { return (&distributor{apart: true}).run(g) }

// run returns a graph equal to g with all its scans, nested ones too, changed.
func (how *distributor) run(g *ad.Graph) *ad.Graph {
	if !hasScan(g) {
		return g
	}
	d := &distributor{how.special, how.apart, g, ad.NewGraph(), make([]ad.Ref, len(g.Nodes)), map[ad.Ref][]ad.Ref{}, map[ad.Ref]ad.Ref{}, nil}
	live := g.Live(g.Outputs, true)
	for i := range g.Nodes {
		d.to[i] = ad.None
	}
	for _, r := range g.Inputs {
		d.g.SetSite(g.Nodes[r].Site)
		d.to[r] = d.g.Input(g.Nodes[r].Type)
	}
	d.used = loopnest.UsedParts(g, live, g.Outputs)
	for i := range g.Nodes {
		if live[i] && d.to[i] == ad.None {
			d.node(ad.Ref(i))
		}
	}
	for _, r := range g.Outputs {
		d.g.Output(d.ref(r))
	}
	return d.g
}

func hasScan(g *ad.Graph) bool {
	for i := range g.Nodes {
		switch a := g.Nodes[i].Attr.(type) {
		case *ad.Scan:
			return true
		case *ad.If:
			if hasScan(a.Then) || hasScan(a.Else) {
				return true
			}
		case *ad.While:
			if hasScan(a.Cond) || hasScan(a.Body) {
				return true
			}
		}
	}
	return false
}

// distributor rebuilds a graph and its scans, in one of two ways.
type distributor struct {
	special bool // free scans of constant streams
	apart   bool // take scans apart

	old, g *ad.Graph
	to     []ad.Ref            // counterparts in g
	parts  map[ad.Ref][]ad.Ref // of a scan taken apart: its results
	known  map[ad.Ref]ad.Ref   // values that a scan kept, by what computes them again from its history
	used   map[ad.Ref][]bool
}

// ref is the counterpart of an old node; the flat value of a scan that was
// taken apart is put together.
func (d *distributor) ref(r ad.Ref) ad.Ref {
	if d.to[r] == ad.None {
		d.to[r] = d.g.Concat(d.parts[r]...)
	}
	return d.to[r]
}

func (d *distributor) node(r ad.Ref) {
	n := &d.old.Nodes[r]
	d.g.SetSite(n.Site)
	attr := n.Attr
	switch a := n.Attr.(type) {
	case *ad.Scan:
		d.scan(r, n, a)
		return
	case *ad.If:
		attr = &ad.If{Then: d.run(a.Then), Else: d.run(a.Else)}
	case *ad.While:
		w := *a
		w.Cond, w.Body = d.run(a.Cond), d.run(a.Body)
		attr = &w
	}
	if n.Op == ad.OpConst {
		d.to[r] = d.g.ConstArray(n.Type, n.Data)
		return
	}
	if n.Op == ad.OpGather {
		if ps := d.parts[n.Args[0]]; ps != nil {
			sizes := loopnest.ResultSizes(&d.old.Nodes[n.Args[0]])
			ix := n.Index()
			if k, offset := loopnest.PartOf(sizes, ix); k >= 0 {
				ix.Offset -= offset
				d.to[r] = d.g.Gather(ps[k], ix)
				return
			}
		}
	}
	args := make([]ad.Ref, len(n.Args))
	for k, a := range n.Args {
		args[k] = d.ref(a)
	}
	if n.Op == ad.OpGather && d.special {
		if v, ok := d.slice(args[0], n.Index()); ok {
			d.to[r] = v
			return
		}
	}
	d.to[r] = d.g.Do(n.Op, attr, args...)
	keepLive(d.g, n, d.to[r])
}

// scan takes a scan apart, or copies it.
func (d *distributor) scan(r ad.Ref, n *ad.Node, a *ad.Scan) {
	args := make([]ad.Ref, len(n.Args))
	for k, arg := range n.Args {
		args[k] = d.ref(arg)
	}
	s := *a
	s.Body = d.run(a.Body)
	sp := &s
	if d.special {
		sp, args = d.specialise(sp, args)
	}
	if d.apart {
		if t := newTaker(d, n, sp, args, d.used[r]); t != nil {
			d.parts[r] = t.take()
			return
		}
	}
	d.to[r] = d.g.DoScan(sp, args)
	keepLive(d.g, n, d.to[r])
}

// taker takes one scan apart.
type taker struct {
	*distributor
	n     *ad.Node
	args  []ad.Ref // in g
	s     *ad.Scan
	b     *ad.Graph
	live  []bool // results somebody reads
	nodes []bool // of the body that are needed
	carry []bool // depends on a carried value or has a place among the effects
	step  []bool // depends on the step
	rec   []bool // stays in the scan
	pins  bool   // the scan has effects

	vec     []ad.Ref // values for all steps, in g
	kept    map[ad.Ref]int
	keptRef map[ad.Ref]ad.Ref
}

// newTaker analyses a scan; nil if it stays as it is.
func newTaker(d *distributor, n *ad.Node, s *ad.Scan, args []ad.Ref, live []bool) *taker {
	if n.Type.Lanes > 0 || s.Steps < minSteps {
		return nil
	}
	b := s.Body
	N := len(b.Nodes)
	t := &taker{distributor: d, n: n, args: args, s: s, b: b, live: live, carry: make([]bool, N), step: make([]bool, N), rec: make([]bool, N)}
	t.nodes = b.Live(b.Outputs, true)
	var seeds []ad.Ref
	seeds = append(seeds, b.Outputs[:s.Carries]...)
	for i := range b.Nodes {
		nd := &b.Nodes[i]
		if !t.nodes[i] {
			continue
		}
		if nd.Type.Lanes > 0 || nd.Op.Row().OwnLanes {
			return nil // lanes do not nest
		}
		if nd.Op == ad.OpInput {
			k := nd.Attr.(int)
			t.carry[i] = k < s.Carries
			t.step[i] = k < s.Carries+s.Streams
			continue
		}
		if loopnest.MayFail(nd) {
			t.carry[i], t.step[i], t.pins = true, true, true
			seeds = append(seeds, ad.Ref(i))
		}
		for _, a := range nd.Args {
			t.carry[i] = t.carry[i] || t.carry[a]
			t.step[i] = t.step[i] || t.step[a]
		}
	}
	needed := b.Live(seeds, true)
	moved := 0
	for i := range b.Nodes {
		nd := &b.Nodes[i]
		if !t.nodes[i] || nd.Op == ad.OpInput || nd.Op == ad.OpConst {
			continue
		}
		t.rec[i] = needed[i] && t.carry[i]
		if t.rec[i] {
			continue
		}
		if s.Steps*nd.Type.Size() > maxMoved {
			return nil
		}
		moved++
	}
	for i, r := range b.Outputs[:s.Carries] {
		if live[s.Carries+i] && t.again(t.made(r)) {
			return t
		}
	}
	if moved < 2 {
		return nil
	}
	return t
}

// cheap reports whether the scan's node r is better computed again, for all
// steps at once, than stored at every step.
func (t *taker) cheap(r ad.Ref) bool {
	if !t.rec[r] {
		return true
	}
	switch n := &t.b.Nodes[r]; n.Op {
	case ad.OpNeg, ad.OpAdd, ad.OpSub, ad.OpMul, ad.OpMulGuarded, ad.OpSquare, ad.OpDiv, ad.OpInv, ad.OpSqrt,
		ad.OpLess, ad.OpLessEqual, ad.OpEqual, ad.OpNotEqual, ad.OpNot, ad.OpSelect, ad.OpReshape, ad.OpGather:
		for _, a := range n.Args {
			if !t.cheap(a) {
				return false
			}
		}
		return true
	}
	return false
}

// want finds the scan's values that are kept because r, computed for all steps,
// is made from them.
func (t *taker) want(r ad.Ref, seen map[ad.Ref]bool) {
	if seen[r] {
		return
	}
	seen[r] = true
	if !t.cheap(r) {
		if _, ok := t.kept[r]; !ok {
			t.kept[r] = len(t.kept)
		}
		return
	}
	for _, a := range t.b.Nodes[r].Args {
		t.want(a, seen)
	}
}

// take builds what comes before, the scan, and what comes after, and returns
// the results.
func (t *taker) take() []ad.Ref {
	s, b, g := t.s, t.b, t.g
	t.vec = make([]ad.Ref, len(b.Nodes))
	for i := range t.vec {
		t.vec[i] = ad.None
	}
	t.kept, t.keptRef = map[ad.Ref]int{}, map[ad.Ref]ad.Ref{}

	// What the scan keeps and sums: results that are its own, and what comes
	// after needs.
	var keptOrder, sums []ad.Ref
	seen := map[ad.Ref]bool{}
	for k, r := range b.Outputs[s.Carries:] {
		switch {
		case !t.live[2*s.Carries+k]:
		case !t.rec[r]:
			t.want(r, seen)
		case k < s.Outs:
			if _, ok := t.kept[r]; !ok {
				t.kept[r] = len(t.kept)
			}
		default:
			sums = append(sums, r)
		}
	}
	for i, r := range b.Outputs[:s.Carries] {
		if r = t.made(r); t.live[s.Carries+i] && t.again(r) {
			if _, ok := t.kept[r]; !ok {
				t.kept[r] = len(t.kept)
			}
		}
	}
	keptOrder = make([]ad.Ref, len(t.kept))
	for r, k := range t.kept {
		keptOrder[k] = r
	}

	scan := t.recurrence(keptOrder, sums)
	if scan != ad.None {
		for k, r := range keptOrder {
			t.keptRef[r] = g.Kept(scan, k)
		}
	}

	// Results, in the order of the old scan.
	sizes := loopnest.ResultSizes(t.n)
	parts := make([]ad.Ref, 0, len(sizes))
	dead := func(k int) ad.Ref { return g.Expand(g.Const(0), ad.Type{Shape: []int{sizes[k]}}) }
	for i := range s.Carries {
		parts = append(parts, g.Final(scan, i))
	}
	for i := range s.Carries {
		parts = append(parts, g.History(scan, i))
		t.vec[b.Inputs[i]] = g.Lane(g.History(scan, i))
	}
	t.remember()
	sum := 0
	for k, r := range b.Outputs[s.Carries:] {
		shape := b.Type(r).Shape
		switch p := 2*s.Carries + k; {
		case !t.live[p]:
			parts = append(parts, dead(p))
		case t.rec[r] && k < s.Outs:
			parts = append(parts, t.keptRef[r])
		case t.rec[r]:
			parts = append(parts, g.SumOf(scan, sum))
			sum++
		case k < s.Outs:
			parts = append(parts, g.Unlane(g.Spread(t.value(r), s.Steps)))
		default:
			v := t.value(r)
			if g.Type(v).Lanes == 0 {
				v = g.Scale(float64(s.Steps), v)
			}
			parts = append(parts, g.Reshape(g.SumLanes(v), shape))
		}
	}
	return parts
}

// made is the node that makes r, which may be another shape of it.
func (t *taker) made(r ad.Ref) ad.Ref {
	for t.b.Nodes[r].Op == ad.OpReshape {
		r = t.b.Nodes[r].Args[0]
	}
	return r
}

// again reports whether the carried value r, which the derivative computes again
// from the history, is better kept: it costs more than a store.
func (t *taker) again(r ad.Ref) bool {
	if !t.rec[r] {
		return false
	}
	switch t.b.Nodes[r].Op {
	case ad.OpSqrt, ad.OpExp, ad.OpLog, ad.OpInvLogit, ad.OpTanh, ad.OpLog1pExp, ad.OpPow:
		for _, a := range t.b.Nodes[r].Args {
			if !t.cheap(a) {
				return false
			}
		}
		return true
	}
	return false
}

// remember records what computes a kept carried value again.
func (t *taker) remember() {
	for _, r := range t.b.Outputs[:t.s.Carries] {
		r = t.made(r)
		kept, ok := t.keptRef[r]
		if !ok || !t.again(r) {
			continue
		}
		n := &t.b.Nodes[r]
		args := make([]ad.Ref, len(n.Args))
		for k, a := range n.Args {
			args[k] = t.value(a)
		}
		v := t.g.Do(n.Op, n.Attr, args...)
		if t.g.Type(v).Lanes == 0 {
			continue
		}
		t.known[v] = t.g.Lane(kept)
		// The derivative has a sum as it was written, the other way round perhaps.
		if a := t.g.Nodes[args[0]]; len(args) == 1 && a.Op == ad.OpAdd {
			t.known[t.g.Do(n.Op, n.Attr, t.g.Add(a.Args[1], a.Args[0]))] = t.g.Lane(kept)
		}
	}
}

// value is the value of the body's node r for all steps (without lanes if it is
// the same for all).
func (t *taker) value(r ad.Ref) ad.Ref {
	if t.vec[r] != ad.None {
		return t.vec[r]
	}
	g, n := t.g, &t.b.Nodes[r]
	old := g.SetSite(n.Site)
	defer g.SetSite(old)
	var v ad.Ref
	if kept, ok := t.keptRef[r]; ok {
		v = g.Lane(kept)
	} else {
		switch n.Op {
		case ad.OpInput:
			k := n.Attr.(int)
			v = t.args[k]
			if k < t.s.Carries+t.s.Streams { // a stream; carried values are set beforehand
				v = g.Lane(v)
			}
		case ad.OpConst:
			v = g.ConstArray(n.Type, n.Data)
		default:
			args := make([]ad.Ref, len(n.Args))
			for k, a := range n.Args {
				args[k] = t.value(a)
			}
			v = g.Do(n.Op, n.Attr, args...)
			if kept, ok := t.known[v]; ok {
				v = kept
			}
		}
	}
	t.vec[r] = v
	return v
}

// recurrence builds the scan of what stays; ad.None if nothing does.
func (t *taker) recurrence(kept, sums []ad.Ref) ad.Ref {
	s, b, g := t.s, t.b, t.g
	body := ad.NewGraph()
	in := make([]ad.Ref, len(b.Nodes)) // counterparts in body
	for i := range in {
		in[i] = ad.None
	}
	// What comes from outside: operands of the recurrence that are not part of it.
	var streams, captures []ad.Ref
	outside := map[ad.Ref]bool{}
	need := func(r ad.Ref) {
		n := &b.Nodes[r]
		if outside[r] || t.rec[r] || n.Op == ad.OpConst || n.Op == ad.OpInput && n.Attr.(int) < s.Carries {
			return
		}
		outside[r] = true
		if t.step[r] {
			streams = append(streams, r)
		} else {
			captures = append(captures, r)
		}
	}
	any := s.Carries > 0
	for i := range b.Nodes {
		if t.rec[i] {
			any = true
			for _, a := range b.Nodes[i].Args {
				need(a)
			}
		}
	}
	if !any {
		return ad.None
	}
	for _, r := range b.Outputs[:s.Carries] {
		need(r)
	}
	var args []ad.Ref
	for i := range s.Carries {
		args = append(args, t.args[i])
		in[b.Inputs[i]] = body.Input(b.Type(b.Inputs[i]))
	}
	for _, r := range streams {
		args = append(args, g.Unlane(t.value(r)))
		in[r] = body.Input(b.Type(r))
	}
	for _, r := range captures {
		args = append(args, t.value(r))
		in[r] = body.Input(b.Type(r))
	}
	for i := range b.Nodes {
		n := &b.Nodes[i]
		body.SetSite(n.Site)
		switch {
		case n.Op == ad.OpConst && t.nodes[i]:
			in[i] = body.ConstArray(n.Type, n.Data)
		case t.rec[i]:
			as := make([]ad.Ref, len(n.Args))
			for k, a := range n.Args {
				as[k] = in[a]
			}
			in[i] = body.Do(n.Op, n.Attr, as...)
			keepLive(body, n, in[i])
		}
	}
	for _, rs := range [][]ad.Ref{b.Outputs[:s.Carries], kept, sums} {
		for _, r := range rs {
			body.Output(in[r])
		}
	}
	scan := g.DoScan(&ad.Scan{Body: body, Carries: s.Carries, Streams: len(streams), Outs: len(kept), Sums: len(sums),
		Steps: s.Steps, Reverse: s.Reverse}, args)
	if t.pins { // even if nobody reads its results any more
		g.Effects = append(g.Effects, scan)
	}
	return scan
}
