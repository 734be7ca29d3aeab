package vm

import (
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// This file: an evaluation that may take more than a few milliseconds runs in a separate goroutine,
// while the caller checks whether to stop. So the caller can abandon code within askEvery that
// never checks itself: code without loops, machine code, the factorisation of a large matrix.
// Abandoned work continues to the end of its block, in memory that nothing else uses.

const (
	askEvery = 20 * time.Millisecond
	longRun  = 10e6 // estimated time, in ns, of an evaluation that is long
	longTrip = 5e3  // estimated time, in ns, of a long trip of a while loop; the loop itself checks for a stop only every ad.StopEvery trips
)

// errLeft ends an abandoned evaluation.
var errLeft = errors.New("nobody waits for this evaluation")

// watch is the state shared by an evaluation and the waiting caller.
type watch struct {
	left    atomic.Bool
	outside sync.Mutex // held while the evaluation draws or prints, which must not overlap with the caller's own use
}

// mayBeLeft reports whether an evaluation can be abandoned. A goroutine for each evaluation would
// take a quarter of the time of small systems of differential equations.
func (m *Machine) mayBeLeft(env *ad.Env) bool {
	bound := longTrip
	if m.p.pauses {
		bound *= ad.StopEvery / pauseEvery
	}
	return (m.p.time > longRun || m.p.trip > bound) && env.Stop != nil
}

// watched is Run for an evaluation that the caller may abandon.
func (m *Machine) watched(env *ad.Env) error {
	w, done := &watch{}, make(chan error, 1)
	beside := *m
	inner := *env
	inner.Stop = func() error {
		if w.left.Load() {
			return errLeft
		}
		return nil
	}
	beside.env, beside.watch = &inner, w
	var failure any
	go func() {
		defer func() {
			if r := recover(); r != nil { // a panic is passed to the caller
				failure = r
				done <- nil
			}
		}()
		done <- beside.run(beside.p.blocks)
	}()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if failure != nil {
				panic(failure)
			}
			return err
		case <-tick.C:
			if err := env.Stop(); err != nil {
				w.outside.Lock()
				w.left.Store(true)
				w.outside.Unlock()
				ended := ad.Leave(err)
				go func() {
					<-done
					ended()
				}()
				m.lose()
				return err
			}
		}
	}
}

// lost holds what a machine needs to be used again after its evaluation was abandoned, and its
// memory with it.
type lost struct {
	inputs  [][]float64
	workers int
}

// lose leaves the machine's memory to the abandoned evaluation. The machine gets new memory only
// when it is used again, which is rare: clearing some hundred megabytes took up to two seconds, by
// which a cancelled run would end later.
func (m *Machine) lose() {
	l := &lost{workers: m.workers()}
	for i := range m.p.inputs {
		l.inputs = append(l.inputs, slices.Clone(m.Input(i)))
	}
	*m = Machine{p: m.p, lost: l}
}

// found gives the machine new memory if it has lost its own.
func (m *Machine) found() {
	l := m.lost
	if l == nil {
		return
	}
	*m = *m.p.New()
	m.SetWorkers(l.workers)
	for i, x := range l.inputs {
		copy(m.Input(i), x)
	}
}

// act runs a block whose side effects reach beyond the machine.
func (w *watch) act(m *Machine, b *block) error {
	w.outside.Lock()
	defer w.outside.Unlock()
	if w.left.Load() {
		return errLeft
	}
	return m.single(b)
}

// durations estimates the time of an evaluation, in ns, in which a while loop makes one trip, and
// the longest time between two trips of while loops. A trip does not include those of loops within
// it, which count themselves.
func durations(nest *loopnest.Program) (whole, trip float64) {
	var total func(b *loopnest.Body) (all, own float64)
	total = func(b *loopnest.Body) (all, own float64) {
		for i := range b.Nodes {
			n := &b.Nodes[i]
			if n.Reg == nil {
				ns := estimate(b, n)
				all, own = all+ns, own+ns
				continue
			}
			for _, body := range n.Reg.Bodies {
				a, o := total(body)
				all += a
				if n.Reg.Layout.Control == ad.Tested {
					trip = max(trip, o/body.Times())
				} else {
					own += o
				}
			}
		}
		return all, own
	}
	whole, _ = total(nest.Main)
	return whole, trip
}

// estimate returns the approximate time of a node in ns. For ops on matrices it is that of a
// factorisation in each lane.
func estimate(b *loopnest.Body, n *loopnest.Node) float64 {
	c := b.Cost(n).Guess
	if n.Kind == loopnest.Array {
		most, lanes := float64(n.N), float64(max(n.Src.Type.Lanes, 1))
		for _, a := range n.Args {
			most = max(most, float64(a.N))
		}
		c = max(c, 0.5*lanes*math.Pow(most/lanes, 1.5)*b.Times())
	}
	return c
}
