// Command drawing writes the drawing in ARCHITECTURE.md, which shows the imports between folders.
// It reads them from the code without its tests.
//
//	go run ./internal/cmd/drawing          prints it
//	go run ./internal/cmd/drawing -w       writes it into ARCHITECTURE.md
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

const (
	module = "github.com/ppl-lang/ppl/"
	page   = "ARCHITECTURE.md"
	begin  = "<!-- drawing: begin; written by internal/cmd/drawing -->\n"
	end    = "<!-- drawing: end -->\n"
)

// folders lists the drawn folders, from the bottom.
var folders = []string{"lang", "ad", "infer", "stdlib", "compile", "model", "fit", "assess", "study", "front", "cmd"}

func main() {
	write := flag.Bool("w", false, "write the drawing into "+page)
	flag.Parse()
	if err := run(*write); err != nil {
		fmt.Fprintln(os.Stderr, "drawing:", err)
		os.Exit(1)
	}
}

func run(write bool) error {
	drawing, err := draw()
	if err != nil {
		return err
	}
	if !write {
		fmt.Print(drawing)
		return nil
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no place for the drawing: the lines %q and %q", page, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return os.WriteFile(page, []byte(head+begin+drawing+end+tail), 0o644)
}

// draw makes a Mermaid graph of the imports between folders. An import that follows from others is
// left out.
func draw() (string, error) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	imports := map[string]map[string]bool{}
	for _, f := range folders {
		imports[f] = map[string]bool{}
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from := folderOf(words[0])
		for _, w := range words[1:] {
			if to := folderOf(w); from != "" && to != "" && to != from {
				imports[from][to] = true
			}
		}
	}
	var b strings.Builder
	b.WriteString("```mermaid\ngraph TD\n")
	for i := len(folders) - 1; i >= 0; i-- {
		from := folders[i]
		for _, to := range folders {
			if imports[from][to] && !slices.ContainsFunc(folders, func(by string) bool {
				return by != from && by != to && imports[from][by] && reaches(imports, by, to)
			}) {
				fmt.Fprintf(&b, "  %s --> %s\n", from, to)
			}
		}
	}
	b.WriteString("```\n")
	return b.String(), nil
}

// folderOf returns the drawn folder to which a package belongs; "" if there is none.
func folderOf(path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, module), "/")
	if !strings.HasPrefix(path, module) || !slices.Contains(folders, name) {
		return ""
	}
	return name
}

// reaches reports whether imports lead from a folder to another. They have no cycles.
func reaches(imports map[string]map[string]bool, from, to string) bool {
	if imports[from][to] {
		return true
	}
	for by := range imports[from] {
		if reaches(imports, by, to) {
			return true
		}
	}
	return false
}
