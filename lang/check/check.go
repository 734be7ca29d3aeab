// Package check determines the meaning of a syntax tree: the variable or function for every name,
// the type and level of every expression, the overload for every call. It reports every violation
// of the language's rules and continues, so that one run shows several independent mistakes. An
// expression that could not be typed has the type Invalid, about which nothing more is reported.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	check.go    entry, Info, blocks
//	scope.go    scopes, declarations of names, unknown names
//	foreign.go  names from other languages
//	decl.go     declarations: types, sizes, bounds, initial values
//	stmt.go     statements
//	assign.go   assignments
//	expr.go     expressions and operators
//	index.go    indexing
//	call.go     calls and overload resolution
//	tilde.go    y ~ dist(args)
//	func.go     user functions
//	warn.go     warnings about programs without errors
//	known.go    the values of expressions that are known before a run
//	bounds.go   the possible values of parameters and expressions
//	domains.go  warnings about arguments outside the domains of distributions
//	pedantic.go warnings about code that is often intended, given on request
//	flow.go     which statements end a function, unreachable ones
//	functor.go  functions as arguments
//	tuple.go    tuples: members, levels, unpacking
//	ragged.go   ragged variables
//
// The checker knows the grammar's operators and statements, but no library function: it looks up
// names in the caller's [Universe].
package check

