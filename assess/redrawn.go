package assess

import (
	"context"
	"errors"
	"slices"

	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// This file chooses the parameters that replications draw anew, and the elements that a model
// draws.

// chooseRedrawn finds the parameters that are drawn anew. Replications that are given, and those of
// the prior, are not changed.
func (r *replication) chooseRedrawn(m *model.Model, o PredictiveOptions) error {
	if o.Quantities != nil || r.fit.FromPrior {
		if len(o.Redraw) > 0 {
			return errors.New("parameters are drawn anew only for replications that follow from the model and the posterior")
		}
		return nil
	}
	if r.varying = predict.Varying(m.Program()); o.RedrawVarying {
		r.redraw = r.varying
	}
	return nil
}

// onlyDrawn leaves out the elements that no statement of the model is about, such as values in the
// records of doses: their replications are copies.
func (r *replication) onlyDrawn(ctx context.Context, m *model.Model, b model.BindOptions) error {
	if r.fit.FromPrior {
		return nil
	}
	counts, err := m.Derive(predict.Terms)
	if err != nil {
		return nil // nothing is known about elements
	}
	p, err := counts.BindContext(ctx, r.values, b)
	if err != nil {
		return err
	}
	terms, err := firstGenerated(p, r.fit)
	if err != nil {
		return err
	}
	variables := map[string]string{}
	for _, out := range counts.Outputs {
		variables[out.Name] = out.Variable
	}
	none := map[string]bool{}
	for k, name := range p.GeneratedNames() {
		own := diagnose.VariableName(name)
		none[diagnose.DisplayName(variables[own]+name[len(own):])] = terms[k] == 0
	}
	for _, v := range r.variables {
		kept := 0
		for i, e := range v.elements {
			if none[e] {
				continue
			}
			v.columns[kept], v.rows[kept], v.elements[kept] = v.columns[i], v.rows[i], e
			v.y[kept], v.at[kept] = v.y[i], v.at[i]
			kept++
		}
		v.columns, v.rows, v.elements = v.columns[:kept], v.rows[:kept], v.elements[:kept]
		v.y, v.at = v.y[:kept], v.at[:kept]
	}
	r.variables = slices.DeleteFunc(r.variables, func(v *replicated) bool { return len(v.y) == 0 })
	return nil
}
