package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// agent is a client of ppl mcp.
type agent struct {
	*mcp.ClientSession
	t        *testing.T
	schemas  map[string]*jsonschema.Schema
	progress chan float64
	changes  chan struct{} // the list of resources has changed
	sent     *bytes.Buffer // the messages of both sides
}

// startAgent starts ppl mcp as a process, and connects to it.
func startAgent(t *testing.T, args ...string) *agent {
	t.Helper()
	if runtime.GOOS == "js" {
		t.Skip("no processes")
	}
	a := &agent{t: t, schemas: readSchemas(t), progress: make(chan float64, 10000), changes: make(chan struct{}, 100), sent: &bytes.Buffer{}}
	cmd := exec.Command(os.Args[0], append([]string{"mcp"}, args...)...)
	cmd.Args[0] = "ppl" // see TestMain
	log := &bytes.Buffer{}
	cmd.Stderr = log
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { a.progress <- r.Params.Progress },
		ResourceListChangedHandler:  func(context.Context, *mcp.ResourceListChangedRequest) { a.changes <- struct{}{} },
	})
	var err error
	if a.ClientSession, err = client.Connect(t.Context(), &mcp.LoggingTransport{Transport: &mcp.CommandTransport{Command: cmd}, Writer: a.sent}, nil); err != nil {
		t.Fatal(err, log)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("the server ended with %v\n%s", err, log)
		}
	})
	return a
}

// call calls a tool, and checks its structured result against the schema of the tool's document. It
// returns the text; into receives the structured result.
func (a *agent) call(tool string, arguments map[string]any, into any) string {
	a.t.Helper()
	r, err := a.CallTool(a.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	text := contents(r)
	if r.IsError {
		a.t.Fatalf("%s: %s", tool, text)
	}
	structured, err := json.Marshal(r.StructuredContent)
	if err != nil {
		a.t.Fatal(err)
	}
	i := slices.IndexFunc(mcpTools, func(t mcpTool) bool { return t.name == tool })
	conforms(a.t, a.schemas[mcpTools[i].document], string(structured))
	if into != nil {
		if err := json.Unmarshal(structured, into); err != nil {
			a.t.Fatal(err)
		}
	}
	return text
}

// fails calls a tool that must fail. It returns the text, and the error in the text's second part,
// which must be the document serve-error.
func (a *agent) fails(ctx context.Context, tool string, arguments map[string]any) (text, kind, limit string) {
	a.t.Helper()
	r, err := a.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	if !r.IsError || len(r.Content) != 2 || r.StructuredContent != nil {
		a.t.Fatalf("%s: no error with two texts: %s", tool, contents(r))
	}
	document := r.Content[1].(*mcp.TextContent).Text
	conforms(a.t, a.schemas["serve-error"], document)
	var e struct{ Error struct{ Kind, Limit string } }
	if err := json.Unmarshal([]byte(document), &e); err != nil {
		a.t.Fatal(err)
	}
	return r.Content[0].(*mcp.TextContent).Text, e.Error.Kind, e.Error.Limit
}

func contents(r *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text + "\n")
		}
	}
	return b.String()
}

