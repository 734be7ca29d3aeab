package types

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// This file: the rule for ints, for the checker, editors and all evaluators. An int from outside
// has 32 bits, as in Stan: literals, data, and draws of generators. Arithmetic is exact up to ±2⁵³,
// up to which float64 represents integers exactly. A larger result is an error, whether the
// operands are known before a run or not.

// MaxInt is the largest result of integer arithmetic.
const MaxInt = 1 << 53

// Constraints on ints, with the words of messages.
var (
	IntRange = Constraint{Text: "an int between -2⁵³ and 2⁵³", Lo: -MaxInt, Hi: MaxInt}
	Int32    = Constraint{Text: "an int of 32 bits", Lo: math.MinInt32, Hi: math.MaxInt32}
)

// The words of messages for a number that is not in IntRange.
const (
	IntResult   = "the result"
	IntOverflow = "integer overflow: " + IntResult // for the results of arithmetic
)

// notInt returns the error for a result that is not in range, in the words of a failed check.
func notInt(x float64) error {
	what := IntOverflow
	if math.IsNaN(x) {
		what = IntResult
	}
	text := strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(x, 'g', 6, 64)), "+")
	return fmt.Errorf("%s must be %s, but is %s", what, IntRange.Text, text)
}

func exactInt(v int64) (int64, error) {
	if v > MaxInt || v < -MaxInt {
		return 0, notInt(float64(v))
	}
	return v, nil
}

// AddInts returns x + y.
func AddInts(x, y int64) (int64, error) { return exactInt(x + y) }

// SubInts returns x - y.
func SubInts(x, y int64) (int64, error) { return exactInt(x - y) }

// MulInts returns x * y.
func MulInts(x, y int64) (int64, error) {
	if x != 0 {
		if p := x * y; p/x != y || p > MaxInt || p < -MaxInt {
			return 0, notInt(float64(x) * float64(y))
		}
	}
	return x * y, nil
}

// DivInts returns x / y, rounded toward zero as in C.
func DivInts(x, y int64) (int64, error) {
	if y == 0 {
		return 0, fmt.Errorf("%d is divided by zero", x)
	}
	return x / y, nil
}

// RemInts returns the remainder of x / y.
func RemInts(x, y int64) (int64, error) {
	if y == 0 {
		return 0, fmt.Errorf("%d is divided by zero", x)
	}
	return x % y, nil
}

// WholeInt converts the result of a function that computes an int as a real.
func WholeInt(x float64) (int64, error) {
	if !(math.Abs(x) <= MaxInt) {
		return 0, notInt(x)
	}
	return int64(x), nil
}
