package assess

import (
	"context"
	"fmt"

	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// Sensitivity says how much each quantity of a fit depends on the prior and on the likelihood, see
// [criticise.PowerScale].
type Sensitivity struct {
	Names             []string
	Prior, Likelihood *criticise.Scaling
	Draws             int            // the number of draws used
	Left              []predict.Left // statements that are not part of Likelihood; they are part of Prior if All was set

	// Scaled lists the statements that make up the prior, and Unscaled the other statements about
	// parameters alone. Both are nil if All was set.
	Scaled, Unscaled []string
}

// SensitivityOptions are options of [SensitivityOf]. The zero value is the default.
type SensitivityOptions struct {
	// All treats everything except the likelihood as the prior, including the distributions of
	// group-level terms. By default, only the statements at the top level are the prior, see
	// [predict.TopLevel].
	All bool
}

// SensitivityOf measures how much each quantity depends on the prior and on the likelihood, by
// raising each of these to powers near one. The likelihood is derived from the model's statements
// about data.
func SensitivityOf(ctx context.Context, f *fit.Fit, o SensitivityOptions) (*Sensitivity, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	l, err := LogLikOf(ctx, f, LogLikOptions{Derive: true})
	if err != nil {
		return nil, err
	}
	m, err := f.Model()
	if err != nil {
		return nil, err
	}
	likelihood, err := l.joint(ctx, m)
	if err != nil {
		return nil, err
	}
	s := &Sensitivity{Left: l.Left, Draws: len(likelihood)}
	if !o.All {
		derived, err := m.Derive(predict.TopLevel)
		if err != nil {
			return nil, err
		}
		m, s.Scaled, s.Unscaled = derived.Model, derived.Scaled, derived.Unscaled
	}
	prior, err := logDensities(ctx, f, m)
	if err != nil {
		return nil, err
	}
	if o.All {
		for i := range prior {
			prior[i] -= likelihood[i]
		}
	}
	p, err := f.Posterior(ctx)
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, n := range p.ConstrainedNames() {
		wanted[n] = true
	}
	var columns [][]float64
	for i, n := range f.Names() {
		if !wanted[n] {
			continue
		}
		s.Names = append(s.Names, n)
		var column []float64
		for chain := range f.Draws.Chains() {
			column = f.Draws.Column(column, chain, i)
		}
		columns = append(columns, column)
	}
	if s.Prior, err = criticise.PowerScale(prior, columns); err != nil {
		return nil, fmt.Errorf("the prior: %w", err)
	}
	if s.Likelihood, err = criticise.PowerScale(likelihood, columns); err != nil {
		return nil, fmt.Errorf("the likelihood: %w", err)
	}
	return s, nil
}

// joint returns the log likelihood of all observations together at every draw.
func (l *LogLik) joint(ctx context.Context, m *model.Model) ([]float64, error) {
	if !l.Given {
		return l.Sums(ctx)
	}
	prior, err := m.Derive(predict.Prior)
	if err != nil {
		return nil, err
	}
	out, err := logDensities(ctx, l.fit, m)
	if err != nil {
		return nil, err
	}
	without, err := logDensities(ctx, l.fit, prior.Model)
	for i := range without {
		out[i] -= without[i]
	}
	return out, err
}

// logDensities computes the log density of a model at every draw of a fit with the same parameters.
// It is a density on the constrained scale, with all constant terms.
func logDensities(ctx context.Context, f *fit.Fit, m *model.Model) ([]float64, error) {
	values, err := f.Data()
	if err != nil {
		return nil, err
	}
	p, err := f.Posterior(ctx)
	if err != nil {
		return nil, err
	}
	o := p.Options()
	o.NoPropto, o.NoJacobian = true, true
	q, err := m.BindContext(ctx, values, o)
	if err != nil {
		return nil, err
	}
	columns, err := fit.ParameterColumns(q, f)
	if err != nil {
		return nil, err
	}
	q.SetStop(func() error { return context.Cause(ctx) })
	grad, point := make([]float64, q.Dim()), make([]float64, len(columns))
	var out []float64
	for chain := range f.Draws.Chains() {
		for draw := range f.Draws.Len(chain) {
			_, row := f.Draws.Draw(chain, draw)
			for i, c := range columns {
				point[i] = row[c]
			}
			x, err := q.UnconstrainRounded(point, f.Rounded())
			if err != nil {
				return nil, err
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			lp, err := q.LogDensityGrad(x, grad)
			if err != nil {
				return nil, fmt.Errorf("the log density at draw %d of chain %d: %w", draw+1, chain+1, err)
			}
			out = append(out, lp)
		}
	}
	return out, nil
}
