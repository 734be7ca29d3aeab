package predict

import (
	"maps"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// Roles says what variables of a model are for. All names are those of variables.
type Roles struct {
	// Auxiliary are the variables that a model only computes with: Cholesky factors, and standard
	// normal parameters that a scale multiplies, as z in u = tau * z.
	Auxiliary map[string]bool

	// Correlations has the correlation matrices whose Cholesky factors are variables, by the name
	// of the factor.
	Correlations map[string]Correlation

	// Groups are the variables whose elements have a common distribution that is estimated, as
	// theta in theta ~ normal(mu, tau) and u in u = tau * z.
	Groups map[string]bool

	// Scales has, for each standard deviation of such terms, the variable whose spread it is.
	Scales map[string]string

	// Residual has, for each parameter that is the standard deviation of an outcome about its
	// location, that outcome; only if the outcome has no other distribution.
	Residual map[string]string

	// Bounded are the parameters with a lower or upper bound.
	Bounded map[string]bool

	// Symmetric are the matrices whose upper triangle says everything: correlations and
	// covariances.
	Symmetric map[string]bool

	// Simplices are the variables whose last index is that of a simplex.
	Simplices map[string]bool

	// Missing are the data whose missing values are parameters.
	Missing map[string]bool

	// Outcomes are the data that have a distribution.
	Outcomes map[string]bool

	// Levels has, for each variable with one index, the data variable that chooses its elements, as
	// arm in alpha[arm[n]]; only if it is the same everywhere.
	Levels map[string]string

	// Curves are the vectors that are values of an unknown function, such as a Gaussian process, a
	// spline or a random walk.
	Curves map[string]Curve

	// Smooth are the variables whose elements are steps or coefficients of such a function, as z in
	// f = L * z, and not levels of groups.
	Smooth map[string]bool

	// Columns says which index of a variable with two of them is no level, because the program
	// writes it as a number.
	Columns map[string]ColumnIndex
}

// ColumnIndex is the index of a variable that chooses a column of group-level terms.
type ColumnIndex int

// The indices.
const (
	NoColumn     ColumnIndex = iota // not known
	FirstColumn                     // the first index, as in z[1]
	SecondColumn                    // the second, as in eta[j, 1]
)

// Correlation is a correlation matrix of group-level terms.
type Correlation struct {
	Matrix string // the variable that is the matrix; "" if there is none
	Of     string // the variable whose columns or rows are correlated; "": not known
}

// Curve is an unknown function at the elements of a data variable.
type Curve struct {
	X     string // the data variable; "": not known
	Y     string // the outcome whose location it is, on the same scale; "": none
	Steps bool   // each element depends on the one before
	Index string // of steps: the data variable whose values choose elements, such as the week; "": none
}

// RolesOf finds the roles of the variables of a program.
func RolesOf(p *compile.Program) *Roles {
	out := &Roles{map[string]bool{}, map[string]Correlation{}, map[string]bool{}, map[string]string{}, map[string]string{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]string{}, map[string]Curve{}, map[string]bool{}, map[string]ColumnIndex{}}
	if p == nil {
		return out
	}
	tree, info := p.Syntax()
	r := &roles{out: out, info: info, tree: tree, spreads: map[string]map[string]bool{}, defs: map[*check.Var][]ast.Expr{}, outcomes: map[*check.Var]bool{}, indices: map[*check.Var]bool{}, steps: map[*check.Var]bool{}, located: map[*check.Var]string{}}
	r.collect()
	maps.DeleteFunc(out.Levels, func(_, by string) bool { return by == "" }) // several
	for y, spreads := range r.spreads {
		for v := range spreads {
			if len(spreads) > 1 || v == "" {
				continue
			}
			if _, isTwo := out.Residual[v]; isTwo {
				y = ""
			}
			out.Residual[v] = y
		}
	}
	maps.DeleteFunc(out.Residual, func(_, of string) bool { return of == "" })
	r.factors()
	r.raw()
	r.hierarchies()
	r.curves()
	return out
}

type roles struct {
	out  *Roles
	info *check.Info
	tree *ast.File

	defs     map[*check.Var][]ast.Expr  // the expressions that make a variable
	outcomes map[*check.Var]bool        // data that have a distribution
	indices  map[*check.Var]bool        // data that choose elements
	spreads  map[string]map[string]bool // of each outcome: its standard deviations; "": what is none
	steps    map[*check.Var]bool        // variables whose elements depend on others of them
	located  map[*check.Var]string      // the outcome whose location a variable is
	globals  []*check.Var
}

// collect finds what makes each variable, the outcomes and the indices.
func (r *roles) collect() {
	define := func(v *check.Var, e ast.Expr) {
		if v == nil {
			return
		}
		r.defs[v] = append(r.defs[v], e)
		r.steps[v] = r.steps[v] || v.Level == check.Param && r.uses(e, func(u *check.Var) bool { return u == v })
	}
	for _, b := range r.tree.Blocks {
		ast.Inspect(b, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.VarDecl:
				v := r.info.Defs[x]
				if v != nil && v.Missing {
					r.out.Missing[v.Name] = true
				}
				if v != nil && v.Global {
					r.globals = append(r.globals, v)
				}
				if x.Init != nil {
					define(v, x.Init)
				}
			case *ast.Assign:
				define(r.base(x.LHS), x.RHS)
			case *ast.Tilde:
				r.density(x.Dist.Name, x.Variate, x.Args)
				r.residual(x)
			case *ast.CallExpr:
				if dist, ok := density(x.Func.Name); ok && len(x.Args) > 0 {
					r.density(dist, x.Args[0], x.Args[1:])
					if b.Kind == ast.Model {
						r.spread(x.Args[0], "")
					}
				}
			case *ast.IndexExpr:
				r.choose(x)
				for _, i := range x.Indices {
					r.usesIn(i, func(v *check.Var) bool {
						r.indices[v] = r.indices[v] || v.Level == check.Data && v.Type.Rank() > 0
						return false
					})
				}
			}
			return true
		}, nil)
	}
}

