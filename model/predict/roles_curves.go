package predict

import (
	"maps"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// hierarchies finds parameters whose common distribution is estimated, and its standard deviations.
func (r *roles) hierarchies() {
	param := func(u *check.Var) bool { return u.Level == check.Param }
	for _, b := range r.tree.Blocks {
		ast.Inspect(b, func(n ast.Node) bool {
			var variate ast.Expr
			var args []ast.Expr
			var dist string
			switch x := n.(type) {
			case *ast.Tilde:
				dist, variate, args = x.Dist.Name, x.Variate, x.Args
			case *ast.CallExpr:
				if d, ok := density(x.Func.Name); ok && len(x.Args) > 0 {
					dist, variate, args = d, x.Args[0], x.Args[1:]
				}
			case *ast.VarDecl:
				v := r.info.Defs[x]
				if v == nil || v.Block != ast.Parameters || !v.Global || v.Type.Rank() == 0 {
					return true
				}
				for _, bound := range x.Type.Bounds {
					if bound.Kind == "multiplier" && r.uses(bound.Value, param) {
						r.out.Groups[v.Name] = true
						r.scalesOf(bound.Value, v.Name)
					}
				}
				return true
			}
			v := (*check.Var)(nil)
			if variate != nil {
				v = r.base(variate)
				if call, ok := ast.Unparen(variate).(*ast.CallExpr); ok && v == nil && len(call.Args) > 0 { // to_vector(u)
					v = r.base(call.Args[0])
				}
			}
			if v == nil || v.Block != ast.Parameters || v.Type.Rank() == 0 || r.steps[v] {
				return true
			}
			spread, known := spreads[dist]
			for i, a := range args {
				if !r.scale(a) {
					continue
				}
				r.out.Groups[v.Name] = true
				if known && i == spread {
					r.scalesOf(a, v.Name)
				}
			}
			return true
		}, nil)
	}
}

// spreads has the place of the standard deviation, or of a scale or covariance instead of it, among
// the arguments of distributions. Other arguments that are positive, as the mean of a Poisson
// distribution, say something else.
var spreads = map[string]int{"normal": 1, "student_t": 2, "cauchy": 1, "double_exponential": 1, "logistic": 1, "skew_normal": 1, "lognormal": 1,
	"multi_normal": 1, "multi_normal_cholesky": 1, "multi_student_t": 2, "multi_student_t_cholesky": 2, "matrix_normal": 1}

// curves finds vectors that are values of an unknown function. They are computed from group-level
// or standard normal terms, or each element from the one before, and from at most one column of
// data.
func (r *roles) curves() {
	for _, v := range r.globals {
		if v.Block < ast.Parameters || v.Block == ast.Model || v.Type.Rank() != 1 || v.Type.Scalar() == types.Int || r.out.Auxiliary[v.Name] || strings.HasPrefix(v.Name, "log_lik") {
			continue
		}
		var columns []string
		flexible, wrong := r.steps[v], r.random(v)
		basis := false
		r.reach(v, map[*check.Var]bool{v: true}, func(u *check.Var) {
			wrong = wrong || r.random(u) || r.outcomes[u] || r.indices[u]
			// A scale of a random walk is no scale of groups.
			if u.Block == ast.Parameters && u.Type.Rank() > 0 && (r.out.Auxiliary[u.Name] || r.out.Groups[u.Name] || r.steps[u]) {
				flexible = true
			}
			if u.Block == ast.Data {
				switch u.Type.Rank() {
				case 0:
				case 1:
					columns = append(columns, u.Name)
				case 2:
					basis = true
				default:
					wrong = true
				}
			}
			r.steps[v] = r.steps[v] || v.Block != ast.Parameters && r.steps[u]
		})
		c := Curve{Steps: r.steps[v], Y: r.located[v]}
		switch {
		case wrong || !flexible:
			continue
		case c.Steps || r.cumulative(v):
			c.Steps = true // covariates are no axis
			c.Index = r.chooser(v)
		case len(columns) == 1 && !basis:
			c.X = columns[0]
		case len(columns) > 0 || !basis:
			continue
		}
		r.out.Curves[v.Name] = c
	}
	for v, steps := range r.steps {
		if steps {
			r.out.Smooth[v.Name] = true
		}
	}
	for _, v := range r.globals {
		if _, is := r.out.Curves[v.Name]; is {
			r.out.Smooth[v.Name] = true
			for _, e := range r.defs[v] {
				r.coefficients(e)
			}
		}
	}
	for name := range r.out.Curves {
		delete(r.out.Groups, name)
		for scale, of := range r.out.Scales {
			if of == name {
				delete(r.out.Scales, scale)
			}
		}
	}
}

// coefficients takes in that an expression makes a curve: the parameters in it that are used as a
// whole are its coefficients. Those of which an element is chosen are levels of groups.
func (r *roles) coefficients(e ast.Expr) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.IndexExpr:
			return false
		case *ast.VarExpr:
			if v := r.info.Uses[x]; v != nil && v.Block == ast.Parameters && v.Type.Rank() > 0 {
				r.out.Smooth[v.Name] = true
			}
		}
		return true
	}, nil)
}

// chooser returns the data variable that chooses elements of a variable or, if there is none, of
// the one series of steps from which it is computed.
func (r *roles) chooser(v *check.Var) string {
	if by := r.out.Levels[v.Name]; by != "" {
		return by
	}
	by := map[string]bool{}
	r.reach(v, map[*check.Var]bool{v: true}, func(u *check.Var) {
		if r.steps[u] && u.Type.Rank() == 1 {
			by[r.out.Levels[u.Name]] = true
		}
	})
	if len(by) != 1 {
		return ""
	}
	return slices.Collect(maps.Keys(by))[0]
}

// random reports whether a variable is drawn.
func (r *roles) random(v *check.Var) bool {
	return r.calls(v, func(name string) bool { return strings.HasSuffix(name, "_rng") })
}

// cumulative reports whether a variable is a running sum.
func (r *roles) cumulative(v *check.Var) bool {
	return r.calls(v, func(name string) bool { return name == "cumulative_sum" })
}

func (r *roles) calls(v *check.Var, is func(name string) bool) bool {
	found := false
	for _, e := range r.defs[v] {
		ast.Inspect(e, func(n ast.Node) bool {
			x, ok := n.(*ast.CallExpr)
			found = found || ok && is(x.Func.Name)
			return !found
		}, nil)
	}
	return found
}
