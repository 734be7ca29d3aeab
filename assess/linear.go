package assess

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/assess/projection"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model/predict"
)

// LinearPredictors has what a projection needs of a fit: the linear predictor and the log
// likelihood of every row, at some of the draws.
type LinearPredictors struct {
	Variable  string      // name of the outcome
	Predictor [][]float64 // by draw and row
	LogLik    [][]float64 // by draw and row
}

// Rows returns the number of rows of the outcome.
func (p *LinearPredictors) Rows() int {
	if p == nil || len(p.Predictor) == 0 {
		return 0
	}
	return len(p.Predictor[0])
}

// LinearPredictorsOf computes linear predictors and log likelihoods at the draws of a fit. With
// many rows, it uses fewer draws, at equal distances.
func LinearPredictorsOf(ctx context.Context, f *fit.Fit) (*LinearPredictors, error) {
	m, values, err := fitted(f)
	if err != nil {
		return nil, err
	}
	derived, err := m.DeriveFor(values, predict.LinearPredictor, predict.Options{})
	if err != nil {
		return nil, err
	}
	if n := len(derived.Outputs); n != 1 {
		return nil, fmt.Errorf("the model has %d outcomes; a projection is for one", n)
	}
	out := derived.Outputs[0]
	if len(derived.Left) > 0 {
		return nil, fmt.Errorf("no linear predictor from %s", derived.Left[0])
	}
	if out.Dims != 1 {
		return nil, fmt.Errorf("the outcome %s has %d linear predictors per row; a projection is for one", out.Variable, out.Dims)
	}
	likelihood, err := LogLikOf(ctx, f, LogLikOptions{Derive: true})
	if err != nil {
		return nil, err
	}
	r := &LinearPredictors{Variable: out.Variable}
	const maxDraws, minDraws, maxValues = 4000, 400, 2e7
	at := thinned(likelihood.chains(), min(maxDraws, max(minDraws, maxValues/likelihood.Observations())))
	if len(at) == 0 {
		return nil, errors.New("the fit has no draws")
	}
	r.LogLik = make([][]float64, len(at))
	r.Predictor = make([][]float64, len(at))
	err = likelihood.each(ctx, func(chain, draw int, row []float64) error {
		if s, ok := at[[2]int{chain, draw}]; ok {
			r.LogLik[s] = slices.Clone(row)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	o := f.Binding()
	o.AllowImpossible = true
	q, err := derived.BindContext(ctx, values, o)
	if err != nil {
		return nil, err
	}
	var columns []int
	for i, n := range q.GeneratedNames() {
		if strings.HasPrefix(n, out.Name+".") {
			columns = append(columns, i)
		}
	}
	if len(columns) != likelihood.Observations() {
		return nil, fmt.Errorf("there are %d linear predictors and %d log likelihoods", len(columns), likelihood.Observations())
	}
	g, err := fit.Generate(ctx, q, f, fit.GenerateOptions{Each: func(chain, draw int, values []float64) error {
		s, ok := at[[2]int{chain, draw}]
		if !ok {
			return nil
		}
		row := make([]float64, len(columns))
		for i, c := range columns {
			row[i] = values[c]
		}
		r.Predictor[s] = row
		return nil
	}})
	if err == nil && g.Failed > 0 {
		err = fmt.Errorf("the linear predictor cannot be computed at %d draws: %w", g.Failed, g.Reason)
	}
	return r, err
}

// thinned maps chain and draw to an index, for no more than n draws of chains with these lengths.
func thinned(chains []int, n int) map[[2]int]int {
	total := 0
	for _, c := range chains {
		total += c
	}
	out := map[[2]int]int{}
	kept := min(n, total)
	all := 0
	for chain, c := range chains {
		for draw := range c {
			// A draw is kept if it begins another of n equal parts.
			if all == 0 || all*kept/total > (all-1)*kept/total {
				out[[2]int{chain, draw}] = len(out)
			}
			all++
		}
	}
	return out
}

// Problem returns the problem of a projection onto the given family, with terms. outcome, trials
// and offset are by row; the last two may be nil. ok is false if the log likelihoods of the fit are
// not those of the family.
func (r *LinearPredictors) Problem(family projection.Family, outcome, trials, offset []float64, terms []projection.Term) (p *projection.Problem, ok bool) {
	p = &projection.Problem{Family: family, Terms: terms, Outcome: outcome, Trials: trials, Offset: offset, Predictor: r.Predictor, LogLik: r.LogLik}
	if family == projection.Gaussian {
		for s := range r.Predictor {
			p.SD = append(p.SD, projection.ResidualSD(outcome, r.Predictor[s], r.LogLik[s]))
		}
	}
	const rounding = 1e-6
	return p, p.Differs() <= rounding
}
