package data

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Builder makes a set from elements added one by one, with the first index changing fastest or
// slowest.
type Builder struct {
	set   *Set
	elems map[string][]element
	names []string
}

type element struct {
	at    []int
	value float64
	whole bool
}

// NewBuilder returns an empty builder.
func NewBuilder() *Builder { return &Builder{set: Empty(), elems: map[string][]element{}} }

// Add adds an element. index is its index, such as "2.1", or "" for a scalar. whole means that the
// variable has integers.
func (b *Builder) Add(name, index string, value float64, whole bool) error {
	var at []int
	if index != "" {
		for part := range strings.SplitSeq(index, ".") {
			i, err := strconv.Atoi(part)
			if err != nil || i < 1 {
				return fmt.Errorf("%s.%s is no element", name, index)
			}
			at = append(at, i-1)
		}
	}
	if b.elems[name] == nil {
		b.names = append(b.names, name)
	}
	b.elems[name] = append(b.elems[name], element{at, value, whole})
	return nil
}

// Set returns the set of all added elements. Missing elements are NaN.
func (b *Builder) Set() *Set {
	for _, name := range b.names {
		elems := b.elems[name]
		v := Value{IsInt: elems[0].whole}
		for range elems[0].at {
			v.Shape = append(v.Shape, 0)
		}
		for _, e := range elems {
			for d, i := range e.at {
				v.Shape[d] = max(v.Shape[d], i+1)
			}
		}
		n := 1
		for _, d := range v.Shape {
			n *= d
		}
		v.Reals = slices.Repeat([]float64{math.NaN()}, n)
		for _, e := range elems {
			k := 0
			for d, i := range e.at {
				k = k*v.Shape[d] + i
			}
			v.Reals[k] = e.value
		}
		if v.IsInt {
			for _, x := range v.Reals {
				v.Ints = append(v.Ints, int64(x))
			}
		}
		b.set.add(name, v)
	}
	return b.set
}

// Replace returns the set with values replaced by those of another set. The value x of the other
// set replaces rename[x], if rename has x.
func (s *Set) Replace(with *Set, rename map[string]string) *Set {
	out := Empty()
	out.names, out.faults, out.levels = slices.Clone(s.names), s.faults, s.levels
	for name, v := range s.values {
		out.values[name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(with.values)) { // always in the same order
		v := with.values[name]
		to, ok := rename[name]
		if !ok {
			to = name
		}
		if !slices.Contains(out.names, to) {
			out.names = append(out.names, to)
		}
		out.values[to] = v
	}
	return out
}
