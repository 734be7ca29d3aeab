package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// trajectory is the momenta of 2·points points, and the factors of velocities, which may be nil.
type trajectory struct {
	points int
	inv    []float64
	p      [][]float64
}

// turns returns what each criterion says, from formulas: the union of the two halves, the first
// half with the next point, and the second half with the point before it.
func (t trajectory) turns() (any bool) {
	n, k := len(t.p[0]), t.points
	check := func(from, to int) {
		for _, end := range []int{from, to - 1} {
			product := 0.0
			for i := range n {
				rho := 0.0
				for _, p := range t.p[from:to] {
					rho += p[i]
				}
				product += at(t.inv, i) * t.p[end][i] * rho
			}
			any = any || !(product > 0)
		}
	}
	check(0, 2*k)
	check(0, k+1)
	check(k-1, 2*k)
	return any
}

// run returns points from to to as a run, after the joins that make it.
func (t trajectory) run(from, to int) End {
	e := End{First: t.p[from], Last: t.p[to-1], Sum: t.p[from], Points: to - from}
	if e.Points > 1 {
		left, right := t.run(from, (from+to)/2), t.run((from+to)/2, to)
		e.Sum = make([]float64, len(t.p[0]))
		Turns(&left, &right, t.inv, e.Sum)
	}
	return e
}

// withVelocities sets the velocities of the ends, and the sum, which TurnsBetween needs.
func (t trajectory) withVelocities(e End, from, to int) End {
	velocity := func(p []float64) []float64 {
		v := slices.Clone(p)
		for i := range v {
			v[i] *= at(t.inv, i)
		}
		return v
	}
	e.FirstVelocity, e.LastVelocity = velocity(e.First), velocity(e.Last)
	e.Sum = make([]float64, len(e.First))
	for _, p := range t.p[from:to] {
		for i, v := range p {
			e.Sum[i] += v
		}
	}
	return e
}

// draw makes a trajectory of 2k points that is as likely to turn as not: a drift, and noise.
func draw(rng *rand.Rand, n, k int, unit bool) trajectory {
	t := trajectory{points: k, p: random(rng, 2*k, n)}
	drift := random(rng, 1, n)[0]
	for j, p := range t.p {
		for i := range p {
			p[i] = 0.3*p[i] + drift[i]*math.Cos(float64(j)*1.3/float64(k))
		}
	}
	if !unit {
		t.inv = random(rng, 1, n)[0]
		for i := range t.inv {
			t.inv[i] = math.Abs(t.inv[i])
		}
	}
	return t
}

// TestTurns compares the criteria with their formulas, for runs of every kind of size.
func TestTurns(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	turned, all := 0, 0
	for round := range 40 {
		for _, n := range lengths {
			for _, k := range []int{1, 2, 4, 8} {
				r := draw(rng, n, k, round%2 == 0)
				if round%8 == 7 && n > 0 { // a product that is no number counts as a turn
					r.p[rng.IntN(2*k)][rng.IntN(n)] = math.NaN()
				}
				want := r.turns()
				left, right := r.run(0, k), r.run(k, 2*k)
				// The sum may overwrite one of its two terms.
				sum := make([]float64, n)
				if k > 1 && round%3 == 0 {
					sum = left.Sum
				}
				if got := Turns(&left, &right, r.inv, sum); got != want {
					t.Errorf("round %d, %d dimensions, twice %d points: turns is %v", round, n, k, got)
				}
				if k > 1 {
					for i := range sum {
						s := 0.0
						for _, p := range r.p {
							s += p[i]
						}
						if !math.IsNaN(s) {
							near(t, "sum", n, sum[i], s)
						}
					}
				}
				left, right = r.withVelocities(left, 0, k), r.withVelocities(right, k, 2*k)
				if got := TurnsBetween(&left, &right, make([]float64, n)); got != want {
					t.Errorf("round %d, %d dimensions, twice %d points: turns between velocities is %v", round, n, k, got)
				}
				if all++; want {
					turned++
				}
			}
		}
	}
	if turned < all/4 || turned > 3*all/4 {
		t.Errorf("%d of %d cases turn: the test sees one side only", turned, all)
	}
}

// TestEachProduct checks that each of the six products alone can cause a U-turn.
func TestEachProduct(t *testing.T) {
	for _, n := range []int{1, 4, 16, 17, 100} {
		for _, unit := range []bool{true, false} {
			var inv []float64
			if !unit {
				inv = slices.Repeat([]float64{2}, n)
			}
			// Momenta of the ends of two runs of four points, in the order of time, with the sums
			// of the runs, all of them multiples of one vector.
			for _, c := range []struct {
				a, d, r, c, b, s float64
				turns            bool
			}{
				{1, 1, 4, 1, 1, 4, false},
				{-1, 1, 4, 1, 1, 4, true}, // a with the whole, and with the first run
				{1, 1, 4, 1, -1, 4, true}, // b with the whole, and with the second run
				{1, 1, 4, -1, 1, 4, true}, // c with the first run
				{1, -1, 4, 1, 1, 4, true}, // d with the second run
				{1, 1, -2, 1, 1, 4, true}, // a and c with the first run
				{1, 1, 4, 1, 1, -2, true}, // b and d with the second run
				{1, 1, 4, 1, 1, -4, true}, // a product of 0
			} {
				of := func(v float64) []float64 { return slices.Repeat([]float64{v}, n) }
				left := End{First: of(c.a), Last: of(c.d), Sum: of(c.r), Points: 4}
				right := End{First: of(c.c), Last: of(c.b), Sum: of(c.s), Points: 4}
				if got := Turns(&left, &right, inv, make([]float64, n)); got != c.turns {
					t.Errorf("%d dimensions, %+v: turns is %v", n, c, got)
				}
			}
		}
	}
}
