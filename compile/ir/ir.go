// Package ir is the typed program: what the checker accepted, with every name
// resolved to its variable, every call to its overload, and every promotion
// written out. Both evaluators of compile (the partial evaluator that binds
// data and the plain interpreter) walk this form, so that the meaning of names
// and types is settled once.
//
// [Lower] makes it from a checked tree, [Program.Verify] checks its
// invariants, [Program.String] prints it. [Inspect], [Stmts], [Exprs] and [Vars] go
// over it; walk.go alone lists the children of nodes. Programs are not rewritten
// after lowering, so that there is no Rewrite.
//
// # Tuples and complex numbers
//
// Variables are of simple types only: ints, reals and containers of these. A
// declared variable of a tuple type, or a complex one, becomes one variable for
// each of its leaves ([types.Type.Leaves]): its members, and real and imaginary parts; an array of
// tuples becomes arrays of their members. Expressions may have composite types;
// their values are lists of leaves. Only [Tuple], [Member], calls, choices,
// indices, literals and promotions have such types, and only [Unpack] stores
// them. [Layout] puts the numbers of a declared variable together again.
package ir

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Level is the autodiff level of an expression: by declaration, as in Stan, not
// by value. A local variable or transformed parameter of the model is of level
// Param even when only data were assigned to it; `~` drops the terms whose
// arguments are all of level Data.
type Level uint8

// The levels.
const (
	Data Level = iota
	Param
)

// Program is a whole typed program. Statement lists are in source order.
type Program struct {
	Source    *source.File
	Functions []*Function

	Data                  []*Var // in order of declaration; sizes and bounds may refer to earlier ones
	TransformedData       []Stmt // declarations and statements
	Parameters            []*Var
	TransformedParameters []Stmt
	Model                 []Stmt
	GeneratedQuantities   []Stmt

	// The top-level variables of the blocks that a draw is made of, in order of
	// declaration (they are declared by Declare statements of their block).
	TransformedDataVars      []*Var
	TransformedParameterVars []*Var
	GeneratedQuantityVars    []*Var
	NumVars                  int // Var.ID of global scope are below this
}

// Var is a variable. Variables are compared by pointer; ID indexes a frame: the
// global frame for block variables and their nested locals, a function's own
// frame for its parameters and locals.
type Var struct {
	ID    int
	Name  string
	Type  types.Type
	Sizes []Expr // sizes of array dimensions, outermost first, then rows/columns or length; empty for loop variables and function parameters
	// Constraint of the declaration; zero for none.
	Constraint Constraint
	Block      ast.BlockKind // block of declaration; Functions for function locals
	Global     bool          // declared at the top level of its block
	Loop       bool          // loop variable: read-only
	Level      Level
	Span       source.Span // of the name in the declaration

	// Of the leaf of a variable that is declared with a composite type; Whole is
	// nil for others. Name is then that of the member, such as t.2.1.
	Whole *Whole
	Part  types.ComplexPart
}

// Whole is a variable as it is declared, of a composite type.
type Whole struct {
	Name string
	Type types.Type
}

// Constraint is a declared constraint with its arguments as expressions.
type Constraint struct {
	Kind  types.ConstraintKind
	Lower Expr // lower bound or offset; nil if absent. Scalar or of the variable's own shape
	Upper Expr // upper bound or multiplier; nil if absent
}

// Function is a user-defined function.
type Function struct {
	Name     string
	Params   []*Var // the leaves of the parameters, one after another
	DataOnly []bool
	Result   types.Type
	Body     *Block // nil only while lowering
	NumVars  int    // frame size: Var.ID of parameters and locals are below this
	Span     source.Span

	// What a function of the library's texts does that no program can write; it
	// has no body to run.
	Intrinsic Intrinsic
	Of        *Function // whose Jacobian it is
	Arg       int       // by which of its Params, a vector

	// Tolerance is that of a solver of the library, see types.Written; 0 of other functions.
	Tolerance float64
}

// Intrinsic is what a function without a body does.
type Intrinsic uint8

// The intrinsics.
const (
	NoIntrinsic Intrinsic = iota
	Jacobian              // the matrix of derivatives of a function's vector by a vector argument
	Detach                // the argument, taken as constant by derivatives
)

// ---- Statements ----

// Stmt is a statement.
type Stmt interface {
	Node
	stmt()
}

// Pos is embedded in every statement.
type Pos struct{ At source.Span }

