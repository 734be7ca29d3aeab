package ad

import "math"

// This file: derivatives of scans whose history would be too large. Such a scan is first rewritten
// as a scan of scans. The outer scan runs over segments of about √Steps steps. Its history has
// √Steps rows, and so has that of the inner scan, which the reverse pass recomputes for one segment
// at a time. This costs two more runs of the body. If either history is still too large, it is
// divided again.

// long reports whether the history is too long for the derivative to store. For arrays of which
// steps only read elements, it counts the elements that are kept instead of the array.
func (s *Scan) long(lanes int) bool {
	size, elements, limit, layout := 0, 0, s.Limit, s.Layout()
	for k, r := range s.Body.Outputs[:s.Carries] {
		if !layout.ReadAsKept(k) {
			size += s.Body.Type(r).Size()
		}
	}
	for _, r := range s.Body.Outputs[s.Carries : s.Carries+s.Outs] {
		if s.Body.readsElements(r) {
			elements += s.Body.Type(r).Size()
		}
	}
	if limit == 0 {
		limit = DefaultHistory
	}
	return s.Steps > minSegmented && (size+elements/keptPerCopied)*s.Steps*max(lanes, 1) > limit
}

// segmentedAdjoint builds the scan of scans and its derivative in a sub-graph without lanes. It
// then copies the derivative to g.
func segmentedAdjoint(g *Graph, n *Node, of []Ref, left, need []bool) []Ref {
	s := n.Attr.(*Scan)
	ts := s.Results()
	b := g.Sibling()
	b.site = g.site
	args := append([]Ref(nil), n.Args...)
	in := make([]Ref, len(args))
	for i, a := range args {
		in[i] = b.Input(core(g.Type(a)))
	}
	var seeds []Ref
	var seedsLeft []bool
	wanted := make([]bool, len(ts))
	for i := range ts {
		if a := of[i]; a != None {
			wanted[i] = true
			args = append(args, a)
			seeds, seedsLeft = append(seeds, b.Input(core(g.Type(a)))), append(seedsLeft, left[i])
		}
	}
	outs := b.segmented(s, in, wanted)
	var wrt []Ref
	for i, r := range in {
		if need[i] {
			wrt = append(wrt, r)
		}
	}
	for i, r := range b.backprop(outs, seeds, wrt, seedsLeft, nil) {
		if r == None {
			r = b.Const(0)
		}
		b.Output(b.Broadcast(r, b.Type(wrt[i]).Shape))
	}
	res := g.Inline(b, args, false)
	adjs := make([]Ref, len(n.Args))
	for i, a := range n.Args {
		adjs[i] = None
		if need[i] {
			adjs[i] = g.reduceLanes(res[0], a)
			res = res[1:]
		}
	}
	return adjs
}

// segmented computes the wanted results of s by a scan of scans over segments, and a scan over the
// steps that remain.
func (g *Graph) segmented(s *Scan, args []Ref, wanted []bool) []Ref {
	steps := int(math.Ceil(math.Sqrt(float64(s.Steps))))
	segments := s.Steps / steps
	rest := s.Steps - segments*steps
	whole, tail := 0, segments*steps // first steps of the segments and of the steps that remain
	if s.Reverse {
		whole, tail = rest, 0
	}
	body := s.Body.withoutSideEffects()
	// run adds a scan of the body over n steps.
	run := func(g *Graph, args []Ref, n int) Ref {
		c := *s
		c.Body, c.Steps = body, n
		return g.DoScan(&c, args)
	}
	sliced := func(first, n int, shape ...int) []Ref {
		as := append([]Ref(nil), args...)
		for i := s.Carries; i < s.Carries+s.Streams; i++ {
			row := g.Type(args[i]).Shape[1:]
			size := Type{Shape: row}.Size()
			as[i] = g.Slice(args[i], first*size, append(append([]int(nil), shape...), row...))
		}
		return as
	}

	outer := &Scan{Body: g.Sibling(), Carries: s.Carries, Streams: s.Streams, Sums: s.Sums, Steps: segments, Reverse: s.Reverse, Limit: s.Limit}
	outer.Body.site = g.site
	over := sliced(whole, segments*steps, segments, steps)
	in := make([]Ref, len(over))
	for i, a := range over {
		t := g.Type(a)
		if i >= s.Carries && i < s.Carries+s.Streams {
			t.Shape = t.Shape[1:]
		}
		in[i] = outer.Body.Input(t)
	}
	inner := run(outer.Body, in, steps)
	for i := range s.Carries {
		outer.Body.Output(outer.Body.Final(inner, i))
	}
	kept := map[int]int{} // for each result that outer keeps, its index among those
	for i, w := range wanted[:s.sumAt(0)] {
		if w && i >= s.Carries {
			kept[i] = outer.Outs
			outer.Outs++
			outer.Body.Output(outer.Body.Result(inner, i))
		}
	}
	for i := range s.Sums {
		outer.Body.Output(outer.Body.SumOf(inner, i))
	}
	first := g.DoScan(outer, over)

	last := sliced(tail, rest, rest)
	for i := range s.Carries {
		last[i] = g.Final(first, i)
	}
	second := None
	if rest > 0 {
		second = run(g, last, rest)
	}
	var outs []Ref
	for i, t := range s.Results() {
		if !wanted[i] {
			continue
		}
		var r Ref
		switch {
		case i < s.Carries:
			if r = last[i]; second != None {
				r = g.Final(second, i)
			}
		case i >= s.sumAt(0):
			if r = g.SumOf(first, i-s.sumAt(0)); second != None {
				r = g.Add(r, g.Result(second, i))
			}
		default:
			if r = g.Kept(first, kept[i]); second != None && s.Reverse {
				r = g.Concat(g.Result(second, i), r)
			} else if second != None {
				r = g.Concat(r, g.Result(second, i))
			}
			r = g.Reshape(r, t.Shape)
		}
		outs = append(outs, r)
	}
	return outs
}
