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

// The ways to handle a recovered panic, by the function that the code must call.
const (
	rethrown = "panic"         // panics again, also in a waiting goroutine; own errors are returned
	typed    = "NewPanicError" // an *infer.PanicError: one line of text, and the stack separately
	line     = "Errorf"        // an error of one line, in programs that do not use package infer
	noted    = ""              // recorded elsewhere; each entry has a comment
)

// recovers lists every file or folder with a function that calls recover, and how it handles the
// panic. Add an entry for a new one.
var recovers = map[string]string{
	"ad":                rethrown,
	"stdlib":            rethrown,
	"compile":           rethrown,
	"infer/riemann":     rethrown,
	"infer/chain.go":    typed,
	"infer/exchange.go": typed,
	"infer/panic.go":    typed, // Recover, for functions that call users' code
	"infer/optimize":    typed,
	"internal/files":    rethrown,
	"study/worker.go":   typed,
	"front/web/engine":  typed,

	"front/serve/work.go":           line,  // a separate process; its log has the stack
	"front/lsp/methods.go":          line,  // an answer to the editor
	"front/lsp/publish.go":          noted, // the log of the editor
	"front/bridge/libppl":           noted, // an error message of one line for C
	"compile/fault.go":              noted, // the reference evaluator is used instead, and runs report it
	"compile/internal/vm/native.go": noted, // the interpreter is used instead
	"compile/internal/contest":      noted, // reports about random programs, for developers
	"internal/cmd":                  noted, // tools for developers
	"internal/goroutines":           noted, // Wait goes on with it
}

// stacks lists the files that may request a stack trace.
var stacks = []string{"infer/panic.go", "internal/goroutines", "front/serve/work.go", "compile/internal/contest"}

// TestRecover checks that every recovered panic continues, or becomes an error of one line that
// names no source file, since such errors reach the clients of services.
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

// calls returns the names of the functions and methods that a part of a program calls. Names from
// other packages are included with and without the package.
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

// fileCalls reports whether any function in a file calls another. A panic may continue in another
// function than the one that recovers.
func fileCalls(f *ast.File, name string) bool { return calls(f)[name] }

// goroutines lists the files of libraries that start goroutines without a [goroutines.Group]. Each
// has the reason why no panic there ends the program.
var goroutines = map[string]string{
	"ad/await.go":                          "recovers, and goes on in the caller",
	"infer/riemann/await.go":               "recovers, and goes on in the caller",
	"compile/internal/vm/stop.go":          "recovers, and goes on in the caller",
	"compile/internal/vm/team.go":          "recovers, and goes on in the caller",
	"compile/compile.go":                   "recovers, and goes on in the caller; the table of the library is read again by it",
	"internal/files/until.go":              "recovers, and goes on in the caller",
	"study/reading.go":                     "recovers into an error",
	"infer/session.go":                     "runChain recovers; the others wait",
	"front/report/report.go":               "recovers into an error, for each quantity",
	"front/cmdstan/executable/generate.go": "recovers into an error, for each chain",
	"front/lsp/framing.go":                 "reads; messages are handled by others, which recover",
	"front/lsp/publish.go":                 "recovers into the log",
	"front/lsp/server.go":                  "waits, or runs what recovers",
	"front/serve/work.go":                  "a separate process, of one model",
	"front/serve/process.go":               "waits for a process",
	"front/httpd/server.go":                "net/http recovers what handlers do",
}

// TestGoroutines checks that libraries start goroutines by a Group, which passes panics to the
// caller, or have a reason in the table.
func TestGoroutines(t *testing.T) {
	used := map[string]bool{}
	for _, root := range []string{"lang", "stdlib", "ad", "compile", "infer", "model", "fit", "assess", "study", "front", "internal/files"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			name := filepath.ToSlash(path)
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || within(name, "compile/internal/cmd") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			group := false
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Group" {
					x, ok := s.X.(*ast.Ident)
					group = group || ok && x.Name == "goroutines"
				}
				return true
			})
			ast.Inspect(f, func(n ast.Node) bool {
				starts := false
				switch n := n.(type) {
				case *ast.GoStmt:
					starts = true
				case *ast.CallExpr:
					s, ok := n.Fun.(*ast.SelectorExpr)
					starts = ok && s.Sel.Name == "Go" && len(n.Args) == 1 && !group
				case *ast.SelectorExpr: // a file must not use both kinds of group
					if x, ok := n.X.(*ast.Ident); ok && group && x.Name == "sync" && n.Sel.Name == "WaitGroup" {
						t.Errorf("%s has a sync.WaitGroup and a goroutines.Group", name)
					}
				}
				if used[name] = used[name] || starts; starts && goroutines[name] == "" {
					t.Errorf("%s starts a goroutine: use a goroutines.Group, or say in the table of this test why no panic there ends the program", name)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(goroutines)) {
		if !used[name] {
			t.Errorf("%s starts no goroutine", name)
		}
	}
}
