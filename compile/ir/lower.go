package ir

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Lower makes the typed program of a checked tree. The check must have found no errors; info is its
// result.
//
// Lowering normalises the program. Operators become calls. Parentheses, empty statements and
// profile blocks disappear. x[i][j] becomes x[i, j] if i selects one element. Integer literals used
// as reals become reals.
//
// Some library functions are defined by Stan source (types.Written). A call of such a function
// becomes a call of a function made from the source, which is checked with universe.
func Lower(f *ast.File, info *check.Info, universe check.Universe) *Program {
	return lowerWith(f, info, universe, nil, false)
}

// LowerLeaving is Lower for a program that is evaluated first, since it is bound faster: its
// solvers reject with an empty message where they would go on with the method for stiff systems.
// Evaluate the program that Lower makes there. Program.Leaves reports whether the two programs
// differ.
func LowerLeaving(f *ast.File, info *check.Info, universe check.Universe) *Program {
	return lowerWith(f, info, universe, nil, true)
}

// Nodes maps the nodes of a syntax tree to the typed program.
type Nodes struct {
	Exprs map[ast.Expr]Expr     // by expression, before promotion
	Vars  map[*check.Var][]*Var // the leaves of each variable
}

// LowerNodes is [Lower]. It also returns what became of each node.
func LowerNodes(f *ast.File, info *check.Info, universe check.Universe) (*Program, *Nodes) {
	nodes := &Nodes{Exprs: map[ast.Expr]Expr{}}
	return lowerWith(f, info, universe, nodes, false), nodes
}

func lowerWith(f *ast.File, info *check.Info, universe check.Universe, nodes *Nodes, leaving bool) *Program {
	l := &lowerer{
		nodes:    nodes,
		info:     info,
		universe: universe,
		leaving:  leaving,
		prog:     &Program{Source: f.Source},
		vars:     map[*check.Var][]*Var{},
		funcs:    map[*check.Func]*Function{},
		made:     map[string]*Function{},
	}
	// Functions may call one another in any order, so create all of them before lowering the first
	// body.
	for _, fn := range info.Funcs {
		out := &Function{Name: fn.Name, Result: fn.Result, Span: fn.Decl.Name.Span()}
		l.funcs[fn] = out
		l.prog.Functions = append(l.prog.Functions, out)
	}
	for _, fn := range info.Funcs {
		l.function(fn)
	}
	l.frame = &l.prog.NumVars
	for k := ast.Data; k <= ast.GeneratedQuantities; k++ {
		for _, b := range f.Blocks {
			if b.Kind == k {
				l.block(b)
			}
		}
	}
	if nodes != nil {
		nodes.Vars = l.vars
	}
	return l.prog
}

// lowerer is the state of one Lower.
type lowerer struct {
	nodes    *Nodes // nil: nobody asks for them
	info     *check.Info
	universe check.Universe
	leaving  bool // see LowerLeaving
	prog     *Program
	vars     map[*check.Var][]*Var // the leaves of each variable
	funcs    map[*check.Func]*Function
	made     map[string]*Function // functions made from Stan sources of the library
	frame    *int                 // number of variables of the current frame
	fn       *Function            // the function being lowered; nil outside
	drops    *check.Func          // calls of this function drop terms of level Data; nil: none do
}

func (l *lowerer) function(fn *check.Func) {
	out := l.funcs[fn]
	l.frame, l.fn = &out.NumVars, out
	for i, p := range fn.Params {
		for _, v := range l.variable(p) {
			out.Params = append(out.Params, v)
			out.DataOnly = append(out.DataOnly, fn.FuncType.Params[i].DataOnly)
		}
	}
	out.Body = &Block{Pos: Pos{fn.Decl.Span()}}
	if fn.Decl.Body != nil {
		out.Body = &Block{Pos: Pos{fn.Decl.Body.Span()}, Stmts: l.stmts(fn.Decl.Body.Stmts)}
	}
	l.fn = nil
}

