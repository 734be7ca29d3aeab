package marginal

import (
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// The last terms of a sum over a count are probabilities over all values of the other counts. They
// show a mixture, which has no gap before its next peak only if neighbouring values of one count
// give the others nearly the same distribution. With N ~ poisson(2 + 150 * M), the sum over N would
// end below 152, since M = 0 has nearly all of the mass at its last values.
//
// So a statement about several counts must be one in which a step of one count moves the peak of
// another by at most 1: it reads sums and differences of counts, or it is a binomial distribution
// with such a size. Or it is a Poisson distribution whose rate rises by at most [steepest] per
// value; see driven.go for why, and what else may be said of that count. Where counts are linked in
// a cycle, steps would add up.

// steepest bounds how much the mean of a Poisson distribution rises per value of a count. Such a
// mean is within steepest of the last value n of a sum, which is at least 31. Its mass at n is then
// at least exp(-steepest^2 / (2 n)) = 0.77 times that at its peak.
const steepest = 4

// linker checks the statements of a factor that reads several counts.
type linker struct {
	p     *program
	pat   *pattern
	local map[*check.Var][]int // the counts that local variables depend on
	bad   ast.Node             // links counts in an unknown way

	drives bool // a count decides the distribution of another one

	variate, given []int // of a link, as positions in instance.elements
	poisson        bool  // through a mean
}

// scope is the counts of a factor.
type scope struct {
	counts []int
	drives bool
}

// linkedWell refuses factors in which a step of one count may move the peak of another far.
func (p *program) linkedWell(patterns []*pattern) error {
	var scopes []*scope
	for _, pat := range patterns {
		if len(p.countsOf(pat.instances[0].elements)) < 2 {
			continue
		}
		l := &linker{p: p, pat: pat, local: map[*check.Var][]int{}}
		for _, st := range pat.leaf.code {
			l.run(st)
		}
		if l.bad != nil {
			e := p.countsOf(pat.instances[0].elements)
			return p.far(l.bad, e[0], e[1])
		}
		for _, in := range pat.instances {
			scopes = append(scopes, &scope{p.countsOf(in.elements), l.drives})
		}
	}
	return p.acyclic(scopes)
}

// countsOf returns the counts among elements, in order.
func (p *program) countsOf(elements []int) (out []int) {
	for _, e := range elements {
		if p.open(e) {
			out = append(out, e)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// acyclic refuses counts that two chains of statements link. A statement about some counts of
// another one adds no chain, unless both say how counts decide the distributions of others.
func (p *program) acyclic(scopes []*scope) error {
	sorting.Stable(scopes, func(a, b *scope) int { return len(b.counts) - len(a.counts) })
	parent, whole := map[int]int{}, map[int][]*scope{} // whole: by count
	var find func(e int) int
	find = func(e int) int {
		if up, ok := parent[e]; ok {
			parent[e] = find(up)
			return parent[e]
		}
		return e
	}
	for _, s := range scopes {
		within := func(t *scope) bool {
			return !slices.ContainsFunc(s.counts, func(e int) bool { return !slices.Contains(t.counts, e) })
		}
		rarest := slices.MinFunc(s.counts, func(a, b int) int { return len(whole[a]) - len(whole[b]) })
		first := s.counts[0]
		if i := slices.IndexFunc(whole[rarest], within); i >= 0 {
			t := whole[rarest][i]
			if s.drives && t.drives && len(t.counts) > len(s.counts) {
				return p.far(p.elements[first].of.decl.Name, first, s.counts[1])
			}
			t.drives = t.drives || s.drives
			continue
		}
		for i, e := range s.counts {
			whole[e] = append(whole[e], s)
			if i == 0 {
				continue
			}
			if find(e) == find(first) {
				return p.far(p.elements[e].of.decl.Name, first, e)
			}
			parent[find(e)] = find(first)
		}
	}
	return nil
}

// far is the error about a count whose peaks may have gaps between them.
func (p *program) far(at ast.Node, one, other int) error {
	which := "`" + p.elements[one].of.name + "`"
	if p.elements[one].of != p.elements[other].of {
		which += " or `" + p.elements[other].of.name + "`"
	}
	return p.errorf(diag.DiscreteUse, at.Span(), "the sums over `%s` and `%s` cannot be checked, since a step of one may move the peak of the other far", "The sum might end before a peak. These are allowed: sums and differences of counts, M ~ binomial(N, p), and N ~ poisson(r * M + a) with r declared with <lower=0, upper=4> or less, where no two chains of statements link the same counts.",
		bounded(which), p.name(one), p.name(other))
}

// separate refuses counts next to others that a statement makes mixtures, or of which values
// between others may be impossible, or with terms that are not concave. mixes, gaps and bends have
// these statements.
func (p *program) separate(linked map[int]bool, mixes, gaps, bends map[int]*pattern) error {
	for e := range p.elements { // in a fixed order
		if !linked[e] {
			continue
		}
		fix := bounded("`" + p.elements[e].of.name + "`")
		if pat := mixes[e]; pat != nil {
			return p.errorf(diag.DiscreteUse, pat.leaf.stmt().Span(), "the sum over `%s` cannot be checked: this statement reads a discrete parameter with an upper bound, and another one a second count",
				"The terms of a mixture may rise again beyond the last value of the sum.", fix, p.name(e))
		}
		if pat := bends[e]; pat != nil {
			return p.errorf(diag.DiscreteUse, pat.leaf.stmt().Span(), "the sum over `%s` cannot be checked: the log of this term is not concave in it or is inaccurate where it is large, and another statement reads a second count",
				"The terms may rise again beyond the last value of the sum.", fix, p.name(e))
		}
		if pat := gaps[e]; pat != nil {
			return p.errorf(diag.DiscreteUse, pat.leaf.stmt().Span(), "the sum over `%s` cannot be checked: this statement compares it with a number or reads its remainder, and another one reads a second count",
				"If values in between are impossible, the terms of the second count may rise again beyond the last value of its sum.", fix, p.name(e))
		}
	}
	return nil
}

func (l *linker) fail(n ast.Node) {
	if l.bad == nil {
		l.bad = n
	}
}

// counts returns the counts that a node reads, as positions in instance.elements.
func (l *linker) counts(n ast.Node) (out []int) {
	if n == nil {
		return nil
	}
	elements := l.pat.instances[0].elements
	ast.Inspect(n, func(n ast.Node) bool {
		if k := slices.IndexFunc(l.pat.leaf.occs, func(o *occ) bool { return ast.Node(o.node) == n }); k >= 0 {
			for _, a := range l.pat.reads[k].axes {
				if a >= 0 && l.p.open(elements[a]) {
					out = append(out, a)
				}
			}
		} else if v, ok := n.(*ast.VarExpr); ok {
			out = append(out, l.local[l.p.info.Uses[v]]...)
		}
		return true
	}, nil)
	slices.Sort(out)
	return slices.Compact(out)
}

// occurs reports whether an expression is a count or an array of counts.
func (l *linker) occurs(e ast.Expr) bool {
	return slices.ContainsFunc(l.pat.leaf.occs, func(o *occ) bool { return ast.Node(o.node) == ast.Node(e) })
}

func (l *linker) several(n ast.Node) bool { return len(l.counts(n)) > 1 }

// run checks a statement.
func (l *linker) run(st ast.Stmt) {
	switch st := st.(type) {
	case *ast.BlockStmt:
		for _, t := range st.Stmts {
			l.run(t)
		}
	case *ast.VarDecl:
		if st.Init != nil {
			l.local[l.p.def(st)] = l.counts(st.Init)
		}
	case *ast.Assign:
		if l.p.observation(st) != nil {
			l.term(st.RHS)
		} else if v, ok := root(st.LHS); !ok {
			l.fail(st)
		} else {
			u := l.p.info.Uses[v]
			l.local[u] = append(l.local[u], append(l.counts(st.RHS), l.counts(st.LHS)...)...)
		}
	case *ast.If:
		l.condition(st.Cond)
		l.run(st.Then)
		if st.Else != nil {
			l.run(st.Else)
		}
	case *ast.For:
		if len(l.counts(st.From))+len(l.counts(st.To)) > 0 {
			l.fail(st)
		}
		for range 3 { // what it sets may be read in the next iteration
			l.run(st.Body)
		}
	case *ast.Tilde:
		if c := l.p.info.Calls[st]; c != nil && c.Func == nil && st.Trunc == nil {
			l.distribution(st, c.Name, append([]ast.Expr{st.Variate}, st.Args...))
		} else if l.several(st) {
			l.fail(st)
		}
	case *ast.TargetPlus:
		l.term(st.Value)
	default:
		if l.several(st) {
			l.fail(st)
		}
	}
}

// condition checks a comparison of counts, which only makes terms 0; see shaper.
func (l *linker) condition(e ast.Expr) {
	e = ast.Unparen(e)
	if !l.several(e) {
		return
	}
	switch e := e.(type) {
	case *ast.Unary:
		l.condition(e.X)
		return
	case *ast.Binary:
		if e.Op == "&&" || e.Op == "||" {
			l.condition(e.X)
			l.condition(e.Y)
			return
		}
		if comparisons[e.Op] && l.unit(e.X, e.Y) {
			return
		}
	}
	l.fail(e)
}

// term checks the log of a factor.
func (l *linker) term(e ast.Expr) {
	e = ast.Unparen(e)
	if !l.several(e) {
		return
	}
	switch e := e.(type) {
	case *ast.Unary:
		l.term(e.X)
		return
	case *ast.Binary:
		if e.Op == "+" || e.Op == "-" {
			l.term(e.X)
			l.term(e.Y)
			return
		}
	case *ast.Cond:
		l.condition(e.Cond)
		l.term(e.Then)
		l.term(e.Else)
		return
	case *ast.CallExpr:
		if c := l.p.info.Calls[e]; c != nil && c.Func == nil {
			l.distribution(e, c.Name, e.Args)
			return
		}
	}
	if !l.single(e) {
		l.fail(e)
	}
}

// thinning and driven are distributions by which a count may depend on another one: through their
// size, or through their mean.
var (
	thinning = map[string]bool{"binomial": true, "binomial_logit": true}
	driven   = map[string]bool{"poisson": true}
)

// ends finds the largest possible values of counts that are at most a number of trials: that of the
// data, or a count with such a value itself. The probabilities beyond are 0, which the last terms
// of a sum do not show.
func (p *program) ends(patterns []*pattern) error {
	for e := range p.elements {
		p.elements[e].end = math.MaxInt64
	}
	t := p.tracer()
	for changed := true; changed; {
		changed = false
		for _, pat := range patterns {
			st, ok := pat.leaf.stmt().(*ast.Tilde)
			if !ok {
				continue
			}
			c := p.info.Calls[st]
			if c == nil || c.Func != nil || !trials[strings.Replace(c.Name, "_lupmf", "_lpmf", 1)] {
				continue
			}
			count, ok := pat.occurrence(st.Variate)
			if !ok {
				continue
			}
			of, given := pat.occurrence(st.Args[0])
			for k := range pat.instances {
				in := &pat.instances[k]
				if !p.open(in.elements[count]) {
					continue
				}
				end, known := int64(math.MaxInt64), given
				if given {
					from := p.elements[in.elements[of]]
					if end = from.end; !from.cut {
						end = from.hi
					}
				} else if err := t.enter(pat, in); err != nil {
					return err
				} else if end, known, err = t.int(st.Args[0]); err != nil {
					return err
				}
				if el := &p.elements[in.elements[count]]; known && end < el.end {
					el.end, changed = end, true
				}
			}
		}
	}
	return nil
}

// occurrence returns the position, among the elements of an instance, of the only one that an
// expression is.
func (pat *pattern) occurrence(e ast.Expr) (int, bool) {
	e = ast.Unparen(e)
	k := slices.IndexFunc(pat.leaf.occs, func(o *occ) bool { return ast.Node(o.node) == ast.Node(e) })
	if k < 0 || len(pat.reads[k].axes) != 1 || pat.reads[k].axes[0] < 0 {
		return 0, false
	}
	return pat.reads[k].axes[0], true
}

// distribution checks a call.
func (l *linker) distribution(at ast.Node, name string, args []ast.Expr) {
	var reads []int
	total := 0
	for i, a := range args {
		if n := len(l.counts(a)); n > 0 {
			reads = append(reads, i)
			total += n
		}
	}
	switch stem := strings.TrimSuffix(strings.TrimSuffix(name, "_lpmf"), "_lupmf"); {
	case total < 2:
	case len(reads) == 1:
		if !l.single(args[reads[0]]) {
			l.fail(at)
		}
	case !slices.Equal(reads, []int{0, 1}):
		l.fail(at)
	case stem == "lchoose" && l.unit(args[0], args[1]):
	case thinning[stem] && l.unit(args[0], args[1]), driven[stem] && l.unit(args[0]) && !l.shared(args[0], args[1]) && l.gentle(args[1]):
		l.drives = true
	default:
		l.fail(at)
	}
}

// single reports whether an expression is a function of one sum or difference of counts, or of one
// count.
func (l *linker) single(e ast.Expr) bool {
	e = ast.Unparen(e)
	if !l.several(e) || l.unit(e) {
		return true
	}
	var parts []ast.Expr
	switch e := e.(type) {
	case *ast.Unary:
		parts = []ast.Expr{e.X}
	case *ast.Binary:
		parts = []ast.Expr{e.X, e.Y}
	case *ast.CallExpr:
		if c := l.p.info.Calls[e]; c != nil && c.Func == nil {
			parts = e.Args
		}
	}
	parts = slices.DeleteFunc(slices.Clone(parts), func(e ast.Expr) bool { return len(l.counts(e)) == 0 })
	return len(parts) == 1 && l.single(parts[0])
}

// unit reports whether expressions are sums and differences of counts, each of which is read once,
// and of numbers.
func (l *linker) unit(es ...ast.Expr) bool {
	slopes := map[int]float64{}
	for _, e := range es {
		if !l.slopes(e, 1, slopes) {
			return false
		}
	}
	for _, s := range slopes {
		if s != 1 {
			return false
		}
	}
	return true
}

// gentle reports whether a mean changes by at most [steepest] per value of each count.
func (l *linker) gentle(mean ast.Expr) bool {
	slopes := map[int]float64{}
	if !l.slopes(mean, 1, slopes) {
		return false
	}
	for _, s := range slopes {
		if s > steepest {
			return false
		}
	}
	return true
}

// shared reports whether two expressions read the same count.
func (l *linker) shared(x, y ast.Expr) bool {
	of := l.counts(x)
	return slices.ContainsFunc(l.counts(y), func(k int) bool { return slices.Contains(of, k) })
}

// total reports whether an expression is a count or a sum of counts.
func (l *linker) total(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.VarExpr, *ast.IndexExpr:
		return l.occurs(e)
	case *ast.Binary:
		return e.Op == "+" && l.total(e.X) && l.total(e.Y)
	}
	return false
}

// slopes adds the sizes of the coefficients of the counts in an expression. It returns false if
// they are not known to be at most 1.
func (l *linker) slopes(e ast.Expr, by float64, out map[int]float64) bool {
	e = ast.Unparen(e)
	cs := l.counts(e)
	if len(cs) == 0 {
		return true
	}
	switch e := e.(type) {
	case *ast.VarExpr, *ast.IndexExpr:
		if len(cs) > 1 || !l.occurs(e) {
			return false
		}
		out[cs[0]] += by
		return true
	case *ast.CallExpr:
		if c := l.p.info.Calls[e]; c == nil || c.Func != nil || c.Name != "sum" || !l.occurs(ast.Unparen(e.Args[0])) {
			return false
		}
		for _, a := range cs {
			out[a] += by
		}
		return true
	case *ast.Unary:
		return (e.Op == "-" || e.Op == "+") && l.slopes(e.X, by, out)
	case *ast.Binary:
		switch e.Op {
		case "+", "-":
			return l.slopes(e.X, by, out) && l.slopes(e.Y, by, out)
		case "*":
			if c, ok := l.atMost(e.X); ok {
				return l.slopes(e.Y, by*c, out)
			}
			if c, ok := l.atMost(e.Y); ok {
				return l.slopes(e.X, by*c, out)
			}
		case "/":
			if c, ok := number(e.Y); ok && c > 0 && !l.p.info.Types[e].Type.Equal(types.IntType) {
				return l.slopes(e.X, by/c, out)
			}
		}
	}
	return false
}

// atMost bounds the size of a number that no count decides, by its declaration or as a literal.
func (l *linker) atMost(e ast.Expr) (float64, bool) {
	if l.p.involved(e) {
		return 0, false
	}
	if x, ok := number(e); ok {
		return x, true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Binary:
		x, ok := l.atMost(e.X)
		y, ok2 := l.atMost(e.Y)
		switch {
		case !ok || !ok2:
		case e.Op == "*":
			return x * y, true
		case e.Op == "+":
			return x + y, true
		case e.Op == "/" && y > 0 && !l.p.info.Types[e].Type.Equal(types.IntType):
			if _, ok := number(e.Y); ok {
				return x / y, true
			}
		}
		return 0, false
	case *ast.CallExpr:
		return 1, e.Func.Name == "inv_logit" && l.p.info.Types[e].Type.IsScalar()
	}
	lower, upper := declared(l.p.info, e)
	return upper, lower >= 0 && upper > 0 && !math.IsInf(upper, 1)
}

// declared returns the bounds of a number by literals in the declaration of a data or parameter
// variable, which are infinite if there are none.
func declared(info *check.Info, e ast.Expr) (lower, upper float64) {
	lower, upper = math.Inf(-1), math.Inf(1)
	x := ast.Unparen(e)
	if i, ok := x.(*ast.IndexExpr); ok {
		x = ast.Unparen(i.X)
	}
	v, ok := x.(*ast.VarExpr)
	if !ok {
		return lower, upper
	}
	u := info.Uses[v]
	if u == nil || !u.Global || u.Block == ast.Model {
		return lower, upper
	}
	d, ok := u.Decl.(*ast.VarDecl)
	if !ok {
		return lower, upper
	}
	for _, b := range d.Type.Bounds {
		if c, ok := number(b.Value); ok && b.Kind == "lower" {
			lower = c
		} else if ok && b.Kind == "upper" {
			upper = c
		}
	}
	return lower, upper
}

// number returns the value of a literal.
func number(e ast.Expr) (float64, bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.IntLit:
		return float64(e.Value), true
	case *ast.RealLit:
		return e.Value, true
	}
	return 0, false
}
