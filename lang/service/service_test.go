package service_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/check/checktest"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/service"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// library is the small library of the checker's tests, with documentation.
type library struct{ checktest.Library }

func (l library) Describe(name string) (types.Documentation, bool) {
	doc := types.Documentation{Name: name}
	for _, n := range []string{name, "operator" + name, name + "_lpdf", name + "_lpmf"} {
		if os := l.Lookup(n); len(os) > 0 {
			f := types.FunctionDoc{Name: n, Texts: []types.TextDoc{{Text: "about " + n}}}
			for _, o := range os {
				f.Texts[0].Forms = append(f.Texts[0].Forms, o.String())
			}
			doc.Functions = append(doc.Functions, f)
		}
	}
	return doc, len(doc.Functions) > 0
}

// marked removes the cursor ‸ from a text, and returns its position.
func marked(t *testing.T, text string) (*source.File, int) {
	t.Helper()
	before, after, ok := strings.Cut(text, "‸")
	if !ok {
		t.Fatal("no cursor in the text")
	}
	return source.NewFile("m.stan", before+after), len(before)
}

func analyse(f *source.File) *service.Snapshot {
	return service.Analyse(f, service.Options{Library: library{checktest.Universe()}})
}

// program wraps statements of a model block.
func program(model string) string {
	return `functions {
  // doubles its argument
  real twice(real x) { return 2 * x; }
  real foo_lpdf(real y, real mu) { return normal_lpdf(y | mu, 1); }
}
data {
  int<lower=0> N; // number of observations
  int K;
  matrix[N, K] X;
  vector[N] y;
}
parameters {
  real alpha;
  vector[K] beta;
  real<lower=0> sigma;
}
model {
` + model + "\n}\n"
}

func TestComplete(t *testing.T) {
	for _, c := range []struct {
		text      string
		has, lack string // labels that the list has, and that it lacks
	}{
		{program("  real inner = 1;\n  y ~ normal(‸"), "alpha inner sigma y exp", "N_ for vector real twice_ normal_rng"},
		{program("  y ~ nor‸"), "normal poisson foo", "exp alpha"},
		{program("  ‸"), "for target alpha real vector", "simplex return exp"},
		{program("  for (n in 1:N) {\n    y[n] ~ normal(alpha + ‸ \n  }"), "n alpha beta twice", "for"},
		{program("  for (n in 1:N) { }\n  target += ‸"), "alpha exp", "n"},
		{program("  { real gone; }\n  target += ‸"), "alpha", "gone"},
		{"data {\n  ‸\n}", "int vector simplex array", "for alpha int<lower>"},
		{"parameters {\n  ‸\n}", "int int<lower> vector", "for"},
		{"data { int K; }\nparameters {\n  array[3] int<lower=1, upper=‸> z;\n}", "K", "lower"},
		{"parameters {\n  int<lower=0> N;\n}\nmodel {\n  ‸ ~ poisson(2);\n}", "N", ""},
		{"data {\n  real<‸> x;\n}", "lower upper offset multiplier", "int"},
		{"data {\n  int N; real<lower=0, ‸> x;\n}", "lower upper", "int"},
		{"data {\n  int N; real<lower=‸> x;\n}", "N exp", "lower"},
		{"data {\n  int N; real<lower=0, ‸> x;\n}", "missing censored_below censored_to", "int"},
		{"data {\n  int<‸> D;\n}", "labels missing lower", "int"},
		{"data {\n  ‸\n}", "sparse_matrix", ""},
		{"data {\n  int N; vector<censored_below=0>[‸] x;\n}", "N", "lower"},
		{"data {\n  int N; array[N] ‸\n}", "real int vector", "for N"},
		{"data { int N; }\n‸", "parameters model", "data"},
		{"functions {\n  ‸\n}", "real void", "for data_"},
		{"functions {\n  real f(‸) { return 1; }\n}", "real data", "for"},
		{"functions {\n  real f(real abc) { return ‸; }\n}", "abc exp", "for"},
		{"data { int N; }\nparameters { real mu; }\ngenerated quantities {\n  real z = ‸", "mu N normal_rng", "for"},
		{"data { int N; }\ntransformed data { int M = ‸; }\nparameters { real mu; }", "N normal_rng", "mu"},
		{program("  // no ‸"), "", "alpha for"},
		{program("  real ‸"), "", "alpha for"},
		{program("  target += 12‸"), "", "alpha for"},
		{program("  alpha ‸"), "", "alpha"},
	} {
		f, at := marked(t, c.text)
		got := map[string]bool{}
		for _, x := range analyse(f).Complete(f, at, nil) {
			got[x.Label] = true
		}
		for _, label := range strings.Fields(c.has) {
			if !got[label] {
				t.Errorf("%q: %s is not offered", tail(c.text), label)
			}
		}
		for _, label := range strings.Fields(c.lack) {
			if got[label] {
				t.Errorf("%q: %s is offered", tail(c.text), label)
			}
		}
	}
}

