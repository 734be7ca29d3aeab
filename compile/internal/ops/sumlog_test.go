package ops

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// TestSumLog checks sumLog, which adds the exponents, times log 2, and the logarithms of four
// products of mantissas. The elements of a product have the same index modulo 4. Elements without a
// mantissa add their own logarithms.
func TestSumLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	odd := []float64{0, 5e-324, math.Inf(1), -1, math.NaN()}
	for range 20000 {
		a := make([]float64, rng.IntN(40))
		products, exponents, rest := [4]float64{1, 1, 1, 1}, 0, 0.0
		for i := range a {
			a[i] = math.Exp(30 * rng.NormFloat64())
			if rng.IntN(60) == 0 {
				a[i] = odd[rng.IntN(len(odd))]
				rest += routines.Log(a[i])
				continue
			}
			mantissa, exponent := math.Frexp(a[i])
			products[i%4] *= 2 * mantissa
			exponents += exponent - 1
		}
		want := 0.0
		for _, p := range products {
			want += math.Log(p)
		}
		want = float64(float64(exponents)*math.Ln2) + want + rest
		if got := sumLog(a); math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%v: %v, want %v", a, got, want)
		}
	}
}
