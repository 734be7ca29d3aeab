package riemann

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// mixed is a metric with a sparse part and vectors, in dense and sparse form. Each stored element
// of the lower triangle, each weight and each element of a vector is a function of one coordinate.
type mixed struct {
	p Pattern
	d int
}

// newMixed returns a metric with some elements off the diagonal: a chain, an arrow, or random ones.
func newMixed(d int, shape string, wide ...Wide) mixed {
	m := mixed{d: d, p: Pattern{Dim: d, Wide: wide}}
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range d {
		for j := range i + 1 {
			there := map[string]bool{"chain": i-j <= 1, "arrow": j == 0 || i == d-1 && j%2 == 1, "any": rng.IntN(4) == 0, "diagonal": false}[shape]
			if i == j || there {
				m.p.Rows, m.p.Cols = append(m.p.Rows, int32(i)), append(m.p.Cols, int32(j))
			}
		}
	}
	return m
}

func (m mixed) Pattern() Pattern { return m.p }
func (m mixed) Dim() int         { return m.d }

// of returns element number k, its derivative, and the index of the coordinate that it depends on.
func (m mixed) of(k int, x []float64) (v, dv float64, by int) {
	by = k % m.d
	s, c := math.Sincos(x[by] + float64(k))
	if k < len(m.p.Rows) {
		v, dv = 0.2*s, 0.2*c
		if m.p.Rows[k] == m.p.Cols[k] {
			v, dv = float64(m.d)+s, c // dominates its row
		}
		return v, dv, by
	}
	k -= len(m.p.Rows)
	for _, w := range m.p.Wide {
		if n := len(w.Columns) * w.Rank; k < n {
			return s, c, by
		} else if k < n+w.Rank {
			return 1 + s, c, by
		} else {
			k -= n + w.Rank
		}
	}
	panic("no such element")
}

func (m mixed) Elements(x, e []float64) error {
	for k := range e {
		e[k], _, _ = m.of(k, x)
	}
	return nil
}

func (m mixed) Metric(x, g []float64) error {
	clear(g)
	e := make([]float64, m.p.Len())
	if err := m.Elements(x, e); err != nil {
		return err
	}
	for k, r := range m.p.Rows {
		c := m.p.Cols[k]
		g[int(r)*m.d+int(c)], g[int(c)*m.d+int(r)] = e[k], e[k]
	}
	e = e[len(m.p.Rows):]
	for _, w := range m.p.Wide {
		weights := e[len(w.Columns)*w.Rank:]
		for i, a := range w.Columns {
			for j, b := range w.Columns {
				for r, v := range weights[:w.Rank] {
					g[int(a)*m.d+int(b)] += v * e[i*w.Rank+r] * e[j*w.Rank+r]
				}
			}
		}
		e = weights[w.Rank:]
	}
	return nil
}

// TraceGrad differentiates the dense form, by differences of fourth order.
func (m mixed) TraceGrad(x, a, grad []float64) error {
	g, y := make([]float64, m.d*m.d), append([]float64(nil), x...)
	trace := func(i int, h float64) float64 {
		y[i] = x[i] + h
		if err := m.Metric(y, g); err != nil {
			return math.NaN()
		}
		y[i] = x[i]
		sum := 0.0
		for k, v := range g {
			sum += v * a[k]
		}
		return sum
	}
	const h = 1e-3
	for i := range grad {
		grad[i] = (8*(trace(i, h)-trace(i, -h)) - trace(i, 2*h) + trace(i, -2*h)) / (12 * h)
	}
	return nil
}

