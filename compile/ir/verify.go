package ir

import (
	"errors"
	"fmt"

	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Verify checks the invariants that the evaluators rely on. Every variable is declared before use
// and has its own slot in its frame. Every call has exactly the argument types of its overload.
// Values that are assigned, returned or passed have exactly the required type. Conditions, sizes
// and indices are ints. An error is a bug of Lower, not of the user's program.
func (p *Program) Verify() error {
	v := &verifier{}
	for _, f := range p.Functions {
		v.function(f)
	}
	v.frame(p.NumVars)
	for _, x := range p.Data {
		v.declare(x)
	}
	v.stmts(p.TransformedData)
	for _, x := range p.Parameters {
		v.declare(x)
	}
	v.stmts(p.TransformedParameters)
	v.stmts(p.Model)
	v.stmts(p.GeneratedQuantities)
	for _, list := range [][]*Var{p.TransformedDataVars, p.TransformedParameterVars, p.GeneratedQuantityVars} {
		for _, x := range list {
			v.check(x != nil && v.declared[x] && x.Global, source.Span{}, "block variable %s is not declared at the top level", varName(x))
		}
	}
	return errors.Join(v.errs...)
}

type verifier struct {
	errs     []error
	numVars  int
	ids      map[int]*Var
	declared map[*Var]bool
	loops    int
	fn       *Function
	combine  bool // inside an Assign.Combine
}

// frame begins a frame of n variables.
func (v *verifier) frame(n int) {
	v.numVars, v.ids, v.declared = n, map[int]*Var{}, map[*Var]bool{}
}

func (v *verifier) check(ok bool, at source.Span, format string, args ...any) {
	if ok {
		return
	}
	msg := fmt.Sprintf(format, args...)
	if at.IsValid() {
		p := at.Begin()
		msg = fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, msg)
	}
	v.errs = append(v.errs, errors.New("ir: "+msg))
}

func (v *verifier) function(f *Function) {
	v.frame(f.NumVars)
	v.fn = f
	v.check(len(f.Params) == len(f.DataOnly), f.Span, "function %s: DataOnly is not parallel to Params", f.Name)
	for _, p := range f.Params {
		v.declare(p)
	}
	if f.Body == nil {
		v.check(false, f.Span, "function %s has no body", f.Name)
	} else {
		v.stmts(f.Body.Stmts)
	}
	v.fn = nil
}

// unpack checks that the variables match the leaves of the value.
func (v *verifier) unpack(s *Unpack) {
	leaves := v.expr(s.Value).Leaves()
	v.check(len(leaves) == len(s.Vars), s.At, "%d variables for %d leaves", len(s.Vars), len(leaves))
	for i, x := range s.Vars {
		v.declare(x)
		if x != nil && i < len(leaves) {
			v.check(x.Type.Equal(leaves[i].Type), s.At, "%s is %s, not %s", x.Name, x.Type, leaves[i].Type)
		}
	}
}

// declare checks a declaration and records the variable.
func (v *verifier) declare(x *Var) {
	if x == nil {
		v.check(false, source.Span{}, "missing variable")
		return
	}
	v.check(x.ID >= 0 && x.ID < v.numVars, x.Span, "%s#%d is outside a frame of %d", x.Name, x.ID, v.numVars)
	v.check(v.ids[x.ID] == nil || v.ids[x.ID] == x, x.Span, "%s shares its place with %s", x.Name, varName(v.ids[x.ID]))
	v.ids[x.ID] = x
	v.check(!x.Type.Composite(), x.Span, "%s is %s", x.Name, x.Type)
	v.check(len(x.Sizes) == 0 || len(x.Sizes) == x.Type.Rank(), x.Span, "%s has %d sizes, not %d", x.Name, len(x.Sizes), x.Type.Rank())
	for _, s := range x.Sizes {
		v.int(s, "size")
	}
	for _, b := range []Expr{x.Constraint.Lower, x.Constraint.Upper} {
		if b != nil {
			t := v.expr(b)
			v.check(t.Equal(x.Type) || t.Equal(types.Type{Kind: x.Type.Scalar()}), b.Span(), "bound of %s is %s", x.Name, t)
		}
	}
	v.declared[x] = true
}

func (v *verifier) stmts(ss []Stmt) {
	for _, s := range ss {
		v.stmt(s)
	}
}

