package formula

import (
	"fmt"
	"strings"
)

// zeros is how a distribution makes zeros.
type zeros uint8

const (
	noZeros      zeros = iota
	zeroInflated       // a zero, or a draw from the base, which may be zero too
	hurdleZero         // a zero, or a draw from the base that is above zero
)

// arg2 is an argument of a function, with its type.
type arg2 struct{ typ, name string }

// custom is a distribution that a program defines from a base distribution.
type custom struct {
	base   string
	args   []arg2
	zero   zeros
	isReal bool
}

func names(args []arg2) string {
	var out []string
	for _, a := range args {
		out = append(out, a.name)
	}
	return strings.Join(out, ", ")
}

func declared(args []arg2) string {
	var out []string
	for _, a := range args {
		out = append(out, a.typ+" "+a.name)
	}
	return strings.Join(out, ", ")
}

// functions is the text of the functions of a distribution: its density, and how to draw from it.
func (c *custom) functions(name string) string {
	typ, density := "int", "lpmf"
	if c.isReal {
		typ, density = "real", "lpdf"
	}
	share := "zi"
	if c.zero == hurdleZero {
		share = "hu"
	}
	base := func(y string) string { return fmt.Sprintf("%s_%s(%s | %s)", c.base, density, y, names(c.args)) }
	draw := fmt.Sprintf("%s_rng(%s)", c.base, names(c.args))
	if c.base == "binomial_logit" { // Stan has no generator for it
		draw = "binomial_rng(trials, inv_logit(eta))"
	}
	var b strings.Builder
	head := func(about string) {
		fmt.Fprintf(&b, "// %s\nreal %s_%s(%s y, %s, real %s) {\n", about, name, density, typ, declared(c.args), share)
	}
	body := func(zero, other string) {
		fmt.Fprintf(&b, "if (y == 0) {\nreturn %s;\n}\nreturn %s;\n}\n", zero, other)
	}
	rng := func(lines string) {
		fmt.Fprintf(&b, "%s %s_rng(%s, real %s) {\n%s\n}\n", typ, name, declared(c.args), share, lines)
	}
	either := fmt.Sprintf("return bernoulli_rng(%s) ? 0 : %s;", share, draw)
	switch {
	case c.zero == zeroInflated && c.isReal: // the base has no zeros
		head("A zero with probability zi, otherwise a draw from " + c.base + ".")
		body("log(zi)", "log1m(zi) + "+base("y"))
		rng(strings.Replace(either, "? 0 :", "? 0.0 :", 1))
	case c.zero == zeroInflated:
		head("A zero with probability zi, otherwise a draw from " + c.base + ", which may be zero, too.")
		body("log_sum_exp(log(zi), log1m(zi) + "+base("0")+")", "log1m(zi) + "+base("y"))
		rng(either)
	case c.isReal:
		head("A zero with probability hu, otherwise a draw from " + c.base + ".")
		body("log(hu)", "log1m(hu) + "+base("y"))
		rng(strings.Replace(either, "? 0 :", "? 0.0 :", 1))
	default:
		head("A zero with probability hu, otherwise a draw from " + c.base + " that is above zero.")
		body("log(hu)", "log1m(hu) + "+base("y")+" - log1m_exp("+base("0")+")")
		// Probabilities are added up from 1 on, as rejecting zeros could take forever.
		rng(`if (bernoulli_rng(hu)) {
return 0;
}
real u = uniform_rng(0, 1) * -expm1(` + base("0") + `);
int y = 1;
real p = exp(` + base("1") + `);
while (p < u && y < 1000000) {
y += 1;
p += exp(` + base("y") + `);
}
return y;`)
	}
	return b.String()
}

// censoredFunctions is the text of a distribution of outcomes of which only a bound may be known.
func censoredFunctions(base string, names []string) string {
	args, decl := strings.Join(names, ", "), "real "+strings.Join(names, ", real ")
	return fmt.Sprintf(`// The density of an observed outcome, or the probability that it is above (1) or below (-1) a bound.
real censored_%[1]s_lpdf(real y, int censored, %[3]s) {
if (censored == 1) {
return %[1]s_lccdf(y | %[2]s);
}
if (censored == -1) {
return %[1]s_lcdf(y | %[2]s);
}
return %[1]s_lpdf(y | %[2]s);
}
// The outcome itself: as if nothing were censored.
real censored_%[1]s_rng(int censored, %[3]s) {
return %[1]s_rng(%[2]s);
}
`, base, args, decl)
}
