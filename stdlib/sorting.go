package stdlib

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// sorted returns the elements of `of` in the order that sorts x; with `of` = x it sorts x. Equal
// elements are in Stan's order (see ad.OpOrder).
func sorted(b *Builder, x, of ad.Ref, descending bool) ad.Ref {
	check(b.G, b.Name, "container argument", types.NotNaN, x)
	if b.G.Type(x).Size() < 2 {
		return of
	}
	return b.G.Take(of, b.G.Do(ad.OpOrder, ad.OrderAttr{Descending: descending}, x))
}

// positions returns 1, 2, …, n.
func positions(g *ad.Graph, n int) ad.Ref {
	v := g.Array(n)
	for i := range v {
		v[i] = float64(i + 1)
	}
	return g.ConstArray(ad.Type{Shape: []int{n}}, v)
}

// sorting declares the functions of the order of elements.
func sorting() []Func {
	ints := tInt.Array(1)
	over := list(tVec, tRow, tReal.Array(1), ints)
	sort := func(descending bool) build {
		return func(b *Builder, a []Arg) ad.Ref { return sorted(b, a[0].Ref, a[0].Ref, descending) }
	}
	indices := func(descending bool) build {
		return func(b *Builder, a []Arg) ad.Ref {
			return sorted(b, a[0].Ref, positions(b.G, b.size(a[0])), descending)
		}
	}
	rank := func(b *Builder, a []Arg) ad.Ref {
		g := b.G
		return g.Sum(g.Less(a[0].Ref, b.part(a, 0, b.position(a, 1, 0, b.size(a[0])))))
	}
	var fs []Func
	fs = append(fs, fixedEach("sort_asc", "The elements in ascending order.", types.Type{}, over, nil, sort(false))...)
	fs = append(fs, fixedEach("sort_desc", "The elements in descending order.", types.Type{}, over, nil, sort(true))...)
	fs = append(fs, fixedEach("sort_indices_asc", "The positions of the elements in ascending order.", ints, over, nil, indices(false))...)
	fs = append(fs, fixedEach("sort_indices_desc", "The positions of the elements in descending order.", ints, over, nil, indices(true))...)
	fs = append(fs, fixedEach("rank", "The number of elements that are less than element s.", tInt, over, list(tInt), rank)...)
	const quantDoc = "The sample quantile of probability p, interpolated (type 7 of Hyndman & Fan 1996)."
	for _, t := range realRows {
		fs = append(fs,
			fixed("quantile", quantDoc, tReal, list(t, tReal), quantile).in(types.Constraint{}, types.UnitInterval),
			fixed("quantile", quantDoc, tReal.Array(1), list(t, tReal.Array(1)), quantile).in(types.Constraint{}, types.UnitInterval))
	}
	return fs
}

// quantile interpolates between the order statistics next to (n-1)p: with
// weights max(0, 1 - |(n-1)p - k|).
func quantile(b *Builder, a []Arg) ad.Ref {
	g, n, p := b.G, b.size(a[0]), a[1].Ref
	if n == 0 {
		b.Fail("the samples must not be empty")
	}
	check(g, b.Name, "samples_vec", types.NotNaN, a[0].Ref)
	check(g, b.Name, "p", types.UnitInterval, p)
	x := sorted(b, a[0].Ref, a[0].Ref, false)
	at := g.Scale(float64(n-1), p)
	k := plus(g, positions(g, n), -1)
	weights := func(at, k ad.Ref) ad.Ref {
		w := g.Sub(g.Const(1), g.Do(ad.OpAbs, nil, g.Sub(at, k)))
		return g.Do(ad.OpMax, nil, g.Const(0), w)
	}
	if len(b.shape(a[1])) == 0 {
		return g.Dot(weights(at, k), x)
	}
	shape := []int{b.size(a[1]), n}
	w := weights(alongCols(g, at, shape), alongRows(g, k, shape))
	return g.MatVec(w, x)
}
