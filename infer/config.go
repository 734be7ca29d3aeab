package infer

import (
	"fmt"
	"time"
)

// Config says how a run is made. The zero value of every field but Sampler,
// which is required, is a documented default.
type Config struct {
	Sampler Sampler // such as nuts.Sampler{}; required

	Chains int // 0: 4
	Warmup int // transitions per chain; 0: 1000, negative: none
	Draws  int // transitions per chain after warm-up, before thinning; 0: 1000, negative: none
	Thin   int // every Thin-th draw is yielded, the first among them; 0: 1

	// Seed selects the random numbers. They come from streams keyed by
	// (Seed, chain ID, purpose), see [Stream], so results depend neither on
	// GOMAXPROCS nor on Parallel, and parameters do not depend on whether a
	// Generator draws.
	Seed uint64

	// FirstID is the ID of the first chain; the others follow. Streams are
	// keyed by the ID: chain 3 of four can be had again alone, by Chains 1 and
	// FirstID 3. 0: 1.
	FirstID int

	Init   Init     // where chains start; nil: Uniform{Radius: 2}
	Metric []Metric // to start with, one for all chains or one per chain; nil: the sampler's

	// Recentring are the coordinates that Metric is over, see [ChainReport], one for
	// all chains or one per chain; nil: the target's own, or what the sampler learns.
	Recentring [][]float64

	// StepSize to start with, one for all chains or one per chain; nil: the
	// sampler's. Without warm-up it is that of sampling.
	StepSize []float64

	SaveWarmup   bool // yield the draws of warm-up too
	WarmupValues bool // run the Generator for them as well

	// Parallel is the number of processors that the run may take: how many chains run at the
	// same time and, where there are fewer chains, how many goroutines share an
	// evaluation of a target that is a [Sharer]. 0: GOMAXPROCS.
	Parallel int

	// Grace bounds the time that a cancelled run waits for evaluations under way that cannot be
	// interrupted, such as the factorisation of a large matrix; 0: until they end, so that no
	// goroutine of the run outlives it; negative: not at all. Chains end within about 50 ms of
	// processor time: what they leave behind works on memory that nobody else sees.
	Grace time.Duration

	// Enough, if not nil, ends sampling before Draws when there is enough. It
	// is asked by the goroutine that ranges over the draws, when all chains
	// that have not failed have made n transitions since warm-up, n growing
	// from 100 by a quarter each time; what it says may depend on the draws
	// yielded up to then, of which chains that have gone further before a
	// resumed run may have more than n. All chains then run at the same time
	// and end after the same number of transitions, whatever their speed.
	Enough func(n int) bool

	// Snapshot, if not nil, is handed the state of a chain from time to time,
	// at least about once a second, and at its end, by the goroutine that ranges
	// over the draws, after the draws that it follows. (In warm-up, within
	// stages that can be saved, see [State.Resumable], and between stages.)
	Snapshot func(*Snapshot)

	// SnapshotEvery is the time between snapshots; 0: an eighth of the time that
	// the chain has run, half a second at most; negative: they
	// follow every transition. Large ones (a dense metric) are taken less
	// often.
	SnapshotEvery time.Duration

	// TablesEvery is how often the report of a chain that goes on is brought up to date,
	// with [ChainReport.Tables], for those who look at it, as far as that takes little of
	// the chain's time; 0: only between warm-up and sampling, and at the end; negative:
	// after every transition. Draws do not depend on it.
	TablesEvery time.Duration

	// Resume holds snapshots of chains to go on from, by chain; chains without
	// one start anew. Only draws that follow are yielded. All other options
	// but Parallel and Progress must be those of the run resumed.
	Resume []*Snapshot

	// Progress, if not nil, is called by the goroutine that ranges over the
	// draws (never concurrently): for each chain after its first transition,
	// after each Refresh transitions and after the last of either phase.
	Progress func(Progress)
	Refresh  int // 0: 100
}

// check looks at the numbers.
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

// withDefaults returns c with its zero fields replaced.
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

