package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestPackages makes packages of small files. It checks their names, what they depend on, which of
// their files are programs, and that the same files give the same packages.
func TestPackages(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"ppl.wasm.lzma", "wasm_exec.js", "LICENSES.txt", "program"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("this is "+name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "program")
	r := release{version: "1.2.3", sources: filepath.Join("..", "..", "..", "front", "npm"), engine: dir, licences: filepath.Join(dir, "LICENSES.txt")}
	targets := []string{"linux/amd64=" + program, "windows/arm64=" + program}
	packages, err := r.packages(targets)
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.packages(targets)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{ // programs
		"ppl-engine-1.2.3.tgz":          nil,
		"ppl-cli-linux-x64-1.2.3.tgz":   {"package/ppl"},
		"ppl-cli-win32-arm64-1.2.3.tgz": {"package/ppl.exe"},
		"ppl-cli-1.2.3.tgz":             {"package/ppl.js"},
	}
	if len(packages) != len(want) {
		t.Fatalf("%d packages, want %d", len(packages), len(want))
	}
	for i, p := range packages {
		packed, err := p.pack()
		if err != nil {
			t.Fatal(err)
		}
		if second, err := again[i].pack(); err != nil || !bytes.Equal(packed, second) {
			t.Errorf("%s differs the second time, %v", p.file(), err)
		}
		programs, ok := want[p.file()]
		if !ok {
			t.Errorf("a package %s", p.file())
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		var names, runs []string
		var description struct {
			Name, Version        string
			OptionalDependencies map[string]string
		}
		for r := tar.NewReader(z); ; {
			h, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, h.Name)
			if h.Mode&0o111 != 0 {
				runs = append(runs, h.Name)
			}
			if h.Name == "package/package.json" {
				if err := json.NewDecoder(r).Decode(&description); err != nil {
					t.Errorf("%s: package.json: %v", p.file(), err)
				}
			}
		}
		if !slices.Equal(runs, programs) {
			t.Errorf("%s: the programs are %v, want %v", p.file(), runs, programs)
		}
		for _, name := range []string{"package/README.md", "package/LICENSE", "package/LICENSES.txt"} {
			if !slices.Contains(names, name) {
				t.Errorf("%s lacks %s", p.file(), name)
			}
		}
		if description.Version != "1.2.3" || description.Name != p.name {
			t.Errorf("%s: %+v", p.file(), description)
		}
		if o := description.OptionalDependencies; p.name == "@ppl/cli" && (len(o) != 2 || o["@ppl/cli-linux-x64"] != "1.2.3" || o["@ppl/cli-win32-arm64"] != "1.2.3") {
			t.Errorf("%s depends on %v", p.name, o)
		}
	}
	for _, wrong := range []string{"plan9/amd64=" + program, "linux/amd64", "linux/amd64=" + program + "-not"} {
		if _, err := r.packages([]string{wrong}); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}

func TestVersions(t *testing.T) {
	for v, want := range map[string]string{
		"v0.1.0": "0.1.0", "v1.2.3-rc.1": "1.2.3-rc.1", "v0.0.0-20260101000000-0123456789ab": "0.0.0-20260101000000-0123456789ab",
		"v1.2.3+dirty": "1.2.3", "(devel)": "0.0.0-devel", "": "0.0.0-devel", "v1.2": "0.0.0-devel",
	} {
		if got := npmVersion(v); got != want {
			t.Errorf("npmVersion(%q) = %q, want %q", v, got, want)
		}
	}
}
