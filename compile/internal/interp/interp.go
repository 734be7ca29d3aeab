package interp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// Options of an evaluation.
type Options struct {
	Propto     bool         // `~` and _lupdf drop terms
	Jacobian   bool         // transforms add their log Jacobians
	Print      func(string) // receives the output of print statements; nil: dropped
	Rand       *rand.Rand   // for _rng functions; nil: they fail
	Transforms transform.Edition
	Stop       func() error // called every few thousand iterations and calls; its error ends the evaluation
	Memory     int64        // largest memory of values and the record at a time, in bytes; 0: no bound
	Statements int64        // largest number of iterations and calls in one evaluation; 0: no bound
}

// Known has the values of data and transformed data. It is not changed after it was made, and may
// be shared.
type Known struct {
	prog *ir.Program
	vars []*ir.Var
	of   []*array // by variable of vars
}

// Each calls yield with the variables and their values; ints or reals is nil.
func (k *Known) Each(yield func(v *ir.Var, shape []int, ints []int64, reals []float64)) {
	for i, v := range k.vars {
		yield(v, k.of[i].shape, k.of[i].ints, k.of[i].reals)
	}
}

// machine is one evaluation.
type machine struct {
	opts    *Options
	rec     *recorder // nil: nothing is recorded
	target  density   // so far
	inModel bool      // whether terms of the log density are added
	calls   []callSite
	levels  int // nesting depth of statements and expressions, in all calls in progress
	ticks   int // until Stop is called
	budget  *ad.Budget
	longest int64 // largest number of statements of one evaluation of an Evaluator; 0: no bound
	done    int64 // statements executed so far, in steps of askEvery

	frames  [][]*frame // of returned calls, for reuse, by function.id
	ints    [4]int64   // arguments of integer functions
	numbers []float64  // arguments of scalar programs
	refs    []ad.Ref
	values  [][]float64 // of the nodes of a plan
	list    [][]float64 // the values of the arguments of one node
	space   []float64   // the memory of the values

	// Small results share allocations: the unused rest of these.
	arrays []array
	ones   []*array
	reals  []float64
}

const (
	sharedArrays = 16  // that share an allocation
	sharedReals  = 128 // numbers that share one
	maxShared    = 16  // numbers of an array that shares one
)

// newArray is &array{}.
func (m *machine) newArray() *array {
	if len(m.arrays) == 0 {
		m.arrays = make([]array, sharedArrays)
	}
	a := &m.arrays[0]
	m.arrays = m.arrays[1:]
	return a
}

// newReals is make([]float64, n).
func (m *machine) newReals(n int) []float64 {
	if n > maxShared {
		return make([]float64, n)
	}
	if len(m.reals) < n {
		m.reals = make([]float64, sharedReals)
	}
	r := m.reals[:n:n]
	m.reals = m.reals[n:]
	return r
}

// newArrays is make([]*array, n).
func (m *machine) newArrays(n int) []*array {
	if n > sharedArrays {
		return make([]*array, n)
	}
	if len(m.ones) < n {
		m.ones = make([]*array, sharedArrays)
	}
	list := m.ones[:n:n]
	m.ones = m.ones[n:]
	return list
}

// density is a sum of terms of the log density.
type density struct {
	value     float64
	magnitude float64  // sum of the absolute values of the terms
	constant  float64  // sum of the terms that were not recorded
	refs      []ad.Ref // the terms that were recorded
}

// frame holds the variables of the program or of a call of a user function, by ir.Var.ID: scalars
// in ints, or in reals with their record in refs; all others in arrays. Arrays of parameters of
// functions belong to the caller.
type frame struct {
	m      *machine
	ints   []int64
	reals  []float64
	refs   []ad.Ref
	arrays []*array
	sizes  []int64 // bytes of these arrays taken from the budget

	ref     ad.Ref // the record of the real evaluated last
	operand operand
	result  result
}

// operand is the old value of the target of a compound assignment.
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
	askEvery = 4096 // iterations and calls between calls of Stop

	// These bound the depth of recursion: calls in progress, and the statements and expressions
	// nested in them, each of which takes some 250 bytes of the stack. Go ends a program whose
	// stack grows beyond a gigabyte.
	maxCalls  = 10_000
	maxLevels = 150_000
)

