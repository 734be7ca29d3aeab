package stdlib

import (
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// choose returns the binomial coefficient of ints.
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
		p, err := types.MulInts(c, n-k+i) // the product is divisible by i
		if err != nil {
			return 0, err
		}
		c = p / i
	}
	return c, nil
}

// integers declares the functions with int arguments and an int value.
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
			// This is exact up to 2⁵⁰: there the error of exp(lchoose) is far below ½.
			some := g.Do(ad.OpLessEqual, nil, k, n)
			return g.Select(some, g.Do(ad.OpRound, nil, g.Exp(g.Do(ad.OpLchoose, nil, n, g.Do(ad.OpMin, nil, k, n)))), g.Const(0))
		})}.in(types.Between(3, 8), types.Between(0, 3)).example("choose(5, 2)", "10")
	return []Func{
		chooseInts,
		fixed("int_step", stepDoc, tInt, list(tInt), of1(above)).with(func(f *Func) {
			f.Int = func(a []int64) (int64, error) { return bit(a[0] > 0), nil }
		}),
		fixed("int_step", stepDoc, tInt, list(tReal), of1(above)).example("int_step(0)", "0"),
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
			Name: "to_int", Doc: "The whole part of data.", Build: func(b *Builder, a []Arg) ad.Ref {
				check(b.G, b.Name, types.IntResult, types.IntRange, a[0].Ref)
				return b.G.Do(ad.OpTrunc, nil, a[0].Ref)
			}},
	}
}

// fitToInt accepts reals, and arrays of reals, that are data.
func fitToInt(args []types.Type) (types.Match, bool) {
	if len(args) != 1 {
		return types.Match{Fault: types.Fault{Count: 1}}, false
	}
	if args[0].Kind != types.Real {
		return types.Match{Fault: types.Fault{Want: "int, real, or an array of these"}}, false
	}
	return types.Match{Params: args, Result: types.Type{Kind: types.Int, Dims: args[0].Dims}, DataOnly: []bool{true}}, true
}

// factorials declares products of successive numbers.
func factorials() []Func {
	// value computes the product x (x+step) (x+2 step) … of n factors; step is +1 or -1.
	value := func(step float64) build {
		return func(b *Builder, a []Arg) ad.Ref {
			b.sameSizes(a)
			g, x, n := b.G, a[0].Ref, a[1].Ref
			check(g, b.Name, "second argument", types.NonNegative, n)
			v, ok := g.Value(n)
			if !ok {
				b.FailUnknown("argument 2 must be known when the data are bound")
			}
			one := g.Const(1)
			p := g.Broadcast(one, b.shape(a[1]))
			least, most := math.Inf(1), 0.0
			for _, k := range v {
				least, most = min(least, k), max(most, k)
			}
			g.Reserve(256, int(most)) // memory for a node for each factor
			for k := 0.; k < most; k++ {
				f := plus(g, x, step*k)
				if k >= least {
					f = g.Select(g.Less(g.Const(k), n), f, one)
				}
				p = g.Mul(p, f)
			}
			if len(b.shape(a[0])) > len(g.Type(p).Shape) {
				p = g.Broadcast(p, b.shape(a[0]))
			}
			return p
		}
	}
	whole := func(step int64) func(a []int64) (int64, error) {
		return func(a []int64) (int64, error) {
			if a[1] < 0 {
				return 0, fmt.Errorf("the second argument must be nonnegative, but is %d", a[1])
			}
			p := int64(1)
			for k := range a[1] {
				var err error
				if p == 0 {
					break // the product no longer changes
				}
				if p, err = types.MulInts(p, a[0]+step*k); err != nil {
					return 0, err
				}
			}
			return p, nil
		}
	}
	var fs []Func
	for _, r := range []struct {
		name, doc string
		step      int64
	}{{"rising_factorial", "x(x + 1)…(x + n - 1), n factors.", 1}, {"falling_factorial", "x(x - 1)…(x - n + 1), n factors.", -1}} {
		domain := types.Between(1, 4)
		fs = append(fs,
			Func{Overload: types.Elementwise{Name: r.name, Args: []types.Kind{types.Int, types.Int}, Result: types.Int},
				Name: r.name, Doc: r.doc, Build: value(float64(r.step)), Int: whole(r.step)}.in(domain, domain),
			Func{Overload: types.Elementwise{Name: r.name, Args: []types.Kind{types.Real, types.Int}, Result: types.Real, Strict: true},
				Name: r.name, Doc: r.doc, Build: value(float64(r.step))}.in(types.Constraint{}, domain))
	}
	loss := Func{Overload: types.Elementwise{Name: "binary_log_loss", Args: []types.Kind{types.Int, types.Real}, Result: types.Real, Strict: true},
		Name: "binary_log_loss", Doc: "-log(p) if y is 1, -log(1 - p) if y is 0, for arguments y and p.",
		Build: of2(func(g *ad.Graph, y, p ad.Ref) ad.Ref {
			return g.Neg(g.Select(y, g.Log(p), g.Do(ad.OpLog1m, nil, p)))
		})}
	return append(fs, loss.in(types.Between(0, 1), types.OpenUnitInterval))
}
