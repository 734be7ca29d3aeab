package ops

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad/kernel"
)

// ulps is the distance of got from the exact want in units of want's last place.
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
		if w := kernel.Log(x); !near(log(x), w) {
			t.Errorf("log(%v) = %v, want %v", x, log(x), w)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	worstExp, worstLog := 0.0, 0.0
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
			// log x = y + (x/e^y - 1) for y near it.
			y := kernel.Log(x)
			q := new(big.Float).SetPrec(200).Quo(new(big.Float).SetPrec(200).SetFloat64(x), bigExp(y))
			q.Sub(q, big.NewFloat(1))
			want := new(big.Float).SetPrec(200).SetFloat64(y)
			want.Add(want, q)
			worstLog = max(worstLog, ulps(log(x), want))
		}
	}
	t.Logf("worst errors: exp %.3f, log %.3f ulp", worstExp, worstLog)
	if worstExp > 1.1 || worstLog > 1.1 {
		t.Error("errors too large")
	}
}

// near is equal but for a rounding.
func near(got, want float64) bool {
	return got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 3e-16*math.Abs(want)
}

// bigExp is e^x to 150 bits or so, by its series for x/2^10.
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
