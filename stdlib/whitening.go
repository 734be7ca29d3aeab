package stdlib

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
)

// This file: expected information that is not elementwise, as linear maps of the tangents of the
// arguments (ad.Statement.Whiten). For normal vectors, the information about the location is that
// of the whitened difference. The information about the scatter is half the sum of the squares of
// L⁻¹ dΣ L⁻ᵀ, once for each vector (Magnus & Neudecker, Matrix Differential Calculus, 3rd ed., ch.
// 15).

// multiNormalStatements returns Func.Statements of multi_normal in the named parametrisation.
func multiNormalStatements(form string) func(b *Builder, a []Arg) []ad.Statement {
	factor := func(g *ad.Graph, m ad.Ref) ad.Ref {
		if form == "_cholesky" {
			return m
		}
		return g.Cholesky(m)
	}
	return func(b *Builder, a []Arg) []ad.Statement {
		k := b.shape(a[2])[0]
		n := 1
		for _, x := range a[:2] {
			n = max(n, b.size(x)/max(k, 1))
		}
		if k == 0 || b.size(a[0]) == 0 {
			return nil
		}
		location := func(g *ad.Graph, args, t []ad.Ref) []ad.Ref {
			rows := func(x ad.Ref) ad.Ref {
				if g.Type(x).Size() < n*k { // all vectors share one location
					return g.Gather(x, dims(0, n, 0, k, 1))
				}
				return g.Reshape(x, []int{n, k})
			}
			var d ad.Ref
			switch y, mu := t[0], t[1]; {
			case y == ad.None && mu == ad.None:
				return nil
			case y == ad.None:
				d = rows(mu)
			case mu == ad.None:
				d = rows(y)
			default:
				d = g.Sub(rows(y), rows(mu))
			}
			l := factor(g, args[2])
			if form == "_prec" {
				return []ad.Ref{g.MatMul(d, l)}
			}
			return []ad.Ref{(&Builder{G: g}).lowerScatter(l).whiten(d)}
		}
		scatter := func(g *ad.Graph, args, t []ad.Ref) []ad.Ref {
			if t[0] == ad.None {
				return nil
			}
			l := factor(g, args[0])
			var w ad.Ref
			if form == "_cholesky" {
				m := g.TriSolve(l, lowerTriangle(g, t[0]), ad.TriAttr{})
				w = g.Add(m, g.Transpose(m))
			} else {
				w = g.TriSolve(l, g.TriSolve(l, t[0], ad.TriAttr{}), ad.TriAttr{Trans: true, Right: true})
			}
			return []ad.Ref{g.Scale(math.Sqrt(float64(n)/2), w)}
		}
		return []ad.Statement{{Args: refs(a), Whiten: location}, {Args: refs(a[2:]), Whiten: scatter}}
	}
}

// whitenedLogits whitens tangents t of rows of logits. The information about one row is diag p -
// ppᵀ, with p its softmax.
func whitenedLogits(g *ad.Graph, logits, t ad.Ref) ad.Ref {
	s := g.Type(logits).Shape
	p := g.Exp(g.Sub(logits, alongCols(g, g.LogSumExp(logits), s)))
	mean := sumRows(g, g.Mul(p, t))
	return g.Mul(g.Sqrt(p), g.Sub(t, alongCols(g, mean, s)))
}

// logitStatements returns the statements for a vector of logits; times computes the number of
// outcomes.
func logitStatements(logits ad.Ref, times func(g *ad.Graph, args []ad.Ref) ad.Ref, more ...ad.Ref) []ad.Statement {
	return []ad.Statement{{Args: append([]ad.Ref{logits}, more...), Whiten: func(g *ad.Graph, args, t []ad.Ref) []ad.Ref {
		if t[0] == ad.None {
			return nil
		}
		row := []int{1, g.Type(args[0]).Size()}
		z := whitenedLogits(g, g.Reshape(args[0], row), g.Reshape(t[0], row))
		return []ad.Ref{g.Mul(z, g.Sqrt(times(g, args)))}
	}}}
}

// categoricalLogitStatements is Func.Statements of categorical_logit.
func categoricalLogitStatements(b *Builder, a []Arg) []ad.Statement {
	n := float64(b.size(a[0]))
	if n == 0 {
		return nil
	}
	return logitStatements(a[1].Ref, func(g *ad.Graph, _ []ad.Ref) ad.Ref { return g.Const(n) })
}

// categoricalStatements and multinomialStatements are Func.Statements of distributions of
// probabilities θ. For tangents that add up to 0, the mean of the products of the scores y/θ is
// diag(1/θ) times the number of outcomes.
func categoricalStatements(b *Builder, a []Arg) []ad.Statement {
	if b.size(a[0]) == 0 {
		return nil
	}
	return proportionStatements(a[1].Ref, b.G.Const(float64(b.size(a[0]))))
}

func multinomialStatements(b *Builder, a []Arg) []ad.Statement {
	if b.size(a[0]) == 0 {
		return nil
	}
	return proportionStatements(a[1].Ref, b.G.Sum(a[0].Ref))
}

func proportionStatements(theta, times ad.Ref) []ad.Statement {
	return []ad.Statement{{Args: []ad.Ref{theta, times}, Whiten: func(g *ad.Graph, args, t []ad.Ref) []ad.Ref {
		if t[0] == ad.None {
			return nil
		}
		return []ad.Ref{g.Mul(t[0], g.Sqrt(g.Div(args[1], args[0])))}
	}}}
}