func (v *verifier) stmt(s Stmt) {
	switch s := s.(type) {
	case *Declare:
		v.declare(s.Var)
		if s.Init != nil {
			v.same(s.Init, s.Var.Type, "initial value")
		}
	case *Unpack:
		v.unpack(s)
	case *Assign:
		v.assign(s)
	case *Target:
		t := v.expr(s.Value)
		v.check(t.Scalar() != types.Invalid, s.At, "target += %s", t)
	case *Tilde:
		v.same(s.Density, types.RealType, "density")
		switch d := s.Density.(type) {
		case *Call:
			v.check(d.Propto, s.At, "~ keeps constants")
		case *UserCall:
			v.check(d.Propto, s.At, "~ keeps constants")
		default:
			v.check(false, s.At, "~ with %T", d)
		}
	case *CallStmt:
		if s.Call == nil {
			v.check(false, s.At, "call of nothing")
			return
		}
		v.check(v.expr(s.Call).Kind == types.Void, s.At, "a value is not used")
	case *For:
		v.int(s.From, "bound")
		v.int(s.To, "bound")
		v.check(s.Var != nil && s.Var.Type.Equal(types.IntType), s.At, "loop variable is not int")
		v.loop(s.Var, s.Body)
	case *ForEach:
		t := v.expr(s.Over)
		elem, ok := t.Elem()
		if t.Dims == 0 {
			elem = types.Type{Kind: t.Scalar()}
		}
		v.check(ok && s.Var != nil && s.Var.Type.Equal(elem), s.At, "loop over %s", t)
		v.loop(s.Var, s.Body)
	case *While:
		v.int(s.Cond, "condition")
		v.loops++
		v.stmt(s.Body)
		v.loops--
	case *If:
		v.int(s.Cond, "condition")
		v.stmt(s.Then)
		if s.Else != nil {
			v.stmt(s.Else)
		}
	case *Block:
		v.stmts(s.Stmts)
	case *Break:
		v.check(v.loops > 0, s.At, "break outside a loop")
	case *Continue:
		v.check(v.loops > 0, s.At, "continue outside a loop")
	case *Return:
		switch {
		case v.fn == nil:
			v.check(false, s.At, "return outside a function")
		case s.Value == nil:
			v.check(v.fn.Result.Kind == types.Void, s.At, "return without a value")
		default:
			v.same(s.Value, v.fn.Result, "result")
		}
	case *Print:
		v.printed(s.Args)
	case *Reject:
		v.printed(s.Args)
	default:
		v.check(false, source.Span{}, "unknown statement %T", s)
	}
}

func (v *verifier) loop(x *Var, body Stmt) {
	v.declare(x)
	v.loops++
	v.stmt(body)
	v.loops--
}

func (v *verifier) printed(args []Expr) {
	for _, a := range args {
		if _, ok := a.(*StringLit); !ok {
			v.expr(a)
		}
	}
}

func (v *verifier) assign(s *Assign) {
	if s.Var == nil || !v.declared[s.Var] {
		v.check(false, s.At, "assignment to %s before its declaration", varName(s.Var))
		return
	}
	v.check(!s.Var.Loop, s.At, "assignment to the loop variable %s", s.Var.Name)
	place, ok := v.indexed(s.Var.Type, s.Indices)
	v.check(ok, s.At, "bad indices of %s", s.Var.Name)
	if s.Op == "" {
		v.check(s.Combine == nil, s.At, "plain assignment with an operation")
		v.same(s.Value, place, "assigned value")
		return
	}
	v.expr(s.Value)
	v.combine = true
	v.same(s.Combine, place, "assigned value")
	v.combine = false
}

// same checks that an expression has exactly the type t.
func (v *verifier) same(e Expr, t types.Type, what string) {
	if e == nil {
		v.check(false, source.Span{}, "missing %s", what)
		return
	}
	got := v.expr(e)
	v.check(got.Equal(t), e.Span(), "%s is %s, not %s", what, got, t)
}

func (v *verifier) int(e Expr, what string) { v.same(e, types.IntType, what) }

// expr checks an expression and returns its type.
func (v *verifier) expr(e Expr) types.Type {
	switch e := e.(type) {
	case nil:
		v.check(false, source.Span{}, "missing expression")
		return types.Type{}
	case *IntLit:
		v.check(e.Ty.Equal(types.IntType), e.At, "literal of type %s", e.Ty)
	case *RealLit:
		v.check(e.Ty.Equal(types.RealType), e.At, "literal of type %s", e.Ty)
	case *VarRef:
		if v.check(e.Var != nil && v.declared[e.Var], e.At, "%s is used before its declaration", varName(e.Var)); e.Var != nil {
			v.check(e.Ty.Equal(e.Var.Type), e.At, "%s has type %s, not %s", e.Var.Name, e.Var.Type, e.Ty)
		}
	case *Operand:
		v.check(v.combine, e.At, "operand outside a compound assignment")
	case *Call:
		v.call(e)
	case *UserCall:
		v.userCall(e)
	case *IndexExpr:
		t, ok := v.indexed(v.expr(e.X), e.Indices)
		v.check(ok && t.Equal(e.Ty), e.At, "indexed value has type %s, not %s", t, e.Ty)
	case *Cond:
		v.int(e.Cond, "condition")
		v.same(e.Then, e.Ty, "result of ?:")
		v.same(e.Else, e.Ty, "result of ?:")
	case *And:
		v.int(e.X, "operand")
		v.int(e.Y, "operand")
	case *Or:
		v.int(e.X, "operand")
		v.int(e.Y, "operand")
	case *ArrayLit:
		v.elems(e.Ty, e.Elems)
	case *RowVectorLit:
		v.elems(e.Ty, e.Elems)
	case *Promote:
		from := v.expr(e.X)
		n, ok := types.Promotable(from, e.Ty)
		v.check(ok && n > 0, e.At, "%s is not promoted to %s", from, e.Ty)
	case *Tuple:
		var got []types.Type
		for _, x := range e.Elems {
			for _, leaf := range v.expr(x).Leaves() {
				got = append(got, leaf.Type)
			}
		}
		v.leaves(e.At, e.Ty, got, "tuple")
		v.check(e.Ty.Composite(), e.At, "a tuple of type %s", e.Ty)
	case *Member:
		t := v.expr(e.X)
		ok := t.Kind == types.Tuple && t.Dims == 0 && e.I >= 0 && e.I < len(t.Members)
		v.check(ok && t.Members[e.I].Equal(e.Ty), e.At, "member %d of %s is not %s", e.I, t, e.Ty)
	case *TargetValue:
	default:
		v.check(false, e.Span(), "unexpected %T", e)
	}
	if e.Type().Kind == types.Int {
		v.check(e.Level() == Data, e.Span(), "an int has level param")
	}
	return e.Type()
}

