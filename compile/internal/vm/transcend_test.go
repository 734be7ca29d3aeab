package vm

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"
	"time"

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
		d := []float64{0}
		expLoop(d, []float64{x})
		if w := math.Exp(x); !agree(w, d[0], 3e-16) {
			t.Errorf("exp(%v) = %v, want %v", x, d[0], w)
		}
		logLoop(d, []float64{x})
		if w := kernel.Log(x); !agree(w, d[0], 3e-16) {
			t.Errorf("log(%v) = %v, want %v", x, d[0], w)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	worstExp, worstLog := 0.0, 0.0
	n := 3000
	in, e, l := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range in {
		in[i] = rng.NormFloat64() * math.Exp(3*rng.NormFloat64())
	}
	expLoop(e, in)
	for i, x := range in {
		if x > -708 && x < 709 {
			worstExp = max(worstExp, ulps(e[i], bigExp(x)))
		}
	}
	for i := range in {
		in[i] = math.Exp(rng.NormFloat64() * math.Exp(2*rng.NormFloat64()-2))
		if i%4 == 0 {
			in[i] = 1 + rng.NormFloat64()*0.01
		}
	}
	logLoop(l, in)
	for i, x := range in {
		if x > 0 && !math.IsInf(x, 0) {
			// log x = y + (x/e^y - 1) for y near it.
			y := kernel.Log(x)
			q := new(big.Float).SetPrec(200).Quo(new(big.Float).SetPrec(200).SetFloat64(x), bigExp(y))
			q.Sub(q, big.NewFloat(1))
			want := new(big.Float).SetPrec(200).SetFloat64(y)
			want.Add(want, q)
			worstLog = max(worstLog, ulps(l[i], want))
		}
	}
	t.Logf("worst errors: exp %.3f, log %.3f ulp", worstExp, worstLog)
	if worstExp > 1.1 || worstLog > 1.1 {
		t.Error("errors too large")
	}
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

// TestMeasureLoops prints ns per element: VM_MEASURE=loops.
func TestMeasureLoops(t *testing.T) {
	if os.Getenv("VM_MEASURE") != "loops" {
		t.Skip("measures: set VM_MEASURE=loops")
	}
	n := 256
	a, b, d := normals(n, 1), make([]float64, n), make([]float64, n)
	for i := range a {
		b[i] = math.Exp(a[i])
	}
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"exp", func() { expLoop(d, a) }},
		{"math.Exp", func() {
			for i, x := range a {
				d[i] = math.Exp(x)
			}
		}},
		{"log", func() { logLoop(d, b) }},
		{"math.Log", func() {
			for i, x := range b {
				d[i] = math.Log(x)
			}
		}},
	} {
		fmt.Printf("%-12s %.2f\n", c.name, least(300*time.Millisecond, c.f)/float64(n))
	}
}
