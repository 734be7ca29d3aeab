package lang_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// Includes reach regular files in the given folders and nothing else.
func TestIncludeStaysInside(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Skipf("no symbolic links: %v", err)
		}
	}
	write("secret.stan", "secret")
	write("model/a.stan", "a")
	write("model/sub/b.stan", "b")
	write("shared/c.stan", "c")
	link(filepath.Join(dir, "secret.stan"), "model/out.stan")
	link("../secret.stan", "model/relative.stan")
	link(dir, "model/up")
	link("a.stan", "model/same.stan")
	link(filepath.Join(dir, "shared", "c.stan"), "model/c-link.stan")
	link("loop.stan", "model/loop.stan")
	link(filepath.Join(dir, "model"), "linked")

	for _, folder := range []string{"model", "linked"} {
		include := lang.IncludeFrom(0, filepath.Join(dir, folder), filepath.Join(dir, "shared"))
		for name, want := range map[string]string{
			"a.stan": "a", "sub/b.stan": "b", "sub/../a.stan": "a", "./a.stan": "a",
			"same.stan": "a", "c.stan": "c", "c-link.stan": "c", "../shared/c.stan": "c",
		} {
			f, err := include(name)
			if err != nil || f.Text != want {
				t.Errorf("%s: %s: %v, %v", folder, name, f, err)
			}
		}
		for _, name := range []string{
			"../secret.stan", "sub/../../secret.stan", "out.stan", "relative.stan", "up/secret.stan", "up/model/../secret.stan",
			"../absent.stan", "../../../../../../../../etc/passwd", filepath.Join(dir, "secret.stan"), "/etc/passwd", "loop.stan", "sub", ".", "..", "",
		} {
			f, err := include(name)
			if err == nil {
				t.Errorf("%s: %q is included: %q", folder, name, f.Text)
			} else if strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %q: the message tells of the file: %v", folder, name, err)
			}
		}
		// Whether there is a file outside is not told.
		_, there := include("../secret.stan")
		_, absent := include("../absent.stan")
		if there.Error() != absent.Error() || errors.Is(absent, fs.ErrNotExist) {
			t.Errorf("%s: %v, but %v", folder, there, absent)
		}
	}
}

// A few files that include each other make a long text, which is bounded.
func TestIncludeBounded(t *testing.T) {
	include := func(name string) (*source.File, error) {
		var level int
		if _, err := fmt.Sscanf(name, "f%d", &level); err != nil {
			return nil, err
		}
		line := fmt.Sprintf("#include f%d\n", level+1)
		return source.NewFile(name, strings.Repeat("// a comment\n", 1000)+line+line), nil
	}
	_, list := lang.ParseWith(source.NewFile("m", "#include f1\n"), lang.Options{Include: include})
	if !list.HasErrors() || list[0].Code != diag.Include || !strings.Contains(list[0].Summary, "longer than may be read") {
		t.Errorf("%v", list[0])
	}
	_, list = lang.ParseWith(source.NewFile("m", strings.Repeat("// a comment\n", 100)), lang.Options{MaxBytes: 1000})
	if len(list) != 1 || list[0].Code != diag.TooLong {
		t.Errorf("%v", list)
	}
}
