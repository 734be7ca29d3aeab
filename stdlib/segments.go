package stdlib

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// This file: the forward and backward algorithms for hidden Markov chains of few states that are
// cut into segments. All segments are computed at once, as lanes.

const (
	// Chains of at most maxSegmentStates states are cut into at least minSegments segments of
	// minSegment to maxSegment steps. Gradients of chains of 2, 3, 4 and 6 states at 1000 times
	// take 12.5, 19, 26 and 56 µs instead of 23, 63, 61 and 88.
	// Longer segments gain little, and probabilities underflow in them sooner.
	maxSegmentStates       = 6
	minSegment, maxSegment = 8, 10
	minSegments            = 12

	// largestShare bounds the likelihood of later observations relative to that from states that
	// can be reached, so that it is finite. Sums of many products with probabilities stay finite.
	largestShare = 1e300
)

// segmentsOf divides a number of steps into segments so that few steps are left. It returns the
// number of steps of each, and of segments: 0 if they are too few.
func segmentsOf(steps int) (each, segments int) {
	each = minSegment
	for n := minSegment; n <= maxSegment; n++ {
		if steps%n < steps%each {
			each = n
		}
	}
	if segments = steps / each; segments < minSegments {
		return every, 0
	}
	return each, segments
}

// segments are the segments of a chain of few states. Its values are lists of numbers: one per
// state or, by rows, per pair of states.
type segments struct {
	k, n, each int      // states, segments, and steps of each
	gamma      ad.Ref   // transition probabilities
	like       []ad.Ref // likelihoods by state, steps × segments
}

// likelihood returns the logarithm of the likelihood of the segments, given the probabilities of
// the states before them. far is not 0 if some probabilities may have underflowed. share has the
// derivatives by the logarithms of the likelihoods (by state, steps × segments).
//
// The result is a number with given derivatives, not an expression that Backprop differentiates:
// the product of the matrices of a segment takes k³ operations a step. The backward algorithm needs
// only products with vectors, from what the forward algorithm stored between segments. Derivatives
// are expressions, so they can be differentiated again.
func (s *segments) likelihood(g *ad.Graph, head ad.Ref) (value, far ad.Ref, share []ad.Ref) {
	k, across := s.k, s.products(g)

	// Forward over segments: the probabilities of the states before each, which add up to 1.
	body := ad.NewGraph()
	before, m := inputs(body, k, ad.Scalar), inputs(body, k*k, ad.Scalar)
	next := rowProduct(body, before, m, k)
	total := body.Do(ad.OpMax, nil, addAll(body, next), body.Const(minTotal))
	over := body.Inv(total)
	for _, x := range next {
		body.Output(body.Mul(x, over))
	}
	body.Output(total)
	scan := g.DoScan(&ad.Scan{Body: body, Carries: k, Streams: k * k, Outs: 1, Steps: s.n, Finite: true}, slices.Concat(elementsOf(g, head), across))
	totals := g.Kept(scan, 0)
	starts, last := make([]ad.Ref, k), make([]ad.Ref, k)
	for i := range k {
		starts[i], last[i] = g.History(scan, i), g.Final(scan, i)
	}
	// The last total is 1, except for rounding. It may be 0 if probabilities underflow.
	end := g.Do(ad.OpMax, nil, addAll(g, last), g.Const(0.5))
	value = g.Add(g.Sum(g.Log(totals)), g.Log(end))
	far = g.Sum(g.Less(totals, g.Const(lostTotal)))

	// Backward over segments: the likelihoods of the observations after each, relative to the
	// total.
	body = ad.NewGraph()
	after, m := inputs(body, k, ad.Scalar), inputs(body, k*k, ad.Scalar)
	over = body.Input(ad.Scalar)
	for _, x := range columnProduct(body, m, after, k) {
		body.Output(body.Do(ad.OpMin, nil, body.Mul(x, over), body.Const(largestShare)))
	}
	overTotals := g.Inv(totals)
	start := make([]ad.Ref, k)
	for i := range start {
		start[i] = g.Inv(end)
	}
	scan = g.DoScan(&ad.Scan{Body: body, Carries: k, Streams: k*k + 1, Steps: s.n, Reverse: true, Finite: true},
		slices.Concat(start, across, []ad.Ref{overTotals}))
	ends, from := make([]ad.Ref, k), make([]ad.Ref, k)
	for i := range k {
		ends[i] = g.Do(ad.OpMin, nil, g.Mul(g.History(scan, i), overTotals), g.Const(largestShare))
		from[i] = g.Final(scan, i)
	}

	states, reached := s.forward(g, starts)
	later, share := s.backward(g, ends, reached)
	rows := []int{k, s.n * s.each}
	pairs := g.Do(ad.OpMatMul, ad.MatMulAttr{TransB: true}, g.Reshape(g.Concat(flat(g, states)...), rows), g.Reshape(g.Concat(flat(g, later)...), rows))
	slopes := g.Add(g.Sum(g.Slope(s.gamma, pairs)), g.Sum(g.Slope(head, g.Stack(from...))))
	return g.Add(g.Detach(value), slopes), far, share
}

