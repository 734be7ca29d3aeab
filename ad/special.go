package ad

import (
	"maps"
	"math"

	"github.com/ppl-lang/ppl/ad/kernel"
	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// Lgamma returns log |Γ(x)|.
func (g *Graph) Lgamma(x Ref) Ref { return g.Do(OpLgamma, nil, x) }

// specialOps returns the rows of the special functions.
func specialOps() map[OpCode]Op {
	const twoOverSqrtPi = 2 / math.SqrtPi
	sqrt2Pi := math.Sqrt(2 * math.Pi)
	// gauss returns exp(-c x²)·f.
	gauss := func(g *Graph, f, c float64, x Ref) Ref {
		return g.Scale(f, g.Exp(g.Scale(-c, g.Square(x))))
	}
	digamma := func(g *Graph, x Ref) Ref { return g.Do(OpDigamma, nil, x) }
	one := func(g *Graph) Ref { return g.Const(1) }
	secondPositive := func(arg int, z float64) float64 {
		if arg == 0 {
			return z
		}
		return math.Exp(z)
	}
	rise := func(g *Graph, n float64, x, d Ref) Ref {
		if n == 0 {
			return g.Do(OpDigammaRise, nil, x, d)
		}
		return g.Do(OpPolygammaRise, nil, g.Const(n), x, d)
	}
	rows := map[OpCode]Op{
		OpErf: un("erf", routines.Erf,
			func(g *Graph, x, y Ref) Ref { return gauss(g, twoOverSqrtPi, 1, x) }, anyReal),
		OpErfc: un("erfc", routines.Erfc,
			func(g *Graph, x, y Ref) Ref { return gauss(g, -twoOverSqrtPi, 1, x) }, anyReal),
		OpPhi: un("Phi", routines.Phi,
			func(g *Graph, x, y Ref) Ref { return gauss(g, 1/sqrt2Pi, 0.5, x) }, anyReal),
		OpLogPhi: points(un("log_Phi", routines.LogPhi,
			func(g *Graph, x, y Ref) Ref { return g.Do(OpPhiRatio, nil, x) }, anyReal), -60, -21, -19, -1, 8),
		// For h = φ/Φ, h′ = -h(x + h). The sum x + h would cancel in the left tail, so it is a
		// separate op.
		OpPhiRatio: points(un("Phi_ratio", routines.PhiRatio,
			func(g *Graph, x, y Ref) Ref { return g.Neg(g.Mul(y, g.Do(OpPhiExcess, nil, x))) }, anyReal), -30, -15, 6),
		OpPhiExcess: points(un("Phi_excess", routines.PhiExcess,
			func(g *Graph, x, y Ref) Ref { return g.Sub(one(g), g.Mul(g.Do(OpPhiRatio, nil, x), y)) }, anyReal), -30, -15, 6),
		OpLogExpModTail: {Name: "log_exp_mod_tail", Class: Elementwise, Arity: 2, F2: routines.LogExpModTail, Domain: secondPositive,
			Points: [][]float64{{-3, 30}, {5, 0.1}, {2, 2.5}},
			// The derivative with respect to z is h(t) - v = x(t) - z, where t = z-v, h = φ/Φ and
			// x(t) = t + h(t). Each form is accurate on one side only, so both are used.
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				t := g.Sub(a[0], a[1])
				left, slope := g.Less(t, g.Const(0)), g.Do(OpExpModSlope, nil, a...)
				return []Ref{g.Sub(slope, g.Select(left, a[0], a[1])), g.Neg(g.Select(left, slope, g.Add(t, slope)))}
			}},
		// x′ = 1 - h·x and h′ = -h·x, where h = x - t on the left and x = t + h on the right. These
		// are sums of positive numbers.
		OpExpModSlope: {Name: "exp_mod_slope", Class: Elementwise, Arity: 2, F2: routines.ExpModSlope, Domain: secondPositive,
			Points: [][]float64{{-3, 30}, {5, 0.1}, {2, 2.5}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				t := g.Sub(a[0], a[1])
				left := g.Less(t, g.Const(0))
				other := g.Select(left, g.Sub(out, t), g.Add(out, t))
				d := g.Sub(g.Select(left, one(g), g.Const(0)), g.Mul(out, other))
				return []Ref{d, g.Neg(d)}
			}},
		OpLogExpModCDF: {Name: "log_exp_mod_cdf", Class: Elementwise, Arity: 2, F2: kernel.LogExpModCDF, Domain: secondPositive,
			Points: [][]float64{{-3, 30}, {5, 0.1}, {-2, 0.01}, {-1, 0.7}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				r := expModRatio(g, out, a[0], a[1])
				return []Ref{g.Mul(a[1], r), g.Mul(r, g.Do(OpPhiExcess, nil, g.Sub(a[0], a[1])))}
			}},
		OpInvPhi: points(un("inv_Phi", routines.InvPhi,
			func(g *Graph, x, y Ref) Ref { return g.Scale(sqrt2Pi, g.Exp(g.Scale(0.5, g.Square(y)))) }, unit),
			1e-3, 0.05, 0.0751, 0.5, 0.93),
		// The derivative is y(1-y), with 1-y as the value at -x, times the derivative of the
		// argument.
		OpPhiApprox: un("Phi_approx", kernel.PhiApprox,
			func(g *Graph, x, y Ref) Ref {
				// Otherwise 0·∞ for large |x|.
				size := g.Do(OpMin, nil, g.Do(OpAbs, nil, x), g.Const(1e100))
				slope := g.Add(g.Scale(3*0.07056, g.Square(size)), g.Const(1.5976))
				return g.Mul(g.Mul(y, g.Do(OpPhiApprox, nil, g.Neg(x))), slope)
			}, anyReal),

		OpLgamma: points(un("lgamma", routines.Lgamma,
			func(g *Graph, x, y Ref) Ref { return digamma(g, x) }, positive), 0.01, 1, 1.4616, 2, 3.5, 9.99, 10.01, 50, -0.5, -2.3),
		OpTgamma: points(un("tgamma", math.Gamma,
			func(g *Graph, x, y Ref) Ref { return g.Mul(y, digamma(g, x)) }, positive), 0.3, 4.5, -1.5),
		OpDigamma: points(un("digamma", routines.Digamma,
			func(g *Graph, x, y Ref) Ref { return g.Do(OpTrigamma, nil, x) }, positive), 0.05, 1.4616, 2, 9.99, 10.01, 50, -1.5),
		OpTrigamma: points(un("trigamma", routines.Trigamma,
			func(g *Graph, x, y Ref) Ref { return g.Do(OpPolygamma, nil, g.Const(2), x) }, positive), 0.1, 3, 20, -1.5),
		// The arguments are (n, x), with n an integer; Domain and Points respect that.
		OpPolygamma: {Name: "polygamma", Class: Elementwise, Arity: 2, F2: kernel.Polygamma,
			Domain: func(arg int, z float64) float64 {
				if arg == 0 {
					return 1 + math.Floor(math.Exp(z))
				}
				return math.Exp(z)
			},
			Points: [][]float64{{1, 0.3}, {2, 1}, {3, 12}, {4, 30}, {2, -1.5}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				return []Ref{None, g.Do(OpPolygamma, nil, g.Add(a[0], one(g)), a[1])}
			}},
		OpPolygammaRise: {Name: "polygamma_rise", Class: Elementwise, Arity: 3, F3: kernel.PolygammaRise,
			Domain: func(arg int, z float64) float64 {
				if arg == 0 {
					return 1
				}
				return math.Exp(z)
			},
			Points: [][]float64{{1, 3, 0.01}, {2, 0.5, 3}, {1, 40, 1}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				n := g.order(OpPolygammaRise, a[0]) + 1
				return []Ref{None, rise(g, n, a[1], a[2]), g.Do(OpPolygamma, nil, g.Const(n), g.Add(a[1], a[2]))}
			}},
		OpDigammaRise: {Name: "digamma_rise", Class: Elementwise, Arity: 2, F2: routines.DigammaRise, Domain: positive,
			Points: [][]float64{{30, 0.5}, {0.3, 40}, {5.9, 0.2}, {8, -7.5}, {-1.5, 4}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				return []Ref{rise(g, 1, a[0], a[1]), g.Do(OpTrigamma, nil, g.Add(a[0], a[1]))}
			}},
		OpDigammaGap: {Name: "digamma_gap", Class: Elementwise, Arity: 2, F2: routines.DigammaGap, Domain: positive,
			Points: [][]float64{{30, 0.5}, {0.3, 40}, {5.9, 0.2}, {8, 7.5}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				i := g.Select(g.Less(a[0], one(g)), g.Const(0), g.Inv(a[0]))
				dx := g.Add(rise(g, 1, a[0], a[1]), g.Mul(a[1], g.Square(i)))
				return []Ref{dx, g.Sub(g.Do(OpTrigamma, nil, g.Add(a[0], a[1])), i)}
			}},
		OpLogGap: {Name: "log_gap", Class: Elementwise, Arity: 2, F2: kernel.LogGap, Domain: unit,
			Points: [][]float64{{1e-3, 0}, {1e-5, 0}},
			// l depends on t. Where t is far from 1, the derivative with respect to t includes the
			// one through l; elsewhere both derivatives are partial.
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				near := g.Less(a[0], g.Const(0.5))
				t := g.Select(near, a[0], g.Const(0))
				dt := g.Select(near, g.Div(t, g.Sub(one(g), t)), g.Const(-1))
				return []Ref{dt, g.Do(OpNot, nil, near)}
			}},
		OpLbeta: {Name: "lbeta", Class: Elementwise, Arity: 2, F2: routines.Lbeta, Domain: positive,
			Points: [][]float64{{0.1, 0.2}, {1, 1}, {3, 25}, {30, 40}, {0.5, 200}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				return []Ref{g.Neg(rise(g, 0, a[0], a[1])), g.Neg(rise(g, 0, a[1], a[0]))}
			}},
		OpLchoose: {Name: "lchoose", Class: Elementwise, Arity: 2, F2: routines.Lchoose,
			Domain: func(arg int, z float64) float64 {
				if arg == 0 {
					return 8 + math.Exp(z)
				}
				return 3 + 2*math.Tanh(z)
			},
			Points: [][]float64{{5, 2}, {40.5, 1.5}, {100, 50}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				n, k := a[0], a[1]
				rest := g.Sub(n, k)
				return []Ref{rise(g, 0, g.Add(rest, one(g)), k), rise(g, 0, g.Add(k, one(g)), g.Sub(rest, k))}
			}},
		OpLmultichoose: {Name: "lmultichoose", Class: Elementwise, Arity: 2, F2: routines.Lmultichoose, Domain: positive,
			Points: [][]float64{{0.1, 3}, {3, 25}, {30, 40}, {2.5, 0}, {-1.5, 4}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				return []Ref{rise(g, 0, a[0], a[1]), rise(g, 0, g.Add(a[1], one(g)), g.Sub(a[0], one(g)))}
			}},
		OpLogRising: {Name: "log_rising", Class: Elementwise, Arity: 2, F2: kernel.LogRising, Domain: positive,
			Points: [][]float64{{0.1, 3}, {3, 0.25}, {30, 40}, {2.5, 1e-9}, {-1.5, 4}, {5, -2.5}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				return []Ref{rise(g, 0, a[0], a[1]), digamma(g, g.Add(a[0], a[1]))}
			}},
		OpXLogY: {Name: "x_log_y", Class: Elementwise, Arity: 2, F2: kernel.XLogY, Domain: positive,
			// ∂y/∂x is x/y, but 0 where x is 0, even if y is 0 too.
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				zero := g.Const(0)
				return []Ref{g.Log(a[1]), g.Select(g.Equal(a[0], zero), zero, g.Div(a[0], a[1]))}
			}},
		OpXLog1mY: {Name: "x_log1m_y", Class: Elementwise, Arity: 2, F2: kernel.XLog1mY,
			Domain: func(arg int, z float64) float64 {
				if arg == 0 {
					return math.Exp(z)
				}
				return unit(arg, z)
			},
			Points: [][]float64{{3, 1e-9}, {3, -4}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				zero := g.Const(0)
				dy := g.Neg(g.Div(a[0], g.Sub(one(g), a[1])))
				return []Ref{g.Do(OpLog1m, nil, a[1]), g.Select(g.Equal(a[0], zero), zero, dy)}
			}},
	}
	maps.Copy(rows, incompleteOps())
	maps.Copy(rows, inverseOps())
	maps.Copy(rows, diffusionOps())
	return rows
}

