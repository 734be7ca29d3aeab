package riemann_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/riemann"
)

// geometry is a target with a metric.
type geometry struct {
	name   string
	target infertest.Exact
	metric func(target infer.LogDensity) (riemann.Metric, error)
}

func fromTarget(kind riemann.Kind, alpha float64) func(infer.LogDensity) (riemann.Metric, error) {
	return func(t infer.LogDensity) (riemann.Metric, error) { return riemann.FromTarget(kind, t, alpha) }
}

func curved(t infer.LogDensity) (riemann.Metric, error) { return infertest.Curved{D: t.Dim()}, nil }

// directions implements [riemann.Directional] by the whole metric.
type directions struct {
	tensor
	square []float64
}

func (m directions) Times(x, u, product []float64) error {
	err := m.Metric(x, m.square)
	clear(product)
	for i, v := range m.square {
		product[i/len(u)] += v * u[i%len(u)]
	}
	return err
}

func (m directions) SquareGrad(x, u, grad []float64) error {
	for i := range m.square {
		m.square[i] = u[i/len(u)] * u[i%len(u)]
	}
	return m.TraceGrad(x, m.square, grad)
}

// along adds directions to a metric.
func along(of func(infer.LogDensity) (riemann.Metric, error)) func(infer.LogDensity) (riemann.Metric, error) {
	return func(t infer.LogDensity) (riemann.Metric, error) {
		m, err := of(t)
		return directions{m, make([]float64, m.Dim()*m.Dim())}, err
	}
}

func geometries() []geometry {
	banana, funnel := infertest.Banana{B: 0.4, Sigma: 1.5}, infertest.Funnel{D: 3}
	return []geometry{
		{"banana, fisher", banana, fromTarget(riemann.Fisher, 0)},
		{"banana, softabs", banana, fromTarget(riemann.SoftAbsKind, 2)},
		{"funnel, fisher", funnel, fromTarget(riemann.Fisher, 0)},
		{"funnel, softabs", funnel, fromTarget(riemann.SoftAbsKind, 1)},
		{"normal, curved", infertest.NewNormal([]float64{1, -2, 0.5}, [][]float64{{1, 0, 0}, {0.6, 0.9, 0}, {-0.5, 0.3, 1.1}}), curved},
		{"log gamma, curved", infertest.LogGamma{D: 2, Shape: 1.5}, curved},
		{"funnel, fisher, along directions", infertest.Funnel{D: 9}, along(fromTarget(riemann.Fisher, 0))},
		{"normal, curved, along directions", infertest.AR1(8, 0.5), along(curved)},
	}
}

// each runs f from a point with momentum, in both modes solved to convergence.
func each(t *testing.T, f func(t *testing.T, h *riemann.Hamiltonian, z *infer.Point)) {
	for _, g := range geometries() {
		t.Run(g.name, func(t *testing.T) {
			m, err := g.metric(g.target)
			if err != nil {
				t.Fatal(err)
			}
			h, err := riemann.New(g.target, m, riemann.Options{Tolerance: 1e-13})
			if err != nil {
				t.Fatal(err)
			}
			rng := infer.Stream(1, 0, t.Name(), 0)
			z := infer.NewPoint(g.target.Dim())
			g.target.Sample(rng, z.Position)
			if err := h.Reset(z); err != nil {
				t.Fatal(err)
			}
			h.Momentum(rng, z)
			f(t, h, z)
		})
	}
}

func step(t *testing.T, h infer.Hamiltonian, z *infer.Point, eps float64, n int) {
	t.Helper()
	for range n {
		if err := h.Step(z, z, eps); err != nil {
			t.Fatal(err)
		}
		if math.IsInf(z.Energy, 0) {
			t.Fatal("a step failed")
		}
	}
}

// TestStepFromTo checks that a step from one point to another does not depend on the contents of
// the second, and equals a step of a copy of the first.
func TestStepFromTo(t *testing.T) {
	each(t, func(t *testing.T, h *riemann.Hamiltonian, z *infer.Point) {
		want, from := clone(z), clone(z)
		step(t, h, want, 0.1, 1)
		for _, to := range []*infer.Point{clone(want), infer.NewPoint(len(z.Position))} {
			if err := h.Step(from, to, 0.1); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(to, want) || !reflect.DeepEqual(from, z) {
				t.Errorf("a step from %v leads to %v, not %v, and leaves %v", z, to, want, from)
			}
		}
	})
}

