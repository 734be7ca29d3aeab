package stdlib

import (
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: functions of complex numbers, as expressions of real and imaginary parts. Branch cuts
// are those of C99. The inverse functions follow Kahan (1987), "Branch cuts for complex elementary
// functions".

// pair is an argument: a complex value as its two parts, or a value that is not complex and has no
// imaginary part.
type pair struct {
	re, im ad.Ref
	arg    Arg
}

func (p pair) isComplex() bool { return p.im != ad.None }

// meaning builds the leaves of the result of a call.
type meaning = func(b *Builder, a []pair) []ad.Ref

// ofComplex declares a form of a function with complex arguments; kinds are the kinds of the
// numbers in its parameters.
func ofComplex(o types.Overload, name string, kinds []types.Kind, result types.Type, m meaning) *Func {
	f := &Func{Overload: o, Name: name}
	pairs := func(a []Arg) []pair {
		out := make([]pair, len(kinds))
		for i, k := range kinds {
			out[i] = pair{a[0].Ref, ad.None, a[0]}
			a = a[1:]
			if k == types.Complex {
				out[i].im = a[0].Ref
				a = a[1:]
			}
		}
		return out
	}
	if result.Composite() {
		f.Leaves = func(b *Builder, a []Arg) []ad.Ref { return m(b, pairs(a)) }
	} else {
		f.Build = func(b *Builder, a []Arg) ad.Ref { return m(b, pairs(a))[0] }
	}
	return f
}

// zero reports whether a part is known to be 0, as the imaginary part of a promoted real is.
func zero(g *ad.Graph, x ad.Ref) bool {
	v, ok := g.Value(x)
	return ok && !slices.ContainsFunc(v, func(x float64) bool { return x != 0 })
}

// z is a complex number in a graph.
type z struct{ re, im ad.Ref }

// field does complex arithmetic in a graph, element by element.
type field struct{ *ad.Graph }

func (g field) neg(x z) z      { return z{g.Neg(x.re), g.Neg(x.im)} }
func (g field) conj(x z) z     { return z{x.re, g.Neg(x.im)} }
func (g field) timesI(x z) z   { return z{g.Neg(x.im), x.re} }
func (g field) overI(x z) z    { return z{x.im, g.Neg(x.re)} }
func (g field) oneMinus(x z) z { return z{g.Sub(g.Const(1), x.re), g.Neg(x.im)} }
func (g field) onePlus(x z) z  { return z{g.Add(g.Const(1), x.re), x.im} }

func (g field) mul(x, y z) z {
	return bilinear(g.Graph, x, y, g.Mul)
}

// bilinear returns a product of complex values, given the product of real ones.
func bilinear(g *ad.Graph, x, y z, mul func(x, y ad.Ref) ad.Ref) z {
	noX, noY := zero(g, x.im), zero(g, y.im)
	out := z{re: mul(x.re, y.re)}
	if !noX && !noY {
		out.re = g.Sub(out.re, mul(x.im, y.im))
	}
	switch {
	case noX:
		out.im = mul(x.re, y.im)
	case noY:
		out.im = mul(x.im, y.re)
	default:
		out.im = g.Add(mul(x.re, y.im), mul(x.im, y.re))
	}
	return out
}

func (g field) norm(x z) ad.Ref { return g.Add(g.Square(x.re), g.Square(x.im)) }
func (g field) abs(x z) ad.Ref  { return g.Do(ad.OpHypot, nil, x.re, x.im) }
func (g field) arg(x z) ad.Ref  { return g.Do(ad.OpAtan2, nil, x.im, x.re) }

func (g field) div(x, y z) z {
	if zero(g.Graph, y.im) {
		return z{g.Div(x.re, y.re), g.Div(x.im, y.re)}
	}
	// Scale by the modulus, so that squares do not overflow.
	r := g.abs(y)
	u := z{g.Div(y.re, r), g.Div(y.im, r)}
	n := g.mul(x, g.conj(u))
	return z{g.Div(n.re, r), g.Div(n.im, r)}
}

func (g field) polar(r, angle ad.Ref) z {
	return z{g.Mul(r, g.Do(ad.OpCos, nil, angle)), g.Mul(r, g.Do(ad.OpSin, nil, angle))}
}

func (g field) exp(x z) z { return g.polar(g.Exp(x.re), x.im) }
func (g field) log(x z) z { return z{g.Log(g.abs(x)), g.arg(x)} }

func (g field) sqrt(x z) z {
	zero, two := g.Const(0), g.Const(2)
	left := g.Less(x.re, zero)
	below := g.Less(g.arg(x), zero) // the argument depends on the sign of a zero
	// Without absolute values, which have no derivative at 0.
	t := g.Sqrt(g.Div(g.Add(g.abs(x), g.Select(left, g.Neg(x.re), x.re)), two))
	s := g.Div(x.im, g.Mul(two, g.Select(g.Equal(t, zero), g.Const(1), t)))
	return z{
		g.Select(left, g.Select(below, g.Neg(s), s), t),
		g.Select(left, g.Select(below, g.Neg(t), t), s),
	}
}

func (g field) sinh(x z) z {
	return z{g.Mul(g.Do(ad.OpSinh, nil, x.re), g.Do(ad.OpCos, nil, x.im)), g.Mul(g.Do(ad.OpCosh, nil, x.re), g.Do(ad.OpSin, nil, x.im))}
}

func (g field) cosh(x z) z {
	return z{g.Mul(g.Do(ad.OpCosh, nil, x.re), g.Do(ad.OpCos, nil, x.im)), g.Mul(g.Do(ad.OpSinh, nil, x.re), g.Do(ad.OpSin, nil, x.im))}
}

func (g field) tanh(x z) z {
	t, u := g.Do(ad.OpTanh, nil, x.re), g.Do(ad.OpTan, nil, x.im)
	tt, uu := g.Square(t), g.Square(u)
	one := g.Const(1)
	below := g.Add(one, g.Mul(tt, uu))
	sech := g.Inv(g.Square(g.Do(ad.OpCosh, nil, x.re)))
	return z{g.Div(g.Mul(t, g.Add(one, uu)), below), g.Div(g.Mul(u, sech), below)}
}

func (g field) asin(x z) z {
	a, b := g.sqrt(g.oneMinus(x)), g.sqrt(g.onePlus(x))
	return z{g.Do(ad.OpAtan2, nil, x.re, g.mul(a, b).re), g.Do(ad.OpAsinh, nil, g.mul(g.conj(a), b).im)}
}

func (g field) acos(x z) z {
	a, b := g.sqrt(g.oneMinus(x)), g.sqrt(g.onePlus(x))
	return z{g.Scale(2, g.Do(ad.OpAtan2, nil, a.re, b.re)), g.Do(ad.OpAsinh, nil, g.mul(g.conj(b), a).im)}
}

func (g field) acosh(x z) z {
	a, b := g.sqrt(z{g.Sub(x.re, g.Const(1)), x.im}), g.sqrt(g.onePlus(x))
	return z{g.Do(ad.OpAsinh, nil, g.mul(g.conj(a), b).re), g.Scale(2, g.Do(ad.OpAtan2, nil, a.im, b.re))}
}

func (g field) atanh(x z) z {
	one, yy := g.Const(1), g.Square(x.im)
	minus, plus := g.Sub(one, x.re), g.Add(one, x.re)
	re := g.Scale(0.25, g.Do(ad.OpLog1p, nil, g.Div(g.Scale(4, x.re), g.Add(g.Square(minus), yy))))
	im := g.Scale(0.5, g.Do(ad.OpAtan2, nil, g.Scale(2, x.im), g.Sub(g.Mul(minus, plus), yy)))
	return z{re, im}
}

func (g field) pow(x, y z) z {
	if zero(g.Graph, y.im) {
		if v, ok := g.Value(y.re); ok && len(v) > 0 && g.Type(y.re).Lanes == 0 && !slices.ContainsFunc(v, func(p float64) bool { return p != v[0] }) {
			switch n := v[0]; {
			case n == 2 && len(g.Type(y.re).Shape) <= len(g.Type(x.re).Shape):
				return g.mul(x, x)
			case n == 1 && len(g.Type(y.re).Shape) <= len(g.Type(x.re).Shape):
				return x
			}
		}
	}
	return g.exp(g.mul(y, g.log(x)))
}

func (g field) proj(x z) z {
	inf := g.Do(ad.OpIsInf, nil, x.re)
	inf = g.Select(inf, g.Const(1), g.Do(ad.OpIsInf, nil, x.im))
	zero := g.Select(g.Less(x.im, g.Const(0)), g.Const(math.Copysign(0, -1)), g.Const(0))
	return z{g.Select(inf, g.Const(math.Inf(1)), x.re), g.Select(inf, zero, x.im)}
}

// unaries are the functions of one complex number, and of containers where the
// language has them.
var unaries = map[string]func(field, z) z{
	"exp": field.exp, "log": field.log, "sqrt": field.sqrt, "sinh": field.sinh, "cosh": field.cosh, "tanh": field.tanh,
	"asin": field.asin, "acos": field.acos, "acosh": field.acosh, "atanh": field.atanh,
	"proj": field.proj, "conj": field.conj, "minus": field.neg,
	"plus":  func(_ field, x z) z { return x },
	"log10": func(g field, x z) z { l := g.log(x); return z{g.Scale(math.Log10E, l.re), g.Scale(math.Log10E, l.im)} },
	"sin":   func(g field, x z) z { return g.overI(g.sinh(g.timesI(x))) },
	"cos":   func(g field, x z) z { return g.cosh(g.timesI(x)) },
	"tan":   func(g field, x z) z { return g.overI(g.tanh(g.timesI(x))) },
	"asinh": func(g field, x z) z { return g.overI(g.asin(g.timesI(x))) },
	"atan":  func(g field, x z) z { return g.overI(g.atanh(g.timesI(x))) },
}

// realsOf lists the functions of one complex number that return a real.
var realsOf = map[string]func(field, z) ad.Ref{
	"abs": field.abs, "arg": field.arg, "norm": field.norm,
	"get_real": func(_ field, x z) ad.Ref { return x.re },
	"get_imag": func(_ field, x z) ad.Ref { return x.im },
}

// Functions that are linear in all their complex arguments together, and products of two arguments.
// They apply the function of reals to the real and imaginary parts.
const (
	linears = "add subtract append_row append_col to_vector to_row_vector to_matrix to_vector_array to_row_vector_array to_array_1d to_array_2d " +
		"diagonal diag_matrix reverse sum cumulative_sum trace row col block head tail segment sub_row sub_col add_diag " +
		"transpose rep_vector rep_row_vector rep_matrix"
	bilinears = "multiply elt_multiply rows_dot_product columns_dot_product diag_pre_multiply diag_post_multiply"
	ofShapes  = "size rows cols num_elements"
)

// realForm finds the form of a function for the real versions of complex types.
func realForm(name string, params []types.Type) *Func {
	var ts []types.Type
	for _, p := range params {
		ts = append(ts, p.Leaves()[0].Type)
	}
	o, _, fail := types.Resolve(Universe().Lookup(name), ts)
	if fail != nil {
		panic("stdlib: no real form of " + name) // a row of the table below is wrong
	}
	return o.(*Func)
}

// apply applies a function of reals to the real or to the imaginary parts of the arguments.
func (f *Func) apply(b *Builder, a []pair, parts ...ad.Ref) ad.Ref {
	args := make([]Arg, len(a))
	for i, p := range a {
		args[i] = p.arg
		if p.isComplex() {
			args[i].Ref = parts[0]
			parts = parts[1:]
		}
	}
	return f.Build(b, args)
}

// linear applies a function of reals to the real and to the imaginary parts.
func linear(f *Func) meaning {
	return func(b *Builder, a []pair) []ad.Ref {
		var re, im []ad.Ref
		for _, p := range a {
			if p.isComplex() {
				re, im = append(re, p.re), append(im, p.im)
			}
		}
		return []ad.Ref{f.apply(b, a, re...), f.apply(b, a, im...)}
	}
}

// product2 builds a product of two complex arguments, given the product of reals.
func product2(f *Func) meaning {
	return func(b *Builder, a []pair) []ad.Ref {
		v := bilinear(b.G, z{a[0].re, a[0].im}, z{a[1].re, a[1].im}, func(x, y ad.Ref) ad.Ref { return f.apply(b, a, x, y) })
		return []ad.Ref{v.re, v.im}
	}
}

// elementwise applies a function of complex numbers to containers, all of one shape except scalars.
func elementwise(f func(g field, a []z) z) meaning {
	return func(b *Builder, a []pair) []ad.Ref {
		var args []z
		var flat []Arg
		var shape []int
		for _, p := range a {
			x := z{p.re, p.im}
			if !p.isComplex() {
				x.im = b.G.Const(0)
			}
			args, flat = append(args, x), append(flat, p.arg)
			if s := b.shape(p.arg); len(s) > 0 {
				shape = s
			}
		}
		b.sameSizes(flat)
		out := f(field{b.G}, args)
		return []ad.Ref{wide(b.G, out.re, shape), wide(b.G, out.im, shape)}
	}
}

// wide broadcasts a value to the shape of a result of which it is a part.
func wide(g *ad.Graph, x ad.Ref, shape []int) ad.Ref {
	if len(g.Type(x).Shape) == len(shape) {
		return x
	}
	return g.Broadcast(x, shape)
}

// complexMeaning returns the meaning of a form with complex arguments or results; nil for other
// forms.
func complexMeaning(name string, params []types.Type) meaning {
	one := func(v z) []ad.Ref { return []ad.Ref{v.re, v.im} }
	if f, ok := unaries[name]; ok {
		return elementwise(func(g field, a []z) z { return f(g, a[0]) })
	}
	if f, ok := realsOf[name]; ok {
		return func(b *Builder, a []pair) []ad.Ref { return []ad.Ref{f(field{b.G}, z{a[0].re, a[0].im})} }
	}
	is := func(names string) bool { return slices.Contains(strings.Fields(names), name) }
	switch {
	case is(linears):
		return linear(realForm(name, params))
	case is(bilinears):
		return product2(realForm(name, params))
	}
	switch name {
	case "pow":
		return elementwise(func(g field, a []z) z { return g.pow(a[0], a[1]) })
	case "divide", "elt_divide":
		return elementwise(func(g field, a []z) z { return g.div(a[0], a[1]) })
	case "to_complex":
		return elementwise(func(g field, a []z) z {
			out := z{g.Const(0), g.Const(0)}
			if len(a) > 0 {
				out.re = a[0].re
			}
			if len(a) > 1 {
				out.im = a[1].re
			}
			return out
		})
	case "polar":
		return func(b *Builder, a []pair) []ad.Ref { return one(field{b.G}.polar(a[0].re, a[1].re)) }
	case "logical_eq", "logical_neq":
		return func(b *Builder, a []pair) []ad.Ref {
			g, re, im := b.G, a[1].re, a[1].im
			if !a[1].isComplex() {
				im = g.Const(0)
			}
			same := g.Mul(g.Equal(a[0].re, re), g.Equal(a[0].im, im))
			if name == "logical_neq" {
				same = g.Do(ad.OpNot, nil, same)
			}
			return []ad.Ref{same}
		}
	case "dot_product": // with the conjugate of the first argument
		f := realForm(name, params)
		return func(b *Builder, a []pair) []ad.Ref {
			v := bilinear(b.G, field{b.G}.conj(z{a[0].re, a[0].im}), z{a[1].re, a[1].im}, func(x, y ad.Ref) ad.Ref { return f.apply(b, a, x, y) })
			return one(v)
		}
	case "dot_self", "columns_dot_self", "rows_dot_self": // these are sums of squared moduli
		f := realForm(name, params)
		return func(b *Builder, a []pair) []ad.Ref {
			sum := b.G.Add(f.apply(b, a, a[0].re), f.apply(b, a, a[0].im))
			return []ad.Ref{sum, wide(b.G, b.G.Const(0), b.G.Type(sum).Shape)}
		}
	case "prod":
		return func(b *Builder, a []pair) []ad.Ref {
			g := field{b.G}
			out := z{g.Const(1), g.Const(0)}
			for i := range b.size(a[0].arg) {
				x := z{g.Gather(a[0].re, ad.Index{Offset: i}), g.Gather(a[0].im, ad.Index{Offset: i})}
				if out = g.mul(out, x); i == 0 {
					out = x
				}
			}
			return one(out)
		}
	case "symmetrize_from_lower_tri": // the result is Hermitian
		f := realForm(name, params)
		return func(b *Builder, a []pair) []ad.Ref {
			n := b.shape(a[0].arg)[0]
			signs := b.G.Array(n, n)
			for i := range signs {
				signs[i] = 1
				if i%n > i/n {
					signs[i] = -1
				}
			}
			im := f.apply(b, a, a[0].im)
			return []ad.Ref{f.apply(b, a, a[0].re), b.G.Mul(im, b.G.ConstArray(ad.Type{Shape: []int{n, n}}, signs))}
		}
	case "fft", "inv_fft":
		return func(b *Builder, a []pair) []ad.Ref {
			g, n := b.G, b.size(a[0].arg)
			v := fourier(g, z{a[0].re, a[0].im}, 1, n, name == "inv_fft")
			return []ad.Ref{g.Reshape(v.re, []int{n}), g.Reshape(v.im, []int{n})}
		}
	case "fft2", "inv_fft2": // transform the rows, and then the columns
		return func(b *Builder, a []pair) []ad.Ref {
			g, s := b.G, b.shape(a[0].arg)
			v := fourier(g, z{a[0].re, a[0].im}, s[0], s[1], name == "inv_fft2")
			v = fourier(g, z{g.Transpose(v.re), g.Transpose(v.im)}, s[1], s[0], name == "inv_fft2")
			return []ad.Ref{g.Transpose(v.re), g.Transpose(v.im)}
		}
	case "eigenvalues", "eigenvectors", "eigendecompose", "complex_schur_decompose_t", "complex_schur_decompose_u", "complex_schur_decompose":
		return func(b *Builder, a []pair) []ad.Ref {
			b.square([]Arg{a[0].arg}, 0)
			re, im := a[0].parts(b.G)
			if strings.HasPrefix(name, "complex") {
				tRe, tIm, uRe, uIm := b.G.Schur(re, im)
				return halves(name, "complex_schur_decompose_u", "complex_schur_decompose_t", []ad.Ref{uRe, uIm}, []ad.Ref{tRe, tIm})
			}
			lRe, lIm, vRe, vIm := b.G.Eigen(re, im)
			return halves(name, "eigenvectors", "eigenvalues", []ad.Ref{vRe, vIm}, []ad.Ref{lRe, lIm})
		}
	case "eigenvalues_sym", "eigenvectors_sym", "eigendecompose_sym":
		return func(b *Builder, a []pair) []ad.Ref {
			values, vectors := b.hermitian(z{a[0].re, a[0].im}, b.square([]Arg{a[0].arg}, 0))
			zeros := wide(b.G, b.G.Const(0), b.G.Type(values).Shape)
			return halves(name, "eigenvectors_sym", "eigenvalues_sym", []ad.Ref{vectors.re, vectors.im}, []ad.Ref{values, zeros})
		}
	case "singular_values", "svd_U", "svd_V", "svd":
		return func(b *Builder, a []pair) []ad.Ref {
			s, u, v := b.complexSingular(z{a[0].re, a[0].im})
			switch name {
			case "singular_values":
				return []ad.Ref{s}
			case "svd_U":
				return one(u)
			case "svd_V":
				return one(v)
			}
			return []ad.Ref{u.re, u.im, s, v.re, v.im}
		}
	case "mdivide_right":
		return func(b *Builder, a []pair) []ad.Ref {
			b.systems([]Arg{a[0].arg, a[1].arg}, 1, 0, 1)
			g, shape := b.G, b.shape(a[0].arg)
			matrix := func(x ad.Ref) ad.Ref { return b.asMatrix(Arg{Type: a[0].arg.Type, Ref: x}) }
			// Transpose the equation: Xᵀ solves AᵀXᵀ = Bᵀ, as a real system of twice the size.
			re, im := g.Transpose(a[1].re), g.Transpose(a[1].im)
			y := g.Solve(blocks(g, re, g.Neg(im), im, re), below(g, g.Transpose(matrix(a[0].re)), g.Transpose(matrix(a[0].im))))
			n, k := b.shape(a[1].arg)[0], g.Type(y).Shape[1]
			top, bottom := g.Slice(y, 0, []int{n, k}), g.Slice(y, n*k, []int{n, k})
			return []ad.Ref{g.Reshape(g.Transpose(top), shape), g.Reshape(g.Transpose(bottom), shape)}
		}
	}
	return nil
}

// fourier transforms k rows of n numbers.
func fourier(g *ad.Graph, x z, k, n int, inverse bool) z {
	shape := []int{k, n}
	re, im := g.Fourier(g.Reshape(x.re, shape), g.Reshape(x.im, shape), inverse)
	if inverse && n > 0 {
		re, im = g.Scale(1/float64(n), re), g.Scale(1/float64(n), im)
	}
	return z{re, im}
}

// parts returns the real and imaginary part of an argument, which may be real.
func (p pair) parts(g *ad.Graph) (re, im ad.Ref) {
	if p.isComplex() {
		return p.re, p.im
	}
	return p.re, g.Broadcast(g.Const(0), g.Type(p.re).Shape)
}

// halves returns the result of a function of a decomposition, which is the first part, the second,
// or both.
func halves(name, first, second string, a, b []ad.Ref) []ad.Ref {
	switch name {
	case first:
		return a
	case second:
		return b
	}
	return slices.Concat(a, b)
}

// hermitian decomposes a Hermitian matrix. It reads the lower triangle.
func (b *Builder) hermitian(h z, n int) (values ad.Ref, vectors z) {
	g := b.G
	below := g.Array(n, n)
	for i := range n {
		for j := range i {
			below[i*n+j] = 1
		}
	}
	mask := g.ConstArray(ad.Type{Shape: []int{n, n}}, below)
	re, im := g.Mul(mask, h.re), g.Mul(mask, h.im)
	diagonal := g.Mul(eye(g, n), h.re)
	re, im = g.Add(diagonal, g.Add(re, g.Transpose(re))), g.Sub(im, g.Transpose(im))
	values, vectors.re, vectors.im = g.EigenHermitian(re, im)
	return values, vectors
}

// complexSingular returns the thin singular value decomposition. The Hermitian matrix [0 A; Aᴴ 0]
// has the eigenvalues ±σ with eigenvectors (u, ±v)/√2 (Golub & Van Loan, section 8.6.1). So nothing
// is squared, and the derivatives are those of its eigendecomposition. Where σ is small compared
// with the greatest, rounding mixes (u, v) with (-u, v), so the vectors are not yet orthonormal.
// Where σ is 0, any orthonormal vectors will do.
func (b *Builder) complexSingular(a z) (s ad.Ref, u, v z) {
	g := b.G
	shape := g.Type(a.re).Shape
	r, c := shape[0], shape[1]
	n, k := r+c, min(r, c)
	low := func(x ad.Ref) ad.Ref { return g.Scatter(x, dims(r*n, c, n, r, 1), []int{n, n}) }
	values, vectors := b.hermitian(z{low(g.Transpose(a.re)), low(g.Neg(g.Transpose(a.im)))}, n)
	s = g.Gather(values, dims(n-1, k, -1))
	part := func(from, rows int) z {
		ix := dims(from*n+n-1, rows, n, k, -1)
		re, im := g.Orthonormal(g.Scale(math.Sqrt2, g.Gather(vectors.re, ix)), g.Scale(math.Sqrt2, g.Gather(vectors.im, ix)))
		return z{re, im}
	}
	return s, part(0, r), part(r, c)
}

// below puts one matrix below another.
func below(g *ad.Graph, a, b ad.Ref) ad.Ref {
	s, t := g.Type(a).Shape, g.Type(b).Shape
	flat := g.Concat(g.Reshape(a, []int{s[0] * s[1]}), g.Reshape(b, []int{t[0] * t[1]}))
	return g.Reshape(flat, []int{s[0] + t[0], s[1]})
}

// blocks returns the matrix [a b; c d].
func blocks(g *ad.Graph, a, b, c, d ad.Ref) ad.Ref {
	left := below(g, a, c)
	right := below(g, b, d)
	return g.Transpose(below(g, g.Transpose(left), g.Transpose(right)))
}