// expModRatio returns exp(LogExpModTail(z, v)) divided by the distribution function, whose
// logarithm is out. Far to the left, both logarithms are so large that their difference has few
// digits. There the ratio is h(z)/(h(z-v) - h(z)) with h = φ/Φ, computed by three terms of its
// expansion for large -z.
func expModRatio(g *Graph, out, z, v Ref) Ref {
	const far = -1000
	left := g.Less(z, g.Const(far))
	s := g.Neg(g.Do(OpMin, nil, z, g.Const(far)))
	inner, outer := g.Inv(s), g.Inv(g.Add(s, v))
	ratio := g.Mul(inner, outer)
	sum := g.Add(g.Add(g.Square(inner), ratio), g.Square(outer))
	difference := g.Mul(v, g.Add(g.Sub(g.Const(1), ratio), g.Scale(2, g.Mul(ratio, sum))))
	near := g.Exp(g.Sub(g.Do(OpLogExpModTail, nil, z, v), out))
	return g.Select(left, g.Div(g.Do(OpPhiRatio, nil, g.Neg(s)), difference), near)
}

// points adds arguments for tests to the row of an op with one argument.
func points(o Op, xs ...float64) Op {
	for _, x := range xs {
		o.Points = append(o.Points, []float64{x})
	}
	return o
}
