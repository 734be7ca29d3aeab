package ast

import (
	"fmt"
	"io"
	"strings"
)

// Fprint writes a tree as source text: two blanks of indentation, one statement
// to a line, parentheses where the tree has them or the operators need them.
// Comments are not printed, and a declaration of several variables is printed
// as several. Parsing what was printed gives an equal tree.
//
// The node may be a File, Block, statement, expression, type or index. Fprint
// returns the first error of w.
func Fprint(w io.Writer, n Node) error {
	p := printer{}
	p.node(n)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// String is the text that Fprint writes, without a final line break.
func String(n Node) string {
	p := printer{}
	p.node(n)
	return strings.TrimSuffix(p.b.String(), "\n")
}

type printer struct {
	b      strings.Builder
	indent int
}

func (p *printer) write(parts ...string) {
	for _, s := range parts {
		p.b.WriteString(s)
	}
}

// line begins a line.
func (p *printer) line(parts ...string) {
	p.write(strings.Repeat("  ", p.indent))
	p.write(parts...)
}

func (p *printer) node(n Node) {
	switch n := n.(type) {
	case *File:
		for _, b := range n.Blocks {
			p.node(b)
		}
	case *Block:
		p.line(n.Kind.String(), " ")
		p.braces(n.Stmts)
		p.write("\n")
	case *TypeExpr:
		p.typ(n)
	case *Bound:
		p.bound(n)
	case *Param:
		p.param(n)
	case *Truncation:
		p.truncation(n)
	case *Ident:
		p.write(n.Name)
	case Index:
		p.index(n)
	case Stmt:
		p.line()
		p.stmt(n)
		p.write("\n")
	case Expr:
		p.expr(n, 0)
	}
}

// braces writes a list of statements; the line is left open.
func (p *printer) braces(list []Stmt) {
	p.write("{\n")
	p.indent++
	for _, s := range list {
		p.node(s)
	}
	p.indent--
	p.line("}")
}

// body writes the statement that a loop or condition governs, after it on the
// same line if it is a block.
func (p *printer) body(s Stmt) {
	if b, ok := s.(*BlockStmt); ok {
		p.write(" ")
		p.braces(b.Stmts)
		return
	}
	p.write("\n")
	p.indent++
	p.line()
	p.stmt(s)
	p.indent--
}

// stmt writes a statement whose line has begun, without the line break.
func (p *printer) stmt(s Stmt) {
	switch s := s.(type) {
	case *VarDecl:
		p.typ(s.Type)
		p.write(" ", s.Name.Name)
		if s.Init != nil {
			p.write(" = ")
			p.expr(s.Init, 0)
		}
		p.write(";")
	case *FunctionDecl:
		p.typ(s.Result)
		p.write(" ", s.Name.Name, "(")
		for i, a := range s.Params {
			p.comma(i)
			p.param(a)
		}
		p.write(")")
		if s.Body == nil {
			p.write(";")
		} else {
			p.body(s.Body)
		}
	case *Assign:
		p.expr(s.LHS, 0)
		p.write(" ", s.Op, " ")
		p.expr(s.RHS, 0)
		p.write(";")
	case *TargetPlus:
		what := "target"
		if s.Jacobian {
			what = "jacobian"
		}
		p.write(what, " += ")
		p.expr(s.Value, 0)
		p.write(";")
	case *Tilde:
		p.expr(s.Variate, 0)
		p.write(" ~ ", s.Dist.Name)
		p.list("(", s.Args, ")")
		if s.Trunc != nil {
			p.write(" ")
			p.truncation(s.Trunc)
		}
		p.write(";")
	case *CallStmt:
		p.expr(s.Call, 0)
		p.write(";")
	case *For:
		p.write("for (", s.Var.Name, " in ")
		p.expr(s.From, 0)
		p.write(":")
		p.expr(s.To, 0)
		p.write(")")
		p.body(s.Body)
	case *ForEach:
		p.write("for (", s.Var.Name, " in ")
		p.expr(s.Over, 0)
		p.write(")")
		p.body(s.Body)
	case *While:
		p.write("while (")
		p.expr(s.Cond, 0)
		p.write(")")
		p.body(s.Body)
	case *If:
		p.ifStmt(s)
	case *BlockStmt:
		p.braces(s.Stmts)
	case *Profile:
		p.write(`profile("`, s.Name, `")`)
		p.body(s.Body)
	case *Print:
		p.write("print")
		p.list("(", s.Args, ");")
	case *Reject:
		what := "reject"
		if s.Fatal {
			what = "fatal_error"
		}
		p.write(what)
		p.list("(", s.Args, ");")
	case *Break:
		p.write("break;")
	case *Continue:
		p.write("continue;")
	case *Return:
		p.write("return")
		if s.Value != nil {
			p.write(" ")
			p.expr(s.Value, 0)
		}
		p.write(";")
	case *Empty:
		p.write(";")
	}
}

func (p *printer) ifStmt(s *If) {
	p.write("if (")
	p.expr(s.Cond, 0)
	p.write(")")
	then := s.Then
	if s.Else != nil && endsInIf(then) {
		// No source text gives this tree: the else would join the inner if.
		then = &BlockStmt{Stmts: []Stmt{then}}
	}
	p.body(then)
	if s.Else == nil {
		return
	}
	if _, ok := then.(*BlockStmt); ok {
		p.write(" else")
	} else {
		p.write("\n")
		p.line("else")
	}
	if elseIf, ok := s.Else.(*If); ok {
		p.write(" ")
		p.ifStmt(elseIf)
		return
	}
	p.body(s.Else)
}

// endsInIf reports whether an else after s would belong to an if within it.
func endsInIf(s Stmt) bool {
	switch s := s.(type) {
	case *If:
		return s.Else == nil || endsInIf(s.Else)
	case *For:
		return endsInIf(s.Body)
	case *ForEach:
		return endsInIf(s.Body)
	case *While:
		return endsInIf(s.Body)
	}
	return false
}

func (p *printer) typ(t *TypeExpr) {
	if len(t.ArrayDims) > 0 {
		p.write("array[")
		for i, d := range t.ArrayDims {
			switch {
			case d != nil:
				p.comma(i)
				p.expr(d, 0)
			case i > 0:
				p.write(",")
			}
		}
		p.write("] ")
	}
	if t.Elem == "tuple" {
		p.write("tuple(")
		for i, m := range t.Members {
			p.comma(i)
			p.typ(m)
		}
		if len(t.Members) == 1 {
			p.write(",")
		}
		p.write(")")
		return
	}
	p.write(t.Elem)
	if len(t.Bounds) > 0 {
		p.write("<")
		for i := range t.Bounds {
			p.comma(i)
			p.bound(&t.Bounds[i])
		}
		p.write(">")
	}
	if len(t.Sizes) > 0 {
		p.list("[", t.Sizes, "]")
	}
}

func (p *printer) bound(b *Bound) {
	p.write(b.Kind, "=")
	p.expr(b.Value, levelOf("+"))
}

func (p *printer) param(a *Param) {
	if a.DataOnly {
		p.write("data ")
	}
	p.typ(a.Type)
	p.write(" ", a.Name.Name)
}

func (p *printer) truncation(t *Truncation) {
	p.write("T[")
	if t.Lower != nil {
		p.expr(t.Lower, 0)
	}
	p.write(", ")
	if t.Upper != nil {
		p.expr(t.Upper, 0)
	}
	p.write("]")
}

func (p *printer) comma(i int) {
	if i > 0 {
		p.write(", ")
	}
}

func (p *printer) list(open string, list []Expr, close string) {
	p.write(open)
	for i, e := range list {
		p.comma(i)
		p.expr(e, 0)
	}
	p.write(close)
}

// Levels of operators, weakest first; see the grammar. A level of 0 asks for
// nothing.
const (
	levelCond    = 1
	levelUnary   = 9
	levelPow     = 10
	levelPrimary = 11
)

func levelOf(op string) int {
	switch op {
	case "||":
		return 2
	case "&&":
		return 3
	case "==", "!=":
		return 4
	case "<", "<=", ">", ">=":
		return 5
	case "+", "-":
		return 6
	case "*", "/", "%", ".*", "./":
		return 7
	case `\`, "%/%":
		return 8
	case "^", ".^":
		return levelPow
	}
	return levelPrimary
}

// level is how strongly the outermost operator of e binds.
func level(e Expr) int {
	switch e := e.(type) {
	case *Cond:
		return levelCond
	case *Binary:
		return levelOf(e.Op)
	case *Unary:
		if e.Op == "'" {
			return levelPrimary
		}
		return levelUnary
	}
	return levelPrimary
}

// expr writes an expression in a place that wants at least the given level. A
// parsed tree never needs the parentheses that this adds.
func (p *printer) expr(e Expr, want int) {
	if level(e) < want {
		p.write("(")
		p.expr(e, 0)
		p.write(")")
		return
	}
	switch e := e.(type) {
	case *IntLit:
		p.write(e.Text)
	case *RealLit:
		p.write(e.Text)
	case *ImagLit:
		p.write(e.Text)
	case *StringLit:
		p.write(`"`, e.Value, `"`)
	case *VarExpr:
		p.write(e.Name)
	case *CallExpr:
		p.call(e)
	case *Target:
		p.write("target()")
	case *Unary:
		if e.Op == "'" {
			p.expr(e.X, levelPrimary)
			p.write("'")
			return
		}
		p.write(e.Op)
		p.expr(e.X, levelUnary)
	case *Binary:
		p.binary(e)
	case *Cond:
		p.expr(e.Cond, levelCond+1)
		p.write(" ? ")
		p.expr(e.Then, levelCond)
		p.write(" : ")
		p.expr(e.Else, levelCond)
	case *IndexExpr:
		p.expr(e.X, levelPrimary)
		p.write("[")
		for i, x := range e.Indices {
			if i > 0 {
				p.write(", ")
			}
			p.index(x)
		}
		p.write("]")
	case *TupleMember:
		p.expr(e.X, levelPrimary)
		switch e.X.(type) {
		case *IntLit, *RealLit, *ImagLit:
			p.write(" ") // no tuple, but 0 .5 is not 0.5
		}
		p.write(fmt.Sprintf(".%d", e.Member))
	case *ArrayExpr:
		p.list("{", e.Elems, "}")
	case *RowVectorExpr:
		p.list("[", e.Elems, "]")
	case *TupleExpr:
		if len(e.Elems) == 1 {
			p.list("(", e.Elems, ",)")
		} else {
			p.list("(", e.Elems, ")")
		}
	case *Paren:
		p.write("(")
		p.expr(e.X, 0)
		p.write(")")
	}
}

func (p *printer) call(e *CallExpr) {
	p.write(e.Func.Name, "(")
	for i, a := range e.Args {
		switch {
		case i == 1 && e.Bar:
			p.write(" | ")
		default:
			p.comma(i)
		}
		p.expr(a, 0)
	}
	if e.Bar && len(e.Args) == 1 {
		p.write(" | ")
	}
	p.write(")")
}

func (p *printer) binary(e *Binary) {
	l := levelOf(e.Op)
	left, right := l, l+1
	if l == levelPow { // groups to the right; its right side may be a unary
		left, right = l+1, levelUnary
	}
	p.expr(e.X, left)
	p.write(" ", e.Op, " ")
	if u, ok := e.Y.(*Unary); ok && u.Op != "'" {
		right = min(right, levelUnary) // a * -b, a ^ -b: no ambiguity on the right
	}
	p.expr(e.Y, right)
}

func (p *printer) index(i Index) {
	switch i := i.(type) {
	case *Single:
		p.expr(i.X, 0)
	case *Range:
		if i.From != nil {
			p.expr(i.From, 0)
		}
		p.write(":")
		if i.To != nil {
			p.expr(i.To, 0)
		}
	}
}
