package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/lang/service"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib"
)

// TestMain lets the test program play the role of ppl when the server runs a model.
func TestMain(m *testing.M) {
	switch os.Getenv("PPL_LSP_TEST") {
	case "":
		os.Exit(m.Run())
	case "forever":
		fmt.Fprintln(os.Stderr, "chain 1: iteration 1")
		time.Sleep(time.Hour)
	case "flood":
		line := strings.Repeat("x", 999) + "\n"
		for range 20_000 {
			io.WriteString(os.Stdout, line)
		}
	case "check":
		fmt.Println(`{"schema_version":1,"messages":[{"severity":"error","code":"E0602","summary":"y has 2 values, but N is 3","help":"give more","file":"m.data.json","line":1,"column":9,"endLine":1,"endColumn":10}]}`)
		os.Exit(1)
	case "run":
		model, _ := io.ReadAll(os.Stdin)
		fmt.Println(strings.Join(os.Args[1:], " "), len(model))
	case "session":
		for i, a := range os.Args {
			if a == "--out" && os.Args[1] == "run" {
				os.Mkdir(os.Args[i+1], 0o777)
			} else if a == "--out" {
				os.WriteFile(os.Args[i+1], []byte("<html>"), 0o666)
			}
		}
	case "garbage":
		fmt.Println("no JSON")
		os.Exit(2)
	}
}

