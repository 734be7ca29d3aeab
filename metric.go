package ppl

import (
	"fmt"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/infer/riemann"
)

// This file: what Riemannian samplers need of a posterior. Run them by
//
//	hmc.Sampler{Hamiltonian: riemann.Options{}.Of(func(target *infer.Meter) (riemann.Metric, error) {
//		return riemann.FromTarget(riemann.Fisher, target, 0)
//	})}
//
// or, with all their options by name, from the table of package infer/sampler.

var (
	_ riemann.FisherMetric = (*Posterior)(nil)
	_ riemann.Hessian      = (*Posterior)(nil)
	_ riemann.UserMetric   = (*Posterior)(nil)
	_ riemann.MetricError  = (*Posterior)(nil)
)

// LeftOut is a part of the log density that contributes nothing to the metric
// "fisher".
type LeftOut = compile.LeftOut

// FisherMetric writes the expected Fisher information at the unconstrained point
// x to g, row by row: Dim()² numbers. It is the sum of JᵀIJ over the model's
// statements with ~ and the densities that it adds to target, priors included,
// where I is the expected information of the distribution and J the derivative of
// its variate and arguments. It is positive semidefinite everywhere. The first
// call takes longer than the others.
func (p *Posterior) FisherMetric(x, g []float64) error {
	if err := p.fits(x, g); err != nil {
		return err
	}
	return p.bound.FisherMetric(x, g)
}

// FisherTraceGrad writes the gradient at x of tr(A·G) to grad, where G is the
// expected Fisher information and the symmetric matrix a is held fixed.
func (p *Posterior) FisherTraceGrad(x, a, grad []float64) error {
	if err := p.fitsGrad(x, a, grad); err != nil {
		return err
	}
	return p.bound.FisherTraceGrad(x, a, grad)
}

// FisherLeftOut lists the parts of the log density that contribute nothing to
// FisherMetric, with the reasons.
func (p *Posterior) FisherLeftOut() ([]LeftOut, error) {
	if err := p.missing(); err != nil {
		return nil, err
	}
	return p.bound.FisherLeftOut()
}

// Hessian writes the second derivatives of the log density at x to h.
func (p *Posterior) Hessian(x, h []float64) error {
	if err := p.fits(x, h); err != nil {
		return err
	}
	return p.bound.Hessian(x, h)
}

// HessianTraceGrad is FisherTraceGrad of the Hessian.
func (p *Posterior) HessianTraceGrad(x, a, grad []float64) error {
	if err := p.fitsGrad(x, a, grad); err != nil {
		return err
	}
	return p.bound.HessianTraceGrad(x, a, grad)
}

// UserMetric writes the metric that the program defines at x to g: the value of
// its function metric, whose arguments are the model's variables of the same
// names.
func (p *Posterior) UserMetric(x, g []float64) error {
	if err := p.fits(x, g); err != nil {
		return err
	}
	return p.bound.UserMetric(x, g)
}

// UserMetricTraceGrad is FisherTraceGrad of UserMetric.
func (p *Posterior) UserMetricTraceGrad(x, a, grad []float64) error {
	if err := p.fitsGrad(x, a, grad); err != nil {
		return err
	}
	return p.bound.UserMetricTraceGrad(x, a, grad)
}

// MetricError says why there is no metric of a kind of package infer/riemann, if
// so.
func (p *Posterior) MetricError(kind string) error {
	if err := p.missing(); err != nil {
		return err
	}
	return p.bound.MetricError(kind)
}

// fits checks the sizes of a point and a matrix.
func (p *Posterior) fits(x, g []float64) error {
	if err := p.missing(); err != nil {
		return err
	}
	if d := p.Dim(); len(x) != d || len(g) != d*d {
		return fmt.Errorf("ppl: a point of length %d and a matrix of %d numbers for a posterior of dimension %d", len(x), len(g), d)
	}
	return nil
}

// fitsGrad checks the size of a gradient, too.
func (p *Posterior) fitsGrad(x, a, grad []float64) error {
	if err := p.fits(x, a); err != nil {
		return err
	}
	if len(grad) != len(x) {
		return fmt.Errorf("ppl: a gradient of length %d for a posterior of dimension %d", len(grad), len(x))
	}
	return nil
}
