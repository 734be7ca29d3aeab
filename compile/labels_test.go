package compile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

const (
	teams  = "data { int N; int<lower=1> T; array[N] int<lower=1, upper=T> home; array[N] int<lower=1, upper=T> away; }"
	doses  = `data { int N; int<labels={"placebo", "low", "high"}> D; array[N] int<lower=1, upper=D> dose; }`
	one    = `data { int<labels={"only"}> D; int<lower=1, upper=D> x; }`
	rows   = "data { int N; array[N] int<lower=1, upper=N> id; }"
	matrix = "data { int K; array[2, 2] int<lower=1, upper=K> m; }"
)

// TestLabels checks the numbers and levels of factors that index one size, in tables and in JSON,
// with the labels of the program, of the data, or none. Coding twice changes nothing.
func TestLabels(t *testing.T) {
	for _, c := range []struct {
		name, program, file, text string
		values                    string // of the integers, in the order of the program
		size                      string
		labels                    []string // of the size; nil: it has those of its only factor
		wrong                     string   // part of the error
	}{
		{name: "two columns", program: teams, file: "t.csv", text: "home,away\nB,C\nD,B\n", size: "T", labels: []string{"B", "C", "D"}, values: "2 3 [1 3] [2 1]"},
		{name: "no common level", program: teams, file: "t.csv", text: "home,away\nB,A\n", size: "T", labels: []string{"A", "B"}, values: "1 2 [2] [1]"},
		{name: "JSON", program: teams, file: "t.json", text: `{"N": 2, "home": ["B", "D"], "away": ["C", "B"]}`, size: "T", labels: []string{"B", "C", "D"}, values: "2 3 [1 3] [2 1]"},
		{name: "JSON with the size", program: teams, file: "t.json", text: `{"N": 2, "T": 3, "home": ["B", "D"], "away": ["C", "B"]}`, size: "T", labels: []string{"B", "C", "D"}, values: "2 3 [1 3] [2 1]"},
		{name: "labels of JSON", program: teams, file: "t.json", text: `{"N": 2, "T": ["D", "C", "B", "A"], "home": ["B", "D"], "away": [1, 4]}`, size: "T", labels: []string{"D", "C", "B", "A"}, values: "2 4 [3 1] [1 4]"},
		{name: "numbers with labels", program: teams, file: "t.json", text: `{"N": 1, "T": ["x, y", "", "[1]", "\"", "7", "é"], "home": [1], "away": [6]}`, size: "T", labels: []string{"x, y", "", "[1]", `"`, "7", "é"}, values: "1 6 [1] [6]"},
		{name: "empty", program: teams, file: "t.json", text: `{"N": 0, "T": [], "home": [], "away": []}`, size: "T", wrong: "`T` has the wrong size: 0 elements"},
		{name: "one label", program: one, file: "t.json", text: `{"x": "only"}`, size: "D", labels: []string{"only"}, values: "1 1"},
		{name: "labels of the program", program: doses, file: "t.csv", text: "dose\nlow\nplacebo\n", size: "D", labels: []string{"placebo", "low", "high"}, values: "2 3 [2 1]"},
		{name: "the same in JSON", program: doses, file: "t.json", text: `{"N": 2, "dose": ["low", "placebo"]}`, size: "D", labels: []string{"placebo", "low", "high"}, values: "2 3 [2 1]"},
		{name: "numbers", program: doses, file: "t.json", text: `{"N": 2, "D": 3, "dose": [2, 1]}`, size: "D", labels: []string{"placebo", "low", "high"}, values: "2 3 [2 1]"},
		{name: "names of rows", program: rows, file: "t.csv", text: "id\nb\na\n", size: "N", values: "2 [2 1]"},
		{name: "two dimensions", program: matrix, file: "t.json", text: `{"m": [["b", "a"], ["c", "b"]]}`, size: "K", values: "3 [2 1 3 2]"},
		{name: "unknown label", program: doses, file: "t.csv", text: "dose\nlow\nlou\n", wrong: `dose[2] is "lou" in t.csv, which is no label of D`},
		{name: "unknown label in JSON", program: doses, file: "t.json", text: `{"N": 2, "dose": ["low", "lou"]}`, wrong: `t.json:1:26: error: dose[2] is "lou", which is no label of D`},
		{name: "another size", program: doses, file: "t.json", text: `{"N": 2, "D": 4, "dose": [2, 1]}`, wrong: "D is 4, but has 3 labels"},
		{name: "other labels", program: doses, file: "t.json", text: `{"N": 2, "D": ["a", "b", "c"], "dose": [2, 1]}`, wrong: "the labels of D are not those of the program"},
		{name: "label twice", program: teams, file: "t.json", text: `{"N": 1, "T": ["a", "b", "a"], "home": [1], "away": [2]}`, wrong: `labels 1 and 3 of T are both "a"`},
		{name: "no label", program: teams, file: "t.json", text: `{"N": 1, "T": ["a", "b"], "home": ["a"], "away": ["c"]}`, wrong: `away[1] is "c", which is no label of T`},
		{name: "numbers in quotes", program: teams, file: "t.json", text: `{"N": 1, "T": 2, "home": ["1"], "away": ["2"]}`, wrong: `home[1] is the string "1"`},
		{name: "text among numbers", program: teams, file: "t.json", text: `{"N": 2, "T": 2, "home": [1, "b"], "away": [1, 2]}`, wrong: `home[2] is the string "b"`},
		{name: "uneven texts", program: matrix, file: "t.json", text: `{"K": 2, "m": [["b", "a"], ["b"]]}`, wrong: "m[1,1] is the string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, list := compile.Compile(source.NewFile("m.stan", c.program))
			if list.HasErrors() {
				t.Fatal(list)
			}
			set, err := data.Parse(c.file, c.text, data.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				coded, _, err := p.Coded(set)
				if err == nil {
					_, err = p.Bind(coded, compile.BindOptions{})
				}
				if c.wrong != "" {
					if err == nil || !strings.Contains(err.Error(), c.wrong) {
						t.Fatalf("the error is %v, without %q", err, c.wrong)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, v := range p.IR().Data {
					x, _ := coded.Get(v.Name)
					text := fmt.Sprint(x.Ints)
					if len(x.Shape) == 0 {
						text = strings.Trim(text, "[]")
					}
					got = append(got, text)
				}
				if s := strings.Join(got, " "); s != c.values {
					t.Errorf("the data are %s, want %s", s, c.values)
				}
				if got := coded.Levels(c.size); !slices.Equal(got, c.labels) {
					t.Errorf("the labels of %s are %q, want %q", c.size, got, c.labels)
				}
				set = coded
			}
		})
	}
}

// TestLabelsForStan checks that Stan's program has the size of the labels, and is one.
func TestLabelsForStan(t *testing.T) {
	p, list := compile.Compile(source.NewFile("m.stan", doses+" parameters { vector[D] b; } model { b ~ normal(0, 1); }"))
	if list.HasErrors() {
		t.Fatal(list)
	}
	set, err := data.Parse("t.json", `{"N": 0, "dose": []}`, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if set, _, err = p.Coded(set); err != nil {
		t.Fatal(err)
	}
	m, err := p.Bind(set, compile.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := m.Stan()
	if !strings.Contains(text, "int<lower=3, upper=3> D;") {
		t.Error(text)
	}
	if _, list := compile.CompileWith(source.NewFile("m.stan", text), compile.Options{StanOnly: true}); list.HasErrors() {
		t.Error(list)
	}
}
