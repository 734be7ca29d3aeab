package emit

import (
	"maps"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/known"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/internal/planted"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// Program is the emission of a program: its state while graphs are built.
type Program struct {
	floor
	prog   *ir.Program
	vars   *variables
	lp     *logDensity
	log    *journal
	marks  *marks
	users  *userCalls
	ex     *expressions
	stmts  *statements
	params *parameters

	known  []Constant
	common *fork  // the common beginning of all graphs
	free   func() // gives back memory that the current graph does not keep
}

// Options of an emission.
type Options struct {
	Seed       uint64       // seed of random draws in transformed data, for package bind
	Print      func(string) // receives prints of transformed data, for package bind
	Propto     bool         // `~` and _lupdf drop terms
	Jacobian   bool         // transforms add their log Jacobians
	Transforms transform.Edition
	Budget     *ad.Budget // memory and statements; nil: no bounds
	Unroll     bool       // evaluate every loop iteration by iteration, for tests
}

// Stats describes how loops and branches were evaluated.
type Stats struct {
	Laned    int // loops evaluated once for all iterations
	Scanned  int // loops with a recurrence
	Carried  int // loops as one region that carries variables whole
	Iterated int // loops whose number of iterations is computed
	Unrolled int
	Ifs      int      // conditionals that parameters decide
	Plans    []Plan   // plans of the first few hundred loops, in order of evaluation
	Faults   []string // plans that could not be carried out
	Notes    []string // why loops were not laned: "line 12: reason"
	Slow     []SlowLoop
}

// SlowLoop is a loop of many iterations, evaluated one after another, that changes arrays.
type SlowLoop struct {
	Span       source.Span // of its body
	Iterations int         // over all lanes around
	Variables  []string    // the arrays
	Why        []string    // reasons against the faster ways
	Instead    string      // what to write instead
}

// complaints runs fn, and returns the errors that it throws as *Error.
func (pr *Program) complaints(fn func()) (err error) {
	unforeseen := func(why any) error {
		p := pr.rep.fail(pr.rep.span, diag.NotSupported, "this cannot be evaluated: %v", why)
		return &Error{List: diag.List{p.d}, Fault: true}
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *halt:
			err = r.err
		case *ad.BuildError:
			if r.Err != nil {
				err = pr.rep.limited(r.Err, pr.b.sites[r.Site])
				return
			}
			err = unforeseen(r)
		case *problem:
			err = &Error{List: diag.List{r.d}, Skippable: r.skippable}
		case *fault:
			err = unforeseen(r.Reason)
		default: // also a fault: it must not end programs that embed the package
			if planted.Loud() {
				panic(r)
			}
			err = unforeseen(r)
		}
	}()
	fn()
	return nil
}

// Constant is the value of a data variable, outside of any graph.
type Constant struct {
	Var   *ir.Var
	Shape []int
	Ints  []int64
	Reals []float64
}

// start makes cells of the known variables in a new graph.
func (pr *Program) start() {
	if pr.free != nil {
		pr.free()
	}
	pr.begin()
	pr.free = pr.b.refund()
	pr.vars.cells = make([]*cell, pr.prog.NumVars)
	for _, k := range pr.known {
		c := pr.mem.newCell(nil, k.Var.Name, k.Var.Type, k.Shape)
		v := value{typ: k.Var.Type, shape: k.Shape, ints: k.Ints}
		if k.Ints == nil {
			v.lvl, v.ref = pr.b.root, pr.b.root.g.ConstArray(ad.Type{Shape: k.Shape}, k.Reals)
		}
		c.state = state{whole: &v}
		pr.vars.cells[k.Var.ID] = c
	}
}

// beginDensity evaluates parameters and transformed parameters. jacobians says whether the
// transforms of parameters add their log Jacobians.
func (pr *Program) beginDensity(jacobians bool) {
	pr.start()
	pr.lp.inModel = true
	var jacobian func(value)
	if jacobians {
		jacobian = func(v value) { pr.lp.targets = append(pr.lp.targets, v) }
	}
	pr.params.parameters(jacobian)
	pr.transformedParameters()
}

// endDensity evaluates the model block and returns the graph of the log density.
func (pr *Program) endDensity() *ad.Graph {
	for _, s := range pr.prog.Model {
		pr.stmts.exec(s)
	}
	return pr.sum()
}

// sum returns the graph whose output is the sum of the terms so far.
func (pr *Program) sum() *ad.Graph {
	g := pr.b.root.g
	sum := g.Const(0)
	for _, t := range pr.lp.targets {
		sum = g.Add(sum, t.ref)
	}
	g.Output(sum)
	pr.lp.inModel = false
	return g
}

// fork is a saved state of evaluation. Several parts of a program continue from it.
type fork struct {
	g       *ad.Graph
	cells   []*cell
	aligned map[alignKey]ad.Ref
}

