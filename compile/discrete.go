package compile

import (
	"errors"
	"iter"
	"slices"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/internal/marginal"
	"github.com/ppl-lang/ppl/compile/internal/ragged"
	"github.com/ppl-lang/ppl/compile/internal/sparse"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	layout "github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/stdlib"
)

// DiscreteSum describes how elements of a discrete parameter are summed out.
type DiscreteSum = marginal.Step

// Sums says what a program with discrete parameters computes.
type Sums = marginal.Purpose

// The purposes of sums.
const (
	// SumsDensity has the density of the other parameters. Discrete parameters are generated
	// quantities, drawn given the others.
	SumsDensity Sums = marginal.Summed

	// SumsDraws has the same generated quantities without the density.
	SumsDraws Sums = marginal.DrawnOnly

	// SumsLeaveOneOut has generated quantities in place of local variables of the model block, see
	// [Options].Observations. Statements such as log_lik[n] += normal_lpdf(…) add the log densities
	// of observations to their elements. The values are log p(y[n] | all other observations, other
	// parameters), with the discrete parameters summed out.
	SumsLeaveOneOut Sums = marginal.LeaveOneOut

	// SumsProbabilities has two generated quantities for each discrete parameter z: z_probability,
	// the probabilities of its values given the other parameters, and z_mode, its value in the most
	// likely configuration of all discrete parameters. It has no density and no other generated
	// quantities.
	SumsProbabilities Sums = marginal.Probabilities
)

// Discrete reports whether the program has discrete parameters: integers in its parameters block.
func (p *Program) Discrete() bool { return p.discrete != nil }

// Discretes yields the names of the discrete parameters.
func (p *Program) Discretes() iter.Seq[string] {
	return func(yield func(string) bool) {
		for d := range marginal.Declared(p.tree, p.info) {
			if !yield(d.Name.Name) {
				return
			}
		}
	}
}

// prepare makes the parts of a program with discrete parameters that do not depend on data.
func (p *Program) prepare(plain *ast.File, info *check.Info, o Options) diag.List {
	split, err := marginal.Prepare(plain, info, stdlib.Language(), marginal.Options{Purpose: o.Sums, Observations: o.Observations, Of: o.Derived})
	if err != nil {
		return listOf(err)
	}
	p.discrete = split
	tree := split.Interface()
	info, list := check.Check(tree, stdlib.Language())
	if list.HasErrors() {
		return list.Errors()
	}
	p.ir = ir.Lower(tree, info, stdlib.Language())
	return nil
}

// summed returns the program without discrete parameters for known data.
func (p *Program) summed(d *data.Set, o bind.Options, doubled int) (_ *ir.Program, _ *marginal.Result, err error) {
	at := "sums over discrete parameters"
	defer caught(&err, &at)
	r, err := p.rewritten(d, o, doubled)
	if err != nil {
		return nil, nil, err
	}
	info, list := check.Check(r.Tree, stdlib.Language())
	if list.HasErrors() {
		return nil, nil, &Error{List: list.Errors()}
	}
	lowered := ir.Lower(r.Tree, info, stdlib.Language())
	mark(lowered, r.Cuts)
	named := slices.Clone(lowered.GeneratedQuantityVars)
	for _, h := range r.Holes {
		for _, v := range named {
			if v.Name == h.Drawn { // in output, its elements have the names that the data give them
				of := lowered.Data[slices.IndexFunc(lowered.Data, func(d *ir.Var) bool { return d.Name == h.Name })]
				v.Name, v.Places, v.Ragged = h.Name, &ir.Places{Shape: h.Shape, Elements: h.Cells}, of.Ragged
			}
		}
		named = slices.DeleteFunc(named, func(v *ir.Var) bool {
			return v.Name == h.Whole || v.Name == h.Name && p.discrete.Derived()
		})
	}
	lowered.GeneratedQuantityVars = named
	return lowered, r, nil
}

func (p *Program) rewritten(d *data.Set, o bind.Options, doubled int) (*marginal.Result, error) {
	known, err := bind.Read(p.discrete.IR(), d, o)
	if err != nil {
		return nil, err
	}
	r, err := p.discrete.Rewrite(known, o.Budget, p.level+doubled)
	if list := listOf(err); list != nil {
		return nil, &Error{List: list}
	}
	return r, err
}

// Stan returns the text of an ordinary Stan program with the same posterior for the same data, if
// the model's is none; otherwise "". Discrete parameters are summed out, and drawn in generated
// quantities. Missing elements of the data are parameters; the data have NaN for them. Statements
// about censored data add the probabilities of intervals. Ragged variables have all rows one after
// another, also in the data. Sparse matrices are vectors of values, with arrays of their places. A
// size with labels is bounded by their number, from both sides.
func (m *Model) Stan() string {
	tree := m.written
	if m.discrete != nil {
		tree = m.discrete.Unmarked()
	}
	if m.ragged {
		tree = ragged.Empty(tree, m.empties())
	}
	holes := slices.ContainsFunc(m.program.Data, func(v *ir.Var) bool { return v.Missing })
	if m.discrete == nil && !holes && !m.censored && !m.ragged && !m.matrices && !named(tree) {
		return ""
	}
	if holes {
		info, list := check.Check(tree, stdlib.Language())
		if list.HasErrors() {
			return ""
		}
		tree = writeMissing(tree, info, m.program.Parameters)
	}
	if m.matrices {
		tree = sparse.Dense(tree)
	}
	return layout.String(withoutLabels(tree)) + "\n"
}

// named reports whether sizes have labels.
func named(f *ast.File) bool {
	block := f.Block(ast.Data)
	if block == nil {
		return false
	}
	for d := range declarations(block) {
		if d.Type.Labels() != nil {
			return true
		}
	}
	return false
}

// withoutLabels returns the tree with bounds in place of labels.
func withoutLabels(f *ast.File) *ast.File {
	var strip func(n ast.Node) ast.Node
	strip = func(n ast.Node) ast.Node {
		if t, ok := n.(*ast.TypeExpr); ok && t.Labels() != nil {
			c, size := *t, literal(len(t.Labels()))
			c.Bounds = []ast.Bound{{Kind: "lower", Value: size}, {Kind: "upper", Value: size}}
			return &c
		}
		return ast.Map(n, strip)
	}
	return strip(f).(*ast.File)
}

// empties lists the arrays of integers that are known and only have zeros: if they are the sizes of
// rows, these have no elements.
func (m *Model) empties() map[string]bool {
	out := map[string]bool{}
	m.bound.Known.Each(func(v *ir.Var, shape []int, ints []int64, reals []float64) {
		if len(shape) > 0 && len(ints) > 0 && !slices.ContainsFunc(ints, func(n int64) bool { return n != 0 }) {
			out[v.Name] = true
		}
	})
	return out
}

// listOf returns the diagnostics of an error of package marginal.
func listOf(err error) diag.List {
	var e *marginal.Error
	if errors.As(err, &e) {
		return e.List
	}
	return nil
}

// Discrete describes how the discrete parameters are summed out, in the order of the sums; nil if
// there are none.
func (m *Model) Discrete() []DiscreteSum {
	if m.discrete == nil {
		return nil
	}
	return m.discrete.Steps
}

// LeastValue returns the lowest bound of the elements of a discrete parameter, for a program of the
// purpose [SumsProbabilities]: the value to which the first of the probabilities belongs.
func (m *Model) LeastValue(name string) int {
	if m.discrete == nil {
		return 0
	}
	return int(m.discrete.Least[name])
}