// choose takes in that an element is chosen.
func (r *roles) choose(x *ast.IndexExpr) {
	v := r.base(x.X)
	r.column(v, x)
	if v == nil || !v.Global || v.Level != check.Param || v.Type.Rank() != 1 || len(x.Indices) != 1 {
		return
	}
	s, ok := x.Indices[0].(*ast.Single)
	if !ok {
		return
	}
	by := r.base(s.X)
	if by == nil || by.Block != ast.Data || by.Type.Rank() == 0 {
		return // a number or the variable of a loop
	}
	if before, ok := r.out.Levels[v.Name]; ok && before != by.Name {
		by = &check.Var{}
	}
	r.out.Levels[v.Name] = by.Name
}

// column takes in that an index of a parameter with two indices is a number.
func (r *roles) column(v *check.Var, x *ast.IndexExpr) {
	if v == nil || v.Block != ast.Parameters || v.Type.Rank() != 2 {
		return
	}
	if _, nested := ast.Unparen(x.X).(*ast.IndexExpr); nested {
		return // z[1][j]
	}
	for d, i := range x.Indices {
		if s, ok := i.(*ast.Single); ok && d < 2 {
			if _, isNumber := number(s.X); isNumber {
				r.out.Columns[v.Name] = ColumnIndex(d + 1)
			}
		}
	}
}

// density takes in that a variate has a distribution.
func (r *roles) density(dist string, variate ast.Expr, args []ast.Expr) {
	if at, ok := locations[dist]; ok && at < len(args) {
		if y, v := r.base(variate), r.base(args[at]); y != nil && v != nil && y.Block == ast.Data {
			r.located[v] = y.Name
		}
	}
	r.usesIn(variate, func(v *check.Var) bool {
		if v.Block == ast.Data {
			r.outcomes[v], r.out.Outcomes[v.Name] = true, true
		}
		if v.Block == ast.Parameters {
			self := func(u *check.Var) bool { return u == v }
			r.steps[v] = r.steps[v] || slices.ContainsFunc(args, func(a ast.Expr) bool { return r.uses(a, self) })
		}
		return false
	})
}

