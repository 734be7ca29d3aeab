package lang_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/internal/errtest"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/source"
)

func parse(f *source.File) diag.List {
	_, diags := lang.Parse(f)
	return diags
}

func TestSyntaxErrors(t *testing.T) { errtest.Glob(t, "testdata/syntax/*.model", parse) }

func TestCodeExamples(t *testing.T) {
	errtest.Examples(t, "codes.go", parse, diag.TooDeep, diag.TooLong)
	errtest.Examples(t, "codes_legacy.go", parseLegacy)
}

func parseLegacy(f *source.File) diag.List {
	known := func(name string) bool { return strings.Contains(" "+libraryNames+" ", " "+name+" ") }
	_, diags := lang.ParseWith(f, lang.Options{Legacy: true, Known: known})
	return diags
}

const libraryNames = "normal_lpdf normal_lcdf normal_lccdf normal_cdf poisson_lpmf lmultiply abs log"

// TestErrorsAtLineEnds checks errors that would swallow errtest's comments.
func TestErrorsAtLineEnds(t *testing.T) {
	tests := []struct{ src, want string }{
		{"model {\n x = 1; /* open", "t:2:9: error: this comment is never closed [E0107]"},
		{"model { print(\"abc); }", "t:1:15: error: this string is not closed on its line [E0108]"},
		{"model {\n}\n/* open", "t:3:1: error: this comment is never closed [E0107]"},
		{"model {\n  print(\"abc);\n}", "t:2:9: error: this string is not closed on its line [E0108]"},
		{"functions {\n  #include a.stan\n}", "t:2:3: error: files cannot be included here [E0111]"},
		{"#include <a.stan>\nmodel {\n}", "t:1:1: error: files cannot be included here [E0111]"},
		{"model {\n  x = 1;", "t:2:9: error: `}` is missing: the text ends within the block `model` [E0103]"},
		{"model {\n  x = 1", "t:2:8: error: a semicolon is missing here [E0101]\nt:2:8: error: `}` is missing: the text ends within the block `model` [E0103]"},
		{"model", "t:1:6: error: `{` is missing after the block name `model` [E0100]"},
		{"x", "t:1:1: error: text outside all program blocks [E0116]"},
		{"\xff\xfe", "t:1:1: error: this is not UTF-8 text [E0105]"},
		{"\ufeffmodel {\n}", ""}, // a byte order mark
		{"", ""},
		{"// nothing", ""},
		{"model {\r\n  real x\r\n}\r\n", "t:2:9: error: a semicolon is missing here [E0101]"},
	}
	for _, test := range tests {
		var got []string
		for _, d := range parse(source.NewFile("t", test.src)) {
			got = append(got, d.String())
		}
		if g := strings.Join(got, "\n"); g != test.want {
			t.Errorf("%q:\ngot  %s\nwant %s", test.src, g, test.want)
		}
	}
}

