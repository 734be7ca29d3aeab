package compile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/marginal"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/compile/internal/vm"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/internal/planted"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// BindOptions are options of Bind; the zero value is the default.
type BindOptions struct {
	Seed       uint64       // seed of the random draws in transformed data
	NoPropto   bool         // keep the terms that `~` drops
	NoJacobian bool         // leave out the log Jacobians of the transforms
	Print      func(string) // receives the text of print statements; nil: dropped
	MaxPrint   int64        // total bytes printed; 0: 64 MiB. At most 1 MiB per evaluation
	Without    []string     // names of lowering passes to leave out; for developers
	StanCompat string       // "2.32": the transforms of that Stan version; "": those of the newest

	// Memory is the number of bytes that binding, or an evaluation of the model, may take; 0 means
	// DefaultMemory. It bounds the memory that sizes and loops ask for. It does not count garbage
	// that Go's collector has not freed yet.
	Memory int64
	// Doubled is the number of times that the number of values of discrete parameters without an
	// upper bound is doubled at all points. Without it, points that need it have more values.
	Doubled int
	// Statements bounds the number of statements evaluated while binding, and in an interpreted
	// evaluation. Each iteration of a loop counts its statements again. 0 is DefaultStatements.
	Statements int64
}

// Model is a program bound to data; [Program.Bind] makes one. The methods of a nil or zero Model,
// Program or Rejection panic. The methods of one Model are not safe for concurrent use, except
// Clone.
type Model struct {
	program   *ir.Program
	bound     *bind.Bound
	written   *ast.File          // the program as written, without ragged variables and declarations of censored data
	censored  bool               // it has such declarations
	ragged    bool               // it was written with ragged variables
	matrices  bool               // it was written with sparse matrices
	discrete  *marginal.Result   // nil: the program has no discrete parameters
	made      *made              // shared by clones
	whole     func() *ir.Program // see Program
	rest      *Model             // this clone's copy of made.rest
	reference *Model             // of this clone, see afterFault; nil: it was not needed yet
	set       *data.Set          // the data, if whole is not nil
	ladder    *ladder            // shared by clones and by the models of all levels; nil: there are no counts
	level     int
	deep      map[int]*Model  // this clone's copies of the ladder's models
	haste     float64         // see SetHasty
	postponed bool            // a point was rejected for it
	sparse    []passes.Sparse // found by the passes before differentiation, for Explain
	firstOnly *firstOnly      // nil: bound.Density has second derivatives, too
	early     []PassEffect    // effects of the passes before differentiation, for Explain
	density   *vm.Program     // nil: interpreted
	options   interp.Options
	without   []string
	asked     BindOptions    // the options given to Bind
	fault     *planted.Fault // set by tests

	impossible *Error // see Impossible

	offsets []int // start of each parameter in x
	dim     int
	env     *ad.Env
	drawing ad.Env // of Generate
	prints  *printer
	machine *vm.Machine
	constr  *vm.Machine
	gen     *vm.Machine
	joint   *vm.Machine // the machine of the last Recentring
	workers int         // see SetWorkers; 0: 1

	curvature *curvature // shared by clones
	planned   planned
	curves    map[*vm.Program]*vm.Machine
}

// Bind is BindContext without a context.
func (p *Program) Bind(d *data.Set, o BindOptions) (*Model, error) {
	return p.BindContext(context.Background(), d, o)
}

// BindContext evaluates the program with its data. The error is an *Error if there are positions to
// show. If ctx ends, the error wraps its cause.
func (p *Program) BindContext(ctx context.Context, d *data.Set, o BindOptions) (*Model, error) {
	return p.bind(ctx, d, o, planted.From(ctx))
}

func (p *Program) bind(ctx context.Context, d *data.Set, o BindOptions, fault *planted.Fault) (m *Model, err error) {
	m, err = p.bindFirst(ctx, d, o, fault)
	if p.whole != nil && errors.As(err, new(*Error)) { // transformed data may be left to the other program
		return (&Program{ir: p.whole(), tree: p.tree, plain: p.plain, ragged: p.ragged, sparse: p.sparse}).bindFirst(ctx, d, o, fault)
	}
	return m, err
}

