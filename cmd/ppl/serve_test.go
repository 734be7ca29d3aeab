package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/front/serve"
)

const testToken = "a token of the tests"

// served is a server that a test has started.
type served struct {
	url string
	cmd *exec.Cmd
	log *bytes.Buffer // complete once the process has ended and copied is closed

	copied sync.WaitGroup
}

// startServer starts ppl serve as a process that runs until the end of the test.
func startServer(t *testing.T, args ...string) *served {
	t.Helper()
	if runtime.GOOS == "js" {
		t.Skip("no processes")
	}
	s := &served{cmd: exec.Command(os.Args[0], append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...), log: &bytes.Buffer{}}
	s.cmd.Args[0] = "ppl" // see TestMain
	s.cmd.Env = append(os.Environ(), tokenVariable+"="+testToken)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	line, err := lines.ReadString('\n')
	url, ok := strings.CutPrefix(line, "Listening on ")
	if err != nil || !ok {
		t.Fatalf("the server says %q, %v", line, err)
	}
	s.url = strings.TrimSpace(url)
	s.copied.Go(func() { _, _ = io.Copy(s.log, lines) })
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		s.copied.Wait()
		_ = s.cmd.Wait()
		if t.Failed() {
			t.Logf("the log of the server:\n%s", s.log)
		}
	})
	return s
}

// post sends a request with the token.
func (s *served) post(ctx context.Context, path, accept, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	r.Header.Set("Content-Type", "application/json")
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	return http.DefaultClient.Do(r)
}

