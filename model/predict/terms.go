package predict

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/types"
)

// analysis has the facts about a program that all derivations need.
type analysis struct {
	tree  *ast.File
	info  *check.Info
	model []ast.Stmt

	modelled map[*check.Var]bool // data variables that are variates of densities
	loops    map[ast.Stmt][]ast.Stmt
	under    map[ast.Stmt][]ast.Expr     // the conditions on which a statement depends
	assigned map[*check.Var][]assignment // for local variables and transformed parameters
	grown    map[*check.Var]*Grown       // parameters with unknown elements
	complete bool                        // see [Options.Complete]
}

// assignment is the assignment of an expression to a variable.
type assignment struct {
	at    ast.Stmt
	value ast.Expr
}

// term is an addend of the log density that is about data.
type term struct {
	at    ast.Stmt
	place *place

	// A density or distribution function of the variate, with its arguments.
	function string // normalised name: normal_lpdf, normal_lccdf
	user     bool   // function is declared by the model
	variate  ast.Expr
	args     []ast.Expr
	trunc    *ast.Truncation
	whole    bool // the statement consists of this density only, so a draw can replace it
	censored bool // the statement consists of the probability of values beyond the variate only

	value    ast.Expr // for terms without a density: the addend, which is about one observation
	negative bool     // the addend is subtracted
	mixed    *mixture // the addend is the log density of a mixture; nil: it is not
}

// finding describes which data or parameters a statement is about.
type finding struct {
	terms []term
	left  []string // reasons why parts about data belong to no observation
	prior bool     // a part of the statement is about parameters alone

	// unclear, if not empty, says why a part of the statement may be about either parameters or
	// data. density is set if that part is a density whose variate is computed from both. It counts
	// as a prior if other statements of the model are about data.
	unclear   string
	density   bool
	readsData bool // it reads data values for more than selecting elements

	loose []loose // addends about data that do not name an observation
}

// loose is an addend that does not name an observation. reason is reported if no observation is
// found for it; if it is "", the addend is then a prior.
type loose struct {
	part
	reason string
}

func analyse(tree *ast.File, info *check.Info, grown map[*check.Var]*Grown) *analysis {
	a := &analysis{
		tree: tree, info: info, grown: grown, modelled: map[*check.Var]bool{}, loops: map[ast.Stmt][]ast.Stmt{},
		under: map[ast.Stmt][]ast.Expr{}, assigned: map[*check.Var][]assignment{},
	}
	for _, kind := range []ast.BlockKind{ast.TransformedData, ast.TransformedParameters, ast.Model} {
		if b := tree.Block(kind); b != nil {
			a.context(b)
			if kind == ast.Model {
				a.model = b.Stmts
			}
		}
	}
	statements := a.model
	if b := tree.Block(ast.TransformedParameters); b != nil {
		statements = slices.Concat(b.Stmts, statements)
	}
	for _, s := range statements {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Tilde:
				a.observe(n.Variate)
			case *ast.CallExpr:
				if _, ok := density(n.Func.Name); ok && len(n.Args) > 0 {
					a.observe(n.Args[0])
				}
			}
			return true
		}, nil)
	}
	return a
}

// context records the loops and conditions around the statements of a block, and the variables that
// they assign.
func (a *analysis) context(b *ast.Block) {
	type around struct {
		loops []ast.Stmt
		under []ast.Expr
	}
	outer := []around{{}}
	ast.Inspect(b, func(n ast.Node) bool {
		s, ok := n.(ast.Stmt)
		if !ok {
			return n == b
		}
		at := outer[len(outer)-1]
		a.loops[s], a.under[s] = at.loops, at.under
		if isLoop(s) {
			at.loops = append(slices.Clip(at.loops), s)
		}
		for c := range ast.Children(s) {
			if e, ok := c.(ast.Expr); ok {
				at.under = append(slices.Clip(at.under), e)
			}
		}
		outer = append(outer, at)
		switch s := s.(type) {
		case *ast.VarDecl:
			if v := a.info.Defs[s]; v != nil && s.Init != nil {
				a.assigned[v] = append(a.assigned[v], assignment{s, s.Init})
			}
		case *ast.Assign:
			for x := range ast.Targets(s.LHS) {
				if v := a.info.Uses[x]; v != nil {
					a.assigned[v] = append(a.assigned[v], assignment{s, s.RHS})
				}
			}
		}
		return true
	}, func(n ast.Node) {
		if _, ok := n.(ast.Stmt); ok {
			outer = outer[:len(outer)-1]
		}
	})
}

