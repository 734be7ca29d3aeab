// Command terms calls the kernel's functions at arguments that span the doubles and prints the
// terms that their loops took. TestTerms builds it with counters in the loops; it does not build
// without.
package main

import (
	"fmt"
	"math"
	"reflect"

	"github.com/ppl-lang/ppl/ad/kernel"
)

// Domains of arguments.
var (
	positive = powers(-8, 16, 0.75, -300, -150, -60, -30, -16, 20, 30, 60, 150, 300)
	coarse   = powers(-8, 16, 2, -300, -150, -60, -30, 30, 60, 150, 300)
	real     = append(scaled(positive, -1), positive...)
	negative = scaled(positive, -1)
	unit     = units(0.5, 0.3, 0.9)
	orders   = []float64{0, 1, 2, 3}
	angle    = append(scaled(powers(-16, 0.4, 0.2, -300, -60), -1), 0, 1, 3, math.Pi)
	whole    = []float64{0, 1, 2, 3, 5, 10, 30, 49, 51, 99, 101, 300, 1e3, 1e4, 1e6, 1e9}
)

// rows has a row for each function with a loop, or that leads to one: the domains of its
// arguments, or near, which makes arguments from the shapes before.
var rows = []struct {
	name    string
	f       any
	domains [][]float64
	near    func(shapes []float64) []float64 // values of the argument called "last"
	last    int                              // its position
}{
	{name: "LogBesselI", f: kernel.LogBesselI, domains: [][]float64{append(positive, whole...), positive}},
	{name: "LogBesselIv", f: kernel.LogBesselIv, domains: [][]float64{append(positive, whole...), positive}},
	{name: "LogBesselK", f: kernel.LogBesselK, domains: [][]float64{whole, positive}},
	{name: "LogFailuresPhi", f: kernel.LogFailuresPhi, domains: [][]float64{positive, positive, whole}},
	{name: "LogFailuresPhic", f: kernel.LogFailuresPhic, domains: [][]float64{positive, positive, whole}},
	{name: "Polygamma", f: kernel.Polygamma, domains: [][]float64{{1, 2, 3, 4, 10, 100}, real}},
	{name: "PolygammaRise", f: kernel.PolygammaRise, domains: [][]float64{{0, 1, 2, 3, 4, 10, 50}, positive, real}},
	{name: "LogRising", f: kernel.LogRising, domains: [][]float64{positive, real}},
	{name: "LogBetaTerm", f: kernel.LogBetaTerm, domains: [][]float64{unit, positive, positive}},
	{name: "LogPoisson", f: kernel.LogPoisson, domains: [][]float64{positive, positive}},
	{name: "LogGammaP", f: kernel.LogGammaP, domains: [][]float64{orders, shapes()}, near: nearGamma, last: 2},
	{name: "LogGammaQ", f: kernel.LogGammaQ, domains: [][]float64{orders, shapes()}, near: nearGamma, last: 2},
	{name: "LogBetaI", f: kernel.LogBetaI, domains: [][]float64{shapes(), coarse}, near: nearBeta},
	{name: "LogBetaIa", f: kernel.LogBetaIa, domains: [][]float64{shapes(), shapes()}, near: nearBeta},
	{name: "LogBetaIca", f: kernel.LogBetaIca, domains: [][]float64{coarse, shapes()}, near: nearBeta},
	{name: "InvLogPhi", f: kernel.InvLogPhi, domains: [][]float64{negative}},
	{name: "InvBetaI", f: kernel.InvBetaI, domains: [][]float64{unit, coarse, coarse}},
	{name: "StudentQuantile", f: kernel.StudentQuantile, domains: [][]float64{unit, positive}},
	{name: "LambertW0", f: kernel.LambertW0, domains: [][]float64{append(scaled(unit, -1/math.E), positive...)}},
	{name: "LambertWm1", f: kernel.LambertWm1, domains: [][]float64{scaled(unit, -1/math.E)}},
	{name: "LogExpModCDF", f: kernel.LogExpModCDF, domains: [][]float64{real, positive}},
	{name: "OwensT", f: kernel.OwensT, domains: [][]float64{real, real}},
	{name: "LogSkewNormalCDF", f: kernel.LogSkewNormalCDF, domains: [][]float64{real, real}},
	{name: "LogStudentCDF", f: kernel.LogStudentCDF, domains: [][]float64{real, shapes()}},
	{name: "LogStudentCDFNu", f: kernel.LogStudentCDFNu, domains: [][]float64{real, shapes()}},
	{name: "LogVonMisesCDF", f: kernel.LogVonMisesCDF, domains: [][]float64{angle, positive}},
	{name: "VonMisesMoment", f: kernel.VonMisesMoment, domains: [][]float64{{0, 1, 2}, angle, coarse}},
	{name: "LogWiener", f: kernel.LogWiener, domains: [][]float64{positive, unit}},
	{name: "WienerRatio", f: kernel.WienerRatio, domains: [][]float64{{0, 1, 2, 3, 4}, positive, unit}},
}

