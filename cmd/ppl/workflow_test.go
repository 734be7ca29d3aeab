package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// doc/how-to/workflow.md carries a model from the prior to a decision,
// doc/how-to/decisions.md two more.
// Their commands are run one after another, in a folder with its files, and print what it shows,
// but for digits and blanks; a line "…" stands for any lines.
func TestWorkflow(t *testing.T) {
	for page, commands := range map[string]int{"workflow": 16, "decisions": 13} {
		t.Run(page, func(t *testing.T) { testPage(t, page+".md", commands) })
	}
}

// testPage runs the commands of a page, of which there are so many at least.
func testPage(t *testing.T, page string, least int) {
	text, err := os.ReadFile(filepath.Join("..", "..", "doc", "how-to", page))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	doc := string(text)
	fence := regexp.MustCompile("(?ms)(?:^`([^`\n]+)`:\n\n)?^```([a-z]*)\n(.*?)^```$")
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
		if kind != "console" {
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
			if code := execute(words[1:], &out, &errs); code != 0 {
				t.Fatalf("%s: exit code %d\n%s", command, code, errs.String())
			}
			commands++
			got := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
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
					t.Fatalf("%s: %q is not printed:\n%s", command, line, out.String())
				}
				next, skip = found+1, false
			}
			if want != "" && !skip && next < len(got) {
				t.Fatalf("%s: %q is not in the document:\n%s", command, got[next], out.String())
			}
		}
	}
	if commands < least {
		t.Errorf("only %d commands", commands)
	}
}