// client sends requests to a server as an editor does.
type client struct {
	t      testing.TB
	out    io.WriteCloser
	in     *bufio.Reader
	id     int
	served chan error

	versions bool // supports edits that name the versions of documents

	mu       sync.Mutex
	news     *sync.Cond
	answers  map[string]message
	notices  []message
	requests []message // requests from the server, answered with null
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// start starts a session. The test program plays the role of ppl in the mode plays.
func start(t testing.TB, plays string) *client { return startWith(t, plays, stdlib.Language()) }

// startWith is start with another library of functions.
func startWith(t testing.TB, plays string, library service.Library) *client {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	c := &client{t: t, out: toServer, in: bufio.NewReader(fromServer), served: make(chan error, 1), answers: map[string]message{}}
	c.news = sync.NewCond(&c.mu)
	go func() {
		c.served <- Serve(context.Background(), fromClient, toClient, Options{
			Library: library, Version: "test", Log: t.Output(),
			Command: func(ctx context.Context, args ...string) *exec.Cmd {
				cmd := exec.CommandContext(ctx, os.Args[0], args...)
				cmd.Env = append(os.Environ(), "PPL_LSP_TEST="+plays)
				return cmd
			},
		})
	}()
	go c.read()
	t.Cleanup(func() { toServer.Close() })
	return c
}

func (c *client) read() {
	for {
		length := 0
		for {
			line, err := c.in.ReadString('\n')
			if err != nil {
				return
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				length, _ = strconv.Atoi(n)
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(c.in, body); err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(body, &m); err != nil {
			c.t.Errorf("the server sent %q", body)
			return
		}
		c.mu.Lock()
		switch {
		case m.Method == "":
			c.answers[string(m.ID)] = m
		case m.ID == nil:
			c.notices = append(c.notices, m)
		default:
			c.requests = append(c.requests, m)
			go c.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":null}`, m.ID))
		}
		c.news.Broadcast()
		c.mu.Unlock()
	}
}

func (c *client) raw(body string) {
	fmt.Fprintf(c.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

func (c *client) send(method string, params any) string {
	c.mu.Lock()
	c.id++
	id := strconv.Itoa(c.id)
	c.mu.Unlock()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	c.raw(string(body))
	return id
}

// within waits until a condition holds, under the lock.
func (c *client) within(what string, ok func() bool) {
	c.t.Helper()
	timer := time.AfterFunc(30*time.Second, func() { c.mu.Lock(); c.news.Broadcast(); c.mu.Unlock() })
	defer timer.Stop()
	begin := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !ok() {
		if time.Since(begin) > 29*time.Second {
			c.t.Fatalf("%s did not come", what)
		}
		c.news.Wait()
	}
}

func (c *client) answer(id string) (m message) {
	c.t.Helper()
	c.within("the answer to "+id, func() bool { var ok bool; m, ok = c.answers[id]; return ok })
	return m
}

// ask sends a request and returns the result as text.
func (c *client) ask(method string, params any) string {
	c.t.Helper()
	m := c.answer(c.send(method, params))
	if m.Error != nil {
		c.t.Fatalf("%s: %s", method, m.Error.Message)
	}
	return string(m.Result)
}

// refused sends a request that must fail, and returns the error.
func (c *client) refused(method string, params any) (int, string) {
	c.t.Helper()
	m := c.answer(c.send(method, params))
	if m.Error == nil {
		c.t.Fatalf("%s gives %s", method, m.Result)
	}
	return m.Error.Code, m.Error.Message
}

func (c *client) notify(method string, params any) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	c.raw(string(body))
}

// begin initializes the session.
func (c *client) begin(root string) string {
	out := c.ask("initialize", map[string]any{
		"processId": 1, "rootUri": uriOf(root), "capabilities": map[string]any{
			"window":       map[string]any{"workDoneProgress": true},
			"textDocument": map[string]any{"completion": map[string]any{"completionItem": map[string]any{"snippetSupport": true}}},
			"workspace":    map[string]any{"workspaceEdit": map[string]any{"documentChanges": c.versions}, "didChangeWatchedFiles": map[string]any{"dynamicRegistration": true}},
		},
		"initializationOptions": map[string]any{"runSeconds": 20},
	})
	c.notify("initialized", map[string]any{})
	return out
}

func (c *client) open(uri, text string) {
	c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "stan", "version": 1, "text": text}})
}

// change replaces a range of a document, or the whole text if r is nil.
func (c *client) change(uri string, version int, r *Range, text string) {
	change := map[string]any{"text": text}
	if r != nil {
		change["range"] = r
	}
	c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": version}, "contentChanges": []any{change}})
}

// diagnostics waits until the last diagnostics of a document satisfy ok.
func (c *client) diagnostics(uri string, ok func([]Diagnostic) bool) []Diagnostic {
	c.t.Helper()
	var last []Diagnostic
	c.within("diagnostics of "+uri, func() bool {
		for i := len(c.notices) - 1; i >= 0; i-- {
			var p PublishDiagnosticsParams
			if c.notices[i].Method != "textDocument/publishDiagnostics" || json.Unmarshal(c.notices[i].Params, &p) != nil || p.URI != uri {
				continue
			}
			last = p.Diagnostics
			return ok(last)
		}
		return false
	})
	return last
}

func (c *client) told(method, text string) {
	c.t.Helper()
	c.within(method+" with "+text, func() bool {
		for _, m := range c.notices {
			if m.Method == method && strings.Contains(string(m.Params), text) {
				return true
			}
		}
		return false
	})
}

// end ends the session with shutdown and exit.
func (c *client) end() {
	c.t.Helper()
	c.ask("shutdown", nil)
	c.notify("exit", nil)
	c.ended(nil)
}

func (c *client) ended(want error) error {
	c.t.Helper()
	select {
	case err := <-c.served:
		if want == nil && err != nil {
			c.t.Errorf("the session ends with %v", err)
		}
		return err
	case <-time.After(20 * time.Second):
		c.t.Fatal("the server does not end")
	}
	return nil
}

func at(uri string, line, character int) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": uri}, "position": Position{line, character}}
}

func in(uri string) map[string]any { return map[string]any{"textDocument": map[string]any{"uri": uri}} }

const model = `functions {
  real twice(real x) { return 2 * x; } // 😀 doubles
}
data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  /* 😀😀 */ y ~ normal(mu, sigma);
  mu ~ normal(0, twice(1));
}
`

func contains(t *testing.T, what, got string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(got, w) {
			t.Errorf("%s: %.3000s lacks %s", what, got, w)
		}
	}
}

