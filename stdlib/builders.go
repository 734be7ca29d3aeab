package stdlib

import (
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// filled declares a container of n equal numbers.
func filled(name, doc string, result types.Type, v float64) Func {
	return fixed(name, doc, result, list(tInt), func(b *Builder, a []Arg) ad.Ref {
		return b.G.Broadcast(b.G.Const(v), []int{b.length(a, 0)})
	})
}

// oneHot declares a container of n zeros with a 1 at position k.
func oneHot(name string, result types.Type) Func {
	return fixed(name, "n numbers: number k is 1 and the others are 0, for arguments n and k.", result, list(tInt, tInt), func(b *Builder, a []Arg) ad.Ref {
		n, k := b.length(a, 0), b.whole(a, 1)
		b.within(1, k, 1, n)
		v := b.G.Array(n)
		v[k-1] = 1
		return b.G.ConstArray(ad.Type{Shape: []int{n}}, v)
	})
}

// linspaced returns n numbers from lo to hi in equal steps; a single number is hi.
func linspaced(b *Builder, a []Arg) ad.Ref {
	g, n := b.G, b.length(a, 0)
	lo, hi := a[1].Ref, a[2].Ref
	check(g, b.Name, "low", types.Finite, lo)
	check(g, b.Name, "high", types.Finite, hi)
	rejectIf(g, g.Less(hi, lo), b.Name+": high must be at least ", lo, ", but is ", hi)
	if n == 1 {
		return g.Reshape(hi, []int{1})
	}
	up, down := g.Array(n), g.Array(n)
	for i := range n {
		up[i] = float64(i) / float64(n-1)
		down[i] = float64(n-1-i) / float64(n-1)
	}
	t := ad.Type{Shape: []int{n}}
	return g.Add(g.Mul(g.ConstArray(t, down), lo), g.Mul(g.ConstArray(t, up), hi))
}

// linspacedInts returns n ints from lo in equal steps, the last at most hi. If n exceeds hi - lo +
// 1, values repeat equally often, as in Stan.
func linspacedInts(b *Builder, a []Arg) ad.Ref {
	n, lo, hi := b.length(a, 0), b.whole(a, 1), b.whole(a, 2)
	if hi < lo {
		b.Fail("high must be at least %d, but is %d", lo, hi)
	}
	if n <= 1 {
		return b.G.Broadcast(b.G.Const(float64(hi)), []int{n})
	}
	v := b.G.Array(n)
	span := hi - lo
	for i := range v {
		if n > span+1 {
			v[i] = float64(lo + i/((n+span)/(span+1)))
		} else {
			v[i] = float64(lo + i*(span/(n-1)))
		}
	}
	return b.G.ConstArray(ad.Type{Shape: []int{n}}, v)
}

// identity returns the identity matrix.
func identity(b *Builder, a []Arg) ad.Ref {
	n := b.length(a, 0)
	v := b.G.Array(n, n)
	for i := range n {
		v[i*n+i] = 1
	}
	return b.G.ConstArray(ad.Type{Shape: []int{n, n}}, v)
}

// builders make containers.
func builders() []Func {
	reals, ints := tReal.Array(1), tInt.Array(1)
	repeat := func(b *Builder, a []Arg) ad.Ref { // repeats a number
		shape := make([]int, len(a)-1)
		for i := range shape {
			shape[i] = b.length(a, i+1)
		}
		return b.G.Broadcast(a[0].Ref, shape)
	}
	fs := []Func{
		filled("zeros_vector", "n zeros.", tVec, 0), filled("zeros_row_vector", "n zeros.", tRow, 0),
		filled("zeros_array", "n zeros.", reals, 0), filled("zeros_int_array", "n zeros.", ints, 0),
		filled("ones_vector", "n ones.", tVec, 1), filled("ones_row_vector", "n ones.", tRow, 1),
		filled("ones_array", "n ones.", reals, 1), filled("ones_int_array", "n ones.", ints, 1),
		oneHot("one_hot_vector", tVec), oneHot("one_hot_row_vector", tRow),
		oneHot("one_hot_array", reals), oneHot("one_hot_int_array", ints),
		fixed("identity_matrix", "The identity matrix of size n.", tMat, list(tInt), identity),
		fixed("uniform_simplex", "n numbers 1/n.", tVec, list(tInt), func(b *Builder, a []Arg) ad.Ref {
			n := b.length(a, 0)
			if n == 0 {
				b.Fail("a simplex has at least one element")
			}
			return b.G.Broadcast(b.G.Const(1/float64(n)), []int{n})
		}),
		fixed("linspaced_int_array", "n ints in equal steps, for arguments n, low, high.", ints, list(tInt, tInt, tInt), linspacedInts),
		fixed("rep_vector", "The number x, n times.", tVec, list(tReal, tInt), repeat),
		fixed("rep_row_vector", "The number x, n times.", tRow, list(tReal, tInt), repeat),
		fixed("rep_matrix", "A matrix of m rows and n columns, all x.", tMat, list(tReal, tInt, tInt), repeat),
		fixed("rep_matrix", "A matrix of n columns, all the vector v.", tMat, list(tVec, tInt), func(b *Builder, a []Arg) ad.Ref {
			return alongCols(b.G, a[0].Ref, []int{b.size(a[0]), b.length(a, 1)})
		}),
		fixed("rep_matrix", "A matrix of n rows, all the row vector v.", tMat, list(tRow, tInt), func(b *Builder, a []Arg) ad.Ref {
			return alongRows(b.G, a[0].Ref, []int{b.length(a, 1), b.size(a[0])})
		}),
	}
	for _, r := range []struct {
		name string
		t    types.Type
	}{{"linspaced_vector", tVec}, {"linspaced_row_vector", tRow}, {"linspaced_array", reals}} {
		f := fixed(r.name, "n numbers from low to high in equal steps, for arguments n, low, high; of one, high.", r.t, list(tInt, tReal, tReal), linspaced)
		o := f.Overload.(types.Fixed)
		o.DataOnly = []bool{true, true, true}
		f.Overload = o
		fs = append(fs, f)
	}
	for n := 1; n <= 3; n++ {
		fs = append(fs, Func{Name: "rep_array", Doc: "An array whose elements are all x, with the sizes that follow.",
			Overload: types.Computed{
				Form: fmt.Sprintf("rep_array(T, int%s) => array[%s] T", strings.Repeat(", int", n-1), strings.Repeat(",", n-1)),
				Fit:  fitRepArray(n)},
			Build: repArray})
	}
	return fs
}

func fitRepArray(n int) func(args []types.Type) (types.Match, bool) {
	return func(args []types.Type) (types.Match, bool) {
		if len(args) != n+1 {
			return types.Match{Fault: types.Fault{Count: n + 1}}, false
		}
		for i, a := range args[1:] {
			if !a.Equal(tInt) {
				return types.Match{Fault: types.Fault{Arg: i + 1, Type: tInt}}, false
			}
		}
		if k := args[0].Kind; k == types.Function || k == types.Void || k == types.Tuple {
			return types.Match{Fault: types.Fault{Want: "a number or a container of numbers"}}, false
		}
		return types.Match{Params: args, Result: args[0].Array(n)}, true
	}
}

func repArray(b *Builder, a []Arg) ad.Ref {
	var ix ad.Index
	for i := range a[1:] {
		ix.Dims = append(ix.Dims, ad.Dim{N: b.length(a, i+1)})
	}
	ix.Dims = append(ix.Dims, rowMajor(b.shape(a[0]))...)
	return b.G.Gather(a[0].Ref, ix)
}

// rowMajor returns the dimensions of an array as pairs for dims, in the order of storage.
func rowMajor(shape []int) []ad.Dim {
	ds := make([]ad.Dim, len(shape))
	stride := 1
	for k := len(shape) - 1; k >= 0; k-- {
		ds[k] = ad.Dim{N: shape[k], Stride: stride}
		stride *= shape[k]
	}
	return ds
}
