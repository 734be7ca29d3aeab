package stdlib

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: covariance functions of Gaussian processes. The covariance of a list of points with
// itself is computed once for every pair, and copied to both positions. Its diagonal is the squared
// magnitude.

// pairs describes pairs of points from two lists, as positions in the points' arrays, and the shape
// of the matrix that their values fill.
type pairs struct {
	from, to []int
	shape    []int
	same     bool // both lists are the same, so only pairs below the diagonal are needed
}

func pairsOf(n, m int, same bool) pairs {
	p := pairs{shape: []int{n, m}, same: same}
	for i := range n {
		to := m
		if same {
			to = i
		}
		for j := range to {
			p.from, p.to = append(p.from, i), append(p.to, j)
		}
	}
	return p
}

// matrix makes a matrix from the values of the pairs and of the diagonal.
func (p pairs) matrix(g *ad.Graph, v, diagonal ad.Ref) ad.Ref {
	if !p.same {
		return g.Reshape(v, p.shape)
	}
	n := p.shape[0]
	g.Reserve(12, n, n)
	table := make([]int, 0, n*n)
	for i := range n {
		for j := range n {
			lo, hi := min(i, j), max(i, j)
			at := len(p.from) // the element of the diagonal follows the pairs
			if lo < hi {
				at = hi*(hi-1)/2 + lo
			}
			table = append(table, at)
		}
	}
	return g.Reshape(g.Gather(g.Concat(v, diagonal), tableOf(table...)), p.shape)
}

// points returns the numbers of x as [n d], divided by length scales if there are several.
func (b *Builder) points(x Arg, scales ad.Ref) (p ad.Ref, n, d int) {
	check(b.G, b.Name, "x", types.NotNaN, x.Ref)
	s := b.shape(x)
	n, d = s[0], 1
	if len(s) == 2 {
		d = s[1]
	}
	p = b.G.Reshape(x.Ref, []int{n, d})
	if scales != ad.None && n > 0 {
		if k := b.G.Type(scales).Size(); k != d {
			b.Fail("x dimension is %d, but there are %d length scales", d, k)
		}
		p = b.G.Mul(p, alongRows(b.G, b.G.Inv(scales), []int{n, d}))
	}
	return p, n, d
}

// squares returns the squared distances of pairs of points.
func (b *Builder) squares(x1, x2 Arg, same bool, scales ad.Ref) (ad.Ref, pairs) {
	g := b.G
	p1, n, d := b.points(x1, scales)
	p2, m, e := b.points(x2, scales)
	if n > 0 && m > 0 && d != e {
		b.Fail("the points have %d and %d dimensions", d, e)
	}
	b.G.Reserve(48, n, m)
	ps := pairsOf(n, m, same)
	take := func(p ad.Ref, at []int) ad.Ref {
		ix := ad.Index{Dims: []ad.Dim{{N: len(at), Table: make([]int32, len(at))}, {N: d, Stride: 1}}}
		for i, k := range at {
			ix.Dims[0].Table[i] = int32(k * d)
		}
		return g.Gather(p, ix)
	}
	return sumRows(g, g.Square(g.Sub(take(p1, ps.from), take(p2, ps.to)))), ps
}

// distances returns square roots, with derivative 0 at 0.
func distances(g *ad.Graph, squares ad.Ref) ad.Ref {
	if _, ok := g.Value(squares); ok {
		return g.Sqrt(squares)
	}
	zero := g.Const(0)
	return g.Select(g.Equal(squares, zero), zero, g.Sqrt(squares))
}

// covariance declares a function of the distance of points. value returns the correlation for a
// squared distance and the inverse of the length scale, which is 1 if the points have been divided
// by several scales.
func covariance(name, doc string, value func(g *ad.Graph, squares, invScale ad.Ref) ad.Ref) []Func {
	var fs []Func
	add := func(x types.Type, two bool, scale types.Type) {
		ts := list(x)
		if two {
			ts = list(x, x)
		}
		k := len(ts)
		in := make([]types.Constraint, k+2)
		in[k], in[k+1] = types.Positive, types.Positive
		fs = append(fs, fixed(name, doc, tMat, append(ts, tReal, scale), func(b *Builder, a []Arg) ad.Ref {
			g, sigma, l := b.G, a[k].Ref, a[k+1].Ref
			check(g, b.Name, "magnitude", types.Positive, sigma)
			check(g, b.Name, "length scale", types.Positive, l)
			scales, inv := ad.None, ad.None
			if scale.Dims > 0 {
				scales, inv = l, g.Const(1)
			} else {
				inv = g.Inv(l)
			}
			sq, ps := b.squares(a[0], a[k-1], !two, scales)
			magnitude := g.Square(sigma)
			return ps.matrix(g, g.Mul(magnitude, value(g, sq, inv)), magnitude)
		}).in(in...))
	}
	for _, two := range []bool{false, true} {
		add(tReal.Array(1), two, tReal)
		add(tVec.Array(1), two, tReal)
		add(tVec.Array(1), two, tReal.Array(1))
	}
	return fs
}

