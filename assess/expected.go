package assess

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// This file computes expected outcomes at the draws of a fit: individual and population
// predictions.

// expectation has the expected value of each element of a variable at each draw. An element that
// is not known has no draws.
type expectation [][]float64

// means returns the averages over the draws; NaN without draws.
func (e expectation) means() []float64 {
	out := make([]float64, len(e))
	for i, x := range e {
		out[i] = math.NaN()
		if len(x) > 0 {
			out[i] = 0
			for _, v := range x {
				out[i] += v / float64(len(x))
			}
		}
	}
	return out
}

// allDraws returns the draws of a quantity, chain after chain.
func allDraws(s *draws.Store, quantity int) (out []float64) {
	for chain := range s.Chains() {
		out = append(out, s.Column(nil, chain, quantity)...)
	}
	return out
}

// expected returns the expected outcomes of the variables, with parameters that are given at the
// means of their distributions.
func (r *replication) expected(ctx context.Context, m *model.Model, b model.BindOptions, atMean []string) (map[*replicated]expectation, error) {
	grown, err := fit.Redrawn(r.fit, m.Program().IR(), atMean)
	if err != nil {
		return nil, err
	}
	derived, err := m.DeriveWith(predict.Expected, predict.Options{Complete: true, Grown: grown, NewLevels: predict.MeanNewLevels})
	if err != nil {
		return nil, err
	}
	r.unknown = derived.Left
	p, err := derived.BindContext(ctx, r.values, b)
	if err != nil {
		return nil, err
	}
	g, err := fit.Generate(ctx, p, r.fit, fit.GenerateOptions{Parameters: derived.Known})
	if err != nil {
		return nil, err
	}
	if g.Failed > 0 {
		return nil, fmt.Errorf("at %d draws: %w", g.Failed, g.Reason)
	}
	at := outputsAt(p, derived)
	out := map[*replicated]expectation{}
	for _, v := range r.variables {
		for _, e := range v.elements {
			var of []float64
			if k, is := at[e]; is {
				of = allDraws(g.Draws, k)
			}
			out[v] = append(out[v], of)
		}
	}
	return out, nil
}

// outputsAt returns the places of the outputs of a derived model among its generated quantities, by
// the element that each is about, as in y[3].
func outputsAt(p *model.Posterior, derived *model.Derived) map[string]int {
	variables := map[string]string{}
	for _, out := range derived.Outputs {
		variables[out.Name] = out.Variable
	}
	at := map[string]int{}
	for k, name := range p.GeneratedNames() {
		own := diagnose.VariableName(name)
		if of, is := variables[own]; is {
			at[diagnose.DisplayName(of+name[len(own):])] = k
		}
	}
	return at
}

// named returns predictions that are a variable among the draws, or one with an index, as in
// c[iObs]: averages over the draws.
func (r *replication) named(v *replicated, column string) ([]float64, error) {
	return elementsOf(r.values, func(name string) ([]float64, error) {
		for _, f := range []*fit.Fit{r.quantities, r.fit} {
			if f == nil {
				continue
			}
			var out []float64
			for k, n := range f.Names() {
				index, is := strings.CutPrefix(n, name+".")
				if i, err := strconv.Atoi(index); is && err == nil && i == len(out)+1 {
					out = append(out, expectation{allDraws(f.Draws, k)}.means()[0])
				}
			}
			if out != nil {
				return out, nil
			}
		}
		return nil, fmt.Errorf("the draws have no vector or array %s", name)
	}, column, v)
}
