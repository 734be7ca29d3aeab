package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCommandsOnPages checks that the commands and options that the pages for users name exist. An
// option without a command belongs to ppl run, or to a command that the page names.
func TestCommandsOnPages(t *testing.T) {
	code := regexp.MustCompile("`[^`\n]+`|(?m)^    .+$|^\\$ .+$")
	command := regexp.MustCompile(`\bppl ([a-z][a-z-]*)\b([^|&]*)`)
	option := regexp.MustCompile(`--([a-z][a-z-]*[a-z])`)
	handed := regexp.MustCompile(`--sbatch=\S+`) // options of Slurm
	root := rootCommand(&checkedWriter{Writer: io.Discard})
	root.InitDefaultCompletionCmd()
	has := func(name, option string) bool {
		c, _, err := root.Find([]string{name})
		return err == nil && c != root && (option == "" || option == "help" || c.Flag(option) != nil)
	}
	pages := []string{filepath.Join("..", "..", "README.md")}
	for _, shelf := range []string{"tutorials", "how-to", "reference"} {
		more, err := filepath.Glob(filepath.Join("..", "..", "doc", shelf, "*.md"))
		if err != nil || len(more) < 3 {
			t.Fatalf("%s: %d pages, %v", shelf, len(more), err)
		}
		pages = append(pages, more...)
	}
	// These pages name only options of other programs.
	others := []string{"cmdstan.md", "bridgestan.md"}
	named := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		commands := []string{"run"}
		var alone []string
		for _, snippet := range code.FindAllString(string(text), -1) {
			snippet = handed.ReplaceAllString(snippet, "")
			m := command.FindStringSubmatch(snippet)
			switch {
			case m != nil && m[1] != "help":
				named++
				commands = append(commands, m[1])
				for _, o := range option.FindAllStringSubmatch(m[2], -1) {
					if !has(m[1], o[1]) {
						t.Errorf("%s: ppl %s has no option --%s (%s)", page, m[1], o[1], snippet)
					}
				}
				if !has(m[1], "") {
					t.Errorf("%s: there is no command ppl %s", page, m[1])
				}
			case strings.HasPrefix(snippet, "`--") && !slices.Contains(others, filepath.Base(page)):
				for _, o := range option.FindAllStringSubmatch(snippet, -1) {
					alone = append(alone, o[1])
				}
			}
		}
		for _, o := range alone {
			if !slices.ContainsFunc(commands, func(name string) bool { return has(name, o) }) {
				t.Errorf("%s: no command on this page has the option --%s", page, o)
			}
		}
	}
	if named < 100 {
		t.Errorf("only %d commands were found", named)
	}
}
