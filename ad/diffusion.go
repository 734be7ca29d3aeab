package ad

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel"
)

// diffusionOps returns the rows of the von Mises and the Wiener distribution. Each derivative is an
// op of the same family with a higher order of a moment or derivative, so derivatives of all orders
// exist.
func diffusionOps() map[OpCode]Op {
	angle := func(z float64) float64 { return 3 * math.Tanh(0.7*z) }
	// below1 returns cos x - 1.
	below1 := func(g *Graph, x Ref) Ref { return g.Scale(-2, g.Square(g.Do(OpSin, nil, g.Scale(0.5, x)))) }
	// density returns the von Mises density divided by the probability below x.
	density := func(g *Graph, x, kappa Ref) Ref {
		l := g.Mul(kappa, below1(g, x))
		l = g.Sub(l, g.Do(OpLogBesselI, nil, g.Const(0), kappa))
		l = g.Sub(l, g.Do(OpLogVonMises, nil, x, kappa))
		return g.Exp(g.Sub(l, g.Const(math.Log(2*math.Pi))))
	}
	moment := func(g *Graph, n float64, x, kappa Ref) Ref {
		return g.Do(OpVonMisesMoment, nil, g.Const(n), x, kappa)
	}
	wiener := func(g *Graph, n float64, u, b Ref) Ref { return g.Do(OpWienerRatio, nil, g.Const(n), u, b) }
	exit := func(arg int, z float64) float64 {
		if arg == 0 {
			return math.Exp(0.8*z - 1)
		}
		return unit(arg, z)
	}
	return map[OpCode]Op{
		OpLogVonMises: {Name: "log_von_mises", Class: Elementwise, Arity: 2, F2: kernel.LogVonMisesCDF,
			Domain: func(arg int, z float64) float64 {
				if arg == 0 {
					return angle(z)
				}
				return math.Exp(z)
			},
			Points: [][]float64{{-2, 30}, {-0.1, 3}, {0.1, 3}, {2, 30}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				// The mean of cos t for t ≤ x, minus the mean over all t.
				dk := g.Sub(moment(g, 1, a[0], a[1]), moment(g, 1, g.Const(math.Pi), a[1]))
				return []Ref{density(g, a[0], a[1]), dk}
			}},
		OpVonMisesMoment: {Name: "von_mises_moment", Class: Elementwise, Arity: 3, F3: kernel.VonMisesMoment,
			Domain: func(arg int, z float64) float64 {
				switch arg {
				case 0:
					return 1 + math.Floor(math.Abs(z))
				case 1:
					return angle(z)
				}
				return math.Exp(z)
			},
			Points: [][]float64{{1, -2, 10}, {2, 0.3, 2}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				n := g.order(OpVonMisesMoment, a[0])
				power := g.Const(1)
				for range int(n) {
					power = g.Mul(power, below1(g, a[1]))
				}
				dx := g.Mul(density(g, a[1], a[2]), g.Sub(power, out))
				if v, ok := g.Value(a[1]); ok && len(v) == 1 && v[0] >= math.Pi {
					dx = None
				}
				dk := g.Sub(moment(g, n+1, a[1], a[2]), g.Mul(out, moment(g, 1, a[1], a[2])))
				return []Ref{None, dx, dk}
			}},
		// The density f satisfies ∂f/∂u = ½ ∂²f/∂b².
		OpLogWiener: {Name: "log_wiener", Class: Elementwise, Arity: 2, F2: kernel.LogWiener, Domain: exit,
			Points: [][]float64{{0.02, 0.3}, {0.39, 0.9}, {0.41, 0.1}, {4, 0.6}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				return []Ref{g.Scale(0.5, wiener(g, 2, a[0], a[1])), wiener(g, 1, a[0], a[1])}
			}},
		OpWienerRatio: {Name: "wiener_ratio", Class: Elementwise, Arity: 3, F3: kernel.WienerRatio,
			Domain: func(arg int, z float64) float64 {
				if arg == 0 {
					return 1 + math.Floor(math.Abs(z))
				}
				return exit(arg-1, z)
			},
			Points: [][]float64{{1, 0.3, 0.9}, {2, 0.5, 0.1}},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				n := g.order(OpWienerRatio, a[0])
				r := func(k float64) Ref { return wiener(g, k, a[1], a[2]) }
				du := g.Scale(0.5, g.Sub(r(n+2), g.Mul(out, r(2))))
				return []Ref{None, du, g.Sub(r(n+1), g.Mul(out, r(1)))}
			}},
	}
}
