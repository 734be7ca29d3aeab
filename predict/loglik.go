package predict

import (
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// logDensity writes the statements that add a term to the log likelihood of its
// observations, or count it.
func (e *emitter) logDensity(t *term) {
	sign := "+="
	if t.negative && e.kind == LogLikelihood {
		sign = "-="
	}
	add := func(i, value string) {
		if e.kind == Terms {
			value = "1"
		}
		e.line("%s%s %s %s;", e.names[t.place.v], t.place.at(nil, i, e.dims[t.place.v]), sign, value)
	}
	if t.function == "" {
		add("", e.now.text(t.value))
		return
	}
	p := e.plans[planKey{t.at, t.variate}]
	e.each(t, &p, func(i, variate string, args []string) {
		add(i, e.density(t, &p, variate, args))
	})
}

// each writes a loop over the observations of a term, or nothing around body if
// there is one only. body is given the text of the number of the observation, of
// its variate and of its arguments.
func (e *emitter) each(t *term, p *plan, body func(i, variate string, args []string)) {
	texts := func(i string) []string {
		var out []string
		for k, a := range p.args {
			switch {
			case !p.each || !p.split[k]:
				out = append(out, a.text)
			case a.elem != nil:
				out = append(out, a.elem(i))
			default:
				out = append(out, a.operand()+"["+i+"]")
			}
		}
		return out
	}
	variate := rename(nil).operand(t.variate)
	if !p.each {
		body("", rename(nil).text(t.variate), texts(""))
		return
	}
	e.scope(func() {
		i := e.fresh("i")
		e.line("for (%s in 1:size(%s)) {", i, rename(nil).text(t.variate))
		e.indent++
		body(i, variate+"["+i+"]", texts(i))
		e.indent--
		e.line("}")
	})
}

// density writes the log density of one observation.
func (e *emitter) density(t *term, p *plan, variate string, args []string) string {
	call := func(function, of string) string {
		if len(args) == 0 {
			return fmt.Sprintf("%s(%s | )", function, of)
		}
		return fmt.Sprintf("%s(%s | %s)", function, of, strings.Join(args, ", "))
	}
	value := call(p.function, variate)
	if t.trunc == nil {
		return value
	}
	dist, _ := density(p.function)
	lower, upper := t.trunc.Lower, t.trunc.Upper
	below := func() string { // the largest value below the lower bound
		b := rename(nil).operand(lower)
		if e.typeOf(t.variate).Kind == types.Int {
			b += " - 1"
		}
		return b
	}
	var outside []string
	switch {
	case lower != nil && upper != nil:
		value += fmt.Sprintf(" - log_diff_exp(%s, %s)", call(dist+"_lcdf", rename(nil).text(upper)), call(dist+"_lcdf", below()))
	case lower != nil:
		value += " - " + call(dist+"_lccdf", below())
	case upper != nil:
		value += " - " + call(dist+"_lcdf", rename(nil).text(upper))
	default:
		return value
	}
	if lower != nil {
		outside = append(outside, variate+" < "+rename(nil).operand(lower))
	}
	if upper != nil {
		outside = append(outside, variate+" > "+rename(nil).operand(upper))
	}
	return strings.Join(outside, " || ") + " ? negative_infinity() : " + value
}

// discrete reports a distribution of integers.
func discrete(function string) bool { return strings.HasSuffix(function, "_lpmf") }

// distOf is the declaration of a distribution of the library; nil if it is not
// one of a single number.
func distOf(function string) *stdlib.Dist {
	for _, o := range stdlib.Language().Lookup(function) {
		if f, ok := o.(*stdlib.Func); ok && f.Dist != nil {
			return f.Dist
		}
	}
	return nil
}
