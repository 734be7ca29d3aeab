package marginal

import (
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// editor copies the code of a leaf with other expressions for its loop variables and for what it
// reads of discrete parameters.
type editor struct {
	w     *writer
	p     *program
	leaf  *leaf
	reads []read
	loops map[*check.Var]ast.Expr

	instances []instance
	axes      []ast.Expr // values of the elements of the pattern
	shifts    []ast.Expr
	values    []ast.Expr // of cells that data have
	sum       string     // the variable that target += adds to

	pattern *pattern                            // with number, for calls that are shared
	number  func(f func(factor) int64) ast.Expr // an expression for a number of each factor

	renamed map[*check.Var]string
	decided map[ast.Node]bool // results of comparisons
}

func (e *editor) expr(x ast.Expr) ast.Expr { return e.node(x).(ast.Expr) }

func (e *editor) exprs(xs []ast.Expr) []ast.Expr {
	var out []ast.Expr
	for _, x := range xs {
		out = append(out, e.expr(x))
	}
	return out
}

// scalar returns a value for target +=, the sum of a container.
func (e *editor) scalar(x ast.Expr) ast.Expr {
	if e.p.info.Types[x].Type.IsScalar() {
		return e.expr(x)
	}
	return e.w.call("sum", e.expr(x))
}

func (e *editor) node(n ast.Node) ast.Node {
	b := builder{n.Span()}
	if e.w.sharing != nil {
		if x := e.w.sharing.read(e, n); x != nil {
			return x
		}
	}
	switch n := n.(type) {
	case *ast.VarExpr, *ast.IndexExpr:
		if k := slices.IndexFunc(e.leaf.occs, func(o *occ) bool { return ast.Node(o.node) == n }); k >= 0 {
			if e.reads[k].given {
				break
			}
			return e.occurrence(e.leaf.occs[k], &e.reads[k])
		}
		if v, ok := n.(*ast.VarExpr); ok {
			u := e.p.info.Uses[v]
			if to, ok := e.loops[u]; ok {
				return clone(to, nil)
			}
			if name, ok := e.renamed[u]; ok {
				return b.name(name)
			}
		}
		if x, ok := n.(*ast.IndexExpr); ok {
			return e.slices(b, x, shallow(ast.Map(n, e.node)).(*ast.IndexExpr))
		}
	case *ast.VarDecl:
		if name, ok := e.renamed[e.p.info.Defs[n]]; ok {
			c := *ast.Map(n, e.node).(*ast.VarDecl)
			c.Name = b.ident(name)
			return &c
		}
	case *ast.TypeExpr:
		return unconstrained(ast.Map(n, e.node).(*ast.TypeExpr))
	case *ast.Tilde:
		if n.Trunc != nil {
			return e.truncated(n)
		}
		return b.assign(b.name(e.sum), "+=", e.tilde(n))
	case *ast.TargetPlus:
		return b.assign(b.name(e.sum), "+=", e.scalar(n.Value))
	case *ast.Assign:
		if e.p.observation(n) != nil {
			return b.assign(b.name(e.sum), n.Op, e.expr(n.RHS))
		}
	case *ast.CallExpr:
		if c := e.p.info.Calls[n]; c != nil && c.Func == nil && (strings.HasSuffix(n.Func.Name, "_lpmf") || strings.HasSuffix(n.Func.Name, "_lupmf")) {
			return e.mass(b, c.Name, n.Args)
		}
		if stem, ok := strings.CutSuffix(n.Func.Name, "_lupdf"); ok {
			return b.density(stem+"_lpdf", e.expr(n.Args[0]), e.exprs(n.Args[1:])...)
		} else if stem, ok := strings.CutSuffix(n.Func.Name, "_lupmf"); ok {
			return b.density(stem+"_lpmf", e.expr(n.Args[0]), e.exprs(n.Args[1:])...)
		}
	case *ast.If:
		c, ok := literal(e.expr(n.Cond))
		switch {
		case e.decided == nil || !ok:
		case c != 0:
			return e.node(n.Then)
		case n.Else != nil:
			return e.node(n.Else)
		default:
			return b.block()
		}
	case *ast.Cond:
		if e.decided == nil {
			break
		}
		c := e.expr(n.Cond)
		switch v, ok := literal(c); {
		case ok && v != 0:
			return b.grouped(e.expr(n.Then))
		case ok:
			return b.grouped(e.expr(n.Else))
		}
	case *ast.Binary:
		if v, ok := e.decided[n]; ok {
			if v {
				return b.int(1)
			}
			return b.int(0)
		}
		if n.Op == "&&" || n.Op == "||" {
			if x := e.either(b, n); x != nil {
				return x
			}
		}
		// 0 · x is 0, even where the derivative by x is infinite: an individual that is dead is not
		// seen, whatever the probability to see it.
		if n.Op == "*" {
			if x, y, ok := e.p.multiple(n); ok && !e.given(x) {
				switch v, known := literal(e.expr(x)); {
				case known && v == 0:
					return b.int(0)
				case known && v == 1:
					return b.grouped(e.expr(y))
				}
				return &ast.Paren{Base: b.base(), X: &ast.Cond{Base: b.base(), Cond: b.op("==", e.expr(x), b.int(0)), Then: b.int(0), Else: b.op("*", e.expr(n.X), e.expr(n.Y))}}
			}
		}
	}
	return shallow(ast.Map(n, e.node))
}

// slices returns an edited expression x of n whose ranges have no elements where they end before
// they begin, wherever that is. Vectors and matrices require that ranges begin at an element.
func (e *editor) slices(b builder, n, x *ast.IndexExpr) *ast.IndexExpr {
	dims := e.p.info.Types[n.X].Type.Dims
	for i, ix := range n.Indices {
		r, ok := ix.(*ast.Range)
		if !ok || i < dims || r.From == nil || r.To == nil || !e.p.involved(r) {
			continue
		}
		now := x.Indices[i].(*ast.Range)
		end := func(one, other ast.Expr) ast.Expr {
			return &ast.Paren{Base: b.base(), X: &ast.Cond{Base: b.base(), Cond: b.op("<", b.grouped(clone(now.To, nil)), b.grouped(clone(now.From, nil))), Then: one, Else: clone(other, nil)}}
		}
		c := *now
		c.From, c.To = end(b.int(1), now.From), end(b.int(0), now.To)
		x.Indices = slices.Clone(x.Indices)
		x.Indices[i] = &c
	}
	return x
}

// either returns a conjunction or disjunction of which comparisons are decided; nil if none is.
func (e *editor) either(b builder, n *ast.Binary) ast.Expr {
	if e.decided == nil {
		return nil
	}
	x, y := e.expr(n.X), e.expr(n.Y)
	v, ok := literal(x)
	u, also := literal(y)
	or := n.Op == "||"
	switch {
	case ok && (v != 0) == or || also && (u != 0) == or:
		if or {
			return b.int(1)
		}
		return b.int(0)
	case ok && also:
		if or {
			return b.int(0)
		}
		return b.int(1)
	case ok:
		return b.truth(y)
	case also:
		return b.truth(x)
	}
	return nil
}

// literal returns the value of an integer literal.
func literal(x ast.Expr) (int64, bool) {
	switch x := ast.Unparen(x).(type) {
	case *ast.IntLit:
		return x.Value, true
	case *ast.Unary:
		n, ok := literal(x.X)
		return -n, ok && x.Op == "-"
	}
	return 0, false
}

// unconstrained returns the type of a local variable for a declaration with a constraint.
func unconstrained(t *ast.TypeExpr) *ast.TypeExpr {
	c := *t
	c.Bounds = nil
	if _, plain, ok := types.ConstrainedType(t.Elem); ok {
		if c.Elem = plain.Kind.String(); plain.Kind == types.Matrix && len(t.Sizes) == 1 {
			c.Sizes = []ast.Expr{t.Sizes[0], clone(t.Sizes[0], nil)}
		}
	}
	return &c
}

// tilde returns the log density of a distribution statement, with all its terms.
func (e *editor) tilde(s *ast.Tilde) ast.Expr {
	b := builder{s.Span()}
	args := append([]ast.Expr{s.Variate}, s.Args...)
	c := e.p.info.Calls[s]
	return e.mass(b, c.Name, args)
}

// mass returns a log density or log mass.
func (e *editor) mass(b builder, name string, args []ast.Expr) ast.Expr {
	out := b.density(name, e.expr(args[0]), e.exprs(args[1:])...)
	scalar := func(k int) bool { return e.p.info.Types[args[k]].Type.IsScalar() }
	// The vector is a simplex by its declaration: there is nothing to check.
	if name == "categorical_lpmf" && scalar(0) && e.simplex(args[1]) {
		return b.call("log", b.at(e.expr(args[1]), e.expr(args[0])))
	}
	// Values outside the support have probability 0. As data they would be an error.
	var outside []ast.Expr
	if sup, ok := supports[name]; ok && scalar(0) && e.p.involved(args[0]) && !e.given(args[0]) {
		lo, hi := e.range1(args[0])
		if lo < sup.lower {
			outside = append(outside, b.op("<", e.expr(args[0]), b.int(sup.lower)))
		}
		if sup.upper != none && hi > sup.upper {
			outside = append(outside, b.op(">", e.expr(args[0]), b.int(sup.upper)))
		}
	}
	if trials[name] && (e.p.involved(args[0]) && !e.given(args[0]) || e.p.involved(args[1]) && !e.given(args[1])) {
		outside = append(outside, b.op(">", e.most(args[0], "max"), e.most(args[1], "min")))
	}
	some := func(args ...ast.Expr) bool {
		return slices.ContainsFunc(args, func(a ast.Expr) bool { return e.p.involved(a) && !e.given(a) })
	}
	switch {
	case name == "discrete_range_lpmf" && some(args[1], args[2]):
		outside = append(outside, b.op(">", e.most(args[1], "max"), e.most(args[2], "min")))
	case name == "hypergeometric_lpmf" && some(args...):
		failures := b.op("-", b.grouped(e.expr(args[1])), b.grouped(e.expr(args[0])))
		outside = append(outside, b.op("<", e.expr(args[0]), b.int(0)), b.op(">", e.expr(args[0]), e.expr(args[1])),
			b.op(">", e.expr(args[0]), e.expr(args[2])), b.op(">", failures, e.expr(args[3])))
	}
	if name == "multinomial_lpmf" && some(args[0]) {
		outside = append(outside, b.op("<", e.w.call("min", e.expr(args[0])), b.int(0)))
	}
	if name == "poisson_lpmf" || name == "neg_binomial_2_lpmf" {
		if d := e.difference(args[1]); d != nil {
			outside = append(outside, b.op("<", b.grouped(e.expr(d)), b.int(0)))
		}
	}
	if k, ok := chances[name]; ok && e.mayFall(args[k], nil) {
		outside = append(outside, b.op("<", b.grouped(e.expr(args[k])), b.int(0)), b.op(">", b.grouped(e.expr(args[k])), b.int(1)))
	}
	if len(outside) == 0 {
		return out
	}
	cond := outside[0]
	for _, o := range outside[1:] {
		cond = b.op("||", cond, o)
	}
	return &ast.Paren{Base: b.base(), X: &ast.Cond{Base: b.base(), Cond: cond, Then: b.call("negative_infinity"), Else: out}}
}

// difference returns the difference of integers that is a factor of a mean, as in (N - y) * r; nil:
// there is none. Where it is negative, so is the mean.
func (e *editor) difference(x ast.Expr) ast.Expr {
	d, ok := ast.Unparen(x).(*ast.Binary)
	if !ok || !e.p.involved(d) {
		return nil
	}
	switch d.Op {
	case "-":
		if e.p.info.Types[d].Type.Equal(types.IntType) && !e.given(d) {
			return d
		}
	case "*":
		if f := e.difference(d.X); f != nil {
			return f
		}
		return e.difference(d.Y)
	case "/":
		return e.difference(d.X)
	}
	return nil
}

// chances has the position of the probability of distributions.
var chances = map[string]int{"bernoulli_lpmf": 1, "binomial_lpmf": 2}

// mayFall reports whether a number depends on an integer that may be negative as it is a difference
// with discrete parameters: 1 - q^I where I is S[t - 1] - S[t]. seen are the variables around.
func (e *editor) mayFall(x ast.Node, seen []*check.Var) (may bool) {
	if !e.p.involved(x) {
		return false
	}
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Binary:
			if n.Op == "-" && e.p.info.Types[n].Type.Equal(types.IntType) && e.p.involved(n) && !e.given(n) {
				x, known := number(n.X)
				_, hi := e.range1(n.Y)
				may = may || !known || x < float64(hi)
			}
		case *ast.VarExpr:
			v := e.p.info.Uses[n]
			if v == nil || v.Type.Kind != types.Int || !e.p.taint[v] || slices.Contains(seen, v) {
				return true
			}
			for _, st := range e.leaf.code {
				ast.Inspect(st, func(m ast.Node) bool {
					switch m := m.(type) {
					case *ast.VarDecl:
						may = may || e.p.def(m) == v && m.Init != nil && e.mayFall(m.Init, append(seen, v))
					case *ast.Assign:
						if r, ok := root(m.LHS); ok && e.p.info.Uses[r] == v {
							may = may || m.Op == "-=" || e.mayFall(m.RHS, append(seen, v))
						}
					}
					return !may
				}, nil)
			}
		}
		return !may
	}, nil)
	return may
}

