package stdlib

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: first passage times of the diffusion model whose parameters vary between trials
// (Ratcliff 1978; Henrich et al. 2024), their density and distribution function.
//
// With normal drift of mean v and standard deviation sv, the density has a closed form (Tuerlinckx
// 2004). The starting point is uniform on w ± sw/2 and the nondecision time is uniform from t0 to
// t0 + st0; quadrature averages over both. The distribution function, an integral over time, also
// is a quadrature. The quadratures are part of the graph, so derivatives of all orders are those of
// the sums. No error is estimated, so the precision argument has no effect.

// passageParams are the arguments after the variate, in the order of the calls.
var passageParams = []Param{
	{Name: "a", Is: "Boundary separation", In: types.PositiveFinite},
	{Name: "t0", Is: "Nondecision time", In: types.NonNegativeFinite},
	{Name: "w", Is: "A-priori bias", In: types.OpenUnitInterval},
	{Name: "v", Is: "Drift rate", In: types.Finite},
	{Name: "sv", Is: "Inter-trial variability in drift rate", In: types.NonNegativeFinite},
	{Name: "sw", Is: "Inter-trial variability in A-priori bias", In: types.UnitInterval},
	{Name: "st0", Is: "Inter-trial variability in Nondecision time", In: types.NonNegativeFinite},
}

// passages declares the overloads: with five to eight arguments, with and without precision, for
// reals or vectors.
func passages() []Func {
	const about = "the first passage time y of a Wiener process at the upper boundary, where the boundary separation is a, the nondecision time t0, " +
		"the relative starting point w, the drift rate v"
	extra := map[int]string{
		4: ".",
		5: ", with deviation sv between trials.",
		7: ", with deviation sv between trials; w is uniform between trials on w ± sw/2, the nondecision time on t0 to t0 + st0.",
	}
	var fs []Func
	add := func(name, doc string, n int, f func(b *Builder, p passage) ad.Ref) {
		for _, precision := range []bool{false, true} {
			for _, t := range list(tReal, tVec) {
				o := types.Fixed{Name: name, Params: slices.Repeat(list(t), n+1), Result: tReal}
				text := doc + about + extra[n]
				if precision {
					o.Params = append(o.Params, tReal)
					o.DataOnly = append(make([]bool, n+1), true)
					text += " The last argument, a precision of derivatives, is of no effect: they are exact."
				}
				in := []types.Constraint{drawnFrom(2, 4), types.PositiveFinite, drawnFrom(0, 1), drawnFrom(0.3, 0.7),
					types.Finite, types.Positive, drawnFrom(0, 0.5), drawnFrom(0, 2)}[:n+1]
				fs = append(fs, Func{Name: name, Doc: text, Overload: o, In: append(slices.Clip(in), types.Positive),
					Terms: func(b *Builder, a []Arg) []ad.Ref {
						p, ok := b.passage(a[:n+1])
						if !ok || b.Propto && param(a) == 0 {
							return nil
						}
						return []ad.Ref{b.G.Sum(f(b, p))}
					}})
			}
		}
	}
	for _, n := range []int{5, 7} {
		add("wiener_lpdf", "The logarithm of the density of ", n, func(b *Builder, p passage) ad.Ref { return p.density() })
	}
	for _, n := range []int{4, 7} {
		add("wiener_lcdf_unnorm", "The logarithm of the probability that the upper boundary is reached by y, of ", n,
			func(b *Builder, p passage) ad.Ref { return p.below() })
		add("wiener_lccdf_unnorm", "The logarithm of the probability that the upper boundary is reached, but not by y, of ", n,
			func(b *Builder, p passage) ad.Ref { return p.above() })
	}
	return fs
}

// passage is a call. Its arguments are scalars or have the shape [n]. time is y - t0; b is the
// starting point, and v the drift towards the boundary that is not reached. sv, sw and st0 are None
// if they are absent or known to be 0.
type passage struct {
	g                          *ad.Graph
	n                          int // -1: all arguments are scalars
	time, a, b, v, sv, sw, st0 ad.Ref
}

