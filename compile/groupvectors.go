package compile

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/bind"
)

// vectorNormal lists the densities of vectors that are sequences of conditional normal densities.
// The value says whether the matrix is the Cholesky factor of the covariance.
var vectorNormal = map[string]bool{"multi_normal_lpdf": false, "multi_normal_cholesky_lpdf": true}

// vectors finds the effects that are components of the variates of statement s. With L the Cholesky
// factor of the covariance, component c of a vector θ ~ multi_normal(μ, LLᵀ) has, given the
// components before it, the distribution normal(μ_c + Σ L_cj z_j, L_cc), with the sum over j < c
// and z_j = (θ_j - location_j)/L_jj. So component c of all vectors is a group of effects, and
// depends on the groups of the components before it. There may be at most maxLevels components.
func (t *tracer) vectors(s ad.Statement, call bind.Call, depends func(element) bool) (groups []*group) {
	factor, ok := vectorNormal[call.Name]
	if !ok || call.Weighted || len(s.Args) != 3 {
		return nil
	}
	y, mu, l := s.Args[0], s.Args[1], s.Args[2]
	of, at, matrix := t.g.Type(y), t.g.Type(mu), t.g.Type(l)
	all, k := t.origins[y], matrix.Shape[0]
	if len(all) == 0 || k > maxLevels || of.Lanes == 0 && at.Lanes+matrix.Lanes > 0 || at.Size() != k && at.Size() != of.Size() {
		return nil // too many components, or one variate with many densities
	}
	varies := false
	for e := range matrix.Total() {
		varies = varies || depends(element{l, e})
	}
	if !varies {
		return nil
	}
	if !factor {
		l = t.g.Cholesky(l)
	}
	n, each := len(all)/k, of.Size()/k // the number of vectors, and of those in a lane
	same := func(r ad.Ref) ad.Ref { return r }
	column := func(f func(i int) element) ad.Ref {
		elements := make([]element, n)
		for i := range elements {
			elements[i] = t.canonical(f(i))
		}
		return pick(t.g, elements, same)
	}
	scale := func(row, c int) func(i int) element {
		return func(i int) element {
			at := row*k + c
			if matrix.Lanes > 0 {
				at += i / each * k * k
			}
			return element{l, at}
		}
	}
	var standard []ad.Ref
	for c := range k {
		location := column(func(i int) element {
			lane, row := i/each, i%each
			if at.Lanes == 0 {
				lane = 0
			}
			if at.Size() == k {
				row = 0
			}
			return element{mu, lane*at.Size() + row*k + c}
		})
		for j, z := range standard {
			location = t.g.Add(location, t.g.Mul(column(scale(c, j)), z))
		}
		standard = append(standard, t.g.Div(t.g.Sub(column(func(i int) element { return element{y, i*k + c} }), location), column(scale(c, c))))
		s := &group{Group: Group{Span: call.At, Density: call.Name[:len(call.Name)-len("_lpdf")], Centred: true}}
		for i := range n {
			if o := all[i*k+c]; o.i >= 0 && o.how == asItIs {
				s.Elements = append(s.Elements, int(o.i))
				s.location = append(s.location, t.canonical(element{location, i}))
				s.scale = append(s.scale, t.canonical(scale(c, c)(i)))
			}
		}
		groups = append(groups, s)
	}
	return groups
}
