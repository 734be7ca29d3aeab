package lang_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/internal/errtest"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file compares the grammar in spec.md with the parser, in both directions: the grammar
// derives every program that the parser accepts, and the parser accepts random derivations of the
// grammar.

// rule is a node of the grammar.
type rule struct {
	kind string // seq, alt, opt, many, lit, ref
	text string // the text of a lit, or the name of the rule that a ref refers to
	kids []*rule
}

type ebnf map[string]*rule

var ebnfToken = regexp.MustCompile(`"[^"]*"|[A-Za-z_]+|[\[\]{}()|=;]`)

// readGrammar reads the ebnf block of spec.md.
func readGrammar(t *testing.T) ebnf {
	t.Helper()
	g := ebnf{}
	for _, b := range specBlocks(t) {
		if b.info != "ebnf" {
			continue
		}
		toks := ebnfToken.FindAllString(b.text, -1)
		i := 0
		var alternatives func() *rule
		sequence := func() *rule {
			out := &rule{kind: "seq"}
			for i < len(toks) && !strings.Contains("|)]};", toks[i]) {
				tok := toks[i]
				i++
				switch {
				case tok[0] == '"':
					out.kids = append(out.kids, &rule{kind: "lit", text: tok[1 : len(tok)-1]})
				case tok == "[" || tok == "{" || tok == "(":
					k := alternatives()
					i++ // skip the closing bracket
					switch tok {
					case "[":
						k = &rule{kind: "opt", kids: []*rule{k}}
					case "{":
						k = &rule{kind: "many", kids: []*rule{k}}
					}
					out.kids = append(out.kids, k)
				default:
					out.kids = append(out.kids, &rule{kind: "ref", text: tok})
				}
			}
			return out
		}
		alternatives = func() *rule {
			out := &rule{kind: "alt", kids: []*rule{sequence()}}
			for i < len(toks) && toks[i] == "|" {
				i++
				out.kids = append(out.kids, sequence())
			}
			return out
		}
		for i < len(toks) {
			name := toks[i]
			i += 2 // skip the name and =
			g[name] = alternatives()
			i++ // skip the semicolon
		}
	}
	if len(g) < 20 || g["program"] == nil {
		t.Fatalf("only %d rules: is the grammar still found?", len(g))
	}
	return g
}

