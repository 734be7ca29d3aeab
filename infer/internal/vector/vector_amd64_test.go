package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSameBits checks that machine code and Go give the same bits.
func TestSameBits(t *testing.T) {
	if !fast {
		t.Skip("this processor has no AVX2")
	}
	defer func() { fast = true }()
	rng := rand.New(rand.NewPCG(3, 1))
	same := func(a, b []float64) bool {
		return slices.EqualFunc(a, b, func(v, w float64) bool { return math.Float64bits(v) == math.Float64bits(w) })
	}
	for _, n := range lengths {
		for _, c := range calls {
			x := random(rng, 6, n)
			y := clone(x)
			a, b := rng.NormFloat64(), rng.NormFloat64()
			fast = true
			s := c.run(x, a, b)
			fast = false
			if r := c.run(y, a, b); math.Float64bits(r) != math.Float64bits(s) {
				t.Errorf("%s of %d: the sums are %v and %v", c.name, n, s, r)
			}
			for j := range x {
				if !same(x[j], y[j]) {
					t.Errorf("%s of %d: slice %d differs", c.name, n, j)
				}
			}
		}
	}
}

// TestSameTurns checks that the sign of a product close to zero is the same in machine code and Go.
func TestSameTurns(t *testing.T) {
	if !fast {
		t.Skip("this processor has no AVX2")
	}
	defer func() { fast = true }()
	rng := rand.New(rand.NewPCG(4, 1))
	turned := 0
	const rounds = 2000
	for range rounds {
		n := 16 + rng.IntN(8)
		x := random(rng, 2, n)
		// a·(r + s) is a sum of numbers and of their negatives in another order, so rounding
		// determines its sign.
		a, r := make([]float64, n), make([]float64, n)
		for i := range a {
			a[i], r[i] = 1, x[0][i]
		}
		for i := range n / 2 {
			r[n-1-i] = -r[i]
		}
		if n%2 == 1 {
			r[n/2] = 0
		}
		rng.Shuffle(n, func(i, j int) { r[i], r[j] = r[j], r[i] })
		zero := make([]float64, n)
		left, right := End{First: a, Sum: r, Points: 1}, End{Last: a, Sum: zero, Points: 1}
		fast = true
		got := Turns(&left, &right, make([]float64, n))
		fast = false
		if want := Turns(&left, &right, make([]float64, n)); got != want {
			t.Fatalf("%v turns: %v in machine code, %v in Go", r, got, want)
		}
		if got {
			turned++
		}
	}
	if turned < rounds/4 || turned > rounds*9/10 {
		t.Errorf("%d of %d turn: the test sees one side only", turned, rounds)
	}
}
