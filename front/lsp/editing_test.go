package lsp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creachadair/jrpc2"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/stdlib"
)

// longModel returns a model of n lines that includes lib.stanfunctions. Its last statement begins
// with "y ~ normal(mu" in the column 2 of the line n-2.
func longModel(n int) string {
	lines := []string{
		"functions {", "#include lib.stanfunctions", "  real twice(real x) { return once(x) + once(x); }", "}",
		"data {", "  int<lower=0> N;", "  vector[N] y;", "}",
		"parameters {", "  real mu;", "  real<lower=0> sigma;", "}",
		"model {", "  mu ~ normal(twice(1), 1);",
	}
	for len(lines) < n-1 {
		lines = append(lines, fmt.Sprintf("  y ~ normal(mu * %d + exp(sigma), sigma);", len(lines)))
	}
	return strings.Join(append(lines, "}"), "\n") + "\n"
}

// TestEditing plays a session with models of 500 and of 5,000 lines: a file is written at its end,
// and every method of the protocol that the server has is called there.
func TestEditing(t *testing.T) {
	for _, n := range []int{500, 5000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { edit(t, n) })
	}
}

func edit(t *testing.T, n int) {
	dir := t.TempDir()
	lib := uriOf(write(t, dir, "lib.stanfunctions", "real once(real x) {\n  return x;\n}\n"))
	write(t, dir, "m.data.json", `{"N": 3, "y": [1, 2, 3]}`)
	text := longModel(n)
	name := write(t, dir, "m.stan", text)
	uri, last := uriOf(name), n-2
	statement := strings.Split(text, "\n")[last]
	whole := Range{Position{last, 2}, Position{last, len(statement)}}

	c := start(t, "run")
	c.versions = true
	called := map[string]bool{"initialize": true, "initialized": true, "textDocument/didOpen": true, "textDocument/didChange": true, "shutdown": true, "exit": true}
	ask := func(method string, params any) string {
		t.Helper()
		called[method] = true
		return c.ask(method, params)
	}
	notice := func(method string, params any) {
		called[method] = true
		c.notify(method, params)
	}
	with := func(params map[string]any, name string, value any) map[string]any {
		params[name] = value
		return params
	}
	read := func(text string, into any) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%v: %.300s", err, text)
		}
	}
	c.begin(dir)
	c.open(uri, text)
	c.diagnostics(uri, func(l []Diagnostic) bool {
		return !slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity < 3 })
	})

	// Places and names.
	contains(t, "hover", ask("textDocument/hover", at(uri, last, 14)), "real mu", fmt.Sprintf(`"start":{"line":%d,"character":13}`, last))
	contains(t, "signature", ask("textDocument/signatureHelp", at(uri, last, 14)), "normal(reals mu, reals sigma)", `"activeParameter":0`)
	contains(t, "definition", ask("textDocument/definition", at(uri, last, 13)), `"line":9,"character":7`)
	contains(t, "definition in a closed file", ask("textDocument/definition", at(uri, 2, 31)), lib, `"line":0,"character":5`)
	var places []Location
	read(ask("textDocument/references", with(at(uri, last, 13), "context", map[string]any{"includeDeclaration": true})), &places)
	if len(places) != n-13 {
		t.Errorf("mu has %d references", len(places))
	}
	var highlights []DocumentHighlight
	read(ask("textDocument/documentHighlight", at(uri, last, 13)), &highlights)
	if len(highlights) != len(places) {
		t.Errorf("mu has %d highlights", len(highlights))
	}
	var links []DocumentLink
	read(ask("textDocument/documentLink", in(uri)), &links)
	if len(links) != 1 || links[0].Target != lib {
		t.Errorf("links: %+v", links)
	}

	// Renaming, with versions: of a name of this file, and of one that a closed file declares.
	contains(t, "prepareRename", ask("textDocument/prepareRename", at(uri, last, 13)), fmt.Sprintf(`"line":%d`, last))
	var edits WorkspaceEdit
	read(ask("textDocument/rename", with(at(uri, last, 13), "newName", "centre")), &edits)
	if e := edits.DocumentChanges; len(e) != 1 || len(e[0].Edits) != len(places) || e[0].TextDocument.Version == nil || *e[0].TextDocument.Version != 1 {
		t.Errorf("renaming mu: %d documents", len(e))
	}
	edits = WorkspaceEdit{}
	read(ask("textDocument/rename", with(at(uri, 2, 31), "newName", "single")), &edits)
	changed := map[string]int{}
	for _, e := range edits.DocumentChanges {
		changed[e.TextDocument.URI] = len(e.Edits)
		if (e.TextDocument.Version == nil) != (e.TextDocument.URI == lib) {
			t.Errorf("%s has the version %v", e.TextDocument.URI, e.TextDocument.Version)
		}
	}
	if changed[uri] != 2 || changed[lib] != 1 || len(changed) != 2 {
		t.Errorf("renaming once: %v", changed)
	}

	// Structure.
	var items []CallItem
	read(ask("textDocument/prepareCallHierarchy", at(uri, 2, 8)), &items)
	if len(items) != 1 {
		t.Fatalf("the hierarchy of twice begins with %+v", items)
	}
	contains(t, "incoming", ask("callHierarchy/incomingCalls", CallParams{items[0]}), `"name":"model"`, `"line":13`)
	contains(t, "outgoing", ask("callHierarchy/outgoingCalls", CallParams{items[0]}), `"name":"once"`, lib)
	contains(t, "symbols", ask("workspace/symbol", QueryParams{"once"}), lib)
	contains(t, "outline", ask("textDocument/documentSymbol", in(uri)), `"name":"sigma"`, fmt.Sprintf(`"line":%d`, n-1))
	contains(t, "folds", ask("textDocument/foldingRange", in(uri)), fmt.Sprintf(`{"startLine":12,"endLine":%d}`, n-2))
	var selections []*SelectionRange
	read(ask("textDocument/selectionRange", SelectionParams{TextDocumentIdentifier{uri}, []Position{{last, 14}}}), &selections)
	grown := 0
	found := false
	for r := selections[0]; r != nil; r = r.Parent {
		grown++
		found = found || r.Range == whole
	}
	if !found || grown < 4 {
		t.Errorf("the selection grows %d times, to the statement: %v", grown, found)
	}
	contains(t, "hints", ask("textDocument/inlayHint", in(uri)), `"= 3"`)
	contains(t, "lenses", ask("textDocument/codeLens", in(uri)), "run with m.data.json")
	var tokens, part SemanticTokens
	read(ask("textDocument/semanticTokens/full", in(uri)), &tokens)
	read(ask("textDocument/semanticTokens/range", with(in(uri), "range", whole)), &part)
	if len(part.Data) < 5*5 || len(part.Data) > 5*20 || part.Data[0] != last || len(tokens.Data) < 5*4*n {
		t.Errorf("%d numbers for tokens, %d for those of a line: %v", len(tokens.Data), len(part.Data), part.Data)
	}

	// A statement is typed after the last one, a character at a time, with a completion after each.
	typed := "  y ~ norm"
	c.change(uri, 2, &Range{Position{last, len(statement)}, Position{last, len(statement)}}, "\n")
	version := 3
	insert := func(at int, text string) {
		place := Position{last + 1, at}
		c.change(uri, version, &Range{place, place}, text)
		version++
	}
	completion := ""
	for i := range typed {
		insert(i, typed[i:i+1])
		completion = ask("textDocument/completion", at(uri, last+1, i+1))
	}
	contains(t, "completion", completion, `"newText":"normal(${1:mu}, ${2:sigma})"`)
	contains(t, "resolve", ask("completionItem/resolve", CompletionItem{Label: "normal", Data: "normal"}), "markdown")
	insert(len(typed), "al(mu,sigma)")
	list := c.diagnostics(uri, func(l []Diagnostic) bool { return len(l) > 0 && l[0].Code == "E0101" })
	if list[0].About == nil || !strings.HasSuffix(list[0].About.Href, "/codes.md#e0101") {
		t.Errorf("%+v", list[0].About)
	}
	contains(t, "fix", ask("textDocument/codeAction", map[string]any{"textDocument": in(uri)["textDocument"], "range": list[0].Range, "context": map[string]any{"diagnostics": list}}),
		`"newText":";"`, fmt.Sprintf(`"version":%d`, version-1), "codes.md#e0101")
	var report DiagnosticReport
	read(ask("textDocument/diagnostic", in(uri)), &report)
	if report.Items == nil || len(*report.Items) == 0 || (*report.Items)[0].Code != "E0101" {
		t.Errorf("pulled: %+v", report)
	}
	insert(len(typed)+len("al(mu,sigma)"), ";")
	contains(t, "layout while typing", ask("textDocument/onTypeFormatting", TypedParams{TextDocumentIdentifier{uri}, Position{last + 1, 99}, ";"}), `"newText":"  y ~ normal(mu, sigma);\n"`)
	contains(t, "layout", ask("textDocument/formatting", in(uri)), `"newText":"  y ~ normal(mu, sigma);\n"`)
	if got := ask("textDocument/rangeFormatting", with(in(uri), "range", whole)); strings.Contains(got, "normal(mu, sigma)") {
		t.Errorf("layout of another line: %.300s", got)
	}
	var delta SemanticTokensDelta
	read(ask("textDocument/semanticTokens/full/delta", with(in(uri), "previousResultId", tokens.ResultID)), &delta)
	if len(delta.Edits) != 1 || len(delta.Edits[0].Data) > 5*20 {
		t.Errorf("%d edits of tokens", len(delta.Edits))
	}
	read(ask("textDocument/diagnostic", with(in(uri), "previousResultId", report.ResultID)), &report)
	if report.Kind != "full" || slices.ContainsFunc(*report.Items, func(d Diagnostic) bool { return d.Severity < 3 }) {
		t.Errorf("pulled: %+v", report)
	}
	contains(t, "pull", ask("textDocument/diagnostic", with(in(uri), "previousResultId", report.ResultID)), `"kind":"unchanged"`)

	// Running, and the end.
	contains(t, "run", ask("workspace/executeCommand", map[string]any{"command": "ppl.run", "arguments": []any{uri}}), `"exitCode":0`)
	notice("window/workDoneProgress/cancel", map[string]any{"token": "none"})
	notice("$/cancelRequest", map[string]any{"id": 1})
	notice("$/setTrace", map[string]any{"value": "off"})
	notice("workspace/didChangeConfiguration", map[string]any{})
	notice("workspace/didChangeWatchedFiles", map[string]any{})
	notice("textDocument/didSave", in(uri))
	notice("textDocument/didClose", in(uri))
	c.diagnostics(uri, func(l []Diagnostic) bool { return len(l) == 0 })
	c.end()
	for _, m := range table() {
		if !called[m.name] && m.name != methodGone {
			t.Errorf("the session does not call %s", m.name)
		}
	}
}

