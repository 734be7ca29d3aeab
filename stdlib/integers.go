package stdlib

import (
	"fmt"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// choose is the binomial coefficient of ints.
func choose(n, k int64) (int64, error) {
	if n < 0 || k < 0 {
		return 0, fmt.Errorf("choose: the arguments must be nonnegative, but are %d and %d", n, k)
	}
	if k > n {
		return 0, nil
	}
	k = min(k, n-k)
	c := int64(1)
	for i := int64(1); i <= k; i++ {
		p, err := mulInt(c, n-k+i) // divisible by i
		if err != nil {
			return 0, err
		}
		c = p / i
	}
	return c, nil
}

// integers are the functions whose arguments and value are ints.
func integers() []Func {
	g2 := func(f fun2) build { return of2(f) }
	lesser := func(x, y int64) (int64, error) { return min(x, y), nil }
	greater := func(x, y int64) (int64, error) { return max(x, y), nil }
	above := func(g *ad.Graph, x ad.Ref) ad.Ref { return g.Less(g.Const(0), x) }
	const stepDoc = "1 if x is positive, else 0."
	chooseInts := Func{Overload: types.Elementwise{Name: "choose", Args: []types.Kind{types.Int, types.Int}, Result: types.Int},
		Name: "choose", Doc: "The binomial coefficient: the number of ways to choose k of n.",
		Int: func(a []int64) (int64, error) { return choose(a[0], a[1]) },
		Build: of2(func(g *ad.Graph, n, k ad.Ref) ad.Ref {
			// Exact up to 2⁵⁰: the error of exp(lchoose) is far below ½ there.
			return g.Do(ad.OpRound, nil, g.Exp(g.Do(ad.OpLchoose, nil, n, k)))
		})}.in(types.Between(3, 8), types.Between(0, 3)).example("choose(5, 2)", 10)
	return []Func{
		chooseInts,
		fixed("int_step", stepDoc, tInt, list(tInt), of1(above)).with(func(f *Func) {
			f.Int = func(a []int64) (int64, error) { return bit(a[0] > 0), nil }
		}),
		fixed("int_step", stepDoc, tInt, list(tReal), of1(above)).example("int_step(0)", 0),
		twoInts(lesser, g2(op2(ad.OpMin))).with(func(f *Func) {
			f.Name, f.Doc = "min", "The lesser of two ints."
			f.Overload = types.Fixed{Name: "min", Params: list(tInt, tInt), Result: tInt}
		}),
		twoInts(greater, g2(op2(ad.OpMax))).with(func(f *Func) {
			f.Name, f.Doc = "max", "The greater of two ints."
			f.Overload = types.Fixed{Name: "max", Params: list(tInt, tInt), Result: tInt}
		}),
		{Overload: types.Elementwise{Name: "to_int", Args: []types.Kind{types.Int}, Result: types.Int},
			Name: "to_int", Doc: "The argument itself.",
			Int:   func(a []int64) (int64, error) { return a[0], nil },
			Build: func(_ *Builder, a []Arg) ad.Ref { return a[0].Ref }},
		{Overload: types.Computed{Form: "to_int(data T) => T of int", Fit: fitToInt},
			Name: "to_int", Doc: "The whole part of data.", Build: of1(op1(ad.OpTrunc))},
	}
}

// fitToInt takes reals and arrays of reals that are data.
func fitToInt(args []types.Type) (types.Match, bool) {
	if len(args) != 1 {
		return types.Match{Fault: types.Fault{Count: 1}}, false
	}
	if args[0].Kind != types.Real {
		return types.Match{Fault: types.Fault{Want: "int, real, or an array of these"}}, false
	}
	return types.Match{Params: args, Result: types.Type{Kind: types.Int, Dims: args[0].Dims}, DataOnly: []bool{true}}, true
}