// tail returns the line of the text that has the cursor.
func tail(text string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, "‸") {
			return line
		}
	}
	return text
}

func TestCompleteSnippets(t *testing.T) {
	f, at := marked(t, program("  y ~ ‸"))
	for _, x := range analyse(f).Complete(f, at, nil) {
		switch x.Label {
		case "normal":
			if x.Snippet != "normal(${1:reals}, ${2:reals})" {
				t.Errorf("normal: %s", x.Snippet)
			}
		case "foo":
			if x.Snippet != "foo(${1:mu})" {
				t.Errorf("foo: %s", x.Snippet)
			}
		}
	}
}

func TestHover(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{program("  y ~ normal(al‸pha, sigma);"), "real alpha|parameter"},
		{program("  y ~ normal(alpha, sig‸ma);"), "real<lower=0> sigma"},
		{program("  target += sum(be‸ta);"), "vector[K] beta|shape [K]"},
		{program("  y ~ normal(X‸ * beta, sigma);"), "matrix[N, K] X"},
		{program("  y ~ normal(X ‸* beta, sigma);"), "vector|of shape [N]|about operator*"},
		{program("  y ~ nor‸mal(X * beta, sigma);"), "about normal_lpdf"},
		{program("  target += twi‸ce(alpha);"), "real twice(real x)|doubles its argument"},
		{program("  alpha ~ fo‸o(1);"), "real foo_lpdf(real y, real mu)"},
		{program("  for (n in 1:N‸) target += n;"), "number of observations"},
		{program("  for (n in 1:N) target += n‸;"), "loop variable"},
		{program("  alhpa‸ ~ normal(0, 1);"), "E0201"},
		{program("  target += alpha + sigm‸a"), "real<lower=0> sigma"}, // the statement is unfinished
		{program("  y ~ normal(beta, exp‸( "), "about exp"},
		{"data { sim‸plex[3] p; }", "simplex"},
		{"data { int N; vector<low‸er=0>[N] y; }", "lower bound"},
		{"data { int N; vector<lower=0, miss‸ing>[N] y; }", "may lack elements"},
		{"data { int N; vector<censored_‸below=0>[N] y; }", "this or less"},
		{"data { int N; array[N] int s; vector<censored‸=s>[N] y; }", "−1"},
		{"data { sparse_‸matrix[2, 2] W; }", "0 outside its pattern"},
		{`data { int<lab‸els={"a", "b"}> D; }`, "names of the elements"},
		{`data { int<labels={"a", "b"}> D; vector[D‸] x; }`, `int<labels={"a", "b"}> D`},
		{"data { int N; array[N] int<lower=0, missing> k; } parameters { real l; } model { k‸ ~ poisson(l); }", "missing|data"},
		{"data { int N; vector<lower=N‸>[N] y; }", "int N"},
		{"parameters { int<lower=0> N; } model { N‸ ~ poisson(2); }", "parameter|summed out|no upper bound"},
		{"parameters { array[2] int<lower=0, upper=1> z; } model { z‸ ~ bernoulli(0.2); }", "parameter of shape [2]|drawn after the other parameters"},
		{"data { int J; array[J] int n; array[J] vector[n] y; } transformed data { real a = y‸[1, 1]; }", "ragged: `n` has the size of each row"},
	} {
		f, at := marked(t, c.text)
		h, _ := analyse(f).Hover(f, at)
		for want := range strings.SplitSeq(c.want, "|") {
			if !strings.Contains(h.Text, want) {
				t.Errorf("%q: %q lacks %q", tail(c.text), h.Text, want)
			}
		}
	}
	f, at := marked(t, program("  // alp‸ha"))
	if h, ok := analyse(f).Hover(f, at); ok {
		t.Errorf("in a comment: %s", h.Text)
	}
}

