package compile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/compile/internal/vm"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/internal/planted"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// BindOptions are options of Bind; the zero value is the default.
type BindOptions struct {
	Seed       uint64       // of random draws in transformed data
	NoPropto   bool         // keep the terms that `~` drops
	NoJacobian bool         // leave out the log Jacobians of the transforms
	Print      func(string) // receives what print statements print; nil: dropped
	MaxPrint   int64        // bytes that are printed, in all; 0: 64 MiB. Of one evaluation it is 1 MiB
	Without    []string     // passes of the lowering that are left out, by name; for developers
	StanCompat string       // "2.32": the transforms of that version of Stan, where they differ; "" is the newest

	// Memory is the number of bytes that binding, and an evaluation of the model, may
	// take; 0 is DefaultMemory. It bounds what is asked for by sizes and loops; what Go's
	// collector has not yet freed is not counted.
	Memory int64
	// Statements is how many statements may be evaluated while binding, those of the
	// iterations of loops counted, and in an evaluation that is interpreted; 0 is
	// DefaultStatements.
	Statements int64
}

// Model is a program bound to data, made by [Program.Bind]: the methods of a nil or zero
// Model, Program or Rejection panic. Its methods are not safe for concurrent
// use; Clone is.
type Model struct {
	program *ir.Program
	bound   *bind.Bound
	made    *made        // shared by clones
	early   []PassEffect // of the passes before differentiation, for Explain
	density *vm.Program  // nil: interpreted
	options interp.Options
	without []string
	asked   BindOptions    // what it was bound with
	fault   *planted.Fault // of tests

	impossible *Error // see Impossible

	offsets []int // of the parameters in x
	dim     int
	env     *ad.Env
	drawing ad.Env // of Generate
	prints  *printer
	machine *vm.Machine
	constr  *vm.Machine
	gen     *vm.Machine
	joint   *vm.Machine // of the last Recentring
	workers int         // see SetWorkers; 0: 1

	curvature *curvature // shared by clones
	planned   planned
	curves    map[*vm.Program]*vm.Machine
}

// Bind is BindContext without a context.
func (p *Program) Bind(d *data.Set, o BindOptions) (*Model, error) {
	return p.BindContext(context.Background(), d, o)
}

// BindContext evaluates the program with data known. The error is *Error where there
// are positions to show; where ctx ended it, it wraps the cause of that.
func (p *Program) BindContext(ctx context.Context, d *data.Set, o BindOptions) (*Model, error) {
	return p.bind(ctx, d, o, planted.From(ctx))
}

