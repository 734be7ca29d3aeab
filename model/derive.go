package model

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/model/predict"
)

// Derived is a model that was derived from another one. Its generated quantities are, for instance,
// the log likelihood of each observation, or replicated data. It has the parameters of the original
// model and takes the same data, so fit.Generate can compute them from the draws of the original's
// fit.
type Derived struct {
	*Model
	Outputs []predict.Output // its generated quantities
	Left    []predict.Left   // statements on data from which nothing could be derived

	// Kept lists values, such as a mean, that the model computes from all rows of data columns and
	// that are computed from the fit's data, see [Model.DeriveNew].
	Kept []predict.Summary
	fit  *data.Set // the data of the fit that the program needs, by their names there; covariates with holes

	// Earlier is the variable whose distribution in a row depends on earlier rows of the data, as
	// in a time series; "" if there is none or it is unknown. [Model.DeriveNew] sets it.
	Earlier string

	// Together says that rows depend on other rows of the data in a way that is not kept, although
	// no summary is known to change. [Model.GenerateNew] sets it; [Model.DeriveNew] fails.
	Together *TogetherError

	// Known maps a parameter that the derived model renames to its name in the fit; see
	// [predict.Derived].
	Known map[string]string

	// Undrawn has the reasons why parameters are left out, see [predict.Derived].
	Undrawn []string

	// Scaled lists the statements about parameters that a model of the kind predict.TopLevel keeps,
	// Unscaled those that it leaves out.
	Scaled, Unscaled []string
}

// Derive derives a model from the statements about data, such as y ~ dist(…). The derived model
// computes their log likelihood, or draws the data again; see package predict. The error says why
// nothing can be derived.
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
		Model: derived, Outputs: d.Outputs, Left: d.Left, Known: d.Known, Scaled: d.Scaled, Unscaled: d.Unscaled, Undrawn: d.Undrawn,
	}, nil
}

// DeriveProbabilities derives the model that computes the probabilities of the values of discrete
// parameters, and their most likely configuration, see [predict.Probabilities].
func (m *Model) DeriveProbabilities() (*Derived, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	d, err := predict.Probabilities(m.program)
	if err != nil {
		return nil, err
	}
	return &Derived{Model: &Model{name: m.name, program: d.Program, texts: []sourceText{{m.name, d.Text}}}}, nil
}

// DeriveReplicated derives the model that draws the data again, as they would be recorded, for
// given parameters. The data may lack the variables to be drawn, and discrete parameters are drawn
// independently of them.
func (m *Model) DeriveReplicated(values *data.Set) (*Derived, error) {
	return m.DeriveWith(predict.Replicated, predict.Options{Unknown: m.NotGiven(values), Anew: true, Cut: true})
}

// DeriveFor is [Model.DeriveWith] for data that may lack the observations. It suits kinds that
// compute something for each observation.
func (m *Model) DeriveFor(values *data.Set, kind predict.Kind, o predict.Options) (*Derived, error) {
	o.Unknown = m.notGiven(values, kind)
	return m.DeriveWith(kind, o)
}

// NotGiven lists the variables that a model draws in its statements about data and that a data set
// lacks, or of which it lacks some values.
func (m *Model) NotGiven(set *data.Set) []string {
	return m.lacking(set, predict.Replicated, func(name string) bool {
		return !slices.Contains(set.Names(), name) || m.program.Missing(set, name) != nil
	})
}

// notGiven lists the variables that a derived model of a kind draws and that a data set lacks.
func (m *Model) notGiven(set *data.Set, kind predict.Kind) []string {
	return m.lacking(set, kind, func(name string) bool { return !slices.Contains(set.Names(), name) })
}

