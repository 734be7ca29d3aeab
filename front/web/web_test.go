package web

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPage checks that all files that the page refers to exist, and that it loads nothing from
// other sites.
func TestPage(t *testing.T) {
	files, err := Page()
	if err != nil {
		t.Fatal(err)
	}
	index := string(files["index.html"])
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"#:]+)"`).FindAllStringSubmatch(index, -1) {
		if _, ok := files[m[1]]; !ok && !slices.Contains(built(), m[1]) {
			t.Errorf("index.html names %s, which is not there", m[1])
		}
	}
	for name, text := range files {
		if strings.HasSuffix(name, ".js") {
			if m := regexp.MustCompile(`(?:fetch|Worker|importScripts|import)\(\s*["']https?:`).Find(text); m != nil {
				t.Errorf("%s fetches from elsewhere: %s", name, m)
			}
			for _, bad := range []string{"innerHTML =", "insertAdjacentHTML", "document.write", "eval(", "new Function"} {
				if bytes.Contains(text, []byte(bad)) {
					t.Errorf("%s has %s", name, bad)
				}
			}
		}
	}
	if strings.Contains(index, "unsafe-eval'") && !strings.Contains(index, "'wasm-unsafe-eval'") || strings.Contains(index, " onclick=") || strings.Contains(index, "<style") {
		t.Error("index.html permits what it need not")
	}
	// Every element that the scripts look up by name exists.
	for name, text := range files {
		if strings.HasSuffix(name, ".js") && name != "report.js" {
			for _, m := range regexp.MustCompile(`\$\("([a-z-]+)"\)`).FindAllStringSubmatch(string(text), -1) {
				if !strings.Contains(index, `id="`+m[1]+`"`) && !slices.Contains([]string{"messages-count", "model-text"}, m[1]) {
					t.Errorf("%s asks for #%s", name, m[1])
				}
			}
		}
	}
	var site struct {
		Version  string
		Examples []example
	}
	if err := json.Unmarshal(files["site.json"], &site); err != nil || len(site.Examples) < 6 || site.Version == "" {
		t.Errorf("site.json: %+v, %v", site, err)
	}
	for _, e := range site.Examples {
		if len(files[e.Model]) == 0 || len(files[e.Data]) == 0 {
			t.Errorf("the example %s has no files", e.Name)
		}
	}
}

// buildVariable is the environment variable that enables building the engine, which takes a minute
// if Go's cache is empty.
const buildVariable = "PPL_BUILD_PLAYGROUND"

// maxWasm is the maximum size of the compressed program that a page downloads, in bytes. The goal
// is 6,000,000. The size grew as follows, at first compressed by gzip:
//
//	5,992,982  before the changes below
//	6,121,395  passes on gathered arguments, shared matrices, loops with numbers and sums,
//	           refined steps, Newton's line search, singular values
//	6,206,933  sparse metrics, arrays written out as numbers
//	6,308,598  factors, solves and regions in parts (38 kB), steps that need only single
//	           directions of a metric (10 kB); no new package, no generator of machine code
//	6,615,298  parallel tempering, the search for modes, the comparison with the reference,
//	           functions that are exact in their tails
//	6,703,607  tempering that looks for modes during the run, remedies in errors of initial
//	           values and tables
//	6,812,689  the inspector as a package, the cost rule of scalar replacement, remedies in
//	           messages
//	7,045,940  emission as a package, carried arrays updated in place, the comparison of
//	           outputs, data that no parameters explain, fits as archives
//	7,119,033  exact tails of more functions, rows of tables read without encoding/csv,
//	           messages for more mistakes
//	7,211,365  means and variances of distributions, groups that a fit does not have, tables
//	           that loops fill row by row, functions of matrices that are exact at the edges
//	7,321,201  series that are continued, checks by groups and of the prior, marginal
//	           likelihoods, reasons and remedies of all codes
//	7,404,465  forward algorithms as products of matrices, findings in short, tables that are
//	           read as declared or matched with others, more explanations
//	7,506,232  predictions of new rows with the fit's summaries, curves of censored times,
//	           frequencies of counts, log likelihoods of mixtures, storage of matrices
//	6,566,702  what runs once for a model is compiled without inlining
//	6,948,854  discrete parameters and missing values, schedules of doses, tables filled in
//	           wavefronts, effects and priors in reports
//	7,100,068  ragged arrays, censored data, coupled solvers, states of discrete parameters
//	7,306,542  missing integers, products with mostly zero data, normalised prediction errors
//	5,456,040  the same, compressed by LZMA, and functions that came in meanwhile
//	5,614,451  counts without an upper bound, sparse matrices, groups of solver calls
const maxWasm = 5_800_000

// TestBuild checks that the engine is small enough to download, contains no packages that a page
// cannot use, and includes the licences of its parts.
func TestBuild(t *testing.T) {
	if exec.Command("go", "list", "-deps", "./wasm").Run() == nil {
		t.Error("the program is built for this system, too")
	}
	list := exec.Command("go", "list", "-deps", "./wasm")
	list.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(out)) {
		dep = strings.TrimSpace(dep)
		switch strings.TrimPrefix(dep, module+"/internal/") {
		case "files", "goroutines", "buildinfo", "cputime", "packed", "planted", "selfcheck", "sorting", "sparse":
			continue // small internal packages that the root package and the compiler need
		}
		for _, bad := range []string{"net/http", "gonum.org/v1/plot", "github.com/spf13", "github.com/creachadair", module + "/internal", "golang.org/x/image"} {
			if dep == bad || strings.HasPrefix(dep, bad+"/") {
				t.Errorf("%s is in the engine", dep)
			}
		}
	}
	if os.Getenv(buildVariable) == "" {
		t.Skipf("%s is not set: the engine is not built", buildVariable)
	}
	files, err := Build(context.Background(), "..")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes", wasmFile, len(files[wasmFile]))
	if n := len(files[wasmFile]); n > maxWasm {
		t.Errorf("%s has %d bytes, more than %d: look at what has come in by go list -deps ./front/web/wasm, and at its size", wasmFile, n, maxWasm)
	}
	for _, want := range []string{"gonum.org/v1/gonum", "github.com/alecthomas/participle", module, "Go go1"} {
		if !bytes.Contains(files[licencesFile], []byte(want)) {
			t.Errorf("%s does not name %s", licencesFile, want)
		}
	}
	if !bytes.Contains(files[scriptFile], []byte("class")) {
		t.Errorf("%s is no script", scriptFile)
	}
}
