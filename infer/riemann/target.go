package riemann

import (
	"fmt"

	"github.com/ppl-lang/ppl/infer"
)

// A target may have second derivatives to offer, by these optional interfaces.
// They are aliases of interface literals, so that one that does not import
// this package can satisfy them.
type (
	// FisherMetric is the expected Fisher information of a model, plus what
	// its priors contribute: positive definite, on the unconstrained scale.
	FisherMetric = interface {
		// FisherMetric writes the metric at x to g; FisherTraceGrad the
		// gradient in x of tr(A·G(x)). See Metric.
		FisherMetric(x, g []float64) error
		FisherTraceGrad(x, a, grad []float64) error
	}

	// Hessian is the matrix of second derivatives of the log density.
	Hessian = interface {
		// Hessian writes it at x to h; HessianTraceGrad writes the gradient
		// in x of tr(A·H(x)) for a constant symmetric A.
		Hessian(x, h []float64) error
		HessianTraceGrad(x, a, grad []float64) error
	}
)

// Kind names a metric that is made from what a target offers.
type Kind string

// The kinds.
const (
	Fisher      Kind = "fisher"  // expected Fisher information
	SoftAbsKind Kind = "softabs" // SoftAbs of the negative Hessian
)

// Kinds lists them, the default first.
func Kinds() []Kind { return []Kind{Fisher, SoftAbsKind} }

// FromTarget makes a metric of what a target offers. alpha is that of SoftAbs,
// 0 for its default. The error says what the target lacks.
func FromTarget(kind Kind, target infer.LogDensity, alpha float64) (Metric, error) {
	inner := target
	if m, ok := target.(*infer.Meter); ok {
		inner = m.Target()
	}
	if target.Dim() == 0 { // nothing to have a metric of
		return Constant{}, nil
	}
	switch kind {
	case Fisher:
		if f, ok := inner.(FisherMetric); ok {
			d := target.Dim()
			return Func{D: d, G: f.FisherMetric, TraceGrad: f.FisherTraceGrad}.Of(), nil
		}
		return nil, fmt.Errorf("the metric %q needs the expected Fisher information, which this target does not provide", kind)
	case SoftAbsKind:
		if h, ok := inner.(Hessian); ok {
			return NewSoftAbs(target.Dim(), h, alpha)
		}
		return nil, fmt.Errorf("the metric %q needs second derivatives of the log density, which this target does not provide", kind)
	}
	return nil, fmt.Errorf("unknown metric %q; it can be %s or %s", kind, Fisher, SoftAbsKind)
}
