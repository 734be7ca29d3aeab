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

// TestSameTurns checks that the sign of a product close to zero is the same in machine code and Go,
// and that the sums have the same bits.
func TestSameTurns(t *testing.T) {
	if !fast {
		t.Skip("this processor has no AVX2")
	}
	defer func() { fast = true }()
	rng := rand.New(rand.NewPCG(4, 1))
	turned := 0
	const rounds = 3000
	for round := range rounds {
		n, k := 16+rng.IntN(8), 1<<(round%3)
		r := draw(rng, n, k, round%2 == 0)
		// Points of one trajectory with the same momentum, whose product with itself is the sum of
		// numbers and of their negatives in another order, so rounding determines its sign.
		r.inv = make([]float64, n)
		p := random(rng, 1, n)[0]
		for i := range n / 2 {
			p[n-1-i] = p[i]
			r.inv[i], r.inv[n-1-i] = 1, -1
		}
		rng.Shuffle(n, func(i, j int) { p[i], p[j], r.inv[i], r.inv[j] = p[j], p[i], r.inv[j], r.inv[i] })
		for j := range r.p {
			r.p[j] = p
		}
		judge := func(machine bool) (bool, []float64) {
			fast = machine
			left, right := r.run(0, k), r.run(k, 2*k)
			sum := make([]float64, n)
			return Turns(&left, &right, r.inv, sum), sum
		}
		got, gotSum := judge(true)
		want, wantSum := judge(false)
		if got != want {
			t.Fatalf("%v with %v turns: %v in machine code, %v in Go", p, r.inv, got, want)
		}
		if k > 1 && !slices.Equal(gotSum, wantSum) {
			t.Fatalf("the sums are %v in machine code, %v in Go", gotSum, wantSum)
		}
		if got {
			turned++
		}
	}
	if turned < rounds/4 || turned > rounds*9/10 {
		t.Errorf("%d of %d turn: the test sees one side only", turned, rounds)
	}
}
