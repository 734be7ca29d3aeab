package vm

import (
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/dense"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// instr is one instruction of scalar code or of a strip. In scalar code the operands are elements
// of the machine's memory; in a strip they are views.
type instr struct {
	op           ad.OpCode
	x            uint16 // of a strip: one bit for each operand, set if all elements share its number
	dst, a, b, c int32
}

// blockKind is the way in which a block runs.
type blockKind uint8

const (
	scalarBlock blockKind = iota
	stripBlock
	matmulBlock
	arrayBlock
	randomBlock
	effectBlock
	regionBlock
)

// block is a step of a program or of a region's body.
type block struct {
	kind   blockKind
	nest   *loopnest.Block // the block of the nest that it was made from
	clears []int32         // views to set to 0 first
	code   []instr
	fused  *fusedRun // function for this block and following ones; nil: none
	native []segment // machine code; nil: the interpreter runs it

	// For scalar code: for each instruction, whether nothing outside the code reads its result; and
	// the emitter's times of the code.
	local        []bool
	began, ended int

	// For strips.
	n, strip int            // number of elements, and number of them in a strip
	grid     grid           // the rows with which strips end; zero: they end anywhere
	wins     []window       // views that move from strip to strip, if there are several
	temps    map[int32]bool // views of temporaries

	// For blocks with one op.
	node  *ad.Node
	types []ad.Type
	args  []int32 // views
	dst   int32   // view
	work  int32
	array *arrayOp       // implementations of its op
	dense *dense.Kernels // kernels that run the op instead of its row in package ad; nil: the row does
	reg   *regionPlan

	sparse *sparse  // for a product: its left matrix, if that is data and mostly zero
	split  *split   // how it is divided into parts; nil: it is not
	pass   *onePass // of this block and the next two; nil: none
}

// stripCheck is a check within a strip.
type stripCheck struct {
	node *ad.Node
	typ  ad.Type // of the argument
	perm []int32 // for each sorted element, its original index; nil: not sorted
}

// window makes view dst a strip's part of view src. For a temporary, which is as long as one strip,
// it only sets the length.
type window struct {
	dst, src int32
	temp     bool
}

// mapping is the map of a load or of a sum within a strip: a table, runs of equal entries of a
// table, or off + i·s0 + j·s1, where j is less than n1.
type mapping struct {
	table           []int32
	written         []int32 // the map as a table, for machine code
	runs            []tableRun
	strips          []int32 // for each strip, its first run; one more entry marks the end
	strip           int     // number of elements of a strip, if there are runs
	off, n1, s0, s1 int
}

// tableRun is a run of equal entries of a table. No run extends beyond its strip.
type tableRun struct{ elem, n int32 }

// viewSpec describes a view of a new machine. It is part of a constant or of the machine's memory;
// views that a region or a strip sets are empty.
type viewSpec struct {
	data   []float64
	off, n int
	unset  bool
	own    bool // in each worker's private memory
	// caller is set if Gradient may place it in the caller's memory instead, see callers.go
	caller bool
}

// move makes a view a slice of another one, at a position that depends on the step or lane.
type move struct {
	dst, src           int32
	off, lane, step, n int
}

// copying copies between a view and a slice of another one that moves.
type copying struct {
	dst, src   int32
	lane, step int
	n          int
	rep        bool
}

// scalarMove copies one number between memory and a view that moves.
type scalarMove struct {
	slot            int32
	view            int32
	off, lane, step int
}

// regionPlan is the code of a region: its bodies, the moves around them, and how they run.
type regionPlan struct {
	control control
	lanes   int
	bodies  [2][]block

	laneMoves, stepMoves []move
	laneLoads, stepLoads []scalarMove
	inits                []copying // the source moves with the lane
	clears               []int32
	history              keeps
	keeps                [2]keeps // values that the bodies keep, for each body
	stages, nexts        []copying
	nextScalars          []instr
	finals               []copying // the destination moves with the lane
}

// cursor is a position in an array that moves with the steps of a scan of scalar code.
type cursor struct {
	data      []float64
	slot      int32
	pos, step int
}

type keeps struct {
	scalars []scalarMove
	arrays  []copying
}

// any reports whether anything is stored.
func (k *keeps) any() bool { return len(k.scalars)+len(k.arrays) > 0 }

// Program is the code of a loop nest. It is immutable and may be shared.
type Program struct {
	blocks          []block
	memory          int
	own             int // size of each worker's private memory, in numbers
	splits          int // number of blocks that are done in parts
	views           []viewSpec
	maps            []mapping
	checks          []*ad.Node // of scalar code
	checkTypes      []ad.Type  // type of a scalar check's argument
	stripChecks     []stripCheck
	init            []initial
	inputs, outputs []int32 // views
	point, gradient []transfer
	size            int       // of the point
	callers         *callers  // nil: Gradient copies the whole point and the whole gradient
	whole           *fusedRun // function for all blocks that also copies point and gradient; nil: none
	pauses          bool      // all while loops are in functions, which often check for a stop, see pauseEvery
	maxArgs         int
	cursors         int // largest number of cursors that a tight scan needs

	target     *native.Target // processor for which machine code is made; nil: none
	dense      *dense.Kernels // kernels of dense linear algebra; nil: none yet
	time, trip float64        // estimated time of an evaluation and of a trip of a while loop, in ns, see stop.go
	apart      bool           // make a function for each block
	moved      []viewLength
	once       sync.Once
	native     *nativeCode // machine code; nil: none
	pinned     [][]float64 // numbers to which only machine code refers
	mistake    string      // see Mistake
	// number of regions whose lanes run as vectors, for tests
	vectored int
}

type initial struct {
	off int
	v   float64
}

// Apart makes each block separate code, so that a profile can time it. Call it before New.
func (p *Program) Apart() { p.apart = true }

// Mistake returns why no machine code could be generated for a processor that ppl knows: a fault of
// the generator, or memory that the system refuses. "" if there is none to report. The program is
// then interpreted, with the same results.
func (p *Program) Mistake() string {
	p.once.Do(p.makeNative)
	return p.mistake
}

// OpError is the error of an op that rejected the evaluation, with its position in the program.
type OpError = ad.OpError

// Compile runs the passes on g and generates code that evaluates its outputs and side effects.
func Compile(g *ad.Graph, o passes.Options) (*Program, error) {
	nest, err := passes.Run(g, o)
	if err != nil {
		return nil, err
	}
	p := Assemble(nest, o)
	return p, p.TooLarge()
}

// TooLarge returns an *ad.LimitError if a machine would need more memory than can be addressed.
// Such a program must not be run.
func (p *Program) TooLarge() error {
	if p.memory > maxMemory {
		return &ad.LimitError{What: "memory", Asked: int64(p.Memory()), Left: 8 * maxMemory, Limit: 8 * maxMemory}
	}
	return nil
}

// Addresses are 32-bit numbers: of elements in interpreted code, of bytes, with a sign, in machine
// code. Larger programs are refused, or only interpreted.
const (
	maxMemory = math.MaxInt32
	maxReach  = math.MaxInt32 / 8 / 2
)

// vast reports whether the memory is too large for machine code to reach all of it.
func (p *Program) vast() bool {
	return p.memory > maxReach || slices.ContainsFunc(p.views, func(v viewSpec) bool { return v.n > maxReach })
}

// Assemble generates code for a loop nest. It performs the last three passes: memory, which lets
// values with disjoint lifetimes share memory, native and parts.
func Assemble(nest *loopnest.Program, o passes.Options) *Program {
	p := &Program{checkTypes: []ad.Type{ad.Scalar}, maxArgs: 1}
	if o.Has(passes.NativePass) {
		p.target = Target()
	}
	e := newEmitter(p, nest)
	if o.Has(passes.PartsPass) {
		e.weigh(nest.Main)
	}
	x := e.body(nest.Main)
	const forever = int(^uint(0) >> 1)
	for _, r := range nest.Inputs {
		x.touch(r, -1, false)
		x.touch(r, forever, true)
	}
	p.blocks = x.emit()
	blocks := len(e.specs)
	for _, v := range nest.Outputs {
		x.touch(v.Buf, forever, true)
		p.outputs = append(p.outputs, x.view(v))
	}
	used := len(e.specs)
	for _, r := range nest.Inputs {
		p.inputs = append(p.inputs, x.view(e.whole(r)))
	}
	e.finish(o.Has(passes.MemoryPass))
	p.exchange()
	e.findCallers(blocks, used)
	p.time, p.trip = durations(nest)
	if p.vast() {
		p.target = nil
	}
	return p
}

// Machine is the state of one evaluation at a time: a program with its own memory. Use it in one
// goroutine.
type Machine struct {
	p     *Program
	mem   []float64
	views [][]float64
	args  [][]float64
	draw  []float64
	curs  []cursor
	work  []float64 // three strips
	// Addresses for machine code.
	memory, viewTable, scratchMemory unsafe.Pointer
	env                              *ad.Env
	watch                            *watch // for an evaluation that may be abandoned, see stop.go
	none                             ad.Env // used if the caller passes no Env
	point, grad                      []float64
	team                             *team // helpers; nil: none
	job                              dense.Job
	addresses                        [numAddresses]uintptr // operands of the current chain, for machine code
	sharing                          sharing               // shares the team with package dense
	regions                          *regionWork           // state of regions in parts; nil: none was needed yet
	fail                             failure               // the first check that failed in the strips so far
	lost                             *lost                 // set while an abandoned evaluation has the machine's memory
	err                              error                 // error of an op
	errAt                            int
}

// New returns a machine.
func (p *Program) New() *Machine {
	m := &Machine{p: p, mem: make([]float64, p.memory, p.memory+eight), views: make([][]float64, len(p.views)),
		curs: make([]cursor, p.cursors)}
	for i, v := range p.views {
		switch {
		case v.unset || v.own:
		case v.data != nil:
			m.views[i] = v.data
		default:
			m.views[i] = m.mem[v.off : v.off+v.n : v.off+v.n]
		}
	}
	for _, c := range p.init {
		m.mem[c.off] = c.v
	}
	p.once.Do(p.makeNative)
	m.takeOwn()
	if p.native != nil {
		m.memory = unsafe.Pointer(unsafe.SliceData(m.mem))
		m.setLengths()
	}
	return m
}

// takeOwn gives a worker its private memory.
func (m *Machine) takeOwn() {
	p := m.p
	numbers := make([]float64, p.maxArgs+3*maxStrip)
	m.args, m.draw, m.work = make([][]float64, 2*p.maxArgs), numbers[:p.maxArgs:p.maxArgs], numbers[p.maxArgs:]
	n, first := p.own, 0
	if p.native != nil {
		n, first = p.native.scratch, p.native.own
	}
	own := make([]float64, n+2*eight)
	// Start at a cache line, and have spare numbers, because sums by runs read beyond the end.
	own = own[int(-uintptr(unsafe.Pointer(unsafe.SliceData(own)))/8)&(eight-1):][:n]
	m.viewTable, m.scratchMemory = unsafe.Pointer(unsafe.SliceData(m.views)), unsafe.Pointer(unsafe.SliceData(own))
	for i, v := range p.views {
		if v.own {
			at := first + v.off
			m.views[i] = own[at : at+v.n : at+v.n]
		}
	}
}

// second returns a machine for a helper, which executes parts of m's blocks.
func (m *Machine) second() *Machine {
	s := &Machine{p: m.p, mem: m.mem, memory: m.memory, views: slices.Clone(m.views)}
	s.takeOwn()
	return s
}

// SetWorkers sets the number of goroutines, including the caller, that share an evaluation if it is
// long enough. The number does not affect results.
func (m *Machine) SetWorkers(n int) {
	m.found()
	switch {
	case m.p.splits == 0:
	case n < 2:
		m.team = nil
	case m.team == nil || len(m.team.helpers) != n-1:
		m.team = newTeam(m, n-1)
	}
}

// workers returns the number of workers, including the caller.
func (m *Machine) workers() int {
	if m.team == nil {
		return 1
	}
	return 1 + len(m.team.helpers)
}

// Input returns the machine's memory of input i, which the caller fills before Run. Run does not
// change it.
func (m *Machine) Input(i int) []float64 {
	m.found()
	return m.views[m.p.inputs[i]]
}

// Output returns the value of output i. It is valid until the next evaluation. Gradient sets the
// first output only.
func (m *Machine) Output(i int) []float64 {
	m.found()
	return m.views[m.p.outputs[i]]
}

// transfer is a run of numbers of a vector, from position at on, that are adjacent in the machine,
// too.
type transfer struct {
	at, n int
	view  int32 // the view that holds them; -1: memory from off on
	off   int
}

// exchange finds the transfers of all inputs, which together are one vector, and of all outputs but
// the first. Adjacent transfers are joined.
func (p *Program) exchange() {
	transfers := func(views []int32) (ts []transfer) {
		at := 0
		for _, v := range views {
			s := &p.views[v]
			t := transfer{at: at, n: s.n, view: -1, off: s.off}
			if s.data != nil {
				t.n, t.view = len(s.data), v
			}
			at += t.n
			if k := len(ts) - 1; k >= 0 && t.view < 0 && ts[k].view < 0 && ts[k].off+ts[k].n == t.off {
				ts[k].n += t.n
			} else if t.n > 0 {
				ts = append(ts, t)
			}
		}
		return ts
	}
	p.point = transfers(p.inputs)
	for _, t := range p.point {
		p.size += t.n
	}
	if len(p.outputs) > 0 {
		p.gradient = transfers(p.outputs[1:])
	}
}

// Gradient is Run for a program whose first output is a number and whose other outputs together are
// as long as grad. x has the values of the inputs, one after another, or of the first ones; the
// rest keep theirs. In a model of few parameters, setting inputs and reading outputs one by one
// would take as long as the computation.
func (m *Machine) Gradient(env *ad.Env, x, grad []float64) (float64, error) {
	m.found()
	if r := m.p.whole; r != nil && len(x) == m.p.size && !m.mayBeLeft(env) {
		if m.env != env {
			m.env = env
		}
		m.point, m.grad = x, grad // so that the slices are on the heap: a stack may move
		if err := m.runFused(r, pointerTo(x), pointerTo(grad)); err != nil {
			return 0, err
		}
		return m.Output(0)[0], nil
	}
	if c := m.p.callers; c != nil && m.team == nil && !m.mayBeLeft(env) {
		return m.withCallers(c, env, x, grad)
	}
	m.take(m.p.point, x)
	if err := m.Run(env); err != nil {
		return 0, err
	}
	m.give(m.p.gradient, grad)
	return m.Output(0)[0], nil
}

// take copies numbers of a point.
func (m *Machine) take(ts []transfer, x []float64) {
	for i := range ts {
		if t := &ts[i]; t.at < len(x) {
			copy(m.mem[t.off:t.off+t.n], x[t.at:])
		}
	}
}

// give copies numbers of a gradient.
func (m *Machine) give(ts []transfer, grad []float64) {
	for i := range ts {
		t := &ts[i]
		from := m.mem[t.off:]
		if t.view >= 0 {
			from = m.views[t.view]
		}
		copy(grad[t.at:t.at+t.n], from)
	}
}

// Run evaluates the outputs at the inputs and carries out the side effects in order. An error is a
// rejection: *ad.CheckError, *ad.RejectError, or *OpError.
func (m *Machine) Run(env *ad.Env) error {
	m.found()
	if env == nil {
		env = &m.none
	}
	if m.mayBeLeft(env) {
		return m.watched(env)
	}
	m.env = env
	return m.run(m.p.blocks)
}
