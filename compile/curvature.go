package compile

import (
	"fmt"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/compile/internal/vm"
)

// curvature holds the programs for the second derivatives of a model's log density and for its
// metrics. They are made on first use and shared by clones.
type curvature struct {
	mu                          sync.Mutex
	hessian, traceGrad, product *vm.Program
	fisher, fisherTrace         *vm.Program       // the metrics of fisher.go
	elements                    [2]elements       // of fishersparse.go; the second: the diagonal
	along                       [2][2]*vm.Program // see fisherAlong
	reached                     bool              // singular is known
	singular                    *SingularError
	user, userTrace             *vm.Program
	information                 *bind.Information
}

// onePoint returns a graph of the log density whose only input x is the whole unconstrained point.
func (m *Model) onePoint() (g *ad.Graph, x, density ad.Ref, err error) {
	of := m.bound.Density
	if m.firstOnly != nil {
		if of, err = passes.RunDensity(m.firstOnly.before, passes.Options{Without: append(slices.Clone(m.without), m.firstOnly.pass), Lanes: vm.Lanes()}); err != nil {
			return nil, ad.None, ad.None, err
		}
	}
	g = m.within()
	x = g.Input(ad.Type{Shape: []int{m.dim}})
	// The first output is the density; the others are its gradient.
	body := *of
	body.Outputs = body.Outputs[:1]
	return g, x, g.Inline(&body, m.parts(g, x, &body), true)[0], nil
}

// firstOnly is a pass whose result has first derivatives only, and the density before all passes.
// Second derivatives are of that, with the other passes.
type firstOnly struct {
	pass   string
	before *ad.Graph
}

// derivative evaluates a graph of second derivatives of the log density. The graph is planned once;
// for an interpreted density it is built at every point.
func (m *Model) derivative(p **vm.Program, build func(g *ad.Graph, x, density ad.Ref) ad.Ref, dst []float64, inputs ...[]float64) error {
	if m.Interpreted() {
		return m.interpretSecond(build, dst, inputs...)
	}
	err := m.planOnce(p, func() (*ad.Graph, ad.Ref, error) {
		g, x, density, err := m.onePoint()
		if err != nil {
			return nil, ad.None, err
		}
		return g, build(g, x, density), nil
	})
	if failed := faultOf(err); failed != nil {
		m.made.faults.add(byReference+"second derivatives", failed)
		return m.interpretSecond(build, dst, inputs...)
	}
	if err != nil {
		return err
	}
	return m.second(*p, dst, inputs...)
}

// planOnce plans a graph with one output, unless that has been done.
func (m *Model) planOnce(p **vm.Program, build func() (*ad.Graph, ad.Ref, error)) (err error) {
	m.curvature.mu.Lock()
	defer m.curvature.mu.Unlock()
	if *p != nil {
		return nil
	}
	at := "second derivatives"
	defer caught(&err, &at)
	g, out, err := build()
	if err != nil {
		return err
	}
	g.Output(out)
	w := &work{graph: g}
	if err := w.assemble(passes.Options{Without: m.without, Budget: g.Budget()}); err != nil {
		return err
	}
	g.Reserve(1, w.program.Memory())
	*p = w.program
	return nil
}

// within returns an empty graph that keeps to the model's memory limit. SetStop's function can end
// its construction, since second derivatives may take seconds to build.
func (m *Model) within() *ad.Graph {
	g, budget := ad.NewGraph(), ad.NewBudget(m.options.Memory, 0)
	budget.Stop = m.env.Stop
	g.Use(budget)
	return g
}

// machineFor returns the model's machine for a program. The first call generates machine code,
// which may take seconds; meanwhile it checks whether to stop. If it stops, the work continues in
// the background for the next caller.
func (m *Model) machineFor(p *vm.Program) (*vm.Machine, error) {
	if m.curves == nil {
		m.curves = map[*vm.Program]*vm.Machine{}
	}
	c := m.curves[p]
	if c == nil {
		var err error
		if c, err = ad.Await(m.env.Stop, p.New); err != nil {
			return nil, err
		}
		m.curves[p] = c
	}
	return c, nil
}

// Hessian writes the matrix of second derivatives of the log density at the unconstrained point x
// to h, row by row: Dim()² numbers. The first call plans the computation. An error is a rejection,
// as in LogDensityGrad.
func (m *Model) Hessian(x, h []float64) error {
	if err := m.fitsMatrix(x, h); err != nil {
		return err
	}
	err := m.derivative(&m.curvature.hessian, func(g *ad.Graph, x, density ad.Ref) ad.Ref { return g.Hessian(density, x) }, h, x)
	return m.orRest(err, func(r *Model) error { return r.Hessian(x, h) })
}

// HessianTraceGrad writes the gradient at x of tr(A·H) to grad. H is the Hessian; the symmetric
// matrix a, stored by rows, is held fixed. Riemannian samplers need the third derivatives only in
// this form. It costs one reverse sweep over the Hessian.
func (m *Model) HessianTraceGrad(x, a, grad []float64) error {
	if err := m.fitsTrace(x, a, grad); err != nil {
		return err
	}
	err := m.derivative(&m.curvature.traceGrad, func(g *ad.Graph, x, density ad.Ref) ad.Ref {
		weights := g.Input(ad.Type{Shape: []int{m.dim, m.dim}})
		return g.Grad(g.Sum(g.Mul(weights, g.Hessian(density, x))), x)[0]
	}, grad, x, a)
	return m.orRest(err, func(r *Model) error { return r.HessianTraceGrad(x, a, grad) })
}

// HessianVector writes the product of the Hessian at x with v to hv.
func (m *Model) HessianVector(x, v, hv []float64) error {
	err := m.derivative(&m.curvature.product, func(g *ad.Graph, x, density ad.Ref) ad.Ref {
		direction := g.Input(ad.Type{Shape: []int{m.dim}})
		return g.HVP(density, []ad.Ref{x}, []ad.Ref{direction})[0]
	}, hv, x, v)
	return m.orRest(err, func(r *Model) error { return r.HessianVector(x, v, hv) })
}

// fitsMatrix checks the sizes of a point and a matrix.
func (m *Model) fitsMatrix(x, g []float64) error {
	if len(x) != m.dim || len(g) != m.dim*m.dim {
		return fmt.Errorf("a point of length %d and a matrix of %d numbers for a model of dimension %d", len(x), len(g), m.dim)
	}
	return nil
}

// fitsTrace also checks the size of a gradient.
func (m *Model) fitsTrace(x, a, grad []float64) error {
	if err := m.fitsMatrix(x, a); err != nil {
		return err
	}
	if len(grad) != m.dim {
		return fmt.Errorf("a gradient of length %d for a model of dimension %d", len(grad), m.dim)
	}
	return nil
}

// second runs a program of second derivatives.
func (m *Model) second(p *vm.Program, dst []float64, inputs ...[]float64) error {
	c, err := m.machineFor(p)
	if err != nil {
		return m.rejection(err)
	}
	for i, v := range inputs {
		copy(c.Input(i), v)
	}
	if err := run(c, m.env); err != nil {
		return m.rejection(err)
	}
	copy(dst, c.Output(0))
	return nil
}
