package compile

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/direct"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestIntRule checks the limits of ints in every evaluator: in transformed data, in generated
// quantities, compiled and interpreted, and in the plain interpreter. Ints in the data have 32
// bits, and results beyond 2⁵³ are errors. After an error, the quantity is NaN.
func TestIntRule(t *testing.T) {
	const inData, asGraph, interpreted = "data", "graph", "interpreted"
	for _, c := range []struct {
		name, text string // statements on a real x, which is 1, and an int n, which is 100000
		want       string // the error has one of these words; "": there is no error
	}{
		{"yule_simon_rng", "k = yule_simon_rng(0.0001 * x);", "an int of 32 bits"},
		{"beta_neg_binomial_rng", "k = beta_neg_binomial_rng(1, 0.0001 * x, 1);", "an int of 32 bits"},
		{"neg_binomial_rng", "k = neg_binomial_rng(1, 1e-30 * x);", "an int of 32 bits"},
		{"few", "k = neg_binomial_rng(1, 1e-6 * x);", ""},
		{"doubling", "for (i in 1:40) k = k + k;", "integer overflow"},
		{"doubling less", "for (i in 1:36) k = k + k;", ""}, // 6.9e15
		{"product", "if (x > 0.5) k = k * k * k * k;", "integer overflow"},
		{"product not reached", "if (x < 0.5) k = k * k * k * k;", ""},
		{"to_int", "k = to_int(1e300);", "must be an int between -2⁵³ and 2⁵³, but is 1e+300"},
		{"to_int of NaN", "k = to_int(not_a_number());", "must be an int between -2⁵³ and 2⁵³, but is nan"},
		{"to_int beyond 32 bits", "k = to_int(1e15);", ""},
	} {
		for _, by := range []string{inData, asGraph, interpreted} {
			text := "parameters { real<lower=0> x; }\nmodel { x ~ exponential(1); }\ngenerated quantities { int k = n; " + c.text + " }"
			switch by {
			case inData:
				text = "transformed data { real x = 1; int k = n; " + c.text + " }\nparameters { real y; }\nmodel { y ~ std_normal(); }"
			case interpreted: // a size that parameters decide
				text = strings.Replace(text, "int k = n;", "int k = n; int s = x > 0.5 ? 2 : 1; { vector[s] v = rep_vector(x, s); }", 1)
			}
			text = "data { int n; }\n" + text
			check := func(how string, err error) {
				said := func(want string) bool { return strings.Contains(err.Error(), want) }
				if c.want == "" && err != nil || c.want != "" && (err == nil || !slices.ContainsFunc(strings.Split(c.want, "|"), said)) {
					t.Errorf("%s, %s, %s: %v, want %q", c.name, by, how, err, c.want)
				}
			}
			set, err := data.FromGo(map[string]any{"n": 100000})
			if err != nil {
				t.Fatal(err)
			}
			prog, list := Compile(source.NewFile("m.model", text))
			if prog == nil {
				t.Fatal(list[0])
			}
			rng := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
			plain, err := direct.New(prog.ir, set, direct.Options{Rand: rng()})
			if err == nil && by != inData {
				_, _, err = plain.Outputs([][]float64{{0}})
			}
			check("plain", err)
			m, err := prog.Bind(set, BindOptions{Seed: 1})
			if by == inData || by == asGraph && strings.HasPrefix(c.name, "to_int") { // known when the data are bound
				check("bound", err)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := m.bound.Generated == nil; got != (by == interpreted) {
				t.Errorf("%s: interpreted is %v, want %v", c.name, got, by == interpreted)
			}
			names := m.OutputNames()
			out := make([]float64, len(names))
			err = m.Generate([]float64{0}, rng(), out)
			check("generated", err)
			for i, name := range names {
				if name == "k" && err != nil && !math.IsNaN(out[i]) {
					t.Errorf("%s, %s: the quantity is %v after an error", c.name, by, out[i])
				}
			}
		}
	}
}
