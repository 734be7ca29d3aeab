package warmup

import (
	"context"
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/infer"
)

// Window is a stage of Length transitions. It adapts the step size, starting from the present one,
// and leaves the averaged one. From the positions after the first Skip transitions it learns a
// metric, which it sets at its end. A [Search] should follow a change of metric.
type Window struct {
	Length int
	Skip   int // equal to Length: no metric is learnt

	// Learn is the kind of metric: Diagonal or Dense, from the draws as Stan learns
	// them, or LowRank, from draws and scores (package whiten); Unit or empty: none.
	// It needs a Hamiltonian that is an [infer.Euclidean].
	Learn infer.MetricKind

	Averaging Averaging
	// dual averaging shrinks towards a multiple of the chain's first step size instead of the
	// current one
	First         bool
	FixedStepSize bool // do not adapt the step size
}

// Run implements [infer.Stage].
func (w Window) Run(_ context.Context, s *infer.State) error {
	var est estimator
	var geometry infer.Euclidean
	if w.learns() {
		e, ok := s.Hamiltonian.(infer.Euclidean)
		if !ok {
			return fmt.Errorf("warmup: a metric cannot be learnt for a Hamiltonian %T, which is not Euclidean", s.Hamiltonian)
		}
		var err error
		if est, err = newEstimator(w.Learn, s.Target.Dim()); err != nil {
			return err
		}
		geometry = e
	}
	avg := NewDualAveraging(w.Averaging, s.StepSize)
	if w.First {
		avg.mu = math.Log(avg.c.Reach * s.FirstStep)
	}
	// In zero dimensions every step is accepted, whatever its size.
	fixed := w.FixedStepSize || s.Target.Dim() == 0
	i := 0
	saved := s.Resumable(func() []float64 {
		state := append([]float64{float64(i)}, avg.State()...)
		if est != nil {
			state = append(state, est.state()...)
		}
		return state
	})
	if saved != nil {
		var err error
		if i, err = w.resume(saved, avg, est); err != nil {
			return err
		}
	}
	for ; i < w.Length; i++ {
		info, err := s.Advance()
		if err != nil {
			return err
		}
		if !fixed {
			s.StepSize = avg.Update(info.AcceptStat)
		}
		if est != nil && i >= w.Skip {
			est.add(s.Point)
		}
	}
	if !fixed {
		s.StepSize = avg.Final()
	}
	if est == nil {
		return nil
	}
	m, ok, err := est.estimate()
	if err != nil || !ok {
		return err
	}
	return geometry.SetMetric(m)
}

// resume restores the saved state of the stage, and returns the number of transitions that it had
// made.
func (w Window) resume(saved []float64, avg *DualAveraging, est estimator) (int, error) {
	i, err := infer.SavedCount(saved, w.Length)
	if err != nil {
		return 0, err
	}
	rest, err := avg.SetState(saved[1:])
	if err == nil && est != nil {
		err = est.setState(rest)
	}
	return i, err
}

func (w Window) learns() bool {
	return w.Learn != "" && w.Learn != infer.Unit && w.Skip < w.Length
}

// Schedule returns the lengths of the windows in which Stan learns the metric, for a warm-up of n
// transitions. The first start and the last end transitions adapt only the step size. The first
// window has length base and each following one is twice as long; a window after which the next
// would not fit takes all that is left.
//
// If start+base+end exceeds n, they are changed to 15, 75 and 10 percent of n; if n is less than
// 20, there are no windows and start is n. The values used are returned.
//
// (Stan announces the 15/75/10 split, but its code, as of version 2.36, then never ends the window,
// so that the metric does not change. Here it is learnt.)
func Schedule(n, start, base, end int) (windows []int, usedStart, usedEnd int) {
	switch {
	case n < 20 || base < 1:
		return nil, n, 0
	case start+base+end > n:
		start, end = int(0.15*float64(n)), int(0.1*float64(n))
		return []int{n - start - end}, start, end
	}
	windows = []int{base}
	for left := n - start - end - base; left > 0; {
		base *= 2
		if left-base < 2*base {
			base = left
		}
		windows = append(windows, base)
		left -= base
	}
	return windows, start, end
}
