package optimize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// wanted returns an error if a required argument is missing.
func wanted(ctx context.Context, target infer.LogDensity, rng ...*rand.Rand) error {
	switch {
	case ctx == nil:
		return errors.New("optimize: there is no context; context.Background() is one that never ends")
	case target == nil:
		return errors.New("optimize: there is no target")
	case slices.Contains(rng, nil):
		return errors.New("optimize: there is no random number generator")
	}
	return nil
}

// objective is the negative log density, to be minimised.
type objective struct {
	ctx   context.Context
	meter *infer.Meter
	exact Hessian // nil: the target has no second derivatives
}

// Hessian is an optional interface of targets with exact second derivatives. It is an alias, so
// that a target can satisfy it without importing this package.
type Hessian = interface {
	// Hessian writes the second derivatives of the log density at x to h, row by
	// row.
	Hessian(x, h []float64) error
}

// hessianError is an optional interface of targets that cannot always provide their Hessian. Its
// error says why not.
type hessianError = interface{ MetricError(kind string) error }

// newObjective prepares a target. When the context ends, evaluations return an error that wraps the
// context's.
func newObjective(ctx context.Context, target infer.LogDensity) *objective {
	o := &objective{ctx: ctx, meter: infer.NewMeter(target)}
	inner := o.meter.Target()
	if s, ok := inner.(infer.Stopper); ok {
		s.SetStop(ctx.Err)
	}
	inner = infer.Innermost(inner)
	if h, ok := inner.(Hessian); ok {
		if e, ok := inner.(hessianError); !ok || e.MetricError("softabs") == nil {
			o.exact = h
		}
	}
	return o
}

// at evaluates the objective and its gradient. If they are not finite, or the target rejects x, ok
// is false.
func (o *objective) at(x, grad []float64) (f float64, ok bool, err error) {
	if err := o.ctx.Err(); err != nil {
		return 0, false, interrupted(err)
	}
	lp, err := o.meter.LogDensityGrad(x, grad)
	if err != nil {
		if cause := o.ctx.Err(); cause != nil {
			err = interrupted(cause)
		}
		return 0, false, err
	}
	if math.IsInf(lp, 0) {
		return math.Inf(1), false, nil
	}
	for i, g := range grad {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return math.Inf(1), false, nil
		}
		grad[i] = -g
	}
	return -lp, true, nil
}

// logDensity evaluates only the log density; it is -Inf where the target rejects x.
func (o *objective) logDensity(x, work []float64) (float64, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, interrupted(err)
	}
	lp, err := o.meter.LogDensityGrad(x, work)
	if cause := o.ctx.Err(); err != nil && cause != nil {
		err = interrupted(cause)
	}
	return lp, err
}

// interrupted says that the context has ended, and why.
func interrupted(cause error) error { return fmt.Errorf("%w: %w", infer.ErrInterrupted, cause) }

// errNoStart says that the target cannot be evaluated at the starting point.
var errNoStart = errors.New("log density or gradient are not finite at the starting point")

// hessian writes the second derivatives of the log density at x to h. They are exact if the target
// has them, and otherwise central differences of the gradient.
func (o *objective) hessian(x, h []float64) (exact bool, err error) {
	d := len(x)
	if err := o.ctx.Err(); err != nil {
		return false, interrupted(err)
	}
	if o.exact != nil {
		err := o.exact.Hessian(x, h)
		o.meter.Count(d)
		if err == nil && finite(h) {
			symmetrise(h, d)
			return true, nil
		}
	}
	if err := o.differences(x, h); err != nil {
		return false, err
	}
	symmetrise(h, d)
	return false, nil
}

// differences approximates the Hessian by the central difference formula of order eight, from
// gradients at eight points per coordinate. The steps are about the eighth root of the rounding
// error.
func (o *objective) differences(x, h []float64) error {
	weights := []float64{4. / 5, -1. / 5, 4. / 105, -1. / 280}
	d := len(x)
	at, up, down := make([]float64, d), make([]float64, d), make([]float64, d)
	for i := range x {
		row := h[i*d : (i+1)*d]
		step := 1e-2 * max(1, math.Abs(x[i]))
		for attempt := 0; ; attempt++ {
			clear(row)
			whole := true
			for k, w := range weights {
				copy(at, x)
				at[i] = x[i] + float64(k+1)*step
				_, okUp, err := o.at(at, up)
				if err != nil {
					return err
				}
				at[i] = x[i] - float64(k+1)*step
				_, okDown, err := o.at(at, down)
				if err != nil {
					return err
				}
				whole = whole && okUp && okDown
				for j := range row {
					row[j] -= w * (up[j] - down[j]) / step // of the log density
				}
			}
			if whole {
				break
			}
			if step /= 10; attempt == 4 {
				return fmt.Errorf("there are no second derivatives: the log density is not finite around coordinate %d", i+1)
			}
		}
	}
	return nil
}

func finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

func symmetrise(h []float64, d int) {
	for i := range d {
		for j := range i {
			m := (h[i*d+j] + h[j*d+i]) / 2
			h[i*d+j], h[j*d+i] = m, m
		}
	}
}
