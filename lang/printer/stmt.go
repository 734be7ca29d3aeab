package printer

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
)

func (p *printer) program(f *ast.File) {
	p.top = true
	for i, b := range f.Blocks {
		pos := b.Pos.Start
		p.own(pos)
		p.blank(pos)
		p.out(text(b.Kind.String() + " "))
		p.braces(p.openBrace(pos), b.Pos.End, b.Stmts)
		p.last = b.Pos.End
		next := len(p.src)
		if i+1 < len(f.Blocks) {
			next = f.Blocks[i+1].Pos.Start
		}
		p.trailing(b.Pos.End, next, false)
		p.newline()
	}
	p.own(len(p.src) + 1)
	if p.w.col > 0 {
		p.newline()
	}
}

// openBrace returns the offset of the brace of a block whose name begins at pos.
func (p *printer) openBrace(pos int) int {
	for i := pos; i < len(p.src); i++ {
		for len(p.comments) > 0 && start(p.comments[0]) <= i && i < end(p.comments[0]) {
			i = end(p.comments[0])
			// A comment within a block's name, which has two words, is written after its brace.
			return p.braceAfter(i)
		}
		if p.src[i] == '{' {
			return i
		}
	}
	return pos
}

// braceAfter skips comments up to the next brace.
func (p *printer) braceAfter(pos int) int {
	for _, c := range p.comments {
		i := strings.IndexByte(p.src[pos:], '{')
		if i < 0 {
			return pos
		}
		if pos+i < start(c) {
			return pos + i
		}
		pos = max(pos, end(c))
	}
	if i := strings.IndexByte(p.src[pos:], '{'); i >= 0 {
		return pos + i
	}
	return pos
}

// braces writes a block whose brace is at open and which ends at stop.
func (p *printer) braces(open, stop int, list []ast.Stmt) {
	p.out(text("{"))
	first := stop - 1
	if len(list) > 0 {
		first = list[0].Span().Start
	}
	p.opening(open, first)
	p.newlineIn(list, stop)
	p.depth--
	p.w.indent = p.indent()
	p.out(text("}"))
}

// opening writes the comments that follow a brace on its line.
func (p *printer) opening(open, first int) {
	for {
		c, ok := p.next(first)
		// Comments between the head and the brace are also written here.
		if !ok || start(c) > open && (!p.sameLine(open, start(c)) || !p.endsLine(c)) {
			return
		}
		p.take()
		if d, many := p.body(c).(verbatim); many {
			p.out(text(" "), d)
		} else {
			p.out(suffix{s: p.line(c)})
		}
	}
}

// newlineIn writes the lines of a block up to its closing brace.
func (p *printer) newlineIn(list []ast.Stmt, stop int) {
	p.depth++
	p.newline()
	p.top = true
	p.stmts(list, stop-1)
	p.own(stop - 1)
	if p.w.col > 0 {
		p.newline()
	}
}

// stmts writes statements, each on its line. stop is the end of the block.
func (p *printer) stmts(list []ast.Stmt, stop int) {
	for i := 0; i < len(list); {
		n := 1
		if d, ok := list[i].(*ast.VarDecl); ok {
			n = declared(list[i:], d)
		}
		pos, last := list[i].Span().Start, list[i+n-1].Span().End
		p.own(pos)
		p.blank(pos)
		p.top = false
		if p.note != nil {
			for _, l := range p.note(list[i]) {
				p.out(text("// " + l))
				p.newline()
			}
		}
		p.stmt(list[i : i+n])
		i += n
		p.last = last
		next := stop
		if i < len(list) {
			next = list[i].Span().Start
		}
		p.trailing(last, next, i == len(list))
		p.newline()
	}
}

// declared counts the variables that one declaration declares.
func declared(list []ast.Stmt, d *ast.VarDecl) int {
	n := 1
	for n < len(list) {
		e, ok := list[n].(*ast.VarDecl)
		if !ok || e.Type != d.Type {
			break
		}
		n++
	}
	return n
}

