package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// readFinals reads the final carried values of a scan where a graph takes the last of the values
// that the scan keeps of all steps. So `log_sum_exp(g[T])` keeps neither g nor its adjoint for all
// steps.
func readFinals(g *ad.Graph) *ad.Graph {
	x := finals{g: g, origins: originTable{}, carried: map[ad.Ref]map[place]place{}, steps: map[ad.Ref]originTable{}}
	from := map[ad.Ref][]place{}
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Op == ad.OpGather && n.Type.Lanes == 0 && n.Type.Size() <= maxLogProduct/16 {
			if at := x.of(ad.Ref(i)); at != nil {
				from[ad.Ref(i)] = at
			}
		}
	}
	if len(from) == 0 {
		return g
	}
	return rebuildTo(g.Sibling(), g, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		at := slices.Clone(from[r])
		if at == nil {
			return w.Same(n, attr, args)
		}
		for i, p := range at {
			scan := &g.Nodes[p.r]
			k, e := 0, p.e
			for results := scan.Results(); e >= results[k].Size(); k++ {
				e -= results[k].Size()
			}
			at[i] = place{w.To.Final(w.Reach(p.r), k), e}
		}
		return w.To.Reshape(gatherPlaces(w.To, at), n.Type.Shape)
	})
}

// finals finds elements that are final carried values of scans.
type finals struct {
	g       *ad.Graph
	origins originTable
	carried map[ad.Ref]map[place]place // by scan: carried values, by their place in the body
	steps   map[ad.Ref]originTable     // by scan: origins in its body
}

// of returns, for each element of a node, its place among the carried values of a scan, counted
// through all of them; nil if an element is none of them.
func (x *finals) of(r ad.Ref) []place {
	out := make([]place, x.g.Type(r).Size())
	for e := range out {
		at := x.origins.first(x.g, place{r, e})
		n := &x.g.Nodes[at.r]
		if n.Op != ad.OpResult || n.Type.Lanes > 0 {
			return nil
		}
		scan := n.Args[0]
		s, ok := x.g.Nodes[scan].Attr.(*ad.Scan)
		k := n.ResultIndex()
		if !ok || k < 2*s.Carries || k >= 2*s.Carries+s.Outs {
			return nil
		}
		kept := s.Body.Outputs[k-s.Carries]
		size, last := s.Body.Type(kept).Size(), s.Steps-1
		if s.Reverse {
			last = 0
		}
		if at.e/size != last {
			return nil
		}
		carried := x.next(scan, s)
		if out[e], ok = carried[x.steps[scan].first(s.Body, place{kept, at.e % size})]; !ok {
			return nil
		}
	}
	return out
}

// next returns, by place in the body, its place among the carried values.
func (x *finals) next(r ad.Ref, s *ad.Scan) map[place]place {
	if known := x.carried[r]; known != nil {
		return known
	}
	m, steps := map[place]place{}, originTable{}
	x.carried[r], x.steps[r] = m, steps
	first := 0
	for _, next := range s.Body.Outputs[:s.Carries] {
		for e := range min(s.Body.Type(next).Size(), maxLogProduct) {
			m[steps.first(s.Body, place{next, e})] = place{r, first + e}
		}
		first += s.Body.Type(next).Size()
	}
	return m
}

// readFinalArrays reads final carried arrays where a graph takes elements of the last of the arrays
// that a scan keeps of all steps. So an array that a scan changes is not kept for all steps because
// the program reads it afterwards.
func readFinalArrays(g *ad.Graph) *ad.Graph {
	type final struct {
		scan  ad.Ref
		carry int
		index ad.Index
	}
	finals := map[ad.Ref]final{} // by gather
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Op != ad.OpGather || n.Type.Lanes > 0 {
			continue
		}
		r := n.Args[0]
		for g.Nodes[r].Op == ad.OpReshape {
			r = g.Nodes[r].Args[0]
		}
		if g.Nodes[r].Op != ad.OpResult {
			continue
		}
		scan := g.Nodes[r].Args[0]
		s, ok := g.Nodes[scan].Attr.(*ad.Scan)
		if !ok || s.Reverse || g.Nodes[scan].Type.Lanes > 0 {
			continue
		}
		l := s.Layout()
		p, _ := l.Part(g.Nodes[r].ResultIndex())
		carry := slices.Index(s.Body.Outputs[:s.Carries], s.Body.Outputs[p.Output])
		size := s.Body.Type(s.Body.Outputs[p.Output]).Size()
		if p.From != ad.Kept || carry < 0 || size < minLogged {
			continue
		}
		f := final{scan, carry, n.Attr.(ad.Index)}
		f.index.Offset -= (s.Steps - 1) * size
		inside := true
		f.index.Each(func(_, elem int) { inside = inside && elem >= 0 && elem < size })
		if inside {
			finals[ad.Ref(i)] = f
		}
	}
	if len(finals) == 0 {
		return g
	}
	return rebuildTo(g.Sibling(), g, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if f, ok := finals[r]; ok {
			return w.To.Gather(w.To.Final(w.At(f.scan), f.carry), f.index)
		}
		return w.Same(n, attr, args)
	})
}
