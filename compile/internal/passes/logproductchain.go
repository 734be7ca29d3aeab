package passes

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// This file: products whose results are the next step's vector, as in a plain forward algorithm.
// Steps pass on exponentials, scaled so that their sum is about 1, instead of logarithms. Terms
// that depend on the step alone are exponentiated for all steps at once. So a step has a product, a
// sum and a reciprocal, but no exponential and no logarithm. If the logarithms of step t are
//
//	y = log_sum_exp(x + u + M) + v,   x + u = m + log a
//
// where m is a number, u and v are vectors of the step, and w is v plus u of the step after, then a
// step computes
//
//	s = exp(M - c) a,  r = s exp(w + c - max(w + c)),  z = sum r,  a' = r / z
//
// and m grows by max(w + c) + log z. Derivatives treat m, the scales and z as constant, since y
// does not depend on them.
//
// Where another sequence begins, as in a loop over subjects, the next step has given logarithms w
// instead of y.

// logChain is a scan whose only carried value is the vector of its only product.
type logChain struct {
	*logProducts
	matrix [][]place // terms of the matrix, row by row, in the order of the vector
	before []place   // the vector's elements, as carried by the scan
	extra  [][]place // terms that are added to the vector's elements before the product (u)
	added  [][]place // terms that are added to the results (v)
	after  map[place]int

	begins ad.Ref    // a truth in each step: another sequence begins after it; ad.None: in no step
	starts [][]place // the vector with which it begins (w), if begins
}

// beginning splits an element of a next value into the one of the sequence and the one with which
// another sequence begins, if that depends on the step alone. ok is false if the steps at which
// sequences begin are not those of other elements.
func (c *logChain) beginning(next place) (same place, ok bool) {
	at := c.origins.first(c.b, next)
	n := &c.b.Nodes[at.r]
	if n.Op != ad.OpSelect || c.kind[n.Args[0]] != onStep || c.kind[n.Args[1]] == onCarried || c.b.Type(n.Args[0]).Size() != 1 {
		return next, c.begins == ad.None
	}
	if c.begins == ad.None && len(c.matrix) == 0 {
		c.begins = n.Args[0]
	}
	operand := func(k int) place { return place{n.Args[k], ad.Operand(c.b.Type(n.Args[k]), n.Type, at.e)} }
	c.starts = append(c.starts, []place{operand(1)})
	return operand(2), c.begins == n.Args[0]
}

// findChain returns the scan as a chain; nil if it is none. used says which results are read.
func (x *logProducts) findChain(used []bool) *logChain {
	s, b := x.s, x.b
	if len(x.products) != 1 {
		return nil
	}
	p := x.products[0]
	k := len(p.vector)
	carried := 0
	for _, in := range b.Inputs[:s.Carries] {
		carried += b.Type(in).Size()
	}
	if carried != k {
		return nil
	}
	c := &logChain{logProducts: x, after: map[place]int{}, begins: ad.None}
	for _, terms := range p.vector {
		var rest []place
		at := place{r: ad.None}
		for _, t := range terms {
			switch {
			case x.kind[t.r] != onCarried:
				rest = append(rest, t)
			case at.r != ad.None || b.Nodes[t.r].Op != ad.OpInput || slices.Contains(c.before, t):
				return nil
			default:
				at = t
			}
		}
		if at.r == ad.None {
			return nil
		}
		c.before, c.extra = append(c.before, at), append(c.extra, rest)
	}
	for j, at := range c.before {
		next, ok := c.beginning(place{b.Outputs[b.Nodes[at.r].Attr.(int)], at.e})
		if !ok {
			return nil
		}
		terms, ok := x.terms(next, nil)
		if !ok {
			return nil
		}
		var rest []place
		row := -1
		for _, t := range terms {
			at, isRow := x.row[t.r]
			switch {
			case isRow && row < 0:
				row = at[1]
			case x.kind[t.r] == onCarried:
				return nil
			default:
				rest = append(rest, t)
			}
		}
		if row < 0 {
			return nil
		}
		c.matrix = append(c.matrix, p.matrix[row*k:(row+1)*k]...)
		c.added = append(c.added, slices.Concat(rest, p.added[row]))
		c.after[x.origins.first(b, next)] = j
	}
	for i := range b.Outputs[s.Carries:] {
		if used[2*s.Carries+i] && (i >= s.Outs || c.elements(b.Outputs[s.Carries+i]) == nil) {
			return nil
		}
	}
	even := func(terms [][]place) bool {
		return !slices.ContainsFunc(terms, func(ts []place) bool { return len(ts) != len(terms[0]) })
	}
	if !even(c.extra) || !even(c.added) {
		return nil
	}
	return c
}

// elements returns the elements of the next vector that node r consists of; nil if it has others.
func (c *logChain) elements(r ad.Ref) []int {
	out := make([]int, c.b.Type(r).Size())
	for e := range out {
		j, ok := c.after[c.origins.first(c.b, place{r, e})]
		if !ok {
			return nil
		}
		out[e] = j
	}
	return out
}

