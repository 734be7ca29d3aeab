package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	brief "github.com/ppl-lang/ppl/internal/short"
)

// watched runs a model with --watch and returns once its server answers. It returns the address,
// the token, the exit code to come and the output.
func watched(t *testing.T, args ...string) (url, token string, ended chan int, out *strings.Builder) {
	t.Helper()
	reader, writer := io.Pipe()
	ended, out = make(chan int, 1), &strings.Builder{}
	found := make(chan []string, 1)
	go func() {
		lines := bufio.NewScanner(reader)
		for lines.Scan() {
			if m := regexp.MustCompile(`^Watch the run at (http://127\.0\.0\.1:\d+)/#token=(\w+)$`).FindStringSubmatch(lines.Text()); m != nil {
				found <- m
			}
		}
	}()
	go func() {
		code := execute(append([]string{"run"}, args...), out, writer)
		writer.Close()
		ended <- code
	}()
	select {
	case m := <-found:
		return m[1], m[2], ended, out
	case <-time.After(time.Minute):
		t.Fatal("no address is told")
	}
	return
}

// ask sends a request with the token.
func ask(t *testing.T, method, url, token string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// TestWatch checks that a page can follow a run to its end. The page must receive progress and
// draws, be able to stop the run, and get the whole report before the command ends.
func TestWatch(t *testing.T) {
	brief.Skip(t, "two chains run all the while; TestWatchNobody has a page that nobody reads")
	dir := t.TempDir()
	model := filepath.Join(dir, "m.stan")
	if err := os.WriteFile(model, []byte("parameters { vector[3] x; } model { x ~ normal(0, 1); }"), 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "fit")
	url, token, ended, _ := watched(t, model, "--seed", "1", "--draws", "10000000", "--warmup", "200", "--watch", "--out", out, "--chains", "2")

	page := ask(t, "GET", url+"/", "")
	text, err := io.ReadAll(page.Body)
	if err != nil || page.StatusCode != 200 || !strings.Contains(page.Header.Get("Content-Security-Policy"), "default-src 'none'") || !strings.Contains(string(text), "ppl report") || strings.Contains(string(text), token) {
		t.Errorf("the page: %s, %v", page.Status, err)
	}
	for _, path := range []string{"/events", "/report", "/quantity?row=0"} {
		if a := ask(t, "GET", url+path, ""); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without the token: %s", path, a.Status)
		}
	}
	if a := ask(t, "POST", url+"/stop", "wrong"); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("a run can be stopped without the token: %s", a.Status)
	}

	events := bufio.NewReader(ask(t, "GET", url+"/events", token).Body)
	next := func() (name, data string) {
		for {
			line, err := events.ReadString('\n')
			if err != nil {
				t.Fatalf("the events end: %v", err)
			}
			if v, ok := strings.CutPrefix(line, "event: "); ok {
				name = strings.TrimSpace(v)
			}
			if v, ok := strings.CutPrefix(line, "data: "); ok {
				return name, strings.TrimSpace(v)
			}
		}
	}
	told := map[string]int{}
	schemas := readSchemas(t)
	for told["changed"] == 0 {
		name, data := next()
		told[name]++
		if name == "progress" && told[name] == 1 {
			var p watchedRun
			// A chain whose warm-up ended early has fewer than its 200 warm-up iterations. This
			// event may come before or after that.
			if err := json.Unmarshal([]byte(data), &p); err != nil || p.Title != "m" || len(p.Chains) != 2 || p.Chains[0].Total <= 10000000 || p.Chains[0].Total > 10000200 {
				t.Errorf("progress %s: %v", data, err)
			}
			conforms(t, schemas["watch"], data)
		}
	}
	var now struct {
		Run     struct{ Running bool }
		Summary struct{ Name []string }

		Figures    []struct{ Kind string }
		Quantities []struct{ Name string }
	}
	if err := json.NewDecoder(ask(t, "GET", url+"/report", token).Body).Decode(&now); err != nil || !now.Run.Running || fmt.Sprint(now.Summary.Name) != "[x[1] x[2] x[3]]" {
		t.Errorf("the report so far: %+v, %v", now, err)
	}
	kinds := map[string]bool{}
	for _, f := range now.Figures {
		kinds[f.Kind] = true
	}
	if !kinds["pairs"] || !kinds["intervals"] || !kinds["energy"] || len(now.Quantities) != 2 {
		t.Errorf("figures of the report so far: %v, quantities %v", kinds, now.Quantities)
	}
	var q struct {
		Name    string
		Figures []struct{ Kind string }
	}
	if err := json.NewDecoder(ask(t, "GET", url+"/quantity?row=1", token).Body).Decode(&q); err != nil || q.Name != "x[2]" || len(q.Figures) != 5 {
		t.Errorf("a quantity: %+v, %v", q, err)
	}
	if a := ask(t, "GET", url+"/quantity?row=9", token); a.StatusCode != http.StatusNotFound {
		t.Errorf("a quantity that is not there: %s", a.Status)
	}

	if a := ask(t, "POST", url+"/stop", token); a.StatusCode != http.StatusOK {
		t.Errorf("stop: %s", a.Status)
	}
	for told["report"] == 0 {
		name, data := next()
		told[name]++
		if name == "report" && (!strings.Contains(data, `"interrupted":true`) || !strings.Contains(data, `"quantities":[{`) || !strings.Contains(data, `"file":`)) {
			t.Errorf("the last report: %.300s", data)
		}
	}
	if code := <-ended; code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Stat(filepath.Join(out, "report.html")); err != nil {
		t.Error(err)
	}
}

// TestWatchNobody checks that a run whose page nobody opens ends normally and writes its report.
func TestWatchNobody(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	model := filepath.Join(dir, "m.stan")
	if err := os.WriteFile(model, []byte("parameters { real x; } model { x ~ normal(0, 1); }"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, _, ended, out := watched(t, model, "--seed", "1", "--watch", "--draws", "200")
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(out.String(), "ess_bulk") {
		t.Errorf("no summary: %s", out)
	}
	found, _ := filepath.Glob(filepath.Join(dir, "ppl-report-*", "m.html"))
	if len(found) != 1 {
		t.Errorf("reports: %v", found)
	}
}
