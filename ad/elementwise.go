package ad

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel"
	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// Methods for the ops that derivatives and definitions use most.

// Neg returns -x.
func (g *Graph) Neg(x Ref) Ref { return g.Do(OpNeg, nil, x) }

// Add returns x + y.
func (g *Graph) Add(x, y Ref) Ref { return g.Do(OpAdd, nil, x, y) }

// Sub returns x - y.
func (g *Graph) Sub(x, y Ref) Ref { return g.Do(OpSub, nil, x, y) }

// Mul returns x·y, element by element.
func (g *Graph) Mul(x, y Ref) Ref { return g.Do(OpMul, nil, x, y) }

// Div returns x/y, element by element.
func (g *Graph) Div(x, y Ref) Ref { return g.Do(OpDiv, nil, x, y) }

// Scale returns c·x for a number c.
func (g *Graph) Scale(c float64, x Ref) Ref { return g.Mul(g.Const(c), x) }

// Square returns x².
func (g *Graph) Square(x Ref) Ref { return g.Do(OpSquare, nil, x) }

// Sqrt returns √x.
func (g *Graph) Sqrt(x Ref) Ref { return g.Do(OpSqrt, nil, x) }

// Inv returns 1/x.
func (g *Graph) Inv(x Ref) Ref { return g.Do(OpInv, nil, x) }

// Exp returns eˣ.
func (g *Graph) Exp(x Ref) Ref { return g.Do(OpExp, nil, x) }

// Log returns the natural logarithm of x.
func (g *Graph) Log(x Ref) Ref { return g.Do(OpLog, nil, x) }

// Detach returns x, which derivatives then treat as a constant.
func (g *Graph) Detach(x Ref) Ref { return g.Do(OpDetach, nil, x) }

// Slope returns 0, with derivative d with respect to x.
func (g *Graph) Slope(x, d Ref) Ref { return g.Do(OpSlope, nil, x, d) }

// maxAdjoint is the bound of BoundAdjoint. Sums of many products with probabilities stay finite.
const maxAdjoint = 1e300

// BoundAdjoint returns x. In reverse mode, the size of its adjoint is bounded, so that it is
// finite. It is for recurrences of probabilities that are scaled at each step. The adjoint of an
// element that is 0 may grow without bounds. It is later multiplied by that 0, and 0·Inf would be
// NaN.
func (g *Graph) BoundAdjoint(x Ref) Ref { return g.Do(OpBoundAdjoint, nil, x) }

// Less returns 1 where x < y, otherwise 0.
func (g *Graph) Less(x, y Ref) Ref { return g.Do(OpLess, nil, x, y) }

// Equal returns 1 where x == y, otherwise 0.
func (g *Graph) Equal(x, y Ref) Ref { return g.Do(OpEqual, nil, x, y) }

// Select returns a where c is not 0, otherwise b.
func (g *Graph) Select(c, a, b Ref) Ref { return g.Do(OpSelect, nil, c, a, b) }

// SelectFinite is Select for sides that are finite, with finite derivatives, wherever the other one
// is selected. So what they are computed from is not guarded against a side that was not taken.
func (g *Graph) SelectFinite(c, a, b Ref) Ref { return g.Do(OpSelect, finiteSides{}, c, a, b) }

// finiteSides is the attribute of a SelectFinite.
type finiteSides struct{}

// AppendKey implements Keyed.
func (finiteSides) AppendKey(b []byte) []byte { return append(b, 1) }

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// The domains of ops in tests: each function makes an argument from a standard normal number.
func anyReal(_ int, z float64) float64  { return 2 * z }
func positive(_ int, z float64) float64 { return math.Exp(z) }
func unit(_ int, z float64) float64     { return 0.5 + 0.49*math.Tanh(z) }

// un and bin make rows of ops with one and two arguments.
func un(name string, f func(float64) float64, d func(g *Graph, x, y Ref) Ref, dom func(int, float64) float64) Op {
	return Op{Name: name, Class: Elementwise, Arity: 1, F1: f, Domain: dom,
		Partials: func(g *Graph, out Ref, a []Ref) []Ref { return []Ref{d(g, a[0], out)} }}
}

