package compile

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/internal/vm"
	"github.com/ppl-lang/ppl/lang/source"
)

// LeftOut is a part of the log density that contributes nothing to FisherMetric.
type LeftOut struct {
	Span source.Span // of the statement or the call of the density
	Why  string
}

// String returns the reason with its place.
func (l LeftOut) String() string {
	if !l.Span.IsValid() {
		return l.Why
	}
	return fmt.Sprintf("line %d: %s", l.Span.Begin().Line, l.Why)
}

// information evaluates the program once to collect its statements.
func (m *Model) information() (*bind.Information, error) {
	m.curvature.mu.Lock()
	defer m.curvature.mu.Unlock()
	if m.curvature.information == nil {
		info, err := m.bound.Information()
		if err != nil {
			return nil, err
		}
		m.curvature.information = info
	}
	return m.curvature.information, nil
}

// FisherLeftOut lists the parts of the log density that contribute nothing to FisherMetric. These
// are distributions without a declared expected information, mixtures, and some terms added to
// target. A term added to target contributes if it is a density. It also contributes if it
// subtracts a square with a constant weight, which is a normal density up to a constant. The
// transforms of the parameters are not listed.
func (m *Model) FisherLeftOut() ([]LeftOut, error) {
	if _, err := m.information(); err != nil {
		return nil, err
	}
	return m.leftOut(), nil
}

// leftOut is FisherLeftOut after information has been called.
func (m *Model) leftOut() []LeftOut {
	var out []LeftOut
	seen := map[string]bool{}
	for _, l := range m.curvature.information.LeftOut {
		if l := (LeftOut{l.At, l.Why}); !seen[l.String()] {
			seen[l.String()] = true
			out = append(out, l)
		}
	}
	return out
}

// statements copies the statements into g, in which x is the point.
func (m *Model) statements(g *ad.Graph, x ad.Ref, info *bind.Information) []ad.Statement {
	body := *info.Graph
	body.Outputs = nil
	for _, s := range info.Statements {
		body.Outputs = append(body.Outputs, s.Args...)
	}
	refs := g.Inline(&body, m.parts(g, x, &body), true)
	var out []ad.Statement
	for _, s := range info.Statements {
		s.Args, refs = refs[:len(s.Args):len(s.Args)], refs[len(s.Args):]
		out = append(out, s)
	}
	return out
}

// parts returns the inputs of the graph body at the point x of g. Inputs that are not parameters
// are 0.
func (m *Model) parts(g *ad.Graph, x ad.Ref, body *ad.Graph) []ad.Ref {
	parts := make([]ad.Ref, len(body.Inputs))
	for i, r := range body.Inputs {
		if i < len(m.bound.Params) {
			parts[i] = g.Slice(x, m.offsets[i], []int{m.bound.Params[i].Size})
		} else {
			parts[i] = g.Expand(g.Const(0), body.Type(r))
		}
	}
	return parts
}

// FisherMetric writes the expected Fisher information at the unconstrained point x to g, row by
// row: Dim()² numbers, with zeros for parameters that nothing informs. It is the sum of JᵀIJ over
// the statements with ~ and the densities added to target, including those of parameters. I is the
// expected information of the distribution; J is the derivative of its variate and arguments. The
// first call plans the computation. An error is a rejection, as in LogDensityGrad, or the error of
// MetricError.
func (m *Model) FisherMetric(x, g []float64) error {
	if err := m.fitsMatrix(x, g); err != nil {
		return err
	}
	if err := m.MetricError("fisher"); err != nil && !errors.As(err, new(*SingularError)) {
		return err
	}
	return m.second(m.curvature.fisher, g, x)
}

// FisherTraceGrad writes the gradient at x of tr(A·G) to grad. G is the expected Fisher
// information; the symmetric matrix a, stored by rows, is held fixed.
func (m *Model) FisherTraceGrad(x, a, grad []float64) error {
	if err := m.fitsTrace(x, a, grad); err != nil {
		return err
	}
	if m.planned.fisherTrace {
		return m.second(m.curvature.fisherTrace, grad, x, a)
	}
	if err := m.MetricError("fisher"); err != nil && !errors.As(err, new(*SingularError)) {
		return err
	}
	err := m.planOnce(&m.curvature.fisherTrace, func() (*ad.Graph, ad.Ref, error) {
		g, x := m.point()
		weights := g.Input(ad.Type{Shape: []int{m.dim, m.dim}})
		return g, g.Grad(g.FisherTrace(x, weights, m.statements(g, x, m.curvature.information)), x)[0], nil
	})
	if err != nil {
		return err
	}
	m.planned.fisherTrace = true
	return m.second(m.curvature.fisherTrace, grad, x, a)
}

// FisherSingular returns a *SingularError if no statement with information depends on some of the
// parameters. Unlike MetricError it does not plan the whole metric.
func (m *Model) FisherSingular() (err error) {
	c := m.curvature
	info, err := m.information()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reached {
		defer ad.Recover(&err)
		g, x := m.point()
		var without []int
		for i, reached := range g.FisherReaches(x, m.statements(g, x, info)) {
			if !reached {
				without = append(without, i)
			}
		}
		if len(without) > 0 {
			c.singular = m.singular(without)
		}
		c.reached = true
	}
	if c.singular != nil {
		return c.singular
	}
	return nil
}

