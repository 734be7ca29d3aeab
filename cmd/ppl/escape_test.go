package main

import "testing"

func TestEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"plain ünïcode\n\ttext":   "plain ünïcode\n\ttext",
		"\x1b[31mred\x07\r\u009b": `\x1b[31mred\x07\x0d\x9b`,
		"\xff\xfe":                `\xff\xfe`,
		"a\u202eb\u2066c\u061c":   `a\u202eb\u2066c\u061c`,
		"\uFFFD\x00":              "\uFFFD" + `\x00`,
	} {
		if got := escaped(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
