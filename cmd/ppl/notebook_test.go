package main

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Environment variables with the programs that make pages from notebooks and from Markdown.
const (
	nbconvertVariable = "PPL_NBCONVERT" // jupyter-nbconvert, with a Python kernel that has pandas
	pandocVariable    = "PPL_PANDOC"
)

// TestNotebooksInBrowser runs the cells of doc/how-to/notebooks.md in Jupyter and converts the
// block for documents by pandoc. The report must work in the pages that result.
func TestNotebooksInBrowser(t *testing.T) {
	browser, nbconvert, pandoc := os.Getenv(browserVariable), os.Getenv(nbconvertVariable), os.Getenv(pandocVariable)
	if browser == "" || nbconvert == "" && pandoc == "" {
		t.Skipf("%s and one of %s and %s are not set", browserVariable, nbconvertVariable, pandocVariable)
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "doc", "how-to", "notebooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"eight_schools.model", "eight_schools.data.json"} {
		example, err := os.ReadFile(filepath.Join("..", "..", "examples", "eight_schools", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), example, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	run := func(program string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
		}
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "ppl"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := startChromium(t, browser)
	look := func(name string) {
		t.Helper()
		c.window(1100, 1000, false)
		c.open((&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, name))}).String())
		c.until("the report in "+name, "document.querySelector('iframe')?.contentDocument?.querySelectorAll('svg.plot').length >= 8 && document.querySelector('iframe').contentDocument.querySelector('table.summary').textContent.includes('theta[1]')")
		c.eval("document.querySelector('iframe').scrollIntoView()")
		time.Sleep(300 * time.Millisecond)
		c.shot(strings.TrimSuffix(name, ".html"))
	}
	if nbconvert != "" {
		type cell struct {
			Kind    string         `json:"cell_type"`
			Count   *int           `json:"execution_count"`
			Meta    map[string]any `json:"metadata"`
			Outputs []any          `json:"outputs"`
			Source  string         `json:"source"`
		}
		var cells []cell
		for _, m := range regexp.MustCompile("(?s)\n```python\n(.*?)\n```\n").FindAllStringSubmatch(string(text), -1) {
			cells = append(cells, cell{"code", nil, map[string]any{}, []any{}, m[1]})
		}
		if len(cells) != 4 {
			t.Fatalf("there are %d cells", len(cells))
		}
		notebook, err := json.Marshal(map[string]any{"cells": cells, "metadata": map[string]any{"kernelspec": map[string]string{"name": "python3", "display_name": "Python 3", "language": "python"}}, "nbformat": 4, "nbformat_minor": 4})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "jupyter.ipynb"), notebook, 0o666); err != nil {
			t.Fatal(err)
		}
		run(nbconvert, "--execute", "--to", "html", "jupyter.ipynb")
		look("jupyter.html")
		if got := c.eval("document.querySelector('table.dataframe').textContent"); !strings.Contains(got, "ess_bulk") || !strings.Contains(got, "tau") {
			t.Errorf("the table: %s", got)
		}
	}
	if pandoc != "" {
		_, cell, _ := strings.Cut(string(text), "#| output: asis\n")
		cell, _, _ = strings.Cut(cell, "\n```\n")
		run("sh", "-e", "-c", "rm -rf fit; ("+cell+") > out.md; { echo '# Before'; echo; cat out.md; echo; echo 'After *it*.'; } > pandoc.md")
		run(pandoc, "--standalone", "--metadata", "title=Eight schools", "-o", "pandoc.html", "pandoc.md")
		look("pandoc.html")
		if got := c.eval("document.querySelector('em').textContent"); got != "it" {
			t.Errorf("what follows the report is %q", got)
		}
	}
}
