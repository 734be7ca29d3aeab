package passes

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
)

// unrolls reports whether a scan in this number of lanes, added to g with these arguments, is
// unrolled. Such a scan has few short steps, and is mostly a sum over the categories of an answer,
// in a lane for each answer. Unrolled, it consists of elementwise ops, which fuse with those around
// them and run on vectors of lanes. As a scan it enters its code for each lane, and stores and
// loads all values that its steps share.
func unrolls(g *ad.Graph, s *ad.Scan, args []ad.Ref, lanes int) bool {
	if s.Steps == 0 || s.Steps > maxShort || sideCost(s.Body, math.Inf(1)) < 0 {
		return false
	}
	step := billOf(s.Body)
	before := step.times(s.Steps)
	before.loops++
	for i := range s.Carries + s.Streams {
		before.memory += float64(s.Steps * s.Body.Type(s.Body.Inputs[i]).Size())
	}
	return step.times(s.Steps).inLanes(lanes, vectorLanes).beats(before, maxCode)
}

// writtenOut adds the unrolled steps of a scan to a graph and returns its results.
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
		results[i] = g.Expand(results[i], ad.Type{Lanes: lanes, Shape: t.Shape}) // add the lanes that it lacks
	}
	return results
}