// most returns the greatest or least element of an expression; a number is its own.
func (e *editor) most(x ast.Expr, f string) ast.Expr {
	if e.p.info.Types[x].Type.IsScalar() {
		return e.expr(x)
	}
	return e.w.call(f, e.expr(x))
}

// support has the limits of the values of a distribution of integers.
type support struct{ lower, upper int64 }

const none = -1

var supports = map[string]support{
	"bernoulli_lpmf": {0, 1}, "bernoulli_logit_lpmf": {0, 1},
	"poisson_lpmf": {0, none}, "poisson_log_lpmf": {0, none}, "poisson_binomial_lpmf": {0, none},
	"neg_binomial_lpmf": {0, none}, "neg_binomial_2_lpmf": {0, none}, "neg_binomial_2_log_lpmf": {0, none}, "beta_neg_binomial_lpmf": {0, none},
	"binomial_lpmf": {0, none}, "binomial_logit_lpmf": {0, none}, "beta_binomial_lpmf": {0, none},
	"yule_simon_lpmf": {1, none},
}

// trials are the distributions whose values are at most the number that follows.
var trials = map[string]bool{"binomial_lpmf": true, "binomial_logit_lpmf": true, "beta_binomial_lpmf": true}

// given reports whether data have all that an expression reads of discrete parameters.
func (e *editor) given(x ast.Expr) bool {
	some, all := false, true
	ast.Inspect(x, func(n ast.Node) bool {
		if k := slices.IndexFunc(e.leaf.occs, func(o *occ) bool { return ast.Node(o.node) == n }); k >= 0 {
			some, all = true, all && e.reads[k].given
		} else if v, ok := n.(*ast.VarExpr); ok && e.p.taint[e.p.info.Uses[v]] && e.p.unknownOf(v) == nil {
			all = false
		}
		return all
	}, nil)
	return some && all
}

