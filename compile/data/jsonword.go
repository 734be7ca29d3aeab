package data

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file reads words and strings in JSON.

// word reads NaN and infinities, bare or as a string. It reports an error for anything else.
func (p *parser) word() error {
	start := p.pos
	word := ""
	if p.peek() == '"' {
		s, err := p.str()
		if err != nil {
			return err
		}
		if v, ok := special(s, true); ok {
			return p.real(v)
		}
		fix := `data are numbers; only "NaN", "Infinity" and "-Infinity" may be strings`
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			fix = "write the number without quotes: " + s
		}
		return p.errorAt(start, p.pos, fix, "%s is the string %q", p.path(), clip(s))
	}
	end := p.wordEnd(start)
	word = p.text[start:end]
	if v, ok := special(word, false); ok {
		p.pos = end
		return p.real(v)
	}
	switch {
	case start == len(p.text):
		return p.ended()
	case p.text[start] == '{':
		return p.errorAt(start, start+1, "write an array in square brackets: [1.5, 2, 0.1]",
			"%s is an object, which is a tuple, but its neighbours are numbers", p.path())
	case word == "null":
		if p.gap == nil {
			errors.As(p.errorAt(start, end, gapFix, "%s is null", p.path()), &p.gap)
		}
		p.pos = end
		return p.real(math.NaN())
	case word == "NA" || word == "None":
		return p.errorAt(start, end, "write null, and "+gapFix, "%s is %s", p.path(), word)
	case word == "true" || word == "false" || word == "True" || word == "False" || word == "TRUE" || word == "FALSE":
		return p.errorAt(start, end, "write 1 for true and 0 for false", "%s is %s, but data are numbers", p.path(), word)
	case word == "":
		return p.unexpected("a number", "as "+p.path())
	case p.text[start] == '(':
		return p.errorAt(start, start+1, "write arrays in square brackets, as in [1, 2]", "%s begins with a parenthesis", p.path())
	case p.text[start] == '\'':
		return p.errorAt(start, end, "JSON has double quotes only", "%s begins with a single quote", p.path())
	case strings.EqualFold(strings.TrimLeft(word, "+-"), "nan") || strings.EqualFold(strings.TrimLeft(word, "+-"), "inf") ||
		strings.EqualFold(strings.TrimLeft(word, "+-"), "infinity"):
		return p.errorAt(start, end, "write NaN, Infinity or -Infinity", "%s is %s", p.path(), word)
	}
	if rest := strings.TrimRight(word, ";"); rest != word {
		return p.errorAt(start+len(rest), end, "write a comma", "expected a comma or a closing bracket after %s, but found ;", p.path())
	}
	return p.errorAt(start, end, "write it as in -3, 0.5 or 1.5e-3", "%s is %s, which is not a number in JSON", p.path(), clip(word))
}

// special returns the value of the name of a non-finite number. Quoted names may have any case and
// sign.
func special(s string, quoted bool) (float64, bool) {
	switch s {
	case "NaN":
		return math.NaN(), true
	case "Infinity", "Inf":
		return math.Inf(1), true
	case "-Infinity", "-Inf":
		return math.Inf(-1), true
	}
	if !quoted {
		return 0, false
	}
	sign := 1
	switch {
	case strings.HasPrefix(s, "+"):
		s = s[1:]
	case strings.HasPrefix(s, "-"):
		s, sign = s[1:], -1
	}
	switch strings.ToLower(s) {
	case "nan":
		return math.NaN(), true
	case "inf", "infinity":
		return math.Inf(sign), true
	}
	return 0, false
}

// str reads a string in double quotes.
func (p *parser) str() (string, error) {
	start := p.pos
	p.pos++
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == '"':
			p.pos++
			quoted := p.text[start:p.pos]
			if strings.IndexByte(quoted, '\\') < 0 && utf8.ValidString(quoted) {
				return quoted[1 : len(quoted)-1], nil
			}
			var s string
			if err := json.Unmarshal([]byte(quoted), &s); err != nil {
				return "", p.errorAt(start, p.pos, "", "this is not a string in JSON")
			}
			return s, nil
		case c == '\\' && p.pos+1 < len(p.text):
			p.pos += 2
		case c < ' ':
			return "", p.errorAt(start, p.pos, `add the closing "`, "this string does not end on its line")
		default:
			p.pos++
		}
	}
	return "", p.errorAt(start, start+1, `add the closing "`, "this string does not end")
}
