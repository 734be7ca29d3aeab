package grammar

import (
	"sort"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// lowerer converts grammar structs to ast nodes and collects diagnostics.
type lowerer struct {
	file   *source.File
	tokens []lexer.Token
	diags  diag.List

	swallowed bool // see scanner
	options   Options
	lost      []source.Span // see ast.File
	old       bool          // older syntax was reported
}

func (l *lowerer) span(start, end int) source.Span {
	return source.Span{File: l.file, Start: start, End: end}
}

func (l *lowerer) base(start, end int) ast.Base { return ast.Base{Pos: l.span(start, end)} }

func spanOf(l *lowerer, t lexer.Token) source.Span {
	return l.span(t.Pos.Offset, t.Pos.Offset+len(t.Value))
}

// tokensBase returns the base of a node that covers the tokens that participle captured for a
// struct.
func (l *lowerer) tokensBase(ts []lexer.Token) ast.Base {
	return l.base(ts[0].Pos.Offset, end(&ts[len(ts)-1]))
}

func (l *lowerer) add(code diag.Code, span source.Span, format string, args ...any) *diag.Diagnostic {
	l.diags.Add(diag.Errorf(code, span, format, args...))
	return &l.diags[len(l.diags)-1] // the caller may set Fix before the next add
}

// older reports the syntax of an older version: as a warning in legacy mode, else as an error.
func (l *lowerer) older(code diag.Code, span source.Span, format string, args ...any) *diag.Diagnostic {
	d := diag.Errorf(code, span, format, args...)
	if l.options.Legacy {
		d.Code, d.Severity = diag.LegacySyntax, diag.Warning
	} else if !l.old {
		l.old = true
		d.Detail = "This is the syntax of an older version of Stan. The formatter can rewrite the program, and it can be run as it is."
		d.Settings = []string{"upgrade", "legacy"}
	}
	l.diags.Add(d)
	return &l.diags[len(l.diags)-1]
}

// index returns the index of a token of the file, by its offset.
func (l *lowerer) index(t lexer.Token) int {
	return sort.Search(len(l.tokens)-1, func(i int) bool { return l.tokens[i].Pos.Offset >= t.Pos.Offset })
}

// endBefore returns the end of the token before t.
func (l *lowerer) endBefore(t lexer.Token) int {
	if i := l.index(t); i > 0 {
		return end(&l.tokens[i-1])
	}
	return 0
}

func isPunct(t lexer.Token, value string) bool {
	return t.Value == value && (t.Type == tokPunct || t.Type == tokAssign)
}

// scope describes the surroundings of a statement, as far as lowering needs them.
type scope struct {
	block  ast.BlockKind
	nested bool // in another statement, or in the body of a function
}

// block lowers the items of a program block. It reports a statement that the block must not contain
// once. In a second block of the same kind it reports none, since that block probably has the wrong
// name.
func (l *lowerer) block(kind ast.BlockKind, b *Block, second bool) []ast.Stmt {
	before := len(l.diags)
	out := l.items(scope{block: kind}, b)
	seen := second
	kept := l.diags[:before]
	for i, d := range l.diags[before:] {
		switch d.Code {
		case diag.InitNotAllowed:
			if second {
				continue
			}
		case diag.StatementNotAllowed:
			next := before + i + 1 // errors in statements that are expressions are reported next
			if seen || next < len(l.diags) && l.diags[next].Code == diag.NotAStatement && l.diags[next].Span.Start == d.Span.Start {
				continue
			}
			seen = true
		}
		kept = append(kept, d)
	}
	l.diags = kept
	return out
}

func (l *lowerer) items(sc scope, b *Block) []ast.Stmt {
	var out []ast.Stmt
	for i := range b.Items {
		switch it := &b.Items[i]; {
		case it.Fail != nil:
			l.explain(sc, it)
			l.lost = append(l.lost, l.span(it.Start.Pos.Offset, it.End))
			for _, b := range it.blocks() {
				l.nested(sc, b)
			}
		case it.Func != nil:
			out = append(out, l.funcDef(it.Func))
		default:
			out = append(out, l.stmts(sc, it.Stmt)...)
		}
	}
	return out
}

// nested lowers a block in braces within a statement.
func (l *lowerer) nested(sc scope, b *Block) *ast.BlockStmt {
	sc.nested = true
	out := &ast.BlockStmt{Base: l.base(b.Open.Pos.Offset, end(&b.Close))}
	if b.Missing {
		out.Pos.End = l.endBefore(b.Close)
	}
	out.Stmts = l.items(sc, b)
	if b.Missing && isWord(&b.Close, "else") {
		d := l.add(diag.UnclosedBrace, spanOf(l, b.Close), "`}` is missing before this `else`")
		d.Related = []diag.Note{{Span: spanOf(l, b.Open), Message: "this `{` is not closed, if the indentation is right"}}
		d.Fix = "add the missing `}`"
	}
	return out
}

// body lowers the body of a loop or conditional to one statement: a declaration of several names
// becomes a block.
func (l *lowerer) body(sc scope, s *Stmt) ast.Stmt {
	sc.nested = true
	list := l.stmts(sc, s)
	if len(list) == 1 {
		return list[0]
	}
	return &ast.BlockStmt{Base: l.tokensBase(s.Tokens), Stmts: list}
}

// stmts lowers one statement. A declaration of several variables becomes several statements.
func (l *lowerer) stmts(sc scope, s *Stmt) []ast.Stmt {
	if s.Decl != nil {
		return l.decl(sc, s)
	}
	base := l.tokensBase(s.Tokens)
	if !sc.nested && !s.Empty && (sc.block == ast.Data || sc.block == ast.Parameters) {
		d := l.add(diag.StatementNotAllowed, spanOf(l, s.Tokens[0]), "the `%s` block has declarations only", sc.block)
		switch sc.block {
		case ast.Data:
			d.Fix = "move the statement to `transformed data`"
		case ast.Parameters:
			d.Fix = "move the statement to `transformed parameters` or `model`"
		}
	}
	return []ast.Stmt{l.stmt(sc, s, base)}
}

func (l *lowerer) stmt(sc scope, s *Stmt, base ast.Base) ast.Stmt {
	switch {
	case s.If != nil:
		out := &ast.If{Base: base, Cond: l.expr(s.If.Cond), Then: l.body(sc, s.If.Then)}
		if s.If.Else != nil {
			out.Else = l.body(sc, s.If.Else)
		}
		return out
	case s.For != nil:
		v := l.declared(s.For.Var)
		if s.For.To == nil {
			return &ast.ForEach{Base: base, Var: v, Over: l.expr(s.For.From), Body: l.body(sc, s.For.Body)}
		}
		return &ast.For{Base: base, Var: v, From: l.expr(s.For.From), To: l.expr(s.For.To), Body: l.body(sc, s.For.Body)}
	case s.While != nil:
		return &ast.While{Base: base, Cond: l.expr(s.While.Cond), Body: l.body(sc, s.While.Body)}
	case s.Block != nil:
		return l.nested(sc, s.Block)
	case s.Profile != nil:
		return &ast.Profile{Base: base, Name: unquote(s.Profile.Name), Body: l.nested(sc, s.Profile.Body)}
	case s.Add != nil:
		return &ast.TargetPlus{Base: base, Value: l.expr(s.Add.Value), Jacobian: s.Add.What == "jacobian"}
	case s.Output != nil:
		args := l.exprs(s.Output.Args.List)
		if s.Output.What == "print" {
			return &ast.Print{Base: base, Args: args}
		}
		return &ast.Reject{Base: base, Fatal: s.Output.What == "fatal_error", Args: args}
	case s.Jump != nil:
		if s.Jump.What == "break" {
			return &ast.Break{Base: base}
		}
		return &ast.Continue{Base: base}
	case s.Return != nil:
		out := &ast.Return{Base: base}
		if s.Return.Value != nil {
			out.Value = l.expr(s.Return.Value)
		}
		return out
	case s.ExprStmt != nil:
		return l.exprStmt(s.ExprStmt, base)
	}
	return &ast.Empty{Base: base}
}

func (l *lowerer) exprStmt(s *ExprStmt, base ast.Base) ast.Stmt {
	switch {
	case s.Op != "":
		if s.Op == "<-" { // the lexer returns it only in legacy mode
			s.Op = "="
			at := s.LHS.End
			for l.file.Text[at] != '<' {
				at++
			}
			d := l.older(diag.ArrowAssign, l.span(at, at+2), "`<-` does not assign")
			d.Fix = "write `=`"
			d.Replace("=")
		}
		out := &ast.Assign{Base: base, LHS: l.expr(&s.LHS.Expr), Op: s.Op, RHS: l.expr(s.RHS)}
		if bad := notAssignable(out.LHS); bad != nil {
			d := l.add(diag.BadAssignTarget, bad.Span(), "this cannot be assigned to")
			d.Fix = "the left side is a variable, an element or member of one, or a tuple of those"
			if call, isCall := bad.(*ast.CallExpr); isCall && len(call.Args) == 1 && s.Op == "=" && linkInverses[call.Func.Name] != "" {
				arg, inverse := call.Args[0].Span().Text(), linkInverses[call.Func.Name]
				d.Detail = "BUGS allows a link function here."
				d.Fix = "apply its inverse to the right side: `" + arg + " = " + inverse + "(…)`"
				end := out.RHS.Span().End
				d.Edits = []diag.Edit{{Span: bad.Span(), Text: arg}, {Span: l.span(out.RHS.Span().Start, out.RHS.Span().Start), Text: inverse + "("}, {Span: l.span(end, end), Text: ")"}}
			}
		}
		return out
	case s.Tilde != nil:
		out := &ast.Tilde{Base: base, Variate: l.expr(&s.LHS.Expr), Dist: l.ident(s.Tilde.Dist.Tok), Args: l.exprs(s.Tilde.Args.List)}
		if t := s.Tilde.Trunc; t != nil {
			out.Trunc = &ast.Truncation{Base: l.tokensBase(t.Tokens)}
			if t.Lower != nil {
				out.Trunc.Lower = l.expr(t.Lower)
			}
			if t.Upper != nil {
				out.Trunc.Upper = l.expr(t.Upper)
			}
		}
		return out
	}
	x := l.expr(&s.LHS.Expr)
	if call, ok := x.(*ast.CallExpr); ok {
		if call.Func.Name == "increment_log_prob" && !l.options.Legacy {
			d := l.add(diag.IncrementLogProb, call.Func.Pos, "`increment_log_prob` is no longer part of the language")
			d.Fix = "write `target += …;`"
			if open, last := call.Func.Pos.End, call.Pos.End; len(call.Args) == 1 && l.file.Text[open] == '(' && l.file.Text[last-1] == ')' {
				d.Edits = []diag.Edit{{Span: l.span(call.Func.Pos.Start, open+1), Text: "target += "}, {Span: l.span(last-1, last)}}
			}
		}
		return &ast.CallStmt{Base: base, Call: call}
	}
	l.notAStatement(&s.LHS.Expr, x)
	return &ast.Empty{Base: base}
}

// notAStatement reports an expression used as a statement.
func (l *lowerer) notAStatement(g *Expr, x ast.Expr) {
	// lhs <- rhs is parsed as lhs < -rhs, or as the left part of a weaker operator.
	for e := g; e.Kind == exprBinary || e.Kind == exprCond; e = e.Kids[0] {
		if e.Kind == exprBinary && e.Tok.Value == "<" && strings.HasPrefix(l.file.Text[e.Tok.Pos.Offset:], "<-") {
			at := e.Tok.Pos.Offset
			d := l.add(diag.ArrowAssign, l.span(at, at+2), "`<-` does not assign")
			d.Fix = "write `=`"
			d.Replace("=")
			return
		}
	}
	switch b, _ := x.(*ast.Binary); {
	case g.Kind == exprBad: // the lexer has reported it
	case b != nil && b.Op == "==":
		d := l.add(diag.ComparisonAsStatement, b.OpPos, "`==` compares and has no effect as a statement")
		d.Fix = "to assign, write `=`"
		d.Replace("=")
	default:
		d := l.add(diag.NotAStatement, x.Span(), "an expression alone is not a statement")
		if _, ok := x.(*ast.VarExpr); ok {
			d.Fix = "assign to it with `=`, give it a distribution with `~`, or call it as a function"
		} else if i, ok := x.(*ast.IndexExpr); ok && isVariable(i.X) {
			d.Fix = "assign to it with `=`; to declare it, write its type first, as in `vector[N] " + i.X.Span().Text() + ";`"
		} else {
			d.Fix = "assign it to a variable, or add it to the log density with `target += …;`"
		}
	}
}

// linkInverses maps link functions to their inverses.
var linkInverses = map[string]string{"logit": "inv_logit", "log": "exp", "probit": "Phi", "cloglog": "inv_cloglog", "sqrt": "square"}

func isVariable(x ast.Expr) bool {
	_, ok := x.(*ast.VarExpr)
	return ok
}

// notAssignable returns the part of x that cannot be assigned, or nil.
func notAssignable(x ast.Expr) ast.Expr {
	switch x := x.(type) {
	case *ast.VarExpr:
		return nil
	case *ast.IndexExpr:
		return notAssignablePart(x.X)
	case *ast.TupleMember:
		return notAssignablePart(x.X)
	case *ast.TupleExpr:
		for _, e := range x.Elems {
			if bad := notAssignable(e); bad != nil {
				return bad
			}
		}
		return nil
	}
	return x
}

// notAssignablePart is notAssignable for the base of an element or member, which must not be a
// tuple expression.
func notAssignablePart(x ast.Expr) ast.Expr {
	if _, ok := x.(*ast.TupleExpr); ok {
		return x
	}
	return notAssignable(x)
}

func unquote(s string) string { return strings.TrimSuffix(strings.TrimPrefix(s, `"`), `"`) }

// ident converts a name that is used to an identifier.
func (l *lowerer) ident(t lexer.Token) ast.Ident {
	return ast.Ident{Base: ast.Base{Pos: spanOf(l, t)}, Name: t.Value}
}

// declared converts a name that is declared to an identifier. It must not be a reserved word.
func (l *lowerer) declared(n Name) ast.Ident {
	t := n.Tok
	switch {
	case reservedNames[t.Value]:
		l.add(diag.ReservedWord, spanOf(l, t), "`%s` is a reserved word and cannot be a name", t.Value).Fix = "choose another name, such as `" + t.Value + "_`"
	case strings.HasSuffix(t.Value, "__"):
		l.add(diag.ReservedWord, spanOf(l, t), "names that end in two underscores are reserved").Fix = "choose another name"
	}
	return l.ident(t)
}
