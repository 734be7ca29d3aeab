package ahmc

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// TestAutocorrelation checks that the efficiency estimated from a long batch of an autoregression
// is the known one, and that the efficiency of antithetic draws is bounded.
func TestAutocorrelation(t *testing.T) {
	for _, rho := range []float64{0, 0.5, 0.9} {
		o, err := Autocorrelation{}.Start(nil, infer.NewMeter(infertest.AR1(2, 0)))
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		z := infer.NewPoint(2)
		for range 20000 {
			for i := range z.Position { // of very different scales
				scale := []float64{1e-3, 1e3}[i]
				z.Position[i] = rho*z.Position[i] + scale*math.Sqrt(1-rho*rho)*rng.NormFloat64()
			}
			o.Observe(z, z, infer.Info{})
		}
		r, err := o.Reward(rng, Setting{})
		if want := (1 - rho) / (1 + rho); err != nil || math.Abs(r/want-1) > 0.12 {
			t.Errorf("rho = %v: efficiency %v, want %v (%v)", rho, r, want, err)
		}
	}
	o, _ := Autocorrelation{}.Start(nil, infer.NewMeter(infertest.AR1(1, 0)))
	z := infer.NewPoint(1)
	for i := range 10 {
		z.Position[0] = float64(1 - 2*(i%2))
		o.Observe(z, z, infer.Info{})
	}
	if r, err := o.Reward(nil, Setting{}); err != nil || r != 1/minTime {
		t.Errorf("alternating: %v, %v", r, err)
	}
	// A batch that does not move has a low reward wherever it is, including at the mean.
	for _, at := range []float64{0, 2} {
		z.Position[0] = at
		for range 20 {
			o.Observe(z, z, infer.Info{})
		}
		if r, err := o.Reward(nil, Setting{}); err != nil || math.Abs(r-1./39) > 1e-12 {
			t.Errorf("stuck at %v: %v, %v", at, r, err)
		}
	}
}

// rows is a normal sample with unknown mean, prior normal(0, 10).
type rows []float64

func (rows) Dim() int                         { return 1 }
func (r rows) CloneDensity() infer.LogDensity { return r }
func (r rows) LogDensityGrad(x, grad []float64) (float64, error) {
	lp := -x[0] * x[0] / 200
	grad[0] = -x[0] / 100
	for _, y := range r {
		lp -= 0.5 * (y - x[0]) * (y - x[0])
		grad[0] += y - x[0]
	}
	return lp, nil
}
func (r rows) Len() int { return len(r) }
func (r rows) LogLikelihood(x, dst []float64) error {
	for i, y := range r {
		dst[i] = -0.5*(y-x[0])*(y-x[0]) - 0.5*math.Log(2*math.Pi)
	}
	return nil
}

func folds(data rows, n int) Predictive {
	p := Predictive{Leapfrogs: 4000}
	for f := range n {
		var kept, held rows
		for i, y := range data {
			if i%n == f {
				held = append(held, y)
			} else {
				kept = append(kept, y)
			}
		}
		p.Folds = append(p.Folds, Fold{Target: kept, Held: held})
	}
	return p
}

