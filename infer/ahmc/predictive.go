package ahmc

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
)

// Predictive is the predictive loss by cross-validation (the paper's section 5.4), for tuning a
// model for prediction. Each fold of the data is held out once, and a chain runs on the posterior
// given the other folds. The reward is the mean, over all held-out observations, of their log
// predictive density
//
//	log (1/S Σ_s p(y_i | x_s)),
//
// where x_s are the draws of that fold's chain in the batch. Package folds makes the folds from a
// model and the names of data.
//
// The chain of each fold runs in addition to the sampled chain, with the same metric and with the
// setting that is being tried. Folds take a fixed number of leapfrog steps per batch, so that
// settings are compared at equal cost, as in the authors' programs, and no [Cost] applies.
type Predictive struct {
	Folds []Fold

	// Hamiltonian makes the geometry of a fold's chain. If it is nil, the sampler's field
	// Hamiltonian is used, or if there is none, a Euclidean geometry with the sampler's metric.
	Hamiltonian func(target *infer.Meter) (infer.Hamiltonian, error)

	// Leapfrogs is the number of integration steps per fold and batch; 0: 1000.
	// (A trajectory that has begun is finished.)
	Leapfrogs int

	fixedLength bool // all trajectories of the folds have the same length, as in the sampler
}

// Fold is one fold of the data.
type Fold struct {
	// Target is the posterior given the data without the fold, over the same
	// space as the target that is sampled. It must be an infer.Cloner.
	Target infer.LogDensity

	// Held is the held-out part.
	Held HeldOut
}

// HeldOut is the likelihood of observations that a posterior has not seen. It
// must be safe for concurrent use, as chains share it.
type HeldOut interface {
	// Len returns the number of observations.
	Len() int

	// LogLikelihood writes the log likelihood of each observation at the
	// unconstrained position x to dst, of length Len. An error counts as a
	// likelihood of zero.
	LogLikelihood(x, dst []float64) error
}

// Signed implements [Reward].
func (Predictive) Signed() bool { return true }

// Start implements [Reward]. The chains of the folds start at the end of the first batch, if the
// density of their posterior is finite there.
func (p Predictive) Start(h infer.Hamiltonian, target *infer.Meter) (Objective, error) {
	if len(p.Folds) < 2 {
		return nil, fmt.Errorf("ahmc: cross-validation with %d folds; there must be at least 2", len(p.Folds))
	}
	o := &predictive{leapfrogs: p.Leapfrogs, main: target}
	if o.leapfrogs <= 0 {
		o.leapfrogs = 1000
	}
	metric := infer.Metric{Kind: infer.Unit, Dim: target.Dim()}
	if e, ok := h.(infer.Euclidean); ok {
		metric = e.Metric()
	}
	for i, f := range p.Folds {
		cloner, ok := f.Target.(infer.Cloner)
		if !ok {
			return nil, fmt.Errorf("ahmc: fold %d: the target cannot be cloned", i+1)
		}
		if f.Target.Dim() != target.Dim() {
			return nil, fmt.Errorf("ahmc: fold %d has dimension %d, the target %d", i+1, f.Target.Dim(), target.Dim())
		}
		if f.Held.Len() == 0 {
			return nil, fmt.Errorf("ahmc: fold %d holds nothing out", i+1)
		}
		meter := infer.NewMeter(cloner.CloneDensity())
		var geometry infer.Hamiltonian
		var err error
		if _, euclidean := h.(infer.Euclidean); p.Hamiltonian != nil && !euclidean {
			geometry, err = p.Hamiltonian(meter)
		} else {
			geometry, err = hmc.NewEuclidean(meter, metric)
		}
		if err != nil {
			return nil, err
		}
		o.folds = append(o.folds, &foldChain{
			meter: meter, held: f.Held, h: geometry, kernel: &hmc.Kernel{FixedLength: p.fixedLength},
			point: infer.NewPoint(target.Dim()),
			one:   make([]float64, f.Held.Len()), sum: make([]float64, f.Held.Len()),
		})
	}
	return o, nil
}

type predictive struct {
	leapfrogs int
	main      *infer.Meter
	folds     []*foldChain
	last      []float64 // current position of the chain
	begun     bool      // the folds have positions
}

// foldChain is the chain of one fold.
type foldChain struct {
	meter    *infer.Meter
	held     HeldOut
	h        infer.Hamiltonian
	kernel   *hmc.Kernel
	point    *infer.Point
	one, sum []float64 // log likelihoods at one draw; log Σ exp of those in the batch
}

// Observe implements [Objective].
func (p *predictive) Observe(_, after *infer.Point, _ infer.Info) {
	p.last = append(p.last[:0], after.Position...)
}

var errFoldStart = errors.New("ahmc: the posterior of a fold has no finite density where the chain is")

// Reward implements [Objective].
func (p *predictive) Reward(rng *rand.Rand, s Setting) (float64, error) {
	if !p.begun {
		if err := p.place(nil); err != nil {
			return 0, err
		}
	}
	total, n := 0.0, 0
	for _, f := range p.folds {
		before := f.meter.Gradients()
		score, err := f.run(rng, s, p.leapfrogs)
		if err != nil {
			return 0, err
		}
		p.main.Count(int(f.meter.Gradients() - before))
		total += score
		n += f.held.Len()
	}
	return total / float64(n), nil
}

// place sets the chains of the folds to their initial positions, or to saved ones.
func (p *predictive) place(saved []float64) error {
	for i, f := range p.folds {
		dim := len(f.point.Position)
		if saved == nil {
			copy(f.point.Position, p.last)
		} else {
			copy(f.point.Position, saved[i*dim:(i+1)*dim])
		}
		if err := f.h.Reset(f.point); err != nil {
			return err
		}
		if math.IsInf(f.point.LogDensity, -1) {
			return errFoldStart
		}
	}
	p.begun = true
	return nil
}

// run makes the transitions of a batch and returns the sum over the held-out
// observations of their log predictive density.
func (f *foldChain) run(rng *rand.Rand, s Setting, leapfrogs int) (float64, error) {
	f.kernel.Steps = s.Steps
	for i := range f.sum {
		f.sum[i] = math.Inf(-1)
	}
	draws, steps := 0, 0
	for draws == 0 || steps < leapfrogs {
		next, info, err := f.kernel.Transition(rng, f.h, s.StepSize, f.point)
		if err != nil {
			return 0, err
		}
		f.point = next
		draws++
		steps += info.Leapfrogs
		if err := f.held.LogLikelihood(next.Position, f.one); err != nil {
			continue
		}
		for i, l := range f.one {
			f.sum[i] = logAdd(f.sum[i], l)
		}
	}
	total := 0.0
	for _, v := range f.sum {
		total += v - math.Log(float64(draws))
	}
	return total, nil
}

// logAdd returns log(exp a + exp b).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) || math.IsNaN(b) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// State implements [Objective].
func (p *predictive) State() []float64 {
	if !p.begun {
		return append([]float64{0}, p.last...)
	}
	s := []float64{1}
	for _, f := range p.folds {
		s = append(s, f.point.Position...)
	}
	return s
}

// SetState implements [Objective].
func (p *predictive) SetState(s []float64) error {
	want := 1 + len(p.folds)*p.main.Dim()
	if len(s) == 0 || s[0] == 1 && len(s) != want {
		return stateError("folds", len(s), want)
	}
	if s[0] == 0 {
		p.last = append(p.last[:0], s[1:]...)
		return nil
	}
	return p.place(s[1:])
}
