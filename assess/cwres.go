package assess

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// This file computes conditional weighted residuals (CWRES) of Hooker, Staatz and Karlsson
// (Pharmaceutical Research 24, 2007). Population parameters are at their posterior means on the
// unconstrained scale. The group-level parameters u have their mode û given these and the data.
// The expected observations f(u) are replaced by f(û) + G (u - û), where G is the Jacobian matrix
// at û. With u normal, of mean m and covariance Ω, the observations of a subject then have the mean
// f(û) - G (û - m) and the covariance G Ω G' + V, where V are their variances given û. CWRES are
// the residuals multiplied by the symmetric inverse square root of this covariance.

// maxSubjectRows is the maximum number of observations of a subject that has CWRES: the matrix of
// their covariances is decomposed.
const maxSubjectRows = 1000

// linearisation is a model that is linear in the group-level parameters.
type linearisation struct {
	at     map[string]int // rows, by element, as in y[3]
	mean   []float64      // f(û) - G (û - m)
	within []float64      // variances given û

	// slopes has, for each row, the derivatives that are not 0, by parameter in increasing order.
	slopes [][]slope

	// block has, for each parameter, the parameters that depend on it in their distribution, with
	// itself, and covariance those of all pairs in a block.
	block      [][]int
	covariance map[[2]int]float64
}

// slope is the derivative by a parameter.
type slope struct {
	by int
	d  float64
}

// someParameters is a log density as a function of some of the parameters. The others are fixed.
type someParameters struct {
	infer.LogDensity
	x, grad []float64
	which   []int
	names   []string // of which
}

func (s *someParameters) Dim() int { return len(s.which) }

func (s *someParameters) LogDensityGrad(u, grad []float64) (float64, error) {
	for k, i := range s.which {
		s.x[i] = u[k]
	}
	lp, err := s.LogDensity.LogDensityGrad(s.x, s.grad)
	for k, i := range s.which {
		grad[k] = s.grad[i]
	}
	return lp, err
}

