package passes

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// tangents differentiates loops forward whose number of trips parameters decide, and scans with
// such loops in their steps, if they depend on few numbers. Solvers of differential equations are
// such loops. All directions are vector lanes, so the solution and its derivatives take little
// longer than the solution alone. A derivative backwards first repeats each step.
func tangents(g *ad.Graph) *ad.Graph {
	if !has(g, ad.OpWhile) {
		return g
	}
	results := map[ad.Ref]map[int]ad.Ref{}
	some := false
	to := rebuildTo(g.Sibling(), g, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if n.Op == ad.OpResult && results[n.Args[0]] != nil {
			return results[n.Args[0]][n.ResultIndex()]
		}
		s, ok := attr.(*ad.Scan)
		if !ok || n.Type.Lanes > 0 || !solves(s.Body) {
			return w.Same(n, attr, args)
		}
		f := newDirections(w.To, args)
		if f == nil {
			return w.Same(n, attr, args)
		}
		for i := s.Carries; i < s.Carries+s.Streams; i++ {
			if f.tangents[i] != ad.None {
				return w.Same(n, attr, args)
			}
		}
		step := *s
		step.Body = replaceScalars(s.Body)
		made, value, tangent := w.To.DualScan(&step, args, f.tangents, directionLanes, inNumbers)
		if made == ad.None {
			return w.Same(n, attr, args)
		}
		some = true
		results[r] = map[int]ad.Ref{}
		for i := range n.Results() {
			results[r][i] = f.join(w.To, value(i), tangent(i))
		}
		return made
	})
	if !some {
		return g
	}
	return to
}

// solves reports whether a step without lanes has a loop whose number of trips is known only at run
// time.
func solves(body *ad.Graph) bool {
	some := false
	for i, live := range body.Live(body.Outputs, true) {
		n := &body.Nodes[i]
		if live && n.Type.Lanes > 0 {
			return false
		}
		some = some || live && n.Layout().Control == ad.Tested
	}
	return some
}

// inNumbers returns a step whose loops work on single numbers, so that their lanes run as vectors;
// nil if that is not possible.
func inNumbers(body *ad.Graph) *ad.Graph {
	body = replaceSystems(body, &Options{Budget: body.Budget()})
	used := loopnest.UsedResults(body, body.Live(body.Outputs, true))
	results := map[ad.Ref][]ad.Ref{}
	ok := true
	to := rebuildTo(body.Sibling(), body, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if n.Op == ad.OpResult && results[n.Args[0]] != nil {
			return results[n.Args[0]][n.ResultIndex()]
		}
		if n.Layout().Control != ad.Tested {
			return w.Same(n, attr, args)
		}
		run, rs := loopInScalars(w.To, attr.(ad.RegionAttr), n, args, used[r], maxMatrix)
		if rs != nil {
			results[r] = rs
		} else {
			run = w.Same(n, attr, args)
		}
		l := w.To.Nodes[run].Layout()
		ok = ok && scalarCode(l.Repeated())
		return run
	})
	if !ok {
		return nil
	}
	return replaceElements(to)
}

// scalarCode reports whether the graph computes single numbers without lanes only, in regions, too.
// Arguments of messages may be arrays.
func scalarCode(g *ad.Graph) bool {
	for i, live := range g.Live(g.Outputs, false) {
		n := &g.Nodes[i]
		if !live {
			continue
		}
		if n.Type.Lanes > 0 || n.Op.Row().Class != ad.Region && n.Type.Size() != 1 {
			return false
		}
		for _, b := range n.Bodies() {
			if !scalarCode(b) {
				return false
			}
		}
	}
	return true
}

// directions are the numbers on which a region depends, each a direction of its tangents.
type directions struct {
	sources  []ad.Ref
	tangents []ad.Ref // of the region's arguments; None: 0
}

// newDirections returns nil if there are too many, or none.
func newDirections(g *ad.Graph, args []ad.Ref) *directions {
	f := &directions{sources: g.Bottleneck(args, maxSources)}
	n := 0
	for _, s := range f.sources {
		if g.Type(s).Lanes > 0 {
			return nil
		}
		n += g.Type(s).Size()
	}
	if n == 0 || n > directionLanes {
		return nil
	}
	var seeds []ad.Ref
	first := 0
	for _, s := range f.sources {
		t := g.Type(s)
		t.Lanes = directionLanes
		data := make([]float64, t.Total())
		for e := range t.Size() {
			data[(first+e)*t.Size()+e] = 1
		}
		first += t.Size()
		seeds = append(seeds, g.ConstArray(t, data))
	}
	f.tangents = g.JVP(args, f.sources, seeds)
	return f
}

// join returns a value with a derivative: tangent has the directions as its last dimension.
func (f *directions) join(g *ad.Graph, value, tangent ad.Ref) ad.Ref {
	if tangent == ad.None {
		return value
	}
	t := g.Type(value)
	x := g.Detach(value)
	k := 0
	for _, s := range f.sources {
		for e := range g.Type(s).Size() {
			at := make([]int32, t.Size())
			for i := range at {
				at[i] = int32(i*directionLanes + k)
			}
			slope := g.Reshape(g.Gather(tangent, ad.Index{Dims: []ad.Dim{{N: t.Size(), Table: at}}}), t.Shape)
			x = g.Add(x, g.Slope(g.Slice(s, e, nil), slope))
			k++
		}
	}
	return x
}
