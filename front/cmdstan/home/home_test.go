package home

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/front/cmdstan/executable"
	"github.com/ppl-lang/ppl/model"
)

func TestBuild(t *testing.T) {
	model, err := model.Compile("m.stan", "parameters { real x; } model { x ~ normal(0, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("a program"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, standalone := range []bool{false, true} {
		if standalone && runtime.GOOS == "darwin" {
			continue
		}
		path := filepath.Join(dir, "m")
		if err := Build(path, program, Options{Name: "m_model", Compiled: model, Standalone: standalone}); err != nil {
			t.Fatal(err)
		}
		p, err := carried(path)
		if err != nil || p == nil || p.Text != model.Text() || p.Name != "m_model" {
			t.Errorf("standalone %t: carries %+v, %v", standalone, p, err)
		}
		text, _ := os.ReadFile(path)
		if want := "a program"; standalone && !bytes.HasPrefix(text, []byte(want)) {
			t.Errorf("it begins with %q", text[:20])
		}
		if runtime.GOOS != "windows" && !standalone && !bytes.HasPrefix(text, []byte("#!/bin/sh\n")) {
			t.Errorf("it begins with %q", text[:20])
		}
		info, _ := os.Stat(path)
		if runtime.GOOS != "windows" && info.Mode()&0o100 == 0 {
			t.Error("it cannot be run")
		}
		// If the program already contains a model, its copy contains only the new one.
		if standalone {
			again := filepath.Join(dir, "again")
			if err := Build(again, path, Options{Name: "n_model", Compiled: model, Standalone: true}); err != nil {
				t.Fatal(err)
			}
			if twice, _ := os.ReadFile(again); len(twice) != len(text) {
				t.Errorf("%d bytes, then %d", len(text), len(twice))
			}
		}
	}
}

// TestCarried checks that a damaged executable is reported, and that no other file is mistaken for
// one.
func TestCarried(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	for _, c := range []struct {
		text    string
		damaged bool
	}{
		{"", false}, {"short", false}, {"x#99999999999", false}, {"\n#ppl-program:{nonsense\n#00000000024", true},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if p, err := carried(path); p != nil || (err != nil) != c.damaged {
			t.Errorf("%q: %v, %v", c.text, p, err)
		}
	}
}

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                     nil,
		"a  b":                 {"a", "b"},
		`--name='a b' --x="c"`: {"--name=a b", "--x=c"},
		`a\ b c`:               {"a b", "c"},
		"''":                   {""},
	} {
		if got := words(line); !slices.Equal(got, want) {
			t.Errorf("%q: %q", line, got)
		}
	}
}

// TestMake checks that our make uses its arguments and make/local.
func TestMake(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("make", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("make", "local"), []byte("# x\nSTANCFLAGS += --O1\nSTAN_THREADS=true\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var out, wrong strings.Builder
	d := &dispatcher{Streams: executable.Streams{Out: &out, Err: &wrong}}
	if code := d.make(context.Background(), []string{"STANCFLAGS+=--warn-pedantic", "print-STANCFLAGS", "print-STAN_THREADS", "print-CXX", "print-CMDSTAN_VERSION", "build"}); code != 0 {
		t.Fatalf("exit code %d, %s", code, wrong.String())
	}
	if want := "STANCFLAGS = --O1 --warn-pedantic\nSTAN_THREADS = true\nCXX =\nCMDSTAN_VERSION = 2.40.0\n--- CmdStan v2.40.0 built ---\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
}

// TestMakeTool checks that a tool that was removed is made again.
func TestMakeTool(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	program := filepath.Join(dir, "program") // never executed, so that links to it can be removed on all systems
	if err := os.WriteFile(program, nil, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, program); err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join("bin", toolFile("diagnose"))
	if err := os.Remove(tool); err != nil {
		t.Fatal(err)
	}
	var out, wrong strings.Builder
	d := &dispatcher{Streams: executable.Streams{Out: &out, Err: &wrong}, program: program}
	for range 2 {
		if code := d.make(context.Background(), []string{"bin/diagnose"}); code != 0 {
			t.Fatalf("exit code %d, %s", code, wrong.String())
		}
		if _, err := os.Stat(tool); err != nil {
			t.Error(err)
		}
	}
	if want := "make: 'bin/diagnose' is up to date.\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
}

// TestScript checks that scripts quote paths.
func TestScript(t *testing.T) {
	if got := script("/a b/it's", exeWord, ownName); got != "#!/bin/sh\nppl='/a b/it'\\''s'; [ -x \"$ppl\" ] || ppl=ppl; exec \"$ppl\" 'cmdstan-exe' \"$0\" \"$@\"\n" {
		t.Errorf("%s", got)
	}
}
