package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	brief "github.com/ppl-lang/ppl/internal/short"
)

var updateDoc = flag.Bool("update-doc", false, "write the output of commands into the pages that show it")

// TestCriticiseDoc checks that doc/how-to/criticise.md shows what its commands print: the same
// lines, perhaps with other figures and therefore in another order. The quantity with the least
// effective sample size may differ too, because draws differ between processors.
func TestCriticiseDoc(t *testing.T) {
	brief.Skip(t, "a page with a dozen runs; TestWorkflow has another")
	page, err := filepath.Abs(filepath.Join("..", "..", "doc", "how-to", "criticise.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("COLUMNS", "")
	figure := regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?( (µs|ms|s)\b)?`)
	least := regexp.MustCompile(`(Smallest effective sample size: \S+) \([^()]*\)`)
	plain := func(s string) string {
		var lines []string
		for line := range strings.Lines(figure.ReplaceAllString(least.ReplaceAllString(s, "$1"), "#")) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	commands := 0
	block := regexp.MustCompile("(?s)```([a-z]+)( [a-z.]+)?\n(.*?)```")
	out := block.ReplaceAllFunc(text, func(match []byte) []byte {
		parts := block.FindSubmatch(match)
		body := string(parts[3])
		if name := strings.TrimSpace(string(parts[2])); name != "" {
			if err := os.WriteFile(name, parts[3], 0o666); err != nil {
				t.Fatal(err)
			}
			return match
		}
		if string(parts[1]) != "console" {
			return match
		}
		got := ""
		for line := range strings.Lines(body) {
			command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ppl ")
			if !ok {
				continue
			}
			commands++
			var stdout, stderr bytes.Buffer
			if code := execute(strings.Fields(command), &stdout, &stderr); code != 0 {
				t.Errorf("ppl %s: exit code %d\n%s", command, code, &stderr)
			}
			got += "$ ppl " + command + "\n" + strings.TrimRight(stdout.String(), "\n") + "\n"
		}
		if a, b := plain(got), plain(body); a != b && !*updateDoc {
			t.Errorf("the page has\n%s\nthe commands print\n%s", body, got)
		}
		return []byte("```console\n" + got + "```")
	})
	if commands < 8 {
		t.Errorf("%d commands", commands)
	}
	if *updateDoc {
		if err := os.WriteFile(page, out, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
