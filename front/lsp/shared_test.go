package lsp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// codes lists the codes of diagnostics.
func codes(list []Diagnostic) string {
	var out []string
	for _, d := range list {
		out = append(out, d.Code)
	}
	return strings.Join(out, " ")
}

// TestSharedInclude: a file that two programs include keeps its diagnostics when one of them is
// closed, or no longer includes it, and loses them with the last.
func TestSharedInclude(t *testing.T) {
	dir := t.TempDir()
	part := uriOf(write(t, dir, "part.stan", "real shared\n"))
	const text = "parameters {\n#include part.stan\n}\nmodel {\n  shared ~ normal(0, 1);\n}\n"
	var uris []string
	for _, name := range []string{"a.stan", "b.stan", "c.stan"} {
		uris = append(uris, uriOf(write(t, dir, name, text)))
	}
	broken := func(l []Diagnostic) bool { return codes(l) == "E0101" } // once, not once for each program
	fine := func(l []Diagnostic) bool { return len(l) == 0 }
	c := start(t, "")
	c.begin(dir)
	for _, uri := range uris {
		c.open(uri, text)
	}
	// sent changes a program, adds a misspelt name, and waits for the message about it. Those about
	// included files are sent with it.
	sent := func(uri string, version int, text string) {
		name := fmt.Sprintf("nothing_%d", version)
		c.change(uri, version, nil, text+"generated quantities { real x = "+name+"; }\n")
		c.diagnostics(uri, func(l []Diagnostic) bool {
			return slices.ContainsFunc(l, func(d Diagnostic) bool { return strings.Contains(d.Message, name) })
		})
		c.ask("$/setTrace", nil)
	}
	for i, uri := range uris {
		sent(uri, 10+i, text)
	}
	c.diagnostics(part, broken)
	c.notify("textDocument/didClose", in(uris[0]))
	c.ask("$/setTrace", nil)
	c.diagnostics(part, broken)
	sent(uris[1], 20, "")
	c.diagnostics(part, broken)
	c.notify("textDocument/didClose", in(uris[2]))
	c.diagnostics(part, fine)
	c.end()
}

// TestClosedInclude: when an included document is closed without saving, the programs that include
// it are analysed again, with the file.
func TestClosedInclude(t *testing.T) {
	dir := t.TempDir()
	part := uriOf(write(t, dir, "part.stan", "real shared;\n"))
	const text = "parameters {\n#include part.stan\n}\nmodel {\n  shared ~ normal(0, 1);\n}\n"
	main := uriOf(write(t, dir, "main.stan", text))
	undeclared := func(l []Diagnostic) bool {
		return slices.ContainsFunc(l, func(d Diagnostic) bool { return strings.Contains(d.Message, "`shared` is not declared") })
	}
	c := start(t, "")
	c.begin(dir)
	c.open(part, "real other;\n")
	c.open(main, text)
	c.diagnostics(main, undeclared)
	c.notify("textDocument/didClose", in(part))
	c.diagnostics(main, func(l []Diagnostic) bool { return len(l) == 0 })
	// The part alone is analysed as a part of a file that is not open. When it is closed, what was
	// sent about that file is withdrawn, too.
	c.notify("textDocument/didClose", in(main))
	c.open(part, "real other;\n")
	c.diagnostics(main, undeclared)
	c.notify("textDocument/didClose", in(part))
	c.diagnostics(main, func(l []Diagnostic) bool { return len(l) == 0 })
	c.end()
}

// TestPullChangedFiles: a pull sees that an included file has changed, gone or come on disk,
// although the client does not report it, and that a part without diagnostics has none.
func TestPullChangedFiles(t *testing.T) {
	dir := t.TempDir()
	name := write(t, dir, "part.stan", "real shared\n")
	main := uriOf(filepath.Join(dir, "main.stan"))
	c := start(t, "")
	c.ask("initialize", map[string]any{"processId": 1, "rootUri": uriOf(dir), "capabilities": map[string]any{"textDocument": map[string]any{"diagnostic": map[string]any{}}}})
	c.open(main, "parameters {\n#include part.stan\n}\nmodel {\n  shared ~ normal(0, 1);\n}\n")
	last := ""
	pull := func() DiagnosticReport {
		t.Helper()
		var report DiagnosticReport
		p := in(main)
		p["previousResultId"] = last
		if err := json.Unmarshal([]byte(c.ask("textDocument/diagnostic", p)), &report); err != nil {
			t.Fatal(err)
		}
		last = report.ResultID
		return report
	}
	related := func(r DiagnosticReport) string {
		if r.Related[uriOf(name)].Items == nil {
			return "nothing"
		}
		return codes(*r.Related[uriOf(name)].Items)
	}
	if r := pull(); related(r) != "E0101" {
		t.Errorf("%+v", r)
	}
	write(t, dir, "part.stan", "real shared;\n")
	if r := pull(); r.Kind != "full" || related(r) != "" || len(*r.Items) > 0 {
		t.Errorf("a fixed part: %+v", r)
	}
	if r := pull(); r.Kind != "unchanged" {
		t.Errorf("nothing has changed: %+v", r)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if r := pull(); r.Kind != "full" || len(*r.Items) == 0 {
		t.Errorf("a part that is gone: %+v", r)
	}
	write(t, dir, "part.stan", "real shared;\n")
	if r := pull(); r.Kind != "full" || len(*r.Items) > 0 {
		t.Errorf("a part that has come: %+v", r)
	}
	c.end()
}

// TestTokenDeltas: after random edits, some of which break the program, the tokens that a client
// keeps up to date by deltas equal all tokens.
func TestTokenDeltas(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := start(t, "")
	c.begin(t.TempDir())
	uri := "untitled:a"
	text := []rune(model)
	c.open(uri, string(text))
	var kept SemanticTokens
	if err := json.Unmarshal([]byte(c.ask("textDocument/semanticTokens/full", in(uri))), &kept); err != nil {
		t.Fatal(err)
	}
	pieces := []string{"", "x", "real ", "}", "{", "\n", "/* ", "*/", "// é\n", "1.5", "\"", "mu", "😀", "functions {"}
	changed := 0
	for version := 2; version < 60; version++ {
		from := rng.IntN(len(text) + 1)
		to := min(len(text), from+rng.IntN(4))
		text = slices.Concat(text[:from], []rune(pieces[rng.IntN(len(pieces))]), text[to:])
		c.change(uri, version, nil, string(text))
		p := in(uri)
		p["previousResultId"] = kept.ResultID
		var answer struct {
			SemanticTokensDelta
			Data []int `json:"data"`
		}
		if err := json.Unmarshal([]byte(c.ask("textDocument/semanticTokens/full/delta", p)), &answer); err != nil || answer.Edits == nil {
			t.Fatalf("%+v %v", answer, err)
		}
		if len(answer.Edits) > 0 {
			changed++
		}
		for _, e := range answer.Edits {
			kept.Data = slices.Replace(kept.Data, e.Start, e.Start+e.DeleteCount, e.Data...)
		}
		var whole SemanticTokens
		if err := json.Unmarshal([]byte(c.ask("textDocument/semanticTokens/full", in(uri))), &whole); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(kept.Data, whole.Data) {
			t.Fatalf("version %d: by deltas %v, all %v\n%s", version, kept.Data, whole.Data, string(text))
		}
		kept.ResultID = whole.ResultID
	}
	if changed < 20 {
		t.Errorf("only %d edits changed tokens", changed)
	}
	c.end()
}
