package lang_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// specBlock is a fenced code block of spec.md.
type specBlock struct {
	line int    // line number of its first line of code
	info string // the text after the opening fence
	text string
}

func specBlocks(t *testing.T) []specBlock {
	text, err := os.ReadFile("../spec.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []specBlock
	var open *specBlock
	line := 0
	for l := range strings.Lines(string(text)) {
		line++
		info, fence := strings.CutPrefix(l, "```")
		switch {
		case fence && open == nil:
			open = &specBlock{line: line + 1, info: strings.TrimSpace(info)}
		case fence:
			out = append(out, *open)
			open = nil
		case open != nil:
			open.text += l
		}
	}
	if open != nil {
		t.Errorf("spec.md:%d: code block is not closed", open.line)
	}
	return out
}

// TestSpec parses every program in spec.md. The info string of a code block says what it is:
//
//	stan                  a whole program
//	stan fragment=BLOCK   the inside of a block, whose name is written with hyphens
//	stan run              a whole program, which a test of package compile runs
//	output                the output of the preceding program
//
// A comment `// error=CODE` in it says that the program must give an error with exactly that code.
func TestSpec(t *testing.T) {
	blocks := specBlocks(t)
	if len(blocks) < 15 {
		t.Fatalf("only %d code blocks: are they still found?", len(blocks))
	}
	errorRx := regexp.MustCompile(`// error=(\w+)`)
	for _, b := range blocks {
		text := b.text
		switch fragment, isFragment := strings.CutPrefix(b.info, "stan fragment="); {
		case isFragment:
			text = strings.ReplaceAll(fragment, "-", " ") + " {\n" + text + "}\n"
		case b.info == "stan" || b.info == "stan run":
		case b.info == "json" || b.info == "ebnf" || b.info == "output":
			continue
		default:
			t.Errorf("spec.md:%d: unknown kind of code block %q", b.line, b.info)
			continue
		}
		var want, got []string
		for _, m := range errorRx.FindAllStringSubmatch(text, -1) {
			want = append(want, m[1])
		}
		diags := parse(source.NewFile(fmt.Sprintf("spec.md:%d", b.line), text))
		for _, d := range diags {
			got = append(got, string(d.Code))
		}
		if !slices.Equal(want, got) {
			var out strings.Builder
			_ = diag.Render(&out, diags, diag.Options{})
			t.Errorf("spec.md:%d: errors %v, want %v\n%s", b.line, got, want, out.String())
		}
	}
}

// TestSpecReservedWords compares the lists of reserved words in the specification with the parser.
// It must refuse these words as names, and no other words of the specification.
func TestSpecReservedWords(t *testing.T) {
	text, err := os.ReadFile("../spec.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "These words cannot be names:")
	section, _, _ = strings.Cut(section, "\n\n**Numbers**")
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z_ ]+)`").FindAllStringSubmatch(section, -1) {
		for _, w := range strings.Fields(m[1]) {
			listed[w] = true
		}
	}
	refused := func(word string) bool {
		return parse(source.NewFile("t", "data { real "+word+"; }")).HasErrors()
	}
	for w := range listed {
		if !refused(w) {
			t.Errorf("%s is listed but may be a name", w)
		}
	}
	for _, w := range regexp.MustCompile(`\b[a-z][a-z_]*\b`).FindAllString(string(text), -1) {
		if !listed[w] && refused(w) && !strings.HasSuffix(w, "__") {
			t.Errorf("%s is refused but not listed", w)
			listed[w] = true
		}
	}
}

// TestSpecWarnings checks that the specification lists all warnings.
func TestSpecWarnings(t *testing.T) {
	text, err := os.ReadFile("../spec.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range diag.Explanations() {
		if e.Code[0] == 'W' && !strings.Contains(string(text), "\n| "+string(e.Code)+" | ") {
			t.Errorf("%s is not listed: %s", e.Code, e.Title)
		}
	}
}
