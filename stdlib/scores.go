package stdlib

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
)

// Expected information without a closed form, by quadrature in the graph; also that of skewed
// distributions, and of counts. Some univariate distributions have none. discrete_range and
// hypergeometric have no real parameter. For wiener, beta_neg_binomial and yule_simon, no
// quadrature of one dimension with known accuracy was found.
//
// As in information.go, a function ofX returns the information of distribution X about the
// quantities named in its comment.

// quadrature holds the nodes and the weights of a quadrature.
type quadrature struct{ x, weight []float64 }

// sinhRule returns the trapezoidal rule in t for x = scale sinh t.
func sinhRule(scale, from, to, step float64) (q quadrature) {
	for t := from; t <= to; t += step {
		q.x = append(q.x, scale*math.Sinh(t))
		q.weight = append(q.weight, step*scale*math.Cosh(t))
	}
	return q
}

// The rules: for the whole line, with details of size 0.01 around 0; from -12 to 10⁵; and for the
// half-line.
var (
	nearZero = sinhRule(0.02, -7, 7, 0.05)
	longTail = sinhRule(1, -3.2, 12.5, 0.06)
	decaying = func() quadrature {
		q := quadrature{x: halfLineRule.x}
		for _, l := range halfLineRule.logWeight {
			q.weight = append(q.weight, math.Exp(l))
		}
		return q
	}()
)

// over passes each node and its weight to f, together with the arguments, which are scalars or have
// a common shape [n], repeated for each node. It sums the results over the nodes.
func (q quadrature) over(g *ad.Graph, args []ad.Ref, f func(a []ad.Ref, x, weight ad.Ref) []ad.Ref) []ad.Ref {
	n, k := -1, len(q.x)
	for _, a := range args {
		if s := g.Type(a).Shape; len(s) > 0 {
			n = s[0]
		}
	}
	row := func(v []float64) ad.Ref {
		r := g.ConstArray(ad.Type{Shape: []int{k}}, v)
		if n >= 0 {
			r = alongRows(g, r, []int{n, k})
		}
		return r
	}
	wide := make([]ad.Ref, len(args))
	for i, a := range args {
		if wide[i] = a; len(g.Type(a).Shape) > 0 {
			wide[i] = alongCols(g, a, []int{n, k})
		}
	}
	out := f(wide, row(q.x), row(q.weight))
	for i := range out {
		if out[i] != ad.None {
			out[i] = sumLast(g, out[i])
		}
	}
	return out
}

// moments returns the weighted sums of products of scores. They are positive semidefinite whatever
// the error of the rule.
func moments(g *ad.Graph, weight ad.Ref, scores ...ad.Ref) (out []ad.Ref) {
	for i := range scores {
		for j := range i + 1 {
			out = append(out, g.Mul(weight, g.Mul(scores[i], scores[j])))
		}
	}
	return out
}

// ofSkewNormal: (y, ξ, ω, α), with scores of z = (y-ξ)/ω and r = φ(αz)/Φ(αz).
func ofSkewNormal(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	m := nearZero.over(g, x[3:], func(a []ad.Ref, z, w ad.Ref) []ad.Ref {
		az := g.Mul(a[0], z)
		density := g.Exp(g.Sub(plus(g, logPhi(g, az), math.Ln2-logSqrt2Pi), g.Scale(0.5, g.Square(z))))
		r := g.Do(ad.OpPhiRatio, nil, az)
		s := g.Sub(z, g.Mul(a[0], r)) // the score of ξ, multiplied by ω
		return moments(g, g.Mul(w, density), s, plus(g, g.Mul(z, s), -1), g.Mul(z, r))
	})
	w := g.Inv(x[2])
	ss, sw, ww := g.Mul(g.Square(w), m[0]), g.Mul(g.Square(w), m[1]), g.Mul(g.Square(w), m[2])
	sa, wa := g.Mul(w, m[3]), g.Mul(w, m[4])
	return rows{{ss}, {g.Neg(ss), ss}, {g.Neg(sw), sw, ww}, {g.Neg(sa), sa, wa, m[5]}}
}

// ofExpModNormal: (y, μ, σ, λ), with scores of z = (y-μ)/σ, v = λσ and r = φ(z-v)/Φ(z-v).
func ofExpModNormal(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	v := g.Mul(x[2], x[3])
	m := longTail.over(g, []ad.Ref{v}, func(a []ad.Ref, z, w ad.Ref) []ad.Ref {
		v := a[0]
		d := g.Sub(z, v)
		density := g.Exp(g.Add(g.Log(v), g.Add(g.Mul(v, g.Sub(g.Scale(0.5, v), z)), logPhi(g, d))))
		r := g.Do(ad.OpPhiRatio, nil, d)
		return moments(g, g.Mul(w, density), g.Sub(r, v), // of y, multiplied by σ
			g.Sub(g.Square(v), g.Mul(r, g.Add(z, v))), // of σ, multiplied by σ
			g.Sub(g.Inv(v), g.Add(d, r)))              // of λ, divided by σ
	})
	s := g.Inv(x[2])
	yy, ys, sig := g.Mul(g.Square(s), m[0]), g.Mul(g.Square(s), m[1]), g.Mul(g.Square(s), m[2])
	return rows{{yy}, {g.Neg(yy), yy}, {ys, g.Neg(ys), sig}, {m[3], g.Neg(m[3]), m[4], g.Mul(g.Square(x[2]), m[5])}}
}

