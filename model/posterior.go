package model

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer"
)

// Posterior is a model bound to data: a log density over an unconstrained space, its gradient, and
// functions that compute the model's quantities.
//
// It implements infer.LogDensity, infer.Cloner and infer.Generator, so the samplers of package
// infer accept it. Any number of goroutines may sample it at the same time, because each run
// evaluates clones. Only one goroutine at a time may call its methods. Methods of a nil Posterior,
// or of one that Bind has not made, return errors, or zero values if they have no error result.
type Posterior struct {
	name    string
	model   *Model
	values  *data.Set
	options BindOptions
	bound   *compile.Model
}

var (
	_ infer.LogDensity = (*Posterior)(nil)
	_ infer.Cloner     = (*Posterior)(nil)
	_ infer.Generator  = (*Posterior)(nil)
	_ infer.Stopper    = (*Posterior)(nil)
	_ infer.Parallel   = (*Posterior)(nil)
	_ infer.Recentrer  = (*Posterior)(nil)
	_ infer.Recentrer  = (*compile.Model)(nil) // the type that CloneDensity returns
)

// Err returns nil for a posterior that [Model.Bind] has made, and an error for a nil or zero
// posterior.
func (p *Posterior) Err() error {
	if p == nil || p.bound == nil {
		return errors.New("ppl: there is no posterior; Model.Bind makes one, if its error is nil")
	}
	return nil
}

// at returns an error unless x is a point at which the density can be evaluated.
func (p *Posterior) at(x []float64) error {
	if err := p.Err(); err != nil {
		return err
	}
	if len(x) != p.Dim() {
		return fmt.Errorf("ppl: a point of length %d for a posterior of dimension %d", len(x), p.Dim())
	}
	return nil
}

// Dim returns the number of unconstrained parameters.
func (p *Posterior) Dim() int {
	if p.Err() != nil {
		return 0
	}
	return p.bound.Dim()
}

// LogDensity returns the log density at the unconstrained point x. See [Posterior.LogDensityGrad]
// for its errors.
func (p *Posterior) LogDensity(x []float64) (float64, error) {
	return p.LogDensityGrad(x, make([]float64, p.Dim()))
}

// LogDensityGrad computes the log density at the unconstrained point x, up to a constant, and
// writes its gradient to grad. Both slices have length Dim. Log Jacobians of transforms are
// included. A value of -Inf means that x has probability zero. An error means that the model
// rejects x: an argument is outside its domain, or a reject statement ran. LogDensityGrad does not
// allocate. A loop whose end depends on parameters may never end; limit it by [Posterior.SetStop],
// as in
//
//	p.SetStop(func() error { return context.Cause(ctx) })
func (p *Posterior) LogDensityGrad(x, grad []float64) (float64, error) {
	if p == nil || p.bound == nil {
		return 0, p.Err()
	}
	if dim := p.bound.Dim(); len(x) != dim || len(grad) != dim {
		return 0, fmt.Errorf("ppl: a point of length %d and a gradient of length %d for a posterior of dimension %d", len(x), len(grad), dim)
	}
	return p.bound.LogDensityGrad(x, grad)
}

// MemoryLimit returns the memory limit in bytes for computations with the posterior, see
// [BindOptions]. It implements infer.Limited: samplers refuse dense metrics and Hessians that would
// exceed it.
func (p *Posterior) MemoryLimit() int64 {
	if p.Err() != nil {
		return 0
	}
	return p.bound.MemoryLimit()
}

// CloneDensity implements [infer.Cloner]: each chain of a run evaluates its own clone.
func (p *Posterior) CloneDensity() infer.LogDensity {
	if p.Err() != nil {
		return p
	}
	return p.bound.Clone()
}

// Recentring implements [infer.Recentrer]: it returns other coordinates for group-level terms of
// hierarchical models, or nil if the model has none.
func (p *Posterior) Recentring() (infer.Recentring, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	return p.bound.Recentring()
}

// Clone returns a copy for another goroutine. Clones share the program and the data, but no memory
// that evaluations write to.
func (p *Posterior) Clone() *Posterior {
	if p.Err() != nil {
		return p
	}
	c := *p
	c.bound = p.bound.Clone()
	return &c
}

// With returns a copy that computes the log density by another compiled program of the same model
// and data.
func (p *Posterior) With(program *compile.Model) *Posterior {
	if p.Err() != nil {
		return p
	}
	c := *p
	c.bound = program
	return &c
}

// Name returns the model's name.
func (p *Posterior) Name() string {
	if p.Err() != nil {
		return ""
	}
	return p.name
}

// Model returns the model that was bound; nil for a nil posterior.
func (p *Posterior) Model() *Model {
	if p.Err() != nil {
		return nil
	}
	return p.model
}

// Data returns the data that the model was bound to; nil for a nil posterior.
func (p *Posterior) Data() *data.Set {
	if p.Err() != nil {
		return nil
	}
	return p.values
}

// Options returns the options with which the model was bound.
func (p *Posterior) Options() BindOptions {
	if p.Err() != nil {
		return BindOptions{}
	}
	return p.options
}

// Compiled returns the compiled model with these data, for authors of samplers. It has second
// derivatives, the metrics of Riemannian samplers, and the parts of the density. Only one goroutine
// at a time may use it. It is nil for a nil posterior.
func (p *Posterior) Compiled() *compile.Model {
	if p.Err() != nil {
		return nil
	}
	return p.bound
}

// Unwrap implements [infer.Wrapper], so that samplers find the derivatives that Compiled offers.
func (p *Posterior) Unwrap() infer.LogDensity {
	if p.Err() != nil {
		return nil
	}
	return p.bound
}

