package home

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ppl-lang/ppl/internal/cmdstan/stan"
)

//go:embed files
var files embed.FS

// toolNames are the programs in bin.
var toolNames = []string{"stanc", "stansummary", "diagnose", "print"}

// Write makes dir a folder that front ends take for an installation of CmdStan, whose
// programs run the program ppl, an absolute path. What the user has put into make/local is
// kept.
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
			return os.MkdirAll(target, 0o777)
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
		return os.WriteFile(target, []byte(fill(string(text), ppl)), 0o666)
	})
	if err != nil {
		return err
	}
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o777); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		// As the programs of a folder have no make there, it gets one.
		for _, tool := range append(toolNames, "make", "mingw32-make") {
			if err := copyFile(ppl, filepath.Join(bin, tool+".exe")); err != nil {
				return err
			}
		}
		return nil
	}
	for _, tool := range append(toolNames, "make") {
		if tool == "make" { // beside the others, for systems without one: MAKE=DIR/bin/ppl-make
			tool = "ppl-make"
		}
		if err := writeExecutable(filepath.Join(bin, tool), []byte(script(ppl, toolWord, strings.TrimPrefix(tool, "ppl-")))); err != nil {
			return err
		}
	}
	return nil
}

// fill puts what is known now into a file.
func fill(text, ppl string) string {
	return strings.NewReplacer("@VERSION@", stan.Version, "@PPL@", quote(ppl), "@FLAGS@", strings.Join(stan.Flags, " ")).Replace(text)
}

// script starts ppl with some words before its own arguments, or what PATH has of that
// name if it is no longer where it was.
func script(ppl string, words ...string) string {
	for i, w := range words {
		if w != ownName {
			words[i] = quote(w)
		}
	}
	return fmt.Sprintf("#!/bin/sh\nppl=%s; [ -x \"$ppl\" ] || ppl=ppl; exec \"$ppl\" %s \"$@\"\n", quote(ppl), strings.Join(words, " "))
}

// ownName is the name of a script in itself.
const ownName = `"$0"`

// quote makes a word of a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// writeExecutable writes a file that can be run; one that is running stays as it is.
func writeExecutable(path string, text []byte) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, text, 0o777); err != nil {
		os.Remove(tmp)
		return err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		os.Remove(tmp)
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		os.Remove(tmp)
		return err
	}
	return nil
}

// copyFile copies a program, by a link if that is possible.
func copyFile(from, to string) error {
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
