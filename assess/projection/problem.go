package projection

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Covariance says how the effects of a group are related.
type Covariance int

// The covariances.
const (
	Full     Covariance = iota // any covariance matrix
	Diagonal                   // independent, each with its own variance
	Scalar                     // independent, with one variance: the curves of a smooth function
)

// Term is a part of the linear predictor that a submodel has or lacks.
type Term struct {
	Columns [][]float64 // columns of the design, each with a value per row
	Needs   []int       // indices of terms that a submodel with this one must have

	// Groups is the group of each row, from 0, for a term that varies by group; nil for others.
	Groups []int
	Levels int // number of groups
	// Set is equal for terms of the same groups whose effects have a common covariance.
	Set        int
	Covariance Covariance
}

// Problem is a reference, by its draws, and the terms that submodels may have. All submodels have
// an intercept.
type Problem struct {
	Family  Family
	Terms   []Term
	Outcome []float64
	Trials  []float64 // for Binomial; nil: 1 each
	Offset  []float64 // part of all linear predictors; nil: 0

	Predictor [][]float64 // linear predictor with the offset, by draw and row
	SD        []float64   // residual standard deviation of each draw, for Gaussian
	LogLik    [][]float64 // log likelihood of the rows, by draw
}

// Reference is what a submodel is fitted to: a draw, or the average of similar ones.
type Reference struct {
	Mean     []float64 // expected outcomes; probabilities for Binomial
	Variance float64   // residual variance for Gaussian, with the spread of the means of the draws
	Weight   float64   // share of the posterior
	Draw     int       // index of the draw; -1 for an average
}

// rows returns the number of rows.
func (p *Problem) rows() int { return len(p.Outcome) }

// check returns an error if the parts do not fit together.
func (p *Problem) check() error {
	n := p.rows()
	switch {
	case n == 0:
		return errors.New("there are no rows")
	case len(p.Predictor) == 0:
		return errors.New("there are no draws")
	case p.Family == Gaussian && len(p.SD) != len(p.Predictor):
		return fmt.Errorf("there are %d standard deviations for %d draws", len(p.SD), len(p.Predictor))
	case len(p.LogLik) != len(p.Predictor):
		return fmt.Errorf("there are log likelihoods of %d draws, and predictors of %d", len(p.LogLik), len(p.Predictor))
	case p.Trials != nil && len(p.Trials) != n || p.Offset != nil && len(p.Offset) != n:
		return errors.New("trials or offsets have another number of rows than the outcome")
	}
	for s := range p.Predictor {
		if len(p.Predictor[s]) != n || len(p.LogLik[s]) != n {
			return fmt.Errorf("draw %d has another number of rows than the outcome", s+1)
		}
		for i, x := range p.Predictor[s] {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("the linear predictor of row %d is %v at draw %d", i+1, x, s+1)
			}
		}
	}
	for t := range p.Terms {
		if err := p.checkTerm(t); err != nil {
			return fmt.Errorf("term %d: %w", t+1, err)
		}
	}
	return nil
}

func (p *Problem) checkTerm(t int) error {
	term := &p.Terms[t]
	if len(term.Columns) == 0 {
		return errors.New("it has no columns")
	}
	for _, c := range term.Columns {
		if len(c) != p.rows() {
			return errors.New("it has another number of rows than the outcome")
		}
	}
	if term.Groups != nil && len(term.Groups) != p.rows() {
		return errors.New("its groups have another number of rows than the outcome")
	}
	for _, g := range term.Groups {
		if g < 0 || g >= term.Levels {
			return fmt.Errorf("group %d is not between 0 and %d", g, term.Levels-1)
		}
	}
	for _, u := range term.Needs {
		if u < 0 || u >= len(p.Terms) || u == t {
			return fmt.Errorf("it needs term %d, which does not exist", u+1)
		}
	}
	return nil
}

// trials returns the number of trials of a row.
func (p *Problem) trials(i int) float64 {
	if p.Trials == nil {
		return 1
	}
	return p.Trials[i]
}

// offset returns the offset of a row.
func (p *Problem) offset(i int) float64 {
	if p.Offset == nil {
		return 0
	}
	return p.Offset[i]
}

// Draws returns a reference for each of at most n draws at equal distances.
func (p *Problem) Draws(n int) []Reference {
	total := len(p.Predictor)
	n = min(n, total)
	out := make([]Reference, n)
	for k := range out {
		s := 0
		if n > 1 {
			s = int(math.Round(float64(k) * float64(total-1) / float64(n-1)))
		}
		out[k] = p.average([]int{s}, nil)
		out[k].Weight, out[k].Draw = 1/float64(n), s
	}
	return out
}

// average returns the reference for some draws together. weights are those of the draws; nil:
// equal.
func (p *Problem) average(draws []int, weights []float64) Reference {
	r := Reference{Mean: make([]float64, p.rows()), Draw: -1}
	for k := range draws {
		if weights == nil {
			r.Weight++
		} else {
			r.Weight += weights[k]
		}
	}
	share := func(k int) float64 {
		if weights == nil {
			return 1 / r.Weight
		}
		return weights[k] / r.Weight
	}
	squares := make([]float64, p.rows())
	for k, s := range draws {
		w := share(k)
		for i, eta := range p.Predictor[s] {
			m := p.Family.mean(eta)
			r.Mean[i] += w * m
			squares[i] += w * m * m
		}
		if p.Family == Gaussian {
			r.Variance += w * p.SD[s] * p.SD[s]
		}
	}
	if p.Family == Gaussian && len(draws) > 1 {
		for i, m := range r.Mean {
			r.Variance += max(squares[i]-m*m, 0) / float64(p.rows())
		}
	}
	return r
}

// possible lists the terms that can be added to a submodel, in order.
func (p *Problem) possible(chosen []int) (out []int) {
	for t := range p.Terms {
		missing := func(u int) bool { return !slices.Contains(chosen, u) }
		if missing(t) && !slices.ContainsFunc(p.Terms[t].Needs, missing) {
			out = append(out, t)
		}
	}
	return out
}
