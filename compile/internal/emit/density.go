package emit

import (
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// addend is a term that a statement added to the log density.
type addend struct {
	at  source.Span
	ref ad.Ref
}

// logDensity collects the terms of the log density.
type logDensity struct {
	floor
	targets []value // terms, without lanes, in the root level
	propto  bool    // whether _lupdf and ~ drop terms
	inModel bool

	marking bool     // some densities are represented by inputs, see Information
	marked  bool     // ir.Var.Marks are inputs
	addends []addend // by statement
}

// addTarget adds the sum of v, over its elements and lanes, to the log density.
func (dn *logDensity) addTarget(v value) {
	if !dn.inModel {
		return
	}
	v = dn.b.numeric(v)
	if dn.at.scanning() && v.lvl == dn.at.scan.lvl {
		r := dn.at.scan
		r.targets = append(r.targets, v.lvl.g.Sum(v.ref))
		return
	}
	if n := len(dn.at.branches); n > 0 && dn.at.lvl.branch {
		br := dn.at.branches[n-1]
		g := dn.at.lvl.g
		r := dn.b.use(v, dn.at.lvl, dn.at.axis)
		if v.lvl != dn.at.lvl && dn.at.hidden() {
			r = g.Sum(r)
		} else {
			r = dn.totalHere(r, v)
		}
		br.target = append(br.target, r)
		return
	}
	dn.at.lvl.g.SetSite(dn.b.site())
	r := dn.totalHere(dn.b.use(v, dn.at.lvl, dn.at.axis), v)
	if dn.marking {
		dn.addends = append(dn.addends, addend{dn.rep.span, r})
	}
	dn.targets = append(dn.targets, value{typ: types.RealType, lvl: dn.at.lvl, ref: r, param: v.param})
}

// totalHere sums r over its elements and over the lanes in force.
func (dn *logDensity) totalHere(r ad.Ref, v value) ad.Ref {
	g := dn.at.lvl.g
	r = g.Sum(r)
	if dn.at.axis == nil || dn.at.hidden() {
		return r
	}
	if g.Type(r).Lanes == 0 {
		return g.Scale(float64(dn.at.axis.N), r)
	}
	return g.SumLanes(r)
}

// marks records the densities that inputs represent.
type marks struct {
	floor
	prog *ir.Program
	lp   *logDensity
	ex   evaluator

	densities []density // so far
	left      []LeftOut // densities that cannot be represented by inputs
}

// Metrics of a model need its statements. To find them, the program is evaluated once more, with a
// new input in place of every density with expected information. The dependence of the log density
// on these inputs shows which densities are its terms, and their weights. This works however the
// program adds them up: in loops, through variables, functions, sums, and products with data.

// Information lists the statements of a log density.
type Information struct {
	// Graph has the parameters as its first inputs. The statements do not depend on the other
	// inputs.
	Graph      *ad.Graph
	Statements []ad.Statement
	Calls      []Call // of the statements
	LeftOut    []LeftOut
}

// Call is the density call of a statement.
type Call struct {
	At       source.Span
	Name     string // name of the function: normal_lpdf
	Weighted bool   // its weight is not 1; it is the last of the statement's Args
}

// LeftOut is a part of the log density that is not among the statements.
type LeftOut struct {
	At  source.Span
	Why string
}

// density is a call of a density that is represented by an input.
type density struct {
	at         source.Span
	name       string
	input      ad.Ref // with one element per lane, if there are any
	statements []ad.Statement
}

// Information evaluates the log density to find its statements. Transforms of parameters contribute
// no statements: for a distribution with bounded support, the information is given on the unbounded
// scale, including the Jacobian.
func (pr *Program) Information() (info *Information, err error) {
	err = pr.complaints(func() {
		pr.marks.densities, pr.marks.left, pr.lp.marking, pr.lp.addends = nil, nil, true, nil
		defer func() { pr.lp.marking = false }()
		pr.beginDensity(false)
		pr.endDensity()
		info = pr.marks.statements()
	})
	return info, err
}

// Metric evaluates a function of the program's functions block, whose arguments have the names of
// the model's variables. It returns a graph whose only output is the value.
func (pr *Program) Metric(name string) (g *ad.Graph, err error) {
	err = pr.complaints(func() { g = pr.metric(name) })
	return g, err
}

// mark replaces an evaluated density by an input, if possible.
func (mk *marks) mark(e *ir.Call, f *stdlib.Func, lvl *level, ax *axis, args []stdlib.Arg) (value, bool) {
	if !mk.lp.inModel {
		return value{}, false
	}
	if f.Statements == nil {
		mk.leave(e.Span(), fmt.Sprintf("%s has no expected information in the library", e.Name))
		return value{}, false
	}
	s := mk.scanOf(lvl)
	if lvl != mk.b.root && s == nil {
		mk.leave(e.Span(), "it stands in a loop or a conditional that is evaluated as a whole")
		return value{}, false
	}
	args[0].Lower = mk.lowerOf(e.Args[0])
	d := density{at: e.Span(), name: e.Name}
	mk.rep.catch(func() { d.statements = f.Statements(&stdlib.Builder{G: lvl.g, Name: e.Name}, args) })
	if len(d.statements) == 0 {
		return value{}, false
	}
	if s != nil {
		ax = s.dom
		s.densities = append(s.densities, len(mk.densities))
	}
	g := mk.b.root.g
	v := value{typ: e.Type(), lvl: mk.b.root, axis: ax, param: true}
	if ax != nil {
		d.input = g.Input(ad.Type{Shape: []int{ax.N}})
		v.ref = g.Lane(d.input)
	} else {
		d.input = g.Input(ad.Scalar)
		v.ref = d.input
	}
	mk.densities = append(mk.densities, d)
	return v, true
}

// lowerOf returns the lower bound of a parameter, or of elements of a parameter. It is nil if the
// parameter has another bound, or if the lower bound is not a known number.
func (mk *marks) lowerOf(e ir.Expr) *float64 {
	if x, ok := e.(*ir.IndexExpr); ok {
		e = x.X
	}
	r, ok := e.(*ir.VarRef)
	if !ok || !slices.Contains(mk.prog.Parameters, r.Var) || r.Var.Constraint.Kind != types.LowerUpper || r.Var.Constraint.Lower == nil || r.Var.Constraint.Upper != nil {
		return nil
	}
	if data, ok := mk.b.numeric(mk.ex.eval(r.Var.Constraint.Lower)).data(); ok && len(data.Reals) == 1 {
		return &data.Reals[0]
	}
	return nil
}

// scanOf returns the recurrence whose steps evaluate lvl, in all lanes in force. It is nil unless
// its results are in the program's own graph.
func (mk *marks) scanOf(lvl *level) *recurrence {
	if !mk.at.scanning() || lvl != mk.at.scan.lvl || mk.at.lvl != mk.b.root || mk.at.axis != mk.at.scan.dom {
		return nil
	}
	return mk.at.scan
}

func (mk *marks) leave(at source.Span, why string) {
	if l := (LeftOut{at, why}); !slices.Contains(mk.left, l) {
		mk.left = append(mk.left, l)
	}
}

// statements finds the statements of the log density.
func (mk *marks) statements() *Information {
	g := mk.b.root.g
	total := g.Outputs[0]
	reasons := mk.left // reasons for densities that may be part of the log density
	mk.left = nil
	declared := 0
	for range ir.Declared(mk.prog.Parameters) {
		declared++
	}
	params := g.Inputs[:declared]
	wrt := slices.Clone(params)
	for _, d := range mk.densities {
		wrt = append(wrt, d.input)
	}
	made := g.MadeFrom(wrt[len(params):], nil)
	adds := mk.addedBy()
	squares, terms := g.SquareTerms(params, made)
	weights := g.Backprop([]ad.Ref{total}, []ad.Ref{g.Const(1)}, wrt)
	info := &Information{Graph: g}
	for i, d := range mk.densities {
		w := weights[len(params)+i]
		if w == ad.None {
			continue
		}
		if why := mk.unusable(d, w, made); why != "" {
			mk.leave(d.at, why)
			continue
		}
		data, _ := g.Value(w)
		if len(g.Type(w).Shape) > 0 {
			w = g.Lane(w)
		}
		for _, s := range d.statements {
			call := Call{At: d.at, Name: d.name}
			if slices.ContainsFunc(data, func(v float64) bool { return v != 1 }) {
				s, call.Weighted = s.Weighted(w), true
			}
			info.Statements, info.Calls = append(info.Statements, s), append(info.Calls, call)
		}
	}
	beside := g.MadeFrom(params, squares)
	for i, s := range squares {
		info.Statements, info.Calls = append(info.Statements, terms[i]), append(info.Calls, Call{At: adds[s], Name: "square"})
	}
	rest := func(r ad.Ref) bool { // depends on parameters in other ways, too
		return beside[r] && slices.ContainsFunc(g.Backprop([]ad.Ref{r}, []ad.Ref{g.Const(1)}, params), func(a ad.Ref) bool { return a != ad.None })
	}
	if slices.ContainsFunc(weights[:len(params)], func(a ad.Ref) bool { return a != ad.None }) {
		seen := map[source.Span]bool{}
		for _, a := range mk.lp.addends {
			if seen[a.at] || !rest(a.ref) {
				continue
			}
			seen[a.at] = true
			found := slices.ContainsFunc(mk.left, func(l LeftOut) bool { return inside(l.At, a.at) })
			for _, l := range reasons {
				if inside(l.At, a.at) {
					mk.leave(l.At, l.Why)
					found = true
				}
			}
			if !found {
				mk.leave(a.at, "it is not the density of a distribution")
			}
		}
	}
	info.LeftOut = mk.left
	return info
}

// addedBy returns, by node, the statement that adds it to the log density.
func (mk *marks) addedBy() []source.Span {
	g := mk.b.root.g
	adds := make([]source.Span, len(g.Nodes))
	for _, a := range mk.lp.addends {
		adds[a.ref] = a.at
	}
	for i := len(adds) - 1; i >= 0; i-- {
		for _, a := range g.Nodes[i].Args {
			if adds[i].IsValid() {
				adds[a] = adds[i]
			}
		}
	}
	return adds
}

// unusable returns the reason why a density with weight w cannot be a statement, or "". made marks
// the nodes that depend on densities.
func (mk *marks) unusable(d density, w ad.Ref, made []bool) string {
	g := mk.b.root.g
	data, ok := g.Value(w)
	if !ok {
		return d.name + " enters the log density through a function, as part of a mixture does, or with a weight that parameters decide"
	}
	for _, v := range data {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Sprintf("%s enters the log density with the weight %v", d.name, v)
		}
	}
	for _, s := range d.statements {
		if slices.ContainsFunc(s.Args, func(r ad.Ref) bool { return made[r] }) {
			return "an argument of " + d.name + " is made from another density"
		}
	}
	return ""
}

