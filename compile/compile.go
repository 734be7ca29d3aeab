// Package compile turns source text into a log density that knows its data.
//
//	source ──lang──▶ ir.Program ──bind──▶ ad.Graph ──Backprop──▶ ad.Graph ──vm──▶ Model
//
// [Compile] checks a program; [Program.Bind] evaluates everything that the data
// decide and builds the graphs from the unconstrained parameters to the log
// density, its gradient, and the values that a draw consists of; a [Model]
// replays them. Model satisfies infer.LogDensity, infer.Cloner and
// infer.Generator structurally, and with fisher.go and curvature.go what package
// infer/riemann wants of a target; neither package imports the other.
//
// Sub-packages: ir (the typed program), data (JSON and Go values),
// internal/bind (the partial evaluator), internal/vm (replay). The transforms of
// parameters are package stdlib/transform, as the library has them as functions.
package compile

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/internal/direct"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/compile/internal/vm"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// Program is a checked program. It is immutable and may be bound any number of
// times, concurrently too.
type Program struct {
	ir   *ir.Program
	tree *ast.File
	info *check.Info
}

// Syntax is the tree of the program with what the checker has found out about its
// nodes, for what is derived from a program. Neither may be changed.
func (p *Program) Syntax() (*ast.File, *check.Info) { return p.tree, p.info }

// Options are options of [CompileWith]; the zero value is the default.
type Options struct {
	// Include finds the files of #include lines; nil: these are refused.
	Include func(name string) (*source.File, error)

	// Legacy reads the syntax of older versions of Stan, with warnings.
	Legacy bool

	// MaxSource bounds the bytes of the text with the files that it includes; 0:
	// [source.DefaultLimit].
	MaxSource int64
}

// Check parses and checks a program.
func Check(f *source.File, o Options) diag.List {
	_, _, list := checked(f, o)
	list.Sort()
	return list
}

// Known tells the functions of the library.
func Known(name string) bool { return len(stdlib.Language().Lookup(name)) > 0 }

// checked parses and checks; the Info is nil if the list has errors.
func checked(f *source.File, o Options) (*ast.File, *check.Info, diag.List) {
	go stdlib.Language() // takes milliseconds the first time, while we parse
	tree, list := lang.ParseWith(f, lang.Options{Include: o.Include, Legacy: o.Legacy, Known: Known, MaxBytes: o.MaxSource})
	if list.HasErrors() {
		// What else is wrong comes after the errors of syntax.
		if lang.Recovered(list) {
			_, more := check.Check(tree, stdlib.Language())
			type place struct {
				file *source.File
				at   int
			}
			said := map[place]bool{}
			for _, e := range list {
				said[place{e.Span.File, e.Span.Start}] = true
			}
			for _, d := range more.Errors() {
				if at := (place{d.Span.File, d.Span.Start}); !said[at] {
					list = append(list, d) // what is said of a place already is one mistake
					said[at] = true
				}
			}
		}
		return tree, nil, list
	}
	info, more := check.Check(tree, stdlib.Language())
	if list = append(list, more...); list.HasErrors() {
		return tree, nil, list
	}
	return tree, info, list
}

// Compile is CompileWith without options.
func Compile(f *source.File) (*Program, diag.List) { return CompileWith(f, Options{}) }

// CompileWith parses and checks a program. Program is nil if the list has errors;
// otherwise the list may hold warnings.
func CompileWith(f *source.File, o Options) (*Program, diag.List) {
	tree, info, list := checked(f, o)
	if info == nil {
		return nil, list
	}
	list = oneLegacy(list)
	p := ir.Lower(tree, info, stdlib.Language())
	return &Program{ir: p, tree: tree, info: info}, list
}

// oneLegacy keeps the first of the warnings about legacy syntax, which was asked
// for: Check lists them all.
func oneLegacy(list diag.List) diag.List {
	var out diag.List
	first, n := -1, 0
	for _, d := range list {
		if d.Code == diag.LegacySyntax {
			n++
			if first >= 0 {
				continue
			}
			first = len(out)
		}
		out = append(out, d)
	}
	if n > 1 {
		out[first].Summary = fmt.Sprintf("this program has the syntax of an older version of Stan, here and in %d more places", n-1)
		out[first].Fix = "`ppl fmt --upgrade` rewrites it"
	}
	return out
}

// IR is the typed program.
func (p *Program) IR() *ir.Program { return p.ir }

// Error holds diagnostics with positions in the program or in the data;
// diag.Render shows them.
type Error = bind.Error

// BindOptions are options of Bind; the zero value is the default.
type BindOptions struct {
	Seed       uint64       // of random draws in transformed data
	NoPropto   bool         // keep the terms that `~` drops
	NoJacobian bool         // leave out the log Jacobians of the transforms
	Print      func(string) // receives what print statements print; nil: dropped
	MaxPrint   int64        // bytes that are printed, in all; 0: 64 MiB. Of one evaluation it is 1 MiB
	Without    []string     // passes of the lowering that are left out, by name; for developers
	StanCompat string       // "2.32": the transforms of that version of Stan, where they differ; "" is the newest
}

