package printer

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
)

// start and end of a comment in the source.
func start(c ast.Comment) int { return c.Pos.Start }
func end(c ast.Comment) int   { return c.Pos.End }

// next is the first comment that is not written yet and begins before pos.
func (p *printer) next(pos int) (ast.Comment, bool) {
	if len(p.comments) > 0 && start(p.comments[0]) < pos {
		return p.comments[0], true
	}
	return ast.Comment{}, false
}

// take marks the next comment as written.
func (p *printer) take() { p.comments = p.comments[1:] }

// column is where a comment begins on its line, in bytes.
func (p *printer) column(c ast.Comment) int {
	return start(c) - (strings.LastIndexByte(p.src[:start(c)], '\n') + 1)
}

// body is the text of a comment as it is written.
func (p *printer) body(c ast.Comment) doc {
	if s := p.src[start(c):end(c)]; strings.Contains(s, "\n") {
		return verbatim{s, p.column(c)}
	}
	return text(p.line(c))
}

// line is a comment of one line; those that began with # begin with //.
func (p *printer) line(c ast.Comment) string {
	s := strings.TrimRight(p.src[start(c):end(c)], " \t\r")
	if rest, ok := strings.CutPrefix(s, "#"); ok && !strings.HasPrefix(s, "#include") {
		return "//" + rest
	}
	return s
}

// lineComment reports a comment that ends its line: // or #.
func (p *printer) lineComment(c ast.Comment) bool { return !strings.HasPrefix(p.src[start(c):], "/*") }

// endsLine reports whether nothing but blanks follows a comment on its line.
func (p *printer) endsLine(c ast.Comment) bool {
	for i := end(c); i < len(p.src); i++ {
		switch p.src[i] {
		case '\n':
			return true
		case ' ', '\t', '\r':
		default:
			return false
		}
	}
	return true
}

// lastOnLine reports whether nothing but blanks and other comments follows a
// comment on its line.
func (p *printer) lastOnLine(c ast.Comment) bool {
	for i := 0; i < len(p.comments); i++ {
		if start(p.comments[i]) < start(c) {
			continue
		}
		if p.endsLine(p.comments[i]) {
			return true
		}
		if i+1 == len(p.comments) || strings.Trim(p.src[end(p.comments[i]):start(p.comments[i+1])], " \t") != "" {
			return false
		}
	}
	return p.endsLine(c)
}

// followsCode reports whether there is something other than blanks before a
// comment on its line.
func (p *printer) followsCode(c ast.Comment) bool {
	return strings.TrimLeft(p.src[start(c)-p.column(c):start(c)], " \t") != ""
}

// sameLine reports whether no line break is between two offsets.
func (p *printer) sameLine(from, to int) bool {
	return from <= to && !strings.Contains(p.src[from:to], "\n")
}

// leaf is a token of an expression or head of a statement with the comments
// around it: those before it that are not written yet, and those after it that
// end its line.
func (p *printer) leaf(pos int, s string) doc {
	before := p.before(pos)
	after := p.after(pos + len(s))
	if before == nil && after == nil {
		return text(s)
	}
	return concat{before, text(s), after}
}

// before writes the comments that begin before pos.
func (p *printer) before(pos int) doc {
	var out concat
	for {
		c, ok := p.next(pos)
		if !ok {
			break
		}
		p.take()
		if p.lineComment(c) || p.endsLine(c) {
			out = append(out, comment{p.body(c)}, hard{})
		} else if d, many := p.body(c).(verbatim); many {
			out = append(out, d, text(" "))
		} else {
			out = append(out, inline{p.line(c), true})
		}
	}
	if out == nil {
		return nil
	}
	return out
}

// after writes the comments that follow a token or operand. It writes those that end the line, also
// behind an operator or a comma; of the others, those that follow directly. Comments after a
// closing bracket belong to the construct that ends there, and comments after a statement belong to
// the statement.
func (p *printer) after(pos int) doc {
	var out concat
	for len(p.comments) > 0 {
		c := p.comments[0]
		if start(c) < pos || strings.Contains(p.src[start(c):end(c)], "\n") {
			break
		}
		between := strings.Trim(p.src[pos:start(c)], " \t")
		if !p.lastOnLine(c) {
			if between != "" {
				break
			}
			p.take()
			out = append(out, inline{s: p.line(c)})
			pos = end(c)
			continue
		}
		if strings.Trim(between, "([,=~|:<>+-*/\\%.^?'&!") != "" {
			break
		}
		p.take()
		out = append(out, suffix{p.line(c), true})
		pos = end(c)
	}
	if out == nil {
		return nil
	}
	return out
}

// own writes the comments before pos, each on a separate line; those that are
// followed by code on their line stay before it. Empty lines are kept.
func (p *printer) own(pos int) {
	for {
		c, ok := p.next(pos)
		if !ok {
			return
		}
		p.take()
		p.blank(start(c))
		p.out(p.body(c))
		p.last = end(c)
		if p.lineComment(c) || p.endsLine(c) {
			p.newline()
		} else {
			p.out(text(" "))
		}
	}
}

// beside writes the comments before pos that are on the same line as the text written last, such as
// the head of a loop.
func (p *printer) beside(pos int) {
	for {
		c, ok := p.next(pos)
		if !ok || !p.followsCode(c) || !p.endsLine(c) || strings.Contains(p.src[start(c):end(c)], "\n") {
			return
		}
		p.take()
		p.out(suffix{s: p.line(c)})
	}
}

// blank keeps an empty line before what begins at pos, if there is one in the
// source and something is written before it in the block.
func (p *printer) blank(pos int) {
	if p.top || p.noSource || p.last > pos {
		p.top = false
		return
	}
	if strings.Count(p.src[p.last:pos], "\n") > 1 && p.w.col == 0 {
		p.newline()
	}
}

// trailing writes the comments that follow a statement on its line, before pos,
// which is where the next thing begins. Closes says that this is the end of a
// block, to which no comment belongs.
func (p *printer) trailing(from, pos int, closes bool) {
	for {
		c, ok := p.next(pos)
		if !ok || !p.sameLine(from, start(c)) || !p.lastOnLine(c) && !(closes && strings.Trim(p.src[end(c):pos], " \t") == "") {
			return
		}
		p.take()
		if d, many := p.body(c).(verbatim); many {
			p.out(text(" "), d)
		} else {
			p.out(suffix{s: p.line(c)})
		}
		from = end(c)
		p.last = from
	}
}