// ofSkewDoubleExponential: (y, μ, σ, τ).
func ofSkewDoubleExponential(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	s, tau := g.Inv(x[2]), x[3]
	rest := g.Sub(g.Const(1), tau)
	a := g.Scale(4, g.Mul(g.Square(s), g.Mul(tau, rest)))
	c := g.Scale(2, s)
	mixed := g.Mul(s, g.Sub(g.Div(tau, rest), g.Div(rest, tau)))
	return rows{{a}, {g.Neg(a), a}, {ad.None, ad.None, g.Square(s)},
		{c, g.Neg(c), mixed, g.Add(g.Inv(g.Square(tau)), g.Inv(g.Square(rest)))}}
}

// ofPareto: (log y, y_min, α). The information about the lower end of the support, y_min, is more
// than its scores show.
func ofPareto(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	a, w := x[2], g.Inv(x[1])
	a2 := g.Square(a)
	return rows{{a2}, {g.Neg(g.Mul(a2, w)), g.Mul(a2, g.Square(w))}, {ad.None, ad.None, g.Inv(a2)}}
}

// ofParetoType2: (y, μ, λ, α). As in ofPareto, the scores do not show all information about the
// lower end μ.
func ofParetoType2(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	w, a := g.Inv(x[2]), x[3]
	w2 := g.Square(w)
	two := g.Div(a, plus(g, a, 2))
	yy := g.Mul(w2, g.Mul(g.Square(plus(g, a, 1)), two))
	ys := g.Mul(w2, two)
	ya := g.Neg(g.Div(w, plus(g, a, 1)))
	return rows{{yy}, {g.Neg(yy), yy}, {ys, g.Neg(ys), ys}, {ya, g.Neg(ya), ya, g.Inv(g.Square(a))}}
}

// trigammaDrop returns E[ψ′(a) - ψ′(a+y)] for a negative binomial count y of shape a and mean
// a·odds: ∫ t exp(-at) (1 - E exp(-yt))/(1 - exp(-t)) dt.
func trigammaDrop(g *ad.Graph, a, odds ad.Ref) ad.Ref {
	expm1 := op1(ad.OpExpm1)
	return decaying.over(g, []ad.Ref{a, odds}, func(p []ad.Ref, x, w ad.Ref) []ad.Ref {
		t := g.Div(x, p[0])
		fall := g.Neg(expm1(g, g.Neg(t)))
		some := g.Neg(expm1(g, g.Neg(g.Mul(p[0], g.Do(ad.OpLog1p, nil, g.Mul(p[1], fall))))))
		return []ad.Ref{g.Mul(g.Mul(w, g.Exp(g.Neg(x))), g.Div(g.Mul(t, some), g.Mul(p[0], fall)))}
	})[0]
}

// dispersion returns the information about the shape: the difference of trigammaDrop and other,
// which cancel for large shapes; it is kept positive.
func dispersion(g *ad.Graph, drop, other ad.Ref) ad.Ref {
	return g.Do(ad.OpMax, nil, g.Sub(drop, other), g.Scale(1e-13, drop))
}

// ofNegBinomial: (α, β).
func ofNegBinomial(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	a, b := x[1], x[2]
	both := g.Mul(b, plus(g, b, 1))
	drop := trigammaDrop(g, a, g.Inv(b))
	beta := g.Div(a, g.Mul(b, both))
	return rows{{ad.None}, {ad.None, drop}, {ad.None, g.Neg(g.Inv(both)), beta}}
}

// ofNegBinomial2: (μ, φ), which are orthogonal.
func ofNegBinomial2(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	mu, phi := x[1], x[2]
	sum := g.Add(mu, phi)
	other := g.Div(mu, g.Mul(phi, sum))
	return rows{{ad.None}, {ad.None, g.Div(phi, g.Mul(mu, sum))},
		{ad.None, ad.None, dispersion(g, trigammaDrop(g, phi, g.Div(mu, phi)), other)}}
}

// ofNegBinomial2Log: (η, φ).
func ofNegBinomial2Log(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	mu := g.Exp(x[1])
	r := ofNegBinomial2(g, []ad.Ref{x[0], mu, x[2]})
	r[1][1] = g.Mul(r[1][1], g.Square(mu))
	return r
}

// ofBetaBinomial: (α, β), by the sum over the counts, whose number must be known when the data are
// bound.
func ofBetaBinomial(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	n, a, b := x[1], x[2], x[3]
	drop := func(a, b ad.Ref) ad.Ref { // E[ψ′(a) - ψ′(a+y)] for a count y of n with shapes a and b
		return g.Exp(logSumCounts(g, n, []ad.Ref{n, a, b}, func(k ad.Ref, p []ad.Ref) ad.Ref {
			k = g.Do(ad.OpMin, nil, k, p[0])
			some := g.Less(g.Const(0), k)
			fall := g.Sub(trigamma(g, p[1]), trigamma(g, g.Add(p[1], g.Select(some, k, g.Const(1)))))
			return g.Select(some, g.Add(betaBinomialMass(g, k, p[0], p[1], p[2]), g.Log(fall)), g.Const(negInf))
		}))
	}
	s := g.Add(a, b)
	all := g.Sub(trigamma(g, g.Add(s, n)), trigamma(g, s))
	return rows{{ad.None}, {ad.None, ad.None}, {ad.None, ad.None, g.Add(drop(a, b), all)},
		{ad.None, ad.None, all, g.Add(drop(b, a), all)}}
}
