package kernel

import "math"

// wiener is the n-th derivative with respect to w, 0 < w < 1, of the density at
// u > 0 of the time at which a Wiener process without drift that starts at w
// leaves the interval (0, 1) at 0, and the logarithm of a factor that has been
// taken out. The density is, by images and by eigenfunctions (Navarro & Fuss
// 2009, equations 5 and 6),
//
//	(2πu³)^(-½) Σ_k (w+2k) exp(-(w+2k)²/2u) = π Σ_{k≥1} k sin(kπw) exp(-k²π²u/2);
//
// the first form converges fast for small, the second for large u.
func wiener(n int, u, w float64) (value, logFactor float64) {
	if u > 0.4 {
		for k := 1.; ; k++ {
			f := math.Exp(-(k*k - 1) * math.Pi * math.Pi * u / 2)
			kp := k * math.Pi
			term := kp * f * math.Pow(kp, float64(n))
			if term < 1e-18*math.Pow(math.Pi, float64(n)) {
				break
			}
			var s float64
			switch n % 4 {
			case 0:
				s = sinPi(k, w)
			case 1:
				s = math.Cos(kp * w)
			case 2:
				s = -sinPi(k, w)
			case 3:
				s = -math.Cos(kp * w)
			}
			value += term * s
		}
		return value, -math.Pi * math.Pi * u / 2
	}
	// x φ = -u φ' for φ(x) = exp(-x²/2u), whose derivatives are Hermite polynomials.
	root := math.Sqrt(u)
	for k := 0.; ; k++ {
		add := func(x float64) float64 {
			f := math.Exp(-(x - w) * (x + w) / (2 * u))
			z := x / root
			before, h := 0.0, 1.0
			for m := range n + 1 { // He_{m+1} = z He_m - m He_{m-1}
				before, h = h, z*h-float64(m)*before
			}
			value += h * f
			return math.Abs(h) * f
		}
		size := add(w + 2*k)
		if k > 0 {
			size += add(w - 2*k)
		}
		if k > 1 && size <= 1e-18*math.Abs(value) || k > 40 {
			break
		}
	}
	sign := 1.0
	if n%2 == 1 {
		sign = -1
	}
	value *= sign * math.Pow(u, -float64(n)/2)
	return value, -w*w/(2*u) - math.Log(u) - logSqrt2Pi
}

// sinPi is sin(kπw), accurate near w = 1 too.
func sinPi(k, w float64) float64 {
	if w > 0.5 {
		s := math.Sin(k * math.Pi * (1 - w))
		if math.Mod(k, 2) == 0 {
			return -s
		}
		return s
	}
	return math.Sin(k * math.Pi * w)
}

func wienerDomain(u, w float64) bool { return u > 0 && w > 0 && w < 1 && !math.IsInf(u, 1) }

// LogWiener is the logarithm of the density of that time.
func LogWiener(u, w float64) float64 {
	if !wienerDomain(u, w) {
		return math.NaN()
	}
	v, l := wiener(0, u, w)
	return math.Log(v) + l
}

// WienerRatio is the n-th derivative with respect to w of that density, over
// the density.
func WienerRatio(n, u, w float64) float64 {
	if !wienerDomain(u, w) || n < 0 || n != math.Trunc(n) {
		return math.NaN()
	}
	a, _ := wiener(int(n), u, w)
	b, _ := wiener(0, u, w)
	return a / b
}
