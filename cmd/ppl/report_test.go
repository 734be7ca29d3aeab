package main

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// browserVariable is the environment variable with the path of Chromium. If it is set, tests open
// pages in it and check their content.
const browserVariable = "PPL_BROWSER"

// TestReportInBrowser checks the page in a browser. The table must equal the output of ppl summary,
// and all plots must be drawn. The page must show the selection in its address, and must not
// interpret names as HTML.
func TestReportInBrowser(t *testing.T) {
	browser := os.Getenv(browserVariable)
	if browser == "" {
		t.Skipf("no browser: %s is not set, as in %s=/usr/bin/chromium", browserVariable, browserVariable)
	}
	dir := t.TempDir()
	data, err := filepath.Abs(filepath.Join("..", "..", "examples", "eight_schools", "eight_schools.data.json"))
	if err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "m.stan")
	if err := os.WriteFile(model, []byte(`data { int<lower=0> J; vector[J] y; vector<lower=0>[J] sigma; }
parameters { real mu; real<lower=0> tau; vector[J] theta; }
model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); theta ~ normal(mu, tau); y ~ normal(theta, sigma); }
generated quantities { int above = mu > 4; vector[30] far; for (i in 1:30) far[i] = 1e9 * theta[1] + i; }`), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		var out, errs strings.Builder
		if code := execute(args, &out, &errs); code != 0 {
			t.Fatalf("ppl %s: exit code %d\n%s", strings.Join(args, " "), code, errs.String())
		}
		return out.String()
	}
	fit := filepath.Join(dir, "fit")
	run("run", model, "--data", data, "--seed", "1", "--draws", "300", "-q", "--out", fit)
	run("report", fit)
	// look returns the page as it is in the browser once its script has run.
	look := func(path, state string, width int) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String() + "#" + state
		out, err := exec.CommandContext(ctx, browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(dir, "profile"),
			fmt.Sprintf("--window-size=%d,900", width), "--virtual-time-budget=3000", "--dump-dom", address).Output()
		if err != nil {
			t.Fatalf("%s: %v", browser, err)
		}
		return string(out)
	}
	tags := regexp.MustCompile(`<[^>]*>`)
	rows := func(page string) [][]string {
		var out [][]string
		_, page, _ = strings.Cut(page, `<table class="summary brief">`)
		page, _, _ = strings.Cut(page, "</table>")
		for _, m := range regexp.MustCompile(`(?s)<tr[^>]*>(.*?)</tr>`).FindAllStringSubmatch(page, -1) {
			var cells []string
			for _, c := range regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`).FindAllStringSubmatch(m[1], -1) {
				cells = append(cells, html.UnescapeString(tags.ReplaceAllString(c[1], "")))
			}
			out = append(out, cells)
		}
		return out
	}
	for _, width := range []int{360, 900, 1600} {
		page := look(filepath.Join(fit, "report.html"), "q=tau", width)
		if n := strings.Count(page, `class="plot"`); n < 10 {
			t.Errorf("at width %d there are %d plots", width, n)
		}
		var want [][]string
		for line := range strings.Lines(run("summary", fit)) {
			if f := strings.Fields(line); len(f) == 10 && len(want) < 20 {
				want = append(want, f)
			} else if len(f) == 0 {
				break
			}
		}
		got := rows(page)
		if len(got) != 21 || len(want) != 20 {
			t.Fatalf("at width %d: %d rows, want %d", width, len(got)-1, len(want))
		}
		for i := range want {
			if !slices.Equal(got[i+1], want[i]) {
				t.Errorf("at width %d: %v, but the summary says %v", width, got[i+1], want[i])
			}
		}
	}
	sorted := rows(look(filepath.Join(fit, "report.html"), "find=theta&sort=ess_tail+ascending", 900))
	if len(sorted) != 9 {
		t.Fatalf("%d rows with theta", len(sorted)-1)
	}
	last := -1
	for _, r := range sorted[1:] {
		var ess int
		if _, err := fmt.Sscan(r[8], &ess); err != nil || ess < last || !strings.HasPrefix(r[0], "theta[") {
			t.Errorf("sorted by ess_tail after %d: %v", last, r)
		}
		last = ess
	}

	odd := filepath.Join(dir, "odd_1.csv")
	text := "lp__,<img src=x onerror=document.title='run'>,const,nan\n"
	for i := range 40 {
		text += fmt.Sprintf("0,%d.5,2.5,nan\n", (i*7)%11)
	}
	if err := os.WriteFile(odd, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	run("report", odd, "--out", filepath.Join(dir, "odd.html"))
	page := look(filepath.Join(dir, "odd.html"), "", 900)
	if strings.Contains(page, "<img") || !strings.Contains(page, "&lt;img src=x") || !strings.Contains(page, "<title>odd_1") {
		t.Error("a name is read as HTML")
	}
}

// TestReportFigure writes single plots by name, and lists the names that exist.
func TestReportFigure(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "m.stan")
	if err := os.WriteFile(model, []byte(`parameters { real mu; vector[3] theta; } model { mu ~ normal(0, 1); theta ~ normal(mu, 1); }`), 0o666); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	fit := filepath.Join(dir, "fit")
	if code := execute([]string{"run", model, "--seed", "1", "--draws", "100", "--chains", "2", "-q", "--out", fit}, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	plots := filepath.Join(dir, "plots")
	if code := execute([]string{"report", fit, "--figure", "intervals:theta", "--figure", "density:theta[2]", "--figure", "pairs:mu,theta[3]", "--plots", plots}, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	found, err := filepath.Glob(filepath.Join(plots, "*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	if want := []string{"density_theta_2.csv", "intervals_theta.csv", "pairs_mu_theta_3.csv"}; !slices.Equal(found, want) {
		t.Errorf("%q, want %q", found, want)
	}
	if _, err := os.Stat(filepath.Join(fit, "report.html")); err == nil {
		t.Error("a page is written, too")
	}
	errs.Reset()
	if code := execute([]string{"report", fit, "--figure", "survival"}, &out, &errs); code != 2 || !strings.Contains(errs.String(), "density:QUANTITY") || !strings.Contains(errs.String(), "intervals") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}

// TestReportCompared writes one page about two runs: with the comparison of their predictions, or
// with the reason why there is none. Flags for one run are refused.
func TestReportCompared(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) (int, string) {
		var out, errs strings.Builder
		code := execute(args, &out, &errs)
		return code, out.String() + errs.String()
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"d.json": `{"y": [1, 2, 4, 3]}`, "other.json": `{"y": [1, 2, 4, 3.5]}`,
		"a.stan": "data { array[4] real y; } parameters { real mu; } model { mu ~ normal(0, 5); y ~ normal(mu, 1); }",
		"b.stan": "data { array[4] real y; } parameters { real mu; real<lower=0> s; } model { mu ~ normal(0, 5); s ~ exponential(1); y ~ normal(mu, s); }",
	} {
		if err := os.WriteFile(path(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, fit := range [][3]string{{"a", "a.stan", "d.json"}, {"b", "b.stan", "d.json"}, {"c", "b.stan", "other.json"}} {
		if code, text := run("run", path(fit[1]), "--data", path(fit[2]), "--seed", "1", "--draws", "100", "-q", "--out", path(fit[0])); code != 0 {
			t.Fatal(text)
		}
	}
	for second, want := range map[string]string{"b": "Which predicts best", "c": "the values of y differ"} {
		page := path("ab.html")
		if code, text := run("report", path("a"), path(second), "--out", page); code != 0 || text != "Report: "+page+"\n" {
			t.Fatal(code, text)
		}
		text, err := os.ReadFile(page)
		if err != nil || !strings.Contains(string(text), want) || !strings.Contains(string(text), "Parameters of the fits") {
			t.Errorf("with %s: %v, no %q", second, err, want)
		}
	}
	if code, text := run("report", path("a"), path("b"), "--json"); code != 2 || !strings.Contains(text, "are for one run") {
		t.Errorf("exit code %d: %s", code, text)
	}
}