func (m mixed) ElementsTraceGrad(x, a, grad []float64) error {
	clear(grad)
	for k, r := range m.p.Rows {
		_, dv, by := m.of(k, x)
		if r != m.p.Cols[k] {
			dv *= 2
		}
		grad[by] += dv * a[k]
	}
	k := len(m.p.Rows)
	for _, w := range m.p.Wide {
		n := len(w.Columns) * w.Rank
		for r := range w.Rank {
			weight, dw, by := m.of(k+n+r, x)
			grad[by] += dw * a[k+n+r]
			for i := range w.Columns {
				at := k + i*w.Rank + r
				_, dv, by := m.of(at, x)
				grad[by] += 2 * weight * dv * a[at]
			}
		}
		k += n + w.Rank
	}
	return nil
}

func allMixed() map[string]mixed {
	columns := func(n int) (c []int32) {
		for i := range n {
			c = append(c, int32(i))
		}
		return c
	}
	return map[string]mixed{
		"diagonal":                 newMixed(7, "diagonal"),
		"chain":                    newMixed(12, "chain"),
		"arrow":                    newMixed(15, "arrow"),
		"any":                      newMixed(20, "any"),
		"all columns in a vector":  newMixed(9, "chain", Wide{columns(9), 1}),
		"two groups of vectors":    newMixed(8, "arrow", Wide{columns(8), 2}, Wide{[]int32{1, 4, 6}, 3}),
		"more vectors than places": newMixed(3, "diagonal", Wide{columns(3), 5}),
	}
}

// TestSparseIsDense checks that computations with a sparse factor give the same results as with the
// dense one.
func TestSparseIsDense(t *testing.T) {
	for name, m := range allMixed() {
		for _, ridge := range []float64{0, 0.01} {
			if ridge > 0 && len(m.p.Wide) > 0 {
				continue // there the ridge is relative to the sparse part
			}
			rng := rand.New(rand.NewPCG(7, 1))
			s, full := newSparse(m, newSymbolic(m.p), ridge), newDense(m, ridge)
			x, p := make([]float64, m.d), make([]float64, m.d)
			for range 3 {
				for i := range x {
					x[i], p[i] = rng.NormFloat64(), rng.NormFloat64()
				}
				fs, fd := make([]float64, s.size()), make([]float64, full.size())
				var det [2]float64
				results := map[string][2][]float64{}
				for side, g := range []geometry{s, full} {
					f := [][]float64{fs, fd}[side]
					if err := g.evaluate(x, f); err != nil {
						t.Fatal(err)
					}
					var ok bool
					if det[side], ok = g.factorise(f, nil); !ok || !g.invert(f, nil) {
						t.Fatalf("%s: no factor", name)
					}
					v, force := make([]float64, m.d), make([]float64, m.d)
					g.solve(f, p, v)
					if err := g.force(x, f, v, force); err != nil {
						t.Fatal(err)
					}
					norms := []float64{g.norm(f, append([]float64(nil), p...), true), g.norm(f, append([]float64(nil), p...), false), det[side]}
					for what, r := range map[string][]float64{"G⁻¹p": v, "force": force, "norms and determinant": norms} {
						pair := results[what]
						pair[side] = r
						results[what] = pair
					}
				}
				for what, pair := range results {
					for i, got := range pair[0] {
						if want := pair[1][i]; math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
							t.Errorf("%s, ridge %v: %s: element %d is %v, want %v", name, ridge, what, i, got, want)
						}
					}
				}
			}
		}
	}
}

// TestSparseMomentum checks that the covariance of momenta of sparse geometries is the metric.
func TestSparseMomentum(t *testing.T) {
	m := allMixed()["two groups of vectors"]
	s := newSparse(m, newSymbolic(m.p), 0)
	x, g := []float64{0.1, -0.5, 1, 0.3, 0.8, -1, 0.2, 0}, make([]float64, m.d*m.d)
	if err := m.Metric(x, g); err != nil {
		t.Fatal(err)
	}
	f := make([]float64, s.size())
	if err := s.evaluate(x, f); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.factorise(f, nil); !ok {
		t.Fatal("no factor")
	}
	const n = 40_000
	rng := infer.Stream(2, 0, t.Name(), 0)
	p, sum := make([]float64, m.d), make([]float64, m.d*m.d)
	for range n {
		s.momentum(rng, f, p)
		for i := range p {
			for j := range p {
				sum[i*m.d+j] += p[i] * p[j] / n
			}
		}
	}
	for i := range p {
		for j := range p {
			se := math.Sqrt((g[i*(m.d+1)]*g[j*(m.d+1)] + g[i*m.d+j]*g[i*m.d+j]) / n)
			if got, want := sum[i*m.d+j], g[i*m.d+j]; math.Abs(got-want) > 5*se {
				t.Errorf("covariance of momenta %d and %d is %v, want %v ± %v", i, j, got, want, se)
			}
		}
	}
}

