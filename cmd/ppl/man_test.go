package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestManual checks that ppl man writes a page for each command and topic, with all flags, and that
// groff formats it without a warning.
func TestManual(t *testing.T) {
	dir := t.TempDir()
	if code := execute([]string{"man", dir}, io.Discard, os.Stderr); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	root := rootCommand(&checkedWriter{Writer: io.Discard})
	pages := []string{filepath.Join(dir, "man1", "ppl.1")}
	for _, cmd := range root.Commands() {
		if commandNamed(root, cmd.Name()) == nil {
			continue
		}
		path := filepath.Join(dir, "man1", "ppl-"+cmd.Name()+".1")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, path)
		shown, _ := flagsByTopic(cmd, true)
		for _, part := range shown {
			for _, f := range part.flags {
				if !strings.Contains(string(text), `\fB`+roffText("--"+f.Name)+`\fR`) {
					t.Errorf("%s has no --%s", filepath.Base(path), f.Name)
				}
			}
		}
	}
	for _, topic := range helpTopics {
		pages = append(pages, filepath.Join(dir, "man7", "ppl-"+topic.name+".7"))
	}
	if len(pages) < 40 {
		t.Errorf("only %d pages", len(pages))
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Log("the pages were not set: there is no groff")
		return
	}
	out, err := exec.Command(groff, append([]string{"-man", "-ww", "-z", "-Tutf8", "-Kutf8", "-rLL=78n"}, pages...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("groff: %v\n%s", err, out)
	}
}
