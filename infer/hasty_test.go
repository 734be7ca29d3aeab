package infer

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// slowly is a normal density that takes long at points below its limit, and rejects them in haste.
type slowly struct {
	limit    float64
	haste    float64
	rejected bool
	waited   int // evaluations that took long
}

func (s *slowly) Dim() int { return 1 }

func (s *slowly) LogDensityGrad(x, grad []float64) (float64, error) {
	if x[0] < s.limit {
		if s.haste > 0 {
			s.rejected = true
			return 0, errors.New("this takes long")
		}
		s.waited++
	}
	grad[0] = -x[0]
	return -x[0] * x[0] / 2, nil
}

func (s *slowly) SetHasty(ratio float64) (rejected bool) {
	rejected, s.haste, s.rejected = s.rejected, ratio, false
	return rejected
}

// TestStartsAvoidSlowPoints checks that a chain starts at a slow point only if it finds no other,
// and that the target then no longer rejects slow points.
func TestStartsAvoidSlowPoints(t *testing.T) {
	for _, c := range []struct {
		name   string
		limit  float64
		init   Init
		waited int
	}{
		{"few", -1.9, Uniform{Radius: 2}, 0},
		{"most", 1.8, Uniform{Radius: 2}, 0},
		{"all", 3, Uniform{Radius: 2}, 1},
		{"given", 3, At{Positions: [][]float64{{1}}}, 1},
	} {
		s := &slowly{limit: c.limit}
		m := NewMeter(s)
		x, attempts, err := FindStart(c.init, 0, m, rand.New(rand.NewPCG(1, 2)))
		if m.rejected != 0 {
			t.Errorf("%s: %d points count as rejected", c.name, m.rejected)
		}
		if err != nil || (x[0] < c.limit) != (c.waited > 0) || s.waited != c.waited || s.haste > 0 || attempts < 1 {
			t.Errorf("%s: start %v after %d attempts, %d slow evaluations, %v", c.name, x, attempts, s.waited, err)
		}
	}
}

// TestStartsNearCentre checks that a chain finds a narrow plausible region around Config.Centre,
// also when it starts again.
func TestStartsNearCentre(t *testing.T) {
	for _, radius := range []float64{3, 0.3, 0.03} {
		m := NewMeter(near(radius))
		m.centre = func() []float64 { return []float64{7, -7} }
		x, attempts, err := FindStart(Uniform{Radius: 2}, 0, m, rand.New(rand.NewPCG(1, 2)))
		if err != nil || attempts <= plainAttempts || attempts > initAttempts {
			t.Errorf("radius %g: start %v after %d attempts, %v", radius, x, attempts, err)
		}
	}
}

// near is a density that rejects points further than this from (7, -7).
type near float64

func (near) Dim() int { return 2 }

func (r near) LogDensityGrad(x, grad []float64) (float64, error) {
	a, b := x[0]-7, x[1]+7
	if a*a+b*b > float64(r*r) {
		return 0, errors.New("far")
	}
	grad[0], grad[1] = -a, -b
	return -(a*a + b*b) / 2, nil
}
