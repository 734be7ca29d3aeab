package stdlib

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// This file: the expected information of each distribution, the matrix E[s sᵀ] of the score s,
// which is the derivative of the log density with respect to the variate and the parameters. The
// variate's part is computed on a scale without bounds, log y or logit y, including the Jacobian,
// and transformed to y by the chain rule. It is finite where the information about y itself is not,
// and positive semidefinite as every matrix of second moments. Ints have no entries. Most formulas
// are in Johnson, Kotz & Balakrishnan. Below, w is an exponential variate and γ is Euler's
// constant.
//
// A function ofX returns the information of distribution X. Its comment lists the quantities that
// the information is about, in their order.

type rows = [][]ad.Ref

const eulerGamma = 0.577215664901532860606512090082402431

// The moments E[(1 + log w (1 - w))²] and E[(1 - w)² log w].
const (
	gumbelSpread = math.Pi*math.Pi/6 + (1-eulerGamma)*(1-eulerGamma)
	gumbelMixed  = 1 - eulerGamma
)

// ofLocationScale returns the information about (y, μ, σ) if (y-μ)/σ has a fixed density f, with a
// = E[(f′/f)²], b = E[(1 + z f′/f)²] and c = E[(1 + z f′/f) f′/f].
func ofLocationScale(a, b, c float64) ad.Information {
	return func(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
		w := g.Inv(g.Square(x[2]))
		r := rows{{g.Scale(a, w)}, {g.Scale(-a, w), g.Scale(a, w)}, {ad.None, ad.None, g.Scale(b, w)}}
		if c != 0 {
			r[2][0], r[2][1] = g.Scale(-c, w), g.Scale(c, w)
		}
		return r
	}
}

// half returns the information of the half of a symmetric distribution above its location, given
// that of the whole distribution. It is about the logarithm of the distance from the location,
// instead of the variate. The scale is the last argument; the location, which is fixed, is the last
// but one. By symmetry the score of the scale has the same moments. With w = log (y-μ)/σ, the
// density of log (y-μ) depends on w alone, so its score is minus that of log σ.
func half(whole ad.Information) ad.Information {
	return func(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
		r := whole(g, x)
		scale := len(x) - 1
		location := scale - 1
		ratio := g.Div(x[scale], g.Sub(x[0], x[location]))
		s := r[scale][scale]
		for i := range x {
			switch {
			case i == 0:
				r[0] = []ad.Ref{g.Mul(s, g.Square(ratio))}
			case i == location:
				r[i] = slices.Repeat([]ad.Ref{ad.None}, i+1)
			case i == scale:
				r[i] = slices.Clone(r[i])
				r[i][0], r[i][location] = g.Neg(g.Mul(s, ratio)), ad.None
			default:
				r[i] = slices.Clone(r[i])
				if r[i][0] = ad.None; r[scale][i] != ad.None {
					r[i][0] = g.Neg(g.Mul(r[scale][i], ratio))
				}
			}
		}
		return r
	}
}

// onLogScale returns the information about (y, …) given f, the information about (log y, …) with
// the same parameters.
func onLogScale(f ad.Information) ad.Information {
	return func(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
		r := f(g, x)
		w := g.Inv(x[0])
		for i := range r {
			if r[i][0] != ad.None {
				r[i][0] = g.Mul(r[i][0], w)
			}
		}
		r[0][0] = g.Mul(r[0][0], w)
		return r
	}
}

// ofMass returns the information of a distribution of counts with one real parameter, the last of n
// arguments.
func ofMass(n int, f func(g *ad.Graph, x []ad.Ref) ad.Ref) ad.Information {
	return func(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
		r := make(rows, n)
		for i := range r {
			r[i] = make([]ad.Ref, i+1)
			for k := range r[i] {
				r[i][k] = ad.None
			}
		}
		r[n-1][n-1] = f(g, x)
		return r
	}
}

func trigamma(g *ad.Graph, x ad.Ref) ad.Ref { return g.Do(ad.OpTrigamma, nil, x) }

// ofGamma: (log y, α, β); with sign -1, of the inverse gamma distribution.
func ofGamma(sign float64) ad.Information {
	return func(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
		a, b := x[1], x[2]
		ratio := g.Div(a, b)
		return rows{{a}, {g.Const(-sign), trigamma(g, a)}, {g.Scale(sign, ratio), g.Neg(g.Inv(b)), g.Div(ratio, b)}}
	}
}

// ofChiSquare: (log y, ν); with sign -1, of the inverse distribution.
func ofChiSquare(sign float64) ad.Information {
	return func(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
		half := g.Scale(0.5, x[1])
		return rows{{half}, {g.Const(-0.5 * sign), g.Scale(0.25, trigamma(g, half))}}
	}
}

// ofScaledInvChiSquare: (log y, ν, s).
func ofScaledInvChiSquare(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	nu, s := x[1], x[2]
	half := g.Scale(0.5, nu)
	shape := g.Sub(g.Scale(0.25, trigamma(g, half)), g.Scale(0.5, g.Inv(nu)))
	return rows{{half}, {ad.None, shape}, {g.Neg(g.Div(nu, s)), ad.None, g.Scale(2, g.Div(nu, g.Square(s)))}}
}

// ofWeibull: (log y, α, σ); with sign -1, of the Fréchet distribution.
func ofWeibull(sign float64) ad.Information {
	return func(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
		a, s := x[1], x[2]
		a2 := g.Square(a)
		return rows{{a2}, {g.Const(sign * gumbelMixed), g.Scale(gumbelSpread, g.Inv(a2))},
			{g.Neg(g.Div(a2, s)), g.Scale(-sign*gumbelMixed, g.Inv(s)), g.Div(a2, g.Square(s))}}
	}
}

