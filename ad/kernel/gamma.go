package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// bernoulli holds the Bernoulli numbers B₂, B₄, ….
var bernoulli = [...]float64{1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6, -3617. / 510, 43867. / 798, -174611. / 330}

// Polygamma returns the n-th derivative of Digamma: (-1)ⁿ⁺¹ n! Σ 1/(x+k)ⁿ⁺¹. n must be an integer
// in [0, 100]; otherwise the value is NaN. The sum is computed for x+k < 10+n and completed by its
// asymptotic expansion (DLMF 5.15.9); for x > 0 all terms have one sign. For x < -100 the
// reflection formula gives it from the value at 1-x (DLMF 5.15.6).
func Polygamma(n, x float64) float64 {
	switch {
	case n == 0:
		return routines.Digamma(x)
	case n != math.Floor(n) || n < 0 || n > 100 || math.IsNaN(x) || math.IsInf(x, -1):
		return math.NaN()
	case math.IsInf(x, 1):
		return 0
	}
	sign := 1.0 // (-1)ⁿ⁺¹
	if math.Mod(n, 2) == 0 {
		sign = -1
	}
	if x <= 0 && x == math.Floor(x) {
		// The limit of 1/(x-pole)ⁿ⁺¹ for odd n; for even n the limits from both sides differ.
		return math.Inf(1)
	}
	if x < -100 {
		return reflectedPolygamma(n, x)
	}
	m := int(n)
	fact := 1.0 // (n-1)!
	for k := 2; k < m; k++ {
		fact *= float64(k)
	}
	sum := 0.0
	for x < 10+n {
		sum += powInt(1/x, m+1)
		x++
	}
	i := 1 / x
	q := i * i
	// The expansion is (n-1)!/xⁿ (1 + n/2x + Σ B₂ₖ (n)(n+1)…(n+2k-1)/(2k)! x⁻²ᵏ).
	c, s, p := 1.0, 1+0.5*n*i, 1.0
	for k, b := range bernoulli {
		j := float64(2 * k)
		c *= (n + j) * (n + j + 1) / ((j + 1) * (j + 2))
		p *= q
		s += b * c * p
	}
	return sign * fact * (n*sum + powInt(i, m)*s)
}

// reflectedPolygamma returns Polygamma for negative x that are not integers. (-1)ⁿ ψ⁽ⁿ⁾(1-x) -
// ψ⁽ⁿ⁾(x) is π times the n-th derivative of cot πx. That is a polynomial in the cotangent c, since
// the derivative of c is -π(1+c²).
func reflectedPolygamma(n, x float64) float64 {
	p := []float64{0, 1}
	for range int(n) {
		next := make([]float64, len(p)+1)
		for k := 1; k < len(p); k++ {
			v := -math.Pi * float64(k) * p[k]
			next[k-1] += v
			next[k+1] += v
		}
		p = next
	}
	r := x - math.Round(x)
	// The cotangent, which is 0 for r = ½.
	c := math.Copysign(math.Tan(math.Pi*(0.5-math.Abs(r))), r)
	if math.Abs(r) < 0.25 {
		c = 1 / math.Tan(math.Pi*r)
	}
	v := 0.0
	for k := len(p) - 1; k >= 0; k-- {
		v = v*c + p[k]
	}
	rest := Polygamma(n, 1-x)
	if math.Mod(n, 2) == 1 {
		rest = -rest
	}
	return rest - math.Pi*v
}

// PolygammaRise returns Polygamma(n, x+d) - Polygamma(n, x). It avoids the cancellation of this
// difference if d is small compared with x. For n = 0 it is the difference of Digamma.
func PolygammaRise(n, x, d float64) float64 {
	if n == 0 {
		return routines.DigammaRise(x, d)
	}
	end := x + d
	if !(x > 0) || !(end > 0) || math.IsInf(end, 1) || n != math.Floor(n) || n < 0 || n > 50 {
		return Polygamma(n, end) - Polygamma(n, x)
	}
	if math.Abs(d) > 0.1*x {
		return Polygamma(n, end) - Polygamma(n, x)
	}
	return polygammaRise(n, x, d)
}

// polygammaRise is PolygammaRise for n > 0 and small d/x.
func polygammaRise(n, x, d float64) float64 {
	power := func(j float64) float64 { return math.Pow(x, -j) * math.Expm1(-j*math.Log1p(d/x)) }
	sum := 0.0
	for ; x < 10+n; x++ {
		sum += power(n + 1)
	}
	fact, sign := math.Gamma(n), 1.0
	if math.Mod(n, 2) == 0 {
		sign = -1
	}
	c, s := 1.0, power(n)+0.5*n*power(n+1)
	for k, b := range bernoulli {
		j := float64(2 * k)
		c *= (n + j) * (n + j + 1) / ((j + 1) * (j + 2))
		s += b * c * power(n+j+2)
	}
	return sign * fact * (n*sum + s)
}

// powInt is xⁿ for a small n ≥ 0.
func powInt(x float64, n int) float64 {
	p := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 > 0 {
			p *= x
		}
		x *= x
	}
	return p
}

// LogRising returns log |Γ(x+n)/Γ(x)|. It is accurate relative to its size, also if n is small.
func LogRising(x, n float64) float64 {
	switch end := x + n; {
	case !(x > 0) || !(end > 0) || math.IsInf(end, 1):
		return routines.Lgamma(end) - routines.Lgamma(x)
	case n < 0:
		return -LogRising(end, -n)
	case n <= 1 && x > 1e-300:
		return logRise(x, n)
	case x > 1e15:
		return n*routines.Log(x) + logRiseOver(x, n)
	}
	return routines.Lmultichoose(x, n) + routines.Lgamma(n+1)
}

// stirlingRest returns log Γ(x) - ((x-½) log x - x + ½ log 2π) for x ≥ 10: the remainder Σ
// B₂ₖ/(2k(2k-1) x²ᵏ⁻¹) of Stirling's series (DLMF 5.11.1).
func stirlingRest(x float64) float64 {
	i := 1 / x
	q, s := i*i, 0.0
	for k := 7; k >= 0; k-- {
		j := float64(2*k + 2)
		s = s*q + bernoulli[k]/(j*(j-1))
	}
	return s * i
}

const logSqrt2Pi = 0.918938533204672741780329736405617640

// XLogY returns x·log y, and 0 if x is 0.
func XLogY(x, y float64) float64 {
	if x == 0 && !math.IsNaN(y) {
		return 0
	}
	return x * routines.Log(y)
}

// XLog1mY returns x·log(1-y), and 0 if x is 0.
func XLog1mY(x, y float64) float64 {
	if x == 0 && !math.IsNaN(y) {
		return 0
	}
	return x * math.Log1p(-y)
}
