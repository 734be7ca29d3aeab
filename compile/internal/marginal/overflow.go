package marginal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
)

// The last terms of a sum do not always show what follows them: with N ~ poisson(2 + 150 * M), the
// terms of N fall at 32 although M = 1 puts N near 152. Where that cannot be excluded, each count
// has a further value: the overflow, which represents all values beyond the last one. The
// elimination sums it like any other value, with factors that are bounds:
//
//   - a distribution of the count is replaced by the mass beyond the last value, given the others:
//     a geometric series that begins at the first value beyond;
//   - another factor is replaced by its largest value beyond. That is the first one if the factor
//     falls there and is known not to rise again. Otherwise it is the largest value of the
//     distribution at all: 1 for a mass, and the mode of a density;
//   - if several counts of a factor overflow, it is replaced by that largest value, and a
//     distribution by 1, the mass of all values.
//
// So the probability of an overflow bounds the mass that the sums leave out, whatever the
// structure. It is checked at each point, as the last terms of other sums are. The density includes
// it: this changes it by less than [MaxLeft].
//
// For this, each count must have a distribution given counts that have one. Then the sum over all
// values of all counts may be done in the opposite order, where each distribution adds up to 1.

// bounds says how a pattern bounds what is beyond the last values of its counts.
type bounds struct {
	sums  map[int]bool // positions of counts of which the pattern is a distribution
	open  bool         // it has no bound for all values
	loose bool         // nothing else bounds the sum over these

	// starts has, by the position of a count, differences that are negative where the possible
	// values of the count begin beyond its last value: of N in N - 50 ~ poisson(5), or where it is
	// N == 2 * M.
	starts map[int][]ast.Expr

	vague map[int]bool // positions of counts in which it may rise again after a fall
}

// far away is above the log of any bound: the point then needs more values.
const farAway = 1e6

// overflows prepares sums over counts with overflows. It refuses counts for which there is no
// bound.
func (p *program) overflows(patterns []*pattern) error {
	p.turns = map[*unknown]turns{}
	p.raises = map[*unknown]int64{}
	t := p.tracer()
	for _, pat := range patterns {
		axes := p.axesOf(pat)
		if err := p.reach(t, pat, axes); err != nil {
			return err
		}
		pat.tail = &bounds{sums: map[int]bool{}, vague: map[int]bool{}, starts: map[int][]ast.Expr{}}
		in := &pat.instances[0]
		for _, k := range axes {
			u := p.elements[in.elements[k]].of
			s := p.shaped(pat, k)
			if at := s.needsCount(); at != nil {
				return p.errorf(diag.DiscreteUse, at.Span(), "`%s` has no upper bound, and decides an index, a size or the end of a loop", "", bounded("`"+u.name+"`"), p.name(in.elements[k]))
			}
			last, at := s.turning()
			if s.bad != nil || at != nil || s.period > 1 {
				pat.tail.vague[k] = true
			}
			p.turns[u] = turns{period: 1, last: max(p.turns[u].last, last)}
			pat.tail.open = !pat.limited(p.reader(pat))
			pat.tail.sums[k] = !pat.tail.open && s.adds(pat.leaf.code...)
			if pat.tail.open && (len(axes) > 1 || pat.tail.vague[k]) {
				return p.unending(pat.leaf.stmt(), in.elements[k])
			}
		}
	}
	if e := p.unsettled(patterns); e >= 0 {
		help := "give it one, as in N ~ poisson(lambda), or an upper bound that data decide"
		if at, others := p.joint(patterns, e); at != nil {
			help = fmt.Sprintf("line %d distributes %s together: write a condition for each of them, with its distribution in all branches; or give `%s` an upper bound that data decide",
				at.Span().Begin().Line, strings.Join(others, " and "), p.elements[e].of.name)
		}
		return p.errorf(diag.DiscreteUse, p.elements[e].of.decl.Name.Span(), "no statement gives `%s` a distribution, given counts that have one", "What the sum over it leaves out has no bound.", help, p.name(e))
	}
	p.tilt(patterns)
	return nil
}

