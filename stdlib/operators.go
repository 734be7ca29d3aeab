package stdlib

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// named returns the overloads under each of the names: an operator and Stan's function for it.
func named(forms []Func, names ...string) []Func {
	var fs []Func
	for _, name := range names {
		for _, f := range forms {
			f.Name = name
			switch o := f.Overload.(type) {
			case types.Fixed:
				o.Name = name
				f.Overload = o
			case types.Elementwise:
				o.Name = name
				f.Overload = o
			}
			fs = append(fs, f)
		}
	}
	return fs
}

// twoInts declares an overload for two ints, with its exact value and its graph expression.
func twoInts(f func(x, y int64) (int64, error), g build) Func {
	return fixed("", "", tInt, list(tInt, tInt), g).with(func(fn *Func) {
		fn.Int = func(a []int64) (int64, error) { return f(a[0], a[1]) }
	})
}

// intDivision rejects a zero divisor before the division.
func intDivision(op fun2) build {
	return func(b *Builder, a []Arg) ad.Ref {
		x, y := a[0].Ref, a[1].Ref
		rejectIf(b.G, b.G.Equal(y, b.G.Const(0)), b.Name+": ", x, " is divided by zero")
		return op(b.G, x, y)
	}
}

// arithmetic declares the overloads of an elementwise binary operator: for equal containers and,
// with mixed, for a scalar and a container.
func arithmetic(doc string, ints Func, f fun2, mixed bool) []Func {
	ints.Doc = doc
	fs := []Func{ints, fixed("", doc, tReal, list(tReal, tReal), of2(f))}
	for _, t := range list(tVec, tRow, tMat) {
		fs = append(fs, fixed("", doc, t, list(t, t), of2(f)))
		if mixed {
			fs = append(fs, fixed("", doc, t, list(tReal, t), of2(f)), fixed("", doc, t, list(t, tReal), of2(f)))
		}
	}
	return fs
}

// truncDiv returns the quotient of integers without its fraction. Half of 1 is added to the
// absolute value of x, so that the quotient is far from an integer: passes may multiply by the
// reciprocal of y, and 49 times the reciprocal of 49 is less than 1.
func truncDiv(g *ad.Graph, x, y ad.Ref) ad.Ref {
	half := g.Select(g.Less(x, g.Const(0)), g.Const(-0.5), g.Const(0.5))
	return g.Do(ad.OpTrunc, nil, g.Div(g.Add(x, half), y))
}

// remainder returns the remainder of integers. It is exact, and faster than the operation fmod,
// which has no machine code and takes 50 ns.
func remainder(g *ad.Graph, x, y ad.Ref) ad.Ref { return g.Sub(x, g.Mul(y, truncDiv(g, x, y))) }

