package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/compile/internal/vm"
	"github.com/ppl-lang/ppl/internal/planted"
)

// This file handles panics of the compiler and of the programs that it makes. They are faults of
// ppl and must not end the program of a user. The reference evaluator then computes what the
// compiled program cannot. Tests see the panics, see planted.Panics.

// Fault is a panic of the compiler, or of a program that it has made.
type Fault struct {
	At    string // the pass or the stage that panicked
	Value any    // of the panic
}

// Error implements error. It is one line, which names no source file of ppl.
func (f *Fault) Error() string {
	const longest = 300
	line, _, _ := strings.Cut(strings.TrimSpace(fmt.Sprint(f.Value)), "\n")
	if len(line) > longest {
		line = strings.ToValidUTF8(line[:longest], "") + "…"
	}
	if slices.Contains(passes.Names(), f.At) {
		return "pass " + f.At + ": " + line
	}
	return f.At + ": " + line
}

// Fatal reports that a run cannot go on if nothing else computes the result.
func (f *Fault) Fatal() bool { return true }

const report = "this is a fault of ppl, not of your model: please report it with the model, its data, and what `ppl explain` prints if " + planted.Panics + "=1 is set"

// FaultRemedy says what to do about [bind.Stats.Faults].
const FaultRemedy = "If the operating system refuses executable memory, let it allow that to ppl. Otherwise " + report + "."

// caught turns a panic into a *Fault; defer it. The error of a budget is stored as it is. A mistake
// in a graph that the compiler has built is also a fault.
func caught(err *error, at *string) {
	value := recover()
	if value == nil && *err == nil {
		return // without an allocation
	}
	*err = judged(value, *err, *at)
}

// judged returns the error of a part that panicked with a value, or nil, or has failed with err.
func judged(value any, err error, at string) error {
	var mistake *ad.BuildError
	switch v := value.(type) {
	case nil:
		if !errors.As(err, &mistake) || mistake.Err != nil {
			return err
		}
		value = mistake
	case *ad.BuildError:
		if v.Err != nil {
			return v
		}
	}
	failed := &Fault{at, value}
	if planted.Loud() {
		panic(failed)
	}
	return failed
}

// faultOf returns the fault that an error wraps; nil if there is none.
func faultOf(err error) *Fault {
	if err == nil {
		return nil
	}
	var failed *Fault
	errors.As(err, &failed)
	return failed
}

// running is where a compiled program panics, for the message.
const running = "the compiled program"

// gradient evaluates log density and gradient. A panic is returned as a *Fault.
func gradient(mc *vm.Machine, env *ad.Env, x, grad []float64) (lp float64, err error) {
	ended := false
	defer func() {
		if !ended { // recover takes 5 ns, a tenth of a small model's gradient
			err = judged(recover(), err, running)
		}
	}()
	lp, err = mc.Gradient(env, x, grad)
	ended = true
	if err != nil {
		err = judged(nil, err, running)
	}
	return lp, err
}

// run evaluates a program. A panic is returned as a *Fault.
func run(mc *vm.Machine, env *ad.Env) (err error) {
	at := running
	defer caught(&err, &at)
	return mc.Run(env)
}

// byReference precedes what the reference evaluator computes because of a fault.
const byReference = "the reference evaluator computes "

// faults lists the faults that a model and its clones have met.
type faults struct {
	mu   sync.Mutex
	list []string
}

// add adds a fault and what is done instead, once.
func (f *faults) add(instead string, fault *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if text := fmt.Sprintf("%s: %v", instead, fault); !slices.Contains(f.list, text) {
		f.list = append(f.list, text)
	}
}

// all returns the faults so far.
func (f *faults) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}

// uncompiled leaves the log density to the reference evaluator if err, for which it could not be
// compiled, is a fault of ppl.
func (m *Model) uncompiled(err error) (*Model, error) {
	fault := faultOf(err)
	if fault == nil || m.ladder != nil { // the checks of cuts need derivatives of compiled programs
		return nil, err
	}
	m.made.faults.add(byReference+"the log density", fault)
	m.bound.Density, m.density, m.firstOnly = nil, nil, nil
	_, err = m.plain()
	return m, err
}

// afterFault returns the reference evaluator for the point at which a compiled program panicked.
// The next point is evaluated by the compiled programs again, so that results depend on the point
// alone. Their memory may be in any state, so they get new one.
func (m *Model) afterFault(fault *Fault) (*Model, error) {
	if m.ladder != nil {
		return nil, fmt.Errorf("%w: %s", fault, report)
	}
	m.made.faults.add(byReference+"the points at which another program fails", fault)
	m.machine, m.constr, m.gen, m.curves = m.density.New(), nil, nil, nil
	m.SetWorkers(max(m.workers, 1))
	if m.reference == nil {
		m.reference = m.Reference()
		m.reference.prints, m.reference.env = m.prints, m.env
	}
	return m.reference, nil
}