// linearised returns the linearisation of a model about the modes of its subjects. The error says
// why there is none.
func (r *replication) linearised(ctx context.Context, m *model.Model, b model.BindOptions) (*linearisation, error) {
	switch {
	case r.fit.FromPrior:
		return nil, errors.New("the draws are from the prior")
	case len(r.varying) == 0:
		return nil, errors.New("no parameter describes a population")
	}
	bind := func(kind predict.Kind, o predict.Options) (*model.Posterior, *model.Derived, error) {
		derived, err := m.DeriveWith(kind, o)
		if err != nil {
			return nil, nil, err
		}
		p, err := derived.BindContext(ctx, r.values, b)
		return p, derived, err
	}
	whole, err := r.fit.Posterior(ctx)
	if err != nil {
		return nil, err
	}
	prior, _, err := bind(predict.Prior, predict.Options{Bare: true})
	if err != nil {
		return nil, err
	}
	names := whole.UnconstrainedNames()
	if !slices.Equal(names, prior.UnconstrainedNames()) {
		return nil, errors.New("the prior has other parameters")
	}
	centre, err := r.meanPoint(whole)
	if err != nil {
		return nil, err
	}
	of := func(p *model.Posterior) *someParameters {
		s := &someParameters{LogDensity: p.CloneDensity(), x: slices.Clone(centre), grad: make([]float64, len(centre))}
		for i, n := range names {
			if slices.Contains(r.varying, diagnose.VariableName(n)) {
				s.which, s.names = append(s.which, i), append(s.names, diagnose.DisplayName(n))
			}
		}
		return s
	}
	given := of(whole)
	start := make([]float64, len(given.which))
	for k, i := range given.which {
		start[k] = centre[i]
	}
	best, err := optimize.Maximize(ctx, given, start, optimize.Options{})
	if err != nil {
		return nil, err
	}
	if !best.Reason.Converged() {
		return nil, fmt.Errorf("the mode of %s is not known: %s", r.varying[0], best.Reason)
	}
	l := &linearisation{}
	shift, scale, err := l.population(ctx, of(prior), best.X)
	if err != nil {
		return nil, err
	}
	mean, means, err := bind(predict.Expected, predict.Options{Complete: true})
	if err != nil {
		return nil, err
	}
	variance, variances, err := bind(predict.Variance, predict.Options{Complete: true})
	if err != nil {
		return nil, err
	}
	l.at = map[string]int{}
	var rows []outcomeRow
	meanAt, varianceAt := outputsAt(mean, means), outputsAt(variance, variances)
	for _, v := range r.variables {
		for _, e := range v.elements {
			i, known := meanAt[e]
			j, varies := varianceAt[e]
			if known && varies {
				l.at[e] = len(rows)
				rows = append(rows, outcomeRow{i, j, v.dist == "lognormal"})
			}
		}
	}
	x := slices.Clone(centre)
	evaluate := func(u []float64) (expected, within []float64, err error) {
		for k, i := range given.which {
			x[i] = u[k]
		}
		var values [2][]float64
		for k, p := range []*model.Posterior{mean, variance} {
			out := make([]float64, len(p.OutputNames()))
			if err := p.Generate(x, rand.New(rand.NewPCG(1, 1)), out); err != nil {
				return nil, nil, err
			}
			values[k] = out[len(out)-len(p.GeneratedNames()):]
		}
		for _, row := range rows {
			f, v := values[0][row.mean], values[1][row.variance]
			if row.log { // the mean and the variance of the logarithm
				v = math.Log1p(v / (f * f))
				f = math.Log(f) - v/2
			}
			expected, within = append(expected, f), append(within, v)
		}
		return expected, within, ctx.Err()
	}
	if l.mean, l.within, err = evaluate(best.X); err != nil {
		return nil, err
	}
	l.slopes = make([][]slope, len(rows))
	u := slices.Clone(best.X)
	for k := range u {
		// Differences of fourth order. Solvers of differential equations have errors, so the steps
		// are not very small.
		const step = 0.02
		change := make([]float64, len(rows))
		for _, d := range []struct{ at, weight float64 }{{-2, 1. / 12}, {-1, -2. / 3}, {1, 2. / 3}, {2, -1. / 12}} {
			u[k] = best.X[k] + d.at*step*scale[k]
			f, _, err := evaluate(u)
			if err != nil {
				return nil, err
			}
			for i := range change {
				change[i] += d.weight * (f[i] - l.mean[i]) / (step * scale[k])
			}
		}
		u[k] = best.X[k]
		for i, d := range change {
			if d != 0 {
				l.slopes[i] = append(l.slopes[i], slope{k, d})
			}
		}
	}
	for i, own := range l.slopes {
		for _, s := range own {
			l.mean[i] -= s.d * shift[s.by]
		}
	}
	return l, nil
}

// outcomeRow is an element of an outcome: the places of its mean and its variance among generated
// quantities, and whether its logarithm is normal.
type outcomeRow struct {
	mean, variance int
	log            bool
}

// meanPoint returns the mean of the draws on the unconstrained scale.
func (r *replication) meanPoint(p *model.Posterior) ([]float64, error) {
	points, err := fit.Unconstrained(p, r.fit)
	if err != nil {
		return nil, err
	}
	out := make([]float64, p.Dim())
	for _, x := range points {
		for i := range x {
			out[i] += x[i] / float64(len(points))
		}
	}
	return out, nil
}

