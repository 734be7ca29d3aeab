package stdlib

import (
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// The rule for ints, of all evaluators. An int that comes from outside has 32 bits, as Stan's
// have: literals, data, and what generators draw. Arithmetic is exact up to ±2⁵³, to which
// graphs hold ints exactly as float64; a result beyond is an error, whether the operands are
// known when the data are bound (Func.Int) or not (Func.Build).

// maxInt bounds the results of integer arithmetic.
const maxInt = 1 << 53

// Constraints on ints, with the words of messages.
var (
	inRange   = types.Constraint{Text: "an int between -2⁵³ and 2⁵³", Lo: -maxInt, Hi: maxInt}
	drawnInts = types.Constraint{Text: "an int of 32 bits", Lo: math.MinInt32, Hi: math.MaxInt32}
)

// Messages call what is not in range the result; that of arithmetic has overflowed.
const (
	result   = "the result"
	tooLarge = "integer overflow: " + result
)

// noInt is the error of a result that is not in range, in the words of a failed check.
func noInt(x float64) error {
	what := tooLarge
	if math.IsNaN(x) {
		what = result
	}
	return fmt.Errorf("%s must be %s, but is %s", what, inRange.Text, ad.FormatNumber(x))
}

// exact is the result of an integer operation unless it is out of range.
func exact(v int64) (int64, error) {
	if v > maxInt || v < -maxInt {
		return 0, noInt(float64(v))
	}
	return v, nil
}

func add(x, y int64) (int64, error) { return exact(x + y) }

func sub(x, y int64) (int64, error) { return exact(x - y) }

func mulInt(x, y int64) (int64, error) {
	if x != 0 {
		if p := x * y; p/x != y || p > maxInt || p < -maxInt {
			return 0, noInt(float64(x) * float64(y))
		}
	}
	return x * y, nil
}

// Whole is the int that a function computed as a real.
func Whole(x float64) (int64, error) {
	if !(math.Abs(x) <= maxInt) {
		return 0, noInt(x)
	}
	return int64(x), nil
}

// intBounded adds the check of a result to a function of ints that are not known.
func intBounded(f build) build {
	return func(b *Builder, a []Arg) ad.Ref {
		v := f(b, a)
		check(b.G, b.Name, tooLarge, inRange, v)
		return v
	}
}

// intSum is intBounded for sums and differences. Steps of a known size are not checked:
// counters do not get as far.
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
