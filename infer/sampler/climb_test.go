package sampler

import (
	"context"
	"math"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/riemann"
)

// TestClimb checks which chains climb. A chain that began at random, far from where draws are, must
// reach their potential. It must stay if its start was given, if it has the potential of draws, in
// a funnel, or without a Riemannian geometry.
func TestClimb(t *testing.T) {
	const d = 20
	far := func(x []float64) {
		for i := range x {
			x[i] = 40 + float64(i)
		}
	}
	normal := infertest.AR1(d, 0.9)
	for _, c := range []struct {
		name   string
		target infertest.Exact
		metric riemann.Metric
		from   func(x []float64)
		random bool
		moves  bool
	}{
		{"far", normal, infertest.Curved{D: d}, far, true, true},
		{"far, but asked for", normal, infertest.Curved{D: d}, far, false, false},
		{"at a draw", normal, infertest.Curved{D: d}, func(x []float64) { normal.Sample(infer.Stream(3, 0, "draw", 0), x) }, true, false},
		{"in a funnel", infertest.Funnel{D: d}, fisherOf(t, infertest.Funnel{D: d}), func(x []float64) {
			infertest.Funnel{D: d}.Sample(infer.Stream(4, 0, "draw", 0), x)
		}, true, false},
		{"no Riemannian geometry", normal, nil, far, true, false},
	} {
		s := &infer.State{Target: infer.NewMeter(c.target), Point: infer.NewPoint(d), Rng: infer.Stream(1, 0, c.name, 0), RandomStart: c.random}
		c.from(s.Point.Position)
		var h *riemann.Hamiltonian
		var err error
		if c.metric == nil {
			s.Hamiltonian, err = hmc.NewEuclidean(s.Target, infer.Metric{Kind: infer.Unit})
		} else {
			h, err = riemann.New(s.Target, c.metric, riemann.Options{})
			s.Hamiltonian = h
		}
		if err == nil {
			err = s.Hamiltonian.Reset(s.Point)
		}
		if err != nil {
			t.Fatal(err)
		}
		before := append([]float64(nil), s.Point.Position...)
		if err := (climb{}).Run(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		moved := false
		for i, v := range before {
			moved = moved || s.Point.Position[i] != v
		}
		if moved != c.moves {
			t.Errorf("%s: the chain moved: %v", c.name, moved)
		}
		if !c.moves {
			continue
		}
		x, typical := make([]float64, d), 0.0
		const n = 50
		for k := range n {
			c.target.Sample(infer.Stream(uint64(k), 0, "typical", 0), x)
			u, err := h.Potential(x)
			if err != nil {
				t.Fatal(err)
			}
			typical += u / n
		}
		u, err := h.Potential(s.Point.Position)
		if err != nil || math.Abs(u-typical) > 4*math.Sqrt(d/2)+d/2 {
			t.Errorf("%s: the potential is %v, that of draws %v", c.name, u, typical)
		}
		if lp, err := s.Target.LogDensityGrad(s.Point.Position, x); err != nil || lp != s.Point.LogDensity {
			t.Errorf("%s: the log density is %v, that of the point %v", c.name, lp, s.Point.LogDensity)
		}
	}
}

// TestRelaxed checks that transitions from the mode, and from far out, lead to the log density of
// draws, even if the scales from the climb are wrong.
func TestRelaxed(t *testing.T) {
	const d = 40
	target := infertest.AR1(d, 0.9)
	for _, from := range []float64{0, 10} {
		for _, wide := range []float64{0.01, 1, 100} {
			x, scale := make([]float64, d), make([]float64, d)
			for i := range x {
				x[i], scale[i] = from, wide
			}
			s := &infer.State{Target: infer.NewMeter(target), Rng: infer.Stream(1, 0, "relaxed", 0)}
			at, err := relaxed(context.Background(), s, scale, x)
			if err != nil {
				t.Fatal(err)
			}
			lp, err := target.LogDensityGrad(at, x)
			if err != nil {
				t.Fatal(err)
			}
			clear(x)
			mode, _ := target.LogDensityGrad(x, make([]float64, d))
			// 2(mode - lp) is chi-squared.
			if chi := 2 * (mode - lp); math.Abs(chi-d) > 4*math.Sqrt(2*d) {
				t.Errorf("from %v with scales of %v: twice the log density is %v below that of the mode, expected about %d", from, wide, chi, d)
			}
			if used := s.Target.Gradients(); used > relaxTransitions*64+200 {
				t.Errorf("from %v with scales of %v: %d gradients", from, wide, used)
			}
		}
	}
}

func fisherOf(t *testing.T, target infer.LogDensity) riemann.Metric {
	m, err := riemann.FromTarget(riemann.Fisher, target, 0)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestClimbFirst checks that chains climb only with a metric that depends on the position, if there
// is warm-up, and not in the mode Published.
func TestClimbFirst(t *testing.T) {
	for _, c := range []struct {
		change func(r *Riemannian)
		warmup int
		climbs bool
	}{
		{func(r *Riemannian) {}, 100, true},
		{func(r *Riemannian) {}, 0, false},
		{func(r *Riemannian) { r.Options.Mode = riemann.Published }, 100, false},
		{func(r *Riemannian) { r.Frozen = true }, 100, false},
	} {
		r := Riemannian{Kind: riemann.Fisher}
		c.change(&r)
		g := Geometric{hmc.Sampler{Hamiltonian: r.hamiltonian()}, r}
		plan, err := g.Plan(infer.NewMeter(infertest.Funnel{D: 3}), c.warmup)
		if err != nil {
			t.Fatal(err)
		}
		climbs := false
		for _, s := range plan.Stages {
			_, is := s.(climb)
			climbs = climbs || is
		}
		if climbs != c.climbs {
			t.Errorf("%+v, %d transitions of warm-up: climbs: %v", r, c.warmup, climbs)
		}
	}
}