// passage checks the arguments; ok is false if there are no elements.
func (b *Builder) passage(a []Arg) (p passage, ok bool) {
	g := b.G
	d := Dist{Params: passageParams[:len(a)-1], Relations: []Relation{{Arg: 0, Strict: true, Than: 2}}}
	n := b.common(a, d.what)
	d.checks(b, a[:1], types.PositiveFinite, a[1:])
	p = passage{g: g, n: -1, time: g.Sub(a[0].Ref, a[2].Ref), a: a[1].Ref,
		b: a[3].Ref, v: g.Neg(a[4].Ref), sv: ad.None, sw: ad.None, st0: ad.None}
	for i, r := range []*ad.Ref{&p.sv, &p.sw, &p.st0} {
		if 5+i >= len(a) {
			break
		}
		x := a[5+i].Ref
		if v, known := g.Value(x); !known || slices.ContainsFunc(v, func(x float64) bool { return x != 0 }) {
			*r = x
		}
	}
	if p.sw != ad.None {
		half := g.Scale(0.5, p.sw)
		text := b.Name + ": Inter-trial variability in A-priori bias must keep the bias between 0 and 1, but is "
		rejectIf(g, g.Do(ad.OpNot, nil, g.Less(half, a[3].Ref)), text, p.sw, " around ", a[3].Ref)
		rejectIf(g, g.Do(ad.OpNot, nil, g.Less(half, p.distance())), text, p.sw, " around ", a[3].Ref)
	}
	for i := range a {
		if len(b.shape(a[i])) > 0 {
			p.n = n
		}
	}
	return p, n > 0
}

// distance returns the distance from the boundary that is reached.
func (p passage) distance() ad.Ref { return p.g.Sub(p.g.Const(1), p.b) }

// at returns the logarithm of the density at time s after the nondecision time.
func (p passage) at(s ad.Ref) ad.Ref {
	a, v, sv := p.a, p.v, p.sv
	g := p.g
	free := g.Sub(g.Do(ad.OpLogWiener, nil, g.Div(g.Div(s, a), a), p.b), g.Scale(2, g.Log(a)))
	aw := g.Mul(a, p.distance())
	// The exponent is -a v w - v² s/2, or the logarithm of the mean of its exponential over v.
	drift := g.Neg(g.Mul(v, g.Add(aw, g.Scale(0.5, g.Mul(v, s)))))
	if sv == ad.None {
		return g.Add(free, drift)
	}
	sv = g.Square(sv)
	one := g.Mul(sv, s)
	drift = g.Div(g.Add(drift, g.Scale(0.5, g.Mul(sv, g.Square(aw)))), plus(g, one, 1))
	return g.Add(free, g.Sub(drift, g.Scale(0.5, g.Do(ad.OpLog1p, nil, one))))
}

// nodes are the points and the logarithms of the weights of a quadrature, and the
// distances of the points from 1.
type nodes struct{ x, logWeight, rest []float64 }

func (q *nodes) add(x, rest, weight float64) {
	q.x, q.rest, q.logWeight = append(q.x, x), append(q.rest, rest), append(q.logWeight, math.Log(weight))
}

// The quadratures: over the starting point, Gauss-Legendre; over the interval (0, 1), the double
// exponential formula of Takahasi and Mori (1974); over the half-line, the double exponential
// formula for integrands that decay exponentially.
var (
	legendre = legendreNodes(20)
	unitRule = func() (q nodes) {
		const step = 1. / 9
		for k := -26; k <= 26; k++ {
			t := float64(k) * step
			e := math.Exp(-math.Pi * math.Sinh(t)) // 1 - tanh divided by 1 + tanh
			q.add(1/(1+e), e/(1+e), step*math.Pi*math.Cosh(t)*e/((1+e)*(1+e)))
		}
		return q
	}()
	halfLineRule = func() (q nodes) {
		const step = 1. / 16
		for k := -80; k <= 80; k++ {
			t := float64(k) * step
			x := math.Exp(t - math.Exp(-t))
			if w := step * x * (1 + math.Exp(-t)); w > 1e-17 && x < 45 {
				q.add(x, 0, w)
			}
		}
		return q
	}()
)

