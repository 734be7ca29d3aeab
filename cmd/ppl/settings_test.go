package main

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/lang/diag"
)

// libraries are the folders of the packages below the commands. Their errors, findings and comments
// use names of settings, for which each front end has its own words.
var libraries = []string{".", "infer", "model", "fit", "assess", "study", "compile", "stdlib", "lang", "ad", "front/report"}

// flagWriters are files of these packages that may name flags, since they write command lines of
// schedulers or of ppl.
var flagWriters = []string{"study/slurm.go", "study/manifest.go", "study/program.go"}

// TestFlags checks that no package below the commands names flags of the command line.
func TestFlags(t *testing.T) {
	flag := regexp.MustCompile(`(^|[^\w-])--[a-z]`)
	for _, f := range goFiles(t) {
		below := slices.ContainsFunc(libraries, func(dir string) bool { return f.pkg == dir || dir != "." && within(f.pkg, dir) })
		if !below || f.test || slices.Contains(flagWriters, f.name) || strings.Contains(f.name, "internal/cmd/") {
			continue
		}
		file := token.NewFileSet().AddFile(f.name, -1, len(f.text))
		var s scanner.Scanner
		s.Init(file, []byte(f.text), nil, scanner.ScanComments)
		for {
			pos, tok, text := s.Scan()
			if tok == token.EOF {
				break
			}
			if (tok == token.STRING || tok == token.COMMENT) && flag.MatchString(text) {
				t.Errorf("%s:%d names a flag: name the setting, and let the front end word it", f.name, file.Line(pos))
			}
		}
	}
}

// namedSettings returns the names of settings that other packages mention. They are the string
// literals in fields, variables and calls whose names say that they are settings, and in the tables
// of findings.
func namedSettings(t *testing.T) []string {
	var names []string
	add := func(list []ast.Expr) {
		for _, e := range list {
			for sum, ok := e.(*ast.BinaryExpr); ok; sum, ok = e.(*ast.BinaryExpr) {
				e = sum.X
			}
			if text, ok := e.(*ast.BasicLit); ok && text.Kind == token.STRING {
				name, _, _ := strings.Cut(strings.Trim(text.Value, `"`), "=")
				names = append(names, name)
			}
		}
	}
	collect := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if list, ok := n.(*ast.CompositeLit); ok {
				if _, ok := list.Type.(*ast.ArrayType); ok {
					add(list.Elts)
				}
			}
			return true
		})
	}
	named := func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.Ident:
			return strings.EqualFold(e.Name, "settings")
		case *ast.SelectorExpr:
			return strings.EqualFold(e.Sel.Name, "settings")
		}
		return false
	}
	for _, f := range goFiles(t) {
		if f.test || !strings.Contains(strings.ToLower(f.text), "settings") || within(f.pkg, "cmd") || within(f.pkg, "internal") || within(f.pkg, "front/cmdstan") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f.name, f.text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if named(n.Key) {
					collect(n.Value)
				}
			case *ast.AssignStmt:
				if slices.ContainsFunc(n.Lhs, named) {
					for _, e := range n.Rhs {
						collect(e)
					}
				}
			case *ast.CallExpr:
				function, _ := n.Fun.(*ast.Ident) // such as settings(…) or append(settings, …)
				if named(n.Fun) || function != nil && function.Name == "append" && named(n.Args[0]) {
					add(n.Args)
				}
			case *ast.ValueSpec:
				if n.Names[0].Name == "checks" || n.Names[0].Name == "eventFindings" {
					for _, e := range n.Values {
						collect(e)
					}
				}
			}
			return true
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestSettings checks that the command line has words for each setting that a text names: an entry
// of the table, or a flag of the same name.
func TestSettings(t *testing.T) {
	names := namedSettings(t)
	for _, known := range []string{"count", "delta", "include-path", "memory", "moment-match", "upgrade", "warmup"} {
		if !slices.Contains(names, known) {
			t.Errorf("%s is not found where texts name it", known)
		}
	}
	flags := runCommand().Flags()
	for _, name := range names {
		words := slices.ContainsFunc(slices.Collect(maps.Keys(settingWords)), func(s string) bool { return s == name || strings.HasPrefix(s, name+"=") })
		if !words && name != "by" && flags.Lookup(name) == nil {
			t.Errorf("the setting %s has no words and is no flag", name)
		}
	}
}

// TestWorded checks that these words are appended to advice and help, and that the settings are
// removed then.
func TestWorded(t *testing.T) {
	for _, c := range []struct {
		settings []string
		dir      string
		want     string
	}{
		{nil, "", "Do it."},
		{[]string{"draws"}, "", "Do it. Options: --draws."},
		{[]string{"delta=0.95", "stepsize"}, "", "Do it. Options: --delta 0.95, --stepsize."},
		{[]string{"init=pathfinder"}, "", "Do it. Options: ppl run --init pathfinder."},
		{[]string{"moment-match", "cv", "by=school"}, "fit", "Do it. Options: ppl loo fit --by school --moment-match, ppl cv fit --by school."},
		{[]string{"exact"}, "", "Do it. Options: ppl loo DIR --exact."},
	} {
		got := worded([]diagnose.Finding{{Advice: "Do it.", Settings: c.settings}}, c.dir)[0]
		if got.Advice != c.want || got.Settings != nil {
			t.Errorf("%v: %q, and %v is left", c.settings, got.Advice, got.Settings)
		}
	}
	list := diag.List{{Fix: "allow for more memory", Settings: []string{"memory"}}, {Settings: []string{"count=N", "count=N=column"}}, {Fix: "as it is"}}
	want := []string{"allow for more memory (--memory)", "--count N, --count N=column", "as it is"}
	for i, d := range wordedList(list) {
		if d.Fix != want[i] || d.Settings != nil {
			t.Errorf("%q, not %q", d.Fix, want[i])
		}
	}
	if list[0].Settings == nil {
		t.Error("the list that was given has changed")
	}
}