// TestSession plays an editor's session, with every kind of request.
func TestSession(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "m.data.json", `{"N": 3, "y": [1, 2, 3]}`)
	uri := uriOf(filepath.Join(dir, "m.stan"))
	c := start(t, "run")
	caps := c.begin(dir)
	contains(t, "capabilities", caps, `"hoverProvider":true`, `"renameProvider":{"prepareProvider":true}`, `"tokenTypes":["keyword"`, `"positionEncoding":"utf-16"`)
	c.open(uri, model)
	if list := c.diagnostics(uri, func([]Diagnostic) bool { return true }); len(list) > 0 && list[0].Severity < 3 {
		t.Errorf("%+v", list)
	}
	// The emoji is four code units before the y of line 12.
	contains(t, "hover", c.ask("textDocument/hover", at(uri, 12, 13)), `vector[N] y`, `of shape [N] = [3]`, `"start":{"line":12,"character":13}`)
	contains(t, "hover", c.ask("textDocument/hover", at(uri, 12, 19)), "the normal distribution", "exp(-((y - mu) / sigma)^2 / 2)")
	contains(t, "hover", c.ask("textDocument/hover", at(uri, 13, 18)), `real twice(real x)`, "doubles")
	contains(t, "completion", c.ask("textDocument/completion", at(uri, 12, 17)), `"label":"poisson_log"`, `"newText":"normal(${1:mu}, ${2:sigma})"`, `"insertTextFormat":2`)
	contains(t, "resolve", c.ask("completionItem/resolve", CompletionItem{Label: "normal", Data: "normal"}), `"documentation":{"kind":"markdown"`)
	contains(t, "signature", c.ask("textDocument/signatureHelp", at(uri, 12, 28)), `"normal(reals mu, reals sigma)"`, `"activeParameter":1`, "must be positive")
	contains(t, "definition", c.ask("textDocument/definition", at(uri, 12, 13)), `{"start":{"line":5,"character":12},"end":{"line":5,"character":13}}`)
	contains(t, "references", c.ask("textDocument/references", at(uri, 8, 7)), `"line":8`, `"line":12`, `"line":13`)
	noDeclaration := at(uri, 8, 7)
	noDeclaration["context"] = map[string]any{"includeDeclaration": false}
	if got := c.ask("textDocument/references", noDeclaration); strings.Contains(got, `"line":8`) {
		t.Errorf("references: %s", got)
	}
	contains(t, "highlight", c.ask("textDocument/documentHighlight", at(uri, 8, 7)), `"kind":3`, `"kind":2`)
	contains(t, "prepareRename", c.ask("textDocument/prepareRename", at(uri, 8, 7)), `"start":{"line":8,"character":7}`)
	rename := at(uri, 8, 7)
	rename["newName"] = "location"
	contains(t, "rename", c.ask("textDocument/rename", rename), `"newText":"location"`, `"line":12,"character":24`)
	rename["newName"] = "sigma"
	if code, text := c.refused("textDocument/rename", rename); code != -32803 || !strings.Contains(text, "sigma") {
		t.Errorf("%d %s", code, text)
	}
	contains(t, "symbols", c.ask("textDocument/documentSymbol", in(uri)), `"name":"transformed`[:7], `"name":"twice"`, `"name":"parameters"`, `"detail":"real\u003clower=0\u003e"`)
	contains(t, "folding", c.ask("textDocument/foldingRange", in(uri)), `{"startLine":3,"endLine":5}`)
	contains(t, "tokens", c.ask("textDocument/semanticTokens/full", in(uri)), `"data":[0,0,9,0,0,`)
	part := in(uri)
	part["range"] = Range{Position{8, 0}, Position{8, 9}}
	contains(t, "tokens", c.ask("textDocument/semanticTokens/range", part), `{"data":[8,2,4,1,0,0,5,2,6,9]}`)
	contains(t, "hints", c.ask("textDocument/inlayHint", map[string]any{"textDocument": in(uri)["textDocument"], "range": Range{Position{0, 0}, Position{99, 0}}}), `"= 3"`, `": [3]"`)
	contains(t, "lens", c.ask("textDocument/codeLens", in(uri)), `"run with m.data.json"`, `"command":"ppl.check"`)
	contains(t, "run", c.ask("workspace/executeCommand", map[string]any{"command": "ppl.run", "arguments": []any{uri}}),
		"run - --out", "fit --include-path", "m.data.json", strconv.Itoa(len(model)), `"exitCode":0`)
	c.told("$/progress", `"kind":"begin"`)
	c.told("$/progress", `"kind":"end"`)

	// Type an incomplete statement; the rest of the file is still analysed.
	c.change(uri, 2, &Range{Position{13, 2}, Position{13, 27}}, "target += twic")
	list := c.diagnostics(uri, func(l []Diagnostic) bool { return len(l) > 0 && l[0].Severity == 1 })
	if list[0].Code != "E0101" || list[0].Data == nil || list[0].Data.Example == "" {
		t.Errorf("%+v", list[0])
	}
	contains(t, "completion", c.ask("textDocument/completion", at(uri, 13, 16)), `"label":"twice"`, `{"start":{"line":13,"character":12},"end":{"line":13,"character":16}}`)
	contains(t, "hover", c.ask("textDocument/hover", at(uri, 12, 13)), `vector[N] y`)
	fix := c.ask("textDocument/codeAction", map[string]any{"textDocument": in(uri)["textDocument"], "range": list[0].Range, "context": map[string]any{"diagnostics": list}})
	contains(t, "fix", fix, `"newText":";"`, `"kind":"quickfix"`, `"isPreferred":true`)
	if got := c.ask("textDocument/codeAction", map[string]any{"textDocument": in(uri)["textDocument"], "range": list[0].Range, "context": map[string]any{"only": []string{"refactor"}}}); got != "[]" {
		t.Errorf("%s", got)
	}
	if got := c.ask("textDocument/formatting", in(uri)); got != "null" {
		t.Errorf("a half-written text is laid out: %s", got)
	}
	// Complete the statement, without the usual layout.
	c.change(uri, 3, &Range{Position{13, 16}, Position{13, 16}}, "e( mu );")
	contains(t, "format", c.ask("textDocument/formatting", in(uri)), `"newText":"  target += twice(mu);\n"`)
	part["range"] = Range{Position{0, 0}, Position{3, 0}}
	if got := c.ask("textDocument/rangeFormatting", part); strings.Contains(got, "twice(mu)") {
		t.Errorf("%s", got)
	}
	// Editors sometimes request positions beyond the end of a line or of the text.
	c.ask("textDocument/hover", at(uri, 13, 1000))
	c.ask("textDocument/completion", at(uri, 1000, 0))
	c.notify("textDocument/didSave", in(uri))
	c.notify("textDocument/didClose", in(uri))
	c.diagnostics(uri, func(l []Diagnostic) bool { return len(l) == 0 })
	c.end()
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestIncludes tests included files: open, on disk, changed, missing; and parts without a program
// that includes them.
func TestIncludes(t *testing.T) {
	dir := t.TempDir()
	lib := write(t, dir, "lib.stanfunctions", "real f(real x) {\n  return x;\n}\n")
	part := write(t, dir, "part.stan", "real shared;\n")
	main := write(t, dir, "main.stan", "functions {\n#include lib.stanfunctions\n}\nparameters {\n#include part.stan\n}\nmodel {\n  shared ~ normal(f(0), 1);\n}\n")
	text, _ := os.ReadFile(main)
	c := start(t, "")
	c.begin(dir)
	c.open(uriOf(main), string(text))
	c.diagnostics(uriOf(main), func(l []Diagnostic) bool { return len(l) == 0 || l[0].Severity > 1 })
	contains(t, "definition", c.ask("textDocument/definition", at(uriOf(main), 7, 3)), uriOf(part))
	contains(t, "definition", c.ask("textDocument/definition", at(uriOf(main), 7, 18)), uriOf(lib), `"line":0,"character":5`)
	contains(t, "definition", c.ask("textDocument/definition", at(uriOf(main), 4, 12)), uriOf(part))
	rename := at(uriOf(main), 7, 3)
	rename["newName"] = "common"
	contains(t, "rename", c.ask("textDocument/rename", rename), uriOf(part), uriOf(main))
	// Renaming is refused if a program that is not open, in another folder, includes the part.
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	other := write(t, dir, filepath.Join("sub", "other.stan"), "parameters {\n  #include ../part.stan\n}\nmodel {\n  shared ~ normal(0, 1);\n}\n")
	if code, text := c.refused("textDocument/rename", rename); code != -32803 || !strings.Contains(text, other) || !strings.Contains(text, "part.stan") {
		t.Errorf("code %d: %s", code, text)
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	contains(t, "rename", c.ask("textDocument/rename", rename), uriOf(part), uriOf(main))
	contains(t, "files", c.ask("textDocument/completion", at(uriOf(main), 4, 10)), `"label":"part.stan"`, `"label":"lib.stanfunctions"`)

	// Open the part and change it without saving.
	c.open(uriOf(part), "real shared;\n")
	contains(t, "hover", c.ask("textDocument/hover", at(uriOf(part), 0, 7)), "parameter")
	contains(t, "references", c.ask("textDocument/references", at(uriOf(part), 0, 7)), uriOf(main))
	c.change(uriOf(part), 2, nil, "real renamed;\n")
	list := c.diagnostics(uriOf(main), func(l []Diagnostic) bool { return len(l) > 0 && l[0].Severity == 1 })
	contains(t, "message", list[0].Message, "`shared` is not declared")
	c.change(uriOf(part), 3, nil, "real shared\n")
	if l := c.diagnostics(uriOf(part), func(l []Diagnostic) bool { return len(l) > 0 }); l[0].Code != "E0101" {
		t.Errorf("%+v", l)
	}
	c.notify("textDocument/didClose", in(uriOf(part)))

	// No open document includes it: a file in the same folder is found.
	c.notify("textDocument/didClose", in(uriOf(main)))
	c.open(uriOf(part), "real shared;\n")
	contains(t, "hover", c.ask("textDocument/hover", at(uriOf(part), 0, 7)), "parameter")

	// One include names a missing file, another a file outside the folder.
	gone := uriOf(filepath.Join(dir, "gone.stan"))
	c.open(gone, "#include nothing.stan\n#include ../../../../etc/passwd\nparameters { real mu; }\nmodel { mu ~ normal(what, 1); }\n")
	list = c.diagnostics(gone, func(l []Diagnostic) bool { return len(l) >= 2 })
	contains(t, "message", list[0].Message, "there is no such file")
	contains(t, "message", list[1].Message, "outside")
	for _, d := range list {
		if strings.Contains(d.Message, "what") {
			t.Errorf("what may be declared in an absent file is reported: %+v", d)
		}
	}
	contains(t, "hover", c.ask("textDocument/hover", at(gone, 3, 9)), "real mu")

	// A text in no file.
	c.open("untitled:Untitled-1", "model {\n#include a.stan\n  target += 1\n}")
	c.diagnostics("untitled:Untitled-1", func(l []Diagnostic) bool { return len(l) == 2 })
	c.ask("textDocument/codeLens", in("untitled:Untitled-1"))
	c.end()
}

// TestWrongMessages checks that wrong messages get an error and do no harm.
func TestWrongMessages(t *testing.T) {
	c := start(t, "")
	if code, _ := c.refused("textDocument/hover", at("file:///x.stan", 0, 0)); code != -32002 {
		t.Errorf("before initialize: %d", code)
	}
	c.begin(t.TempDir())
	if code, _ := c.refused("initialize", map[string]any{}); code != -32600 {
		t.Errorf("initialize again: %d", code)
	}
	if code, _ := c.refused("textDocument/unheard", nil); code != -32601 {
		t.Errorf("unknown method: %d", code)
	}
	c.notify("$/unheard", nil)
	c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": "file:///never/opened.stan"}, "contentChanges": []any{map[string]any{"text": "x"}}})
	c.notify("textDocument/didOpen", []int{1, 2})
	c.notify("textDocument/didClose", in("file:///never/opened.stan"))
	c.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
	c.notify("workspace/didChangeConfiguration", map[string]any{"settings": nil})
	c.notify("$/cancelRequest", map[string]any{"id": 4711})
	if code, text := c.refused("textDocument/hover", at("file:///never/opened.stan", 0, 0)); code != -32602 || !strings.Contains(text, "not open") {
		t.Errorf("not open: %d %s", code, text)
	}
	if code, _ := c.refused("textDocument/hover", "no object"); code != -32602 && code != -32600 {
		t.Errorf("parameters of a wrong type: %d", code)
	}
	if code, _ := c.refused("workspace/executeCommand", map[string]any{"command": "rm", "arguments": []any{"file:///x.stan"}}); code != -32602 {
		t.Errorf("unknown command: %d", code)
	}
	if code, _ := c.refused("workspace/executeCommand", map[string]any{"command": "ppl.run"}); code != -32602 {
		t.Errorf("command without a model: %d", code)
	}
	if code, _ := c.refused("workspace/executeCommand", map[string]any{"command": "ppl.run", "arguments": []any{"untitled:1"}}); code != -32803 {
		t.Errorf("a model in no file: %d", code)
	}
	if code, _ := c.refused("workspace/executeCommand", map[string]any{"command": "ppl.run", "arguments": []any{"file:///there/is/none.stan"}}); code != -32803 {
		t.Errorf("a model that does not exist: %d", code)
	}
	c.raw(`{"jsonrpc": "2.0", "id": 900, "method": `)
	c.within("the answer to broken JSON", func() bool { return c.answers["null"].Error != nil && c.answers["null"].Error.Code == -32700 })
	c.open("file:///negative.stan", "model { }\n")
	c.ask("textDocument/hover", at("file:///negative.stan", -1, -5))
	c.change("file:///negative.stan", 2, &Range{Position{5, 5}, Position{-3, 2}}, "x")
	c.ask("shutdown", nil)
	if code, _ := c.refused("textDocument/hover", at("file:///negative.stan", 0, 0)); code != -32600 {
		t.Errorf("after shutdown: %d", code)
	}
	c.notify("exit", nil)
	c.ended(nil)
}

func TestEnds(t *testing.T) {
	// End the session without shutdown, with and without exit.
	c := start(t, "")
	c.begin(t.TempDir())
	c.notify("exit", nil)
	if c.ended(io.EOF) == nil {
		t.Error("exit without shutdown is no error")
	}
	c = start(t, "")
	c.begin(t.TempDir())
	c.out.Close()
	if c.ended(io.EOF) == nil {
		t.Error("a client that has gone is no error")
	}
	// Invalid or too long messages end the session.
	for _, text := range []string{"GET / HTTP/1.1\r\n\r\n", "Content-Length: 99999999999999\r\n\r\n", "Content-Length: -1\r\n\r\n", "X: y\r\n\r\n", strings.Repeat("x", 10000)} {
		c = start(t, "")
		go io.WriteString(c.out, text)
		if err := c.ended(io.EOF); err == nil {
			t.Errorf("%.20q is no error", text)
		}
	}
}

// TestForever stops a model that never ends in four ways: by its progress, by its request, by
// starting it again, and by ending the session.
func TestForever(t *testing.T) {
	dir := t.TempDir()
	uri := uriOf(write(t, dir, "m.stan", "model { while (1) { } }\n"))
	run := map[string]any{"command": "ppl.run", "arguments": []any{uri}}
	c := start(t, "forever")
	c.begin(dir)
	c.open(uri, "model { while (1) { } }\n")

	progress := func(n int) json.RawMessage { // the token of the n-th run
		var token json.RawMessage
		c.within("progress", func() bool {
			k := 0
			for _, m := range c.notices {
				var p struct {
					Token json.RawMessage
					Value struct{ Kind, Message string }
				}
				if m.Method == "$/progress" && json.Unmarshal(m.Params, &p) == nil && p.Value.Kind == "report" {
					if k++; k == n {
						token = p.Token
						return true
					}
				}
			}
			return false
		})
		return token
	}
	id := c.send("workspace/executeCommand", run)
	c.notify("window/workDoneProgress/cancel", map[string]any{"token": progress(1)})
	contains(t, "cancelled", string(c.answer(id).Result), `"stopped":"stopped"`)

	id = c.send("workspace/executeCommand", run)
	progress(2)
	again := c.send("workspace/executeCommand", run)
	contains(t, "replaced", string(c.answer(id).Result), "started again")
	// Other requests are answered meanwhile.
	c.ask("textDocument/documentSymbol", in(uri))
	progress(3)
	c.notify("$/cancelRequest", map[string]any{"id": json.RawMessage(again)})
	if m := c.answer(again); m.Error == nil || m.Error.Code != -32800 {
		t.Errorf("%+v", m)
	}
	c.send("workspace/executeCommand", run)
	progress(4)
	c.end()
}

// TestReport checks the report of the last run, and that the session's end removes the folders of
// runs.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	uri := uriOf(write(t, dir, "m.stan", "model { }\n"))
	ask := func(command string) map[string]any {
		return map[string]any{"command": command, "arguments": []any{uri}}
	}
	c := start(t, "session")
	c.begin(dir)
	c.open(uri, "model { }\n")
	if code, text := c.refused("workspace/executeCommand", ask("ppl.report")); code != -32803 || !strings.Contains(text, "run the model first") {
		t.Errorf("%d %s", code, text)
	}
	c.ask("workspace/executeCommand", ask("ppl.run"))
	c.ask("workspace/executeCommand", ask("ppl.run"))
	contains(t, "lens", c.ask("textDocument/codeLens", in(uri)), "report of the last run")
	var result CommandResult
	if err := json.Unmarshal([]byte(c.ask("workspace/executeCommand", ask("ppl.report"))), &result); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(result.Report); err != nil || string(text) != "<html>" {
		t.Errorf("%s %v", text, err)
	}
	c.end()
	if _, err := os.Stat(filepath.Dir(result.Report)); err == nil {
		t.Error("the folder of the run is still there")
	}
}

