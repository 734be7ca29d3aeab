package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// LogDensity is everything that a sampler needs to know of its target: the dimension of an
// unconstrained space and, at a point, the log density (up to a constant) with its gradient.
//
// It is an alias of an interface literal, so a package that does not import this one can satisfy
// [Cloner] too.
//
// Contract of LogDensityGrad(x, grad):
//
//   - len(x) == len(grad) == Dim(); x is only read; every element of the caller's grad is written;
//     neither slice is kept;
//   - the result may be -Inf: x lies outside the support. The gradient is then ignored. NaN is
//     treated as -Inf;
//   - an error is a rejection of x (a failed argument check, a reject statement). The point counts
//     as -Inf and the message is reported once with the number of its occurrences. Only an error
//     that is fatal (see [ErrFatal]) ends the chain;
//   - the value depends on x alone, not on earlier calls;
//   - it need not be safe for concurrent use: a run makes one [Cloner.CloneDensity] per chain or,
//     if the target is no Cloner, runs one chain at a time;
//   - it should not allocate.
type LogDensity = interface {
	Dim() int
	LogDensityGrad(x, grad []float64) (float64, error)
}

// Cloner is the optional interface of a [LogDensity] that can be evaluated by
// several goroutines through copies. A clone shares nothing mutable with its
// original or with other clones. A run makes its clones one at a time.
type Cloner interface {
	CloneDensity() LogDensity
}

// Stopper is the optional interface of a [LogDensity] whose evaluations may take long, or may never
// end.
type Stopper interface {
	// SetStop makes later evaluations call stop from time to time, in the evaluating goroutine.
	// This applies to evaluations by this value, not by its clones. Soon after stop has returned an
	// error, the evaluation ends with an error that wraps it. nil: evaluations do not call it.
	SetStop(stop func() error)
}

// Hasty is the optional interface of a [LogDensity] with points that take far longer than others,
// such as those where differential equations are stiff. Chains start at other points, if they find
// any, and do not look for modes where an evaluation takes hundreds of times as long.
type Hasty interface {
	// SetHasty makes later evaluations by this value, not by its clones, reject points that take at
	// least ratio times as long as others; 0: none. It reports whether such a point was rejected
	// since the last call.
	SetHasty(ratio float64) (rejected bool)
}

// Ratios for [Hasty]: those at which starting points are slow, and points where modes are searched
// for.
const (
	SlowStart  = 2
	SlowSearch = 100
)

// Parallel is the optional interface of a [LogDensity] that several goroutines can evaluate
// together.
type Parallel interface {
	// SetWorkers sets the number of goroutines that later evaluations by this value, not by its
	// clones, may use. Results must not depend on it.
	SetWorkers(n int)
}

// Costed is the optional interface of a [LogDensity] that knows what a gradient costs. Samplers
// weigh their own work against it.
type Costed interface {
	// Work returns about how many numbers an evaluation computes; 0 if that is not known. It must
	// depend neither on the machine nor on time, because draws may depend on it.
	Work() float64
}

// Wrapper is the optional interface of a [LogDensity] that wraps another one. Samplers look for
// optional methods, such as second derivatives, in the wrapped one.
type Wrapper interface {
	// Unwrap returns the wrapped target. Like the wrapper, it is evaluated by one goroutine at a
	// time.
	Unwrap() LogDensity
}

// Innermost returns the target below a [Meter] and all wrappers, see [Wrapper].
func Innermost(target LogDensity) LogDensity {
	for {
		var below LogDensity
		switch t := target.(type) {
		case *Meter:
			below = t.target
		case Wrapper:
			below = t.Unwrap()
		}
		if below == nil {
			return target
		}
		target = below
	}
}

// Generator is the optional interface of a [LogDensity] that computes the values saved with each
// draw: constrained parameters, transformed parameters, generated quantities.
type Generator interface {
	// OutputNames returns the column names, one per saved value, such as
	// theta.1. The result does not change during a run and is not modified.
	OutputNames() []string

	// Generate writes the values for the unconstrained position x to dst, len(dst) ==
	// len(OutputNames()). Random numbers come only from rng. dst is filled with NaN before, so
	// values not written before an error stay NaN. An error is reported like a rejection and does
	// not end the chain unless it is fatal.
	Generate(x []float64, rng *rand.Rand, dst []float64) error
}

// ErrFatal marks an error of a target after which sampling makes no sense. Wrap it to end the
// chain: fmt.Errorf("…: %w", infer.ErrFatal). Targets that do not import this package give their
// error a method Fatal() bool instead.
var ErrFatal = errors.New("fatal error")

