package hmc_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// TestStepOn checks that steps which are begun early have the same bits as others, whatever comes
// between beginning a step and ending it.
func TestStepOn(t *testing.T) {
	euclidean := func(l infer.LogDensity, m infer.Metric) (infer.Continuing, error) { return hmc.NewEuclidean(l, m) }
	whitened := func(l infer.LogDensity, m infer.Metric) (infer.Continuing, error) { return hmc.NewWhitened(l, m) }
	rotated := func(l infer.LogDensity, m infer.Metric) (infer.Continuing, error) {
		h, err := hmc.NewWhitened(l, m)
		if err == nil {
			h.Rotate = true
		}
		return h, err
	}
	for kind, of := range map[string]func(infer.LogDensity, infer.Metric) (infer.Continuing, error){
		"Euclidean": euclidean, "Whitened": whitened, "rotated": rotated,
	} {
		for _, d := range []int{2, 17} {
			target := infertest.LogGamma{D: d, Shape: 1.5}
			for _, m := range metrics(d) {
				t.Run(fmt.Sprint(kind, d, m.Kind), func(t *testing.T) {
					one, err := of(target, m)
					if err != nil {
						t.Fatal(err)
					}
					other, err := of(target, m)
					if err != nil {
						t.Fatal(err)
					}
					rng := infer.Stream(1, 0, t.Name(), 0)
					sameSteps(t, rng, one, other, m)
				})
			}
		}
	}
}

// sameSteps makes the same calls with two equal Hamiltonians, by Step and by StepOn.
func sameSteps(t *testing.T, rng *rand.Rand, one, other infer.Continuing, m infer.Metric) {
	points := make([][2]*infer.Point, 4)
	for i := range points {
		points[i] = [2]*infer.Point{infer.NewPoint(m.Dim), infer.NewPoint(m.Dim)}
	}
	both := func(do func(h infer.Continuing, k int) error) {
		t.Helper()
		for k, h := range []infer.Continuing{one, other} {
			if err := do(h, k); err != nil {
				t.Fatal(err)
			}
		}
	}
	again := func(i int) {
		t.Helper()
		both(func(h infer.Continuing, k int) error {
			for j := range m.Dim {
				points[i][k].Position[j] = 0.1 * float64(i+j)
			}
			return h.Reset(points[i][k])
		})
		seed := rng.Uint64()
		both(func(h infer.Continuing, k int) error {
			h.Momentum(rand.New(rand.NewPCG(seed, 1)), points[i][k])
			return nil
		})
	}
	for i := range points {
		again(i)
	}
	at, eps := 0, 0.2
	for round := range 400 {
		switch rng.IntN(12) {
		case 0:
			eps = -eps
		case 1:
			eps = 0.1 + 0.1*rng.Float64()
		case 2:
			at = rng.IntN(len(points))
		case 3:
			again(at)
		case 4:
			m := m
			m.Inverse = slices.Clone(m.Inverse)
			if len(m.Inverse) > 0 {
				m.Inverse[0] *= 1 + rng.Float64()
			}
			both(func(h infer.Continuing, _ int) error { return h.(infer.Euclidean).SetMetric(m) })
			if _, ok := one.(*hmc.Whitened); ok { // its coordinates are those of the metric
				for i := range points {
					again(i)
				}
			}
		}
		to, more := rng.IntN(len(points)), rng.IntN(4) > 0
		a, b := points[to][0], points[to][1]
		if err := one.Step(points[at][0], a, eps); err != nil {
			t.Fatal(err)
		}
		if err := other.StepOn(points[at][1], b, eps, more); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Position, b.Position) || !slices.Equal(a.Momentum, b.Momentum) || !slices.Equal(a.Gradient, b.Gradient) ||
			a.LogDensity != b.LogDensity || a.Energy != b.Energy {
			t.Fatalf("step %d leads to %v, not %v", round, b, a)
		}
		if len(a.Cache) > m.Dim && !slices.Equal(a.Cache[:m.Dim], b.Cache[:m.Dim]) {
			t.Fatalf("step %d leads to coordinates %v, not %v", round, b.Cache, a.Cache)
		}
		at = to
		// What has left the bulk of the density starts again.
		if !(a.Energy < 1e3) {
			again(at)
		}
	}
}
