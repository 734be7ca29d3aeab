package stdlib

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: the functions that are derived from a Dist.

// funcs returns the functions that are derived from a Dist.
func (d *Dist) funcs() []Func {
	var sets, rngSets []types.Set
	if d.Discrete {
		sets = append(sets, types.Ints)
	} else {
		sets = append(sets, types.Reals)
	}
	for _, p := range d.Params {
		if p.Int {
			sets, rngSets = append(sets, types.Ints), append(rngSets, types.Ints)
		} else {
			sets, rngSets = append(sets, types.Reals), append(rngSets, types.AnyReals)
		}
	}
	name, each, kind := d.densityName(), tReal, "density"
	if d.Discrete {
		each, kind = tInt, "mass"
	}
	fs := []Func{{Name: name, Overload: types.Density(name, sets...), Terms: d.terms, In: d.domains(), Example: d.Examples, Dist: d,
		Doc: "The logarithm of the " + kind + " of " + d.Doc, Statements: d.statements()}}
	add := func(suffix, doc string, f build) {
		name := d.Name + suffix
		fs = append(fs, Func{Name: name, Overload: types.Density(name, sets...), Doc: doc + d.Doc, Build: f, In: d.domains(), Dist: d})
	}
	if d.LogCDF != nil {
		add("_cdf", "The probability of at most y under ", func(b *Builder, a []Arg) ad.Ref {
			return b.G.Exp(d.distribution(b, a, false, d.LogCDF))
		})
		add("_lcdf", "The logarithm of the probability of at most y under ", func(b *Builder, a []Arg) ad.Ref {
			return d.distribution(b, a, false, d.LogCDF)
		})
	}
	if d.LogCCDF != nil {
		add("_lccdf", "The logarithm of the probability of more than y under ", func(b *Builder, a []Arg) ad.Ref {
			return d.distribution(b, a, true, d.LogCCDF)
		})
	}
	if d.Rand != nil {
		name := d.Name + "_rng"
		fs = append(fs, Func{Name: name, Overload: types.Generator(name, each, rngSets...), Doc: "A draw from " + d.Doc,
			Build: d.draw, Random: true, In: d.domains()[1:], Dist: d})
	}
	return fs
}

func (d *Dist) densityName() string {
	if d.Discrete {
		return d.Name + "_lpmf"
	}
	return d.Name + "_lpdf"
}

// domains returns the domains of the variate and the parameters.
func (d *Dist) domains() []types.Constraint {
	y := d.Support
	if y == (types.Constraint{}) {
		y = d.Variate
	}
	cs := []types.Constraint{y}
	for _, p := range d.Params {
		cs = append(cs, p.In)
	}
	return cs
}

func refs(a []Arg) []ad.Ref {
	rs := make([]ad.Ref, len(a))
	for i := range a {
		rs[i] = a[i].Ref
	}
	return rs
}

// what returns the name of argument i, for messages.
func (d *Dist) what(i int) string {
	if i == 0 {
		return "Random variable"
	}
	return d.Params[i-1].Is
}

// common returns the common number of elements of the arguments, 1 if all are scalars. It fails if
// sizes differ; what names argument i in the message.
func (b *Builder) common(a []Arg, what func(i int) string) int {
	first := -1
	for i := range a {
		switch s := b.shape(a[i]); {
		case len(s) == 0:
		case first < 0:
			first = i
		case !slices.Equal(s, b.shape(a[first])):
			b.Fail("%s has %s, but %s has %s", what(first), sizeText(b.shape(a[first])), what(i), sizeText(s))
		}
	}
	if first < 0 {
		return 1
	}
	return b.size(a[first])
}

// checks adds the checks of the arguments. variate is the check of the first one, which generators
// do not have. If Dist.CDFVariate lets distribution functions take a variate outside its support,
// they also take it beyond ends that are parameters, such as a binomial count above N.
func (d *Dist) checks(b *Builder, y []Arg, variate types.Constraint, p []Arg) {
	if y != nil {
		check(b.G, b.Name, d.what(0), variate, y[0].Ref)
	}
	for i, a := range p {
		in := d.Params[i].In
		if c := d.Params[i].Draws; y == nil && c != (types.Constraint{}) {
			in = c
		}
		check(b.G, b.Name, d.what(i+1), in, a.Ref)
	}
	beyond := d.CDFVariate != (types.Constraint{}) && variate == d.CDFVariate
	for _, r := range d.Relations {
		if (y == nil || beyond) && (r.Arg == 0 || r.Than == 0) {
			continue
		}
		at := func(i int) ad.Ref {
			if i == 0 {
				return y[0].Ref
			}
			return p[i-1].Ref
		}
		op, text := ad.OpLess, " must be at least "
		wrong := func(than, x float64) bool { return x < than }
		if r.Strict {
			op, text = ad.OpLessEqual, " must be greater than "
			wrong = func(than, x float64) bool { return x <= than }
		}
		bad := b.G.Do(op, nil, at(r.Arg), at(r.Than))
		rejectWhere(b.G, wrong, bad, b.Name+": "+d.what(r.Arg), ad.MessagePart{Arg: ad.Which}, text, at(r.Than), ", but is ", at(r.Arg))
	}
}

