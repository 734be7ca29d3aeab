// Package bridge implements the functions of BridgeStan's interface in Go: models bound to data,
// whose log density, derivatives and transforms several threads may evaluate at a time. Package
// libppl exports them to C.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	bridge.go   Model: construction, names, evaluation
//	program.go  Program: which model to load
package bridge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit/selfcheck"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/model"
)

// Version is the version of BridgeStan whose interface this package implements.
const Version = "2.7.0"

// Model is a model bound to data. Its methods may be called by several goroutines at
// a time.
type Model struct {
	name    string
	info    string
	program *compile.Program
	values  *data.Set
	options compile.BindOptions

	ctx   context.Context // for binding the model; later calls have no time limit
	first *compile.Model  // without constants and with Jacobians; never evaluated itself, only cloned

	mu       sync.Mutex
	variants map[variant]*variantOf
}

// variant selects the terms of the log density.
type variant struct{ propto, jacobian bool }

// variantOf is a bound model with its idle clones.
type variantOf struct {
	bound *compile.Model
	free  []*compile.Model // clones of bound
	check *selfcheck.Check
	calls uint64 // number of evaluations of the log density
}

// New compiles a model and binds it. data is JSON, the name of a file that ends in .json, or empty.
// seed is for random numbers in transformed data. print is called for each print statement that the
// model executes.
func New(p Program, text string, seed uint64, print func(string)) (*Model, error) {
	return newModel(context.Background(), p, text, seed, print)
}

// newModel is New with a context, by which tests plant faults in the compiler.
func newModel(ctx context.Context, p Program, text string, seed uint64, print func(string)) (*Model, error) {
	model, err := model.CompileContext(ctx, p.Name, p.Text, model.CompileOptions{IncludePaths: p.IncludePaths})
	if err != nil {
		return nil, shown(err)
	}
	m := &Model{ctx: ctx, name: p.modelName(), program: model.Program(), variants: map[variant]*variantOf{}}
	switch {
	case strings.TrimSpace(text) == "":
		m.values = data.Empty()
	case strings.HasSuffix(text, ".json"):
		m.values, err = data.ReadJSON(text, data.Options{Memory: compile.DefaultMemory()})
	default:
		m.values, err = data.ParseJSON("data", []byte(text))
	}
	if err != nil {
		return nil, shown(err)
	}
	m.options = compile.BindOptions{Seed: seed, Print: print, MaxPrint: math.MaxInt64}
	v, err := m.variant(true, true)
	if err != nil {
		return nil, err
	}
	m.first = v.bound
	m.info = info()
	return m, nil
}

// shown returns the error in the form for clients, with all diagnostics of err.
func shown(err error) error {
	list := model.Diagnostics(err)
	if len(list) == 0 {
		return err
	}
	var lines []string
	for _, d := range list {
		at := d.Span.Begin()
		line := d.Summary
		if d.Span.File != nil {
			line = fmt.Sprintf("%s:%d:%d: %s", d.Span.File.Name, at.Line, at.Column, d.Summary)
		}
		if d.Detail != "" {
			line += "\n" + d.Detail
		}
		lines = append(lines, line)
	}
	return &message{strings.Join(lines, "\n"), err}
}

// message is an error with another text.
type message struct {
	text string
	err  error
}

func (m *message) Error() string { return m.text }
func (m *message) Unwrap() error { return m.err }

// info returns the text of bs_model_info, in the layout that clients parse.
func info() string {
	return "BridgeStan version: " + Version + "\n" +
		"Stan version: " + lang.StanVersion + ".0\n" +
		"Stan C++ Defines:\n" +
		"\tSTAN_THREADS=true\n\tSTAN_MPI=false\n\tSTAN_OPENCL=false\n\tSTAN_NO_RANGE_CHECKS=false\n\tBRIDGESTAN_AD_HESSIAN=true\n" +
		"Stan Compiler Details:\n" +
		"\tstanc_version = ppl " + model.Version() + "\n"
}

