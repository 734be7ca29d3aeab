package errtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

func TestCompare(t *testing.T) {
	const text = `a /* ERROR "one" */ <= // WARNING "two"
b /* ERROR "x" */ /* ERROR "y" */ "s" // ERROR ` + "`E0[1]`" + `
/* an ordinary comment */ c`
	f := source.NewFile("f", text)
	at := func(token string, code diag.Code, summary string) diag.Diagnostic {
		i := strings.Index(text, token)
		return diag.Errorf(code, source.Span{File: f, Start: i, End: i + len(token)}, "%s", summary)
	}
	two := at("<=", "", "two")
	two.Severity = diag.Warning
	after := at("b", "", "y")
	after.Span.Start++ // the position just after the token
	all := diag.List{at("b", "", "x"), after, at("a", "", "one"), two, at("\"s\"", "E01", "z")}

	if got := compare(f, all); len(got) != 0 {
		t.Errorf("all are there, but: %q", got)
	}
	if got := fmt.Sprint(compare(f, all[:4])); got != `[f:2:35: missing error matching "E0[1]"]` {
		t.Error(got)
	}
	for _, extra := range []diag.Diagnostic{
		at("c", "", "one"), // no comment
		at("a", "", "one"), // expected once only
		diag.Errorf("", source.Span{}, "nowhere"),
	} {
		if got := compare(f, append(all[:5:5], extra)); len(got) != 1 {
			t.Errorf("%s: %q", extra, got)
		}
	}
	wrong := append(diag.List{}, all...)
	wrong[3].Severity = diag.Error
	if got := compare(f, wrong); len(got) != 2 {
		t.Errorf("an error instead of a warning: %q", got)
	}
	for _, bad := range []string{`a // ERROR one`, `a // ERROR "("`, "a /* see ERROR */"} {
		if got := compare(source.NewFile("f", bad), nil); len(got) != 1 {
			t.Errorf("%s: %q", bad, got)
		}
	}
}

func TestChunks(t *testing.T) {
	chunks := Chunks("f", "a\n---\nb\n---\nc")
	if len(chunks) != 3 || chunks[2].Text != "\n\n\n\nc" {
		t.Errorf("%+v", chunks)
	}
}
