package predict

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// analysis is what is known of a program before anything is derived from it.
type analysis struct {
	tree  *ast.File
	info  *check.Info
	model []ast.Stmt

	modelled map[*check.Var]bool // variables of the data that are variates of densities
	loops    map[ast.Stmt][]ast.Stmt
	under    map[ast.Stmt][]ast.Expr     // the conditions that a statement depends on
	assigned map[*check.Var][]assignment // to local variables and transformed parameters
}

// assignment is one to a variable, of the value of an expression.
type assignment struct {
	at    ast.Stmt
	value ast.Expr
}

// term is an addend of the log density that belongs to data.
type term struct {
	at    ast.Stmt
	place *place

	// A density or distribution function of the variate given the arguments.
	function string // as called, normalised: normal_lpdf, normal_lccdf
	user     bool   // of the model's own
	variate  ast.Expr
	args     []ast.Expr
	trunc    *ast.Truncation
	whole    bool // the statement says nothing else, so that it can be turned round to draw the variate

	value    ast.Expr // otherwise, what is added: a term of another form about one observation
	negative bool     // it is subtracted
}

// finding is what a statement says.
type finding struct {
	terms []term
	left  []string // why something that it says about data belongs to no observation
	prior bool     // it says something about parameters alone
}

func analyse(tree *ast.File, info *check.Info) *analysis {
	a := &analysis{
		tree: tree, info: info, modelled: map[*check.Var]bool{}, loops: map[ast.Stmt][]ast.Stmt{},
		under: map[ast.Stmt][]ast.Expr{}, assigned: map[*check.Var][]assignment{},
	}
	for _, kind := range []ast.BlockKind{ast.TransformedData, ast.TransformedParameters, ast.Model} {
		if b := tree.Block(kind); b != nil {
			a.context(b.Stmts, nil, nil)
			if kind == ast.Model {
				a.model = b.Stmts
			}
		}
	}
	for _, s := range a.model {
		ast.Walk(s, func(n ast.Node) bool {
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

// context notes the loops and conditions around statements, and assignments.
func (a *analysis) context(list []ast.Stmt, loops []ast.Stmt, under []ast.Expr) {
	for _, s := range list {
		a.loops[s], a.under[s] = loops, under
		one := func(s ast.Stmt, loops []ast.Stmt, under []ast.Expr) {
			if s != nil {
				a.context([]ast.Stmt{s}, loops, under)
			}
		}
		inner := append(slices.Clip(loops), s)
		switch s := s.(type) {
		case *ast.For:
			one(s.Body, inner, append(slices.Clip(under), s.From, s.To))
		case *ast.ForEach:
			one(s.Body, inner, append(slices.Clip(under), s.Over))
		case *ast.While:
			one(s.Body, inner, append(slices.Clip(under), s.Cond))
		case *ast.If:
			within := append(slices.Clip(under), s.Cond)
			one(s.Then, loops, within)
			one(s.Else, loops, within)
		case *ast.BlockStmt:
			a.context(s.Stmts, loops, under)
		case *ast.Profile:
			a.context(s.Body.Stmts, loops, under)
		case *ast.VarDecl:
			if v := a.info.Defs[s]; v != nil && s.Init != nil {
				a.assigned[v] = append(a.assigned[v], assignment{s, s.Init})
			}
		case *ast.Assign:
			ast.Walk(s.LHS, func(n ast.Node) bool {
				if x, ok := n.(*ast.IndexExpr); ok {
					ast.Walk(x.X, func(n ast.Node) bool { a.assignTo(n, s); return true }, nil)
					return false
				}
				a.assignTo(n, s)
				return true
			}, nil)
		}
	}
}

func (a *analysis) assignTo(n ast.Node, s *ast.Assign) {
	if x, ok := n.(*ast.VarExpr); ok {
		if v := a.info.Uses[x]; v != nil {
			a.assigned[v] = append(a.assigned[v], assignment{s, s.RHS})
		}
	}
}

func (a *analysis) typeOf(e ast.Expr) types.Type { return a.info.Types[e].Type }

// observable reports a variable that data may be: of the data, or computed from
// them before the run.
func (a *analysis) observable(v *check.Var) bool {
	return v.Global && (v.Block == ast.Data || v.Block == ast.TransformedData)
}

// observe notes the variable of a variate of data.
func (a *analysis) observe(variate ast.Expr) {
	if p := a.placeOf(variate); p != nil {
		a.modelled[p.v] = true
	}
}

// reads reports whether the value of an expression depends on a variable for
// which yes holds, also by way of what was assigned to others.
func (a *analysis) reads(e ast.Node, yes func(*check.Var) bool) bool {
	seen := map[*check.Var]bool{}
	var look func(n ast.Node) bool
	look = func(n ast.Node) bool {
		found := false
		ast.Walk(n, func(n ast.Node) bool {
			if found {
				return false
			}
			if c, ok := n.(*ast.CallExpr); ok && ofSizes[c.Func.Name] {
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

// ofSizes are functions that depend on the sizes of their arguments alone.
var ofSizes = map[string]bool{"size": true, "rows": true, "cols": true, "dims": true, "num_elements": true}

func isParameter(v *check.Var) bool {
	return v.Global && v.Block == ast.Parameters
}

func (a *analysis) isModelled(v *check.Var) bool { return a.modelled[v] }

// tilde says what y ~ dist(args) is about.
func (a *analysis) tilde(s *ast.Tilde) finding {
	call := a.info.Calls[s]
	if a.reads(s.Variate, isParameter) {
		if a.directly(s.Variate, a.observable) && !a.isSimple(s.Variate) {
			return finding{prior: true, left: []string{"its left side mixes data and parameters, so that it is not a density of the data"}}
		}
		return finding{prior: true}
	}
	p := a.placeOf(s.Variate)
	if p == nil {
		return finding{left: []string{a.why(s.Variate)}}
	}
	return finding{terms: []term{{
		at: s, place: p, function: call.Name, user: call.Func != nil, variate: s.Variate, args: s.Args, trunc: s.Trunc, whole: true,
	}}}
}

// isSimple reports a variate that is, or is an element of, a variable: an index
// that data hold does not make it one of the data.
func (a *analysis) isSimple(e ast.Expr) bool {
	switch e := unparen(e).(type) {
	case *ast.VarExpr:
		return true
	case *ast.IndexExpr:
		return a.isSimple(e.X)
	}
	return false
}

// directly is reads without what was assigned to variables before.
func (a *analysis) directly(e ast.Node, yes func(*check.Var) bool) bool {
	found := false
	ast.Walk(e, func(n ast.Node) bool {
		if x, ok := n.(*ast.VarExpr); ok && a.info.Uses[x] != nil {
			found = found || yes(a.info.Uses[x])
		}
		return !found
	}, nil)
	return found
}

// why says why a variate without parameters belongs to no observation.
func (a *analysis) why(variate ast.Expr) string {
	if !a.reads(variate, a.observable) {
		return "its left side is a constant and no variable of the data"
	}
	return "its left side, `" + ast.String(variate) + "`, is not a variable of the data, a part of one, or a known function of these"
}

// target says what target += value is about.
func (a *analysis) target(s *ast.TargetPlus) finding {
	var f finding
	parts := addends(s.Value, false, nil)
	for _, p := range parts {
		a.addend(&f, s, p, len(parts) == 1)
	}
	return f
}

// part is an addend of a sum.
type part struct {
	value    ast.Expr
	negative bool
}

// addends takes sums and differences apart.
func addends(e ast.Expr, negative bool, list []part) []part {
	switch x := unparen(e).(type) {
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
	call, isCall := unparen(p.value).(*ast.CallExpr)
	if isCall && conditional(call.Func.Name) && len(call.Args) > 0 && !strings.HasSuffix(call.Func.Name, "_cdf") {
		_, isDensity := density(call.Func.Name)
		at := a.placeOf(call.Args[0])
		switch {
		case a.reads(call.Args[0], isParameter):
			f.prior = true
			return
		case at != nil && (isDensity || a.modelled[at.v]):
			f.terms = append(f.terms, term{
				at: s, place: at, function: normalised(call.Func.Name), user: a.info.Calls[call].Func != nil,
				variate: call.Args[0], args: call.Args[1:], whole: alone && isDensity && !p.negative, negative: p.negative,
			})
			return
		}
	}
	places, clear := a.placesIn(p.value, s)
	switch {
	case len(places) == 1 && clear && len(places[0].free()) == 0 && places[0].flat == "":
		f.terms = append(f.terms, term{at: s, place: places[0], value: p.value, negative: p.negative})
	case len(places) > 0:
		f.left = append(f.left, "the term is about several observations at once")
	case a.reads(p.value, a.isModelled) || a.callsOwn(p.value):
		f.left = append(f.left, "it is not told which observation the term is about")
	case a.censors(p.value):
		f.left = append(f.left, "the term has no variate among the data that are modelled")
	default:
		f.prior = true
	}
}

// censors reports the probability of data that are not variates of densities:
// of censored values, of which only the bound is known.
func (a *analysis) censors(e ast.Expr) bool {
	found := false
	ast.Walk(e, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && conditional(c.Func.Name) && len(c.Args) > 1 {
			found = found || a.reads(c.Args[0], a.observable) && !a.reads(c.Args[0], isParameter) && a.reads(c, isParameter)
		}
		return !found
	}, nil)
	return found
}

// callsOwn reports a call of a function of the model's own that is given data.
func (a *analysis) callsOwn(e ast.Expr) bool {
	found := false
	ast.Walk(e, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			own := a.info.Calls[c] != nil && a.info.Calls[c].Func != nil
			for _, x := range c.Args {
				if v, ok := x.(*ast.VarExpr); ok && a.info.Functors[v] != nil {
					own = true // reduce_sum and the like
				}
			}
			found = found || own && a.reads(c, a.observable)
		}
		return !found
	}, nil)
	return found
}

// placesIn lists the observations that occur as variates in an expression or in
// what was assigned to the variables in it. clear says that they are, where the
// statement at stands, what they were there.
func (a *analysis) placesIn(e ast.Expr, at ast.Stmt) (places []*place, clear bool) {
	clear = true
	seen := map[*check.Var]bool{}
	add := func(variate ast.Expr, from ast.Stmt) {
		p := a.placeOf(variate)
		if p == nil || !a.modelled[p.v] {
			return
		}
		// The loop variables in its indices must be those around the statement.
		for _, loop := range a.loops[from] {
			v := a.info.Defs[loop]
			if v != nil && a.directly(variate, func(u *check.Var) bool { return u == v }) && !slices.Contains(a.loops[at], loop) {
				clear = false
			}
		}
		if p.of != "" {
			clear = false
		}
		if !slices.ContainsFunc(places, p.same) {
			places = append(places, p)
		}
	}
	var look func(n ast.Node, from ast.Stmt)
	look = func(n ast.Node, from ast.Stmt) {
		ast.Walk(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if conditional(n.Func.Name) && len(n.Args) > 0 {
					add(n.Args[0], from)
				}
			case *ast.VarExpr:
				if v := a.info.Uses[n]; v != nil && !seen[v] && !a.observable(v) {
					seen[v] = true
					for _, s := range a.assigned[v] {
						look(s.value, s.at)
					}
				}
			}
			return true
		}, nil)
	}
	look(e, at)
	return places, clear
}