// results adds the scan to a graph. It returns the used results of the old scan, and a number that
// is not 0 if a sum underflows, or a term is NaN or +Inf.
func (c *logChain) results(g *ad.Graph, args []ad.Ref, used []bool) []ad.Ref {
	s, b, k := c.s, c.b, len(c.before)
	m := newLogProductScan(c.logProducts, g, args)
	vec := ad.NewRewriter(b, g) // of all steps at once
	vec.Outside = func(r ad.Ref) ad.Ref {
		n := &b.Nodes[r]
		switch {
		case n.Op != ad.OpInput:
			return ad.None
		case c.kind[r] == onStep:
			return g.Lane(args[n.Attr.(int)])
		}
		return args[n.Attr.(int)]
	}
	// The last step is separate, so that the scan need not keep the sums of all steps.
	n, from, last := s.Steps-1, 0, s.Steps-1
	if s.Reverse {
		from, last = 1, 0
	}
	rows := func(x ad.Ref, at, n int) ad.Ref {
		shape := append([]int{n}, g.Type(x).Shape[1:]...)
		return g.Slice(x, at*g.Type(x).Size()/s.Steps, shape)
	}
	row := func(x ad.Ref, at int) ad.Ref {
		return g.Slice(x, at*g.Type(x).Size()/s.Steps, g.Type(x).Shape[1:])
	}
	type part = func(x ad.Ref) ad.Ref // of a value in lanes of steps
	whole := func(x ad.Ref) ad.Ref { return x }
	steps := func(at int) part { return func(x ad.Ref) ad.Ref { return g.Lane(rows(g.Unlane(x), at, n)) } }
	step := func(at int) part { return func(x ad.Ref) ad.Ref { return row(g.Unlane(x), at) } }
	sum := func(terms [][]place, of part) ad.Ref {
		v := ad.None
		for _, column := range columns(terms) {
			for j, t := range column {
				x := vec.Reach(t.r)
				if g.Type(x).Lanes > 0 {
					x = of(x)
				}
				column[j] = place{x, t.e}
			}
			if w := gatherPlaces(g, column); v == ad.None {
				v = w
			} else {
				v = g.Add(v, w)
			}
		}
		return v
	}
	lost := g.Const(0)
	isLost := func(x ad.Ref) { // unless x is a number below +Inf, or -Inf
		total := g.Sum(x)
		lost = g.Add(lost, g.Sum(g.Unlane(g.Do(ad.OpNot, nil, g.Less(total, g.Const(math.Inf(1)))))))
	}
	// scaled returns exponentials for all steps, and the logarithm of the scale of each.
	scaled := func(v ad.Ref) (e, top ad.Ref) {
		top = finite(g, g.Detach(g.Do(ad.OpMaxOf, nil, v)))
		isLost(v)
		return g.Unlane(scaledExp(g, v, top)), g.Unlane(top)
	}

	matrix, most, factors := m.factors(c.matrix, k)
	isLost(matrix)
	first := make([]place, k)
	for j, at := range c.before {
		first[j] = place{args[b.Nodes[at.r].Attr.(int)], at.e}
	}
	start := gatherPlaces(g, first)
	added := func(of part) ad.Ref {
		if w := sum(c.added, of); w != ad.None {
			return g.Add(most, w)
		}
		return most
	}
	// What a step adds before its product, the step before it adds to its results.
	begin, following, after, shift := start, ad.None, ad.None, ad.None
	if u := sum(c.extra, step(s.Steps-1-last)); u != ad.None {
		begin, following = g.Add(start, u), sum(c.extra, steps(1-from))
		after, shift = scaled(g.Add(added(steps(from)), following))
	} else if v := added(whole); g.Type(v).Lanes == 0 {
		after, shift = scaled(v)
	} else {
		after, shift = scaled(v)
		after, shift = rows(after, from, n), rows(shift, from, n)
	}
	perStep := len(g.Type(after).Shape) > 1 // whether it depends on the step
	begin, level := scaled(begin)

	begins, restart, peak, starts := ad.None, ad.None, ad.None, ad.None
	if c.begins != ad.None {
		mask := g.Reshape(vec.Reach(c.begins), nil)
		starts = g.Select(mask, g.Spread(sum(c.starts, whole), s.Steps), g.Const(0))
		begins = g.Unlane(mask)
		if following == ad.None {
			restart, peak = scaled(starts)
			restart, peak = rows(restart, from, n), rows(peak, from, n)
		} else {
			with := g.Add(sum(c.starts, steps(from)), following)
			restart, peak = scaled(g.Select(steps(from)(mask), with, g.Const(0)))
		}
	}
	all := begins != ad.None // whether any step's result is read
	for i := range used {
		all = all || used[i] && i >= s.Carries
	}
	body := g.Sibling()
	input := func(r ad.Ref, stream bool) ad.Ref {
		shape := g.Type(r).Shape
		if stream {
			shape = shape[1:]
		}
		return body.Input(ad.Type{Shape: shape})
	}
	scanArgs := []ad.Ref{begin}
	a, total, inShift, inAfter := input(begin, false), ad.None, ad.None, ad.None
	if all {
		total = input(level, false)
		scanArgs = append(scanArgs, level)
	}
	leading := len(scanArgs)
	stream := func(r ad.Ref) ad.Ref {
		scanArgs = append(scanArgs, r)
		return input(r, true)
	}
	if perStep {
		inAfter = stream(after)
	}
	if all {
		inShift = stream(g.Expand(shift, ad.Type{Shape: []int{n}}))
	}
	var again []ad.Ref
	if begins != ad.None {
		again = []ad.Ref{stream(rows(begins, from, n)), stream(restart), stream(peak)}
	}
	streams := len(scanArgs) - leading
	if !perStep {
		scanArgs = append(scanArgs, after)
		inAfter = input(after, false)
	}
	scanArgs = append(scanArgs, factors)
	// next returns the next value of a carried one, or that with which another sequence begins.
	next := func(k int, r ad.Ref) ad.Ref {
		if begins == ad.None {
			return r
		}
		return body.SelectFinite(again[0], again[k], r)
	}
	sums := body.MatVec(input(factors, false), a)
	raw := body.Mul(sums, inAfter)
	z := body.Sum(raw)
	few := body.Less(z, body.Const(minLogProduct))
	none := body.Equal(z, body.Const(0))
	z = body.Detach(body.Do(ad.OpMax, nil, z, body.Const(minLogProduct)))
	// States that cannot be reached pass no derivatives on, which may grow without bounds.
	reached := body.Less(body.Const(0), raw)
	body.Output(next(1, body.Add(body.Mul(raw, body.Mul(reached, body.Inv(z))), body.Scale(smallTerm, reached))))
	scan := &ad.Scan{Body: body, Carries: 1, Streams: streams, Sums: 2, Steps: n, Reverse: s.Reverse, Limit: s.Limit, Finite: true}
	if all {
		body.Output(next(2, body.Add(total, body.Add(inShift, body.Log(z)))))
		body.Output(sums)
		scan.Carries, scan.Outs = 2, 1
	}
	body.Output(body.Log(z))
	body.Output(body.Add(lostSums(body, sums), body.Mul(few, body.Do(ad.OpNot, nil, none))))
	at := g.DoScan(scan, scanArgs)
	final := g.MatVec(factors, g.Final(at, 0))
	lost = g.Add(lost, g.Add(g.SumOf(at, 1), lostSums(g, final)))

	out := make([]ad.Ref, len(used), len(used)+1)
	for i := range out {
		out[i] = ad.None
	}
	logs := func(sums ad.Ref) ad.Ref {
		none := g.Equal(sums, g.Const(0)) // all terms are -Inf
		return g.SelectFinite(none, g.Const(math.Inf(-1)), g.Log(g.Do(ad.OpMax, nil, sums, g.Const(minLogProduct))))
	}
	// join adds what belongs to one step to what belongs to the others.
	join := func(most, one ad.Ref, end bool) ad.Ref {
		shape := append([]int{s.Steps}, g.Type(one).Shape...)
		parts := []ad.Ref{g.Reshape(most, []int{g.Type(most).Size()}), g.Reshape(one, []int{g.Type(one).Size()})}
		if !end {
			slices.Reverse(parts)
		}
		return g.Reshape(g.Concat(parts...), shape)
	}
	var y, history, carried ad.Ref
	if !all {
		if !perStep {
			shift = g.Scale(float64(n), shift)
		}
		y = g.Add(level, g.Add(g.Sum(shift), g.SumOf(at, 0)))
		y = g.Add(g.Add(logs(final), y), added(step(last)))
	} else {
		levels := g.Lane(join(g.History(at, 1), g.Final(at, 1), !s.Reverse))
		each := logs(g.Lane(join(g.Kept(at, 0), final, !s.Reverse)))
		history = g.Unlane(g.Add(g.Add(each, levels), added(whole)))
		if carried = history; begins != ad.None {
			carried = g.Unlane(g.SelectFinite(g.Lane(begins), starts, g.Lane(history)))
		}
		y = row(carried, last)
	}
	pick := func(x ad.Ref, js []int, t ad.Type, steps int) ad.Ref {
		table := make([]int32, len(js))
		for i, j := range js {
			table[i] = int32(j)
		}
		ix := ad.Index{Dims: []ad.Dim{{N: steps, Stride: k}, {N: len(js), Table: table}}}
		return g.Reshape(g.Gather(g.Reshape(x, []int{steps * k}), ix), t.Shape)
	}
	types := s.Results()
	for i, in := range b.Inputs[:s.Carries] {
		js := make([]int, b.Type(in).Size())
		for e := range js {
			js[e] = slices.Index(c.before, place{in, e})
		}
		if used[i] {
			out[i] = pick(y, js, types[i], 1)
		}
		if used[s.Carries+i] {
			x := join(rows(carried, from, n), start, s.Reverse)
			out[s.Carries+i] = pick(x, js, types[s.Carries+i], s.Steps)
		}
	}
	for i, r := range b.Outputs[s.Carries:] {
		if used[2*s.Carries+i] {
			out[2*s.Carries+i] = pick(history, c.elements(r), types[2*s.Carries+i], s.Steps)
		}
	}
	return append(out, lost)
}