// TestRendered checks messages as users see them, with notes and help.
func TestRendered(t *testing.T) {
	f := source.NewFile("m.model", "data {\n  real y[3];\n}\nmodel {\n  y ~ normal(0, exp(1);\n}\n")
	var b strings.Builder
	if err := diag.Render(&b, parse(f), diag.Options{}); err != nil {
		t.Fatal(err)
	}
	const want = "m.model:2:9: error: sizes after the name do not make an array [E0124]\n" +
		"    2 |   real y[3];\n" +
		"      |         ^~~\n" +
		"  This is the syntax of an older version of Stan. The formatter can rewrite the program, and it can be run as it is.\n" +
		"  help: write `array[3] real y`\n" +
		"\n" +
		"m.model:5:23: error: `)` is missing before `;` [E0102]\n" +
		"    5 |   y ~ normal(0, exp(1);\n" +
		"      |                       ^\n" +
		"  note: m.model:5:13: this `(` is not closed\n" +
		"    5 |   y ~ normal(0, exp(1);\n" +
		"      |             ^\n" +
		"  help: add `)`\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestOwnNames checks that programs of Stan can use the names of types that Stan does not have.
func TestOwnNames(t *testing.T) {
	for text, fine := range map[string]bool{
		"data {\n  array[2] real sparse_matrix;\n}\nmodel {\n  target += sparse_matrix[1];\n}\n":                       true,
		"functions {\n  real f(matrix sparse_matrix) {\n    return sum(sparse_matrix);\n  }\n}\n":                      true,
		"functions {\n  real sparse_matrix(real x) {\n    return x;\n  }\n}\n":                                         true,
		"data {\n  real<lower=0> x, sparse_matrix;\n}\n":                                                               true,
		"functions {\n  real f(array[] real x, sparse_matrix S) {\n    return S[1, 1];\n  }\n}\ndata {\n  int n;\n}\n": true,
		"data {\n  sparse_matrix[2, 2] sparse_matrix;\n}\n":                                                            false,
	} {
		_, list := lang.Parse(source.NewFile("t", text))
		if fine != !list.HasErrors() {
			t.Errorf("%s: %v", text, list)
		}
	}
}

// TestOldNames checks that, in legacy mode, words that are reserved now can be names. They keep
// their names, because the data have them too.
func TestOldNames(t *testing.T) {
	f := source.NewFile("t", "data {\n  vector<lower=0>[2] offset;\n}\nmodel {\n  real array;\n  array <- offset[1];\n}\n")
	tree, list := lang.ParseWith(f, lang.Options{Legacy: true})
	var got []string
	for _, d := range list {
		got = append(got, d.String())
	}
	want := []string{
		"t:2:22: warning: `offset` is a reserved word today [W0101]",
		"t:5:8: warning: `array` is a reserved word today [W0101]",
		"t:6:9: warning: `<-` does not assign [W0101]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if d := tree.Block(ast.Data).Stmts[0].(*ast.VarDecl); d.Name.Name != "offset" {
		t.Errorf("the name is %s", d.Name.Name)
	}
	if list := parse(f); !list.HasErrors() {
		t.Error("without legacy mode there is no error")
	}
	today := source.NewFile("t", "functions {\n  real f(real x, array[] int n, array[,] real y, complex z) {\n    return x;\n  }\n}\n")
	if _, list := lang.ParseWith(today, lang.Options{Legacy: true}); len(list) > 0 {
		t.Errorf("of arguments of today's types: %v", list)
	}
}

// structure writes an expression with every operation in parentheses.
func structure(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Unary:
		if e.Op == "'" {
			return "(" + structure(e.X) + "')"
		}
		return "(" + e.Op + structure(e.X) + ")"
	case *ast.Binary:
		return "(" + structure(e.X) + " " + e.Op + " " + structure(e.Y) + ")"
	case *ast.Cond:
		return "(" + structure(e.Cond) + " ? " + structure(e.Then) + " : " + structure(e.Else) + ")"
	case *ast.IndexExpr:
		return "(" + structure(e.X) + "[" + fmt.Sprint(len(e.Indices)) + "])"
	case *ast.TupleMember:
		return "(" + structure(e.X) + "." + fmt.Sprint(e.Member) + ")"
	case *ast.Paren:
		return "P" + structure(e.X)
	}
	return printer.String(e)
}

func TestPrecedence(t *testing.T) {
	tests := []struct{ src, want string }{
		{"a + b * c", "(a + (b * c))"},
		{"a - b - c", "((a - b) - c)"},
		{"a / b * c % d", "(((a / b) * c) % d)"},
		{"a .* b ./ c", "((a .* b) ./ c)"},
		{"a * b %/% c", "(a * (b %/% c))"},
		{`a \ b * c`, `((a \ b) * c)`},
		{`a %/% b \ c`, `((a %/% b) \ c)`},
		{"a ^ b ^ c", "(a ^ (b ^ c))"},
		{"a ^ b .^ c", "(a ^ (b .^ c))"},
		{"-a ^ b", "(-(a ^ b))"},
		{"a ^ -b ^ c", "(a ^ (-(b ^ c)))"},
		{"a ^ -b * c", "((a ^ (-b)) * c)"},
		{"-a * b", "((-a) * b)"},
		{`-a \ b`, `((-a) \ b)`},
		{"a - -b", "(a - (-b))"},
		{"- - a", "(-(-a))"},
		{"!a == b", "((!a) == b)"},
		{"!a && b", "((!a) && b)"},
		{"a || b && c", "(a || (b && c))"},
		{"a && b == c", "(a && (b == c))"},
		{"a == b < c", "(a == (b < c))"},
		{"a < b < c", "((a < b) < c)"},
		{"a == b != c", "((a == b) != c)"},
		{"a < b + c", "(a < (b + c))"},
		{"a ? b : c ? d : e", "(a ? b : (c ? d : e))"},
		{"a ? b ? c : d : e", "(a ? (b ? c : d) : e)"},
		{"a || b ? c : d", "((a || b) ? c : d)"},
		{"a ? b : c || d", "(a ? b : (c || d))"},
		{"-a'", "(-(a'))"},
		{"a' * b''", "((a') * ((b')'))"},
		{"a ^ b'", "(a ^ (b'))"},
		{"a' ^ b", "((a') ^ b)"},
		{"a[1][2, 3]'", "(((a[1])[2])')"},
		{"a.1.2[3]", "(((a.1).2)[1])"},
		{"-a.1 ^ 2", "(-((a.1) ^ 2))"},
		{"(a + b) * c", "(P(a + b) * c)"},
		{"1.*a", "(1. * a)"},
		{"1 .* a", "(1 .* a)"},
		{"a.*b", "(a .* b)"},
		{"a.^.5", "(a .^ .5)"},
		{"a<-b", "(a < (-b))"},
	}
	for _, test := range tests {
		tree, diags := lang.Parse(source.NewFile("t", "model { x = "+test.src+"; }"))
		if len(diags) > 0 {
			t.Errorf("%s: %v", test.src, diags)
			continue
		}
		if got := structure(tree.Blocks[0].Stmts[0].(*ast.Assign).RHS); got != test.want {
			t.Errorf("%s: got %s, want %s", test.src, got, test.want)
		}
	}
}