// joint returns a statement that distributes an element together with others.
func (p *program) joint(patterns []*pattern, element int) (ast.Stmt, []string) {
	for _, pat := range patterns {
		for _, in := range pat.instances {
			var names []string
			found := false
			for k, e := range in.elements {
				if pat.tail.sums[k] {
					names = append(names, "`"+p.name(e)+"`")
					found = found || e == element
				}
			}
			if found && len(names) > 1 {
				return pat.leaf.stmt(), names
			}
		}
	}
	return nil, nil
}

// reach notes up to which values the data of a pattern are likely to raise counts.
func (p *program) reach(t *tracer, pat *pattern, axes []int) error {
	_, args := p.plain(pat)
	if l := p.reader(pat); len(axes) == 0 || len(args) == 0 || len(l.counts(args[0])) > 0 {
		return nil
	}
	for i := range pat.instances {
		in := &pat.instances[i]
		if err := t.enter(pat, in); err != nil {
			return err
		}
		y, known, err := t.ceil(args[0])
		if err != nil {
			return err
		}
		for _, k := range axes {
			if u := p.elements[in.elements[k]].of; known {
				p.raises[u] = max(p.raises[u], y*3/4)
			}
		}
	}
	return nil
}

// tilt lets factors without a bound, such as exp(a N), rise beyond the last value of a count by up
// to e per value, if the count's distribution falls faster and depends on no other count. That is
// multiplied by as much, and they are divided by it.
func (p *program) tilt(patterns []*pattern) {
	p.tilts = map[*unknown]int64{}
	rising, root := make([]int64, len(p.elements)), make([]bool, len(p.elements))
	for _, pat := range patterns {
		axes := p.axesOf(pat)
		if len(axes) != 1 {
			continue
		}
		for _, in := range pat.instances {
			switch e := in.elements[axes[0]]; {
			case pat.tail.sums[axes[0]]:
				root[e] = true
			case pat.tail.open:
				rising[e]++
			}
		}
	}
	for e, el := range p.elements {
		p.tilts[el.of] = max(p.tilts[el.of], rising[e])
	}
	for e, el := range p.elements {
		if el.cut && !root[e] {
			p.tilts[el.of] = 0
		}
	}
}

// adds reports whether statements have, on each way through them, a distribution of the count.
func (s *shaper) adds(sts ...ast.Stmt) bool {
	return slices.ContainsFunc(sts, func(st ast.Stmt) bool {
		switch st := st.(type) {
		case *ast.BlockStmt:
			return s.adds(st.Stmts...)
		case *ast.If:
			if st.Else == nil {
				return rulesOut(st.Then) && s.oneLeft(st.Cond)
			}
			then, other := rulesOut(st.Then) || s.adds(st.Then), rulesOut(st.Else) || s.adds(st.Else)
			return then && other && (!s.readsAny(st.Cond) || rulesOut(st.Then) || rulesOut(st.Else))
		case *ast.Tilde:
			c := s.p.info.Calls[st]
			return c != nil && s.distributes(c, append([]ast.Expr{st.Variate}, st.Args...))
		case *ast.TargetPlus:
			return s.addsUp(st.Value)
		case *ast.Assign:
			return s.p.observation(st) != nil && s.addsUp(st.RHS)
		}
		return false
	})
}

// addsUp is adds for the value of a term.
func (s *shaper) addsUp(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Binary:
		return e.Op == "+" && (s.addsUp(e.X) || s.addsUp(e.Y))
	case *ast.Cond:
		if b, ok := ast.Unparen(e.Cond).(*ast.Binary); ok && b.Op == "==" && never(e.Else) { // one value is possible
			return s.differ(b) && (never(e.Then) || !s.readsAny(e.Then))
		}
		then, other := never(e.Then) || s.addsUp(e.Then), never(e.Else) || s.addsUp(e.Else)
		return then && other && (!s.readsAny(e.Cond) || never(e.Then) || never(e.Else)) ||
			never(e.Then) && !s.readsAny(e.Else) && s.oneLeft(e.Cond)
	case *ast.CallExpr:
		if n := len(e.Args); n >= 2 && (e.Func.Name == "log_mix" && n == 3 || e.Func.Name == "log_sum_exp") {
			return s.addsUp(e.Args[n-2]) && s.addsUp(e.Args[n-1])
		}
		c := s.p.info.Calls[e]
		return c != nil && s.distributes(c, e.Args)
	}
	return false
}

