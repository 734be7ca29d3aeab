package ops

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// ulps returns the distance of got from the exact want in units of want's last place.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	if got == w {
		return 0
	}
	u := math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w)
	d := new(big.Float).Sub(new(big.Float).SetFloat64(got), want)
	f, _ := d.Float64()
	return math.Abs(f) / u
}

func TestExpLog(t *testing.T) {
	for _, x := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0, math.Copysign(0, -1), 709.7, 709.79, 710, -708.4, -745, -746, 1e-320, 5e-324, 1, -1, 1e308} {
		if w := math.Exp(x); !near(exp(x), w) {
			t.Errorf("exp(%v) = %v, want %v", x, exp(x), w)
		}
		if w := mathLog(x); !near(routines.Log(x), w) {
			t.Errorf("log(%v) = %v, want %v", x, routines.Log(x), w)
		}
		if w := math.Log1p(x); !near(routines.Log1p(x), w) {
			t.Errorf("log1p(%v) = %v, want %v", x, routines.Log1p(x), w)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	worstExp, worstLog, worstLog1p := 0.0, 0.0, 0.0
	n := 3000
	in := make([]float64, n)
	for i := range in {
		in[i] = rng.NormFloat64() * math.Exp(3*rng.NormFloat64())
	}
	for _, x := range in {
		if x > -708 && x < 709 {
			worstExp = max(worstExp, ulps(exp(x), bigExp(x)))
		}
	}
	for i := range in {
		in[i] = math.Exp(rng.NormFloat64() * math.Exp(2*rng.NormFloat64()-2))
		if i%4 == 0 {
			in[i] = 1 + rng.NormFloat64()*0.01
		}
	}
	for _, x := range in {
		if x > 0 && !math.IsInf(x, 0) {
			worstLog = max(worstLog, ulps(routines.Log(x), bigLog(new(big.Float).SetFloat64(x))))
		}
		if x < 1 {
			for _, z := range []float64{x, -x, x * 1e-10, -x * 1e-10} {
				if math.Abs(z) < 1e-25 {
					continue
				}
				u := new(big.Float).SetPrec(200).SetFloat64(z)
				worstLog1p = max(worstLog1p, ulps(routines.Log1p(z), bigLog(u.Add(u, big.NewFloat(1)))))
			}
		}
	}
	t.Logf("worst errors: exp %.3f, log %.3f, log1p %.3f ulp", worstExp, worstLog, worstLog1p)
	if worstExp > 1.01 || worstLog > 1 || worstLog1p > 1 {
		t.Error("errors too large")
	}
}

// mathLog returns log x by math.Log, except for subnormal numbers, for which math.Log is wrong on
// amd64 (Go 1.26).
func mathLog(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// bigLog returns log x to about 100 bits: y + d - d²/2 + d³/3 with d = x/e^y - 1, for a y near log
// x.
func bigLog(x *big.Float) *big.Float {
	f, _ := x.Float64()
	y := math.Log(f)
	if small := new(big.Float).Sub(x, big.NewFloat(1)); math.Abs(f-1) < 1e-3 {
		y, _ = small.Float64()
	}
	real := func() *big.Float { return new(big.Float).SetPrec(200) }
	d := real().Quo(x, bigExp(y))
	d.Sub(d, big.NewFloat(1))
	sum, power := real().SetFloat64(y), real().SetInt64(1)
	for k := int64(1); k < 8; k++ {
		power.Mul(power, d)
		term := real().Quo(power, real().SetInt64(k))
		if k%2 == 0 {
			term.Neg(term)
		}
		sum.Add(sum, term)
	}
	return sum
}

// near reports whether two numbers are equal up to rounding.
func near(got, want float64) bool {
	return got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 3e-16*math.Abs(want)
}

// bigExp returns e^x to about 150 bits, by the series for x/2^10.
func bigExp(x float64) *big.Float {
	const prec = 200
	y := new(big.Float).SetPrec(prec).SetFloat64(x)
	y.SetMantExp(y, -12)
	sum, term := new(big.Float).SetPrec(prec).SetInt64(1), new(big.Float).SetPrec(prec).SetInt64(1)
	for k := int64(1); k < 40; k++ {
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetInt64(k))
		sum.Add(sum, term)
	}
	for range 12 {
		sum.Mul(sum, sum)
	}
	return sum
}