// variant returns the model bound with the selected terms.
func (m *Model) variant(propto, jacobian bool) (*variantOf, error) {
	key := variant{propto, jacobian}
	m.mu.Lock()
	defer m.mu.Unlock()
	if v := m.variants[key]; v != nil {
		return v, nil
	}
	o := m.options
	o.NoPropto, o.NoJacobian = !propto, !jacobian
	var again atomic.Bool // transformed data have already printed for another variant
	again.Store(len(m.variants) > 0)
	if print := m.options.Print; print != nil {
		o.Print = func(s string) {
			if !again.Load() {
				print(s)
			}
		}
	}
	bound, err := m.program.BindContext(m.ctx, m.values, o)
	if err != nil {
		return nil, shown(err)
	}
	check, err := selfcheck.Trust(m.ctx, bound, m.values, m.options.Seed)
	if err != nil {
		return nil, shown(err)
	}
	again.Store(false)
	v := &variantOf{bound: check.Bound(), check: check}
	m.variants[key] = v
	return v, nil
}

// compare compares the log density with the reference evaluator at some of the points that clients
// evaluate: the 1st, 4th, 16th and so on, if time allows. If the values differ, another program
// replaces the current one. If earlier calls returned results, which may be wrong, this call fails.
func (m *Model) compare(v *variantOf, x []float64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	v.calls++
	if bits.OnesCount64(v.calls) != 1 || bits.TrailingZeros64(v.calls)%2 != 0 {
		return nil
	}
	replaced, err := v.check.At(m.ctx, x)
	if !replaced || err != nil {
		return err
	}
	v.bound, v.free = v.check.Bound(), nil
	if v.calls == 1 {
		return nil
	}
	found := selfcheck.Findings(v.check.Record())
	last := found[len(found)-1]
	return &message{text: last.Summary + " Earlier results may be wrong: begin again. " + last.Advice}
}

// use calls f with an idle clone. x is the point at which f evaluates the log density; nil if f
// does not evaluate it.
func (m *Model) use(propto, jacobian bool, x []float64, f func(*compile.Model) error) error {
	v, err := m.variant(propto, jacobian)
	if err != nil {
		return err
	}
	if x != nil {
		if err := m.compare(v, x); err != nil {
			return err
		}
	}
	m.mu.Lock()
	bound := v.bound
	var c *compile.Model
	if n := len(v.free); n > 0 {
		c = v.free[n-1]
		v.free = v.free[:n-1]
	} else {
		c = v.bound.Clone()
	}
	m.mu.Unlock()
	err = f(c)
	m.mu.Lock()
	if bound == v.bound {
		v.free = append(v.free, c)
	}
	m.mu.Unlock()
	if err != nil {
		return shown(err)
	}
	return nil
}

// Name returns the model's name, which ends in _model like the class names of Stan's compiler.
func (m *Model) Name() string { return m.name }

// Info returns a text about versions and about how the model is evaluated.
func (m *Model) Info() string { return m.info }

// Dim returns the number of unconstrained parameters.
func (m *Model) Dim() int { return m.first.Dim() }

// UnconstrainedNames returns the names of the unconstrained parameters.
func (m *Model) UnconstrainedNames() []string { return m.first.UnconstrainedNames() }

// Names returns the names of the parameters and, if tp or gq is set, of transformed parameters or
// generated quantities.
func (m *Model) Names(tp, gq bool) []string {
	p, c, all := len(m.first.ParameterNames()), len(m.first.ConstrainedNames()), m.first.OutputNames()
	out := append([]string{}, all[:p]...)
	if tp {
		out = append(out, all[p:c]...)
	}
	if gq {
		out = append(out, all[c:]...)
	}
	return out
}

// Num returns the number of Names.
func (m *Model) Num(tp, gq bool) int {
	p, c, all := len(m.first.ParameterNames()), len(m.first.ConstrainedNames()), len(m.first.OutputNames())
	n := p
	if tp {
		n += c - p
	}
	if gq {
		n += all - c
	}
	return n
}