// terms makes Func.Terms for a density.
func (d *Dist) terms(b *Builder, a []Arg) []ad.Ref {
	g := b.G
	n := b.common(a, d.what)
	d.checks(b, a[:1], d.Variate, a[1:])
	if n == 0 {
		return nil
	}
	var param uint // has a bit for each argument of parameter level
	for i := range a {
		if a[i].Param {
			param |= 1 << i
		}
	}
	if b.Propto && param == 0 {
		return nil
	}
	y, inside := d.inSupport(g, a[0].Ref)
	var sum []ad.Ref
	terms := d.Terms(g, y, refs(a[1:]))
	dropped := func(t Term) bool { return b.Propto && t.Of&param == 0 }
	if d.Whole != nil && !slices.ContainsFunc(terms, dropped) {
		terms = d.Whole(g, y, refs(a[1:]))
		dropped = func(Term) bool { return false }
	}
	for _, t := range terms {
		if dropped(t) {
			continue
		}
		v := t.Value
		if t.Make != nil {
			v = t.Make()
		}
		w := t.Weight
		if w == 0 {
			w = 1
		}
		if len(g.Type(v).Shape) > 0 {
			v = g.Sum(v)
		} else if !t.Total {
			w *= float64(n)
		}
		sum = append(sum, g.Scale(w, v))
	}
	if inside != ad.None {
		sum = append(sum, g.Sum(inside))
	}
	return sum
}

// statements makes Func.Statements for a density.
func (d *Dist) statements() func(b *Builder, a []Arg) []ad.Statement {
	if d.Information == nil {
		return nil
	}
	return func(b *Builder, a []Arg) []ad.Statement {
		if b.common(a, d.what) == 0 {
			return nil
		}
		info := d.Information
		if d.Half != nil && a[0].Lower != nil {
			location := 0.0
			known := true
			if n := len(a); n > 1 {
				var v []float64
				v, known = b.G.Value(a[n-2].Ref)
				known = known && len(v) > 0 && !slices.ContainsFunc(v, func(x float64) bool { return x != v[0] })
				if known {
					location = v[0]
				}
			}
			if known && location == *a[0].Lower {
				info = d.Half
			}
		}
		return []ad.Statement{{Args: refs(a), Info: info}}
	}
}

// inSupport returns y with values outside the support replaced by one inside, and an addend that is
// -Inf for those and 0 for others; None if all are known to be inside.
func (d *Dist) inSupport(g *ad.Graph, y ad.Ref) (safe, inside ad.Ref) {
	c := d.Support
	if c == (types.Constraint{}) || c == d.Variate {
		return y, ad.None
	}
	if v, ok := g.Value(y); ok && !slices.ContainsFunc(v, func(x float64) bool { return !c.Contains(x) }) {
		return y, ad.None
	}
	in := ad.None
	and := func(x, y ad.Ref, open bool) {
		op := ad.OpLessEqual
		if open {
			op = ad.OpLess
		}
		r := g.Do(op, nil, x, y)
		if in != ad.None {
			r = g.Mul(in, r)
		}
		in = r
	}
	if !math.IsInf(c.Lo, 0) {
		and(g.Const(c.Lo), y, c.LoOpen)
	}
	if !math.IsInf(c.Hi, 0) {
		and(y, g.Const(c.Hi), c.HiOpen)
	}
	return g.Select(in, y, g.Const(within(c))), g.Select(in, g.Const(0), g.Const(math.Inf(-1)))
}

// within returns some number in an interval, which is longer than 1 or has two ends.
func within(c types.Constraint) float64 {
	switch lo, hi := !math.IsInf(c.Lo, 0), !math.IsInf(c.Hi, 0); {
	case lo && hi:
		return (c.Lo + c.Hi) / 2
	case lo:
		return c.Lo + 1
	case hi:
		return c.Hi - 1
	}
	return 1
}

