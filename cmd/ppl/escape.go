package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// shown makes text from a model or its data safe for w. On a terminal, control characters other
// than line breaks and tabs are written as \x1b and the like, so that a model cannot move the
// cursor, set the title or answer for the user. Characters that change the direction of text are
// written so too, since they make one text look like another.
func shown(w io.Writer, text string) string {
	if _, _, ok := terminalSize(w); !ok {
		return text
	}
	return escaped(text)
}

func escaped(text string) string {
	control := func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar)
	}
	if strings.IndexFunc(text, control) < 0 {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case !control(r):
			b.WriteRune(r)
		case r == unicode.ReplacementChar && !strings.HasPrefix(text[i:], "\uFFFD"): // an invalid byte
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == unicode.ReplacementChar:
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
