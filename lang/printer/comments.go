package printer

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
)

// start and end return the offsets of a comment in the source.
func start(c ast.Comment) int { return c.Pos.Start }
func end(c ast.Comment) int   { return c.Pos.End }

// next returns the first comment that is not written yet and begins before pos.
func (p *printer) next(pos int) (ast.Comment, bool) {
	if len(p.comments) > 0 && start(p.comments[0]) < pos {
		return p.comments[0], true
	}
	return ast.Comment{}, false
}

// take marks the next comment as written.
func (p *printer) take() { p.comments = p.comments[1:] }

// column returns the column at which a comment begins on its line, in bytes.
func (p *printer) column(c ast.Comment) int {
	return start(c) - (strings.LastIndexByte(p.src[:start(c)], '\n') + 1)
}

// body returns the text of a comment to write.
func (p *printer) body(c ast.Comment) doc {
	if s := p.src[start(c):end(c)]; strings.Contains(s, "\n") {
		return verbatim{s, p.column(c)}
	}
	return text(p.line(c))
}

// line returns the text of a one-line comment; # becomes //.
func (p *printer) line(c ast.Comment) string {
	s := strings.TrimRight(p.src[start(c):end(c)], " \t\r")
	if rest, ok := strings.CutPrefix(s, "#"); ok && !strings.HasPrefix(s, "#include") {
		return "//" + rest
	}
	return s
}

// lineComment reports whether a comment ends its line: // or #.
func (p *printer) lineComment(c ast.Comment) bool { return !strings.HasPrefix(p.src[start(c):], "/*") }

// endsLine reports whether only blanks follow a comment on its line.
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

// lastOnLine reports whether only blanks and other comments follow a comment on its line.
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

// followsCode reports whether something other than blanks precedes a comment on its line.
func (p *printer) followsCode(c ast.Comment) bool {
	return strings.TrimLeft(p.src[start(c)-p.column(c):start(c)], " \t") != ""
}

// sameLine reports whether there is no line break between two offsets.
func (p *printer) sameLine(from, to int) bool {
	return from <= to && !strings.Contains(p.src[from:to], "\n")
}

// leaf writes a token of an expression, or the head of a statement. It includes the preceding
// comments that are not written yet, and the following comments that end the line.
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

// after writes the comments that follow a token or operand. It writes those that end the line, even
// after an operator or a comma. Of the others, it writes those that follow directly. Comments after
// a closing bracket belong to the construct that ends there, and comments after a statement belong
// to the statement.
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

// own writes the comments before pos, each on a separate line. A comment that is followed by code
// on its line stays before that code. Empty lines are kept.
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

// beside writes the comments before pos that are on the same line as the last written text, such as
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

// blank keeps an empty line before the text at pos, if the source has one and something precedes it
// in the block.
func (p *printer) blank(pos int) {
	if p.top || p.noSource || p.last > pos {
		p.top = false
		return
	}
	if strings.Count(p.src[p.last:pos], "\n") > 1 && p.w.col == 0 {
		p.newline()
	}
}

// trailing writes the comments that follow a statement on its line, before pos, where the next text
// begins. closes is set at the end of a block, to which no comment belongs.
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
