package printer

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// doc is a piece of text whose line breaks are not decided yet, after Wadler, "A prettier printer"
// (2003). As in later printers, it can have fills, and suffixes of lines.
type doc interface{}

type (
	text   string
	concat []doc
	// nest indents the lines after breaks within it by n columns.
	nest struct {
		d doc
		n int
	}
	// group is written on one line if it fits; otherwise all its soft lines break.
	group struct{ d doc }
	// fill breaks each of its soft lines only if the next item does not fit. Items and separators
	// alternate.
	fill []doc
	// soft is a line break in a broken group, and otherwise the text flat.
	soft struct{ flat string }
	// hard is a line break that also breaks the enclosing groups.
	hard struct{}
	// suffix is a comment that is written at the end of the current line. If breaks is set, it
	// breaks the enclosing groups.
	suffix struct {
		s      string
		breaks bool
	}
	// inline is a comment within a line. If other comments wait for the end of the line, it follows
	// them. A blank separates it from the text that it precedes or follows.
	inline struct {
		s     string
		leads bool
	}
	// comment is a comment that ends its line. It follows the suffixes of the line.
	comment struct{ d doc }
	// verbatim is a comment of several lines whose first line began at column from. The other lines
	// keep their indentation relative to it.
	verbatim struct {
		s    string
		from int
	}
)

const (
	standard  = 80 // default maximum line width
	level     = 2  // indentation of blocks and of the contents of brackets
	continued = 4  // indentation of the continuation lines of a statement
)

// writer lays docs out.
type writer struct {
	width   int // maximum line width, if possible
	b       []byte
	col     int
	pending []string // suffixes of the current line
	indent  int
}

// newline ends the line. The indentation is written with the next text.
func (w *writer) newline(indent int) {
	for i, s := range w.pending {
		if i > 0 && !strings.HasPrefix(w.pending[i-1], "/*") {
			w.b = append(w.b, '\n')
			w.col, w.indent = 0, indent
		}
		if w.col > 0 {
			w.trim()
			s = " " + s
		}
		w.write(s)
	}
	w.pending = w.pending[:0]
	w.trim()
	w.b = append(w.b, '\n')
	w.col, w.indent = 0, indent
}

// trim removes blanks at the end of the line.
func (w *writer) trim() {
	w.b = bytes.TrimRight(w.b, " ")
}

func (w *writer) write(s string) {
	if s == "" {
		return
	}
	if w.col == 0 {
		w.b = append(w.b, strings.Repeat(" ", w.indent)...)
		w.col = w.indent
		s = strings.TrimLeft(s, " ")
	}
	w.b = append(w.b, s...)
	w.col += utf8.RuneCountInString(s)
}

// lay writes a doc. If flat is set, soft lines do not break.
func (w *writer) lay(d doc, indent int, flat bool) {
	switch d := d.(type) {
	case nil:
	case text:
		w.write(string(d))
	case concat:
		for _, x := range d {
			w.lay(x, indent, flat)
		}
	case nest:
		w.lay(d.d, indent+d.n, flat)
	case group:
		w.lay(d.d, indent, flat || !breaks(d.d) && fits(d.d, w.width-w.at(indent)))
	case fill:
		for i, x := range d {
			if s, ok := x.(soft); ok && i+1 < len(d) {
				if flat || !breaks(d[i-1]) && !breaks(d[i+1]) && fits(concat{s, d[i+1]}, w.width-w.at(indent)-1) {
					w.write(s.flat)
				} else {
					w.newline(indent)
				}
				continue
			}
			w.lay(x, indent, flat)
		}
	case soft:
		if flat {
			w.write(d.flat)
		} else {
			w.newline(indent)
		}
	case hard:
		w.newline(indent)
	case suffix:
		w.pending = append(w.pending, d.s)
	case inline:
		switch {
		case len(w.pending) > 0:
			w.pending = append(w.pending, d.s)
		case d.leads:
			w.write(d.s + " ")
		default:
			w.write(" " + d.s)
		}
	case comment:
		if len(w.pending) == 0 {
			if n := len(w.b); w.col > 0 && w.b[n-1] != ' ' {
				w.write(" ")
			}
			w.lay(d.d, indent, flat)
			return
		}
		switch d := d.d.(type) {
		case text:
			w.pending = append(w.pending, string(d))
		case verbatim:
			w.pending = append(w.pending, d.s)
		}
	case verbatim:
		if len(w.pending) > 0 {
			w.pending = append(w.pending, d.s)
		} else {
			w.verbatim(d)
		}
	}
}

// at returns the column of the next text.
func (w *writer) at(indent int) int {
	if w.col == 0 {
		return max(w.indent, indent)
	}
	return w.col
}

func (w *writer) verbatim(d verbatim) {
	lines := strings.Split(d.s, "\n")
	w.write(strings.TrimRight(lines[0], " \t\r"))
	to := w.col - utf8.RuneCountInString(strings.TrimRight(lines[0], " \t\r"))
	for i, l := range lines[1:] {
		l = strings.TrimRight(l, " \t\r")
		n := 0
		for n < d.from && n < len(l) && (l[n] == ' ' || l[n] == '\t') {
			n++
		}
		l = l[n:]
		w.b = append(w.b, '\n')
		if l != "" {
			l = strings.Repeat(" ", to) + l
		}
		w.b = append(w.b, l...)
		w.col = utf8.RuneCountInString(l)
		if i == len(lines)-2 && w.col == 0 {
			w.col = 1 // the line has at least the end of the comment
		}
	}
}

// breaks reports whether a doc contains a forced line break.
func breaks(d doc) bool {
	switch d := d.(type) {
	case concat:
		for _, x := range d {
			if breaks(x) {
				return true
			}
		}
	case fill:
		return breaks(concat(d))
	case nest:
		return breaks(d.d)
	case group:
		return breaks(d.d)
	case hard:
		return true
	case suffix:
		return d.breaks
	case comment:
		return true
	case verbatim:
		return strings.Contains(d.s, "\n")
	}
	return false
}

// fits reports whether a doc written flat takes at most room columns.
func fits(d doc, room int) bool {
	_, ok := measure(d, room)
	return ok
}

// measure returns the columns that are left after a flat doc.
func measure(d doc, room int) (int, bool) {
	all := func(ds []doc) (int, bool) {
		for _, x := range ds {
			var ok bool
			if room, ok = measure(x, room); !ok {
				return room, false
			}
		}
		return room, true
	}
	switch d := d.(type) {
	case text:
		room -= utf8.RuneCountInString(string(d))
	case inline:
		room -= utf8.RuneCountInString(d.s) + 1
	case concat:
		return all(d)
	case fill:
		return all(d)
	case nest:
		return measure(d.d, room)
	case group:
		return measure(d.d, room)
	case soft:
		room -= len(d.flat)
	case verbatim:
		room -= utf8.RuneCountInString(d.s)
	}
	return room, room >= 0
}
