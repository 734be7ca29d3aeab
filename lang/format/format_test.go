package format_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/format"
	"github.com/ppl-lang/ppl/lang/source"
)

// problem checks the guarantees of formatting for a program; it returns "" if they hold. ok is
// false if the program cannot be parsed.
func problem(f *source.File) (wrong string, ok bool) {
	tree, list := lang.ParseWith(f, lang.Options{KeepIncludes: true})
	if list.HasErrors() {
		return "", false
	}
	text, list := format.Source(f)
	if list.HasErrors() {
		return "format refuses: " + list[0].String(), true
	}
	g := source.NewFile("formatted", text)
	again, list := lang.ParseWith(g, lang.Options{KeepIncludes: true})
	if list.HasErrors() {
		return fmt.Sprintf("the formatted program does not parse: %s\n%s", list[0], text), true
	}
	if !ast.Equal(tree, again) {
		return "the formatted program has another tree:\n" + text, true
	}
	if a, b := comments(tree), comments(again); !slices.Equal(a, b) {
		return fmt.Sprintf("the comments were %q and are %q\n%s", a, b, text), true
	}
	if twice, _ := format.Source(g); twice != text {
		return "formatting again changes the text:\n" + firstDiff(text, twice), true
	}
	return "", true
}

// comments returns the comments of a tree, without the layout of their lines.
func comments(f *ast.File) []string {
	var out []string
	for _, c := range f.Comments {
		out = append(out, strings.Join(strings.Fields(c.Pos.Text()), " "))
	}
	return out
}

func firstDiff(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			lo := max(0, i-2)
			return fmt.Sprintf("line %d:\n%s\n--\n%s", i+1, strings.Join(x[lo:min(i+3, len(x))], "\n"), strings.Join(y[lo:min(i+3, len(y))], "\n"))
		}
	}
	return "one is longer"
}

// programs calls visit with the programs under a folder.
func programs(t *testing.T, root string, visit func(*source.File)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".stan" && filepath.Ext(path) != ".model" {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			visit(source.NewFile(path, string(text)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestGolden compares formatted programs with the results in testdata. It also upgrades
// upgrade.txtar.
func TestGolden(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no golden files (%v)", err)
	}
	known := map[string]bool{"normal_lpdf": true, "normal_lcdf": true, "poisson_lpmf": true, "lmultiply": true, "abs": true, "pmx_solve_onecpt": true,
		"pmx_solve_linode": true, "pmx_solve_rk45": true}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f := source.NewFile(name, string(a.Files[0].Data))
		got, list := format.Source(f)
		if strings.Contains(name, "upgrade") {
			got, list = format.Upgrade(f, func(n string) bool { return known[n] })
		} else if wrong, _ := problem(f); wrong != "" {
			t.Errorf("%s: %s", name, wrong)
		}
		if want := string(a.Files[1].Data); got != want || list.HasErrors() {
			t.Errorf("%s: got\n%s\nwant\n%s\n%v", name, got, want, list.Errors())
		}
	}
}

// TestRepository formats every program of the repository.
func TestRepository(t *testing.T) {
	n := 0
	programs(t, "../..", func(f *source.File) {
		wrong, ok := problem(f)
		if wrong != "" {
			t.Errorf("%s: %s", f.Name, wrong)
		}
		if ok {
			n++
		}
	})
	if n < 10 {
		t.Errorf("only %d programs", n)
	}
}

// TestStanc3 formats the valid programs of stanc3's test suite. PPL_STANC3 names its folder
// test/integration.
func TestStanc3(t *testing.T) {
	root := os.Getenv("PPL_STANC3")
	if root == "" {
		t.Skip("set PPL_STANC3 to the folder test/integration of a checkout of stan-dev/stanc3")
	}
	n, wide := 0, 0
	programs(t, filepath.Join(root, "good"), func(f *source.File) {
		wrong, ok := problem(f)
		if wrong != "" {
			t.Errorf("%s: %s", f.Name, wrong)
		}
		if ok {
			n++
		}
		text, _ := format.Source(f)
		for line := range strings.Lines(text) {
			if len(line) > 101 {
				wide++
			}
		}
	})
	t.Logf("%d programs, %d lines over 100 columns", n, wide)
	if n < 1000 {
		t.Errorf("only %d programs", n)
	}
}

var boundary = regexp.MustCompile(`"[^"\n]*"|//[^\n]*|/\*(?s:.*?)\*/|#[^\n]*|\b|[(){}\[\];,]`)

// TestCommentsAnywhere inserts comments between random tokens of programs. Formatting must keep all
// of them, and formatting the result must change nothing.
func TestCommentsAnywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	kinds := []string{"/* c%d */", " // c%d\n", "\n// c%d\n", "\n/* c%d */\n", "/* c%d\n   d */", "/* a%d *//* b */"}
	rounds := 20
	if n, err := strconv.Atoi(os.Getenv("PPL_FORMAT_ROUNDS")); err == nil {
		rounds = n
	}
	programs(t, "../testdata/good", func(f *source.File) {
		if strings.Contains(f.Text, "#include") {
			return
		}
		places := boundary.FindAllStringIndex(f.Text, -1)
		for range rounds {
			n := 1 + rng.IntN(6)
			var at []int
			for range n {
				at = append(at, places[rng.IntN(len(places))][0])
			}
			slices.Sort(at)
			text, last := "", 0
			for i, k := range at {
				text += f.Text[last:k] + fmt.Sprintf(kinds[rng.IntN(len(kinds))], i)
				last = k
			}
			text += f.Text[last:]
			if wrong, _ := problem(source.NewFile(f.Name, text)); wrong != "" {
				t.Errorf("%s: %s\nof\n%s", f.Name, wrong, text)
				return
			}
		}
	})
}

// TestOldJacobians checks functions with the suffix _jacobian. Older programs used it for functions
// that compute a Jacobian; these are renamed. Functions that add to the Jacobian, or call one that
// does, use the suffix in its current meaning.
func TestOldJacobians(t *testing.T) {
	const text = `functions {
  real old_jacobian(real x) {
    return exp(x);
  }
  real new_jacobian(real x) {
    jacobian += x;
    return exp(x);
  }
  real outer_jacobian(real x) {
    return new_jacobian(x) + old_jacobian(x);
  }
  real map(vector x) {
    return solve_newton(old_jacobian, x, x)[1];
  }
}
`
	got, list := format.Upgrade(source.NewFile("t", text), func(string) bool { return false })
	want := strings.ReplaceAll(text, "old_jacobian", "old_jacobian_")
	if got != want || list.HasErrors() {
		t.Errorf("read as\n%s\n%v", got, list)
	}
}