// Model is a program bound to data. Its methods are not safe for concurrent
// use; Clone is.
type Model struct {
	program *ir.Program
	bound   *bind.Bound
	early   []PassEffect // of the passes before differentiation, for Explain
	density *vm.Program
	// made when first used
	constrained, generated, inverse *vm.Program

	offsets []int // of the parameters in x
	dim     int
	env     *ad.Env
	prints  *printer
	machine *vm.Machine
	constr  *vm.Machine
	gen     *vm.Machine
	inv     *vm.Machine
	plain   *direct.Model // of the generated quantities, where they have no program
	seed    uint64
	without []string

	curvature *curvature // shared by clones
	planned   planned
	curves    map[*vm.Program]*vm.Machine
}

// Bind evaluates the program with data known. The error is *Error where there
// are positions to show.
func (p *Program) Bind(d *data.Set, o BindOptions) (m *Model, err error) {
	var sites []source.Span
	defer func() { err = placed(err, sites) }()
	defer ad.Recover(&err)
	if d == nil {
		d = data.Empty()
	}
	edition, err := transform.EditionOf(o.StanCompat)
	if err != nil {
		return nil, err
	}
	prints := newPrinter(o.Print, o.MaxPrint)
	options := bind.Options{Seed: o.Seed, Propto: !o.NoPropto, Jacobian: !o.NoJacobian, Print: prints.function(), Transforms: edition}
	bound, err := bind.Bind(p.ir, d, options)
	if err != nil {
		if all := dataErrors(p.ir, d, options); all != nil {
			return nil, all
		}
		return nil, err
	}
	sites = bound.Sites
	m = &Model{program: p.ir, bound: bound, seed: o.Seed, without: o.Without, prints: prints, env: &ad.Env{Print: prints.function()}, curvature: &curvature{}}
	for _, par := range bound.Params {
		m.offsets = append(m.offsets, m.dim)
		m.dim += par.Size
	}
	early := passes.Options{Without: o.Without, Trace: func(s *passes.Step) { m.early = append(m.early, effect(s)) }}
	if bound.Density, err = passes.RunDensity(bound.Density, early); err != nil {
		return nil, err
	}
	g := bound.Density
	for _, r := range g.Grad(g.Outputs[0], g.Inputs...) {
		g.Output(r)
	}
	for _, c := range []struct {
		g *ad.Graph
		p **vm.Program
	}{{g, &m.density}, {bound.Constrained, &m.constrained}, {bound.Generated, &m.generated}, {bound.Inverse, &m.inverse}} {
		if c.g == nil {
			options := direct.Options{Propto: !o.NoPropto, Jacobian: !o.NoJacobian, Transforms: edition}
			if m.plain, err = direct.Resume(p.ir, bound.Known, options); err != nil {
				return nil, err
			}
			continue
		}
		if *c.p, err = vm.Compile(c.g, passes.Options{Without: o.Without}); err != nil {
			return nil, fmt.Errorf("planning the evaluation: %w", err)
		}
	}
	m.machine = m.density.New()
	return m, nil
}

// placed gives an error in building graphs its place in the program.
func placed(err error, sites []source.Span) error {
	var build *ad.BuildError
	if !errors.As(err, &build) || int(build.Site) >= len(sites) {
		return err
	}
	return &Error{List: diag.List{diag.Errorf(diag.NotSupported, sites[build.Site], "this cannot be evaluated: %v", build)}}
}

// Clone returns a model that shares the program but not its memory.
func (m *Model) Clone() interface {
	Dim() int
	LogDensityGrad(x, grad []float64) (float64, error)
} {
	c := *m
	c.machine, c.constr, c.gen, c.inv, c.curves = m.density.New(), nil, nil, nil, nil
	c.prints = m.prints.clone()
	c.env = &ad.Env{Print: c.prints.function()}
	return &c
}

// SetStop makes evaluations by m, not those by its clones, ask stop now and then
// while they are under way: a loop that parameters end may go on for ever. The
// error that stop returns ends the evaluation, whose error wraps it. nil: they
// are not stopped. It implements infer.Stopper.
func (m *Model) SetStop(stop func() error) { m.env.Stop = stop }

// Dim is the number of unconstrained parameters.
func (m *Model) Dim() int { return m.dim }

