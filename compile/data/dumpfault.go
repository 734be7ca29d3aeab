package data

import (
	"strconv"
	"strings"
)

// This file handles the non-numeric values of an R dump.

// operators are the characters after which an expression continues, also on the next line.
const operators = "+-*/^%&|<>=!~?:$@"

// ended returns an error unless a value ends at the current position.
func (p *dump) ended() error {
	rest := strings.TrimLeft(p.text[p.pos:], " \t\r")
	if rest != "" && strings.IndexByte(operators+"([", rest[0]) >= 0 {
		return p.errorf(len(p.text)-len(rest), "write the value that this has", "%s is still to be computed", p.name)
	}
	return nil
}

// fault records an error in the value of a variable, which begins at start, and continues after the
// value. It returns an error if it cannot find the end of the value.
func (p *dump) fault(name string, start int, err error) error {
	e, ok := err.(*Error)
	p.pos = start
	if !ok || e.Path == "" || p.beyond || !p.skip() || p.pos == start {
		return err
	}
	if p.pos < len(p.text) && strings.IndexByte(")]}", p.text[p.pos]) >= 0 { // unmatched
		return err
	}
	p.set.addFault(name, e)
	return nil
}

// skip skips an expression: up to the end of a line, a semicolon, or a comma or closing bracket of
// the surrounding list. It reports whether all brackets and strings in it are closed.
func (p *dump) skip() bool {
	open, joined := 0, true
	for ; p.pos < len(p.text); p.pos++ {
		switch c := p.text[p.pos]; {
		case c == '"' || c == '\'' || c == '`':
			for p.pos++; p.pos < len(p.text) && p.text[p.pos] != c; p.pos++ {
				if p.text[p.pos] == '\\' {
					p.pos++
				}
			}
			if p.pos >= len(p.text) {
				p.pos = len(p.text)
				return false
			}
			joined = false
		case c == '#':
			if i := strings.IndexByte(p.text[p.pos:], '\n'); i >= 0 {
				p.pos += i - 1
			} else {
				p.pos = len(p.text) - 1
			}
		case c == '(' || c == '[' || c == '{':
			open++
		case c == ')' || c == ']' || c == '}':
			if open == 0 {
				return true
			}
			open--
			joined = false
		case open == 0 && (c == ';' || c == ',' || c == '\n' && !joined):
			return true
		case strings.IndexByte(operators, c) >= 0:
			joined = true
		case strings.IndexByte(" \t\r\n", c) < 0:
			joined = false
		}
	}
	return open == 0
}

// texts reads c("a", …), the levels of a factor.
func (p *dump) texts() ([]string, error) {
	if !p.take("c(") {
		return p.quoted(nil)
	}
	out := []string{}
	for !p.take(")") {
		if len(out) > 0 && !p.take(",") {
			return nil, p.errorf(p.pos, "", "expected `,` or `)`")
		}
		var err error
		if out, err = p.quoted(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// quoted reads one string and appends it.
func (p *dump) quoted(to []string) ([]string, error) {
	p.space()
	start := p.pos
	if start == len(p.text) || strings.IndexByte("\"'", p.text[start]) < 0 {
		return nil, p.errorf(start, "", "expected a text in quotes")
	}
	quote := p.text[start]
	for p.pos++; p.pos < len(p.text) && p.text[p.pos] != quote; p.pos++ {
		if p.text[p.pos] == '\\' {
			p.pos++
		}
	}
	if p.pos >= len(p.text) {
		p.pos = len(p.text)
		return nil, p.errorf(start, "", "a text in quotes does not end")
	}
	p.pos++
	raw := p.text[start+1 : p.pos-1]
	if err := p.memory.take(levelSize + int64(len(raw))); err != nil {
		return nil, err
	}
	if text, err := strconv.Unquote("\"" + raw + "\""); err == nil {
		return append(to, text), nil
	}
	return append(to, strings.Clone(raw)), nil
}
