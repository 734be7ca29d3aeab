package ad

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel"
)

// incompleteOps returns the rows of the incomplete gamma and beta functions, of Student's
// distribution function and of Bessel functions. They are logarithms, so that tails do not
// underflow. The derivative with respect to the argument is the density divided by the function.
//
// Derivatives with respect to shape parameters have no closed form. Those of the gamma functions
// are higher orders of the same op, up to the third. Those of the others are separate ops, which
// can be differentiated only with respect to the argument.
func incompleteOps() map[OpCode]Op {
	domain := func(arg int, z float64) float64 {
		if arg == 0 {
			return 0
		}
		return math.Exp(0.7 * z)
	}
	gamma := func(name string, op OpCode, f func(n, a, x float64) float64, sign float64) Op {
		return Op{Name: name, Class: Elementwise, Arity: 3, F3: f, Domain: domain,
			Points: [][]float64{{0, 30, 20}, {0, 30, 40}, {1, 2.5, 1}, {1, 2.5, 6}, {1, 0.3, 0.2}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				n, ok := g.Value(a[0])
				if !ok || len(n) != 1 {
					g.fail(op, "the order of the derivative is not constant")
				}
				return []Ref{None, g.Do(op, nil, g.Const(n[0]+1), a[1], a[2]), gammaByX(g, op, int(n[0]), sign, a[1], a[2])}
			}}
	}
	unitFirst := func(arg int, z float64) float64 {
		if arg == 0 {
			return unit(arg, z)
		}
		return math.Exp(0.7 * z)
	}
	// density returns the density of the beta distribution, x^(a-1) (1-x)^(b-1)/B(a, b), divided by
	// the tail: I_x(a, b) or 1 - I_x(a, b).
	density := func(g *Graph, tail OpCode, x, a, b Ref) Ref {
		log, zero := g.Do(tail, nil, x, a, b), g.Const(0)
		inside := g.Mul(g.Less(g.Const(math.Inf(-1)), log), g.Less(x, g.Const(1)))
		x = g.Select(inside, g.Do(OpMax, nil, x, g.Const(3e-308)), g.Const(0.5))
		l := g.Sub(g.Do(OpLogBetaTerm, nil, x, a, b), g.Select(inside, log, zero))
		return g.Select(inside, g.Exp(g.Sub(l, g.Add(g.Log(x), g.Do(OpLog1m, nil, x)))), zero)
	}
	digamma := func(g *Graph, x Ref) Ref { return g.Do(OpDigamma, nil, x) }
	rise := func(g *Graph, x, d Ref) Ref { return g.Do(OpDigammaRise, nil, x, d) }
	// byA and byB return the derivatives of the log density with respect to a and b.
	byA := func(g *Graph, x, a, b Ref) Ref { return g.Add(g.Log(x), rise(g, a, b)) }
	byB := func(g *Graph, x, a, b Ref) Ref { return g.Add(g.Do(OpLog1m, nil, x), rise(g, b, a)) }
	// betaTail returns the row of log I (sign 1) or of the logarithm of its complement (sign -1).
	// opA and opB are its derivatives with respect to a and b. shapePart returns the row of one of
	// these. Its derivative with respect to x is the density times a difference: the derivative of
	// the log density with respect to the shape, minus that of the log tail.
	betaTail := func(name string, f func(x, a, b float64) float64, op, opA, opB OpCode, sign float64) Op {
		return Op{Name: name, Class: Elementwise, Arity: 3, F3: f, Domain: unitFirst,
			Points: [][]float64{{0.3, 2, 3}, {0.9, 30, 2}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				return []Ref{g.Scale(sign, density(g, op, a[0], a[1], a[2])), g.Do(opA, nil, a...), g.Do(opB, nil, a...)}
			}}
	}
	shapePart := func(name string, tail, op OpCode, f func(x, a, b float64) float64, score func(g *Graph, x, a, b Ref) Ref, sign float64) Op {
		return Op{Name: name, Class: Elementwise, Arity: 3, F3: f, Domain: unitFirst,
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				x, a, b := n.Args[0], n.Args[1], n.Args[2]
				if need[1] || need[2] {
					g.fail(op, noSecond)
				}
				d := g.Scale(sign, g.Sub(score(g, x, a, b), out))
				return []Ref{g.Mul(adj, g.Mul(density(g, tail, x, a, b), d)), None, None}
			}}
	}
	// failures returns the row of the derivative of a log tail at x = φ/(φ+μ) with respect to φ.
	// The derivative of that with respect to μ is the density of μ divided by the tail, times the
	// difference between the score of φ at μ and the derivative itself. The density is the term of
	// the incomplete beta function divided by μ.
	failures := func(name string, op, tail OpCode, f func(mu, phi, n float64) float64, sign float64) Op {
		return Op{Name: name, Class: Elementwise, Arity: 3, F3: f, Domain: func(_ int, z float64) float64 { return math.Exp(1 + z) },
			Points: [][]float64{{300, 120, 40}, {2, 300, 7}},
			VJP: func(g *Graph, node *Node, out, adj Ref, need []bool) []Ref {
				mu, phi, n := node.Args[0], node.Args[1], node.Args[2]
				if need[1] || need[2] {
					g.fail(op, noSecond)
				}
				all := g.Add(mu, phi)
				t, x := g.Div(mu, all), g.Div(phi, all)
				l := g.Do(OpLog1p, nil, g.Div(mu, phi))
				i := g.Inv(phi)
				score := g.Sub(g.Do(OpDigammaGap, nil, phi, n), g.Do(OpLogGap, nil, t, l))
				score = g.Add(score, g.Mul(g.Mul(n, i), g.Sub(t, g.Less(phi, g.Const(1)))))
				density := g.Exp(g.Sub(g.Do(OpLogBetaTerm, nil, x, phi, n), g.Do(tail, nil, x, phi, n)))
				return []Ref{g.Mul(adj, g.Scale(-sign, g.Mul(g.Div(density, mu), g.Sub(score, out)))), None, None}
			}}
	}
	studentDomain := func(arg int, z float64) float64 {
		if arg == 0 {
			return 2 * z
		}
		return math.Exp(1 + 0.7*z)
	}
	return map[OpCode]Op{
		OpLogGammaP: gamma("log_gamma_p", OpLogGammaP, kernel.LogGammaP, 1),
		OpLogGammaQ: gamma("log_gamma_q", OpLogGammaQ, kernel.LogGammaQ, -1),
		OpLogPoisson: {Name: "log_poisson", Class: Elementwise, Arity: 2, F2: kernel.LogPoisson,
			Domain: func(_ int, z float64) float64 { return math.Exp(z) }, Points: [][]float64{{0.3, 2}, {30, 25}, {50, 10}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				da := g.Sub(g.Log(a[1]), digamma(g, g.Add(a[0], g.Const(1))))
				return []Ref{da, g.Div(g.Sub(a[0], a[1]), a[1])}
			}},
		OpLogBetaTerm: {Name: "log_beta_term", Class: Elementwise, Arity: 3, F3: kernel.LogBetaTerm, Domain: unitFirst,
			Points: [][]float64{{0.3, 2, 3}, {0.4, 20, 30}, {0.1, 20, 30}, {0.9, 20, 30}},
			Partials: func(g *Graph, out Ref, args []Ref) []Ref {
				x, a, b := args[0], args[1], args[2]
				y := g.Sub(g.Const(1), x)
				dx := g.Sub(g.Div(a, x), g.Div(b, y))
				return []Ref{dx, g.Add(g.Log(x), rise(g, a, b)), g.Add(g.Do(OpLog1m, nil, x), rise(g, b, a))}
			}},
		OpLogBetaI:        betaTail("log_inc_beta", kernel.LogBetaI, OpLogBetaI, OpLogBetaIa, OpLogBetaIb, 1),
		OpLogBetaIa:       shapePart("log_inc_beta_a", OpLogBetaI, OpLogBetaIa, kernel.LogBetaIa, byA, 1),
		OpLogBetaIb:       shapePart("log_inc_beta_b", OpLogBetaI, OpLogBetaIb, kernel.LogBetaIb, byB, 1),
		OpLogBetaIc:       betaTail("log1m_inc_beta", kernel.LogBetaIc, OpLogBetaIc, OpLogBetaIca, OpLogBetaIcb, -1),
		OpLogBetaIca:      shapePart("log1m_inc_beta_a", OpLogBetaIc, OpLogBetaIca, kernel.LogBetaIca, byA, -1),
		OpLogBetaIcb:      shapePart("log1m_inc_beta_b", OpLogBetaIc, OpLogBetaIcb, kernel.LogBetaIcb, byB, -1),
		OpLogFailuresPhi:  failures("log_failures_phi", OpLogFailuresPhi, OpLogBetaI, kernel.LogFailuresPhi, 1),
		OpLogFailuresPhic: failures("log1m_failures_phi", OpLogFailuresPhic, OpLogBetaIc, kernel.LogFailuresPhic, -1),
		OpLogStudentCDF: {Name: "log_student_cdf", Class: Elementwise, Arity: 2, F2: kernel.LogStudentCDF, Domain: studentDomain,
			Points: [][]float64{{0, 3}, {-20, 3}, {30, 0.5}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				return []Ref{studentDensity(g, a[0], a[1]), g.Do(OpLogStudentCDFNu, nil, a...)}
			}},
		// I′ = I_{v+1} + (v/x) I_v.
		OpLogBesselI: {Name: "log_bessel_i", Class: Elementwise, Arity: 2, F2: kernel.LogBesselI,
			Domain: func(arg int, z float64) float64 { return math.Exp(float64(arg) + z) },
			Points: [][]float64{{0.1, 0.1}, {0.1, 39}, {0.1, 60}, {2.5, 3}},
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				v, x := n.Args[0], n.Args[1]
				byV := None
				if need[0] {
					byV = g.Mul(adj, g.Do(OpLogBesselIv, nil, v, x))
				}
				slope := besselRatio(g, v, x, out)
				if !g.isConst(v, 0) { // only for order 0 is it finite at x = 0
					slope = g.Add(slope, g.Div(v, x))
				}
				slope = g.Sub(slope, g.Const(1))
				// For large x it is -1/2x - 1/8x² - 1/8x³ - …, and the ratio would cancel.
				if g.isConst(v, 0) {
					const large = 1e4
					i := g.Inv(g.Do(OpMax, nil, x, g.Const(large)))
					far := g.Add(g.Const(0.125), g.Mul(i, g.Add(g.Const(0.125), g.Scale(25./128, i))))
					far = g.Neg(g.Mul(i, g.Add(g.Const(0.5), g.Mul(i, far))))
					slope = g.Select(g.Less(x, g.Const(large)), slope, far)
				}
				return []Ref{byV, g.Mul(adj, slope)}
			}},
		OpLogBesselIv: {Name: "log_bessel_i_v", Class: Elementwise, Arity: 2, F2: kernel.LogBesselIv,
			Domain: func(arg int, z float64) float64 { return math.Exp(1 + z) },
			Points: [][]float64{{0.1, 0.1}, {0.5, 39}, {0.5, 60}, {2.5, 3}, {30, 3}},
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				v, x := n.Args[0], n.Args[1]
				if need[0] {
					g.fail(OpLogBesselIv, noSecond)
				}
				next := g.Do(OpLogBesselIv, nil, g.Add(v, g.Const(1)), x)
				ratio := besselRatio(g, v, x, g.Do(OpLogBesselI, nil, v, x))
				return []Ref{None, g.Mul(adj, g.Add(g.Mul(ratio, g.Sub(next, out)), g.Inv(x)))}
			}},
		OpLogStudentCDFNu: {Name: "log_student_cdf_nu", Class: Elementwise, Arity: 2, F2: kernel.LogStudentCDFNu, Domain: studentDomain,
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				t, nu := n.Args[0], n.Args[1]
				if need[1] {
					g.fail(OpLogStudentCDFNu, noSecond)
				}
				// The derivative of the log density with respect to ν.
				half, u := g.Scale(0.5, nu), g.Div(g.Square(t), nu)
				h1 := g.Add(half, g.Const(0.5))
				d := g.Scale(0.5, rise(g, half, g.Const(0.5)))
				d = g.Sub(d, g.Scale(0.5, g.Add(g.Do(OpLog1p, nil, u), g.Inv(nu))))
				d = g.Add(d, g.Mul(h1, g.Div(u, g.Mul(nu, g.Add(g.Const(1), u)))))
				return []Ref{g.Mul(adj, g.Mul(studentDensity(g, t, nu), g.Sub(d, out))), None}
			}},
	}
}

