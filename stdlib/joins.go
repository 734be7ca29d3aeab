package stdlib

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// joins declares the functions that concatenate containers.
func joins() []Func {
	concat := func(b *Builder, a []Arg) ad.Ref { return b.G.Concat(a[0].Ref, a[1].Ref) }
	const (
		rowDoc   = "The second argument below the first."
		colDoc   = "The second argument to the right of the first."
		arrayDoc = "The elements of the first array, then those of the second."
	)
	var fs []Func
	for _, p := range [][]types.Type{{tReal, tVec}, {tVec, tReal}, {tVec, tVec}} {
		fs = append(fs, fixed("append_row", rowDoc, tVec, p, concat))
	}
	for _, p := range [][]types.Type{{tRow, tRow}, {tRow, tMat}, {tMat, tRow}, {tMat, tMat}} {
		fs = append(fs, fixed("append_row", rowDoc, tMat, p, func(b *Builder, a []Arg) ad.Ref {
			return stackRows(b, b.asMatrix(a[0]), b.asMatrix(a[1]), 1)
		}))
	}
	for _, p := range [][]types.Type{{tReal, tRow}, {tRow, tReal}, {tRow, tRow}} {
		fs = append(fs, fixed("append_col", colDoc, tRow, p, concat))
	}
	for _, p := range [][]types.Type{{tVec, tVec}, {tVec, tMat}, {tMat, tVec}, {tMat, tMat}} {
		fs = append(fs, fixed("append_col", colDoc, tMat, p, func(b *Builder, a []Arg) ad.Ref {
			g := b.G
			return g.Transpose(stackRows(b, g.Transpose(b.asMatrix(a[0])), g.Transpose(b.asMatrix(a[1])), 0))
		}))
	}
	return append(fs, Func{Name: "append_array", Doc: arrayDoc, Build: appendArray,
		Overload: types.Computed{Form: "append_array(array[] T, array[] T) => array[] T", Fit: fitAppendArray}})
}

// stackRows puts matrix y below matrix x.
func stackRows(b *Builder, x, y ad.Ref, dim int) ad.Ref {
	s, t := b.G.Type(x).Shape, b.G.Type(y).Shape
	if s[1] != t[1] {
		b.Fail("the arguments have %d and %d %s", s[1], t[1], [...]string{"rows", "columns"}[dim])
	}
	return b.G.Reshape(b.G.Concat(x, y), []int{s[0] + t[0], s[1]})
}

func fitAppendArray(args []types.Type) (types.Match, bool) {
	if len(args) != 2 {
		return types.Match{Fault: types.Fault{Count: 2}}, false
	}
	for i, a := range args {
		if a.Dims == 0 {
			return types.Match{Fault: types.Fault{Arg: i, Want: "an array"}}, false
		}
	}
	u, ok := types.Unify(args[0], args[1])
	if !ok || u.Kind == types.Tuple {
		return types.Match{Fault: types.Fault{Arg: 1, Type: args[0]}}, false
	}
	m := types.Match{Params: list(u, u), Result: u}
	for _, a := range args {
		n, _ := types.Promotable(a, u)
		m.Promotions += n
	}
	return m, true
}

func appendArray(b *Builder, a []Arg) ad.Ref {
	s, t := b.shape(a[0]), b.shape(a[1])
	switch { // the inner sizes of an array without elements do not matter
	case s[0] == 0:
		return a[1].Ref
	case t[0] == 0:
		return a[0].Ref
	case !slices.Equal(s[1:], t[1:]):
		b.Fail("the elements of the arrays have different sizes: argument 1 has %s, argument 2 has %s", sizeText(s), sizeText(t))
	}
	shape := slices.Clone(s)
	shape[0] += t[0]
	return b.G.Reshape(b.G.Concat(a[0].Ref, a[1].Ref), shape)
}
