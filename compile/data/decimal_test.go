package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestDecimal checks that a decimal is converted to the nearest float64, as by strconv: for random
// numbers, for numbers halfway between two float64s and their neighbours, and for all powers of
// ten.
func TestDecimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	check := func(n uint64, k int) {
		t.Helper()
		text := strings.Repeat("0", maxDigits+1) + strconv.FormatUint(n, 10)
		text = text[:len(text)-k] + "." + text[len(text)-k:]
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := decimal(n, k); math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%d/10^%d is %v, want %v", n, k, got, want)
		}
	}
	for k := range maxDigits + 1 {
		for _, n := range []uint64{0, 1, 2, 3, 5, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1<<53 + 2, 1<<53 + 3, 1<<63 - 1, 1 << 63, math.MaxUint64} {
			check(n, k)
		}
		for range 4000 {
			check(rng.Uint64()>>rng.IntN(64), k)
			// An odd number of half units in the last place, times 10^k, if it is an integer.
			half := (rng.Uint64N(1<<53) | 1<<53 | 1) << rng.IntN(10)
			check(half, k)
			check(half+1, k)
			check(half-1, k)
			if hi, lo := mul(2*rng.Uint64N(1<<10)+1, powers[k]); hi == 0 {
				check(lo, k)
			}
		}
	}
}

func mul(a, b uint64) (hi, lo uint64) {
	if a != 0 && b > math.MaxUint64/a {
		return 1, 0
	}
	return 0, a * b
}

// FuzzNumbers compares the readers of numbers in tables and in JSON with strconv.
func FuzzNumbers(f *testing.F) {
	rng := rand.New(rand.NewPCG(2, 1))
	for range 200 {
		f.Add(fmt.Sprintf("%.*f", rng.IntN(20), math.Exp(6*rng.NormFloat64())*rng.NormFloat64()))
		f.Add(fmt.Sprint(math.Exp(6*rng.NormFloat64()) * rng.NormFloat64()))
	}
	for _, s := range []string{"0", "-0", "-0.0", "0.00000000000000000", "9007199254740993", "9007199254740993.0", "9007199254740993.5", "1.00000000000000000", "123456789012345678.9", ".1234567890123456789", "1234567890123456789.", "18446744073709551615.5", "99999999999999999.99"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 300 || strings.Trim(s, "0123456789.-") != "" {
			return
		}
		want, err := strconv.ParseFloat(s, 64)
		got, isInteger, is := tableValue(s)
		if is != (err == nil) {
			t.Fatalf("%q is a number in a table: %v, but strconv says %v", s, is, err)
		}
		if err != nil {
			return
		}
		// The sign of an integer 0 does not matter.
		if got != want || !isInteger && math.Signbit(got) != math.Signbit(want) {
			t.Fatalf("%q is %v in a table, want %v", s, got, want)
		}
		if whole := want == math.Trunc(want) && math.Abs(want) < 1<<53 && exactInteger(s); whole != isInteger {
			t.Fatalf("%q is an integer in a table: %v, want %v", s, isInteger, whole)
		}
		set, err := ParseJSON("d.json", []byte(`{"x": `+s+`}`))
		if err != nil {
			return // JSON has no leading or trailing points, nor leading zeros
		}
		v := set.values["x"]
		if v.IsInt {
			if float64(v.Ints[0]) != want {
				t.Fatalf("%q is %v in JSON, want %v", s, v.Ints[0], want)
			}
		} else if math.Float64bits(v.Reals[0]) != math.Float64bits(want) {
			t.Fatalf("%q is %v in JSON, want %v", s, v.Reals[0], want)
		}
	})
}

// exactInteger reports whether a decimal is written as an integer, or with a fraction of zeros.
func exactInteger(s string) bool {
	s = strings.TrimLeft(s, "+-")
	whole, fraction, point := strings.Cut(s, ".")
	return whole != "" && (!point || fraction != "" && strings.Trim(fraction, "0") == "")
}