// SetStop makes evaluations call stop regularly, and end with an error that wraps its result,
// because a loop whose end depends on parameters may never end. fit.Sample calls SetStop.
func (p *Posterior) SetStop(stop func() error) {
	if p.Err() == nil {
		p.bound.SetStop(stop)
	}
}

// SetWorkers sets the number of goroutines for an evaluation of the log density that takes more
// than about half a millisecond; the default is 1. Clones do not use it. Results do not depend on
// it, to the last bit. fit.Sample calls SetWorkers.
func (p *Posterior) SetWorkers(n int) {
	if p.Err() == nil {
		p.bound.SetWorkers(n)
	}
}

// UnconstrainedNames returns the names of the unconstrained coordinates: mu, theta.1, …
func (p *Posterior) UnconstrainedNames() []string {
	if p.Err() != nil {
		return nil
	}
	return p.bound.UnconstrainedNames()
}

// ConstrainedNames returns the names of the values that [Posterior.Constrain] computes: parameters,
// then transformed parameters.
func (p *Posterior) ConstrainedNames() []string {
	if p.Err() != nil {
		return nil
	}
	return p.bound.ConstrainedNames()
}

// Constrain computes parameters and transformed parameters at the unconstrained point x. The error
// says which of them violates its declaration.
func (p *Posterior) Constrain(x []float64) ([]float64, error) {
	if err := p.at(x); err != nil {
		return nil, err
	}
	dst := make([]float64, len(p.bound.ConstrainedNames()))
	return dst, p.bound.Constrain(x, dst)
}

// OutputNames names what [Posterior.Generate] computes, and what a draw holds:
// parameters, transformed parameters, generated quantities. Elements are named
// as in CmdStan's files, theta.1 or b.2.3, the first index running fastest.
func (p *Posterior) OutputNames() []string {
	if p.Err() != nil {
		return nil
	}
	return p.bound.OutputNames()
}

// Generate computes the values of OutputNames at the unconstrained point x and writes them to dst,
// which must have the same length. Generated quantities take their random numbers from rng.
func (p *Posterior) Generate(x []float64, rng *rand.Rand, dst []float64) error {
	if err := p.at(x); err != nil {
		return err
	}
	if n := len(p.bound.OutputNames()); len(dst) != n {
		return fmt.Errorf("ppl: a place for %d values, but Generate computes %d", len(dst), n)
	}
	if rng == nil {
		return errors.New("ppl: Generate needs a source of random numbers")
	}
	return p.bound.Generate(x, rng, dst)
}

// Unconstrain computes the unconstrained point for parameters, given in the forms that [Model.Bind]
// accepts for data. Coordinates of missing parameters are NaN.
func (p *Posterior) Unconstrain(values any) ([]float64, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	set, err := ReadData(values)
	if err != nil {
		return nil, err
	}
	if err := known(values, set, p.model.program.IR().Parameters, "the model declares no parameter `%s`"); err != nil {
		return nil, err
	}
	return p.bound.Unconstrain(set)
}

// InitAt returns initial values for chains, for fit.Options.Init. Missing parameters start at
// random within radius on the unconstrained scale.
func (p *Posterior) InitAt(values any, radius float64) (infer.Init, error) {
	x, err := p.Unconstrain(values)
	if err != nil {
		return nil, err
	}
	return infer.At{Positions: [][]float64{x}, Radius: radius}, nil
}

// ParameterNames returns the names of the parameters' values, the first of
// [Posterior.ConstrainedNames].
func (p *Posterior) ParameterNames() []string {
	if p.Err() != nil {
		return nil
	}
	return p.bound.ParameterNames()
}

// GeneratedNames returns the names of the generated quantities, the last of
// [Posterior.OutputNames].
func (p *Posterior) GeneratedNames() []string {
	if p.Err() != nil {
		return nil
	}
	return p.bound.GeneratedNames()
}

// UnconstrainValues computes the unconstrained point, of length Dim, for parameter values in the
// order of [Posterior.ParameterNames]. A value on its bound has an infinite coordinate, one outside
// its bounds NaN.
func (p *Posterior) UnconstrainValues(values []float64) ([]float64, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	x := make([]float64, p.Dim())
	return x, p.bound.UnconstrainValues(values, x)
}

// UnconstrainRounded is [Posterior.UnconstrainValues] for values rounded to this number of
// significant digits, as in files of draws; 0: they are exact. If a value violates its constraint
// only because of rounding, the nearest valid value replaces it.
func (p *Posterior) UnconstrainRounded(values []float64, digits int) ([]float64, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	x := make([]float64, p.Dim())
	return x, p.bound.UnconstrainRounded(values, digits, x)
}

// Missing is a data variable with missing values, which are parameters of the posterior.
type Missing struct {
	Name     string   // name of the variable
	Size     int      // number of its elements
	Elements []string // the missing ones, as in y[7]
}

// Missing lists the data with missing values, in the order of their declarations.
func (p *Posterior) Missing() (out []Missing) {
	if p == nil || p.model == nil {
		return nil
	}
	for _, v := range p.model.program.IR().Data {
		at := p.model.program.Missing(p.values, v.Name)
		if len(at) == 0 {
			continue
		}
		value, _ := p.values.Get(v.Name)
		m := Missing{Name: v.Name, Size: value.Size()}
		for _, e := range at {
			m.Elements = append(m.Elements, p.values.Path(v.Name, e))
		}
		out = append(out, m)
	}
	return out
}
