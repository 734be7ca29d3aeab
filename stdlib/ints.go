package stdlib

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// intBounded adds a check of the result to a function of ints that are only known when the program
// runs. lang/types/ints.go has the rule.
func intBounded(f build) build {
	return func(b *Builder, a []Arg) ad.Ref {
		v := f(b, a)
		check(b.G, b.Name, types.IntOverflow, types.IntRange, v)
		return v
	}
}

// intSum is intBounded for sums and differences. Steps of a known size are not checked: counters do
// not reach the bound.
func intSum(f fun2) build {
	plain, checked := of2(f), intBounded(of2(f))
	return func(b *Builder, a []Arg) ad.Ref {
		for _, x := range a {
			v, known := b.G.Value(x.Ref)
			if known && !slices.ContainsFunc(v, func(x float64) bool { return math.Abs(x) > math.MaxInt32 }) {
				return plain(b, a)
			}
		}
		return checked(b, a)
	}
}