func (l *lowerer) block(b *ast.Block) {
	p := l.prog
	switch b.Kind {
	case ast.Data:
		p.Data = append(p.Data, l.declarations(b)...)
	case ast.TransformedData:
		p.TransformedData = append(p.TransformedData, l.stmts(b.Stmts)...)
		p.TransformedDataVars = append(p.TransformedDataVars, l.topLevel(b)...)
	case ast.Parameters:
		p.Parameters = append(p.Parameters, l.declarations(b)...)
	case ast.TransformedParameters:
		p.TransformedParameters = append(p.TransformedParameters, l.stmts(b.Stmts)...)
		p.TransformedParameterVars = append(p.TransformedParameterVars, l.topLevel(b)...)
	case ast.Model:
		p.Model = append(p.Model, l.stmts(b.Stmts)...)
	case ast.GeneratedQuantities:
		p.GeneratedQuantities = append(p.GeneratedQuantities, l.stmts(b.Stmts)...)
		p.GeneratedQuantityVars = append(p.GeneratedQuantityVars, l.topLevel(b)...)
	}
}

// declarations lowers the variables of the data or parameters block.
func (l *lowerer) declarations(b *ast.Block) []*Var {
	var out []*Var
	for _, s := range b.Stmts {
		if d, ok := s.(*ast.VarDecl); ok {
			out = append(out, l.declareLeaves(d)...)
		}
	}
	return out
}

// topLevel lists the variables that a block, already lowered, declares at its
// top level.
func (l *lowerer) topLevel(b *ast.Block) []*Var {
	var out []*Var
	for _, s := range b.Stmts {
		if d, ok := s.(*ast.VarDecl); ok {
			out = append(out, l.vars[l.info.Defs[d]]...)
		}
	}
	return out
}

// ---- Statements ----

