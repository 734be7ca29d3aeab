package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The import policy of this module.
//
// DO NOT CHANGE THIS DATA TO FIX BUILDS. It says how the parts of the program
// depend on each other; an import that it forbids belongs elsewhere. A package
// that is not listed here fails the test, so that a new one is thought about.

const module = "github.com/ppl-lang/ppl"

// areas says which part of the program may import which, tests included. A name stands for the
// folder and everything below it; a package belongs to the longest name that contains it. All may
// import the standard library, internal/sorting, which sorts with less code, and
// internal/packed, which holds embedded files.
//
// The layers, from the lowest: lang, ad and infer import none of each other; stdlib builds on ad
// and lang/types; compile on lang, stdlib and ad; model on compile and infer; fit on model; assess
// on fit; study and front on assess; cmd/ppl on all. No layer imports a higher one. The root
// package is a façade of model and fit for programs that embed ppl; only the examples import it.
//
// Whatever writes files in infer uses internal/files, which knows nothing but the disk;
// infer/internal/vector asks for the abilities of the processor. lang receives the library of
// functions as a Universe. model/predict derives programs and draws nothing. In compile, only the
// executor, for matrix products, and the passes, for a factorisation, use gonum. Only
// front/report/plotfile depends on fonts and images, and only internal/cmd/site on a renderer of
// Markdown. front/serve and front/mcp know no models; the processes that cmd/ppl starts for them
// do. The engine of the playground has no plots as files and no server.
const areas = `
lang:       lang participle
ad:         ad gonum internal/sparse
ad/kernel:  ad/kernel
stdlib:     stdlib ad ad/kernel lang/types gonum internal/sparse
compile:    compile lang ad stdlib gonum internal/cputime internal/planted
compile/internal/cmd: compile lang ad stdlib internal
infer:      infer gonum internal/files internal/goroutines internal/sparse
infer/internal/vector: sys
model:      model lang stdlib compile infer internal/buildinfo gonum
fit:        fit model lang stdlib ad compile infer internal/files internal/goroutines internal/cputime internal/clients/rules internal/planted gonum
assess:     assess fit model lang stdlib compile infer internal/files internal/goroutines gonum
study:      study assess fit model lang compile infer internal/files internal/goroutines gonum yaml
front:      front study assess fit model lang stdlib compile infer examples internal/files internal/clients/rules
front/report: front/report assess fit model infer internal/files image
front/web:  front/web front/report assess fit model infer lang stdlib compile/data examples internal/files internal/lean internal/lzma
front/lsp:  front/lsp lang stdlib compile/data jrpc2
front/docs: internal/packed
front/formula: front/formula fit model lang compile/data participle
front/httpd: front/httpd sync
front/serve: front/httpd front/serve internal/race sys
front/mcp:  front/mcp mcp
front/cmdstan: front/cmdstan fit model infer ad lang stdlib compile internal/planted internal/files internal/clients/rules pflag
front/bridge: front/bridge fit model lang ad compile infer internal/planted
.:          . model fit infer lang compile/data
cmd/ppl:    cmd/ppl doc/reference/json front study assess fit model infer lang stdlib ad compile internal/buildinfo internal/cputime internal/files internal/planted cobra pflag term sys toml mcp
examples:   . examples study assess fit model lang ad stdlib compile infer gonum plot
internal:   internal study assess fit model lang ad stdlib compile infer gonum
internal/cmd/site: goldmark
doc/reference/json:
internal/files: sys
internal/buildinfo:
internal/cputime:
internal/planted:
internal/race:
internal/packed: internal/lzma
internal/short:  internal/planted
internal/sorting:
internal/sparse:
internal/goroutines:
internal/lean:
internal/lzma:
`

