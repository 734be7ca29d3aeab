package compile_test

import (
	"os"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestSpec checks every complete program of spec.md with the library, and runs the marked ones. A
// block `stan run` is bound to no data, and must print the text of the block `output` after it.
func TestSpec(t *testing.T) {
	text, err := os.ReadFile("../spec.md")
	if err != nil {
		t.Fatal(err)
	}
	type block struct{ info, text string }
	var blocks []block
	for i, part := range strings.Split(string(text), "\n```") {
		if i%2 == 1 {
			info, body, _ := strings.Cut(part, "\n")
			blocks = append(blocks, block{strings.TrimSpace(info), body + "\n"})
		}
	}
	programs, run := 0, 0
	for i, b := range blocks {
		if b.info != "stan" && b.info != "stan run" || strings.Contains(b.text, "// error=") {
			continue
		}
		programs++
		f := source.NewFile("spec.md", b.text)
		if list := compile.Check(f, compile.Options{}).Errors(); len(list) > 0 {
			t.Errorf("%s\nof\n%s", list[0], b.text)
			continue
		}
		if b.info == "stan" {
			continue
		}
		run++
		program, list := compile.Compile(f)
		if list.HasErrors() {
			t.Errorf("%s\nof\n%s", list.Errors()[0], b.text)
			continue
		}
		var out strings.Builder
		print := func(s string) { out.WriteString(strings.TrimSuffix(s, "\n") + "\n") }
		if _, err := program.Bind(nil, compile.BindOptions{Print: print}); err != nil {
			t.Errorf("%v\nof\n%s", err, b.text)
			continue
		}
		if i+1 == len(blocks) || blocks[i+1].info != "output" {
			t.Errorf("no block `output` follows\n%s", b.text)
			continue
		}
		if want := blocks[i+1].text; out.String() != want {
			t.Errorf("printed\n%swant\n%sof\n%s", out.String(), want, b.text)
		}
	}
	if programs < 8 || run < 4 {
		t.Errorf("only %d programs, %d run: are they still found?", programs, run)
	}
}

// TestArgumentNames checks that a message about the number of arguments names them.
func TestArgumentNames(t *testing.T) {
	f := source.NewFile("t", "parameters {\n  real x;\n}\nmodel {\n  x ~ normal(0);\n}\n")
	list := compile.Check(f, compile.Options{}).Errors()
	const want = "its arguments are mu, the location parameter; sigma, the scale parameter"
	if len(list) != 1 || list[0].Fix != want {
		t.Errorf("got %v, want the advice %q", list, want)
	}
}
