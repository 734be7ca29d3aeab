package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/front/httpd"
)

// builtPlayground builds the playground once for all tests.
var builtPlayground = sync.OnceValues(func() (map[string][]byte, error) {
	return playgroundFiles(context.Background(), func(string) {})
})

// playgroundAt serves the playground until the test ends.
func playgroundAt(t testing.TB) string {
	t.Helper()
	files, err := builtPlayground()
	if err != nil {
		t.Fatal(err)
	}
	server, err := httpd.Listen(httpd.Options{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	serveFiles(server, files)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); server.Serve(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return server.URL() + "/"
}

// TestPlaygroundInBrowser uses the playground as a newcomer would. It types a model, with
// completion. A mistake is marked and explained, and a button fixes it. The model runs on simulated
// data, and the page shows the table.
func TestPlaygroundInBrowser(t *testing.T) {
	c, address := playgroundInBrowser(t)
	c.window(1400, 1000, false)
	c.open(address)
	c.until("the example", "document.getElementById('model-text').value.includes('theta')")
	c.until("no errors", "document.getElementById('messages-count')?.textContent === 'No errors'")
	c.until("colours", "document.querySelectorAll('.picture .t-keyword').length > 5")

	// Typing replaces the whole example.
	c.eval("document.getElementById('model-text').focus(); document.getElementById('model-text').select()")
	c.key("Delete", 46, 0)
	c.keys("data {\nint<lower=0> N;\nvector[N] y;\n}\nparameters {\nreal mu;\nreal<lower=0> sigma;\n}\nmodel {\nmu ~ normal(0, 10);\nsigma ~ exponential(1);\ny ~ stud")
	c.until("completion", "!document.getElementById('completions').hidden && document.querySelector('#completions [aria-selected=true] .label').textContent === 'student_t'")
	if got := c.eval("document.getElementById('model-text').getAttribute('aria-activedescendant') + ' ' + document.getElementById('model-text').getAttribute('aria-expanded')"); got != "completion-0 true" {
		t.Errorf("a screen reader is told of completions by %q", got)
	}
	c.shot("completion")
	c.key("Escape", 27, 0)
	for range 4 {
		c.key("Backspace", 8, 0)
	}
	c.keys("nromal(mu, sigma);\n}\n")
	c.until("the mistake is said", "document.querySelector('.message.s-error')?.textContent.includes('nromal')")
	c.until("the mistake is marked", "document.querySelector('.picture .m-error')?.textContent === 'nromal'")
	if got := c.eval("document.getElementById('model-text').value"); !strings.Contains(got, "data {\n  int<lower=0> N;\n  vector[N] y;\n}\n") {
		t.Errorf("the text is not laid out while it is typed:\n%s", got)
	}
	c.shot("mistake")

	// A run reports the mistake, too.
	c.key("Enter", 13, controlKey)
	c.until("the run is refused", "!document.getElementById('failure').hidden && document.getElementById('failure').textContent.includes('nromal')")

	c.eval("document.querySelector('.message .fix').click()")
	c.until("the mistake is fixed", "document.getElementById('model-text').value.includes('y ~ normal(mu, sigma)') && document.getElementById('messages-count').textContent === 'No errors'")
	c.eval("const d = document.getElementById('data-text'); d.value = ''; d.dispatchEvent(new Event('input')); document.getElementById('generate').click()")
	c.until("data", "document.getElementById('data-about').textContent.includes('has drawn y')")
	c.eval("document.getElementById('shapes').click()")
	c.until("sizes", "[...document.querySelectorAll('.hint')].some((e) => e.textContent.includes('50'))")
	c.eval("performance.clearMarks(); document.getElementById('model-text').focus()")
	c.key("Enter", 13, controlKey)
	c.until("the result", "performance.getEntriesByName('ppl-result').length === 1")
	c.until("the table", "[...document.querySelectorAll('table.summary tbody th')].map((e) => e.textContent).join() === 'mu,sigma'")
	c.until("the report", "performance.getEntriesByName('ppl-report').length === 1 && document.querySelectorAll('svg.plot').length >= 8")
	if got := c.eval("document.getElementById('run-status').textContent"); !strings.Contains(got, "4\u202f000 draws") {
		t.Errorf("the run says %q", got)
	}

	// The link contains model and data, so that a browser without stored state can open it.
	c.eval("document.getElementById('share').click()")
	c.until("the link", "location.hash.startsWith('#m=')")
	link, model := c.eval("location.href"), c.eval("document.getElementById('model-text').value")
	c.eval("localStorage.clear(); window.onbeforeunload = null; playground.begun = false")
	c.open("about:blank")
	c.open(link)
	c.until("the model of the link", "document.getElementById('model-text').value === "+quotedJS(model)+" && document.getElementById('note').textContent.includes('link')")
	c.until("the data of the link", "document.getElementById('data-about').textContent.includes('N = 50')")
	c.quiet()
}

// TestPlaygroundInBrowserBad gives the page bad models and data. The page must report each problem
// and continue to work.
func TestPlaygroundInBrowserBad(t *testing.T) {
	c, address := playgroundInBrowser(t)
	c.window(900, 900, false)
	c.open(address)
	c.until("the example", "document.getElementById('model-text').value.includes('theta')")
	run := func(model, data string) {
		t.Helper()
		c.eval("playground.take({name: 'm.stan', model: " + quotedJS(model) + ", data: " + quotedJS(data) + ", chains: 2}); playground.run(); 0")
	}
	alive := func(what string) {
		t.Helper()
		c.until(what+": another run", "!playground.runner.running")
		// In a single evaluation, since the report of the previous run may arrive at any time.
		c.eval("performance.clearMarks(); playground.take({name: 'm.stan', model: 'parameters { real x; } model { x ~ normal(0, 1); }', data: '', chains: 2}); playground.run(); 0")
		c.until(what+": the page lives", "performance.getEntriesByName('ppl-report').length === 1")
	}

	run("parameters { real x; } model { real y = x; while (y < 1 || y >= 1) y += 1; x ~ normal(y, 1); }", "")
	c.until("a model that never ends runs", "playground.runner.running && playground.runner.run.bound > 0")
	time.Sleep(time.Second)
	c.eval("document.getElementById('stop').click()")
	c.until("it is stopped", "document.getElementById('run-status').textContent.startsWith('Stopped')")
	alive("a model that never ends")

	run("transformed data { real y = 0; while (1) y += 1; } parameters { real x; } model { x ~ normal(0, 1); }", "")
	c.until("data that never end are refused", "document.getElementById('failure').textContent.includes('statements')")
	alive("data that never end")

	run("parameters { real x; } model { x ~ normal(0, 1); for (i in 1:100000) print(\"all work and no play \", i); }", "")
	c.until("a flood of prints is shown", "document.getElementById('printed-text').textContent.includes('is not shown')")
	if got := c.eval("document.getElementById('printed-text').textContent.length < 60000"); got != "true" {
		t.Error("too much is shown of what a model prints")
	}
	c.eval("playground.runner.stop()")
	alive("a flood of prints")

	run("transformed data { array[300] vector[100000] x = rep_array(rep_vector(1, 100000), 300); array[300] vector[100000] y = x; array[300] vector[100000] z = y; } parameters { real m; } model { for (i in 1:300) { x[i] ~ normal(m, 1); y[i] ~ normal(m, 1); z[i] ~ normal(m, 1); } }", "")
	c.until("a model that takes all memory ends", "!playground.runner.running || playground.runner.run.bound > 0")
	c.eval("playground.runner.stop()")
	alive("a model that takes all memory")

	c.eval("const f = new File([new Uint8Array(100 << 20)], 'large.csv'); playground.data.changed(); playground.data.open(f); 0")
	c.until("100 MB are refused", "document.getElementById('data-about').textContent.includes('100 MB')")
	time.Sleep(500 * time.Millisecond) // an answer about the previous data must not replace the new one
	if got := c.eval("document.getElementById('data-about').textContent"); !strings.Contains(got, "100 MB") {
		t.Errorf("after the refusal of 100 MB stands %s", got)
	}
	c.eval("const g = new File(['x\\n' + '1.25\\n'.repeat(8 << 20)], 'long.csv'); playground.data.open(g); 0")
	c.until("40 MB are read", "document.getElementById('data-about').textContent.includes('8388608 numbers') && document.getElementById('data-text').value.length < 3000")
	c.eval("document.getElementById('counts').value = 'N'; playground.data.changed()")
	alive("long data")

	c.open(address + "#m=thisisnothing")
	c.until("a broken link is said", "document.getElementById('note').textContent.includes('cannot be read')")
	run("parameters { vector<img src=x onerror=alert(1)> x; }", "{\"<img src=x onerror=alert(1)>\": 1}")
	c.until("names are no HTML", "document.getElementById('failure').textContent.includes('<img')")
	if got := c.eval("document.querySelectorAll('img').length"); got != "0" {
		t.Errorf("%s pictures are in the page", got)
	}
	c.quiet()
}

// TestPlaygroundInBrowserTable opens a table with a factor, which a model reads. Completion writes
// the arguments of a function, and Tab goes through them before it leaves the editor. The page
// explains the name under the cursor, and offers the folder of the run with its report.
func TestPlaygroundInBrowserTable(t *testing.T) {
	c, address := playgroundInBrowser(t)
	c.window(1100, 900, true)
	c.open(address)
	c.until("the example", "document.getElementById('model-text').value.includes('theta')")
	c.eval("playground.data.open(new File(['school,y\\nAston,1.5\\nBolton,2\\nAston,3\\nCrewe,2.5\\n'], 'schools.csv')); 0")
	c.until("the levels", "document.getElementById('data-about').textContent.includes('3 levels (Aston, Bolton, Crewe)')")
	c.eval("document.getElementById('counts').focus(); document.getElementById('counts').select()")
	c.keys("N, J=school")
	c.until("what is counted", "document.getElementById('data-about').textContent.includes('N = 4') && document.getElementById('data-about').textContent.includes('J = 3')")
	c.eval("document.getElementById('model-text').focus(); document.getElementById('model-text').select()")
	c.key("Delete", 46, 0)
	c.keys("data {\nint N, J;\narray[N] int<lower=1, upper=J> school;\nvector[N] y;\n}\nparameters {\nvector[J] m;\n}\nmodel {\nm ~ normal(0, 10);\ny ~ norm")
	c.until("completion", "document.querySelector('#completions:not([hidden]) [aria-selected=true] .label')?.textContent === 'normal'")
	c.key("Tab", 9, 0)
	c.until("the first argument is chosen", "(() => { const a = document.getElementById('model-text'); return /y ~ normal\\(\\w+, \\w+\\)/.test(a.value) && a.value.slice(a.selectionStart, a.selectionEnd) === 'mu'; })()")
	c.keys("m[school]")
	c.key("Escape", 27, 0)
	c.eval("document.getElementById('about').open = true; 0")
	c.until("what the cursor is on", "document.getElementById('about-text').textContent.includes('location') || document.getElementById('about-text').textContent.includes('mu')")
	c.eval("const a = document.getElementById('model-text'); const at = a.value.indexOf(', sigma'); a.setSelectionRange(at + 2, at + 7)")
	c.keys("1);\n}\n")
	c.until("no errors", "document.getElementById('messages-count').textContent === 'No errors'")
	c.shot("table")
	c.key("Tab", 9, 0) // out of the editor
	if got := c.eval("document.activeElement.id"); got == "model-text" {
		t.Error("the keyboard cannot leave the editor")
	}
	c.eval("playground.run(); 0")
	c.until("the report", "performance.getEntriesByName('ppl-report').length === 1 && [...document.querySelectorAll('table.summary tbody th')].map((e) => e.textContent).join() === 'm[1] Aston,m[2] Bolton,m[3] Crewe'")
	c.eval("save = (name, kind, body) => { window.saved = name + ' ' + String.fromCharCode(...body.subarray(0, 2)) + ' ' + (body.length > 20000); }; document.getElementById('download').click()")
	c.until("the folder", "window.saved")
	if got := c.eval("window.saved"); got != "eight_schools.zip PK true" {
		t.Errorf("the folder: %s", got)
	}
	// The page restores the text at the next visit.
	c.eval("playground.keep()")
	c.open("about:blank")
	c.open(address)
	c.until("the model of the last visit", "document.getElementById('model-text').value.includes('m[school]') && document.getElementById('data-about').textContent.includes('J = 3')")
	c.quiet()
}

// TestPlaygroundInBrowserLive makes a long run. The page must show draws and what the sampler ahmc
// has learnt during the run, and keep the draws after the run is stopped.
func TestPlaygroundInBrowserLive(t *testing.T) {
	c, address := playgroundInBrowser(t)
	c.window(1400, 1000, true)
	c.open(address)
	c.until("the samplers", "document.querySelectorAll('#sampler option').length > 4")
	c.eval("playground.take({name: 'm.stan', model: 'transformed data { vector[5000] y = linspaced_vector(5000, -2, 2); } parameters { real m; vector[9] x; } model { x ~ normal(0, 1); y ~ student_t(4, m, 1); }', data: '', chains: 2, warmup: 1000, draws: 1000000, sampler: 'ahmc'}); playground.run(); 0")
	c.until("the surface while it is learnt", "playground.runner.running && document.querySelectorAll('.kind-surface svg.plot').length === 2")
	c.until("draws", "playground.runner.results.report?.run.draws > 100")
	c.until("plots of a quantity", "document.querySelectorAll('#quantity svg.plot').length >= 4")
	c.shot("live")
	c.eval("document.getElementById('stop').click()")
	c.until("the report of what was drawn", "document.getElementById('run-status').textContent.startsWith('Stopped') && playground.runner.results.report.run.interrupted && playground.runner.results.report.run.draws > 100")
	c.quiet()
}

// TestPlaygroundInBrowserLooks takes screenshots of the page in several widths, light and dark, and
// checks that nothing is wider than the window.
func TestPlaygroundInBrowserLooks(t *testing.T) {
	c, address := playgroundInBrowser(t)
	c.open(address)
	for _, width := range []int{1400, 800, 360} {
		for _, dark := range []bool{false, true} {
			c.window(width, 900, dark)
			if width == 1400 && !dark {
				c.until("the example", "document.getElementById('model-text').value.includes('theta')")
				c.eval("playground.run(); 0")
				c.until("the report", "performance.getEntriesByName('ppl-report').length === 1")
			}
			time.Sleep(300 * time.Millisecond)
			if wide := c.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth"); wide != "0" {
				t.Errorf("at a width of %d the page is %s wider: %s", width, wide, c.eval("[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.editor, .scroll, nav, pre')).slice(0, 5).map((e) => e.tagName + '.' + e.className + '#' + e.id).join(' ')"))
			}
			name := fmt.Sprintf("playground-%d", width)
			if dark {
				name += "-dark"
			}
			c.shot(name)
			c.eval("document.getElementById('results').scrollIntoView()")
			time.Sleep(300 * time.Millisecond)
			c.shot(name + "-results")
			c.eval("window.scrollTo(0, 0)")
		}
	}
	c.until("the parts of the whole report", "document.querySelector('#results nav').textContent.includes('Data and predictions')")
	c.window(1200, 1060, false) // for the screenshot in doc/how-to/playground.md
	c.eval("document.querySelector('.editor').style.height = '420px'; window.scrollTo(0, 0)")
	time.Sleep(300 * time.Millisecond)
	c.shot("playground")
	// Every control must have a name for screen readers.
	if got := c.eval(`[...document.querySelectorAll('button, input, select, textarea')].filter((e) => e.offsetParent && !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.id || e.outerHTML).join()`); got != "" {
		t.Errorf("controls without a name: %s", got)
	}
	c.quiet()
}

// BenchmarkPlaygroundInBrowser measures how long a newcomer waits for the result of eight schools:
// after opening the page ("first"), and after pressing Run again.
func BenchmarkPlaygroundInBrowser(b *testing.B) {
	c, address := playgroundInBrowser(b)
	c.window(1400, 1000, false)
	c.eval("1")
	time.Sleep(time.Second) // the time that the browser needs to start
	const result = "new Promise((done) => { const look = () => { const e = performance.getEntriesByName('ppl-result'); if (e.length) done(Math.round(e[0].startTime)); else setTimeout(look, 5); }; look(); })"
	waited := func(js string) float64 {
		ms, err := strconv.ParseFloat(c.eval(js), 64)
		if err != nil {
			b.Fatal(err)
		}
		return ms
	}
	c.call("Page.navigate", map[string]any{"url": address}, nil)
	c.until("the example", "document.getElementById('model-text')?.value.includes('theta')")
	c.eval("document.getElementById('run').click()")
	first := waited(result)
	next, worked := 0.0, time.Duration(0)
	for b.Loop() {
		c.until("the report", "performance.getEntriesByName('ppl-report').length === 1")
		time.Sleep(300 * time.Millisecond)
		before := c.worked()
		c.eval("performance.clearMarks(); window.began = performance.now(); document.getElementById('run').click()")
		next += waited(result + ".then((at) => Math.round(at - window.began))")
		worked += c.worked() - before
	}
	b.ReportMetric(first, "ms/first")
	b.ReportMetric(next/float64(b.N), "ms/result")
	b.ReportMetric(float64(worked.Milliseconds())/float64(b.N), "cpu-ms/result")
}

func playgroundInBrowser(t testing.TB) (*chromium, string) {
	t.Helper()
	program := os.Getenv(browserVariable)
	if program == "" {
		t.Skipf("no browser: %s is not set, as in %s=/usr/bin/chromium", browserVariable, browserVariable)
	}
	address := playgroundAt(t)
	return startChromium(t, program), address
}
