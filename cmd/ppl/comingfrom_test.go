package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Commands and options that the pages for users of other programs name are there.
func TestPagesForOthers(t *testing.T) {
	code := regexp.MustCompile("`[^`\n]+`|(?m)^    .+$")
	command := regexp.MustCompile(`\bppl ([a-z]+)\b([^|&]*)`)
	option := regexp.MustCompile(`--([a-z][a-z-]*[a-z])`)
	helps := map[string]string{}
	help := func(name string) string {
		if h, ok := helps[name]; ok {
			return h
		}
		var out, told bytes.Buffer
		if code := execute([]string{name, "--help"}, &out, &told); code != 0 || !strings.Contains(out.String(), "ppl "+name) {
			t.Errorf("there is no command ppl %s: %s", name, told.String())
		}
		helps[name] = out.String()
		return out.String()
	}
	for _, page := range []string{"how-to/coming-from.md", "reference/formats.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "doc", page))
		if err != nil {
			t.Fatal(err)
		}
		named := 0
		for _, snippet := range code.FindAllString(string(text), -1) {
			name, rest := "run", snippet // options by themselves are those of run
			if m := command.FindStringSubmatch(snippet); m != nil && m[1] != "help" {
				name, rest = m[1], m[2]
				help(name)
				named++
			} else if !strings.HasPrefix(snippet, "`--") {
				continue
			}
			for _, o := range option.FindAllStringSubmatch(rest, -1) {
				if !strings.Contains(help(name), "--"+o[1]) {
					t.Errorf("%s: ppl %s has no option --%s (%s)", page, name, o[1], snippet)
				}
			}
		}
		if named < 5 {
			t.Errorf("%s: %d commands were found", page, named)
		}
	}
}
