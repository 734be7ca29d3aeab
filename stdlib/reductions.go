package stdlib

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// The containers that reductions accept.
var (
	realContainers = list(tVec, tRow, tMat, tReal.Array(1))
	realRows       = list(tVec, tRow, tReal.Array(1)) // containers with one dimension
	vectors        = list(tVec, tRow)
)

// intsToInt declares a reduction of an array of ints to an int.
func intsToInt(name, doc string, f build) Func {
	return fixed(name, doc, tInt, list(tInt.Array(1)), f)
}

// overAll makes a Build from a function of a vector; the vector has all elements of the argument.
func overAll(f func(g *ad.Graph, x ad.Ref, n int) ad.Ref) build {
	return func(b *Builder, a []Arg) ad.Ref { return f(b.G, b.flat(a[0]), b.size(a[0])) }
}

// nonEmpty is overAll for functions that need an element.
func nonEmpty(f func(g *ad.Graph, x ad.Ref, n int) ad.Ref) build {
	return func(b *Builder, a []Arg) ad.Ref {
		if b.size(a[0]) == 0 {
			b.Fail("its argument must not be empty")
		}
		return f(b.G, b.flat(a[0]), b.size(a[0]))
	}
}

func sumOf(g *ad.Graph, x ad.Ref, n int) ad.Ref { return g.Sum(x) }

// reductions declares the functions that reduce a container to a number, or to its running sums.
func reductions() []Func {
	// If several elements are equal, the first one counts; in a matrix, the first one by columns.
	maximum := func(g *ad.Graph, x ad.Ref, n int) ad.Ref { return g.Do(ad.OpMaxOf, nil, x) }
	minimum := func(g *ad.Graph, x ad.Ref, n int) ad.Ref { return g.Neg(g.Do(ad.OpMaxOf, nil, g.Neg(x))) }
	byColumns := func(f func(g *ad.Graph, x ad.Ref, n int) ad.Ref) build {
		return func(b *Builder, a []Arg) ad.Ref {
			x := a[0].Ref
			if len(b.shape(a[0])) == 2 {
				x = b.G.Transpose(x)
			}
			return f(b.G, b.G.Reshape(x, []int{b.size(a[0])}), b.size(a[0]))
		}
	}
	mean := func(g *ad.Graph, x ad.Ref, n int) ad.Ref { return g.Div(g.Sum(x), g.Const(float64(n))) }
	sd := func(g *ad.Graph, x ad.Ref, n int) ad.Ref {
		if n == 1 {
			return g.Scale(0, x)
		}
		// If all numbers are equal, the derivative with respect to each is 1/√n, as in Stan.
		s := variance(g, x, n)
		if _, known := g.Value(s); known {
			return g.Sqrt(s)
		}
		same := g.Scale(1/math.Sqrt(float64(n)), g.Sum(g.Sub(x, g.Detach(x))))
		return g.Select(g.Equal(s, g.Const(0)), same, g.Sqrt(s))
	}
	none := types.Type{}
	each := func(name, doc string, over []types.Type, f build) []Func {
		return fixedEach(name, doc, tReal, over, nil, f)
	}
	const (
		sumDoc  = "The sum of all elements; 0 if there are none."
		prodDoc = "The product of all elements; 1 if there are none."
		maxDoc  = "The greatest element."
		minDoc  = "The least element."
	)
	fs := slices.Concat(
		each("sum", sumDoc, realContainers, overAll(sumOf)), []Func{intsToInt("sum", sumDoc, intBounded(overAll(sumOf)))},
		each("prod", prodDoc, realContainers, overAll(prod)), []Func{intsToInt("prod", prodDoc, intBounded(overAll(prod)))},
		each("max", maxDoc+" Negative infinity if there is none.", realContainers, byColumns(maximum)),
		[]Func{intsToInt("max", maxDoc, nonEmpty(maximum))},
		each("min", minDoc+" Positive infinity if there is none.", realContainers, byColumns(minimum)),
		[]Func{intsToInt("min", minDoc, nonEmpty(minimum))},
		each("mean", "The arithmetic mean.", realContainers, nonEmpty(mean)),
		each("variance", "The sample variance Σ (x - mean)²/(n - 1); 0 for one element.", realContainers, nonEmpty(variance)),
		each("sd", "The sample standard deviation; 0 for one element.", realContainers, nonEmpty(sd)),
		each("log_sum_exp", "log Σ exp(x) without overflow; negative infinity if there are no elements.", realContainers,
			overAll(func(g *ad.Graph, x ad.Ref, n int) ad.Ref { return g.LogSumExp(x) })),
		each("norm1", "The sum of the absolute values.", realRows,
			overAll(func(g *ad.Graph, x ad.Ref, n int) ad.Ref { return g.Sum(g.Do(ad.OpAbs, nil, x)) })),
		each("norm2", "The Euclidean length.", realRows,
			overAll(func(g *ad.Graph, x ad.Ref, n int) ad.Ref { return length(g, x) })),
		each("dot_self", "The sum of the squares.", vectors,
			overAll(func(g *ad.Graph, x ad.Ref, n int) ad.Ref { return g.Sum(g.Square(x)) })),
		fixedEach("cumulative_sum", "The sums of the first element, the first two, ….", none,
			list(tVec, tRow, tReal.Array(1), tInt.Array(1)), nil, overAll(cumulativeSum)),
	)
	const distDoc = "The Euclidean distance of two vectors."
	const sqDoc = "The square of the Euclidean distance of two vectors."
	sqDist := func(b *Builder, a []Arg) ad.Ref {
		b.sameSizes(a)
		return b.G.Sum(b.G.Square(b.G.Sub(a[0].Ref, a[1].Ref)))
	}
	dist := func(b *Builder, a []Arg) ad.Ref {
		b.sameSizes(a)
		return length(b.G, b.G.Sub(a[0].Ref, a[1].Ref))
	}
	fs = append(fs, fixed("squared_distance", sqDoc, tReal, list(tReal, tReal), sqDist).
		checking(argCheck{"x1", types.Finite}, argCheck{"x2", types.Finite}))
	for _, t := range vectors {
		for _, u := range vectors {
			fs = append(fs,
				fixed("squared_distance", sqDoc, tReal, list(t, u), sqDist),
				fixed("distance", distDoc, tReal, list(t, u), dist),
				fixed("dot_product", "The sum of the products of the elements.", tReal, list(t, u), dot))
		}
	}
	return append(fs, fixed("dot_product", "The sum of the products of the elements.", tReal,
		list(tReal.Array(1), tReal.Array(1)), dot))
}

