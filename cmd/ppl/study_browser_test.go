package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStudyInBrowser checks the page of a study in a browser, at three widths, light and dark.
// Nothing may be wider than the window, all plots must be drawn, and a click on a name must lead to
// the plots of that quantity. Names must not be read as HTML, and the page must be small.
func TestStudyInBrowser(t *testing.T) {
	program := os.Getenv(browserVariable)
	if program == "" {
		t.Skipf("no browser: %s is not set, as in %s=/usr/bin/chromium", browserVariable, browserVariable)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"m.stan": `data { int N; vector[N] y; }
parameters { real mu; real<lower=0> tau; }
model { mu ~ normal(0, 5); tau ~ exponential(1); y ~ normal(mu, tau); }`,
		"plan.yaml": `models: {"<b>one</b>": m.stan, two: m.stan}
data:
  - simulate: true
    data: {N: 5}
    sets: 60
  - values: {N: 3, y: [1]}
    name: "</script><script>document.title='read as HTML'</script>"
options: {chains: 2, warmup: 150, draws: 100}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) {
		t.Helper()
		var out, errs strings.Builder
		if code := execute(args, &out, &errs); code != 0 {
			t.Fatalf("ppl %s: exit code %d\n%s", strings.Join(args, " "), code, errs.String())
		}
	}
	folder := filepath.Join(dir, "study")
	run("study", filepath.Join(dir, "plan.yaml"), "--out", folder, "-q")
	run("report", folder, "--title", "a <i>study</i>")
	path := filepath.Join(folder, "report.html")
	if info, err := os.Stat(path); err != nil || info.Size() > 100_000 {
		t.Errorf("%v %v", info, err)
	}
	c := startChromium(t, program)
	c.window(1400, 900, false)
	c.open((&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String())
	// Three plots for the quantity, one of coverage for each model, and one of the times.
	c.until("the plots", "document.querySelectorAll('svg.plot').length === 6")
	for what, want := range map[string]string{
		"document.querySelector('h1').textContent": "a <i>study</i>",
		"document.title": "a <i>study</i> – ppl report",
		"document.querySelectorAll('table.summary tbody tr').length":                                  "4",
		"document.querySelector('#quantity h2').textContent":                                          "<b>one</b>: mu",
		"[...document.querySelectorAll('.table-card td')].some((e) => e.textContent.includes('</s'))": "true",
	} {
		if got := c.eval(what); got != want {
			t.Errorf("%s is %q, not %q", what, got, want)
		}
	}
	c.eval("[...document.querySelectorAll('table.summary tbody button')].find((b) => b.textContent === 'two: tau').click()")
	c.until("the plots of a quantity", "document.querySelector('#quantity h2').textContent === 'two: tau' && document.querySelectorAll('#quantity svg.plot').length === 3")
	for _, width := range []int{1400, 800, 360} {
		for _, dark := range []bool{false, true} {
			c.window(width, 2000, dark)
			time.Sleep(200 * time.Millisecond)
			if wide := c.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth"); wide != "0" {
				t.Errorf("at a width of %d the page is %s wider", width, wide)
			}
			if n := c.eval("[...document.querySelectorAll('svg.plot')].filter((e) => e.getBoundingClientRect().width > 200 && e.querySelector('path.line, line.span')).length"); n != "6" {
				t.Errorf("at a width of %d, %s plots are drawn", width, n)
			}
			c.shot(fmt.Sprintf("study-%d-%v", width, dark))
		}
	}
	c.quiet()

	// If a study kept neither R-hat nor effective sample sizes, the page says so.
	few := filepath.Join(dir, "few.yaml")
	if err := os.WriteFile(few, []byte("models: m.stan\ndata: [{values: {N: 2, y: [1, 2]}}]\noptions: {chains: 2, warmup: 150, draws: 100}\nkeep: {statistics: [mean]}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	run("study", few, "--out", filepath.Join(dir, "few"), "-q")
	run("report", filepath.Join(dir, "few"))
	c.open((&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, "few", "report.html"))}).String())
	c.until("the foot", "document.querySelector('footer').textContent.includes('no network')")
	if got := c.eval("[document.querySelectorAll('table.summary thead th').length, document.querySelectorAll('#quantity .empty:not([hidden])').length, document.querySelectorAll('svg.plot').length].join()"); got != "2,2,1" {
		t.Errorf("columns, empty plots and plots: %s", got)
	}
	c.quiet()
}
