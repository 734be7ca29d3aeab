package model_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestMutants checks models of the repository with one token deleted, two neighbours swapped, or a
// name misspelt by one letter. Each message must have a position, and no mutation may give more
// than three errors. PPL_MUTANTS=2000 makes that many mutants; the test then prints how often the
// first error is on the mutated line, or the next one.
func TestMutants(t *testing.T) {
	n := 120
	if s := os.Getenv("PPL_MUTANTS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	var files []*source.File
	for _, pattern := range []string{"../examples/*/*.model", "../examples/*/*.stan", "../examples/paper/models/*"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			f := source.NewFile(name, string(text))
			if !compile.Check(f, compile.Options{}).HasErrors() {
				files = append(files, f)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	wrong, onLine, cascades := 0, 0, map[int]int{}
	for range n {
		f := files[rng.IntN(len(files))]
		what, text, line := mutant(rng, f)
		list := compile.Check(source.NewFile(f.Name, text), compile.Options{}).Errors()
		if len(list) == 0 {
			continue
		}
		wrong++
		cascades[len(list)]++
		if at := list[0].Span.Begin().Line; at == line || at == line+1 {
			onLine++
		}
		for _, d := range list {
			if !d.Span.IsValid() || d.Code == "" {
				t.Errorf("%s, line %d, %s: without a place or a code: %s", f.Name, line, what, d)
			}
		}
		if len(list) > 3 {
			var shown strings.Builder
			diag.Render(&shown, list, diag.Options{})
			t.Errorf("%s, line %d, %s: %d errors\n%s", f.Name, line, what, len(list), shown.String())
		}
	}
	t.Logf("%d files, %d mutants, %d with errors; the first is on the line of the mutation or the next in %d; by number of errors: %v",
		len(files), n, wrong, onLine, cascades)
}

var (
	tokenRx = regexp.MustCompile(`//[^\n]*|(?s:/\*.*?\*/)|[A-Za-z]\w*|[0-9.]+(?:e[+-]?[0-9]+)?|"[^"\n]*"|[!=<>+\-*/.]=|\.\*|\./|&&|\|\||\S`)
	wordRx  = regexp.MustCompile(`^[A-Za-z]\w*$`)
)

// mutant changes one place of a program.
func mutant(rng *rand.Rand, f *source.File) (what, text string, line int) {
	var tokens [][]int
	for _, t := range tokenRx.FindAllStringIndex(f.Text, -1) {
		if s := f.Text[t[0]:t[1]]; !strings.HasPrefix(s, "//") && !strings.HasPrefix(s, "/*") {
			tokens = append(tokens, t)
		}
	}
	is := func(t []int) string { return f.Text[t[0]:t[1]] }
	i := rng.IntN(len(tokens) - 1)
	kind := rng.IntN(3)
	for kind == 2 && !wordRx.MatchString(is(tokens[i])) {
		i = rng.IntN(len(tokens) - 1)
	}
	a, b := tokens[i], tokens[i+1]
	line = f.Position(a[0]).Line
	switch kind {
	case 0:
		return fmt.Sprintf("without `%s`", is(a)), f.Text[:a[0]] + f.Text[a[1]:], line
	case 1:
		return fmt.Sprintf("`%s` and `%s` swapped", is(a), is(b)),
			f.Text[:a[0]] + is(b) + f.Text[a[1]:b[0]] + is(a) + f.Text[b[1]:], line
	}
	word := []byte(is(a))
	word[rng.IntN(len(word))] = byte('a' + rng.IntN(26))
	return fmt.Sprintf("`%s` for `%s`", word, is(a)), f.Text[:a[0]] + string(word) + f.Text[a[1]:], line
}