// TestHintsOfAll checks that every expression has a hint if and only if the editor's setting asks
// for them.
func TestHintsOfAll(t *testing.T) {
	dir := t.TempDir()
	uri := uriOf(write(t, dir, "m.stan", "data { int N; vector[N] x; }\nparameters { real b; }\nmodel { target += sum(square(x) * b); }\n"))
	write(t, dir, "m.data.json", `{"N":3,"x":[1, 2, 3]}`)
	for setting, want := range map[string]bool{"": false, "results": false, "all": true} {
		c := start(t, "true")
		c.ask("initialize", map[string]any{"capabilities": map[string]any{}, "initializationOptions": map[string]any{"hints": setting}})
		c.open(uri, "data { int N; vector[N] x; }\nparameters { real b; }\nmodel { target += sum(square(x) * b); }\n")
		got := c.ask("textDocument/inlayHint", map[string]any{"textDocument": map[string]any{"uri": uri}})
		if strings.Contains(got, `": vector[3]"`) != want {
			t.Errorf("hints %q: %s", setting, got)
		}
		c.end()
	}
}

func TestLimit(t *testing.T) {
	dir := t.TempDir()
	uri := uriOf(write(t, dir, "m.stan", "model { }\n"))
	c := start(t, "forever")
	c.ask("initialize", map[string]any{"capabilities": map[string]any{}, "initializationOptions": map[string]any{"runSeconds": 0.2}})
	contains(t, "limit", c.ask("workspace/executeCommand", map[string]any{"command": "ppl.run", "arguments": []any{uri}}), "the limit for runs in the editor")
	c.end()
}

