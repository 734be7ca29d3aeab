package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// wiener returns the density of an exit time, its n-th derivative with respect to b, and the
// logarithm of a factor by which both have been divided. The time u > 0 is that at which a Wiener
// process without drift, which starts at b, 0 < b < 1, leaves the interval (0, 1) at 1. With w =
// 1-b, the density can be written as a sum over mirror images of the start or as a sum over
// eigenfunctions (Navarro & Fuss 2009, equations 5 and 6):
//
//	(2πu³)^(-½) Σ_k (w+2k) exp(-(w+2k)²/2u) = π Σ_{k≥1} k sin(kπw) exp(-k²π²u/2)
//
// The first form converges fast for small u, the second for large u.
func wiener(n int, u, b float64) (derivative, density, logFactor float64) {
	w := 1 - b
	if u > 0.4 || w < 1e-2 && u > 0.05 { // for a start near 1, images cancel even for a small u
		derivative, density = wienerByFunctions(n, u, b)
		logFactor = -math.Pi * math.Pi * u / 2
	} else {
		derivative, density = wienerByImages(n, u, w)
		if b < 0.3*u { // the images cancel in pairs
			density = wienerByPairs(0, u, b)
			if n%2 == 0 {
				derivative = wienerByPairs(n, u, b)
			}
		}
		logFactor = -w*w/(2*u) - routines.Log(u) - logSqrt2Pi
	}
	if n%2 == 1 { // the derivative was with respect to w
		derivative = -derivative
	}
	return derivative, density, logFactor
}

// wienerByFunctions computes the second form, with derivatives with respect to w. All exponentials
// are powers of one number; sines and cosines follow from the first ones by addition theorems.
func wienerByFunctions(n int, u, b float64) (derivative, density float64) {
	// For w near 1, use sin kπw = ∓sin kπ(1-w) and cos kπw = ±cos kπ(1-w), which are accurate.
	v, sign := 1-b, 1.0
	if b < 0.5 {
		v, sign = b, -1
	}
	s1, c1 := math.Sincos(math.Pi * v)
	s0, s, c0, c := 0.0, s1, 1.0, c1
	r := math.Exp(-math.Pi * math.Pi * u / 2)
	f, ratio := 1.0, r*r*r // f is exp(-(k²-1)π²u/2); ratio is the factor from one k to the next
	flip := 1.0            // sign of the sine; that of the cosine is flip·sign
	scale := 1.0           // πⁿ
	for range n {
		scale *= math.Pi
	}
	for k := 1.; ; k++ {
		term := k * math.Pi * f
		density += term * flip * s
		size := term
		for range n {
			size *= k * math.Pi
		}
		if size < 1e-18*scale {
			break
		}
		switch n % 4 {
		case 0:
			derivative += size * flip * s
		case 1:
			derivative += size * flip * sign * c
		case 2:
			derivative -= size * flip * s
		case 3:
			derivative -= size * flip * sign * c
		}
		s0, s = s, 2*c1*s-s0
		c0, c = c, 2*c1*c-c0
		f *= ratio
		ratio *= r * r
		flip *= sign
	}
	return derivative, density
}

// wienerByImages computes the first form. The exponentials are powers of three numbers. With φ(x) =
// exp(-x²/2u), xφ is -uφ′, and derivatives of φ are Hermite polynomials times φ.
func wienerByImages(n int, u, w float64) (derivative, density float64) {
	inverse := 1 / math.Sqrt(u)
	add := func(x, f float64) float64 {
		z := x * inverse
		density += z * f
		before, h := 0.0, 1.0
		for m := range n + 1 { // He_{m+1} = z He_m - m He_{m-1}
			before, h = h, z*h-float64(m)*before
		}
		derivative += h * f
		return math.Abs(h) * f
	}
	add(w, 1)
	right, left, q := math.Exp(-2*(1+w)/u), math.Exp(-2*(1-w)/u), math.Exp(-4/u)
	f, g := right, left // exp(-2k(k±w)/u)
	for k := 1.; k <= 40; k++ {
		size := add(w+2*k, f) + add(w-2*k, g)
		if k > 1 && size <= 1e-18*math.Abs(derivative) {
			break
		}
		right *= q
		left *= q
		f *= right
		g *= left
	}
	for range n {
		derivative *= -inverse
	}
	return derivative, density
}

// wienerByPairs computes the first form, or a derivative of even order, for a b much smaller than
// u. For odd m, the images at m-b and m+b cancel except for the odd terms of their series in b,
// which also are Hermite polynomials times φ.
func wienerByPairs(n int, u, b float64) float64 {
	inverse := 1 / math.Sqrt(u)
	h := b * inverse
	total := 0.0
	for m := 1.; m <= 9; m += 2 {
		z := m * inverse
		before, at := 0.0, 1.0
		for k := range n + 1 {
			before, at = at, z*at-float64(k)*before
		}
		// at is He_{n+1}(z). Further terms are Hermite polynomials of higher orders, times powers
		// of h.
		order := float64(n + 1)
		last, term := at, h*(z*at-order*before)
		sum, factorial := 0.0, 1.0
		for j := 1.; j < 60; j++ {
			factorial *= j
			if math.Mod(j, 2) == 1 {
				sum += term / factorial
				if math.Abs(term/factorial) < 1e-18*math.Abs(sum) {
					break
				}
			}
			last, term = term, h*z*term-(order+j)*h*h*last
		}
		sum *= 2 * math.Exp(((1-m*m)-2*b+b*b)/(2*u))
		total += sum
		if math.Abs(sum) < 1e-18*math.Abs(total) {
			break
		}
	}
	for range n {
		total *= inverse
	}
	return total
}

func wienerDomain(u, b float64) bool { return u > 0 && b > 0 && b < 1 && !math.IsInf(u, 1) }

// LogWiener returns the logarithm of the density at u of the time at which a Wiener process that
// starts at b leaves the interval (0, 1) at 1.
func LogWiener(u, b float64) float64 {
	if math.IsInf(u, 1) && b > 0 && b < 1 {
		return math.Inf(-1)
	}
	if !wienerDomain(u, b) {
		return math.NaN()
	}
	_, v, l := wiener(0, u, b)
	return routines.Log(v) + l
}

// WienerRatio returns the n-th derivative with respect to b of the density of LogWiener, divided by
// the density.
func WienerRatio(n, u, b float64) float64 {
	if !wienerDomain(u, b) || n < 0 || n != math.Trunc(n) {
		return math.NaN()
	}
	derivative, density, _ := wiener(int(n), u, b)
	return derivative / density
}
