package marginal

import (
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
)

// M ~ poisson(r * N + a) makes M a mixture of Poisson distributions, by N. Their means differ by at
// most r per step, and the masses of the components fall off from a peak. So none is hidden beyond
// the last value of M: of those beyond, the first one has at least the smaller of the masses of the
// peak and of the components before. [steepest] bounds the distance of its mean from that value,
// so that it shows there. Another part w(M) of the log density multiplies the means by
// exp(w(M) - w(M - 1)). With target += 4.6 * M, means differ by 100: N = 0 puts M near 5, and N = 1
// near 105.
//
// So w must rise slowly at the last value. y ~ binomial(M, q) is harmless: given y, M - y has a
// Poisson distribution whose mean is 1 - q times as large. The log of y ~ poisson(b * M + c) rises
// by at most y / M, and sums go beyond 2 y. That of y ~ normal(M, s) falls beyond y. Counts that
// are drawn from M pass on what is known of them, so the same statements are allowed about these.

// pull is a factor that may raise a driven count.
type pull struct {
	mean, all int64 // sums of the data of such statements about an element: of its mean, and all
}

// dependent finds the counts whose means others decide and those drawn from them, refuses other
// statements about them than these, and returns how far sums must go for each parameter.
func (p *program) dependent(patterns []*pattern) (map[*unknown]int64, error) {
	links := map[*pattern]*linker{}
	driven := map[int]bool{}
	for _, pat := range patterns {
		l := &linker{p: p, pat: pat}
		if l.link() {
			links[pat] = l
		}
	}
	for changed := true; changed; {
		changed = false
		for pat, l := range links {
			for k := range pat.instances {
				variate, given := l.ends(&pat.instances[k])
				if !l.poisson && !slices.ContainsFunc(given, func(e int) bool { return driven[e] }) {
					continue
				}
				for _, e := range variate {
					changed = changed || !driven[e]
					driven[e] = true
				}
			}
		}
	}
	if len(driven) == 0 {
		return nil, nil
	}
	pulls, parents := map[int]pull{}, map[int]bool{}
	t := p.tracer()
	for _, pat := range patterns {
		for k := range pat.instances {
			in := &pat.instances[k]
			i := slices.IndexFunc(in.elements, func(e int) bool { return driven[e] })
			if i < 0 {
				continue
			}
			e := in.elements[i]
			if l := links[pat]; l != nil {
				variate, _ := l.ends(in)
				for _, e := range variate {
					if parents[e] {
						return nil, p.raised(pat, e)
					}
					parents[e] = driven[e]
				}
				continue
			}
			name, args := p.plain(pat)
			poisson, normal := name == "poisson", name == "normal"
			l := &linker{p: p, pat: pat}
			if !poisson && !normal && !thinning[name] || len(l.counts(args[0])) > 0 || !poisson && len(l.counts(args[2])) > 0 || normal && !l.total(args[1]) {
				return nil, p.raised(pat, e)
			}
			if err := t.enter(pat, in); err != nil {
				return nil, err
			}
			y, known, err := t.ceil(args[0])
			if err != nil {
				return nil, err
			} else if !known {
				return nil, p.raised(pat, e)
			}
			for _, e := range in.elements {
				if !driven[e] {
					continue
				}
				of := pulls[e]
				of.all += max(y, 0)
				if !thinning[name] {
					of.mean += max(y, 0)
				}
				pulls[e] = of
			}
		}
	}
	own := map[int]int64{}
	for e, of := range pulls {
		own[e] = of.mean
	}
	for pat, l := range links { // what a count of another parameter passes on
		for k := range pat.instances {
			variate, given := l.ends(&pat.instances[k])
			for _, e := range given {
				for _, of := range variate {
					if driven[e] && p.elements[e].of != p.elements[of].of {
						own[e] += pulls[of].all
					}
				}
			}
		}
	}
	out := map[*unknown]int64{}
	for e, n := range own {
		out[p.elements[e].of] = max(out[p.elements[e].of], n)
	}
	return out, nil
}

// raised is the error about a statement that may raise a count whose mean another one decides.
func (p *program) raised(pat *pattern, e int) error {
	return p.errorf(diag.DiscreteUse, pat.leaf.stmt().Span(), "the sum over `%s` cannot be checked: another count decides the mean of a Poisson distribution of it, or of a count that it is drawn from, and this statement may raise it", "Components with large means might begin beyond the last value of the sum. These statements are allowed about such a count M: y ~ binomial(M, q), y ~ poisson(b * M + c) and y ~ normal(M, s) with data y, and one that draws another count from it.",
		bounded("`"+p.elements[e].of.name+"`"), p.name(e))
}

// plain returns the distribution of a pattern that is one statement, and its arguments.
func (p *program) plain(pat *pattern) (name string, args []ast.Expr) {
	switch st := pat.leaf.stmt().(type) {
	case *ast.Tilde:
		if c := p.info.Calls[st]; len(pat.leaf.code) == 1 && c != nil && c.Func == nil && st.Trunc == nil {
			name, args = c.Name, append([]ast.Expr{st.Variate}, st.Args...)
		}
	case *ast.TargetPlus:
		name, args = p.called(pat, st.Value)
	case *ast.Assign:
		if p.observation(st) != nil {
			name, args = p.called(pat, st.RHS)
		}
	}
	for _, suffix := range []string{"_lpmf", "_lupmf", "_lpdf", "_lupdf"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name, args
}

// called returns the function and the arguments of a pattern that is one call.
func (p *program) called(pat *pattern, value ast.Expr) (name string, args []ast.Expr) {
	if e, ok := ast.Unparen(value).(*ast.CallExpr); ok && len(pat.leaf.code) == 1 {
		if c := p.info.Calls[e]; c != nil && c.Func == nil {
			return c.Name, e.Args
		}
	}
	return "", nil
}

// ceil returns the next integer from a known number, which is at most that of the largest table.
func (t *tracer) ceil(e ast.Expr) (int64, bool, error) {
	x, ok := t.known(e)
	if !ok {
		return 0, false, nil
	}
	n, err := t.eval.Value(x)
	switch {
	case err != nil:
		return 0, false, t.failed(err)
	case len(n.Shape) > 0:
		return 0, false, nil
	case n.Ints != nil:
		return n.Ints[0], true, nil
	}
	return int64(math.Ceil(min(max(n.Reals[0], 0), maxTable))), !math.IsNaN(n.Reals[0]), nil
}

// link reports whether a pattern draws a count given others, and notes which.
func (l *linker) link() bool {
	name, args := l.p.plain(l.pat)
	if !thinning[name] && !driven[name] {
		return false
	}
	l.variate, l.poisson = l.counts(args[0]), driven[name]
	l.given = slices.DeleteFunc(l.counts(args[1]), func(k int) bool { return slices.Contains(l.variate, k) })
	return len(l.variate) > 0 && len(l.given) > 0
}

// ends returns the counts that an instance of a link draws, and those it draws them from.
func (l *linker) ends(in *instance) (variate, given []int) {
	for _, k := range l.variate {
		variate = append(variate, in.elements[k])
	}
	for _, k := range l.given {
		given = append(given, in.elements[k])
	}
	return variate, given
}
