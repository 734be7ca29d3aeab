package predict

import (
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/source"
)

// TestPlaced checks that the text of a derived program stays what it means, and that its statements
// are placed in the user's text if that has them once.
func TestPlaced(t *testing.T) {
	const user = "data {\n  int N; // size; of y\n  vector[ N ]  y;\n}\nmodel { y ~ normal(0,1); print(\"a; b\"); y ~ std_normal(); y ~ std_normal(); }\n"
	const derived = "data {\n  int N;\n}\nparameters {\n  vector[N] y;\n}\nmodel {\n  y ~ normal(0, 1);\n  y ~ std_normal();\n  real z;\n}\n"
	f := placed("u (derived)", derived, source.NewFile("u", user))
	if spaceless(f.Text) != spaceless(derived) {
		t.Errorf("the text is %q", f.Text)
	}
	for text, want := range map[string]source.Position{
		"int N;": {File: "u", Line: 2, Column: 3}, "vector[ N ]  y;": {File: "u", Line: 3, Column: 3}, "y ~ normal(0,1)": {File: "u", Line: 5, Column: 9},
		"y ~ std_normal": {File: "u (derived)", Line: 9, Column: 3}, "real z;": {File: "u (derived)", Line: 10, Column: 3}, "parameters": {File: "u (derived)", Line: 4, Column: 1},
	} {
		at := strings.Index(f.Text, text)
		if at < 0 {
			t.Errorf("%q is not in the text", text)
			continue
		}
		if got := f.Position(at); got != want {
			t.Errorf("%q is at %v, want %v", text, got, want)
		}
	}
	for _, same := range []string{"", "data { }", "x", ";;", "a = {1, 2};", "/* a", "\"a", "// a"} {
		if f := placed("d", same, source.NewFile("u", user)); f.Text != same {
			t.Errorf("%q became %q", same, f.Text)
		}
		if f := placed("d", "real q;", source.NewFile("u", same)); f.Text != "real q;" {
			t.Errorf("of %q: %q", same, f.Text)
		}
	}
}
