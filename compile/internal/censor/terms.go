package censor

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// node returns a statement or expression in which densities of censored values are probabilities.
func (w *writer) node(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.Tilde:
		if v := w.info.CensoredVariate(n.Variate); v != nil {
			t := &term{w, builder{n.Pos}, w.cut(v), n.Variate, n.Dist.Name, n.Args, n.Trunc}
			return t.statement(func(y ast.Expr, args []ast.Expr) ast.Stmt {
				return &ast.Tilde{Base: n.Base, Variate: y, Dist: n.Dist, Args: args, Trunc: n.Trunc}
			})
		}
	case *ast.TargetPlus:
		if !n.Jacobian {
			return w.target(n)
		}
	case *ast.CallExpr:
		if t := w.density(n); t != nil {
			return t.expression(n)
		}
	}
	return ast.Map(n, w.node)
}

// target rewrites target += …. Densities of several values become separate statements.
func (w *writer) target(n *ast.TargetPlus) ast.Stmt {
	b := builder{n.Pos}
	var out []ast.Stmt
	var rest ast.Expr
	addends, subtracted := check.Addends(n.Value)
	alone := len(addends)+len(subtracted) == 1
	for _, a := range addends {
		call, ok := ast.Unparen(a).(*ast.CallExpr)
		var t *term
		if ok {
			t = w.density(call)
		}
		switch {
		case t != nil && (alone || !t.scalar()):
			out = append(out, t.statement(func(y ast.Expr, args []ast.Expr) ast.Stmt {
				known := *call
				known.Args = append([]ast.Expr{y}, args...)
				return &ast.TargetPlus{Base: n.Base, Value: &known}
			}))
		case rest == nil:
			rest = w.node(a).(ast.Expr)
		default:
			rest = b.op("+", rest, w.node(a).(ast.Expr))
		}
	}
	for _, a := range subtracted {
		if a = w.node(a).(ast.Expr); rest == nil {
			rest = &ast.Unary{Base: b.base(), Op: "-", X: a}
		} else {
			rest = b.op("-", rest, a)
		}
	}
	switch {
	case out == nil:
		return ast.Map(n, w.node).(ast.Stmt)
	case rest != nil:
		out = append([]ast.Stmt{&ast.TargetPlus{Base: n.Base, Value: rest}}, out...)
	}
	if len(out) == 1 {
		return out[0]
	}
	return b.block(out...)
}

// density returns the term of a call if it is a density of censored values, otherwise nil.
func (w *writer) density(n *ast.CallExpr) *term {
	dist := check.MassOf(n.Func.Name)
	if dist == "" || len(n.Args) == 0 {
		return nil
	}
	v := w.info.CensoredVariate(n.Args[0])
	if v == nil {
		return nil
	}
	return &term{w, builder{n.Pos}, w.cut(v), n.Args[0], dist, n.Args[1:], nil}
}

// term is a density of censored values.
type term struct {
	*writer
	b       builder
	cut     *cut
	variate ast.Expr
	dist    string
	args    []ast.Expr
	trunc   *ast.Truncation // nil if the distribution is not truncated
}

// scalar reports whether the term is about one value.
func (t *term) scalar() bool { return t.info.Types[t.variate].Type.IsScalar() }

// statement returns the statement of a term. known returns the statement of a known value.
func (t *term) statement(known func(y ast.Expr, args []ast.Expr) ast.Stmt) ast.Stmt {
	b := t.b
	if t.scalar() {
		return b.block(t.choice(t.variate, nil, t.args, known))
	}
	i := b.name(t.names.New("n"))
	size := b.call("num_elements", t.variate)
	var before []ast.Stmt
	args := make([]ast.Expr, len(t.args))
	for k, a := range t.args {
		args[k] = t.pushed(a, i, func(whole ast.Expr) ast.Expr {
			e := t.info.Types[whole].Type
			once := t.names.New("arg")
			decl := &ast.TypeExpr{Base: b.base(), Elem: e.Kind.String()}
			if e.Dims > 0 {
				decl.ArrayDims = []ast.Expr{size}
			} else {
				decl.Sizes = []ast.Expr{size}
			}
			before = append(before, &ast.VarDecl{Base: b.base(), Type: decl, Name: b.ident(once), Init: whole})
			return b.at(b.name(once), i)
		})
	}
	loop := b.loop(i.(*ast.VarExpr).Name, size, t.choice(t.element(t.variate, i), i, args, known))
	return b.block(append(before, loop)...)
}