// packages is the finer table. For each package it lists which other packages of its area the code,
// without tests, may import. It also lists packages of other areas if the package may import fewer
// than its area. "*" adds nothing to the rule of the area.
const packages = `
lang/source:
lang/diag:               lang/source
lang/ast:                lang/source
lang/printer:            lang/ast
lang/types:              lang/source
lang/internal/grammar:   lang/source lang/diag lang/ast lang/types participle
lang/internal/legacy:
lang:                    lang/source lang/diag lang/ast lang/internal/grammar lang/internal/legacy
lang/check:              lang/source lang/diag lang/ast lang/printer lang/types lang/internal/legacy
lang/format:             lang/source lang/diag lang/ast lang/printer lang
lang/service:            lang lang/source lang/diag lang/ast lang/types lang/check lang/format lang/internal/grammar
lang/check/checktest:    lang/types
lang/internal/errtest:   lang/source lang/diag

doc/reference/json:

ad/kernel:               ad/kernel/routines
ad/kernel/routines:
ad:                      ad/kernel ad/kernel/routines gonum internal/sparse
ad/adtest:               ad

stdlib:                  stdlib/transform ad ad/kernel ad/kernel/routines lang/types gonum internal/sparse
stdlib/stdlibtest:       stdlib stdlib/transform ad lang/types

compile/data:            lang/source lang/diag
compile/ir:              lang lang/source lang/diag lang/ast lang/types lang/check
stdlib/transform:        ad lang/types
compile/internal/native: ad/kernel/routines
compile/internal/dense:  compile/internal/native ad/kernel
compile/internal/ops:    compile/internal/native ad ad/kernel ad/kernel/routines
compile/internal/loopnest: compile/internal/ops ad
compile/internal/passes: compile/internal/loopnest compile/internal/ops ad gonum internal/planted
compile/internal/vm:     compile/internal/dense compile/internal/loopnest compile/internal/native compile/internal/ops compile/internal/passes ad ad/kernel gonum
compile/internal/direct: compile/data compile/ir stdlib/transform ad stdlib lang/source lang/diag lang/types
compile/internal/interp: compile/data compile/ir stdlib/transform ad stdlib lang/source lang/diag lang/types
compile/internal/proggen: lang/types
compile/internal/contest: compile compile/data compile/ir compile/internal/bind compile/internal/direct compile/internal/interp compile/internal/passes stdlib/transform ad lang lang/types
compile/internal/cmd/randomprograms: *
compile/internal/cmd/agreement: *
compile/internal/cmd/passgains: *
compile/internal/cmd/routines: compile/internal/native
compile/internal/plan:
compile/internal/static: compile/ir stdlib lang/types
compile/internal/lanes:  compile/internal/plan compile/ir ad
compile/internal/censor: lang
compile/internal/batch:   lang
compile/internal/ragged:  lang
compile/internal/sparse:  lang
compile/internal/marginal: compile/ir compile/internal/interp ad stdlib lang
compile/internal/known:   compile/ir compile/internal/plan compile/internal/static compile/internal/lanes compile/internal/interp ad stdlib lang/diag lang/types
compile/internal/inspect: compile/ir compile/internal/plan compile/internal/static compile/internal/lanes compile/internal/known compile/internal/interp ad stdlib lang/source lang/diag lang/types
compile/internal/emit:   compile/ir compile/internal/inspect compile/internal/known compile/internal/plan compile/internal/static compile/internal/lanes compile/internal/interp stdlib/transform ad stdlib lang/source lang/diag lang/types internal/planted
compile/internal/bind:   compile/data compile/ir compile/internal/emit compile/internal/interp stdlib/transform ad lang/source lang/diag
compile:                 compile/data compile/ir stdlib/transform compile/internal/batch compile/internal/bind compile/internal/censor compile/internal/marginal compile/internal/ragged compile/internal/sparse compile/internal/interp compile/internal/static compile/internal/loopnest compile/internal/passes compile/internal/vm ad stdlib lang internal/cputime internal/planted

infer:                   infer/internal/vector internal/goroutines
infer/internal/quick:
infer/internal/vector:   sys
infer/whiten:            infer infer/internal/vector gonum
infer/warmup:            infer infer/whiten
infer/hmc:               infer infer/internal/quick infer/internal/vector infer/warmup infer/whiten gonum
infer/nuts:              infer infer/internal/quick infer/internal/vector infer/warmup infer/hmc
infer/bayesopt:          gonum
infer/ahmc:              infer infer/warmup infer/whiten infer/hmc infer/bayesopt gonum
infer/riemann:           infer gonum internal/sparse
infer/auto:              infer infer/internal/quick infer/warmup infer/whiten infer/hmc infer/nuts infer/bayesopt infer/optimize infer/tempered gonum
infer/tempered:          infer infer/warmup infer/whiten infer/hmc infer/nuts infer/optimize gonum
infer/sampler:           infer infer/auto infer/tempered infer/warmup infer/hmc infer/nuts infer/ahmc infer/riemann infer/bayesopt infer/optimize
infer/draws:             infer infer/sampler internal/files
infer/diagnose:          infer/psis infer/internal/quick internal/goroutines gonum
infer/infertest:         infer internal/goroutines gonum
infer/infertest/truth:   infer infer/diagnose infer/draws infer/optimize infer/sampler gonum
infer/psis:
infer/bridge:            infer/diagnose gonum
infer/zarr:              internal/files
infer/optimize:          infer infer/psis internal/goroutines gonum

model/predict:           compile lang lang/printer lang/source lang/ast lang/check lang/types stdlib
model:                   model/predict compile compile/data infer lang lang/source lang/diag internal/buildinfo compile/ir

fit/folder:              compile compile/data infer infer/draws infer/zarr lang/source internal/files infer/sampler
fit/selfcheck:           fit/folder compile compile/data infer/diagnose internal/cputime
fit/arrays:              compile/ir infer/draws infer/sampler infer/zarr lang/types
fit/fittest:             fit model infer/draws
fit:                     fit/arrays fit/folder fit/selfcheck model model/predict ad compile compile/data compile/ir infer infer/ahmc infer/auto infer/diagnose infer/draws infer/hmc infer/nuts infer/optimize infer/psis infer/sampler infer/tempered infer/warmup infer/zarr internal/cputime internal/files internal/goroutines lang/diag gonum

assess/criticise:        infer/psis infer/diagnose internal/goroutines gonum
assess/projection:       assess/criticise internal/goroutines
assess/folds:            model infer infer/ahmc
assess:                  assess/criticise assess/projection fit fit/arrays model model/predict compile compile/data compile/ir infer infer/bridge infer/diagnose infer/draws infer/optimize infer/psis infer/sampler infer/tempered infer/warmup infer/zarr internal/files internal/goroutines lang/diag lang/source lang/types gonum

study:                   assess assess/criticise fit model model/predict lang compile compile/data infer infer/diagnose infer/sampler infer/zarr internal/files internal/goroutines gonum yaml

front/report:            assess assess/criticise fit model model/predict infer infer/diagnose infer/psis infer/sampler
front/report/plotfile:   front/report internal/files image
front/web:               front/report model examples internal/files internal/lean internal/lzma
front/web/engine:        front/report assess fit model model/predict compile/data infer infer/sampler lang/source lang/ast lang/types lang/diag lang/service lang/check stdlib
front/web/wasm:          front/web/engine
front/web/build:         front/web
front/docs: internal/packed
front/formula:           compile/data lang/diag lang/format lang/source participle
front/lsp:               lang lang/source lang/diag lang/ast lang/service compile/data jrpc2
front/httpd:             sync
front/serve:             front/httpd internal/race sys
front/mcp:               mcp
front/bridge:            fit/selfcheck model lang ad internal/planted compile compile/data lang/source
front/bridge/libppl:     front/bridge
front/cmdstan/stan:
front/cmdstan/grammar:   infer/sampler infer/draws
front/cmdstan/executable: fit fit/selfcheck model ad internal/planted infer/diagnose front/cmdstan/grammar front/cmdstan/stan internal/files compile compile/data infer infer/warmup infer/hmc infer/nuts infer/sampler infer/draws infer/optimize lang/ast lang/diag
front/cmdstan/stanc:     model front/cmdstan/stan internal/files compile lang lang/source lang/diag lang/ast lang/types lang/check lang/format stdlib
front/cmdstan/tools:     model compile front/cmdstan/grammar infer/draws infer/diagnose internal/files pflag
front/cmdstan/home:      model internal/files front/cmdstan/stan front/cmdstan/stanc front/cmdstan/executable front/cmdstan/tools

.:                       model fit infer infer/diagnose lang/diag compile/data
cmd/ppl:                 *
internal/files:          sys
internal/buildinfo:
internal/cputime:
internal/planted:
internal/race:
internal/packed: internal/lzma
internal/short:          internal/planted
internal/sorting:
internal/sparse:
internal/goroutines:
internal/lean:
internal/lzma:
examples:                *
internal/clients/rules:
internal/cmd/site: goldmark
internal/cmd/examplegen: compile/data
internal/cmd/stanc3suite: lang stdlib
internal/cmd/stanrelease: lang stdlib
`

