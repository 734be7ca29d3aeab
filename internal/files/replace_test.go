package files_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ppl-lang/ppl/internal/files"
)

// TestSave checks that Save replaces a file as a whole, and writes to names that are not regular
// files directly.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for _, text := range []string{"long text", "short"} {
		if err := files.Save(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v, want %q", got, err, text)
		}
	}
	// A reader that has opened the file still reads the old content, since the new file is another
	// one.
	old, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if runtime.GOOS != "windows" { // where an open file cannot be replaced
		if err := files.Save(path, []byte("new")); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(old); err != nil || string(got) != "short" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := files.Save(os.DevNull, []byte("x")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s was replaced: %v", os.DevNull, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); left != nil {
		t.Errorf("%v are left", left)
	}
}

// TestSeal checks that a sealed object is still JSON, and that any changed bit is detected.
func TestSeal(t *testing.T) {
	text := files.Seal([]byte(`{"a":1.25,"b":["x","}"]}` + "\n"))
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil || object["a"] != 1.25 || len(object) != 3 {
		t.Errorf("%s: %v", text, err)
	}
	if err := files.CheckSeal("x", text); err != nil {
		t.Error(err)
	}
	for i := range text {
		for bit := range 8 {
			text[i] ^= 1 << bit
			if files.CheckSeal("x", text) == nil {
				t.Errorf("%s passes", text)
			}
			text[i] ^= 1 << bit
		}
		if files.CheckSeal("x", text[:i]) == nil {
			t.Errorf("%s passes", text[:i])
		}
	}
}

// TestCreateFollowsNoLinks checks that Create makes a new file and never writes to an existing one,
// including through a link.
func TestCreateFollowsNoLinks(t *testing.T) {
	dir := t.TempDir()
	precious, planted := filepath.Join(dir, "precious"), filepath.Join(dir, "planted")
	if err := os.WriteFile(precious, []byte("kept"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(precious, planted); err != nil {
		t.Skip("no links here")
	}
	if f, err := files.Create(planted); err == nil {
		f.Close()
		t.Error("a link was followed")
	}
	if err := files.Replace(planted, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(precious); string(text) != "kept" {
		t.Errorf("what the link leads to is %q", text)
	}
}
