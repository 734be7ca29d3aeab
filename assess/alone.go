package assess

import (
	"context"
	"errors"
	"fmt"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// This file: predictions of each observation from the others in models with discrete parameters.
// Replications of a fit are given draws of these, which the observation itself has informed: with
// weights of importance sampling, a class that the observation rules out would never be drawn.

// alone draws replications given the other parameters alone, with new discrete parameters. If no
// two observations share a discrete parameter, these are draws given all other observations.
type alone struct {
	posterior  *model.Posterior
	parameters map[string]string // see [fit.GenerateOptions]
}

// drawAlone makes the model that draws them. The error says why there is none.
func (r *replication) drawAlone(ctx context.Context, values *data.Set, b model.BindOptions) error {
	h, err := NewHoldout(ctx, r.model, values, b)
	if err != nil {
		return err
	}
	if !h.alone {
		return errors.New("it is not known whether observations share discrete parameters")
	}
	derived, err := r.model.DeriveWith(predict.Replicated, predict.Options{Complete: true, Cut: true, Anew: true, NewLevels: predict.SampleNewLevels})
	if err != nil {
		return err
	}
	p, err := derived.BindContext(ctx, values, b)
	if err != nil {
		return err
	}
	r.alone = &alone{posterior: p, parameters: derived.Known}
	return nil
}

// run draws the replications of the observations whose PIT is computed.
func (a *alone) run(ctx context.Context, r *replication, seed uint64) error {
	place := map[string]int{}
	for i, name := range a.posterior.GeneratedNames() {
		place[name] = i
	}
	columns := make([][]int, len(r.variables))
	for k, v := range r.variables {
		for _, i := range v.picked {
			columns[k] = append(columns[k], place[r.names[v.columns[i]]])
		}
	}
	generated, err := fit.Generate(ctx, a.posterior, r.fit, fit.GenerateOptions{Seed: seed, Parameters: a.parameters, Each: func(chain, draw int, values []float64) error {
		for k, v := range r.variables {
			for j, c := range columns[k] {
				v.yrep.Columns[j][v.yrep.Row(chain, draw)] = values[c]
			}
		}
		return nil
	}})
	if err == nil && generated.Failed > 0 {
		err = fmt.Errorf("they cannot be predicted at %d draws: %w", generated.Failed, generated.Reason)
	}
	return err
}
