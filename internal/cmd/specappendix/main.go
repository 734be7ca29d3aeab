// Command specappendix writes the parts of the documentation that follow from the tables of the
// language: in spec.md the constrained types and the library appendix; in the grammar of VS Code
// the names of types; in doc/reference/formats.md the formats of draws; and all of
// doc/reference/codes.md.
//
//	go run ./internal/cmd/specappendix [-w]
//
// Without -w it prints the appendix. A test compares the files with the tables.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// begin and end mark the place of the appendix.
const (
	begin = "<!-- The following is written by internal/cmd/specappendix. -->\n"
	end   = "<!-- The end of what is written by internal/cmd/specappendix. -->\n"
)

func main() {
	write := flag.Bool("w", false, "replace the appendix in the file")
	flag.Parse()
	if err := run(*write); err != nil {
		fmt.Fprintln(os.Stderr, "specappendix:", err)
		os.Exit(1)
	}
}

// written lists the files, each with the function that rewrites a part of it, or all.
var written = map[string]func(text string) (string, error){
	"spec.md": replaced,
	"front/editors/vscode/syntaxes/stan.tmLanguage.json": retyped,
	"doc/reference/formats.md":                           reformatted,
	"doc/reference/codes.md":                             codePage,
}

func run(write bool) error {
	if !write {
		fmt.Print(appendix())
		return nil
	}
	for name, anew := range written {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		out, err := anew(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(name, []byte(out), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// replaced returns spec.md with the generated parts replaced.
func replaced(text string) (string, error) {
	head, rest, ok := strings.Cut(text, begin)
	_, tail, found := strings.Cut(rest, end)
	if !ok || !found {
		return "", fmt.Errorf("the marks of the appendix are missing")
	}
	head, err := between(head, typeTable, "\n\n", constrained())
	if err != nil {
		return "", err
	}
	if head, err = between(head, "complex_matrix ", "`\n", strings.Join(keywords(), " ")); err != nil {
		return "", err
	}
	return head + begin + appendix() + end + tail, nil
}

// retyped returns the grammar of VS Code with the names of the constrained types.
func retyped(text string) (string, error) {
	return between(text, "array|tuple|void|", ")", strings.Join(keywords(), "|"))
}

// reformatted returns doc/reference/formats.md with the table of formats.
func reformatted(text string) (string, error) {
	var rows []string
	for _, r := range fit.Formats() {
		row := fmt.Sprintf("| %s | %s | %s | %s |", r.Name, r.Readers, strings.NewReplacer("{", "--", "}", "").Replace(r.Numbers), r.Live)
		if r.Name == fit.CSV { // the format that is used by default
			rows = slices.Insert(rows, 0, row)
			continue
		}
		rows = append(rows, row)
	}
	return between(text, "| format | read by | numbers | while the run goes on |\n|---|---|---|---|\n", "\n\n", strings.Join(rows, "\n"))
}

// between replaces the text after the first occurrence of from and before to.
func between(text, from, to, by string) (string, error) {
	head, rest, ok := strings.Cut(text, from)
	i := strings.Index(rest, to)
	if !ok || i < 0 {
		return "", fmt.Errorf("nothing stands between %q and %q", from, to)
	}
	return head + from + by + rest[i:], nil
}

// keywords returns the keywords of the constrained types.
func keywords() (names []string) {
	for _, k := range types.ConstrainedTypes() {
		names = append(names, k.String())
	}
	return names
}

// typeTable is the head of the table of constrained types.
const typeTable = "| type | values | unconstrained numbers | x | added to the target |\n| --- | --- | --- | --- | --- |\n"

// constrained returns that table, without the newline of the last row.
func constrained() string {
	var rows []string
	for _, k := range types.ConstrainedTypes() {
		numbers, value, target := transform.Words(k)
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s | %s |", k.Declaration(), k.Values(), numbers, value, target))
	}
	return strings.Join(rows, "\n")
}

// suffixes of the functions of a distribution.
var suffixes = []string{"_lpdf", "_lpmf", "_cdf", "_lcdf", "_lccdf", "_rng"}

// appendix returns the description of the library as Markdown.
func appendix() string {
	var b strings.Builder
	var names []string
	for name := range stdlib.Language().Names() {
		if !strings.HasPrefix(name, "operator") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	done := map[string]bool{}

	b.WriteString("\n### Distributions\n\nThe functions of a distribution with their types are shown by `ppl doc NAME`.\n\n")
	b.WriteString("| distribution | y | density or mass | functions |\n| --- | --- | --- | --- |\n")
	var others []string // densities without a formula
	for _, name := range names {
		base, isDensity := density(name)
		if !isDensity || done[base] {
			continue
		}
		done[base] = true
		var have []string
		for _, s := range suffixes {
			if len(stdlib.Language().Lookup(base+s)) > 0 {
				have = append(have, "`"+s+"`")
				done[base+s] = true
			}
		}
		if d := distribution(name); d != nil {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(call(d)), cell(support(d)), cell(code(d.Formula)), strings.Join(have, " "))
			continue
		}
		others = append(others, fmt.Sprintf("| `%s` | %s | %s |\n", base, cell(documentation(name)), strings.Join(have, " ")))
	}
	b.WriteString("\nOf vectors, matrices and sequences, and those without a formula in one line:\n\n")
	b.WriteString("| distribution | what the first function gives | functions |\n| --- | --- | --- |\n")
	for _, row := range others {
		b.WriteString(row)
	}

	b.WriteString("\n### Functions\n\nEach with up to three of its forms. Functions that take parameters to and from unconstrained numbers are those of [Constraints](#constraints).\n\n")
	b.WriteString("| function | value |\n| --- | --- |\n")
	for _, name := range names {
		if done[name] {
			continue
		}
		for _, row := range functionRows(name) {
			b.WriteString(row)
		}
	}
	return b.String() + "\n"
}

// density returns the name of the distribution if name is its log density or log mass.
func density(name string) (base string, ok bool) {
	if base, ok = strings.CutSuffix(name, "_lpdf"); ok {
		return base, true
	}
	return strings.CutSuffix(name, "_lpmf")
}

// distribution returns the declaration from which a function was derived, or nil.
func distribution(name string) *stdlib.Dist {
	for _, o := range stdlib.Language().Lookup(name) {
		if f, ok := o.(*stdlib.Func); ok && f.Dist != nil && f.Dist.Formula != "" {
			return f.Dist
		}
	}
	return nil
}

// call formats a distribution with its parameters and their constraints.
func call(d *stdlib.Dist) string {
	var names, notes []string
	for _, p := range d.Params {
		names = append(names, p.Name)
		if s := domain(p.Name, p.In, p.Int); s != "" {
			notes = append(notes, s)
		}
	}
	out := code(d.Name + "(" + strings.Join(names, ", ") + ")")
	if len(notes) > 0 {
		out += "; " + strings.Join(notes, ", ")
	}
	return out
}

// support describes the support of the distribution.
func support(d *stdlib.Dist) string {
	if d.Support.Text == "" {
		return domain("", d.Variate, d.Discrete)
	}
	return domain("", d.Support, d.Discrete)
}

// domain describes the values that a variable may have.
func domain(name string, c types.Constraint, isInt bool) string {
	text := c.Text
	if text == "" || c.NaN || text == types.NotNaN.Text || text == types.Finite.Text {
		text = ""
	}
	if isInt {
		text = strings.TrimSuffix("int, "+text, ", ")
	}
	if name != "" && text != "" {
		return name + " " + text
	}
	if name == "" && text == "" {
		return "real"
	}
	return text
}

// functionRows returns the rows of a function, one for each different description.
func functionRows(name string) []string {
	var texts []string
	forms := map[string][]string{}
	for _, o := range stdlib.Language().Lookup(name) {
		text := text(o)
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		forms[text] = append(forms[text], o.String())
	}
	var rows []string
	for _, t := range texts {
		shown := forms[t]
		more := ""
		if len(shown) > 3 {
			more = fmt.Sprintf(" and %d more", len(shown)-3)
			shown = shown[:3]
		}
		var list []string
		for _, f := range shown {
			list = append(list, code(f))
		}
		rows = append(rows, fmt.Sprintf("| %s%s | %s |\n", cell(strings.Join(list, "<br>")), more, cell(t)))
	}
	return rows
}

// documentation returns the description of the first form of a function.
func documentation(name string) string { return text(stdlib.Language().Lookup(name)[0]) }

// text describes what an overload computes.
func text(o types.Overload) string {
	switch o := o.(type) {
	case *stdlib.Func:
		return o.Doc
	case types.Written:
		return o.Doc
	case types.SparseForm:
		return o.Doc
	}
	return ""
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// cell escapes a text for use in a table.
func cell(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "\n", " "), "|", "\\|") }
