package service

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// CompletionKind is the kind of a [Completion].
type CompletionKind uint8

// The kinds of completions.
const (
	CompleteVariable CompletionKind = iota
	CompleteFunction
	CompleteDistribution
	CompleteKeyword
	CompleteType
	CompleteFile
)

// Completion is a text that may be inserted at a position.
type Completion struct {
	Kind    CompletionKind
	Label   string
	Detail  string // one line, such as a type
	Snippet string // text to insert, with ${1:placeholders}; "": the label
	Library string // name to look up for documentation; may be empty
	Rank    int    // completions with a lower rank come first
	Replace source.Span
}

// Complete lists the texts that may be inserted at a position, which is the end of the typed text.
// Editors filter the list by the word before the position, which the completion replaces.
func (s *Snapshot) Complete(f *source.File, offset int, files func(prefix string) []string) []Completion {
	st := s.situation(f, offset)
	if st.want == includePath {
		return includePaths(st.include, files)
	}
	c := &completer{Snapshot: s, situation: st}
	at, _ := s.at(f, st.word.Start)
	switch st.want {
	case blockHeader:
		c.blocks()
	case statement:
		c.types(1)
		c.words(2, statementWords(st.within)...)
		c.variables(at, 0)
		c.calls(3, true)
	case declaration:
		c.types(0)
	case function:
		c.types(0)
		c.words(0, "void ")
	case parameter:
		c.types(0)
		c.words(0, "data ")
	case typeName:
		c.types(0)
	case boundName:
		c.words(0, "lower=", "upper=", "offset=", "multiplier=")
		if b := st.within; b != nil && b.Kind == ast.Data {
			c.words(0, ast.Missing)
			for _, kind := range append(ast.Cuts(), ast.Labels) {
				c.words(0, kind+"=")
			}
		}
	case distribution:
		c.distributions()
	case expression:
		c.variables(at, 0)
		c.calls(1, false)
		if b := st.within; b != nil && (b.Kind == ast.Model || b.Kind == ast.TransformedParameters || b.Kind == ast.Functions) {
			c.add(Completion{Kind: CompleteFunction, Label: "target", Snippet: "target()", Detail: "the log density so far", Rank: 2})
		}
	}
	for i := range c.out {
		c.out[i].Replace = st.word
	}
	return c.out
}

type completer struct {
	*Snapshot
	situation
	out []Completion
}

func (c *completer) add(x Completion) { c.out = append(c.out, x) }

// blocks offers the blocks that the program does not have yet.
func (c *completer) blocks() {
	for k := ast.Functions; k <= ast.GeneratedQuantities; k++ {
		if c.Tree.Block(k) == nil {
			c.add(Completion{Kind: CompleteKeyword, Label: k.String(), Snippet: k.String() + " {\n  $0\n}", Detail: "block", Rank: int(k)})
		}
	}
	c.add(Completion{Kind: CompleteKeyword, Label: "#include", Snippet: "#include ${1:file.stan}", Rank: 9})
}

// types offers types for declarations. Constrained types are only for the top level.
func (c *completer) types(rank int) {
	local := c.within != nil && (c.within.Kind == ast.Model || c.within.Kind == ast.Functions)
	for _, name := range grammar.TypeNames() {
		if _, _, constrained := types.ConstrainedType(name); constrained && local {
			continue
		}
		if name == "int" && c.within != nil && c.within.Kind == ast.Parameters {
			c.add(Completion{Kind: CompleteType, Label: name, Snippet: "int<lower=${1:1}, upper=${2:K}> ", Detail: "discrete parameter, summed out", Rank: rank})
			c.add(Completion{Kind: CompleteType, Label: "int<lower>", Snippet: "int<lower=${1:0}> ", Detail: "count, summed out", Rank: rank})
			continue
		}
		c.add(Completion{Kind: CompleteType, Label: name, Rank: rank})
	}
	c.add(Completion{Kind: CompleteType, Label: "array", Snippet: "array[${1:N}] ", Rank: rank})
	c.add(Completion{Kind: CompleteType, Label: "tuple", Snippet: "tuple($1) ", Rank: rank})
}

func (c *completer) words(rank int, words ...string) {
	for _, w := range words {
		label, _, _ := strings.Cut(w, " ")
		x := Completion{Kind: CompleteKeyword, Label: label, Snippet: w, Rank: rank}
		if strings.HasSuffix(label, "=") {
			x.Label = strings.TrimSuffix(label, "=")
		}
		c.add(x)
	}
}

// statementWords returns the words that begin statements in a block.
func statementWords(b *ast.Block) []string {
	words := []string{
		"for (${1:n} in 1:${2:N}) {\n  $0\n}", "while (${1:condition}) {\n  $0\n}", "if (${1:condition}) {\n  $0\n}", "else {\n  $0\n}",
		"print($1);", "reject($1);", "fatal_error($1);", `profile("${1:name}") {` + "\n  $0\n}", "break;", "continue;",
	}
	switch b.Kind {
	case ast.Model:
		words = append(words, "target += $0;")
	case ast.TransformedParameters:
		words = append(words, "jacobian += $0;")
	case ast.Functions:
		words = append(words, "target += $0;", "jacobian += $0;", "return $0;")
	}
	return words
}