// choice returns the statement of one value y: the known one, or the log probability of its
// interval. i is the index of the value in the variate; nil if that is one value.
func (t *term) choice(y, i ast.Expr, args []ast.Expr, known func(y ast.Expr, args []ast.Expr) ast.Stmt) ast.Stmt {
	b := t.b
	out := ast.Stmt(nil)
	for _, m := range t.masses(y, i, args) {
		s := ast.Stmt(b.block(&ast.TargetPlus{Base: b.base(), Value: m.log}))
		if out != nil {
			s = &ast.If{Base: b.base(), Cond: m.where, Then: s, Else: out}
		}
		out = s
	}
	return &ast.If{Base: b.base(), Cond: b.op("==", t.like(t.cut.sides, i), b.int(0)), Then: b.block(known(y, args)), Else: out}
}

// expression returns the density of one value, or the log probability of its interval.
func (t *term) expression(known *ast.CallExpr) ast.Expr {
	b := t.b
	out := ast.Expr(nil)
	for _, m := range t.masses(t.variate, nil, t.args) {
		if out != nil {
			m.log = &ast.Cond{Base: b.base(), Cond: m.where, Then: m.log, Else: out}
		}
		out = m.log
	}
	return &ast.Cond{Base: b.base(), Cond: b.op("==", t.like(t.cut.sides, nil), b.int(0)), Then: known, Else: out}
}

// mass is the log probability of the interval of a value.
type mass struct{ where, log ast.Expr }

// masses lists the possible intervals of a value, the last one first. One of them is right if the
// value is not known.
func (t *term) masses(y, i ast.Expr, args []ast.Expr) (out []mass) {
	b, c := t.b, t.cut
	side := func() ast.Expr { return t.like(c.sides, i) }
	interval := func(lo, hi ast.Expr) ast.Expr { return t.interval(lo, hi, args) }
	sides, to := c.limit(ast.Censored) != nil, c.limit(ast.CensoredTo)
	if to != nil {
		out = append(out, mass{nil, interval(y, t.like(to, i))})
	}
	switch x := c.limit(ast.CensoredAbove); {
	case x != nil:
		out = append(out, mass{b.op("==", side(), b.int(1)), interval(t.like(x, i), nil)})
	case sides || to != nil && !c.integer():
		out = append(out, mass{b.op("==", side(), b.int(1)), interval(y, nil)})
	}
	switch x := c.limit(ast.CensoredBelow); {
	case x != nil:
		out = append(out, mass{b.op("<", side(), b.int(0)), interval(nil, t.like(x, i))})
	case sides:
		out = append(out, mass{b.op("<", side(), b.int(0)), interval(nil, y)})
	case to != nil && !c.integer():
		out = append(out, mass{b.op("<", side(), b.int(0)), interval(nil, t.like(to, i))})
	}
	return out
}

// interval returns the log probability of the interval from lo to hi, one of which may be nil. If
// the distribution is truncated, it is that of the part between its bounds, divided by the
// probability between them.
func (t *term) interval(lo, hi ast.Expr, args []ast.Expr) ast.Expr {
	if t.trunc == nil || t.trunc.Lower == nil && t.trunc.Upper == nil {
		return t.between(lo, hi, args)
	}
	b := t.b
	inner := func(op string, x, bound ast.Expr) ast.Expr {
		switch {
		case x == nil:
			return bound
		case bound == nil:
			return x
		}
		return &ast.Paren{Base: b.base(), X: &ast.Cond{Base: b.base(), Cond: b.op(op, x, bound), Then: x, Else: bound}}
	}
	lo, hi = inner(">", lo, t.trunc.Lower), inner("<", hi, t.trunc.Upper)
	out := b.op("-", &ast.Paren{Base: b.base(), X: t.between(lo, hi, args)},
		&ast.Paren{Base: b.base(), X: t.between(t.trunc.Lower, t.trunc.Upper, args)})
	if lo == nil || hi == nil {
		return out
	}
	empty := ">="
	if t.cut.integer() {
		empty = ">"
	}
	return &ast.Cond{Base: b.base(), Cond: b.op(empty, lo, hi), Then: b.call("negative_infinity"), Else: out}
}

