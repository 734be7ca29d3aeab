package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ppl-lang/ppl/lang/service"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// gated is the library of functions. It notes which names that begin with version_ are looked up,
// and holds the first of them until the gate opens.
type gated struct {
	service.Library
	gate chan struct{}

	mu    sync.Mutex
	names []string
}

func (g *gated) Lookup(name string) []types.Overload {
	if strings.HasPrefix(name, "version_") && strings.Count(name, "_") == 1 { // without suffixes that are tried
		g.mu.Lock()
		known := slices.Contains(g.names, name)
		if !known {
			g.names = append(g.names, name)
		}
		first := len(g.names) == 1
		g.mu.Unlock()
		if first && !known {
			<-g.gate
		}
	}
	return g.Library.Lookup(name)
}

// TestBurst: of two hundred versions that come while one is analysed, the newest alone is analysed.
// Requests about the others, which wait, are answered with "content modified".
func TestBurst(t *testing.T) {
	library := &gated{Library: stdlib.Language(), gate: make(chan struct{})}
	c := startWith(t, "", library)
	c.begin(t.TempDir())
	uri := "untitled:a"
	text := func(version string) string { return "model { target += version_" + version + "(1); }" }
	c.open(uri, text("1"))
	c.within("the first analysis", func() bool {
		library.mu.Lock()
		defer library.mu.Unlock()
		go func() { c.mu.Lock(); c.news.Broadcast(); c.mu.Unlock() }()
		return len(library.names) == 1
	})
	for i := range 198 {
		c.change(uri, 2+i, nil, text("x"+strings.Repeat("y", i)))
	}
	// The server may begin with a request only after the next change. Both kinds are overtaken.
	var stale []string
	for range 20 {
		stale = append(stale, c.send("textDocument/hover", at(uri, 0, 20)))
		c.ask("$/setTrace", nil) // the server has taken the changes, and the request
	}
	c.change(uri, 200, nil, text("200"))
	c.ask("$/setTrace", nil)
	close(library.gate)
	c.diagnostics(uri, func(l []Diagnostic) bool {
		return len(l) == 1 && strings.Contains(l[0].Message, "version_200")
	})
	for _, request := range stale {
		if m := c.answer(request); m.Error == nil || m.Error.Code != int(contentModified) {
			t.Errorf("a request about an overtaken version is answered %s, %+v", m.Result, m.Error)
		}
	}
	library.mu.Lock()
	defer library.mu.Unlock()
	if len(library.names) > 2 {
		t.Errorf("these versions are analysed: %v", library.names)
	}
}

// TestCompletionDoesNotWait: completion is answered while the analysis of the version is under way.
func TestCompletionDoesNotWait(t *testing.T) {
	library := &gated{Library: stdlib.Language(), gate: make(chan struct{})}
	c := startWith(t, "", library)
	c.begin(t.TempDir())
	uri := "untitled:a"
	c.open(uri, "parameters { real alpha; }\nmodel { target += ; }")
	c.diagnostics(uri, func(l []Diagnostic) bool { return len(l) == 1 })
	c.change(uri, 2, nil, "parameters { real alpha; }\nmodel { target += version_2(al; }")
	if got := c.ask("textDocument/completion", at(uri, 1, 30)); !strings.Contains(got, `"alpha"`) {
		t.Errorf("the completions are %.300s", got)
	}
	library.mu.Lock()
	seen := len(library.names)
	library.mu.Unlock()
	close(library.gate)
	if seen > 1 {
		t.Errorf("the analysis has ended, with %d names", seen)
	}
	c.end()
}

