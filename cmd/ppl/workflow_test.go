package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWorkflow checks that the commands on pages print what the pages show, apart from digits and
// blanks. The commands of a page run one after another in a folder with the files of the page. A
// page after a plus sign continues in the folder of the page before it. A line "…" stands for any
// lines. Commands in blocks of the kind console-error must end with exit code 1. The output of a
// command is its standard output or, if that is empty, its standard error. -update-doc writes the
// figures of this machine into the pages.
func TestWorkflow(t *testing.T) {
	for pages, commands := range map[string]int{
		"how-to/workflow+how-to/report": 16 + 2, "reference/configuration": 1, "how-to/decisions": 13, "how-to/data": 7, "how-to/missing-values": 6, "how-to/censored-values": 5, "how-to/tempering": 1, "how-to/effects": 9, "how-to/evidence": 3, "how-to/select": 3, "how-to/pharmacometrics": 6, "how-to/discrete": 9, "how-to/sparse-matrices": 2, "how-to/ragged-arrays": 3,
		"tutorials/first-model": 5, "tutorials/csv-to-decision": 5, "tutorials/does-not-fit": 8,
		"tutorials/table-to-model": 12, "tutorials/series-with-holes": 4,
		"tutorials/counts-with-zeros": 6, "tutorials/survival": 6, "tutorials/meta-analysis": 3, "tutorials/dose-response": 3,
		"tutorials/item-response": 4, "tutorials/missing-covariates": 4,
	} {
		if testing.Short() && pages != "tutorials/first-model" {
			continue // every page must have commands
		}
		t.Run(pages, func(t *testing.T) {
			root, err := filepath.Abs(filepath.Join("..", "..", "doc"))
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			n := 0
			for page := range strings.SplitSeq(pages, "+") {
				n += testPage(t, filepath.Join(root, filepath.FromSlash(page)+".md"))
			}
			if n < commands {
				t.Errorf("only %d commands", n)
			}
		})
	}
}

// testPage runs the commands of a page in the current folder, and returns their number.
func testPage(t *testing.T, page string) (commands int) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	updated := doc
	fence := regexp.MustCompile("(?ms)(?:^`([^`\n]+)`:\n\n)?^```([a-z-]*)\n(.*?)^```$")
	digits := regexp.MustCompile(`-?\d+(\.\d+)?`)
	mask := func(s string) string {
		return strings.Join(strings.Fields(digits.ReplaceAllString(s, "#")), " ")
	}
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
		now := "" // the block as the commands print it now
		for i, part := range strings.Split("\n"+body, "\n$ ") {
			if i == 0 {
				continue
			}
			command, want, _ := strings.Cut(part, "\n")
			words := shellFields(command)
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
			now += "$ " + command + "\n"
			for line := range strings.Lines(want) {
				line = strings.TrimRight(line, "\n")
				if line == "…" {
					skip = true
					now += line + "\n"
					continue
				}
				found := next
				for found < len(got) && mask(got[found]) != mask(line) && skip {
					found++
				}
				if found == len(got) || mask(got[found]) != mask(line) {
					t.Fatalf("%s: %q is not printed:\n%s", command, line, printed)
				}
				now += strings.TrimRight(got[found], " ") + "\n"
				next, skip = found+1, false
			}
			if want != "" && !skip && next < len(got) {
				t.Fatalf("%s: %q is not in the document:\n%s", command, got[next], printed)
			}
		}
		updated = strings.Replace(updated, "```"+kind+"\n"+body+"```", "```"+kind+"\n"+now+"```", 1)
	}
	if *updateDoc {
		if err := os.WriteFile(page, []byte(updated), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return commands
}

// shellFields splits a command at blanks outside single quotes.
func shellFields(command string) (words []string) {
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}