func isLoop(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.For, *ast.ForEach, *ast.While:
		return true
	}
	return false
}

func (a *analysis) typeOf(e ast.Expr) types.Type { return a.info.Types[e].Type }

// observable reports whether a variable may hold observations: a data variable, one computed from
// data before the run, or a parameter that has grown.
func (a *analysis) observable(v *check.Var) bool {
	return v.Global && (v.Block == ast.Data || v.Block == ast.TransformedData || a.grown[v] != nil)
}

// observe records that a data variable is the variate of a density.
func (a *analysis) observe(variate ast.Expr) {
	if p := a.placeOf(variate); p != nil {
		a.modelled[p.v] = true
	}
}

// reads reports whether the value of an expression depends on a variable for which yes returns
// true, directly or through assignments to other variables.
func (a *analysis) reads(e ast.Node, yes func(*check.Var) bool) bool { return a.depends(e, yes, true) }

// readsValues is reads, but ignores expressions that only select elements, such as indices.
func (a *analysis) readsValues(e ast.Node, yes func(*check.Var) bool) bool {
	return a.depends(e, yes, false)
}

func (a *analysis) depends(e ast.Node, yes func(*check.Var) bool, indices bool) bool {
	seen := map[*check.Var]bool{}
	var look func(n ast.Node) bool
	look = func(n ast.Node) bool {
		found := false
		ast.Inspect(n, func(n ast.Node) bool {
			if found {
				return false
			}
			if c, ok := n.(*ast.CallExpr); ok && ofSizes[c.Func.Name] {
				return false
			}
			if x, ok := n.(*ast.IndexExpr); ok && !indices {
				found = look(x.X)
				return false
			}
			x, ok := n.(*ast.VarExpr)
			if !ok {
				return true
			}
			v := a.info.Uses[x]
			if v == nil || seen[v] {
				return true
			}
			seen[v] = true
			found = yes(v)
			for _, s := range a.assigned[v] {
				found = found || look(s.value)
			}
			return true
		}, nil)
		return found
	}
	return look(e)
}

// ofSizes lists functions whose value depends only on the sizes of their arguments.
var ofSizes = map[string]bool{"size": true, "rows": true, "cols": true, "dims": true, "num_elements": true}

// isParameter reports whether a variable is a parameter without unknown elements.
func (a *analysis) isParameter(v *check.Var) bool {
	return v.Global && v.Block == ast.Parameters && a.grown[v] == nil
}

func (a *analysis) isModelled(v *check.Var) bool { return a.modelled[v] }

// tilde determines which data or parameters y ~ dist(args) is about.
func (a *analysis) tilde(s *ast.Tilde) finding {
	call := a.info.Calls[s]
	if a.reads(s.Variate, a.isParameter) {
		var f finding
		a.ofParameters(&f, s.Variate)
		return f
	}
	p := a.placeOf(s.Variate)
	if p == nil {
		var f finding
		if at := a.decides(s.Variate); at != nil && s.Trunc == nil && a.typeOf(s.Variate).IsScalar() {
			f.terms = []term{{at: s, place: at, value: given(call.Name, s.Variate, s.Args)}}
		} else if f.loose = []loose{{part{value: given(call.Name, s.Variate, s.Args)}, a.why(s.Variate)}}; s.Trunc != nil || a.reads(s.Variate, a.observable) {
			return finding{left: []string{a.why(s.Variate)}}
		}
		a.attach(&f, s)
		return f
	}
	if p.v.Censored && s.Trunc != nil && call.Func != nil {
		return finding{left: []string{"it truncates a distribution that the program defines, and " + p.v.Name + " has censored values"}}
	}
	return finding{terms: []term{{
		at: s, place: p, function: call.Name, user: call.Func != nil, variate: s.Variate, args: s.Args, trunc: s.Trunc, whole: true,
	}}}
}

// mixed is the message for a variate that depends on data and parameters.
const mixed = "its left side mixes data and parameters, so that it is not a density of the data"