// TestStructure: calls, symbols of the workspace, selections, links, formatting while typing.
func TestStructure(t *testing.T) {
	dir := t.TempDir()
	const library = "real once(real x) {\n  return x;\n}\n"
	write(t, dir, "lib.stanfunctions", library)
	write(t, dir, "other.stan", "parameters {\n  real elsewhere;\n}\n")
	const text = `functions {
#include lib.stanfunctions
  real twice(real x) { return once(x) + once(x); }
}
parameters {
  real mu;
}
model {
  mu ~ normal(twice(1), 1);
  if (mu > 0) {
  target += twice(mu);
  }
}
`
	main := uriOf(write(t, dir, "main.stan", text))
	c := start(t, "")
	c.begin(dir)
	c.open(main, text)

	contains(t, "links", c.ask("textDocument/documentLink", in(main)), `"target":"`+uriOf(filepath.Join(dir, "lib.stanfunctions")), `"line":1,"character":9`)
	items := c.ask("textDocument/prepareCallHierarchy", at(main, 8, 16))
	contains(t, "prepare", items, `"name":"twice"`, `"line":2,"character":7`)
	var item []CallItem
	if err := json.Unmarshal([]byte(items), &item); err != nil || len(item) != 1 {
		t.Fatal(items, err)
	}
	contains(t, "incoming", c.ask("callHierarchy/incomingCalls", CallParams{item[0]}), `"name":"model"`, `"line":8,"character":14`, `"line":10,"character":12`)
	contains(t, "outgoing", c.ask("callHierarchy/outgoingCalls", CallParams{item[0]}), `"name":"once"`, "lib.stanfunctions", `"line":2,"character":30`, `"line":2,"character":40`)
	// The function is in a file that is not open; then it is open, as a part of the program.
	var once []OutgoingCall
	if err := json.Unmarshal([]byte(c.ask("callHierarchy/outgoingCalls", CallParams{item[0]})), &once); err != nil || len(once) == 0 {
		t.Fatal(once, err)
	}
	contains(t, "incoming to a closed file", c.ask("callHierarchy/incomingCalls", CallParams{once[0].To}), `"name":"twice"`)
	lib := uriOf(filepath.Join(dir, "lib.stanfunctions"))
	c.open(lib, library)
	contains(t, "incoming to an open file", c.ask("callHierarchy/incomingCalls", CallParams{once[0].To}), `"name":"twice"`)
	contains(t, "references from the included file", c.ask("textDocument/references", at(lib, once[0].To.SelectionRange.Start.Line, once[0].To.SelectionRange.Start.Character+1)), "main.stan")
	if got := c.ask("textDocument/prepareCallHierarchy", at(main, 8, 9)); got != "null" {
		t.Errorf("a distribution of the library has calls: %s", got)
	}

	found := c.ask("workspace/symbol", QueryParams{"elwh"})
	contains(t, "symbols", found, `"name":"elsewhere"`, `"containerName":"parameters"`, "other.stan")
	if strings.Contains(found, "twice") {
		t.Errorf("symbols: %s", found)
	}
	contains(t, "symbols", c.ask("workspace/symbol", QueryParams{"TWICE"}), `"name":"twice"`)
	if err := os.WriteFile(filepath.Join(dir, "other.stan"), []byte("parameters {\n  real elsewhere_else;\n}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	contains(t, "symbols", c.ask("workspace/symbol", QueryParams{"elsewhere_else"}), `"name":"elsewhere_else"`)

	selected := c.ask("textDocument/selectionRange", SelectionParams{TextDocumentIdentifier{main}, []Position{{8, 16}, {99, 0}}})
	var ranges []*SelectionRange
	if err := json.Unmarshal([]byte(selected), &ranges); err != nil || len(ranges) != 2 {
		t.Fatal(selected, err)
	}
	var parts []string
	for r := ranges[0]; r != nil; r = r.Parent {
		if r.Range.Start.Line == r.Range.End.Line {
			parts = append(parts, strings.Split(text, "\n")[r.Range.Start.Line][r.Range.Start.Character:r.Range.End.Character])
		}
	}
	if got := strings.Join(parts, " | "); got != "twice | twice(1) | mu ~ normal(twice(1), 1);" {
		t.Errorf("selections: %s", got)
	}

	// A closing brace lays out the lines from the opening one, and no others.
	typed := c.ask("textDocument/onTypeFormatting", TypedParams{TextDocumentIdentifier{main}, Position{11, 3}, "}"})
	contains(t, "typed", typed, `"newText":"    target += twice(mu);\n"`)
	if strings.Contains(typed, "twice(real") {
		t.Errorf("typed: %s", typed)
	}
	c.end()
}

// TestPull: a client that pulls diagnostics gets them on request, with those of included files, and
// is not sent them. An unchanged program is not answered again.
func TestPull(t *testing.T) {
	dir := t.TempDir()
	part := uriOf(write(t, dir, "part.stan", "real a\n"))
	main := uriOf(filepath.Join(dir, "main.stan"))
	c := start(t, "")
	c.ask("initialize", map[string]any{"processId": 1, "rootUri": uriOf(dir), "capabilities": map[string]any{"textDocument": map[string]any{"diagnostic": map[string]any{}}}})
	c.open(main, "parameters {\n#include part.stan\n}\nmodel { b ~ normal(0, 1); }\n")
	var report DiagnosticReport
	if err := json.Unmarshal([]byte(c.ask("textDocument/diagnostic", in(main))), &report); err != nil || report.Kind != "full" || report.Related[part].Items == nil {
		t.Fatalf("%+v %v", report, err)
	}
	if list := *report.Related[part].Items; len(list) != 1 || list[0].Code != "E0101" {
		t.Errorf("%+v", list)
	}
	again := in(main)
	again["previousResultId"] = report.ResultID
	contains(t, "pull", c.ask("textDocument/diagnostic", again), `"kind":"unchanged"`)
	c.change(main, 2, nil, "model { target += nothing; }\n")
	contains(t, "pull", c.ask("textDocument/diagnostic", again), `"kind":"full"`, "nothing")
	c.end()
	for _, n := range c.notices {
		if n.Method == "textDocument/publishDiagnostics" {
			t.Errorf("sent: %s", n.Params)
		}
	}
}

// TestTokenChanges: changes of tokens turn the old list into the new one.
func TestTokenChanges(t *testing.T) {
	for _, c := range [][2][]int{
		{{}, {}}, {{1, 2, 3}, {1, 2, 3}}, {{}, {1}}, {{1}, {}}, {{1, 1, 1}, {1, 1}}, {{1, 1}, {1, 1, 1, 1}}, {{1, 2, 3, 4}, {1, 9, 9, 9, 4}}, {{1, 2}, {3, 4, 5}},
	} {
		got := slices.Clone(c[0])
		for _, e := range tokenEdits(c[0], c[1]) {
			got = slices.Replace(got, e.Start, e.Start+e.DeleteCount, e.Data...)
		}
		if !slices.Equal(got, c[1]) {
			t.Errorf("%v becomes %v, not %v", c[0], got, c[1])
		}
	}
	client := start(t, "")
	client.begin(t.TempDir())
	client.open("untitled:a", model)
	var whole SemanticTokens
	if err := json.Unmarshal([]byte(client.ask("textDocument/semanticTokens/full", in("untitled:a"))), &whole); err != nil || whole.ResultID == "" {
		t.Fatal(whole, err)
	}
	client.change("untitled:a", 2, &Range{Position{13, 14}, Position{13, 15}}, "10")
	delta := in("untitled:a")
	delta["previousResultId"] = whole.ResultID
	var change SemanticTokensDelta
	if err := json.Unmarshal([]byte(client.ask("textDocument/semanticTokens/full/delta", delta)), &change); err != nil || len(change.Edits) != 1 || len(change.Edits[0].Data) > 5 {
		t.Errorf("%+v %v", change, err)
	}
	delta["previousResultId"] = "unknown"
	contains(t, "delta", client.ask("textDocument/semanticTokens/full/delta", delta), `"data":[0,0,9,0,0,`)
	client.end()
}