// modules maps the short names of third-party modules in the policy to their paths. All tests may
// also use go-internal, and the tests of cmd/ppl a validator of JSON schemas.
var modules = map[string]string{
	"participle":  "github.com/alecthomas/participle/v2",
	"goldmark":    "github.com/yuin/goldmark",
	"gonum":       "gonum.org/v1/gonum",
	"plot":        "gonum.org/v1/plot",
	"image":       "golang.org/x/image",
	"cobra":       "github.com/spf13/cobra",
	"pflag":       "github.com/spf13/pflag",
	"term":        "golang.org/x/term",
	"mcp":         "github.com/modelcontextprotocol/go-sdk",
	"jrpc2":       "github.com/creachadair/jrpc2",
	"sys":         "golang.org/x/sys",
	"sync":        "golang.org/x/sync",
	"yaml":        "go.yaml.in/yaml/v4",
	"toml":        "github.com/pelletier/go-toml/v2",
	"go-internal": "github.com/rogpeppe/go-internal",
	"jsonschema":  "github.com/santhosh-tekuri/jsonschema/v6",
}

// goFile is a Go file of the module, for any operating system.
type goFile struct {
	name    string // path from the root of the module, with slashes
	pkg     string // folder of the package, "." for the root
	test    bool
	hasDoc  bool
	lines   int
	text    string
	imports []string // with the short names of the policy
}