// fork saves the state of evaluation, outside of all statements.
func (pr *Program) fork() *fork {
	return &fork{g: pr.b.root.g.Fork(), cells: copies(pr.vars.cells), aligned: maps.Clone(pr.b.aligned)}
}

// resume continues from a fork, which does not change. It first gives back the memory that the
// previous part took and does not keep.
func (pr *Program) resume(f *fork) {
	pr.free()
	pr.restart()
	pr.b.root.g, pr.vars.cells, pr.b.aligned = f.g.Fork(), copies(f.cells), maps.Clone(f.aligned)
	pr.free = pr.b.refund()
}

// copies returns cells with the same content. After that, neither the cells nor the copies change
// it in place.
func copies(cells []*cell) []*cell {
	out := slices.Clone(cells)
	room := make([]cell, len(cells)) // for all copies
	for i, c := range cells {
		if c != nil {
			c.owned = false
			room[i] = *c
			out[i] = &room[i]
		}
	}
	return out
}

func (pr *Program) transformedParameters() {
	for _, s := range pr.prog.TransformedParameters {
		pr.stmts.exec(s)
	}
	for _, v := range pr.prog.TransformedParameterVars {
		pr.params.checkDeclared(v)
	}
}

// Begin evaluates the common beginning of all graphs: parameters and transformed parameters. Call
// it after Describe.
func (pr *Program) Begin() error {
	return pr.complaints(func() {
		pr.beginDensity(pr.opts.Jacobian)
		pr.common = pr.fork()
	})
}

// Density returns the graph of the log density. Call it after Begin. Behind the parameters, its
// inputs are variables with ir.Var.Marks.
func (pr *Program) Density() (g *ad.Graph, err error) {
	pr.lp.marked = true
	defer func() { pr.lp.marked = false }()
	err = pr.complaints(func() { g = pr.endDensity() })
	return g, err
}

// Constrained returns the graph whose outputs are parameters and transformed parameters.
func (pr *Program) Constrained() (*ad.Graph, error) {
	return pr.rest(func() {}, pr.prog.Parameters, pr.prog.TransformedParameterVars)
}

// Generated returns the graph of generated quantities and all other quantities.
func (pr *Program) Generated() (*ad.Graph, error) {
	return pr.rest(func() {
		for _, s := range pr.prog.GeneratedQuantities {
			pr.stmts.exec(s)
		}
		for _, v := range pr.prog.GeneratedQuantityVars {
			pr.params.checkDeclared(v)
		}
	}, pr.prog.Parameters, pr.prog.TransformedParameterVars, pr.prog.GeneratedQuantityVars)
}

// rest evaluates a part of the program from the common beginning, and makes variables the outputs.
func (pr *Program) rest(run func(), vars ...[]*ir.Var) (g *ad.Graph, err error) {
	err = pr.complaints(func() {
		pr.resume(pr.common)
		run()
		pr.outputs(slices.Concat(vars...))
		g = pr.b.root.g
	})
	return g, err
}

// Stats returns how loops and branches were evaluated so far.
func (pr *Program) Stats() Stats { return pr.log.stats }

// Sites returns the source positions of graph nodes, by ad.Site, and for those in functions of the
// library the calls in the program.
func (pr *Program) Sites() (at, calls []source.Span) { return pr.b.sites, pr.b.calls }

// nameBytes is the memory, in bytes, of the name and position of an element of an output.
const nameBytes = 96

// Describe lists the parameters and the names of all outputs. The first `constrained` names are
// those of parameters and transformed parameters. Data must decide all sizes.
func (pr *Program) Describe() (params []Param, names []string, constrained int, err error) {
	err = pr.complaints(func() {
		for _, k := range pr.known {
			pr.rep.move(k.Var.Span)
			pr.rep.Reserve(8, k.Shape...)
		}
		pr.start()
		pr.params.describe()
		var shapes [][]int
		list := func(vars []*ir.Var) {
			for _, leaves := range ir.Declared(vars) {
				shapes = shapes[:0]
				for _, v := range leaves {
					shapes = append(shapes, pr.ex.sizes(v))
					pr.rep.Reserve(nameBytes, shapes[len(shapes)-1]...)
				}
				names = ir.AppendNames(names, leaves, shapes, pr.ex.rows(leaves[0]))
			}
		}
		list(pr.prog.Parameters)
		list(pr.prog.TransformedParameterVars)
		constrained = len(names)
		list(pr.prog.GeneratedQuantityVars)
	})
	return pr.params.list, names, constrained, err
}

