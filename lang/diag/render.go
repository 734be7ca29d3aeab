package diag

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ppl-lang/ppl/lang/source"
)

// Options of [Render]. The zero value is plain text.
type Options struct {
	Color bool // colour by ANSI escape sequences
	Width int  // columns to which source lines are cut around their span; 0 means 120
	Wrap  int  // columns at which text is broken between words; 0: nowhere
}

// tabWidth is the distance of tab stops in shown source lines.
const tabWidth = 4

// Render writes the diagnostics in their order, each as
//
//	file:line:col: error: summary [CODE]
//	   12 | the source line
//	      |     ^~~~~~
//	  detail
//	  note: file:line:col: message
//	    3 | its line
//	      | ^~~
//	  help: fix
//
// with an empty line between two of them. It returns the first write error.
func Render(w io.Writer, list List, opts Options) error {
	if opts.Width <= 0 {
		opts.Width = 120
	}
	r := &renderer{w: bufio.NewWriter(w), opts: opts}
	for i, d := range list {
		if i > 0 {
			r.line("")
		}
		r.diagnostic(d)
	}
	return r.w.Flush()
}

// renderer writes to a bufio.Writer, which keeps the first error for Flush.
type renderer struct {
	w    *bufio.Writer
	opts Options
}

// style is an ANSI "select graphic rendition" parameter.
type style string

const (
	bold   style = "1"
	red    style = "1;31"
	yellow style = "1;33"
	blue   style = "1;34"
	green  style = "1;32"
)