// isFatal reports whether an error of a target ends the chain.
func isFatal(err error) bool {
	var f interface{ Fatal() bool }
	return errors.Is(err, ErrFatal) || errors.As(err, &f) && f.Fatal()
}

// Point is a point of phase space. It carries everything that its [Hamiltonian] has computed there,
// so that nothing is evaluated twice.
type Point struct {
	Position []float64 // q, unconstrained
	Momentum []float64 // p
	Gradient []float64 // of the log density at Position

	LogDensity float64 // at Position; -Inf outside the support, never NaN
	Energy     float64 // H(q, p); +Inf where LogDensity is -Inf or a step failed, never NaN

	// Cache belongs to the Hamiltonian: it may hold a velocity, a factor of the metric at Position,
	// and so on. Other code only copies it, by CopyFrom.
	Cache []float64
}

// NewPoint returns a point of dimension dim, all zeros. dim must not be negative. Do not use the
// contents before [Hamiltonian.Reset].
func NewPoint(dim int) *Point {
	stride := (dim + 7) &^ 7 // whole lines of cache
	b := make([]float64, 3*stride)
	return &Point{
		Position: b[:dim:dim],
		Momentum: b[stride : stride+dim : stride+dim],
		Gradient: b[2*stride : 2*stride+dim : 2*stride+dim],
	}
}

// CopyFrom makes z a deep copy of src, which must have the same dimension (otherwise only the
// common part is copied). It allocates only if z.Cache is too small.
func (z *Point) CopyFrom(src *Point) {
	copy(z.Position, src.Position)
	copy(z.Momentum, src.Momentum)
	copy(z.Gradient, src.Gradient)
	z.LogDensity, z.Energy = src.LogDensity, src.Energy
	z.Cache = append(z.Cache[:0], src.Cache...)
}

// Hamiltonian is the geometry in which trajectories move: a distribution of momenta, and a
// reversible, volume-preserving step that nearly conserves the energy. Trajectories ([Kernel]s) use
// nothing else, so they work unchanged with Euclidean and with position-dependent metrics.
//
// A Hamiltonian belongs to one chain and is not safe for concurrent use. Its errors are final
// (ErrFatal of the target, or a cancelled run). A rejected point is not an error but has infinite
// energy. No method allocates once every point has been through Reset, Step or CopyFrom.
type Hamiltonian interface {
	// Reset computes everything that depends on z.Position alone: LogDensity, Gradient and a part
	// of Cache. Momentum and Energy are then undefined.
	Reset(z *Point) error

	// Momentum draws z.Momentum from its distribution given z.Position and
	// sets z.Energy. z must have been Reset (or come from Step).
	Momentum(rng *rand.Rand, z *Point)

	// Step makes one integration step of size eps from the point from, which has a momentum, and
	// writes the result to z. A negative eps is a step back in time. The two points may be the
	// same; otherwise from does not change. After the step z is complete: LogDensity, Gradient,
	// Energy and Cache belong to the new position and momentum. If the step fails (it leaves the
	// support, is rejected, or an implicit solver does not converge), it sets z.Energy to +Inf; the
	// rest of z is then undefined.
	Step(from, z *Point, eps float64) error

	// Velocity returns ∂H/∂p at z, which must have finite energy; its length is Dim. The slice may
	// be part of z; it is only read and is valid until z changes.
	Velocity(z *Point) []float64
}

// Scaled is the optional interface of a [Hamiltonian] whose velocities may be the momenta times
// constant factors. In thousands of dimensions a kernel then saves time if it does not store
// velocities.
type Scaled interface {
	Hamiltonian

	// VelocityScale returns the factors, one for each element; nil: all are 1. It returns ok false
	// if velocities depend on momenta in another way. The factors are only read; they and ok are
	// valid until the metric changes.
	VelocityScale() (scale []float64, ok bool)
}

// Continuing is the optional interface of a [Hamiltonian] that can begin a step while it ends the
// previous one. In thousands of dimensions, doing both in one pass over memory saves time.
type Continuing interface {
	Hamiltonian

	// StepOn is Step, with the same result. With more, it also begins a step of size eps from z. A
	// call of StepOn from z with the same eps then continues that step, so between the two calls
	// nothing may change z but the methods of the Hamiltonian. StepOn may replace the slices of z.
	StepOn(from, z *Point, eps float64, more bool) error
}

