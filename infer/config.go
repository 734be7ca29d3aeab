package infer

import (
	"fmt"
	"time"
)

// Config has the options of a run. Only Sampler is required; the zero value of each other field
// means a default.
type Config struct {
	Sampler Sampler // such as nuts.Sampler{}; required

	Chains int // 0: 4
	Warmup int // transitions per chain; 0: 1000, negative: none
	Draws  int // transitions per chain after warm-up, before thinning; 0: 1000, negative: none
	Thin   int // one in Thin draws is yielded, beginning with the first; 0: 1

	// Seed selects the random numbers. They come from streams keyed by (Seed, chain ID, purpose),
	// see [Stream]. Results therefore depend neither on GOMAXPROCS nor on Parallel, and parameters
	// do not depend on whether a Generator uses random numbers.
	Seed uint64

	// FirstID is the ID of the first chain; the others follow. Streams are keyed by the ID: Chains
	// 1 with FirstID 3 repeats chain 3 of a run of four. 0: 1.
	FirstID int

	Init Init // where chains start; nil: Uniform{Radius: 2}

	// Centre, if not nil, returns a plausible point, or nil. Once the target has rejected 20
	// starting points of a chain, the next ones lie ever nearer to it. Several goroutines may call
	// it.
	Centre func() []float64

	Metric []Metric // initial metric, one for all chains or one per chain; nil: the sampler's

	// Recentring defines the coordinates of Metric, see [ChainReport], one for all chains or one
	// per chain; nil: the target's own coordinates, or those that the sampler learns.
	Recentring [][]float64

	// StepSize is the initial step size, one for all chains or one per chain; nil: the sampler's.
	// Without warm-up, sampling uses it.
	StepSize []float64

	SaveWarmup   bool // also yield the draws of warm-up
	WarmupValues bool // also run the Generator for these

	// Parallel is the number of processors that the run may use: the number of chains that run at
	// the same time. With fewer chains, several goroutines share each evaluation of a target that
	// is a [Parallel]. 0: GOMAXPROCS.
	Parallel int

	// Grace is the maximum time for which a cancelled run waits for evaluations that cannot be
	// interrupted, such as the factorisation of a large matrix. 0: it waits until they end, so that
	// no goroutine outlives the run; negative: it does not wait. Chains normally end within about
	// 50 ms of processor time. Work that continues longer only uses memory that nothing else uses.
	Grace time.Duration

	// Enough, if not nil, decides whether sampling may end before Draws. The goroutine that ranges
	// over the draws calls it each time that all chains that have not failed have made n
	// transitions since warm-up. n begins at 100 and grows by a quarter each time. The answer may
	// depend on the draws yielded so far. (Chains of a resumed run may have made more than n.) With
	// Enough, all chains run at the same time and end after the same number of transitions,
	// whatever their speed.
	Enough func(n int) bool

	// Snapshot, if not nil, receives the state of a chain at least about once a second, and at its
	// end. The goroutine that ranges over the draws calls it after it has yielded all earlier draws
	// of the chain. (In warm-up, snapshots are taken between stages, and within stages that can be
	// saved, see [State.Resumable].)
	Snapshot func(*Snapshot)

	// SnapshotEvery is the time between snapshots. 0: an eighth of the time that the chain has run,
	// at most half a second; negative: a snapshot after every transition. Large snapshots, which
	// have a dense metric, are taken less often.
	SnapshotEvery time.Duration

	// TablesEvery is the time between updates of a running chain's report with
	// [ChainReport.Tables]. Updates take only little of the chain's time. 0: only between warm-up
	// and sampling, and at the end; negative: after every transition. Draws do not depend on it.
	TablesEvery time.Duration

	// Resume has the snapshots of chains to continue, by chain; chains without a snapshot start
	// from the beginning. Only later draws are yielded. All options except Parallel and Progress
	// must be those of the original run.
	Resume []*Snapshot

	// Progress, if not nil, is called by the goroutine that ranges over the draws, never
	// concurrently. It is called for each chain after its first transition, after each Refresh
	// transitions, and after the last transition of each phase. Before its first transition it is
	// called every 10 s, as far as evaluations end.
	Progress func(Progress)
	Refresh  int // 0: 100
}

// check returns an error if a number is invalid.
func (c Config) check() error {
	numbers := map[string]int{"chains": c.Chains, "warmup": max(0, c.Warmup), "draws": max(0, c.Draws), "thin": c.Thin,
		"first-id": c.FirstID, "parallel": max(0, c.Parallel), "refresh": c.Refresh}
	if err := CheckOptions(numbers); err != nil {
		return err
	}
	switch init := c.Init.(type) {
	case Uniform:
		return CheckOption("init-radius", init.Radius)
	case At:
		return CheckOption("init-radius", init.Radius)
	}
	return nil
}

// withDefaults returns c with defaults in place of zero fields.
func (c Config) withDefaults() Config {
	def := func(v *int, d int) {
		switch {
		case *v == 0:
			*v = d
		case *v < 0:
			*v = 0
		}
	}
	def(&c.Chains, 4)
	def(&c.Warmup, 1000)
	def(&c.Draws, 1000)
	def(&c.Thin, 1)
	def(&c.FirstID, 1)
	def(&c.Refresh, 100)
	if c.Init == nil {
		c.Init = Uniform{Radius: 2}
	}
	return c
}

