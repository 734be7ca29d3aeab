package kernel_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxTerms is the number of iterations that no loop may exceed.
const maxTerms = 200

// uncounted are files whose loops run over the rows and columns of matrices.
var uncounted = []string{"dense.go", "eigen.go", "invert.go"}

// loop is a loop of the package.
type loop struct{ function, position string }

// TestTerms counts the iterations of every loop of the package, for arguments in the whole range of
// float64. testdata/terms runs a copy of the package with counters in the loops; its table lists
// the functions and their arguments. No loop may take more than maxTerms iterations, and no loop
// may be left out.
func TestTerms(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	put := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(here, name)] = path
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var loops []loop
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") && !slices.Contains(uncounted, name) {
			var text string
			if text, loops, err = counted(name, loops); err != nil {
				t.Fatal(err)
			}
			put(name, text)
		}
	}
	put("terms_counted.go", fmt.Sprintf(counters, len(loops)))
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "run", "-overlay", path, "./testdata/terms").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(loops) {
		t.Fatalf("%d loops, but\n%s", len(loops), out)
	}
	for i, l := range loops {
		var at, terms int
		if _, err := fmt.Sscan(lines[i], &at, &terms); err != nil || at != i {
			t.Fatalf("%q: %v", lines[i], err)
		}
		_, call, _ := strings.Cut(lines[i], fmt.Sprint(terms, " "))
		switch {
		case terms == 0:
			t.Errorf("%s: %s has a loop that no row of testdata/terms reaches", l.position, l.function)
		case terms >= maxTerms:
			t.Errorf("%s: %s takes %d rounds, in %s", l.position, l.function, terms, call)
		}
		t.Logf("%-26s %-22s %4d %s", l.position, l.function, terms, call)
	}
}

// counters is a file that records, for each loop, the largest number of iterations and the call
// that needed them. It is added to the copy of the package.
const counters = `package kernel

var (
	TermsOf   string
	TermsAt   []float64
	TermsMost [%d]struct {
		N    int
		Of   string
		Args []float64
	}
)

func countTerms(loop, n int) {
	if m := &TermsMost[loop]; n > m.N {
		m.N, m.Of, m.Args = n, TermsOf, TermsAt
	}
}
`

// counted returns the text of a file with a counter added to each loop, and the list of loops with
// those of the file appended.
func counted(name string, loops []loop) (string, []loop, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, 0)
	if err != nil {
		return "", nil, err
	}
	insert := map[int]string{} // text to insert, by offset in the file
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			var body *ast.BlockStmt
			switch n := n.(type) {
			case *ast.ForStmt:
				body = n.Body
			case *ast.RangeStmt:
				body = n.Body
			default:
				return true
			}
			at := fset.Position(n.Pos())
			insert[at.Offset] = fmt.Sprintf("terms%d := 0; ", len(loops))
			insert[fset.Position(body.Lbrace).Offset+1] = fmt.Sprintf("terms%[1]d++; countTerms(%[1]d, terms%[1]d); ", len(loops))
			loops = append(loops, loop{f.Name.Name, fmt.Sprintf("%s:%d", name, at.Line)})
			return true
		})
	}
	var out strings.Builder
	for i, c := range text {
		out.WriteString(insert[i])
		out.WriteByte(c)
	}
	return out.String(), loops, nil
}