// TestSparseInvariance tests sparse geometries from exact starts, with steps so coarse that some
// fail. Steps that do not fail must lead back.
func TestSparseInvariance(t *testing.T) {
	for i, m := range []mixed{newMixed(5, "chain"), newMixed(4, "arrow", Wide{[]int32{0, 1, 3}, 2})} {
		target := infertest.AR1(m.d, 0.5)
		made := func(o Options) func(infer.LogDensity) (infer.Hamiltonian, error) {
			return func(target infer.LogDensity) (infer.Hamiltonian, error) { return NewSparse(target, m, o) }
		}
		res, err := infertest.Invariance{
			Target: target, StepSize: []float64{2, 0.9}[i], Seed: 19, Replicates: 2000, Transitions: 2, Kernel: func() infer.Kernel { return &hmc.Kernel{Steps: 3} },
			Hamiltonian: made(Options{Tolerance: 1e-5, ReturnTolerance: 1e-3, Iterations: 15}),
		}.Run()
		if err == nil {
			err = res.Err()
		}
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
		if res.AcceptStat < 0.3 || res.AcceptStat > 0.95 {
			t.Errorf("%d: mean acceptance %.2f is no test", i, res.AcceptStat)
		}
		t.Logf("%d: acceptance %.2f, divergent %.3f, moved %.2f", i, res.AcceptStat, res.Divergent, res.Moved)

		h, err := made(Options{Tolerance: 1e-13})(target)
		if err != nil {
			t.Fatal(err)
		}
		rng := infer.Stream(1, 0, t.Name(), 0)
		z, start := infer.NewPoint(m.d), make([]float64, m.d)
		target.Sample(rng, z.Position)
		copy(start, z.Position)
		if err := h.Reset(z); err != nil {
			t.Fatal(err)
		}
		h.Momentum(rng, z)
		for _, eps := range []float64{0.3, 0.3, -0.3, -0.3} {
			if err := h.Step(z, z, eps); err != nil || math.IsInf(z.Energy, 1) {
				t.Fatal(err, z.Energy)
			}
		}
		for i, v := range start {
			if math.Abs(z.Position[i]-v) > 1e-9 {
				t.Errorf("two steps there and two back lead from %v to %v", start, z.Position)
				break
			}
		}
	}
}

// TestMinimumDegree checks that the order of elimination keeps two factors sparse: that of an arrow
// whose first row is full, and that of the grid of a field.
func TestMinimumDegree(t *testing.T) {
	s := newSymbolic(newMixed(200, "arrow").p)
	if n := len(s.Rows); n > 600 {
		t.Errorf("the factor of an arrow of 200 has %d elements", n)
	}
	const side = 20
	var p Pattern
	for i := range side * side {
		for _, j := range []int{i - side, i - 1, i} {
			if j >= 0 && (j != i-1 || i%side > 0) {
				p.Rows, p.Cols = append(p.Rows, int32(i)), append(p.Cols, int32(j))
			}
		}
	}
	p.Dim = side * side
	if err := p.validate(side * side); err != nil {
		t.Fatal(err)
	}
	if n := len(newSymbolic(p).Rows); n > 5000 {
		t.Errorf("the factor of a grid of 400 has %d elements", n)
	}
}