// between returns the log probability from lo to hi, one of which may be nil.
func (t *term) between(lo, hi ast.Expr, args []ast.Expr) ast.Expr {
	b := t.b
	if t.cut.integer() && lo != nil { // the largest value below lo
		lo = b.op("-", lo, b.int(1))
	}
	below := func(x ast.Expr) ast.Expr { return b.given(t.dist+"_lcdf", x, args) }
	above := func(x ast.Expr) ast.Expr { return b.given(t.dist+"_lccdf", x, args) }
	switch {
	case lo == nil:
		return below(hi)
	case hi == nil:
		return above(lo)
	}
	// Right of the median, lower tails round to 1.
	return &ast.Cond{Base: b.base(), Cond: b.op("<", below(lo), b.call("log", b.half())),
		Then: b.call("log_diff_exp", below(hi), below(lo)),
		Else: b.call("log_diff_exp", above(lo), above(hi))}
}

// like returns the part of e at the place that the variate has in its variable, or element i of
// that part. If e is a number, it is for all values.
func (t *term) like(e, i ast.Expr) ast.Expr {
	if o, ok := t.info.Types[e]; ok && o.Type.IsScalar() {
		return e
	}
	if _, name := e.(*ast.VarExpr); !name {
		e = &ast.Paren{Base: t.b.base(), X: e}
	}
	var place func(x ast.Expr) ast.Expr
	place = func(x ast.Expr) ast.Expr {
		switch x := x.(type) {
		case *ast.Paren:
			return place(x.X)
		case *ast.IndexExpr:
			out := *x
			out.X = place(x.X)
			return &out
		}
		return e
	}
	e = place(t.variate)
	if i == nil {
		return e
	}
	return t.element(e, i)
}

// element returns an element of a list of numbers. For y[at] that is y[at[i]], which needs no copy.
func (t *term) element(e, i ast.Expr) ast.Expr {
	b := t.b
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	if ok {
		_, nested := ast.Unparen(x.X).(*ast.IndexExpr)
		ok = !nested
	}
	if !ok {
		return b.at(e, i)
	}
	out := *x
	out.Indices = append([]ast.Index(nil), x.Indices...)
	for k, index := range out.Indices {
		one := i
		switch index := index.(type) {
		case *ast.Single:
			if t.info.Types[index.X].Type.IsScalar() {
				continue
			}
			one = b.at(index.X, i)
		case *ast.Range:
			if index.From != nil {
				one = b.op("-", b.op("+", index.From, i), b.int(1))
			}
		}
		out.Indices[k] = &ast.Single{Base: b.base(), X: one}
		return &out
	}
	out.Indices = append(out.Indices, &ast.Single{Base: b.base(), X: i})
	return &out
}

// pushed returns an element of e, or e if it is a number. The index moves to the containers from
// which e is computed, as in exp(a + b * x[i]), so that data alone decide what the known and the
// other values need. once returns the element of a container that is computed as a whole.
func (t *term) pushed(e, i ast.Expr, once func(ast.Expr) ast.Expr) ast.Expr {
	own := t.info.Types[e].Type
	if own.IsScalar() {
		return e
	}
	push := func(e ast.Expr) ast.Expr { return t.pushed(e, i, once) }
	switch x := e.(type) {
	case *ast.VarExpr:
		return t.b.at(x, i)
	case *ast.Paren:
		return &ast.Paren{Base: x.Base, X: push(x.X)}
	case *ast.IndexExpr:
		if _, ok := ast.Unparen(x.X).(*ast.VarExpr); ok {
			return t.element(x, i)
		}
	case *ast.Unary:
		if x.Op == "-" {
			return &ast.Unary{Base: x.Base, Op: x.Op, X: push(x.X)}
		}
	case *ast.Binary:
		left, right := t.info.Types[x.X].Type, t.info.Types[x.Y].Type
		one := left.IsScalar() || right.IsScalar()
		op := map[string]string{"+": "+", "-": "-", ".*": "*", "./": "/", ".^": "^", "^": "^"}[x.Op]
		if one && (x.Op == "*" || x.Op == "/") {
			op = x.Op
		}
		if op != "" && (one || left.Equal(right)) {
			return &ast.Binary{Base: x.Base, Op: op, OpPos: x.OpPos, X: push(x.X), Y: push(x.Y)}
		}
	case *ast.CallExpr:
		if call := t.info.Calls[x]; call != nil && t.elementwise(call) {
			out := *x
			out.Args = nil
			for _, a := range x.Args {
				out.Args = append(out.Args, push(a))
			}
			return &out
		}
	}
	return once(e)
}
