package kernel

import (
	"math"
	"testing"
)

// TestTerms counts the terms of series and fractions wherever incompleteGamma and
// incompleteBeta use them, at shapes from 1e-8 to 1e16: all have converged before mostTerms.
func TestTerms(t *testing.T) {
	most := map[string]int{}
	count := func(name string, terms int, args ...float64) {
		if terms >= mostTerms {
			t.Errorf("%s has not converged at %v", name, args)
		}
		most[name] = max(most[name], terms)
	}
	var shapes []float64
	for e := -8.0; e <= 16; e += 0.125 {
		shapes = append(shapes, math.Pow(10, e))
	}
	shapes = append(shapes, math.Nextafter(largeShape, 0), math.Nextafter(largeBeta, 0), 0.2, math.Nextafter(0.2, 1))
	factors := []float64{1e-8, 1e-3, 0.1, 0.5, 0.8, 0.95, 0.999, 1, 1.001, 1.02, 1.1, 1.25, 1.6, 2, 5, 1e3, 1e8}
	sds := []float64{-37, -9, -4, -3.51, -3.5, -1, 0, 1, 3.5, 3.51, 4, 5, 9, 37}
	for _, a := range shapes {
		var xs []float64
		for _, f := range factors {
			xs = append(xs, f*a, f*(a+1))
		}
		for _, s := range sds {
			xs = append(xs, a+s*math.Sqrt(a))
		}
		for _, x := range xs {
			if !(x > 0) {
				continue
			}
			for n := range 4 {
				switch gammaMethod(a, x) {
				case bySeries:
					_, terms := lowerSum(n, a, x)
					count("gamma series", terms, float64(n), a, x)
				case byLowerFraction:
					_, terms := lowerFraction(n, a, x)
					count("lower gamma fraction", terms, float64(n), a, x)
				case byUpperFraction:
					_, terms := upperFraction(n, a, x)
					count("upper gamma fraction", terms, float64(n), a, x)
				}
			}
		}
		for _, b := range shapes {
			mean, sd := a/(a+b), math.Sqrt(a*b/(a+b+1))/(a+b)
			var xs []float64
			for _, f := range factors {
				xs = append(xs, f*mean, 1-f*(1-mean), f*(a+1)/(a+b+2))
			}
			for _, s := range sds {
				xs = append(xs, mean+s*sd)
			}
			for _, x := range xs {
				if !(x > 0 && x < 1) {
					continue
				}
				if max(a, b) < largeBeta && x <= (a+1)/(a+b+2) {
					_, terms := betaFraction(x, a, b)
					count("beta fraction", terms, x, a, b)
					_, terms = betaFractionValue(x, a, b)
					count("beta fraction's value", terms, x, a, b)
					if a <= 0.2 {
						_, _, terms := betaSeries(x, a, b)
						count("beta series", terms, x, a, b)
					}
				}
				if max(a, b) >= largeBeta && a < 1 && (a+b)*x < 1 {
					_, _, terms := betaSeries(x, a, b)
					count("beta series", terms, x, a, b)
				}
			}
		}
	}
	coefficients := len(temmeRatio)
	for _, row := range temmeTerms {
		coefficients += len(row)
	}
	count("uniform expansion", coefficients)
	count("quadrature", len(legendre48))
	for name, n := range most {
		t.Logf("%-22s at most %d terms", name, n)
	}
}