// ofRayleigh: (log y, σ).
func ofRayleigh(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	w := g.Inv(x[1])
	return rows{{g.Const(4)}, {g.Scale(-4, w), g.Scale(4, g.Square(w))}}
}

// ofExponential: (log y, β).
func ofExponential(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	w := g.Inv(x[1])
	return rows{{g.Const(1)}, {w, g.Square(w)}}
}

// ofLoglogistic: (log y, α, β), since log y is logistic around log α with scale 1/β.
func ofLoglogistic(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	b2 := g.Scale(1./3, g.Square(x[2]))
	w := g.Inv(x[1])
	return rows{{b2}, {g.Neg(g.Mul(b2, w)), g.Mul(b2, g.Square(w))}, {ad.None, ad.None, g.Scale(logisticSpread, g.Inv(g.Square(x[2])))}}
}

const logisticSpread = (3 + math.Pi*math.Pi) / 9

// ofStudentT: (y, ν, μ, σ) (Lange, Little & Taylor 1989).
func ofStudentT(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	nu, sigma := x[1], x[3]
	w := g.Inv(g.Square(sigma))
	n1, n3 := plus(g, nu, 1), plus(g, nu, 3)
	a := g.Mul(w, g.Div(n1, n3))
	half := g.Scale(0.5, nu)
	shape := g.Scale(0.25, g.Sub(trigamma(g, half), trigamma(g, plus(g, half, 0.5))))
	shape = g.Sub(shape, g.Div(g.Scale(0.5, plus(g, nu, 5)), g.Mul(nu, g.Mul(n1, n3))))
	mixed := g.Neg(g.Div(g.Const(2), g.Mul(sigma, g.Mul(n1, n3))))
	return rows{{a}, {ad.None, shape}, {g.Neg(a), ad.None, a},
		{ad.None, mixed, ad.None, g.Mul(w, g.Div(g.Scale(2, nu), n3))}}
}

// ofVonMises: (y, μ, κ), with A = I₁(κ)/I₀(κ).
func ofVonMises(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	kappa := x[2]
	a := g.Exp(g.Sub(logBesselI(g, g.Const(1), kappa), logBesselI(g, g.Const(0), kappa)))
	ka := g.Mul(kappa, a)
	spread := g.Sub(g.Sub(g.Const(1), g.Div(a, kappa)), g.Square(a))
	return rows{{ka}, {g.Neg(ka), ka}, {ad.None, ad.None, spread}}
}

// onLogitScale is onLogScale with logit y.
func onLogitScale(f ad.Information) ad.Information {
	return func(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
		r := f(g, x)
		w := g.Inv(g.Mul(x[0], g.Sub(g.Const(1), x[0])))
		for i := range r {
			if r[i][0] != ad.None {
				r[i][0] = g.Mul(r[i][0], w)
			}
		}
		r[0][0] = g.Mul(r[0][0], w)
		return r
	}
}

// ofUniform: u = log (y-α)/(β-y), which is logistic whatever the bounds are, in terms of (y, α, β).
func ofUniform(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	below, above := g.Inv(g.Sub(x[0], x[1])), g.Inv(g.Sub(x[2], x[0]))
	du := []ad.Ref{g.Add(below, above), g.Neg(below), g.Neg(above)}
	r := make(rows, 3)
	for i := range r {
		for k := range i + 1 {
			r[i] = append(r[i], g.Scale(1./3, g.Mul(du[i], du[k])))
		}
	}
	return r
}

// ofBeta: (logit y, α, β).
func ofBeta(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	a, b := x[1], x[2]
	s := g.Add(a, b)
	all := g.Neg(trigamma(g, s))
	return rows{{g.Div(g.Mul(a, b), plus(g, s, 1))}, {g.Neg(g.Div(b, s)), g.Add(trigamma(g, a), all)},
		{g.Div(a, s), all, g.Add(trigamma(g, b), all)}}
}

// ofBetaProportion: (logit y, μ, κ), from ofBeta by the chain rule.
func ofBetaProportion(g *ad.Graph, x []ad.Ref) [][]ad.Ref {
	mu, kappa := x[1], x[2]
	a := g.Mul(mu, kappa)
	b := g.Sub(kappa, a)
	nu := g.Sub(g.Const(1), mu)
	ta, tb := trigamma(g, a), trigamma(g, b)
	spread := g.Sub(g.Add(g.Mul(g.Square(mu), ta), g.Mul(g.Square(nu), tb)), trigamma(g, kappa))
	return rows{{g.Div(g.Mul(a, b), plus(g, kappa, 1))}, {g.Neg(kappa), g.Mul(g.Square(kappa), g.Add(ta, tb))},
		{ad.None, g.Mul(kappa, g.Sub(g.Mul(mu, ta), g.Mul(nu, tb))), spread}}
}

// bernoulliVariance returns the variance of a Bernoulli variate with probability p.
func bernoulliVariance(g *ad.Graph, p ad.Ref) ad.Ref { return g.Mul(p, g.Sub(g.Const(1), p)) }

func logitVariance(g *ad.Graph, x ad.Ref) ad.Ref {
	invLogit := op1(ad.OpInvLogit)
	return g.Mul(invLogit(g, x), invLogit(g, g.Neg(x)))
}