func TestLiterals(t *testing.T) {
	tree, diags := lang.Parse(source.NewFile("t", "model { x = {1_000, 1_000.5e1_0, .5, 1., 1.e-3, 1E+3, 2i, .5i, 1e3i, 99999999999999999999}; }"))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	var got []string
	for _, e := range tree.Blocks[0].Stmts[0].(*ast.Assign).RHS.(*ast.ArrayExpr).Elems {
		switch e := e.(type) {
		case *ast.IntLit:
			got = append(got, fmt.Sprint(e.Value))
		case *ast.RealLit:
			got = append(got, fmt.Sprintf("%gr", e.Value))
		case *ast.ImagLit:
			got = append(got, fmt.Sprintf("%gi", e.Value))
		}
	}
	const want = "1000 1.0005e+13r 0.5r 1r 0.001r 1000r 2i 0.5i 1000i 9223372036854775807"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}

// good lists valid programs: those of the tests and the examples of the repository.
func good(t testing.TB) []*source.File {
	var out []*source.File
	for _, pattern := range []string{"testdata/good/*.model", "../examples/*/*.model"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no programs match %s (%v)", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, source.NewFile(name, string(text)))
		}
	}
	return out
}

// checkTree checks properties that every valid program has.
func checkTree(tree *ast.File) error {
	if err := checkSpans(tree); err != nil {
		return err
	}
	text := printer.String(tree)
	again, diags := lang.Parse(source.NewFile("printed", text))
	if len(diags) > 0 {
		return fmt.Errorf("printed text does not parse: %v\n%s", diags, text)
	}
	if !ast.Equal(tree, again) {
		return fmt.Errorf("print and parse give another tree\n%s", text)
	}
	if twice := printer.String(again); twice != text {
		return fmt.Errorf("printing is not stable:\n%s\n%s", text, twice)
	}
	return nil
}

// checkSpans checks that spans lie within their parents' spans, and that the span of a name covers
// its text.
func checkSpans(tree *ast.File) (err error) {
	stack := []source.Span{tree.Span()}
	ast.Inspect(tree, func(n ast.Node) bool {
		s, parent := n.Span(), stack[len(stack)-1]
		if err == nil && (s.File != tree.Source || s.Start > s.End || s.Start < parent.Start || s.End > parent.End) {
			err = fmt.Errorf("%T: span [%d, %d) not within that of its parent [%d, %d)", n, s.Start, s.End, parent.Start, parent.End)
		}
		if id, ok := n.(*ast.Ident); ok && err == nil && s.Text() != id.Name {
			err = fmt.Errorf("identifier %s has span %q", id.Name, s.Text())
		}
		stack = append(stack, s)
		return true
	}, func(ast.Node) { stack = stack[:len(stack)-1] })
	return err
}