// Kernel is a Markov transition that leaves the target invariant: it refreshes the momentum,
// follows a trajectory and chooses a point of it.
//
// A kernel belongs to one chain and may keep work space. It may also adapt itself: package ahmc has
// a kernel that never stops adapting, with vanishing probability.
type Kernel interface {
	// Transition makes one transition from z with the (nominal) step size eps and returns the new
	// state: z itself or a point owned by the kernel that is valid until the next call. It does not
	// change the position, log density and gradient of z, so that the two states can be compared,
	// but it may change the momentum of z. An error is final; the state is then z.
	Transition(rng *rand.Rand, h Hamiltonian, eps float64, z *Point) (*Point, Info, error)
}

// Stats are the sampler's statistics of one transition, saved with each draw. Fields that a kernel
// does not use are zero.
type Stats struct {
	AcceptStat float64 // mean acceptance probability, in [0, 1], which step size adaptation uses
	StepSize   float64 // the step size used
	// for static trajectories: nominal integration time, the step size times the maximum number of
	// steps
	IntTime   float64
	TreeDepth int // NUTS: number of completed doublings
	Leapfrogs int // integration steps taken; the Meter has the number of gradients
	// for tempering: number of replicas that have come to the target from a reference since warm-up
	Restarts  int
	Divergent bool    // the energy error exceeded the kernel's limit
	Energy    float64 // H at the new state, with the momentum of its trajectory
}

// Info describes a transition: its Stats, and values for code that tunes a kernel.
type Info struct {
	Stats

	// Proposal is the end of a static trajectory, whether or not it was accepted (with probability
	// AcceptStat). It is nil if there is no single proposal, as in NUTS. It is valid until the
	// kernel's next Transition. If the trajectory failed, its Energy is +Inf and its position is
	// meaningless.
	Proposal *Point
}

// Stage is one phase of warm-up. Stages run one after the other; each continues with the [State]
// that the previous one left.
type Stage interface {
	// Run makes transitions by s.Advance and adapts s between them. It returns an error of Advance
	// unchanged; any other error also ends the chain. ctx is the run's context. Advance checks it,
	// so a stage need not unless it computes for long between transitions.
	Run(ctx context.Context, s *State) error
}

// Sampler makes the parts of a chain. It is a plain struct of options, such as nuts.Sampler or
// hmc.Sampler, shared by the chains and never modified.
type Sampler interface {
	// Plan makes the parts of one chain. It is called once per chain, in the chain's goroutine.
	// target is the chain's own clone, which counts and checks evaluations (see [Meter]). warmup is
	// the number of transitions that the stages should make. Errors are about the options. A
	// sampler that can check its options without a target also has a method Validate() error, which
	// NewSession calls.
	Plan(target *Meter, warmup int) (Plan, error)
}

// Recentred is the optional interface of a [Sampler] that may change the coordinates of a target
// with group-level terms, see [Recentrer]. Other samplers see the target as it is.
type Recentred interface {
	Recentred() bool
}

// Plan has the parts of one chain.
type Plan struct {
	Hamiltonian Hamiltonian
	Kernel      Kernel
	Stages      []Stage // stages of warm-up, run in order; may be empty
	StepSize    float64 // initial step size; must be positive
}

// MetricKind names a constant (Euclidean) metric as CmdStan does.
type MetricKind string

// The kinds of constant metric.
const (
	Unit     MetricKind = "unit_e"
	Diagonal MetricKind = "diag_e"
	Dense    MetricKind = "dense_e"
	LowRank  MetricKind = "low_rank" // diagonal plus low rank; not in CmdStan
)

// MetricKinds lists the kinds.
func MetricKinds() []MetricKind { return []MetricKind{Unit, Diagonal, Dense, LowRank} }

// Metric is a constant metric given by its inverse, which estimates the
// covariance of the target.
type Metric struct {
	Kind MetricKind
	Dim  int

	// Inverse is empty for Unit, has the Dim diagonal elements for Diagonal, and Dim×Dim elements
	// for Dense (symmetric, so row or column major). For LowRank, M⁻¹ = S(I + Uᵀ(Λ - I)U)S, it has
	// the Dim diagonal elements of S, then r eigenvalues Λ, then the r rows of U, orthonormal
	// vectors of length Dim; see [Metric.LowRank].
	Inverse []float64

	// Mean estimates the mean of the target; nil: not known, taken as 0. Only integrators that
	// solve a normal distribution exactly use it.
	Mean []float64
}

// LowRank returns the parts of a low-rank metric, which share its memory.
func (m Metric) LowRank() (scale, values []float64, vectors [][]float64) {
	rank := m.rank()
	scale, values = m.Inverse[:m.Dim], m.Inverse[m.Dim:m.Dim+rank]
	vectors = make([][]float64, rank)
	for k := range vectors {
		at := m.Dim + rank + k*m.Dim
		vectors[k] = m.Inverse[at : at+m.Dim]
	}
	return scale, values, vectors
}

