package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/lang/types"
)

// scans evaluates recurrences.
type scans struct {
	at    *context
	b     *builder
	arr   *arrays
	lp    *logDensity
	marks *marks
}

// recurrence evaluates a group of units as a scan.
func (sn *scans) recurrence(n *nest, planned []*plan.Unit, run func(u *unit)) {
	units := n.unitsOf(planned)
	ax := planned[0].Domain
	r := &recurrence{n: n, units: units, planned: planned, dom: ax, chains: map[*write]*chain{}}
	r.lvl = newLevel(sn.at.lvl, nil)
	r.lvl.loop, r.lvl.steps, r.lvl.flat = ax, ax.N, true
	at := *sn.at
	at.scan = r
	sn.at.with(at, func() {
		for _, u := range units {
			run(u)
		}
	})
	body := r.lvl.g
	inBody := func(w *write) bool { return w.val.ints == nil && w.val.lvl == r.lvl }

	// The next values of the registers, and what they need: the recurrence. What
	// draws random numbers belongs to it, for a number in every iteration: in
	// lanes, arguments that are the same in all would give a single one.
	var regs, next []ad.Ref
	for _, ch := range r.order {
		val := sn.arr.reshape(sn.b.numeric(ch.w.val), []int{ch.size}, ch.w.val.typ)
		for k, reg := range ch.reg {
			regs = append(regs, reg)
			if k == 0 {
				next = append(next, body.Broadcast(sn.b.use(val, r.lvl, nil), []int{ch.size}))
			} else {
				next = append(next, ch.reg[k-1])
			}
		}
	}
	needed := slices.Clone(next)
	for i := range body.Nodes {
		if body.Nodes[i].Draws() {
			needed = append(needed, ad.Ref(i))
		}
	}
	inner := body.Live(needed, false)
	body.MarkResults(inner)

	// What is used outside the recurrence.
	isReg := map[ad.Ref]int{}
	for k, reg := range regs {
		isReg[reg] = k
	}
	var writes []*write
	for _, u := range units {
		for _, h := range n.order {
			if w := h.ofUnit(u); w != nil && inBody(w) {
				writes = append(writes, w)
			}
		}
	}
	var wanted []ad.Ref
	for _, w := range writes {
		wanted = append(wanted, w.val.ref)
	}
	wanted = append(wanted, r.targets...)
	var marked []ad.Statement
	for _, k := range r.densities {
		marked = append(marked, sn.marks.densities[k].statements...)
	}
	for _, st := range marked {
		wanted = append(wanted, st.Args...)
	}
	wanted = append(wanted, body.Effects...)
	outer := make([]bool, len(body.Nodes))
	var kept []ad.Ref
	keptAt := map[ad.Ref]int{}
	var visit func(x ad.Ref)
	visit = func(x ad.Ref) {
		if outer[x] {
			return
		}
		outer[x] = true
		nd := &body.Nodes[x]
		if nd.Op == ad.OpConst || nd.Op == ad.OpInput {
			return
		}
		if inner[x] {
			if nd.Op.Row().Class == ad.Region { // it has no value to keep
				return
			}
			keptAt[x] = len(kept)
			kept = append(kept, x)
			return
		}
		for _, a := range nd.Args {
			visit(a)
		}
	}
	for _, x := range wanted {
		visit(x)
	}

	// The scan itself.
	g := sn.at.lvl.g
	nb := ad.NewGraph()
	to := make([]ad.Ref, len(body.Nodes))
	var args []ad.Ref
	for _, ch := range r.order {
		for k, reg := range ch.reg {
			to[reg] = nb.Input(ad.Type{Shape: []int{ch.size}})
			args = append(args, sn.beforeScan(ch, k))
		}
	}
	streams := 0
	for _, l := range r.lvl.streams {
		if inner[l.in] {
			to[l.in] = nb.Input(body.Type(l.in))
			args = append(args, l.outer)
			streams++
		}
	}
	for _, l := range r.lvl.captures {
		if inner[l.in] {
			to[l.in] = nb.Input(body.Type(l.in))
			args = append(args, l.outer)
		}
	}
	copyNodes(nb, body, to, inner)
	for _, x := range next {
		nb.Output(to[x])
	}
	for _, x := range kept {
		nb.Output(to[x])
	}
	g.SetSite(sn.b.site())
	results := sn.scanned(&ad.Scan{Body: nb, Carries: len(regs), Streams: streams, Outs: len(kept), Steps: ax.N}, args)

	// The rest, in lanes.
	lane := make([]ad.Ref, len(body.Nodes))
	for _, l := range r.lvl.streams {
		lane[l.in] = l.flat
	}
	for _, l := range r.lvl.captures {
		lane[l.in] = l.outer
	}
	replay := make([]bool, len(body.Nodes))
	for i, used := range outer {
		if !used {
			continue
		}
		x, nd := ad.Ref(i), &body.Nodes[i]
		switch k, isKept := keptAt[x]; {
		case isKept:
			lane[x] = g.Lane(results.kept(k))
		case inner[x] && nd.Op.Row().Class == ad.Region: // the scan runs it
		case nd.Op == ad.OpInput:
			if k, ok := isReg[x]; ok {
				lane[x] = g.Lane(results.history(k))
			}
		default:
			replay[x] = true
		}
	}
	copyNodes(g, body, lane, replay)
	for _, w := range writes {
		w.val = sn.b.wrap(lane[w.val.ref], sn.at.lvl, ax, w.val.typ, w.val.param)
	}
	for _, st := range marked {
		for k, a := range st.Args {
			st.Args[k] = lane[a]
		}
	}
	sn.at.with(sn.at.in(ax), func() {
		for _, x := range r.targets {
			sn.lp.addTarget(sn.b.wrap(lane[x], sn.at.lvl, ax, types.RealType, true))
		}
	})
}