// RNG is a random number generator, for one goroutine at a time.
type RNG struct{ rand *rand.Rand }

// NewRNG returns a generator with the given seed.
func NewRNG(seed uint64) *RNG { return &RNG{rand.New(rand.NewPCG(seed, 0))} }

// Constrain computes the values of Names at the unconstrained point x. Generated quantities use
// rng, which may be nil without them.
func (m *Model) Constrain(tp, gq bool, x, dst []float64, rng *RNG) error {
	if gq && rng == nil {
		return errors.New("generated quantities need a source of random numbers: rng is null")
	}
	return m.use(true, true, nil, func(c *compile.Model) error {
		p, n, all := len(c.ParameterNames()), len(c.ConstrainedNames()), len(c.OutputNames())
		switch {
		case gq:
			values := make([]float64, all)
			if err := c.Generate(x, rng.rand, values); err != nil {
				return err
			}
			at := copy(dst, values[:p])
			if tp {
				at += copy(dst[at:], values[p:n])
			}
			copy(dst[at:], values[n:])
			return nil
		case tp:
			return c.Constrain(x, dst)
		}
		return c.ConstrainParameters(x, dst)
	})
}

// Unconstrain computes the unconstrained point x for values of the parameters, in the order of
// Names. Values outside their bounds are an error.
func (m *Model) Unconstrain(values, x []float64) error {
	return m.use(true, true, nil, func(c *compile.Model) error {
		if err := c.UnconstrainValues(values, x); err != nil {
			return err
		}
		for i, u := range x {
			if math.IsNaN(u) {
				return fmt.Errorf("the values of the parameters are outside of their declared bounds, at %s", c.UnconstrainedNames()[i])
			}
		}
		return nil
	})
}

// UnconstrainJSON is Unconstrain for a JSON object with the values by name.
func (m *Model) UnconstrainJSON(text string, x []float64) error {
	values, err := data.ParseJSON("parameters", []byte(text))
	if err != nil {
		return shown(err)
	}
	return m.use(true, true, nil, func(c *compile.Model) error {
		point, err := c.Unconstrain(values)
		if err != nil {
			return err
		}
		for i, u := range point {
			if math.IsNaN(u) {
				name, _, _ := strings.Cut(c.UnconstrainedNames()[i], ".")
				return fmt.Errorf("there is no value of the parameter %s", name)
			}
		}
		copy(x, point)
		return nil
	})
}

// LogDensity computes the log density at the unconstrained point x: without constant terms if
// propto is set, with the log Jacobians of transforms if jacobian is set.
func (m *Model) LogDensity(propto, jacobian bool, x []float64) (lp float64, err error) {
	return m.Gradient(propto, jacobian, x, make([]float64, len(x)))
}

// Gradient does what LogDensity does, and also writes the gradient to grad.
func (m *Model) Gradient(propto, jacobian bool, x, grad []float64) (lp float64, err error) {
	err = m.use(propto, jacobian, x, func(c *compile.Model) error {
		lp, err = c.LogDensityGrad(x, grad)
		return err
	})
	return lp, err
}

// Hessian does what Gradient does, and also writes the second derivatives to h, row by row.
func (m *Model) Hessian(propto, jacobian bool, x, grad, h []float64) (lp float64, err error) {
	err = m.use(propto, jacobian, x, func(c *compile.Model) error {
		if lp, err = c.LogDensityGrad(x, grad); err != nil {
			return err
		}
		return c.Hessian(x, h)
	})
	return lp, err
}

// HessianVector computes the log density and the product of its Hessian with v.
func (m *Model) HessianVector(propto, jacobian bool, x, v, hv []float64) (lp float64, err error) {
	err = m.use(propto, jacobian, x, func(c *compile.Model) error {
		if lp, err = c.LogDensityGrad(x, hv); err != nil {
			return err
		}
		return c.HessianVector(x, v, hv)
	})
	return lp, err
}

// exists reports whether a regular file exists at the path.
func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
