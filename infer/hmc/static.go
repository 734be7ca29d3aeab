package hmc

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/internal/quick"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// Defaults of [Kernel] and [Sampler].
const (
	DefaultIntTime        = math.Pi // see Kernel.IntTime
	DefaultMaxSteps       = 1024    // the number of steps of a NUTS tree of depth 10
	DefaultMaxEnergyError = 1000    // Stan's limit for a divergence
)

// Kernel is Hamiltonian Monte Carlo with trajectories of random length: Algorithm 1 of Wang,
// Mohamed and de Freitas, "Adaptive Hamiltonian and Riemann Manifold Monte Carlo Samplers" (2013).
// The momentum is drawn anew, the number of steps L_r is uniform on {1, …, L}, and the end point is
// accepted with probability min(1, exp(H₀ - H)).
//
// The signs in that listing are those of a potential U = +log π; here, as in the authors' programs,
// U = -log π and the momentum moves along the gradient of the log density.
//
// The fields may be changed between transitions.
type Kernel struct {
	// Steps is L. 0: L = ⌈IntTime / step size⌉, between 1 and MaxSteps.
	Steps int

	// IntTime is the largest integration time. 0: π, half a period of a unit
	// normal: there the lag-1 autocorrelation E cos(U(0, T)) = sin(T)/T of the
	// position is 0.
	IntTime float64

	// FixedLength makes all trajectories L steps long.
	FixedLength bool

	MaxSteps       int     // 0: DefaultMaxSteps; used only if Steps is 0
	Jitter         float64 // the step size is multiplied by a uniform number between 1-Jitter and 1+Jitter; in [0, 1]
	MaxEnergyError float64 // energy error above which a transition is divergent; 0: DefaultMaxEnergyError

	// The state and the proposal alternate between two points.
	points [2]*infer.Point
}

var _ infer.Kernel = (*Kernel)(nil)

// Length returns L, the largest number of steps, for step size eps.
func (k *Kernel) Length(eps float64) int {
	if k.Steps > 0 {
		return k.Steps
	}
	t, most := k.IntTime, k.MaxSteps
	if t == 0 {
		t = DefaultIntTime
	}
	if most == 0 {
		most = DefaultMaxSteps
	}
	l := math.Ceil(t / eps)
	switch {
	case l < 1:
		return 1
	case l <= float64(most):
		return int(l)
	}
	return most
}

// Transition implements [infer.Kernel].
func (k *Kernel) Transition(rng *rand.Rand, h infer.Hamiltonian, eps float64, z *infer.Point) (_ *infer.Point, info infer.Info, _ error) {
	w := k.other(z)
	h.Momentum(rng, z)
	start, from := z.Energy, z

	length := k.Length(eps)
	if k.Jitter > 0 {
		eps *= 1 + k.Jitter*(2*rng.Float64()-1)
	}
	info.Proposal = w
	info.StepSize = eps
	info.IntTime = eps * float64(length)
	steps := length
	if !k.FixedLength {
		steps = 1 + rng.IntN(length)
	}
	for info.Leapfrogs < steps {
		if err := h.Step(from, w, eps); err != nil {
			return z, info, err
		}
		from = w
		info.Leapfrogs++
		// A trajectory cannot continue without a gradient. Rejecting is reversible: every
		// trajectory back would pass through the same point. A limit on the energy error along the
		// way would not be reversible, so that it applies to the end point only.
		if math.IsInf(w.Energy, 1) {
			break
		}
	}
	limit := k.MaxEnergyError
	if limit == 0 {
		limit = DefaultMaxEnergyError
	}
	info.Divergent = w.Energy-start > limit
	info.AcceptStat = 1
	if w.Energy > start {
		info.AcceptStat = quick.Exp(start - w.Energy)
	}
	if rng.Float64() < info.AcceptStat {
		info.Energy = w.Energy
		return w, info, nil
	}
	info.Energy = start
	return z, info, nil
}

// other returns the one of the kernel's two points that is not z.
func (k *Kernel) other(z *infer.Point) *infer.Point {
	p := &k.points[0]
	if *p == z {
		p = &k.points[1]
	}
	if *p == nil || len((*p).Position) != len(z.Position) {
		*p = infer.NewPoint(len(z.Position))
	}
	return *p
}

// Sampler is static HMC for a run: [Kernel] over a Euclidean metric, with step size and metric
// adapted in warm-up as in Stan. The target mean acceptance is 0.8 by default, as for NUTS. The
// optimum in the limit of many independent dimensions is 0.65; there, 0.8 costs little, and lower
// targets fail on curved densities.
//
// In the paper, step size and number of steps are given by hand, with the unit metric:
//
//	hmc.Sampler{
//		Kernel: hmc.Kernel{Steps: 40},
//		Adapt:  warmup.Options{StepSize: 0.16, FixedStepSize: true, Metric: infer.Unit},
//	}
type Sampler struct {
	Kernel Kernel // its exported fields are options
	Adapt  warmup.Options

	// Hamiltonian makes the geometry, if it is not Euclidean; then only the step size is adapted.
	// With a Hamiltonian of package riemann this is RMHMC.
	Hamiltonian func(target *infer.Meter) (infer.Hamiltonian, error)
}

// Validate returns an error if an option is invalid.
func (s Sampler) Validate() error {
	k := s.Kernel
	err := infer.CheckOptions(map[string]int{"steps": k.Steps, "most-steps": k.MaxSteps})
	if err == nil {
		err = infer.CheckOptions(map[string]float64{"int-time": k.IntTime, "stepsize-jitter": k.Jitter, "max-energy-error": k.MaxEnergyError})
	}
	if err != nil {
		return fmt.Errorf("hmc: %w", err)
	}
	return s.Adapt.Validate()
}

// Squares implements [infer.Squares].
func (s Sampler) Squares() int { return s.Adapt.Squares() }

// Plan implements [infer.Sampler].
func (s Sampler) Plan(target *infer.Meter, n int) (infer.Plan, error) {
	if err := s.Validate(); err != nil {
		return infer.Plan{}, err
	}
	h, adapt, err := Geometry(target, s.Adapt, s.Hamiltonian)
	if err != nil {
		return infer.Plan{}, err
	}
	kernel := s.Kernel
	kernel.points = [2]*infer.Point{}
	return infer.Plan{
		Hamiltonian: h,
		Kernel:      &kernel,
		Stages:      adapt.Stages(n),
		StepSize:    adapt.Start(),
	}, nil
}

// Geometry makes the Hamiltonian of a chain: the given one or, if it is nil, a Euclidean one of the
// kind for which adapt asks. A metric is learnt only for the latter; the options returned say so.
func Geometry(target *infer.Meter, adapt warmup.Options, given func(*infer.Meter) (infer.Hamiltonian, error)) (infer.Hamiltonian, warmup.Options, error) {
	if given != nil {
		adapt.Metric = infer.Unit
		h, err := given(target)
		return h, adapt, err
	}
	h, err := NewEuclidean(target, infer.Metric{Kind: adapt.MetricKind()})
	return h, adapt, err
}
