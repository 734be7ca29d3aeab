package assess

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/goroutines"
	"github.com/ppl-lang/ppl/model"
)

// MatchMoments improves the estimates of some observations in a result of [LogLik.LOO] by moment
// matching, which transforms the draws to match the posterior without the observation, see
// [criticise.Moments]. which lists the observations, for instance those of [criticise.Result.Bad].
// done, if not nil, is called before each observation, with its index in which. better is the
// number of estimates that improved.
func (l *LogLik) MatchMoments(ctx context.Context, r *criticise.Result, which []int, done func(n, observation int)) (better int, err error) {
	if len(which) == 0 {
		return 0, nil
	}
	p, err := l.fit.Posterior(ctx)
	if err != nil {
		return 0, err
	}
	source, columns, err := l.source(p)
	if err != nil {
		return 0, err
	}
	m := &criticise.Moments{}
	if m.Draws, err = fit.Unconstrained(p, l.fit); err != nil {
		return 0, err
	}
	m.At = func(ctx context.Context, i int, points [][]float64, logDensity, logLik []float64) error {
		var elements []int
		for e, g := range l.group {
			if g == i {
				elements = append(elements, columns[e])
			}
		}
		return evaluateAll(ctx, p, source, elements, points, logDensity, logLik)
	}
	m.LogDensity = make([]float64, len(m.Draws))
	if err := m.At(ctx, -1, m.Draws, m.LogDensity, nil); err != nil {
		return 0, err
	}
	at := map[int][]float64{}
	for _, i := range which {
		at[i] = make([]float64, len(m.Draws))
	}
	place := criticise.NewMatrix(l.chains(), 0)
	if err := l.each(ctx, func(chain, draw int, row []float64) error {
		n := place.Row(chain, draw)
		for _, i := range which {
			at[i][n] = row[i]
		}
		return nil
	}); err != nil {
		return 0, err
	}
	for n, i := range which {
		if done != nil {
			done(n, i)
		}
		moved, err := m.Match(ctx, i, at[i], r.K[i], 1, r.Efficiency[i])
		if err != nil {
			return better, fmt.Errorf("%s: %w", l.Names[i], err)
		}
		if moved.Steps > 0 && !math.IsNaN(moved.ELPD) {
			r.Move(i, moved)
			better++
		}
	}
	return better, nil
}

// source returns the program that computes the log likelihoods, and the indices of their elements
// among its outputs.
func (l *LogLik) source(p *model.Posterior) (*model.Posterior, []int, error) {
	of, generated := l.derived, 0
	if of != nil {
		generated = len(of.OutputNames()) - len(of.GeneratedNames())
		columns := make([]int, len(l.columns))
		for e, c := range l.columns {
			columns[e] = generated + c
		}
		return of, columns, nil
	}
	at := map[string]int{}
	for i, n := range p.OutputNames() {
		at[n] = i
	}
	var columns []int
	for _, c := range l.columns {
		i, ok := at[l.fit.Names()[c]]
		if !ok {
			return nil, nil, fmt.Errorf("the model has no %s", diagnose.DisplayName(l.fit.Names()[c]))
		}
		columns = append(columns, i)
	}
	return p, columns, nil
}

// evaluateAll computes the log density and the sum of some outputs of source at each point, on all
// processors. Where the outputs cannot be computed, the density is -Inf and the sum 0.
func evaluateAll(ctx context.Context, p *model.Posterior, source *model.Posterior, outputs []int, points [][]float64, logDensity, sums []float64) (err error) {
	defer infer.Recover(&err)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := min(runtime.GOMAXPROCS(0), len(points))
	var running goroutines.Group
	for w := range workers {
		q, s := p.Clone(), source.Clone()
		running.Go(func() {
			q.SetStop(ctx.Err)
			s.SetStop(ctx.Err)
			dst := make([]float64, len(s.OutputNames()))
			rng := rand.New(rand.NewPCG(1, 1))
			for n := w; n < len(points) && ctx.Err() == nil; n += workers {
				lp, err := q.LogDensity(points[n])
				if err == nil && sums != nil {
					if err = s.Generate(points[n], rng, dst); err == nil {
						sums[n] = 0
						for _, c := range outputs {
							sums[n] += dst[c]
						}
					}
				}
				var rejection *compile.Rejection
				switch {
				case errors.As(err, &rejection) && rejection.Fatal():
					cancel(err)
					return
				case err != nil || math.IsNaN(lp) || sums != nil && (math.IsNaN(sums[n]) || math.IsInf(sums[n], 0)):
					lp = math.Inf(-1)
					if sums != nil {
						sums[n] = 0
					}
				}
				logDensity[n] = lp
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}
