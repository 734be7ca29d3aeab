package compile

import (
	"errors"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestCodeExamples binds the examples of the codes that binding reports. The example must be
// refused with exactly that code, and its fixed form must pass.
func TestCodeExamples(t *testing.T) {
	for _, e := range diag.Explanations() {
		if e.File != "codes_bind.go" || e.Example == "" {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			if list := bindText(t, e.Example); len(list) == 0 || list[0].Code != e.Code {
				t.Errorf("the example gives %v, want %s", list, e.Code)
			}
			if list := bindText(t, e.Fixed); len(list) > 0 {
				t.Errorf("the fixed example gives %v", list)
			}
		})
	}
}

// bindText binds a program whose first line may hold its data in a comment.
func bindText(t *testing.T, text string) diag.List {
	t.Helper()
	prog, list := Compile(source.NewFile("example.model", text))
	if list.HasErrors() {
		return list.Errors()
	}
	set := data.Empty()
	if line, ok := strings.CutPrefix(strings.SplitN(text, "\n", 2)[0], "// "); ok && strings.HasPrefix(line, "{") {
		var err error
		if set, err = data.ParseJSON("example.json", []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := prog.Bind(set, BindOptions{})
	if err == nil {
		err = m.Impossible()
	}
	var refused *Error
	if err != nil && !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if refused == nil {
		return m.SlowLoops()
	}
	return refused.List
}
