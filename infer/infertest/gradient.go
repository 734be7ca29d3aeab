package infertest

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// GradientElement compares one element of a gradient with finite differences.
type GradientElement struct {
	Index    int // from 0
	Analytic float64
	Numeric  float64
	Error    float64 // estimate of the error of Numeric
}

// OK reports whether the two agree within the error of the differences, or to a relative 1e-6.
func (e GradientElement) OK() bool {
	tol := max(10*e.Error, 1e-6*max(1, math.Abs(e.Analytic)))
	return math.Abs(e.Analytic-e.Numeric) <= tol
}

// CompareGradient compares the gradient of target at x with five-point central differences. For
// each coordinate it tries several step sizes, and uses the one at which halving changes the result
// least. The error is that of the target, or says that the log density is not finite at x.
func CompareGradient(target infer.LogDensity, x []float64) (logDensity float64, elements []GradientElement, err error) {
	grad := make([]float64, len(x))
	spare := make([]float64, len(x))
	lp, err := target.LogDensityGrad(x, grad)
	if err != nil {
		return lp, nil, err
	}
	if math.IsInf(lp, 0) || math.IsNaN(lp) {
		return lp, nil, fmt.Errorf("the log density is %v at %v", lp, x)
	}
	y := slices.Clone(x)
	at := func(i int, h float64) float64 {
		y[i] = x[i] + h
		v, err := target.LogDensityGrad(y, spare)
		y[i] = x[i]
		if err != nil {
			return math.NaN() // outside the support: do not use this step
		}
		return v
	}
	slope := func(i int, h float64) float64 {
		return (8*(at(i, h)-at(i, -h)) - (at(i, 2*h) - at(i, -2*h))) / (12 * h)
	}
	for i := range x {
		e := GradientElement{Index: i, Analytic: grad[i], Numeric: math.NaN(), Error: math.Inf(1)}
		h := 0.1 * max(1, math.Abs(x[i]))
		before := slope(i, h)
		for range 18 {
			h /= 2
			s := slope(i, h)
			if d := math.Abs(s - before); d < e.Error {
				e.Numeric, e.Error = s, d
			}
			before = s
		}
		elements = append(elements, e)
	}
	return lp, elements, nil
}

// CheckGradient returns an error if elements of the gradient at x differ from finite differences.
// It names their number and the first one.
func CheckGradient(target infer.LogDensity, x []float64) error {
	_, elements, err := CompareGradient(target, x)
	if err != nil {
		return err
	}
	var bad []GradientElement
	for _, e := range elements {
		if !e.OK() {
			bad = append(bad, e)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	b := bad[0]
	return fmt.Errorf("%d of %d elements of the gradient are wrong; element %d is %v, but finite differences give %v ± %.1g",
		len(bad), len(x), b.Index, b.Analytic, b.Numeric, b.Error)
}

// CheckContract checks the contract of [infer.LogDensity] at x, except that the gradient is
// correct. Every element of the gradient must be written, and x must not be. The value must not
// depend on earlier calls, a clone must agree to the last bit, and nothing may be allocated. No
// other goroutine should allocate meanwhile.
func CheckContract(target infer.LogDensity, x []float64) error {
	if len(x) != target.Dim() {
		return fmt.Errorf("x has length %d, Dim is %d", len(x), target.Dim())
	}
	evaluate := func(target infer.LogDensity, x []float64) (float64, []float64, error) {
		y := slices.Clone(x)
		grad := make([]float64, len(x))
		for i := range grad {
			grad[i] = math.NaN()
		}
		lp, err := target.LogDensityGrad(y, grad)
		if !slices.Equal(x, y) {
			return lp, grad, fmt.Errorf("x was changed from %v to %v", x, y)
		}
		return lp, grad, err
	}
	lp, grad, err := evaluate(target, x)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(grad, math.IsNaN); i >= 0 {
		return fmt.Errorf("element %d of the gradient is NaN or was not written", i)
	}
	same := func(what string, target infer.LogDensity) error {
		lp2, grad2, err := evaluate(target, x)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if lp2 != lp || !slices.Equal(grad, grad2) {
			return fmt.Errorf("%s: log density %v and gradient %v instead of %v and %v", what, lp2, grad2, lp, grad)
		}
		return nil
	}
	other := slices.Clone(x)
	for i := range other {
		other[i] += 0.3
	}
	target.LogDensityGrad(other, make([]float64, len(x))) // this call is only made for its possible side effects
	if err := same("a second evaluation, after one elsewhere", target); err != nil {
		return err
	}
	if c, ok := target.(infer.Cloner); ok {
		if err := same("a clone", c.CloneDensity()); err != nil {
			return err
		}
	}
	if n := allocations(func() { target.LogDensityGrad(x, grad) }); n > 0 {
		return fmt.Errorf("%d allocations per evaluation", n)
	}
	return nil
}

// allocations returns the least number of allocations over several calls of f.
func allocations(f func()) uint64 {
	f()
	var before, after runtime.MemStats
	least := uint64(math.MaxUint64)
	for range 5 {
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least
}
