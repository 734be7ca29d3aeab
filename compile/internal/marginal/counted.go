package marginal

import (
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// reader finds the counts that the code of a pattern reads.
type reader struct {
	p     *program
	pat   *pattern
	local map[*check.Var][]int // the counts that local variables depend on
}

// reader returns one that knows the local variables of a pattern.
func (p *program) reader(pat *pattern) *reader {
	r := &reader{p: p, pat: pat, local: map[*check.Var][]int{}}
	for range 3 { // what a loop sets may be read in the next iteration
		for _, st := range pat.leaf.code {
			ast.Inspect(st, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.VarDecl:
					r.local[p.def(n)] = r.counts(n.Init)
				case *ast.Assign:
					if v, ok := root(n.LHS); ok && p.observation(n) == nil {
						u := p.info.Uses[v]
						r.local[u] = append(r.local[u], append(r.counts(n.RHS), r.counts(n.LHS)...)...)
					}
				}
				return true
			}, nil)
		}
	}
	return r
}

// counts returns the counts that a node reads, as positions in instance.elements.
func (l *reader) counts(n ast.Node) (out []int) {
	if n == nil {
		return nil
	}
	elements := l.pat.instances[0].elements
	ast.Inspect(n, func(n ast.Node) bool {
		if k := slices.IndexFunc(l.pat.leaf.occs, func(o *occ) bool { return ast.Node(o.node) == n }); k >= 0 {
			for _, a := range l.pat.reads[k].axes {
				if a >= 0 && l.p.open(elements[a]) {
					out = append(out, a)
				}
			}
		} else if v, ok := n.(*ast.VarExpr); ok {
			out = append(out, l.local[l.p.info.Uses[v]]...)
		}
		return true
	}, nil)
	slices.Sort(out)
	return slices.Compact(out)
}

// countsOf returns the counts among elements, in order.
func (p *program) countsOf(elements []int) (out []int) {
	for _, e := range elements {
		if p.open(e) {
			out = append(out, e)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// plain returns the distribution of a pattern that is one statement, and its arguments.
func (p *program) plain(pat *pattern) (name string, args []ast.Expr) {
	switch st := pat.leaf.stmt().(type) {
	case *ast.Tilde:
		if c := p.info.Calls[st]; len(pat.leaf.code) == 1 && c != nil && c.Func == nil && st.Trunc == nil {
			name, args = c.Name, append([]ast.Expr{st.Variate}, st.Args...)
		}
	case *ast.TargetPlus:
		name, args = p.called(pat, st.Value)
	case *ast.Assign:
		if p.observation(st) != nil {
			name, args = p.called(pat, st.RHS)
		}
	}
	for _, suffix := range []string{"_lpmf", "_lupmf", "_lpdf", "_lupdf"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name, args
}

// called returns the function and the arguments of a pattern that is one call.
func (p *program) called(pat *pattern, value ast.Expr) (name string, args []ast.Expr) {
	if e, ok := ast.Unparen(value).(*ast.CallExpr); ok && len(pat.leaf.code) == 1 {
		if c := p.info.Calls[e]; c != nil && c.Func == nil {
			return c.Name, e.Args
		}
	}
	return "", nil
}

// ceil returns the next integer from a known number, which is at most that of the largest table.
func (t *tracer) ceil(e ast.Expr) (int64, bool, error) {
	x, ok := t.known(e)
	if !ok {
		return 0, false, nil
	}
	n, err := t.eval.Value(x)
	switch {
	case err != nil:
		return 0, false, t.failed(err)
	case len(n.Shape) > 0:
		return 0, false, nil
	case n.Ints != nil:
		return n.Ints[0], true, nil
	}
	return int64(math.Ceil(min(max(n.Reals[0], 0), maxTable))), !math.IsNaN(n.Reals[0]), nil
}

// declared returns the bounds of a number by literals in the declaration of a data or parameter
// variable, which are infinite if there are none.
func declared(info *check.Info, e ast.Expr) (lower, upper float64) {
	lower, upper = math.Inf(-1), math.Inf(1)
	x := ast.Unparen(e)
	if i, ok := x.(*ast.IndexExpr); ok {
		x = ast.Unparen(i.X)
	}
	v, ok := x.(*ast.VarExpr)
	if !ok {
		return lower, upper
	}
	u := info.Uses[v]
	if u == nil || !u.Global || u.Block == ast.Model {
		return lower, upper
	}
	d, ok := u.Decl.(*ast.VarDecl)
	if !ok {
		return lower, upper
	}
	for _, b := range d.Type.Bounds {
		if c, ok := number(b.Value); ok && b.Kind == "lower" {
			lower = c
		} else if ok && b.Kind == "upper" {
			upper = c
		}
	}
	return lower, upper
}

// number returns the value of a literal.
func number(e ast.Expr) (float64, bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.IntLit:
		return float64(e.Value), true
	case *ast.RealLit:
		return e.Value, true
	}
	return 0, false
}