// legendreNodes returns n Gauss-Legendre nodes on (-½, ½), with weights that sum to 1.
func legendreNodes(n int) (q nodes) {
	for i := range n {
		x := math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5))
		var slope float64
		for range 50 {
			p, before := 1.0, 0.0
			for k := 1; k <= n; k++ {
				p, before = (float64(2*k-1)*x*p-float64(k-1)*before)/float64(k), p
			}
			slope = float64(n) * (x*p - before) / (x*x - 1)
			x -= p / slope
		}
		q.add(x/2, 0.5-x/2, 1/((1-x*x)*slope*slope))
	}
	return q
}

// spread repeats an argument for k nodes.
func (p passage) spread(x ad.Ref, k int) ad.Ref {
	if x == ad.None || len(p.g.Type(x).Shape) == 0 {
		return x
	}
	return p.g.Gather(x, ad.Index{Dims: []ad.Dim{{N: p.n, Stride: 1}, {N: k}}})
}

// row returns an array with one number for each node, which all elements share.
func (p passage) row(v []float64) ad.Ref {
	r := p.g.ConstArray(ad.Type{Shape: []int{len(v)}}, v)
	if p.n < 0 {
		return r
	}
	return p.g.Gather(r, ad.Index{Dims: []ad.Dim{{N: p.n}, {N: len(v), Stride: 1}}})
}

// average returns the logarithm of the sum over the nodes of an integral over time, and over those
// of the starting point. times returns the times of the nodes and the log factors of the density
// there, given the arguments as repeated by spread and values for each node.
func (p passage) average(over nodes, times func(q passage, x, rest ad.Ref) (s, logFactor ad.Ref)) ad.Ref {
	start := nodes{x: []float64{0}, logWeight: []float64{0}}
	if p.sw != ad.None {
		start = legendre
	}
	var x, rest, weight, at []float64
	for i := range over.x {
		for j := range start.x {
			x, rest = append(x, over.x[i]), append(rest, over.rest[i])
			weight, at = append(weight, over.logWeight[i]+start.logWeight[j]), append(at, start.x[j])
		}
	}
	g, k := p.g, len(x)
	q := p
	for _, r := range []*ad.Ref{&q.time, &q.a, &q.b, &q.v, &q.sv, &q.sw, &q.st0} {
		*r = p.spread(*r, k)
	}
	if q.sw != ad.None {
		q.b = g.Sub(q.b, g.Mul(q.sw, p.row(at)))
	}
	s, factor := times(q, p.row(x), p.row(rest))
	l := g.Add(q.at(s), p.row(weight))
	return g.LogSumExp(g.Add(l, factor))
}

// span returns the part of the range of nondecision times that is before y: min(1, time/st0).
func (p passage) span() ad.Ref {
	g := p.g
	return g.Select(g.Less(p.time, p.st0), g.Div(p.time, g.Select(g.Less(g.Const(0), p.st0), p.st0, g.Const(1))), g.Const(1))
}

// density returns the logarithm of the density.
func (p passage) density() ad.Ref {
	if p.st0 != ad.None {
		return p.recent(nil)
	}
	if p.sw == ad.None {
		return p.at(p.time)
	}
	one := nodes{x: []float64{0}, rest: []float64{1}, logWeight: []float64{0}}
	return p.average(one, func(q passage, x, _ ad.Ref) (ad.Ref, ad.Ref) { return q.time, p.g.Const(0) })
}

// scale returns the scale on which the density decays backwards in time from s, relative to s: it
// is about exp(-x/scale) at s/(1 + x). Derivatives treat it as constant, because integrals do not
// depend on it.
func (p passage) scale() ad.Ref {
	g := p.g
	return g.Detach(g.Scale(2, g.Div(p.time, g.Square(g.Mul(p.a, p.distance())))))
}

