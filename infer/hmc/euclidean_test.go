package hmc_test

import (
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
)

// metrics returns one metric of each kind, none of them the identity except Unit.
func metrics(dim int) []infer.Metric {
	diag := hmc.Identity(infer.Diagonal, dim)
	dense := hmc.Identity(infer.Dense, dim)
	for i := range dim {
		diag.Inverse[i] = 0.5 + float64(i)
		for j := range dim {
			dense.Inverse[i*dim+j] = math.Pow(0.6, math.Abs(float64(i-j))) * math.Sqrt((1+float64(i))*(1+float64(j)))
		}
	}
	low := hmc.Identity(infer.LowRank, dim)
	for i := range dim {
		low.Inverse[i] = 0.7 + 0.2*float64(i)
	}
	vector := make([]float64, dim) // of length one
	for i := range vector {
		vector[i] = math.Pow(-1, float64(i)) / math.Sqrt(float64(dim))
	}
	low.Inverse = append(append(low.Inverse, 2.1), vector...)
	return []infer.Metric{{Kind: infer.Unit, Dim: dim}, diag, dense, low}
}

// eachGeometry runs f for all metrics on a target that is not symmetric.
func eachGeometry(t *testing.T, f func(t *testing.T, h *hmc.Euclidean, z *infer.Point)) {
	for _, target := range []infertest.Exact{infertest.Banana{B: 0.5, Sigma: 1.5}, infertest.LogGamma{D: 3, Shape: 1.5}} {
		for _, m := range metrics(target.Dim()) {
			t.Run(fmt.Sprint(target, m.Kind), func(t *testing.T) {
				h, err := hmc.NewEuclidean(target, m)
				if err != nil {
					t.Fatal(err)
				}
				rng := infer.Stream(1, 0, t.Name(), 0)
				z := infer.NewPoint(target.Dim())
				target.Sample(rng, z.Position)
				if err := h.Reset(z); err != nil {
					t.Fatal(err)
				}
				h.Momentum(rng, z)
				f(t, h, z)
			})
		}
	}
}

func step(t *testing.T, h infer.Hamiltonian, z *infer.Point, eps float64, n int) {
	t.Helper()
	for range n {
		if err := h.Step(z, z, eps); err != nil {
			t.Fatal(err)
		}
	}
}

func clone(z *infer.Point) *infer.Point {
	w := infer.NewPoint(len(z.Position))
	w.CopyFrom(z)
	return w
}

// stepsAside checks that a step to another point, whatever its content, gives the same result as a
// step of a copy in place.
func stepsAside(t *testing.T, h infer.Hamiltonian, z *infer.Point) {
	want, got, from := clone(z), clone(z), clone(z)
	step(t, h, want, 0.3, 1)
	step(t, h, got, -2, 5)
	for _, to := range []*infer.Point{got, infer.NewPoint(len(z.Position))} {
		if err := h.Step(from, to, 0.3); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(to, want) {
			t.Errorf("a step leads to %v, not %v", to, want)
		}
		if !reflect.DeepEqual(from, z) {
			t.Errorf("a step has made %v of %v", from, z)
		}
	}
}

func TestStepFromTo(t *testing.T) {
	eachGeometry(t, func(t *testing.T, h *hmc.Euclidean, z *infer.Point) { stepsAside(t, h, z) })
	eachWhitened(t, func(t *testing.T, h *hmc.Whitened, z *infer.Point) { stepsAside(t, h, z) })
}

// TestStepIsReversible checks that stepping back, and stepping forward with the momentum reversed,
// both lead back to the start.
func TestStepIsReversible(t *testing.T) {
	eachGeometry(t, func(t *testing.T, h *hmc.Euclidean, z *infer.Point) {
		back, flipped := clone(z), clone(z)
		step(t, h, back, 0.05, 30)
		flipped.CopyFrom(back)
		for i := range flipped.Momentum {
			flipped.Momentum[i] *= -1
		}
		step(t, h, back, -0.05, 30)
		step(t, h, flipped, 0.05, 30)
		for i := range z.Position {
			for name, d := range map[string]float64{
				"position, back":    back.Position[i] - z.Position[i],
				"momentum, back":    back.Momentum[i] - z.Momentum[i],
				"position, flipped": flipped.Position[i] - z.Position[i],
				"momentum, flipped": flipped.Momentum[i] + z.Momentum[i],
			} {
				if math.Abs(d) > 1e-10 {
					t.Errorf("%s: coordinate %d is off by %g", name, i, d)
				}
			}
		}
	})
}

// TestEnergyErrorOrder checks that the energy error over a fixed time is of second order. This
// detects a wrong force even if it leaves the target invariant.
func TestEnergyErrorOrder(t *testing.T) {
	eachGeometry(t, func(t *testing.T, h *hmc.Euclidean, z *infer.Point) {
		worst := func(n int) (e float64) {
			w := clone(z)
			for range n {
				step(t, h, w, 1/float64(n), 1)
				e = max(e, math.Abs(w.Energy-z.Energy))
			}
			return e
		}
		ratio := worst(256) / worst(512)
		if ratio < 3.9 || ratio > 4.1 {
			t.Errorf("halving the step divides the energy error by %v instead of 4", ratio)
		}
	})
}

