package kernel_test

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// TestUlps compares with values of mpmath, which testdata/ulps.py wrote. Errors are in units in the
// last place.
func TestUlps(t *testing.T) {
	near := 4e-15 // for functions whose terms cancel: the error is compared with max(1, |value|)
	functions := map[string]struct {
		f     func(a []float64) float64
		bound float64
		floor float64 // smaller values are treated as if they had this size
	}{
		"Phi":           {one(routines.Phi), 1, 0},
		"LogPhi":        {one(routines.LogPhi), 1, 0},
		"PhiRatio":      {one(routines.PhiRatio), 1, 0},
		"PhiExcess":     {one(routines.PhiExcess), 1.25, 0},
		"LogExpModTail": {two(routines.LogExpModTail), 1, 0},
		"InvPhi":        {one(routines.InvPhi), 3, 0},
		"Erf":           {one(routines.Erf), 1, 0},
		"Erfc":          {one(routines.Erfc), 1, 0},
		"Lgamma":        {one(routines.Lgamma), 2.1, 0},
		// Near the zeros at negative arguments the error is relative to 1, because the reflection
		// formula loses digits there.
		"LgammaNegative":  {one(routines.Lgamma), 3, 1},
		"Digamma":         {one(routines.Digamma), 2, 0},
		"DigammaNegative": {one(routines.Digamma), 8, 1},
		"DigammaRise":     {two(routines.DigammaRise), 4, 0},
		// These are sums of terms of up to 50.
		"Expm1":     {one(routines.Expm1), 1, 0},
		"Tanh":      {one(routines.Tanh), 1, 0},
		"TanhSlope": {one(routines.TanhSlope), 3, 0},
		"Sin":       {one(routines.Sin), 1, 0},
		"Cos":       {one(routines.Cos), 1, 0},
		"Log1mExp":  {one(routines.Log1mExp), 1, 0},
		"Exp2":      {one(routines.Exp2), 1, 0},
		"Log2":      {one(routines.Log2), 1, 0},
		"Log10":     {one(routines.Log10), 1, 0},
		"Tan":       {one(routines.Tan), 1, 0},
		"Asin":      {one(routines.Asin), 1, 0},
		"Acos":      {one(routines.Acos), 1, 0},
		"Atan":      {one(routines.Atan), 1, 0},
		"Atan2":     {two(routines.Atan2), 1, 0},
		"Sinh":      {one(routines.Sinh), 1, 0},
		"Cosh":      {one(routines.Cosh), 1, 0},
		"Asinh":     {one(routines.Asinh), 1, 0},
		"Acosh":     {one(routines.Acosh), 1, 0},
		"Atanh":     {one(routines.Atanh), 1, 0},
		"Cbrt":      {one(routines.Cbrt), 0.51, 0},
		"Hypot":     {two(routines.Hypot), 0.51, 0},
		"Trigamma":  {one(routines.Trigamma), 1, 0},
		// The error is that of π/sin(πx), squared; the sine is accurate to a few units.
		"TrigammaNegative": {one(routines.Trigamma), 8, 0},
		"Lbeta":            {two(routines.Lbeta), near / 2.2e-16, 1},
		"Lchoose":          {two(routines.Lchoose), near / 2.2e-16, 1},
		"Lmultichoose":     {two(routines.Lmultichoose), near / 2.2e-16, 1},
	}
	file, err := os.Open("testdata/ulps.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	worst, count := map[string]float64{}, map[string]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		c, ok := functions[fields[0]]
		if !ok {
			t.Fatalf("nothing is said of %s", fields[0])
		}
		var xs []float64
		for _, s := range fields[1:] {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			xs = append(xs, x)
		}
		n := len(xs) - 2
		got, want, rest := c.f(xs[:n]), xs[n], xs[n+1]
		size := max(math.Abs(want), c.floor)
		u := math.Abs((got-want)-rest) / (math.Nextafter(size, math.Inf(1)) - size)
		count[fields[0]]++
		worst[fields[0]] = max(worst[fields[0]], u)
		if !(u <= c.bound) {
			t.Errorf("%s%v = %v errs by %.2f units in the last place of %v", fields[0], xs[:n], got, u, want)
		}
	}
	var said []string
	for name := range functions {
		if count[name] < 15 {
			t.Errorf("%d values of %s", count[name], name)
		}
		said = append(said, fmt.Sprintf("%s %.2f", name, worst[name]))
	}
	t.Logf("worst errors: %s", strings.Join(said, ", "))
}

// TestExpModSlope compares ExpModSlope with the functions of the difference of its arguments of
// which it consists, and which TestUlps compares with mpmath. If the difference is exact, the
// results must be equal. Otherwise they may differ by the effect of rounding the difference.
func TestExpModSlope(t *testing.T) {
	of := func(x float64) float64 {
		if x < 0 {
			return routines.PhiExcess(x)
		}
		return routines.PhiRatio(x)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 4000 {
		z, v := 5*rng.NormFloat64(), math.Exp(rng.NormFloat64())
		if i%2 == 0 {
			z, v = math.Floor(z*64)/64, math.Ceil(v*64)/64
		}
		got, want := routines.ExpModSlope(z, v), of(z-v)
		tol := 0.0
		if i%2 == 1 {
			tol = (4 + 2*(z-v)*(z-v)) * 0x1p-53 * want
		}
		if !(math.Abs(got-want) <= tol) {
			t.Errorf("at %v, %v: %.17g, want %.17g", z, v, got, want)
		}
	}
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range [][3]float64{{-inf, 1, 0}, {inf, 1, 0}, {1, inf, 0}, {nan, 1, nan}, {1, nan, nan}} {
		if got := routines.ExpModSlope(c[0], c[1]); !(math.Abs(got-c[2]) <= 1e-299) && !(math.IsNaN(got) && math.IsNaN(c[2])) {
			t.Errorf("at %v, %v: %v, want %v", c[0], c[1], got, c[2])
		}
	}
}
