package infer

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ppl-lang/ppl/internal/goroutines"
)

// ErrInterrupted is the error of a [Meter] when the run has been cancelled, and so of every
// Hamiltonian, Kernel and State.Advance that uses it. A stage must return it.
var ErrInterrupted = errors.New("the run was interrupted")

var (
	errNaN     = errors.New("the log density is NaN")
	errPlusInf = errors.New("the log density is +Inf")
	errZero    = errors.New("the log density is -Inf (the density is zero there)")
)

// maxMessages bounds the distinct messages that a Meter keeps.
const maxMessages = 64

// Meter is a [LogDensity] that wraps a chain's target. It counts evaluations, treats NaN as -Inf,
// and turns recoverable errors into -Inf, counting their messages. Every error of its
// LogDensityGrad is final: it wraps [ErrFatal] or [ErrInterrupted].
//
// Hamiltonians evaluate the target through a Meter, so they need not handle rejections.
type Meter struct {
	target LogDensity
	dim    int
	done   <-chan struct{}      // closed when the run's context ends; nil: never
	left   *goroutines.Leftover // work that continues after the run; nil: nobody waits for it
	centre func() []float64     // Config.Centre in the coordinates of target; nil: there is none

	haste     float64 // the ratio from which on the target rejects slow points; 0: none
	postponed bool    // it has rejected one since SetHasty

	ticks  *atomic.Int64 // counts what seen has not reached when report is due; nil: never
	seen   int64
	report func()

	gradients  int64
	others     [charges]other // evaluations that the meter does not see, see Charge
	timing     bool           // gradients are timed, since the first Charge
	minTime    time.Duration  // shortest time of a gradient
	charged    float64        // charged in an earlier part of a resumed run
	rejections []Rejection
	index      map[string]int // index in rejections of each message
	rejected   int
	last       string // the last message
}

// NewMeter returns a meter over target, which must not be nil. If target is a meter, it returns
// target itself.
func NewMeter(target LogDensity) *Meter {
	if m, ok := target.(*Meter); ok {
		return m
	}
	return &Meter{target: target, dim: target.Dim()}
}

// SetCentre sets the function of [Config.Centre], in the coordinates of the target.
func (m *Meter) SetCentre(centre func() []float64) { m.centre = centre }

// Target returns the metered target, for its optional interfaces such as a Hessian. A caller that
// evaluates these records their cost by Count or Charge.
func (m *Meter) Target() LogDensity { return m.target }

// Dim returns the dimension of the target.
func (m *Meter) Dim() int { return m.dim }

// Gradients returns the number of evaluations so far.
func (m *Meter) Gradients() int64 { return m.gradients }

// Count adds n gradients that were evaluated without the meter.
func (m *Meter) Count(n int) { m.gradients += int64(n) }

// Charge is a kind of evaluation that the meter does not count itself.
type Charge int

// The kinds of charges, and their number.
const (
	MetricValue Charge = iota
	MetricGradient
	MetricDirection // a product with a metric, or a gradient, in a single direction
	charges
)

// other accounts for one kind of Charge.
type other struct {
	count   float64
	minTime time.Duration // shortest time of one evaluation
}

// Charge adds the cost of an evaluation that began at start and that the meter has not counted. The
// time is converted to a number of gradients.
func (m *Meter) Charge(what Charge, start time.Time) {
	o := &m.others[what]
	if t := time.Since(start); o.count == 0 || t < o.minTime {
		o.minTime = t
	}
	o.count++
	m.timing = true
}

// Charged returns the number of gradients that would take as long as everything that was charged.
// It uses the shortest time of each kind, since longer times are due to the load of the machine.
func (m *Meter) Charged() float64 {
	total := m.charged
	for _, o := range m.others {
		if m.minTime > 0 {
			total += o.count * float64(o.minTime) / float64(m.minTime)
		}
	}
	return total
}

// Rejections returns the messages of recoverable errors with their numbers of occurrences: one
// message for each statement, and each distinct message that names no statement.
func (m *Meter) Rejections() []Rejection { return slices.Clone(m.rejections) }

// Reject counts a recoverable error.
func (m *Meter) Reject(err error) {
	m.rejected++
	msg := err.Error()
	m.last = msg
	key := statementOf(msg)
	if i, ok := m.index[key]; ok {
		m.rejections[i].Count++
		return
	}
	if len(m.rejections) == maxMessages {
		return
	}
	if m.index == nil {
		m.index = make(map[string]int)
	}
	m.index[key] = len(m.rejections)
	m.rejections = append(m.rejections, Rejection{Message: msg, Count: 1})
}