// resource reads a resource.
func (a *agent) resource(uri string) string {
	a.t.Helper()
	r, err := a.ReadResource(a.t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil || len(r.Contents) != 1 {
		a.t.Fatalf("%s: %v", uri, err)
	}
	return r.Contents[0].Text
}

const (
	agentLine = "data { int n; vector[n] x; vector[n] y; }\nparameters { real a; real b; real<lower=0> s; }\nmodel { a ~ normal(0, 5); b ~ normal(0, 5); s ~ exponential(1); y ~ normal(a + b * x, s); }\n"
	agentFlat = "data { int n; vector[n] x; vector[n] y; }\nparameters { real a; real<lower=0> s; }\nmodel { a ~ normal(0, 5); s ~ exponential(1); y ~ normal(a, s); }\n"
)

// agentTable is a table in which y grows with x.
func agentTable(rows int) string {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range rows {
		x := float64(i) / 4
		fmt.Fprintf(&b, "%g,%.3f\n", x, 1+2*x+math.Sin(float64(7*i)))
	}
	return b.String()
}

// TestListedWithoutNull checks that lists have no member whose value is null: clients in TypeScript
// refuse a list with one, which Go cannot tell from a missing member.
func TestListedWithoutNull(t *testing.T) {
	a := startAgent(t)
	tools, err := a.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != len(mcpTools) {
		t.Fatal(err)
	}
	if _, err := a.ListResources(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ListResourceTemplates(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if i := bytes.Index(a.sent.Bytes(), []byte(":null")); i >= 0 {
		t.Errorf("a message has null: …%s", a.sent.Bytes()[max(0, i-100):i+5])
	}
}

// TestAgent makes a whole analysis as an agent does: a wrong model is checked and repaired, two
// models are run and compared, and the better one predicts.
func TestAgent(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"data.csv": agentTable(40), "wrong.stan": strings.Replace(agentLine, "exponential(1)", "exponental(1)", 1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	a := startAgent(t, "--folder", dir)
	tools, err := a.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != len(mcpTools) {
		t.Fatalf("%d tools, %v", len(tools.Tools), err)
	}
	var c checked
	text := a.call("check", map[string]any{"model_file": "wrong.stan"}, &c)
	if c.OK || c.Fixed == "" || !strings.Contains(text, "wrong.stan:3:") || !strings.Contains(text, c.Fixed) {
		t.Fatalf("%+v\n%s", c, text)
	}
	repaired := c.Fixed
	if a.call("check", map[string]any{"model": repaired}, &c); !c.OK || repaired != agentLine {
		t.Fatalf("the repaired model is\n%s", repaired)
	}

	var run runJSON
	text = a.call("run", map[string]any{"model": repaired, "data_file": "data.csv", "seed": 1, "name": "line"}, &run)
	if i := slices.IndexFunc(run.Summary, func(s summaryJSON) bool { return s.Name == "b" }); run.Fit != "line" || i < 0 || math.Abs(float64(run.Summary[i].Mean)-2) > 0.2 {
		t.Errorf("%+v", run)
	}
	if !strings.Contains(text, "The fit is kept under the name line.") || !strings.Contains(text, "ess_bulk") {
		t.Error(text)
	}
	<-a.changes // the report of the fit is a resource now
	resources, err := a.ListResources(t.Context(), nil)
	if err != nil || !slices.ContainsFunc(resources.Resources, func(r *mcp.Resource) bool { return r.URI == reportURI("line") }) {
		t.Errorf("the report is not listed: %v", err)
	}
	if page := a.resource(reportURI("line")); !strings.HasPrefix(page, "<!doctype html>") && !strings.HasPrefix(page, "<!DOCTYPE html>") {
		t.Errorf("the report begins with %.100q", page)
	}
	var found findingsJSON
	if a.call("findings", map[string]any{"fit": "line"}, &found); len(found.Diagnostics) != 4 {
		t.Errorf("%+v", found)
	}
	a.call("run", map[string]any{"model": agentFlat, "table": agentTable(40), "seed": 1}, &run)
	if run.Fit != "fit-1" {
		t.Errorf("the second fit is called %q", run.Fit)
	}
	a.call("summary", map[string]any{"fit": "fit-1", "vars": "a", "percentiles": []float64{2.5, 97.5}}, &run)
	if len(run.Summary) != 1 || len(run.Summary[0].Percentiles) != 2 {
		t.Errorf("%+v", run.Summary)
	}
	var loo looJSON
	if a.call("loo", map[string]any{"fit": "line"}, &loo); loo.Observations != 40 {
		t.Errorf("%d observations", loo.Observations)
	}
	var compared comparisonJSON
	a.call("compare", map[string]any{"fits": []string{"fit-1", "line"}}, &compared)
	if compared.Models[0].Model != "line" || compared.Models[1].Verdict != worse {
		t.Errorf("%+v", compared.Models)
	}
	var predicted quantitiesJSON
	a.call("predict", map[string]any{"fit": "line", "table": "x\n10\n20\n", "expected": true, "seed": 1}, &predicted)
	if len(predicted.Summary) != 2 || math.Abs(float64(predicted.Summary[1].Mean)-41) > 2 {
		t.Errorf("%+v", predicted.Summary)
	}
	var effects effectsJSON
	a.call("effects", map[string]any{"fit": "line", "of": []string{"x"}, "show": "slopes"}, &effects)
	if len(effects.Effects) != 1 || math.Abs(float64(effects.Effects[0].Mean)-2) > 0.2 {
		t.Errorf("%+v", effects.Effects)
	}
	a.call("ppc", map[string]any{"fit": "line"}, nil)
	a.call("sensitivity", map[string]any{"fit": "line"}, nil)
	var sbc sbcJSON
	a.call("sbc", map[string]any{"model": agentFlat, "table": agentTable(10), "simulations": 4, "ranks": 9, "warmup": 100}, &sbc)
	if sbc.Simulations != 4 || len(sbc.Parameters) != 2 || len(sbc.Parameters[0].Ranks) != 4 {
		t.Errorf("%+v", sbc)
	}

	for uri, word := range map[string]string{
		"ppl://doc/functions": "normal", "ppl://doc/function/softmax": "softmax", "ppl://doc/function/normal": "variance",
		"ppl://doc/codes": "E0201", "ppl://doc/code/E0201": "Fixed:", "ppl://schema/run": "schema_version",
	} {
		if text := a.resource(uri); !strings.Contains(text, word) {
			t.Errorf("%s: %.200s", uri, text)
		}
	}
	r, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "doc", Arguments: map[string]any{"name": "E0201"}})
	if err != nil || r.IsError || !strings.Contains(contents(r), "not declared") {
		t.Errorf("%v", err)
	}
}

// TestAgentErrors checks that mistakes and limits are failures of the tool with a text that says
// what to do, that nothing outside the folder is read, and that the server goes on.
func TestAgentErrors(t *testing.T) {
	dir := t.TempDir()
	inside, outside := filepath.Join(dir, "inside"), filepath.Join(dir, "outside.stan")
	if err := os.Mkdir(inside, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside, []byte(agentFlat), 0o666); err != nil {
		t.Fatal(err)
	}
	linked := os.Symlink(outside, filepath.Join(inside, "link.stan")) == nil
	a := startAgent(t, "--folder", inside, "--max-seconds", "5", "--max-draws", "100000")
	forever := "transformed data { matrix[200, 200] m = identity_matrix(200); while (1) { m = m * m; } } parameters { real x; } model { x ~ normal(0, 1); }"
	model := "data { int n; } parameters { real x; } model { x ~ normal(0, 1); }"
	for _, c := range []struct {
		tool       string
		arguments  map[string]any
		kind       string
		limit, say string
	}{
		{"run", map[string]any{"model": model, "data": map[string]any{"n": 1.5}}, "model", "", "data.json:1:6:"},
		{"run", map[string]any{"model": model}, "model", "", "`n`"},
		{"run", map[string]any{"model": "parameters { real x; } model { x ~ nromal(0, 1); }"}, "model", "", "did you mean"},
		{"run", map[string]any{"model": model, "delta": "0.9"}, "request", "", "delta must be of type number"},
		{"run", map[string]any{"model": model, "delta": 7}, "request", "", "delta"},
		{"run", map[string]any{"model": model, "chains": 1.5}, "request", "", "chains must be of type integer"},
		{"run", map[string]any{"model": model, "out": "x"}, "request", "", "no argument out"},
		{"run", map[string]any{"model": model, "name": "../x"}, "request", "", "cannot be called"},
		{"run", map[string]any{"model": model, "data": map[string]any{}, "table": "x\n1\n"}, "request", "", "one of"},
		{"run", map[string]any{}, "request", "", "argument model"},
		{"run", map[string]any{"model_file": "../outside.stan"}, "request", "", "cannot read"},
		{"run", map[string]any{"model_file": outside}, "request", "", "cannot read"},
		{"run", map[string]any{"model": "#include \"" + filepath.ToSlash(outside) + "\"\n"}, "model", "", "include"},
		{"run", map[string]any{"model": model, "data": map[string]any{"n": 1}, "draws": 200000}, "limit", "draws", "--max-draws"},
		{"run", map[string]any{"model": forever, "limits": map[string]any{"seconds": 1}}, "limit", "seconds", "--max-seconds"},
		{"run", map[string]any{"model": model, "limits": map[string]any{"seconds": 0}}, "request", "", "at least 1"},
		{"findings", map[string]any{"fit": "none"}, "request", "", "make one by run"},
		{"compare", map[string]any{"fits": []string{"one"}}, "request", "", "at least two"},
		{"summary", map[string]any{}, "request", "", "fit is missing"},
		{"doc", map[string]any{"name": "nromal"}, "request", "", "normal"},
	} {
		text, kind, limit := a.fails(t.Context(), c.tool, c.arguments)
		if kind != c.kind || limit != c.limit || !strings.Contains(text, c.say) {
			t.Errorf("%s %v: %s, limit %q: %s", c.tool, c.arguments, kind, limit, text)
		}
	}
	if linked {
		if text, kind, _ := a.fails(t.Context(), "run", map[string]any{"model_file": "link.stan"}); kind != "request" {
			t.Errorf("a link out of the folder: %s", text)
		}
	}
	for _, uri := range []string{"ppl://fit/none/report", "ppl://schema/../../x", "ppl://doc/function/nromal", "file:///etc/passwd"} {
		if _, err := a.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s is a resource", uri)
		}
	}
	if _, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "remove"}); err == nil {
		t.Error("there is a tool remove")
	}
	a.call("run", map[string]any{"model": agentFlat, "data": map[string]any{"n": 2, "x": []int{1, 2}, "y": []int{1, 2}}, "chains": 1, "warmup": 50, "draws": 20}, nil)
}

// TestAgentCancels checks that a run reports its progress, and that it ends when the agent cancels
// it: with a single process for runs, the next one waits for that.
func TestAgentCancels(t *testing.T) {
	a := startAgent(t, "--processes", "1", "--max-seconds", "600", "--max-draws", "1000000000")
	long := map[string]any{"model": agentFlat, "table": agentTable(20), "chains": 1, "draws": 100000000, "thin": 100000}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		p := &mcp.CallToolParams{Name: "run", Arguments: long}
		p.SetProgressToken("run")
		_, err := a.CallTool(ctx, p)
		ended <- err
	}()
	last := 0.0
	for range 3 {
		select {
		case p := <-a.progress:
			if p <= last {
				t.Errorf("progress %v after %v", p, last)
			}
			last = p
		case <-time.After(time.Minute):
			t.Fatal("no progress")
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call returns %v", err)
	}
	a.call("run", map[string]any{"model": agentFlat, "table": agentTable(4), "chains": 1, "warmup": 50, "draws": 20}, nil)
}
