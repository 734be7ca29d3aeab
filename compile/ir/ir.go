// Package ir is the typed intermediate representation of a program. It holds what the checker
// accepted, with every name resolved to its variable, every call to its overload, and every
// promotion explicit. Both evaluators of package compile walk this form: the partial evaluator that
// binds data, and the plain interpreter. So the meaning of names and types is settled once.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// [Lower] makes it from a checked tree, [Program.Verify] checks its invariants, and
// [Program.String] prints it. [Inspect], [Stmts], [Exprs] and [Vars] traverse it; only walk.go
// lists the children of nodes. Programs are not rewritten after lowering, so there is no Rewrite.
//
// # Tuples and complex numbers
//
// Variables have simple types only: ints, reals and containers of these. A declared variable of a
// tuple or complex type becomes one variable for each of its leaves ([types.Type.Leaves]). The
// leaves are the members of a tuple, and the real and imaginary parts. An array of tuples becomes
// arrays of their members. Expressions may have composite types; their values are lists of leaves.
// Only [Tuple], [Member], calls, conditional expressions, indices, literals and promotions have
// such types, and only [Unpack] stores them. [Layout] puts the numbers of a declared variable
// together again.
package ir

import (
	"cmp"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Level is the autodiff level of an expression. As in Stan, it depends on the declaration, not on
// the value. A local variable or transformed parameter of the model has level Param even if only
// data were assigned to it; `~` drops the terms whose arguments are all of level Data.
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

	// The top-level variables of these blocks, in order of declaration. Declare statements of the
	// blocks declare them.
	TransformedDataVars      []*Var
	TransformedParameterVars []*Var
	GeneratedQuantityVars    []*Var
	NumVars                  int // Var.ID in the global scope is less than this

	Leaves bool // see LowerLeaving

	Notes []string // remarks of the rewriting before, "line 12: …"
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
	Span       source.Span // of the name in its declaration
	Missing    bool        // data with elements that may be missing; its level is Param
	Places     *Places     // of a parameter that consists of the missing elements of data; else nil
	Ragged     *Ragged     // how the elements are divided into rows that differ in size; else nil
	Marks      bool        // a local array of zeros; Density has derivatives by it, see package marginal
	Sparse     *Sparse     // of the values of a sparse matrix; else nil
	Values     *Var        // of the rows or columns of a sparse matrix in the data: its values; else nil

	// For a leaf of a variable that is declared with a composite type; Whole is nil for other
	// variables. The Name of a leaf is the member's name, such as t.2.1.
	Whole *Whole
	Part  types.ComplexPart
}

// Places are the elements of an array that a vector consists of, for their names.
type Places struct {
	Shape    []int
	Elements []int // in row-major order, from 0
}

// Ragged describes the rows of a variable whose elements are stored one row after another. Its type
// is that of the stored elements.
type Ragged struct {
	Sizes []Expr // of all dimensions as declared; that of dimension At is an array of integers
	Outer int    // the number of dimensions before a row
	At    int    // the dimension whose size differs between rows
}

// Sparse describes the sparse matrix that a vector has the values of.
type Sparse struct {
	Rows, Columns      Expr // as declared
	Count, Row, Column *Var // of data: the variables with the number of values, their rows and columns
	Pattern            *Var // of others: the places of the values
}

// Whole is a declared variable of a composite type.
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
	NumVars  int    // frame size: Var.ID of parameters and locals is less than this
	Span     source.Span

	// The operation of a function in the library's Stan sources that programs cannot write. It has
	// no body to run.
	Intrinsic Intrinsic
	Of        *Function // of a Jacobian: the function to differentiate
	Arg       int       // of a Jacobian: the index in Params of the vector to differentiate by

	// Tolerance is the default tolerance of a solver of the library, see types.Written. It is 0 for
	// other functions.
	Tolerance float64
}

// Intrinsic is the operation of a function without a body.
type Intrinsic uint8

// The intrinsics.
const (
	NoIntrinsic Intrinsic = iota
	Jacobian              // the Jacobian matrix of a function with respect to a vector argument
	Detach                // the argument; derivatives treat it as constant
)

// ---- Statements ----

// Stmt is a statement.
type Stmt interface {
	Node
	stmt()
}

// Pos is the position of a statement in the source. Every statement embeds it.
type Pos struct{ At source.Span }

// Span returns the source span of the statement.
func (p Pos) Span() source.Span { return p.At }