func TestSignatureHelp(t *testing.T) {
	for _, c := range []struct {
		text, label string
		argument    int
	}{
		{program("  y ~ normal(alpha, ‸"), "normal(reals, reals)", 1},
		{program("  target += normal_lpdf(y | ‸alpha, sigma);"), "normal_lpdf(reals | reals, reals) => real", 1},
		{program("  target += twice(‸);"), "twice(real x) => real", 0},
		{program("  alpha ~ foo(‸);"), "foo(real mu)", 0},
		{program("  y ~ normal(beta[1, ‸2], sigma);"), "normal(reals, reals)", 0},
		{program("  y ~ normal((alpha + ‸1), sigma);"), "normal(reals, reals)", 0},
		{program("  y ~ normal(twice(1), ‸sigma);"), "normal(reals, reals)", 1},
	} {
		f, at := marked(t, c.text)
		help, ok := analyse(f).SignatureHelp(f, at)
		if !ok || help.Forms[0].Label != c.label || help.Argument != c.argument {
			t.Errorf("%q: %+v", tail(c.text), help)
		}
	}
	for _, text := range []string{program("  y ~ ‸normal(1, 2);"), program("  y ~ normal(1, 2);‸"), program("  y ~ normal(1, 2); // (‸x")} {
		f, at := marked(t, text)
		if help, ok := analyse(f).SignatureHelp(f, at); ok {
			t.Errorf("%q: %+v", tail(text), help)
		}
	}
}

func TestReferences(t *testing.T) {
	f, at := marked(t, program("  for (n in 1:N) y[n] ~ normal(alpha + beta[1] * al‸pha, sigma);"))
	s := analyse(f)
	refs := s.References(f, at)
	if len(refs) != 3 || !refs[0].Declaration || refs[1].Declaration {
		t.Errorf("%+v", refs)
	}
	def := s.Definition(f, at)
	if len(def) != 1 || def[0].Start != strings.Index(f.Text, "alpha;") {
		t.Errorf("%+v", def)
	}
	f, at = marked(t, program("  alpha ~ fo‸o(1);\n  target += foo_lupdf(alpha | 2);"))
	if refs := analyse(f).References(f, at); len(refs) != 3 {
		t.Errorf("%+v", refs)
	}
}