// nested writes the body of a loop or conditional.
func (p *printer) nested(s ast.Stmt) {
	if b, ok := s.(*ast.BlockStmt); ok && p.braced(b) {
		p.out(text(" "))
		p.block(b)
		return
	}
	if _, ok := s.(*ast.Empty); ok {
		if _, comments := p.next(s.Span().Start); !comments {
			p.out(text(";"))
			return
		}
	}
	p.beside(s.Span().Start)
	p.depth++
	p.newline()
	p.top = true
	list := []ast.Stmt{s}
	if b, ok := s.(*ast.BlockStmt); ok {
		list = b.Stmts
	}
	p.own(s.Span().Start)
	p.stmt(list)
	p.depth--
}

// braced reports whether a BlockStmt is written with braces. The parser also uses it for a
// declaration of several variables, which has none.
func (p *printer) braced(b *ast.BlockStmt) bool {
	return p.noSource || p.addsBraces || b.Pos.Start < len(p.src) && p.src[b.Pos.Start] == '{'
}

func (p *printer) block(b *ast.BlockStmt) { p.braces(b.Pos.Start, b.Pos.End, b.Stmts) }

// stmt writes one statement. It consists of several nodes if it declares several variables.
func (p *printer) stmt(list []ast.Stmt) {
	if p.written {
		list = append([]ast.Stmt{ast.AsWritten(list[0])}, list[1:]...)
	}
	pos := list[0].Span().Start
	word := func(s string) doc { return p.leaf(pos, s) }
	switch s := list[0].(type) {
	case *ast.VarDecl:
		p.decl(list, s)
	case *ast.FunctionDecl:
		p.function(s)
	case *ast.Assign:
		lhs := p.expr(s.LHS)
		p.out(group{concat{lhs, text(" " + s.Op), p.value(s.RHS), text(";")}})
	case *ast.TargetPlus:
		what := "target"
		if s.Jacobian {
			what = "jacobian"
		}
		w := word(what)
		p.out(group{concat{w, text(" +="), p.value(s.Value), text(";")}})
	case *ast.Tilde:
		d := concat{p.expr(s.Variate), text(" ~ "), p.leaf(s.Dist.Pos.Start, s.Dist.Name)}
		d = append(d, p.list("(", s.Args, ")"))
		if s.Trunc != nil {
			d = append(d, text(" "), p.truncation(s.Trunc))
		}
		p.out(append(d, text(";")))
	case *ast.CallStmt:
		p.out(p.expr(s.Call), text(";"))
	case *ast.For:
		p.out(word("for"), text(" ("), p.leaf(s.Var.Pos.Start, s.Var.Name), text(" in "), p.expr(s.From), text(":"), p.expr(s.To), text(")"))
		p.nested(s.Body)
	case *ast.ForEach:
		p.out(word("for"), text(" ("), p.leaf(s.Var.Pos.Start, s.Var.Name), text(" in "), p.expr(s.Over), text(")"))
		p.nested(s.Body)
	case *ast.While:
		p.out(word("while"), text(" ("), nest{p.expr(s.Cond), continued}, text(")"))
		p.nested(s.Body)
	case *ast.If:
		p.ifStmt(s)
	case *ast.BlockStmt:
		p.block(s)
	case *ast.Profile:
		p.out(word("profile"), text(`("`+s.Name+`")`))
		p.nested(s.Body)
	case *ast.Print:
		p.out(word("print"), p.list("(", s.Args, ")"), text(";"))
	case *ast.Reject:
		what := "reject"
		if s.Fatal {
			what = "fatal_error"
		}
		p.out(word(what), p.list("(", s.Args, ")"), text(";"))
	case *ast.Break:
		p.out(word("break"), text(";"))
	case *ast.Continue:
		p.out(word("continue"), text(";"))
	case *ast.Return:
		w := word("return")
		if s.Value == nil {
			p.out(w, text(";"))
			return
		}
		p.out(group{concat{w, text(" "), nest{p.expr(s.Value), continued}, text(";")}})
	case *ast.Empty:
		p.out(text(";"))
	}
}

func (p *printer) truncation(t *ast.Truncation) doc {
	d := concat{text("T[")}
	if t.Lower != nil {
		d = append(d, p.expr(t.Lower))
	}
	d = append(d, text(", "))
	if t.Upper != nil {
		d = append(d, p.expr(t.Upper))
	}
	return append(d, text("]"))
}