func (r *renderer) paint(s style, text string) string {
	if !r.opts.Color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

func (r *renderer) line(s string) {
	r.w.WriteString(s)
	r.w.WriteByte('\n')
}

func (r *renderer) diagnostic(d Diagnostic) {
	mark := red
	if d.Severity == Warning {
		mark = yellow
	}
	r.head(d, mark)
	r.excerpt(d.Span, mark)
	r.paragraph("", d.Detail)
	for _, n := range d.Related {
		for i, part := range broken(place(n.Span)+clean(n.Message), r.opts.Wrap, len("note:")) {
			if i == 0 {
				part = r.paint(blue, "note:") + " " + part
			}
			r.line("  " + part)
		}
		r.excerpt(n.Span, blue)
	}
	r.paragraph("help:", d.Fix)
}

// head writes the place, the severity, the summary and the code.
func (r *renderer) head(d Diagnostic, mark style) {
	at, severity, text, code := place(d.Span), d.Severity.String()+":", clean(d.Summary), ""
	if d.Code != "" {
		code = "[" + string(d.Code) + "]"
		text += " " + code
	}
	parts := broken(text, r.opts.Wrap, utf8.RuneCountInString(at+severity)-1)
	for i, part := range parts {
		lead, end := "  ", ""
		if i == 0 {
			lead = r.paint(bold, at) + r.paint(mark, severity) + " "
		}
		if i == len(parts)-1 && strings.HasSuffix(part, code) {
			part, end = strings.TrimSuffix(part, code), code
		}
		r.line(lead + r.paint(bold, part) + end)
	}
}

// paragraph writes text indented, after a lead if it is not empty. Line breaks in the text are
// kept.
func (r *renderer) paragraph(lead, text string) {
	if text == "" {
		return
	}
	for l := range strings.SplitSeq(text, "\n") {
		l = clean(l)
		for _, part := range broken(l, r.opts.Wrap, len(lead)) {
			if lead != "" {
				part = r.paint(green, lead) + " " + part
				lead = ""
			}
			r.line("  " + part)
		}
	}
}

// broken breaks a line between words so that it fits into the columns of a terminal. The indent
// and, on the first line, a lead take some of the columns; 0 columns means no limit.
func broken(line string, columns, lead int) []string {
	if columns <= 0 {
		return []string{line}
	}
	var out []string
	width := columns - 3 - lead
	for utf8.RuneCountInString(line) > width {
		cut := -1 // index of the last space that fits, or else of the first
		n := 0
		for i, c := range line {
			if c == ' ' && (n <= width || cut < 0) {
				cut = i
			}
			n++
		}
		if cut <= 0 {
			break
		}
		out, line = append(out, line[:cut]), line[cut+1:]
		width = columns - 3
	}
	return append(out, line)
}

// excerpt shows the first line of the span with a run of carets under it.
func (r *renderer) excerpt(s source.Span, mark style) {
	if !s.IsValid() {
		return
	}
	s = s.Origin()
	begin := s.Begin()
	text := s.File.Line(begin.Line)
	// Byte offsets of the span within the line; an end in a later line, or
	// within the line break, is the end of this line.
	lineStart := s.File.LineStart(begin.Line)
	from := min(s.Start-lineStart, len(text))
	to := min(max(s.End-lineStart, from), len(text))
	text, from, to = vicinity(text, from, to, 2*r.opts.Width)

	shown, cols := expand(text)
	first, last := cols[from], max(cols[to], cols[from]+1)
	shown, first, last = window(shown, first, last, r.opts.Width)

	gutter := fmt.Sprintf("%5d | ", begin.Line)
	r.line(r.paint(blue, gutter) + strings.TrimRight(string(shown.runes), " "))
	carets := "^" + strings.Repeat("~", max(0, last-first-1))
	r.line(r.paint(blue, strings.Repeat(" ", len(gutter)-2)+"| ") + strings.Repeat(" ", first) + r.paint(mark, carets))
}

// vicinity cuts a line to a part around text[from:to], so that a message about a line of a megabyte
// does not take as long as reading it.
func vicinity(text string, from, to, reach int) (part string, first, last int) {
	begin, end := max(0, from-reach), min(len(text), from+2*reach)
	for begin > 0 && !startsRune(text[begin]) {
		begin--
	}
	for end < len(text) && !startsRune(text[end]) {
		end++
	}
	part, first, last = text[begin:end], from-begin, min(to, end)-begin
	if begin > 0 {
		part, first, last = "…"+part, first+len("…"), last+len("…")
	}
	if end < len(text) {
		part += "…"
	}
	return part, first, last
}

// cells is text for a terminal with the width in columns of each rune.
type cells struct {
	runes  []rune
	widths []int
}

// expand makes a source line safe for a terminal. Tabs become spaces up to the next stop, and
// control characters become a replacement character: an escape sequence in a source file must not
// act on the terminal. cols maps a byte offset of the line to its column.
func expand(line string) (c cells, cols []int) {
	cols = make([]int, len(line)+1)
	col := 0
	for i, ru := range line {
		for j := i; j < len(line) && (j == i || !startsRune(line[j])); j++ {
			cols[j] = col
		}
		if ru == '\t' {
			for n := tabWidth - col%tabWidth; n > 0; n-- {
				c.runes, c.widths = append(c.runes, ' '), append(c.widths, 1)
				col++
			}
			continue
		}
		if controls(ru) {
			ru = unicode.ReplacementChar
		}
		w := runeWidth(ru)
		c.runes, c.widths = append(c.runes, ru), append(c.widths, w)
		col += w
	}
	cols[len(line)] = col
	return c, cols
}

func startsRune(b byte) bool { return b&0xC0 != 0x80 }

// window cuts a long line to width columns around [first, last) and returns
// the shifted columns.
func window(c cells, first, last, width int) (cells, int, int) {
	total := 0
	for _, w := range c.widths {
		total += w
	}
	if total <= width {
		return c, first, last
	}
	// Show from a little before the span.
	from := max(0, min(first-width/4, total-width))
	var out cells
	col, shift := 0, -1
	for i, w := range c.widths {
		if col >= from && col+w <= from+width {
			if shift < 0 {
				shift = col
				if col > 0 {
					c.runes[i], w = '…', 1
					shift += c.widths[i] - 1
				}
			}
			out.runes, out.widths = append(out.runes, c.runes[i]), append(out.widths, w)
		}
		col += c.widths[i]
	}
	if from+width < total {
		out.runes = append(out.runes, '…')
	}
	first = max(0, first-max(shift, 0))
	last = max(first+1, min(last-max(shift, 0), width))
	return out, first, last
}

// controls reports whether a character controls a terminal, or changes the direction of the text.
func controls(ru rune) bool { return unicode.IsControl(ru) || unicode.Is(unicode.Bidi_Control, ru) }

// clean replaces control characters, which user text quoted in a message may contain. It also cuts
// the middle out of summaries that very long names make unreadable.
func clean(s string) string {
	const longest = 2000
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest/2], "") + " … " + strings.ToValidUTF8(s[len(s)-longest/2:], "")
	}
	return strings.Map(func(ru rune) rune {
		if controls(ru) {
			return unicode.ReplacementChar
		}
		return ru
	}, s)
}

// runeWidth returns the number of terminal columns of a character: 0 for combining marks and format
// characters, 2 for East Asian wide ones and emoji, otherwise 1.
func runeWidth(ru rune) int {
	switch {
	case ru < 0x300:
		return 1
	case unicode.In(ru, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case ru >= 0x1100 && ru <= 0x115F, // Hangul Jamo
		ru >= 0x2E80 && ru <= 0x303E, // CJK radicals, punctuation
		ru >= 0x3041 && ru <= 0xA4CF, // kana … Yi
		ru >= 0xAC00 && ru <= 0xD7A3, // Hangul syllables
		ru >= 0xF900 && ru <= 0xFAFF, // CJK compatibility
		ru >= 0xFE30 && ru <= 0xFE6F, // CJK compatibility forms
		ru >= 0xFF00 && ru <= 0xFF60, // full-width forms
		ru >= 0xFFE0 && ru <= 0xFFE6,
		ru >= 0x1F300 && ru <= 0x1F64F, // emoji
		ru >= 0x1F680 && ru <= 0x1F6FF,
		ru >= 0x1F900 && ru <= 0x1F9FF,
		ru >= 0x20000 && ru <= 0x3FFFD: // CJK extensions
		return 2
	}
	return 1
}