func clone(z *infer.Point) *infer.Point {
	w := infer.NewPoint(len(z.Position))
	w.CopyFrom(z)
	return w
}

// TestTraceGrad compares the gradients of tr(A·G) of all metrics with differences.
func TestTraceGrad(t *testing.T) {
	for _, g := range geometries() {
		m, err := g.metric(g.target)
		if err != nil {
			t.Fatal(err)
		}
		rng := infer.Stream(1, 0, g.name, 0)
		x := make([]float64, g.target.Dim())
		for range 5 {
			g.target.Sample(rng, x)
			if err := infertest.CheckMetric(x, m.Metric, m.TraceGrad); err != nil {
				t.Errorf("%s at %v: %v", g.name, x, err)
			}
		}
	}
	for _, target := range []riemann.Hessian{infertest.Banana{B: 0.4, Sigma: 1.5}, infertest.Funnel{D: 3}} {
		x := []float64{0.3, -0.8, 1.1}[:target.(infer.LogDensity).Dim()]
		if err := infertest.CheckMetric(x, target.Hessian, target.HessianTraceGrad); err != nil {
			t.Errorf("%v: Hessian: %v", target, err)
		}
		// The Hessian is the derivative of the gradient.
		d := len(x)
		h, plus, minus := make([]float64, d*d), make([]float64, d), make([]float64, d)
		if err := target.Hessian(x, h); err != nil {
			t.Fatal(err)
		}
		for j := range d {
			const step = 1e-6
			y := slices.Clone(x)
			y[j] += step
			target.(infer.LogDensity).LogDensityGrad(y, plus)
			y[j] -= 2 * step
			target.(infer.LogDensity).LogDensityGrad(y, minus)
			for i := range d {
				if want := (plus[i] - minus[i]) / (2 * step); math.Abs(h[i*d+j]-want) > 1e-7*(1+math.Abs(want)) {
					t.Errorf("%v: element (%d,%d) of the Hessian is %v instead of %v", target, i, j, h[i*d+j], want)
				}
			}
		}
	}
}

// rotating is a Hessian with prescribed eigenvalues that turn with x₀.
type rotating struct{ values [2]float64 }

func (r rotating) Hessian(x, h []float64) error {
	c, s := math.Cos(x[0]), math.Sin(x[0])
	a, b := r.values[0], r.values[1]
	h[0], h[3] = c*c*a+s*s*b, s*s*a+c*c*b
	h[1] = c * s * (a - b)
	h[2] = h[1]
	return nil
}

func (r rotating) HessianTraceGrad(x, a, grad []float64) error {
	c, s := math.Cos(2*x[0]), math.Sin(2*x[0])
	d := r.values[0] - r.values[1]
	grad[0] = -d*s*a[0] + d*s*a[3] + d*c*(a[1]+a[2])
	grad[1] = 0
	return nil
}

// TestSoftAbs checks SoftAbs at its limits: zero, equal, huge and opposite eigenvalues.
func TestSoftAbs(t *testing.T) {
	for _, values := range [][2]float64{{0, 0}, {2, 2}, {2, 2 + 1e-9}, {-3, 3}, {1e-8, -1e-8}, {1e3, -5}, {0, 1}, {-400, -400.0001}} {
		for _, alpha := range []float64{1, 50} {
			m, err := riemann.NewSoftAbs(2, rotating{values}, alpha)
			if err != nil {
				t.Fatal(err)
			}
			x := []float64{0.4, 1}
			if err := infertest.CheckMetric(x, m.Metric, m.TraceGrad); err != nil {
				t.Errorf("%v, alpha %v: %v", values, alpha, err)
			}
			g := make([]float64, 4)
			if err := m.Metric(x, g); err != nil {
				t.Fatal(err)
			}
			trace, det := 0.0, 1.0
			for _, v := range values {
				soft := 1 / alpha
				if v != 0 {
					soft = v / math.Tanh(alpha*v)
				}
				trace += soft
				det *= soft
			}
			if math.Abs(g[0]+g[3]-trace) > 1e-7*trace || math.Abs(g[0]*g[3]-g[1]*g[2]-det) > 1e-6*trace*trace {
				t.Errorf("%v, alpha %v: %v has not the eigenvalues", values, alpha, g)
			}
		}
	}
	for _, alpha := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := riemann.NewSoftAbs(2, rotating{}, alpha); err == nil {
			t.Errorf("alpha %v passes", alpha)
		}
	}
}

