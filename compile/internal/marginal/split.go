package marginal

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// splitter writes statements about containers as loops over their elements, if a discrete parameter
// is involved: z ~ categorical(w) becomes for (i in 1:N) z[i] ~ categorical(w). Otherwise a
// statement would be one factor of all elements.
type splitter struct {
	info  *check.Info
	taint map[*check.Var]bool
	names *names
	sizes map[*check.Var][]ast.Expr // declared sizes of variables that depend on discrete parameters
	seen  []string                  // the variables with the observations

	bounds     map[*check.Var]map[string]ast.Expr // of discrete parameters, by kind
	indicators map[string]bool                    // indicators of components, see mixed
}

// pushed returns the tree with mu[z[i]] for mu[z][i] in the model block, and so for all containers
// of one dimension that are computed from discrete parameters: an element of one is a function of
// few of these.
func (s *splitter) pushed(f *ast.File) *ast.File {
	var visit func(n ast.Node) ast.Node
	visit = func(n ast.Node) ast.Node {
		e, ok := n.(*ast.IndexExpr)
		if !ok || len(e.Indices) != 1 {
			return ast.Map(n, visit)
		}
		i, ok := e.Indices[0].(*ast.Single)
		if _, plain := ast.Unparen(e.X).(*ast.VarExpr); !ok || plain || !s.scalar(i.X) || s.info.Types[e.X].Type.Rank() != 1 || !s.involved(e.X) {
			return ast.Map(n, visit)
		}
		b := builder{e.Span()}
		return &ast.Paren{Base: b.base(), X: s.at(e.X, i.X)}
	}
	return ast.Map(f, func(n ast.Node) ast.Node {
		if b, ok := n.(*ast.Block); ok && b.Kind == ast.Model {
			return visit(b)
		}
		return n
	}).(*ast.File)
}

// sized returns the tree with declared sizes for size(z) and num_elements(z) of discrete
// parameters: sizes do not depend on their values.
func (s *splitter) sized(f *ast.File) *ast.File {
	var visit func(n ast.Node) ast.Node
	visit = func(n ast.Node) ast.Node {
		c, ok := n.(*ast.CallExpr)
		if !ok || c.Func.Name != "size" && c.Func.Name != "num_elements" || len(c.Args) != 1 {
			return ast.Map(n, visit)
		}
		x, indices := ast.Unparen(c.Args[0]), 0
		if e, ok := x.(*ast.IndexExpr); ok && !slices.ContainsFunc(e.Indices, s.many) {
			x, indices = ast.Unparen(e.X), len(e.Indices)
		}
		v, ok := x.(*ast.VarExpr)
		if !ok || !s.info.Uses[v].Discrete() || indices >= len(s.sizes[s.info.Uses[v]]) {
			return ast.Map(n, visit)
		}
		b, sizes := builder{c.Span()}, s.sizes[s.info.Uses[v]][indices:]
		out := clone(sizes[0], nil)
		if c.Func.Name == "num_elements" {
			for _, n := range sizes[1:] {
				out = b.op("*", &ast.Paren{Base: b.base(), X: out}, &ast.Paren{Base: b.base(), X: clone(n, nil)})
			}
		}
		return &ast.Paren{Base: b.base(), X: out}
	}
	return ast.Map(f, func(n ast.Node) ast.Node {
		if b, ok := n.(*ast.Block); ok && (b.Kind == ast.Model || b.Kind == ast.TransformedParameters) {
			return visit(b)
		}
		return n
	}).(*ast.File)
}

// file returns the tree with the statements of the model block split.
func (s *splitter) file(f *ast.File) *ast.File {
	out := *f
	out.Blocks = nil
	for _, b := range f.Blocks {
		if b.Kind == ast.Model {
			c := *b
			c.Stmts = s.stmts(b.Stmts)
			b = &c
		}
		out.Blocks = append(out.Blocks, b)
	}
	return &out
}

func (s *splitter) stmts(ss []ast.Stmt) []ast.Stmt {
	out := make([]ast.Stmt, 0, len(ss))
	for _, st := range ss {
		out = append(out, s.stmt(st)...)
	}
	return out
}

// body splits the statement of a loop or branch.
func (s *splitter) body(st ast.Stmt) ast.Stmt {
	if st == nil {
		return nil
	}
	if out := s.stmt(st); len(out) != 1 {
		return builder{st.Span()}.block(out...)
	} else {
		return out[0]
	}
}