func flat(name string, arity int) Op {
	return Op{Name: name, Class: Elementwise, Arity: arity, Domain: anyReal, Flat: true,
		Partials: func(*Graph, Ref, []Ref) []Ref { return []Ref{None, None, None}[:arity] }}
}

func flat1(name string, f func(float64) float64) Op { o := flat(name, 1); o.F1 = f; return o }
func flat2(name string, f func(x, y float64) float64) Op {
	o := flat(name, 2)
	o.F2 = f
	return o
}

// elementwiseOps returns the rows of arithmetic, comparison, exponentials and trigonometry.
// Partials use the argument x or the value y, whichever is cheaper and stays finite where the
// derivative does.
func elementwiseOps() map[OpCode]Op {
	return map[OpCode]Op{
		OpConst: {Name: "const", Class: Leaf, Arity: 0},
		OpInput: {Name: "input", Class: Leaf, Arity: 0},

		OpNeg: un("neg", func(x float64) float64 { return -x },
			func(g *Graph, x, y Ref) Ref { return g.Const(-1) }, anyReal),
		OpAdd: {Name: "add", Class: Elementwise, Arity: 2, F2: func(x, y float64) float64 { return x + y }, Domain: anyReal,
			Partials: func(g *Graph, _ Ref, a []Ref) []Ref { return []Ref{g.Const(1), g.Const(1)} }},
		OpSub: {Name: "sub", Class: Elementwise, Arity: 2, F2: func(x, y float64) float64 { return x - y }, Domain: anyReal,
			Partials: func(g *Graph, _ Ref, a []Ref) []Ref { return []Ref{g.Const(1), g.Const(-1)} }},
		OpMul: {Name: "mul", Class: Elementwise, Arity: 2, F2: func(x, y float64) float64 { return x * y }, Domain: anyReal,
			Partials: func(g *Graph, _ Ref, a []Ref) []Ref { return []Ref{a[1], a[0]} }},
		OpDiv: {Name: "div", Class: Elementwise, Arity: 2, F2: func(x, y float64) float64 { return x / y }, Domain: anyReal,
			Factors: func(g *Graph, out Ref, a []Ref) [][]Ref {
				i := g.Inv(a[1])
				return [][]Ref{{i}, {i, g.Neg(out)}}
			}},
		OpMulGuarded: {Name: "mul_guarded", Class: Elementwise, Arity: 2, Domain: anyReal,
			F2: func(x, y float64) float64 {
				if x == 0 {
					return 0
				}
				return x * y
			},
			// If x is 0 because its side of a choice was not taken, adj may be anything and so may
			// the adjoint of x. That does not matter: the select that made x 0 discards it.
			VJP: func(g *Graph, n *Node, _, adj Ref, need []bool) []Ref {
				x, y := n.Args[0], n.Args[1]
				return []Ref{g.Mul(adj, y), g.Do(OpMulGuarded, nil, x, adj)}
			}},
		OpAbs: un("abs", math.Abs, func(g *Graph, x, y Ref) Ref {
			zero := g.Const(0)
			return g.Sub(g.Less(zero, x), g.Less(x, zero))
		}, anyReal),
		OpSquare: un("square", func(x float64) float64 { return x * x },
			func(g *Graph, x, y Ref) Ref { return g.Scale(2, x) }, anyReal),
		OpSqrt: un("sqrt", math.Sqrt,
			func(g *Graph, x, y Ref) Ref { return g.Div(g.Const(0.5), y) }, positive),
		OpCbrt: un("cbrt", routines.Cbrt,
			func(g *Graph, x, y Ref) Ref { return g.Div(g.Const(1./3), g.Square(y)) }, positive),
		OpInv: {Name: "inv", Class: Elementwise, Arity: 1, F1: func(x float64) float64 { return 1 / x }, Domain: positive,
			Factors: func(g *Graph, y Ref, _ []Ref) [][]Ref { return [][]Ref{{y, g.Neg(y)}} }},
		OpPow: {Name: "pow", Class: Elementwise, Arity: 2, F2: kernel.Pow, Domain: positive,
			// ∂x = p x^p/x, ∂p = x^p log x. Where x is 0 both are 0, as in Stan, except for x
			// itself and its root.
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				x, p := a[0], a[1]
				is := func(v float64) Ref { return g.Equal(p, g.Const(v)) }
				at0 := g.Select(is(1), g.Const(1), g.Select(is(0.5), g.Const(math.Inf(1)), g.Const(0)))
				zero := g.Equal(x, g.Const(0))
				dx := g.Select(zero, at0, g.Mul(p, g.Div(out, x)))
				dp := g.Select(zero, g.Const(0), g.Mul(out, g.Log(x)))
				return []Ref{dx, dp}
			}},
		OpFmod: {Name: "fmod", Class: Elementwise, Arity: 2, F2: math.Mod, Domain: positive,
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				// -(x - out)/y is the derivative with respect to y, an integer except for rounding.
				// x/y could be rounded to the next integer.
				return []Ref{g.Const(1), g.Neg(g.Do(OpRound, nil, g.Div(g.Sub(a[0], out), a[1])))}
			}},
		OpFloor:  flat1("floor", math.Floor),
		OpDetach: flat1("detach", func(x float64) float64 { return x }),
		OpSlope: {Name: "slope", Class: Elementwise, Arity: 2, F2: func(x, d float64) float64 { return 0 }, Domain: anyReal,
			Partials: func(g *Graph, _ Ref, a []Ref) []Ref { return []Ref{a[1], None} }},
		OpBoundAdjoint: {Name: "bound_adjoint", Class: Elementwise, Arity: 1, F1: func(x float64) float64 { return x }, Domain: anyReal,
			VJP: func(g *Graph, _ *Node, _, adj Ref, _ []bool) []Ref {
				most, least := g.Const(maxAdjoint), g.Const(-maxAdjoint)
				return []Ref{g.Select(g.Less(most, adj), most, g.Select(g.Less(adj, least), least, adj))}
			}},
		OpCeil:  flat1("ceil", math.Ceil),
		OpRound: flat1("round", math.Round),
		OpTrunc: flat1("trunc", math.Trunc),
		OpMin: {Name: "fmin", Class: Elementwise, Arity: 2, Domain: anyReal,
			F2: func(x, y float64) float64 {
				if x < y || math.IsNaN(y) {
					return x
				}
				return y
			},
			Partials: func(g *Graph, _ Ref, a []Ref) []Ref {
				// Also if a[1] is NaN.
				first := g.Add(g.Less(a[0], a[1]), g.Do(OpNotEqual, nil, a[1], a[1]))
				return []Ref{first, g.Do(OpNot, nil, first)}
			}},
		OpMax: {Name: "fmax", Class: Elementwise, Arity: 2, Domain: anyReal,
			F2: func(x, y float64) float64 {
				if x > y || math.IsNaN(y) {
					return x
				}
				return y
			},
			Partials: func(g *Graph, _ Ref, a []Ref) []Ref {
				first := g.Add(g.Less(a[1], a[0]), g.Do(OpNotEqual, nil, a[1], a[1]))
				return []Ref{first, g.Do(OpNot, nil, first)}
			}},
		OpHypot: {Name: "hypot", Class: Elementwise, Arity: 2, F2: routines.Hypot, Domain: anyReal,
			Partials: func(g *Graph, out Ref, a []Ref) []Ref { return []Ref{g.Div(a[0], out), g.Div(a[1], out)} }},

		OpLess:      flat2("less", func(x, y float64) float64 { return truth(x < y) }),
		OpLessEqual: flat2("less_equal", func(x, y float64) float64 { return truth(x <= y) }),
		OpEqual:     flat2("equal", func(x, y float64) float64 { return truth(x == y) }),
		OpNotEqual:  flat2("not_equal", func(x, y float64) float64 { return truth(x != y) }),
		OpNot:       flat1("not", func(x float64) float64 { return truth(x == 0) }),
		OpIsNaN:     flat1("is_nan", func(x float64) float64 { return truth(math.IsNaN(x)) }),
		OpIsInf:     flat1("is_inf", func(x float64) float64 { return truth(math.IsInf(x, 0)) }),
		OpSelect: {Name: "select", Class: Elementwise, Arity: 3, Domain: anyReal,
			F3: func(c, a, b float64) float64 {
				if c != 0 {
					return a
				}
				return b
			},
			VJP: func(g *Graph, n *Node, _, adj Ref, need []bool) []Ref {
				c, zero := n.Args[0], g.Const(0)
				return []Ref{None, g.Select(c, adj, zero), g.Select(c, zero, adj)}
			}},

		OpExp: un("exp", math.Exp, func(g *Graph, x, y Ref) Ref { return y }, anyReal),
		OpExpm1: un("expm1", routines.Expm1,
			// Not y + 1, which cancels for x < 0.
			func(g *Graph, x, y Ref) Ref { return g.Exp(x) }, anyReal),
		OpExp2: un("exp2", routines.Exp2,
			func(g *Graph, x, y Ref) Ref { return g.Scale(math.Ln2, y) }, anyReal),
		OpLog:   un("log", routines.Log, func(g *Graph, x, y Ref) Ref { return g.Inv(x) }, positive),
		OpLog1p: un("log1p", routines.Log1p, func(g *Graph, x, y Ref) Ref { return g.Inv(g.Add(g.Const(1), x)) }, positive),
		OpLog2: un("log2", routines.Log2,
			func(g *Graph, x, y Ref) Ref { return g.Div(g.Const(math.Log2E), x) }, positive),
		OpLog10: un("log10", routines.Log10,
			func(g *Graph, x, y Ref) Ref { return g.Div(g.Const(math.Log10E), x) }, positive),
		OpLog1m: un("log1m", func(x float64) float64 { return routines.Log1p(-x) },
			func(g *Graph, x, y Ref) Ref { return g.Neg(g.Inv(g.Sub(g.Const(1), x))) }, unit),
		OpLog1pExp: un("log1p_exp", kernel.Log1pExp,
			func(g *Graph, x, y Ref) Ref { return g.Do(OpInvLogit, nil, x) }, anyReal),
		OpLog1mExp: un("log1m_exp", routines.Log1mExp,
			// This is -eˣ/(1 - eˣ), in a form that does not overflow for large |x|.
			func(g *Graph, x, y Ref) Ref { return g.Neg(g.Exp(g.Sub(x, y))) },
			func(_ int, z float64) float64 { return -math.Exp(z) }),
		OpLogDiffExp: {Name: "log_diff_exp", Class: Elementwise, Arity: 2, F2: kernel.LogDiffExp,
			Domain: func(arg int, z float64) float64 {
				if arg == 0 {
					return 3 + math.Exp(z)
				}
				return 1 - math.Exp(z)
			},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				d := g.Sub(a[1], a[0]) // this is negative
				l := g.Do(OpLog1mExp, nil, d)
				return []Ref{g.Exp(g.Neg(l)), g.Neg(g.Exp(g.Sub(d, l)))}
			}},
		OpLogAddExp: {Name: "log_sum_exp2", Class: Elementwise, Arity: 2, F2: kernel.LogAddExp, Domain: anyReal,
			// The derivative is inv_logit(x-y), but 1/2 for equal infinities, where that would be
			// NaN; hence OpDistance. (A select that replaces the difference of equal numbers by 0
			// would also make their second derivatives 0.)
			Partials: func(g *Graph, out Ref, a []Ref) []Ref {
				d := g.Do(OpDistance, nil, a[0], a[1])
				return []Ref{g.Do(OpInvLogit, nil, d), g.Do(OpInvLogit, nil, g.Neg(d))}
			}},
		OpDistance: {Name: "distance", Class: Elementwise, Arity: 2, Domain: anyReal,
			F2: func(x, y float64) float64 {
				if x == y {
					return 0
				}
				return x - y
			},
			Partials: func(g *Graph, out Ref, a []Ref) []Ref { return []Ref{g.Const(1), g.Const(-1)} }},
		// The derivative is y (1 - y) with the rounded y, as in a program that continues with 1 -
		// y. With inv_logit(-x) in place of 1 - y it would differ where y is nearly 1: the
		// derivative of log(1 - y), which is -y, would become -y/2 or -2y.
		OpInvLogit: un("inv_logit", kernel.InvLogit,
			func(g *Graph, x, y Ref) Ref { return g.Mul(y, g.Sub(g.Const(1), y)) }, anyReal),
		OpLogInvLogit: un("log_inv_logit", func(x float64) float64 { return -kernel.Log1pExp(-x) },
			func(g *Graph, x, y Ref) Ref { return g.Do(OpInvLogit, nil, g.Neg(x)) }, anyReal),
		OpLog1mInvLogit: un("log1m_inv_logit", func(x float64) float64 { return -kernel.Log1pExp(x) },
			func(g *Graph, x, y Ref) Ref { return g.Neg(g.Do(OpInvLogit, nil, x)) }, anyReal),
		OpLogit: un("logit", func(p float64) float64 { return routines.Log(p / (1 - p)) },
			func(g *Graph, x, y Ref) Ref { return g.Inv(g.Mul(x, g.Sub(g.Const(1), x))) }, unit),

		OpSin: un("sin", routines.Sin, func(g *Graph, x, y Ref) Ref { return g.Do(OpCos, nil, x) }, anyReal),
		OpCos: un("cos", routines.Cos, func(g *Graph, x, y Ref) Ref { return g.Neg(g.Do(OpSin, nil, x)) }, anyReal),
		OpTan: un("tan", routines.Tan,
			func(g *Graph, x, y Ref) Ref { return g.Add(g.Const(1), g.Square(y)) },
			func(_ int, z float64) float64 { return math.Tanh(z) }),
		OpAsin: un("asin", routines.Asin,
			func(g *Graph, x, y Ref) Ref { return g.Inv(g.Sqrt(g.Sub(g.Const(1), g.Square(x)))) },
			func(_ int, z float64) float64 { return 0.95 * math.Tanh(z) }),
		OpAcos: un("acos", routines.Acos,
			func(g *Graph, x, y Ref) Ref { return g.Neg(g.Inv(g.Sqrt(g.Sub(g.Const(1), g.Square(x))))) },
			func(_ int, z float64) float64 { return 0.95 * math.Tanh(z) }),
		OpAtan: un("atan", routines.Atan,
			func(g *Graph, x, y Ref) Ref { return g.Inv(g.Add(g.Const(1), g.Square(x))) }, anyReal),
		OpAtan2: {Name: "atan2", Class: Elementwise, Arity: 2, F2: routines.Atan2, Domain: positive,
			// As factors, since the squares may overflow.
			Factors: func(g *Graph, out Ref, a []Ref) [][]Ref {
				r := g.Inv(g.Do(OpHypot, nil, a...))
				return [][]Ref{{g.Mul(a[1], r), r}, {g.Mul(a[0], r), g.Neg(r)}}
			}},
		OpSinh: un("sinh", routines.Sinh, func(g *Graph, x, y Ref) Ref { return g.Do(OpCosh, nil, x) }, anyReal),
		OpCosh: un("cosh", routines.Cosh, func(g *Graph, x, y Ref) Ref { return g.Do(OpSinh, nil, x) }, anyReal),
		// 1 - y² would cancel in the tails, so the derivative is a separate op.
		OpTanh: un("tanh", routines.Tanh, func(g *Graph, x, y Ref) Ref { return g.Do(OpTanhSlope, nil, x) }, anyReal),
		OpTanhSlope: un("tanh_slope", routines.TanhSlope,
			func(g *Graph, x, y Ref) Ref { return g.Mul(g.Scale(-2, g.Do(OpTanh, nil, x)), y) }, anyReal),
		OpAsinh: un("asinh", routines.Asinh,
			func(g *Graph, x, y Ref) Ref { return g.Inv(g.Do(OpHypot, nil, x, g.Const(1))) }, anyReal),
		OpAcosh: un("acosh", routines.Acosh,
			func(g *Graph, x, y Ref) Ref {
				return g.Inv(g.Mul(g.Sqrt(g.Sub(x, g.Const(1))), g.Sqrt(g.Add(x, g.Const(1)))))
			},
			func(_ int, z float64) float64 { return 1.1 + math.Exp(z) }),
		OpAtanh: un("atanh", routines.Atanh,
			func(g *Graph, x, y Ref) Ref { return g.Inv(g.Sub(g.Const(1), g.Square(x))) },
			func(_ int, z float64) float64 { return 0.95 * math.Tanh(z) }),

		OpRandom: {Name: "random", Class: Random, Arity: -1},
	}
}