// outputs makes the values of variables the output of the graph.
func (pr *Program) outputs(vars []*ir.Var) {
	g := pr.b.root.g
	var parts, flat []ad.Ref
	var shapes [][]int
	var starts []int32
	for _, leaves := range ir.Declared(vars) {
		shapes, flat, starts = shapes[:0], flat[:0], starts[:0]
		total := 0
		for _, v := range leaves {
			c := pr.vars.cell(v)
			pr.rep.move(v.Span)
			pr.rep.Reserve(nameBytes, c.size)
			r := pr.b.use(pr.mem.pack(c), pr.b.root, nil)
			flat = append(flat, g.Reshape(r, []int{c.size}))
			shapes, starts = append(shapes, c.shape), append(starts, int32(total))
			total += c.size
		}
		order := make([]int32, total)
		for i, s := range ir.Layout(leaves, shapes) {
			order[i] = starts[s.Leaf] + int32(s.Element)
		}
		all := flat[0]
		if len(flat) > 1 {
			all = g.Concat(flat...)
		}
		parts = append(parts, g.Gather(all, ad.Index{Dims: []ad.Dim{lanes.Table(order)}}))
	}
	if len(parts) == 0 {
		parts = append(parts, g.ConstArray(ad.Type{Shape: []int{0}}, nil))
	}
	g.Output(g.Concat(parts...))
}

// begin starts a new graph.
func (pr *Program) begin() {
	pr.b.root = &level{g: ad.NewGraph()}
	pr.b.root.g.Use(pr.opts.Budget)
	pr.restart()
}

// restart resets the state of evaluation: no statement in progress, nothing evaluated.
func (pr *Program) restart() {
	*pr.at = context{lvl: pr.b.root}
	pr.b.aligned = map[alignKey]ad.Ref{}
	pr.b.covered = map[[2]*axis]bool{}
	pr.lp.targets, pr.rep.calls, pr.rep.levels, pr.users.frame = nil, nil, 0, nil
	pr.rep.skipped = 0
	pr.lp.propto, pr.lp.inModel = pr.opts.Propto, false
}

// The parts of an emission. Each part uses those above it. It uses parts further down through two
// interfaces, for expressions and statements.

// floor holds the lowest parts, which every other part needs.
type floor struct {
	at   *context
	opts *Options
	rep  *reporter
	b    *builder
	arr  *arrays
	mem  *contents
}

// evaluator evaluates expressions.
type evaluator interface {
	eval(e ir.Expr) value
	args(es []ir.Expr) []value
}

// runner runs statements.
type runner interface {
	exec(s ir.Stmt) signal
	execAll(stmts []ir.Stmt) signal
}

// New prepares the emission of a program.
func New(prog *ir.Program, data []Constant, o Options) *Program {
	at, functions := &context{}, static.NewFunctions()
	_, left := o.Budget.Left()
	evaluation := interp.Options{Transforms: o.Transforms}
	if o.Budget != nil {
		evaluation.Stop = o.Budget.Stop
	}
	rep := &reporter{at: at, opts: &o, left: left, maxSkipped: left / maxSkippedShare}
	b := &builder{at: at, rep: rep, siteOf: map[sitePlace]ad.Site{}, sites: make([]source.Span, 1, 32), calls: make([]source.Span, 1, 32)}
	arr := &arrays{at: at, rep: rep, b: b}
	f := floor{at: at, opts: &o, rep: rep, b: b, arr: arr, mem: &contents{at: at, rep: rep, b: b, arr: arr}}
	ex, stmts := &expressions{}, &statements{} // which the parts above them call, too
	vars := &variables{floor: f, functions: functions}
	lp, log := &logDensity{floor: f}, &journal{at: at, rep: rep}
	ctl := &control{floor: f, lp: lp, log: log}
	mk := &marks{floor: f, prog: prog, lp: lp, ex: ex}
	idx := &indexer{floor: f, vars: vars, ex: ex}
	lib := &library{floor: f, vars: vars, lp: lp, marks: mk, idx: idx, ex: ex}
	users := &userCalls{floor: f, vars: vars, lp: lp, ctl: ctl, ex: ex, stmts: stmts, known: known.NewEvaluators(prog, functions, evaluation, o.Budget)}
	*ex = expressions{floor: f, vars: vars, lp: lp, ctl: ctl, idx: idx, lib: lib, users: users}
	iter := &iterator{floor: f, vars: vars, users: users, ex: ex}
	ns := &nests{floor: f, vars: vars, log: log, iter: iter, scans: &scans{floor: f, lp: lp, marks: mk}, stmts: stmts}
	carr := &carrier{floor: f, functions: functions, vars: vars, lp: lp, log: log, ctl: ctl, iter: iter, ex: ex, stmts: stmts}
	ls := &loops{floor: f, log: log, ctl: ctl, idx: idx, iter: iter, nests: ns, carr: carr, ex: ex, stmts: stmts}
	*stmts = statements{floor: f, vars: vars, lp: lp, ctl: ctl, idx: idx, lib: lib, users: users, ex: ex, loops: ls}
	params := &parameters{floor: f, prog: prog, vars: vars, ex: ex}
	p := &Program{floor: f, prog: prog, vars: vars, lp: lp, log: log, marks: mk, users: users, ex: ex, stmts: stmts, params: params, known: data}
	p.begin()
	return p
}