func (s *splitter) stmt(st ast.Stmt) []ast.Stmt {
	if !s.involved(st) {
		return []ast.Stmt{st}
	}
	switch st := st.(type) {
	case *ast.BlockStmt:
		c := *st
		c.Stmts = s.stmts(st.Stmts)
		return []ast.Stmt{&c}
	case *ast.Profile:
		return []ast.Stmt{builder{st.Span()}.block(s.stmts(st.Body.Stmts)...)}
	case *ast.For:
		c := *st
		c.Body = s.body(st.Body)
		return []ast.Stmt{s.ranged(&c)}
	case *ast.If:
		c := *st
		c.Then, c.Else = s.body(st.Then), s.body(st.Else)
		if s.involved(st.Cond) && s.addsToElements(st) {
			if out := s.either(&c); out != nil {
				return out
			}
		}
		return []ast.Stmt{&c}
	case *ast.Tilde:
		args := append([]ast.Expr{st.Variate}, st.Args...)
		if st.Trunc != nil && (st.Trunc.Lower != nil && !s.scalar(st.Trunc.Lower) || st.Trunc.Upper != nil && !s.scalar(st.Trunc.Upper)) {
			break
		}
		if loop := s.loop(s.info.Calls[st], args, func(es []ast.Expr) ast.Stmt {
			c := *st
			c.Variate, c.Args = es[0], es[1:]
			return s.whole(&c, s.info.Calls[st].Name)
		}); loop != nil {
			return []ast.Stmt{loop}
		}
		if c := s.info.Calls[st]; c != nil && c.Func == nil && s.scalar(st.Variate) {
			return []ast.Stmt{s.whole(st, c.Name)}
		}
	case *ast.TargetPlus:
		return s.target(st)
	}
	return []ast.Stmt{st}
}

// whole returns a statement about one value without truncation of integers, which is written out.
func (s *splitter) whole(st *ast.Tilde, mass string) ast.Stmt {
	stem, ok := strings.CutSuffix(mass, "_lpmf")
	if !ok || st.Trunc == nil {
		return st
	}
	b := builder{st.Span()}
	lower, upper := st.Trunc.Lower, st.Trunc.Upper
	cumulative := func(suffix string, bound ast.Expr, shift int64) ast.Expr {
		return b.density(stem+suffix, b.plus(b.grouped(clone(bound, nil)), shift), clones(st.Args)...)
	}
	var outside []ast.Expr
	if lower != nil {
		outside = append(outside, b.op("<", b.grouped(clone(st.Variate, nil)), b.grouped(clone(lower, nil))))
	}
	if upper != nil {
		outside = append(outside, b.op(">", b.grouped(clone(st.Variate, nil)), b.grouped(clone(upper, nil))))
	}
	var norm ast.Expr
	switch {
	case lower == nil && upper == nil:
		c := *st
		c.Trunc = nil
		return &c
	case lower == nil:
		norm = cumulative("_lcdf", upper, 0)
	case upper == nil:
		norm = cumulative("_lccdf", lower, -1)
	default:
		outside[0] = b.op("||", outside[0], outside[1])
		norm = b.call("log_diff_exp", cumulative("_lcdf", upper, 0), cumulative("_lcdf", lower, -1))
	}
	return &ast.If{Base: b.base(), Cond: outside[0], Then: b.target(b.call("negative_infinity")),
		Else: b.target(b.op("-", b.density(mass, clone(st.Variate, nil), clones(st.Args)...), norm))}
}

// target splits target += a + b, sums and densities of containers.
func (s *splitter) target(st *ast.TargetPlus) []ast.Stmt {
	with := func(e ast.Expr) *ast.TargetPlus {
		c := *st
		c.Value = e
		return &c
	}
	b := builder{st.Span()}
	value := ast.Unparen(st.Value)
	switch e := value.(type) {
	case *ast.Binary:
		if e.Op == "+" && s.scalar(e.X) && s.scalar(e.Y) {
			return append(s.target(with(e.X)), s.target(with(e.Y))...)
		}
	case *ast.CallExpr:
		if e.Func.Name == "sum" && len(e.Args) == 1 {
			return s.target(with(e.Args[0]))
		}
		if loop := s.loop(s.info.Calls[e], e.Args, func(es []ast.Expr) ast.Stmt {
			c := *e
			c.Args = es
			return with(&c)
		}); loop != nil {
			return []ast.Stmt{loop}
		}
	}
	if t := s.info.Types[value].Type; t.Rank() == 1 && s.involved(value) {
		if n := s.size(value); n != nil {
			i := s.names.fresh("i")
			return []ast.Stmt{b.loop(i, b.int(1), n, with(s.at(value, b.name(i))))}
		}
	}
	return []ast.Stmt{st}
}