func TestOutput(t *testing.T) {
	dir := t.TempDir()
	name := write(t, dir, "m.stan", "data { int N; vector[N] y; }\nmodel { }\n")
	uri := uriOf(name)
	run := map[string]any{"command": "ppl.run", "arguments": []any{uri}}
	c := start(t, "flood")
	c.begin(dir)
	if got := c.ask("workspace/executeCommand", run); len(got) > 2*maxOutput || !strings.Contains(got, "left out") {
		t.Errorf("%d bytes of output", len(got))
	}
	c.end()

	write(t, dir, "m.data.json", `{"N":3,"y":[1, 2]}`)
	c = start(t, "check")
	c.begin(dir)
	c.open(uri, "data { int N; vector[N] y; }\nmodel { }\n")
	c.ask("workspace/executeCommand", map[string]any{"command": "ppl.check", "arguments": []any{uri}})
	list := c.diagnostics(uriOf(filepath.Join(dir, "m.data.json")), func(l []Diagnostic) bool { return len(l) == 1 })
	if list[0].Range != (Range{Position{0, 8}, Position{0, 9}}) || list[0].Code != "E0602" || list[0].About == nil || list[0].Data == nil {
		t.Errorf("%+v", list)
	}
	c.change(uri, 2, nil, "model { }\n") // no longer known to be so
	c.diagnostics(uriOf(filepath.Join(dir, "m.data.json")), func(l []Diagnostic) bool { return len(l) == 0 })
	c.end()

	c = start(t, "garbage")
	c.begin(dir)
	contains(t, "garbage", c.ask("workspace/executeCommand", map[string]any{"command": "ppl.check", "arguments": []any{uri}}), "no JSON")
	c.end()
}

