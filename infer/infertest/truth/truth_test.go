package truth_test

import (
	"math"
	"sync"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/infertest/truth"
	"github.com/ppl-lang/ppl/internal/short"
)

// checked returns the targets of the tests. They are integrated only once.
var checked = sync.OnceValue(func() []*truth.Target { return truth.All(1) })

// TestTable checks the list of targets as a whole.
func TestTable(t *testing.T) {
	names, classes, drawn := map[string]bool{}, map[truth.Class]int{}, 0
	all := checked()
	for _, target := range all {
		if names[target.Name] {
			t.Errorf("two targets are named %s", target.Name)
		}
		names[target.Name] = true
		classes[target.Class]++
		if target.Drawn {
			drawn++
		}
		if (target.Sample == nil) != (target.Class == truth.Improper) {
			t.Errorf("%s: exact draws %v, class %s", target.Name, target.Sample != nil, target.Class)
		}
	}
	t.Logf("%d targets, %d drawn, %v", len(all), drawn, classes)
	if len(all) < 60 || 2*drawn < len(all) || len(classes) != len(truth.Classes()) {
		t.Errorf("%d targets, of which %d are drawn, in %d classes", len(all), drawn, len(classes))
	}
}

// TestGradients compares gradients with differences, at random points where chains start and
// at exact draws.
func TestGradients(t *testing.T) {
	for _, target := range short.Every(8, checked()) {
		if target.Dim() > 60 {
			continue // the same code as in fewer dimensions, but slower
		}
		rng := infer.Stream(1, 0, target.Name, 0)
		x := make([]float64, target.Dim())
		for k := range 4 {
			for i := range x {
				x[i] = 2 * (2*rng.Float64() - 1)
			}
			if k >= 2 && target.Sample != nil {
				target.Sample(rng, x)
			}
			if err := infertest.CheckGradient(target.Density, x); err != nil {
				t.Errorf("%s: %v", target.Name, err)
				break
			}
		}
		if err := infertest.CheckContract(target.Density, x); err != nil {
			t.Errorf("%s: %v", target.Name, err)
		}
	}
}

// TestFiguresMatchExactDraws compares the known figures with independent draws.
func TestFiguresMatchExactDraws(t *testing.T) {
	const n = 1000
	for _, target := range short.Every(8, checked()) {
		if target.Sample == nil {
			continue
		}
		rng := infer.Stream(2, 0, target.Name, 0)
		x := make([]float64, target.Dim())
		quantities := target.Quantities()
		if len(quantities) < 2 {
			t.Errorf("%s: there are %d quantities", target.Name, len(quantities))
		}
		sum, squares := make([]float64, len(quantities)), make([]float64, len(quantities))
		for range n {
			target.Sample(rng, x)
			for i, q := range quantities {
				v := q.Of(x)
				sum[i] += v
				squares[i] += (v - q.Truth) * (v - q.Truth)
			}
		}
		for i, q := range quantities {
			if z := (sum[i]/n - q.Truth) / (q.SD / math.Sqrt(n)); !(math.Abs(z) < 5) {
				t.Errorf("%s: %s is %v, but %v in exact draws, which is %.1f standard errors off", target.Name, q.Name, q.Truth, sum[i]/n, z)
			}
			if ratio := math.Sqrt(squares[i]/n) / q.SD; !(ratio > 0.7 && ratio < 1.4) && q.Truth*(1-q.Truth) > 0.02 {
				t.Errorf("%s: the standard deviation of %s is %v, but %.3g times that in exact draws", target.Name, q.Name, q.SD, ratio)
			}
		}
	}
}

// TestDensitiesMatchExactDraws compares densities with draws. Each draw is moved by the difference
// of two other draws, if Metropolis's rule accepts the move. If the density is correct, the moved
// draws have the same distribution.
func TestDensitiesMatchExactDraws(t *testing.T) {
	const n = 1000
	for _, target := range short.Every(8, checked()) {
		if target.Sample == nil {
			continue
		}
		rng := infer.Stream(3, 0, target.Name, 0)
		d := target.Dim()
		x, a, b, grad := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
		quantities := target.Quantities()
		sum, squares := make([]float64, len(quantities)), make([]float64, len(quantities))
		steps := []float64{1, 2.38 / math.Sqrt(2*float64(d))}
		for k := range n {
			target.Sample(rng, x)
			target.Sample(rng, a)
			target.Sample(rng, b)
			before, _ := target.Density.LogDensityGrad(x, grad)
			for i := range a {
				a[i] = x[i] + steps[k%2]*(a[i]-b[i])
			}
			after, _ := target.Density.LogDensityGrad(a, grad)
			accept := math.Exp(min(0, after-before))
			for i, q := range quantities {
				v := accept * (q.Of(a) - q.Of(x))
				sum[i] += v
				squares[i] += v * v
			}
		}
		for i, q := range quantities {
			// A sum of few acceptances with tiny probabilities is far from normal, so smaller
			// changes are not judged.
			const tiny = 0.002
			if z := sum[i] / math.Sqrt(squares[i]); !(math.Abs(z) < 5) && math.Abs(sum[i]/n) > tiny*q.SD {
				t.Errorf("%s: exact draws moved by Metropolis's rule change %s by %.3g, which is %.1f standard errors", target.Name, q.Name, sum[i]/n, z)
			}
		}
	}
}