func newMachine(o *Options) *machine {
	m := &machine{opts: o, ticks: askEvery, budget: ad.NewBudget(o.Memory, o.Statements)}
	m.budget.Stop = o.Stop
	return m
}

func newFrame(m *machine, n int) *frame {
	both := make([]int64, 2*n)
	return &frame{m: m, ints: both[:n:n], reals: make([]float64, n), refs: absent(n), arrays: make([]*array, n), sizes: both[n:], ref: ad.None}
}

// frameSize returns the size, in bytes, of a frame with n variables.
func frameSize(n int) int64 { return 256 + 36*int64(n) }

// ask calls Stop.
func (m *machine) ask(at source.Span) {
	m.ticks = askEvery
	if err := m.budget.Steps(askEvery); err != nil {
		m.limited(at, err)
	}
	if m.longest > 0 {
		if m.done += askEvery; m.done > m.longest {
			m.limited(at, ErrLong)
		}
	}
}

// Memory is counted in two places: for variables (keep, set), and for values that are kept while
// others are evaluated (hold). Other intermediate values take no more memory than a few of these;
// those of other sizes are checked (reserve).

// take takes memory from the budget.
func (m *machine) take(at source.Span, bytes int64) {
	if err := m.budget.Take(bytes); err != nil {
		m.limited(at, err)
	}
}

// reserve fails if a value with this number of elements exceeds the bounds.
func (m *machine) reserve(at source.Span, n int) {
	bytes := 8 * int64(min(n, math.MaxInt/8))
	m.take(at, bytes)
	m.budget.Return(bytes)
}

// hold takes the memory of values that nothing else holds. Give the result back when they are no
// longer needed.
func (m *machine) hold(at source.Span, fresh bool, values ...*array) (bytes int64) {
	if !fresh {
		return 0
	}
	for _, a := range values {
		bytes += a.bytes()
	}
	m.take(at, bytes)
	return bytes
}

// keep sets a variable to a value that it owns.
func (f *frame) keep(at source.Span, id int, a *array) {
	if n := a.bytes(); n != f.sizes[id] {
		if n > f.sizes[id] {
			f.m.take(at, n-f.sizes[id])
		} else {
			f.m.budget.Return(f.sizes[id] - n)
		}
		f.sizes[id] = n
	}
	f.arrays[id] = a
}

// lend sets a variable to a value that something else owns.
func (f *frame) lend(id int, a *array) {
	if f.sizes[id] != 0 {
		f.m.budget.Return(f.sizes[id])
		f.sizes[id] = 0
	}
	f.arrays[id] = a
}

// call begins a call; its nesting depth is added to those of the calls in progress.
func (m *machine) call(site callSite) {
	m.calls, m.levels = append(m.calls, site), m.levels+site.levels
	if len(m.calls) > maxCalls || m.levels > maxLevels {
		under := m.calls[:len(m.calls)-1]
		what := "calls itself without end"
		if !slices.ContainsFunc(under, func(c callSite) bool { return c.name == site.name }) {
			what = "is called by too many functions that call one another"
		}
		e := m.fail(site.at, diag.EndlessRecursion, "`%s` %s", site.name, what).
			detailf("%d calls are under way, which is the limit.", len(under))
		e.Err = &recursionError{fmt.Sprintf("`%s` %s: %d calls are under way", site.name, what, len(under))}
		e.throw()
	}
}

// returned ends a call.
func (m *machine) returned(site callSite) {
	m.calls, m.levels = m.calls[:len(m.calls)-1], m.levels-site.levels
}

// enter returns the frame of a new call.
func (m *machine) enter(at source.Span, fn *function) *frame {
	for len(m.frames) <= fn.id {
		m.frames = append(m.frames, nil)
	}
	if free := m.frames[fn.id]; len(free) > 0 {
		m.frames[fn.id] = free[:len(free)-1]
		return free[len(free)-1]
	}
	m.take(at, frameSize(fn.of.NumVars))
	return newFrame(m, fn.of.NumVars)
}

func (m *machine) leave(fn *function, f *frame) { m.frames[fn.id] = append(m.frames[fn.id], f) }

// add adds a number, recorded as ref, to the log density.
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

// targetRef returns the record of the log density so far; None: it is a constant. Its terms are
// combined, so that they are not added again and again.
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
