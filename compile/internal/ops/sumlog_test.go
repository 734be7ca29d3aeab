package ops

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// TestSumLog checks sumLog against a compensated sum of logarithms. A product of n mantissas has an
// error of n/2 units in the last place of 1, a term of the reference half a unit in its own last
// place.
func TestSumLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	odd := []float64{0, 5e-324, math.Inf(1), -1, math.NaN()}
	check := func(a []float64) {
		t.Helper()
		sum, low, size := 0.0, 0.0, 0.0
		for _, x := range a {
			l := routines.Log(x)
			s := sum + l
			if part := s - sum; !math.IsInf(s, 0) {
				low += sum - (s - part) + (l - part)
			}
			sum, size = s, size+math.Abs(l)
		}
		want := sum + low
		got, bound := sumLog(a), 0x1p-53*(float64(len(a)+4)+2*size)
		if got != want && !(math.Abs(got-want) <= bound) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%v: %v, want %v within %v", a, got, want, bound)
		}
	}
	for range 20000 {
		a := make([]float64, rng.IntN(40))
		for i := range a {
			a[i] = math.Exp(30 * rng.NormFloat64())
			if rng.IntN(60) == 0 {
				a[i] = odd[rng.IntN(len(odd))]
			}
		}
		check(a)
	}
	// The ends of the range within which eight numbers are multiplied, and numbers beyond them.
	for _, x := range []float64{0x1p-64, math.Nextafter(0x1p-64, 0), 0x1p64, math.Nextafter(0x1p64, 0)} {
		for _, n := range []int{7, 8, 9, 16, 17, 999} {
			a := make([]float64, n)
			for i := range a {
				a[i] = x
			}
			check(a)
			for i, v := range odd {
				a[(i+n)%n] = v
			}
			check(a)
		}
	}
	// With 998 and 999 elements, the products of mantissas are the largest; they must not overflow.
	for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 998, 999} {
		a := make([]float64, n)
		for i := range a {
			a[i] = math.Nextafter(2, 0)
		}
		check(a)
		for i := range a {
			a[i] = 1 + 1e-9*rng.Float64()
		}
		check(a)
	}
}

// TestSumLogLanes checks that machine code and Go give the same bits, with blocks that have numbers
// out of range, on both sides of the length from which there are lanes.
func TestSumLogLanes(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	odd := []float64{0, 5e-324, math.Inf(1), -1, math.NaN(), 0x1p-65, 0x1p64}
	for _, n := range []int{0, 1, 2, 31, 32, 33, 63, 64, 65, shortest - 1, shortest, shortest + 1, 999} {
		for trial := range 50 {
			a := make([]float64, n)
			for i := range a {
				a[i] = math.Exp(10 * rng.NormFloat64())
			}
			if trial%2 == 1 && n > 0 {
				a[rng.IntN(n)] = odd[rng.IntN(len(odd))]
			}
			var with, without lanes
			with.begin()
			without.begin()
			if n >= block {
				if got, want := with.multiply(a), without.multiplyPlain(a); got != want || with != without {
					t.Fatalf("%d numbers: %d blocks and %v, in Go %d and %v", n, got, with, want, without)
				}
			}
			sum := 0.0
			for _, x := range a {
				sum += routines.Log(x)
			}
			if got := sumLog(a); !(math.Abs(got-sum) <= 1e-12*(1+math.Abs(sum))) && got != sum && !(math.IsNaN(got) && math.IsNaN(sum)) {
				t.Fatalf("%d numbers: %v, the sum of logarithms is %v", n, got, sum)
			}
		}
	}
}

// BenchmarkSumLog sums the logarithms of the numbers of a strip.
func BenchmarkSumLog(b *testing.B) {
	a := make([]float64, 512)
	for i := range a {
		a[i] = 1 + float64(i)
	}
	for b.Loop() {
		sumLog(a)
	}
}
