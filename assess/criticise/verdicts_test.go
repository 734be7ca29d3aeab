package criticise

import (
	"math"
	"math/rand/v2"
	"testing"
)

// sampleOf returns n values of a function of uniform random numbers.
func sampleOf(n int, f func(u float64) float64) []float64 {
	rng := rand.New(rand.NewPCG(7, 8))
	out := make([]float64, n)
	for i := range out {
		out[i] = f(rng.Float64())
	}
	return out
}

// TestShape checks how departures are described. Numbers that are all near 1 also vary little; they
// must be reported as too large, not as crowded.
func TestShape(t *testing.T) {
	for _, test := range []struct {
		what string
		f    func(u float64) float64
		want Shape
	}{
		{"near 1", func(u float64) float64 { return 0.8 + u/5 }, High},
		{"near 0", func(u float64) float64 { return u / 5 }, Low},
		{"near the middle", func(u float64) float64 { return 0.4 + u/5 }, Crowded},
		{"near both ends", func(u float64) float64 { return math.Round(u) }, Spread},
		{"uniform", func(u float64) float64 { return u }, Other},
	} {
		for _, n := range []int{20, 500} {
			u := Uniform(sampleOf(n, test.f), rand.New(rand.NewPCG(1, 2)))
			if got := u.Shape(); got != test.want {
				t.Errorf("%s, %d numbers: shape %d, want %d", test.what, n, got, test.want)
			}
		}
	}
	if got := Uniform(nil, nil).Shape(); got != Other {
		t.Errorf("of nothing: %d", got)
	}
}

// TestUniformOfMany checks that a very large departure has a P small enough to count even if
// hundreds of quantities are tested.
func TestUniformOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	if u := Uniform(sampleOf(200, func(u float64) float64 { return u / 3 }), rng); u.P > 1e-10 {
		t.Errorf("P is %g", u.P)
	}
	if u := Uniform(sampleOf(200, func(u float64) float64 { return u }), rng); !(u.P > 0.01) {
		t.Errorf("P of uniform numbers is %g", u.P)
	}
}

// TestOdd checks that a statistic of the data counts as odd only if there are enough replications
// to show it.
func TestOdd(t *testing.T) {
	for _, test := range []struct {
		what     string
		observed float64
		draws    int
		want     bool
	}{
		{"beyond 10 draws", 5, 10, false},
		{"beyond 98 draws", 5, 98, false},
		{"beyond 1000 draws", 5, 1000, true},
		{"below 1000 draws", -5, 1000, true},
		{"among 1000 draws", 0.5, 1000, false},
		{"not a number", math.NaN(), 1000, false},
		{"no draws", 5, 0, false},
	} {
		c := NewCheck("mean", test.observed, sampleOf(test.draws, func(u float64) float64 { return u }))
		if c.Odd() != test.want {
			t.Errorf("%s: %v", test.what, c)
		}
	}
	same := make([]float64, 500) // the statistic is the same in all replications and in the data
	if c := NewCheck("zeros", 0, same); c.Odd() || math.Abs(c.P-0.5) > 1e-12 {
		t.Errorf("constant: %v", c)
	}
}

// TestPowerScaleUndefined checks that draws that are NaN have an undefined sensitivity, not a
// negligible one.
func TestPowerScaleUndefined(t *testing.T) {
	x := sampleOf(500, func(u float64) float64 { return u })
	broken := append([]float64{math.NaN()}, x[1:]...)
	s, err := PowerScale(x, [][]float64{x, broken, make([]float64, len(x))})
	if err != nil {
		t.Fatal(err)
	}
	if !(s.Sensitivity[0] > 0) || !math.IsNaN(s.Sensitivity[1]) || s.Sensitivity[2] != 0 {
		t.Errorf("%v", s.Sensitivity)
	}
}

// TestPowerScaleTail checks the Pareto k of the weights of power-scaling. If a part of the density
// has an exponential tail of mean 100 k, its weights have a Pareto tail, u⁻ᵏ. A bounded part has no
// such tail.
func TestPowerScaleTail(t *testing.T) {
	const n = 4000
	part, x := make([]float64, n), make([]float64, n)
	for _, k := range []float64{0.3, 0.9, 1.5} {
		for i := range part {
			u := (float64(i) + 0.5) / n
			part[i], x[i] = -100*k*math.Log(u), math.Sin(float64(i))
		}
		s, err := PowerScale(part, [][]float64{x})
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(s.K-k) < 0.08) {
			t.Errorf("k is %v for weights with a tail of %v", s.K, k)
		}
	}
	for i := range part {
		part[i] = x[i]
	}
	if s, err := PowerScale(part, [][]float64{x}); err != nil || !(s.K < 0.1) {
		t.Errorf("k is %v for bounded weights (%v)", s.K, err)
	}
}
