package riemann

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// stuck is a geometry one of whose factorisations, or inversions, does not end before the test.
type stuck struct {
	*dense
	inversion bool
	left      atomic.Int64 // that end before
	begun     chan struct{}
	end       chan struct{}
}

func (g *stuck) wait(run runner) bool {
	return g.left.Add(-1) >= 0 || run.do(func([]float64) bool {
		close(g.begun)
		<-g.end
		return true
	}, nil)
}

func (g *stuck) factorise(l []float64, run runner) (float64, bool) {
	if !g.inversion && !g.wait(run) {
		return 0, false
	}
	return g.dense.factorise(l, run)
}

func (g *stuck) invert(l []float64, run runner) bool {
	if g.inversion && !g.wait(run) {
		return false
	}
	return g.dense.invert(l, run)
}

// TestInterruptedWithin checks that a cancelled run ends while a matrix is being factorised or
// inverted, or a metric computed from eigenvectors, however long that takes.
func TestInterruptedWithin(t *testing.T) {
	const d = large
	for _, c := range []struct {
		name      string
		inversion bool
		left      int64
	}{{"the first factorisation", false, 0}, {"a factorisation of a step", false, 2}, {"an inversion", true, 0}} {
		g := &stuck{inversion: c.inversion, begun: make(chan struct{}), end: make(chan struct{})}
		g.left.Store(c.left)
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			<-g.begun
			cancel()
		}()
		eye := make([]float64, d*d)
		for i := range d {
			eye[i*(d+1)] = 1
		}
		s := hmc.Sampler{Hamiltonian: func(target *infer.Meter) (infer.Hamiltonian, error) {
			g.dense = newDense(Constant{D: d, G: eye}, 0)
			return newHamiltonian(target, g, nil, Options{}), nil
		}}
		draws := 0
		for _, err := range infer.Run(ctx, infertest.AR1(d, 0.1), infer.Config{Sampler: s, Chains: 1, Warmup: 10, Draws: 10, Seed: 1, Grace: -1}) {
			if err == nil {
				draws++
			}
		}
		// The work goes on until g.end is closed: a run that waits for it never comes here.
		if draws > 0 || ctx.Err() == nil {
			t.Errorf("%s: %d draws", c.name, draws)
		}
		close(g.end)
	}
}

// TestPanicWhileAwaited checks that a panic in the work is passed to the caller, where it can be
// recovered.
func TestPanicWhileAwaited(t *testing.T) {
	defer func() {
		if r := recover(); r != "fault" {
			t.Errorf("recovered %v", r)
		}
	}()
	run := await(nil, large, func() {})
	run(func() { panic("fault") })
	t.Error("the panic is lost")
}
