package stdlib

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: helpers for declarations.

// The types of arguments and results in declarations.
var (
	tInt  = types.IntType
	tReal = types.RealType
	tVec  = types.VectorType
	tRow  = types.RowVectorType
	tMat  = types.MatrixType
)

type (
	build = func(b *Builder, a []Arg) ad.Ref
	fun1  = func(g *ad.Graph, x ad.Ref) ad.Ref
	fun2  = func(g *ad.Graph, x, y ad.Ref) ad.Ref
	fun3  = func(g *ad.Graph, x, y, z ad.Ref) ad.Ref
)

// op1 and op2 return the function that an op computes.
func op1(op ad.OpCode) fun1 {
	return func(g *ad.Graph, x ad.Ref) ad.Ref { return g.Do(op, nil, x) }
}

func op2(op ad.OpCode) fun2 {
	return func(g *ad.Graph, x, y ad.Ref) ad.Ref { return g.Do(op, nil, x, y) }
}

// of1, of2 and of3 make a Build for an elementwise function. It reports arguments with different
// sizes.
func of1(f fun1) build {
	return func(b *Builder, a []Arg) ad.Ref { return f(b.G, a[0].Ref) }
}

func of2(f fun2) build {
	return func(b *Builder, a []Arg) ad.Ref {
		b.sameSizes(a)
		return f(b.G, a[0].Ref, a[1].Ref)
	}
}

func of3(f fun3) build {
	return func(b *Builder, a []Arg) ad.Ref {
		b.sameSizes(a)
		return f(b.G, a[0].Ref, a[1].Ref, a[2].Ref)
	}
}

// fixed declares a single signature.
func fixed(name, doc string, result types.Type, params []types.Type, f build) Func {
	return Func{Overload: types.Fixed{Name: name, Params: params, Result: result}, Name: name, Doc: doc, Build: f}
}

// fixedEach declares a signature for each of several first parameters. The result has the first
// parameter's type if result is Invalid.
func fixedEach(name, doc string, result types.Type, firsts []types.Type, rest []types.Type, f build) []Func {
	var fs []Func
	for _, t := range firsts {
		r := result
		if r.Kind == types.Invalid {
			r = t
		}
		fs = append(fs, fixed(name, doc, r, append([]types.Type{t}, rest...), f))
	}
	return fs
}

func list(ts ...types.Type) []types.Type { return ts }

// with sets fields that few declarations need.
func (f Func) with(set func(f *Func)) Func { set(&f); return f }

// in declares the domain of the arguments.
func (f Func) in(cs ...types.Constraint) Func { f.In = cs; return f }

// drawnFrom declares a part of the domain of an argument whose domain depends on sizes or on other
// arguments. Tests and examples take their arguments from it. It is not checked, so it has no text.
func drawnFrom(lo, hi float64) types.Constraint { return types.Constraint{Lo: lo, Hi: hi} }

// example adds an executed example.
func (f Func) example(call, value string) Func {
	f.Example = append(slices.Clip(f.Example), Example{Call: call, Value: value})
	return f
}

// shape returns the shape of an argument in one lane.
func (b *Builder) shape(a Arg) []int { return b.G.Type(a.Ref).Shape }

// size returns the number of elements of an argument.
func (b *Builder) size(a Arg) int { return b.G.Type(a.Ref).Size() }

// flat returns the argument as a vector, in the order of storage.
func (b *Builder) flat(a Arg) ad.Ref { return b.G.Reshape(a.Ref, []int{b.size(a)}) }

// sameSizes fails unless all arguments that are not scalars have one shape.
func (b *Builder) sameSizes(a []Arg) {
	first := -1
	for i := range a {
		s := b.shape(a[i])
		switch {
		case len(s) == 0:
		case first < 0:
			first = i
		case !slices.Equal(s, b.shape(a[first])):
			b.Fail("sizes do not match: argument %d has %s, argument %d has %s",
				first+1, sizeText(b.shape(a[first])), i+1, sizeText(s))
		}
	}
}