// leaves checks that the leaves of t have those types.
func (v *verifier) leaves(at source.Span, t types.Type, got []types.Type, what string) {
	want := t.Leaves()
	v.check(len(want) == len(got), at, "%s has %d leaves, not %d", what, len(got), len(want))
	for i := range min(len(want), len(got)) {
		v.check(want[i].Type.Equal(got[i]), at, "leaf %d of %s is %s, not %s", i+1, what, got[i], want[i].Type)
	}
}

func (v *verifier) elems(t types.Type, es []Expr) {
	elem, _ := t.Elem()
	for _, e := range es {
		v.same(e, elem, "element")
	}
}

// args checks arguments and returns their types.
func (v *verifier) args(es []Expr) []types.Type {
	var ts []types.Type
	for _, e := range es {
		ts = append(ts, v.expr(e))
	}
	return ts
}

func (v *verifier) call(e *Call) {
	ts := v.args(e.Args)
	if e.Overload == nil {
		v.check(false, e.At, "%s is not resolved", e.Name)
		return
	}
	m, ok := e.Overload.Match(ts)
	v.check(ok, e.At, "%s does not match %v", e.Name, ts)
	if !ok {
		return
	}
	v.check(m.Result.Equal(e.Ty), e.At, "%s gives %s, not %s", e.Name, m.Result, e.Ty)
	for i := range ts {
		v.check(ts[i].Equal(m.Params[i]), e.At, "argument %d of %s is %s, not %s", i+1, e.Name, ts[i], m.Params[i])
	}
}

func (v *verifier) userCall(e *UserCall) {
	v.args(e.Args)
	if e.Func == nil {
		v.check(false, e.At, "call of nothing")
		return
	}
	v.check(e.Ty.Equal(e.Func.Result), e.At, "%s gives %s, not %s", e.Func.Name, e.Func.Result, e.Ty)
	k := 0
	for _, a := range e.Args {
		for _, leaf := range a.Type().Leaves() {
			if k >= len(e.Func.Params) {
				v.check(false, e.At, "%s is called with too much", e.Func.Name)
				return
			}
			p := e.Func.Params[k]
			v.check(leaf.Type.Equal(p.Type), e.At, "argument %s of %s is %s, not %s", p.Name, e.Func.Name, leaf.Type, p.Type)
			v.check(!e.Func.DataOnly[k] || a.Level() == Data, e.At, "argument %s of %s is not data", p.Name, e.Func.Name)
			k++
		}
	}
	v.check(k == len(e.Func.Params), e.At, "%s is called with too little", e.Func.Name)
}

// indexed checks indices and returns the type of the indexed value.
func (v *verifier) indexed(t types.Type, is []Index) (types.Type, bool) {
	for _, i := range is {
		switch i.Kind {
		case IndexSingle:
			v.int(i.A, "index")
		case IndexMulti:
			v.same(i.A, types.IntType.Array(1), "index")
		case IndexRange:
			v.check(i.A != nil || i.B != nil, i.At, "range without bounds")
			for _, b := range []Expr{i.A, i.B} {
				if b != nil {
					v.int(b, "bound of an index")
				}
			}
		}
	}
	if len(is) > t.Rank() {
		return types.Type{}, false
	}
	// Go from the first index to the last: a single index removes a dimension.
	keep := 0
	for len(is) > 0 && t.Dims > 0 {
		t.Dims--
		if is[0].Kind != IndexSingle {
			keep++
		}
		is = is[1:]
	}
	one := func(i int) bool { return i < len(is) && is[i].Kind == IndexSingle }
	switch {
	case t.Rank() == 2 && one(0) && one(1), t.Rank() == 1 && one(0):
		t = types.Type{Kind: t.Scalar()}
	case t.Rank() == 2 && one(0):
		t = ofScalar(types.RowVectorType, t)
	case t.Rank() == 2 && one(1):
		t = ofScalar(types.VectorType, t)
	}
	return t.Array(keep), true
}

// ofScalar returns t, made complex if like is complex.
func ofScalar(t, like types.Type) types.Type {
	if like.Scalar() == types.Complex {
		t, _ = t.WithElem(types.Complex)
	}
	return t
}