// bindFirst is bind without another program for what the first one leaves in transformed data.
func (p *Program) bindFirst(ctx context.Context, d *data.Set, o BindOptions, fault *planted.Fault) (m *Model, err error) {
	var bound *bind.Bound
	var graph *ad.Graph // current graph, to place an error
	defer func() {
		if faultOf(err) != nil {
			err = fmt.Errorf("the model cannot be compiled (%w): %s", err, report)
		}
		err = placed(err, bound, graph)
	}()
	defer ad.Recover(&err)
	if d == nil {
		d = data.Empty()
	}
	d = p.Flattened(d)
	asked := o
	o.Memory, o.Statements = p.MemoryOr(o.Memory), cmp.Or(o.Statements, DefaultStatements)
	budget := ad.NewBudget(o.Memory, o.Statements)
	budget.Stop = func() error {
		if ctx.Err() != nil {
			return fmt.Errorf("binding was interrupted: %w", context.Cause(ctx))
		}
		return nil
	}
	if err := budget.Stop(); err != nil {
		return nil, err
	}
	if err := vm.CheckProcessor(); err != nil {
		return nil, err
	}
	if limit := (*ad.LimitError)(nil); errors.As(budget.Take(d.Memory()), &limit) {
		return nil, fmt.Errorf("the data take %s of memory, and a model may take %s with them; allow for more memory", ad.FormatBytes(limit.Asked), ad.FormatBytes(limit.Limit))
	}
	edition, err := transform.EditionOf(o.StanCompat)
	if err != nil {
		return nil, err
	}
	prints := newPrinter(o.Print, o.MaxPrint)
	options := bind.Options{Seed: o.Seed, Propto: !o.NoPropto, Jacobian: !o.NoJacobian, Print: prints.function(), Transforms: edition, Budget: budget}
	program, discrete := p.ir, (*marginal.Result)(nil)
	if p.discrete != nil {
		program, discrete, err = p.summed(d, options, o.Doubled)
	}
	if err == nil {
		program = complete(program, d)
		bound, err = bind.Bind(program, d, options)
	}
	if err != nil {
		if all := dataErrors(p.ir, d, options); all != nil {
			return nil, all
		}
		return nil, err
	}
	m = &Model{
		asked: asked, fault: fault,
		program: program, bound: bound, written: p.plain, censored: p.plain != p.tree, ragged: p.ragged, matrices: p.sparse, discrete: discrete, made: &made{}, without: o.Without, prints: prints, env: &ad.Env{Print: prints.function()}, curvature: &curvature{},
		options: interp.Options{Propto: !o.NoPropto, Jacobian: !o.NoJacobian, Transforms: edition, Memory: o.Memory, Statements: o.Statements},
	}
	if discrete != nil && len(discrete.Cuts) > 0 {
		if bound.Density == nil {
			return nil, m.uncuttable()
		}
		m.ladder, m.level = newLadder(p, d, asked, fault), p.level+asked.Doubled
	}
	if p.whole != nil {
		m.whole, m.set = func() *ir.Program { return complete(p.whole(), d) }, d
	}
	for _, par := range bound.Params {
		m.offsets = append(m.offsets, m.dim)
		m.dim += par.Size
	}
	for _, g := range []*ad.Graph{bound.Constrained, bound.Generated} { // made when first used
		graph = g
		if err := largest(g, budget); err != nil {
			return nil, err
		}
	}
	m.impossible = impossible(bound, d)
	bound.Part = nil // no longer needed
	if bound.Density == nil {
		_, err := m.plain()
		return m, err
	}
	ofDensity := fault.Of(false)
	w := &work{graph: planted.After(ofDensity, planted.Bind, bound.Density), cuts: marked(discrete)}
	defer func() { graph = w.graph }()
	if err := w.differentiate(passes.Options{Without: o.Without, Lanes: vm.Lanes(), Fault: ofDensity, Trace: func(s *passes.Step) {
		m.early, m.sparse = append(m.early, effect(s)), append(m.sparse, s.Sparse...)
		if s.Pass.Once && s.Changed {
			m.firstOnly = &firstOnly{s.Pass.Name, m.bound.Density}
		}
	}}); err != nil {
		return m.uncompiled(err)
	}
	bound.Density = w.graph
	if err := w.assemble(passes.Options{Without: o.Without, Fault: ofDensity, Budget: budget}); err != nil {
		return m.uncompiled(err)
	}
	if err := budget.Take(int64(w.program.Memory())); err != nil {
		return nil, err
	}
	m.density = w.program
	m.machine = m.density.New()
	return m, nil
}