// TestStepIsReversible checks that a step back, and a step forward with the momentum reversed, both
// lead to the start.
func TestStepIsReversible(t *testing.T) {
	each(t, func(t *testing.T, h *riemann.Hamiltonian, z *infer.Point) {
		back, flipped := clone(z), clone(z)
		step(t, h, back, 0.1, 10)
		flipped.CopyFrom(back)
		for i := range flipped.Momentum {
			flipped.Momentum[i] *= -1
		}
		step(t, h, back, -0.1, 10)
		step(t, h, flipped, 0.1, 10)
		for i := range z.Position {
			for name, d := range map[string]float64{
				"position, back":    back.Position[i] - z.Position[i],
				"momentum, back":    back.Momentum[i] - z.Momentum[i],
				"position, flipped": flipped.Position[i] - z.Position[i],
				"momentum, flipped": flipped.Momentum[i] + z.Momentum[i],
			} {
				if math.Abs(d) > 1e-9 {
					t.Errorf("%s: coordinate %d is off by %g", name, i, d)
				}
			}
		}
	})
}

// energyRatio returns the factor by which halving the step reduces the worst energy error.
func energyRatio(t *testing.T, h infer.Hamiltonian, z *infer.Point) float64 {
	worst := func(n int) (e float64) {
		w := clone(z)
		for range n {
			step(t, h, w, 0.5/float64(n), 1)
			e = max(e, math.Abs(w.Energy-z.Energy))
		}
		return e
	}
	return worst(64) / worst(128)
}

// TestEnergyErrorOrder checks that the energy error is of second order. A force that is wrong or
// lacks a term shows here.
func TestEnergyErrorOrder(t *testing.T) {
	each(t, func(t *testing.T, h *riemann.Hamiltonian, z *infer.Point) {
		if ratio := energyRatio(t, h, z); ratio < 3.8 || ratio > 4.2 {
			t.Errorf("halving the step divides the energy error by %v instead of 4", ratio)
		}
	})
}

// TestStepPreservesVolume checks that the Jacobian of a step, by central differences, has
// determinant 1.
func TestStepPreservesVolume(t *testing.T) {
	each(t, func(t *testing.T, h *riemann.Hamiltonian, z *infer.Point) {
		d := len(z.Position)
		jacobian := mat.NewDense(2*d, 2*d, nil)
		at := func(j int, by float64) []float64 {
			w := clone(z)
			if j < d {
				w.Position[j] += by
			} else {
				w.Momentum[j-d] += by
			}
			if err := h.Reset(w); err != nil {
				t.Fatal(err)
			}
			step(t, h, w, 0.2, 2)
			return append(slices.Clone(w.Position), w.Momentum...)
		}
		const delta = 1e-4
		for j := range 2 * d {
			p1, m1, p2, m2 := at(j, delta), at(j, -delta), at(j, 2*delta), at(j, -2*delta)
			for i := range p1 {
				jacobian.Set(i, j, (8*(p1[i]-m1[i])-(p2[i]-m2[i]))/(12*delta))
			}
		}
		if det := mat.Det(jacobian); math.Abs(det-1) > 1e-6 {
			t.Errorf("the determinant is %v", det)
		}
	})
}

