package riemann

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// alongMixed is mixed with directions; wrong is a factor on their products.
type alongMixed struct {
	mixed
	wrong float64
}

func (m alongMixed) Times(x, u, product []float64) error {
	g := make([]float64, m.d*m.d)
	err := m.Metric(x, g)
	clear(product)
	for i, v := range g {
		product[i/m.d] += m.wrong * v * u[i%m.d]
	}
	return err
}

func (m alongMixed) SquareGrad(x, u, grad []float64) error {
	a := make([]float64, m.d*m.d)
	for i := range a {
		a[i] = u[i/m.d] * u[i%m.d]
	}
	return m.TraceGrad(x, a, grad)
}

// TestAlong checks steps that use directions. They must equal the steps without, with one
// evaluation of the whole metric and one gradient of a trace per step. If the products are wrong,
// the steps must still be equal but take more evaluations.
func TestAlong(t *testing.T) {
	for name, m := range allMixed() {
		if m.d < alongDim {
			continue
		}
		target := infertest.AR1(m.d, 0.5)
		for _, wrong := range []float64{1, 1.02} {
			a := alongMixed{m, wrong}
			for form, make := range map[string]func(directions bool) (*Hamiltonian, error){
				"dense": func(directions bool) (*Hamiltonian, error) {
					if directions {
						return New(target, a, Options{})
					}
					return New(target, m, Options{})
				},
				"sparse": func(directions bool) (*Hamiltonian, error) {
					if directions {
						return NewSparse(target, a, Options{})
					}
					return NewSparse(target, m, Options{})
				},
			} {
				var ends [2]*infer.Point
				var counts [2]Counts
				for i := range ends {
					h, err := make(i == 1)
					if err != nil {
						t.Fatal(err)
					}
					rng := infer.Stream(1, 0, name, 0)
					z := infer.NewPoint(m.d)
					target.Sample(rng, z.Position)
					if err := h.Reset(z); err != nil {
						t.Fatal(err)
					}
					h.Momentum(rng, z)
					for range 3 {
						if err := h.Step(z, z, 0.2); err != nil || math.IsInf(z.Energy, 0) {
							t.Fatalf("%s, %s: a step fails: %v, %+v", name, form, err, h.Counts())
						}
					}
					ends[i], counts[i] = z, h.Counts()
				}
				for i, x := range ends[0].Position {
					if y := ends[1].Position[i]; math.Abs(x-y) > 1e-5 || math.Abs(ends[0].Momentum[i]-ends[1].Momentum[i]) > 1e-5*(1+math.Abs(ends[0].Momentum[i])) {
						t.Errorf("%s, %s: coordinate %d is %v instead of %v", name, form, i, y, x)
					}
				}
				plain, along := counts[0], counts[1]
				if plain.Directions != 0 || plain.Metrics < 4*along.TraceGrads || along.TraceGrads != 4 || along.Directions == 0 || (along.Metrics == 4) != (wrong == 1) {
					t.Errorf("%s, %s, products times %v: %+v in place of %+v", name, form, wrong, along, plain)
				}
			}
		}
	}
}

// TestPivots checks the least pivot of dense and sparse factors. If it is so small that the ridge
// matters, directions, which omit the ridge, must not be used.
func TestPivots(t *testing.T) {
	const d = alongDim
	for _, apart := range []float64{0.5, 1e-3, 1e-12} { // of the first two rows, which are alike but for this
		m := newMixed(d, "arrow")
		var g [d * d]float64
		for i := range d {
			g[i*(d+1)] = 1
		}
		g[1], g[d] = 1-apart, 1-apart
		constant := Constant{D: d, G: g[:]}
		want := 1 - (1-apart)*(1-apart)
		full := newDense(constant, 0)
		l := append([]float64(nil), g[:]...)
		if _, ok := full.factorise(l, nil); !ok || math.Abs(full.minPivot(l)-want) > 1e-9*want+1e-15 {
			t.Errorf("dense: the least pivot is %v, want %v", full.minPivot(l), want)
		}
		s := newSparse(m, newSymbolic(m.p), 0)
		for k, r := range m.p.Rows {
			s.elements[k] = g[int(r)*d+int(m.p.Cols[k])]
		}
		f := make([]float64, s.size())
		if _, ok := s.factorise(f, nil); !ok || math.Abs(s.minPivot(f)-want) > 1e-9*want+1e-15 {
			t.Errorf("sparse: the least pivot is %v, want %v", s.minPivot(f), want)
		}
		h, err := New(infertest.AR1(d, 0.5), constantAlong{constant}, Options{Ridge: ModelRidge})
		if err != nil {
			t.Fatal(err)
		}
		z := infer.NewPoint(d)
		rng := rand.New(rand.NewPCG(1, 1))
		if err := h.Reset(z); err != nil {
			t.Fatal(err)
		}
		h.Momentum(rng, z)
		if err := h.Step(z, z, 1e-3); err != nil || math.IsInf(z.Energy, 0) {
			t.Fatal(err, h.Counts())
		}
		if used := h.Counts().Directions > 0; used != (want > soundPivot*ModelRidge) {
			t.Errorf("with a least pivot of %v directions are used: %v", want, used)
		}
	}
}

// constantAlong is a constant metric with directions.
type constantAlong struct{ Constant }

func (c constantAlong) Times(_, u, product []float64) error {
	clear(product)
	for i, v := range c.G {
		product[i/c.D] += v * u[i%c.D]
	}
	return nil
}

func (c constantAlong) SquareGrad(_, _, grad []float64) error { clear(grad); return nil }

// TestWeights checks the least squares solution, including equal and zero differences.
func TestWeights(t *testing.T) {
	m := newMixing(3)
	for i, v := range [][]float64{{1, 0, 0}, {2, 0, 0}, {0, 0, 0}, {1, 1, 0}} {
		copy(m.residual[i], v)
		copy(m.momentum[i], v)
	}
	copy(m.f, []float64{3, 2, 5})
	c := m.weights(4)
	left := append([]float64(nil), m.f...)
	for i := range left {
		for j := range 4 {
			left[i] -= c[j] * m.residual[j][i]
		}
	}
	if math.Abs(left[0])+math.Abs(left[1]) > 1e-14 || left[2] != 5 {
		t.Errorf("weights %v leave %v", c, left)
	}
	if c[1] != 0 && c[0] != 0 {
		t.Errorf("weights %v of two that are alike", c)
	}
}