// loop returns a loop over the elements of the arguments of a density, or nil if it has one value.
func (s *splitter) loop(c *check.Call, args []ast.Expr, each func([]ast.Expr) ast.Stmt) ast.Stmt {
	if c == nil || c.Func != nil {
		return nil
	}
	v, ok := vectorised(c.Overload)
	if !ok || len(v.Args) != len(args) || !strings.HasSuffix(c.Name, "_lpdf") && !strings.HasSuffix(c.Name, "_lpmf") {
		return nil
	}
	many := make([]bool, len(args))
	var size ast.Expr
	involved := false
	for i, a := range args {
		t := s.info.Types[a].Type
		if len(v.Args[i].Types) < 2 {
			continue
		}
		if first := v.Args[i].Types[0]; first.IsScalar() {
			many[i] = !t.IsScalar()
		} else {
			many[i] = t.Dims > first.Dims
		}
		involved = involved || (many[i] || s.bends(c.Name, i)) && s.involved(a)
		if many[i] && size == nil {
			size = s.size(a)
		}
	}
	if size == nil || !involved { // without them in containers, it is one factor anyway; but see bends
		return nil
	}
	b := builder{args[0].Span()}
	name := s.names.fresh("i")
	from, to := s.slices(args, many)
	var es []ast.Expr
	for i, a := range args {
		switch {
		case many[i] && from != nil:
			a = s.within(a, b.name(name))
		case many[i]:
			a = s.at(a, b.name(name))
		}
		es = append(es, a)
	}
	if from == nil {
		from, to = b.int(1), size
	}
	return s.ranged(b.loop(name, from, to, each(es)).(*ast.For))
}

// bends reports whether a log density may be no concave function of a count as one of its
// arguments. A sum of these has no known shape, unless its terms are factors.
func (s *splitter) bends(name string, argument int) bool {
	shapes := families[name]
	to := shape(fixed)
	if argument < len(shapes) {
		to = shapes[argument][linear]
	}
	return to > rounded && len(s.counts()) > 0
}

// vectorised returns the declaration of a function each of whose arguments may be a container.
func vectorised(o types.Overload) (types.Vectorised, bool) {
	switch t := o.(type) {
	case types.Written:
		o = t.Overload
	case *stdlib.Func:
		o = t.Overload
	}
	v, ok := o.(types.Vectorised)
	return v, ok
}

func (s *splitter) scalar(e ast.Expr) bool { return s.info.Types[e].Type.IsScalar() }

// involved reports whether a variable that depends on a discrete parameter is used in n.
func (s *splitter) involved(n ast.Node) bool { return mentions(s.info, s.taint, n) }

// mentions reports whether n uses or declares a variable of a set.
func mentions(info *check.Info, set map[*check.Var]bool, n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.VarExpr:
			found = found || set[info.Uses[n]]
		case *ast.VarDecl:
			found = found || set[info.Defs[n]]
		}
		return !found
	}, nil)
	return found
}

// elementwise are the operators that work element by element if an operand is a container.
var elementwise = map[string]bool{"+": true, "-": true, ".*": true, "./": true, "^": true, ".^": true}

// size returns an expression for the number of elements along the first dimension of e that does
// not mention discrete parameters; nil if there is none.
func (s *splitter) size(e ast.Expr) ast.Expr {
	b := builder{e.Span()}
	switch e := ast.Unparen(e).(type) {
	case *ast.VarExpr:
		if n := s.sizes[s.info.Uses[e]]; n != nil {
			return clone(n[0], nil)
		}
	case *ast.IndexExpr:
		for k, i := range e.Indices {
			switch i := i.(type) {
			case *ast.Single:
				if !s.scalar(i.X) {
					return s.size(i.X)
				}
				continue
			case *ast.Range:
				if i.From != nil && i.To != nil {
					return b.plus(b.op("-", clone(i.To, nil), clone(i.From, nil)), 1)
				}
				if i.To != nil {
					return clone(i.To, nil)
				}
				if n := s.dim(e.X, k); n != nil && i.From != nil {
					return b.plus(b.op("-", n, clone(i.From, nil)), 1)
				} else if n != nil {
					return n
				}
			case *ast.All:
				if n := s.dim(e.X, k); n != nil {
					return n
				}
			}
			break
		}
		if v, ok := ast.Unparen(e.X).(*ast.VarExpr); ok && !slices.ContainsFunc(e.Indices, s.many) {
			if n := s.sizes[s.info.Uses[v]]; len(e.Indices) < len(n) {
				return clone(n[len(e.Indices)], nil)
			}
		}
	case *ast.Binary:
		if elementwise[e.Op] || e.Op == "*" || e.Op == "/" {
			for _, x := range []ast.Expr{e.X, e.Y} {
				if !s.scalar(x) && s.info.Types[x].Type.Rank() == 1 {
					if n := s.size(x); n != nil {
						return n
					}
				}
			}
		}
	case *ast.Unary:
		if e.Op != "'" || s.info.Types[e.X].Type.Rank() == 1 {
			return s.size(e.X)
		}
	case *ast.CallExpr:
		if x := s.mapped(e); x != nil {
			return s.size(x)
		}
	}
	if s.involved(e) {
		return nil
	}
	return b.call("size", clone(e, nil))
}