// sizeText writes the shape of a value for a message.
func sizeText(shape []int) string {
	switch len(shape) {
	case 0:
		return "no size"
	case 1:
		return "size " + ad.FormatNumber(float64(shape[0]))
	}
	s := "sizes "
	for i, n := range shape {
		if i > 0 {
			s += " by "
		}
		s += ad.FormatNumber(float64(n))
	}
	return s
}

// wholes returns the value of argument i, which is one or more ints, such as a size. It must be
// known when the data are bound.
func (b *Builder) wholes(a []Arg, i int) []int64 {
	if a[i].Ints == nil && b.size(a[i]) > 0 {
		v, ok := b.G.Value(a[i].Ref)
		if !ok || b.G.Type(a[i].Ref).Lanes > 0 {
			b.FailUnknown("argument %d must be known when the data are bound, and the same in all iterations of a loop", i+1)
		}
		ints := make([]int64, len(v))
		for k, x := range v {
			ints[k] = int64(x)
		}
		return ints
	}
	return a[i].Ints
}

// whole is wholes for a scalar.
func (b *Builder) whole(a []Arg, i int) int { return int(b.wholes(a, i)[0]) }

// length is whole for a size, which must not be negative.
func (b *Builder) length(a []Arg, i int) int {
	n := b.whole(a, i)
	if n < 0 {
		b.Fail("argument %d is a size and must be nonnegative, but is %d", i+1, n)
	}
	return n
}

// within fails unless lo ≤ v ≤ hi, where v is the value of argument i.
func (b *Builder) within(i, v, lo, hi int) {
	if v < lo || v > hi {
		b.Fail("argument %d is %d, which is not in the range %d to %d", i+1, v, lo, hi)
	}
}

// dims makes an Index from pairs (n, stride), one for each dimension.
func dims(offset int, pairs ...int) ad.Index {
	ix := ad.Index{Offset: offset}
	for i := 0; i < len(pairs); i += 2 {
		ix.Dims = append(ix.Dims, ad.Dim{N: pairs[i], Stride: pairs[i+1]})
	}
	return ix
}

// product returns the number of elements of a shape.
func product(shape []int) int { return ad.Type{Shape: shape}.Size() }

// check adds the check that x lies in c, unless x is a constant that does. Errors point to the
// call.
func check(g *ad.Graph, function, what string, c types.Constraint, x ad.Ref) {
	if c.NaN || c == (types.Constraint{}) {
		return
	}
	if v, ok := g.Value(x); ok && !slices.ContainsFunc(v, func(x float64) bool { return !c.Contains(x) }) {
		return
	}
	set := ad.Interval{Lo: c.Lo, Hi: c.Hi, LoOpen: c.LoOpen, HiOpen: c.HiOpen}
	g.Check(&ad.Check{Set: set, Function: function, Name: what, Want: c.Text}, x)
}

// rejectIf adds a rejection that runs if any element of cond is not 0. parts are the message's
// texts (string) and values (ad.Ref). It adds nothing if cond is known to be 0.
func rejectIf(g *ad.Graph, cond ad.Ref, parts ...any) { rejectWhere(g, nil, cond, parts...) }

// rejectWhere is rejectIf for a condition on the elements of the first two values. The part
// ad.Which is replaced by the elements that satisfy where.
func rejectWhere(g *ad.Graph, where func(x, y float64) bool, cond ad.Ref, parts ...any) {
	cond = g.Sum(cond)
	if v, ok := g.Value(cond); ok && !slices.ContainsFunc(v, func(x float64) bool { return x != 0 }) {
		return
	}
	m := &ad.Message{Where: where}
	var args []ad.Ref
	for _, p := range parts {
		switch p := p.(type) {
		case ad.MessagePart:
			m.Parts = append(m.Parts, p)
		case string:
			m.Parts = append(m.Parts, ad.MessagePart{Text: p, Arg: -1})
		case ad.Ref:
			m.Parts = append(m.Parts, ad.MessagePart{Arg: len(args)})
			args = append(args, p)
		}
	}
	g.RejectIf(cond, m, args...)
}
