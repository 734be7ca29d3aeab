package stdlib

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// Order statistics. What is constant is sorted now. Otherwise an element's rank
// is the number of elements that stand before it, counted by n² comparisons, so
// that the derivative is that of the permutation; no op sorts.

// sorted returns the element of x at each rank, or with of the element of of.
func sorted(b *Builder, x, of ad.Ref, descending bool) ad.Ref {
	g := b.G
	n := g.Type(x).Size()
	if n < 2 {
		return of
	}
	if v, ok := g.Value(x); ok && g.Type(x).Lanes == 0 {
		at := make([]int, n)
		for i := range at {
			at[i] = i
		}
		slices.SortStableFunc(at, func(i, j int) int {
			switch {
			case v[i] == v[j]:
				return 0
			case v[i] < v[j] != descending:
				return -1
			}
			return 1
		})
		return g.Gather(of, tableOf(at...))
	}
	shape := []int{n, n}
	rows, cols := alongCols(g, x, shape), alongRows(g, x, shape) // element of the row, of the column
	before := g.Less(cols, rows)
	if descending {
		before = g.Less(rows, cols)
	}
	earlier := g.Array(n, n) // of equal elements the first stands first
	for i := range n {
		for j := range i {
			earlier[i*n+j] = 1
		}
	}
	tie := g.Mul(g.Equal(cols, rows), g.ConstArray(ad.Type{Shape: shape}, earlier))
	rank := sumRows(g, g.Add(before, tie))
	return g.Do(ad.OpPut, ad.PutAttr{Shape: shape[:1]}, of, rank)
}

// positions are 1, 2, …, n.
func positions(g *ad.Graph, n int) ad.Ref {
	v := g.Array(n)
	for i := range v {
		v[i] = float64(i + 1)
	}
	return g.ConstArray(ad.Type{Shape: []int{n}}, v)
}

// sorting are the functions of the order of elements.
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