// operators declares the arithmetic operators.
func operators() []Func {
	const (
		sumDoc  = "Sum, element by element; a scalar is added to every element."
		subDoc  = "Difference, element by element."
		mulDoc  = "Product: of numbers, of a number and a container, or of vectors and matrices as in linear algebra."
		divDoc  = "Quotient; of two ints it is an int, rounded toward zero."
		elMul   = "Product, element by element."
		elDiv   = "Quotient, element by element."
		modDoc  = "Remainder of the division rounded toward zero; it has the sign of the first argument."
		intDoc  = "Quotient of two ints, rounded toward zero."
		negDoc  = "The argument with its sign changed."
		plusDoc = "The argument itself."
		powDoc  = "The first argument raised to the power of the second."
	)
	gAdd, gSub, gMul, gDiv := op2(ad.OpAdd), op2(ad.OpSub), op2(ad.OpMul), op2(ad.OpDiv)
	divInts := func() Func { return twoInts(types.DivInts, intDivision(truncDiv)) }

	var fs []Func
	fs = append(fs, named(arithmetic(sumDoc, twoInts(types.AddInts, intSum(gAdd)), gAdd, true), "operator+", "add")...)
	fs = append(fs, named(arithmetic(subDoc, twoInts(types.SubInts, intSum(gSub)), gSub, true), "operator-", "subtract")...)
	fs = append(fs, named(arithmetic(elMul, twoInts(types.MulInts, intBounded(of2(gMul))), gMul, true), "operator.*", "elt_multiply")...)
	fs = append(fs, named(arithmetic(elDiv, divInts(), gDiv, true), "operator./", "elt_divide")...)

	mul := []Func{
		twoInts(types.MulInts, intBounded(of2(gMul))).with(func(f *Func) { f.Doc = mulDoc }),
		fixed("", mulDoc, tReal, list(tReal, tReal), of2(gMul)),
	}
	div := []Func{
		divInts().with(func(f *Func) { f.Doc = divDoc }),
		fixed("", divDoc, tReal, list(tReal, tReal), of2(gDiv)),
	}
	for _, t := range list(tVec, tRow, tMat) {
		mul = append(mul, fixed("", mulDoc, t, list(tReal, t), of2(gMul)), fixed("", mulDoc, t, list(t, tReal), of2(gMul)))
		div = append(div, fixed("", divDoc, t, list(tReal, t), of2(gDiv)), fixed("", divDoc, t, list(t, tReal), of2(shareOf)))
	}
	mul = append(mul,
		fixed("", mulDoc, tReal, list(tRow, tVec), dot),
		fixed("", mulDoc, tMat, list(tVec, tRow), outer),
		fixed("", mulDoc, tVec, list(tMat, tVec), inner((*ad.Graph).MatVec)),
		fixed("", mulDoc, tRow, list(tRow, tMat), inner((*ad.Graph).VecMat)),
		fixed("", mulDoc, tMat, list(tMat, tMat), inner((*ad.Graph).MatMul)))
	fs = append(fs, named(mul, "operator*", "multiply")...)
	fs = append(fs, named(div, "operator/", "divide")...)

	fs = append(fs, named([]Func{twoInts(types.RemInts, intDivision(remainder)).with(func(f *Func) { f.Doc = modDoc })}, "operator%", "modulus")...)
	fs = append(fs, named([]Func{divInts().with(func(f *Func) { f.Doc = intDoc })}, "operator%/%")...)

	neg := []Func{
		{Overload: types.Elementwise{Args: []types.Kind{types.Int}, Result: types.Int}, Doc: negDoc, Build: of1((*ad.Graph).Neg),
			Int: func(a []int64) (int64, error) { return -a[0], nil }},
		{Overload: types.Elementwise{Args: []types.Kind{types.Real}, Result: types.Real, Strict: true}, Doc: negDoc, Build: of1((*ad.Graph).Neg)},
	}
	fs = append(fs, named(neg, "operator-", "minus")...)
	self := func(_ *Builder, a []Arg) ad.Ref { return a[0].Ref }
	plus := fixedEach("", plusDoc, types.Type{}, list(tInt, tReal, tVec, tRow, tMat), nil, self)
	plus[0].Int = func(a []int64) (int64, error) { return a[0], nil }
	fs = append(fs, named(plus, "operator+", "plus")...)

	pow := Func{Overload: types.Binary(""), Doc: powDoc, Build: of2(power)}.in(types.Positive, types.Any)
	fs = append(fs, named([]Func{pow}, "operator^", "operator.^", "pow")...)
	transposes := []Func{
		fixed("", "The transpose.", tRow, list(tVec), self),
		fixed("", "The transpose.", tVec, list(tRow), self),
		fixed("", "The transpose.", tMat, list(tMat), of1((*ad.Graph).Transpose)),
	}
	return append(fs, named(transposes, "operator'", "transpose")...)
}

// shareOf returns the elements of x divided by y. If y is their sum, their adjoints are bounded: a
// forward algorithm on probabilities, which divides them by their sum at each step, would multiply
// the adjoint of a state that cannot be reached, which overflows, by its probability of 0.
func shareOf(g *ad.Graph, x, y ad.Ref) ad.Ref {
	if n := &g.Nodes[y]; n.Op == ad.OpScatter && n.Type.IsScalar() && n.Args[0] == x {
		x = g.BoundAdjoint(x)
		y = g.Sum(x)
	}
	return g.Div(x, y)
}

