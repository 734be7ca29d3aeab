package assess

import (
	"context"
	"errors"

	"github.com/ppl-lang/ppl/fit"
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
	forward, err := m.DeriveWith(predict.Forward, unknown)
	var not *predict.NotForwardError
	switch {
	case errors.As(err, &not):
	case err != nil:
		return nil, err
	default:
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
		return &Prior{Fit: f, Direct: true}, nil
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
