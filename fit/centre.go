package fit

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// farthest is the largest distance of the prior's centre from zero on the unconstrained scale.
// Improper priors have none within it.
const farthest = 50

// Near makes [infer.FindStart] propose points nearer to the centre of p's prior, as in runs, once
// the target of m has rejected random ones.
func Near(ctx context.Context, p *model.Posterior, m *infer.Meter) { m.SetCentre(centreOf(ctx, p)) }

// centreOf returns a function that finds the centre of the prior: the mode of its density on the
// unconstrained scale. Chains whose random starting points are rejected, as solvers of differential
// equations do far from plausible values, start nearer to it. The function returns nil if there is
// no centre.
func centreOf(ctx context.Context, p *model.Posterior) func() []float64 {
	return sync.OnceValue(func() []float64 {
		prior, err := p.Model().DeriveWith(predict.Prior, predict.Options{Bare: true})
		if err != nil {
			return nil
		}
		bound, err := prior.BindContext(ctx, p.Data(), p.Options())
		if err != nil || bound.Dim() != p.Dim() {
			return nil
		}
		best, err := optimize.Maximize(ctx, bound, make([]float64, p.Dim()), optimize.Options{})
		if err != nil || slices.ContainsFunc(best.X, func(v float64) bool { return !(math.Abs(v) <= farthest) }) {
			return nil
		}
		return best.X
	})
}