// given reports whether data have all that a pattern reads of discrete parameters.
func (pat *pattern) given() bool {
	return len(pat.reads) > 0 && !slices.ContainsFunc(pat.reads, func(r read) bool { return !r.given })
}

// range1 returns limits of the values of an integer, as far as the bounds of discrete parameters
// show.
func (e *editor) range1(x ast.Expr) (lo, hi int64) {
	lo, hi = math.MinInt64, math.MaxInt64
	k := slices.IndexFunc(e.leaf.occs, func(o *occ) bool { return o.node == ast.Unparen(x) })
	if k < 0 || e.reads[k].absent || len(e.reads[k].axes) != 1 || len(e.instances) == 0 {
		return lo, hi
	}
	lo, hi = hi, lo
	for _, in := range e.instances {
		if a := e.reads[k].axes[0]; a < 0 {
			lo, hi = min(lo, in.values[^a]), max(hi, in.values[^a])
			continue
		}
		el := e.p.elements[in.elements[e.reads[k].axes[0]]]
		lo, hi = min(lo, el.lo), max(hi, el.hi)
	}
	return lo, hi
}

// simplex reports whether an expression is a parameter declared as a simplex, or an element of an
// array of them.
func (e *editor) simplex(x ast.Expr) bool {
	x = ast.Unparen(x)
	n := 0
	if i, ok := x.(*ast.IndexExpr); ok {
		for _, ix := range i.Indices {
			s, ok := ix.(*ast.Single)
			if !ok || !e.p.info.Types[s.X].Type.IsScalar() {
				return false
			}
		}
		x, n = ast.Unparen(i.X), len(i.Indices)
	}
	v, ok := x.(*ast.VarExpr)
	if !ok {
		return false
	}
	u := e.p.info.Uses[v]
	return u != nil && u.Block == ast.Parameters && u.Constraint == types.Simplex && u.Type.Dims == n
}