// TestPredictive checks that the reward by cross-validation is the mean log predictive density of
// the held-out rows, which is known for a normal mean, and that its gradients are counted. Tuning
// with this reward, which is always negative, must find settings that predict well: the chains of
// the folds mix within the budget.
func TestPredictive(t *testing.T) {
	data := rows{0.3, -1.2, 2.5, 0.8, 1.9, -0.4, 0.1, 1.1}
	p := folds(data, 4)
	target := infer.NewMeter(data)
	h, err := hmc.NewEuclidean(target, infer.Metric{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := p.Start(h, target)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	z := infer.NewPoint(1)
	o.Observe(z, z, infer.Info{})
	got, err := o.Reward(rng, Setting{StepSize: 0.5, Steps: 4})
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for _, f := range p.Folds {
		kept := f.Target.(rows)
		precision, mean := 0.01+float64(len(kept)), 0.0
		for _, y := range kept {
			mean += y / precision
		}
		variance := 1 + 1/precision
		for _, y := range f.Held.(rows) {
			want += (-0.5*(y-mean)*(y-mean)/variance - 0.5*math.Log(2*math.Pi*variance)) / float64(len(data))
		}
	}
	// 1600 draws per fold: the error of the mean density is about 1 %.
	if math.Abs(got-want) > 0.03 {
		t.Errorf("reward %v, want %v", got, want)
	}
	if n := target.Gradients(); n < 4*4000 || n > 4*4100 {
		t.Errorf("%d gradients counted", n)
	}

	p.Leapfrogs = 60
	kernel := newKernel(Sampler{Reward: p, StepSizePoints: 10, StepsPoints: 8}.withDefaults(), target)
	if err := kernel.begin(Box{1e-4, 1, 1, 8}, 2, 60, h); err != nil {
		t.Fatal(err)
	}
	if err := h.Reset(z); err != nil {
		t.Fatal(err)
	}
	for range 2 * 80 {
		if z, _, err = kernel.Transition(rng, h, 1, z); err != nil {
			t.Fatal(err)
		}
	}
	kernel.Freeze()
	first := kernel.Batches()[0]
	if first.Reward >= 0 || first.StepSize != 1e-4 {
		t.Errorf("first batch %+v", first)
	}
	if eps, _ := kernel.Setting(); eps < 0.02 {
		t.Errorf("settled at step size %v, at which nothing moves", eps)
	}

	// Folds have trajectories like the sampler's: with a fixed length of seven, 70 steps are ten
	// trajectories.
	fixed := newKernel(Sampler{Reward: Predictive{Folds: p.Folds, Leapfrogs: 70}, FixedLength: true, StepSizePoints: 10, StepsPoints: 1}.withDefaults(), target)
	if err := fixed.begin(Box{0.1, 1, 7, 7}, 1, 60, h); err != nil {
		t.Fatal(err)
	}
	if z, _, err = fixed.Transition(rng, h, 1, z); err != nil { // puts the folds where they start
		t.Fatal(err)
	}
	before := target.Gradients()
	for range 10 {
		if z, _, err = fixed.Transition(rng, h, 1, z); err != nil {
			t.Fatal(err)
		}
	}
	if n := target.Gradients() - before; n != 10*(7+4*70) {
		t.Errorf("%d gradients of trajectories of fixed length, want %d", n, 10*(7+4*70))
	}

	for _, bad := range []Predictive{{}, {Folds: p.Folds[:1]}, {Folds: []Fold{{rows{}, rows{}}, {rows{}, rows{}}}},
		{Folds: []Fold{{infertest.AR1(2, 0), data}, {infertest.AR1(2, 0), data}}}} {
		if _, err := bad.Start(h, target); err == nil {
			t.Errorf("took %+v", bad)
		}
	}
}

// TestSave checks, for every reward, that a kernel saved in the middle of a batch continues after
// loading exactly as without.
func TestSave(t *testing.T) {
	for _, reward := range []Reward{SquaredJump{}, Distance{}, Autocorrelation{}, folds(rows{0.3, -1.2, 2.5}, 3)} {
		target := infer.NewMeter(rows{0.3, -1.2, 2.5})
		h, err := hmc.NewEuclidean(target, infer.Metric{})
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := reward.(Predictive); ok {
			p.Leapfrogs = 5
			reward = p
		}
		options := Sampler{Reward: reward, StepSizePoints: 12, StepsPoints: 12}.withDefaults()
		kernel := newKernel(options, target)
		if err := kernel.begin(Box{0.01, 1, 1, 20}, 5, 30, h); err != nil {
			t.Fatal(err)
		}
		source := rand.NewPCG(5, 6)
		run := func(k *Kernel, n int, x float64) (xs []float64) {
			z := infer.NewPoint(1)
			z.Position[0] = x
			if err := h.Reset(z); err != nil {
				t.Fatal(err)
			}
			for range n {
				if z, _, err = k.Transition(rand.New(source), h, 1, z); err != nil {
					t.Fatal(err)
				}
				xs = append(xs, z.Position[0])
			}
			return xs
		}
		x := run(kernel, 5*40+3, 0)
		state, err := kernel.SaveState()
		if err != nil {
			t.Fatal(err)
		}
		at, _ := source.MarshalBinary()
		want := run(kernel, 5*40, x[len(x)-1])

		loaded := newKernel(options, target)
		if err := loaded.LoadState(h, state); err != nil {
			t.Fatal(err)
		}
		if err := source.UnmarshalBinary(at); err != nil {
			t.Fatal(err)
		}
		if got := run(loaded, 5*40, x[len(x)-1]); !slices.Equal(got, want) {
			t.Errorf("%T: the loaded kernel goes elsewhere", reward)
		}
		for _, b := range [][]Batch{kernel.Batches(), loaded.Batches()} {
			for i := range b {
				if math.IsNaN(b[i].Reward) {
					t.Fatalf("%T: %+v", reward, b[i])
				}
			}
		}
		if !slices.Equal(kernel.Batches(), loaded.Batches()) {
			t.Errorf("%T: the histories differ", reward)
		}
		other := newKernel(Sampler{Reward: reward, StepSizePoints: 9, StepsPoints: 12}.withDefaults(), target)
		if err := other.LoadState(h, state); err == nil {
			t.Errorf("%T: a state was loaded into another grid", reward)
		}
		if other.LoadState(h, state[:len(state)/2]) == nil {
			t.Errorf("%T: half a state was loaded", reward)
		}
	}
}

// TestTables checks that the tables contain every batch and every point of the grid.
func TestTables(t *testing.T) {
	target := infer.NewMeter(infertest.AR1(2, 0.5))
	h, err := hmc.NewEuclidean(target, infer.Metric{})
	if err != nil {
		t.Fatal(err)
	}
	kernel := newKernel(Sampler{StepSizePoints: 4, StepsPoints: 5}.withDefaults(), target)
	if kernel.Tables() != nil {
		t.Error("tables before tuning")
	}
	if err := kernel.begin(Box{0.1, 1, 1, 5}, 2, 10, h); err != nil {
		t.Fatal(err)
	}
	z := infer.NewPoint(2)
	if err := h.Reset(z); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		if z, _, err = kernel.Transition(rng, h, 1, z); err != nil {
			t.Fatal(err)
		}
	}
	tables := kernel.Tables()
	if len(tables) != 2 || tables[0].Name != "visits" || len(tables[0].Rows) != 15 || tables[1].Name != "surface" || len(tables[1].Rows) != 20 {
		t.Fatalf("%+v", tables)
	}
	for _, table := range tables {
		for _, row := range table.Rows {
			if len(row) != len(table.Columns) {
				t.Errorf("%s: %d figures for %d columns", table.Name, len(row), len(table.Columns))
			}
		}
	}
}