func TestRename(t *testing.T) {
	for _, c := range []struct {
		text, name string
		want       string // part of the renamed program; after "!", of the error
	}{
		{program("  alp‸ha ~ normal(0, 1);"), "a", "  a ~ normal(0, 1);"},
		{program("  real z = alpha; alp‸ha ~ normal(z, 1);"), "z", "!z"},
		{program("  alp‸ha ~ normal(0, 1);"), "beta", "!beta"},
		{program("  alp‸ha ~ normal(0, 1);"), "vector", "!cannot be a name"},
		{program("  alp‸ha ~ normal(0, 1);"), "a__", "!cannot be a name"},
		{program("  alp‸ha ~ normal(0, 1);"), "1a", "!cannot be a name"},
		{program("  alpha ~ nor‸mal(0, 1);"), "n", "!library"},
		{program("  alpha ~ fo‸o(0); target += foo_lupdf(alpha | 1);"), "bar", "  alpha ~ bar(0); target += bar_lupdf(alpha | 1);"},
		{program("  alpha ~ foo(0); target += foo_l‸pdf(alpha | 1);"), "bar_lpdf", "  alpha ~ bar(0); target += bar_lpdf(alpha | 1);"},
		{program("  target += foo_l‸pdf(alpha | 1);"), "bar", "!_lpdf"},
		{program("  for (n‸ in 1:N) target += n;"), "m", "  for (m in 1:N) target += m;"},
		{program("  for (n‸ in 1:N) target += n;"), "N", "!N"},
		{program("  target += alpha +;\n  alp‸ha ~ normal(0, 1);"), "a", "!fix it first"},
		{program("  target += K +;\n  alp‸ha ~ normal(0, 1);"), "a", "  a ~ normal(0, 1);"},
		{"functions { real f(real a) { return a; } real g(real b‸) { return b; } }", "a", "real g(real a) { return a; }"},
		{"functions { real f‸(real a) { return a; } real f(int a) { return a; } }", "h", "real h(real a) { return a; } real h(int a)"},
		{"functions { real f‸(real a) { return a; } real g(real a) { return a; } }", "g", "!g"},
	} {
		f, at := marked(t, c.text)
		edits, err := analyse(f).Rename(f, at, c.name)
		if want, refused := strings.CutPrefix(c.want, "!"); refused {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q to %s: %v", tail(c.text), c.name, err)
			}
			continue
		}
		if got := service.Apply(f, edits); err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%q to %s: %v\n%s", tail(c.text), c.name, err, got)
		}
	}
}

func TestHints(t *testing.T) {
	f := source.NewFile("m.stan", program("  y ~ normal(X * beta + alpha, exp(y) * sigma);\n  for (v in beta) target += v;"))
	for _, c := range []struct {
		ints  map[string]int64
		which service.HintRange
		want  string
	}{
		{nil, service.HintResults, "vector[N] vector[N] real"},
		{map[string]int64{"N": 5, "K": 2}, service.HintResults, "= 5 = 2 [5, 2] [5] [2] vector[5] vector[5] real"},
		{nil, service.HintExpressions, "vector[N] vector[N] vector[N] vector[N] real"},
	} {
		s := service.Analyse(f, service.Options{Library: library{checktest.Universe()}, Ints: c.ints})
		var got []string
		for _, h := range s.Hints(f, c.which) {
			got = append(got, strings.TrimPrefix(strings.TrimSpace(h.Text), ": "))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v: %q", c.ints, got)
		}
	}
}

func TestIncludes(t *testing.T) {
	inc := source.NewFile("lib.stan", "  real shared;\n")
	f, at := marked(t, "parameters {\n#include lib.stan\n  real b;\n}\nmodel {\n  sha‸red ~ normal(b, 1);\n  #include gone.stan\n  gone ~ normal(0, 1);\n}\n")
	s := service.Analyse(f, service.Options{Library: library{checktest.Universe()}, Include: func(name string) (*source.File, error) {
		if name == "lib.stan" {
			return inc, nil
		}
		return nil, fs.ErrNotExist
	}})
	if len(s.Diagnostics) != 1 || s.Diagnostics[0].Code != diag.Include {
		t.Errorf("%v", s.Diagnostics)
	}
	if def := s.Definition(f, at); len(def) != 1 || def[0].File != inc || def[0].Text() != "shared" {
		t.Errorf("%v", def)
	}
	edits, err := s.Rename(f, at, "common")
	if err != nil || service.Apply(inc, edits) != "  real common;\n" || !strings.Contains(service.Apply(f, edits), "  common ~") {
		t.Errorf("%v %v", edits, err)
	}
	if h, ok := s.Hover(inc, strings.Index(inc.Text, "shared")); !ok || !strings.Contains(h.Text, "parameter") {
		t.Errorf("%+v", h)
	}
	if o := s.Outlines(inc); len(o) != 1 || o[0].Name != "shared" {
		t.Errorf("%+v", o)
	}
	if o := s.Outlines(f); len(o) != 2 || len(o[0].Inner) != 1 {
		t.Errorf("%+v", o)
	}
	line := strings.Index(f.Text, "lib.stan")
	if def := s.Definition(f, line+2); len(def) != 1 || def[0].File != inc {
		t.Errorf("%+v", def)
	}
	var got []string
	for _, c := range s.Complete(f, line+2, func(prefix string) []string { return []string{prefix + "x.stan"} }) {
		got = append(got, c.Label)
	}
	if !slices.Equal(got, []string{"lib.stanx.stan"}) {
		t.Errorf("%q", got)
	}
}