// residual takes in what an outcome's standard deviation is.
func (r *roles) residual(x *ast.Tilde) {
	at, ok := residuals[x.Dist.Name]
	if !ok || at >= len(x.Args) || x.Trunc != nil {
		r.spread(x.Variate, "")
		return
	}
	name := ""
	if e, ok := ast.Unparen(x.Args[at]).(*ast.VarExpr); ok {
		if v := r.info.Uses[e]; v != nil && v.Block == ast.Parameters && v.Type.Rank() == 0 {
			name = v.Name
		}
	}
	r.spread(x.Variate, name)
}

// spread takes in that a parameter is the standard deviation of a variate; "" for none: densities
// in expressions may be components of a mixture.
func (r *roles) spread(variate ast.Expr, parameter string) {
	y := r.base(variate)
	if y == nil || y.Block != ast.Data {
		return
	}
	if r.spreads[y.Name] == nil {
		r.spreads[y.Name] = map[string]bool{}
	}
	r.spreads[y.Name][parameter] = true
}

// residuals are the distributions with a standard deviation, and its place among the arguments.
var residuals = map[string]int{"normal": 1, "normal_id_glm": 3}

// locations are the distributions with a location on the scale of the outcome, and its place among
// the arguments.
var locations = map[string]int{"normal": 0, "student_t": 1, "cauchy": 0, "double_exponential": 0, "logistic": 0, "skew_normal": 0}

// base returns the variable that an expression is, or an element of which it is; nil if it is none.
func (r *roles) base(e ast.Expr) *check.Var {
	e = ast.Unparen(e)
	if x, ok := e.(*ast.IndexExpr); ok {
		return r.base(x.X)
	}
	if x, ok := e.(*ast.VarExpr); ok {
		return r.info.Uses[x]
	}
	return nil
}

func (r *roles) uses(e ast.Expr, is func(*check.Var) bool) bool { return r.usesIn(e, is) }

// usesIn reports whether a node refers to a variable of a kind.
func (r *roles) usesIn(n ast.Node, is func(*check.Var) bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if x, ok := n.(*ast.VarExpr); ok && r.info.Uses[x] != nil {
			found = found || is(r.info.Uses[x])
		}
		return !found
	}, nil)
	return found
}

// reach calls visit with each variable from which a variable is computed, also indirectly.
func (r *roles) reach(v *check.Var, seen map[*check.Var]bool, visit func(*check.Var)) {
	for _, e := range r.defs[v] {
		r.uses(e, func(u *check.Var) bool {
			if !seen[u] {
				seen[u] = true
				visit(u)
				r.reach(u, seen, visit)
			}
			return false
		})
	}
}

// factors finds the Cholesky factors, and the correlation matrices that are computed from them.
func (r *roles) factors() {
	for _, v := range r.globals {
		if v.Block == ast.Parameters && v.Constraint == types.LowerUpper {
			r.out.Bounded[v.Name] = true
		}
		if v.Constraint == types.Simplex {
			r.out.Simplices[v.Name] = true
		}
		if v.Constraint == types.CorrMatrix || v.Constraint == types.CovMatrix {
			r.out.Symmetric[v.Name] = true
		}
		if v.Block != ast.Data && v.Block != ast.TransformedData && (v.Constraint == types.CholeskyFactorCorr || v.Constraint == types.CholeskyFactorCov) {
			r.out.Auxiliary[v.Name] = true
			if v.Constraint == types.CholeskyFactorCorr {
				r.out.Correlations[v.Name] = Correlation{}
			}
		}
	}
	for _, v := range r.globals {
		for _, e := range r.defs[v] {
			if f := r.squared(e); f != nil {
				if c, ok := r.out.Correlations[f.Name]; ok {
					c.Matrix = v.Name
					r.out.Symmetric[v.Name] = true
					r.out.Correlations[f.Name] = c
				}
			}
		}
	}
}

