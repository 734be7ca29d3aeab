package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// LambertW0 returns the principal branch of the inverse of w eʷ: w ≥ -1 for x ≥ -1/e, NaN for other
// x.
func LambertW0(x float64) float64 {
	p2 := branchDistance(x)
	switch {
	case math.IsNaN(x) || p2 < 0:
		return math.NaN()
	case x == 0 || math.IsInf(x, 1):
		return x
	case p2 < 1e-4:
		return lambertSeries(math.Sqrt(p2))
	}
	var w float64
	switch {
	case x < -0.25:
		w = lambertSeries(math.Sqrt(p2))
	case x < 3:
		w = math.Log1p(x)
		w *= 1 - math.Log1p(w)/(2+w)
	default:
		l := routines.Log(x)
		w = l - routines.Log(l)
	}
	return lambertRefine(x, w)
}

// LambertWm1 returns the other real branch of the inverse of w eʷ: w ≤ -1 for -1/e ≤ x < 0, -Inf at
// 0, NaN for other x.
func LambertWm1(x float64) float64 {
	p2 := branchDistance(x)
	switch {
	case x == 0:
		return math.Inf(-1)
	case !(x < 0) || p2 < 0:
		return math.NaN()
	case p2 < 1e-4:
		return lambertSeries(-math.Sqrt(p2))
	}
	var w float64
	if x < -0.25 {
		w = lambertSeries(-math.Sqrt(p2))
	} else {
		l := routines.Log(-x)
		w = l - routines.Log(-l)
	}
	return lambertRefine(x, w)
}

// branchDistance returns 2(ex + 1), computed with double the precision. Its square root, with
// either sign, is the variable of the expansions of the two branches at x = -1/e. The float64
// nearest to -1/e is a little less than -1/e, and is treated as -1/e.
func branchDistance(x float64) float64 {
	const low = 1.4456468917292502e-16
	if x == -1/math.E {
		return 0
	}
	return 2 * (math.FMA(math.E, x, 1) + low*x)
}

// lambertSeries returns the expansion at the branch point (Corless et al. 1996, equation 4.22).
func lambertSeries(p float64) float64 {
	c := [...]float64{-1, 1, -1. / 3, 11. / 72, -43. / 540, 769. / 17280, -221. / 8505, 680863. / 43545600, -1963. / 204120, 226287557. / 37623398400}
	w := 0.0
	for k := len(c) - 1; k >= 0; k-- {
		w = w*p + c[k]
	}
	return w
}

// lambertRefine applies the iteration of Fritsch, Shafer & Crowley (1973), of order 4.
func lambertRefine(x, w float64) float64 {
	for range 4 {
		if w == 0 {
			return w
		}
		z := routines.Log(x/w) - w
		if math.Abs(x) < 1e-3 && w > -0.5 { // log(x/w) and w cancel
			z = math.Log1p((x - w) / w)
			z -= w
		}
		q := 2 * (1 + w) * (1 + w + 2*z/3)
		e := z / (1 + w) * (q - z) / (q - 2*z)
		w += w * e
		if math.Abs(e) < 1e-16 {
			break
		}
	}
	return w
}
