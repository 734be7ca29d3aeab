package lang_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestIncludeStaysInside checks that includes reach only regular files in the given folders.
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
		// The error does not reveal whether the file outside exists.
		_, there := include("../secret.stan")
		_, absent := include("../absent.stan")
		if there.Error() != absent.Error() || errors.Is(absent, fs.ErrNotExist) {
			t.Errorf("%s: %v, but %v", folder, there, absent)
		}
	}
}

// TestIncludeBounded checks the limit on the total length if a few files include each other.
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
	deeper := func(name string) (*source.File, error) { return source.NewFile(name, "#include "+name+"x\n"), nil }
	_, list = lang.ParseWith(source.NewFile("m", "#include x\n"), lang.Options{Include: deeper})
	if !list.HasErrors() || list[0].Summary != "files are included more than 100 deep" {
		t.Errorf("%v", list[0])
	}
	_, list = lang.ParseWith(source.NewFile("m", strings.Repeat("// a comment\n", 100)), lang.Options{MaxBytes: 1000})
	if len(list) != 1 || list[0].Code != diag.TooLong {
		t.Errorf("%v", list)
	}
}

// FuzzInclude looks for texts that include each other for which reading panics or does not end,
// messages have impossible positions, or a name leads out of the folder.
func FuzzInclude(f *testing.F) {
	f.Add("#include a\nmodel { #include b\n}", "parameters { real x; }\n", "x ~ normal(0, 1);", "../secret")
	f.Add("#include <a>\n", "#include b\n", "#include \"a\"\n", "a/../../secret")
	f.Add("model {\n  #include b\n  #include b\n}", "", "target += 1 +;\n", "/etc/passwd")
	f.Add("/* #include a */ // #include b\n#include\n#include c\n", "\x00", "\xff", "up/secret")
	dir := f.TempDir()
	inside := filepath.Join(dir, "in")
	if err := os.MkdirAll(filepath.Join(inside, "a"), 0o777); err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{filepath.Join(dir, "secret"), filepath.Join(inside, "a", "b")} {
		if err := os.WriteFile(name, []byte(filepath.Base(name)), 0o666); err != nil {
			f.Fatal(err)
		}
	}
	_ = os.Symlink(dir, filepath.Join(inside, "up")) // works only if the system has symbolic links
	fromFolder := lang.IncludeFrom(0, inside)
	f.Fuzz(func(t *testing.T, text, a, b, name string) {
		if file, err := fromFolder(name); err == nil && file.Text != "b" {
			t.Fatalf("%q leads to %q", name, file.Text)
		}
		files := map[string]string{"a": a, "b": b}
		include := func(name string) (*source.File, error) {
			if text, ok := files[name]; ok {
				return source.NewFile(name, text), nil
			}
			return fromFolder(name)
		}
		tree, list := lang.ParseWith(source.NewFile("m", text), lang.Options{Include: include, MaxBytes: 1 << 16})
		if tree == nil {
			t.Fatal("no tree")
		}
		for _, d := range list {
			p := d.Span.Begin()
			if p.Line < 1 || p.Column < 1 || d.Summary == "" {
				t.Fatalf("a message at %v: %s", p, d)
			}
			if s := d.Span.Origin(); s.Start < 0 || s.Start > s.End || s.End > len(s.File.Text) {
				t.Fatalf("a message at [%d, %d) of %d: %s", s.Start, s.End, len(s.File.Text), d)
			}
		}
		if err := diag.Render(io.Discard, list, diag.Options{Width: 30}); err != nil {
			t.Fatal(err)
		}
	})
}