// value returns the right side of an assignment. A chain of operators begins on the next line if it
// does not fit after the left side. Other expressions break within their brackets.
func (p *printer) value(e ast.Expr) doc {
	d := p.expr(e)
	switch e.(type) {
	case *ast.Binary, *ast.Cond:
		return nest{concat{soft{" "}, group{d}}, continued}
	}
	return concat{text(" "), d}
}

func (p *printer) ifStmt(s *ast.If) {
	p.out(p.leaf(s.Pos.Start, "if"), text(" ("), nest{p.expr(s.Cond), continued}, text(")"))
	then := s.Then
	if s.Else != nil && p.noSource && endsInIf(then) {
		// No source text gives this tree, because the else would belong to the inner if.
		then = &ast.BlockStmt{Stmts: []ast.Stmt{then}}
	}
	p.nested(then)
	if s.Else == nil {
		return
	}
	// Comments between the branches follow the first branch, or are on their own lines before else.
	word := 0
	if !p.noSource {
		from := s.Then.Span().End
		word = p.elseAfter(from, s.Else.Span().Start)
		p.trailing(from, word, false)
	}
	_, more := p.next(word)
	b, ok := then.(*ast.BlockStmt)
	if ok && p.braced(b) && !more && len(p.w.pending) == 0 && p.w.col > 0 {
		p.out(text(" else"))
	} else {
		p.newline()
		p.top = true
		p.own(word)
		if p.w.col > 0 {
			p.newline()
		}
		p.out(text("else"))
	}
	if e, ok := s.Else.(*ast.If); ok {
		p.out(text(" "))
		p.ifStmt(e)
		return
	}
	p.nested(s.Else)
}

// elseAfter finds the word else between two offsets.
func (p *printer) elseAfter(from, to int) int {
	for _, c := range p.comments {
		if start(c) >= to {
			break
		}
		if i := strings.Index(p.src[from:max(from, start(c))], "else"); i >= 0 {
			return from + i
		}
		from = max(from, end(c))
	}
	if i := strings.Index(p.src[from:to], "else"); i >= 0 {
		return from + i
	}
	return to
}

// decl writes a declaration of one or several variables.
func (p *printer) decl(list []ast.Stmt, d *ast.VarDecl) {
	out := concat{p.typ(d.Type), text(" ")}
	var names concat
	for i, s := range list {
		v, ok := s.(*ast.VarDecl)
		if !ok {
			break
		}
		if i > 0 {
			names = append(names, text(","), soft{" "})
		}
		names = append(names, p.leaf(v.Name.Pos.Start, v.Name.Name))
		if v.Init != nil {
			if len(list) > 1 {
				names = append(names, text(" = "), p.expr(v.Init))
			} else {
				names = append(names, text(" ="), p.value(v.Init))
			}
		}
	}
	if len(list) > 1 {
		p.out(concat{out, group{nest{names, continued}}, text(";")})
		return
	}
	p.out(group{concat{out, names, text(";")}})
}

func (p *printer) function(f *ast.FunctionDecl) {
	head := concat{p.typ(f.Result), text(" "), p.leaf(f.Name.Pos.Start, f.Name.Name), text("(")}
	var params concat
	for i, a := range f.Params {
		if i > 0 {
			params = append(params, text(","), soft{" "})
		}
		params = append(params, p.param(a))
	}
	if len(f.Params) > 0 {
		head = append(head, nest{concat{soft{}, group{params}}, level}, soft{})
	}
	head = append(head, text(")"))
	if f.Body == nil {
		p.out(group{append(head, text(";"))})
		return
	}
	p.out(group{append(head, text(" "))})
	p.block(f.Body)
}

func (p *printer) param(a *ast.Param) doc {
	var d concat
	if a.DataOnly {
		d = append(d, p.leaf(a.Pos.Start, "data"), text(" "))
	}
	return append(d, p.typ(a.Type), text(" "), p.leaf(a.Name.Pos.Start, a.Name.Name))
}