// statementOf returns the part that all messages of one statement share: its position, at the end
// of the message. Other messages are returned whole. Messages contain numbers, so those of one
// statement may all differ.
func statementOf(msg string) string {
	if i := strings.LastIndex(msg, " ("); i >= 0 && strings.HasSuffix(msg, ")") && strings.Contains(msg[i:], ", line ") {
		return msg[i:]
	}
	return msg
}

// Final returns err if it is final (see [LogDensity]). Otherwise it counts the error, as Reject
// does, and returns nil.
func (m *Meter) Final(err error) error {
	if isFatal(err) || errors.Is(err, ErrInterrupted) {
		return err
	}
	m.Reject(err)
	return nil
}

// lastRejection returns the message of the last rejection.
func (m *Meter) lastRejection() string {
	if m.last == "" {
		return "the log density is not finite there"
	}
	return m.last
}

// LogDensityGrad evaluates the target. The result is finite or -Inf. In the
// latter case, and if err is not nil, grad is meaningless.
func (m *Meter) LogDensityGrad(x, grad []float64) (float64, error) {
	lp, reason, err := m.evaluate(x, grad)
	if reason != nil && !m.hurried() {
		m.Reject(reason)
	}
	return lp, err
}

// SetHasty makes a [Hasty] target reject slow points from now on, see there. It reports whether the
// target has rejected such a point since the last call. Meters do not count these rejections.
func (m *Meter) SetHasty(ratio float64) (rejected bool) {
	h, ok := m.target.(Hasty)
	if !ok {
		return false
	}
	rejected = h.SetHasty(ratio) || m.postponed
	m.haste, m.postponed = ratio, false
	return rejected
}

// hurried reports whether the last point was only rejected because it is slow.
func (m *Meter) hurried() bool {
	now := m.haste > 0 && m.target.(Hasty).SetHasty(m.haste)
	m.postponed = m.postponed || now
	return now
}

// evaluate is LogDensityGrad, with the reason why the result is -Inf.
func (m *Meter) evaluate(x, grad []float64) (lp float64, reason, final error) {
	// Checking the channel costs 2–3 ns, so it is done at every evaluation. Even a trajectory of
	// thousands of steps then ends at once when the run is cancelled.
	select {
	case <-m.done:
		return math.Inf(-1), nil, ErrInterrupted
	default:
	}
	m.gradients++
	var start time.Time
	if m.timing {
		start = time.Now()
	}
	lp, err := m.target.LogDensityGrad(x, grad)
	if m.timing {
		if t := time.Since(start); m.minTime == 0 || t < m.minTime {
			m.minTime = t
		}
	}
	if m.ticks != nil {
		if n := m.ticks.Load(); n != m.seen {
			m.seen = n
			m.report()
		}
	}
	switch {
	case err != nil && (isFatal(err) || errors.Is(err, ErrInterrupted)):
		return math.Inf(-1), nil, err
	case err != nil:
		return math.Inf(-1), err, nil
	case math.IsNaN(lp):
		return math.Inf(-1), errNaN, nil
	case math.IsInf(lp, 1):
		return math.Inf(-1), errPlusInf, nil
	case math.IsInf(lp, -1):
		return lp, errZero, nil
	}
	return lp, nil, nil
}

// Leave must be called if work for the target continues after its caller has ended because the run
// was cancelled. Call the result when that work ends: see [Config.Grace].
func (m *Meter) Leave() (ended func()) {
	if m.left == nil {
		return func() {}
	}
	return m.left.Leave()
}

// interruption is the error that a target's stop returns. The target calls its Leave if work
// continues.
type interruption struct{ meter *Meter }

func (i interruption) Error() string         { return ErrInterrupted.Error() }
func (i interruption) Unwrap() error         { return ErrInterrupted }
func (i interruption) Leave() (ended func()) { return i.meter.Leave() }

// Interrupted reports whether the run has been cancelled. Code that computes for long without
// evaluations must call it, and return [ErrInterrupted] if it is true.
func (m *Meter) Interrupted() bool {
	select {
	case <-m.done:
		return true
	default:
		return false
	}
}
