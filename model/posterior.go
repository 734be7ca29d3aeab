package model

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer"
)

// Posterior is a model bound to data: a log density over an unconstrained
// space, with its gradient and the way back to the model's own quantities.
//
// It satisfies infer.LogDensity, infer.Cloner and infer.Generator, so the
// samplers of package infer take it as it is. Any number of goroutines may sample
// one at the same time, as each run evaluates clones; its methods are for one goroutine
// at a time. Of a nil Posterior, and of one
// that Bind has not made, methods return errors, and nothing where they return no
// error.
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
	_ infer.Sharer     = (*Posterior)(nil)
	_ infer.Recentrer  = (*Posterior)(nil)
	_ infer.Recentrer  = (*compile.Model)(nil) // what Clone returns
)

// Err is nil for a posterior that [Model.Bind] has made, and an error for a nil or zero one.
func (p *Posterior) Err() error {
	if p == nil || p.bound == nil {
		return errors.New("ppl: there is no posterior; Model.Bind makes one, if its error is nil")
	}
	return nil
}

// at is what is wrong with a point to evaluate.
func (p *Posterior) at(x []float64) error {
	if err := p.Err(); err != nil {
		return err
	}
	if len(x) != p.Dim() {
		return fmt.Errorf("ppl: a point of length %d for a posterior of dimension %d", len(x), p.Dim())
	}
	return nil
}

// Dim is the number of unconstrained parameters.
func (p *Posterior) Dim() int {
	if p.Err() != nil {
		return 0
	}
	return p.bound.Dim()
}

// LogDensity is the log density at the unconstrained point x. See
// [Posterior.LogDensityGrad] for its errors.
func (p *Posterior) LogDensity(x []float64) (float64, error) {
	return p.LogDensityGrad(x, make([]float64, p.Dim()))
}

// LogDensityGrad computes the log density at the unconstrained point x, up to a
// constant, and writes its gradient to grad; both slices have length Dim. Log
// Jacobians of transforms are included. A value of -Inf means that x has no
// probability; an error that the model rejects x (an argument outside its
// domain, a reject statement). It does not allocate. A loop that parameters end may go
// on for ever: [Posterior.SetStop] bounds that, as in
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

// MemoryLimit is the number of bytes that computations with the posterior may take, see
// [BindOptions]. It implements infer.Limited: dense metrics and Hessians of very many parameters
// are refused before they are made.
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

// Recentring implements [infer.Recentrer]: other coordinates for group-level terms of hierarchical
// models, nil if the model has none.
func (p *Posterior) Recentring() (infer.Recentring, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	return p.bound.Recentring()
}

// Clone returns a copy for another goroutine. Clones share the program, and the data, but no memory
// that evaluations write to.
func (p *Posterior) Clone() *Posterior {
	if p.Err() != nil {
		return p
	}
	c := *p
	c.bound = p.bound.Clone()
	return &c
}

// With is a copy whose log density is computed by another compiled program of the same model and
// data.
func (p *Posterior) With(program *compile.Model) *Posterior {
	if p.Err() != nil {
		return p
	}
	c := *p
	c.bound = program
	return &c
}

// Name is that of the model.
func (p *Posterior) Name() string {
	if p.Err() != nil {
		return ""
	}
	return p.name
}

// Model is what was bound; nil if there is no posterior.
func (p *Posterior) Model() *Model {
	if p.Err() != nil {
		return nil
	}
	return p.model
}

// Data is what the model was bound to; nil if there is no posterior.
func (p *Posterior) Data() *data.Set {
	if p.Err() != nil {
		return nil
	}
	return p.values
}

// Options say how the model was bound.
func (p *Posterior) Options() BindOptions {
	if p.Err() != nil {
		return BindOptions{}
	}
	return p.options
}

// Compiled is the compiled model at these data, for authors of samplers: it has second derivatives,
// the metrics of Riemannian samplers, and the parts of the density. Like the Posterior it is used
// by one goroutine at a time. It is nil if there is no posterior.
func (p *Posterior) Compiled() *compile.Model {
	if p.Err() != nil {
		return nil
	}
	return p.bound
}

// Unwrap implements [infer.Wrapper]: samplers look for derivatives in what Compiled
// returns.
func (p *Posterior) Unwrap() infer.LogDensity {
	if p.Err() != nil {
		return nil
	}
	return p.bound
}

// SetStop makes evaluations call stop now and then, and end with an error that wraps its result: a
// loop whose end depends on parameters may run for ever. fit.Sample calls SetStop.
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

// UnconstrainedNames names the coordinates of points: mu, theta.1, …
func (p *Posterior) UnconstrainedNames() []string {
	if p.Err() != nil {
		return nil
	}
	return p.bound.UnconstrainedNames()
}

// ConstrainedNames names what [Posterior.Constrain] computes: parameters, then
// transformed parameters.
func (p *Posterior) ConstrainedNames() []string {
	if p.Err() != nil {
		return nil
	}
	return p.bound.ConstrainedNames()
}

// Constrain computes parameters and transformed parameters at the unconstrained
// point x. An error says that one of them violates its declaration.
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

// Generate computes what OutputNames names at the unconstrained point x and writes
// it to dst, which has their number of elements. Generated quantities draw their
// random numbers from rng.
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

// Unconstrain finds the unconstrained point of parameters that are given as
// data are given to [Model.Bind]. Coordinates of parameters that are not given
// are NaN.
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

// InitAt starts chains at the given parameters, and those not given at random
// within radius on the unconstrained scale. It is for fit.Options.Init.
func (p *Posterior) InitAt(values any, radius float64) (infer.Init, error) {
	x, err := p.Unconstrain(values)
	if err != nil {
		return nil, err
	}
	return infer.At{Positions: [][]float64{x}, Radius: radius}, nil
}

// ParameterNames names the values of the parameters alone, the first of
// [Posterior.ConstrainedNames].
func (p *Posterior) ParameterNames() []string {
	if p.Err() != nil {
		return nil
	}
	return p.bound.ParameterNames()
}

// GeneratedNames names the generated quantities, the last of
// [Posterior.OutputNames].
func (p *Posterior) GeneratedNames() []string {
	if p.Err() != nil {
		return nil
	}
	return p.bound.GeneratedNames()
}

// UnconstrainValues finds the unconstrained point, of length Dim, of parameters
// that are given by their values in the order of [Posterior.ParameterNames]. A
// value on the edge of its bounds has an infinite coordinate, one outside of
// them NaN.
func (p *Posterior) UnconstrainValues(values []float64) ([]float64, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	x := make([]float64, p.Dim())
	return x, p.bound.UnconstrainValues(values, x)
}

// UnconstrainRounded is [Posterior.UnconstrainValues] for values rounded to this number of
// significant digits, as in files of draws; 0: they are exact. A value that violates its constraint
// by rounding alone is replaced by the nearest that does not.
func (p *Posterior) UnconstrainRounded(values []float64, digits int) ([]float64, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	x := make([]float64, p.Dim())
	return x, p.bound.UnconstrainRounded(values, digits, x)
}
