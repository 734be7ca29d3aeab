package ast

import (
	"slices"

	"github.com/ppl-lang/ppl/lang/source"
)

// Node is any part of the tree. Its children are listed in walk.go.
type Node interface{ Span() source.Span }

// Base carries the span of a node; it is embedded in every one.
type Base struct {
	Pos source.Span

	// Written is what the program has here, if the node was rewritten; else nil. Messages quote it.
	Written Node
}

// AsWritten returns what the program had in place of a node that was rewritten, or the node.
func AsWritten[N Node](n N) N {
	if r, ok := any(n).(interface{ written() Node }); ok {
		if w, ok := r.written().(N); ok {
			return w
		}
	}
	return n
}

func (b Base) written() Node { return b.Written }

// Span returns the node's position in the source.
func (b Base) Span() source.Span { return b.Pos }

// Ident is an occurrence of a name.
type Ident struct {
	Base
	Name string
}

// ---- Program ----

// BlockKind names a program block.
type BlockKind int

// The blocks, in the order in which a program must write them.
const (
	Functions BlockKind = iota
	Data
	TransformedData
	Parameters
	TransformedParameters
	Model
	GeneratedQuantities
)

var blockNames = [...]string{"functions", "data", "transformed data", "parameters", "transformed parameters", "model", "generated quantities"}

// String returns the block's name as it is written in a program.
func (k BlockKind) String() string { return blockNames[k] }

// File is a whole program.
type File struct {
	Base
	Source *source.File
	Blocks []*Block // in source order
	// Comments lists the comments in source order. Nodes do not refer to them.
	Comments []Comment
	// Lost lists the parts of the text that the parser could not understand. No node represents
	// them, and Equal ignores them.
	Lost []source.Span
}

// Comment is a comment; its span covers the delimiters, Span().Text() is its
// text.
type Comment struct{ Base }

// Block returns the first block of that kind, or nil.
func (f *File) Block(k BlockKind) *Block {
	for _, b := range f.Blocks {
		if b.Kind == k {
			return b
		}
	}
	return nil
}

// Block is one program block. Functions hold FunctionDecl statements only.
type Block struct {
	Base
	Kind  BlockKind
	Stmts []Stmt
}

// ---- Types as written ----

// TypeExpr is a type as written in a declaration, an argument list or a result: `array[N]
// vector<lower=0>[K]`. For unsized types (function arguments) it has no size expressions, and
// Unsized is true.
type TypeExpr struct {
	Base
	Unsized   bool
	ArrayDims []Expr // sizes of array[...], outermost first; nil entries if Unsized
	Elem      string // element type keyword: int, real, complex, vector, row_vector, matrix, cholesky_factor_corr, ordered, simplex, ..., tuple, void
	Sizes     []Expr // sizes of vector[..] or matrix[..,..]; nil if Unsized
	Bounds    []Bound
	Members   []*TypeExpr // members of a tuple
}

// Bound is one entry of <lower=…, upper=…, offset=…, multiplier=…, missing, censored_below=…,
// labels=…>.
type Bound struct {
	Base
	Kind  string // lower, upper, offset, multiplier, Missing, Labels, or one for which Cuts is true
	Value Expr   // nil for Missing
}

// Labels is the kind of the entry that gives a label to each element of the dimensions whose size
// is the variable.
const Labels = "labels"

// Labels returns the labels of a size; nil if it has none.
func (t *TypeExpr) Labels() []string {
	b := t.Bound(Labels)
	if b == nil {
		return nil
	}
	out := []string{}
	if list, ok := b.Value.(*ArrayExpr); ok {
		for _, e := range list.Elems {
			if s, ok := e.(*StringLit); ok {
				out = append(out, s.Value)
			}
		}
	}
	return out
}

// Restricts reports whether an entry is about the values of a variable, and not about what is known
// of them.
func (b *Bound) Restricts() bool { return b.Kind != Missing && b.Kind != Labels && !b.Cuts() }

// Cuts reports whether an entry says which values of data are censored.
func (b *Bound) Cuts() bool { return slices.Contains(Cuts(), b.Kind) }

// The kinds of entries which say that data are censored.
const (
	CensoredBelow = "censored_below" // values up to it are only known to be that small
	CensoredAbove = "censored_above" // values from it on are only known to be that large
	Censored      = "censored"       // for each value -1, 0, 1 or 2: left, not, right, or in an interval
	CensoredTo    = "censored_to"    // the upper ends of the intervals that begin at the values
)

