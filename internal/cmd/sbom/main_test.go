package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// The bill of the tests' own binary names the toolchain, and is the same twice.
func TestBill(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("no files of programs")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	licences := filepath.Join(t.TempDir(), "LICENSES.txt")
	if err := os.WriteFile(licences, []byte("Go go1 BSD-3-Clause\nx/y v1 FTL (of two)\n\nz v1 MIT\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	text, err := write(self, licences)
	if err != nil {
		t.Fatal(err)
	}
	var b bom
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	if b.Format != "CycloneDX" || b.Spec != "1.6" || !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(b.Serial) {
		t.Errorf("%.300s", text)
	}
	version := strings.TrimPrefix(runtime.Version(), "go")
	if std := b.Components[0]; std.Name != "std" || std.Version != version || len(std.Licences) != 1 || std.Licences[0].Licence.ID != "BSD-3-Clause" {
		t.Errorf("%+v", std)
	}
	if len(b.Dependencies) != 1 || len(b.Dependencies[0].On) != len(b.Components) || len(b.Metadata.Component.Hashes) != 1 {
		t.Errorf("%+v", b.Dependencies)
	}
	if again, err := write(self, licences); err != nil || !bytes.Equal(text, again) {
		t.Errorf("the second time: %v", err)
	}
	if _, err := write(licences, ""); err == nil {
		t.Error("a text passes for a binary")
	}
}