func TestGood(t *testing.T) {
	for _, f := range good(t) {
		tree, diags := lang.Parse(f)
		if len(diags) > 0 {
			t.Errorf("%v", diags)
			continue
		}
		if err := checkTree(tree); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

func TestComments(t *testing.T) {
	tree, _ := lang.Parse(source.NewFile("t", "// a\nmodel { /* b\n c */ } // d"))
	var got []string
	for _, c := range tree.Comments {
		got = append(got, c.Span().Text())
	}
	if s := fmt.Sprintf("%q", got); s != `["// a" "/* b\n c */" "// d"]` {
		t.Error(s)
	}
}

// TestPartialTree checks that the tree of a program with errors has the parts that could be read.
func TestPartialTree(t *testing.T) {
	tree, diags := lang.Parse(source.NewFile("t", "data { int N; real y[N]; int ? ; }\nmodel { x = ; for (i in 1:N) { z = 1; y ~ ; } }"))
	if len(diags.Errors()) != 4 {
		t.Errorf("want 4 errors, got %v", diags)
	}
	const want = `data {
  int N;
  array[N] real y;
}
model {
  for (i in 1:N) {
    z = 1;
  }
}`
	if got := printer.String(tree); got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestHostile checks that no input makes the parser slow or crash.
func TestHostile(t *testing.T) {
	const n = 5000
	inputs := map[string]string{}
	for _, open := range []string{"(", "[", "{", "-", "!", "x[", "x(", "x.1", "x'", "if(1)", "if(1){", "else ", "for(i in 1:2)", "while(1){",
		"1?", "1?2:", "1^", "1+", "1==", "x=", "{1,", "tuple(", "tuple(int,", "array[", "real<lower=", "/*", "\"", "#", "data{", "x ~ f(", "}", ")", ";", "é", "1 ", "x ", "{}", "real f(real x){", "profile(\"a\"){", "int x", "int x;"} {
		inputs["repeated "+open] = "model { y = " + strings.Repeat(open, n)
		inputs["statements "+open] = "model { " + strings.Repeat(open, n)
		inputs["top "+open] = strings.Repeat(open, n)
	}
	inputs["nested then wide"] = "model { " + strings.Repeat("{", 900) + strings.Repeat("{}", n)
	inputs["sum"] = "model { y = 1" + strings.Repeat(" + 1", 4*n) + "; }"
	inputs["else if"] = "model { " + strings.Repeat("if (x) { y = 1; } else ", 3*n) + "{} }"
	short.Skip(t, "long texts of many shapes take seconds")
	for name, src := range inputs {
		start := time.Now()
		f := source.NewFile("t", src)
		tree, diags := lang.Parse(f)
		if len(diags) == 0 {
			t.Errorf("%s: no error", name)
		}
		if err := checkSpans(tree); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(diags) > 100 {
			t.Errorf("%s: %d errors", name, len(diags))
		}
		// Parsing takes 20 ms, or a hundred times that on a busy machine. If it were not linear in
		// n, it would take minutes.
		if d := time.Since(start); d > 30*time.Second {
			t.Errorf("%s: took %v", name, d)
		}
	}
}

func TestTooDeep(t *testing.T) {
	for _, src := range []string{
		"model { x = " + strings.Repeat("-", 2000) + "1; }",
		"model { x = " + strings.Repeat("(", 2000) + "1" + strings.Repeat(")", 2000) + "; }",
		"model { x = 1" + strings.Repeat(" + 1", 20_000) + "; }",
		"model " + strings.Repeat("{", 2000) + strings.Repeat("}", 2000),
		"model { " + strings.Repeat("if (x) ", 2000) + "y = 1; }",
		"model { " + strings.Repeat("if (x) y = 2; else ", 12_000) + "y = 1; }",
	} {
		diags := parse(source.NewFile("t", src))
		if len(diags) != 1 || diags[0].Code != diag.TooDeep {
			t.Errorf("%.30s…: %v", src, diags)
		}
	}
	// Nesting that is deep, but allowed.
	for _, src := range []string{
		"model { x = " + strings.Repeat("-", 900) + "1; }",
		"model { x = " + strings.Repeat("(", 450) + "1" + strings.Repeat(")", 450) + "; }",
		"model " + strings.Repeat("{", 900) + strings.Repeat("}", 900),
		"model { x = 1" + strings.Repeat(" + 1", 9000) + "; }",
		"model { " + strings.Repeat("if (x) { y = 1; } else ", 4000) + "y = 2; }",
	} {
		if diags := parse(source.NewFile("t", src)); len(diags) != 0 {
			t.Errorf("%.30s…: %v", src, diags[0])
		}
	}
}

// TestManyStrings checks that a line with many strings is read once, not once for each string.
func TestManyStrings(t *testing.T) {
	began := time.Now()
	if len(parse(source.NewFile("m", "model { "+strings.Repeat(`"`, 2_000_000)))) == 0 {
		t.Fatal("accepted")
	}
	if d := time.Since(began); d > 20*time.Second { // quadratic time would be minutes
		t.Error(d)
	}
}

// TestBidiControls checks the warning about characters that change the direction of text, in
// comments and strings. Other characters must not give a warning.
func TestBidiControls(t *testing.T) {
	controls := "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
	for _, c := range controls {
		for _, text := range []string{"// é " + string(c) + "\nmodel { }\n", "/* a\n" + string(c) + "\n*/ model { }\n", "model { print(\"x" + string(c) + "\"); }\n"} {
			f := source.NewFile("m.stan", text)
			_, list := lang.Parse(f)
			if len(list) != 1 || list[0].Code != diag.BidiControl || list[0].Severity != diag.Warning || list[0].Span.Text() != string(c) {
				t.Errorf("%q: %v", text, list)
			}
		}
	}
	if _, list := lang.Parse(source.NewFile("m.stan", "// “é” → ∑ ─ \u200f\nmodel { print(\"“é”\"); }\n")); len(list) > 0 {
		t.Error(list)
	}
}
