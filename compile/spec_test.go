package compile

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/source"
)

// TestSpecPrograms checks the whole programs of the language's description.
func TestSpecPrograms(t *testing.T) {
	text, err := os.ReadFile("../spec.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, m := range regexp.MustCompile("(?s)```stan\n(.*?)```").FindAllStringSubmatchIndex(string(text), -1) {
		program := string(text[m[2]:m[3]])
		if strings.Contains(program, "// error=") {
			continue
		}
		n++
		line := strings.Count(string(text[:m[2]]), "\n") + 1
		for _, d := range Check(source.NewFile(fmt.Sprint("spec.md:", line), program), Options{}) {
			if d.Code != "E0901" {
				t.Error(d)
			}
		}
	}
	if n < 6 {
		t.Errorf("only %d programs", n)
	}
}
