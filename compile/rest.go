package compile

import (
	"context"
	"errors"
	"sync"

	"github.com/ppl-lang/ppl/ad"
)

// This file evaluates a model where its program leaves stiff systems to another program, see
// ir.LowerLeaving. That program has both kinds of solver, takes ten to twenty times as long to bind
// (SIR and Lotka-Volterra), and is bound when a point first needs it.

// errStiff is the rejection of a program that leaves a point to another one.
var errStiff = errors.New("the differential equations are stiff here")

// left reports whether a rejection leaves the point to the other program.
func (m *Model) left(r *Rejection) bool {
	var e *ad.RejectError
	return m.whole != nil && errors.As(r.Err, &e) && e.Message == "" && r.Span.IsValid() && r.Span.InLibrary()
}

// rest is the model with the other program. Clones share the first one, and evaluate clones of it.
type rest struct {
	mu  sync.Mutex
	m   *Model
	err error
}

// existing returns the model if it was made; nil otherwise.
func (o *rest) existing() *Model {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.m
}

// goOn returns the model that evaluates the point to which err belongs, or err if the program does
// not leave it. If the compiled program panicked there, it is the reference evaluator.
func (m *Model) goOn(err error) (*Model, error) {
	failed := faultOf(err)
	switch {
	case failed != nil:
		return m.afterFault(failed)
	case !errors.Is(err, errStiff) || m.whole == nil:
		return nil, err
	}
	if m.haste > 0 && m.haste <= slowStiff {
		m.postponed = true
		return nil, err
	}
	if m.rest == nil {
		o := &m.made.rest
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.m == nil && o.err == nil {
			ctx := stopping{context.Background(), m.env.Stop}
			o.m, o.err = (&Program{ir: m.whole()}).bind(ctx, m.set, m.asked, m.fault)
			if stopped := ctx.Err(); stopped != nil {
				err, o.err = o.err, nil
				return nil, err // the next call begins again
			}
		}
		if o.err != nil {
			return nil, o.err
		}
		m.rest = o.m.Clone()
		m.rest.prints, m.rest.env = m.prints, m.env
		m.rest.SetWorkers(max(m.workers, 1))
	}
	return m.rest, nil
}

// The least ratios of the times at slow points to those at others. At stiff points of a model of
// neutrophils an evaluation took 3 s, elsewhere 12 ms. Sums over counts have at least twice as many
// values.
const (
	slowStiff = 250
	slowCount = 2
)

// SetHasty makes later evaluations by m, not by clones, reject points where differential equations
// are stiff, or where counts need more values than at other points, if that takes at least ratio
// times as long; 0: none. It reports whether such a point was rejected since the last call. It
// implements infer.Hasty.
func (m *Model) SetHasty(ratio float64) (rejected bool) {
	rejected, m.haste, m.postponed = m.postponed, ratio, false
	return rejected
}

// orRest is goOn for evaluations that may allocate.
func (m *Model) orRest(err error, again func(*Model) error) error {
	rest, err := m.further(err)
	if rest != nil {
		return again(rest)
	}
	return err
}

// stopping is a context that ends when stop returns an error.
type stopping struct {
	context.Context
	stop func() error
}

// Err implements context.Context.
func (s stopping) Err() error {
	if s.stop == nil {
		return nil
	}
	return s.stop()
}
