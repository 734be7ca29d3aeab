package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/internal/lean"
	"github.com/ppl-lang/ppl/internal/lzma"
	"github.com/ppl-lang/ppl/model"

	durable "github.com/ppl-lang/ppl/internal/files"
)

// The files of the playground that must be built.
const (
	wasmFile     = "ppl.wasm.lzma"
	scriptFile   = "wasm_exec.js"
	licencesFile = "LICENSES.txt"
)

// module is the path of this module.
const module = "github.com/ppl-lang/ppl"

// Engine returns the files of the playground that must be built: the WebAssembly program, the
// script that starts it, and the licences of their parts. They are embedded in this program, in the
// cache, or else built now. Since that takes a while, Engine calls say before. If they cannot be
// built, the error explains what is missing.
func Engine(ctx context.Context, say func(string)) (map[string][]byte, error) {
	if files, err := carried(); files != nil || err != nil {
		return files, err
	}
	s := sources{cached: true, version: model.Version()}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path == module {
		s.version = info.Main.Version
	}
	if dir, ok := clone(ctx); ok {
		s = sources{dir: dir}
	} else if s.version == "" || s.version == "(devel)" || strings.Contains(s.version, "+dirty") {
		return nil, errors.New("this program was built from sources without a version, so the playground can be built only in the folder of these sources. Run it there, or use a released binary, which contains the playground")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	cache = filepath.Join(cache, "ppl", "playground", s.version+"_"+runtime.Version())
	if s.cached {
		if files, err := readBuilt(cache); err == nil {
			return files, nil
		}
	}
	if _, err := exec.LookPath("go"); err != nil {
		return nil, errors.New("the playground must be built once, which needs Go (https://go.dev/dl). Install Go, or use a released binary of ppl, which contains the playground")
	}
	say("Building the playground's engine, which takes a minute the first time …")
	files, err := s.build(ctx)
	if err != nil {
		return nil, err
	}
	if s.cached { // without a cache, the next start is slower, which is no error
		keepBuilt(cache, files)
	}
	return files, nil
}

// Build builds the engine from a folder with the sources of this module.
func Build(ctx context.Context, dir string) (map[string][]byte, error) {
	return sources{dir: dir}.build(ctx)
}

// clone returns the folder of this module that contains the working directory.
func clone(ctx context.Context) (dir string, ok bool) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Path}}\n{{.Dir}}").Output()
	if err != nil {
		return "", false
	}
	path, dir, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return dir, path == module && dir != ""
}

// sources describes where the engine's sources come from.
type sources struct {
	dir     string // a clone; "": Go downloads the version
	version string
	cached  bool
}

// build runs the Go toolchain. The result depends only on the sources and the toolchain.
func (s sources) build(ctx context.Context) (map[string][]byte, error) {
	temporary, err := os.MkdirTemp("", "ppl-playground-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	dir := s.dir
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=-trimpath", "GOWORK=off", "GOWASM=")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
		}
		return strings.TrimSpace(string(out)), nil
	}
	if dir == "" {
		// A new module that requires this one, so that go list reports its dependencies.
		dir = temporary
		if _, err := run("mod", "init", "playground"); err != nil {
			return nil, err
		}
		if _, err := run("get", module+"@"+s.version); err != nil {
			return nil, err
		}
	}
	program := filepath.Join(temporary, "ppl.wasm")
	args := append([]string{"build", "-buildvcs=false", "-ldflags=-s -w -buildid="}, lean.Inlining()...)
	if _, err := run(append(args, "-o", program, module+"/front/web/wasm")...); err != nil {
		return nil, err
	}
	wasm, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	root, err := run("env", "GOROOT")
	if err != nil {
		return nil, err
	}
	script, err := os.ReadFile(filepath.Join(root, "lib", "wasm", scriptFile))
	if err != nil {
		return nil, fmt.Errorf("the Go distribution lacks a part: %w", err)
	}
	list, err := run("list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}", module+"/front/web/wasm")
	if err != nil {
		return nil, err
	}
	version, err := run("env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	licences, err := licences(list + "\nGo " + version + "\t" + root)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{wasmFile: lzma.Compress(wasm), scriptFile: script, licencesFile: licences}, nil
}

// licences returns the licence texts of modules. Each line of the list has a module's name, a tab,
// and its folder.
func licences(list string) ([]byte, error) {
	lines := strings.Split(strings.TrimSpace(list), "\n")
	slices.Sort(lines)
	var out bytes.Buffer
	out.WriteString("What the playground is made of, and the licences of its parts.\n")
	for _, line := range slices.Compact(lines) {
		name, dir, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		found := false
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			upper := strings.ToUpper(e.Name())
			if e.IsDir() || !strings.HasPrefix(upper, "LICENSE") && !strings.HasPrefix(upper, "LICENCE") && !strings.HasPrefix(upper, "COPYING") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			found = true
			fmt.Fprintf(&out, "\n%s\n%s\n\n%s", strings.Repeat("-", 80), strings.TrimSpace(name), text)
		}
		if !found {
			return nil, fmt.Errorf("%s has no licence", name)
		}
	}
	return out.Bytes(), nil
}

// built lists the names of the files that must be built.
func built() []string { return []string{wasmFile, scriptFile, licencesFile} }

func readBuilt(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range built() {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	return files, nil
}

// keepBuilt writes the built files into a folder atomically.
func keepBuilt(dir string, files map[string][]byte) error {
	temporary, err := durable.TempFolder(dir)
	if err != nil {
		return err
	}
	defer durable.RemoveAll(temporary)
	for name, text := range files {
		if err := durable.Swap(filepath.Join(temporary, name), text); err != nil {
			return err
		}
	}
	if err := durable.SyncAll(temporary); err != nil {
		return err
	}
	return durable.Move(temporary, dir)
}