// answer sends a request and reads the answer.
func (s *served) answer(t *testing.T, path, accept, body string) (int, string) {
	t.Helper()
	r, err := s.post(t.Context(), path, accept, body)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// TestServeDoc sends the requests in doc/how-to/serve.md and compares the answers with those on the
// page. Keys, texts, lengths and integers must be the same; other numbers may differ. "..." stands
// for anything and, as a key, for further keys.
func TestServeDoc(t *testing.T) {
	text, err := os.ReadFile("../../doc/how-to/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	s := startServer(t)
	schemas := readSchemas(t)
	seen := map[string]bool{}
	check := func(document, text string) {
		seen[document] = true
		conforms(t, schemas[document], text)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/limits", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	limits, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	told, err := io.ReadAll(limits.Body)
	limits.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	check("serve-limits", string(told))
	_, density := s.answer(t, "/v1/logdensity", "", `{"model": "parameters { real x; } model { x ~ normal(0, 1); }", "points": [[0]]}`)
	check("serve-logdensity", density)
	blocks := regexp.MustCompile("(?s)```(sh|http)\n(.*?)```\n```(json|events)( [0-9]+)?\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 8 {
		t.Errorf("%d examples", len(blocks))
	}
	for _, b := range blocks {
		kind, request, want := b[1], b[2], b[5]
		if kind == "sh" {
			if _, err := exec.LookPath("curl"); err != nil {
				t.Log("without curl its example is left out")
				continue
			}
			cmd := exec.Command("sh", "-c", request)
			cmd.Env = append(os.Environ(), "PPL_URL="+s.url, "PPL_TOKEN="+testToken)
			got, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v\n%s", request, err, got)
				continue
			}
			matchJSON(t, request, string(got), want)
			continue
		}
		head, body, _ := strings.Cut(request, "\n\n")
		first, accept, _ := strings.Cut(head, "\nAccept: ")
		status, got := s.answer(t, strings.TrimPrefix(first, "POST "), accept, body)
		wantStatus := 200
		if b[4] != "" {
			fmt.Sscan(b[4], &wantStatus)
		}
		if status != wantStatus {
			t.Errorf("%s\nhas status %d, not %d: %s", request, status, wantStatus, got)
		}
		document := "serve-" + strings.TrimPrefix(first, "POST /v1/")
		if b[3] == "json" {
			if status != 200 {
				document = "serve-error"
			}
			check(document, got)
			matchJSON(t, request, got, want)
			continue
		}
		var events []string
		for e := range strings.SplitSeq(strings.TrimSpace(got), "\n\n") {
			name, data, _ := strings.Cut(strings.TrimPrefix(e, "event: "), "\ndata: ")
			if n := len(events); n == 0 || !strings.HasPrefix(events[n-1], name+": ") { // one of each will do
				events = append(events, name+": "+data)
			}
		}
		wants := strings.Split(strings.TrimSpace(want), "\n")
		if len(events) != len(wants) {
			t.Errorf("%s\nhas the events\n%s", request, got)
			continue
		}
		for i := range wants {
			wantName, wantData, _ := strings.Cut(wants[i], ": ")
			name, data, _ := strings.Cut(events[i], ": ")
			switch name {
			case "progress":
				check("serve-progress", data)
			case "result":
				check(document, data)
			}
			if name != wantName {
				t.Errorf("%s\nevent %d is %s", request, i+1, events[i])
			}
			matchJSON(t, request, data, wantData)
		}
	}
	for _, d := range documents {
		if strings.HasPrefix(d.name, "serve-") && !seen[d.name] {
			t.Errorf("this test has no %s", d.name)
		}
	}
	for _, row := range serve.Table {
		if line := fmt.Sprintf("\n| `%s` | %d | %s |\n", row.Name, row.Default, row.Doc); !strings.Contains(string(text), line) {
			t.Errorf("doc/how-to/serve.md lacks the line%s", line)
		}
	}
}

func matchJSON(t *testing.T, request, got, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Errorf("%s\nis answered by %s: %v", request, got, err)
		return
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Errorf("%s: %v", want, err)
		return
	}
	if at := mismatch(g, w, ""); at != "" {
		t.Errorf("%s\nis answered by\n%s\nnot\n%s\nthe difference: %s", request, got, want, at)
	}
}

// mismatch describes the place where two values differ.
func mismatch(got, want any, at string) string {
	switch w := want.(type) {
	case string:
		if w != "..." && got != w {
			return fmt.Sprintf("%s is %v", at, got)
		}
	case float64:
		g, ok := got.(float64)
		if !ok || w == float64(int(w)) && g != w {
			return fmt.Sprintf("%s is %v", at, got)
		}
	case []any:
		g, _ := got.([]any)
		if len(w) == 1 && w[0] == "..." && len(g) > 0 {
			return ""
		}
		if len(g) != len(w) {
			return fmt.Sprintf("%s has %d elements", at, len(g))
		}
		for i := range w {
			if d := mismatch(g[i], w[i], fmt.Sprintf("%s[%d]", at, i)); d != "" {
				return d
			}
		}
	case map[string]any:
		g, _ := got.(map[string]any)
		_, more := w["..."]
		for k := range g {
			if _, ok := w[k]; !ok && !more {
				return fmt.Sprintf("%s has the key %s", at, k)
			}
		}
		for k := range w {
			if k == "..." {
				continue
			}
			if d := mismatch(g[k], w[k], at+"."+k); d != "" {
				return d
			}
		}
	default:
		if got != want {
			return fmt.Sprintf("%s is %v", at, got)
		}
	}
	return ""
}

// TestServeStrangers sends requests that untrusted users might send. Each must get a clear error,
// and none may disturb the server.
func TestServeStrangers(t *testing.T) {
	// A recursion that is followed to its end takes up to 300 MB of stack, old and new, on machines
	// with many cores.
	s := startServer(t, "--max-elements", "5000", "--max-memory", "1000000000")
	plain := `"model": "parameters { real x; } model { x ~ normal(0, 1); }"`
	for _, test := range []struct {
		path, body string
		status     int
		message    string
	}{
		{"run", ``, 400, "the request is empty"},
		{"run", `{"modle": ""}`, 400, `unknown field`},
		{"run", `{"model": 1}`, 400, `malformed: model cannot be a number`},
		{"run", `{"model": "", "seed": -1}`, 400, `malformed: seed cannot be a number -1`},
		{"run", `{} {}`, 400, `text after the closing }`},
		{"run", `{"model": " "}`, 400, `the request has no model`},
		{"run", `{` + plain + `, "draws": 10, "Draws": 20}`, 400, `two values for Draws`},
		{"run", `{` + plain + `, "sampler_options": {"delta": 0.8, "delta": 0.9}}`, 400, `two values for sampler_options.delta`},
		{"run", `{` + plain + `, "data": {"N": 1, "N": 2}}`, 422, `two values for N`},
		{"run", `{` + plain + `, "chains": 0}`, 400, `"chains must be at least 1, but is 0"`},
		{"run", `{` + plain + `, "chains": 4000000000000000000, "warmup": 0, "draws": 0}`, 400, `chains must be at most`},
		{"run", `{` + plain + `, "draws": 4000000000000000000, "thin": 9223372036854775807}`, 400, `draws must be at most`},
		{"run", `{` + plain + `, "draws": 100, "thin": 9223372036854775807, "warmup": 10, "seed": 1}`, 400, `thin must be at most`},
		{"run", `{` + plain + `, "sampler": "nut"}`, 400, "did you mean nuts?"},
		{"run", `{` + plain + `, "sampler_options": {"draws": 1}}`, 400, `the sampler has no option`},
		{"run", `{` + plain + `, "sampler_options": {"delta": 2}}`, 400, `must be less than 1`},
		{"run", `{` + plain + `, "init": "/etc/passwd"}`, 400, `init must be a radius`},
		{"run", `{` + plain + `, "init": {"x": "a"}}`, 422, `init:1:7: error: x is the string`},
		{"run", `{` + plain + `, "init": 1e999}`, 400, `init must be a radius`},
		{"run", `{` + plain + `, "columns": ["y"]}`, 400, `no quantity`},
		{"run", `{` + plain + `, "columns": ["*"], "draws": 2000}`, 422, `"limit":"elements"`},
		{"run", `{` + plain + `, "limits": {"seconds": 0}}`, 400, `must be at least 1`},
		{"run", `{` + plain + `, "limits": {"time": 1}}`, 400, `no limit is called`},
		{"run", `{` + plain + `, "time_limit": -1}`, 400, `time_limit`},
		{"run", `{` + plain + `, "stan_compat": "1.0"}`, 422, `1.0`},
		{"run", `{"model": "data { array[6000] int y; }", "data": {"y": [` + strings.Repeat("1,", 5999) + `1]}}`, 422, `"limit":"elements"`},
		{"run", `{"model": "#include ../../go.mod\nparameters { real x; }"}`, 422, `files cannot be included here`},
		{"run", `{"model": "parameters { real x; } model { reject(\"no\"); }"}`, 422, `no values of the parameters are possible: no`},
		{"run", `{"model": "parameters { real x; } model { x ~ normal(0, -1); }", "chains": 1}`, 422, `"kind":"model"`},
		{"run", `{"model": "transformed data { for (i in 1:20000) { } }", "limits": {"statements": 1000}}`, 422, `"limit":"statements","message":"model.stan:1:`},
		{"run", `{"model": "transformed data { vector[400000000] v; }"}`, 422, `"limit":"memory"`},
		{"run", `{"model": "transformed data { array[60000, 60000] int v; }"}`, 422, `"limit":"memory"`},
		{"run", `{"model": "functions { real f(real x) { return f(x + 1); } } parameters { real x; } model { target += f(x); }"}`, 422, `calls itself without end`},
		{"logdensity", `{` + plain + `, "points": [[1, 2]]}`, 400, `point 1 has 2 numbers`},
		{"logdensity", `{` + plain + `, "points": []}`, 200, `"log_density":[]`},
		{"summary", `{"draws": {"a": [[1, 2, 3, 4]], "A": [[1, 2, 3, 4]]}}`, 200, `"A"`},
		{"summary", `{}`, 400, `there are no draws`},
		{"summary", `{"draws": {"a": []}}`, 400, `draws of 0 chains`},
		{"summary", `{"draws": {"a": [[1, 2]], "b": [[1]]}}`, 400, `b has 1 draws in chain 1`},
		{"summary", `{"draws": {"a": [[1, "NaN", "Infinity", "-Infinity"]]}}`, 200, `"mean":"NaN"`},
		{"check", `{"model": ""}`, 200, `"ok":`},
	} {
		status, got := s.answer(t, "/v1/"+test.path, "", test.body)
		if status != test.status || !strings.Contains(got, test.message) {
			t.Errorf("%s %.120s: status %d, %.300s\nwant %d with %s", test.path, test.body, status, got, test.status, test.message)
		}
	}
	if serve.MemoryEnforced {
		for _, model := range []string{
			"transformed data { array[2] matrix[30000, 30000] m = rep_array(rep_matrix(1, 30000, 30000), 2); } ",
			"transformed data { vector[200000000] v = linspaced_vector(200000000, 0, 1); } ",
		} {
			status, got := s.answer(t, "/v1/run", "", `{"model": "`+model+`parameters { real x; } model { x ~ normal(0, 1); }"}`)
			if status != 422 || !strings.Contains(got, `"limit":"memory","message":"model.stan:1:`) {
				t.Errorf("%s: status %d, %s", model, status, got)
			}
		}
	}
	if status, got := s.answer(t, "/v1/run", "", `{`+plain+`, "warmup": 10, "draws": 10}`); status != 200 {
		t.Errorf("after all that: status %d, %s", status, got)
	}
}

// TestServeParallel makes fifty requests at once. All must get the same draws, and a cancelled
// request must free its process.
func TestServeParallel(t *testing.T) {
	s := startServer(t, "--processes", "2", "--queue", "60")
	body := `{"model": "parameters { real x; } model { x ~ normal(0, 1); }", "seed": 3, "chains": 1, "warmup": 50, "draws": 3, "columns": ["x"]}`
	var all sync.WaitGroup
	answers := make([]string, 50)
	for i := range answers {
		all.Go(func() {
			if i%5 == 0 { // this client hangs up during the work
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				if r, err := s.post(ctx, "/v1/run", "", `{"model": "transformed data { while (1) { } } parameters { real x; } model { x ~ normal(0, 1); }"}`); err == nil {
					r.Body.Close()
					t.Error("a model that does not end has an answer")
				}
				return
			}
			r, err := s.post(t.Context(), "/v1/run", "", body)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Body.Close()
			var fit struct {
				Draws json.RawMessage `json:"draws"`
			}
			if err := json.NewDecoder(r.Body).Decode(&fit); err != nil || r.StatusCode != 200 {
				t.Errorf("status %d, %v", r.StatusCode, err)
			}
			answers[i] = string(fit.Draws)
		})
	}
	all.Wait()
	for i, a := range answers {
		if i%5 != 0 && (a == "" || a != answers[1]) {
			t.Errorf("request %d has the draws %s, request 1 %s", i, a, answers[1])
		}
	}
}

// TestServeEnds checks that the server ends after Ctrl-C or SIGTERM, with exit code 0, once the
// current requests are answered.
func TestServeEnds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) { serveEnds(t, signal) })
	}
}