// population finds the covariances of the group-level parameters from their prior, which must be
// normal, and returns the distances of u from their means, and their conditional standard
// deviations.
func (l *linearisation) population(ctx context.Context, prior *someParameters, u []float64) (shift, scale []float64, err error) {
	n := len(u)
	gradient := func(k int, d float64) ([]float64, error) {
		x, grad := slices.Clone(u), make([]float64, n)
		x[k] += d
		if _, err := prior.LogDensityGrad(x, grad); err != nil {
			return nil, err
		}
		return grad, ctx.Err()
	}
	at, err := gradient(0, 0)
	if err != nil {
		return nil, nil, err
	}
	scale = make([]float64, n)
	precision := make([]map[int]float64, n)
	l.block = make([][]int, n)
	for k := range u {
		l.block[k] = []int{k}
	}
	for k := range u {
		const small = 1e-4
		near, err := gradient(k, small)
		if err != nil {
			return nil, nil, err
		}
		scale[k] = 1 / math.Sqrt((at[k]-near[k])/small)
		notNormal := fmt.Errorf("the distribution of %s is not normal on the unconstrained scale", prior.names[k])
		if !(scale[k] > 0) || math.IsInf(scale[k], 0) {
			return nil, nil, notNormal
		}
		up, err := gradient(k, scale[k])
		if err != nil {
			return nil, nil, err
		}
		down, err := gradient(k, -scale[k])
		if err != nil {
			return nil, nil, err
		}
		// The log density of a normal distribution is quadratic: the slope of its gradient is the
		// same everywhere. Its first estimate has lost half of the digits.
		const same = 1e-3
		if math.Abs((down[k]-up[k])*scale[k]/2-1) > same || math.Abs(up[k]+down[k]-2*at[k])*scale[k] > same {
			return nil, nil, notNormal
		}
		precision[k] = map[int]float64{}
		for j := range u {
			if d := (down[j] - up[j]) / (2 * scale[k]); j == k || d != 0 {
				precision[k][j] = d
				l.join(k, j)
			}
		}
	}
	l.covariance = map[[2]int]float64{}
	shift = make([]float64, n)
	for k, block := range l.block {
		if block[0] != k {
			continue // done with the first of the block
		}
		q := mat.NewSymDense(len(block), nil)
		for a, i := range block {
			for b, j := range block[:a+1] {
				q.SetSym(a, b, (precision[i][j]+precision[j][i])/2)
			}
		}
		var factor mat.Cholesky
		if !factor.Factorize(q) {
			return nil, nil, fmt.Errorf("the covariance of %s is not known", prior.names[k])
		}
		var inverse mat.SymDense
		if err := factor.InverseTo(&inverse); err != nil {
			return nil, nil, err
		}
		for a, i := range block {
			for b, j := range block {
				l.covariance[[2]int{i, j}] = inverse.At(a, b)
				shift[i] -= inverse.At(a, b) * at[j]
			}
		}
	}
	return shift, scale, nil
}

// weigh computes the CWRES of all rows. Censored values have none. The error says why no row has
// one.
func (s *Individuals) weigh(v *replicated, l *linearisation) error {
	beyond := map[string]bool{}
	for i, side := range v.side {
		beyond[v.elements[i]] = side != 0
	}
	found := false
	for _, one := range s.Subjects {
		var rows []*SubjectRow
		var at []int
		var rest []float64
		for i := range one.Rows {
			row := &one.Rows[i]
			k, known := l.at[row.Element]
			if !known || beyond[row.Element] {
				continue
			}
			y := row.Observed
			if v.dist == "lognormal" {
				y = math.Log(y)
			}
			y -= l.mean[k]
			if !math.IsNaN(y) && !math.IsInf(y, 0) && l.within[k] > 0 && !math.IsInf(l.within[k], 0) {
				rows, at, rest = append(rows, row), append(at, k), append(rest, y)
			}
		}
		n := len(rows)
		if n == 0 || n > maxSubjectRows {
			continue
		}
		cov := mat.NewSymDense(n, nil)
		for a := range n {
			for b := range a + 1 {
				cov.SetSym(a, b, l.between(at[a], at[b]))
			}
			cov.SetSym(a, a, cov.At(a, a)+l.within[at[a]])
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(cov, true) {
			continue
		}
		var vectors mat.Dense
		eigen.VectorsTo(&vectors)
		out := make([]float64, n)
		for k, value := range eigen.Values(nil) {
			part := 0.0
			for i, x := range rest {
				part += vectors.At(i, k) * x
			}
			for i := range out {
				out[i] += vectors.At(i, k) * part / math.Sqrt(value)
			}
		}
		for i, z := range out {
			rows[i].CWRES = z
			found = found || !math.IsNaN(z)
		}
	}
	if !found {
		return fmt.Errorf("the variances of values are not known, values are censored, or subjects have more than %d", maxSubjectRows)
	}
	return nil
}

// between returns the covariance of two rows that comes from the group-level parameters.
func (l *linearisation) between(a, b int) (sum float64) {
	for _, x := range l.slopes[a] {
		for _, y := range l.slopes[b] {
			sum += x.d * l.covariance[[2]int{x.by, y.by}] * y.d // 0 between blocks
		}
	}
	return sum
}

// join makes the blocks of two parameters one.
func (l *linearisation) join(i, j int) {
	if slices.Contains(l.block[i], j) {
		return
	}
	block := slices.Concat(l.block[i], l.block[j])
	slices.Sort(block)
	for _, k := range block {
		l.block[k] = block
	}
}
