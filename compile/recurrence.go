package compile

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// This file: effects that follow each other, as the states of a time series do.
//
// In x[t] ~ normal(φx[t-1], σ) the location of an effect is that of the one before it in
// the same statement. Where it is a linear function of that, b + cx[t-1] with b and c
// that depend on no effect of the statement, the map of recentre.go is the recurrence
//
//	x[t] = a·u[t] + (w - λa)(b + c·x[t-1]),  a = σ^(w-λ),
//
// whose derivative is triangular still, with the same log Jacobian. With λ = 0 the
// coordinates u are the innovations. b and c come from the location where all effects of
// the level are 0, and where they are 1.

// degree is that of an element as a polynomial in element i of x, with coefficients that
// do not depend on it; more than 1 where it is not known to be linear.
func (t *tracer) degree(e element, x ad.Ref, i int, touches func(e element, i int) bool, known map[element]int) int {
	e = t.canonical(e)
	if !touches(e, i) {
		return 0
	}
	if e.ref == x {
		return 1
	}
	if d, ok := known[e]; ok {
		return d
	}
	const unknown = 2
	if len(known) >= mostLinear {
		return unknown
	}
	known[e] = unknown
	n := &t.g.Nodes[e.ref]
	of := func(k int) int {
		a := n.Args[k]
		return t.degree(element{a, ad.Operand(t.g.Type(a), n.Type, e.at)}, x, i, touches, known)
	}
	d := unknown
	switch n.Op {
	case ad.OpNeg:
		d = of(0)
	case ad.OpAdd, ad.OpSub:
		d = max(of(0), of(1))
	case ad.OpMul:
		d = of(0) + of(1)
	case ad.OpDiv:
		if of(1) == 0 {
			d = of(0)
		}
	}
	d = min(d, unknown)
	known[e] = d
	return d
}

// mostLinear is how many operations a location is looked through for.
const mostLinear = 64

// chain sorts the effects of a group whose locations depend on effects of the same
// group, so that each comes right after the one that it depends on. It reports false where
// one depends on others in another way.
func (s *group) chain(t *tracer, x ad.Ref, on func(e element, f func(i int)), touches func(e element, i int) bool) bool {
	place := map[int]int{}
	for k, i := range s.Elements {
		place[i] = k
	}
	before, after := make([]int, len(s.Elements)), make([]int, len(s.Elements))
	for k := range before {
		before[k], after[k] = -1, -1
	}
	for k := range s.Elements {
		ok := true
		on(s.scale[k], func(i int) {
			_, own := place[i]
			ok = ok && !own
		})
		on(s.location[k], func(i int) {
			p, own := place[i]
			if !own {
				return
			}
			ok = ok && p != k && before[k] < 0 && after[p] < 0 && t.degree(s.location[k], x, i, touches, map[element]int{}) <= 1
			before[k], after[p] = p, k
		})
		if !ok {
			return false
		}
	}
	var order []int
	for k := range before {
		if before[k] < 0 {
			for ; k >= 0; k = after[k] {
				order = append(order, k)
			}
		}
	}
	if len(order) < len(before) { // a circle
		return false
	}
	all := *s
	s.Elements, s.location, s.scale = nil, nil, nil
	for _, k := range order {
		s.Elements, s.location, s.scale = append(s.Elements, all.Elements[k]), append(s.location, all.location[k]), append(s.scale, all.scale[k])
	}
	s.Chain = true
	return true
}

// along is the recurrence of a level some of whose effects are chains: what each is for
// itself alone, and factor, by which its location counts.
func (r *Recentring) along(h, source *ad.Graph, e effects, x, alone, factor ad.Ref) ad.Ref {
	n := len(e.elements)
	at := func(v float64) ad.Ref {
		return collect(h, source, e.put(h, x, h.ConstArray(ad.Type{Shape: []int{n}}, slices.Repeat([]float64{v}, n))), e.locations)
	}
	b := at(0)
	c := h.Sub(at(1), b)
	// What does not depend on an effect before it has c = 0 exactly, and begins anew.
	body := ad.NewGraph()
	before, own, times := body.Input(ad.Scalar), body.Input(ad.Scalar), body.Input(ad.Scalar)
	next := body.Add(own, body.Mul(times, before))
	body.Output(next)
	body.Output(next)
	scan := h.DoScan(&ad.Scan{Body: body, Carries: 1, Streams: 2, Outs: 1, Steps: n},
		[]ad.Ref{h.Const(0), h.Add(alone, h.Mul(b, factor)), h.Mul(c, factor)})
	return h.Kept(scan, 0)
}
