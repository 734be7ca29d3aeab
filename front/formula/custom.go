package formula

import (
	"fmt"
	"strings"
)

// zeros says how a distribution produces zeros.
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
	mean   string // mean of the base distribution
	link   string // its linear predictor
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

// functions returns the text of a distribution's functions: its density, its random number
// generator, its mean and its linear predictor.
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
	if c.base == "binomial_logit" { // Stan has no random number generator for it
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
		// Find the draw by adding up probabilities from 1 on, since rejecting zeros could take
		// forever.
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
	mean := fmt.Sprintf("(1 - %s) * %s", share, c.mean)
	if c.zero == hurdleZero && !c.isReal {
		mean += " / -expm1(" + base("0") + ")"
	}
	fmt.Fprintf(&b, "real %s_mean(%s, real %s) {\nreturn %s;\n}\n", name, declared(c.args), share, mean)
	fmt.Fprintf(&b, "real %s_link(%s, real %s) {\nreturn %s;\n}\n", name, declared(c.args), share, c.link)
	return b.String()
}