// besselRatio returns I_{v+1}(x)/I_v(x), given the logarithm of the denominator.
func besselRatio(g *Graph, v, x, below Ref) Ref {
	return g.Exp(g.Sub(g.Do(OpLogBesselI, nil, g.Add(v, g.Const(1)), x), below))
}

// studentDensity returns the density of Student's distribution divided by its distribution
// function.
func studentDensity(g *Graph, t, nu Ref) Ref {
	const most = 1e150
	half, one := g.Scale(0.5, nu), g.Const(1)
	// log(1 + q²) for q = |t|/√ν, where q² may overflow.
	q := g.Div(g.Do(OpAbs, nil, t), g.Sqrt(nu))
	far := g.Less(g.Const(most), q)
	l := g.Select(far, g.Scale(2, g.Log(g.Select(far, q, one))), g.Do(OpLog1p, nil, g.Square(g.Select(far, one, q))))
	l = g.Mul(g.Add(half, g.Const(0.5)), l)
	l = g.Add(l, g.Add(g.Do(OpLbeta, nil, half, g.Const(0.5)), g.Scale(0.5, g.Log(nu))))
	return g.Exp(g.Neg(g.Add(l, g.Do(OpLogStudentCDF, nil, t, nu))))
}

const noSecond = "has no second derivative with respect to its shape parameters"