// LogDensityGrad computes the log density at the unconstrained point x and
// writes its gradient to grad; both have length Dim. -Inf is a value; an error
// (*Rejection) says that the program rejects x. It does not allocate unless it
// fails.
func (m *Model) LogDensityGrad(x, grad []float64) (float64, error) {
	m.prints.begin()
	for i, p := range m.bound.Params {
		copy(m.machine.Input(i), x[m.offsets[i]:m.offsets[i]+p.Size])
	}
	if err := m.machine.Run(m.env); err != nil {
		return 0, m.rejection(err)
	}
	for i, p := range m.bound.Params {
		copy(grad[m.offsets[i]:m.offsets[i]+p.Size], m.machine.Output(i+1))
	}
	return m.machine.Output(0)[0], nil
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

// Fatal reports whether the rejection ends the run (fatal_error).
func (r *Rejection) Fatal() bool {
	var e *ad.RejectError
	return errors.As(r.Err, &e) && e.Fatal
}

func (m *Model) rejection(err error) error {
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
	m.prints.begin()
	if m.constr == nil {
		m.constr = m.constrained.New()
	}
	return m.outputs(m.constr, m.env, x, dst)
}

// Generate computes what OutputNames names at x; rng serves the _rng functions
// of generated quantities. On an error generated quantities are NaN.
func (m *Model) Generate(x []float64, rng *rand.Rand, dst []float64) error {
	m.prints.begin()
	env := &ad.Env{Rand: rng, Print: m.env.Print, Stop: m.env.Stop}
	var err error
	if m.plain != nil {
		err = m.interpret(env, x, dst)
	} else {
		if m.gen == nil {
			m.gen = m.generated.New()
		}
		err = m.outputs(m.gen, env, x, dst)
	}
	if err != nil {
		// As in CmdStan, the draw stays: only what was to be generated is missing.
		for i := range dst {
			dst[i] = math.NaN()
		}
		_ = m.Constrain(x, dst[:m.bound.NumConstrained])
	}
	return err
}

// interpret is Generate without a program for generated quantities.
func (m *Model) interpret(env *ad.Env, x, dst []float64) error {
	parts := make([][]float64, len(m.bound.Params))
	for i, p := range m.bound.Params {
		parts[i] = x[m.offsets[i] : m.offsets[i]+p.Size]
	}
	o := m.plain.Options()
	o.Rand, o.Print, o.Stop = env.Rand, env.Print, env.Stop
	_, out, err := m.plain.With(o).Outputs(parts)
	var failed *direct.Error
	if errors.As(err, &failed) {
		return &Rejection{Span: failed.Span, Err: failed.Err}
	}
	copy(dst, out)
	return err
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

// Unconstrain finds the unconstrained point of parameters given by name.
// Coordinates of parameters that are not given are NaN.
func (m *Model) Unconstrain(d *data.Set) ([]float64, error) {
	x := make([]float64, m.dim)
	known := func(yield func(string) bool) {
		for _, p := range m.bound.Params {
			if !yield(p.Name) {
				return
			}
		}
	}
	for _, name := range d.Names() { // other quantities of a former run may stand beside the parameters
		if near := diag.Nearest(name, known); near != "" && near != name && !slices.Contains(m.variables(), name) {
			return nil, d.Errorf(name, -1, "there is no parameter %s; did you mean %s?", name, near)
		}
	}
	mc := m.inverse.New()
	given := make([]bool, len(m.bound.Params)) // in all its parts
	input := 0
	for i, p := range m.bound.Params {
		given[i] = true
		for _, leaf := range p.Leaves {
			in := mc.Input(input)
			input++
			v, ok := d.Get(leaf.Name)
			if e := d.Fault(leaf.Name); e != nil {
				return nil, e
			}
			given[i] = given[i] && (ok || len(in) == 0)
			shape := leaf.Shape
			if leaf.Part != types.NotComplex {
				shape = append(slices.Clone(shape), 2)
			}
			switch {
			case !ok:
				for k := range in {
					in[k] = math.NaN()
				}
				continue
			case !slices.Equal(v.Shape, shape):
				return nil, d.Errorf(leaf.Name, -1, "the initial value of %s has sizes %v, but the parameter has %v", leaf.Name, v.Shape, shape)
			case leaf.Part != types.NotComplex:
				v = v.Half(int(leaf.Part - types.RealPart))
			}
			copy(in, v.Reals)
		}
	}
	if err := mc.Run(&ad.Env{}); err != nil {
		return nil, m.rejection(err)
	}
	for i, p := range m.bound.Params {
		copy(x[m.offsets[i]:], mc.Output(i))
		if !given[i] {
			continue
		}
		for k, u := range x[m.offsets[i] : m.offsets[i]+p.Size] {
			if math.IsNaN(u) || math.IsInf(u, 0) {
				return nil, d.Errorf(p.Name, -1, "the initial value of %s is outside its declared bounds", p.Names[k])
			}
		}
	}
	return x, nil
}

// variables are the names of all quantities, without indices.
func (m *Model) variables() []string {
	var names []string
	for _, n := range m.bound.Names {
		base, _, _ := strings.Cut(n, ".")
		base, _, _ = strings.Cut(base, ":")
		names = append(names, base)
	}
	return names
}

// DensityGraph is what LogDensityGrad computes, as a graph: one input for each
// parameter, its part of x; outputs the log density and the gradient by every
// input. It is for inspection and must not be changed.
func (m *Model) DensityGraph() *ad.Graph { return m.bound.Density }

// Loops tells how the loops of the program came out when it was bound.
func (m *Model) Loops() bind.Stats { return m.bound.Stats }
