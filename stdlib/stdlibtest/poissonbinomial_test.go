package stdlibtest

import (
	"math"
	"slices"
	"testing"
)

// trialsOf returns the arguments of a Poisson-binomial distribution.
func trialsOf(y int, theta ...float64) []Value {
	return []Value{Scalar(tInt, float64(y)), {Type: tVec, Shape: []int{len(theta)}, Data: theta}}
}

// TestPoissonBinomialEqual compares it with the binomial distribution, which it is if all
// probabilities are equal. The masses go down to e^-4000.
func TestPoissonBinomialEqual(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 40, 150} {
		for _, p := range []float64{0, 1e-12, 1e-3, 0.3, 0.5, 0.999, 1} {
			for _, y := range []int{0, 1, 2, n / 3, n / 2, n - 1, n} {
				if y < 0 || y > n {
					continue
				}
				args := trialsOf(y, slices.Repeat([]float64{p}, n)...)
				for _, form := range []string{"lpmf", "lcdf", "lccdf", "cdf"} {
					got, err := Eval(find("poisson_binomial_"+form), false, args)
					if err != nil {
						t.Fatalf("%s(%d | %d times %v): %v", form, y, n, p, err)
					}
					want, err := Eval(find("binomial_"+form), false, []Value{args[0], Scalar(tInt, float64(n)), Scalar(tReal, p)})
					if err != nil {
						t.Fatal(err)
					}
					if g, w := got[0], want[0]; g != w && !(math.Abs(g-w) <= 1e-11*math.Abs(w)+1e-13) {
						t.Errorf("%s(%d | %d times %v) is %v, want %v", form, y, n, p, g, w)
					}
				}
			}
		}
	}
}

// TestPoissonBinomialEnds computes derivatives where probabilities are 0 or 1: with respect to one
// of them, they are differences of masses of the others.
func TestPoissonBinomialEnds(t *testing.T) {
	theta := []float64{1, 0.5, 0, 0.25}
	for y := 0; y <= len(theta); y++ {
		numbers, _, err := withGradient(find("poisson_binomial_lpmf"), trialsOf(y, theta...))
		if err != nil {
			t.Fatal(err)
		}
		mass, gradient := math.Exp(numbers[0]), numbers[1:]
		if mass == 0 {
			continue
		}
		for i := range theta {
			others := massesBySubsets(slices.Delete(slices.Clone(theta), i, i+1))
			want := -others[y]
			if y > 0 {
				want += others[y-1]
			}
			if got := gradient[i]; !(math.Abs(got-want/mass) <= 1e-13) {
				t.Errorf("y = %d: derivative %d is %v, want %v", y, i+1, got, want/mass)
			}
		}
	}
}

// massesBySubsets sums the probabilities of all outcomes by their number of successes; the last
// element is 0.
func massesBySubsets(theta []float64) []float64 {
	out := make([]float64, len(theta)+2)
	for s := range 1 << len(theta) {
		p, n := 1.0, 0
		for i, v := range theta {
			if s>>i&1 == 1 {
				p *= v
				n++
			} else {
				p *= 1 - v
			}
		}
		out[n] += p
	}
	return out
}

// TestPoissonBinomialArrays compares arrays of variates and of probabilities with sums.
func TestPoissonBinomialArrays(t *testing.T) {
	ys, rows := []float64{0, 2, 1}, [][]float64{{0.2, 0.7}, {0.5, 0.1}, {0.9, 1}}
	for _, form := range []string{"lpmf", "lcdf", "lccdf"} {
		f := find("poisson_binomial_" + form)
		several := Value{Type: tInt.Array(1), Shape: []int{3}, Data: ys}
		shared, each := 0.0, 0.0
		for i, y := range ys {
			a, _ := Eval(f, false, trialsOf(int(y), rows[1]...))
			b, _ := Eval(f, false, trialsOf(int(y), rows[i]...))
			shared, each = shared+a[0], each+b[0]
		}
		for _, c := range []struct {
			theta Value
			want  float64
		}{
			{Value{Type: tRow, Shape: []int{2}, Data: rows[1]}, shared},
			{Value{Type: tReal.Array(1), Shape: []int{2}, Data: rows[1]}, shared},
			{Value{Type: tVec.Array(1), Shape: []int{3, 2}, Data: slices.Concat(rows...)}, each},
			{Value{Type: tReal.Array(2), Shape: []int{3, 2}, Data: slices.Concat(rows...)}, each},
		} {
			got, err := Eval(f, false, []Value{several, c.theta})
			if err != nil || got[0] != c.want && !(math.Abs(got[0]-c.want) <= 1e-13) {
				t.Errorf("%s of %v: %v %v, want %v", form, c.theta.Type, got, err, c.want)
			}
		}
	}
}
