package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestBroken checks how long lines are broken. They break between words, and the rest of an
// indented line is indented further. Columns keep their distance, and a word that is too long stays
// whole.
func TestBroken(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"short", "short"},
		{"one two three four five", "one two three four\nfive"},
		{"  one two three four five", "  one two three four\n    five"},
		{"  1   2   words that follow columns", "  1   2   words that\n    follow columns"},
		{"https://example.org/a/long/address", "https://example.org/a/long/address"},
		{"see https://example.org/a/long/address now", "see\nhttps://example.org/a/long/address\nnow"},
		{"a line\nand one more line of text", "a line\nand one more line of\ntext"},
		{"", ""},
	} {
		if got := broken(c.text, 21); got != c.want {
			t.Errorf("%q: got\n%s\nwant\n%s", c.text, got, c.want)
		}
		if got := broken(c.text, 0); got != c.text {
			t.Errorf("%q without a limit: got %q", c.text, got)
		}
	}
	text := strings.Repeat("Warm-up 3 µs, ", 40)
	for line := range strings.SplitSeq(broken(text, 40), "\n") {
		if n := utf8.RuneCountInString(line); n >= 40 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}
