package nuts

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// walker makes the leaves of a trajectory.
type walker interface {
	leaf(dst *tree, forward bool) (weight, bool)
	of() *trajectory
}

func (t *trajectory) of() *trajectory { return t }

// orbitOf returns the points of the trajectory through z, at most `most` on either side, the
// earliest first, and the index of z among them.
func orbitOf(w walker, h infer.Hamiltonian, z *infer.Point, eps, refine float64, most int) (orbit []*infer.Point, at int, err error) {
	tr := w.of()
	for _, forward := range []bool{false, true} {
		tr.refine, tr.stretch = refine, stretch(eps, DefaultMaxDepth)
		tr.begin(infer.Stream(1, 0, "orbit", 0), h, eps, math.Inf(1), z, 1)
		tr.root.left.CopyFrom(z) // with its momentum
		tr.energy = z.Energy
		end := 0
		if forward {
			end = 1
		}
		var side []*infer.Point
		for range most {
			if _, ok := w.leaf(tr.newTree(), forward); !ok {
				break
			}
			p := infer.NewPoint(len(z.Position))
			p.CopyFrom(&tr.ends[end].Point)
			side = append(side, p)
		}
		if tr.err != nil {
			return nil, 0, tr.err
		}
		if forward {
			orbit = append(orbit, side...)
		} else {
			slices.Reverse(side)
			at = len(side)
			orbit = append(side, z)
		}
	}
	return orbit, at, nil
}

// sameOrbit returns an error if the trajectory is a different one when seen from another of its
// points. ended reports that the trajectory ends within the points examined.
func sameOrbit(w walker, h infer.Hamiltonian, z *infer.Point, eps, refine float64) (ended bool, err error) {
	const most = 12
	orbit, at, err := orbitOf(w, h, z, eps, refine, most)
	if err != nil {
		return false, err
	}
	for i, from := range orbit {
		again, now, err := orbitOf(w, h, from, eps, refine, most+len(orbit))
		if err != nil {
			return false, err
		}
		for k, p := range orbit {
			j := now + k - i
			if j < 0 || j >= len(again) {
				return false, fmt.Errorf("from point %d of %d, point %d is not reached", i, len(orbit), k)
			}
			for d, x := range p.Position {
				if math.Abs(x-again[j].Position[d]) > 1e-6*(1+math.Abs(x)) {
					return false, fmt.Errorf("from point %d of %d, point %d is at %v, not at %v", i, len(orbit), k, again[j].Position, p.Position)
				}
			}
		}
		if at < most && now != i {
			return false, fmt.Errorf("from point %d of %d there is another beginning", i, len(orbit))
		}
		if len(orbit)-1-at < most && len(again)-1-now != len(orbit)-1-i {
			return false, fmt.Errorf("from point %d of %d there is another end", i, len(orbit))
		}
	}
	return len(orbit) < 2*most+1, nil
}

// TestRefinedOrbits checks that a trajectory with refined steps is the same from each of its
// points, with the same ends. Detailed balance of the trees needs this. It fails if the reverse
// step is not checked.
func TestRefinedOrbits(t *testing.T) {
	ended, finer := 0, int64(0)
	for _, c := range []struct {
		target infertest.Exact
		eps    float64
		refine float64
	}{
		{infertest.Banana{B: 3, Sigma: 2}, 0.03, 0.05},
		{infertest.Banana{B: 1, Sigma: 2}, 0.3, 0.3},
		{infertest.Funnel{D: 3}, 0.2, 0.1},
		{infertest.StudentT{D: 2, Nu: 4}, 0.9, 0.1},
	} {
		fault := false
		for _, m := range metrics(c.target.Dim()) {
			h, err := hmc.NewWhitened(c.target, m)
			if err != nil {
				t.Fatal(err)
			}
			rng := infer.Stream(5, 0, "orbits", 0)
			for range 12 {
				z := infer.NewPoint(c.target.Dim())
				c.target.Sample(rng, z.Position)
				if err := h.Reset(z); err != nil {
					t.Fatal(err)
				}
				h.Momentum(rng, z)
				var tr trajectory
				ends, err := sameOrbit(&tr, h, z, c.eps, c.refine)
				if err != nil {
					t.Fatalf("%s, %s: %v", c.target, m.Kind, err)
				}
				if ends {
					ended++
				}
				finer += tr.finer
				_, err = sameOrbit(&oneWay{}, h, z, c.eps, c.refine)
				fault = fault || err != nil
			}
		}
		if !fault {
			t.Errorf("%s: a way back that is another is not seen", c.target)
		}
	}
	if ended < 20 || finer < 5000 {
		t.Errorf("%d trajectories ended, %d ways were refined", ended, finer)
	}
	t.Logf("%d trajectories ended, %d ways refined", ended, finer)
}