type (
	// Declare creates Var, then assigns Init if not nil. The initial value is NaN for reals and the
	// least value for ints. Each execution creates it again.
	Declare struct {
		Pos
		Var  *Var
		Init Expr // already promoted to Var.Type; nil if none
	}
	// Unpack creates variables without declared sizes: the leaves of Value, in order.
	Unpack struct {
		Pos
		Vars  []*Var
		Value Expr
	}
	// Assign stores Value in Var at Indices (none: the whole variable). For a compound assignment,
	// Op is the operator ("+", "*", …, ".*"), Value is the right operand, and Combine is the
	// resolved operation on (old, Value), whose first argument is an Operand.
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
		InOrder  bool // random numbers are drawn iteration by iteration

		// Accumulated is another form of Body, or nil. It is not a child of the statement.
		Accumulated *Accumulated
	}
	// ForEach runs Body with Var = each element of Over, an array or a vector. A loop over a matrix
	// is lowered to two loops: over its rows, and over the elements of a row.
	ForEach struct {
		Pos
		Var  *Var
		Over Expr
		Body Stmt
	}
	// While runs Body as long as Cond (an int) is not 0.
	While struct {
		Pos
		Cond Expr
		Body Stmt

		// Counted is another form of the loop, with a For, if the loop counts. It is nil for other
		// loops, and is not a child of the statement.
		Counted *Block
	}
	// If runs Then if Cond (an int) is not 0, otherwise Else, which may be nil.
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
	// Print writes its arguments.
	Print struct {
		Pos
		Args []Expr
	}
	// Reject ends the evaluation at this point with the text of its arguments. With Fatal it ends
	// the run.
	Reject struct {
		Pos
		Fatal bool
		Range bool // it reports an index that is out of range: an error as for other indices
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

// Typed is the type, level and position of an expression. Every expression embeds it.
type Typed struct {
	At source.Span
	Ty types.Type
	Lv Level
}

// Span returns the source span of the expression.
func (t Typed) Span() source.Span { return t.At }

// Type returns the type of the expression.
func (t Typed) Type() types.Type { return t.Ty }

// Level returns the autodiff level of the expression.
func (t Typed) Level() Level { return t.Lv }

type (
	// IntLit is an integer literal.
	IntLit struct {
		Typed
		Value int64
	}
	// RealLit is a real literal.
	RealLit struct {
		Typed
		Value float64
	}
	// StringLit is a string, of type Invalid. It occurs in Print and Reject only.
	StringLit struct {
		Typed
		Value string
	}
	// VarRef reads a variable.
	VarRef struct {
		Typed
		Var *Var
		For string // the name for messages, if it is not that of the variable
	}
	// Operand is the old value of the assigned variable or elements. It occurs in Assign.Combine
	// only.
	Operand struct{ Typed }
	// Call calls the library. Operators are also calls, named "operator+", "operator'" and so on.
	// && || and ?: are not, since they do not evaluate all operands. Overload is the resolved
	// declaration; Args are promoted to its parameter types. Propto drops the terms of level Data
	// (`~`, _lupdf, _lupmf).
	Call struct {
		Typed
		Name     string
		Overload types.Overload
		Args     []Expr
		Propto   bool
	}
	// UserCall calls a user function. Propto is as in Call, for user densities.
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
	// Cond is ?: .
	Cond struct {
		Typed
		Cond, Then, Else Expr
	}
	// And is &&. It evaluates Y only if needed.
	And struct {
		Typed
		X, Y Expr
	}
	// Or is ||. It evaluates Y only if needed.
	Or struct {
		Typed
		X, Y Expr
	}
	// ArrayLit is {a, b, …}, with elements of one type.
	ArrayLit struct {
		Typed
		Elems []Expr
	}
	// RowVectorLit is [a, b, …]. Depending on Type, it is a row_vector of reals or a matrix of
	// row_vectors.
	RowVectorLit struct {
		Typed
		Elems []Expr
	}
	// Promote is X with its element kind promoted to that of Type: int to real, or real to complex.
	// It also promotes within tuples.
	Promote struct {
		Typed
		X Expr
	}
	// Tuple is a value of a composite type. Its leaves are the leaves of Elems, one after another.
	Tuple struct {
		Typed
		Elems []Expr

		// Rows, if not 0, says that the two members are a ragged variable and the sizes of its
		// rows, which follow one another along its dimension Rows-1. Only print has such an
		// argument.
		Rows int
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

func (*IntLit) expr()    {}
func (*RealLit) expr()   {}
func (*StringLit) expr() {}
func (*VarRef) expr()    {}
func (*Operand) expr()   {}
func (*Call) expr()      {}
func (*UserCall) expr()  {}
func (*IndexExpr) expr() {}

// Name returns the name of the variable for messages.
func (r *VarRef) Name() string { return cmp.Or(r.For, r.Var.Name) }

func (*Cond) expr()         {}
func (*And) expr()          {}
func (*Or) expr()           {}
func (*ArrayLit) expr()     {}
func (*RowVectorLit) expr() {}
func (*Promote) expr()      {}
func (*Tuple) expr()        {}
func (*Member) expr()       {}
func (*TargetValue) expr()  {}

// IndexKind is the kind of an index: what it selects.
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
	Array bool // whether it indexes a dimension of an array
	Ends  bool // if it selects nothing, the indices after it are not checked, as in Stan
	Part  Part // the conditions on an IndexRange
	Row   bool // an IndexRange that may be empty at any position: a row of a ragged variable
	A, B  Expr
	After Expr // an int array, or nil; if it has no elements, this index is not checked, as in Stan
	At    source.Span
}

// Part lists the conditions on a range in addition to the existence of its elements. As in Stan, a
// range of an array, x[a:b], may be empty at any position. So may a range that is assigned to,
// x[a:b] = y. Other ranges must begin at an element even if they are empty.
type Part uint8

// The conditions that a Part may have.
const (
	NoPart     Part = iota
	Counted         // the length B-A+1 must not be negative, as for head, tail, and x[a:] of arrays
	Positioned      // Counted, and A must be a position even if the range is empty: segment, sub_row, sub_col
	Enclosed        // A and B must be positions even if the range is empty: block
	Begun           // A must be a position even if B is before it: reads of vectors and matrices; x[a:] = y
)

// Wrong checks a range from lo to hi of a dimension against the conditions of the part. If one
// fails, it returns the number to report and true. That number is a negative number of elements, or
// the invalid position of an empty range.
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
