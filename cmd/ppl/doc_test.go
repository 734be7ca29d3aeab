package main

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/stdlib"
)

// TestFormulas: the formula in a distribution's documentation, run as a program,
// gives what the density gives.
func TestFormulas(t *testing.T) {
	reserved := regexp.MustCompile(`\b(lower|upper)\b`)
	for name := range stdlib.Universe().Names() {
		f := stdlib.Universe().Lookup(name)[0].(*stdlib.Func)
		if f.Dist == nil || f.Terms == nil || strings.Contains(name, "glm") {
			continue
		}
		d := f.Dist
		if d.Formula == "" {
			if d.Name != "wiener" { // an infinite sum
				t.Errorf("%s has no formula", d.Name)
			}
			continue
		}
		call, _, ok := f.Demonstration()
		if !ok {
			t.Errorf("%s has no example", name)
			continue
		}
		var b strings.Builder
		declare := func(name string, whole bool, value string) {
			kind := "real"
			if whole {
				kind = "int"
			}
			fmt.Fprintf(&b, "  %s %s = %s;\n", kind, name, value)
		}
		values := strings.FieldsFunc(call[len(name)+1:len(call)-1], func(r rune) bool { return strings.ContainsRune("|,", r) })
		declare("y", d.Discrete, values[0])
		names := []string{"y"}
		for i, p := range d.Params {
			declare(p.Name, p.Int, values[i+1])
			names = append(names, p.Name)
		}
		args := strings.Replace(strings.Join(names, ", "), ",", " |", 1)
		body := fmt.Sprintf("%s  target += log(%s) - %s(%s);\n", b.String(), d.Formula, name, args)
		program := "parameters { real u; }\nmodel {\n" + reserved.ReplaceAllString(body, "${1}_") + "}\n"
		if got, err := atZero(program); err != nil || math.Abs(got) > 1e-12 {
			t.Errorf("%s\ngives %v (%v)", program, got, err)
		}
	}
}

// atZero is the log density of a program at 0.
func atZero(program string) (float64, error) {
	m, err := ppl.Compile("test", program)
	if err != nil {
		return 0, err
	}
	p, err := m.Bind(ppl.JSON("{}"))
	if err != nil {
		return 0, err
	}
	return p.LogDensity(make([]float64, p.Dim()))
}

// undemonstrated are the functions without an example: those of containers of
// any kind, and one of ints that only fits matrices of other sizes.
var undemonstrated = regexp.MustCompile(`^(append_array|csr_.*|dims|head|num_elements|rep_array|reverse|segment|size|rows|cols|tail|to_array_1d|to_int|block|sub_row|sub_col|not_a_number|negative_infinity|positive_infinity|.*_constrain|.*_unconstrain|.*_jacobian)$`)

// TestDocumentation: every function has an example, and it is a legal program
// with that value.
func TestDocumentation(t *testing.T) {
	value := regexp.MustCompile(`^[-+.0-9e]+$`)
	ran := 0
	for name := range stdlib.Universe().Names() {
		found := false
		for _, o := range stdlib.Universe().Lookup(name) {
			f := o.(*stdlib.Func)
			call, want, ok := f.Demonstration()
			found = found || ok
			if !ok || f.Random || !value.MatchString(want) || strings.HasPrefix(name, "operator") && strings.Contains(call, "operator") {
				continue
			}
			ran++
			got, err := atZero("parameters { real u; }\nmodel { target += " + call + "; }\n")
			var w float64
			fmt.Sscan(want, &w)
			if err != nil || math.Abs(got-w) > 1e-5*max(1, math.Abs(w)) {
				t.Errorf("%s = %v (%v), documented as %s", call, got, err, want)
			}
		}
		if !found && !undemonstrated.MatchString(name) {
			t.Errorf("%s has no example", name)
		}
	}
	if ran < 300 {
		t.Errorf("only %d examples are numbers", ran)
	}
}
