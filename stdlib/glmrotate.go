package stdlib

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
)

// maxRotation bounds the work of a QR factorisation when a model is bound, in
// numbers times columns.
const maxRotation = 2e8

// normalGLM are the terms of the normal linear model; done is false where it is
// not one of known x and y with one alpha and one sigma. A rotation of outcomes
// and predictors by Qᵀ, for [1 x y] = Q R, changes no sum of squares of residuals and
// leaves as many rows as R has, the last of which is what no coefficient reaches. So a
// gradient takes the time of as many rows as there are columns. It is as accurate as
// the sum over the data, unlike products of xᵀx.
func (b *Builder) normalGLM(a []Arg) (terms []ad.Ref, done bool) {
	g := b.G
	y, okY := g.Value(a[0].Ref)
	x, okX := g.Value(a[1].Ref)
	if !okX || !okY || g.Type(a[0].Ref).Lanes+g.Type(a[1].Ref).Lanes > 0 || len(b.shape(a[2])) > 0 || len(b.shape(a[4])) > 0 {
		return nil, false
	}
	shape := b.shape(a[1])
	if len(shape) != 2 || len(b.shape(a[0])) != 1 || shape[0] != len(y) || shape[1] != b.size(a[3]) {
		return nil, false // also what linear and terms complain of
	}
	n, k := shape[0], shape[1]
	r := k + 2
	if n <= r || float64(n)*float64(r)*float64(r) > maxRotation {
		return nil, false
	}
	columns := make([][]float64, r)
	for j := range columns {
		columns[j] = make([]float64, n)
		for i := range n {
			v := 1.0
			switch {
			case j == k+1:
				v = y[i]
			case j > 0:
				v = x[i*k+j-1]
			}
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, false
			}
			columns[j][i] = v
		}
	}
	triangle(columns)
	part := func(from, to int) ad.Ref {
		data := make([]float64, 0, r*(to-from))
		for i := range r {
			for j := from; j < to; j++ {
				data = append(data, columns[j][i])
			}
		}
		return g.ConstArray(ad.Type{Shape: []int{r, to - from}}, data)
	}
	column := func(j int) ad.Ref { return g.Reshape(part(j, j+1), []int{r}) }
	mu := g.Add(g.MatVec(part(1, k+1), a[3].Ref), g.Mul(a[2].Ref, column(0)))
	terms = normal.terms(b, []Arg{
		{Type: tVec, Ref: column(k + 1), Param: a[0].Param},
		{Type: tVec, Ref: mu, Param: a[1].Param || a[2].Param || a[3].Param},
		a[4]})
	if b.Propto && param(a) == 0 {
		return terms, true
	}
	if !b.Propto || a[4].Param {
		terms = append(terms, g.Scale(-float64(n-r), g.Log(a[4].Ref)))
	}
	if !b.Propto {
		terms = append(terms, g.Const(-float64(n-r)*logSqrt2Pi))
	}
	return terms, true
}

// triangle makes R of the columns of a matrix with more rows than columns, in their
// first rows, by Householder reflections.
func triangle(columns [][]float64) {
	for j, c := range columns {
		c = c[j:]
		norm := 0.0
		for _, v := range c {
			norm = math.Hypot(norm, v)
		}
		if norm == 0 {
			continue
		}
		if c[0] > 0 {
			norm = -norm
		}
		// v = c - norm·e₁; H = 1 - 2 v vᵀ/vᵀv, vᵀv = -2 norm (c₀ - norm)
		c[0] -= norm
		for _, d := range columns[j+1:] {
			d = d[j:]
			s := 0.0
			for i, v := range c {
				s += v / norm * d[i]
			}
			s /= c[0]
			for i, v := range c {
				d[i] += s * v
			}
		}
		c[0] = norm
		clear(c[1:])
	}
}
