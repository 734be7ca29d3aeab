package main

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/fit/arrays"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/lang/diag"
)

// This file: the quantities that --vars selects, by indices or by the levels that these represent.

// selector is an item of --vars: a variable, or elements of it.
type selector struct {
	text    string
	base    string // name of a variable, perhaps with members: t[1].2
	indices []span // nil: all
}

// span is the numbers from lo to hi or, until selectorsOf has found its number, a level.
type span struct {
	lo, hi int
	level  string
	named  bool
}

// indexLevels returns, for each variable, the factors whose levels its indices represent.
type indexLevels func() map[string][]arrays.Factor

// selectorsOf reads --vars, and replaces levels by their numbers: theta[Paris] is theta[2] if Paris
// is the second level.
func selectorsOf(text string, levels indexLevels) ([]selector, error) {
	wanted, err := selectors(text)
	var by map[string][]arrays.Factor
	for _, s := range wanted {
		for k := range s.indices {
			x := &s.indices[k]
			if !x.named {
				continue
			}
			if by == nil {
				by = levels()
			}
			own := by[s.base]
			if k >= len(own) || own[k].Name == "" {
				return nil, usagef("--vars: %s: index %d of %s has no levels with names; write a number or a range, such as %s[1:5]", s.text, k+1, s.base, s.base)
			}
			n := slices.Index(own[k].Levels, x.level)
			if n < 0 {
				if _, whole, _ := strings.Cut(strings.TrimSuffix(s.text, "]"), "["); slices.Contains(own[k].Levels, whole) {
					return nil, usagef("--vars: %s: write the level in quotes, since it has a comma: %s[%q]", s.text, s.base, whole)
				}
				if near := diag.Nearest(x.level, slices.Values(own[k].Levels)); near != "" {
					return nil, usagef("--vars: %s: %s has no level %q; did you mean %q?", s.text, own[k].Name, x.level, near)
				}
				return nil, usagef("--vars: %s: %s has no level %q; the levels are %s", s.text, own[k].Name, x.level, shortList(own[k].Levels))
			}
			*x = span{lo: n + 1, hi: n + 1}
		}
	}
	return wanted, err
}

// withNumbers returns --vars with the numbers of levels; the same text if there is an error, which
// is reported elsewhere.
func withNumbers(text string, levels indexLevels) string {
	wanted, err := selectorsOf(text, levels)
	if err != nil || !slices.ContainsFunc(wanted, func(s selector) bool { return strings.Contains(s.text, "[") }) {
		return text
	}
	var items []string
	for _, s := range wanted {
		var indices []string
		for _, x := range s.indices {
			index := strconv.Itoa(x.lo)
			if x.hi != x.lo {
				index += ":"
				if x.hi < math.MaxInt {
					index += strconv.Itoa(x.hi)
				}
			}
			indices = append(indices, index)
		}
		item := s.base
		if indices != nil {
			item += "[" + strings.Join(indices, ",") + "]"
		}
		items = append(items, item)
	}
	return strings.Join(items, ",")
}

// shortList lists levels for a message.
func shortList(words []string) string {
	const shown = 12
	var quoted []string
	for _, w := range words[:min(len(words), shown)] {
		quoted = append(quoted, strconv.Quote(w))
	}
	list := strings.Join(quoted, ", ")
	if len(words) > shown {
		list += ", …"
	}
	return list
}