// ofParameters handles a density whose variate depends on parameters: it is about the parameters,
// unless the variate also depends on data.
func (a *analysis) ofParameters(f *finding, variate ast.Expr) {
	switch {
	case !a.readsValues(variate, a.observable):
		f.prior = true
	case a.readsValues(variate, a.isModelled) || a.residual(variate, map[*check.Var]bool{}):
		f.left = append(f.left, mixed)
	default:
		f.unclear, f.density, f.readsData = mixed, true, true
	}
}

// residual reports whether an expression is a difference of data and something else, such as y -
// mu, or a variable to which such a difference was assigned.
func (a *analysis) residual(e ast.Expr, seen map[*check.Var]bool) bool {
	parts := addends(e, false, nil)
	for _, p := range parts {
		if len(parts) > 1 && a.readsValues(p.value, a.observable) && !a.reads(p.value, a.isParameter) {
			return true
		}
		x := ast.Unparen(p.value)
		if i, ok := x.(*ast.IndexExpr); ok {
			x = ast.Unparen(i.X)
		}
		if v, ok := x.(*ast.VarExpr); ok && a.info.Uses[v] != nil && !seen[a.info.Uses[v]] {
			seen[a.info.Uses[v]] = true
			for _, s := range a.assigned[a.info.Uses[v]] {
				if a.residual(s.value, seen) {
					return true
				}
			}
		}
	}
	return false
}

// directly is reads without following assignments to other variables.
func (a *analysis) directly(e ast.Node, yes func(*check.Var) bool) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(*ast.VarExpr); ok && a.info.Uses[x] != nil {
			found = found || yes(a.info.Uses[x])
		}
		return !found
	}, nil)
	return found
}

// why returns the reason why a variate without parameters belongs to no observation.
func (a *analysis) why(variate ast.Expr) string {
	if !a.reads(variate, a.observable) {
		return "its left side is a constant and no variable of the data"
	}
	return "its left side, `" + printer.Line(variate) + "`, is not a variable of the data, a part of one, or a known function of these"
}

// target determines which data or parameters target += value is about.
func (a *analysis) target(s *ast.TargetPlus) finding {
	var f finding
	parts := addends(s.Value, false, nil)
	for _, p := range parts {
		a.addend(&f, s, p, len(parts) == 1)
	}
	a.attach(&f, s)
	return f
}

// attach finds the observation for addends that do not name one. It is the observation of the
// statement's other addends, or the one whose value decides whether the statement runs.
func (a *analysis) attach(f *finding, s ast.Stmt) {
	if len(f.loose) == 0 {
		return
	}
	var at *place
	for i, t := range f.terms {
		if !t.place.unit() || i > 0 && !at.same(t.place) {
			at = nil
			break
		}
		at = t.place
	}
	if len(f.terms) == 0 {
		at = a.deciding(s)
	}
	for _, l := range f.loose {
		if l.reason == "" && (at == nil || !a.inLoop(at, s)) {
			f.prior = true
			continue
		}
		if at == nil {
			f.left = append(f.left, l.reason)
			continue
		}
		f.terms = append(f.terms, term{at: s, place: at, value: l.value, negative: l.negative})
	}
}

// inLoop reports whether each iteration of a loop around a statement has another place.
func (a *analysis) inLoop(p *place, s ast.Stmt) bool {
	return slices.ContainsFunc(a.loops[s], func(l ast.Stmt) bool {
		n := a.info.Defs[l]
		return n != nil && slices.ContainsFunc(p.indices, func(x index) bool {
			return x.single && a.directly(x.a, func(u *check.Var) bool { return u == n })
		})
	})
}

// deciding returns the observation whose value decides whether a statement runs; nil if there are
// none or several.
func (a *analysis) deciding(s ast.Stmt) *place {
	var found *place
	several := false
	for _, c := range a.under[s] {
		if !a.reads(c, a.isModelled) {
			continue
		}
		here := false
		ast.Inspect(c, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			p := a.placeOf(e)
			if p == nil || !a.modelled[p.v] {
				return true
			}
			here = true
			if !p.unit() || p.of != "" || found != nil && !found.same(p) {
				several = true
			}
			found = p
			return false
		}, nil)
		several = several || !here
	}
	if several {
		return nil
	}
	return found
}

