package riemann_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/riemann"
	"github.com/ppl-lang/ppl/internal/short"
)

// always accepts every proposal.
type always struct{ infer.Kernel }

func (k always) Transition(rng *rand.Rand, h infer.Hamiltonian, eps float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	next, info, err := k.Kernel.Transition(rng, h, eps, z)
	if err == nil && !math.IsInf(info.Proposal.Energy, 1) {
		next = info.Proposal
	}
	return next, info, err
}

// withoutDeterminant leaves ½ log|G| out of the energy.
type withoutDeterminant struct {
	*riemann.Hamiltonian
	metric riemann.Metric
}

func (h withoutDeterminant) fix(z *infer.Point) {
	d := len(z.Position)
	g := make([]float64, d*d)
	if h.metric.Metric(z.Position, g) == nil {
		z.Energy -= 0.5 * math.Log(mat.Det(mat.NewDense(d, d, g)))
	}
}

func (h withoutDeterminant) Momentum(rng *rand.Rand, z *infer.Point) {
	h.Hamiltonian.Momentum(rng, z)
	h.fix(z)
}

func (h withoutDeterminant) Step(from, z *infer.Point, eps float64) error {
	err := h.Hamiltonian.Step(from, z, eps)
	if !math.IsInf(z.Energy, 1) {
		h.fix(z)
	}
	return err
}

// tensor is an alias, so that types that embed it have the method Metric.
type tensor = riemann.Metric

// withoutTrace ignores that the metric varies.
type withoutTrace struct{ tensor }

func (withoutTrace) TraceGrad(_, _, grad []float64) error { clear(grad); return nil }

// withoutSquare ignores that the metric varies only in the part of the force that depends on the
// momentum.
type withoutSquare struct{ directions }

func (withoutSquare) SquareGrad(_, _, grad []float64) error { clear(grad); return nil }

// halfTrace ignores that the determinant of the metric varies. The result is the force of another
// Hamiltonian: the step is reversible and preserves volume, so the target stays invariant, and only
// the energy shows the fault.
type halfTrace struct{ tensor }

func (m halfTrace) TraceGrad(x, a, grad []float64) error {
	d := m.Dim()
	g := make([]float64, d*d)
	if err := m.Metric(x, g); err != nil {
		return err
	}
	var inverse mat.Dense
	if err := inverse.Inverse(mat.NewDense(d, d, g)); err != nil {
		return err
	}
	b := make([]float64, d*d)
	for i := range b {
		b[i] = a[i] - 0.5*inverse.RawMatrix().Data[i]
	}
	return m.tensor.TraceGrad(x, b, grad)
}

// wrongMomentum draws momenta as if the metric were the identity.
type wrongMomentum struct{ *hmc.Euclidean }

func (h wrongMomentum) Momentum(rng *rand.Rand, z *infer.Point) {
	h.Euclidean.Momentum(rng, z) // completes z
	before := 0.0
	for i, p := range z.Momentum {
		before += 0.5 * p * h.Velocity(z)[i]
	}
	energy := z.Energy - before
	for i := range z.Momentum {
		z.Momentum[i] = rng.NormFloat64()
		z.Cache[i] = h.Metric().Inverse[i] * z.Momentum[i]
		energy += 0.5 * z.Momentum[i] * z.Cache[i]
	}
	z.Energy = energy
}

// TestPlantedFaults checks that each planted fault is detected, by the test of invariance or by the
// order of the energy error. (Biased choices in trees are planted in package nuts, faults of
// Algorithm 2, such as a wrong scale, in package ahmc.)
func TestPlantedFaults(t *testing.T) {
	banana := infertest.Banana{B: 0.4, Sigma: 1.5}
	fisher := func(target infer.LogDensity) riemann.Metric {
		m, err := riemann.FromTarget(riemann.Fisher, target, 0)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	coarse := riemann.Options{Tolerance: 1e-5, ReturnTolerance: 1e-3, Iterations: 15}
	plain := func() infer.Kernel { return &hmc.Kernel{Steps: 3} }
	for _, c := range short.Every(2, []struct {
		fault       string
		target      infertest.Exact
		eps         float64
		kernel      func() infer.Kernel
		hamiltonian func(infer.LogDensity) (infer.Hamiltonian, error)
		sound       bool
	}{
		{"none", banana, 0.55, plain, func(l infer.LogDensity) (infer.Hamiltonian, error) {
			return riemann.New(l, fisher(l), coarse)
		}, true},
		{"every proposal is accepted", infertest.LogGamma{D: 2, Shape: 0.7}, 1.6, func() infer.Kernel { return always{plain()} }, func(l infer.LogDensity) (infer.Hamiltonian, error) {
			return riemann.New(l, infertest.Curved{D: 2}, coarse)
		}, false},
		{"no log-determinant", infertest.Funnel{D: 3}, 1.1, plain, func(l infer.LogDensity) (infer.Hamiltonian, error) {
			m := fisher(l)
			h, err := riemann.New(l, m, coarse)
			return withoutDeterminant{h, m}, err
		}, false},
		{"no trace term", banana, 0.55, plain, func(l infer.LogDensity) (infer.Hamiltonian, error) {
			return riemann.New(l, withoutTrace{fisher(l)}, coarse)
		}, false},
		{"failures of the fixed point are not reported", banana, 0.9, plain, func(l infer.LogDensity) (infer.Hamiltonian, error) {
			return riemann.New(l, fisher(l), riemann.Options{Mode: riemann.Published, Iterations: 2})
		}, false},
		{"momenta have the wrong scale", infertest.AR1(2, 0), 0.5, plain, func(l infer.LogDensity) (infer.Hamiltonian, error) {
			h, err := hmc.NewEuclidean(l, infer.Metric{Kind: infer.Diagonal, Dim: 2, Inverse: []float64{4, 0.25}})
			return wrongMomentum{h}, err
		}, false},
	}) {
		res, err := infertest.Invariance{Target: c.target, StepSize: c.eps, Seed: 23, Replicates: 4000, Kernel: c.kernel, Hamiltonian: c.hamiltonian}.Run()
		if err != nil {
			t.Fatalf("%s: %v", c.fault, err)
		}
		if (res.Err() == nil) != c.sound {
			t.Errorf("%s: the test of invariance says %v", c.fault, res.Err())
		}
		t.Logf("%s: %v", c.fault, res.Err())
	}

	curvedAlong := directions{infertest.Curved{D: 8}, make([]float64, 64)}
	for _, c := range []struct {
		fault  string
		metric riemann.Metric
		sound  bool
	}{
		{"none", infertest.Curved{D: 2}, true},
		{"no trace term", withoutTrace{infertest.Curved{D: 2}}, false},
		{"no gradient of the log-determinant", halfTrace{infertest.Curved{D: 2}}, false},
		{"none, along directions", curvedAlong, true},
		{"no trace term, along directions", withoutSquare{curvedAlong}, false},
	} {
		target := infertest.Exact(banana)
		if c.metric.Dim() > 2 {
			target = infertest.AR1(c.metric.Dim(), 0.5)
		}
		h, err := riemann.New(target, c.metric, riemann.Options{Tolerance: 1e-13, ReturnTolerance: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		z := infer.NewPoint(target.Dim())
		copy(z.Position, []float64{0.7, -0.4})
		if err := h.Reset(z); err != nil {
			t.Fatal(err)
		}
		h.Momentum(infer.Stream(1, 0, "faults", 0), z)
		if ratio := energyRatio(t, h, z); (ratio > 3.8 && ratio < 4.2) != c.sound {
			t.Errorf("%s: halving the step divides the energy error by %v", c.fault, ratio)
		}
	}
}
