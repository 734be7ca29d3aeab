package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/ppl-lang/ppl"
)

func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }

// TestPipeline checks that the pipeline gives the same results as separate fits, and a result with
// the reason for data that do not match the model.
func TestPipeline(t *testing.T) {
	dir := t.TempDir()
	model := `data { int N; vector[N] y; } parameters { real mu; } model { mu ~ normal(0, 5); y ~ std_normal(); }`
	for name, text := range map[string]string{"m.stan": model, "a.json": `{"N": 2, "y": [1, 2]}`, "b.json": `{"N": 3, "y": [1, 2]}`, "c.json": `{"N": 1, "y": [0]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "results.jsonl")
	if err := run(t.Context(), filepath.Join(dir, "m.stan"), filepath.Join(dir, "*.json"), out, 1); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	results := map[string]Result{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r struct {
			Name string
			Result
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		results[filepath.Base(r.Name)] = r.Result
	}
	if len(results) != 3 || results["b.json"].Error == "" || len(results["c.json"].Rows) != 1 {
		t.Errorf("%v", results)
	}
	alone := &Fit{Model: model, Seed: 1}
	if err := alone.Setup(); err != nil {
		t.Fatal(err)
	}
	var want Result
	if err := alone.ProcessElement(t.Context(), filepath.Join(dir, "a.json"), `{"N": 2, "y": [1, 2]}`, func(_ string, r Result) { want = r }); err != nil {
		t.Fatal(err)
	}
	if got := results["a.json"]; len(got.Rows) != 1 || got.Rows[0] != want.Rows[0] {
		t.Errorf("%+v, alone %+v (ppl %s)", got.Rows, want.Rows, ppl.Version())
	}
}