// largest checks that a budget allows for the largest value that a graph computes. It takes the
// memory and gives it back.
func largest(g *ad.Graph, budget *ad.Budget) error {
	if g == nil {
		return nil
	}
	most, live := 0, g.Live(g.Outputs, true)
	for i := range g.Nodes {
		if n := &g.Nodes[i]; live[i] && n.Op != ad.OpConst {
			most = max(most, n.Type.Total())
		}
	}
	used := budget.Used()
	err := budget.Take(8 * int64(most))
	budget.Back(used)
	return err
}

// Memory returns the number of bytes that each clone needs to evaluate the log density. The program
// that clones share is not counted. It is 0 if the log density is interpreted: its memory then
// depends on the statements evaluated.
func (m *Model) Memory() int64 {
	if m.density == nil {
		return 0
	}
	return int64(m.density.Memory())
}

// CloneDensity is [Model.Clone] with the signature that infer.Cloner needs.
func (m *Model) CloneDensity() interface {
	Dim() int
	LogDensityGrad(x, grad []float64) (float64, error)
} {
	return m.Clone()
}

// Clone returns a model that shares the program but has its own working memory.
func (m *Model) Clone() *Model {
	c := *m
	c.machine, c.constr, c.gen, c.joint, c.curves, c.workers, c.rest, c.reference = nil, nil, nil, nil, nil, 0, nil, nil
	c.haste, c.postponed, c.deep = 0, false, nil
	if m.density != nil {
		c.machine = m.density.New()
	}
	c.prints = m.prints.clone()
	c.env = &ad.Env{Print: c.prints.function()}
	return &c
}

// placed adds a position in the program to an error that arose while a graph was processed. If a
// budget is exhausted, it is the position of the node that asked for memory, or of the largest
// value.
func placed(err error, bound *bind.Bound, g *ad.Graph) error {
	if err == nil || bound == nil {
		return err
	}
	err = bound.Limited(err, g)
	var build *ad.BuildError
	if !errors.As(err, &build) || build.Err != nil || int(build.Site) >= len(bound.Sites) {
		return err // or the caller has stopped waiting
	}
	return &Error{List: diag.List{diag.Errorf(diag.NotSupported, bound.Sites[build.Site], "this cannot be evaluated: %v", build)}}
}

// SetStop sets a function that running evaluations of m call now and then; clones do not. A loop
// whose end depends on parameters may never end. If stop returns an error, the evaluation ends, and
// its error wraps that one. nil removes the function. It implements infer.Stopper.
func (m *Model) SetStop(stop func() error) { m.env.Stop = stop }

// SetWorkers sets the number of goroutines that evaluate the log density of m, where this takes
// long enough. It does not apply to clones; 1 is the default. Results are the same to the last bit.
// It implements infer.Parallel.
func (m *Model) SetWorkers(n int) {
	m.workers = n
	if m.rest != nil {
		m.rest.SetWorkers(n)
	}
	for _, d := range m.deep { // m is among its own
		d.workers = n
		d.machine.SetWorkers(n)
	}
	for _, mc := range []*vm.Machine{m.machine, m.joint} {
		if mc != nil {
			mc.SetWorkers(n)
		}
	}
}

// MemoryLimit returns the number of bytes that a computation with the model may take. It implements
// infer.Limited.
func (m *Model) MemoryLimit() int64 { return m.options.Memory }

