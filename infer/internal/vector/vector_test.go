package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// lengths are lengths on both sides of all thresholds, and with every remainder of a vector
// register.
var lengths = []int{0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 18, 19, 20, 31, 33, 100, 1001}

// random returns k slices of n numbers of different magnitudes, for which rounding matters.
func random(rng *rand.Rand, k, n int) [][]float64 {
	all := make([][]float64, k)
	for j := range all {
		all[j] = make([]float64, n)
		for i := range all[j] {
			all[j][i] = rng.NormFloat64() * math.Exp(3*rng.NormFloat64())
		}
	}
	return all
}

func near(t *testing.T, what string, n int, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
		t.Errorf("%s of %d: %v instead of %v", what, n, got, want)
	}
}

// calls lists calls of all functions, with slices and two numbers. They return the sums.
var calls = []struct {
	name  string
	run   func(x [][]float64, a, b float64) float64
	plain func(x [][]float64, i int, a, b float64) (to []int, values []float64, sum float64) // of one element
}{
	{"Leap", func(x [][]float64, a, b float64) float64 { Leap(x[0], x[1], x[2], x[3], x[4], x[5], a, b); return 0 },
		func(x [][]float64, i int, a, b float64) ([]int, []float64, float64) {
			p := x[3][i] + a*x[4][i]
			return []int{0, 1}, []float64{x[2][i] + b*x[5][i]*p, p}, 0
		}},
	{"Leap in place, unit", func(x [][]float64, a, b float64) float64 { Leap(x[0], x[1], x[0], x[1], x[4], nil, a, b); return 0 },
		func(x [][]float64, i int, a, b float64) ([]int, []float64, float64) {
			p := x[1][i] + a*x[4][i]
			return []int{0, 1}, []float64{x[0][i] + b*p, p}, 0
		}},
	{"Kick", func(x [][]float64, a, _ float64) float64 { return Kick(x[0], x[2], x[3], a) },
		func(x [][]float64, i int, a, _ float64) ([]int, []float64, float64) {
			p := x[0][i] + a*x[2][i]
			return []int{0}, []float64{p}, x[3][i] * p * p
		}},
	{"Kick, unit", func(x [][]float64, a, _ float64) float64 { return Kick(x[0], x[2], nil, a) },
		func(x [][]float64, i int, a, _ float64) ([]int, []float64, float64) {
			p := x[0][i] + a*x[2][i]
			return []int{0}, []float64{p}, p * p
		}},
	{"LeapTo", func(x [][]float64, a, b float64) float64 {
		LeapTo(x[0], x[1], x[2], x[3], x[4], x[5], x[3], x[4], a, b)
		return 0
	},
		func(x [][]float64, i int, a, b float64) ([]int, []float64, float64) {
			p := x[4][i] + a*x[4][i]*x[5][i]
			q := x[3][i] + b*p
			return []int{0, 1, 2}, []float64{x[3][i] + x[4][i]*q, q, p}, 0
		}},
	{"KickFrom", func(x [][]float64, a, _ float64) float64 { return KickFrom(x[0], x[2], x[3], a) },
		func(x [][]float64, i int, a, _ float64) ([]int, []float64, float64) {
			p := x[0][i] + a*x[2][i]*x[3][i]
			return []int{0}, []float64{p}, p * p
		}},
	{"KickLeap", func(x [][]float64, a, b float64) float64 { return KickLeap(x[0], x[1], x[2], x[3], x[4], x[5], a, b) },
		func(x [][]float64, i int, a, b float64) ([]int, []float64, float64) {
			p := x[2][i] + a*x[4][i]
			r := p + a*x[4][i]
			return []int{0, 1, 2}, []float64{x[3][i] + b*x[5][i]*r, r, p}, x[5][i] * p * p
		}},
	{"KickLeap in place, unit", func(x [][]float64, a, b float64) float64 { return KickLeap(x[0], x[1], x[2], x[0], x[4], nil, a, b) },
		func(x [][]float64, i int, a, b float64) ([]int, []float64, float64) {
			p := x[2][i] + a*x[4][i]
			r := p + a*x[4][i]
			return []int{0, 1, 2}, []float64{x[0][i] + b*r, r, p}, p * p
		}},
	{"KickLeapTo", func(x [][]float64, a, b float64) float64 {
		return KickLeapTo(x[0], x[1], x[2], x[3], x[4], x[5], x[4], x[5], a, b)
	},
		func(x [][]float64, i int, a, b float64) ([]int, []float64, float64) {
			p := x[3][i] + a*x[5][i]*x[5][i]
			r := p + a*x[5][i]*x[5][i]
			q := x[4][i] + b*r
			return []int{0, 1, 2, 3}, []float64{x[4][i] + x[5][i]*q, q, r, p}, p * p
		}},
	{"Products", func(x [][]float64, a, b float64) float64 {
		p := Products(x[0], &[4][]float64{x[1], x[2], x[3], x[4]})
		return p[0] + a*p[1] + b*p[2] + p[3]
	},
		func(x [][]float64, i int, a, b float64) ([]int, []float64, float64) {
			return nil, nil, x[0][i] * (x[1][i] + a*x[2][i] + b*x[3][i] + x[4][i])
		}},
	{"AddScaled", func(x [][]float64, a, b float64) float64 {
		AddScaled(x[0], &[4]float64{a, 2, b, -1}, &[4][]float64{x[1], x[2], x[3], x[4]})
		return 0
	},
		func(x [][]float64, i int, a, b float64) ([]int, []float64, float64) {
			return []int{0}, []float64{x[0][i] + a*x[1][i] + 2*x[2][i] + b*x[3][i] - x[4][i]}, 0
		}},
	{"Rotate", func(x [][]float64, a, b float64) float64 {
		Rotate(x[0], x[1], x[2], x[3], x[4], a, math.Sin(b), math.Cos(b))
		return 0
	},
		func(x [][]float64, i int, a, b float64) ([]int, []float64, float64) {
			r := x[4][i] + a*(x[3][i]+x[2][i])
			return []int{0, 1}, []float64{math.Cos(b)*x[2][i] + math.Sin(b)*r, math.Cos(b)*r - math.Sin(b)*x[2][i]}, 0
		}},
	{"KickRotated", func(x [][]float64, a, _ float64) float64 { return KickRotated(x[0], x[1], x[2], a) },
		func(x [][]float64, i int, a, _ float64) ([]int, []float64, float64) {
			r := x[0][i] + a*(x[1][i]+x[2][i])
			return []int{0}, []float64{r}, r * r
		}},
	{"Affine", func(x [][]float64, _, _ float64) float64 { Affine(x[0], x[1], x[2], x[3]); return 0 },
		func(x [][]float64, i int, _, _ float64) ([]int, []float64, float64) {
			return []int{0}, []float64{x[1][i] + x[2][i]*x[3][i]}, 0
		}},
	{"Times", func(x [][]float64, _, _ float64) float64 { Times(x[0], x[1], x[2]); return 0 },
		func(x [][]float64, i int, _, _ float64) ([]int, []float64, float64) {
			return []int{0}, []float64{x[1][i] * x[2][i]}, 0
		}},
}

func clone(x [][]float64) [][]float64 {
	y := make([][]float64, len(x))
	for j := range x {
		y[j] = slices.Clone(x[j])
	}
	return y
}

// TestFormulas compares every function with its formula, element by element, and checks that it
// changes nothing else.
func TestFormulas(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range lengths {
		for _, c := range calls {
			x := random(rng, 6, n)
			a, b := rng.NormFloat64(), rng.NormFloat64()
			want, sum := clone(x), 0.0
			for i := range n {
				to, values, s := c.plain(x, i, a, b)
				for k, j := range to {
					want[j][i] = values[k]
				}
				sum += s
			}
			near(t, c.name, n, c.run(x, a, b), sum)
			for j := range x {
				for i := range n {
					near(t, c.name, n, x[j][i], want[j][i])
				}
			}
		}
	}
}

func TestFinite(t *testing.T) {
	for _, n := range lengths {
		x := slices.Repeat([]float64{math.MaxFloat64}, n)
		if !Finite(x) {
			t.Errorf("%d largest numbers are not finite", n)
		}
		for i := range x {
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				x[i] = bad
				if Finite(x) {
					t.Errorf("%v at %d of %d is finite", bad, i, n)
				}
			}
			x[i] = 1
		}
	}
}
