package home

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ppl-lang/ppl/front/cmdstan/stan"
	durable "github.com/ppl-lang/ppl/internal/files"
)

//go:embed files
var files embed.FS

// toolNames returns the names of the programs in the folder bin.
func toolNames() []string {
	names := []string{"stanc", "stansummary", "diagnose", "print", "make"}
	if runtime.GOOS == "windows" {
		names = append(names, "mingw32-make")
	}
	return names
}

// Write makes dir a folder that front ends accept as an installation of CmdStan. Its programs run
// the program ppl, an absolute path. The user's make/local is kept.
func Write(dir, ppl string) error {
	root, err := fs.Sub(files, "files")
	if err != nil {
		return err
	}
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(name))
		if d.IsDir() {
			return durable.MakeFolder(target)
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		if name == "make/local" {
			if _, err := os.Stat(target); err == nil {
				return nil
			}
		}
		return durable.Replace(target, []byte(fill(string(text), ppl)))
	})
	if err != nil {
		return err
	}
	return writeTools(filepath.Join(dir, "bin"), ppl, toolNames()...)
}

// writeTools writes programs into the folder bin.
func writeTools(bin, ppl string, tools ...string) error {
	if err := durable.MakeFolder(bin); err != nil {
		return err
	}
	for _, tool := range tools {
		path := filepath.Join(bin, toolFile(tool))
		if runtime.GOOS == "windows" {
			if err := copyFile(ppl, path); err != nil {
				return err
			}
		} else if err := writeExecutable(path, []byte(script(ppl, toolWord, tool))); err != nil {
			return err
		}
	}
	return nil
}

// toolFile returns the file name of a tool in the folder bin. On Windows, where most systems have
// no make, our make has the standard name. Elsewhere it is an alternative for systems without make:
// MAKE=DIR/bin/ppl-make.
func toolFile(tool string) string {
	switch {
	case runtime.GOOS == "windows":
		return tool + ".exe"
	case tool == "make":
		return "ppl-make"
	}
	return tool
}

// fill replaces the placeholders in a template.
func fill(text, ppl string) string {
	return strings.NewReplacer("@VERSION@", stan.Version, "@PPL@", quote(ppl), "@FLAGS@", strings.Join(stan.Flags, " ")).Replace(text)
}

// script returns a script that starts ppl with the given words before its own arguments. If the
// path no longer exists, the script looks for ppl in the PATH.
func script(ppl string, words ...string) string {
	for i, w := range words {
		if w != ownName {
			words[i] = quote(w)
		}
	}
	return fmt.Sprintf("#!/bin/sh\nppl=%s; [ -x \"$ppl\" ] || ppl=ppl; exec \"$ppl\" %s \"$@\"\n", quote(ppl), strings.Join(words, " "))
}

// ownName is how a script refers to its own path.
const ownName = `"$0"`

// quote quotes a text as one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// writeExecutable writes an executable file. Running programs keep their old file.
func writeExecutable(path string, text []byte) error {
	return durable.ReplaceExecutable(path, text)
}

// copyFile copies a program, by a link if possible.
func copyFile(from, to string) error {
	if a, err := os.Stat(from); err == nil {
		if b, err := os.Stat(to); err == nil && os.SameFile(a, b) {
			return nil // the file may be running, so that it cannot be replaced
		}
	}
	os.Remove(to)
	if os.Link(from, to) == nil {
		return nil
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeExecutable(to, text)
}
