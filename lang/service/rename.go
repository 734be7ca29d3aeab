package service

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
)

// Renameable returns the name at a position if it can be renamed; otherwise the error gives the
// reason.
func (s *Snapshot) Renameable(f *source.File, offset int) (source.Span, error) {
	sym, ok := s.symbolAt(f, offset)
	switch {
	case !ok:
		return source.Span{}, errors.New("there is no name of the program here")
	case sym.Library != "":
		return source.Span{}, fmt.Errorf("%s belongs to the library", sym.Library)
	}
	return sym.Span, nil
}

// Rename renames the variable or function at a position. It is refused if the program would then
// have errors or another meaning: the renamed program is checked, and every name in it must refer
// to the same declaration as before.
func (s *Snapshot) Rename(f *source.File, offset int, name string) ([]diag.Edit, error) {
	if _, err := s.Renameable(f, offset); err != nil {
		return nil, err
	}
	sym, _ := s.symbolAt(f, offset)
	if !grammar.IsName(name) {
		return nil, fmt.Errorf("%q cannot be a name: names begin with a letter, hold letters, digits and underscores, do not end in two, and are no reserved words", name)
	}
	old := sym.Span.Text()
	full := name // the full name of the function
	if sym.Func != "" {
		_, suffix := check.SplitSuffix(sym.Func)
		if old == sym.Func || strings.HasPrefix(suffix, "_l") && strings.HasSuffix(old, "_lu"+suffix[2:]) {
			_, now := check.SplitSuffix(name)
			if now != suffix {
				return nil, fmt.Errorf("the name must end as before, in %q, which decides what the function may do", suffix)
			}
		} else { // the name of a distribution, without its suffix
			full = name + suffix
		}
	}
	for _, lost := range s.Tree.Lost {
		for _, word := range grammar.Tokens(source.NewFile("", lost.Text())) {
			if word.Span.Text() == old {
				return nil, fmt.Errorf("line %d cannot be understood, and holds the name; fix it first", lost.Begin().Line)
			}
		}
	}
	var edits []diag.Edit
	for _, r := range s.references(sym) {
		text := name
		if sym.Func != "" {
			text = renamedCall(r.Span.Text(), sym.Func, full)
		}
		edits = append(edits, diag.Edit{Span: r.Span, Text: text})
	}
	if err := s.unharmed(edits, old, name); err != nil {
		return nil, err
	}
	return edits, nil
}

// renamedCall returns the new text of a function's name when its name changes from old to now. The
// text may be the full name, the name without its suffix in a distribution statement, or the name
// of the density that drops terms.
func renamedCall(at, old, now string) string {
	if at == old {
		return now
	}
	base, _ := check.SplitSuffix(now)
	if _, suffix := check.SplitSuffix(at); suffix != "" && strings.HasPrefix(suffix, "_lu") {
		return base + suffix
	}
	return base
}

// unharmed checks that the program with the edits applied has no errors and the same meaning.
func (s *Snapshot) unharmed(edits []diag.Edit, old, name string) error {
	changed := map[*source.File]*source.File{}
	for _, f := range s.files {
		changed[f] = source.NewFile(f.Name, Apply(f, edits))
	}
	o := s.options
	if include := o.Include; include != nil {
		o.Include = func(name string) (*source.File, error) {
			f, err := include(name)
			if c := changed[f]; err == nil && c != nil {
				return c, nil
			}
			return f, err
		}
	}
	after := Analyse(changed[s.File], o)
	before, errs := s.Diagnostics.Errors(), after.Diagnostics.Errors()
	if len(errs) > len(before) {
		for _, d := range errs {
			if !slices.ContainsFunc(before, func(b diag.Diagnostic) bool { return b.Summary == strings.ReplaceAll(d.Summary, name, old) }) {
				p := d.Span.Begin()
				return fmt.Errorf("with the name %q the program has an error in line %d: %s", name, p.Line, d.Summary)
			}
		}
		return fmt.Errorf("with the name %q the program has more errors", name)
	}
	if !slices.Equal(s.bindings(), after.bindings()) {
		return fmt.Errorf("%q is the name of something else that is visible in some of the places", name)
	}
	return nil
}

// bindings lists, for all names in the order of the text, the number of the declaration to which
// each refers; 0 for names of the library.
func (s *Snapshot) bindings() []int {
	numbers := map[ast.Node]int{}
	declared := func(n ast.Node) int {
		if numbers[n] == 0 {
			numbers[n] = len(numbers) + 1
		}
		return numbers[n]
	}
	var out []int
	ast.Inspect(s.Tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.VarDecl, *ast.For, *ast.ForEach, *ast.Param, *ast.FunctionDecl:
			out = append(out, declared(n))
		case *ast.VarExpr:
			switch v, fn := s.Info.Uses[n], s.Info.Functors[n]; {
			case v != nil:
				out = append(out, declared(v.Decl))
			case fn != nil:
				out = append(out, declared(fn.Decl))
			default:
				out = append(out, 0)
			}
		case *ast.CallExpr, *ast.Tilde:
			if c := s.Info.Calls[n]; c != nil && c.Func != nil {
				out = append(out, declared(c.Func.Decl))
			} else {
				out = append(out, 0)
			}
		}
		return true
	}, nil)
	return out
}

// Apply returns the text of a file after those edits that are in it. Edits must not overlap.
func Apply(f *source.File, edits []diag.Edit) string {
	var own []diag.Edit
	for _, e := range edits {
		if e.Span.File == f {
			own = append(own, e)
		}
	}
	sorting.Stable(own, func(a, b diag.Edit) int { return a.Span.Start - b.Span.Start })
	var b strings.Builder
	from := 0
	for _, e := range own {
		if e.Span.Start < from {
			continue
		}
		b.WriteString(f.Text[from:e.Span.Start] + e.Text)
		from = e.Span.End
	}
	b.WriteString(f.Text[from:])
	return b.String()
}
