package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// linearise shortens recurrences. In the body of a scan it first joins factors and terms that do
// not depend on the carried values, so that they leave the scan when it is distributed. The adjoint
// of a carried number, λ·f·g·h + q, becomes λ·(f·g·h) + q: one operation per step. Products are
// joined with products, and sums with sums. Results change by a few roundings of the terms.
//
// Recurrences of one number are also multiplied out if they are not short otherwise, so that
// they can look ahead (package vm): c + α·(r − c) becomes c·(1 − α) + α·r. For α from 0.5 to 2,
// the difference 1 − α is exact; otherwise its rounding is no more than that of the terms c and
// α·c. For α = 0 the result is c, and for α = 1 it is r, exactly. Where a step overflows, or a
// number is infinite, results may be NaN instead of infinite and the other way round: the
// definition has ∞ − ∞ where the joined coefficient has the sign of 1 − α.
func linearise(g *ad.Graph, o *Options) *ad.Graph {
	if !has(g, ad.OpScan) {
		return g
	}
	return rebuild(o, g, linearise, func(w *ad.Rewriter, _ ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if s, ok := attr.(*ad.Scan); ok && n.Type.Lanes == 0 && s.Steps >= minSteps && s.Carries > 0 {
			c := *s
			c.Body = lineariseBody(s, o)
			attr = &c
		}
		return w.Same(n, attr, args)
	})
}

// recurrence is a body being rebuilt. Values that depend on the carried ones have the form
// coef·base + off, where coef and off do not depend on them.
type recurrence struct {
	factorizer
	carries int
	expand  bool   // sums with the carried value are multiplied out
	carried []int8 // by node of g: 0 unknown, 1 depends on a carried value, -1 does not
}

// lineariseBody returns the body of a scan with its recurrence shortened. If there is one
// number and a step then is not (n + x)·y + z, sums with n are multiplied out, which gives n·a + b
// for every affine body.
func lineariseBody(s *ad.Scan, o *Options) *ad.Graph {
	joined := newRecurrence(s.Carries).rebuild(s.Body, o)
	if s.Carries != 1 || s.Body.Type(s.Body.Inputs[0]).Size() != 1 || oneStep(joined, s.Outs) {
		return joined
	}
	r := newRecurrence(s.Carries)
	r.expand = true
	if expanded := r.rebuild(s.Body, o); oneStep(expanded, s.Outs) {
		return expanded
	}
	return joined
}

func newRecurrence(carries int) *recurrence {
	return &recurrence{factorizer: factorizer{of: map[ad.Ref]scaled{}, degrees: map[ad.Ref]int{}}, carries: carries}
}

// oneStep reports whether a body's next value is (n + x)·y + z, or the root of n²·y + z, without
// some of the operands. The scan must not add up any of these, as it then cannot look ahead; outs
// is the number of results that it keeps.
func oneStep(body *ad.Graph, outs int) bool {
	r := newRecurrence(1)
	r.g = body
	at := r.shapeless(body.Outputs[0])
	if body.Nodes[at].Op == ad.OpSqrt {
		at = r.shapeless(body.Nodes[at].Args[0])
	}
	for _, op := range []ad.OpCode{ad.OpAdd, ad.OpMul, ad.OpAdd} {
		n := &body.Nodes[at]
		if n.Op != op {
			continue
		}
		if slices.Contains(body.Outputs[1+outs:], at) {
			return false
		}
		x, y := n.Args[0], n.Args[1]
		if r.depends(x) == r.depends(y) {
			return false
		}
		if r.depends(y) {
			x = y
		}
		at = r.shapeless(x)
	}
	return r.number(at)
}

// shapeless returns the node that x is made of by changes of shape.
func (r *recurrence) shapeless(x ad.Ref) ad.Ref {
	for r.g.Nodes[x].Op == ad.OpReshape {
		x = r.g.Nodes[x].Args[0]
	}
	return x
}

// number reports whether x is the first carried value or its square.
func (r *recurrence) number(x ad.Ref) bool {
	n := &r.g.Nodes[r.shapeless(x)]
	if n.Op == ad.OpSquare {
		n = &r.g.Nodes[r.shapeless(n.Args[0])]
	}
	return n.Op == ad.OpInput && n.Attr.(int) == 0
}

func (r *recurrence) rebuild(body *ad.Graph, o *Options) *ad.Graph {
	needed := body.Live(body.Outputs[:r.carries], false) // other nodes leave the scan unchanged
	return rebuild(o, body, nil, func(w *ad.Rewriter, at ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		r.g = w.To
		if needed[at] {
			if s, ok := r.linear(n, args); ok {
				return r.value(s, n.Type)
			}
		}
		return r.g.Do(n.Op, attr, args...)
	})
}

