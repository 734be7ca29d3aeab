package diag_test

import (
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

func TestNearest(t *testing.T) {
	names := []string{"normal", "lognormal", "normal_rng", "exp", "exp2", "log", "mean", "sum", "sigma", "mu", "x"}
	tests := []struct{ name, want string }{
		{"nomral", "normal"},  // two neighbours swapped: one edit
		{"norma", "normal"},   // one is missing
		{"normall", "normal"}, // one too many
		{"Normal", "normal"},  // case alone
		{"NORMAL", "normal"},  // case alone, of all letters
		{"sgima", "sigma"},
		{"men", "mean"},
		{"mo", "mu"},
		{"lgo", "log"},
		{"y", ""},     // one character is no hint
		{"gamma", ""}, // too far from everything
		{"lognorm", "lognormal"},
		{"", ""},
		{"exp", "exp2"}, // the name itself is no suggestion
		{"exp1", "exp"}, // ties go by the alphabet
	}
	for _, test := range tests {
		if got := diag.Nearest(test.name, slices.Values(names)); got != test.want {
			t.Errorf("Nearest(%q) = %q, want %q", test.name, got, test.want)
		}
		slices.Reverse(names) // the order of candidates does not matter
	}
}

func TestList(t *testing.T) {
	a, b := source.NewFile("a", "0123456789"), source.NewFile("b", "0123456789")
	span := func(f *source.File, at int) source.Span { return source.Span{File: f, Start: at, End: at + 1} }
	var l diag.List
	if l.HasErrors() {
		t.Error("an empty list has errors")
	}
	l.Add(diag.Errorf("E3", span(b, 1), "three"), diag.Warnf("W0", source.Span{}, "nowhere"), diag.Warnf("W2", span(a, 5), "two"))
	if !l.HasErrors() {
		t.Error("no errors")
	}
	l.Add(diag.Errorf("E2b", span(a, 5), "two again"), diag.Errorf("E1", span(a, 2), "one"))
	l.Sort()
	var got []string
	for _, d := range l {
		got = append(got, string(d.Code))
	}
	if s := strings.Join(got, " "); s != "E1 W2 E2b E3 W0" {
		t.Error(s)
	}
	if n := len(l.Errors()); n != 3 {
		t.Errorf("%d errors", n)
	}
	if s := l[1].String(); s != "a:1:6: warning: two [W2]" {
		t.Error(s)
	}
}

func render(t *testing.T, opts diag.Options, l ...diag.Diagnostic) string {
	t.Helper()
	var b strings.Builder
	if err := diag.Render(&b, l, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// excerpt returns the source line and the caret line of a rendered diagnostic.
func excerpt(t *testing.T, opts diag.Options, text string, start, end int) string {
	t.Helper()
	f := source.NewFile("f", text)
	out := render(t, opts, diag.Errorf("", source.Span{File: f, Start: start, End: end}, "s"))
	_, lines, _ := strings.Cut(out, "\n")
	return lines
}

func TestExcerpt(t *testing.T) {
	tests := []struct {
		name, text string
		start, end int
		want       string
	}{
		{"a word", "ab cde f", 3, 6, "    1 | ab cde f\n      |    ^~~\n"},
		{"one character", "ab", 1, 2, "    1 | ab\n      |  ^\n"},
		{"an empty span", "ab", 1, 1, "    1 | ab\n      |  ^\n"},
		{"the end of the line", "ab\ncd", 2, 2, "    1 | ab\n      |   ^\n"},
		{"the second line", "ab\r\ncd\r\n", 5, 6, "    2 | cd\n      |  ^\n"},
		{"several lines", "abc\ndef", 1, 6, "    1 | abc\n      |  ^~\n"},
		{"the end of the text", "ab\n", 3, 3, "    2 | \n      | ^\n"},
		{"tabs before", "\tab\tcd", 4, 6, "    1 |     ab  cd\n      |         ^~\n"},
		{"tabs within", "a\tb", 0, 3, "    1 | a   b\n      | ^~~~~\n"},
		{"wide characters", "温度 = x;", 9, 10, "    1 | 温度 = x;\n      |        ^\n"},
		{"a wide span", "温度", 0, 6, "    1 | 温度\n      | ^~~~\n"},
		{"combining marks", "e\u0301 x", 4, 5, "    1 | e\u0301 x\n      |   ^\n"},
		{"directions", "a\u202ebc", 4, 5, "    1 | a\uFFFDbc\n      |   ^\n"},
		{"control characters", "a\x1b[31mb", 6, 7, "    1 | a\uFFFD[31mb\n      |       ^\n"},
		{"not UTF-8", "a\xffb", 2, 3, "    1 | a\uFFFDb\n      |   ^\n"},
	}
	for _, test := range tests {
		if got := excerpt(t, diag.Options{}, test.text, test.start, test.end); got != test.want {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// TestLongLine checks that a long line is cut around the span, and that the caret is still under
// the span.
func TestLongLine(t *testing.T) {
	text := strings.Repeat("abcdefghi ", 100) + "HERE" + strings.Repeat(" jklmnopqr", 100)
	for _, at := range []int{0, 5, 500, strings.Index(text, "HERE"), 1999, len(text)} {
		lines := strings.Split(excerpt(t, diag.Options{Width: 40}, text, at, min(at+4, len(text))), "\n")
		shown, carets := []rune(lines[0]), []rune(lines[1])
		if len(shown) > 8+42 {
			t.Errorf("at %d: %d columns are shown", at, len(shown))
		}
		if at < len(text) {
			col := slices.Index(carets, '^')
			if col < 0 || col >= len(shown) || shown[col] != rune(text[at]) {
				t.Errorf("at %d: the caret misses\n%s\n%s", at, lines[0], lines[1])
			}
		}
	}
}

func TestRender(t *testing.T) {
	f := source.NewFile("m", "real x;\nreal x;\n")
	d := diag.Errorf("E0204", source.Span{File: f, Start: 13, End: 14}, "`x` is declared twice")
	d.Detail = "One.\nTwo."
	d.Related = []diag.Note{{Span: source.Span{File: f, Start: 5, End: 6}, Message: "first here"}, {Message: "nowhere"}}
	d.Fix = "choose"
	w := diag.Warnf("W1", source.Span{}, "nowhere")
	const want = "m:2:6: error: `x` is declared twice [E0204]\n" +
		"    2 | real x;\n" +
		"      |      ^\n" +
		"  One.\n" +
		"  Two.\n" +
		"  note: m:1:6: first here\n" +
		"    1 | real x;\n" +
		"      |      ^\n" +
		"  note: nowhere\n" +
		"  help: choose\n" +
		"\n" +
		"warning: nowhere [W1]\n"
	if got := render(t, diag.Options{}, d, w); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	colored := render(t, diag.Options{Color: true}, d, w)
	if plain := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(colored, ""); plain != want || plain == colored {
		t.Errorf("colour changes more than colour:\n%s", colored)
	}
}

// TestExplanations checks the form of the files of codes, since Explain reads them line by line.
func TestExplanations(t *testing.T) {
	names, err := filepath.Glob("codes*.go")
	if err != nil {
		t.Fatal(err)
	}
	constants := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if formatted, err := format.Source(text); err != nil || string(formatted) != string(text) {
			t.Errorf("%s is not gofmt-clean (%v)", name, err)
		}
		for _, line := range regexp.MustCompile(`(?m)^\t// [A-Z]\w+: .*[^.\n]$`).FindAllString(string(text), -1) {
			t.Errorf("%s: the title is not one line that ends in a full stop: %s", name, line)
		}
		constants += len(regexp.MustCompile(`(?m)Code\s*=\s*"`).FindAll(text, -1))
	}
	all := diag.Explanations()
	if len(all) != constants {
		t.Errorf("%d explanations for %d constants: see explanations()", len(all), constants)
	}
	seen := map[diag.Code]bool{}
	for _, e := range all {
		if seen[e.Code] {
			t.Errorf("%s is declared twice", e.Code)
		}
		seen[e.Code] = true
		if !regexp.MustCompile(`^[EW]\d{4}$`).MatchString(string(e.Code)) {
			t.Errorf("%s is not of the form E0000 or W0000", e.Code)
		}
		if e.Text == "" {
			t.Errorf("%s has no text with the reason or the remedy", e.Code)
		}
		if e.Title == "" || strings.HasPrefix(e.Title, e.Name) || strings.HasSuffix(e.Title, ".") {
			t.Errorf("%s: title %q: the comment must begin with \"%s: title\"", e.Code, e.Title, e.Name)
		}
	}
	e, ok := diag.Explain(diag.MissingSemicolon)
	if !ok || e.Name != "MissingSemicolon" || e.File != "codes.go" || !strings.HasPrefix(e.Example, "parameters {\n  real mu\n") {
		t.Errorf("%+v", e)
	}
	if _, ok := diag.Explain("E9999"); ok {
		t.Error("E9999 is explained")
	}
}

// TestRenderLongLine checks that messages about a line of a megabyte take no longer than messages
// about short lines.
func TestRenderLongLine(t *testing.T) {
	f := source.NewFile("m", strings.Repeat("y ~ normal(1/2, é);", 50_000))
	var list diag.List
	for at := 0; at < len(f.Text); at += 20 * 25 {
		list.Add(diag.Errorf(diag.UnknownVariable, source.Span{File: f, Start: at, End: at + 1}, "a message"))
	}
	began := time.Now()
	var out strings.Builder
	if err := diag.Render(&out, list, diag.Options{}); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d > 20*time.Second { // minutes, if each reads its line from the start
		t.Errorf("%d messages took %v", len(list), d)
	}
	last := list[len(list)-1].Span.Begin()
	if want := utf8.RuneCountInString(f.Text[:list[len(list)-1].Span.Start]) + 1; last.Column != want {
		t.Errorf("column %d, not %d", last.Column, want)
	}
}

// TestRenderNames checks messages with long names, and with names of files that contain any
// characters.
func TestRenderNames(t *testing.T) {
	f := source.NewFile("\x1b[31mred\a.stan", "model { }")
	d := diag.Errorf(diag.UnexpectedToken, source.Span{File: f, Start: 0, End: 1}, "`%s` is not declared", strings.Repeat("é", 1e6))
	var b strings.Builder
	if err := diag.Render(&b, diag.List{d}, diag.Options{}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); len(text) > 3000 || strings.ContainsAny(text, "\x1b\a") || !strings.Contains(text, "` is not declared") {
		t.Errorf("%d bytes: %q", len(text), text[:min(len(text), 200)])
	}
}

// TestWrap checks that details and help are broken between words at the width of a terminal.
// Without a terminal they are not broken, and a word that is too long stays whole.
func TestWrap(t *testing.T) {
	d := diag.Diagnostic{Summary: "s", Detail: "one two three four five six seven", Fix: "write `a` or else_something_that_is_far_too_long b"}
	for _, c := range []struct {
		wrap int
		want string
	}{
		{0, "error: s\n  one two three four five six seven\n  help: write `a` or else_something_that_is_far_too_long b\n"},
		{24, "error: s\n  one two three four\n  five six seven\n  help: write `a` or\n  else_something_that_is_far_too_long\n  b\n"},
	} {
		var b strings.Builder
		if err := diag.Render(&b, diag.List{d}, diag.Options{Wrap: c.wrap}); err != nil || b.String() != c.want {
			t.Errorf("wrapped at %d: %q, want %q (%v)", c.wrap, b.String(), c.want, err)
		}
	}
}