func (p *Program) bind(ctx context.Context, d *data.Set, o BindOptions, fault *planted.Fault) (m *Model, err error) {
	var bound *bind.Bound
	var graph *ad.Graph // that something is made of
	defer func() { err = placed(err, bound, graph) }()
	defer ad.Recover(&err)
	if d == nil {
		d = data.Empty()
	}
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
	bound, err = bind.Bind(p.ir, d, options)
	if err != nil {
		if all := dataErrors(p.ir, d, options); all != nil {
			return nil, all
		}
		return nil, err
	}
	m = &Model{
		asked: asked, fault: fault,
		program: p.ir, bound: bound, made: &made{}, without: o.Without, prints: prints, env: &ad.Env{Print: prints.function()}, curvature: &curvature{},
		options: interp.Options{Propto: !o.NoPropto, Jacobian: !o.NoJacobian, Transforms: edition, Memory: o.Memory, Statements: o.Statements},
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
	if bound.Density == nil {
		_, err := m.plain()
		return m, err
	}
	m.impossible = impossible(bound, d)
	ofDensity := fault.Of(false)
	w := &work{graph: planted.After(ofDensity, planted.Bind, bound.Density)}
	defer func() { graph = w.graph }()
	if err := w.differentiate(passes.Options{Without: o.Without, Fault: ofDensity, Trace: func(s *passes.Step) { m.early = append(m.early, effect(s)) }}); err != nil {
		return nil, err
	}
	bound.Density = w.graph
	if err := w.assemble(passes.Options{Without: o.Without, Fault: ofDensity, Budget: budget}); err != nil {
		return nil, err
	}
	if err := budget.Take(int64(w.program.Memory())); err != nil {
		return nil, err
	}
	m.density = w.program
	m.machine = m.density.New()
	return m, nil
}

// largest asks a budget for the largest value that is computed by a graph, and gives it
// back.
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

// Memory is the number of bytes that a clone of the model takes for its evaluations of
// the log density, beside the program that clones share. One that is interpreted takes
// what its statements take, evaluation by evaluation: 0.
func (m *Model) Memory() int64 {
	if m.density == nil {
		return 0
	}
	return int64(m.density.Memory())
}

// CloneDensity is [Model.Clone] for infer.Cloner, which it implements.
func (m *Model) CloneDensity() interface {
	Dim() int
	LogDensityGrad(x, grad []float64) (float64, error)
} {
	return m.Clone()
}

// Clone returns a model that shares the program but not its memory.
func (m *Model) Clone() *Model {
	c := *m
	c.machine, c.constr, c.gen, c.joint, c.curves, c.workers = nil, nil, nil, nil, nil, 0
	if m.density != nil {
		c.machine = m.density.New()
	}
	c.prints = m.prints.clone()
	c.env = &ad.Env{Print: c.prints.function()}
	return &c
}

// placed gives an error in making something of a graph its place in the program: where a
// budget is exhausted, that of the node that asked, or of the largest value.
func placed(err error, bound *bind.Bound, g *ad.Graph) error {
	if err == nil || bound == nil {
		return err
	}
	err = bound.Limited(err, g)
	var build *ad.BuildError
	if !errors.As(err, &build) || build.Err != nil || int(build.Site) >= len(bound.Sites) {
		return err // or nobody waits for it any more
	}
	return &Error{List: diag.List{diag.Errorf(diag.NotSupported, bound.Sites[build.Site], "this cannot be evaluated: %v", build)}}
}

// SetStop makes evaluations by m, not those by its clones, ask stop now and then
// while they are under way: a loop that parameters end may go on for ever. The
// error that stop returns ends the evaluation, whose error wraps it. nil: they
// are not stopped. It implements infer.Stopper.
func (m *Model) SetStop(stop func() error) { m.env.Stop = stop }

// SetWorkers has evaluations by m of the log density, not those by its clones, carried out
// by that many goroutines at a time where they take long enough; 1 is the default. Results
// do not depend on it, to the last bit. It implements infer.Sharer.
func (m *Model) SetWorkers(n int) {
	m.workers = n
	for _, mc := range []*vm.Machine{m.machine, m.joint} {
		if mc != nil {
			mc.SetWorkers(n)
		}
	}
}

// MemoryLimit is the number of bytes that what is computed with the model may take. It
// implements infer.Limited.
func (m *Model) MemoryLimit() int64 { return m.options.Memory }

// Dim is the number of unconstrained parameters.
func (m *Model) Dim() int { return m.dim }

// LogDensityGrad computes the log density at the unconstrained point x and
// writes its gradient to grad; both have length Dim. -Inf is a value; an error
// (*Rejection) says that the program rejects x. It does not allocate unless it
// fails or the density is interpreted.
func (m *Model) LogDensityGrad(x, grad []float64) (float64, error) {
	if len(x) != m.dim || len(grad) != m.dim {
		return 0, fmt.Errorf("a point of %d and a gradient of %d numbers for a model of dimension %d", len(x), len(grad), m.dim)
	}
	m.prints.begin()
	if m.density == nil {
		return m.interpretGrad(x, grad)
	}
	lp, err := m.machine.Gradient(m.env, x, grad)
	if err != nil {
		return 0, m.rejection(err)
	}
	return lp, nil
}

// Rejection is an evaluation that the program rejects: an argument outside its
// domain, a reject statement, a matrix without a Cholesky factor.
type Rejection struct {
	Span source.Span // the statement
	Err  error
}

// Error is the message with the place: "sigma must be positive, but is -1 (model.stan:12:3)".
func (r *Rejection) Error() string {
	if at := r.Span.Begin(); r.Span.IsValid() {
		return fmt.Sprintf("%v (%s, line %d, column %d)", r.Err, at.File, at.Line, at.Column)
	}
	return r.Err.Error()
}

// Unwrap returns what was wrong.
func (r *Rejection) Unwrap() error { return r.Err }

// Fatal reports whether the rejection ends the run: fatal_error, a limit that is passed,
// a recursion without end.
func (r *Rejection) Fatal() bool {
	var e *ad.RejectError
	var fatal interface{ Fatal() bool }
	return errors.As(r.Err, &e) && e.Fatal || errors.As(r.Err, &fatal) && fatal.Fatal()
}

func (m *Model) rejection(err error) error {
	var plain *interp.Error
	if errors.As(err, &plain) {
		return &Rejection{Span: plain.Diagnostic.Span, Err: plain.Err}
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
	return r
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

// Constrain computes what ConstrainedNames names at x.
func (m *Model) Constrain(x, dst []float64) error {
	if err := m.fits(x, dst, m.bound.NumConstrained); err != nil {
		return err
	}
	m.prints.begin()
	if m.bound.Constrained == nil {
		return m.interpretOutputs(m.env, x, dst, false)
	}
	if m.constr == nil {
		p, err := m.made.constrained.program(m, m.bound.Constrained)
		if err != nil {
			return err
		}
		m.constr = p.New()
	}
	return m.outputs(m.constr, m.env, x, dst)
}

// Generate computes what OutputNames names at x; rng serves the _rng functions
// of generated quantities. On an error generated quantities are NaN.
func (m *Model) Generate(x []float64, rng *rand.Rand, dst []float64) error {
	if err := m.fits(x, dst, len(m.bound.Names)); err != nil {
		return err
	}
	m.prints.begin()
	m.drawing = ad.Env{Rand: rng, Print: m.env.Print, Stop: m.env.Stop}
	err := m.generate(&m.drawing, x, dst)
	if err != nil {
		// As in CmdStan, the draw stays: only what was to be generated is missing.
		for i := range dst {
			dst[i] = math.NaN()
		}
		_ = m.Constrain(x, dst[:m.bound.NumConstrained])
	}
	return err
}

// fits checks the lengths of a point and of where results are put.
func (m *Model) fits(x, dst []float64, want int) error {
	if len(x) != m.dim || len(dst) != want {
		return fmt.Errorf("a point of %d numbers and a place for %d results; the model has dimension %d and %d results", len(x), len(dst), m.dim, want)
	}
	return nil
}

func (m *Model) generate(env *ad.Env, x, dst []float64) error {
	if m.bound.Generated == nil {
		return m.interpretOutputs(env, x, dst, true)
	}
	if m.gen == nil {
		p, err := m.made.generated.program(m, m.bound.Generated)
		if err != nil {
			return err
		}
		m.gen = p.New()
	}
	return m.outputs(m.gen, env, x, dst)
}

func (m *Model) outputs(mc *vm.Machine, env *ad.Env, x, dst []float64) error {
	for i, p := range m.bound.Params {
		copy(mc.Input(i), x[m.offsets[i]:m.offsets[i]+p.Size])
	}
	if err := mc.Run(env); err != nil {
		return m.rejection(err)
	}
	copy(dst, mc.Output(0))
	return nil
}

// DensityGraph is what LogDensityGrad computes, as a graph: one input for each
// parameter, its part of x; outputs the log density and the gradient by every
// input. It is for inspection and must not be changed. It is nil where the log
// density is interpreted.
func (m *Model) DensityGraph() *ad.Graph { return m.bound.Density }

// Loops tells how the loops of the program came out when it was bound.
func (m *Model) Loops() bind.Stats { return m.bound.Stats }