// planFisher plans FisherMetric, or returns an error that says why it cannot.
func (m *Model) planFisher() error {
	singular := m.FisherSingular()
	if singular != nil && !errors.As(singular, new(*SingularError)) {
		return singular
	}
	err := m.planOnce(&m.curvature.fisher, func() (*ad.Graph, ad.Ref, error) {
		g, x := m.point()
		return g, g.Fisher(x, m.statements(g, x, m.curvature.information)), nil
	})
	if err == nil {
		err = singular
	}
	return err
}

// SingularError means that the expected Fisher information is singular everywhere: no statement
// with information depends on some of the parameters.
type SingularError struct {
	Without []int // indices of these parameters among the unconstrained ones
	text    string
}

func (e *SingularError) Error() string { return e.text }

// Uninformed returns the indices of these parameters, for code that makes the metric regular.
func (e *SingularError) Uninformed() []int { return e.Without }

// singular returns the error of a metric without information about these parameters.
func (m *Model) singular(without []int) *SingularError {
	const shown = 5
	var first []string
	for _, i := range without[:min(shown, len(without))] {
		first = append(first, m.UnconstrainedNames()[i])
	}
	which := strings.Join(first, ", ")
	if n := len(without) - shown; n > 0 {
		which += fmt.Sprintf(" and %d more", n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the metric \"fisher\" is singular: no statement with expected information depends on %s", which)
	for _, l := range m.leftOut() {
		fmt.Fprintf(&b, "\n  not part of it: %s", l)
	}
	return &SingularError{without, b.String() + "\nGive them priors by statements with ~, or use the metric \"softabs\""}
}

// MetricError prepares a metric ("fisher", "softabs" or "user"). The error says why the model does
// not have it.
func (m *Model) MetricError(kind string) error {
	var ready *bool
	var plan func() error
	switch kind {
	case "fisher":
		ready, plan = &m.planned.fisher, m.planFisher
	case "user":
		ready, plan = &m.planned.user, m.planUserMetric
	default:
		return nil
	}
	if *ready {
		return nil
	}
	if err := plan(); err != nil {
		return err
	}
	*ready = true
	return nil
}

// planned records what one clone knows to be planned, so that it need not take the lock.
type planned struct {
	fisher, fisherTrace, user, userTrace bool
	elements, elementsTrace              [2]bool // the second: of the diagonal
	along                                [2][2]bool
}

// UserMetricName is the name of the program's function that returns its metric.
const UserMetricName = "metric"

// point returns a graph with the unconstrained point as its input.
func (m *Model) point() (g *ad.Graph, x ad.Ref) {
	g = m.within()
	return g, g.Input(ad.Type{Shape: []int{m.dim}})
}

// planUser plans a graph that uses the program's metric.
func (m *Model) planUser(p **vm.Program, build func(g *ad.Graph, x, metric ad.Ref) ad.Ref) error {
	return m.planOnce(p, func() (*ad.Graph, ad.Ref, error) {
		body, err := m.bound.Metric(UserMetricName)
		if err != nil {
			return nil, ad.None, err
		}
		g, x := m.point()
		return g, build(g, x, g.Inline(body, m.parts(g, x, body), true)[0]), nil
	})
}

// UserMetric writes the value at x of the program's function `metric` to g. The arguments of the
// function are the model's variables of the same names: data, transformed data, parameters or
// transformed parameters. It returns the metric of the unconstrained parameters, in their order.
func (m *Model) UserMetric(x, g []float64) error {
	if err := m.fitsMatrix(x, g); err != nil {
		return err
	}
	if err := m.MetricError("user"); err != nil {
		return err
	}
	if err := m.second(m.curvature.user, g, x); err != nil {
		return err
	}
	for i := range m.dim {
		for j := range i {
			// The matrix may be asymmetric by rounding errors: copy one triangle to the other.
			a, b := g[i*m.dim+j], g[j*m.dim+i]
			if math.Abs(a-b) > 1e-8*(math.Abs(g[i*m.dim+i])+math.Abs(g[j*m.dim+j])) {
				return fmt.Errorf("the program's metric is not symmetric: [%d, %d] is %v, but [%d, %d] is %v", i+1, j+1, a, j+1, i+1, b)
			}
			g[j*m.dim+i] = a
		}
	}
	return nil
}

func (m *Model) planUserMetric() error {
	return m.planUser(&m.curvature.user, func(_ *ad.Graph, _, metric ad.Ref) ad.Ref { return metric })
}

// UserMetricTraceGrad is like FisherTraceGrad, for the metric of UserMetric.
func (m *Model) UserMetricTraceGrad(x, a, grad []float64) error {
	if err := m.fitsTrace(x, a, grad); err != nil {
		return err
	}
	if m.planned.userTrace {
		return m.second(m.curvature.userTrace, grad, x, a)
	}
	err := m.planUser(&m.curvature.userTrace, func(g *ad.Graph, x, metric ad.Ref) ad.Ref {
		weights := g.Input(ad.Type{Shape: []int{m.dim, m.dim}})
		return g.Grad(g.Sum(g.Mul(weights, metric)), x)[0]
	})
	if err != nil {
		return err
	}
	m.planned.userTrace = true
	return m.second(m.curvature.userTrace, grad, x, a)
}
