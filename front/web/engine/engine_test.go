package engine

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/examples"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/model"
)

// do sends a request to an engine, and decodes the answer.
func do(t *testing.T, e *Engine, kind string, request, answer any, emit Emit) {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	if emit == nil {
		emit = func(string, []byte) {}
	}
	text, err := e.Do(context.Background(), kind, body, emit)
	if err != nil {
		t.Fatalf("%s: %s", kind, Failure(err))
	}
	if answer != nil {
		if err := json.Unmarshal(text, answer); err != nil {
			t.Fatal(err)
		}
	}
}

// refused sends a request that must fail, and returns the failure.
func refused(t *testing.T, e *Engine, kind string, request any) failure {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = e.Do(context.Background(), kind, body, func(string, []byte) {}); err == nil {
		t.Fatalf("%s is not refused", kind)
	}
	var f failure
	if err := json.Unmarshal(Failure(err), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func eightSchools(t *testing.T) Settings {
	t.Helper()
	read := func(name string) string {
		text, err := examples.Files.ReadFile("eight_schools/eight_schools." + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	return Settings{Name: "eight_schools.stan", Model: read("model"), Data: read("data.json"), Seed: "1", Chains: 2, Warmup: 200, Draws: 150}
}

// TestEditor edits a text. It checks the diagnostics, positioned in UTF-16 units, their edits, the
// completions, and the documentation of a name.
func TestEditor(t *testing.T) {
	e := New()
	model := "// Ein Modell für 😀\nparameters { real mu; }\nmodel { mu ~ nromal(0, 1); }\n"
	units := func(text string) int { return newPlaces(text).unit(len(text)) }
	at := func(word string) int { return units(model[:strings.Index(model, word)]) }
	var a textAnswer
	do(t, e, "text", textRequest{Text: model}, &a, nil)
	if len(a.Messages) != 1 {
		t.Fatalf("messages: %+v", a.Messages)
	}
	m := a.Messages[0]
	if m.From != at("nromal") || m.To != at("nromal")+6 || m.Line != 3 || m.Severity != "error" || len(m.Edits) != 1 || m.Edits[0].Text != "normal" {
		t.Errorf("%+v", m)
	}
	model = strings.Replace(model, "nromal", "normal", 1)
	do(t, e, "text", textRequest{Text: model}, &a, nil)
	if len(a.Messages) != 0 || len(a.Tokens) == 0 || len(a.Tokens)%3 != 0 {
		t.Errorf("after it is fixed: %+v", a)
	}
	words := map[string]string{}
	for i := 0; i < len(a.Tokens); i += 3 {
		from, to := newPlaces(model).offset(a.Tokens[i]), newPlaces(model).offset(a.Tokens[i]+a.Tokens[i+1])
		words[model[from:to]] = a.Classes[a.Tokens[i+2]]
	}
	if words["real"] != "type" || words["normal"] != "function" || words["parameters"] != "keyword" {
		t.Errorf("tokens: %v", words)
	}
	var h markdown
	do(t, e, "hover", placeRequest{at("normal") + 2}, &h, nil)
	if !strings.Contains(h.Text, "normal") || h.From != at("normal") {
		t.Errorf("hover: %+v", h)
	}
	var s signature
	do(t, e, "signature", placeRequest{at("0, 1") + 3}, &s, nil)
	if got := s.Label[s.From:s.To]; !strings.Contains(s.Label, "normal") || !strings.Contains(got, "sigma") && !strings.Contains(got, "real") {
		t.Errorf("signature: %+v", s)
	}
	half := "data { int<lower=0> N; vector[N] y; }\nparameters { real mu; }\nmodel { y ~ std"
	do(t, e, "text", textRequest{Text: half, Ints: map[string]int64{"N": 7}}, &a, nil)
	if !slices.ContainsFunc(a.Hints, func(h hint) bool { return strings.Contains(h.Text, "7") }) {
		t.Errorf("hints: %+v", a.Hints)
	}
	var list []completion
	do(t, e, "complete", placeRequest{len(half)}, &list, nil)
	if len(list) == 0 || list[0].Label != "std_normal" || list[0].From != len(half)-3 || list[0].Kind != "distribution" {
		t.Errorf("completion: %+v", list)
	}
	var edits []edit
	do(t, e, "text", textRequest{Text: "parameters{real x;}model{x~normal(0,1);}"}, nil, nil)
	do(t, e, "format", nil, &edits, nil)
	if len(edits) == 0 {
		t.Error("nothing is laid out")
	}
	var x explanation
	do(t, e, "explain", nameRequest{m.Code}, &x, nil)
	if x.Title == "" || x.Example == "" {
		t.Errorf("explanation: %+v", x)
	}
	for _, kind := range []string{"complete", "hover", "signature", "format"} { // before there is a text
		do(t, New(), kind, placeRequest{3}, nil, nil)
	}
}

// TestRun samples each chain with its own engine and collects them in another. The result must
// equal the run of the command. Its summary is in the report, which is complete when all chains
// have ended.
func TestRun(t *testing.T) {
	s := eightSchools(t)
	s.Sampler = "nuts" // its chains do not learn from each other
	m, err := model.Compile(s.Name, s.Model)
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := m.BindContext(t.Context(), model.JSON(s.Data), model.BindOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	want, err := fit.Sample(context.Background(), posterior, fit.Options{Sampler: nuts.Sampler{}, Seed: 1, Chains: 2, Warmup: 200, Draws: 150})
	if err != nil {
		t.Fatal(err)
	}
	together := New()
	do(t, together, "gather", s, nil, nil)
	type summary struct {
		Run     struct{ Draws int }
		Summary struct {
			Name []string
			Mean []json.RawMessage // numbers, or texts for values such as NaN
			Rhat []json.RawMessage
		}
		Quantities, Figures []struct{ Kind string }
	}
	var r summary
	do(t, together, "sofar", stateRequest{Running: true}, &r, nil) // nothing yet
	for id := 1; id <= 2; id++ {
		seen := map[string]int{}
		do(t, New(), "chain", chainRequest{s, id}, nil, func(event string, body []byte) {
			seen[event]++
			if event == "part" {
				if _, err := together.Do(context.Background(), "add", body, nil); err != nil {
					t.Fatal(err)
				}
			}
		})
		if seen["bound"] != 1 || seen["part"] == 0 || seen["progress"] == 0 {
			t.Errorf("events: %v", seen)
		}
	}
	do(t, together, "sofar", stateRequest{}, &r, nil)
	rows := want.Summary()
	if r.Run.Draws != 300 || len(r.Summary.Name) != len(rows) {
		t.Fatalf("%d draws, %d rows", r.Run.Draws, len(r.Summary.Name))
	}
	for i, row := range rows {
		mean, err := json.Marshal(report.Number(row.Mean))
		if err != nil {
			t.Fatal(err)
		}
		rhat, err := json.Marshal(report.Number(row.Rhat))
		if err != nil {
			t.Fatal(err)
		}
		if r.Summary.Name[i] != row.Name || string(r.Summary.Mean[i]) != string(mean) || string(r.Summary.Rhat[i]) != string(rhat) {
			t.Errorf("%s: mean %s, R-hat %s, but together %+v", r.Summary.Name[i], r.Summary.Mean[i], r.Summary.Rhat[i], row)
		}
	}
	var q struct{ Name string }
	do(t, together, "quantity", rowRequest{0}, &q, nil)
	var columns columnsAnswer
	do(t, together, "columns", struct{}{}, &columns, nil)
	for i, row := range rows {
		body, err := together.Do(t.Context(), "column", fmt.Appendf(nil, `{"row": %d}`, i), nil)
		if err != nil {
			t.Fatal(err)
		}
		sum, n := 0.0, len(body)/8
		for ; len(body) > 0; body = body[8:] {
			sum += math.Float64frombits(binary.LittleEndian.Uint64(body))
		}
		if want := columns.Draws[0] + columns.Draws[1]; n != want || math.Abs(sum/float64(n)-row.Mean) > 1e-9*row.SD {
			t.Errorf("%s: %d draws with the mean %g; the summary has %g of %d", row.Name, n, sum/float64(n), row.Mean, want)
		}
	}
	refused(t, together, "column", rowRequest{-1})
	refused(t, together, "column", rowRequest{len(rows)})
	if q.Name != rows[0].Name {
		t.Errorf("quantity %+v", q)
	}
	do(t, together, "report", stateRequest{}, &r, nil)
	if len(r.Quantities) == 0 || !slices.ContainsFunc(r.Figures, func(f struct{ Kind string }) bool { return f.Kind == "predictive" }) {
		t.Errorf("%d quantities, figures %v", len(r.Quantities), r.Figures)
	}
	page, err := together.Do(context.Background(), "page", nil, nil)
	if err != nil || !bytes.Contains(page, []byte("A report of ppl")) {
		t.Errorf("the page: %v", err)
	}

	// The folder includes this run's report.
	s.Sampler, s.Options = "nuts", map[string]string{"delta": "0.9"}
	body, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := together.Do(context.Background(), "folder", body, nil)
	if err != nil {
		t.Fatal(err)
	}
	files := unzip(t, packed)
	if files["eight_schools/eight_schools.stan"] != s.Model || files["eight_schools/data.json"] != s.Data || !strings.Contains(files["eight_schools/report.html"], "A report of ppl") {
		t.Error("the folder lacks something")
	}
	if readme := files["eight_schools/README.md"]; !strings.Contains(readme, "ppl run eight_schools.stan --data data.json --sampler nuts --delta=0.9 --chains 2 --warmup 200 --draws 150 --seed 1") {
		t.Errorf("README.md: %s", readme)
	}
}

func unzip(t *testing.T, packed []byte) map[string]string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}

// TestFolderNames checks that file names cannot leave the folder, and that words of the command
// line cannot run other commands.
func TestFolderNames(t *testing.T) {
	body, err := json.Marshal(Settings{Name: "../../etc/pass wd", Model: "m", DataName: `C:\x;rm -rf .json`, Data: "{}", Options: map[string]string{"delta": "$(reboot)'"}})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := New().Do(context.Background(), "folder", body, nil)
	if err != nil {
		t.Fatal(err)
	}
	files := unzip(t, packed)
	if _, ok := files["pass_wd/pass_wd.stan"]; !ok || len(files) != 3 {
		t.Errorf("files: %v", files)
	}
	if readme := files["pass_wd/README.md"]; !strings.Contains(readme, `--delta='$(reboot)'\'''`) || !strings.Contains(readme, "--data C_x_rm_-rf_.json") {
		t.Errorf("README.md: %s", readme)
	}
}

// TestRefused checks that mistakes in a model, its data or the options are reported with their
// lines.
func TestRefused(t *testing.T) {
	good := Settings{Model: "data { int N; vector[N] y; } parameters { real mu; } model { y ~ normal(mu, 1); }", Data: `{"N": 2, "y": [1, 2]}`}
	for _, c := range []struct {
		change func(*Settings)
		want   string
		line   int
	}{
		{func(s *Settings) { s.Model = "parameters { real x }" }, "semicolon", 1},
		{func(s *Settings) { s.Model = " " }, "write a model first", 0},
		{func(s *Settings) { s.Data = `{"N": 2}` }, "`y`", 1},
		{func(s *Settings) { s.Data = `{"N": 2, "y": [1,` }, "", 0},
		{func(s *Settings) { s.Sampler = "gibbs" }, "gibbs", 0},
		{func(s *Settings) { s.Options = map[string]string{"delta": "high"} }, "delta", 0},
		{func(s *Settings) { s.Options = map[string]string{"warp": "9"} }, "warp", 0},
		{func(s *Settings) { s.Seed = "-3" }, "seed", 0},
		{func(s *Settings) { s.Chains = 1000 }, "chains", 0},
		{func(s *Settings) { s.Draws, s.Chains = 10_000_000, 2 }, "has room for 3728270", 0},
		{func(s *Settings) { s.Draws = math.MaxInt }, "fewer", 0},
		{func(s *Settings) { s.Model = "transformed data { matrix[100000, 100000] m; }" }, "elements", 1},
		{func(s *Settings) { s.Model = "transformed data { real x = 0; while (1) x += 1; }" }, "statements", 1},
	} {
		s := good
		c.change(&s)
		f := refused(t, New(), "chain", chainRequest{s, 1})
		if !strings.Contains(f.Message+f.Text, c.want) {
			t.Errorf("%+v: %q is not said", f, c.want)
		}
		if c.line > 0 && (len(f.Messages) == 0 || f.Messages[0].Line != c.line) {
			t.Errorf("%+v: the line is %d", f, c.line)
		}
	}
	for _, kind := range []string{"sofar", "report", "quantity", "columns", "column", "page", "add", "nonsense"} {
		if _, err := New().Do(context.Background(), kind, nil, nil); err == nil {
			t.Errorf("%s without a run", kind)
		}
	}
	if _, err := New().Do(context.Background(), "text", []byte("no JSON"), nil); err == nil {
		t.Error("a request that is no JSON")
	}
}

// TestPrints checks that too much printed text is cut, with a note.
func TestPrints(t *testing.T) {
	s := Settings{Model: "parameters { real x; } model { x ~ normal(0, 1); for (i in 1:100) print(\"line \", i); }", Warmup: 100, Draws: 100}
	var printed strings.Builder
	do(t, New(), "chain", chainRequest{s, 1}, nil, func(event string, body []byte) {
		if event == "print" {
			printed.Write(body)
		}
	})
	if n := printed.Len(); n < 1000 || n > 2*maxPrint || !strings.HasPrefix(printed.String(), "line 1\nline 2\n") {
		t.Errorf("%d bytes are printed", n)
	}
}

// TestData checks the description of data; for tables it includes the levels of factors.
func TestData(t *testing.T) {
	var a dataAnswer
	do(t, New(), "data", Settings{DataName: "d.csv", Data: "school,y\nAston,1.5\nBolton,2\nAston,3\n", Counts: []string{"N", "J=school"}}, &a, nil)
	if a.Ints["N"] != 3 || a.Ints["J"] != 2 || !strings.Contains(a.Summary, "2 levels (Aston, Bolton)") {
		t.Errorf("%+v", a)
	}
	do(t, New(), "data", Settings{Data: `{"J": 8, "x": 1.5, "y": [[1.5, 2], [3, 4]]}`}, &a, nil)
	if a.Summary != "J = 8; x = 1.5; y: 2 × 2 numbers." {
		t.Errorf("%+v", a)
	}
}

// TestGenerate simulates data for every example. The model must run with them, and given values
// must not change.
func TestGenerate(t *testing.T) {
	for _, name := range []string{"eight_schools", "logistic_regression", "hierarchical_regression", "garch", "normal_mixture", "stochastic_volatility"} {
		text, err := examples.Files.ReadFile(name + "/" + name + ".model")
		if err != nil {
			t.Fatal(err)
		}
		s := Settings{Model: string(text), Seed: "5"}
		var g, again generated
		do(t, New(), "generate", s, &g, nil)
		do(t, New(), "generate", s, &again, nil)
		if g.Data != again.Data {
			t.Errorf("%s: other data by the same seed", name)
		}
		s.Data, s.Warmup, s.Draws = g.Data, 20, 5
		do(t, New(), "chain", chainRequest{s, 1}, nil, nil)
		t.Log(name, g.Summary)
	}
	var g generated
	do(t, New(), "generate", Settings{Model: "data { int<lower=1> N; int<lower=1> K; array[N] int<lower=1, upper=K> g; simplex[K] p; matrix[N, K + 1] x; vector[N] y; } parameters { vector[K + 1] b; } model { b ~ normal(0, 1); y ~ normal(x * b, 1); }",
		Data: `{"N": 5, "K": 3}`}, &g, nil)
	if g.Ints["N"] != 5 || g.Ints["K"] != 3 || !strings.Contains(g.Summary, "has drawn y") || !strings.Contains(g.Summary, "x: 5 × 4") {
		t.Errorf("%+v", g)
	}
	// Sizes are computed with the language's integer arithmetic.
	do(t, New(), "generate", Settings{Model: "data { int N; vector[N / 2] x; array[max(N, 7)] real y; } parameters { real b; } model { b ~ normal(0, 1); }",
		Data: `{"N": 5}`}, &g, nil)
	if !strings.Contains(g.Summary, "x: 2") || !strings.Contains(g.Summary, "y: 7") {
		t.Errorf("%+v", g)
	}
	if f := refused(t, New(), "generate", Settings{Model: "parameters { real x; } model { x ~ normal(0, 1); }"}); !strings.Contains(f.Message, "no data") {
		t.Errorf("%+v", f)
	}
}

// TestSamplers checks that the page gets the list of all samplers.
func TestSamplers(t *testing.T) {
	var a []samplerRow
	do(t, New(), "samplers", nil, &a, nil)
	if len(a) != len(sampler.Names()) {
		t.Errorf("%+v", a)
	}
	for _, s := range a {
		if s.Doc == "" || strings.Contains(s.Name, " ") {
			t.Errorf("%+v", s)
		}
	}
}

// TestPanic checks that a panic is reported in one line, without a stack trace.
func TestPanic(t *testing.T) {
	_, err := (*Engine)(nil).Do(t.Context(), "text", []byte(`{}`), func(string, []byte) {})
	var failed *infer.PanicError
	if !errors.As(err, &failed) || len(failed.Stack) == 0 {
		t.Fatalf("%v", err)
	}
	if text := string(Failure(err)); !strings.Contains(text, "error in ppl") || strings.Contains(text, ".go") || strings.Contains(text, `\n`) {
		t.Error(text)
	}
}