// terminals are the rules that match single tokens.
var terminals = map[string]*regexp.Regexp{
	"name":      regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`),
	"type_name": regexp.MustCompile(`^(int|real|complex|(complex_)?(vector|row_vector|matrix)` + constrained() + `)$`),
	"integer":   regexp.MustCompile(`^[0-9][0-9_]*$`),
	"real":      regexp.MustCompile(`^([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)([eE][+-]?[0-9_]+)?$`),
	"imaginary": regexp.MustCompile(`^([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)([eE][+-]?[0-9_]+)?i$`),
	"member":    regexp.MustCompile(`^\.[0-9][0-9_]*$`),
	"string":    regexp.MustCompile(`^"[^"\n]*"$`),
}

var programToken = regexp.MustCompile(`/\*(?s:.*?)\*/|//[^\n]*|\s+|[A-Za-z_][A-Za-z0-9_]*|` +
	`(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?i?|"[^"\n]*"|` +
	`%/%|\.\*=|\./=|\|\||&&|==|!=|<=|>=|\+=|-=|\*=|/=|\.\*|\./|\.\^|(?s:.)`)

// recogniser finds derivations of a list of tokens.
type recogniser struct {
	g        ebnf
	keywords map[string]bool
	toks     []string
	memo     map[string][]int
}

func newRecogniser(g ebnf) *recogniser {
	r := &recogniser{g: g, keywords: map[string]bool{}}
	var visit func(x *rule)
	visit = func(x *rule) {
		if x.kind == "lit" && x.text != "T" && terminals["name"].MatchString(x.text) {
			r.keywords[x.text] = true
		}
		for _, k := range x.kids {
			visit(k)
		}
	}
	for _, x := range g {
		visit(x)
	}
	return r
}

// derives reports whether a program can be derived.
func (r *recogniser) derives(text string) bool {
	r.toks, r.memo = nil, map[string][]int{}
	for _, tok := range programToken.FindAllString(text, -1) {
		if s := strings.TrimSpace(tok); s != "" && !strings.HasPrefix(s, "//") && !strings.HasPrefix(s, "/*") {
			r.toks = append(r.toks, s)
		}
	}
	return slices.Contains(r.ref("program", 0), len(r.toks))
}

// ref returns the positions at which a rule can end that begins at position at.
func (r *recogniser) ref(name string, at int) []int {
	if rx := terminals[name]; rx != nil {
		if at < len(r.toks) && rx.MatchString(r.toks[at]) && !(name == "name" && (r.keywords[r.toks[at]] || terminals["type_name"].MatchString(r.toks[at]))) {
			return []int{at + 1}
		}
		return nil
	}
	key := fmt.Sprint(name, " ", at)
	if ends, ok := r.memo[key]; ok {
		return ends
	}
	if r.g[name] == nil {
		panic("no rule " + name)
	}
	ends := r.match(r.g[name], at)
	r.memo[key] = ends
	return ends
}

func (r *recogniser) match(x *rule, at int) []int {
	switch x.kind {
	case "lit":
		if at < len(r.toks) && r.toks[at] == x.text {
			return []int{at + 1}
		}
		return nil
	case "ref":
		return r.ref(x.text, at)
	case "alt":
		set := map[int]bool{}
		for _, k := range x.kids {
			for _, e := range r.match(k, at) {
				set[e] = true
			}
		}
		return slices.Sorted(maps.Keys(set))
	case "seq":
		ends := []int{at}
		for _, k := range x.kids {
			ends = r.from(k, ends)
		}
		return ends
	case "opt":
		return union([]int{at}, r.match(x.kids[0], at))
	}
	all, last := []int{at}, []int{at} // a rule of kind many
	for len(last) > 0 {
		next := r.from(x.kids[0], last)
		last = slices.DeleteFunc(next, func(e int) bool { return slices.Contains(all, e) })
		all = union(all, last)
	}
	return all
}

func (r *recogniser) from(x *rule, starts []int) []int {
	var out []int
	for _, s := range starts {
		out = union(out, r.match(x, s))
	}
	return out
}

func union(a, b []int) []int {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// TestGrammarDerives checks that the grammar derives all programs that parse, and none with syntax
// errors.
func TestGrammarDerives(t *testing.T) {
	r := newRecogniser(readGrammar(t))
	n, bad := 0, 0
	try := func(f *source.File) {
		list := parse(f)
		if !list.HasErrors() {
			n++
			if !r.derives(f.Text) {
				t.Errorf("%s parses but cannot be derived:\n%s", f.Name, f.Text)
			}
			return
		}
		for _, d := range list.Errors() {
			switch d.Code {
			// These are not errors of syntax.
			case "E0100", "E0101", "E0102", "E0103", "E0113", "E0114", "E0130":
				bad++
				if r.derives(f.Text) {
					t.Errorf("%s can be derived, but gives %s", f.Name, d)
				}
				return
			}
		}
	}
	for _, f := range good(t) {
		try(f)
	}
	for _, b := range specBlocks(t) {
		if b.info == "stan" {
			try(source.NewFile(fmt.Sprint("spec.md:", b.line), b.text))
		}
	}
	names, _ := filepath.Glob("testdata/syntax/*.model")
	more, _ := filepath.Glob("../examples/*/*.model")
	for _, name := range append(names, more...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range errtest.Chunks(name, string(text)) {
			try(f)
		}
	}
	if n < 15 || bad < 20 {
		t.Errorf("only %d programs without and %d with errors", n, bad)
	}
}

// constrained returns the constrained types, as alternatives of a regular expression.
func constrained() (out string) {
	for _, k := range types.ConstrainedTypes() {
		out += "|" + k.String()
	}
	return out
}

// beyond lists the codes for rules that the grammar does not express.
var beyond = map[string]bool{"E0109": true, "E0112": true, "E0124": true, "E0125": true, "E0126": true, "E0127": true, "E0131": true, "E0132": true, "E0133": true, "E0134": true, "E0319": true}

// TestGrammarParses checks that random derivations of the grammar parse, except for rules that the
// grammar does not express.
func TestGrammarParses(t *testing.T) {
	g := readGrammar(t)
	rng := rand.New(rand.NewPCG(1, 2))
	words := map[string][]string{
		"name": {"x", "beta", "N_1", "T", "sum_of"}, "type_name": {"int", "real", "vector", "matrix", "simplex", "complex"},
		"integer": {"0", "7", "1_000"}, "real": {"1.5", "2.", ".5", "1e-3"}, "imaginary": {"2i", "1.5i"},
		"member": {".1", ".2"}, "string": {`"a"`},
	}
	var out []string
	var derive func(x *rule, depth int)
	derive = func(x *rule, depth int) {
		switch x.kind {
		case "lit":
			out = append(out, x.text)
		case "ref":
			if w := words[x.text]; w != nil {
				out = append(out, w[rng.IntN(len(w))])
				return
			}
			derive(g[x.text], depth+1)
		case "seq":
			for _, k := range x.kids {
				derive(k, depth)
			}
		case "alt":
			k := x.kids[rng.IntN(len(x.kids))]
			if depth > 40 { // end the recursion: choose the first alternative that is a token
				for _, c := range x.kids {
					if len(c.kids) == 1 && (c.kids[0].kind == "lit" || words[c.kids[0].text] != nil) {
						k = c
						break
					}
				}
			}
			derive(k, depth)
		case "opt":
			if depth < 30 && rng.IntN(3) == 0 {
				derive(x.kids[0], depth)
			}
		case "many":
			for n := 0; n < 3 && depth < 30 && rng.IntN(5) == 0; n++ {
				derive(x.kids[0], depth)
			}
		}
	}
	for range 3000 {
		out = nil
		derive(g["statement"], 10)
		text := "model {\n" + strings.Join(out, " ") + "\n}\n"
		if rng.IntN(4) == 0 {
			out = nil
			derive(g["function"], 5)
			text = "functions {\n" + strings.Join(out, " ") + "\n}\n"
		}
		for _, d := range parse(source.NewFile("derived", text)).Errors() {
			if !beyond[string(d.Code)] {
				lo := max(0, d.Span.Start-60)
				t.Logf("…%s…", text[lo:min(len(text), d.Span.Start+30)])
				t.Errorf("derived, but not parsed: %s\n%s", d, text)
			}
		}
	}
}