// squared returns L if an expression is L * L'; nil if it is something else.
func (r *roles) squared(e ast.Expr) *check.Var {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		if (x.Func.Name == "multiply_lower_tri_self_transpose" || x.Func.Name == "tcrossprod") && len(x.Args) == 1 {
			return r.base(x.Args[0])
		}
	case *ast.Binary:
		if y, ok := ast.Unparen(x.Y).(*ast.Unary); ok && y.Op == "'" && x.Op == "*" && r.base(x.X) != nil && r.base(x.X) == r.base(y.X) {
			return r.base(x.X)
		}
	}
	return nil
}

// positive reports whether a variable is at least 0, as standard deviations are.
func (r *roles) positive(v *check.Var) bool {
	switch v.Constraint {
	case types.LowerUpper:
		d, ok := v.Decl.(*ast.VarDecl)
		return ok && slices.ContainsFunc(d.Type.Bounds, func(b ast.Bound) bool {
			x, isNumber := number(b.Value)
			return b.Kind == "lower" && isNumber && x >= 0
		})
	case types.PositiveOrdered, types.Simplex, types.CholeskyFactorCorr, types.CholeskyFactorCov:
		return true
	}
	return false
}

// scale reports whether an expression is a scale: made only of parameters that are at least 0 and
// of functions that are, without elements that data choose.
func (r *roles) scale(e ast.Expr) bool {
	return r.info.Types[e].Level == check.Param && r.scaleOr(e, map[*check.Var]bool{})
}

// scaleOr is scale for expressions that may also be data.
func (r *roles) scaleOr(e ast.Expr, seen map[*check.Var]bool) bool {
	if r.info.Types[e].Level == check.Data {
		return true
	}
	all := func(list ...ast.Expr) bool {
		return !slices.ContainsFunc(list, func(e ast.Expr) bool { return !r.scaleOr(e, seen) })
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.VarExpr:
		v := r.info.Uses[x]
		switch {
		case v == nil || seen[v]:
			return false
		case r.positive(v):
			return true
		}
		seen[v] = true
		defs := r.defs[v]
		return v.Block != ast.Parameters && len(defs) > 0 && all(defs...)
	case *ast.IndexExpr:
		return !slices.ContainsFunc(x.Indices, r.chosenByData) && all(x.X)
	case *ast.CallExpr:
		return slices.Contains(positiveFunctions, x.Func.Name) || all(x.Args...)
	case *ast.Binary:
		return all(x.X, x.Y)
	case *ast.Unary:
		return x.Op == "'" && all(x.X)
	}
	return false
}

// positiveFunctions are functions whose values are scales whatever their arguments are.
var positiveFunctions = []string{"exp", "sqrt", "inv_sqrt", "square", "abs", "fabs", "cholesky_decompose"}

// chosenByData reports whether elements of data are in an index.
func (r *roles) chosenByData(i ast.Index) bool {
	return r.usesIn(i, func(v *check.Var) bool { return v.Block <= ast.TransformedData && v.Type.Rank() > 0 })
}

// raw finds the standard normal parameters that only serve to make others: without bounds, and a
// factor of a product with a scale wherever they are used. A term that a scale multiplies whose
// element the data choose, as a[item] .* theta[person], is no such parameter.
func (r *roles) raw() {
	standard, result := map[*check.Var]bool{}, map[*check.Var]bool{}
	made := map[*check.Var][]ast.Expr{} // the scales
	var path []ast.Node
	for _, b := range r.tree.Blocks {
		if b.Kind == ast.Functions {
			continue
		}
		path = path[:0]
		ast.Inspect(b, func(n ast.Node) bool {
			if x, ok := n.(*ast.VarExpr); ok {
				if v := r.info.Uses[x]; v != nil && v.Block == ast.Parameters && v.Type.Rank() > 0 && v.Constraint == types.Unconstrained {
					switch isPrior, isStandard := standardPrior(path); {
					case isPrior:
						standard[v] = isStandard
						result[v] = result[v] || !isStandard
					default:
						by := r.scaledBy(path, x)
						result[v] = result[v] || by == nil
						made[v] = append(made[v], by)
					}
				}
			}
			path = append(path, n)
			return true
		}, func(ast.Node) { path = path[:len(path)-1] })
	}
	for v := range standard {
		if result[v] || len(made[v]) == 0 {
			continue
		}
		r.out.Auxiliary[v.Name] = true
		group := v.Name
		for _, u := range r.globals {
			if (u.Block == ast.TransformedParameters || u.Block == ast.GeneratedQuantities) && u.Type.Rank() > 0 && slices.ContainsFunc(r.defs[u], func(e ast.Expr) bool {
				return r.uses(e, func(w *check.Var) bool { return w == v })
			}) {
				group = u.Name
				break
			}
		}
		r.out.Groups[group] = true
		for _, e := range made[v] {
			r.scalesOf(e, group)
		}
	}
}

