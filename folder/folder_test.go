package folder_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ppl-lang/ppl/folder"
	"github.com/ppl-lang/ppl/internal/files"
)

// TestOutside: a folder that somebody else made reaches no files but its own.
func TestOutside(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{
		`{"texts": [{"name": "m.stan", "file": "../secret"}]}`, `{"texts": [{"name": "m.stan", "file": "/etc/passwd"}]}`,
		`{"data_file": "model/../../secret"}`, `{"name": "../other"}`, `{"name": "a/b"}`, `{"name": ".."}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, folder.RecordFile), files.Seal([]byte(text)), 0o666); err != nil {
			t.Fatal(err)
		}
		if r, err := folder.Read(dir); r != nil || err == nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	// Nor by a link in the place of a folder of its own.
	secret := filepath.Join(t.TempDir(), "m.stan")
	if err := os.WriteFile(secret, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(dir, "model")); err != nil {
		t.Skip(err)
	}
	r := &folder.Record{Texts: []folder.Text{{Name: "m.stan", File: "model/m.stan"}}}
	if err := r.Remove(dir); err == nil {
		t.Error("a link out of the folder is followed")
	}
	if _, err := os.Stat(secret); err != nil {
		t.Error(err)
	}
}

// Files are named after models whose names a record can keep.
func TestBaseName(t *testing.T) {
	for path, want := range map[string]string{
		"a/b.stan": "b", "b": "b", "a.b.model": "a.b", ".stan": "model", "a/x\xffy.stan": "x_y", "x\n\x1b[31m.stan": "x__[31m", "größe.stan": "größe",
	} {
		if got := folder.BaseName(path); got != want {
			t.Errorf("%q: %q", path, got)
		}
	}
}
