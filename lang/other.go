package lang

import (
	"regexp"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// This file: texts that are programs in another language. One message explains them better than one
// for each line.

// anyBlock matches the beginning of a block.
var anyBlock = regexp.MustCompile(`\b(functions|data|parameters|model|quantities)\s*\{`)

// otherLanguages has patterns of lines that no program has, and what to write instead.
var otherLanguages = []struct {
	name  string
	has   *regexp.Regexp // the first match is where the message points
	lacks *regexp.Regexp // what a program in this language does not have
	fix   string
}{
	{"Python", regexp.MustCompile(`(?m)^[ \t]*(import [a-z_]+|from [a-z_.]+ import\b|with [a-z.]+\.Model\(|def [a-z_]+\([^)\n]*\):)`), anyBlock,
		"declare what you know in `data { … }`, what you want to know in `parameters { … }`, and write each distribution in `model { … }`, as in `mu ~ normal(0, 1);` for pm.Normal(\"mu\", 0, 1)"},
	{"R", regexp.MustCompile(`(?m)^[ \t]*(library\([A-Za-z]+\)|[A-Za-z_.]+ *<- *(function\(|brm\(|stan\(|lmer?\())`), anyBlock,
		"put the program itself into this file; from a formula, `ppl new` writes one"},
	{"BUGS or JAGS", regexp.MustCompile(`~\s*d(norm|unif|gamma|exp|beta|bin|bern|pois|cat|mnorm|dirch|wish|lnorm|t|interval)\s*\(`), regexp.MustCompile(`\b(parameters|data)\s*\{`),
		"declare the constants and observations in `data { … }` and the unknowns in `parameters { … }`, end each statement with `;`, and write `mu ~ normal(0, 1 / sqrt(tau));` for `mu ~ dnorm(0, tau)`, as the second argument is a standard deviation here"},
}

// otherLanguage returns the message for a text in another language; nil for others.
func otherLanguage(f *source.File) *diag.Diagnostic {
	for _, l := range otherLanguages {
		at := l.has.FindStringIndex(f.Text)
		if at == nil || l.lacks.MatchString(f.Text) {
			continue
		}
		d := diag.Errorf(diag.OtherLanguage, source.Span{File: f, Start: at[0], End: at[1]}, "this is %s, not a Stan program", l.name)
		d.Fix = l.fix
		return &d
	}
	return nil
}