// splitItems splits a list at its commas, except those in quotes and in square brackets. A quote
// begins a quoted text only at the beginning of an index, so that a level may contain one.
func splitItems(text string) (items []string) {
	depth, start, quoted, fresh := 0, 0, false, true
	escaped := false
	for i, c := range text {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"' && (quoted || fresh):
			quoted = !quoted
		case quoted:
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth == 0:
			items = append(items, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
		fresh = !quoted && (c == '[' || c == ',' || fresh && c == ' ')
	}
	return append(items, strings.TrimSpace(text[start:]))
}

// selectors reads --vars. It returns nil for "". The levels have no numbers yet, see selectorsOf.
func selectors(text string) ([]selector, error) {
	if text == "" {
		return nil, nil
	}
	var out []selector
	for _, item := range splitItems(text) {
		if item == "" {
			continue
		}
		s := selector{text: item, base: item}
		// theta.3, the form in CSV files, means theta[3].
		if !strings.Contains(item, "[") {
			item = diagnose.DisplayName(item)
			s.base = item
		}
		if base, rest, ok := strings.Cut(item, "["); ok {
			inner, closed := strings.CutSuffix(rest, "]")
			if !closed {
				return nil, usagef("--vars: %q is not a variable or an element of one, such as theta[1:5] or Omega[1,2]", item)
			}
			s.base = base
			for _, part := range splitItems(inner) {
				x, err := indexOf(part)
				if err != nil {
					return nil, usagef("--vars: %q %v", s.text, err)
				}
				s.indices = append(s.indices, x)
			}
		}
		out = append(out, s)
	}
	if out == nil {
		return nil, usagef("--vars names no quantity")
	}
	return out, nil
}

// indexOf reads an index: a number, a range, or a level, which may be in double quotes.
func indexOf(text string) (span, error) {
	if inner, quoted := strings.CutPrefix(text, `"`); quoted {
		level, err := strconv.Unquote(text)
		if err != nil && strings.HasSuffix(inner, `"`) && !strings.Contains(inner[:len(inner)-1], `"`) {
			level, err = inner[:len(inner)-1], nil // a lone backslash
		}
		if err != nil {
			return span{}, errors.New(`has a level whose quotes do not end, or which holds quotes: write them as in theta["a \"b\" c"]`)
		}
		return span{level: level, named: true}, nil
	}
	lo, hi, isRange := strings.Cut(text, ":")
	if !isRange {
		hi = lo
	}
	x := span{lo: 1, hi: math.MaxInt}
	var err error
	if lo = strings.TrimSpace(lo); lo != "" {
		x.lo, err = strconv.Atoi(lo)
	}
	if hi = strings.TrimSpace(hi); hi != "" && err == nil {
		x.hi, err = strconv.Atoi(hi)
	}
	if err != nil {
		return span{level: text, named: true}, nil
	}
	return x, nil
}

// matches reports whether a quantity is selected. If the selector has fewer indices than the
// quantity has dimensions, all elements with these indices are selected.
func (s selector) matches(name string) bool {
	base, rest, indexed := strings.Cut(name, "[")
	if base != s.base && !(s.indices == nil && (name == s.base || strings.HasPrefix(name, s.base+"."))) {
		return false
	}
	if s.indices == nil {
		return true
	}
	if !indexed {
		return false
	}
	inner, _, _ := strings.Cut(rest, "]")
	parts := strings.Split(inner, ",")
	if len(parts) < len(s.indices) {
		return false
	}
	for i, x := range s.indices {
		n, err := strconv.Atoi(parts[i])
		if err != nil || x.named || n < x.lo || n > x.hi {
			return false
		}
	}
	return true
}

// unknown returns an error that says that nothing is selected, and suggests the nearest name.
func (s selector) unknown(rows []diagnose.Row, levels indexLevels) error {
	names := func(yield func(string) bool) {
		last := ""
		for _, r := range rows {
			if base, _, _ := strings.Cut(r.Name, "["); base != last {
				last = base
				if !yield(base) {
					return
				}
			}
		}
	}
	near := diag.Nearest(s.base, names)
	if near != "" && near != s.base {
		return usagef("--vars: there is no quantity %s; did you mean %s?", s.text, near)
	}
	var all []string
	for n := range names {
		if n == s.base {
			own := levels()[s.base]
			for k, x := range s.indices[:min(len(s.indices), len(own))] {
				if level := strconv.Itoa(x.lo); x.lo == x.hi && slices.Contains(own[k].Levels, level) {
					return usagef("--vars: %s: %s has no element %s; to select its level %q, write it in quotes", s.text, own[k].Name, level, level)
				}
			}
			return usagef("--vars: %s selects no element of %s", s.text, s.base)
		}
		all = append(all, n)
	}
	list := strings.Join(all[:min(20, len(all))], ", ")
	if len(all) > 20 {
		list += ", …"
	}
	return usagef("--vars: there is no quantity %s; there are %s", s.text, list)
}

// known returns an error if an item of --vars selects none of these names. It is called before
// anything is drawn. levels returns the levels that indices represent.
func (o *rowOptions) known(names []string, levels indexLevels) error {
	wanted, err := selectorsOf(o.vars, levels)
	if err != nil {
		return err
	}
	rows := make([]diagnose.Row, len(names))
	for i, n := range names {
		rows[i].Name = diagnose.DisplayName(n)
	}
	for _, s := range wanted {
		if !slices.ContainsFunc(rows, func(r diagnose.Row) bool { return s.matches(r.Name) }) {
			return s.unknown(rows, levels)
		}
	}
	return nil
}

// chosenNames returns a function that reports whether --vars selects a name; without --vars it
// selects all. The error is about an item that selects nothing.
func chosenNames(vars string, names []string, levels indexLevels) (func(name string) bool, error) {
	o := rowOptions{vars: vars}
	if err := o.known(names, levels); err != nil {
		return nil, err
	}
	wanted, err := selectorsOf(vars, levels)
	return func(name string) bool {
		return wanted == nil || slices.ContainsFunc(wanted, func(s selector) bool { return s.matches(diagnose.DisplayName(name)) })
	}, err
}