// goFiles reads all Go files of the module.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	root := filepath.Join("..", "..")
	var files []goFile
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == "testdata" || len(base) > 2 && strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && name != root {
				return fs.SkipDir // a separate module
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		tree, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, goFile{
			name:    rel,
			pkg:     path.Dir(rel),
			test:    strings.HasSuffix(rel, "_test.go"),
			hasDoc:  tree.Doc != nil && strings.TrimSpace(tree.Doc.Text()) != "",
			lines:   strings.Count(string(text), "\n"),
			text:    string(text),
			imports: shortImports(tree),
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// shortImports returns the imports of a file with the names of the policy: packages of the module
// by their folder, those of known modules by the module's short name, others in full. It leaves out
// the standard library.
func shortImports(tree *ast.File) []string {
	var short []string
	for _, spec := range tree.Imports {
		p := strings.Trim(spec.Path.Value, `"`)
		switch first, _, _ := strings.Cut(p, "/"); {
		case p == module:
			short = append(short, ".")
		case strings.HasPrefix(p, module+"/"):
			short = append(short, strings.TrimPrefix(p, module+"/"))
		case strings.Contains(first, "."):
			name := p
			for s, m := range modules {
				if within(p, m) {
					name = s
				}
			}
			short = append(short, name)
		}
	}
	return short
}

// within reports whether name is the folder dir or lies below it.
func within(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, dir+"/")
}

// table parses lines of the form "name: words".
func table(text string) (names []string, words map[string][]string) {
	words = map[string][]string{}
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		names = append(names, name)
		words[name] = strings.Fields(rest)
	}
	return names, words
}

// allowed reports whether one of the words covers an import. The word "." covers only the root
// package.
func allowed(imported string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		if w == "." || imported == "." {
			return w == imported
		}
		return within(imported, w)
	})
}

// longest returns the longest of the names whose folder contains pkg.
func longest(pkg string, names []string) string {
	best := ""
	for _, n := range names {
		if (within(pkg, n) || n == "." && pkg == ".") && len(n) > len(best) {
			best = n
		}
	}
	return best
}

