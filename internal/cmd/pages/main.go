// Command pages follows the pages of doc/contributing: it applies the changes of each page to a
// copy of the repository, and runs the page's commands there.
//
//	go run ./internal/cmd/pages [NAME…]
//
// NAME is the name of a page, such as add-a-flag; without a name, all pages are followed. All pages
// share one copy and one build cache. A test applies the changes without building.
//
// # Blocks
//
// A page is Markdown. The info string of a fenced block describes its text:
//
//	go file=PATH                    a new file
//	go file=PATH after="LINE"       lines after the one line of the file that is LINE
//	go file=PATH before="LINE"      lines before it
//	go file=PATH instead="LINE"     lines in place of it
//	go file=PATH end                lines at the end of the file
//	sh                              commands; the first that fails ends the run
//	output                          lines that the output of the previous commands contains
//
// LINE is written without surrounding white space, and with &quot; for each quotation mark. If it
// ends in …, it matches a line that begins in this way. Other blocks are text.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// folder has the pages.
const folder = "doc/contributing"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

func run(names []string) error {
	pages, err := readPages(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(pages, func(p page) bool { return p.name == name }) {
			return fmt.Errorf("there is no page %s in %s", name, folder)
		}
	}
	dir, err := os.MkdirTemp("", "pages")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := copyModule(".", dir); err != nil {
		return err
	}
	pages = slices.DeleteFunc(pages, func(p page) bool { return len(names) > 0 && !slices.Contains(names, p.name) })
	for _, p := range pages {
		if err := p.apply(dir); err != nil {
			return err
		}
	}
	for _, p := range pages {
		used, err := p.follow(dir)
		if err != nil {
			return err
		}
		fmt.Printf("%-24s %d files by hand, %.1f s of processor time\n", p.name, len(p.files()), used.Seconds())
	}
	return nil
}

// copyModule copies the files that git tracks, and untracked files that it does not ignore.
func copyModule(from, to string) error {
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = from
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, fs.ErrNotExist) { // deleted, and not committed yet
			continue
		}
		if err != nil {
			return err
		}
		info, err := os.Stat(filepath.Join(from, name))
		if err != nil {
			return err
		}
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}

// follow runs the commands of a page in a copy to which it has been applied. It returns
// the processor time.
func (p page) follow(dir string) (used time.Duration, err error) {
	var output []byte
	for _, b := range p.blocks {
		switch b.kind {
		case commands:
			cmd := exec.Command("sh", "-e", "-c", b.text)
			cmd.Dir = dir
			// The build must not contain paths of the copy, so that copies share the cache.
			cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "CGO_ENABLED=0", "GOWORK=off")
			if output, err = cmd.CombinedOutput(); err != nil {
				return used, fmt.Errorf("%s:%d: %w\n%s", p.path, b.line, err, output)
			}
			if bytes.Contains(output, []byte("no tests to run")) {
				return used, fmt.Errorf("%s:%d: no tests to run\n%s", p.path, b.line, output)
			}
			used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		case shows:
			for line := range strings.Lines(b.text) {
				if line = strings.TrimSpace(line); !bytes.Contains(output, []byte(line)) {
					return used, fmt.Errorf("%s:%d: the output has no %q, but is\n%s", p.path, b.line, line, output)
				}
			}
		}
	}
	return used, nil
}
