package compile

import (
	"errors"
	"fmt"
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

// String is the reason with the place.
func (l LeftOut) String() string {
	if !l.Span.IsValid() {
		return l.Why
	}
	return fmt.Sprintf("line %d: %s", l.Span.Begin().Line, l.Why)
}

// information evaluates the program for its statements, once.
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

// FisherLeftOut lists the parts of the log density that contribute nothing to
// FisherMetric: distributions whose expected information is not declared, what is
// added to target and is no density, mixtures. The transforms of the parameters
// are not among them.
func (m *Model) FisherLeftOut() ([]LeftOut, error) {
	info, err := m.information()
	if err != nil {
		return nil, err
	}
	var out []LeftOut
	seen := map[string]bool{}
	for _, l := range info.LeftOut {
		if l := (LeftOut{l.At, l.Why}); !seen[l.String()] {
			seen[l.String()] = true
			out = append(out, l)
		}
	}
	return out, nil
}

// statements brings the statements into g, in which x is the point.
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

// parts are the inputs of a graph of the parameters at x; those that are none
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

// FisherMetric writes the expected Fisher information at the unconstrained point
// x to g, row by row: Dim()² numbers. It is the sum of JᵀIJ over the statements
// with ~ and the densities added to target, those of parameters included, where I
// is the expected information of the distribution and J the derivative of its
// variate and arguments. The first call plans it. An error is a rejection, as of
// LogDensityGrad, or says that there is no statement with expected information.
func (m *Model) FisherMetric(x, g []float64) error {
	info, err := m.informed()
	if err != nil {
		return err
	}
	err = m.planOnce(&m.curvature.fisher, func() (*ad.Graph, ad.Ref, error) {
		g, x := m.point()
		return g, g.Fisher(x, m.statements(g, x, info)), nil
	})
	if err != nil {
		return err
	}
	return m.second(m.curvature.fisher, g, x)
}

// FisherTraceGrad writes the gradient at x of tr(A·G) to grad, where G is the
// expected Fisher information and the symmetric matrix a, row by row, is held
// fixed.
func (m *Model) FisherTraceGrad(x, a, grad []float64) error {
	info, err := m.informed()
	if err != nil {
		return err
	}
	err = m.planOnce(&m.curvature.fisherTrace, func() (*ad.Graph, ad.Ref, error) {
		g, x := m.point()
		weights := g.Input(ad.Type{Shape: []int{m.dim, m.dim}})
		return g, g.Grad(g.FisherTrace(x, weights, m.statements(g, x, info)), x)[0], nil
	})
	if err != nil {
		return err
	}
	return m.second(m.curvature.fisherTrace, grad, x, a)
}

// informed is information, unless there is nothing in it.
func (m *Model) informed() (*bind.Information, error) {
	info, err := m.information()
	if err != nil {
		return nil, err
	}
	if len(info.Statements) == 0 {
		var why strings.Builder
		for _, l := range info.LeftOut {
			fmt.Fprintf(&why, "\n  %s", LeftOut{l.At, l.Why})
		}
		return nil, errors.New("the model has no statement with expected information, so it has no metric \"fisher\"" + why.String())
	}
	return info, nil
}

// UserMetricName is the function of a program that gives its metric.
const UserMetricName = "metric"

// point returns a graph with the unconstrained point as its input.
func (m *Model) point() (g *ad.Graph, x ad.Ref) {
	g = ad.NewGraph()
	return g, g.Input(ad.Type{Shape: []int{m.dim}})
}

// planUser plans a graph of the program's metric.
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

// UserMetric writes the value at x of the program's function `metric` to g. Its
// arguments are the model's variables of the same names (data, transformed data,
// parameters, transformed parameters), its value the metric of the unconstrained
// parameters in their order.
func (m *Model) UserMetric(x, g []float64) error {
	err := m.planUser(&m.curvature.user, func(_ *ad.Graph, _, metric ad.Ref) ad.Ref { return metric })
	if err != nil {
		return err
	}
	return m.second(m.curvature.user, g, x)
}

// UserMetricTraceGrad is FisherTraceGrad of UserMetric.
func (m *Model) UserMetricTraceGrad(x, a, grad []float64) error {
	err := m.planUser(&m.curvature.userTrace, func(g *ad.Graph, x, metric ad.Ref) ad.Ref {
		weights := g.Input(ad.Type{Shape: []int{m.dim, m.dim}})
		return g.Grad(g.Sum(g.Mul(weights, metric)), x)[0]
	})
	if err != nil {
		return err
	}
	return m.second(m.curvature.userTrace, grad, x, a)
}
