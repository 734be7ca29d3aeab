package ppl_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What becomes of what a function recovers.
const (
	rethrown = "panic"         // it goes on, also in the goroutine that waits; own complaints are errors
	typed    = "NewPanicError" // an *infer.PanicError: one line of text, with the stack apart
	line     = "Errorf"        // an error of one line, of programs that do not know package infer
	noted    = ""              // it is noted elsewhere: each has its reason here
)

// recovers has every function that calls recover. A new one is an entry here, with one of the
// fates above.
var recovers = map[string]string{
	"ad":                rethrown,
	"stdlib":            rethrown,
	"compile":           rethrown,
	"infer/riemann":     rethrown,
	"infer/chain.go":    typed,
	"infer/exchange.go": typed,
	"infer/optimize":    typed,
	"study/worker.go":   typed,
	"front/web/engine":  typed,

	"front/serve/work.go":           line,  // a separate process, whose log gets the stack
	"front/lsp/methods.go":          line,  // an answer to the editor
	"front/lsp/publish.go":          noted, // the log of the editor
	"front/bridge/libppl":           noted, // a message of one line for C
	"compile/internal/vm/native.go": noted, // the generator's mistake: the interpreter does without
	"compile/internal/contest":      noted, // reports of random programs, for developers
	"internal/cmd":                  noted, // tools for developers
}

// stacks are the files that may ask for a stack.
var stacks = []string{"infer/panic.go", "front/serve/work.go", "compile/internal/contest"}

// Every panic that is recovered goes on, or becomes an error of one line that names no file of the
// program: such errors reach the clients of services.
func TestRecover(t *testing.T) {
	used, functions := map[string]bool{}, 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name := filepath.ToSlash(path)
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			called := calls(decl)
			if (called["debug.Stack"] || called["runtime.Stack"] || called["debug.PrintStack"]) && !slices.ContainsFunc(stacks, func(in string) bool { return within(name, in) }) {
				t.Errorf("%s asks for a stack: give the recovered value to infer.NewPanicError, and log its Stack", name)
			}
			if !called["recover"] {
				continue
			}
			functions++
			entry := ""
			for in := range recovers {
				if within(name, in) && len(in) > len(entry) {
					entry = in
				}
			}
			used[entry] = true
			switch want, ok := recovers[entry]; {
			case !ok:
				t.Errorf("%s recovers: say in the table of this test what becomes of the panic", name)
			case want == rethrown && !called[rethrown] && !fileCalls(f, rethrown), want != rethrown && want != noted && !called[want]:
				t.Errorf("%s recovers without %s", name, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range slices.Sorted(maps.Keys(recovers)) {
		if !used[in] {
			t.Errorf("nothing in %s recovers", in)
		}
	}
	if functions < 25 {
		t.Errorf("only %d functions that recover were found", functions)
	}
}

// within reports whether a file is the one of an entry, or in its folder.
func within(name, entry string) bool { return name == entry || strings.HasPrefix(name, entry+"/") }

// calls are the names of the functions and methods that a part of a program calls; those of other
// packages also with the package.
func calls(n ast.Node) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			switch f := c.Fun.(type) {
			case *ast.Ident:
				names[f.Name] = true
			case *ast.SelectorExpr:
				names[f.Sel.Name] = true
				if in, ok := f.X.(*ast.Ident); ok {
					names[in.Name+"."+f.Sel.Name] = true
				}
			}
		}
		return true
	})
	return names
}

// fileCalls reports whether any function of a file calls another: of a panic that another goroutine
// goes on with.
func fileCalls(f *ast.File, name string) bool { return calls(f)[name] }
