package infer_test

import (
	"math"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// double is the map x = 2u of a normal target in n dimensions, all of which are group-level terms.
// wrong is an error of its Joint log density.
type double struct {
	n       int
	wrong   float64
	asked   int
	refuses bool
}

func (m *double) Elements() []int {
	all := make([]int, m.n)
	for i := range all {
		all[i] = i
	}
	return all
}
func (m *double) Written() []float64 { return infer.Centred(1, m.n) }
func (m *double) Levels() []int      { return make([]int, m.n) }
func (m *double) Hold([]float64)     {}
func (m *double) Forward(u, _, x []float64) (float64, error) {
	for i, v := range u {
		x[i] = 2 * v
	}
	return float64(m.n) * math.Ln2, nil
}
func (m *double) Pull(_, _, gx, gu []float64) error {
	for i, v := range gx {
		gu[i] = 2 * v
	}
	return nil
}
func (m *double) Inverse(x, _, u []float64) error {
	for i, v := range x {
		u[i] = v / 2
	}
	return nil
}
func (m *double) LogScales(_, dst []float64) error { clear(dst); return nil }
func (m *double) Push(_, _, gu, gx []float64) error {
	for i, v := range gu {
		gx[i] = v / 2
	}
	return nil
}

func (m *double) Joint(u, grad []float64) (float64, bool) {
	m.asked++
	lp := m.wrong + float64(m.n)*math.Ln2
	for i, v := range u {
		lp -= 2 * v * v
		grad[i] = -4 * v
	}
	return lp, !m.refuses
}

// bell is a standard normal log density.
type bell struct{ infertest.EightSchools }

func (bell) Dim() int { return 4 }
func (bell) LogDensityGrad(x, grad []float64) (float64, error) {
	lp := 0.0
	for i, v := range x {
		lp -= v * v / 2
		grad[i] = -v
	}
	return lp, nil
}

// TestJoint checks a chart whose map has a Joint program. Joint is compared with the evaluation in
// steps once for each choice of coordinates. If it is wrong, it is never called again. If it
// refuses a point, the steps are used.
func TestJoint(t *testing.T) {
	u, grad := []float64{0.3, -1, 2, 0.1}, make([]float64, 4)
	want := 4*math.Ln2 - 2*(0.09+1+4+0.01)
	for _, c := range []struct {
		name  string
		m     double
		asked int // in three evaluations
	}{
		{"right", double{n: 4}, 3},
		{"wrong", double{n: 4, wrong: 1}, 1},
		{"refusing", double{n: 4, refuses: true, wrong: 1}, 3},
	} {
		chart := infer.NewChart(bell{}, &c.m)
		if err := chart.Use(infer.Centred(0, 4)); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			lp, err := chart.LogDensityGrad(u, grad)
			if err != nil || math.Abs(lp-want) > 1e-12 || math.Abs(grad[1]-4) > 1e-12 {
				t.Errorf("%s: %v, %v, %v; want %v", c.name, lp, grad, err, want)
			}
		}
		if c.m.asked != c.asked {
			t.Errorf("%s: asked %d times, want %d", c.name, c.m.asked, c.asked)
		}
	}
}