// TestStepPreservesVolume checks that the Jacobian of a step, by central differences, has
// determinant 1.
func TestStepPreservesVolume(t *testing.T) {
	eachGeometry(t, func(t *testing.T, h *hmc.Euclidean, z *infer.Point) {
		d := len(z.Position)
		jacobian := mat.NewDense(2*d, 2*d, nil)
		const delta = 1e-5
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
			step(t, h, w, 0.3, 3)
			return append(slices.Clone(w.Position), w.Momentum...)
		}
		for j := range 2 * d {
			plus, minus := at(j, delta), at(j, -delta)
			for i := range plus {
				jacobian.Set(i, j, (plus[i]-minus[i])/(2*delta))
			}
		}
		if det := mat.Det(jacobian); math.Abs(det-1) > 1e-6 {
			t.Errorf("the determinant is %v", det)
		}
	})
}

// TestMomentum checks that the momentum has covariance M, the energy is H, and the velocity M⁻¹p.
func TestMomentum(t *testing.T) {
	eachGeometry(t, func(t *testing.T, h *hmc.Euclidean, z *infer.Point) {
		d := len(z.Position)
		m := h.Metric()
		inverse := func(i, j int) float64 {
			switch {
			case m.Kind == infer.Dense:
				return m.Inverse[i*d+j]
			case m.Kind == infer.LowRank:
				scale, values, vectors := m.LowRank()
				sum := 0.0
				if i == j {
					sum = 1
				}
				return scale[i] * (sum + (values[0]-1)*vectors[0][i]*vectors[0][j]) * scale[j]
			case i != j:
				return 0
			case m.Kind == infer.Diagonal:
				return m.Inverse[i]
			}
			return 1
		}
		v := h.Velocity(z)
		energy := -z.LogDensity
		for i := range d {
			s := 0.0
			for j := range d {
				s += inverse(i, j) * z.Momentum[j]
			}
			if math.Abs(s-v[i]) > 1e-12 {
				t.Errorf("velocity %d is %v instead of %v", i, v[i], s)
			}
			energy += 0.5 * s * z.Momentum[i]
		}
		if math.Abs(energy-z.Energy) > 1e-12 {
			t.Errorf("energy is %v instead of %v", z.Energy, energy)
		}
		// E pᵢ vⱼ = δᵢⱼ. The standard error of each mean is less than 2/√n.
		const n = 40000
		rng := infer.Stream(2, 0, t.Name(), 0)
		sum := make([]float64, d*d)
		for range n {
			h.Momentum(rng, z)
			for i := range d {
				for j := range d {
					sum[i*d+j] += z.Momentum[i] * h.Velocity(z)[j] / n
				}
			}
		}
		for i := range d {
			sum[i*d+i]--
			for j := range d {
				bound := 6 * 2 / math.Sqrt(n) * math.Sqrt(inverse(j, j)*float64(d)/inverse(i, i))
				if math.Abs(sum[i*d+j]) > bound {
					t.Errorf("E p[%d] v[%d] is off by %v, more than %v", i, j, sum[i*d+j], bound)
				}
			}
		}
	})
}

func TestSetMetricErrors(t *testing.T) {
	h, err := hmc.NewEuclidean(infertest.Logistic{D: 2}, infer.Metric{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m    infer.Metric
		want string
	}{
		{infer.Metric{Kind: "round", Dim: 2}, "unknown kind"},
		{infer.Metric{Kind: infer.LowRank, Dim: 2, Inverse: []float64{1, 1, 2, 1}}, "4 elements"},
		{infer.Metric{Kind: infer.LowRank, Dim: 2, Inverse: []float64{1, 1, -2, 1, 0}}, "must be positive"},
		{infer.Metric{Kind: infer.Diagonal, Dim: 3, Inverse: []float64{1, 1, 1}}, "dimension 3"},
		{infer.Metric{Kind: infer.Diagonal, Dim: 2, Inverse: []float64{1}}, "1 elements"},
		{infer.Metric{Kind: infer.Diagonal, Dim: 2, Inverse: []float64{1, 0}}, "must be positive"},
		{infer.Metric{Kind: infer.Diagonal, Dim: 2, Inverse: []float64{1, math.NaN()}}, "is NaN"},
		{infer.Metric{Kind: infer.Dense, Dim: 2, Inverse: []float64{1, 2, 2, 1}}, "not positive definite"},
		{infer.Metric{Kind: infer.Dense, Dim: 2, Inverse: []float64{1, 0.1, 0.2, 1}}, "not symmetric"},
		{infer.Metric{Kind: infer.Dense, Dim: 2, Inverse: []float64{1e-20, 0.1, 0.2, 1e20}}, "not symmetric"},
	} {
		if err := h.SetMetric(c.m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want an error about %q", c.m, err, c.want)
		}
		if got := h.Metric(); got.Kind != infer.Unit {
			t.Errorf("%v: the metric was changed to %v", c.m, got)
		}
	}
	// Covariances of uncorrelated coordinates consist only of rounding errors.
	if err := h.SetMetric(infer.Metric{Kind: infer.Dense, Dim: 2, Inverse: []float64{0.0025, 4.6e-32, 4.3e-32, 0.664}}); err != nil {
		t.Error(err)
	}
}