// Work returns about how many numbers an evaluation of log density and gradient computes; 0 if the
// density is interpreted. It does not depend on the machine. It implements infer.Costed.
func (m *Model) Work() float64 {
	if m.density == nil {
		return 0
	}
	return m.density.Work()
}

// Dim returns the number of unconstrained parameters.
func (m *Model) Dim() int { return m.dim }

// LogDensityGrad computes the log density at the unconstrained point x and writes its gradient to
// grad; both have length Dim. -Inf is a valid result. An error (*Rejection) means that the program
// rejects x. The method does not allocate unless it fails or the density is interpreted.
func (m *Model) LogDensityGrad(x, grad []float64) (float64, error) {
	if len(x) != m.dim || len(grad) != m.dim {
		return 0, fmt.Errorf("a point of %d and a gradient of %d numbers for a model of dimension %d", len(x), len(grad), m.dim)
	}
	m.prints.begin()
	if m.density == nil {
		return m.interpretGrad(x, grad)
	}
	lp, err := gradient(m.machine, m.env, x, grad)
	if err != nil {
		rest, err := m.further(m.rejection(err))
		if rest != nil {
			return rest.LogDensityGrad(x, grad)
		}
		return 0, err
	}
	return lp, nil
}

// Rejection is the error of an evaluation that the program rejects. Examples are an argument
// outside its domain, a reject statement, and a matrix without a Cholesky factor.
type Rejection struct {
	Span source.Span // the statement
	Err  error
}

// Error returns the message with its position: "sigma must be positive, but is -1
// (model.stan:12:3)".
func (r *Rejection) Error() string {
	if at := r.Span.Begin(); r.Span.IsValid() {
		return fmt.Sprintf("%v (%s, line %d, column %d)", r.Err, at.File, at.Line, at.Column)
	}
	return r.Err.Error()
}

// Unwrap returns the error without its place.
func (r *Rejection) Unwrap() error { return r.Err }

// Fatal reports whether the rejection must end the run. Causes are fatal_error, an exceeded limit,
// and an endless recursion.
func (r *Rejection) Fatal() bool {
	var e *ad.RejectError
	var fatal interface{ Fatal() bool }
	return errors.As(r.Err, &e) && e.Fatal || errors.As(r.Err, &fatal) && fatal.Fatal()
}

func (m *Model) rejection(err error) error {
	var plain *interp.Error
	if errors.As(err, &plain) {
		return m.wanting(&Rejection{Span: plain.Diagnostic.Span, Err: plain.Err})
	}
	r := &Rejection{Err: err}
	site := ad.Site(0)
	var check *ad.CheckError
	var reject *ad.RejectError
	var op *vm.OpError
	switch {
	case errors.As(err, &check):
		site = check.Site
	case errors.As(err, &reject):
		site = reject.Site
	case errors.As(err, &op):
		site = op.Site
	}
	if int(site) < len(m.bound.Sites) {
		r.Span = m.bound.Sites[site]
	}
	if m.left(r) {
		r.Err = errStiff
	}
	at, function := m.bound.At(site)
	if r.Span = at; function != "" && r.Err != errStiff {
		r.Err = fmt.Errorf("%s: %w", function, r.Err)
	}
	return m.wanting(r)
}

// UnconstrainedNames names the coordinates of x.
func (m *Model) UnconstrainedNames() []string {
	var names []string
	for _, p := range m.bound.Params {
		names = append(names, p.Names...)
	}
	return names
}

// ConstrainedNames names parameters and transformed parameters: theta.1.
func (m *Model) ConstrainedNames() []string { return m.bound.Names[:m.bound.NumConstrained] }

// OutputNames names parameters, transformed parameters and generated
// quantities, as in the columns of CmdStan's files.
func (m *Model) OutputNames() []string { return m.bound.Names }