// Span is where the statement stands.
func (p Pos) Span() source.Span { return p.At }

type (
	// Declare brings Var into being (real: NaN, int: the least value), then
	// assigns Init if not nil. Each execution makes it anew.
	Declare struct {
		Pos
		Var  *Var
		Init Expr // already promoted to Var.Type; nil if none
	}
	// Unpack brings variables without declared sizes into being: the leaves of
	// Value, in order.
	Unpack struct {
		Pos
		Vars  []*Var
		Value Expr
	}
	// Assign stores Value in Var at Indices (none: the whole variable). For a
	// compound assignment, Op is the operator ("+", "*", …, ".*"), Value is the
	// right operand and Result the resolved operation on (old, Value), whose
	// first argument is an Operand.
	Assign struct {
		Pos
		Var     *Var
		Indices []Index
		Op      string
		Value   Expr
		Combine Expr // nil if Op is ""
	}
	// Target is target += Value; a container's elements are all added.
	// Jacobian marks jacobian += .
	Target struct {
		Pos
		Value    Expr
		Jacobian bool
	}
	// Tilde is variate ~ dist(args), with terms of level Data dropped. Density is
	// the resolved lpdf/lpmf: a *Call with Propto set, or a *UserCall.
	Tilde struct {
		Pos
		Density Expr
		Name    string // distribution name without suffix
	}
	// CallStmt calls a void user function.
	CallStmt struct {
		Pos
		Call *UserCall
	}
	// For runs Body with Var = From..To, both evaluated once.
	For struct {
		Pos
		Var      *Var
		From, To Expr
		Body     Stmt
	}
	// ForEach runs Body with Var = each element of Over, an array or a vector. (A loop over
	// a matrix is lowered to two, over its rows and over the elements of a row.)
	ForEach struct {
		Pos
		Var  *Var
		Over Expr
		Body Stmt
	}
	// While runs Body while Cond (an int) is not 0.
	While struct {
		Pos
		Cond Expr
		Body Stmt
	}
	// If chooses by Cond (an int); Else may be nil.
	If struct {
		Pos
		Cond       Expr
		Then, Else Stmt
	}
	// Block is a sequence.
	Block struct {
		Pos
		Stmts []Stmt
	}
	// Break leaves the innermost loop.
	Break struct{ Pos }
	// Continue goes on with the next iteration.
	Continue struct{ Pos }
	// Return leaves the function; Value (already promoted) is nil for void.
	Return struct {
		Pos
		Value Expr
	}
	// Print writes its arguments; Reject ends the evaluation at this point with
	// their text (Fatal: ends the run).
	Print struct {
		Pos
		Args []Expr
	}
	// Reject ends the evaluation.
	Reject struct {
		Pos
		Fatal bool
		Args  []Expr
	}
)

func (*Declare) stmt()  {}
func (*Unpack) stmt()   {}
func (*Assign) stmt()   {}
func (*Target) stmt()   {}
func (*Tilde) stmt()    {}
func (*CallStmt) stmt() {}
func (*For) stmt()      {}
func (*ForEach) stmt()  {}
func (*While) stmt()    {}
func (*If) stmt()       {}
func (*Block) stmt()    {}
func (*Break) stmt()    {}
func (*Continue) stmt() {}
func (*Return) stmt()   {}
func (*Print) stmt()    {}
func (*Reject) stmt()   {}

// ---- Expressions ----

// Expr is a typed expression.
type Expr interface {
	Node
	Type() types.Type
	Level() Level
	expr()
}

// Typed is embedded in every expression.
type Typed struct {
	At source.Span
	Ty types.Type
	Lv Level
}

// Span is where the expression stands.
func (t Typed) Span() source.Span { return t.At }

// Type is the expression's type.
func (t Typed) Type() types.Type { return t.Ty }

// Level is the expression's autodiff level.
func (t Typed) Level() Level { return t.Lv }

