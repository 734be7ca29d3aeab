// Package errtest checks diagnostics against expectations in the program text, which are comments
// after the tokens in question:
//
//	model {
//	  x /* ERROR "not declared" */ ~ normal(0, 1) // ERROR "semicolon.*E0101"
//	}
//
// A comment `ERROR "regexp"` (or `WARNING "regexp"`) expects one diagnostic of that severity, whose
// "summary [CODE]" matches the regular expression. Its span must begin at the token before the
// comment, or be the empty span just after that token (after the last token, at the end of the
// text). Several comments after one token expect several diagnostics. Both unexpected and missing
// diagnostics fail the test.
//
//   - [Run] checks one text;
//   - [Glob] checks the files of testdata, each of which may have several programs separated by
//     lines `---`;
//   - [Examples] runs the example programs in the doc comments of diag's codes.
package errtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// Check is the stage under test. It returns diagnostics.
type Check func(*source.File) diag.List

// Glob runs check on the chunks of all files that match the pattern, each as a subtest. If no file
// matches, the test fails.
func Glob(t *testing.T, pattern string, check Check) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no files match %s (%v)", pattern, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range Chunks(filepath.ToSlash(name), string(text)) {
			t.Run(filepath.Base(f.Name), func(t *testing.T) { Run(t, f, check) })
		}
	}
}

// Chunks splits a text at lines `---`. Each chunk is padded with empty lines so
// that its line numbers are those of the whole file.
func Chunks(name, text string) []*source.File {
	var out []*source.File
	var chunk strings.Builder
	line := 0
	for l := range strings.Lines(text) {
		line++
		if strings.TrimRight(l, "\r\n") == "---" {
			out = append(out, source.NewFile(name, chunk.String()))
			chunk.Reset()
			chunk.WriteString(strings.Repeat("\n", line))
			continue
		}
		chunk.WriteString(l)
	}
	return append(out, source.NewFile(name, chunk.String()))
}

// Run checks one program.
func Run(t *testing.T, f *source.File, check Check) {
	t.Helper()
	for _, problem := range compare(f, check(f)) {
		t.Error(problem)
	}
}

// compare lists the differences between what was found and what is expected.
func compare(f *source.File, found diag.List) (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	wants, err := expectations(f)
	if err != nil {
		return []string{err.Error()}
	}
	for _, d := range found {
		if !d.Span.IsValid() {
			report("diagnostic without a place: %s", d)
			continue
		}
		i := slices.IndexFunc(wants, func(w expectation) bool { return !w.met && w.matches(d) })
		if i < 0 {
			report("unexpected: %s", d)
			continue
		}
		wants[i].met = true
	}
	for _, w := range wants {
		if !w.met {
			p := f.Position(w.start)
			report("%s:%d:%d: missing %s matching %q", p.File, p.Line, p.Column, w.severity, w.rx)
		}
	}
	return problems
}

// expectation is one ERROR comment and the token [start, end) that it follows.
type expectation struct {
	severity   diag.Severity
	rx         *regexp.Regexp
	start, end int
	last       int // end of the text if the token is its last, else -1
	met        bool
}

func (w expectation) matches(d diag.Diagnostic) bool {
	at := d.Span.Start == w.start || d.Span.Start == d.Span.End && (d.Span.Start == w.end || d.Span.Start == w.last)
	return at && d.Severity == w.severity && w.rx.MatchString(d.Summary+" ["+string(d.Code)+"]")
}

var (
	// A simple lexer of the language, independent of the one under test. It needs to find only the
	// beginnings of tokens.
	tokenRx = regexp.MustCompile(`^(?:/\*(?s:.*?)\*/|//[^\n]*|\s+|[A-Za-z_][A-Za-z0-9_]*|\.?[0-9][0-9A-Za-z_.]*|"[^"\n]*"?|` +
		`\.\*=|\./=|%/%|:=|\*\*|<>|\+\+|[=!]==|=>|=<|\^=|<=|>=|==|!=|&&|\|\||<-|\+=|-=|\*=|/=|\.\*|\./|\.\^|(?s:.))`)
	wantRx = regexp.MustCompile(`^/[/*]\s*(ERROR|WARNING)\s+("(?:[^"\\]|\\.)*"|` + "`[^`]*`" + `)`)
)

// expectations reads the ERROR comments of a text.
func expectations(f *source.File) (out []expectation, err error) {
	start, end := 0, 0 // last token that is neither space nor comment
	for i := 0; i < len(f.Text); {
		tok := tokenRx.FindString(f.Text[i:])
		switch {
		case strings.HasPrefix(tok, "//") || strings.HasPrefix(tok, "/*"):
			m := wantRx.FindStringSubmatch(tok)
			if m == nil {
				// Report a malformed expectation, instead of ignoring it as an ordinary comment.
				if strings.Contains(tok, "ERROR") || strings.Contains(tok, "WARNING") {
					return nil, fmt.Errorf("%s: malformed expectation: %s", f.Name, tok)
				}
				break
			}
			w := expectation{start: start, end: end}
			if m[1] == "WARNING" {
				w.severity = diag.Warning
			}
			pattern, err := strconv.Unquote(m[2])
			if err == nil {
				w.rx, err = regexp.Compile(pattern)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %v", f.Name, tok, err)
			}
			out = append(out, w)
		case strings.TrimSpace(tok) != "":
			start, end = i, i+len(tok)
		}
		i += len(tok)
	}
	for i := range out {
		out[i].last = -1
		if out[i].start == start {
			out[i].last = len(f.Text)
		}
	}
	return out, nil
}

// Examples runs the example programs of the codes in a file of package diag, such as "codes.go",
// each as a subtest. The example must give only errors of that code (or warnings, if the code
// begins with W). The fixed program must give no error and not that code. Every code must have a
// title and both programs, except those in except, whose programs are too long to show and are
// tested elsewhere.
func Examples(t *testing.T, file string, check Check, except ...diag.Code) {
	t.Helper()
	n := 0
	for _, e := range diag.Explanations() {
		if e.File != file || slices.Contains(except, e.Code) {
			continue
		}
		n++
		t.Run(string(e.Code)+"_"+e.Name, func(t *testing.T) {
			if e.Title == "" || e.Example == "" || e.Fixed == "" {
				t.Fatalf("doc comment lacks a title, an example or a fixed program: %+v", e)
			}
			found := false
			for _, d := range check(source.NewFile("example", e.Example)) {
				if d.Code == e.Code {
					found = true
				} else if d.Severity == diag.Error {
					t.Errorf("example also gives %s", d)
				}
			}
			if !found {
				t.Errorf("example does not give %s:\n%s", e.Code, e.Example)
			}
			for _, d := range check(source.NewFile("fixed", e.Fixed)) {
				if d.Code == e.Code || d.Severity == diag.Error {
					t.Errorf("fixed program gives %s", d)
				}
			}
		})
	}
	if n == 0 {
		t.Errorf("no codes are declared in %s", file)
	}
}
