package passes

import "github.com/ppl-lang/ppl/ad"

// unroll is full unrolling. It writes scans of few short steps out, mostly sums that accumulate
// over the categories of an answer, in a lane for each answer: what is left are elementwise ops,
// which fuse with those around them and run in vectors of lanes, where a scan enters its code for
// each lane and stores and loads all that its steps share.
//
// It runs before the density is differentiated, so that the derivative has no scan either.
func unroll(g *ad.Graph) *ad.Graph {
	short := map[ad.Ref]bool{}
	for i, live := range g.Live(g.Outputs, true) {
		if s, ok := g.Nodes[i].Attr.(*ad.Scan); live && ok && s.Steps > 0 && s.Steps <= mostSteps {
			short[ad.Ref(i)] = sideCost(s.Body, mostUnrolled/float64(s.Steps)) >= 0
		}
	}
	if len(short) == 0 {
		return g
	}
	results := map[ad.Ref][]ad.Ref{}
	return rebuildTo(g.Beside(), g, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if n.Op == ad.OpResult && results[n.Args[0]] != nil {
			return results[n.Args[0]][n.ResultIndex()]
		}
		if !short[r] {
			return w.Same(n, attr, args)
		}
		results[r] = writtenOut(w.To, attr.(*ad.Scan), args, n.Type.Lanes)
		return args[0]
	})
}

// writtenOut adds the steps of a scan to a graph and returns its results.
func writtenOut(g *ad.Graph, s *ad.Scan, args []ad.Ref, lanes int) []ad.Ref {
	history, outs := make([][]ad.Ref, s.Carries), make([][]ad.Ref, s.Outs)
	for i := range history {
		history[i] = make([]ad.Ref, s.Steps)
	}
	for k := range outs {
		outs[k] = make([]ad.Ref, s.Steps)
	}
	sums := make([]ad.Ref, s.Sums)
	inputs := append([]ad.Ref(nil), args...)
	for k := range s.Steps {
		t := k
		if s.Reverse {
			t = s.Steps - 1 - k
		}
		for i := s.Carries; i < s.Carries+s.Streams; i++ {
			of := s.Body.Type(s.Body.Inputs[i])
			inputs[i] = g.Slice(args[i], t*of.Size(), of.Shape)
		}
		for i := range history {
			history[i][t] = inputs[i]
		}
		values := g.Inline(s.Body, inputs, true)
		copy(inputs, values[:s.Carries])
		for i := range outs {
			outs[i][t] = values[s.Carries+i]
		}
		for i, v := range values[s.Carries+s.Outs:] {
			if k > 0 {
				v = g.Add(sums[i], v)
			}
			sums[i] = v
		}
	}
	results := append([]ad.Ref(nil), inputs[:s.Carries]...)
	for _, steps := range append(history, outs...) {
		results = append(results, g.Stack(steps...))
	}
	results = append(results, sums...)
	for i, t := range s.Results() {
		results[i] = g.Expand(results[i], ad.Type{Lanes: lanes, Shape: t.Shape}) // what reads no lanes has none of itself
	}
	return results
}