func serveEnds(t *testing.T, signal os.Signal) {
	s := startServer(t, "--grace", "60s")
	r, err := s.post(t.Context(), "/v1/run", "text/event-stream", `{"model": "parameters { vector[20] x; } model { x ~ normal(0, 1); }", "draws": 20000, "chains": 1, "seed": 1}`)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close() // the header has arrived, so the run is under way
	if err := s.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil || !strings.Contains(string(text), "\nevent: result\n") {
		t.Errorf("%v: %.300s", err, text)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestServeSandbox checks that the server reports how its processes are confined, and that it does
// not start if it must confine them and cannot. Each kind of work must succeed in a confined
// process.
func TestServeSandbox(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("no processes")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		cmd := exec.Command(os.Args[0], "serve", "--listen", "127.0.0.1:0", "--require-sandbox")
		cmd.Args[0] = "ppl"
		if text, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(text), "cannot confine") {
			t.Errorf("%v: %s", err, text)
		}
		return
	}
	s := startServer(t, "--require-sandbox")
	model := `"model": "parameters { real x; } model { x ~ normal(0, 1); }"`
	for _, r := range []struct{ kind, body string }{
		{"check", `{` + model + `, "limits": {"seconds": 50}}`}, {"run", `{` + model + `, "draws": 10, "limits": {"seconds": 50, "memory": 500000000}}`},
		{"logdensity", `{` + model + `, "points": [[0]]}`}, {"summary", `{"draws": {"mu": [[1, 2, 3, 4]]}}`},
	} {
		if status, got := s.answer(t, "/v1/"+r.kind, "", r.body); status != 200 {
			t.Errorf("%s: status %d, %s", r.kind, status, got)
		}
	}
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
	s.copied.Wait()
	if !strings.Contains(s.log.String(), "confined by seccomp") {
		t.Errorf("the server says\n%s", s.log)
	}
}

// FuzzServeRequest checks that reading any request gives options or a failure of the right kind. It
// does no work.
func FuzzServeRequest(f *testing.F) {
	for _, seed := range []string{
		`{"model": "x", "chains": 1, "warmup": 0, "draws": 1e3, "thin": -1, "sampler": "hmc", "sampler_options": {"delta": 0.9, "steps": "a", "max_depth": 3}}`,
		`{"model": "x", "limits": {"seconds": 9223372036854775807, "memory": -1}, "seed": 18446744073709551615, "time_limit": 1e300}`,
		`{"model": "x", "init": {"a": [1, "NaN"]}, "target_ess": 1e400}`, `{"draws": {"mu": [[1, "NaN"], [2, 3]]}}`, `null`, `[`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := &serve.Call{Body: body, Limits: serve.DefaultLimits()}
		var r runRequest
		err := decode(c, &r)
		if err == nil {
			if r.Seed == nil {
				r.Seed = new(uint64)
			}
			_, err = r.options()
			err = failed(err)
		}
		if err != nil && !errors.As(err, new(*serve.Failure)) {
			t.Errorf("%T: %v", err, err)
		}
	})
}
