// Package docs returns the documentation as a web site, for the command ppl docs.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	docs.go        Pages: the files of the site
//	spec.go, spec_packed.go   Spec: the specification; in released programs embedded
//	carried.go     for released programs, which embed the site
//	carriednot.go  for other builds, which do not
//
// internal/cmd/site builds the site from the Markdown in doc/. The site is not in the repository,
// since every change of a page would change it. Released programs embed it, packed into 0.78 MB:
// .ci/release builds it into this folder and the command with the tag docs. Any other ppl builds it
// with the Go toolchain, which takes seconds. Embedding the Markdown and rendering it on demand
// would take 1.7 MB: 0.9 for the renderer, 0.8 for the pages.
package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/ppl-lang/ppl/internal/packed"
)

// module is the path of this module.
const module = "github.com/ppl-lang/ppl"

// builder is the folder of the program that builds the site, within the module.
const builder = "./internal/cmd/site"

// Pages returns the files of the site by slash-separated names. A program without an embedded site
// builds it: from the clone of this module that contains the working directory, from the sources
// that it was compiled from, or from its own version, which Go downloads. If that is not possible,
// the error explains what is missing.
func Pages(ctx context.Context) (map[string][]byte, error) {
	archive := carried()
	if archive == nil {
		var err error
		if archive, err = built(ctx); err != nil {
			return nil, err
		}
	}
	return unpack(archive)
}

// Carried reports whether this program embeds the site, so that Pages takes no time.
func Carried() bool { return carried() != nil }

// built builds the site and returns it packed.
func built(ctx context.Context) ([]byte, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, errors.New("this program does not carry its pages, and building them needs Go (https://go.dev/dl); or use a released binary of ppl")
	}
	dir, err := sources(ctx)
	if err != nil {
		return nil, err
	}
	temporary, err := os.MkdirTemp("", "ppl-docs-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	file := filepath.Join(temporary, "site.zip.lzma")
	if _, err := command(ctx, dir, "run", builder, "--pack", file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// sources returns a folder with the sources of this module.
func sources(ctx context.Context) (string, error) {
	out, err := command(ctx, "", "list", "-m", "-f", "{{.Path}}\n{{.Dir}}")
	if path, dir, _ := strings.Cut(strings.TrimSpace(string(out)), "\n"); err == nil && path == module && dir != "" {
		return dir, nil
	}
	if dir := compiledFrom(); dir != "" {
		return dir, nil
	}
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path == module {
		version = info.Main.Version
	}
	if version == "" || version == "(devel)" || strings.Contains(version, "+dirty") {
		return "", errors.New("this program was built from sources that have no version, so the pages can be built only in the folder of these sources; or use a released binary, which carries them")
	}
	out, err = command(ctx, "", "mod", "download", "-json", module+"@"+version)
	if err != nil {
		return "", err
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		return "", err
	}
	return downloaded.Dir, nil
}

// compiledFrom returns the folder of the sources that this program was compiled from: a clone, or
// the module in Go's cache. It is empty if they are gone, or the program was built with -trimpath.
func compiledFrom() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return ""
	}
	dir := filepath.Dir(filepath.Dir(filepath.Dir(file))) // of front/docs/docs.go
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if first, _, _ := strings.Cut(string(text), "\n"); err != nil || strings.TrimSpace(first) != "module "+module {
		return ""
	}
	return dir
}

// command runs the Go toolchain in a folder.
func command(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOOS=", "GOARCH=")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out, nil
}

func unpack(archive []byte) (map[string][]byte, error) {
	z, err := packed.Open(archive)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		if !filepath.IsLocal(f.Name) {
			return nil, fmt.Errorf("the file %q would be outside the site", f.Name)
		}
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return nil, err
		}
		files[f.Name] = text
	}
	return files, nil
}