// gammaByX returns the derivative with respect to x of the n-th derivative with respect to a of log
// P (sign 1) or log Q (sign -1). That is the n-th derivative of sign·h, where h is the density
// divided by P or Q. It uses h′ = hq, with q = log x - ψ(a) - (log P)′.
func gammaByX(g *Graph, op OpCode, n int, sign float64, a, x Ref) Ref {
	order := func(k int) Ref { return g.Do(op, nil, g.Const(float64(k)), a, x) }
	logX := g.Log(x)
	// At x = 0 the value is the limit, if that is finite, or 0 where the function itself is 0.
	log, zero := order(0), g.Const(0)
	inside := g.Less(g.Const(math.Inf(-1)), log)
	safe := g.Do(OpMin, nil, g.Do(OpMax, nil, x, g.Const(3e-308)), g.Const(1e300))
	mass := g.Do(OpLogPoisson, nil, a, safe)
	l := g.Sub(mass, g.Select(inside, log, zero))
	h := g.Exp(g.Add(l, g.Sub(g.Log(a), g.Log(safe))))
	// Far out, both logarithms are so large that their difference has no correct digits. There,
	// three terms of the continued fractions that the kernels use are exact to the last digit.
	one := g.Const(1)
	beyond := g.Scale(sign, g.Sub(x, a)) // this is negative in the small tail
	far := g.Mul(g.Less(mass, g.Const(-1e6)), g.Mul(g.Less(beyond, zero), g.Less(zero, x)))
	away := g.Select(far, g.Sub(x, a), g.Scale(-sign, one))
	at := g.Select(far, x, one)
	if sign < 0 {
		last := g.Div(g.Scale(2, g.Sub(g.Const(2), a)), g.Add(away, g.Const(5)))
		last = g.Div(g.Sub(one, a), g.Sub(g.Add(away, g.Const(3)), last))
		last = g.Div(g.Sub(g.Add(away, one), last), at)
		h = g.Select(far, last, h)
	} else {
		near := g.Neg(away) // this is a - x
		last := g.Div(g.Scale(2, at), g.Add(near, g.Const(2)))
		last = g.Div(at, g.Add(g.Add(near, one), last))
		h = g.Select(far, g.Div(g.Add(near, last), at), h)
	}
	h = g.Scale(sign, g.Select(inside, h, zero))
	if n == 0 {
		return h
	}
	q := g.Sub(g.Sub(logX, g.Do(OpDigamma, nil, a)), order(1))
	if n == 1 {
		return g.Mul(h, q)
	}
	q1 := g.Neg(g.Add(g.Do(OpTrigamma, nil, a), order(2)))
	if n == 2 {
		return g.Mul(h, g.Add(g.Square(q), q1))
	}
	q2 := g.Neg(g.Add(g.Do(OpPolygamma, nil, g.Const(2), a), order(3)))
	return g.Mul(h, g.Add(g.Add(g.Mul(q, g.Square(q)), g.Scale(3, g.Mul(q, q1))), q2))
}