// Constrain computes the values that ConstrainedNames names at the point x.
func (m *Model) Constrain(x, dst []float64) error {
	if err := m.fits(x, dst, m.bound.NumConstrained); err != nil {
		return err
	}
	m.prints.begin()
	if m.constr == nil {
		p, err := m.made.constrained.program(m, "transformed parameters", m.bound.Constrained)
		switch {
		case err != nil:
			return err
		case p == nil:
			return m.interpretOutputs(m.env, x, dst, false)
		}
		m.constr = p.New()
	}
	return m.orRest(m.outputs(m.constr, m.env, x, dst), func(r *Model) error { return r.Constrain(x, dst) })
}

// Generate computes the values that OutputNames names at the point x. The _rng functions of
// generated quantities draw from rng. If it fails, the generated quantities are NaN.
func (m *Model) Generate(x []float64, rng *rand.Rand, dst []float64) error {
	if err := m.fits(x, dst, len(m.bound.Names)); err != nil {
		return err
	}
	m.prints.begin()
	m.drawing = ad.Env{Rand: rng, Print: m.env.Print, Stop: m.env.Stop}
	err := m.generate(&m.drawing, x, dst)
	if err != nil {
		// As in CmdStan, the draw is kept; only its generated quantities are missing.
		for i := range dst {
			dst[i] = math.NaN()
		}
		_ = m.Constrain(x, dst[:m.bound.NumConstrained])
	}
	return err
}

// fits checks the lengths of a point and of the slice for results.
func (m *Model) fits(x, dst []float64, want int) error {
	if len(x) != m.dim || len(dst) != want {
		return fmt.Errorf("a point of %d numbers and a place for %d results; the model has dimension %d and %d results", len(x), len(dst), m.dim, want)
	}
	return nil
}

func (m *Model) generate(env *ad.Env, x, dst []float64) error {
	if m.gen == nil {
		p, err := m.generator()
		switch {
		case err != nil:
			return err
		case p == nil:
			return m.generated(m.interpretOutputs(env, x, dst, true), env, x, dst)
		}
		m.gen = p.New()
	}
	return m.generated(m.outputs(m.gen, env, x, dst), env, x, dst)
}

// generator returns the program of generate; nil if outputs are interpreted.
func (m *Model) generator() (*vm.Program, error) {
	return m.made.generated.program(m, "generated quantities", m.bound.Generated)
}

// generated completes an evaluation of generate, which may leave the point to another model.
func (m *Model) generated(err error, env *ad.Env, x, dst []float64) error {
	if err != nil && m.discrete != nil && m.discrete.Sized() {
		return err // another level has another number of probabilities
	}
	return m.orRest(err, func(r *Model) error { return r.generate(env, x, dst) })
}

func (m *Model) outputs(mc *vm.Machine, env *ad.Env, x, dst []float64) error {
	for i, p := range m.bound.Params {
		copy(mc.Input(i), x[m.offsets[i]:m.offsets[i]+p.Size])
	}
	if err := run(mc, env); err != nil {
		return m.rejection(err)
	}
	copy(dst, mc.Output(0))
	return nil
}

// DensityGraph returns the graph that LogDensityGrad evaluates. It has one input for each
// parameter: the parameter's part of x. Its outputs are the log density and the gradient with
// respect to every input. The graph is for inspection; do not change it. It is nil if the log
// density is interpreted.
func (m *Model) DensityGraph() *ad.Graph { return m.bound.Density }

// Loops reports how Bind evaluated the loops and conditionals of the program, and the faults of ppl
// so far that make this model slow.
func (m *Model) Loops() bind.Stats {
	s := m.bound.Stats
	for _, part := range []struct {
		name string
		p    *vm.Program
	}{{"the log density", m.density}, {"transformed parameters", m.made.constrained.existing()}, {"generated quantities", m.made.generated.existing()}} {
		if part.p == nil || part.p.Mistake() == "" {
			continue
		}
		fault := fmt.Sprintf("machine code for %s could not be generated: %s", part.name, part.p.Mistake())
		s.Faults = append(slices.Clip(s.Faults), fault)
	}
	s.Faults = slices.Concat(s.Faults, m.made.faults.all())
	if rest := m.made.rest.existing(); rest != nil {
		s.Faults = slices.Concat(s.Faults, rest.Loops().Faults)
	}
	return s
}