// Cuts lists the kinds of entries which say that data are censored.
func Cuts() []string { return []string{CensoredBelow, CensoredAbove, Censored, CensoredTo} }

// BoundNames lists the kinds of entries that have a value.
func BoundNames() []string {
	return append([]string{"lower", "upper", "offset", "multiplier", Labels}, Cuts()...)
}

// Bound returns the entry of a kind; nil if there is none.
func (t *TypeExpr) Bound(kind string) *Bound {
	for i := range t.Bounds {
		if t.Bounds[i].Kind == kind {
			return &t.Bounds[i]
		}
	}
	return nil
}

// Cuts reports whether the data of a type are censored.
func (t *TypeExpr) Cuts() bool {
	return slices.ContainsFunc(t.Bounds, func(b Bound) bool { return b.Cuts() })
}

// Missing is the kind of the entry which says that data may have missing values.
const Missing = "missing"

// Missing returns the entry which says that the data of a type may have missing values; nil if
// there is none.
func (t *TypeExpr) Missing() *Bound { return t.Bound(Missing) }

// ---- Statements ----

// Stmt is a statement or declaration.
type Stmt interface {
	Node
	stmt()
}

type (
	// VarDecl declares one variable, with an optional initial value. A declaration of several names
	// becomes several VarDecls that share Type.
	VarDecl struct {
		Base
		Type *TypeExpr
		Name Ident
		Init Expr // nil if none

		// Rows are the sizes as declared of a ragged variable that has been rewritten to one with
		// all elements in a row; nil for other variables. The printer does not write them.
		Rows []Expr

		// Sparse describes a vector of the values of a sparse matrix that has been rewritten: the
		// numbers of rows and columns as declared, and then the pattern or, in the data block, the
		// variables for the number of values, their rows and their columns.
		Sparse []Expr
	}
	// FunctionDecl declares a user function; Body is nil for a forward declaration.
	FunctionDecl struct {
		Base
		Result *TypeExpr // Elem "void" for no result
		Name   Ident
		Params []*Param
		Body   *BlockStmt
	}
	// Assign is `lhs op rhs`. Op is "=", "+=", "-=", "*=", "/=", ".*=" or "./=". LHS is a VarExpr,
	// IndexExpr or TupleMember, or a TupleExpr of these.
	Assign struct {
		Base
		LHS Expr
		Op  string
		RHS Expr
	}
	// TargetPlus is `target += e`; Jacobian is `jacobian += e`.
	TargetPlus struct {
		Base
		Value    Expr
		Jacobian bool
	}
	// Tilde is `variate ~ dist(args) T[lower, upper]`.
	Tilde struct {
		Base
		Variate Expr
		Dist    Ident
		Args    []Expr
		Trunc   *Truncation
	}
	// CallStmt calls a void function.
	CallStmt struct {
		Base
		Call *CallExpr
	}
	// For is `for (name in from:to) body`.
	For struct {
		Base
		Var      Ident
		From, To Expr
		Body     Stmt
		InOrder  bool // random numbers are drawn iteration by iteration; only rewritten programs have it
	}
	// ForEach is `for (name in container) body`.
	ForEach struct {
		Base
		Var  Ident
		Over Expr
		Body Stmt
	}
	// While is `while (cond) body`.
	While struct {
		Base
		Cond Expr
		Body Stmt
	}
	// If is `if (cond) then else else`; Else may be nil.
	If struct {
		Base
		Cond       Expr
		Then, Else Stmt
	}
	// BlockStmt is `{ … }`, a separate scope.
	BlockStmt struct {
		Base
		Stmts []Stmt
	}
	// Profile is `profile("name") { … }`.
	Profile struct {
		Base
		Name string
		Body *BlockStmt
	}
	// Print is print(…).
	Print struct {
		Base
		Args []Expr
	}
	// Reject is reject(…), which ends the evaluation at this point, or if Fatal is set
	// fatal_error(…), which ends the run.
	Reject struct {
		Base
		Fatal bool
		Range bool // it reports an index that is out of range
		Args  []Expr
	}
	// Break leaves the innermost loop.
	Break struct{ Base }
	// Continue goes on with the next iteration.
	Continue struct{ Base }
	// Return leaves a function; Value is nil in a void function.
	Return struct {
		Base
		Value Expr
	}
	// Empty is a lone semicolon.
	Empty struct{ Base }
)

// Param is a parameter of a user function.
type Param struct {
	Base
	DataOnly bool
	Type     *TypeExpr
	Name     Ident
}