// distributes reports whether a call is the mass of the count, or of a sum with it.
func (s *shaper) distributes(c *check.Call, args []ast.Expr) bool {
	if _, ok := supports[strings.Replace(c.Name, "_lupmf", "_lpmf", 1)]; !ok || c.Func != nil || !s.scalars(args) {
		return false
	}
	slope, known := s.slope(args[0])
	return known && slope == 1 && (s.occurrence(ast.Unparen(args[0])) >= 0 || s.start(args[0]))
}

// needsCount returns an index, a size or an end of a loop that depends on the count.
func (s *shaper) needsCount() (at ast.Node) {
	note := func(es ...ast.Expr) {
		for _, e := range es {
			if at == nil && e != nil && s.readsAny(e) {
				at = e
			}
		}
	}
	for _, st := range s.pat.leaf.code {
		ast.Inspect(st, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IndexExpr:
				for _, i := range n.Indices {
					if at == nil && s.readsAny(i) {
						at = i
					}
				}
			case *ast.For:
				note(n.From, n.To)
			case *ast.TypeExpr:
				note(n.ArrayDims...)
				note(n.Sizes...)
			case *ast.CallExpr:
				if strings.HasPrefix(n.Func.Name, "rep_") || n.Func.Name == "linspaced_vector" {
					note(n.Args[1:]...)
				}
			}
			return at == nil
		}, nil)
	}
	return at
}

// unsettled returns a count without a distribution given counts that have one; -1: there is none.
// A count without one may have, in its place, a factor that reads no other count and falls.
func (p *program) unsettled(patterns []*pattern) int {
	type factor struct {
		pat  *pattern
		of   []int // the counts of which it is a distribution
		left map[int]bool
	}
	settled := make([]bool, len(p.elements))
	around := map[int][]*factor{}
	var ready []*factor
	add := func(pat *pattern, in *instance, sums map[int]bool) {
		f := &factor{pat: pat, left: map[int]bool{}}
		for k, e := range in.elements {
			if p.open(e) && !settled[e] {
				f.left[e] = true
				around[e] = append(around[e], f)
			}
			if sums[k] {
				f.of = append(f.of, e)
			}
		}
		if len(f.left) == 1 {
			ready = append(ready, f)
		}
	}
	settle := func() {
		for len(ready) > 0 {
			f := ready[len(ready)-1]
			ready = ready[:len(ready)-1]
			for e := range f.left {
				if settled[e] || !slices.Contains(f.of, e) {
					continue
				}
				settled[e] = true
				for _, g := range around[e] {
					if delete(g.left, e); len(g.left) == 1 {
						ready = append(ready, g)
					}
				}
			}
		}
	}
	for _, pat := range patterns {
		for k := range pat.instances {
			if in := &pat.instances[k]; len(p.countsOf(in.elements)) > 0 {
				add(pat, in, pat.tail.sums)
			}
		}
	}
	settle()
	for _, pat := range patterns {
		for k := range pat.instances {
			in := &pat.instances[k]
			counts := p.countsOf(in.elements)
			if len(counts) != 1 || settled[counts[0]] {
				continue
			}
			axis := p.axesOf(pat)[0]
			if pat.tail.vague[axis] || !pat.falls(axis) {
				continue
			}
			pat.tail.sums[axis], pat.tail.loose = true, true
			add(pat, in, pat.tail.sums)
			settle()
		}
	}
	for e := range p.elements {
		if p.open(e) && !settled[e] {
			return e
		}
	}
	return -1
}

// falls reports whether the terms of a pattern are concave in a count, or become so by what riser
// adds to their log ratio.
func (pat *pattern) falls(axis int) bool {
	for _, ps := range pat.parts[axis] {
		branches := slices.ContainsFunc(ps, func(s summand) bool { return s.cond != nil })
		if has(ps, rounded, tapering, multiple) || branches && has(ps, clumped) {
			return false
		}
	}
	return true
}