// multinomialLogitStatements is Func.Statements of multinomial_logit.
func multinomialLogitStatements(b *Builder, a []Arg) []ad.Statement {
	if b.size(a[0]) == 0 {
		return nil
	}
	return logitStatements(a[1].Ref, func(g *ad.Graph, args []ad.Ref) ad.Ref { return g.Sum(args[1]) }, a[0].Ref)
}

// categoricalLogitGLMStatements is Func.Statements of categorical_logit_glm.
func categoricalLogitGLMStatements(b *Builder, a []Arg) []ad.Statement {
	g := b.G
	p := g.MatMul(b.asMatrix(a[1]), a[3].Ref)
	s := g.Type(p).Shape
	n := s[0]
	if len(b.shape(a[0])) > 0 {
		n = b.size(a[0])
	}
	if n == 0 || s[0] == 0 {
		return nil
	}
	times := math.Sqrt(float64(n) / float64(s[0])) // all outcomes share one row
	return []ad.Statement{{Args: []ad.Ref{g.Add(p, alongRows(g, a[2].Ref, s))}, Whiten: func(g *ad.Graph, args, t []ad.Ref) []ad.Ref {
		if t[0] == ad.None {
			return nil
		}
		return []ad.Ref{g.Scale(times, whitenedLogits(g, args[0], t[0]))}
	}}}
}

// orderedLogisticStatements and orderedProbitStatements are Func.Statements of ordered_logistic and
// ordered_probit.
func orderedLogisticStatements(b *Builder, a []Arg) []ad.Statement {
	return b.orderedStatements(a, op1(ad.OpInvLogit), func(g *ad.Graph, x, below, above ad.Ref) ad.Ref { return g.Mul(below, above) },
		func(g *ad.Graph, x0, x1, below, above ad.Ref) ad.Ref {
			// This form does not cancel.
			return g.Mul(g.Mul(below, above), g.Neg(g.Do(ad.OpExpm1, nil, g.Sub(x0, x1))))
		})
}

func orderedProbitStatements(b *Builder, a []Arg) []ad.Statement {
	phi := op1(ad.OpPhi)
	return b.orderedStatements(a, phi, func(g *ad.Graph, x, _, _ ad.Ref) ad.Ref {
		return g.Exp(plus(g, g.Scale(-0.5, g.Square(x)), -logSqrt2Pi))
	}, func(g *ad.Graph, x0, x1, below, above ad.Ref) ad.Ref {
		return g.Select(g.Less(g.Const(0), x0), g.Sub(above, phi(g, g.Neg(x1))), g.Sub(below, phi(g, x0)))
	})
}

// orderedStatements returns the statements for a latent variable with distribution function cdf.
// slopeAt is the slope of cdf, and inside the probability of an interval from x0 to x1. below is
// the probability of less than x1, and above that of more than x0.
func (b *Builder) orderedStatements(a []Arg, cdf fun1, slopeAt func(g *ad.Graph, x, below, above ad.Ref) ad.Ref,
	inside func(g *ad.Graph, x0, x1, below, above ad.Ref) ad.Ref) []ad.Statement {
	n, k := b.size(a[1]), b.size(a[2])
	if n == 0 || k == 0 || b.size(a[0]) == 0 || len(b.shape(a[2])) != 1 {
		return nil
	}
	times := math.Sqrt(float64(b.size(a[0])) / float64(n)) // all outcomes share one location
	return []ad.Statement{{Args: []ad.Ref{a[1].Ref, a[2].Ref}, Whiten: func(g *ad.Graph, args, t []ad.Ref) []ad.Ref {
		if t[0] == ad.None && t[1] == ad.None {
			return nil
		}
		s := []int{n, k}
		minus := func(cuts, locations ad.Ref) ad.Ref {
			switch {
			case cuts == ad.None:
				return g.Neg(alongCols(g, g.Reshape(locations, []int{n}), s))
			case locations == ad.None:
				return alongRows(g, cuts, s)
			}
			return g.Sub(alongRows(g, cuts, s), alongCols(g, g.Reshape(locations, []int{n}), s))
		}
		x := minus(args[1], args[0]) // cut points relative to the locations
		below, above := cdf(g, x), cdf(g, g.Neg(x))
		slope := g.Mul(slopeAt(g, x, below, above), minus(t[1], t[0]))
		column := func(m ad.Ref, i int) ad.Ref { return g.Gather(m, dims(i, n, k)) }
		var z []ad.Ref
		for i := range k + 1 {
			p, d := g.Const(1), g.Const(0)
			if i < k {
				p, d = g.Mul(p, column(below, i)), g.Add(d, column(slope, i))
			}
			if i > 0 {
				p, d = g.Mul(p, column(above, i-1)), g.Sub(d, column(slope, i-1))
			}
			if 0 < i && i < k {
				p = inside(g, column(x, i-1), column(x, i), column(below, i), column(above, i-1))
			}
			z = append(z, g.Scale(times, g.Select(g.Less(g.Const(0), p), g.Div(d, g.Sqrt(p)), g.Const(0))))
		}
		return z
	}}}
}