func (l *lowerer) stmts(ss []ast.Stmt) []Stmt {
	var out []Stmt
	for _, s := range ss {
		if s := l.stmt(s); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// body lowers the statement of a loop or branch, which must exist.
func (l *lowerer) body(s ast.Stmt) Stmt {
	if out := l.stmt(s); out != nil {
		return out
	}
	return &Block{Pos: Pos{s.Span()}}
}

// stmt lowers a statement. It returns nil for a statement without effect.
func (l *lowerer) stmt(s ast.Stmt) Stmt {
	pos := Pos{s.Span()}
	switch s := s.(type) {
	case *ast.VarDecl:
		return l.declare(s)
	case *ast.Assign:
		return l.assign(s)
	case *ast.TargetPlus:
		return &Target{Pos: pos, Value: l.expr(s.Value), Jacobian: s.Jacobian}
	case *ast.Tilde:
		return l.tilde(s)
	case *ast.CallStmt:
		call, _ := l.call(s.Call).(*UserCall)
		return &CallStmt{Pos: pos, Call: call}
	case *ast.For:
		if l.assigns(s.Body, s.To) || l.acts(s.To, map[*check.Func]bool{}) {
			return l.stepped(s)
		}
		from, to := l.expr(s.From), l.expr(s.To)
		out := &For{Pos: pos, Var: l.variable(l.info.Defs[s])[0], From: from, To: to, Body: l.body(s.Body), InOrder: s.InOrder}
		out.Accumulated = l.accumulated(out.Body)
		return out
	case *ast.ForEach:
		over := l.expr(s.Over)
		if over.Type().Composite() {
			return l.forEach(s, over)
		}
		if over.Type().Equal(types.MatrixType) {
			return l.rowByRow(s, over)
		}
		if v, ok := over.(*VarRef); ok && l.assigns(s.Body, s.Over) {
			return l.eachAtItsTurn(s, v)
		}
		return &ForEach{Pos: pos, Var: l.variable(l.info.Defs[s])[0], Over: over, Body: l.body(s.Body)}
	case *ast.While:
		out := &While{Pos: pos, Cond: l.truth(s.Cond), Body: l.body(s.Body)}
		out.Counted = l.counted(out)
		return out
	case *ast.If:
		out := &If{Pos: pos, Cond: l.truth(s.Cond), Then: l.body(s.Then)}
		if s.Else != nil {
			out.Else = l.body(s.Else)
		}
		return out
	case *ast.BlockStmt:
		return &Block{Pos: pos, Stmts: l.stmts(s.Stmts)}
	case *ast.Profile:
		return &Block{Pos: pos, Stmts: l.stmts(s.Body.Stmts)}
	case *ast.Print:
		return &Print{Pos: pos, Args: l.exprs(s.Args)}
	case *ast.Reject:
		return &Reject{Pos: pos, Fatal: s.Fatal, Range: s.Range, Args: l.exprs(s.Args)}
	case *ast.Break:
		return &Break{Pos: pos}
	case *ast.Continue:
		return &Continue{Pos: pos}
	case *ast.Return:
		out := &Return{Pos: pos}
		if s.Value != nil {
			out.Value = promote(l.expr(s.Value), l.fn.Result)
		}
		return out
	}
	return nil // an empty statement, or one that the checker refuses
}

// assignSimple lowers an assignment to one leaf; t is the type of the left side.
func (l *lowerer) assignSimple(s *ast.Assign, p target, t types.Type) Stmt {
	out := &Assign{Pos: Pos{s.Span()}, Var: p.v, Indices: p.indices}
	at := l.info.Types[s.LHS]
	value := l.expr(s.RHS)
	if s.Op == "=" {
		out.Value = promote(value, t)
		switch parts := asCompound(out); len(parts) {
		case 0:
			return out
		case 1:
			return parts[0]
		default:
			return &Block{out.Pos, parts}
		}
	}
	call := l.info.Calls[s]
	level := max(Level(at.Level), value.Level())
	old := &Operand{Typed{s.LHS.Span(), t, Level(at.Level)}}
	out.Op = strings.TrimSuffix(s.Op, "=")
	out.Value = promote(value, call.Match.Params[1])
	out.Combine = &Call{
		Typed: Typed{s.Span(), call.Match.Result, level}, Name: call.Name, Overload: call.Overload,
		Args: []Expr{promote(old, call.Match.Params[0]), out.Value},
	}
	return out
}

func (l *lowerer) tilde(s *ast.Tilde) Stmt {
	call := l.info.Calls[s]
	out := &Tilde{Pos: Pos{s.Span()}, Name: s.Dist.Name}
	es := append([]ast.Expr{s.Variate}, s.Args...)
	// A distribution defined in Stan source is never truncated, because it has no distribution
	// function.
	if w, ok := call.Overload.(types.Written); ok {
		out.Density = l.written(s.Span(), es, call, w)
		return out
	}
	args := l.exprs(es)
	out.Density = l.resolved(Typed{At: s.Span(), Ty: types.RealType}, call, args)
	if s.Trunc == nil {
		return out
	}
	return &Block{Pos: out.Pos, Stmts: []Stmt{out, l.truncation(s)}}
}

// library returns a call of a library function whose overload must exist.
func (l *lowerer) library(name string, args ...Expr) Expr {
	ts, params := make([]types.Type, len(args)), make([]bool, len(args))
	for i, a := range args {
		ts[i] = a.Type()
	}
	overload, match, fail := types.ResolveLevels(l.universe.Lookup(name), ts, params)
	if fail != nil {
		panic("ir: no " + name + " in the library")
	}
	at := source.Span{}
	if len(args) > 0 {
		at = args[0].Span()
	}
	return l.resolved(Typed{At: at, Ty: match.Result}, &check.Call{Name: name, Overload: overload, Match: match}, args)
}

// ---- Expressions ----

// truth lowers a condition to an int. A real is true unless it is 0.
func (l *lowerer) truth(e ast.Expr) Expr {
	x := l.expr(e)
	if x != nil && x.Type().Equal(types.RealType) {
		return l.library("operator!=", x, &RealLit{Typed: Typed{At: e.Span(), Ty: types.RealType}})
	}
	return x
}

func (l *lowerer) exprs(es []ast.Expr) []Expr {
	var out []Expr
	for _, e := range es {
		out = append(out, l.expr(e))
	}
	return out
}

// expr lowers an expression without promoting it. The caller promotes it to the type it needs.
func (l *lowerer) expr(e ast.Expr) Expr {
	out := l.plainExpr(e)
	if l.nodes != nil {
		l.nodes.Exprs[e] = out
	}
	return out
}

func (l *lowerer) plainExpr(e ast.Expr) Expr {
	tl := l.info.Types[e]
	ty := Typed{e.Span(), tl.Type, Level(tl.Level)}
	switch e := e.(type) {
	case *ast.IntLit:
		return &IntLit{ty, e.Value}
	case *ast.RealLit:
		return &RealLit{ty, e.Value}
	case *ast.StringLit:
		return &StringLit{Typed{At: e.Span()}, e.Value}
	case *ast.ImagLit:
		zero := &RealLit{leaf(e.Span(), types.RealType, Data), 0}
		return complexScalar(e.Span(), zero, &RealLit{leaf(e.Span(), types.RealType, Data), e.Value})
	case *ast.VarExpr:
		v := l.info.Uses[e]
		if v.Type.Composite() {
			return refs(e.Span(), v.Type, l.vars[v])
		}
		return &VarRef{ty, l.vars[v][0], e.For}
	case *ast.TupleExpr:
		out := tuple(ty, l.exprs(e.Elems)...)
		if t, ok := out.(*Tuple); ok {
			t.Rows = e.Rows
		}
		return out
	case *ast.TupleMember:
		return l.member(e, ty)
	case *ast.CallExpr:
		return l.call(e)
	case *ast.Target:
		return &TargetValue{ty}
	case *ast.Unary:
		x := l.expr(e.X)
		if n, ok := x.(*IntLit); ok && e.Op == "-" { // -1 is a literal too
			return &IntLit{ty, -n.Value}
		}
		return l.resolved(ty, l.info.Calls[e], []Expr{x})
	case *ast.Binary:
		switch e.Op {
		case "&&":
			return &And{ty, l.truth(e.X), l.truth(e.Y)}
		case "||":
			return &Or{ty, l.truth(e.X), l.truth(e.Y)}
		}
		x, y := l.expr(e.X), l.expr(e.Y)
		return l.resolved(ty, l.info.Calls[e], []Expr{x, y})
	case *ast.Cond:
		return &Cond{ty, l.expr(e.Cond), promote(l.expr(e.Then), ty.Ty), promote(l.expr(e.Else), ty.Ty)}
	case *ast.IndexExpr:
		return l.index(e, ty)
	case *ast.ArrayExpr:
		return stack(ty, l.elems(e.Elems, ty.Ty), false)
	case *ast.RowVectorExpr:
		return stack(ty, l.elems(e.Elems, ty.Ty), true)
	case *ast.Paren:
		return l.expr(e.X)
	}
	return nil // what the checker refuses
}

// elems lowers the elements of a literal of type t, promoted to one type.
func (l *lowerer) elems(es []ast.Expr, t types.Type) []Expr {
	elem, _ := t.Elem()
	out := l.exprs(es)
	for i := range out {
		out[i] = promote(out[i], elem)
	}
	return out
}

// index lowers x[i…].
func (l *lowerer) index(e *ast.IndexExpr, ty Typed) Expr {
	x := l.expr(e.X)
	is := l.indices(e.Indices, x.Type().Dims)
	setParts(is, true)
	if ty.Ty.Composite() || x.Type().Composite() {
		if !slices.ContainsFunc(is, func(i Index) bool { return i.A != nil && !repeatable(i.A) || i.B != nil && !repeatable(i.B) }) {
			if out := eachLeaf(ty, x, func(leaf Expr, ty Typed) Expr { return indexed(ty, leaf, is) }); out != nil {
				return out
			}
		}
	}
	return indexed(ty, x, is)
}

// indexed returns x[i…]. If x is already indexed by single indices, it merges the brackets.
func indexed(ty Typed, x Expr, is []Index) Expr {
	if inner, ok := x.(*IndexExpr); ok && allSingle(inner.Indices) {
		return &IndexExpr{ty, inner.X, slices.Concat(inner.Indices, is)}
	}
	return &IndexExpr{ty, x, is}
}

func allSingle(is []Index) bool {
	for _, i := range is {
		if i.Kind != IndexSingle {
			return false
		}
	}
	return true
}

// setParts sets the conditions on ranges, and marks indices that are not checked because other
// indices select nothing. read is false if the elements are only assigned. An index of an array
// dimension that selects nothing disables the checks of the indices after it. In a matrix whose
// column index is an int array, Stan goes through the columns, and in each through the rows. So an
// empty array of columns disables the row index. If both indices are int arrays and the elements
// are read, an empty array of rows also disables the columns.
func setParts(is []Index, read bool) {
	for k := range is {
		ix := &is[k]
		ix.Ends = ix.Array
		if !ix.Array && k+1 < len(is) && is[k+1].Kind == IndexMulti && ix.Kind != IndexSingle {
			ix.After = is[k+1].A
			ix.Ends = read && ix.Kind == IndexMulti
		}
		switch {
		case ix.Kind != IndexRange || ix.Row:
		case !ix.Array && (read || ix.B == nil):
			ix.Part = Begun
		case ix.Array && ix.B == nil:
			ix.Part = Counted
		}
	}
}

// indices lowers the indices of a container whose first ofArray dimensions are array dimensions.
func (l *lowerer) indices(is []ast.Index, ofArray int) []Index {
	var out []Index
	for k, i := range is {
		idx := Index{Kind: IndexAll, Array: k < ofArray, At: i.Span()}
		switch i := i.(type) {
		case *ast.Single:
			idx.A = l.expr(i.X)
			idx.Kind = IndexSingle
			if idx.A.Type().Dims > 0 {
				idx.Kind = IndexMulti
			}
		case *ast.Range:
			if i.From != nil {
				idx.A = l.expr(i.From)
			}
			if i.To != nil {
				idx.B = l.expr(i.To)
			}
			if i.From != nil || i.To != nil {
				idx.Kind, idx.Row = IndexRange, i.Row
			}
		}
		out = append(out, idx)
	}
	return out
}

// call lowers f(args).
func (l *lowerer) call(e *ast.CallExpr) Expr {
	call := l.info.Calls[e]
	if w, ok := call.Overload.(types.Written); ok {
		return l.written(e.Span(), e.Args, call, w)
	}
	ty, args := Typed{At: e.Span(), Ty: call.Match.Result}, l.exprs(e.Args)
	if call.Func == nil {
		if out := complexCall(ty.At, call.Name, args); out != nil {
			return out
		}
		if out := l.slice(ty, call.Name, args); out != nil {
			return out
		}
	}
	return l.resolved(ty, call, args)
}

// resolved returns the Call or UserCall of a resolved call, and promotes its arguments. Its level
// is the highest level of the arguments; ints have level Data.
func (l *lowerer) resolved(ty Typed, call *check.Call, args []Expr) Expr {
	ty.Lv = Data
	for i, p := range call.Match.Params {
		args[i] = promote(args[i], p)
		ty.Lv = max(ty.Lv, args[i].Level())
	}
	if ty.Ty.Kind == types.Int {
		ty.Lv = Data
	}
	if call.Func != nil {
		return &UserCall{ty, l.funcs[call.Func], args, call.Propto || call.Func == l.drops}
	}
	return &Call{ty, call.Name, call.Overload, args, call.Propto}
}

// promote converts e to type t; it must be promotable to t. In literals it promotes the elements,
// so that no work remains at run time.
func promote(e Expr, t types.Type) Expr {
	if e == nil || e.Type().Equal(t) || t.Kind == types.Invalid {
		return e
	}
	ty := Typed{e.Span(), t, e.Level()}
	switch e := e.(type) {
	case *IntLit:
		if t.Equal(types.RealType) {
			return &RealLit{ty, float64(e.Value)}
		}
	case *ArrayLit:
		elem, _ := t.Elem()
		out := &ArrayLit{Typed: ty}
		for _, x := range e.Elems {
			out.Elems = append(out.Elems, promote(x, elem))
		}
		return stack(ty, out.Elems, false)
	}
	if t.Composite() {
		if out := promoteLeaves(e, t); out != nil {
			return out
		}
	}
	return &Promote{ty, e}
}
