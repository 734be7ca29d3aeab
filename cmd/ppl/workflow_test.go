package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tutorials and three of the how-to pages lead through analyses. Their commands are run one
// after another, in a folder with the page's files. They print what the page shows, apart from
// digits and blanks; a line "…" is any lines. Commands in blocks of the kind console-error end with
// exit code 1. What a command prints is its standard output or, if that is empty, its standard
// error.
func TestWorkflow(t *testing.T) {
	for page, commands := range map[string]int{
		"how-to/workflow": 16, "reference/configuration": 1, "how-to/decisions": 13, "how-to/data": 4,
		"tutorials/first-model": 5, "tutorials/csv-to-decision": 5, "tutorials/does-not-fit": 7,
	} {
		if testing.Short() && page != "tutorials/first-model" {
			continue // every page is of commands
		}
		t.Run(page, func(t *testing.T) { testPage(t, page+".md", commands) })
	}
}

// testPage runs the commands of a page, of which there are so many at least.
func testPage(t *testing.T, page string, least int) {
	text, err := os.ReadFile(filepath.Join("..", "..", "doc", filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	doc := string(text)
	fence := regexp.MustCompile("(?ms)(?:^`([^`\n]+)`:\n\n)?^```([a-z-]*)\n(.*?)^```$")
	digits := regexp.MustCompile(`-?\d+(\.\d+)?`)
	mask := func(s string) string {
		return strings.Join(strings.Fields(digits.ReplaceAllString(s, "#")), " ")
	}
	commands := 0
	for _, m := range fence.FindAllStringSubmatch(doc, -1) {
		name, kind, body := m[1], m[2], m[3]
		if name != "" {
			if err := os.WriteFile(name, []byte(body), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if kind != "console" && kind != "console-error" {
			continue
		}
		for i, part := range strings.Split("\n"+body, "\n$ ") {
			if i == 0 {
				continue
			}
			command, want, _ := strings.Cut(part, "\n")
			words := strings.Fields(command)
			if words[0] != "ppl" {
				t.Fatalf("%s: only ppl is run", command)
			}
			var out, errs strings.Builder
			code := execute(words[1:], &out, &errs)
			wanted := 0
			if kind == "console-error" {
				wanted = exitError
			}
			if code != wanted {
				t.Fatalf("%s: exit code %d\n%s", command, code, errs.String())
			}
			printed := out.String()
			if printed == "" {
				printed = errs.String()
			}
			commands++
			got := strings.Split(strings.TrimRight(printed, "\n"), "\n")
			next := 0
			skip := false
			for line := range strings.Lines(want) {
				line = strings.TrimRight(line, "\n")
				if line == "…" {
					skip = true
					continue
				}
				found := next
				for found < len(got) && mask(got[found]) != mask(line) && skip {
					found++
				}
				if found == len(got) || mask(got[found]) != mask(line) {
					t.Fatalf("%s: %q is not printed:\n%s", command, line, printed)
				}
				next, skip = found+1, false
			}
			if want != "" && !skip && next < len(got) {
				t.Fatalf("%s: %q is not in the document:\n%s", command, got[next], printed)
			}
		}
	}
	if commands < least {
		t.Errorf("only %d commands", commands)
	}
}