// scalesOf records the standard deviations in an expression as those of a group.
func (r *roles) scalesOf(e ast.Node, group string) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.CallExpr:
			return x.Func.Name != "cholesky_decompose" // of a covariance, as of a Gaussian process
		case *ast.VarExpr:
			v := r.info.Uses[x]
			if v == nil {
				return true
			}
			c, correlated := r.out.Correlations[v.Name]
			switch {
			case correlated:
				c.Of = group
				r.out.Correlations[v.Name] = c
			case v.Block == ast.Parameters && v.Constraint == types.LowerUpper:
				r.out.Scales[v.Name] = group
			case v.Global && v.Block == ast.TransformedParameters && v.Name != group:
				for _, d := range r.defs[v] {
					r.scalesOf(d, group)
				}
			}
		}
		return true
	}, nil)
}

// standardPrior reports whether the node below a path is in the variate of a prior, and whether
// that is the standard normal distribution.
func standardPrior(path []ast.Node) (isPrior, isStandard bool) {
	for i, n := range slices.Backward(path) {
		var variate ast.Node
		var args []ast.Expr
		dist, whole := "", true
		switch x := n.(type) {
		case *ast.Tilde:
			variate, dist, args, whole = x.Variate, x.Dist.Name, x.Args, x.Trunc == nil
		case *ast.CallExpr:
			d, ok := density(x.Func.Name)
			if !ok || len(x.Args) == 0 {
				continue
			}
			variate, dist, args = x.Args[0], d, x.Args[1:]
		default:
			continue
		}
		if i+1 < len(path) && path[i+1] != variate {
			return false, false
		}
		return true, whole && isStandardNormal(dist, args)
	}
	return false, false
}

// isStandardNormal reports whether a distribution is the standard normal one.
func isStandardNormal[E ast.Node](dist string, args []E) bool {
	return dist == "std_normal" || dist == "normal" && len(args) == 2 && isNumber(args[0], 0) && isNumber(args[1], 1)
}

// scaledBy returns the scale that multiplies an expression at the end of a path; nil if none does.
func (r *roles) scaledBy(path []ast.Node, e ast.Node) ast.Expr {
	for _, n := range slices.Backward(path) {
		switch x := n.(type) {
		case *ast.Binary:
			if x.Op == "*" || x.Op == ".*" {
				other := x.X
				if other == e {
					other = x.Y
				}
				switch {
				case r.scale(other):
					return other
				case r.info.Types[other].Level == check.Param:
					return nil
				}
			} else if x.Op != "/" && x.Op != "./" {
				return nil
			}
		case *ast.IndexExpr:
			if x.X != e {
				return nil
			}
		case *ast.CallExpr:
			if call := r.info.Calls[x]; call != nil && call.Func != nil { // such as brms's scale_r_cor(z, sd, L)
				for _, a := range x.Args {
					if ast.Node(a) != e && r.scale(a) {
						return a
					}
				}
				return nil
			}
			if strings.HasPrefix(x.Func.Name, "cumulative") {
				return nil
			}
		case *ast.Tilde:
			return nil
		case ast.Expr: // brackets, a transpose
		default:
			return nil
		}
		e = n
	}
	return nil
}