func TestFunctionsFile(t *testing.T) {
	f := source.NewFile("f.stanfunctions", "real f(real x) {\n  return y;\n}\n")
	s := service.Analyse(f, service.Options{Library: library{checktest.Universe()}, Functions: true})
	if len(s.Diagnostics) != 1 || s.Diagnostics[0].Span.File != f || s.Diagnostics[0].Span.Text() != "y" {
		t.Errorf("%v", s.Diagnostics)
	}
}

// TestFixes applies each fix to the documented example. The diagnostic that offered it must
// disappear.
func TestFixes(t *testing.T) {
	offered := map[diag.Code]bool{}
	for _, e := range diag.Explanations() {
		f := source.NewFile("example.stan", e.Example)
		s := analyse(f)
		for _, fix := range s.Fixes(f, 0, len(f.Text)) {
			d := fix.Diagnostics[0]
			offered[d.Code] = true
			after := analyse(source.NewFile("example.stan", service.Apply(f, fix.Edits)))
			worse := len(after.Diagnostics.Errors()) > len(s.Diagnostics.Errors())
			if worse || slices.ContainsFunc(after.Diagnostics, func(a diag.Diagnostic) bool { return a.Code == d.Code }) {
				t.Errorf("%s: %s\n%s\nleaves %v", d.Code, fix.Title, service.Apply(f, fix.Edits), after.Diagnostics)
			}
		}
	}
	t.Logf("%d codes offer a change", len(offered))
	if len(offered) < 10 {
		t.Errorf("fixes are offered for %v only", offered)
	}
}

func TestFormat(t *testing.T) {
	f := source.NewFile("m.stan", "data {\nint N;\n  real x;\n}\nmodel {\nx~normal(0,1);\n}\n")
	s := analyse(f)
	edits, ok := s.Format(f, nil)
	if got := service.Apply(f, edits); !ok || !strings.Contains(got, "\n  int N;\n  real x;\n") || !strings.Contains(got, "\n  x ~ normal(0, 1);\n") {
		t.Errorf("%s", got)
	}
	at := strings.Index(f.Text, "int N")
	edits, _ = s.Format(f, &source.Span{File: f, Start: at, End: at + 3})
	if got := service.Apply(f, edits); !strings.Contains(got, "\n  int N;\n") || !strings.Contains(got, "\nx~normal(0,1);\n") {
		t.Errorf("%s", got)
	}
	// Also where all lines differ: no others than those of the part change.
	tabs := source.NewFile("m.stan", "data {\n\tint N;\n\treal x;\n}\nmodel {\n\tx~normal(0,1);\n\tx~normal(0,2);\n}\n")
	at = strings.Index(tabs.Text, "\tx~normal(0,1)")
	edits, _ = analyse(tabs).Format(tabs, &source.Span{File: tabs, Start: at, End: at + 8})
	if got, want := service.Apply(tabs, edits), strings.Replace(tabs.Text, "\tx~normal(0,1)", "  x ~ normal(0, 1)", 1); got != want {
		t.Errorf("%s", got)
	}
	half := source.NewFile("m.stan", "data {\nint N\n")
	if _, ok := analyse(half).Format(half, nil); ok {
		t.Error("a program with errors is laid out")
	}
}