// decides returns the observation from which an expression without parameters is computed, as y[n]
// == 0 is; nil if there are none or several.
func (a *analysis) decides(e ast.Expr) *place {
	var found *place
	several := false
	ast.Inspect(e, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		p := a.placeOf(x)
		if p == nil {
			return true
		}
		several = several || !a.modelled[p.v] || !p.unit() || p.of != "" || found != nil && !found.same(p)
		found = p
		return false
	}, nil)
	if several {
		return nil
	}
	return found
}

// part is an addend of a sum.
type part struct {
	value    ast.Expr
	negative bool
}

// addends splits sums and differences into addends.
func addends(e ast.Expr, negative bool, list []part) []part {
	switch x := ast.Unparen(e).(type) {
	case *ast.Binary:
		if x.Op == "+" || x.Op == "-" {
			list = addends(x.X, negative, list)
			return addends(x.Y, negative != (x.Op == "-"), list)
		}
	case *ast.Unary:
		if x.Op == "-" {
			return addends(x.X, !negative, list)
		}
	}
	return append(list, part{e, negative})
}

func (a *analysis) addend(f *finding, s *ast.TargetPlus, p part, alone bool) {
	call, isCall := ast.Unparen(p.value).(*ast.CallExpr)
	if isCall && conditional(call.Func.Name) && len(call.Args) > 0 && !strings.HasSuffix(call.Func.Name, "_cdf") {
		_, isDensity := density(call.Func.Name)
		at := a.placeOf(call.Args[0])
		switch {
		case a.reads(call.Args[0], a.isParameter):
			a.ofParameters(f, call.Args[0])
			return
		case isDensity && at == nil && !a.reads(call.Args[0], a.observable) && a.reads(call, a.isParameter):
			f.loose = append(f.loose, loose{p, "its left side is a constant and no variable of the data"})
			return
		case at != nil && (isDensity || a.modelled[at.v] || a.complete && alone && beyond(p, call) != 0):
			f.terms = append(f.terms, term{
				at: s, place: at, function: normalised(call.Func.Name), user: a.info.Calls[call].Func != nil,
				variate: call.Args[0], args: call.Args[1:], whole: alone && isDensity && !p.negative, negative: p.negative,
				censored: alone && beyond(p, call) != 0,
			})
			return
		}
	}
	places, clear := a.placesIn(p.value, s)
	switch {
	case len(places) == 1 && clear && places[0].unit():
		t := term{at: s, place: places[0], value: p.value, negative: p.negative}
		if alone && !p.negative {
			t.mixed = a.mixtureOf(s, p.value, places[0])
		}
		f.terms = append(f.terms, t)
	case len(places) > 0:
		f.left = append(f.left, "the term is about several observations at once")
	case a.reads(p.value, a.isModelled) || a.callsOwn(p.value):
		f.left = append(f.left, "it is not told which observation the term is about")
	case slices.ContainsFunc(a.under[s], func(c ast.Expr) bool { return a.reads(c, a.isModelled) }):
		f.loose = append(f.loose, loose{p, "whether the term is added depends on the data, but it is not told which observation it is about"})
	case a.censors(p.value):
		f.left = append(f.left, "the term has no variate among the data that are modelled")
	case a.reads(p.value, a.observable):
		f.unclear = "it is not told which observation the term is about"
		f.density = false
		f.readsData = f.readsData || a.readsValues(p.value, a.observable)
	case !alone && len(a.loops[s]) > 0:
		f.loose = append(f.loose, loose{p, ""}) // it may be a part of a row's density
	default:
		f.prior = true
	}
}

// beyond returns 1 if an addend is the logarithm of the probability of values above a variate, -1
// if it is that of values below, and 0 for other addends.
func beyond(p part, call *ast.CallExpr) int {
	switch {
	case p.negative:
	case strings.HasSuffix(call.Func.Name, "_lccdf"):
		return 1
	case strings.HasSuffix(call.Func.Name, "_lcdf"):
		return -1
	}
	return 0
}

// censors reports whether an expression is the probability of censored data, of which only the
// bound is known, so that they are not the variate of a density.
func (a *analysis) censors(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && conditional(c.Func.Name) && len(c.Args) > 1 {
			found = found || a.reads(c.Args[0], a.observable) && !a.reads(c.Args[0], a.isParameter) && a.reads(c, a.isParameter)
		}
		return !found
	}, nil)
	return found
}