// many reports whether an index is not one number.
func (s *splitter) many(i ast.Index) bool {
	one, ok := i.(*ast.Single)
	return !ok || !s.scalar(one.X)
}

// dim returns the size of dimension k of a whole variable.
func (s *splitter) dim(x ast.Expr, k int) ast.Expr {
	v, ok := ast.Unparen(x).(*ast.VarExpr)
	if !ok {
		return nil
	}
	if n := s.sizes[s.info.Uses[v]]; k < len(n) {
		return clone(n[k], nil)
	}
	if s.involved(x) {
		return nil
	}
	b := builder{x.Span()}
	if k == 0 {
		return b.call("size", clone(x, nil))
	}
	return b.at(b.call("dims", clone(x, nil)), b.int(int64(k+1)))
}

// mapped returns the argument of a call that applies a function of one number to each element, or
// that converts a container of one dimension.
func (s *splitter) mapped(e *ast.CallExpr) ast.Expr {
	if len(e.Args) != 1 || s.info.Types[e.Args[0]].Type.Rank() != 1 || s.info.Types[e].Type.Rank() != 1 {
		return nil
	}
	switch e.Func.Name {
	case "to_vector", "to_row_vector", "to_array_1d":
		return e.Args[0]
	case "exp", "log", "log1p", "log1m", "expm1", "inv_logit", "logit", "sqrt", "square", "inv", "abs", "fabs", "Phi", "Phi_approx",
		"inv_cloglog", "log_inv_logit", "log1m_inv_logit", "tanh", "sin", "cos", "inv_sqrt", "log1p_exp", "log1m_exp", "lgamma":
		return e.Args[0]
	}
	return nil
}

// at returns element i of e, with the index moved to the containers that e is computed from.
func (s *splitter) at(e, i ast.Expr) ast.Expr {
	b := builder{e.Span()}
	i = clone(i, nil)
	switch e := ast.Unparen(e).(type) {
	case *ast.VarExpr:
		return b.at(clone(e, nil), i)
	case *ast.IndexExpr:
		c := &ast.IndexExpr{Base: e.Base, X: e.X}
		done := false
		for _, ix := range e.Indices {
			if done {
				c.Indices = append(c.Indices, ix)
				continue
			}
			switch ix := ix.(type) {
			case *ast.Single:
				if s.scalar(ix.X) {
					c.Indices = append(c.Indices, ix)
					continue
				}
				c.Indices = append(c.Indices, b.single(s.at(ix.X, i)))
			case *ast.Range:
				if ix.From != nil {
					i = b.op("+", b.plus(ix.From, -1), i)
				}
				c.Indices = append(c.Indices, b.single(i))
			case *ast.All:
				c.Indices = append(c.Indices, b.single(i))
			}
			done = true
		}
		if !done {
			c.Indices = append(c.Indices, b.single(i))
		}
		return clone(ast.Expr(c), nil)
	case *ast.Binary:
		x, y := s.info.Types[e.X].Type, s.info.Types[e.Y].Type
		if elementwise[e.Op] || (e.Op == "*" || e.Op == "/") && (x.IsScalar() || y.IsScalar()) {
			c := *e
			if x.Rank() == 1 {
				c.X = s.at(e.X, i)
			}
			if y.Rank() == 1 {
				c.Y = s.at(e.Y, i)
			}
			c.Op = strings.TrimPrefix(e.Op, ".")
			return clone(ast.Expr(&c), nil)
		}
		if e.Op == "*" && x.Equal(types.MatrixType) && y.Equal(types.VectorType) {
			return b.op("*", s.at(e.X, i), clone(e.Y, nil))
		}
	case *ast.Unary:
		if e.Op == "'" && s.info.Types[e.X].Type.Rank() == 1 {
			return s.at(e.X, i)
		}
		if e.Op != "'" {
			c := *e
			c.X = s.at(e.X, i)
			return clone(ast.Expr(&c), nil)
		}
	case *ast.CallExpr:
		if x := s.mapped(e); x != nil && strings.HasPrefix(e.Func.Name, "to_") {
			return s.at(x, i)
		} else if x != nil {
			return b.call(e.Func.Name, s.at(x, i))
		}
	}
	return b.at(&ast.Paren{Base: b.base(), X: clone(e, nil)}, i)
}
