package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/stdlib"
)

// TestFormulas checks that the formula in the documentation of a distribution has the same value as
// its density, if it is run as a program.
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

// atZero returns the log density of a program at 0.
func atZero(program string) (float64, error) {
	m, err := model.Compile("test", program)
	if err != nil {
		return 0, err
	}
	p, err := m.Bind(model.JSON("{}"))
	if err != nil {
		return 0, err
	}
	return p.LogDensity(make([]float64, p.Dim()))
}

// undemonstrated lists the functions without an example that is run, with the reason. The list may
// only shrink.
var undemonstrated = func() map[string]string {
	out := map[string]string{}
	for name := range strings.FieldsSeq(`laplace_latent_rng laplace_latent_tol_rng
		laplace_latent_bernoulli_logit_rng laplace_latent_tol_bernoulli_logit_rng
		laplace_latent_poisson_log_rng laplace_latent_tol_poisson_log_rng
		laplace_latent_neg_binomial_2_log_rng laplace_latent_tol_neg_binomial_2_log_rng`) {
		out[name] = "a draw; package compile compares draws of one of them with laplace_latent_solve"
	}
	return out
}()

// difference returns an expression for the largest error of the value of a call. In nested arrays,
// it compares only the first element.
func difference(call, value string) string {
	a, b := "("+call+")", "("+value+")"
	switch {
	case strings.HasPrefix(value, "{["):
		return "max(abs(" + a + "[1] - " + b + "[1]))"
	case strings.HasPrefix(value, "{{"):
		return "max(abs(to_vector(" + a + "[1]) - to_vector(" + b + "[1])))"
	case strings.HasPrefix(value, "{"):
		return "max(abs(to_vector(" + a + ") - to_vector(" + b + ")))"
	case strings.HasPrefix(value, "["):
		return "max(abs(" + a + " - " + b + "))"
	}
	return "abs(" + a + " - " + b + ")"
}

// TestDocumentation checks that every function has an example, which is a legal program with the
// documented value.
func TestDocumentation(t *testing.T) {
	const head = "parameters { real u; }\n"
	run := func(e stdlib.Example, within float64) {
		program := head + "model { target += " + difference(e.Call, e.Value) + "; }\n"
		if e.Adds != "" {
			program = head + "transformed parameters { real d = " + difference(e.Call, e.Value) + "; }\nmodel { target += -(" + e.Adds + "); %s }\n"
		}
		if len(e.Functions) > 0 {
			program = "functions {\n" + strings.Join(e.Functions, "\n") + "\n}\n" + program
		}
		for _, more := range []string{"", "target += d;"}[:1+min(len(e.Adds), 1)] { // check what the example adds to the target, then the value too
			p := strings.Replace(program, "%s", more, 1)
			if got, err := atZero(p); err != nil || !(math.Abs(got) <= within) {
				t.Errorf("%s\nis off by %v (%v)", p, got, err)
			}
		}
	}
	ran := 0
	for name := range stdlib.Language().Names() {
		found, tolerance := false, 1e-14 // of declared examples
		for _, o := range stdlib.Language().Lookup(name) {
			f, ok := o.(*stdlib.Func)
			if !ok {
				tolerance = 1e-7 // some texts give their own tolerance
				continue
			}
			call, want, ok := f.Demonstration()
			found = found || ok
			if !ok || f.Random || strings.HasPrefix(name, "operator") && strings.Contains(call, "operator") {
				continue
			}
			ran++
			e := stdlib.Example{Call: call, Value: want}
			within := 1e-5 // six digits
			if len(f.Example) > 0 {
				within = tolerance
			} else if v, err := strconv.ParseFloat(want, 64); err == nil {
				within *= max(1, math.Abs(v))
			}
			run(e, within)
		}
		for _, e := range stdlib.Examples(name) {
			found = true
			ran++
			run(e, tolerance)
		}
		if why := undemonstrated[name]; found == (why != "") {
			t.Errorf("%s: example %t, excepted for %q", name, found, why)
		}
	}
	for name := range undemonstrated {
		if len(stdlib.Language().Lookup(name)) == 0 {
			t.Errorf("there is no %s", name)
		}
	}
	if ran < 500 {
		t.Errorf("only %d examples ran", ran)
	}
}
