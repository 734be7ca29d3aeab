package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// recogniseReductions is reduction recognition. It applies to a carried value of a scan, nested or
// not, to which steps only add a term and which nothing else in a step reads. The value becomes its
// first value plus the sum of the terms. Such a sum is not a recurrence: its terms, and their
// derivatives, are computed for all steps at once (pass distribute), and summed in several
// independent chains.
//
// Binding recognises sums when it turns a loop into lanes. This pass handles the others, for
// instance in a conditional that each lane decides for itself: the refinements of an integral for
// each row.
func recogniseReductions(g *ad.Graph) *ad.Graph {
	if !has(g, ad.OpScan) {
		return g
	}
	used := loopnest.UsedResults(g, g.Live(g.Outputs, true))
	results := map[ad.Ref][]ad.Ref{}
	return rebuildTo(g.Sibling(), g, recogniseReductions, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if n.Op == ad.OpResult && results[n.Args[0]] != nil {
			return results[n.Args[0]][n.ResultIndex()]
		}
		s, ok := attr.(*ad.Scan)
		if !ok {
			return w.Same(n, attr, args)
		}
		terms := addedTerms(s)
		lanes := 0 // of the part that stays
		for i, a := range args {
			if i >= s.Carries || terms[i] == ad.None || used[r][s.Carries+i] {
				lanes = max(lanes, w.To.Type(a).Lanes)
			}
		}
		some := false
		for i := range terms {
			if used[r][s.Carries+i] || lanes < n.Type.Lanes { // lanes must come from an argument
				terms[i] = ad.None
			}
			some = some || terms[i] != ad.None
		}
		if !some {
			return w.Same(n, attr, args)
		}
		scan, parts := summed(w.To, s, args, terms)
		for i, t := range s.Results() {
			if parts[i] != ad.None {
				parts[i] = w.To.Expand(parts[i], ad.Type{Lanes: n.Type.Lanes, Shape: t.Shape})
			}
		}
		results[r] = parts
		return scan
	})
}

// addedTerms returns, for each carried value of a scan, the term that a step adds to it; None if a
// step uses the value in any other way.
func addedTerms(s *ad.Scan) []ad.Ref {
	b := s.Body
	terms := make([]ad.Ref, s.Carries)
	uses := make([]int, len(b.Nodes))
	for i, live := range b.Live(b.Outputs, true) {
		if live {
			for _, a := range b.Nodes[i].Args {
				uses[a]++
			}
		}
	}
	for _, r := range slices.Concat(b.Outputs, b.SideEffects) {
		uses[r]++
	}
	for i := range terms {
		terms[i] = ad.None
		in, next := b.Inputs[i], b.Outputs[i]
		n := &b.Nodes[next]
		if n.Op != ad.OpAdd || uses[in] != 1 || uses[next] != 1 {
			continue
		}
		switch in {
		case n.Args[0]:
			terms[i] = n.Args[1]
		case n.Args[1]:
			terms[i] = n.Args[0]
		}
		if terms[i] != ad.None && !b.Type(terms[i]).Equal(b.Type(in)) {
			terms[i] = ad.None
		}
	}
	return terms
}

// summed adds a scan to g that sums terms instead of carrying their values. It returns the new
// scan, and the results of s, None for those that nothing reads.
func summed(g *ad.Graph, s *ad.Scan, args, terms []ad.Ref) (scan ad.Ref, results []ad.Ref) {
	b, to := s.Body, g.Sibling()
	t := *s
	t.Body = to
	w := ad.NewRewriter(b, to)
	w.Keep = mustRun
	var left, carried, sums []ad.Ref
	for i, in := range b.Inputs {
		if i < s.Carries && terms[i] != ad.None {
			t.Carries--
			t.Sums++
			sums = append(sums, terms[i])
			continue
		}
		w.Put(in, to.Input(b.Type(in)))
		left = append(left, args[i])
		if i < s.Carries {
			carried = append(carried, b.Outputs[i])
		}
	}
	outputs := slices.Concat(carried, b.Outputs[s.Carries:], sums)
	w.Run(b.Live(outputs, true))
	for _, r := range outputs {
		to.Output(w.At(r))
	}
	scan = g.DoScan(&t, left)
	var finals, histories, rest []ad.Ref
	kept, sum := 0, s.Sums
	for i, r := range terms {
		if r != ad.None {
			finals, histories = append(finals, g.Add(args[i], g.SumOf(scan, sum))), append(histories, ad.None)
			sum++
			continue
		}
		finals, histories = append(finals, g.Final(scan, kept)), append(histories, g.History(scan, kept))
		kept++
	}
	for k := range s.Outs {
		rest = append(rest, g.Kept(scan, k))
	}
	for k := range s.Sums {
		rest = append(rest, g.SumOf(scan, k))
	}
	return scan, slices.Concat(finals, histories, rest)
}