// scanResults are the arrays over the steps of what a scan keeps, and of what it
// carries before each step.
type scanResults struct{ kept, history func(k int) ad.Ref }

// scanned adds a scan to the graph, or, where all that it depends on is known, its
// results.
func (sn *scans) scanned(s *ad.Scan, args []ad.Ref) scanResults {
	g := sn.at.lvl.g
	known := len(s.Body.Effects) == 0 && !slices.ContainsFunc(s.Body.Nodes, func(n ad.Node) bool { return n.Draws() })
	h := ad.NewGraph()
	var in []ad.Ref
	for _, a := range args {
		data, ok := g.Value(a)
		if known = known && ok; !known {
			break
		}
		in = append(in, h.ConstArray(g.Type(a), data))
	}
	if known {
		sc := h.DoScan(s, in)
		for k := range s.Outs {
			h.Output(h.Kept(sc, k))
		}
		for k := range s.Carries {
			h.Output(h.History(sc, k))
		}
		if out, err := h.Eval(nil, &ad.Env{}); err == nil {
			at := func(k int) ad.Ref { return g.ConstArray(h.Type(h.Outputs[k]), out[k]) }
			return scanResults{kept: at, history: func(k int) ad.Ref { return at(s.Outs + k) }}
		}
	}
	sc := g.DoScan(s, args)
	if len(s.Body.Effects) > 0 {
		g.Effects = append(g.Effects, sc)
	}
	return scanResults{
		kept:    func(k int) ad.Ref { return g.Kept(sc, k) },
		history: func(k int) ad.Ref { return g.History(sc, k) },
	}
}

// beforeScan is what register k of a chain holds before the scan.
func (sn *scans) beforeScan(ch *chain, k int) ad.Ref {
	var a assembly[*value]
	t := make([]int32, ch.size)
	for p, e := range ch.init[k] {
		if e.from != nil { // else no step reads it: anything will do
			t[p] = e.at + a.part(e.from, func() value { return *e.from })
		}
	}
	if len(a.parts) == 0 {
		g := sn.at.lvl.g
		return g.Broadcast(g.Const(0), []int{ch.size})
	}
	return sn.b.use(sn.arr.elementsOf(a.parts, t, types.Real), sn.at.lvl, nil)
}

// copyNodes adds to g copies of the marked nodes of body; to holds, by node of
// body, the counterparts, of inputs already, of the others afterwards.
// Regions with effects keep them.
func copyNodes(g, body *ad.Graph, to []ad.Ref, marked []bool) {
	w := ad.NewRewriter(body, g)
	for i, n := range body.Nodes {
		if n.Op == ad.OpInput || !marked[i] {
			w.Put(ad.Ref(i), to[i])
		}
	}
	w.Run(marked)
	for i, m := range marked {
		if m {
			to[i] = w.At(ad.Ref(i))
		}
	}
}