type (
	// IntLit, RealLit and StringLit are literals; a StringLit (type Invalid)
	// occurs in Print and Reject only.
	IntLit struct {
		Typed
		Value int64
	}
	// RealLit is a real literal.
	RealLit struct {
		Typed
		Value float64
	}
	// StringLit is a string in print or reject.
	StringLit struct {
		Typed
		Value string
	}
	// VarRef reads a variable.
	VarRef struct {
		Typed
		Var *Var
	}
	// Operand is the old value of the assigned place, in Assign.Combine only.
	Operand struct{ Typed }
	// Call calls the library. Operators are calls too, named "operator+",
	// "operator'" and so on; && || and ?: are not, since they do not evaluate
	// all operands. Overload is the declaration that was resolved; Args are
	// promoted to what it wants. Propto drops the terms of level Data (`~`,
	// _lupdf, _lupmf).
	Call struct {
		Typed
		Name     string
		Overload types.Overload
		Args     []Expr
		Propto   bool
	}
	// UserCall calls a user function. Propto as in Call, for user densities.
	UserCall struct {
		Typed
		Func   *Function
		Args   []Expr
		Propto bool
	}
	// IndexExpr is X[Indices…].
	IndexExpr struct {
		Typed
		X       Expr
		Indices []Index
	}
	// Cond is ?: ; And and Or evaluate their right side only if needed.
	Cond struct {
		Typed
		Cond, Then, Else Expr
	}
	// And is &&.
	And struct {
		Typed
		X, Y Expr
	}
	// Or is ||.
	Or struct {
		Typed
		X, Y Expr
	}
	// ArrayLit is {a, b, …}: elements of one type.
	ArrayLit struct {
		Typed
		Elems []Expr
	}
	// RowVectorLit is [a, b, …]: a row_vector of reals or a matrix of
	// row_vectors, as Type says.
	RowVectorLit struct {
		Typed
		Elems []Expr
	}
	// Promote is X with its element kind promoted to Type: int to real, real to
	// complex, also within tuples.
	Promote struct {
		Typed
		X Expr
	}
	// Tuple is a value of a composite type: the leaves of Elems, one after
	// another, are its own.
	Tuple struct {
		Typed
		Elems []Expr
	}
	// Member is one member of a tuple, counted from 0.
	Member struct {
		Typed
		X Expr
		I int
	}
	// TargetValue is target().
	TargetValue struct{ Typed }
)

func (*IntLit) expr()       {}
func (*RealLit) expr()      {}
func (*StringLit) expr()    {}
func (*VarRef) expr()       {}
func (*Operand) expr()      {}
func (*Call) expr()         {}
func (*UserCall) expr()     {}
func (*IndexExpr) expr()    {}
func (*Cond) expr()         {}
func (*And) expr()          {}
func (*Or) expr()           {}
func (*ArrayLit) expr()     {}
func (*RowVectorLit) expr() {}
func (*Promote) expr()      {}
func (*Tuple) expr()        {}
func (*Member) expr()       {}
func (*TargetValue) expr()  {}

// IndexKind tells what an index selects.
type IndexKind uint8

// The kinds of index.
const (
	IndexSingle IndexKind = iota // one element: reduces the rank
	IndexMulti                   // an int array: A is the array
	IndexRange                   // A:B, either may be nil
	IndexAll                     // all of the dimension
)

// Index is one index, counted from 1.
type Index struct {
	Kind  IndexKind
	Array bool // of a dimension of an array
	Ends  bool // where it selects nothing, as in Stan none of the indices after it is looked at
	Part  Part // of an IndexRange
	A, B  Expr
	After Expr // an int array, or nil: where it has no elements, as in Stan this index is not looked at
	At    source.Span
}

// Part tells what a range must hold to beside that its elements exist. A range of
// an array, x[a:b], may be empty wherever it lies, and so may one that is assigned
// to, x[a:b] = y; other ranges begin at an element even if they have none, as Stan has it.
type Part uint8

// The parts.
const (
	NoPart     Part = iota
	Counted         // the number of elements, B-A+1, is not negative: head, tail, x[a:] of arrays
	Positioned      // and A is the position of an element, even of none: segment, sub_row, sub_col
	Enclosed        // and so is B, even of none: block
	Begun           // A is the position of an element, even if B is before it: x[a:b], x[a:] and x[:b] of vectors and matrices that are read, x[a:] that is assigned to
)

// Wrong reports what of a range from lo to hi of a dimension is not as the part
// demands: a negative number of elements, or the position before which none are
// taken.
func (p Part) Wrong(lo, hi int64, size int) (int64, bool) {
	n, outside := hi-lo+1, lo < 1 || lo > int64(size)
	switch {
	case (p == Counted || p == Positioned || p == Enclosed) && n < 0:
		return n, true
	case p == Enclosed && n == 0 && hi < 1:
		return hi, true
	case (p == Positioned || p == Enclosed) && n == 0 && outside, p == Begun && n <= 0 && outside:
		return lo, true
	}
	return 0, false
}
