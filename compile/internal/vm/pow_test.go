package vm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/ad/kernel"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// powers returns bases and exponents: ordinary ones first, then `ends` numbers at the limits of
// float64.
func powers() (xs, ys []float64, ends int) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 6000 {
		x := math.Exp(rng.NormFloat64() * math.Exp(2*rng.NormFloat64()-2))
		y := rng.NormFloat64() * math.Exp(2*rng.NormFloat64())
		switch rng.IntN(4) {
		case 0:
			x = 1 + rng.NormFloat64()*math.Exp(-20*rng.Float64())
		case 1:
			y = math.Round(y)
		}
		if l := math.Abs(y * math.Log(x)); x > 0x1p-1000 && !math.IsInf(x, 0) && l < 695 {
			xs, ys = append(xs, x), append(ys, y)
		}
	}
	ends = len(xs)
	special := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, -2, 3, -3, 1.5, -1.5, 1e300, -1e300, 5e-324, -5e-324, 1e-310, 3e-308, -1e-310, 0x1p-1022,
		math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1023.5, 1024, -1074, -1075, 0x1p53, 0x1p53 + 2, -0x1p52 - 1, 1 + 1e-15, 1 - 1e-16,
		1e17, -1e17, 308.2, 308.3, -323, -323.7, 10, 0.1}
	for _, x := range special {
		for _, y := range special {
			xs, ys = append(xs, x), append(ys, y)
		}
	}
	return xs, ys, ends
}

// samePower reports whether two powers agree. Subnormal numbers may be rounded differently.
func samePower(got, want float64) bool {
	return got == want && math.Signbit(got) == math.Signbit(want) || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 4e-16*math.Abs(want)+1e-323
}

// TestNativePow compares machine code with kernel.Pow. The bits must be the same, except at the
// ends of the range.
func TestNativePow(t *testing.T) {
	xs, ys, ends := powers()
	widths(t, func(t *testing.T, target *native.Target, lanes int) {
		got := runFormula(t, target, lanes, ops.Of(ad.OpPow).Formula, [3][]float64{xs, ys})
		bad := 0
		for i, x := range xs {
			want := kernel.Pow(x, ys[i])
			if math.Float64bits(got[i]) == math.Float64bits(want) || i >= ends && samePower(got[i], want) {
				continue
			}
			if bad++; bad < 20 {
				t.Errorf("%v^%v = %v, want %v", x, ys[i], got[i], want)
			}
		}
	})
}
