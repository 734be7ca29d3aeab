package compile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestErrorsHavePlaces checks that errors of programs that cannot be evaluated have a position, at
// whatever stage they are found. Values that are too large must not be reported as sizes that do
// not match.
func TestErrorsHavePlaces(t *testing.T) {
	for text, want := range map[string]string{
		"parameters { real x; }\nmodel {\n  target += sum(rep_matrix(x, 2000000000, 2000000000));\n}": "t:3:17: error: this needs more than any computer's memory",
		"transformed data {\n  matrix[3, 3] a = rep_matrix(1, 3000000, 4000000);\n}\n":                "t:2:20: error: this needs 96 TB of memory",
	} {
		p, list := compile.Compile(source.NewFile("t", text))
		if list.HasErrors() {
			t.Fatal(list)
		}
		_, err := p.Bind(nil, compile.BindOptions{})
		var placed *compile.Error
		if !errors.As(err, &placed) || !strings.HasPrefix(placed.List[0].String(), want) {
			t.Errorf("%s\nsays: %v", text, err)
		}
	}
}
