package stdlib

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: helpers for densities that are not univariate, which declare their Func directly.

// param returns a number whose bit i is set if argument i is of parameter level.
func param(a []Arg) (bits uint) {
	for i := range a {
		if a[i].Param {
			bits |= 1 << i
		}
	}
	return bits
}

// kept drops the terms that Propto drops, and sums the elements of the others. In Term.Of, bits
// count the arguments of the call from 0.
func (b *Builder) kept(a []Arg, ts ...Term) []ad.Ref {
	bits := param(a)
	var out []ad.Ref
	for _, t := range ts {
		if b.Propto && t.Of&bits == 0 {
			continue
		}
		v := t.Value
		if t.Make != nil {
			v = t.Make()
		}
		v = b.G.Sum(v)
		if t.Weight != 0 {
			v = b.G.Scale(t.Weight, v)
		}
		out = append(out, v)
	}
	return out
}

// density declares a density or mass that is not a Dist.
func density(name, doc string, sets []types.Set, in []types.Constraint, terms func(b *Builder, a []Arg) []ad.Ref) Func {
	return Func{Name: name, Doc: doc, Overload: types.Density(name, sets...), Terms: terms, In: in}
}

// rows returns the number of vectors in an argument that is a vector or an array of vectors, and
// their length.
func (b *Builder) rows(a Arg) (n, k int) {
	s := b.shape(a)
	if len(s) == 1 {
		return 1, s[0]
	}
	return s[0], s[1]
}

// sameRows repeats a vector if others are arrays of vectors. It returns the arguments with shape [n
// k] or, if all are single vectors, [k].
func (b *Builder) sameRows(a []Arg, what ...string) (vs []ad.Ref, n, k int) {
	n, k = 1, -1
	many := -1
	for i := range a {
		r, c := b.rows(a[i])
		if len(b.shape(a[i])) == 2 {
			if many >= 0 && r != n {
				b.Fail("%s has %d elements, but %s has %d", what[many], n, what[i], r)
			}
			many, n = i, r
			if r == 0 {
				continue // an array without elements has vectors of no known size
			}
		}
		if k >= 0 && c != k {
			b.Fail("%s has size %d, but %s has size %d", what[0], k, what[i], c)
		}
		k = c
	}
	for i := range a {
		v := a[i].Ref
		if many >= 0 && len(b.shape(a[i])) == 1 {
			v = alongRows(b.G, v, []int{n, k})
		}
		vs = append(vs, v)
	}
	return vs, n, k
}

// sumLast adds up the last dimension.
func sumLast(g *ad.Graph, x ad.Ref) ad.Ref {
	if s := g.Type(x).Shape; len(s) == 2 {
		return sumRows(g, x)
	}
	return g.Sum(x)
}

// shifted returns an int argument plus c.
func (b *Builder) shifted(a Arg, c int64) Arg {
	a.Ref = plus(b.G, a.Ref, float64(c))
	a.Ints = slices.Clone(a.Ints)
	for i := range a.Ints {
		a.Ints[i] += c
	}
	return a
}