// rank returns the number of eigenvalues of a low-rank metric.
func (m Metric) rank() int { return (len(m.Inverse) - m.Dim) / (m.Dim + 1) }

// CheckSize returns an error if the metric does not have as many numbers as its kind and dimension
// require.
func (m Metric) CheckSize() error {
	want := 0
	switch m.Kind {
	case Unit:
	case Diagonal:
		want = m.Dim
	case Dense:
		want = m.Dim * m.Dim
	case LowRank:
		if want = m.Dim; m.Dim >= 0 && len(m.Inverse) > m.Dim {
			want += m.rank() * (m.Dim + 1)
		}
	default:
		return fmt.Errorf("unknown kind of metric %q", m.Kind)
	}
	switch {
	case m.Dim < 0 || m.Dim > math.MaxInt32:
		return fmt.Errorf("a metric of dimension %d", m.Dim)
	case len(m.Inverse) != want || m.Kind == LowRank && m.rank() > m.Dim:
		return fmt.Errorf("the inverse metric %s of dimension %d has %d elements instead of %d", m.Kind, m.Dim, len(m.Inverse), want)
	case m.Mean != nil && len(m.Mean) != m.Dim:
		return fmt.Errorf("the mean of a metric of dimension %d has %d elements", m.Dim, len(m.Mean))
	}
	return nil
}

// Check does what CheckSize does, and also returns an error if a number is not finite, or not
// positive where it must be. (It does not check that a Dense metric is positive definite, or that
// the vectors of a LowRank metric are orthonormal.)
func (m Metric) Check() error {
	if err := m.CheckSize(); err != nil {
		return err
	}
	positive := 0 // the first elements, this many, must be positive
	switch m.Kind {
	case Diagonal:
		positive = m.Dim
	case LowRank:
		positive = m.Dim + m.rank()
	}
	for i, v := range m.Inverse {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("element %d of the inverse metric is %v", i+1, v)
		}
		if i < positive && v <= 0 {
			return fmt.Errorf("element %d of the inverse metric must be positive, but is %v", i+1, v)
		}
	}
	for i, v := range m.Mean {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("element %d of the mean is %v", i+1, v)
		}
	}
	return nil
}

// Euclidean is the optional interface of a [Hamiltonian] whose metric is
// constant and can be adapted.
type Euclidean interface {
	Hamiltonian

	// Metric returns a copy of the metric.
	Metric() Metric

	// SetMetric replaces the metric by a copy of m. Points keep their log density and gradient but
	// need a new Momentum. If m has another dimension, or is not finite or not positive definite,
	// SetMetric returns an error and the old metric stays.
	SetMetric(m Metric) error
}

// Precise is the optional interface of a [Hamiltonian] that works in other coordinates than the
// position, which is rounded when it is computed from them. A resumed chain continues from these
// coordinates.
type Precise interface {
	// Coordinates returns these coordinates for a point that Momentum would accept.
	Coordinates(z *Point) []float64

	// SetCoordinates restores the coordinates of a point, after Reset at its position. The metric
	// must be the one for which they were returned.
	SetCoordinates(z *Point, coordinates []float64) error
}

// Describer is the optional interface of a [Kernel] or a [Hamiltonian] that reports figures after
// the run, such as the tuned number of steps or the number of steps that failed, for
// [ChainReport.Kernel] and [ChainReport.Geometry].
type Describer interface {
	Describe() map[string]float64
}

// Chooser is the optional interface of a [Kernel] that chooses among several ways to make its
// transitions, for [ChainReport.Chosen].
type Chooser interface {
	// Chosen names the way that was chosen.
	Chosen() string
}

// Resumable is the optional interface of a [Kernel] with a state that outlives a transition, so
// that runs can be saved and resumed (see [Snapshot]).
type Resumable interface {
	// SaveState returns everything that later transitions depend on.
	SaveState() ([]byte, error)
	// LoadState restores a saved state in a kernel that its Plan has just made. h is the chain's
	// Hamiltonian, whose metric is already set.
	LoadState(h Hamiltonian, state []byte) error
}

// Table is a table of figures that a kernel reports.
type Table struct {
	Name    string // such as "surface"
	Columns []string
	Rows    [][]float64
}

// Tabler is the optional interface of a [Kernel] that reports tables of what it has learnt, for
// [ChainReport.Tables].
type Tabler interface {
	Tables() []Table
}
