package source

import (
	"strings"
	"unicode/utf8"
)

// Plain returns the ASCII text for a character that looks like it. Keyboards for Chinese and
// Japanese, word processors and web pages use such characters: , for ，and - for −.
func Plain(r rune) (string, bool) {
	if r >= '！' && r <= '～' {
		return string(r - '！' + '!'), true
	}
	plain, ok := lookalikes[r]
	return plain, ok
}

// lookalikes lists characters that look like ASCII characters, outside the Unicode block that has
// them in ASCII order.
var lookalikes = map[rune]string{
	'‘': "'", '’': "'", '´': "'", '“': `"`, '”': `"`, '„': `"`, '«': `"`, '»': `"`, '「': `"`, '」': `"`,
	'−': "-", '–': "-", '—': "-", '×': "*", '·': "*", '∼': "~", '˜': "~", '≤': "<=", '≥': ">=", '≠': "!=",
	'、': ",", '。': ".", '【': "[", '】': "]", '\u00a0': " ", '\u200b': " ", '\u3000': " ",
}

// PlainText replaces all characters that look like ASCII ones. It reports whether there were any.
func PlainText(text string) (string, bool) {
	var b strings.Builder
	found := false
	for _, r := range text {
		plain, ok := "", false
		if r >= utf8.RuneSelf {
			plain, ok = Plain(r)
		}
		if !ok {
			plain = string(r)
		}
		found = found || ok
		b.WriteString(plain)
	}
	return b.String(), found
}

// UTF16 reports whether a text is in UTF-16: it begins with a byte order mark, or half of the bytes
// at its beginning are zero.
func UTF16(text string) bool {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return true
	}
	return len(text) >= 4 && (text[0] != 0 && text[1] == 0 && text[2] != 0 && text[3] == 0 || text[0] == 0 && text[1] != 0 && text[2] == 0 && text[3] != 0)
}
