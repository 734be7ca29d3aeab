package tempered

import (
	"context"
	"fmt"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
)

// Defaults of [Sampler].
const (
	DefaultReplicas  = 40
	DefaultMaxDepth  = 7
	DefaultDelta     = 0.8
	DefaultRefine    = 2
	DefaultStarts    = 16
	DefaultRefreshes = 1
)

// Sampler is parallel tempering for a run. The zero value has the defaults.
type Sampler struct {
	Replicas  int  // maximum number of replicas of a chain; 0: 40
	OneLeg    bool // no broad reference; modes that the fitted one misses are then never found
	Starts    int  // number of climbs of each chain from random points to find modes, before the quick climbs; 0: 16
	Refreshes int  // transitions of each replica between swaps; 0: 1
	Alone     bool // chains do not learn from each other

	// Options of NUTS, which explores each level. MaxDepth is the maximum number of doublings (0:
	// 7), Delta the target acceptance (0: 0.8), Refine that of [nuts.Kernel] (0: 2, with NoRefine:
	// none), and MaxEnergyError the energy error above which a transition is divergent.
	MaxDepth       int
	Delta          float64
	Refine         float64
	NoRefine       bool
	MaxEnergyError float64
}

func (s Sampler) withDefaults() Sampler {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&s.Replicas, DefaultReplicas)
	def(&s.Starts, DefaultStarts)
	def(&s.Refreshes, DefaultRefreshes)
	def(&s.MaxDepth, DefaultMaxDepth)
	if s.Delta == 0 {
		s.Delta = DefaultDelta
	}
	if s.Refine == 0 {
		s.Refine = DefaultRefine
	}
	return s
}

func (s Sampler) refine() float64 {
	if s.NoRefine {
		return 0
	}
	return s.Refine
}

// Validate returns an error if an option is invalid.
func (s Sampler) Validate() error {
	err := infer.CheckOptions(map[string]int{"replicas": s.Replicas, "starts": s.Starts, "refreshes": s.Refreshes, "max-depth": s.MaxDepth})
	if err == nil {
		err = infer.CheckOptions(map[string]float64{"delta": s.Delta, "refine": s.Refine, "max-energy-error": s.MaxEnergyError})
	}
	if err != nil {
		return fmt.Errorf("tempered: %w", err)
	}
	return nil
}

// Pooled implements [infer.Pooled]: chains share the modes that they have found and the fitted
// reference, but not the positions of replicas.
func (s Sampler) Pooled() bool { return !s.Alone }

// Plan implements [infer.Sampler]. The plan's Hamiltonian is that of the target, with the diagonal
// metric that a run may start with; the ladder has its own Hamiltonians.
func (s Sampler) Plan(target *infer.Meter, n int) (infer.Plan, error) {
	if err := s.Validate(); err != nil {
		return infer.Plan{}, err
	}
	h, err := hmc.NewEuclidean(target, infer.Metric{Kind: infer.Diagonal})
	if err != nil {
		return infer.Plan{}, err
	}
	k := newKernel(s, target)
	k.warmup = n
	var stages []infer.Stage
	if n > 0 {
		stages = append(stages, search{k})
		stages = append(stages, k.Stages(n)...)
		stages = append(stages, publish{k})
	}
	return infer.Plan{Hamiltonian: h, Kernel: k, Stages: stages, StepSize: 1}, nil
}

// publish is a stage that sets the chain's Hamiltonian to the metric and step size learnt at the
// target, so that the report has them for runs that start from this one.
type publish struct{ k *Kernel }

// Run implements [infer.Stage].
func (t publish) Run(_ context.Context, s *infer.State) error {
	level := t.k.levels[t.k.cold]
	s.StepSize = level.step
	m := level.h.inner.Metric()
	return s.Hamiltonian.(infer.Euclidean).SetMetric(infer.Metric{Kind: infer.Diagonal, Dim: m.Dim, Inverse: variances(m)})
}

// Start describes the initial ladder.
type Start struct {
	// Modes are the components of the first fitted reference: a normal distribution for each known
	// mode, with its mean. There must be at least one.
	Modes []Component

	// Broad is the reference of the other leg, which is never fitted. The zero value means a
	// reference around all modes, see widen.
	Broad infer.Metric

	// At is the position of the chain. Half of the other replicas begin at Points, in order; the
	// rest, or all if there are no Points, begin at draws from Modes.
	At     []float64
	Points [][]float64
}
