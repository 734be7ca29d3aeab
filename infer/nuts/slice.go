package nuts

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// Kernel2011 is the no-U-turn sampler as Hoffman and Gelman published it ("The No-U-Turn Sampler",
// arXiv 1111.4246, 2011; Algorithms 3 and 6): with a slice variable instead of weights, and the
// U-turn criterion on the positions of the two ends. AcceptStat is α/n_α, the mean of min(1, exp(H₀
// - H)) over the points of the last doubling.
//
// It uses the trees of [Kernel]: points in the slice have weight 1, the others 0.
type Kernel2011 struct {
	MaxDepth       int     // maximum number of doublings; 0: DefaultMaxDepth (the paper has no limit)
	MaxEnergyError float64 // Δ_max; 0: DefaultMaxEnergyError

	s slice
}

var _ infer.Kernel = (*Kernel2011)(nil)

// Transition implements [infer.Kernel].
func (k *Kernel2011) Transition(rng *rand.Rand, h infer.Hamiltonian, eps float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	depth, limit := k.MaxDepth, k.MaxEnergyError
	if depth == 0 {
		depth = DefaultMaxDepth
	}
	if limit == 0 {
		limit = DefaultMaxEnergyError
	}
	s := &k.s
	s.plain = true
	s.begin(rng, h, eps, limit, z, depth)
	s.accepted, s.last = 0, 0
	s.logU = -rng.ExpFloat64() // logarithm of a uniform random number
	depth = grow[*tree](s, s.root, weightOf(0), rng.Uint64(), depth)

	chosen := s.root.chosen
	info := infer.Info{Stats: infer.Stats{
		AcceptStat: s.accepted / float64(s.last),
		StepSize:   eps,
		TreeDepth:  depth,
		Leapfrogs:  s.leaves,
		Divergent:  s.divergent,
		Energy:     chosen.Energy,
	}}
	if s.err != nil {
		s.end(nil)
		return z, info, s.err
	}
	s.end(chosen)
	return &chosen.Point, info, nil
}

// slice is a trajectory in which only points within the slice count.
type slice struct {
	trajectory
	logU     float64 // height of the slice relative to the density at the start
	accepted float64 // sum of the acceptance probabilities of the last doubling's leaves
	last     int     // number of these leaves
}

var _ space[*tree] = (*slice)(nil)

// leaf implements space.
func (s *slice) leaf(dst *tree, forward bool) (w weight, ok bool) {
	// Doubling j begins after 2^j - 1 leaves, because all earlier doublings were complete.
	if bits.OnesCount(uint(s.leaves)+1) == 1 {
		s.accepted, s.last = 0, 0
	}
	before := s.accept
	// The base limits the energy error relative to the start, the paper relative to the slice. A
	// leaf beyond the first limit may be within the second.
	limit := s.limit
	s.limit = limit - s.logU // log u - Δ_max < -H
	_, ok = s.trajectory.leaf(dst, forward)
	s.limit = limit
	s.accepted += s.accept - before
	s.last++
	if !ok {
		return weight{}, false
	}
	if s.logU <= s.energy-dst.chosen.Energy {
		return weight{1, 0}, true
	}
	return weight{}, true
}

// join implements space.
func (s *slice) join(dst, other *tree, after bool) (turning bool) {
	left, right := dst, other
	if !after {
		left, right = other, dst
	}
	turning = s.turning(left, right)
	s.attach(dst, other, after)
	return turning
}

// turning reports whether continuing at either end would bring the ends of two adjacent trees
// closer together. left is the earlier tree.
func (s *slice) turning(left, right *tree) bool {
	a, b := left.left, right.right
	x := b.Position
	y, p, q := a.Position[:len(x)], a.Momentum[:len(x)], b.Momentum[:len(x)]
	// Two sums for each end, because each addition to a single sum would wait for the previous one.
	var back, front, back1, front1 float64
	i := 0
	for ; i+1 < len(x); i += 2 {
		d, d1 := x[i]-y[i], x[i+1]-y[i+1]
		back += d * p[i]
		front += d * q[i]
		back1 += d1 * p[i+1]
		front1 += d1 * q[i+1]
	}
	if i < len(x) {
		d := x[i] - y[i]
		back += d * p[i]
		front += d * q[i]
	}
	return !(back+back1 >= 0 && front+front1 >= 0)
}

// DefaultDelta2011 is the target acceptance in the authors' published programs.
const DefaultDelta2011 = 0.6

// Sampler2011 is NUTS as published in 2011: [Kernel2011] with the unit metric, or the constant
// metric with which the run starts, and dual averaging of the step size in warm-up. The paper on
// which package ahmc is based compares its samplers with this one.
type Sampler2011 struct {
	MaxDepth       int
	MaxEnergyError float64

	StepSize      float64          // start of the search, or the fixed step size; 0: 1
	FixedStepSize bool             // no search, no adaptation
	Averaging     warmup.Averaging // Delta 0: DefaultDelta2011

	// Hamiltonian makes the geometry, if it is not Euclidean.
	Hamiltonian func(target *infer.Meter) (infer.Hamiltonian, error)
}

func (s Sampler2011) adapt() warmup.Options {
	o := warmup.Options{StepSize: s.StepSize, FixedStepSize: s.FixedStepSize, Metric: infer.Unit, Averaging: s.Averaging}
	if o.Averaging.Delta == 0 {
		o.Averaging.Delta = DefaultDelta2011
	}
	return o
}

// Validate returns an error if an option is invalid.
func (s Sampler2011) Validate() error {
	if err := checkTree(s.MaxDepth, s.MaxEnergyError, 0); err != nil {
		return err
	}
	return s.adapt().Validate()
}

// Plan implements [infer.Sampler].
func (s Sampler2011) Plan(target *infer.Meter, n int) (infer.Plan, error) {
	if err := s.Validate(); err != nil {
		return infer.Plan{}, err
	}
	h, adapt, err := hmc.Geometry(target, s.adapt(), s.Hamiltonian)
	if err != nil {
		return infer.Plan{}, err
	}
	stages := []infer.Stage{warmup.Window{Length: n, Skip: n, Averaging: adapt.Averaging, FixedStepSize: s.FixedStepSize}}
	if !s.FixedStepSize {
		stages = append([]infer.Stage{heuristic{}}, stages...)
	}
	return infer.Plan{
		Hamiltonian: h,
		Kernel:      &Kernel2011{MaxDepth: s.MaxDepth, MaxEnergyError: s.MaxEnergyError},
		Stages:      stages,
		StepSize:    adapt.Start(),
	}, nil
}

// heuristic is the stage FindReasonableEpsilon (Algorithm 4). It doubles or halves the step size
// until the acceptance probability of one step, always with the same momentum, crosses ½.
type heuristic struct{}

// Run implements [infer.Stage].
func (heuristic) Run(_ context.Context, s *infer.State) error {
	if s.Target.Dim() == 0 || s.KeepStep {
		return nil
	}
	z := infer.NewPoint(s.Target.Dim())
	s.Hamiltonian.Momentum(s.Rng, s.Point)
	accepted := func() (bool, error) {
		err := s.Hamiltonian.Step(s.Point, z, s.StepSize)
		return s.Point.Energy-z.Energy > -math.Ln2, err
	}
	grow, err := accepted()
	if err != nil {
		return err
	}
	factor := 0.5
	if grow {
		factor = 2
	}
	for {
		ok, err := accepted()
		if err != nil {
			return err
		}
		if ok != grow {
			return nil
		}
		s.StepSize *= factor
		if err := warmup.CheckStepSize(s.StepSize); err != nil {
			return err
		}
	}
}