// toEnds returns a log distribution function or, with upper, its complement, at y. At the ends of
// the support, and beyond, the result is 0 or negative infinity for all parameters and so has no
// derivatives; formulas would give 0·∞ there. Truncation is often at an end: T[0, ], or bounds in
// the data that are infinite.
//
// If y depends on parameters, this holds only for finite ends outside the support: at other ends
// there is a density, and so a derivative with respect to y.
func (d *Dist) toEnds(g *ad.Graph, variate Arg, upper bool, f func(y ad.Ref) ad.Ref) ad.Ref {
	y, c := variate.Ref, d.Support
	if c == (types.Constraint{}) {
		c = d.Variate
	}
	if c == (types.Constraint{}) || d.Discrete {
		return f(y)
	}
	none, all := g.Const(negInf), g.Const(0)
	if upper {
		none, all = all, none
	}
	below, above := true, true
	if variate.Param {
		below, above = c.LoOpen && !math.IsInf(c.Lo, 0), c.HiOpen && !math.IsInf(c.Hi, 0)
	}
	if v, known := g.Value(y); known {
		low, high := 0, 0
		for _, y := range v {
			if y <= c.Lo {
				low++
			} else if y >= c.Hi {
				high++
			}
		}
		switch len(v) {
		case low:
			return none
		case high:
			return all
		}
		below, above = low > 0, high > 0
	}
	if !below && !above {
		return f(y)
	}
	low, high := g.Do(ad.OpLessEqual, nil, y, g.Const(c.Lo)), g.Do(ad.OpLessEqual, nil, g.Const(c.Hi), y)
	inside := y
	if below {
		inside = g.Select(low, g.Const(within(c)), inside)
	}
	if above {
		inside = g.Select(high, g.Const(within(c)), inside)
	}
	v := f(inside)
	if below {
		v = g.Select(low, none, v)
	}
	if above {
		v = g.Select(high, all, v)
	}
	return v
}

// distribution returns the sum of a log distribution function or, with upper, of its complement
// over the elements.
func (d *Dist) distribution(b *Builder, a []Arg, upper bool, f func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref) ad.Ref {
	n := b.common(a, d.what)
	variate := d.CDFVariate
	if variate == (types.Constraint{}) {
		variate = d.Variate
	}
	d.checks(b, a[:1], variate, a[1:])
	if n == 0 {
		return b.G.Const(0)
	}
	for i := range a {
		if _, known := b.G.Value(a[i].Ref); d.CDFCounts && a[i].Type.Kind == types.Int && !known {
			b.FailUnknown("argument %d must be known when the data are bound", i+1)
		}
	}
	v := d.toEnds(b.G, a[0], upper, func(y ad.Ref) ad.Ref { return f(b.G, y, refs(a[1:])) })
	if len(b.G.Type(v).Shape) > 0 {
		return b.G.Sum(v)
	}
	return b.G.Scale(float64(n), v)
}

// draw makes Func.Build for a generator.
func (d *Dist) draw(b *Builder, a []Arg) ad.Ref {
	b.common(a, func(i int) string { return d.what(i + 1) })
	d.checks(b, nil, types.Any, a)
	v := b.random(d.Name, d.Rand, refs(a)...)
	if d.Discrete {
		check(b.G, b.Name, "the draw", types.Int32, v)
	}
	return v
}

// random draws one number for every element of the arguments, separately in each lane of the call.
func (b *Builder) random(name string, draw func(rng *rand.Rand, p []float64) float64, p ...ad.Ref) ad.Ref {
	g := b.G
	if b.Lanes > 0 && !slices.ContainsFunc(p, func(r ad.Ref) bool { return g.Type(r).Lanes > 0 }) {
		if len(p) == 0 {
			p = []ad.Ref{g.Const(0)}
		}
		p[0] = g.Spread(p[0], b.Lanes)
	}
	return g.Do(ad.OpRandom, &ad.RandomDraw{Name: name, Draw: draw}, p...)
}

// Parameters names the arguments of a density or of another function of a
// distribution, for messages; nil for other functions.
func (f *Func) Parameters() []string {
	if f.Dist == nil {
		return nil
	}
	var out []string
	for _, p := range f.Dist.Params {
		out = append(out, p.Name+", the "+strings.ToLower(p.Is))
	}
	return out
}

// ArgumentNames returns the names of all arguments of a density or of another function of a
// distribution; nil for other functions.
func (f *Func) ArgumentNames() []string {
	if f.Dist == nil {
		return nil
	}
	var out []string
	if !f.Random {
		out = append(out, "y")
	}
	for _, p := range f.Dist.Params {
		out = append(out, p.Name)
	}
	return out
}