import (
	"iter"
	"regexp"
	"slices"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Universe is the library: the names that a program may use without declaring them. Operators are
// named "operator+", "operator-", "operator*", "operator'", "operator!", "operator==" and so on;
// the number of arguments distinguishes unary and binary operators. Densities, distribution
// functions and generators have their suffix, as in normal_lpdf. Names with _lupdf and _lupmf are
// not looked up: they are the _lpdf and _lpmf without some terms.
type Universe interface {
	// Lookup returns the overloads of a name; none if it is unknown. The checker stores the same
	// values in [Call.Overload], so that callers can identify their declarations.
	Lookup(name string) []types.Overload
	// Names lists all names, in any order, for did-you-mean.
	Names() iter.Seq[string]
}

// Level is the autodiff level of an expression. It depends on declarations, not on values.
// Variables that are declared in the parameters, transformed parameters or model block, and
// arguments of functions, have level Param unless they are integers. In the generated quantities
// everything is data.
type Level uint8

// The levels.
const (
	Data Level = iota
	Param
)

// Info has the facts about the nodes of a checked tree. It is incomplete for a program with errors.
type Info struct {
	Types map[ast.Expr]TypeLevel // all expressions except strings
	Uses  map[*ast.VarExpr]*Var  // the variable that a name refers to
	Defs  map[ast.Node]*Var      // the variable that a VarDecl, For, ForEach or Param declares
	Calls map[ast.Node]*Call     // for CallExpr, Unary, Binary, Tilde and compound Assign
	Funcs []*Func                // user functions in order of first declaration

	// Functors are the functions that are arguments of calls. Their Types are of
	// kind Function.
	Functors map[*ast.VarExpr]*Func

	// Truncations are the calls that normalise a truncated distribution.
	Truncations map[TruncationCall]*Call
}

// TruncationCall identifies a call that a truncation needs: dist_lcdf or dist_lccdf of a bound and
// the distribution's arguments. If arguments are containers, it is called with their elements,
// because between two bounds each element has its own probability.
type TruncationCall struct {
	Bound   ast.Expr
	Suffix  string
	Element bool
}

// TypeLevel is the type and the autodiff level of an expression.
type TypeLevel struct {
	Type  types.Type
	Level Level // for a tuple, the highest of its members

	// Members are the types and levels of a tuple expression's members. nil: the levels follow from
	// the members' types.
	Members []TypeLevel
}

// Var is a declared variable.
type Var struct {
	Name       string
	Type       types.Type
	Level      Level
	Block      ast.BlockKind        // block of its declaration; Functions for variables of functions
	Global     bool                 // declared at the top level of a block other than model
	Loop       bool                 // a loop variable: read-only
	Missing    bool                 // data with elements that may be missing, which then are parameters
	Censored   bool                 // data of which some values are only known to be in an interval
	Ragged     *Ragged              // how its rows differ in size; nil if they do not
	Constraint types.ConstraintKind // the constraint of its declaration
	Ident      ast.Ident            // the name in the declaration
	Decl       ast.Node             // VarDecl, For, ForEach or Param

	read   bool // its value is used
	stored bool // an assignment changes it
}

// Call is a resolved call of a library function, an operator, or a user function.
type Call struct {
	Name     string         // as looked up: operator+, normal_lpdf
	Overload types.Overload // what the Universe returned; nil for user functions
	Func     *Func          // nil for library functions
	Match    types.Match    // parameter types and result
	Propto   bool           // the terms of level Data are dropped
}

// checker is the state of one Check.
type checker struct {
	universe Universe
	info     *Info
	diags    diag.List
	scope    *scope
	funcs    map[string][]*Func // user functions by name
	declared map[*ast.TypeExpr]types.Type
	missing  map[string]bool // codes and names that were already reported as unknown
	lost     []source.Span   // text that is not represented in the tree
	lostName map[string]bool // the names in that text

	elsewhere map[string]*elsewhere // for each name, a declaration of it that may not be visible, for messages

	likelihoods []likelihood // checked after all function bodies

	block ast.BlockKind // the block being checked
	node  *ast.Block    // the tree of the block; nil within functions
	fn    *Func         // the function being checked; nil outside
	loops int           // number of enclosing loops
	ints  bool          // an int is expected, so int division is intended
	sizes bool          // in the size of a top-level declaration

	discrete bool // a discrete parameter was declared

	inMember bool // in the sizes of a member of a tuple
}

// maxErrors is the maximum number of errors reported for one program.
const maxErrors = 100

// Check resolves and types a program. The Info is complete if the list has no errors. The tree is
// not changed. Warnings include those whose codes are [diag.Code.Pedantic], which the caller may
// drop.
//
// A tree from which the parser has lost statements can also be checked, if lang.Recovered says so.
// Check then reports nothing about names that occur in the lost statements.
func Check(f *ast.File, u Universe) (*Info, diag.List) {
	c := &checker{
		universe: u,
		info: &Info{
			Types: map[ast.Expr]TypeLevel{},
			Uses:  map[*ast.VarExpr]*Var{},
			Defs:  map[ast.Node]*Var{},
			Calls: map[ast.Node]*Call{},

			Functors: map[*ast.VarExpr]*Func{},

			Truncations: map[TruncationCall]*Call{},
		},
		scope:    &scope{},
		funcs:    map[string][]*Func{},
		declared: map[*ast.TypeExpr]types.Type{},
		missing:  map[string]bool{},
		lost:     f.Lost,

		lostName:  map[string]bool{},
		elsewhere: map[string]*elsewhere{},
	}
	c.lostNames()
	c.findDeclarations(f)
	for _, b := range order(f) {
		c.checkBlock(b)
	}
	c.checkLikelihoods()
	c.censoring(f)
	if !c.diags.HasErrors() && len(f.Lost) == 0 {
		if c.raggedUses(f); !c.diags.HasErrors() {
			c.warnings(f)
		}
	}
	c.diags.Sort()
	if errs := c.diags.Errors(); len(errs) > maxErrors {
		c.diags = errs[:maxErrors]
	}
	return c.info, c.diags
}

// After checks a tree for which the parser has reported the list, and adds its own errors. It omits
// an error at a position that is already in the list, because it is the same mistake. The errors
// are meaningful if lang.Recovered accepts the list; the Info is useful for any tree.
func After(f *ast.File, list diag.List, u Universe) (*Info, diag.List) {
	info, more := Check(f, u)
	type place struct {
		file *source.File
		at   int
	}
	said := map[place]bool{}
	for _, d := range list {
		said[place{d.Span.File, d.Span.Start}] = true
	}
	for _, d := range more.Errors() {
		if at := (place{d.Span.File, d.Span.Start}); !said[at] {
			list = append(list, d)
			said[at] = true
		}
	}
	return info, list
}

// order returns the blocks in the order of the language. The parser has reported duplicate blocks
// and wrong order. All blocks are checked, in the right order, so that the wrong order does not
// make names unknown.
func order(f *ast.File) []*ast.Block {
	blocks := slices.Clone(f.Blocks)
	sorting.Stable(blocks, func(a, b *ast.Block) int { return int(a.Kind) - int(b.Kind) })
	return blocks
}

// checkBlock checks one block. Its top-level variables stay in scope in later blocks, except those
// of the model block. The parser has checked that data and parameters contain only declarations.
func (c *checker) checkBlock(b *ast.Block) {
	c.block, c.node = b.Kind, b
	switch b.Kind {
	case ast.Functions:
		c.functionsBlock(b)
	case ast.Model:
		c.push()
		c.stmts(b.Stmts)
		c.pop()
	default:
		for _, s := range b.Stmts {
			if _, ok := s.(*ast.VarDecl); !ok && (b.Kind == ast.Data || b.Kind == ast.Parameters) {
				continue // the parser has reported it
			}
			if d, ok := s.(*ast.VarDecl); ok {
				c.varDecl(d, true)
			} else {
				c.stmt(s)
			}
		}
		c.unreachable(b.Stmts)
	}
}

var nameRx = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_]*`)

// lostNames marks the names in lost text as reported, because they may be declared there.
func (c *checker) lostNames() {
	for _, s := range c.lost {
		for _, name := range nameRx.FindAllString(s.Text(), -1) {
			c.lostName[name] = true
			for _, code := range []diag.Code{diag.UnknownVariable, diag.UnknownFunction, diag.UnknownDistribution} {
				c.firstTime(code, name)
			}
		}
	}
}

// losesFrom reports whether lost text begins within a span.
func (c *checker) losesFrom(s source.Span) bool {
	return slices.ContainsFunc(c.lost, func(l source.Span) bool { return s.Start <= l.Start && l.Start < s.End })
}

// report adds a diagnostic with detail, fix and notes. Detail and fix may be "".
func (c *checker) report(d diag.Diagnostic, detail, fix string, notes ...diag.Note) {
	d.Detail = detail
	if fix != "" {
		d.Fix = fix
	}
	for _, n := range notes {
		if n.Span.IsValid() {
			d.Related = append(d.Related, n)
		}
	}
	c.diags.Add(d)
}

// before and after return the empty spans at the ends of a node, for insertions.
func before(n ast.Node) source.Span {
	s := n.Span()
	s.End = s.Start
	return s
}

func after(n ast.Node) source.Span {
	s := n.Span()
	s.Start = s.End
	return s
}

// note returns a note at the position of a node.
func note(n ast.Node, message string) diag.Note {
	return diag.Note{Span: n.Span(), Message: message}
}