// beyondLast returns the value of a factor where counts may overflow. value is that of a factor
// where none does.
func (w *writer) beyondLast(k *kind, c counter, all []factor, q clique, m messages, before []ast.Stmt, value ast.Expr) ([]ast.Stmt, ast.Expr) {
	var axes []int // of the pattern
	for a := range k.axes {
		if slices.ContainsFunc(all, func(f factor) bool { return w.p.open(f.pattern.instances[f.instance].elements[a]) }) {
			axes = append(axes, a)
		}
	}
	if len(axes) == 0 {
		return before, value
	}
	now := w.p.names.fresh("inside")
	before = append(before, w.declare(nil, "real", nil, now, value))
	single := map[int]ast.Expr{}
	most, mode := w.most(k, c, all, q)
	before = append(before, most...)
	for _, a := range axes {
		var inner []ast.Stmt
		inner, single[a] = w.bound(k, c, all, q, m, a, now, mode)
		before = append(before, inner...)
	}
	var choose func(i int, over []int) ast.Expr
	choose = func(i int, over []int) ast.Expr {
		switch {
		case i < len(axes):
			u := w.p.elements[all[0].pattern.instances[all[0].instance].elements[axes[i]]].of
			beyond := w.op(">", clone(q.values[k.axes[axes[i]]], nil), w.int(w.p.lasts[u]))
			x := &ast.Cond{Base: w.base(), Cond: beyond, Then: choose(i+1, append(slices.Clone(over), axes[i])), Else: choose(i+1, over)}
			return &ast.Paren{Base: w.base(), X: x}
		case len(over) == 0:
			return w.name(now)
		case len(over) == 1:
			return clone(single[over[0]], nil)
		}
		return clone(mode, nil)
	}
	return before, choose(0, nil)
}

// bound returns the bound of a factor where one count overflows. now is a variable with its value
// at the first value beyond.
func (w *writer) bound(k *kind, c counter, all []factor, q clique, m messages, axis int, now string, mode ast.Expr) ([]ast.Stmt, ast.Expr) {
	pat := k.pattern
	sums := pat.tail.sums[axis]
	if pat.tail.vague[axis] {
		return nil, clone(mode, nil)
	}
	q2 := q
	q2.values = slices.Clone(q.values)
	at := k.axes[axis]
	q2.values[at] = w.plus(clone(q.values[at], nil), 1)
	before, next := w.inside(k, c, all, q2, m)
	tilt := w.p.tilts[w.p.elements[pat.instances[0].elements[axis]].of]
	if !sums && pat.tail.open && tilt > 0 {
		next = w.op("-", next, w.int(1))
	}
	if !sums {
		return before, w.call(w.helper("most_after"), w.name(now), next, clone(mode, nil))
	}
	if !pat.falls(axis) {
		before, next = nil, w.name(now) // known only where it ends
	}
	e, e2 := w.editor(k, c, all, q), w.editor(k, c, all, q2)
	for _, ps := range pat.parts[axis] {
		for _, s := range ps {
			if s.shape == clumped {
				h := func(e *editor) ast.Expr {
					return w.grouped(w.op("-", w.call("lgamma", e.expr(s.pair[0])), w.call("lgamma", e.expr(s.pair[1]))))
				}
				next = w.op("+", next, w.call("fmax", w.int(0), w.op("-", h(e), h(e2))))
			}
		}
	}
	if tilt > 0 {
		next = w.op("+", next, w.int(tilt))
	}
	if pat.tail.loose || tilt > 0 {
		mode = w.real(farAway)
	}
	after := ast.Expr(w.call(w.helper("mass_after"), w.name(now), next, clone(mode, nil)))
	for _, y := range pat.tail.starts[axis] {
		before := w.op("<", w.grouped(e.expr(y)), w.int(0))
		after = &ast.Paren{Base: w.base(), X: &ast.Cond{Base: w.base(), Cond: before, Then: clone(mode, nil), Else: after}}
	}
	return before, after
}