// depends reports whether x depends on a carried value.
func (r *recurrence) depends(x ad.Ref) bool {
	for len(r.carried) < len(r.g.Nodes) {
		r.carried = append(r.carried, 0)
	}
	if r.carried[x] == 0 {
		n := &r.g.Nodes[x]
		d := n.Op == ad.OpInput && n.Attr.(int) < r.carries
		for _, a := range n.Args {
			d = d || r.depends(a)
		}
		r.carried[x] = -1
		if d {
			r.carried[x] = 1
		}
	}
	return r.carried[x] > 0
}

// linear returns the node's value in the form coef·base + off; ok is false if it has no such form.
func (r *recurrence) linear(n *ad.Node, args []ad.Ref) (s scaled, ok bool) {
	switch n.Op {
	case ad.OpNeg, ad.OpAdd, ad.OpSub, ad.OpMul, ad.OpDiv:
	default:
		return s, false
	}
	g := r.g
	whole := func(s scaled) bool { return g.Type(s.base).Equal(n.Type) }
	a, da := r.parts(args[0]), r.depends(args[0])
	if n.Op == ad.OpNeg {
		if !da || !whole(a) {
			return s, false
		}
		return r.negative(a), true
	}
	b, db := r.parts(args[1]), r.depends(args[1])
	switch {
	case !da && !db:
		return s, false
	case n.Op == ad.OpMul && da && db || n.Op == ad.OpDiv && db:
		return s, false
	case n.Op == ad.OpMul && db: // x·(coef·base)
		return r.times(b, args[1], args[0], n.Type)
	case n.Op == ad.OpMul:
		return r.times(a, args[0], args[1], n.Type)
	case n.Op == ad.OpDiv:
		return r.times(a, args[0], r.do(ad.OpInv, args[1]), n.Type)
	case n.Op == ad.OpSub && db:
		if !whole(b) {
			return s, false
		}
		b, n = r.negative(b), &ad.Node{Op: ad.OpAdd, Type: n.Type}
	case n.Op == ad.OpSub:
		return scaled{a.coef, a.base, r.minus(a.off, args[1])}, whole(a)
	}
	switch {
	case da && !db:
		return scaled{a.coef, a.base, r.plus(a.off, args[1])}, whole(a)
	case !da:
		return scaled{b.coef, b.base, r.plus(b.off, args[0])}, whole(b)
	case !whole(a) || !whole(b):
		return s, false
	}
	s.off = a.off
	if b.off != ad.None {
		s.off = r.plus(a.off, b.off)
	}
	one := g.Const(1)
	coef := func(s scaled) ad.Ref {
		if s.coef == ad.None {
			return one
		}
		return s.coef
	}
	if a.base == b.base {
		s.coef, s.base = r.do(ad.OpAdd, coef(a), coef(b)), a.base
		return s, true
	}
	product := func(s scaled) ad.Ref { return r.mul(s.coef, s.base) }
	s.coef = ad.None
	switch {
	case r.factorizer.minus(scaled{b.coef, b.base, ad.None}):
		s.base = r.do(ad.OpSub, product(a), b.base)
	case r.factorizer.minus(scaled{a.coef, a.base, ad.None}):
		s.base = r.do(ad.OpSub, product(b), a.base)
	default:
		s.base = r.do(ad.OpAdd, product(a), product(b))
	}
	return s, true
}

// times returns x·s, where v is the value of s.
func (r *recurrence) times(s scaled, v, x ad.Ref, t ad.Type) (scaled, bool) {
	switch {
	case s.off == ad.None:
	case r.expand && r.number(s.base):
		s.off = r.do(ad.OpMul, s.off, x)
	default:
		s = scaled{ad.None, v, ad.None}
	}
	s.coef = r.mul(s.coef, x)
	return s, r.g.Type(s.base).Equal(t)
}

func (r *recurrence) negative(s scaled) scaled {
	if s.coef == ad.None {
		s.coef = r.g.Const(-1)
	} else {
		s.coef = r.do(ad.OpNeg, s.coef)
	}
	if s.off != ad.None {
		s.off = r.do(ad.OpNeg, s.off)
	}
	return s
}

func (r *recurrence) minus(off, u ad.Ref) ad.Ref {
	if off == ad.None {
		return r.do(ad.OpNeg, u)
	}
	return r.do(ad.OpSub, off, u)
}