// Truncation is T[lower, upper]; either may be nil.
type Truncation struct {
	Base
	Lower, Upper Expr
}

func (*VarDecl) stmt()      {}
func (*FunctionDecl) stmt() {}
func (*Assign) stmt()       {}
func (*TargetPlus) stmt()   {}
func (*Tilde) stmt()        {}
func (*CallStmt) stmt()     {}
func (*For) stmt()          {}
func (*ForEach) stmt()      {}
func (*While) stmt()        {}
func (*If) stmt()           {}
func (*BlockStmt) stmt()    {}
func (*Profile) stmt()      {}
func (*Print) stmt()        {}
func (*Reject) stmt()       {}
func (*Break) stmt()        {}
func (*Continue) stmt()     {}
func (*Return) stmt()       {}
func (*Empty) stmt()        {}

// ---- Expressions ----

// Expr is an expression.
type Expr interface {
	Node
	expr()
}

type (
	// IntLit is an integer literal. Text keeps the digits as written.
	IntLit struct {
		Base
		Text  string
		Value int64
	}
	// RealLit is a real literal.
	RealLit struct {
		Base
		Text  string
		Value float64
	}
	// ImagLit is an imaginary literal such as 2.5i.
	ImagLit struct {
		Base
		Text  string
		Value float64
	}
	// StringLit occurs in print and reject only.
	StringLit struct {
		Base
		Value string
	}
	// VarExpr is the use of a variable, or of a function as a functor argument.
	VarExpr struct {
		Base
		Name string
		For  string // the name for messages, if the program was written with another variable here
	}
	// CallExpr is f(args) or, if Bar is set, f(x | args), as densities are called.
	CallExpr struct {
		Base
		Func Ident
		Args []Expr
		Bar  bool
	}
	// Target is target().
	Target struct{ Base }
	// Unary is op x with op one of - + ! (prefix) or ' (postfix transpose).
	Unary struct {
		Base
		Op string
		X  Expr
	}
	// Binary is x op y: || && == != < <= > >= + - * / % \ .* ./ ^ .^ %/%
	Binary struct {
		Base
		Op    string
		OpPos source.Span
		X, Y  Expr
	}
	// Cond is cond ? then : else.
	Cond struct {
		Base
		Cond, Then, Else Expr
	}
	// IndexExpr is x[i, j, …].
	IndexExpr struct {
		Base
		X       Expr
		Indices []Index
	}
	// TupleMember is x.1.
	TupleMember struct {
		Base
		X      Expr
		Member int // from 1
	}
	// ArrayExpr is {a, b, …}.
	ArrayExpr struct {
		Base
		Elems []Expr
	}
	// RowVectorExpr is [a, b, …].
	RowVectorExpr struct {
		Base
		Elems []Expr
	}
	// TupleExpr is (a, b, …) with at least two members, or one and a comma.
	TupleExpr struct {
		Base
		Elems []Expr

		// Rows, if not 0, says that this is a ragged variable in print, with the sizes of its rows,
		// which follow one another along its dimension Rows-1. The printer writes the variable.
		Rows int
	}
	// Paren is (x), kept for the formatter and for spans.
	Paren struct {
		Base
		X Expr
	}
)

func (*IntLit) expr()        {}
func (*RealLit) expr()       {}
func (*ImagLit) expr()       {}
func (*StringLit) expr()     {}
func (*VarExpr) expr()       {}
func (*CallExpr) expr()      {}
func (*Target) expr()        {}
func (*Unary) expr()         {}
func (*Binary) expr()        {}
func (*Cond) expr()          {}
func (*IndexExpr) expr()     {}
func (*TupleMember) expr()   {}
func (*ArrayExpr) expr()     {}
func (*RowVectorExpr) expr() {}
func (*TupleExpr) expr()     {}
func (*Paren) expr()         {}

// Index is one index of an IndexExpr.
type Index interface {
	Node
	index()
}

type (
	// Single is x[i] or, when i is an integer array, a multiple index.
	Single struct {
		Base
		X Expr
	}
	// Range is x[a:b], x[a:], x[:b] or x[:] ; From and To may be nil.
	Range struct {
		Base
		From, To Expr
		Row      bool // the elements of a ragged variable; it may be empty at any position
	}
	// All is the empty index of x[,j].
	All struct{ Base }
)

func (*Single) index() {}
func (*Range) index()  {}
func (*All) index()    {}
