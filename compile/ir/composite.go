package ir

import (
	"slices"
	"strconv"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// leaf returns the Typed of a leaf of an expression.
func leaf(at source.Span, t types.Type, level Level) Typed {
	if t.Kind == types.Int {
		level = Data
	}
	return Typed{At: at, Ty: t, Lv: level}
}

// ---- Variables ----

// variable creates the Vars of a checked variable in the current frame.
func (l *lowerer) variable(v *check.Var) []*Var {
	var out []*Var
	var whole *Whole
	if v.Type.Composite() {
		whole = &Whole{Name: v.Name, Type: v.Type}
	}
	for _, leaf := range v.Type.Leaves() {
		x := &Var{
			ID: *l.frame, Name: v.Name, Type: leaf.Type, Block: v.Block, Global: v.Global, Loop: v.Loop, Missing: v.Missing,
			Level: Level(v.Level), Span: v.Ident.Span(), Whole: whole, Part: leaf.Part,
		}
		name := []byte(v.Name)
		for _, i := range leaf.Path {
			name = strconv.AppendInt(append(name, '.'), int64(i), 10)
		}
		x.Name = string(name)
		if x.Type.Kind == types.Int {
			x.Level = Data
		}
		*l.frame++
		out = append(out, x)
	}
	l.vars[v] = out
	return out
}

// temporaries creates variables for the leaves of an expression.
func (l *lowerer) temporaries(e Expr, name string) []*Var {
	var out []*Var
	for _, leaf := range e.Type().Leaves() {
		x := &Var{ID: *l.frame, Name: name, Type: leaf.Type, Block: ast.Functions, Level: e.Level(), Span: e.Span()}
		if x.Type.Kind == types.Int {
			x.Level = Data
		}
		*l.frame++
		out = append(out, x)
	}
	return out
}

// refs reads variables as one value of type t.
func refs(at source.Span, t types.Type, vars []*Var) Expr {
	var elems []Expr
	level := Data
	for _, v := range vars {
		elems = append(elems, &VarRef{Typed: leaf(at, v.Type, v.Level), Var: v})
		level = max(level, v.Level)
	}
	if !t.Composite() {
		return elems[0]
	}
	return &Tuple{Typed: Typed{at, t, level}, Elems: elems}
}

// declareLeaves makes the Vars of a declaration with their sizes and constraints.
func (l *lowerer) declareLeaves(d *ast.VarDecl) []*Var {
	type shape struct {
		sizes []Expr
		c     Constraint
	}
	var shapes []shape
	var visit func(t *ast.TypeExpr, vt types.Type, around []Expr)
	visit = func(t *ast.TypeExpr, vt types.Type, around []Expr) {
		sizes := slices.Clip(around)
		for _, e := range t.ArrayDims {
			sizes = append(sizes, l.expr(e))
		}
		if vt.Kind == types.Tuple {
			for i, m := range t.Members {
				visit(m, vt.Members[i], sizes)
			}
			return
		}
		for _, e := range t.Sizes {
			sizes = append(sizes, l.expr(e))
		}
		if n := vt.Rank(); len(sizes)-len(around) == n-1 && n > 0 {
			sizes = append(sizes, sizes[len(sizes)-1]) // a square matrix is declared with one size
		}
		s := shape{sizes: sizes, c: l.constraint(t, vt, around)}
		shapes = append(shapes, s)
		if vt.Scalar() == types.Complex {
			shapes = append(shapes, s)
		}
	}
	v := l.info.Defs[d]
	visit(d.Type, v.Type, nil)
	out := l.variable(v)
	for i, x := range out {
		x.Sizes, x.Constraint = shapes[i].sizes, shapes[i].c
		x.Ragged = l.ragged(d)
		x.Sparse = l.sparse(d)
		if s := x.Sparse; s != nil && s.Row != nil {
			s.Row.Values, s.Column.Values = x, x
		}
	}
	return out
}

// ragged lowers the sizes of the rows of a variable.
func (l *lowerer) ragged(d *ast.VarDecl) *Ragged {
	if d.Rows == nil {
		return nil
	}
	out := &Ragged{}
	for i, e := range d.Rows {
		x := l.expr(e)
		out.Sizes = append(out.Sizes, x)
		if x.Type().Dims > 0 {
			out.Outer, out.At = x.Type().Dims, i
		}
	}
	return out
}

// sparse lowers what a declaration says about a sparse matrix.
func (l *lowerer) sparse(d *ast.VarDecl) *Sparse {
	if d.Sparse == nil {
		return nil
	}
	out := &Sparse{Rows: l.expr(d.Sparse[0]), Columns: l.expr(d.Sparse[1])}
	of := func(i int) *Var { return l.expr(d.Sparse[i]).(*VarRef).Var }
	if len(d.Sparse) == 3 {
		out.Pattern = of(2)
	} else {
		out.Count, out.Row, out.Column = of(2), of(3), of(4)
	}
	return out
}

// constraint lowers the bounds of a declared type within arrays of the sizes around. A bound is a
// scalar or has the shape of the variable.
func (l *lowerer) constraint(t *ast.TypeExpr, vt types.Type, around []Expr) Constraint {
	c := Constraint{Kind: check.ConstraintOf(t)}
	for _, b := range t.Bounds {
		if !b.Restricts() {
			continue
		}
		to := types.Type{Kind: vt.Scalar()}
		scalar := l.info.Types[b.Value].Type.IsScalar()
		if !scalar {
			to = vt
		}
		e := promote(l.expr(b.Value), to)
		for i := len(around) - 1; i >= 0 && !scalar; i-- {
			e = l.library("rep_array", e, around[i])
		}
		switch b.Kind {
		case "lower", "offset":
			c.Lower = e
		case "upper", "multiplier":
			c.Upper = e
		}
	}
	return c
}

// ---- Statements ----

// declare lowers a declaration.
func (l *lowerer) declare(s *ast.VarDecl) Stmt {
	pos := Pos{s.Span()}
	vars := l.declareLeaves(s)
	if len(vars) == 1 && !l.info.Defs[s].Type.Composite() {
		out := &Declare{Pos: pos, Var: vars[0]}
		if s.Init != nil {
			out.Init = promote(l.expr(s.Init), out.Var.Type)
		}
		return out
	}
	out := &Block{Pos: pos}
	var inits []Expr
	if s.Init != nil {
		init := promote(l.expr(s.Init), l.info.Defs[s].Type)
		out.Stmts, inits = l.apart(pos, init)
	}
	for i, v := range vars {
		d := &Declare{Pos: pos, Var: v}
		if inits != nil {
			d.Init = inits[i]
		}
		out.Stmts = append(out.Stmts, d)
	}
	return out
}

// apart returns the leaves of a value as expressions. It also returns the statements that must run
// before them so that the value is computed once.
func (l *lowerer) apart(pos Pos, e Expr) ([]Stmt, []Expr) {
	if parts := apartNow(e); parts != nil {
		return nil, parts
	}
	vars := l.temporaries(e, "value")
	out := refs(e.Span(), e.Type(), vars)
	if t, ok := out.(*Tuple); ok {
		return []Stmt{&Unpack{pos, vars, e}}, t.Elems
	}
	return []Stmt{&Unpack{pos, vars, e}}, []Expr{out}
}

// target is where an assignment stores: a leaf, or elements of a leaf.
type target struct {
	v       *Var
	indices []Index
}

// places returns the targets of the left side of an assignment, and its type.
func (l *lowerer) places(lhs ast.Expr) ([]target, types.Type) {
	switch e := lhs.(type) {
	case *ast.VarExpr:
		var out []target
		v := l.info.Uses[e]
		for _, x := range l.vars[v] {
			out = append(out, target{v: x})
		}
		return out, v.Type
	case *ast.IndexExpr:
		out, t := l.places(e.X)
		is := l.indices(e.Indices, t.Dims)
		for i := range out {
			out[i].indices = append(slices.Clip(out[i].indices), is...)
		}
		return out, l.info.Types[e].Type
	case *ast.TupleMember:
		out, t := l.places(e.X)
		from, to := t.LeafRange(e.Member - 1)
		return out[from:to], t.Members[e.Member-1]
	case *ast.TupleExpr:
		t := types.Type{Kind: types.Tuple}
		var out []target
		for _, x := range e.Elems {
			ps, m := l.places(x)
			out, t.Members = append(out, ps...), append(t.Members, m)
		}
		return out, t
	case *ast.Paren:
		return l.places(e.X)
	}
	return nil, types.Type{}
}

// assign lowers an assignment. An assignment to a composite value first evaluates the right side,
// then stores leaf by leaf.
func (l *lowerer) assign(s *ast.Assign) Stmt {
	pos := Pos{s.Span()}
	ps, t := l.places(s.LHS)
	out := &Block{Pos: pos}
	if t.Composite() {
		out.Stmts = l.onlyOnce(pos, ps)
	}
	for _, p := range ps {
		setParts(p.indices, s.Op != "=")
	}
	if !t.Composite() {
		return l.assignSimple(s, ps[0], t)
	}
	value := l.expr(s.RHS)
	if s.Op != "=" {
		call := l.info.Calls[s]
		value = l.resolved(Typed{At: s.Span(), Ty: call.Match.Result}, call, []Expr{readPlaces(s.LHS.Span(), t, ps), value})
	}
	value = promote(value, t)
	parts := apartNow(value)
	if parts != nil && !slices.ContainsFunc(ps, func(p target) bool { return reads(value, p.v) }) {
		for i, p := range ps {
			out.Stmts = append(out.Stmts, &Assign{Pos: pos, Var: p.v, Indices: p.indices, Value: parts[i]})
		}
		return out
	}
	vars := l.temporaries(value, "value")
	out.Stmts = append(out.Stmts, &Unpack{pos, vars, value})
	for i, p := range ps {
		out.Stmts = append(out.Stmts, &Assign{Pos: pos, Var: p.v, Indices: p.indices, Value: &VarRef{Typed: leaf(value.Span(), vars[i].Type, vars[i].Level), Var: vars[i]}})
	}
	return out
}

// onlyOnce makes statements that evaluate the indices of targets before anything is stored, where
// it makes a difference. Otherwise the indices would be evaluated again for each leaf, and for the
// read of a compound assignment.
func (l *lowerer) onlyOnce(pos Pos, ps []target) []Stmt {
	var out []Stmt
	evaluated := map[Expr]Expr{}
	once := func(e Expr) Expr {
		if e == nil || repeatable(e) && !slices.ContainsFunc(ps, func(p target) bool { return reads(e, p.v) }) {
			return e
		}
		if evaluated[e] == nil {
			before, parts := l.apart(pos, e)
			out, evaluated[e] = append(out, before...), parts[0]
		}
		return evaluated[e]
	}
	for i := range ps {
		ps[i].indices = slices.Clone(ps[i].indices)
		for j := range ps[i].indices {
			ix := &ps[i].indices[j]
			ix.A, ix.B = once(ix.A), once(ix.B)
		}
	}
	return out
}

// readPlaces returns an expression that reads the targets of an assignment.
func readPlaces(at source.Span, t types.Type, ps []target) Expr {
	out := &Tuple{Typed: Typed{At: at, Ty: t}}
	for i, want := range t.Leaves() {
		v := ps[i].v
		var e Expr = &VarRef{Typed: leaf(at, v.Type, v.Level), Var: v}
		if len(ps[i].indices) > 0 {
			e = &IndexExpr{leaf(at, want.Type, v.Level), e, ps[i].indices}
		}
		out.Elems = append(out.Elems, e)
		out.Lv = max(out.Lv, e.Level())
	}
	return out
}

// reads reports whether an expression reads a variable. It may return true wrongly, which is safe.
func reads(e Expr, v *Var) bool {
	for read := range Vars(e) {
		if read == v {
			return true
		}
	}
	return false
}

// forEach lowers a loop over an array of tuples or complex numbers to a loop over the element
// numbers.
func (l *lowerer) forEach(s *ast.ForEach, over Expr) Stmt {
	pos := Pos{s.Span()}
	at := over.Span()
	out := &Block{Pos: pos}
	before, parts := l.apart(pos, over)
	for i, e := range parts {
		if _, ok := e.(*VarRef); !ok { // evaluate it only once
			more, once := l.apart(pos, e)
			before, parts[i] = append(before, more...), once[0]
		}
	}
	out.Stmts = before
	i := &Var{ID: *l.frame, Name: "element", Type: types.IntType, Block: ast.Functions, Loop: true, Span: at}
	*l.frame++
	number := func() Expr { return &VarRef{Typed: leaf(at, types.IntType, Data), Var: i} }
	one := func() Expr { return &IntLit{leaf(at, types.IntType, Data), 1} }
	single := func(e Expr) Index { return Index{Kind: IndexSingle, A: e, At: at} }
	last := l.library("size", parts[0])
	indices := []Index{single(number())}
	loop := &For{Pos: pos, Var: i, From: one(), To: last}
	body := &Block{Pos: pos}
	vars := l.variable(l.info.Defs[s])
	for k, v := range vars {
		elem := &IndexExpr{leaf(at, v.Type, parts[k].Level()), parts[k], indices}
		body.Stmts = append(body.Stmts, &Unpack{pos, []*Var{v}, elem})
	}
	body.Stmts = append(body.Stmts, l.body(s.Body))
	loop.Body = body
	out.Stmts = append(out.Stmts, loop)
	return out
}

// ---- Expressions ----

// apartNow returns the leaves of an expression, if the expression is made of separate ones. It
// returns nil for others, such as calls.
func apartNow(e Expr) []Expr {
	t, ok := e.(*Tuple)
	if !ok || slices.ContainsFunc(t.Elems, func(e Expr) bool { return e.Type().Composite() }) {
		return nil
	}
	return t.Elems
}

// tuple returns a value of a composite type whose leaves are those of the values.
func tuple(ty Typed, values ...Expr) Expr {
	out := &Tuple{Typed: ty}
	for _, x := range values {
		out.Lv = max(out.Lv, x.Level())
		if parts := apartNow(x); parts != nil {
			out.Elems = append(out.Elems, parts...)
		} else {
			out.Elems = append(out.Elems, x)
		}
	}
	return out
}

// member lowers x.1.
func (l *lowerer) member(e *ast.TupleMember, ty Typed) Expr {
	x := l.expr(e.X)
	i := e.Member - 1
	parts := apartNow(x)
	if parts == nil {
		return &Member{ty, x, i}
	}
	from, to := x.Type().LeafRange(i)
	for k, y := range parts { // the leaves that are dropped must have no effect
		if (k < from || k >= to) && !repeatable(y) {
			return &Member{ty, x, i}
		}
	}
	if !ty.Ty.Composite() {
		return parts[from]
	}
	return tuple(ty, parts[from:to]...)
}

// eachLeaf applies f to every leaf of x and returns a value of type ty. It returns nil if the
// leaves are not separate expressions.
func eachLeaf(ty Typed, x Expr, f func(leaf Expr, ty Typed) Expr) Expr {
	parts := apartNow(x)
	if parts == nil {
		return nil
	}
	out := &Tuple{Typed: ty}
	for i, want := range ty.Ty.Leaves() {
		out.Elems = append(out.Elems, f(parts[i], leaf(ty.At, want.Type, parts[i].Level())))
	}
	return out
}

// stack lowers {…} or […] whose elements already have the element type.
func stack(ty Typed, elems []Expr, row bool) Expr {
	one := func(ty Typed, elems []Expr) Expr {
		if row {
			return &RowVectorLit{ty, elems}
		}
		return &ArrayLit{ty, elems}
	}
	if !ty.Ty.Composite() {
		return one(ty, elems)
	}
	out := &Tuple{Typed: ty}
	for i, want := range ty.Ty.Leaves() {
		var parts []Expr
		level := Data
		for _, e := range elems {
			leaves := apartNow(e)
			if leaves == nil {
				return one(ty, elems)
			}
			parts = append(parts, leaves[i])
			level = max(level, leaves[i].Level())
		}
		out.Elems = append(out.Elems, one(leaf(ty.At, want.Type, level), parts))
	}
	return out
}

// complexScalar returns the complex number with the parts re and im.
func complexScalar(at source.Span, re, im Expr) Expr {
	return &Tuple{Typed: Typed{at, types.ComplexType, max(re.Level(), im.Level())}, Elems: []Expr{re, im}}
}

// complexCall lowers calls that only rearrange the parts of complex numbers:
// to_complex of scalars, get_real, get_imag; nil for others.
func complexCall(at source.Span, name string, args []Expr) Expr {
	zero := func() Expr { return &RealLit{leaf(at, types.RealType, Data), 0} }
	real := func(i int) Expr { return promote(args[i], types.RealType) }
	scalar := func(i int) bool { return args[i].Type().Equal(types.RealType) || args[i].Type().Equal(types.IntType) }
	switch {
	case name == "to_complex" && len(args) == 0:
		return complexScalar(at, zero(), zero())
	case name == "to_complex" && len(args) == 1 && scalar(0):
		return complexScalar(at, real(0), zero())
	case name == "to_complex" && len(args) == 2 && scalar(0) && scalar(1):
		return complexScalar(at, real(0), real(1))
	case (name == "get_real" || name == "get_imag") && len(args) == 1:
		parts := apartNow(args[0])
		if len(parts) != 2 || !repeatable(parts[0]) || !repeatable(parts[1]) {
			return nil
		}
		if name == "get_real" {
			return parts[0]
		}
		return parts[1]
	}
	return nil
}

// promoteLeaves promotes a value member by member. It returns nil if that needs more than its
// leaves.
func promoteLeaves(e Expr, t types.Type) Expr {
	from := e.Type()
	ty := Typed{e.Span(), t, e.Level()}
	if t.Equal(types.ComplexType) {
		return complexScalar(e.Span(), promote(e, types.RealType), &RealLit{leaf(e.Span(), types.RealType, Data), 0})
	}
	parts := apartNow(e)
	if parts == nil || from.Kind != types.Tuple || t.Kind != types.Tuple {
		return nil
	}
	var members []Expr
	for i, m := range from.Members {
		lo, hi := from.LeafRange(i)
		member := parts[lo]
		if m = m.Array(from.Dims); m.Composite() {
			member = tuple(Typed{e.Span(), m, e.Level()}, parts[lo:hi]...)
		}
		members = append(members, promote(member, t.Members[i].Array(t.Dims)))
	}
	return tuple(ty, members...)
}