// Draw is one state of one chain. It and its slices belong to the receiver.
// (They are carved from larger blocks: keeping a single draw of many keeps up
// to 64 KiB alive.)
type Draw struct {
	Chain      int       // 0, 1, … below Config.Chains
	Iteration  int       // number of the transition in its chain, from 0, counted through warm-up and thinned draws
	Warmup     bool      // made while adapting: not to be used for inference
	Position   []float64 // unconstrained, length Dim
	Values     []float64 // the Generator's, nil without one, and in warm-up unless Config.WarmupValues
	LogDensity float64   // at Position
	Stats      Stats
}

// Progress tells how far a chain has come.
type Progress struct {
	Chain       int
	Iteration   int // transitions made
	Total       int // transitions planned, warm-up included: those that it took, once it has ended
	Warmup      bool
	Divergences int   // in this phase
	Gradients   int64 // in this phase
}

// Report is what is known of a run beside its draws.
type Report struct {
	Chains      []ChainReport // by Draw.Chain
	Interrupted bool          // by the context, or because the consumer stopped
	Enough      int           // transitions per chain after which Config.Enough ended the run; 0: it did not
	Elapsed     time.Duration
}

// ChainReport is what is known of one chain beside its draws.
type ChainReport struct {
	Chain int // index, as Draw.Chain
	ID    int // as in CmdStan: Config.FirstID + Chain

	Started     bool
	Interrupted bool
	Err         error // a *ChainError if the chain failed

	// Inexact says that a resumed chain did not find the very log density that
	// it had been left with (another processor rounds otherwise), so that its
	// further draws are not those of the uninterrupted run.
	Inexact bool

	Start        []float64 // the unconstrained position from which it started
	InitAttempts int

	// Arrival is the same number for chains that began at the same place, see [Arriver]; 0:
	// the chain began at a place that is its alone.
	Arrival int

	// StepSize and Metric are those with which sampling began (the result of
	// warm-up). Metric.Kind is empty if the geometry is not Euclidean.
	StepSize float64
	Metric   Metric
	// Recentring is the evidence of the coordinates that Metric is over, see [Recentring];
	// nil: they are the target's own.
	Recentring []float64
	Adapted    Figures   // what the kernel said of itself then, see Describer
	Kernel     Figures   // what it says at the end
	Chosen     string    // the kernel that was chosen, by one that chooses, see Chooser
	Geometry   Figures   // what the Hamiltonian says of itself, likewise
	Last       []float64 // the unconstrained position at the end of the chain; nil if it never started
	Tables     []Table   // what the kernel has learnt, at the end of the chain, see Tabler

	Warmup   Phase
	Sampling Phase

	// Notes are what the stages of warm-up had to say: what they chose and why,
	// what they could not do as asked.
	Notes []string

	// Events are what happened to the chain that its draws do not show, in order.
	Events []Event

	// Rejections holds a message of each statement with recoverable errors, and each distinct
	// message that names none, in order of first occurrence, with its count. A density that
	// is zero is one. Rejected counts all, also
	// those whose messages were too many to keep (64).
	Rejections []Rejection
	Rejected   int

	// Ungenerated counts the draws after warm-up whose Values the Generator could
	// not compute in full; UngeneratedReason is why, at the first of them.
	Ungenerated       int
	UngeneratedReason string
}

// Phase is the account of warm-up or sampling. Initialisation counts as
// warm-up.
type Phase struct {
	Transitions int
	Gradients   int64 // evaluations of log density and gradient

	// Charged is what was evaluated beside them (metrics that depend on the
	// position, second derivatives), as the number of gradients that take as long.
	// It is measured, so it varies a little from run to run.
	Charged     float64
	Divergences int
	Elapsed     time.Duration // without waiting for the consumer
}

// Cost is the number of gradients with what is charged beside them.
func (p Phase) Cost() float64 { return float64(p.Gradients) + p.Charged }

// Rejection is a message of recoverable errors with the number of times that
// it has occurred.
type Rejection struct {
	Message string
	Count   int
}

// ChainError is the failure of one chain; the others go on.
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