// occurrence returns what replaces a place that reads discrete parameters.
func (e *editor) occurrence(o *occ, r *read) ast.Expr {
	b := builder{o.node.Span()}
	if r.absent {
		return e.nothing(o)
	}
	at := 0
	var rest []ast.Index
	var build func(d int) ast.Expr
	build = func(d int) ast.Expr {
		if d == len(r.dims) {
			at++
			if k := r.axes[at-1]; k < 0 {
				return clone(e.values[^k], nil)
			}
			return clone(e.axes[r.axes[at-1]], nil)
		}
		if r.dims[d].kind == one {
			return build(d + 1)
		}
		var es []ast.Expr
		for range r.dims[d].n {
			es = append(es, build(d+1))
		}
		return b.array(es...)
	}
	x := build(0)
	if len(r.axes) == 0 && len(r.dims) > 0 { // there is no array without elements
		var dims []ast.Expr
		for _, d := range r.dims {
			if d.kind != one {
				dims = append(dims, b.int(int64(d.n)))
			}
		}
		x = b.call("rep_array", append([]ast.Expr{b.int(1)}, dims...)...)
	}
	indexed := false
	for d, dim := range r.dims {
		switch dim.kind {
		case listed:
			rest = append(rest, &ast.All{Base: b.base()})
		case varying:
			i := e.expr(o.indices[d].(*ast.Single).X)
			if n, ok := literal(e.shifts[dim.shift]); !ok {
				i = b.op("-", i, clone(e.shifts[dim.shift], nil))
			} else {
				i = b.plus(i, -n)
			}
			rest = append(rest, b.single(i))
			indexed = true
		}
	}
	if indexed {
		return &ast.IndexExpr{Base: b.base(), X: x, Indices: rest}
	}
	return x
}

