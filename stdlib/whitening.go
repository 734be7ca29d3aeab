package stdlib

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
)

// Expected information that is not element by element, as linear maps of the
// tangents of the arguments (ad.Statement.Whiten). Here that of vectors that are
// normal: about the location it is that of the whitened difference; about the
// scatter half the sum of the squares of L⁻¹ dΣ L⁻ᵀ, once per vector (Magnus &
// Neudecker, Matrix Differential Calculus, 3rd ed., ch. 15).

// multiNormalStatements are Func.Statements of multi_normal in the named
// parametrisation.
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
				if g.Type(x).Size() < n*k { // one location for all vectors
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