func TestImports(t *testing.T) {
	areaNames, area := table(areas)
	packageNames, own := table(packages)
	seen := map[string]bool{}
	for _, f := range goFiles(t) {
		a := longest(f.pkg, areaNames)
		p := longest(f.pkg, packageNames)
		// Packages below examples and internal need no separate entries.
		if p != f.pkg && p != "examples" && a != "internal" || a == "" {
			if !seen[f.pkg] {
				t.Errorf("package %s is not in the import policy (%s)", f.pkg, f.name)
			}
			seen[f.pkg] = true
			continue
		}
		seen[p] = true
		for _, imported := range f.imports {
			switch {
			case imported == f.pkg: // a test from outside
			case imported == "internal/sorting" || imported == "internal/packed":
			case f.test && imported == "go-internal": // txtar, testscript
			case f.test && (imported == "internal/short" || imported == "internal/race"):
			case f.test && f.pkg == "cmd/ppl" && imported == "jsonschema":
			case !allowed(imported, area[a]):
				t.Errorf("%s imports %s: packages of %s must not", f.name, imported, a)
			case !f.test && len(own[p]) > 0 && own[p][0] == "*":
			case !f.test && p == f.pkg && !allowedExactly(imported, own[p]):
				t.Errorf("%s imports %s: package %s must not", f.name, imported, f.pkg)
			}
		}
	}
	for _, name := range packageNames {
		if !seen[name] {
			t.Logf("package %s is in the import policy, but does not exist", name)
		}
	}
}

// allowedExactly is like allowed, for the finer table. There the name of a package does not cover
// the packages below it, except lang, which stands for the whole area.
func allowedExactly(imported string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return w == imported || w == "lang" && within(imported, "lang")
	})
}

// TestIndependence checks the tables above. Go itself decides who may import internal packages, but
// not which packages may be used without others. The lists here repeat that, so that a change of
// the tables cannot give it up unnoticed.
func TestIndependence(t *testing.T) {
	_, area := table(areas)
	// The first package knows only the disk, the others nothing of ppl.
	harmless := []string{"internal/files", "internal/goroutines", "internal/sparse"}
	for _, name := range []string{"lang", "ad", "infer"} {
		for _, w := range area[name] {
			if w != name && modules[w] == "" && !slices.Contains(harmless, w) {
				t.Errorf("%s may import %s", name, w)
			}
		}
	}
	if len(area["ad/kernel"]) != 1 {
		t.Error("ad/kernel may import more than the standard library")
	}
	if slices.Contains(area["compile"], "infer") || slices.Contains(area["infer"], "compile") {
		t.Error("compile and infer may know each other")
	}
}

// TestFiles checks rules for files: their length, absolute paths and package comments.
func TestFiles(t *testing.T) {
	const maxLines = 800
	// An absolute path on somebody's machine. The pattern is split so that it does not match
	// itself.
	machine := regexp.MustCompile(`["'\x60 =](/wo` + `rk/|/ho` + `me/|/ro` + `ot/|/Us` + `ers/|[A-Z]:\\+Us` + `ers)`)
	documented := map[string]bool{}
	for _, f := range goFiles(t) {
		// Generated files may be longer: nobody reads them from top to bottom, and their source is
		// short.
		if f.lines > maxLines && !strings.HasPrefix(f.text, "// Code generated ") {
			t.Errorf("%s has %d lines; %d is the limit: split it by subject", f.name, f.lines, maxLines)
		}
		if m := machine.FindString(f.text); m != "" {
			t.Errorf("%s contains a path of one machine: %s", f.name, m)
		}
		if !f.test || documented[f.pkg] {
			documented[f.pkg] = documented[f.pkg] || f.hasDoc
		}
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("package %s has no doc comment", pkg)
		}
	}
	for _, name := range []string{"README.md", ".ci/run"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
		}
		if m := machine.FindString(string(text)); m != "" {
			t.Errorf("%s contains a path of one machine: %s", name, m)
		}
	}
}