// nothing returns a value for a place that is never reached.
func (e *editor) nothing(o *occ) ast.Expr {
	b := builder{o.node.Span()}
	x := b.int(1)
	t := e.p.info.Types[o.node].Type
	for range t.Dims {
		x = b.array(x)
	}
	return x
}

// adds reports whether a statement of the copy adds to the sum.
func (e *editor) adds(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		if a, ok := n.(*ast.Assign); ok {
			v, ok := root(a.LHS)
			found = found || ok && v.Name == e.sum
		}
		return !found
	}, nil)
	return found
}

// truncated returns the statements of a truncated distribution of real numbers.
func (e *editor) truncated(s *ast.Tilde) ast.Stmt {
	b := builder{s.Span()}
	name := strings.TrimSuffix(e.p.info.Calls[s].Name, "_lpdf")
	y := func() ast.Expr { return e.expr(s.Variate) }
	var outside ast.Expr
	var norm ast.Expr
	cdf := func(suffix string, bound ast.Expr) ast.Expr {
		return b.density(name+suffix, e.expr(bound), e.exprs(s.Args)...)
	}
	lower, upper := s.Trunc.Lower, s.Trunc.Upper
	switch {
	case lower != nil && upper != nil:
		outside = b.op("||", b.op("<", y(), e.expr(lower)), b.op(">", y(), e.expr(upper)))
		norm = b.call("log_diff_exp", cdf("_lcdf", upper), cdf("_lcdf", lower))
	case lower != nil:
		outside, norm = b.op("<", y(), e.expr(lower)), cdf("_lccdf", lower)
	case upper != nil:
		outside, norm = b.op(">", y(), e.expr(upper)), cdf("_lcdf", upper)
	default:
		return b.assign(b.name(e.sum), "+=", e.tilde(s))
	}
	return &ast.If{Base: b.base(), Cond: outside, Then: b.assign(b.name(e.sum), "+=", b.call("negative_infinity")),
		Else: b.assign(b.name(e.sum), "+=", b.op("-", e.tilde(s), norm))}
}