// inside reports whether a is part of b.
func inside(a, b source.Span) bool {
	return a.File == b.File && b.Start <= a.Start && a.End <= b.End
}

// metric evaluates a function of the program.
func (pr *Program) metric(name string) *ad.Graph {
	i := slices.IndexFunc(pr.prog.Functions, func(f *ir.Function) bool { return f.Name == name })
	if i < 0 {
		pr.rep.fail(source.Span{File: pr.prog.Source}, diag.BadCall, "the program has no function `%s`", name).
			fix("declare `matrix %s(…)` in the functions block, with arguments named like the model's variables", name).throw()
	}
	f := pr.prog.Functions[i]
	pr.start()
	pr.params.parameters(nil)
	pr.transformedParameters()
	n := 0
	for _, p := range pr.params.list {
		n += p.Size
	}
	vars := slices.Concat(pr.prog.Data, pr.prog.TransformedDataVars, pr.prog.Parameters, pr.prog.TransformedParameterVars)
	args := make([]value, len(f.Params))
	for k, p := range f.Params {
		i := slices.IndexFunc(vars, func(v *ir.Var) bool { return v.Name == p.Name && v.Part == p.Part })
		if i < 0 {
			pr.rep.fail(p.Span, diag.BadCall, "the model has no variable `%s`", p.Name).
				detailf("The arguments of `%s` are the model's variables of these names: data, transformed data, parameters and transformed parameters.", name).throw()
		}
		v := vars[i]
		if !v.Type.Equal(p.Type) && !(p.Type.Kind == types.Real && v.Type.Kind == types.Int && p.Type.Dims == v.Type.Dims) {
			pr.rep.fail(p.Span, diag.BadCall, "`%s` is of type %s in the model, but of type %s here", p.Name, v.Type, p.Type).throw()
		}
		c := pr.vars.cell(v)
		args[k] = pr.vars.load(c, lanes.WholeOf(c.shape), c.typ)
	}
	out := pr.users.callWith(f, f.Span, args)
	if out == nil || out.typ.Kind != types.Matrix || out.typ.Dims != 0 {
		pr.rep.fail(f.Span, diag.BadCall, "`%s` does not return a matrix", name).throw()
	}
	if !slices.Equal(out.shape, []int{n, n}) {
		pr.rep.fail(f.Span, diag.BadCall, "`%s` returns a matrix with %s, but there are %d unconstrained parameters", name, interp.SizeText(out.shape), n).throw()
	}
	g := pr.b.root.g
	g.Output(pr.b.use(*out, pr.b.root, nil))
	return g
}
