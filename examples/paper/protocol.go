package main

import (
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/bayesopt"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/riemann"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// masterSeed is a part of the key of all random numbers.
const masterSeed = 20130616

// plan is the number of chains, and their length.
type plan struct{ chains, burnIn, draws int }

func (p plan) String() string {
	chains := "chains"
	if p.chains == 1 {
		chains = "chain"
	}
	return fmt.Sprintf("%d %s of %d + %d transitions", p.chains, chains, p.burnIn, p.draws)
}

// protocol has the sizes of all exhibits.
type protocol struct {
	kind   string    // part of the names of stored results, because results of another protocol differ
	deltas []float64 // δ to try NUTS with, on separate chains

	regression, riemann, reversible, tries, reference plan

	days                        int // length of the series in days
	volatility, volatilityTries plan

	cox      []coxSize // grids of the Cox process
	coxLarge []coxSize // grids whose chains take hours
	coxTries plan

	networks networks

	joint       []coxSize // with hyper-parameters
	jointData   jointData
	calibration calibration

	automatic automaticPlan
}

func (o options) protocol() protocol {
	p := protocol{
		kind:            "full",
		regression:      plan{10, 1000, 5000},
		riemann:         plan{10, 1000, 5000},
		reversible:      plan{10, 1000, 5000},
		tries:           plan{10, 1000, 2000},
		reference:       plan{4, 1000, 25000},
		days:            2000,
		volatility:      plan{10, 10000, 20000},
		volatilityTries: plan{1, 2000, 5000},
		cox:             []coxSize{{32, plan{10, 1000, 5000}}},
		coxLarge:        []coxSize{{coxSide, plan{4, 250, 1250}}},
		coxTries:        plan{1, 500, 1500},
		networks: networks{network: network{295, 20, 8}, documents: 300, folds: 8, seeds: 10,
			batches: 40, batch: 4, fold: 400, burnIn: 3000, steps: 7000, warmup: 100},
		joint:       []coxSize{{128, plan{2, 300, 500}}, {64, plan{4, 500, 2000}}, {32, plan{4, 500, 500}}},
		jointData:   jointData{4, coxSize{32, plan{1, 250, 250}}, 64},
		calibration: calibration{16, 100, 63, 2, 150},
		automatic:   automaticPlan{5, 4, 2000},
	}
	for d := 25; d <= 95; d += 5 { // the grid of Hoffman and Gelman
		p.deltas = append(p.deltas, float64(d)/100)
	}
	if o.quick {
		p = protocol{
			kind:            "quick",
			deltas:          []float64{0.4, 0.6, 0.8},
			regression:      plan{4, 500, 1500},
			riemann:         plan{4, 100, 200},
			reversible:      plan{2, 100, 200},
			tries:           plan{1, 300, 500},
			reference:       plan{2, 500, 2000},
			days:            200,
			volatility:      plan{4, 1000, 2000},
			volatilityTries: plan{1, 500, 1000},
			cox:             []coxSize{{8, plan{3, 300, 600}}},
			coxLarge:        []coxSize{{12, plan{2, 100, 200}}},
			coxTries:        plan{1, 200, 400},
			networks: networks{network: network{30, 6, 3}, documents: 60, folds: 4, seeds: 2,
				batches: 10, batch: 3, fold: 100, burnIn: 500, steps: 1000, warmup: 50},
			joint:       []coxSize{{6, plan{2, 200, 200}}},
			jointData:   jointData{1, coxSize{2, plan{1, 100, 100}}, 6},
			calibration: calibration{4, 10, 15, 2, 100},
			automatic:   automaticPlan{2, 2, 500},
		}
	}
	if len(o.deltas) > 0 {
		p.deltas = o.deltas
	}
	plans := []*plan{&p.volatility}
	for _, sizes := range [][]coxSize{p.cox, p.coxLarge, p.joint} {
		for i := range sizes {
			plans = append(plans, &sizes[i].plan)
		}
	}
	if o.short > 1 {
		for _, n := range plans {
			n.burnIn /= o.short
			n.draws /= o.short
		}
	}
	if o.chains > 0 {
		for _, n := range append(plans, &p.regression, &p.riemann) {
			n.chains = o.chains
		}
	}
	if o.seeds > 0 {
		p.networks.seeds = o.seeds
	}
	if o.side > 0 {
		other := func(c coxSize) bool { return c.d != o.side }
		p.joint = slices.DeleteFunc(p.joint, other)
	}
	return p
}

// arm is a sampler that takes part in a comparison.
type arm struct {
	name    string
	title   string
	sampler infer.Sampler
	delta   float64 // δ of NUTS of 2011; 0: another sampler
	suffix  string  // end of the name that says where its chains start
}

// column returns the arm's name in tables, which have a separate column for δ.
func (a arm) column() string {
	if a.delta > 0 {
		return "nuts" + a.suffix
	}
	return a.name
}

// released returns adaptive HMC with the constants of the authors' released program. Rewards are
// sums over a batch, their scale is 1 until a reward exceeds an earlier one, and beta counts the
// observations so far. Other constants are the defaults of packages ahmc and bayesopt. Instead of
// searching a continuous box by DIRECT and L-BFGS, as that program does, this one tries all points
// of a grid, which the convergence theorem needs. The grid has 40 step sizes and all integers L. If
// there are more than 100 of these, it has as many as lie a twentieth of the Gaussian process's
// length scale apart.
func released(box ahmc.Box) ahmc.Sampler {
	return ahmc.Sampler{
		Box:         box,
		Reward:      ahmc.SquaredJump{Sum: true},
		Bayes:       bayesopt.Options{Scale: bayesopt.ScaleReleased, Time: bayesopt.TimeObserved},
		StepsPoints: 100,
	}
}

func (a arm) riemannian(mode riemann.Mode) arm {
	h := riemann.Options{Mode: mode}.Hamiltonian(func(m *infer.Meter) (riemann.Metric, error) {
		return riemann.FromTarget(riemann.Fisher, m, 0)
	})
	switch s := a.sampler.(type) {
	case ahmc.Sampler:
		s.Hamiltonian = h
		a.sampler = s
	case hmc.Sampler:
		s.Hamiltonian = h
		a.sampler = s
	}
	return a
}

var riemannBox = ahmc.Box{MinStepSize: 0.1, MaxStepSize: 1, MinSteps: 1, MaxSteps: 12}

// The arms of Figure 2. For NUTS of 2011, see nutsAt.
var (
	ahmcArm = arm{name: "ahmc", title: "AHMC",
		sampler: released(ahmc.Box{MinStepSize: 0.01, MaxStepSize: 0.2, MinSteps: 1, MaxSteps: 100})}
	rmhmcArm = arm{name: "rmhmc", title: "RMHMC",
		sampler: hmc.Sampler{
			Kernel: hmc.Kernel{Steps: 6},
			Adapt:  warmup.Options{StepSize: 0.5, FixedStepSize: true},
		}}.riemannian(riemann.Published)
	armhmcArm     = arm{name: "armhmc", title: "ARMHMC", sampler: released(riemannBox)}.riemannian(riemann.Published)
	reversibleArm = arm{name: "armhmc-reversible", title: "ARMHMC, reversible", sampler: released(riemannBox)}.riemannian(riemann.Reversible)

	// Samplers that are not in the paper: today's NUTS with the metrics that it learns, and the
	// paper's method with the reward per gradient, in a space in which the target is about equally
	// wide in all directions.
	nutsDiagonalArm = arm{name: "nuts-diagonal", title: "NUTS, diagonal metric", sampler: nuts.Sampler{Adapt: warmup.Options{Metric: infer.Diagonal}}}
	nutsDenseArm    = arm{name: "nuts-dense", title: "NUTS, dense metric", sampler: nuts.Sampler{Adapt: warmup.Options{Metric: infer.Dense}}}
	ahmcDenseArm    = arm{name: "ahmc-dense", title: "AHMC, dense metric, box found", sampler: ahmc.Sampler{Metric: infer.Dense, Cost: ahmc.CostDrawn}}
	whitenedArm     = arm{name: "ahmc-whitened", title: "AHMC, metric of the mode", sampler: ahmc.Sampler{
		Metric: infer.Dense, FixedMetric: true, Cost: ahmc.CostDrawn, StepsPoints: 100,
		Box: ahmc.Box{MinStepSize: 0.1, MaxStepSize: 1.6, MinSteps: 1, MaxSteps: 12},
	}}

	// Long chains of these two independent samplers are the reference.
	referenceNUTSArm = arm{name: "reference-nuts", sampler: nuts.Sampler{Adapt: warmup.Options{Metric: infer.Dense}}}
	referenceHMCArm  = arm{name: "reference-hmc", sampler: ahmc.Sampler{
		Metric: infer.Dense, FixedMetric: true, Freeze: true, Cost: ahmc.CostDrawn,
		Box: ahmc.Box{MinStepSize: 0.1, MaxStepSize: 1.6, MinSteps: 1, MaxSteps: 12},
	}}
)

// nutsAt returns NUTS of 2011 with δ as the target of its acceptance statistic.
func nutsAt(delta float64) arm {
	return arm{
		name:    fmt.Sprintf("nuts%.2f", delta),
		delta:   delta,
		title:   fmt.Sprintf("NUTS, δ = %g", delta),
		sampler: nuts.Sampler2011{Averaging: warmup.Averaging{Delta: delta}},
	}
}

// seed returns the seed for a problem and a sampler.
func seed(problem, sampler string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s/%s", masterSeed, problem, sampler)
	return h.Sum64()
}

// problem is a target with starting points.
type problem struct {
	book          *book // nil: no table lists its chains
	exhibit, name string
	target        infer.LogDensity
	starts        [][]float64
	mode          []float64                   // nil: not known
	metric        *infer.Metric               // for samplers that are given a metric
	kind          string                      // of protocol and data
	present       func(x []float64) []float64 // see chain
}

// wanted leaves out the arms that the user did not ask for.
func (w *workshop) wanted(arms []arm) []arm {
	return slices.DeleteFunc(slices.Clone(arms), func(a arm) bool { return len(w.arms) > 0 && !slices.Contains(w.arms, a.name) })
}

// chains returns the chains of an arm. A tag that is not empty gives them other names and other
// random numbers.
func (p problem) chains(a arm, tag string, n plan) []chain {
	list := make([]chain, n.chains)
	for c := range list {
		list[c] = chain{
			name:   fmt.Sprintf("%s-%s-%s-%s%s-%02d", p.exhibit, p.kind, p.name, tag, a.name, c+1),
			target: p.target, sampler: a.sampler, warmup: n.burnIn, draws: n.draws,
			id: c + 1, seed: seed(p.exhibit+" "+p.name, tag+a.name), start: p.starts[c%len(p.starts)],
			present: p.present,
		}
		if s, ok := a.sampler.(ahmc.Sampler); ok && s.FixedMetric {
			list[c].metric = p.metric
		}
	}
	return list
}
