package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const powBits = 300

func bigOf(x float64) *big.Float { return new(big.Float).SetPrec(powBits).SetFloat64(x) }

// bigExp returns e^x to about 250 bits.
func bigExp(x *big.Float) *big.Float {
	y := new(big.Float).SetPrec(powBits).Set(x)
	y.SetMantExp(y, -14)
	sum, term := bigOf(1), bigOf(1)
	for k := range 50 {
		term.Mul(term, y)
		term.Quo(term, bigOf(float64(k+1)))
		sum.Add(sum, term)
	}
	for range 14 {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigPow returns x^y = e^(y log x) for x > 0, where log x = l + log(x/e^l) for an l near log x.
func bigPow(x, y float64) *big.Float {
	m, e := math.Frexp(x)
	l := bigOf(math.Log(m) + float64(e)*math.Ln2)
	q := new(big.Float).Quo(bigOf(x), bigExp(l))
	q.Sub(q, bigOf(1))
	square := new(big.Float).Mul(q, q)
	cube := new(big.Float).Mul(q, square)
	l.Add(l, q)
	l.Sub(l, square.Quo(square, bigOf(2)))
	l.Add(l, cube.Quo(cube, bigOf(3)))
	return bigExp(l.Mul(l, bigOf(y)))
}

// powUlps returns the distance of got from want in units of want's last place.
func powUlps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	d, _ := new(big.Float).Sub(bigOf(got), want).Float64()
	return math.Abs(d) / (math.Nextafter(w, math.Inf(1)) - w)
}

func TestPow(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	worst := 0.0
	for range 5000 {
		x := math.Exp(rng.NormFloat64() * math.Exp(2*rng.NormFloat64()-2))
		y := rng.NormFloat64() * math.Exp(2*rng.NormFloat64())
		switch rng.IntN(4) {
		case 0:
			x = 1 + rng.NormFloat64()*math.Exp(-20*rng.Float64())
			if rng.IntN(2) == 0 {
				y /= math.Abs(math.Log(x))
			}
		case 1:
			y = math.Round(y)
		}
		if l := math.Abs(y * math.Log(x)); !(x > 0) || math.IsInf(x, 0) || !(l < 700) {
			continue
		}
		u := powUlps(Pow(x, y), bigPow(x, y))
		if u > worst {
			worst = u
			if u > 0.51 {
				t.Errorf("%v^%v errs by %.3f units in the last place", x, y, u)
			}
		}
	}
	t.Logf("worst error %.4f", worst)
}

// TestPowExact checks that powers that a float64 can represent are exact.
func TestPowExact(t *testing.T) {
	for x := 2.0; x < 60; x++ {
		p := 1.0
		for y := 0.0; p < 0x1p53; y++ {
			if got := Pow(x, y); got != p {
				t.Errorf("%v^%v = %v, want %v", x, y, got, p)
			}
			if got := Pow(-x, y); math.Abs(got) != p || math.Signbit(got) != (math.Mod(y, 2) == 1) {
				t.Errorf("(-%v)^%v = %v, want ±%v", x, y, got, p)
			}
			if got := Pow(p, 1/y); y > 0 && math.Abs(got-x) > 1e-14*x {
				t.Errorf("%v^(1/%v) = %v, want %v", p, y, got, x)
			}
			p *= x
		}
	}
}

// TestPowEnds compares special values with package math, and those for which package math is wrong
// with a computation of more digits.
func TestPowEnds(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, -2, 3, -3, 1.5, -1.5, 1e300, -1e300, 5e-324, -5e-324, 1e-310, 3e-308, -1e-310, 0x1p-1022,
		math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1023.5, 1024, -1074, -1075, 0x1p53, 0x1p53 + 2, -0x1p52 - 1, 1 + 1e-15, 1 - 1e-16,
		1e17, -1e17, 308.2, 308.3, -323, -323.7, 10, 0.1}
	for _, x := range special {
		for _, y := range special {
			got := Pow(x, y)
			if l := math.Abs(y * math.Log(x)); x > 0 && !math.IsInf(x, 0) && l < 745 {
				if want, _ := bigPow(x, y).Float64(); math.Abs(got-want) > 3e-16*want+5e-324 {
					t.Errorf("%v^%v = %v, want %v", x, y, got, want)
				}
				continue
			}
			want := math.Pow(x, y)
			if !(got == want && math.Signbit(got) == math.Signbit(want) || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 1e-15*math.Abs(want)) {
				t.Errorf("%v^%v = %v, want %v", x, y, got, want)
			}
		}
	}
}