// length returns √Σx². At 0 the derivative does not exist and is NaN, as in Stan.
func length(g *ad.Graph, x ad.Ref) ad.Ref { return g.Sqrt(g.Sum(g.Square(x))) }

func variance(g *ad.Graph, x ad.Ref, n int) ad.Ref {
	if n == 1 {
		return g.Reshape(g.Scale(0, x), nil)
	}
	mean := g.Div(g.Sum(x), g.Const(float64(n)))
	return g.Div(g.Sum(g.Square(g.Sub(x, mean))), g.Const(float64(n-1)))
}

// prod multiplies the products of two halves. So the product of n elements takes log n ops, and its
// derivative is right where elements are 0.
func prod(g *ad.Graph, x ad.Ref, n int) ad.Ref {
	if n == 0 {
		return g.Const(1)
	}
	for n > 1 {
		h := n / 2
		p := g.Mul(g.Slice(x, 0, []int{h}), g.Slice(x, h, []int{h}))
		if n%2 == 1 {
			p = g.Concat(p, g.Slice(x, n-1, []int{1}))
		}
		x, n = p, n-h
	}
	return g.Reshape(x, nil)
}

// cumulativeSum adds a scan; for a constant, it computes the sums at once.
func cumulativeSum(g *ad.Graph, x ad.Ref, n int) ad.Ref {
	if n <= 1 {
		return x
	}
	if v, ok := g.Value(x); ok && g.Type(x).Lanes == 0 {
		out, s := make([]float64, n), 0.0
		for i := range out {
			s += v[i]
			out[i] = s
		}
		return g.ConstArray(g.Type(x), out)
	}
	body := ad.NewGraph()
	total, next := body.Input(ad.Scalar), body.Input(ad.Scalar)
	total = body.Add(total, next)
	body.Output(total)
	body.Output(total)
	scan := g.DoScan(&ad.Scan{Body: body, Carries: 1, Streams: 1, Outs: 1, Steps: n}, []ad.Ref{g.Const(0), x})
	return g.Kept(scan, 0)
}

