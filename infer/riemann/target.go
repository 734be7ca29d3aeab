package riemann

import (
	"errors"
	"fmt"

	"github.com/ppl-lang/ppl/infer"
)

// Optional interfaces of targets that provide second derivatives. They are aliases of interface
// literals, so that a target that does not import this package can satisfy them.
type (
	// FisherMetric provides the expected Fisher information of a model plus the contribution of its
	// priors. It is positive definite, on the unconstrained scale.
	FisherMetric = interface {
		// FisherMetric writes the metric at x to g. FisherTraceGrad writes the gradient in x of
		// tr(A·G(x)) to its last argument, see [Metric].
		FisherMetric(x, g []float64) error
		FisherTraceGrad(x, a, grad []float64) error
	}

	// SparseFisher provides the FisherMetric by those elements that may be nonzero, see [Pattern]
	// and [Sparse], or, if diagonal is set, by the diagonal alone. ok is false if so many elements
	// may be nonzero that this form is useless.
	SparseFisher = interface {
		FisherPattern(diagonal bool) (rows, cols []int32, wide [][]int32, ranks []int, ok bool, err error)
		FisherElements(diagonal bool, x, e []float64) error
		FisherElementsTraceGrad(diagonal bool, x, a, grad []float64) error

		// FisherSingular returns the error of MetricError for Fisher, without preparing the whole
		// metric.
		FisherSingular() error
	}

	// DirectionalFisher provides products of the FisherMetric with single directions, see
	// [Directional]. If whole is not set, it provides only the part that SparseFisher has.
	DirectionalFisher = interface {
		FisherTimes(whole bool, x, u, product []float64) error
		FisherSquareGrad(whole bool, x, u, grad []float64) error
	}

	// UserMetric provides a metric that the target defines itself.
	UserMetric = interface {
		UserMetric(x, g []float64) error
		UserMetricTraceGrad(x, a, grad []float64) error
	}

	// Hessian provides the matrix of second derivatives of the log density.
	Hessian = interface {
		// Hessian writes the matrix at x to h. HessianTraceGrad writes the gradient in x of
		// tr(A·H(x)) for a constant symmetric A.
		Hessian(x, h []float64) error
		HessianTraceGrad(x, a, grad []float64) error
	}
)

// MetricError is an optional interface of targets that do not always have the metrics of their
// methods. Before a run begins, it returns the reason why there is no metric of a kind. It may take
// the time that preparing the metric takes.
type MetricError = interface{ MetricError(kind string) error }

// Uninformed is the optional interface of an error of MetricError. It says that there is a metric,
// but that it is singular everywhere, because it has no information about the parameters with these
// indices. Such a metric can be frozen, see [Freeze], or completed, see [Completed].
type Uninformed = interface{ Uninformed() []int }

// Kind names a metric made from the derivatives that a target provides.
type Kind string

// The kinds.
const (
	Fisher      Kind = "fisher"  // expected Fisher information
	SoftAbsKind Kind = "softabs" // SoftAbs of the negative Hessian
	User        Kind = "user"    // the metric that the target defines itself
)

// Kinds lists the kinds of metrics, the default first.
func Kinds() []Kind { return []Kind{Fisher, SoftAbsKind, User} }

// FromTarget makes a metric from the derivatives that a target provides. alpha is the hardness of
// SoftAbs, 0 for its default. The error says what the target lacks.
func FromTarget(kind Kind, target infer.LogDensity, alpha float64) (Metric, error) {
	return fromTarget(kind, target, alpha, false)
}

// ToFreeze is FromTarget for a metric that will be frozen, which may be singular.
func ToFreeze(kind Kind, target infer.LogDensity, alpha float64) (Metric, error) {
	return fromTarget(kind, target, alpha, true)
}

// Completed is FromTarget for a metric that may have no information about some parameters. It adds
// information of 1 about each of these, as for a width of 1 on the unconstrained scale. (Their rows
// are 0 before, and nothing else changes.)
func Completed(kind Kind, target infer.LogDensity, alpha float64) (Metric, error) {
	m, err := ToFreeze(kind, target, alpha)
	if err != nil {
		return nil, err
	}
	e, ok := infer.Innermost(target).(MetricError)
	var gap Uninformed
	if !ok || !errors.As(e.MetricError(string(kind)), &gap) {
		return m, nil
	}
	places, d := gap.Uninformed(), m.Dim()
	f := Func{D: d, TraceGrad: m.TraceGrad, G: func(x, g []float64) error {
		err := m.Metric(x, g)
		for _, i := range places {
			g[i*(d+1)]++
		}
		return err
	}}
	if t, ok := m.(wholeFisher); ok {
		t.along.without = places
		return wholeFisher{function{f}, t.along}, nil
	}
	return f.AsMetric(), nil
}

// along provides the expected Fisher information of a target in single directions, plus 1 for each
// of the parameters in without.
type along struct {
	target  DirectionalFisher
	whole   bool
	without []int
}

func (a along) Times(x, u, product []float64) error {
	err := a.target.FisherTimes(a.whole, x, u, product)
	for _, i := range a.without {
		product[i] += u[i]
	}
	return err
}

func (a along) SquareGrad(x, u, grad []float64) error {
	return a.target.FisherSquareGrad(a.whole, x, u, grad)
}