func TestFolds(t *testing.T) {
	f := source.NewFile("m.stan", "// a\n// b\ndata {\n  int N;\n}\nmodel {\n  /* c\n  d */\n  { }\n}")
	if got := analyse(f).Folds(f); len(got) != 4 {
		t.Errorf("%v", got)
	}
}

// everything calls all functions for a position. None may panic or return a span outside the text.
func everything(t testing.TB, s *service.Snapshot, f *source.File, at int) {
	inside := func(what string, span source.Span) {
		if span.File == f && (span.Start < 0 || span.Start > span.End || span.End > len(f.Text)) {
			t.Fatalf("%s: span %d to %d of %d bytes of %q", what, span.Start, span.End, len(f.Text), f.Text)
		}
	}
	for _, d := range s.Diagnostics {
		inside("diagnostic", d.Span)
	}
	for _, c := range s.Complete(f, at, nil) {
		inside("completion", c.Replace)
	}
	if h, ok := s.Hover(f, at); ok {
		inside("hover", h.Span)
	}
	s.SignatureHelp(f, at)
	for _, d := range s.Definition(f, at) {
		inside("definition", d)
	}
	for _, r := range s.References(f, at) {
		inside("reference", r.Span)
	}
	if edits, err := s.Rename(f, at, "renamed_to_this"); err == nil && len(edits) == 0 {
		t.Fatalf("renaming at %d of %q changes nothing", at, f.Text)
	}
	s.Fixes(f, at, at)
}

// all calls all functions for a whole file.
func all(s *service.Snapshot, f *source.File) {
	s.FixAll(f)
	s.Upgrade(f)
	s.Format(f, nil)
	s.Outlines(f)
	s.Folds(f)
	s.SemanticTokens(f)
	s.Hints(f, service.HintExpressions)
}

// programs returns the programs of the repository.
func programs(t testing.TB) []string {
	var out []string
	err := filepath.WalkDir(filepath.Join("..", ".."), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if ext := filepath.Ext(name); !d.IsDir() && (ext == ".stan" || ext == ".model") {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			out = append(out, string(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range diag.Explanations() {
		out = append(out, e.Example, e.Fixed)
	}
	return out
}

// TestPrefixes analyses unfinished programs: prefixes of all programs of the repository, with and
// without the lines after the cursor.
func TestPrefixes(t *testing.T) {
	texts := programs(t)
	if len(texts) < 100 {
		t.Fatalf("only %d programs", len(texts))
	}
	step := 0
	for _, text := range short.Every(4, texts) {
		// Of long programs, only some prefixes are tried, at different offsets.
		for n := step % 7; n <= len(text); n += 1 + len(text)/4 {
			step++
			f := source.NewFile("m.stan", text[:n])
			s := analyse(f)
			everything(t, s, f, n)
			everything(t, s, f, (step*7919)%(n+1))
			if step%16 == 0 {
				all(s, f)
			}
			cut := strings.IndexByte(text[n:], '\n') // omit the rest of the cursor's line
			if cut >= 0 && step%3 == 0 {
				f := source.NewFile("m.stan", text[:n]+text[n+cut:])
				everything(t, analyse(f), f, n)
			}
		}
	}
	t.Logf("%d places in %d programs", step, len(texts))
}

func FuzzService(f *testing.F) {
	for i, p := range programs(f) {
		if len(p) < 500 {
			f.Add(p, i*37%(len(p)+1))
		}
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		if len(text) > 5000 {
			return
		}
		file := source.NewFile("m.stan", text)
		s := analyse(file)
		everything(t, s, file, max(0, min(at, len(text))))
		all(s, file)
	})
}

func BenchmarkAnalyse(b *testing.B) {
	var model strings.Builder
	for i := range 480 {
		fmt.Fprintf(&model, "  y ~ normal(X * beta + alpha * %d, exp(sigma) + twice(alpha));\n", i)
	}
	f := source.NewFile("m.stan", program(model.String()))
	for b.Loop() {
		if s := analyse(f); len(s.Diagnostics) > 0 {
			b.Fatal(s.Diagnostics)
		}
	}
}