func (c *completer) variables(at, rank int) {
	for _, v := range c.visible(at) {
		c.add(Completion{Kind: CompleteVariable, Label: v.Name, Detail: declared(v), Rank: rank})
	}
}

// calls offers functions; for statements, only those without a result.
func (c *completer) calls(rank int, statements bool) {
	seen := map[string]bool{}
	for _, f := range c.Info.Funcs {
		void := f.Result.Kind == types.Void
		if seen[f.Name] || void != statements || !c.allowed(f.Suffix) {
			continue
		}
		seen[f.Name] = true
		var args []string
		for _, p := range f.Decl.Params {
			args = append(args, p.Name.Name)
		}
		end := ""
		if statements {
			end = ";"
		}
		c.add(Completion{Kind: CompleteFunction, Label: f.Name, Detail: f.FuncType.String(), Snippet: call(f.Name, args, 0) + end, Rank: rank})
	}
	if statements {
		return
	}
	for name := range c.options.Library.Names() {
		if _, suffix := check.SplitSuffix(name); strings.HasPrefix(name, "operator") || !c.allowed(suffix) {
			continue
		}
		forms := c.options.Library.Lookup(name)
		form := forms[0].String()
		detail := form
		if len(forms) > 1 {
			detail += fmt.Sprintf(" and %d more forms", len(forms)-1)
		}
		c.add(Completion{Kind: CompleteFunction, Label: name, Detail: detail, Snippet: callSnippet(name, forms[0], form, 0), Library: name, Rank: rank + 1})
	}
}

// allowed reports whether functions with a suffix may be called in the block.
func (c *completer) allowed(suffix string) bool {
	k := c.within.Kind
	switch suffix {
	case "_rng":
		return k == ast.TransformedData || k == ast.GeneratedQuantities || k == ast.Functions
	case "_lp":
		return k == ast.Model || k == ast.TransformedParameters || k == ast.Functions
	case "_jacobian":
		return k == ast.TransformedParameters || k == ast.Functions
	}
	return true
}

// distributions offers the distributions that may follow ~.
func (c *completer) distributions() {
	seen := map[string]bool{}
	for _, f := range c.Info.Funcs {
		base, suffix := check.SplitSuffix(f.Name)
		if suffix != "_lpdf" && suffix != "_lpmf" || seen[base] || len(f.Decl.Params) == 0 {
			continue
		}
		seen[base] = true
		var args []string
		for _, p := range f.Decl.Params[1:] {
			args = append(args, p.Name.Name)
		}
		c.add(Completion{Kind: CompleteDistribution, Label: base, Detail: f.FuncType.String(), Snippet: call(base, args, 0)})
	}
	for name := range c.options.Library.Names() {
		base, suffix := check.SplitSuffix(name)
		if suffix != "_lpdf" && suffix != "_lpmf" || seen[base] {
			continue
		}
		seen[base] = true
		detail := "density"
		if suffix == "_lpmf" {
			detail = "mass"
		}
		form := c.options.Library.Lookup(name)[0]
		snippet := base + strings.TrimPrefix(callSnippet(name, form, form.String(), 1), name)
		c.add(Completion{Kind: CompleteDistribution, Label: base, Detail: detail, Snippet: snippet, Library: base, Rank: 1})
	}
}

// callSnippet returns a call of a form of a library function, which as a text is form, with
// placeholders, without the first skip arguments.
func callSnippet(name string, o types.Overload, form string, skip int) string {
	args, _, _ := splitForm(form)
	if p, ok := o.(interface{ ArgumentNames() []string }); ok && len(p.ArgumentNames()) == len(args) {
		args = p.ArgumentNames()
	}
	return call(name, args, skip)
}

// call writes a snippet of a call.
func call(name string, args []string, skip int) string {
	var b strings.Builder
	b.WriteString(name + "(")
	_, suffix := check.SplitSuffix(name)
	for i := min(skip, len(args)); i < len(args); i++ {
		switch {
		case i == skip:
		case i == 1 && check.TakesBar(suffix):
			b.WriteString(" | ")
		default:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "${%d:%s}", i-skip+1, strings.Map(plain, args[i]))
	}
	b.WriteString(")")
	return b.String()
}

// plain drops what has a meaning in snippets.
func plain(r rune) rune {
	if r == '$' || r == '}' || r == '\\' {
		return -1
	}
	return r
}

// includePaths offers files for an #include line.
func includePaths(at source.Span, files func(prefix string) []string) []Completion {
	if files == nil {
		return nil
	}
	var out []Completion
	for _, name := range files(at.Text()) {
		out = append(out, Completion{Kind: CompleteFile, Label: name, Replace: at})
	}
	sorting.Stable(out, func(a, b Completion) int { return cmp.Compare(a.Label, b.Label) })
	return out
}

// declared returns the type of a variable as it was declared, on one line.
func declared(v *check.Var) string {
	switch d := v.Decl.(type) {
	case *ast.VarDecl:
		return strings.Join(strings.Fields(d.Type.Span().Text()), " ")
	case *ast.Param:
		text := strings.Join(strings.Fields(d.Type.Span().Text()), " ")
		if d.DataOnly {
			text = "data " + text
		}
		return text
	}
	return v.Type.String()
}
