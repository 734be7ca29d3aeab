package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/model/predict"
)

// Derived is a model that was derived from another one: its generated
// quantities are the log likelihood of each observation, or replicated data. It
// has the parameters of the other and takes the same data, so that
// fit.Generate computes them at the draws of a fit of that one.
type Derived struct {
	*Model
	Outputs []predict.Output // its generated quantities
	Left    []predict.Left   // statements on data from which nothing could be derived

	// Summaries are what Outputs depend on and the model computes from all rows of columns.
	Summaries []predict.Summary

	// Known gives the names in a fit of parameters with other names; see [predict.Derived].
	Known map[string]string

	// Scaled lists the statements on parameters that a model of the kind predict.TopLevel has, and
	// Unscaled those that it lacks.
	Scaled, Unscaled []string
}

// Derive derives from the statements on data, y ~ dist(…) and the like, a model
// that computes their log likelihood or draws the data anew; see package
// predict. An error says why nothing can be derived.
func (m *Model) Derive(kind predict.Kind) (*Derived, error) {
	return m.DeriveWith(kind, predict.Options{})
}

// DeriveWith is [Model.Derive] with options.
func (m *Model) DeriveWith(kind predict.Kind, o predict.Options) (*Derived, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	d, err := predict.Derive(m.program, kind, o)
	if err != nil {
		return nil, err
	}
	derived := &Model{name: m.name, program: d.Program, texts: []sourceText{{m.name, d.Text}}}
	return &Derived{
		Model: derived, Outputs: d.Outputs, Left: d.Left, Summaries: d.Summaries, Known: d.Known, Scaled: d.Scaled, Unscaled: d.Unscaled,
	}, nil
}

// DeriveReplicated derives the model that draws the data again, for data that may lack the
// variables to be drawn.
func (m *Model) DeriveReplicated(values *data.Set) (*Derived, error) {
	return m.DeriveFor(values, predict.Replicated, predict.Options{})
}

// DeriveFor is [Model.DeriveWith] for data that may lack the observations, for the kinds that
// compute something for each of them.
func (m *Model) DeriveFor(values *data.Set, kind predict.Kind, o predict.Options) (*Derived, error) {
	o.Unknown = m.notGiven(values, kind)
	return m.DeriveWith(kind, o)
}

// NotGiven lists the variables that a model draws, the variates of its statements
// on data, and that a set does not have.
func (m *Model) NotGiven(set *data.Set) []string { return m.notGiven(set, predict.Replicated) }

// notGiven is NotGiven for the variables that the outputs of a kind are about.
func (m *Model) notGiven(set *data.Set, kind predict.Kind) []string {
	var out []string
	if m.Err() != nil || set == nil {
		return nil
	}
	d, err := predict.Derive(m.program, kind, predict.Options{})
	if err != nil {
		return nil
	}
	for _, o := range d.Outputs {
		if o.Data && !slices.Contains(set.Names(), o.Variable) {
			out = append(out, o.Variable)
		}
	}
	return out
}

// SummarisedError says that a model computes something from all rows of a variable of the data,
// such as a mean that it subtracts. Other rows give it another value than it has in the fit, so
// that the coefficients of the fit do not apply.
type SummarisedError struct{ Summary predict.Summary }

// Error implements error.
func (e *SummarisedError) Error() string {
	at := e.Summary.Span.Begin()
	return fmt.Sprintf("the model computes `%s` (%s, line %d) from all rows of the data, so other values of %s give it another value than it has in the fit",
		e.Summary.Text, at.File, at.Line, strings.Join(e.Summary.Of, ", "))
}

// Comparable returns a [SummarisedError] if outputs for values do not have the meaning that they
// have for the data of a fit: a summary is computed from variables that differ between the two, or
// that are among changed. Without fitted, all of them differ.
func (d *Derived) Comparable(fitted, values *data.Set, changed ...string) error {
	for _, s := range d.Summaries {
		for _, name := range s.Of {
			if slices.Contains(changed, name) || !sameValues(fitted, values, name) {
				return &SummarisedError{s}
			}
		}
	}
	return nil
}

// sameValues reports a variable with the same values in two sets.
func sameValues(a, b *data.Set, name string) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	x, ok := a.Get(name)
	y, also := b.Get(name)
	return ok && also && slices.Equal(x.Shape, y.Shape) && slices.Equal(x.Reals, y.Reals)
}