// TestCancelled: requests that are cancelled while they wait for the analysis are answered with the
// protocol's code for that.
func TestCancelled(t *testing.T) {
	library := &gated{Library: stdlib.Language(), gate: make(chan struct{})}
	c := startWith(t, "", library)
	c.begin(t.TempDir())
	uri := "untitled:a"
	c.open(uri, "model { target += version_1(1); }")
	place := at(uri, 0, 20)
	place["newName"] = "x"
	var ids []string
	methods := []string{
		"textDocument/hover", "textDocument/definition", "textDocument/references", "textDocument/rename", "textDocument/prepareCallHierarchy",
		"textDocument/documentSymbol", "textDocument/semanticTokens/full", "textDocument/inlayHint", "textDocument/diagnostic", "textDocument/formatting",
	}
	for _, m := range methods {
		ids = append(ids, c.send(m, place))
	}
	for _, id := range ids {
		c.notify("$/cancelRequest", map[string]any{"id": json.RawMessage(id)})
	}
	c.ask("$/setTrace", nil) // the server has taken them
	close(library.gate)
	for i, id := range ids {
		if m := c.answer(id); m.Error == nil || m.Error.Code != -32800 {
			t.Errorf("%s: %s %+v", methods[i], m.Result, m.Error)
		}
	}
	c.end()
}

// TestCancelledEarly: a call that is cancelled before its handler runs, for which jrpc2 has another
// code, is answered with the protocol's code, too.
func TestCancelledEarly(t *testing.T) {
	out := &sent{}
	answer := `{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"context canceled"}}`
	if err := newFraming(strings.NewReader(""), out).Send(fmt.Appendf(nil, answer, jrpc2.Cancelled)); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf(answer, -32800); !strings.HasSuffix(out.String(), "\r\n\r\n"+want) {
		t.Errorf("sent %q, want %s", out, want)
	}
}

// sent is what a server sends.
type sent struct{ strings.Builder }

func (*sent) Close() error { return nil }

// TestCodeLinks: the page of codes, to which diagnostics lead, has a heading for every code.
func TestCodeLinks(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "doc", "reference", "codes.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range diag.Explanations() {
		d := Diagnostic{Code: string(e.Code)}
		d.explain()
		_, anchor, _ := strings.Cut(d.About.Href, "/doc/reference/codes.md#")
		if anchor == "" || !strings.Contains(string(page), "\n### "+strings.ToUpper(anchor)+"\n") {
			t.Errorf("%s: no heading for %s", e.Code, d.About.Href)
		}
	}
}