// TestStretch checks that the leaves of a tree are as many steps apart as the step size requires,
// and that its depth counts steps.
func TestStretch(t *testing.T) {
	for _, c := range []struct {
		eps   float64
		depth int
		want  int
	}{{1, 10, 0}, {0.3, 10, 0}, {0.25, 10, 1}, {0.1, 10, 2}, {0.03, 10, 4}, {1e-6, 10, maxStretch}, {1e-6, 3, 2}, {1e-6, 1, 0}} {
		if got := stretch(c.eps, c.depth); got != c.want {
			t.Errorf("step size %v, depth %d: %d, want %d", c.eps, c.depth, got, c.want)
		}
	}
	h, z := start(t, infertest.AR1(2, 0), infer.Metric{}, []float64{1, 1})
	rng := infer.Stream(6, 0, "depth", 0)
	for depth := 1; depth < 9; depth++ {
		k := &Kernel{MaxDepth: depth, Refine: 1}
		_, info, err := k.Transition(rng, h, 1e-4, z)
		if err != nil {
			t.Fatal(err)
		}
		apart := 1 << stretch(1e-4, depth)
		if info.TreeDepth != depth || info.Leapfrogs != 1<<depth-apart || info.Divergent {
			t.Errorf("MaxDepth %d: %+v", depth, info.Stats)
		}
	}
}

// TestRefinedDivergence checks that a trajectory ends by a divergence, and nothing moves, if no
// number of halvings suffices.
func TestRefinedDivergence(t *testing.T) {
	h, z := start(t, infertest.LogGamma{D: 1, Shape: 1}, infer.Metric{}, []float64{0})
	next, info, err := (&Kernel{Refine: 1e-3}).Transition(infer.Stream(7, 0, "divergence", 0), h, 1e4, z)
	if err != nil {
		t.Fatal(err)
	}
	if !info.Divergent || next.Position[0] != 0 || info.Leapfrogs > 2<<maxHalvings {
		t.Errorf("at %v: %+v", next.Position, info.Stats)
	}
}

// TestRefineInNeck uses a step size for the middle of a funnel. It is 150 times too large in the
// neck, more than three standard deviations down. Steps must be halved often enough that nothing
// diverges.
func TestRefineInNeck(t *testing.T) {
	target := infertest.Funnel{D: 2}
	h, err := hmc.NewWhitened(target, hmc.Identity(infer.Diagonal, 2))
	if err != nil {
		t.Fatal(err)
	}
	z := infer.NewPoint(2)
	z.Position[0], z.Position[1] = -10, 0.5*math.Exp(-5)
	if err := h.Reset(z); err != nil {
		t.Fatal(err)
	}
	k := &Kernel{Refine: 2}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 20 {
		next, info, err := k.Transition(rng, h, 1, z)
		if err != nil || info.Divergent {
			t.Fatalf("transition %d from %v: divergent %v, %v", i, z.Position, info.Divergent, err)
		}
		z = next
	}
}