// TestConstantMetric checks that with a constant metric the step is the leapfrog step, in both
// modes.
func TestConstantMetric(t *testing.T) {
	target := infertest.Banana{B: 0.4, Sigma: 1.5}
	g := []float64{2, 0.5, 0.5, 1}
	frozen, _, err := riemann.Freeze(riemann.Constant{D: 2, G: g}, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	euclidean, err := hmc.NewEuclidean(target, frozen)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []riemann.Mode{riemann.Reversible, riemann.Published} {
		h, err := riemann.New(target, riemann.Constant{D: 2, G: g}, riemann.Options{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		a, b := infer.NewPoint(2), infer.NewPoint(2)
		for _, z := range []*infer.Point{a, b} {
			copy(z.Position, []float64{0.3, -0.2})
		}
		if err := errors.Join(h.Reset(a), euclidean.Reset(b)); err != nil {
			t.Fatal(err)
		}
		euclidean.Momentum(infer.Stream(1, 1, "constant", 0), b)
		h.Momentum(infer.Stream(1, 1, "other", 0), a)
		copy(a.Momentum, b.Momentum)
		step(t, h, a, 0.2, 20)
		step(t, euclidean, b, 0.2, 20)
		for i := range a.Position {
			if math.Abs(a.Position[i]-b.Position[i]) > 1e-10 || math.Abs(a.Momentum[i]-b.Momentum[i]) > 1e-10 ||
				math.Abs(h.Velocity(a)[i]-euclidean.Velocity(b)[i]) > 1e-10 {
				t.Errorf("%s: at %v, %v instead of %v, %v", mode, a.Position, a.Momentum, b.Position, b.Momentum)
			}
		}
	}
}

// TestMomentum checks that the momentum has covariance G(x), the energy is H, and the velocity is
// G⁻¹p.
func TestMomentum(t *testing.T) {
	each(t, func(t *testing.T, h *riemann.Hamiltonian, z *infer.Point) {
		d := len(z.Position)
		var m riemann.Metric
		for _, g := range geometries() {
			if strings.HasSuffix(t.Name(), strings.ReplaceAll(g.name, " ", "_")) {
				m, _ = g.metric(g.target)
			}
		}
		g := make([]float64, d*d)
		if err := m.Metric(z.Position, g); err != nil {
			t.Fatal(err)
		}
		dense := mat.NewDense(d, d, g)
		var p mat.VecDense
		p.MulVec(dense, mat.NewVecDense(d, slices.Clone(h.Velocity(z))))
		for i := range d {
			if math.Abs(p.AtVec(i)-z.Momentum[i]) > 1e-9*(1+math.Abs(z.Momentum[i])) {
				t.Errorf("G·v is %v, p is %v", p.AtVec(i), z.Momentum[i])
			}
		}
		want := -z.LogDensity + 0.5*math.Log(mat.Det(dense)) + 0.5*mat.Dot(&p, mat.NewVecDense(d, h.Velocity(z)))
		if math.Abs(z.Energy-want) > 1e-9*(1+math.Abs(want)) {
			t.Errorf("the energy is %v instead of %v", z.Energy, want)
		}
		// E vᵢ pⱼ = δᵢⱼ.
		const n = 20000
		rng := infer.Stream(2, 0, t.Name(), 0)
		sum := make([]float64, d*d)
		for range n {
			h.Momentum(rng, z)
			for i := range d {
				for j := range d {
					sum[i*d+j] += h.Velocity(z)[i] * z.Momentum[j] / n
				}
			}
		}
		var inverse mat.Dense
		if err := inverse.Inverse(dense); err != nil {
			t.Fatal(err)
		}
		for i := range d {
			sum[i*d+i]--
			for j := range d {
				bound := 6 * 2 / math.Sqrt(n) * math.Sqrt(inverse.At(i, i)*dense.At(j, j))
				if math.Abs(sum[i*d+j]) > bound {
					t.Errorf("E v[%d] p[%d] is off by %v, more than %v", i, j, sum[i*d+j], bound)
				}
			}
		}
	})
}

// TestFailures checks that steps whose equations cannot be solved fail and are counted, also among
// the rejections. A fixed number of iterations hides such failures.
func TestFailures(t *testing.T) {
	target := infertest.Funnel{D: 3}
	for _, mode := range []riemann.Mode{riemann.Reversible, riemann.Published} {
		meter := infer.NewMeter(target)
		m, err := riemann.FromTarget(riemann.SoftAbsKind, meter, 1)
		if err != nil {
			t.Fatal(err)
		}
		h, err := riemann.New(meter, m, riemann.Options{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		rng := infer.Stream(3, 0, "failures", 0)
		failed := 0
		z := infer.NewPoint(3)
		for range 200 {
			target.Sample(rng, z.Position)
			if err := h.Reset(z); err != nil {
				t.Fatal(err)
			}
			h.Momentum(rng, z)
			if err := h.Step(z, z, 1.5); err != nil {
				t.Fatal(err)
			}
			if math.IsInf(z.Energy, 1) {
				failed++
			}
		}
		c := h.Counts()
		if mode == riemann.Published && c.Unsolved+c.Unreturned > 0 {
			t.Errorf("published: %+v", c)
		}
		if mode == riemann.Reversible && (c.Unsolved == 0 || int(c.Unsolved+c.Unreturned) > failed || c.Steps != 200 || c.Metrics < 400 || c.TraceGrads < 400) {
			t.Errorf("reversible: %d failures, %+v", failed, c)
		}
		if d := h.Describe(); d["steps_unsolved"] != float64(c.Unsolved) || d["implicit_steps"] != 200 {
			t.Errorf("%v", d)
		}
	}
}

// TestTakenStepsReturn uses steps so coarse, and iterations so few, that many steps fail, for
// either reason. The steps that do not fail must lead back to their start. Invariance tests would
// not detect exceptions, because they are few.
func TestTakenStepsReturn(t *testing.T) {
	var all riemann.Counts
	for i, g := range geometries() {
		for _, iterations := range []int{8, 0} {
			m, err := g.metric(g.target)
			if err != nil {
				t.Fatal(err)
			}
			h, err := riemann.New(g.target, m, riemann.Options{Iterations: iterations})
			if err != nil {
				t.Fatal(err)
			}
			eps := []float64{0.8, 0.9, 1.5, 1.2, 1, 1.2, 1.2, 0.5}[i]
			rng := infer.Stream(5, i, "taken steps", 0)
			z := infer.NewPoint(g.target.Dim())
			taken, failed := 0, 0
			worst := 0.0
			for range 500 {
				g.target.Sample(rng, z.Position)
				if err := h.Reset(z); err != nil {
					t.Fatal(err)
				}
				h.Momentum(rng, z)
				w := clone(z)
				if err := h.Step(w, w, eps); err != nil {
					t.Fatal(err)
				}
				if math.IsInf(w.Energy, 1) {
					continue
				}
				taken++
				before := h.Counts()
				if err := h.Step(w, w, -eps); err != nil {
					t.Fatal(err)
				}
				after := h.Counts()
				if math.IsInf(w.Energy, 1) {
					if after.Unsolved+after.Unreturned > before.Unsolved+before.Unreturned {
						failed++
					}
					continue
				}
				for c := range z.Position {
					worst = max(worst, math.Abs(w.Position[c]-z.Position[c])/(1+math.Abs(z.Position[c])))
				}
			}
			c := h.Counts()
			if failed > 0 || worst > 1e-5 {
				t.Errorf("%s, %d iterations: of %d steps %d fail on the way back, the others lead back to within %.2g", g.name, iterations, taken, failed, worst)
			}
			all.Unsolved += c.Unsolved
			all.Unreturned += c.Unreturned
			if taken < 20 {
				t.Errorf("%s, %d iterations: only %d steps of 500 are taken", g.name, iterations, taken)
			}
		}
	}
	if all.Unsolved < 100 || all.Unreturned < 5 {
		t.Errorf("too few failures for a test: %+v", all)
	}
}

// TestBadMetrics checks that metrics that fail, or are not positive definite, only make steps fail.
// Errors that are fatal must end the run.
func TestBadMetrics(t *testing.T) {
	target := infertest.AR1(2, 0.5)
	fatal := fmt.Errorf("broken: %w", infer.ErrFatal)
	for _, c := range []struct {
		name string
		g    func(x, g []float64) error
		want error
	}{
		{"indefinite", func(x, g []float64) error { copy(g, []float64{1, 2, 2, 1}); return nil }, nil},
		{"NaN", func(x, g []float64) error { copy(g, []float64{1, math.NaN(), math.NaN(), 1}); return nil }, nil},
		{"error", func(x, g []float64) error { return errors.New("no metric here") }, nil},
		{"fatal", func(x, g []float64) error { return fatal }, infer.ErrFatal},
	} {
		broken := false
		meter := infer.NewMeter(target)
		m := riemann.Func{D: 2, G: func(x, g []float64) error {
			if broken {
				return c.g(x, g)
			}
			copy(g, []float64{1, 0, 0, 1})
			return nil
		}, TraceGrad: riemann.Constant{D: 2}.TraceGrad}.AsMetric()
		h, err := riemann.New(meter, m, riemann.Options{})
		if err != nil {
			t.Fatal(err)
		}
		z := infer.NewPoint(2)
		if err := h.Reset(z); err != nil {
			t.Fatal(err)
		}
		h.Momentum(infer.Stream(1, 0, "bad", 0), z)
		broken = true
		if err := h.Step(z, z, 0.1); !errors.Is(err, c.want) || !math.IsInf(z.Energy, 1) {
			t.Errorf("%s: %v, energy %v", c.name, err, z.Energy)
		}
		if err := h.Reset(z); !errors.Is(err, c.want) || err == nil && !math.IsInf(z.LogDensity, -1) {
			t.Errorf("%s: Reset gives %v, log density %v", c.name, err, z.LogDensity)
		}
		switch frozen, raised, err := riemann.Freeze(m, z.Position); {
		case c.name != "indefinite" && err == nil:
			t.Errorf("%s was frozen", c.name)
		case c.name == "indefinite" && (err != nil || raised != 1):
			t.Errorf("an indefinite metric: %d directions were raised, error %v", raised, err)
		case c.name == "indefinite":
			if _, err := hmc.NewEuclidean(target, frozen); err != nil {
				t.Errorf("an indefinite metric cannot be used when frozen: %v", err)
			}
		}
	}
	for _, o := range []riemann.Options{{Mode: "fast"}, {Iterations: -1}, {Tolerance: -1}, {ReturnTolerance: 2}} {
		if _, err := riemann.New(target, riemann.Constant{D: 2}, o); err == nil {
			t.Errorf("%+v passes", o)
		}
	}
	if _, err := riemann.New(target, riemann.Constant{D: 3}, riemann.Options{}); err == nil {
		t.Error("a metric of another dimension passes")
	}
	for _, kind := range append(riemann.Kinds(), "round") {
		if _, err := riemann.FromTarget(kind, infertest.Logistic{D: 2}, 0); err == nil {
			t.Errorf("a %s metric was made of nothing", kind)
		}
	}
}

// TestStepDoesNotAllocate checks that allocations do not grow with the number of steps.
func TestStepDoesNotAllocate(t *testing.T) {
	each(t, func(t *testing.T, h *riemann.Hamiltonian, z *infer.Point) {
		eps := 0.05
		if n := testing.AllocsPerRun(50, func() {
			if err := h.Step(z, z, eps); err != nil || math.IsInf(z.Energy, 1) {
				t.Fatal("a step failed")
			}
			eps = -eps
		}); n != 0 {
			t.Errorf("%v allocations per step", n)
		}
	})
}

// TestRegularise checks that a singular metric can be frozen. In directions that it does not
// inform, the width must be one or, if rounding decides, large but finite, in any units.
func TestRegularise(t *testing.T) {
	for _, c := range []struct {
		name   string
		g      []float64
		raised int
		check  func(inverse []float64) bool
	}{
		{"regular", []float64{4, 1, 1, 2}, 0, func(v []float64) bool {
			return math.Abs(v[0]-2./7) < 1e-12 && math.Abs(v[1]+1./7) < 1e-12 && math.Abs(v[3]-4./7) < 1e-12
		}},
		{"nothing known of the second", []float64{4, 0, 0, 0}, 1, func(v []float64) bool { return math.Abs(v[0]-0.25) < 1e-12 && v[3] == 1 }},
		{"collinear", []float64{1, 1, 1, 1}, 1, func(v []float64) bool { return v[0] > 1e6 && v[0] < 1e10 }},
		{"badly scaled", []float64{1e12, 0.5e-3, 0.5e-3, 1e-18}, 0, func(v []float64) bool { return math.Abs(v[0]*1e12-4./3) < 1e-9 && math.Abs(v[3]*1e-18-4./3) < 1e-9 }},
		{"indefinite", []float64{1, 2, 2, 1}, 1, func(v []float64) bool { return v[0] > 0 && v[3] > 0 }},
	} {
		inverse, raised, err := riemann.Regularise(c.g, 2)
		if err != nil || raised != c.raised || !c.check(inverse) {
			t.Errorf("%s: %v, %d raised, error %v", c.name, inverse, raised, err)
		}
	}
	if _, _, err := riemann.Regularise([]float64{1, math.Inf(1), math.Inf(1), 1}, 2); err == nil {
		t.Error("a metric that is not finite passes")
	}
}

// TestNoMode checks that FindMode returns a point even if there is no mode: the densities of the
// slope and the funnel are unbounded.
func TestNoMode(t *testing.T) {
	funnel := infertest.Funnel{D: 4}
	m, err := curved(funnel)
	if err != nil {
		t.Fatal(err)
	}
	x, found, err := riemann.FindMode(context.Background(), infer.NewMeter(slope{}), riemann.Constant{D: 1, G: []float64{1}}, []float64{0.5})
	if err != nil || found || len(x) != 1 {
		t.Errorf("on a slope: %v, %v, %v", x, found, err)
	}
	if x, _, err := riemann.FindMode(context.Background(), infer.NewMeter(funnel), m, []float64{1, 1, 1, 1}); err != nil || len(x) != 4 {
		t.Errorf("on a funnel: %v, %v", x, err)
	}
}

// slope grows without bound.
type slope struct{}

func (slope) Dim() int { return 1 }
func (slope) LogDensityGrad(x, grad []float64) (float64, error) {
	grad[0] = 1
	return x[0], nil
}
