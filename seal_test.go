package ppl_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ppl-lang/ppl"
)

// A sealed object is still JSON, and no bit of it can change unnoticed.
func TestSeal(t *testing.T) {
	text := ppl.Seal([]byte(`{"a":1.25,"b":["x","}"]}` + "\n"))
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil || object["a"] != 1.25 || len(object) != 3 {
		t.Errorf("%s: %v", text, err)
	}
	if err := ppl.CheckSeal("x", text); err != nil {
		t.Error(err)
	}
	for i := range text {
		for bit := range 8 {
			text[i] ^= 1 << bit
			if ppl.CheckSeal("x", text) == nil {
				t.Errorf("%s passes", text)
			}
			text[i] ^= 1 << bit
		}
		if ppl.CheckSeal("x", text[:i]) == nil {
			t.Errorf("%s passes", text[:i])
		}
	}
}

// TestRecordOutside: a folder that somebody else made reaches no files but its own.
func TestRecordOutside(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{
		`{"texts": [{"name": "m.stan", "file": "../secret"}]}`, `{"texts": [{"name": "m.stan", "file": "/etc/passwd"}]}`,
		`{"data_file": "model/../../secret"}`, `{"name": "../other"}`, `{"name": "a/b"}`, `{"name": ".."}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, ppl.RecordName), ppl.Seal([]byte(text)), 0o666); err != nil {
			t.Fatal(err)
		}
		if r, err := ppl.ReadRecord(dir); r != nil || err == nil {
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
	r := &ppl.Record{Texts: []ppl.KeptText{{Name: "m.stan", File: "model/m.stan"}}}
	if err := r.Remove(dir); err == nil {
		t.Error("a link out of the folder is followed")
	}
	if _, err := os.Stat(secret); err != nil {
		t.Error(err)
	}
}
