// Command npm makes the packages of a release for npm, as npm pack would. The same files give the
// same packages.
//
//	go run ./internal/cmd/npm --version v1.0.0 --engine front/web/built --licenses LICENSES.txt --out DIR linux/amd64=FILE…
//
// The packages are @ppl/engine, with the program in WebAssembly; @ppl/cli-OS-ARCH, with the program
// for one system; and @ppl/cli, which depends on these and runs the one that npm installs.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("npm: ")
	version := flag.String("version", "", "`version` as Go writes it")
	engine := flag.String("engine", "", "`folder` that front/web/build makes")
	licences := flag.String("licenses", "", "`file` with the licences of the programs' parts")
	out := flag.String("out", ".", "`folder` for the packages")
	flag.Parse()
	packages, err := release{version: npmVersion(*version), sources: filepath.Join("front", "npm"), engine: *engine, licences: *licences}.packages(flag.Args())
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range packages {
		packed, err := p.pack()
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*out, p.file()), packed, 0o666); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("  %s, %.1f MB\n", p.file(), float64(len(packed))/1e6)
	}
}

// unpack decompresses the engine. The playground uses the same file.
const unpack = "unpack.js"

// release says what the packages are made of.
type release struct {
	version  string
	sources  string // folder of the packages' sources
	engine   string // folder of the built engine
	licences string // file
}

// system has npm's names of the systems and processors that Go names.
type system struct{ os, cpu string }

func systems() map[string]system {
	return map[string]system{
		"linux/amd64":   {"linux", "x64"},
		"linux/arm64":   {"linux", "arm64"},
		"darwin/amd64":  {"darwin", "x64"},
		"darwin/arm64":  {"darwin", "arm64"},
		"windows/amd64": {"win32", "x64"},
		"windows/arm64": {"win32", "arm64"},
	}
}

// npmVersion returns a version as npm writes it: without v, and without build metadata. A program
// without a version has 0.0.0-devel.
func npmVersion(v string) string {
	v, _, _ = strings.Cut(strings.TrimPrefix(v, "v"), "+")
	if !regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`).MatchString(v) {
		return "0.0.0-devel"
	}
	return v
}

// pkg is a package.
type pkg struct {
	name, version string
	files         map[string][]byte // with package.json, whose order has a meaning
	programs      []string          // files that are executable
}

// packages returns the packages for programs, which are given as OS/ARCH=FILE.
func (r release) packages(programs []string) ([]pkg, error) {
	var out []pkg
	if r.engine != "" {
		p, err := r.source("engine")
		if err != nil {
			return nil, err
		}
		for _, name := range []string{"ppl.wasm.lzma", "wasm_exec.js", "LICENSES.txt"} {
			if p.files[name], err = os.ReadFile(filepath.Join(r.engine, name)); err != nil {
				return nil, err
			}
		}
		if p.files[unpack], err = os.ReadFile(filepath.Join(r.sources, "..", "web", "page", unpack)); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	if len(programs) == 0 {
		return out, nil
	}
	cli, err := r.source("cli")
	if err != nil {
		return nil, err
	}
	licences, err := os.ReadFile(r.licences)
	if err != nil {
		return nil, err
	}
	cli.files["LICENSES.txt"] = licences
	cli.programs = []string{"ppl.js"}
	optional := map[string]string{}
	for _, arg := range programs {
		target, file, _ := strings.Cut(arg, "=")
		s, ok := systems()[target]
		if !ok {
			return nil, fmt.Errorf("%q is not OS/ARCH=FILE", arg)
		}
		program, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name := "ppl"
		if s.os == "win32" {
			name += ".exe"
		}
		of := fmt.Sprintf("@ppl/cli-%s-%s", s.os, s.cpu)
		optional[of] = r.version
		description, err := json.MarshalIndent(struct {
			Name        string   `json:"name"`
			Version     string   `json:"version"`
			Description string   `json:"description"`
			License     string   `json:"license"`
			OS          []string `json:"os"`
			CPU         []string `json:"cpu"`
			Files       []string `json:"files"`
			Unplugged   bool     `json:"preferUnplugged"`
		}{of, r.version, fmt.Sprintf("The program of @ppl/cli for %s on %s", s.os, s.cpu), "BSD-3-Clause", []string{s.os}, []string{s.cpu}, []string{name, "LICENSES.txt"}, true}, "", "  ")
		if err != nil {
			return nil, err
		}
		out = append(out, pkg{
			name: of, version: r.version,
			files: map[string][]byte{
				"package.json": append(description, '\n'), name: program, "LICENSE": cli.files["LICENSE"], "LICENSES.txt": licences,
				"README.md": fmt.Appendf(nil, "# %s\n\nThe program of @ppl/cli for one system. Install @ppl/cli.\n", of),
			},
			programs: []string{name},
		})
	}
	text, err := json.MarshalIndent(optional, "  ", "  ")
	if err != nil {
		return nil, err
	}
	if err := cli.describe(`"optionalDependencies": {}`, `"optionalDependencies": `+string(text)); err != nil {
		return nil, err
	}
	return append(out, cli), nil
}

// source reads a package's sources, and adds the version and the licence.
func (r release) source(name string) (pkg, error) {
	dir := filepath.Join(r.sources, name)
	p := pkg{name: "@ppl/" + name, version: r.version, files: map[string][]byte{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return p, err
	}
	for _, e := range entries {
		if p.files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return p, err
		}
	}
	if p.files["LICENSE"], err = os.ReadFile(filepath.Join(r.sources, "..", "..", "LICENSE")); err != nil {
		return p, err
	}
	return p, p.describe(`"version": "0.0.0"`, fmt.Sprintf(`"version": %q`, r.version))
}

// describe replaces a text of package.json.
func (p pkg) describe(text, by string) error {
	old := string(p.files["package.json"])
	if !strings.Contains(old, text) {
		return fmt.Errorf("package.json of %s lacks %s", p.name, text)
	}
	p.files["package.json"] = []byte(strings.Replace(old, text, by, 1))
	return nil
}

// file returns the name of the package's file, as npm pack names it.
func (p pkg) file() string {
	return fmt.Sprintf("%s-%s.tgz", strings.ReplaceAll(strings.TrimPrefix(p.name, "@"), "/", "-"), p.version)
}

// pack returns the package's file: a compressed tar archive whose times are those of npm pack.
func (p pkg) pack() ([]byte, error) {
	var names []string
	for name := range p.files {
		names = append(names, name)
	}
	// npm reads package.json without the rest if it comes first.
	slices.Sort(names)
	names = append([]string{"package.json"}, slices.DeleteFunc(names, func(name string) bool { return name == "package.json" })...)
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, name := range names {
		mode := int64(0o644)
		if slices.Contains(p.programs, name) {
			mode = 0o755
		}
		h := &tar.Header{Name: "package/" + name, Mode: mode, Size: int64(len(p.files[name])), ModTime: time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC), Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(p.files[name]); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
