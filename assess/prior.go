package assess

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/arrays"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// Prior holds draws of the parameters of a model from their prior.
type Prior struct {
	*fit.Fit

	// Direct says that the parameters were drawn from their priors one after another, each after
	// the parameters on which its prior depends. All draws are then independent. Otherwise the
	// prior was sampled by Options.Sampler, and Reason says why.
	Direct bool
	Reason string

	// Undrawn has the reasons why [DirectPrior] left parameters out.
	Undrawn []string
}

// SamplePrior draws the parameters of a model from their prior. It ignores the statements about
// data, and the data need not include variables that the model draws. o sets the numbers of chains
// and draws, the seed, and the sampler to use if the parameters cannot be drawn directly.
func SamplePrior(ctx context.Context, m *model.Model, values any, b model.BindOptions, o fit.Options) (*Prior, error) {
	set, err := model.ReadData(values)
	if err != nil {
		return nil, err
	}
	unknown := predict.Options{Unknown: m.NotGiven(set)}
	prior, err := drawPrior(ctx, m, set, b, o, unknown)
	var not *predict.NotForwardError
	if !errors.As(err, &not) {
		return prior, err
	}
	derived, err := m.DeriveWith(predict.Prior, unknown)
	if err != nil {
		return nil, err
	}
	p, err := derived.BindContext(ctx, set, b)
	if err != nil {
		return nil, err
	}
	f, err := fit.Sample(ctx, p, o)
	if f == nil {
		return nil, err
	}
	f.FromPrior = true
	return &Prior{Fit: f, Reason: not.Reason}, err
}

// DirectPrior draws parameters from their priors, one after another, and never samples. It leaves
// out parameters without a prior, and those whose priors depend on them. If the parameters cannot
// be drawn one after another, the error is a [predict.NotForwardError].
func DirectPrior(ctx context.Context, m *model.Model, values any, b model.BindOptions, o fit.Options) (*Prior, error) {
	set, err := model.ReadData(values)
	if err != nil {
		return nil, err
	}
	return drawPrior(ctx, m, set, b, o, predict.Options{Unknown: m.NotGiven(set), Partial: true})
}

// PopulationPrior has draws from the priors of the population parameters of a fit: those that are
// not group-level terms.
type PopulationPrior struct {
	Quantities []PriorQuantity
	Reason     string   // why nothing can be drawn; "": something was
	Undrawn    []string // reasons why parameters were left out
	Unsettled  []string // variables whose prior was sampled, but the chains did not agree
	Large      []string // variables with too many elements
}

// PriorQuantity is an element of a population parameter.
type PriorQuantity struct {
	Index        int // among the quantities of the fit
	Draws        []float64
	Lower, Upper bool // whether the parameter has this bound
}

// The limits of priors that are sampled for [PopulationPriorOf].
const (
	maxSampledPrior    = 2000 // quantities of the fit
	sampledPriorChains = 4
	maxPriorRhat       = 1.05
	minPriorESS        = 100
)

// PopulationPriorOf draws from the priors of the population parameters of a fit. If they cannot be
// drawn one after another, it samples them, unless the model is large. It leaves out
// variables of which skip is true, those with an element for each of more than maxLevels levels of
// a factor, and those with more than maxElements elements.
func PopulationPriorOf(ctx context.Context, f *fit.Fit, draws, maxLevels, maxElements int, seed uint64, skip func(variable string) bool) (*PopulationPrior, error) {
	m, err := f.Model()
	if err != nil {
		return nil, err
	}
	values, err := f.Data()
	if err != nil {
		return nil, err
	}
	prior, err := DirectPrior(ctx, m, values, f.Binding(), fit.Options{Chains: 1, Draws: draws, Seed: seed})
	if not := new(predict.NotForwardError); errors.As(err, &not) {
		if len(f.Names()) > maxSampledPrior {
			return &PopulationPrior{Reason: not.Reason}, nil
		}
		chains := sampledPriorChains
		prior, err = SamplePrior(ctx, m, values, f.Binding(), fit.Options{Chains: chains, Draws: (draws + chains - 1) / chains, Seed: seed})
		if err != nil && ctx.Err() == nil {
			return &PopulationPrior{Reason: not.Reason}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	out := &PopulationPrior{Undrawn: prior.Undrawn}
	var summary []diagnose.Row
	if !prior.Direct {
		summary = prior.Summary()
	}
	// settled reports whether draws that were sampled have converged. A prior with an improper part
	// does not.
	settled := func(k int) bool {
		return prior.Direct || summary[k].Rhat <= maxPriorRhat && summary[k].ESSBulk >= minPriorESS
	}
	drawn := map[string]int{}
	for i, name := range prior.Draws.Names() {
		drawn[name] = i
	}
	elements := map[string][]int{} // of the fit, by variable
	for i, name := range f.Draws.Names() {
		base, _, _ := strings.Cut(name, ".")
		elements[base] = append(elements[base], i)
	}
	p := m.Program().IR()
	factors := f.IndexFactors(p)
	for _, v := range p.Parameters {
		grouped := slices.ContainsFunc(factors[v.Name], func(by arrays.Factor) bool { return len(by.Levels) > maxLevels })
		if grouped || skip(v.Name) {
			continue
		}
		if n := len(elements[v.Name]); n > maxElements {
			out.Large = append(out.Large, v.Name)
			continue
		}
		bounded := v.Constraint.Kind == types.LowerUpper
		for _, i := range elements[v.Name] {
			k, ok := drawn[f.Draws.Names()[i]]
			switch {
			case ok && !settled(k):
				if !slices.Contains(out.Unsettled, v.Name) {
					out.Unsettled = append(out.Unsettled, v.Name)
				}
			case ok:
				out.Quantities = append(out.Quantities, PriorQuantity{Index: i, Draws: allDraws(prior.Draws, k),
					Lower: bounded && v.Constraint.Lower != nil, Upper: bounded && v.Constraint.Upper != nil})
			}
		}
	}
	return out, nil
}

// drawPrior draws parameters from their priors, one after another.
func drawPrior(ctx context.Context, m *model.Model, set *data.Set, b model.BindOptions, o fit.Options, how predict.Options) (*Prior, error) {
	forward, err := m.DeriveWith(predict.Forward, how)
	if err != nil {
		return nil, err
	}
	p, err := forward.BindContext(ctx, set, b)
	if err != nil {
		return nil, err
	}
	count := func(v, standard int) int {
		switch {
		case v < 0:
			return 0
		case v == 0:
			return standard
		}
		return v
	}
	chains, n := count(o.Chains, 4), count(o.Draws, 1000)
	thin := max(o.Thin, 1)
	f, err := fit.Simulate(ctx, p, chains, (n+thin-1)/thin, o.Seed, o.Parallel)
	if err != nil {
		return nil, err
	}
	f.FromPrior = true
	return &Prior{Fit: f, Direct: true, Undrawn: forward.Undrawn}, nil
}

// PriorPredictive draws data from the prior and compares them with the data, see [PredictiveOf].
// The data may lack the variables that the model draws.
func PriorPredictive(ctx context.Context, m *model.Model, values any, b model.BindOptions, o fit.Options, p PredictiveOptions) (*Predictive, *Prior, error) {
	set, err := model.ReadData(values)
	if err != nil {
		return nil, nil, err
	}
	prior, err := SamplePrior(ctx, m, set, b, o)
	if err != nil {
		return nil, nil, err
	}
	b.AllowImpossible = true
	result, err := predictiveOf(ctx, prior.Fit, m, set, b, p)
	return result, prior, err
}