// Draw is one state of one chain. It and its slices belong to the receiver. (They are parts of
// larger blocks: keeping a single draw keeps up to 64 KiB in memory.)
type Draw struct {
	Chain int // 0, 1, … below Config.Chains
	// number of the transition in its chain, from 0; it also counts warm-up and draws left out by
	// thinning
	Iteration  int
	Warmup     bool      // made in warm-up: do not use it for inference
	Position   []float64 // unconstrained, length Dim
	Values     []float64 // the Generator's values; nil without a Generator, and in warm-up unless Config.WarmupValues
	LogDensity float64   // at Position
	Stats      Stats
}

// Progress is the progress of a chain.
type Progress struct {
	Chain       int
	Iteration   int // transitions made
	Total       int // planned transitions, including warm-up; after a phase, the actual number
	Warmup      bool
	Divergences int   // in this phase
	Gradients   int64 // in this phase

	// Before the first transition, Iteration is 0. While the chain looks for a starting point,
	// Searching is true, Rejected is the number of rejections so far, and Reason the last one's.
	Searching bool
	Rejected  int
	Reason    string
}

// Report has everything known about a run except its draws.
type Report struct {
	Chains      []ChainReport // by Draw.Chain
	Interrupted bool          // the run ended because the context ended or the consumer stopped
	Enough      int           // transitions per chain after which Config.Enough ended the run; 0: it did not end it
	Elapsed     time.Duration
}

// ChainReport has everything known about one chain except its draws.
type ChainReport struct {
	Chain int // index, as Draw.Chain
	ID    int // as in CmdStan: Config.FirstID + Chain

	Started     bool
	Interrupted bool
	Err         error // a *ChainError if the chain failed

	// Inexact reports that a resumed chain computed another log density than the saved one, because
	// another processor rounds differently. Its further draws are then not those of the
	// uninterrupted run.
	Inexact bool

	Start        []float64 // the unconstrained position from which it started
	InitAttempts int

	// Arrival is a number shared by chains that began at the same place, see [Arriver]; 0: no other
	// chain began there.
	Arrival int

	// StepSize and Metric are the results of warm-up, at the start of sampling. Metric.Kind is
	// empty if the geometry is not Euclidean.
	StepSize float64
	Metric   Metric
	// Recentring is the evidence that defines the coordinates of Metric, see [Recentring]; nil: the
	// target's own coordinates.
	Recentring []float64
	Adapted    Figures   // the kernel's figures at the start of sampling, see Describer
	Kernel     Figures   // the kernel's figures at the end
	Chosen     string    // kernel chosen by a sampler that chooses, see Chooser
	Geometry   Figures   // figures of the Hamiltonian at the end
	Last       []float64 // the unconstrained position at the end of the chain; nil if it never started
	Tables     []Table   // tables of the kernel at the end of the chain, see Tabler

	Warmup   Phase
	Sampling Phase

	// Notes are sentences from the stages of warm-up: what they chose and why, and which requests
	// they could not meet.
	Notes []string

	// Events lists, in order, the events of the chain that its draws do not show.
	Events []Event

	// Rejections has an entry for each statement that caused recoverable errors, with one of its
	// messages and their number, in the order of first occurrence. Messages that name no statement
	// have one entry each. A density of zero counts as a rejection. At most 64 entries are kept;
	// Rejected also counts the others.
	Rejections []Rejection
	Rejected   int

	// Ungenerated is the number of draws after warm-up for which the Generator could not compute
	// all Values. UngeneratedReason is the error at the first of them.
	Ungenerated       int
	UngeneratedReason string
}

// Phase is the cost of warm-up or sampling. Initialisation counts as warm-up.
type Phase struct {
	Transitions int
	Gradients   int64 // evaluations of log density and gradient

	// Charged is the cost of evaluations other than gradients, such as metrics that depend on the
	// position, and second derivatives. It is the number of gradients that take as long. It is
	// measured, so it varies a little from run to run.
	Charged     float64
	Divergences int
	Rejected    int           // evaluations that the model rejected
	Elapsed     time.Duration // without waiting for the consumer
}

// Cost is the number of gradients plus the charged cost.
func (p Phase) Cost() float64 { return float64(p.Gradients) + p.Charged }

// Rejection is a message about recoverable errors, with the number of its occurrences.
type Rejection struct {
	Message string
	Count   int
}

// ChainError is the failure of one chain. The other chains continue.
type ChainError struct {
	Chain, ID int
	Phase     string // "initialization", "warm-up", "sampling"
	Iteration int    // transitions made before
	Err       error
}

// Error implements error.
func (e *ChainError) Error() string {
	if e.Phase == "initialization" {
		return fmt.Sprintf("chain %d: %v", e.ID, e.Err)
	}
	return fmt.Sprintf("chain %d: %s, after %d transitions: %v", e.ID, e.Phase, e.Iteration, e.Err)
}

// Unwrap returns the cause.
func (e *ChainError) Unwrap() error { return e.Err }
