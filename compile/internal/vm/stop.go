package vm

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// An evaluation that may take longer than a few milliseconds runs beside its caller, who
// asks meanwhile whether to stop: so code without loops, machine code and the
// factorisation of a large matrix are left within askEvery, without a question inside
// them. What is left behind goes on in memory that nobody else sees, to the end of the
// block it is in.

const (
	askEvery = 20 * time.Millisecond
	longRun  = 10e6 // ns, estimated, of an evaluation
	longTrip = 5e3  // of a trip of a while loop, of which stopEvery pass between questions
)

// errLeft ends an evaluation that nobody waits for.
var errLeft = errors.New("nobody waits for this evaluation")

// watch is what an evaluation shares with the caller who waits for it.
type watch struct {
	left    atomic.Bool
	outside sync.Mutex // held while it draws or prints, which the caller does too
}

// mayBeLeft reports whether an evaluation is to be left if its caller says so.
func (m *Machine) mayBeLeft(env *ad.Env) bool { return m.p.long && env.Stop != nil }

// watched is Run for a program that may take long.
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
			if r := recover(); r != nil { // for the caller, as if it had run there
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
				fresh := m.p.New()
				fresh.SetWorkers(m.workers())
				for i := range m.p.inputs {
					copy(fresh.Input(i), m.Input(i))
				}
				*m = *fresh
				return err
			}
		}
	}
}

// act runs a separate block that acts on the world outside.
func (w *watch) act(m *Machine, b *block) error {
	w.outside.Lock()
	defer w.outside.Unlock()
	if w.left.Load() {
		return errLeft
	}
	return m.single(b)
}

// mayTakeLong estimates whether an evaluation should be watched.
func mayTakeLong(nest *loopnest.Program) bool {
	long := false
	var total func(b *loopnest.Body) float64
	total = func(b *loopnest.Body) float64 {
		ns := 0.0
		for i := range b.Nodes {
			n := &b.Nodes[i]
			if n.Reg == nil {
				ns += estimate(b, n)
				continue
			}
			inner := 0.0
			for _, body := range n.Reg.Bodies {
				inner += total(body)
			}
			if n.Reg.Layout.Control == ad.Tested && inner > longTrip*b.Times() {
				long = true
			}
			ns += inner
		}
		return ns
	}
	return total(nest.Main) > longRun || long
}

// estimate is about how many ns a node takes in all; of matrices, as if it were a
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