// power returns xᵖ; the most frequent exponents have their own ops.
func power(g *ad.Graph, x, p ad.Ref) ad.Ref {
	if v, ok := g.Value(p); ok && len(v) == 1 {
		switch v[0] {
		case 0:
			return g.Broadcast(g.Const(1), g.Type(x).Shape)
		case 1:
			return x
		case 2:
			return g.Square(x)
		case 3:
			return g.Mul(x, g.Square(x))
		case 4:
			return g.Square(g.Square(x))
		case 0.5:
			return g.Sqrt(x)
		case -0.5:
			return g.Inv(g.Sqrt(x))
		case -1:
			return g.Inv(x)
		case -2:
			return g.Inv(g.Square(x))
		}
	}
	return g.Do(ad.OpPow, nil, x, p)
}

// comparisons declares the operators whose value is 1 or 0.
func comparisons() []Func {
	flip := func(f fun2) fun2 {
		return func(g *ad.Graph, x, y ad.Ref) ad.Ref { return f(g, y, x) }
	}
	less, atMost := op2(ad.OpLess), op2(ad.OpLessEqual)
	rows := []struct {
		op, name, doc string
		f             fun2
		holds         func(x, y int64) bool
	}{
		{"operator==", "logical_eq", "1 if the arguments are equal, else 0.", op2(ad.OpEqual), func(x, y int64) bool { return x == y }},
		{"operator!=", "logical_neq", "1 if the arguments differ, else 0.", op2(ad.OpNotEqual), func(x, y int64) bool { return x != y }},
		{"operator<", "logical_lt", "1 if the first argument is less than the second, else 0.", less, func(x, y int64) bool { return x < y }},
		{"operator<=", "logical_lte", "1 if the first argument is at most the second, else 0.", atMost, func(x, y int64) bool { return x <= y }},
		{"operator>", "logical_gt", "1 if the first argument is greater than the second, else 0.", flip(less), func(x, y int64) bool { return x > y }},
		{"operator>=", "logical_gte", "1 if the first argument is at least the second, else 0.", flip(atMost), func(x, y int64) bool { return x >= y }},
		{"operator&&", "logical_and", "1 if neither argument is 0, else 0.",
			func(g *ad.Graph, x, y ad.Ref) ad.Ref { return g.Mul(truth(g, x), truth(g, y)) },
			func(x, y int64) bool { return x != 0 && y != 0 }},
		{"operator||", "logical_or", "1 if an argument is not 0, else 0.",
			func(g *ad.Graph, x, y ad.Ref) ad.Ref { return g.Do(ad.OpMax, nil, truth(g, x), truth(g, y)) },
			func(x, y int64) bool { return x != 0 || y != 0 }},
	}
	var fs []Func
	for _, r := range rows {
		ints := twoInts(func(x, y int64) (int64, error) { return bit(r.holds(x, y)), nil }, of2(r.f))
		ints.Doc = r.doc
		fs = append(fs, named([]Func{ints, fixed("", r.doc, tInt, list(tReal, tReal), of2(r.f))}, r.op, r.name)...)
	}
	not := op1(ad.OpNot)
	const notDoc = "1 if the argument is 0, else 0."
	return append(fs, named([]Func{
		fixed("", notDoc, tInt, list(tInt), of1(not)).with(func(f *Func) {
			f.Int = func(a []int64) (int64, error) { return bit(a[0] == 0), nil }
		}),
		fixed("", notDoc, tInt, list(tReal), of1(func(g *ad.Graph, x ad.Ref) ad.Ref { return g.Do(ad.OpEqual, nil, x, g.Const(0)) })),
	}, "operator!", "logical_negation")...)
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// truth returns 1 where x is not 0, otherwise 0.
func truth(g *ad.Graph, x ad.Ref) ad.Ref { return g.Do(ad.OpNotEqual, nil, x, g.Const(0)) }