// products returns the matrix of each segment: the probabilities of its observations and its last
// state, given the state before.
func (s *segments) products(g *ad.Graph) []ad.Ref {
	var start []ad.Ref
	for i := range s.k * s.k {
		one := 0.0
		if i%(s.k+1) == 0 {
			one = 1
		}
		start = append(start, g.Broadcast(g.Const(one), []int{s.n}))
	}
	scan := s.steps(g, start, nil, false, func(body *ad.Graph, before, like, gamma, _ []ad.Ref) []ad.Ref {
		var next []ad.Ref
		for i := range s.k {
			row := rowProduct(body, before[i*s.k:(i+1)*s.k], gamma, s.k)
			for j, x := range row {
				next = append(next, body.Mul(x, like[j]))
			}
		}
		return next
	})
	for i := range start {
		start[i] = g.Final(scan, i)
	}
	return start
}

// forward returns the probabilities of the states before each step, with the observations so far,
// from those before each segment, and the probabilities after the step without its observation.
func (s *segments) forward(g *ad.Graph, starts []ad.Ref) (states, reached []ad.Ref) {
	scan := s.steps(g, starts, nil, false, func(body *ad.Graph, before, like, gamma, _ []ad.Ref) []ad.Ref {
		to := rowProduct(body, before, gamma, s.k)
		var next []ad.Ref
		for j, x := range to {
			next = append(next, body.Mul(x, like[j]))
		}
		return append(next, to...)
	})
	for i := range s.k {
		states, reached = append(states, g.History(scan, i)), append(reached, g.Kept(scan, i))
	}
	return states, reached
}

// backward returns the likelihoods of the observations of each step and later ones, by the state at
// the step, and the probabilities of the states at each step, given all observations.
func (s *segments) backward(g *ad.Graph, ends, reached []ad.Ref) (later, share []ad.Ref) {
	scan := s.steps(g, ends, reached, true, func(body *ad.Graph, after, like, gamma, reached []ad.Ref) []ad.Ref {
		var here, shares []ad.Ref
		for j, x := range after {
			here = append(here, body.Mul(x, like[j]))
			shares = append(shares, body.Mul(reached[j], here[j]))
		}
		return slices.Concat(columnProduct(body, gamma, here, s.k), here, shares)
	})
	for i := range s.k {
		later, share = append(later, g.Kept(scan, i)), append(share, g.Kept(scan, s.k+i))
	}
	return later, share
}

// steps runs through the steps of all segments. step returns the next carried values and what is
// kept of each step, from the carried values, the likelihoods, the transition probabilities and the
// elements of other streams.
func (s *segments) steps(g *ad.Graph, start, streams []ad.Ref, reverse bool, step func(body *ad.Graph, carried, like, gamma, streams []ad.Ref) []ad.Ref) ad.Ref {
	body := ad.NewGraph()
	of := func(n int) []ad.Ref {
		in := inputs(body, n, ad.Type{Shape: []int{s.n}})
		for i, x := range in {
			in[i] = body.Lane(x)
		}
		return in
	}
	carried, like, others := of(len(start)), of(s.k), of(len(streams))
	gamma := elementsOf(body, body.Input(ad.Type{Shape: []int{s.k, s.k}}))
	out := step(body, carried, like, gamma, others)
	for _, x := range out {
		body.Output(body.Unlane(x))
	}
	return g.DoScan(&ad.Scan{Body: body, Carries: len(start), Streams: s.k + len(streams), Outs: len(out) - len(start), Steps: s.each, Reverse: reverse, Finite: true},
		slices.Concat(start, s.like, streams, []ad.Ref{s.gamma}))
}

// inputs adds n inputs.
func inputs(g *ad.Graph, n int, t ad.Type) []ad.Ref {
	in := make([]ad.Ref, n)
	for i := range in {
		in[i] = g.Input(t)
	}
	return in
}

// elementsOf returns the elements of an array.
func elementsOf(g *ad.Graph, x ad.Ref) []ad.Ref {
	out := make([]ad.Ref, g.Type(x).Size())
	for i := range out {
		out[i] = g.Slice(x, i, nil)
	}
	return out
}

// rowProduct returns v m, for a vector and a matrix of order k, as numbers.
func rowProduct(g *ad.Graph, v, m []ad.Ref, k int) []ad.Ref {
	out := make([]ad.Ref, k)
	for j := range out {
		terms := make([]ad.Ref, k)
		for i := range terms {
			terms[i] = g.Mul(v[i], m[i*k+j])
		}
		out[j] = addAll(g, terms)
	}
	return out
}

// columnProduct returns m v, for a vector and a matrix of order k, as numbers.
func columnProduct(g *ad.Graph, m, v []ad.Ref, k int) []ad.Ref {
	out := make([]ad.Ref, k)
	for i := range out {
		terms := make([]ad.Ref, k)
		for j := range terms {
			terms[j] = g.Mul(m[i*k+j], v[j])
		}
		out[i] = addAll(g, terms)
	}
	return out
}

// addAll adds numbers up in pairs, so that few additions wait for others.
func addAll(g *ad.Graph, x []ad.Ref) ad.Ref {
	if len(x) == 1 {
		return x[0]
	}
	return g.Add(addAll(g, x[:len(x)/2]), addAll(g, x[len(x)/2:]))
}

// flat returns arrays as vectors.
func flat(g *ad.Graph, x []ad.Ref) []ad.Ref {
	out := make([]ad.Ref, len(x))
	for i, r := range x {
		out[i] = g.Reshape(r, []int{g.Type(r).Size()})
	}
	return out
}