// mixtures declares log_mix, softmax and similar functions.
func mixtures() []Func {
	const (
		mixDoc  = "The log density of a mixture: log Σ θₖ exp(lpₖ); of two, log(θ exp(lp₁) + (1 - θ) exp(lp₂))."
		softDoc = "exp(x) divided by its sum."
		logSoft = "The logarithm of softmax."
	)
	fs := []Func{fixed("log_mix", mixDoc, tReal, list(tReal, tReal, tReal), func(b *Builder, a []Arg) ad.Ref {
		check(b.G, b.Name, "theta", types.UnitInterval, a[0].Ref)
		check(b.G, b.Name, "lambda1", types.NotNaN, a[1].Ref)
		check(b.G, b.Name, "lambda2", types.NotNaN, a[2].Ref)
		return logMix(b.G, a[0].Ref, a[1].Ref, a[2].Ref)
	}).in(types.OpenUnitInterval, types.Any, types.Any).example("log_mix(0.5, 0, 0)", "0")}
	for _, theta := range realRows {
		for _, lp := range list(tVec, tRow, tReal.Array(1), tVec.Array(1), tRow.Array(1)) {
			fs = append(fs, fixed("log_mix", mixDoc, tReal, list(theta, lp), buildLogMix).in(types.OpenUnitInterval, types.Any))
		}
	}
	for _, t := range list(tVec, tRow, tVec.Array(1), tRow.Array(1)) {
		fs = append(fs,
			fixed("softmax", softDoc, t, list(t), softmax),
			fixed("log_softmax", logSoft, t, list(t), func(b *Builder, a []Arg) ad.Ref {
				// Stan refuses these; for others without elements, the result of softmax is empty.
				if shape := b.shape(a[0]); shape[len(shape)-1] == 0 && (len(shape) == 1 || shape[0] > 0) {
					b.Fail("x has no elements")
				}
				return logSoftmax(b, a)
			}))
	}
	return fs
}

// buildLogMix adds log θ to every vector of log densities; several are summed.
func buildLogMix(b *Builder, a []Arg) ad.Ref {
	g, theta, lp := b.G, a[0].Ref, a[1].Ref
	shape := b.shape(a[1])
	k := shape[len(shape)-1]
	if b.size(a[0]) != k {
		b.Fail("theta has size %d, but the log densities have size %d", b.size(a[0]), k)
	}
	check(g, b.Name, "theta", types.UnitInterval, theta)
	check(g, b.Name, "lambda", types.Finite, lp)
	// Simplex parameters are exponentials. Their logarithms have derivatives everywhere, once the
	// pass logarithms has simplified them.
	if _, known := g.Value(theta); known || g.Nodes[theta].Op == ad.OpExp {
		w := g.Log(theta)
		if len(shape) == 2 {
			w = g.Gather(w, dims(0, shape[0], 0, k, 1))
		}
		return g.Sum(g.LogSumExp(g.Add(w, lp)))
	}
	w := logOrNone(g, theta, g.Log(theta))
	if len(shape) == 2 {
		w, theta = g.Gather(w, dims(0, shape[0], 0, k, 1)), g.Gather(theta, dims(0, shape[0], 0, k, 1))
	}
	mix := g.LogSumExp(g.Add(w, lp))
	each := mix
	if len(shape) == 2 {
		each = g.Gather(mix, dims(0, shape[0], 1, k, 0))
	}
	return g.Add(g.Sum(mix), g.Sum(shareOfNone(g, theta, lp, each)))
}

// softmax returns exp(logSoftmax(x - max x)), which equals exp(logSoftmax(x)) up to rounding.
// Without the subtraction, for numbers about 10⁹ the logarithm of the sum is accurate to 10⁻⁷ only,
// and the elements would not sum to 1.
func softmax(b *Builder, a []Arg) ad.Ref {
	g, shape := b.G, b.shape(a[0])
	if product(shape) == 0 {
		return a[0].Ref
	}
	top := g.Detach(g.Do(ad.OpMaxOf, nil, a[0].Ref))
	if len(shape) == 2 {
		top = g.Gather(top, dims(0, shape[0], 1, shape[1], 0))
	}
	x := a[0]
	x.Ref = g.Sub(x.Ref, top)
	return g.Exp(logSoftmax(b, []Arg{x}))
}

// logSoftmax returns x - log Σ exp x along the last dimension.
func logSoftmax(b *Builder, a []Arg) ad.Ref {
	g, x := b.G, a[0].Ref
	shape := b.shape(a[0])
	if product(shape) == 0 {
		return x
	}
	total := g.LogSumExp(x)
	if len(shape) == 2 {
		total = g.Gather(total, dims(0, shape[0], 1, shape[1], 0))
	}
	return g.Sub(x, total)
}
