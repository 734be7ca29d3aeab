package stdlib

import (
	"slices"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// This file: the transforms of parameters as functions. Package transform has their formulas, in
// the edition with which the program is bound. This file has their types, sizes and checks of
// arguments.

// constraintForm describes a constrained type for its functions.
type constraintForm struct {
	name, is     string // name of a value in messages
	kind         types.ConstraintKind
	free, result types.Type
	sizes        []string // the sizes that a value needs, if the number of unconstrained numbers does not determine them
}

// constraintForms are the constrained types of the language.
func constraintForms() []constraintForm {
	var all []constraintForm
	for _, k := range types.ConstrainedTypes() {
		f := constraintForm{name: k.Function(), is: k.Is(), kind: k, free: tVec, result: k.Type()}
		rank := k.Type().Rank()
		switch {
		case len(transform.Of(k, transform.Stan239).Free(slices.Repeat([]int{1}, rank))) == 2:
			f.free = tMat
		case rank == 2 && k.Square():
			f.sizes = []string{"K"}
		case rank == 2:
			f.sizes = []string{"M", "N"}
		}
		all = append(all, f)
	}
	return all
}

// boundForms are the constraints of single numbers.
var boundForms = []struct {
	name, is string
	args     []string
	bounds   func(a []ad.Ref) transform.Bounds
	kind     types.ConstraintKind
}{
	{"lower_bound", "a number above a bound", []string{"lower bound"},
		func(a []ad.Ref) transform.Bounds { return transform.Bounds{Lower: a[0], Upper: ad.None} }, types.LowerUpper},
	{"upper_bound", "a number below a bound", []string{"upper bound"},
		func(a []ad.Ref) transform.Bounds { return transform.Bounds{Lower: ad.None, Upper: a[0]} }, types.LowerUpper},
	{"lower_upper_bound", "a number between two bounds", []string{"lower bound", "upper bound"},
		func(a []ad.Ref) transform.Bounds { return transform.Bounds{Lower: a[0], Upper: a[1]} }, types.LowerUpper},
	{"offset_multiplier", "a number shifted and scaled, offset + multiplier · x", []string{"offset", "multiplier"},
		func(a []ad.Ref) transform.Bounds { return transform.Bounds{Lower: a[0], Upper: a[1]} }, types.OffsetMultiplier},
}

// constraints declares the functions NAME_constrain, NAME_jacobian and
// NAME_unconstrain.
func constraints() []Func {
	var fs []Func
	texts := func(is, from string) (constrain, jacobian, unconstrain string) {
		constrain = is + " from " + from + ": the transform of a declared parameter of that kind, as in the chapter on constraint transforms of Stan's reference manual."
		constrain = strings.ToUpper(constrain[:1]) + constrain[1:]
		return constrain, constrain + " Adds the logarithm of the absolute Jacobian determinant to the log density.",
			"The unconstrained numbers of " + is + ", the inverse of the transform of a declared parameter of that kind."
	}
	for _, f := range constraintForms() {
		from := "unconstrained numbers"
		if f.sizes != nil {
			from += " and the " + map[bool]string{true: "size ", false: "sizes "}[len(f.sizes) == 1] + strings.Join(f.sizes, ", ")
		}
		constrain, jacobian, unconstrain := texts(f.is, from)
		add := func(suffix, doc string, o types.Overload, in types.Constraint, build build) {
			fs = append(fs, Func{Name: f.name + suffix, Overload: o, Doc: doc, Build: build, In: []types.Constraint{in}})
		}
		forward := func(b *Builder, a []Arg) ad.Ref { return b.constrained(f.kind, f.free, a) }
		add("_constrain", constrain, lifted(f.name+"_constrain", f.free, len(f.sizes), f.result), types.Constraint{},
			func(b *Builder, a []Arg) ad.Ref { b.Adjust = nil; return forward(b, a) })
		add("_jacobian", jacobian, lifted(f.name+"_jacobian", f.free, len(f.sizes), f.result), types.Constraint{}, forward)
		add("_unconstrain", unconstrain, lifted(f.name+"_unconstrain", f.result, 0, f.free), types.Structure(f.kind),
			func(b *Builder, a []Arg) ad.Ref { return b.unconstrained(f.kind, a[0]) })
	}
	for _, f := range boundForms {
		constrain, jacobian, unconstrain := texts(f.is, "an unconstrained number, for each element")
		add := func(suffix, doc string, build build) {
			name := f.name + suffix
			fs = append(fs, Func{Name: name, Overload: bounded(name, len(f.args)), Doc: doc, Build: func(b *Builder, a []Arg) ad.Ref {
				b.sameSizes(a)
				b.checkBounds(f.kind, f.args, a[1:])
				return build(b, a)
			}})
		}
		tr := transform.Of(f.kind, transform.Stan239) // it is the same in all editions
		forward := func(b *Builder, a []Arg) ad.Ref {
			shape := b.shape(a[0])
			y, jacobian := tr.Constrain(b.G, a[0].Ref, shape, f.bounds(refs(a[1:])))
			for _, j := range jacobian {
				b.adjust(b.G.Sum(b.G.Broadcast(j, shape)))
			}
			return b.G.Broadcast(y, shape)
		}
		add("_constrain", constrain, func(b *Builder, a []Arg) ad.Ref { b.Adjust = nil; return forward(b, a) })
		add("_jacobian", jacobian, forward)
		add("_unconstrain", unconstrain, func(b *Builder, a []Arg) ad.Ref {
			bounds := f.bounds(refs(a[1:]))
			if f.kind == types.LowerUpper {
				b.inBounds(a[0].Ref, bounds)
			}
			return tr.Unconstrain(b.G, a[0].Ref, bounds)
		})
	}
	return fs
}

// adjust adds an addend to the log Jacobian at the call.
func (b *Builder) adjust(r ad.Ref) {
	if b.Adjust != nil {
		b.Adjust(r)
	}
}

// constrained maps unconstrained numbers, one vector or matrix or an array of
// them, to values of a constrained type.
func (b *Builder) constrained(kind types.ConstraintKind, free types.Type, a []Arg) ad.Ref {
	tr := transform.Of(kind, b.Edition)
	dims := len(b.shape(a[0])) - free.Rank()
	given := b.shape(a[0])[dims:]
	var item []int
	switch {
	case len(a) > 1:
		for i := range a[1:] {
			item = append(item, b.length(a, i+1))
		}
		if kind.Square() {
			item = append(item, item[0])
		}
	default: // the transform removes numbers, so there must be more of them
		item = slices.Clone(given)
		probe := slices.Clone(item)
		for i := range probe {
			probe[i]++
		}
		for i, n := range tr.Free(probe) {
			item[i] += probe[i] - n
		}
	}
	what := strings.TrimSuffix(strings.TrimSuffix(b.Name, "_constrain"), "_jacobian")
	if wrong := kind.WrongSize(item); wrong != "" {
		b.Fail("a %s %s, but the argument has %s", what, wrong, sizeText(given))
	}
	if want := tr.Free(item); !slices.Equal(want, given) && !slices.Contains(b.shape(a[0])[:dims], 0) {
		b.Fail("argument 1 must have %s for a value with %s, but has %s", sizeText(want), sizeText(item), sizeText(given))
	}
	y, jacobian := tr.Each(b.G, dims, a[0].Ref, item, func(x ad.Ref) (ad.Ref, []ad.Ref) {
		return tr.Constrain(b.G, x, item, transform.Bounds{Lower: ad.None, Upper: ad.None})
	})
	for _, j := range jacobian {
		b.adjust(b.G.Sum(j))
	}
	return y
}

// unconstrained is the inverse of constrained. A value that is not of the type rejects the
// evaluation.
func (b *Builder) unconstrained(kind types.ConstraintKind, a Arg) ad.Ref {
	tr := transform.Of(kind, b.Edition)
	dims := a.Type.Dims
	item := b.shape(a)[dims:]
	if wrong := kind.WrongSize(item); wrong != "" {
		b.Fail("a %s %s, but the argument has %s", strings.TrimSuffix(b.Name, "_unconstrain"), wrong, sizeText(item))
	}
	if kind.Square() && item[0] != item[1] {
		b.Fail("argument 1 must be square, but has %s", sizeText(item))
	}
	b.require(kind, a.Ref, item)
	free := tr.Free(item)
	x, _ := tr.Each(b.G, dims, a.Ref, free, func(y ad.Ref) (ad.Ref, []ad.Ref) {
		return b.G.Broadcast(tr.Unconstrain(b.G, y, transform.Bounds{Lower: ad.None, Upper: ad.None}), free), nil
	})
	return x
}

// require adds the check that every item of x, which has shape item, is of a constrained type.
func (b *Builder) require(kind types.ConstraintKind, x ad.Ref, item []int) {
	size, name := product(item), b.Name
	if size == 0 {
		return
	}
	work := sync.Pool{New: func() any { w := make([]float64, size); return &w }}
	b.G.Require(&ad.Requirement{Wrong: func(x []float64) string {
		w := work.Get().(*[]float64)
		defer work.Put(w)
		for ; len(x) > 0; x = x[size:] {
			if wrong := kind.Wrong(item, x[:size], *w, types.Tolerance); wrong != "" {
				return name + ": the argument must be " + kind.Text() + ", but " + wrong
			}
		}
		return ""
	}}, b.G.Unlane(x))
}

// checkBounds adds the checks of the arguments of a constraint on numbers.
func (b *Builder) checkBounds(kind types.ConstraintKind, names []string, a []Arg) {
	g := b.G
	if kind == types.OffsetMultiplier {
		check(g, b.Name, "the "+names[0], types.Finite, a[0].Ref)
		check(g, b.Name, "the "+names[1], types.PositiveFinite, a[1].Ref)
		return
	}
	for i := range a {
		check(g, b.Name, "the "+names[i], types.NotNaN, a[i].Ref)
	}
	if len(a) == 2 {
		rejectWhere(g, func(lo, hi float64) bool { return !(lo < hi) }, g.Do(ad.OpNot, nil, g.Less(a[0].Ref, a[1].Ref)),
			b.Name+": the lower bound", ad.MessagePart{Arg: ad.Which}, " must be below the upper bound, but they are ", a[0].Ref, " and ", a[1].Ref)
	}
}

// inBounds adds the check that numbers are between bounds.
func (b *Builder) inBounds(x ad.Ref, bounds transform.Bounds) {
	g := b.G
	for i, bound := range []ad.Ref{bounds.Lower, bounds.Upper} {
		if bound == ad.None {
			continue
		}
		lo, hi, rel := bound, x, " must be at least "
		wrong := func(bound, x float64) bool { return !(bound <= x) }
		if i == 1 {
			lo, hi, rel = x, bound, " must be at most "
			wrong = func(bound, x float64) bool { return !(x <= bound) }
		}
		rejectWhere(g, wrong, g.Do(ad.OpNot, nil, g.Do(ad.OpLessEqual, nil, lo, hi)), b.Name+": the value", ad.MessagePart{Arg: ad.Which}, rel, bound, ", but is ", x)
	}
}

// lifted declares a function of a vector or matrix and some sizes that also takes arrays of any
// depth, and then returns arrays.
func lifted(name string, arg types.Type, sizes int, result types.Type) types.Overload {
	form := name + "(" + arg.String() + strings.Repeat(", int", sizes) + ") => " + result.String() + ", or arrays of these"
	return types.Computed{Form: form, Fit: func(args []types.Type) (types.Match, bool) {
		f := types.Fixed{Params: list(arg), Result: result}
		if len(args) > 0 {
			f.Params[0].Dims, f.Result.Dims = args[0].Dims, args[0].Dims
		}
		for range sizes {
			f.Params = append(f.Params, tInt)
		}
		return f.Match(args)
	}}
}

// bounded declares a function of a real container and n bounds, each a scalar or of the type of the
// container.
func bounded(name string, n int) types.Overload {
	form := name + "(T" + strings.Repeat(", real or T", n) + ") => T, T real or any container of it"
	return types.Computed{Form: form, Fit: func(args []types.Type) (types.Match, bool) {
		if len(args) != n+1 {
			return types.Match{Fault: types.Fault{Count: n + 1}}, false
		}
		t, ok := args[0].WithElem(types.Real)
		if !ok || args[0].Scalar() == types.Complex {
			return types.Match{Fault: types.Fault{Want: "real: a scalar, vector, matrix, or an array of these"}}, false
		}
		f := types.Fixed{Params: list(t), Result: t}
		for _, a := range args[1:] {
			if a.IsScalar() {
				f.Params = append(f.Params, tReal)
			} else {
				f.Params = append(f.Params, t)
			}
		}
		return f.Match(args)
	}}
}