// recent returns the logarithm of the integral of density times a factor over the nondecision times
// before y. The factor receives the position of the node in the range, which has length 1. Without
// a factor, the integral is divided by the length of the range; a range of a single point counts as
// length one.
func (p passage) recent(logFactor func(part ad.Ref) ad.Ref) ad.Ref {
	g := p.g
	return p.average(unitRule, func(q passage, z, rest ad.Ref) (ad.Ref, ad.Ref) {
		span, scale, one := q.span(), q.scale(), g.Const(1)
		point := g.Do(ad.OpEqual, nil, q.st0, g.Const(0))
		length := g.Select(point, one, q.st0)
		// From time back to first, s = time/(1 + x), x = -scale log(1 - P z).
		first := g.Sub(q.time, g.Mul(q.st0, span))
		open := g.Less(g.Const(0), first) // if first is 0, the range ends where the density is 0
		x := g.Select(open, g.Sub(g.Div(q.time, g.Select(open, first, one)), one), one)
		all := g.Select(open, g.Neg(g.Do(ad.OpExpm1, nil, g.Neg(g.Div(x, scale)))), one)
		all = g.Select(point, g.Const(0.5), all)
		left := g.Select(open, g.Sub(one, g.Mul(all, z)), rest)
		x = g.Neg(g.Mul(scale, g.Log(left)))
		s := g.Div(q.time, plus(g, x, 1))
		// The derivatives are ds = time/(1 + x)² dx and dx = scale P/(1 - P z) dz.
		logs := g.Sub(g.Add(g.Log(g.Mul(scale, all)), g.Sub(g.Scale(2, g.Log(s)), g.Log(q.time))), g.Log(left))
		if logFactor == nil {
			return g.Select(point, q.time, s), g.Select(point, g.Const(0), g.Sub(logs, g.Log(length)))
		}
		part := g.Select(point, g.Const(0.5), g.Div(g.Mul(s, x), length)) // s·x is time - s
		return s, g.Select(point, g.Const(negInf), g.Add(logs, logFactor(part)))
	})
}

// until returns the logarithm of the probability of a passage before a time.
func (p passage) until(time ad.Ref) ad.Ref {
	p.time = time
	return p.average(halfLineRule, func(q passage, x, _ ad.Ref) (ad.Ref, ad.Ref) {
		g := p.g
		scale := q.scale()
		s := g.Div(q.time, plus(g, g.Mul(scale, x), 1))
		return s, g.Sub(g.Add(g.Log(scale), g.Scale(2, g.Log(s))), g.Log(q.time))
	})
}

// after returns the logarithm of the probability of a passage after a time.
func (p passage) after(time ad.Ref) ad.Ref {
	p.time = time
	return p.average(halfLineRule, func(q passage, x, _ ad.Ref) (ad.Ref, ad.Ref) {
		g := p.g
		scale := g.Scale(2/(math.Pi*math.Pi), g.Square(q.a)) // the scale of the slowest component
		return g.Add(q.time, g.Mul(scale, x)), g.Log(scale)
	})
}

// below returns the logarithm of the distribution function: the mean, over the nondecision time, of
// the probability of an earlier passage. A passage at s counts with the part of the range for which
// it is early enough.
func (p passage) below() ad.Ref {
	if p.st0 == ad.None {
		return p.until(p.time)
	}
	g := p.g
	first := g.Sub(p.time, g.Mul(p.st0, p.span()))
	some := g.Less(g.Const(0), first)
	early := g.Select(some, p.until(g.Select(some, first, p.time)), g.Const(negInf))
	late := p.recent(func(part ad.Ref) ad.Ref { return g.Log(part) })
	return g.Do(ad.OpLogAddExp, nil, early, late)
}

// above returns the logarithm of the complementary distribution function.
func (p passage) above() ad.Ref {
	if p.st0 == ad.None {
		return p.after(p.time)
	}
	g := p.g
	late := p.recent(func(part ad.Ref) ad.Ref { return g.Do(ad.OpLog1m, nil, part) })
	return g.Do(ad.OpLogAddExp, nil, p.after(p.time), late)
}
