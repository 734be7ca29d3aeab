package ppl

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/predict"
)

// CalibrateOptions are options of [Model.Calibrate]. The zero value is the default.
type CalibrateOptions struct {
	Simulations int // 0: 200
	Ranks       int // draws that a parameter is ranked among; 0: 99
	Thin        int // transitions between these draws; 0: 10
	Warmup      int // transitions; 0: 1000
	Seed        uint64
	Sampler     infer.Sampler // nil: NUTS
	Parallel    int           // fits at a time; 0: GOMAXPROCS

	// Done are simulations of an earlier call with the same options: they are not made
	// again. Each, if not nil, is told of every other one as soon as it is made; calls do
	// not overlap.
	Done []Simulation
	Each func(Simulation) error
}

// Simulation is a data set that was made from parameters drawn from the prior, and what
// has become of its fit.
type Simulation struct {
	Number      int   // from 0
	Ranks       []int // of each parameter, from 0 to the number of draws: how many are smaller
	Divergences int
	Err         error // why there are no ranks
}

// Calibration is the outcome of [Model.Calibrate].
type Calibration struct {
	Names       []string // parameters
	Draws       int      // that they are ranked among
	Simulations []Simulation
}

// Calibrate checks that what is inferred is right: simulation-based calibration (Talts
// et al. 2018). Parameters are drawn from the prior, data from the model given these, and
// the model is fitted to the data; the rank of a parameter among the draws of its
// posterior is then uniform, if model, sampler and program are right.
//
// values are data of the sizes that are simulated; those of the variables that the
// model's statements are about are replaced. The prior is that of [Model.SamplePrior].
func (m *Model) Calibrate(ctx context.Context, values any, o CalibrateOptions) (*Calibration, error) {
	for _, d := range []struct {
		v        *int
		standard int
	}{{&o.Simulations, 200}, {&o.Ranks, 99}, {&o.Thin, 10}, {&o.Warmup, 1000}, {&o.Parallel, runtime.GOMAXPROCS(0)}} {
		*d.v = def(*d.v, d.standard)
		if *d.v < 1 {
			return nil, errors.New("the numbers of simulations, ranks and transitions must be positive")
		}
	}
	set, err := ReadData(values)
	if err != nil {
		return nil, err
	}
	s := &calibrator{model: m, values: set, options: o}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	c := &Calibration{Names: s.names, Draws: o.Ranks, Simulations: make([]Simulation, o.Simulations)}
	done := map[int]bool{}
	for _, d := range o.Done {
		if d.Number >= 0 && d.Number < o.Simulations && len(d.Ranks) == len(s.names) {
			c.Simulations[d.Number], done[d.Number] = d, true
		}
	}
	todo := make(chan int)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var running sync.WaitGroup
	for range o.Parallel {
		replicate := s.replicate.clone()
		running.Go(func() {
			for n := range todo {
				sim := s.simulate(ctx, replicate, n)
				if ctx.Err() != nil {
					return
				}
				mu.Lock()
				c.Simulations[n] = sim
				if o.Each != nil {
					if err := o.Each(sim); err != nil {
						cancel(err)
					}
				}
				mu.Unlock()
			}
		})
	}
	func() {
		defer close(todo)
		for n := range o.Simulations {
			if done[n] {
				continue
			}
			select {
			case todo <- n:
			case <-ctx.Done():
				return
			}
		}
	}()
	running.Wait()
	return c, context.Cause(ctx)
}

// calibrator is the work of Calibrate.
type calibrator struct {
	model     *Model
	values    *data.Set
	options   CalibrateOptions
	names     []string
	prior     *Prior
	derived   *Derived
	replicate *Posterior
}

// prepare draws from the prior.
func (s *calibrator) prepare(ctx context.Context) error {
	// The draws of a longer run begin with those of a shorter one, so that more simulations
	// can be made later. Enough to see whether the prior is proper.
	const chains, thin, least = 4, 10, 250
	bind := BindOptions{Seed: s.options.Seed}
	per := max((s.options.Simulations+chains-1)/chains, least)
	var err error
	if s.prior, err = s.model.SamplePrior(ctx, s.values, bind, Options{Chains: chains, Draws: per * thin, Thin: thin, Seed: s.options.Seed}); err != nil {
		return fmt.Errorf("draws from the prior: %w", err)
	}
	if !s.prior.Direct {
		for _, r := range s.prior.Summary() {
			if r.Rhat > 1.05 {
				return fmt.Errorf("the prior cannot be drawn from: the R-hat of %s is %.3f. Calibration needs proper priors of all parameters, without very long tails", r.Name, r.Rhat)
			}
		}
	}
	if s.derived, err = s.model.Derive(predict.Replicated); err != nil {
		return err
	}
	if len(s.derived.Left) > 0 {
		return fmt.Errorf("the data cannot be simulated: %s", s.derived.Left[0])
	}
	for _, out := range s.derived.Outputs {
		if !out.Data {
			return fmt.Errorf("%s is computed from the data, so that data that have it cannot be simulated", out.Variable)
		}
	}
	if s.replicate, err = s.derived.BindWith(s.values, bind); err != nil {
		return err
	}
	s.names = s.replicate.ParameterNames()
	return nil
}

// simulate makes and fits a data set.
func (s *calibrator) simulate(ctx context.Context, replicate *Posterior, n int) Simulation {
	sim := Simulation{Number: n}
	columns, err := replicate.columnsIn(s.prior.Fit)
	if err != nil {
		sim.Err = err
		return sim
	}
	chain := n % s.prior.Draws.Chains()
	_, row := s.prior.Draws.Draw(chain, n/s.prior.Draws.Chains())
	truth := make([]float64, len(columns))
	for i, c := range columns {
		truth[i] = row[c]
	}
	x, err := replicate.UnconstrainValues(truth)
	if err != nil {
		sim.Err = err
		return sim
	}
	dst := make([]float64, len(replicate.OutputNames()))
	if err := replicate.Generate(x, rand.New(rand.NewPCG(s.options.Seed, uint64(n))), dst); err != nil {
		sim.Err = fmt.Errorf("simulated data: %w", err)
		return sim
	}
	names := replicate.GeneratedNames()
	simulated, err := replicate.redrawn(s.values, s.derived, names, dst[len(dst)-len(names):])
	if err != nil {
		sim.Err = err
		return sim
	}
	p, err := s.model.BindWith(simulated, BindOptions{Seed: s.options.Seed})
	if err != nil {
		sim.Err = fmt.Errorf("simulated data: %w", err)
		return sim
	}
	o := s.options
	fit, err := Sample(ctx, p, Options{Chains: 1, Warmup: o.Warmup, Draws: o.Ranks * o.Thin, Thin: o.Thin, Seed: o.Seed + uint64(n), Sampler: o.Sampler})
	if err != nil {
		sim.Err = err
		return sim
	}
	sim.Divergences = fit.Report.Chains[0].Sampling.Divergences
	place, err := p.columnsIn(fit)
	if err != nil {
		sim.Err = err
		return sim
	}
	var column []float64
	for i, c := range place {
		column = fit.Draws.Column(column[:0], 0, c)
		rank := 0
		for _, v := range column {
			if v < truth[i] {
				rank++
			}
		}
		sim.Ranks = append(sim.Ranks, rank)
	}
	return sim
}