// callsOwn reports whether an expression passes data to a function that the model declares.
func (a *analysis) callsOwn(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			own := a.info.Calls[c] != nil && a.info.Calls[c].Func != nil
			for _, x := range c.Args {
				if v, ok := x.(*ast.VarExpr); ok && a.info.Functors[v] != nil {
					own = true // for instance reduce_sum
				}
			}
			found = found || own && a.reads(c, a.observable)
		}
		return !found
	}, nil)
	return found
}

// placesIn lists the observations that are variates in an expression, or in the values assigned to
// its variables. clear is set if these variables still have the same values at the statement at.
func (a *analysis) placesIn(e ast.Expr, at ast.Stmt) (places []*place, clear bool) {
	clear = true
	seen := map[*check.Var]bool{}
	// to maps loop variables of other loops to the indices that replace them at the statement.
	add := func(variate ast.Expr, from ast.Stmt, to map[*check.Var]ast.Expr) {
		p := a.placeOf(variate)
		if p == nil || !a.modelled[p.v] {
			return
		}
		// Indices that use a loop variable are clear only if the statement is within that loop.
		for _, loop := range a.loops[from] {
			v := a.info.Defs[loop]
			if v != nil && a.directly(variate, func(u *check.Var) bool { return u == v }) && !slices.Contains(a.loops[at], loop) {
				clear = clear && to[v] != nil && a.moved(p, v, to[v])
			}
		}
		if p.of != "" {
			clear = false
		}
		if !slices.ContainsFunc(places, p.same) {
			places = append(places, p)
		}
	}
	var look func(n ast.Node, from ast.Stmt, to map[*check.Var]ast.Expr)
	look = func(n ast.Node, from ast.Stmt, to map[*check.Var]ast.Expr) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if conditional(n.Func.Name) && len(n.Args) > 0 {
					add(n.Args[0], from, to)
				}
			case *ast.IndexExpr:
				x, ok := n.X.(*ast.VarExpr)
				if v := a.info.Uses[x]; ok && from == at && v != nil && !seen[v] && !a.observable(v) && a.byRow(v) {
					seen[v] = true
					for _, s := range a.assigned[v] {
						look(s.value, s.at, a.row(n, s))
					}
				}
			case *ast.VarExpr:
				if v := a.info.Uses[n]; v != nil && !seen[v] && !a.observable(v) {
					seen[v] = true
					for _, s := range a.assigned[v] {
						look(s.value, s.at, to)
					}
				}
			}
			return true
		}, nil)
	}
	look(e, at, nil)
	return places, clear
}

// byRow reports whether no element of a variable is computed from others, as the states of a chain
// are.
func (a *analysis) byRow(v *check.Var) bool {
	return !slices.ContainsFunc(a.assigned[v], func(s assignment) bool {
		return a.reads(s.value, func(u *check.Var) bool { return u == v })
	})
}

// row maps the loop variable by which an assignment chooses an element, as in v[j] = …, to the
// index by which an expression reads it, as in v[n].
func (a *analysis) row(read *ast.IndexExpr, s assignment) map[*check.Var]ast.Expr {
	set, ok := s.at.(*ast.Assign)
	if !ok {
		return nil
	}
	place, ok := set.LHS.(*ast.IndexExpr)
	if !ok {
		return nil
	}
	to, single := read.Indices[0].(*ast.Single)
	from, also := place.Indices[0].(*ast.Single)
	if !single || !also || a.typeOf(to.X).Rank() > 0 {
		return nil
	}
	x, ok := from.X.(*ast.VarExpr)
	if v := a.info.Uses[x]; ok && v != nil && v.Loop {
		return map[*check.Var]ast.Expr{v: to.X}
	}
	return nil
}

// moved replaces a loop variable that is an index of a place. It returns false if the place uses
// the variable in another way.
func (a *analysis) moved(p *place, v *check.Var, to ast.Expr) bool {
	for i, x := range p.indices {
		for _, e := range []ast.Expr{x.a, x.b} {
			if e == nil || !a.directly(e, func(u *check.Var) bool { return u == v }) {
				continue
			}
			if y, ok := e.(*ast.VarExpr); !ok || !x.single || a.info.Uses[y] != v {
				return false
			}
			p.indices[i].a = to
		}
	}
	return true
}