// powers are 10^e for e from low to high, and of the others.
func powers(low, high, step float64, others ...float64) (v []float64) {
	for e := low; e <= high; e += step {
		v = append(v, math.Pow(10, e))
	}
	for _, e := range others {
		v = append(v, math.Pow(10, e))
	}
	return v
}

func scaled(v []float64, by float64) (s []float64) {
	for _, x := range v {
		s = append(s, x*by)
	}
	return s
}

func units(v ...float64) []float64 {
	for _, p := range powers(-16, -0.25, 0.75, -300, -100, -30) {
		v = append(v, p, 1-p)
	}
	return v
}

// shapes are finer than positive between 1e-8 and 1e16, and have both sides of each threshold.
func shapes() []float64 {
	v := powers(-8, 16, 0.25, -300, -60, -16, 60, 300)
	for _, x := range []float64{0.2, 1, 10, 50, 100, 200} {
		v = append(v, math.Nextafter(x, 0), x, math.Nextafter(x, 1e300))
	}
	return v
}

var (
	factors = []float64{1e-300, 1e-8, 1e-3, 0.1, 0.5, 0.8, 0.95, 0.999, 1, 1.001, 1.02, 1.1, 1.25, 1.6, 2, 5, 1e3, 1e8}
	sds     = []float64{-37, -9, -4, -3.51, -3.5, -1, 0, 1, 3.5, 3.51, 4, 5, 9, 37}
)

// nearGamma are values near the mean of the gamma distribution, and multiples of it.
func nearGamma(s []float64) (xs []float64) {
	a := s[1]
	for _, f := range factors {
		xs = append(xs, f*a, f*(a+1))
	}
	for _, s := range sds {
		xs = append(xs, a+s*math.Sqrt(a))
	}
	return xs
}

// nearBeta is nearGamma of the beta distribution.
func nearBeta(s []float64) (xs []float64) {
	a, b := s[0], s[1]
	mean, sd := a/(a+b), math.Sqrt(a/(a+b)*(b/(a+b))/(a+b+1))
	for _, f := range factors {
		xs = append(xs, f*mean, 1-f*(1-mean))
	}
	xs = append(xs, (a+1)/(a+b+2))
	for _, s := range sds {
		xs = append(xs, mean+s*sd)
	}
	return xs
}

func main() {
	for _, row := range rows {
		f := reflect.ValueOf(row.f)
		call := func(args []float64) {
			kernel.TermsOf = row.name
			kernel.TermsAt = args
			in := make([]reflect.Value, len(args))
			for i, a := range args {
				in[i] = reflect.ValueOf(a)
			}
			f.Call(in)
		}
		var each func(args []float64)
		each = func(args []float64) {
			switch {
			case len(args) < len(row.domains):
				for _, x := range row.domains[len(args)] {
					each(append(args[:len(args):len(args)], x))
				}
			case row.near == nil:
				call(args)
			default:
				for _, x := range row.near(args) {
					all := append([]float64{}, args[:row.last]...)
					call(append(append(all, x), args[row.last:]...))
				}
			}
		}
		each(nil)
	}
	for i, most := range kernel.TermsMost {
		fmt.Println(i, most.N, most.Of, most.Args)
	}
}