// TestManyChanges makes many changes with requests between them. Each answer is about the text at
// that time, and the last diagnostics are about the last text.
func TestManyChanges(t *testing.T) {
	uri := "file:///many.stan"
	c := start(t, "")
	c.begin(t.TempDir())
	c.open(uri, "parameters {\n  real x0;\n}\nmodel {\n  x0 ~ normal(0, 1);\n}\n")
	for i := range 200 {
		name := fmt.Sprintf("x%d", i+1)
		was := len(fmt.Sprintf("x%d", i))
		c.change(uri, 2+i, &Range{Position{1, 7}, Position{1, 7 + was}}, name)
		if i%50 == 0 {
			contains(t, "hover", c.ask("textDocument/hover", at(uri, 1, 8)), "real "+name)
		}
	}
	list := c.diagnostics(uri, func(l []Diagnostic) bool {
		return len(l) > 0 && strings.Contains(l[0].Message+l[len(l)-1].Message, "x0")
	})
	c.change(uri, 999, &Range{Position{1, 7}, Position{1, 11}}, "x0")
	_ = list
	c.diagnostics(uri, func(l []Diagnostic) bool { return len(l) == 0 || l[0].Severity > 1 })
	c.end()
}

func TestPositions(t *testing.T) {
	f := source.NewFile("f", "a😀b\r\n\nπ\xff!\n")
	for offset := range f.Text { // the first bytes of characters
		if p := positionOf(f, offset); offsetOf(f, p) != offset && f.Text[max(0, offset-1)] != '\r' {
			t.Errorf("offset %d is %+v, which is %d", offset, p, offsetOf(f, p))
		}
	}
	if p := positionOf(f, 5); p != (Position{0, 3}) {
		t.Errorf("%+v", p)
	}
	if o := offsetOf(f, Position{0, 99}); o != 6 {
		t.Errorf("past the line: %d", o)
	}
	if o := offsetOf(f, Position{99, 0}); o != len(f.Text) {
		t.Errorf("past the text: %d", o)
	}
	for _, name := range []string{"/a b/ü%20.stan", "/x#y?.stan"} {
		if got := pathOf(uriOf(name)); got != name {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, uri := range []string{"untitled:1", "http://x/y", "%zz", ""} {
		if got := pathOf(uri); got != "" {
			t.Errorf("%s: %s", uri, got)
		}
	}
}

// BenchmarkDiagnostics measures the time of diagnostics after a change in a text of 500 lines.
func BenchmarkDiagnostics(b *testing.B) {
	var text strings.Builder
	text.WriteString("data {\n  int<lower=0> N;\n  vector[N] y;\n}\nparameters {\n  real mu;\n  real<lower=0> sigma;\n}\nmodel {\n")
	for i := range 490 {
		fmt.Fprintf(&text, "  y ~ normal(mu * %d + exp(sigma), sigma);\n", i)
	}
	text.WriteString("}\n")
	uri := "file:///long.stan"
	c := start(b, "")
	c.begin(b.TempDir())
	c.open(uri, text.String())
	c.diagnostics(uri, func(l []Diagnostic) bool { return true })
	for i := range b.N {
		text := []string{"real mu\n", "real mu;\n"}[i%2]
		c.change(uri, 2+i, &Range{Position{5, 2}, Position{6, 0}}, text)
		c.diagnostics(uri, func(l []Diagnostic) bool { return (len(l) > 0 && l[0].Severity == 1) == (i%2 == 0) })
	}
	c.end()
}

// TestBidiControls checks that editors receive the positions of characters that reorder displayed
// text.
func TestBidiControls(t *testing.T) {
	dir := t.TempDir()
	c := start(t, "")
	c.begin(dir)
	uri := uriOf(filepath.Join(dir, "m.stan"))
	c.open(uri, "parameters { real x; }\nmodel { x ~ normal(0, 1); } // \u202e a\n")
	list := c.diagnostics(uri, func(l []Diagnostic) bool { return len(l) == 1 })
	if list[0].Code != "W0102" || list[0].Severity != 2 || list[0].Range != (Range{Position{1, 31}, Position{1, 32}}) {
		t.Errorf("%+v", list)
	}
	c.end()
}
