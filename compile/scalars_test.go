package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/direct"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// TestFunctionsOfNumbers compares two ways to apply functions of scalars. Package interp makes a
// list of operations for each function, once. Package direct builds a graph of constants for each
// call. Both must give the same value or the same draw, or both must refuse.
func TestFunctionsOfNumbers(t *testing.T) {
	values := [][]string{
		{"0.3", "0.6", "1.7", "0.8", "0.9", "0.5", "0.4"},
		{"-0.4", "1.1", "-2.5", "0", "1", "-1", "3"},
		{"2.5", "1.25", "negative_infinity()", "not_a_number()", "1.5", "2", "0.25"},
	}
	ints := []string{"3", "5", "2", "1", "0", "4", "2"}
	library := stdlib.Language()
	compared, refused, functions := 0, 0, 0
	for name := range library.Names() {
		if strings.HasSuffix(name, "_jacobian") || strings.HasSuffix(name, "_lupdf") || strings.HasSuffix(name, "_lupmf") || strings.HasPrefix(name, "operator") {
			continue
		}
		found := false
		for n := 1; n <= 7; n++ {
			for _, kinds := range kindsOf(n) {
				if !fits(library.Lookup(name), kinds) {
					continue
				}
				found = true
				for _, list := range short.Every(3, values) {
					text := callOf(name, kinds, list, ints)
					got, want, ok := bothWays(t, text)
					switch {
					case !ok:
						continue
					case (got.err == nil) != (want.err == nil):
						t.Errorf("%s: interpreted %v, plain %v", text, got.err, want.err)
					case got.err != nil:
						refused++
					case !same(got.x, want.x):
						t.Errorf("%s: interpreted %v, plain %v", text, got.x, want.x)
					default:
						compared++
					}
				}
			}
		}
		if found {
			functions++
		}
	}
	t.Logf("%d functions; %d values compared, %d refused", functions, compared, refused)
	if functions < 200 || compared < short.Of(1000, 300) {
		t.Error("too little was compared")
	}
}

// kindsOf returns lists of kinds of n arguments: all combinations if there are few arguments, else
// those with ints first.
func kindsOf(n int) [][]types.Type {
	var out [][]types.Type
	for mask := range 1 << n {
		if n > 3 && mask&(mask+1) != 0 {
			continue
		}
		list := make([]types.Type, n)
		for i := range list {
			if list[i] = types.RealType; mask>>i&1 != 0 {
				list[i] = types.IntType
			}
		}
		out = append(out, list)
	}
	return out
}

func fits(overloads []types.Overload, args []types.Type) bool {
	for _, o := range overloads {
		m, ok := o.Match(args)
		if ok && (m.Result.Equal(types.RealType) || m.Result.Equal(types.IntType)) {
			return true
		}
	}
	return false
}

// callOf returns a program whose generated quantity is a call with its arguments in variables.
func callOf(name string, kinds []types.Type, reals, ints []string) string {
	var b strings.Builder
	b.WriteString("transformed data {")
	args := ""
	for i, k := range kinds {
		value := reals[i]
		if k.Equal(types.IntType) {
			value = ints[i]
		}
		fmt.Fprintf(&b, " %s a%d = %s;", k, i, value)
		switch {
		case i == 1 && (strings.HasSuffix(name, "pdf") || strings.HasSuffix(name, "pmf") || strings.HasSuffix(name, "cdf")):
			args += " | "
		case i > 0:
			args += ", "
		}
		args += fmt.Sprint("a", i)
	}
	fmt.Fprintf(&b, " }\ngenerated quantities { real y = %s(%s); }", name, args)
	return b.String()
}

// same reports whether two numbers are equal up to rounding.
func same(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-13*math.Abs(b)
}

type outcome struct {
	x   float64
	err error
}

// bothWays evaluates a program in both ways; ok is false if it is not a valid program.
func bothWays(t *testing.T, text string) (got, want outcome, ok bool) {
	prog, list := Compile(source.NewFile("call.model", text))
	if list.HasErrors() {
		return got, want, false
	}
	first := func(out []float64, err error) outcome {
		if err != nil {
			return outcome{err: err}
		}
		return outcome{x: out[0]}
	}
	rng := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	plain, err := direct.New(prog.ir, data.Empty(), direct.Options{Rand: rng()})
	if err != nil {
		t.Fatal(err)
	}
	_, out, err := plain.Outputs(nil)
	want = first(out, err)
	known, err := interp.Data(prog.ir, data.Empty(), interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fast, err := interp.New(known, interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return first(fast.Outputs(nil, &ad.Env{Rand: rng()}, true)), want, true
}
