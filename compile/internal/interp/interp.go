package interp

import (
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// Options of an evaluation.
type Options struct {
	Propto     bool         // `~` and _lupdf drop terms
	Jacobian   bool         // transforms add their log Jacobians
	Print      func(string) // receives what print statements print; nil: dropped
	Rand       *rand.Rand   // for _rng functions; nil: they fail
	Transforms transform.Edition
	Stop       func() error // asked every few thousand iterations and calls; its error ends the evaluation
	Memory     int64        // bytes that a value, a call of the library, or a record may take; 0: there is no bound
	Statements int64        // of iterations and calls of one evaluation; 0: there is no bound
}

// Known are the values of data and transformed data. It is not changed any
// more, and may be shared.
type Known struct {
	prog *ir.Program
	vars []*ir.Var
	of   []*array // by variable of vars
}

// Each gives the variables with their values, of which ints or reals is nil.
func (k *Known) Each(yield func(v *ir.Var, shape []int, ints []int64, reals []float64)) {
	for i, v := range k.vars {
		yield(v, k.of[i].shape, k.of[i].ints, k.of[i].reals)
	}
}

// machine is one evaluation.
type machine struct {
	opts    *Options
	rec     *recorder // nil: numbers alone
	target  density   // so far
	inModel bool      // whether the log density counts
	calls   []callSite
	ticks   int // until Stop is asked
	budget  *ad.Budget

	frames  [][]*frame // of returned calls, for use again, by function.id
	ints    [4]int64   // arguments of integer functions
	numbers []float64  // of scalar programs, likewise
	refs    []ad.Ref
	values  [][]float64 // of the nodes of a plan
	list    [][]float64 // of the arguments of one of them
	space   []float64   // which the values lie in
}

// density is a sum of addends of the log density.
type density struct {
	value     float64
	magnitude float64  // sum of their absolute values
	constant  float64  // the sum of those that were not recorded
	refs      []ad.Ref // of those that were recorded
}

// frame holds the variables of the program or of a call of a user function, by
// ir.Var.ID: scalars in ints, or in reals with how they were recorded in refs;
// all others in arrays. Arrays of parameters of functions belong to the caller.
type frame struct {
	m      *machine
	ints   []int64
	reals  []float64
	refs   []ad.Ref
	arrays []*array

	ref     ad.Ref // how the real that was evaluated last was recorded
	operand operand
	result  result
}

// operand is the old value of what a compound assignment changes.
type operand struct {
	int   int64
	real  float64
	ref   ad.Ref
	array *array
}

// result is the value of a return.
type result struct {
	int    int64
	real   float64
	ref    ad.Ref
	array  *array
	leaves []*array
}

const (
	askEvery = 4096   // iterations and calls between questions to Stop
	maxCalls = 10_000 // bounds the depth of recursion
)

func newMachine(o *Options) *machine {
	m := &machine{opts: o, ticks: askEvery, budget: ad.NewBudget(o.Memory, o.Statements)}
	m.budget.Stop = o.Stop
	return m
}

func newFrame(m *machine, n int) *frame {
	return &frame{m: m, ints: make([]int64, n), reals: make([]float64, n), refs: absent(n), arrays: make([]*array, n), ref: ad.None}
}

// ask asks whether to go on.
func (m *machine) ask(at source.Span) {
	m.ticks = askEvery
	if err := m.budget.Steps(askEvery); err != nil {
		m.limited(at, err)
	}
}

// reserve fails unless a value of so many elements is within bounds.
func (m *machine) reserve(at source.Span, n int) {
	used := m.budget.Used()
	if err := m.budget.Take(8 * int64(min(n, math.MaxInt/8))); err != nil {
		m.limited(at, err)
	}
	m.budget.Back(used)
}

// enter is the frame of a new call.
func (m *machine) enter(fn *function) *frame {
	for len(m.frames) <= fn.id {
		m.frames = append(m.frames, nil)
	}
	if free := m.frames[fn.id]; len(free) > 0 {
		m.frames[fn.id] = free[:len(free)-1]
		return free[len(free)-1]
	}
	return newFrame(m, fn.of.NumVars)
}

func (m *machine) leave(fn *function, f *frame) { m.frames[fn.id] = append(m.frames[fn.id], f) }

// add adds to the log density a number that was recorded as ref.
func (m *machine) add(x float64, ref ad.Ref) {
	if !m.inModel {
		return
	}
	m.target.value += x
	m.target.magnitude += math.Abs(x)
	if ref == ad.None {
		m.target.constant += x
	} else {
		m.target.refs = append(m.target.refs, ref)
	}
}

// addAll adds all elements.
func (m *machine) addAll(a *array) {
	if !m.inModel {
		return
	}
	r := m.refOf(a)
	for _, x := range a.floats() {
		m.target.value += x
		m.target.magnitude += math.Abs(x)
		if r == ad.None {
			m.target.constant += x
		}
	}
	if r != ad.None {
		m.target.refs = append(m.target.refs, m.rec.g.Sum(r))
	}
}

// targetRef is how the log density so far was recorded; None: it is a constant.
// Its addends are joined, so that they are not added up again and again.
func (m *machine) targetRef() ad.Ref {
	refs := m.target.refs
	if len(refs) == 0 {
		return ad.None
	}
	g := m.rec.g
	sum := refs[0]
	if len(refs) > 1 {
		sum = g.Sum(g.Concat(refs...))
	}
	m.target.refs = append(refs[:0], sum)
	return g.Add(g.Const(m.target.constant), sum)
}
