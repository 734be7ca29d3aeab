package ad

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel"
)

// order returns the value of r, the constant integer that is the first argument of op.
func (g *Graph) order(op OpCode, r Ref) float64 {
	n, ok := g.Value(r)
	if !ok || len(n) != 1 {
		g.fail(op, "the order is not constant")
	}
	return n[0]
}

// inverseOps returns the rows of functions defined as inverses (quantiles, Lambert's W), of Owen's
// T and of Bessel functions. The derivative of an inverse is the reciprocal of that of the
// function.
func inverseOps() map[OpCode]Op {
	log := func(arg int, z float64) float64 { return -math.Exp(z) }
	// The derivative of W is e^-W/(1+W).
	lambert := func(g *Graph, x, w Ref) Ref { return g.Div(g.Exp(g.Neg(w)), g.Add(g.Const(1), w)) }
	orderAndNumber := func(arg int, z float64) float64 {
		if arg == 0 {
			return math.Floor(math.Exp(z))
		}
		return math.Exp(1 + 0.5*z)
	}
	bessel := func(name string, op OpCode, f func(n, x float64) float64) Op {
		return Op{Name: name, Class: Elementwise, Arity: 2, F2: f,
			Domain: orderAndNumber,
			Points: [][]float64{{0, 0.3}, {2, 20}, {-3, 4}},
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				if need[0] {
					g.fail(op, "has no derivative with respect to its order")
				}
				at := func(by float64) Ref { return g.Do(op, nil, g.Add(n.Args[0], g.Const(by)), n.Args[1]) }
				return []Ref{None, g.Mul(adj, g.Scale(0.5, g.Sub(at(-1), at(1))))}
			}}
	}
	return map[OpCode]Op{
		OpLambertW0: points(un("lambert_w0", kernel.LambertW0, lambert,
			func(arg int, z float64) float64 { return math.Exp(z) - 0.36 }), -0.3, 1e-9, 50),
		OpLambertWm1: points(un("lambert_wm1", kernel.LambertWm1, lambert,
			func(arg int, z float64) float64 { return -0.36 * (0.02 + 0.96*(0.5+0.5*math.Tanh(z))) }), -1e-5),
		OpBesselJ: bessel("bessel_j", OpBesselJ, kernel.BesselJ),
		OpBesselY: bessel("bessel_y", OpBesselY, kernel.BesselY),
		// K′ = (v/x) K_v - K_{v+1}.
		OpLogBesselK: {Name: "log_bessel_k", Class: Elementwise, Arity: 2, F2: kernel.LogBesselK, Domain: orderAndNumber,
			Points: [][]float64{{0, 0.1}, {0, 39}, {2, 3}},
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				v, x := n.Args[0], n.Args[1]
				if need[0] {
					g.fail(OpLogBesselK, "has no derivative with respect to its order")
				}
				ratio := g.Exp(g.Sub(g.Do(OpLogBesselK, nil, g.Add(v, g.Const(1)), x), out))
				return []Ref{None, g.Mul(adj, g.Sub(g.Add(g.Const(1), g.Div(v, x)), ratio))}
			}},
		// ∂T/∂h = -φ(h) (Φ(ah) - ½), ∂T/∂a = exp(-½h²(1+a²))/(2π(1+a²)).
		OpOwensT: {Name: "owens_t", Class: Elementwise, Arity: 2, F2: kernel.OwensT, Domain: anyReal,
			Points: [][]float64{{0, 0.5}, {3, 0.2}, {-1, 4}, {0.4, -2}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				h2 := g.Square(a[0])
				erf := g.Do(OpErf, nil, g.Scale(math.Sqrt2/2, g.Mul(a[0], a[1])))
				dh := g.Mul(g.Scale(-0.5/math.Sqrt(2*math.Pi), g.Exp(g.Scale(-0.5, h2))), erf)
				return []Ref{dh, owensByA(g, a[0], a[1])}
			}},
		OpLogSkewNormal: {Name: "log_skew_normal", Class: Elementwise, Arity: 2, F2: kernel.LogSkewNormalCDF, Domain: anyReal,
			Points: [][]float64{{-3, 2}, {-1, -2}, {2, 3}, {0, 1}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				// The density 2φ(z)Φ(az) divided by the distribution function.
				l := g.Add(g.Scale(-0.5, g.Square(a[0])), g.Do(OpLogPhi, nil, g.Mul(a[0], a[1])))
				l = g.Sub(g.Add(l, g.Const(0.5*math.Log(2/math.Pi))), out)
				e := g.Add(g.Scale(-0.5, g.Square(a[0])), g.Scale(-0.5, g.Square(g.Mul(a[0], a[1]))))
				da := g.Div(g.Exp(g.Sub(e, out)), g.Scale(-math.Pi, g.Add(g.Const(1), g.Square(a[1]))))
				return []Ref{g.Exp(l), da}
			}},
		OpInvLogPhi: points(un("inv_log_Phi", kernel.InvLogPhi,
			func(g *Graph, x, y Ref) Ref { return g.Inv(g.Do(OpPhiRatio, nil, y)) }, log), -0.01, -5, -700),
		OpInvBetaI: {Name: "inv_inc_beta", Class: Elementwise, Arity: 3, F3: kernel.InvBetaI,
			Domain: func(arg int, z float64) float64 {
				if arg == 0 {
					return unit(arg, z)
				}
				return math.Exp(0.7 * z)
			},
			Points: [][]float64{{0.3, 2, 3}, {0.9, 0.5, 4}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				// From log I_x(a, b) = log p follows dx = (dp/p - ∂a log I da - …)/∂x log I.
				logI := g.Do(OpLogBetaI, nil, out, a[1], a[2])
				minus1 := func(r Ref) Ref { return g.Sub(r, g.Const(1)) }
				l := g.Add(g.Mul(minus1(a[1]), g.Log(out)), g.Mul(minus1(a[2]), g.Do(OpLog1m, nil, out)))
				density := g.Exp(g.Sub(g.Sub(l, g.Do(OpLbeta, nil, a[1], a[2])), logI))
				by := func(op OpCode) Ref { return g.Neg(g.Div(g.Do(op, nil, out, a[1], a[2]), density)) }
				return []Ref{g.Inv(g.Mul(a[0], density)), by(OpLogBetaIa), by(OpLogBetaIb)}
			}},
		OpStudentQuantile: {Name: "student_quantile", Class: Elementwise, Arity: 2, F2: kernel.StudentQuantile,
			Domain: func(arg int, z float64) float64 {
				if arg == 0 {
					return unit(arg, z)
				}
				return math.Exp(1 + 0.7*z)
			},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				// Divided by the distribution function, which is p.
				ratio := studentDensity(g, out, a[1])
				dnu := g.Neg(g.Div(g.Do(OpLogStudentCDFNu, nil, out, a[1]), ratio))
				return []Ref{g.Inv(g.Mul(a[0], ratio)), dnu}
			}},
	}
}

// owensByA returns the derivative of Owen's T function with respect to its second argument.
func owensByA(g *Graph, h, a Ref) Ref {
	q := g.Add(g.Const(1), g.Square(a))
	return g.Div(g.Exp(g.Scale(-0.5, g.Mul(g.Square(h), q))), g.Scale(2*math.Pi, q))
}
