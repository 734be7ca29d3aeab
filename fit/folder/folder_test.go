package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/internal/files"
)

// TestOutside checks that a folder made by somebody else gives access to no files outside it.
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
	// Nor by a link in the place of one of its folders.
	secret := filepath.Join(t.TempDir(), "m.stan")
	if err := os.WriteFile(secret, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(dir, "model")); err != nil {
		t.Skip(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "model")); err != nil {
		t.Skip("the system makes no links, and does not say so: ", err) // Wine
	}
	r := &folder.Record{Texts: []folder.Text{{Name: "m.stan", File: "model/m.stan"}}}
	if err := r.Remove(dir); err == nil {
		t.Error("a link out of the folder is followed")
	}
	if _, err := os.Stat(secret); err != nil {
		t.Error(err)
	}
}

// TestChanged checks that a change of the stored model or data is noticed when they are read.
func TestChanged(t *testing.T) {
	dir := t.TempDir()
	values, err := data.ParseJSON("d.json", []byte(`{"w": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	r := &folder.Record{Model: "m.stan", Data: "d.json"}
	if err := r.Keep(dir, &folder.Source{Name: "m.stan", Text: "#include a.stan", Included: map[string]string{"a.stan": "data { real w; }"}}, values); err != nil {
		t.Fatal(err)
	}
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	read := func() error {
		r, err := folder.Read(dir)
		if err != nil {
			return err
		}
		_, model := r.ReadModel(dir)
		_, values := r.ReadData(dir, data.Options{})
		return errors.Join(model, values)
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ReadData(dir, data.Options{Memory: 4}); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("data were read within 4 bytes: %v", err)
	}
	for _, file := range []string{"model/m.stan", "model/include_1_a.stan", "data.json"} {
		path := filepath.Join(dir, file)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{string(text) + " ", strings.Replace(string(text), "w", "v", 1), ""} {
			if err := os.WriteFile(path, []byte(other), 0o666); err != nil {
				t.Fatal(err)
			}
			var changed *folder.ChangedError
			if err := read(); other != string(text) && (!errors.As(err, &changed) || changed.File != path) {
				t.Errorf("%s with %q: %v", file, other, err)
			}
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestProcessors checks that a record lists the instruction sets used to evaluate the model, in
// order, for a run that continues on another machine.
func TestProcessors(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for _, name := range []string{"none", "none", ""} {
		t.Setenv("PPL_PROCESSOR", name)
		if level := compile.CPULevel(); !slices.Contains(want, level) {
			want = append(want, level)
		}
		r, err := folder.Read(dir)
		if err != nil { // the first time
			r = &folder.Record{}
		}
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
		if r, err := folder.Read(dir); err != nil || !slices.Equal(r.Processors, want) {
			t.Errorf("%q: %v, %v", name, r, err)
		}
	}
}

// TestBaseName checks that files take the name of the model if a record can store that name.
func TestBaseName(t *testing.T) {
	for path, want := range map[string]string{
		"a/b.stan": "b", "b": "b", "a.b.model": "a.b", ".stan": "model", "a/x\xffy.stan": "x_y", "x\n\x1b[31m.stan": "x__[31m", "größe.stan": "größe",
	} {
		if got := folder.BaseName(path); got != want {
			t.Errorf("%q: %q", path, got)
		}
	}
}

// TestVersion checks that the record of a newer program is refused, and that one without a version
// is read.
func TestVersion(t *testing.T) {
	for text, reads := range map[string]bool{
		`{"model": "m.stan"}`:                                           true,
		`{"schema_version": 1, "model": "m.stan"}`:                      true,
		`{"schema_version": 99, "program": "ppl 9", "model": "m.stan"}`: false,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, folder.RecordFile), files.Seal([]byte(text)), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := folder.Read(dir)
		if (err == nil) != reads || err != nil && !strings.Contains(err.Error(), "newer program (ppl 9)") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