// gaussianProcesses declares the covariance functions.
func gaussianProcesses() []Func {
	scaled := func(g *ad.Graph, c float64, sq, inv ad.Ref) ad.Ref {
		return g.Mul(g.Scale(c, inv), distances(g, sq))
	}
	var fs []Func
	fs = append(fs, covariance("gp_exp_quad_cov", "The exponentiated quadratic covariance σ² exp(-d²/2l²), for points, magnitude σ and length scale l.",
		func(g *ad.Graph, sq, inv ad.Ref) ad.Ref { return g.Exp(g.Mul(g.Scale(-0.5, g.Square(inv)), sq)) })...)
	fs = append(fs, covariance("gp_exponential_cov", "The exponential covariance σ² exp(-d/l), for points, magnitude σ and length scale l.",
		func(g *ad.Graph, sq, inv ad.Ref) ad.Ref { return g.Exp(scaled(g, -1, sq, inv)) })...)
	fs = append(fs, covariance("gp_matern32_cov", "The Matérn 3/2 covariance σ² (1 + r) exp(-r), r = √3 d/l, for points, magnitude σ and length scale l.",
		func(g *ad.Graph, sq, inv ad.Ref) ad.Ref {
			r := scaled(g, math.Sqrt(3), sq, inv)
			return g.Mul(plus(g, r, 1), g.Exp(g.Neg(r)))
		})...)
	fs = append(fs, covariance("gp_matern52_cov", "The Matérn 5/2 covariance σ² (1 + r + r²/3) exp(-r), r = √5 d/l, for points, magnitude σ and length scale l.",
		func(g *ad.Graph, sq, inv ad.Ref) ad.Ref {
			r := scaled(g, math.Sqrt(5), sq, inv)
			return g.Mul(g.Add(plus(g, r, 1), g.Scale(1./3, g.Square(r))), g.Exp(g.Neg(r)))
		})...)
	for _, x := range list(tReal.Array(1), tVec.Array(1)) {
		for _, two := range []bool{false, true} {
			fs = append(fs, periodic(x, two), dotProducts(x, two))
		}
	}
	return fs
}

// periodic declares σ² exp(-2 sin²(π d/p)/l²).
func periodic(x types.Type, two bool) Func {
	ts := list(x)
	if two {
		ts = list(x, x)
	}
	k := len(ts)
	in := make([]types.Constraint, k+3)
	in[k], in[k+1], in[k+2] = types.Positive, types.Positive, types.Positive
	return fixed("gp_periodic_cov", "The periodic covariance σ² exp(-2 sin²(π d/p)/l²), for points, magnitude σ, length scale l and period p.",
		tMat, append(ts, tReal, tReal, tReal), func(b *Builder, a []Arg) ad.Ref {
			g, sigma, l, p := b.G, a[k].Ref, a[k+1].Ref, a[k+2].Ref
			check(g, b.Name, "signal standard deviation", types.Positive, sigma)
			check(g, b.Name, "length-scale", types.Positive, l)
			check(g, b.Name, "period", types.Positive, p)
			sq, ps := b.squares(a[0], a[k-1], !two, ad.None)
			s := g.Do(ad.OpSin, nil, g.Mul(g.Scale(math.Pi, g.Inv(p)), distances(g, sq)))
			magnitude := g.Square(sigma)
			v := g.Mul(magnitude, g.Exp(g.Mul(g.Scale(-2, g.Square(g.Inv(l))), g.Square(s))))
			return ps.matrix(g, v, magnitude)
		}).in(in...)
}

// dotProducts declares σ² + x·y.
func dotProducts(x types.Type, two bool) Func {
	ts := list(x)
	if two {
		ts = list(x, x)
	}
	k := len(ts)
	in := make([]types.Constraint, k+1)
	in[k] = types.Positive
	return fixed("gp_dot_prod_cov", "The dot product covariance σ² + x·y, for points and σ.", tMat, append(ts, tReal), func(b *Builder, a []Arg) ad.Ref {
		g := b.G
		check(g, b.Name, "sigma", types.NonNegativeFinite, a[k].Ref)
		p1, _, _ := b.points(a[0], ad.None)
		p2, _, _ := b.points(a[k-1], ad.None)
		return g.Add(g.Square(a[k].Ref), g.MatMul(p1, g.Transpose(p2)))
	}).in(in...)
}
