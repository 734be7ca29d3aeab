package assess

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/model"
)

// This file computes normalised prediction distribution errors (NPDE) of Brendel, Comets, Laffont,
// Laveille and Mentré (Pharmaceutical Research 23, 2006). Replications of a subject, each with
// group-level parameters drawn anew, are decorrelated like its observations: each of these is
// compared with what is expected of it given those before it. Its place among the replications,
// on the scale of a standard normal distribution, is the NPDE. The replications have the
// parameters of the draws, so the NPDE are a little narrower than normal if there are few subjects.

const (
	// maxReplicas is the maximum number of values of all replications, which are kept.
	maxReplicas = 50_000_000

	// minReplicas is the minimum number of replications for each observation of a subject, whose
	// correlations are estimated from them.
	minReplicas = 10
)

// newSubjects returns the replications of each variable with the parameters of populations drawn
// anew: for each element, its value at each draw.
func (r *replication) newSubjects(ctx context.Context, m *model.Model, values *data.Set, b model.BindOptions) (map[string]map[string][]float64, error) {
	if r.fit.FromPrior {
		return nil, errors.New("the draws are from the prior")
	}
	anew := &replication{fit: r.fit, model: m, values: values, redraw: r.varying}
	if _, err := anew.derive(ctx, m, b); err != nil {
		return nil, err
	}
	var chains []int
	draws, elements := 0, 0
	for c := range r.fit.Draws.Chains() {
		chains = append(chains, r.fit.Draws.Len(c))
		draws += r.fit.Draws.Len(c)
	}
	matrices := make([]*criticise.Matrix, len(anew.variables))
	for k, v := range anew.variables {
		matrices[k] = criticise.NewMatrix(chains, len(v.y))
		elements += len(v.y)
		if draws*elements > maxReplicas {
			return nil, fmt.Errorf("there are more than %d observations at %d draws", maxReplicas/draws, draws)
		}
	}
	generated, err := anew.each(ctx, 1, func(chain, draw int, values []float64) error {
		for k, v := range anew.variables {
			at := matrices[k].Row(chain, draw)
			for i, c := range v.columns {
				matrices[k].Columns[i][at] = values[c]
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if generated.Failed > 0 {
		return nil, fmt.Errorf("at %d draws: %w", generated.Failed, generated.Reason)
	}
	out := map[string]map[string][]float64{}
	for k, v := range anew.variables {
		if v.declared != nil && v.declared.Type.Kind == types.Int {
			continue // their places jump
		}
		out[v.name] = map[string][]float64{}
		for i, e := range v.elements {
			out[v.name][e] = matrices[k].Columns[i]
		}
	}
	return out, nil
}

// normalise computes the NPDE of all rows. Censored values have none.
func (s *Individuals) normalise(v *replicated, drawn map[string][]float64) {
	beyond := map[string]bool{}
	for i, side := range v.side {
		beyond[v.elements[i]] = side != 0
	}
	for _, one := range s.Subjects {
		var rows []*SubjectRow
		var y []float64
		var replicas [][]float64
		for i := range one.Rows {
			row := &one.Rows[i]
			if own := drawn[row.Element]; own != nil && !beyond[row.Element] {
				rows, y, replicas = append(rows, row), append(y, row.Observed), append(replicas, own)
			}
		}
		for i, z := range npde(y, replicas) {
			rows[i].NPDE = z
		}
	}
}

// npde returns the NPDE of the observations of a subject, given the replications of each; NaN for
// those that are functions of others, and for all if there are too few replications.
func npde(y []float64, replicas [][]float64) []float64 {
	out := make([]float64, len(y))
	var observed []float64
	var kept [][]float64 // what is left of replications and, above, observations; variances are 1
	for i := range y {
		out[i] = math.NaN()
		n := len(replicas[i])
		if n < minReplicas*len(y) {
			continue
		}
		mean := 0.0
		for _, x := range replicas[i] {
			mean += x / float64(n)
		}
		rest, own, whole := make([]float64, n), y[i]-mean, 0.0
		for d, x := range replicas[i] {
			rest[d] = x - mean
			whole += rest[d] * rest[d]
		}
		for j, z := range kept {
			slope := 0.0
			for d, x := range rest {
				slope += x * z[d] / float64(n-1)
			}
			for d := range rest {
				rest[d] -= slope * z[d]
			}
			own -= slope * observed[j]
		}
		left := 0.0
		for _, x := range rest {
			left += x * x
		}
		const dependent = 1e-12 // share of the variance that rounding may leave
		if !(left > dependent*whole) || math.IsInf(left, 0) {
			continue
		}
		scale := math.Sqrt(left / float64(n-1))
		below := 0.0
		for d, x := range rest {
			if x < own {
				below++
			} else if x == own {
				below += 0.5
			}
			rest[d] = x / scale
		}
		if math.IsNaN(own) {
			continue
		}
		// The quantile of the normal distribution at the share of the replications below.
		out[i] = math.Sqrt2 * math.Erfinv(2*min(max(below, 0.5), float64(n)-0.5)/float64(n)-1)
		observed, kept = append(observed, own/scale), append(kept, rest)
	}
	return out
}

// The residuals of rows.
const (
	NPDE  = "NPDE"
	CWRES = "CWRES"
)

// Residuals returns the number of NPDE or CWRES that are known, their mean and their standard
// deviation: 0 and 1 are expected.
func (s Individuals) Residuals(which string) (n int, mean, sd float64) {
	var all running
	for _, one := range s.Subjects {
		for _, row := range one.Rows {
			x := row.NPDE
			if which == CWRES {
				x = row.CWRES
			}
			if !math.IsNaN(x) {
				all.add(x)
			}
		}
	}
	return all.n, all.mean, all.sd()
}