// wholeFisher and partlyFisher are metrics that also provide single directions.
type (
	wholeFisher struct {
		function
		along
	}
	partlyFisher struct {
		*sparseFisher
		along
	}
)

var _, _ Directional = wholeFisher{}, partlyFisher{}

// SparseFromTarget makes a metric from those elements of a target's Fisher information that may be
// nonzero, or, if diagonal is set, from its diagonal alone. It adds information of 1 about each
// parameter that the target does not inform. ok is false if the target does not provide this form,
// or if too many elements may be nonzero.
func SparseFromTarget(target infer.LogDensity, diagonal bool) (m Sparse, ok bool, err error) {
	inner := infer.Innermost(target)
	t, ok := inner.(SparseFisher)
	if !ok || target.Dim() == 0 {
		return nil, false, nil
	}
	f := &sparseFisher{target: t, diagonal: diagonal}
	var gap Uninformed
	var places []int
	if err := t.FisherSingular(); errors.As(err, &gap) {
		places = gap.Uninformed()
	} else if err != nil {
		return nil, false, err
	}
	p := &f.pattern
	p.Dim = target.Dim()
	var wide [][]int32
	var ranks []int
	if p.Rows, p.Cols, wide, ranks, ok, err = t.FisherPattern(diagonal); err != nil || !ok {
		return nil, false, err
	}
	for i, columns := range wide {
		p.Wide = append(p.Wide, Wide{columns, ranks[i]})
	}
	if len(places) > 0 { // the same parameters, as indices of their elements
		missing := map[int]bool{}
		for _, i := range places {
			missing[i] = true
		}
		for k, r := range p.Rows {
			if r == p.Cols[k] && missing[int(r)] {
				f.without = append(f.without, k)
			}
		}
	}
	if directions, ok := inner.(DirectionalFisher); ok && !diagonal {
		return partlyFisher{f, along{directions, false, places}}, true, nil
	}
	return f, true, nil
}

// sparseFisher is the metric of SparseFromTarget.
type sparseFisher struct {
	target   SparseFisher
	diagonal bool
	pattern  Pattern
	without  []int // indices of parameters without information
}

func (f *sparseFisher) Pattern() Pattern { return f.pattern }

func (f *sparseFisher) Elements(x, e []float64) error {
	err := f.target.FisherElements(f.diagonal, x, e)
	for _, k := range f.without {
		e[k]++
	}
	return err
}

func (f *sparseFisher) ElementsTraceGrad(x, a, grad []float64) error {
	return f.target.FisherElementsTraceGrad(f.diagonal, x, a, grad)
}

// SparseCost estimates the work of a step of [NewSparse], relative to a step of [New] in the same
// number of dimensions.
func SparseCost(p Pattern) float64 {
	// A multiplication in the sparse factorisation takes about four times as long, as measured.
	d := float64(p.Dim)
	return 4 * newSymbolic(p).work / (d*d*d/6 + 1)
}

// IsPositive reports whether the metric at x, without the vectors of its pattern, is positive
// definite, as [NewSparse] requires.
func IsPositive(m Sparse, x []float64) bool {
	s := newSparse(m, newSymbolic(m.Pattern()), 0)
	f := make([]float64, s.size())
	if s.evaluate(x, f) != nil {
		return false
	}
	_, ok := s.factorise(f, nil)
	return ok
}

func fromTarget(kind Kind, target infer.LogDensity, alpha float64, singular bool) (Metric, error) {
	inner := infer.Innermost(target)
	if err := infer.CheckOptions(map[string]float64{"softabs-alpha": alpha}); err != nil {
		return nil, fmt.Errorf("riemann: %w", err)
	}
	d := target.Dim()
	if d == 0 { // there are no parameters
		return Constant{}, nil
	}
	// Four matrices: the metric, its work space, a factor, and what is computed from the factor.
	if err := infer.CheckSquares(target, 4, "allow for more memory"); err != nil {
		return nil, fmt.Errorf("riemann: %w", err)
	}
	if m, ok := inner.(MetricError); ok {
		if err := m.MetricError(string(kind)); err != nil && !(singular && errors.As(err, new(Uninformed))) {
			return nil, err
		}
	}
	lacks := func(what string) error {
		return fmt.Errorf("the metric %q needs %s, which this target does not provide", kind, what)
	}
	switch kind {
	case Fisher:
		if f, ok := inner.(FisherMetric); ok {
			m := Func{D: d, G: f.FisherMetric, TraceGrad: f.FisherTraceGrad}
			if directions, ok := inner.(DirectionalFisher); ok {
				return wholeFisher{function{m}, along{directions, true, nil}}, nil
			}
			return m.AsMetric(), nil
		}
		return nil, lacks("the expected Fisher information")
	case SoftAbsKind:
		if h, ok := inner.(Hessian); ok {
			return NewSoftAbs(d, h, alpha)
		}
		return nil, lacks("second derivatives of the log density")
	case User:
		if u, ok := inner.(UserMetric); ok {
			return Func{D: d, G: u.UserMetric, TraceGrad: u.UserMetricTraceGrad}.AsMetric(), nil
		}
		return nil, lacks("its own definition")
	}
	return nil, fmt.Errorf("unknown metric %q; it can be %s, %s or %s", kind, Fisher, SoftAbsKind, User)
}
