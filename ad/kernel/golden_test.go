package kernel_test

import (
	"maps"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad/kernel"
	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// goldenValue is a function value to 25 digits (rounded by the compiler).
type goldenValue struct {
	args []float64
	want float64
}

func one(f func(float64) float64) func([]float64) float64 {
	return func(a []float64) float64 { return f(a[0]) }
}

func two(f func(x, y float64) float64) func([]float64) float64 {
	return func(a []float64) float64 { return f(a[0], a[1]) }
}

func three(f func(x, y, z float64) float64) func([]float64) float64 {
	return func(a []float64) float64 { return f(a[0], a[1], a[2]) }
}

// TestGolden compares with values computed by mpmath. The bounds are on the error relative to the
// greater of the value and floor. If a function has a zero at a number that is not a float64, floor
// is the size of the terms of its formula.
func TestGolden(t *testing.T) {
	values := maps.Clone(golden)
	maps.Copy(values, goldenInverse)
	maps.Copy(values, goldenTails)
	for name, c := range map[string]struct {
		f            func(a []float64) float64
		bound, floor float64
	}{
		"Lgamma":           {one(routines.Lgamma), 1e-15, 0},
		"Gamma":            {one(math.Gamma), 1e-14, 0},
		"Digamma":          {one(routines.Digamma), 2e-15, 1e-16},
		"Trigamma":         {one(routines.Trigamma), 2e-15, 0},
		"Polygamma":        {two(kernel.Polygamma), 5e-15, 0},
		"Lbeta":            {two(routines.Lbeta), 5e-15, 1},
		"Lchoose":          {two(routines.Lchoose), 2e-15, 1},
		"Phi":              {one(routines.Phi), 2e-15, 0},
		"LogPhi":           {one(routines.LogPhi), 1e-15, 0},
		"PhiRatio":         {one(routines.PhiRatio), 3e-15, 1e-300},
		"Lmultichoose":     {two(routines.Lmultichoose), 1e-14, 1},
		"PhiExcess":        {one(routines.PhiExcess), 1e-13, 1e-300}, // the relative error of PhiRatio times x²
		"PolygammaRise":    {three(kernel.PolygammaRise), 1e-14, 1e-300},
		"LogPoisson":       {two(kernel.LogPoisson), 2e-15, 1},
		"LogBetaTerm":      {three(kernel.LogBetaTerm), 2e-15, 1},
		"LogExpModTail":    {two(routines.LogExpModTail), 1e-15, 1},
		"LogExpModCDF":     {two(kernel.LogExpModCDF), 1e-13, 0},
		"LogBetaIc":        {three(kernel.LogBetaIc), 5e-13, 0},
		"LogBetaIca":       {three(kernel.LogBetaIca), 1e-12, 0},
		"LogBetaIcb":       {three(kernel.LogBetaIcb), 1e-12, 0},
		"InvPhi":           {one(routines.InvPhi), 1e-15, 0},
		"LogGammaP":        {three(kernel.LogGammaP), 1e-12, 1e-3},
		"LogGammaQ":        {three(kernel.LogGammaQ), 5e-13, 1e-3},
		"LogBetaI":         {three(kernel.LogBetaI), 5e-13, 1e-3},
		"LogBetaIa":        {three(kernel.LogBetaIa), 1e-12, 1e-3},
		"LogBetaIb":        {three(kernel.LogBetaIb), 1e-12, 1e-3},
		"LogStudentCDF":    {two(kernel.LogStudentCDF), 1e-13, 1e-3},
		"LogStudentCDFNu":  {two(kernel.LogStudentCDFNu), 1e-12, 1e-3},
		"LambertW0":        {one(kernel.LambertW0), 1e-13, 0},
		"LambertWm1":       {one(kernel.LambertWm1), 1e-13, 0},
		"OwensT":           {two(kernel.OwensT), 1e-13, 0},
		"LogSkewNormalCDF": {two(kernel.LogSkewNormalCDF), 1e-13, 0},
		"InvLogPhi":        {one(kernel.InvLogPhi), 1e-14, 0},
		"InvBetaI":         {three(kernel.InvBetaI), 2e-13, 0}, // the rounding error of log B(a, b), multiplied by 1/a
		"StudentQuantile":  {two(kernel.StudentQuantile), 5e-13, 0},
		"LogBesselK":       {two(kernel.LogBesselK), 1e-14, 1},
		"BesselJ":          {two(kernel.BesselJ), 1e-13, 1e-3},
		"BesselY":          {two(kernel.BesselY), 1e-13, 1e-3},
		"LogVonMisesCDF":   {two(kernel.LogVonMisesCDF), 1e-13, 0},
		// The file has moments of the cosine itself.
		"VonMisesMoment": {func(x []float64) (m float64) {
			for k, c := range [][]float64{{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}}[int(x[0])] {
				m += c * kernel.VonMisesMoment(float64(k), x[1], x[2])
			}
			return m
		}, 1e-12, 1e-2},
		"LogWiener": {func(x []float64) float64 { return kernel.LogWiener(x[0], 1-x[1]) }, 1e-13, 1},
		"WienerRatio": {func(x []float64) float64 { // the file has 1-b, the distance from the end 1
			return kernel.WienerRatio(x[0], x[1], 1-x[2]) * math.Pow(-1, x[0])
		}, 1e-12, 1},
		"LogBesselI": {two(kernel.LogBesselI), 2e-14, 1},
		"Log1pExp":   {one(kernel.Log1pExp), 1e-15, 0},
		"Log1mExp":   {one(routines.Log1mExp), 1e-15, 0},
		"InvLogit":   {one(kernel.InvLogit), 1e-15, 0},
		"LogDiffExp": {two(kernel.LogDiffExp), 1e-15, 1},
		"LogAddExp":  {two(kernel.LogAddExp), 1e-15, 0},
	} {
		if len(values[name]) == 0 {
			t.Errorf("%s: no values", name)
		}
		worst, at := 0.0, []float64(nil)
		for _, g := range values[name] {
			got := c.f(g.args)
			if got == g.want {
				continue
			}
			if e := math.Abs(got-g.want) / max(math.Abs(g.want), c.floor); !(e <= worst) {
				worst, at = e, g.args
			}
			if runtime.GOARCH == "arm64" && math.Abs(got-g.want) == 5e-324 {
				continue // on arm64, math.Exp already returns 0 from -744.6 on
			}
			if math.Abs(got-g.want) > c.bound*max(math.Abs(g.want), c.floor) {
				t.Errorf("%s%v = %v, want %v", name, g.args, got, g.want)
			}
		}
		t.Logf("%s: relative error at most %.2g, at %v", name, worst, at)
	}
}

// TestEdges checks values at the ends of each domain, and outside.
func TestEdges(t *testing.T) {
	inf, nan, tiny := math.Inf(1), math.NaN(), 1e-300
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"Lgamma(0)", routines.Lgamma(0), inf},
		{"Lgamma(+Inf)", routines.Lgamma(inf), inf},
		{"Lgamma(-Inf)", routines.Lgamma(-inf), inf},
		{"Lgamma(-3)", routines.Lgamma(-3), inf},
		{"Lgamma(NaN)", routines.Lgamma(nan), nan},
		{"Lgamma(1)", routines.Lgamma(1), 0},
		{"Lgamma(2)", routines.Lgamma(2), 0},
		{"Lgamma(5e-324)", routines.Lgamma(5e-324), 744.4400719213812},
		{"Lgamma(-1e-310)", routines.Lgamma(-1e-310), 713.8013788281542},
		{"Lgamma(1e305)", routines.Lgamma(1e305), 7.012884533631839e307},
		{"Lgamma(1e306)", routines.Lgamma(1e306), inf},
		{"Digamma(5e-324)", routines.Digamma(5e-324), -inf},
		{"Digamma(1e-300)", routines.Digamma(1e-300), -1 / tiny},
		{"Digamma(-1e-300)", routines.Digamma(-1e-300), 1 / tiny},
		{"Digamma(-Inf)", routines.Digamma(-inf), nan},
		{"Digamma(MaxFloat64)", routines.Digamma(math.MaxFloat64), 709.782712893384},
		{"DigammaRise(2, 0)", routines.DigammaRise(2, 0), 0},
		{"DigammaRise(1, +Inf)", routines.DigammaRise(1, inf), inf},
		{"DigammaRise(-1, 3)", routines.DigammaRise(-1, 3), nan},
		{"DigammaRise(1e-300, 1)", routines.DigammaRise(1e-300, 1), 1 / tiny},
		{"Lmultichoose(0.3, 0)", routines.Lmultichoose(0.3, 0), 0},
		{"Lmultichoose(1, 0)", routines.Lmultichoose(1, 0), 0},
		{"Lmultichoose(NaN, 3)", routines.Lmultichoose(nan, 3), nan},
		{"Digamma(0)", routines.Digamma(0), nan},
		{"Digamma(-1)", routines.Digamma(-1), nan},
		{"Digamma(+Inf)", routines.Digamma(inf), inf},
		{"Digamma(NaN)", routines.Digamma(nan), nan},
		{"Trigamma(0)", routines.Trigamma(0), inf},
		{"Trigamma(+Inf)", routines.Trigamma(inf), 0},
		{"Polygamma(1.5, 1)", kernel.Polygamma(1.5, 1), nan},
		{"Lbeta(0, 1)", routines.Lbeta(0, 1), inf},
		{"Lbeta(-1, 1)", routines.Lbeta(-1, 1), nan},
		{"Lbeta(1, +Inf)", routines.Lbeta(1, inf), -inf},
		{"Lchoose(3, 0)", routines.Lchoose(3, 0), 0},
		{"Lchoose(3, 3)", routines.Lchoose(3, 3), 0},
		{"Lchoose(3, 4)", routines.Lchoose(3, 4), -inf},
		{"Lchoose(3, 5)", routines.Lchoose(3, 5), nan},
		{"Phi(-Inf)", routines.Phi(-inf), 0},
		{"Phi(+Inf)", routines.Phi(inf), 1},
		{"Phi(NaN)", routines.Phi(nan), nan},
		{"Phi(0)", routines.Phi(0), 0.5},
		{"Phi(-40)", routines.Phi(-40), 0},
		{"Erf(+Inf)", routines.Erf(inf), 1},
		{"Erf(-Inf)", routines.Erf(-inf), -1},
		{"Erf(NaN)", routines.Erf(nan), nan},
		{"Erf(5e-324)", routines.Erf(5e-324), 5e-324},
		{"Erfc(0)", routines.Erfc(0), 1},
		{"Erfc(+Inf)", routines.Erfc(inf), 0},
		{"Erfc(-Inf)", routines.Erfc(-inf), 2},
		{"Erfc(NaN)", routines.Erfc(nan), nan},
		{"PhiExcess(-Inf)", routines.PhiExcess(-inf), 0},
		{"PhiExcess(+Inf)", routines.PhiExcess(inf), inf},
		{"PhiExcess(NaN)", routines.PhiExcess(nan), nan},
		{"LogPhi(NaN)", routines.LogPhi(nan), nan},
		{"LogPhi(-1e200)", routines.LogPhi(-1e200), -inf},
		{"LogExpModTail(-Inf, 1)", routines.LogExpModTail(-inf, 1), -inf},
		{"LogExpModTail(+Inf, 1)", routines.LogExpModTail(inf, 1), -inf},
		{"LogExpModTail(1, +Inf)", routines.LogExpModTail(1, inf), -inf},
		{"LogExpModTail(NaN, 1)", routines.LogExpModTail(nan, 1), nan},
		{"LogPhi(-Inf)", routines.LogPhi(-inf), -inf},
		{"LogPhi(+Inf)", routines.LogPhi(inf), 0},
		{"PhiRatio(-Inf)", routines.PhiRatio(-inf), inf},
		{"PhiRatio(+Inf)", routines.PhiRatio(inf), 0},
		{"PhiRatio(NaN)", routines.PhiRatio(nan), nan},
		{"InvPhi(0.5)", routines.InvPhi(0.5), 0},
		{"InvPhi(1.1)", routines.InvPhi(1.1), nan},
		{"InvPhi(5e-324)", routines.InvPhi(5e-324), -38.467405617144346},
		{"InvPhi(0)", routines.InvPhi(0), -inf},
		{"InvPhi(1)", routines.InvPhi(1), inf},
		{"InvPhi(-0.1)", routines.InvPhi(-0.1), nan},
		{"InvPhi(NaN)", routines.InvPhi(nan), nan},
		{"Expm1(+Inf)", routines.Expm1(inf), inf},
		{"Expm1(-Inf)", routines.Expm1(-inf), -1},
		{"Expm1(NaN)", routines.Expm1(nan), nan},
		{"Expm1(5e-324)", routines.Expm1(5e-324), 5e-324},
		{"Expm1(710)", routines.Expm1(710), inf},
		{"1/Expm1(-0)", 1 / routines.Expm1(math.Copysign(0, -1)), -inf},
		{"Tanh(+Inf)", routines.Tanh(inf), 1},
		{"Tanh(-Inf)", routines.Tanh(-inf), -1},
		{"Tanh(NaN)", routines.Tanh(nan), nan},
		{"Tanh(-5e-324)", routines.Tanh(-5e-324), -5e-324},
		{"1/Tanh(-0)", 1 / routines.Tanh(math.Copysign(0, -1)), -inf},
		{"Sin(+Inf)", routines.Sin(inf), nan},
		{"Cos(-Inf)", routines.Cos(-inf), nan},
		{"Sin(NaN)", routines.Sin(nan), nan},
		{"Cos(0)", routines.Cos(0), 1},
		{"Sin(5e-324)", routines.Sin(5e-324), 5e-324},
		{"1/Sin(-0)", 1 / routines.Sin(math.Copysign(0, -1)), -inf},
		{"Log1mExp(NaN)", routines.Log1mExp(nan), nan},
		{"Log1mExp(-Inf)", routines.Log1mExp(-inf), 0},
		{"Log1mExp(-5e-324)", routines.Log1mExp(-5e-324), -744.4400719213812},
		{"Log1mExp(0)", routines.Log1mExp(0), -inf},
		{"Log1mExp(1)", routines.Log1mExp(1), nan},
		{"LogDiffExp(1, 1)", kernel.LogDiffExp(1, 1), -inf},
		{"LogDiffExp(0, 1)", kernel.LogDiffExp(0, 1), nan},
		{"LogAddExp(-Inf, -Inf)", kernel.LogAddExp(-inf, -inf), -inf},
		{"LogAddExp(+Inf, +Inf)", kernel.LogAddExp(inf, inf), inf},
		{"XLogY(0, 0)", kernel.XLogY(0, 0), 0},
		{"XLogY(1, 0)", kernel.XLogY(1, 0), -inf},
		{"XLogY(0, NaN)", kernel.XLogY(0, nan), nan},
		{"XLog1mY(0, 1)", kernel.XLog1mY(0, 1), 0},
		{"XLog1mY(2, 1)", kernel.XLog1mY(2, 1), -inf},
	} {
		if c.got != c.want && !(math.IsNaN(c.got) && math.IsNaN(c.want)) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

// TestLogSubnormal checks that log(2^-1074) = -1074 log 2.
func TestLogSubnormal(t *testing.T) {
	for x, e := 0x1p-1022, -1022.0; x > 0; x, e = x/2, e-1 {
		if got, want := routines.Log(x), e*math.Ln2; math.Abs(got-want) > 2e-13 {
			t.Fatalf("log(2^%v) = %v, want %v", e, got, want)
		}
	}
}

// TestOddArguments compares generated functions with package math at unusual arguments. Results
// that are zero, infinite or NaN must be the same, including the signs of zeros.
func TestOddArguments(t *testing.T) {
	odd := []float64{0, math.Copysign(0, -1), 5e-324, -5e-324, 1e-310, -1e-310, 1e-200, 0.5, -0.5, 1, -1, math.Nextafter(1, 0), math.Nextafter(1, 2),
		2, -2, 3, 10, -10, 700, 709.9, -709.9, 710.4, 711, -720, -1074, -1076, 1023.5, 1024, 1e9, -1e9, 1e99, 1e101, -1e101, 1e300, math.MaxFloat64, -math.MaxFloat64,
		math.Inf(1), math.Inf(-1), math.NaN()}
	same := func(name string, got, want float64, args ...float64) {
		ok := got == want && math.Signbit(got) == math.Signbit(want) || math.IsNaN(got) && math.IsNaN(want)
		if !ok && !(want != 0 && math.Abs(got-want) <= max(1e-15*math.Abs(want), 5e-324)) {
			t.Errorf("%s%v = %v, package math has %v", name, args, got, want)
		}
	}
	for _, f := range []struct {
		name      string
		got, want func(float64) float64
	}{
		{"Exp2", routines.Exp2, math.Exp2}, {"Log2", routines.Log2, math.Log2}, {"Log10", routines.Log10, math.Log10}, {"Tan", routines.Tan, math.Tan},
		{"Asin", routines.Asin, math.Asin}, {"Acos", routines.Acos, math.Acos}, {"Atan", routines.Atan, math.Atan},
		{"Sinh", routines.Sinh, math.Sinh}, {"Cosh", routines.Cosh, math.Cosh},
		{"Asinh", routines.Asinh, math.Asinh}, {"Acosh", routines.Acosh, math.Acosh}, {"Atanh", routines.Atanh, math.Atanh},
		{"Cbrt", routines.Cbrt, math.Cbrt},
	} {
		for _, x := range odd {
			// Package math is wrong or less exact for logarithms of subnormal numbers and near 1,
			// and for tangents of the greatest numbers.
			if strings.HasPrefix(f.name, "Log") && (math.Abs(x) < 0x1p-1022 && x != 0 || math.Abs(x-1) < 1e-10 && x != 1) || f.name == "Tan" && math.Abs(x) > 1e300 {
				continue
			}
			same(f.name, f.got(x), f.want(x), x)
		}
	}
	for _, y := range odd {
		for _, x := range odd {
			want := math.Atan2(y, x)
			if x < 0 && y/x == 0 { // package math loses the sign of y if y/x underflows
				want = math.Copysign(math.Pi, y)
			}
			same("Atan2", routines.Atan2(y, x), want, y, x)
			same("Hypot", routines.Hypot(y, x), math.Hypot(y, x), y, x)
		}
	}
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range [][2]float64{{0, inf}, {math.Copysign(0, -1), inf}, {-3, inf}, {-1e17, inf}, {1e-160, inf}, {1e-150, 1e300}, {-1e-150, 1e300}, {1e301, 1e-301}, {inf, 0}, {-inf, nan}, {nan, nan}} {
		same("Trigamma", routines.Trigamma(c[0]), c[1], c[0])
	}
	for _, x := range []float64{0, 1e-200, 0.5, 3, 1e200, 1e305, inf} {
		same("Lbeta", routines.Lbeta(0, x), inf, 0, x)
		same("Lbeta", routines.Lbeta(x, nan), nan, x, nan)
		same("Lbeta", routines.Lbeta(-1, x), nan, -1, x)
		same("Lbeta", routines.Lbeta(x+1, inf), -inf, x+1, inf)
		same("Lchoose", routines.Lchoose(nan, x), nan, nan, x)
		same("Lchoose", routines.Lchoose(x, nan), nan, x, nan)
		if x < inf {
			same("Lchoose", routines.Lchoose(x, 0), 0, x, 0)
			same("Lchoose", routines.Lchoose(x, x), 0, x, x)
		}
	}
}
