package infer

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/internal/goroutines"
)

// ErrInterrupted is returned by a [Meter], and so by every Hamiltonian, Kernel and State.Advance
// above it, when the run has been cancelled. A stage passes it on.
var ErrInterrupted = errors.New("the run was interrupted")

var (
	errNaN     = errors.New("the log density is NaN")
	errPlusInf = errors.New("the log density is +Inf")
	errZero    = errors.New("the log density is -Inf (the density is zero there)")
)

// maxMessages bounds the distinct messages that a Meter keeps.
const maxMessages = 64

// Meter is a [LogDensity] over a chain's target. It counts evaluations, treats NaN as the contract
// says, and turns recoverable errors into -Inf, counting their messages. Every error of its
// LogDensityGrad is final: it wraps [ErrFatal] or [ErrInterrupted].
//
// Hamiltonians are built on it, so they need not handle rejections.
type Meter struct {
	target LogDensity
	dim    int
	done   <-chan struct{}      // of the run's context; nil: never
	left   *goroutines.Leftover // of the run; nil: nobody waits

	gradients  int64
	others     [charges]other // evaluations that the meter does not see, see Charge
	timing     bool           // whether gradients are timed, since the first Charge
	minTime    time.Duration  // shortest time of a gradient since timing began
	charged    float64        // charged by an earlier part of a resumed run
	rejections []Rejection
	index      map[string]int // message → place in rejections
	rejected   int
	last       string // message
}

// NewMeter returns a meter over target, which must not be nil. If target is a meter, it returns
// target itself.
func NewMeter(target LogDensity) *Meter {
	if m, ok := target.(*Meter); ok {
		return m
	}
	return &Meter{target: target, dim: target.Dim()}
}

// Target returns the metered target, for its optional interfaces (a Hessian, …). Callers of these
// record their cost by Count.
func (m *Meter) Target() LogDensity { return m.target }

// Dim returns the dimension of the target.
func (m *Meter) Dim() int { return m.dim }

// Gradients returns the number of evaluations so far.
func (m *Meter) Gradients() int64 { return m.gradients }

// Count adds the cost of n gradients that the meter has not seen.
func (m *Meter) Count(n int) { m.gradients += int64(n) }

// Charge is a kind of evaluation that the meter does not see.
type Charge int

// The kinds of charge, and their number.
const (
	MetricValue Charge = iota
	MetricGradient
	MetricDirection // a product with a metric, or a gradient, along one direction
	charges
)

// other is the account of one kind of Charge.
type other struct {
	count   float64
	minTime time.Duration // shortest time of one evaluation
}

// Charge adds the cost of an evaluation that the meter has not seen and that began at start. The
// cost, in gradients, is found from the times.
func (m *Meter) Charge(what Charge, start time.Time) {
	o := &m.others[what]
	if t := time.Since(start); o.count == 0 || t < o.minTime {
		o.minTime = t
	}
	o.count++
	m.timing = true
}

// Charged returns the number of gradients that take as long as everything charged. It uses the
// shortest time of each kind: longer ones depend on the load of the machine.
func (m *Meter) Charged() float64 {
	total := m.charged
	for _, o := range m.others {
		if m.minTime > 0 {
			total += o.count * float64(o.minTime) / float64(m.minTime)
		}
	}
	return total
}

// Rejections returns one message for each statement with recoverable errors, and each distinct
// message that names no statement, with the number of occurrences.
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

// statementOf returns the part that the messages of one statement share: its position, at their
// end. For other messages it returns the whole message. Messages contain numbers, so that each may
// differ.
func statementOf(msg string) string {
	if i := strings.LastIndex(msg, " ("); i >= 0 && strings.HasSuffix(msg, ")") && strings.Contains(msg[i:], ", line ") {
		return msg[i:]
	}
	return msg
}

// Final returns err if it is final (see [LogDensity]); otherwise it counts it, as Reject does, and
// returns nil.
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
	if reason != nil {
		m.Reject(reason)
	}
	return lp, err
}

// evaluate is LogDensityGrad, with the reason why the result is -Inf.
func (m *Meter) evaluate(x, grad []float64) (lp float64, reason, final error) {
	// A receive from the context's channel costs 2–3 ns, so that even a
	// trajectory of thousands of steps ends at once when the run is cancelled.
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

// Leave must be called if work for the target continues after its caller has ended, because the run
// was cancelled. Call the result when that work is over: see [Config.Grace].
func (m *Meter) Leave() (ended func()) {
	if m.left == nil {
		return func() {}
	}
	return m.left.Leave()
}

// interruption is the error of a target's stop. By Leave, the target reports work that continues.
type interruption struct{ meter *Meter }

func (i interruption) Error() string         { return ErrInterrupted.Error() }
func (i interruption) Unwrap() error         { return ErrInterrupted }
func (i interruption) Leave() (ended func()) { return i.meter.Leave() }

// Interrupted reports whether the run has been cancelled. Code that computes for long without
// evaluations calls it, and then returns [ErrInterrupted].
func (m *Meter) Interrupted() bool {
	select {
	case <-m.done:
		return true
	default:
		return false
	}
}