// lacking lists the variables that a derived model draws and for which not returns true.
func (m *Model) lacking(set *data.Set, kind predict.Kind, not func(name string) bool) []string {
	var out []string
	if m.Err() != nil || set == nil {
		return nil
	}
	d, err := predict.Derive(m.program, kind, predict.Options{})
	if err != nil {
		return nil
	}
	lacks := func(name string) bool { return !slices.Contains(out, name) && not(name) }
	for _, o := range d.Outputs {
		if o.Data && lacks(o.Variable) {
			out = append(out, o.Variable)
		}
		for _, name := range o.From {
			if lacks(name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// SummarisedError says that a model computes a summary from all rows of a data variable, such as a
// mean that it subtracts. For other rows the summary differs from its value in the fit, so the
// fit's coefficients do not apply.
type SummarisedError struct {
	Summary predict.Summary
	Reason  string // why the derived model cannot have its value in the fit; "": the fit's data are unknown
}

// Error implements error.
func (e *SummarisedError) Error() string {
	at := e.Summary.Span.Begin()
	text := fmt.Sprintf("the model computes `%s` (%s, line %d) from all rows of the data, so other values of %s give it another value than it has in the fit",
		e.Summary.Text, at.File, at.Line, strings.Join(e.Summary.Of, ", "))
	if e.Reason != "" {
		text += ", which it cannot keep: " + e.Reason
	}
	return text
}

// DeriveNew is [Model.DeriveFor] for data with other rows than those of the fit. What the model
// computes from all rows, such as mean(x), keeps the value that it has in the fit: the derived
// model has the data of the fit too, see [Derived.BindContext]. changed lists further variables
// that will change. The error is a [SummarisedError] or a [TogetherError] if that cannot be done.
// If fitted is nil, the fit's data are unknown. bind has the options of the fit, with which some of
// its rows are evaluated to check the derived model.
func (m *Model) DeriveNew(ctx context.Context, fitted, values *data.Set, kind predict.Kind, o predict.Options, bind BindOptions, changed ...string) (*Derived, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	if values == nil {
		values = data.Empty()
	}
	o.Unknown = m.notGiven(values, kind)
	differ := m.differing(fitted, values, changed)
	o.Anew = len(differ) > 0
	holes, err := m.newHoles(fitted, values, kind, &o)
	if err != nil {
		return nil, err
	}
	summaries := slices.DeleteFunc(predict.Summaries(m.program, kind, o), func(s predict.Summary) bool {
		return !slices.ContainsFunc(s.Of, func(name string) bool { return slices.Contains(differ, name) })
	})
	if len(summaries) == 0 {
		d, err := m.DeriveWith(kind, o)
		if err != nil {
			return nil, err
		}
		if d.fit = holes; fitted == nil || o.Ahead != nil {
			return d, nil
		}
		if d.Earlier, err = m.rowwise(ctx, m, fitted, nil, o, differ, bind); err != nil {
			return nil, err
		}
		return d, nil
	}
	if fitted == nil {
		return nil, &SummarisedError{summaries[0], ""}
	}
	kept, err := predict.Keep(m.program, summaries, differ, false)
	if not := (*predict.NotKeptError)(nil); errors.As(err, &not) {
		return nil, &SummarisedError{not.Summary, not.Reason}
	}
	if err != nil {
		return nil, err
	}
	o.Fitted = slices.Collect(maps.Values(kept.Data))
	with := &Model{name: m.name, program: kept.Program, texts: m.texts}
	d, err := with.DeriveWith(kind, o)
	if err != nil {
		return nil, err
	}
	d.Kept, d.fit = summaries, data.Empty().Replace(fitted.Only(func(name string) bool { return kept.Data[name] != "" }), kept.Data)
	if holes != nil {
		d.fit = d.fit.Replace(holes, nil)
	}
	if o.Ahead == nil {
		if d.Earlier, err = m.rowwise(ctx, with, fitted, d.fit, o, differ, bind); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// BindContext is [Model.BindContext]. It adds the data of the fit from which [Derived.Kept] are
// computed.
func (d *Derived) BindContext(ctx context.Context, values any, o BindOptions) (*Posterior, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	if d.fit != nil {
		set, err := readData(values, d.program.MemoryOr(o.Memory))
		if err != nil {
			return nil, err
		}
		own := func(name string) bool { return slices.Contains(d.fit.Names(), name) }
		values = set.Filled(own).Replace(d.fit, nil)
	}
	return d.Model.BindContext(ctx, values, o)
}

// differing lists the variables with other values than in the fit, and those in changed.
func (m *Model) differing(fitted, values *data.Set, changed []string) (list []string) {
	if fitted == values {
		return slices.Clone(changed)
	}
	values = m.whole(values)
	names := slices.Clone(values.Names())
	if fitted != nil {
		fitted = m.whole(fitted)
		names = append(names, fitted.Names()...)
	}
	for _, name := range names {
		if slices.Contains(changed, name) || !sameValues(fitted, values, name) {
			list = append(list, name)
		}
	}
	return list
}

// GenerateNew returns the model for computing its generated quantities from data with other rows
// than those of the fit. What both they and the distribution of the data compute from all rows,
// such as the mean that centres a predictor, keeps the value that it has in the fit, see
// [Derived.BindContext]: coefficients belong to it. changed lists the other summaries that
// generated quantities combine with parameters; they are those of the new rows. If fitted is nil,
// the fit's data are unknown. bind has the options of the fit, with which some of its rows are
// evaluated, as in [Model.DeriveNew].
func (m *Model) GenerateNew(ctx context.Context, fitted, values *data.Set, bind BindOptions) (d *Derived, changed []predict.Summary, err error) {
	d = &Derived{Model: m}
	if m.Err() != nil {
		return d, nil, m.Err()
	}
	if values == nil {
		values = data.Empty()
	}
	differ := m.differing(fitted, values, nil)
	if fitted != nil && !m.sameRows(fitted, values) {
		for _, v := range m.program.IR().Data {
			if m.program.Missing(values, v.Name) != nil {
				return nil, nil, fmt.Errorf("%w: %s. Fill it, or draw the outcomes by ppl predict", errHole, m.hole(values, v.Name))
			}
		}
	}
	var kept []predict.Summary
	ofModel := predict.Summaries(m.program, predict.Replicated, predict.Options{})
	for _, s := range predict.GeneratedSummaries(m.program) {
		switch {
		case !slices.ContainsFunc(s.Of, func(name string) bool { return slices.Contains(differ, name) }):
		case fitted != nil && slices.ContainsFunc(ofModel, func(o predict.Summary) bool { return o.Span == s.Span }):
			kept = append(kept, s)
		default:
			changed = append(changed, s)
		}
	}
	if len(kept) == 0 {
		return d, changed, m.checkRows(ctx, d, fitted, predict.Options{}, differ, changed, bind)
	}
	with, err := predict.Keep(m.program, kept, differ, true)
	if errors.As(err, new(*predict.NotKeptError)) {
		return d, append(kept, changed...), nil
	}
	if err != nil {
		return nil, nil, err
	}
	d.Model = &Model{name: m.name, program: with.Program, texts: m.texts}
	d.Kept, d.fit = kept, data.Empty().Replace(fitted.Only(func(name string) bool { return with.Data[name] != "" }), with.Data)
	o := predict.Options{Fitted: slices.Collect(maps.Values(with.Data))}
	return d, changed, m.checkRows(ctx, d, fitted, o, differ, changed, bind)
}

// checkRows sets d.Together, unless nothing differs or it is known that something changes.
func (m *Model) checkRows(ctx context.Context, d *Derived, fitted *data.Set, o predict.Options, differ []string, changed []predict.Summary, bind BindOptions) error {
	if fitted == nil || len(differ) == 0 || len(changed) > 0 {
		return nil
	}
	var err error
	if d.Earlier, err = m.rowwise(ctx, d.Model, fitted, d.fit, o, differ, bind); errors.As(err, &d.Together) {
		return nil
	}
	return err
}

// sameValues reports whether a variable has the same values in two data sets, and lacks the same
// ones.
func sameValues(a, b *data.Set, name string) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	x, ok := a.Get(name)
	y, also := b.Get(name)
	return ok && also && equalValues(x, y)
}

// TransformedData returns the values of variables of transformed data, for the given data.
func (m *Model) TransformedData(ctx context.Context, values *data.Set, o BindOptions, variables ...string) (*data.Set, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	program, names, err := predict.Transformed(m.program, variables)
	if err != nil {
		return nil, err
	}
	return m.evaluated(ctx, program, names, values, o)
}

// Recorded returns the variables that are censored by limits, with the limit in place of each value
// beyond it.
func (m *Model) Recorded(ctx context.Context, values *data.Set, o BindOptions) (*data.Set, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	program, names, err := predict.Recorded(m.program)
	if err != nil || program == nil {
		return data.Empty(), err
	}
	return m.evaluated(ctx, program, names, values, o)
}

// evaluated returns the generated quantities of a program without parameters, under other names.
func (m *Model) evaluated(ctx context.Context, program *compile.Program, names map[string]string, values *data.Set, o BindOptions) (*data.Set, error) {
	copies := &Model{name: m.name, program: program}
	p, err := copies.BindContext(ctx, values, o)
	if err != nil {
		return nil, err
	}
	dst := make([]float64, len(p.OutputNames()))
	if err := p.Generate(nil, rand.New(rand.NewPCG(o.Seed, 1)), dst); err != nil {
		return nil, err
	}
	whole := map[string]bool{}
	for _, v := range program.IR().GeneratedQuantityVars {
		whole[v.Name] = v.Type.Scalar() == types.Int
	}
	b := data.NewBuilder()
	for i, n := range p.GeneratedNames() {
		name, index, _ := strings.Cut(n, ".")
		if err := b.Add(names[name], index, dst[len(dst)-len(p.GeneratedNames())+i], whole[name]); err != nil {
			return nil, err
		}
	}
	return b.Set(), nil
}
