package marginal

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// A count, such as int<lower=0> N, has no upper bound. Its sum is cut: it goes up to a last value.
// The last terms, or overflows, bound what the cut leaves out. Where it is too much, the program
// rejects the point, and package compile evaluates the program of a higher level, with 2, 4, …
// times as many values. So the density at a point does not depend on what was evaluated before.
//
// With overflows, the written program has an array of zeros, the marks, of which each term of a sum
// adds one. The derivative of the density by the marks is then the probability of each value of
// each element, whatever the structure. It costs little, since the gradient computes it on its way.
//
// Draws, probabilities and densities of observations check the terms of their own sums.

// MaxLeft is the mass, relative to that of all values, which cuts may leave out.
const MaxLeft = 1e-12

const (
	fewestValues = 32 // of a count at the first level, beyond the smallest possible ones

	// The terms of all sums at other levels than the first may be so many, and that many times as
	// many as at the first. A gradient takes about 10 ns for each.
	maxDeeper  = 250_000
	timesFirst = 16
)

// Cut describes the sums over a discrete parameter without an upper bound.
type Cut struct {
	Name  string
	First int64  // the lowest bound of the elements
	Last  int64  // the last value of the sums
	Open  []bool // of each element: it has an overflow, which is checked
	Marks string // the array of the model block whose derivatives are the probabilities; "": none
}

// RatioOf comes before the ratio of the last two terms in the message of a rejected point.
const RatioOf = ", and the ratio of the last terms is "

// behind completes the message of a rejected point.
const behind = " is the last value of the sum over "

// Beyond reports whether a message says that a point needs more values than a sum has.
func Beyond(message string) bool {
	return strings.Contains(message, behind)
}

// Sized reports whether the number of results depends on the level.
func (r *Result) Sized() bool { return r.sized && len(r.Cuts) > 0 }

// Level returns the first level that may have enough values for a rejected point. The ratio of the
// terms of a Poisson distribution at n is rate/n, so that its mode is at n times the ratio, and
// 1e-12 of its mass are about 7.5 standard deviations above.
func (r *Result) Level(message string) int {
	level := r.level + 1
	at := strings.LastIndex(message, " ")
	ratio, err := strconv.ParseFloat(message[at+1:], 64)
	if err != nil || math.IsNaN(ratio) {
		return level
	}
	for _, c := range r.Cuts {
		if !strings.Contains(message, behind+c.Name+";") {
			continue
		}
		values := float64(c.Last - c.First + 1)
		mode := values * ratio
		for need := mode + 7*math.Sqrt(mode); math.Ldexp(values, level-r.level) < need && level < maxLevel; {
			level++
		}
	}
	return level
}

// maxLevel bounds levels.
const maxLevel = 40

// beyond is the message about a parameter. The ratio of the last two terms follows it.
func beyond(name string, last int64) string {
	return unbacked(name, last) + RatioOf
}

// unbacked is beyond without the ratio.
func unbacked(name string, last int64) string {
	return fmt.Sprint(last) + behind + name + "; more than 1e-12 of the mass is beyond it"
}

// Wrong returns "" if the cut leaves out no more than [MaxLeft] at a point, and otherwise the
// message.
// probabilities are those of the values from First to Last, of one element after another.
func (c *Cut) Wrong(probabilities []float64) string {
	n := len(probabilities) / len(c.Open)
	left := 0.0
	for e, open := range c.Open {
		if open {
			left += probabilities[(e+1)*n-1]
		}
	}
	if left <= MaxLeft {
		return ""
	}
	return unbacked(c.Name, c.Last)
}

// open reports whether the sum over an element is cut.
func (p *program) open(e int) bool { return p.elements[e].cut }

// provisional is the number of values of a count before its first possible value is known.
const provisional = 8

// lengthen gives counts their last values: all elements of a parameter have the same.
func (p *program) lengthen(patterns []*pattern) error {
	firsts := map[*unknown]int64{} // from the lowest bound
	p.lasts = map[*unknown]int64{}
	t := p.tracer()
	for _, pat := range patterns {
		for k := range pat.instances {
			in := &pat.instances[k]
			counts := p.countsOf(in.elements)
			if len(counts) != 1 || !p.denies(pat) {
				continue
			}
			u := p.elements[counts[0]].of
			others := slices.DeleteFunc(slices.Clone(in.elements), p.open)
			t.each(others, func() {
				firsts[u] = max(firsts[u], t.firstPossible(pat, in, counts[0])-u.least)
			})
		}
	}
	for e := range p.elements {
		el := &p.elements[e]
		if el.cut {
			t := p.turns[el.of]
			values := float64(fewestValues+2*max(firsts[el.of], p.raises[el.of])+3*(t.period-1)+max(t.last-el.of.least, 0)) * math.Ldexp(1, p.o.Level)
			el.hi = el.of.least + int64(min(values, 1<<40)) - 1
			if p.overflow {
				p.lasts[el.of] = el.hi
				el.hi++
			}
			if values > maxTable {
				return p.tooLong(el.of, values)
			}
		}
	}
	return nil
}

// each calls a function for all values of some elements, unless these are too many: a count may
// have another first value for each.
func (t *tracer) each(elements []int, f func()) {
	n := int64(1)
	for _, e := range elements {
		if n *= t.p.elements[e].size(); n > maxTriedValues {
			return
		}
	}
	if len(elements) == 0 {
		f()
		return
	}
	el := t.p.elements[elements[0]]
	set := t.give(el.of)
	for v := el.lo; v <= el.hi; v++ {
		set(el.of.cell(elements[0]), v)
		t.each(elements[1:], f)
	}
	delete(t.set, t.p.nodes.Vars[el.of.v][0])
}

// tooLong is the error about a count with too many values.
func (p *program) tooLong(u *unknown, terms float64) error {
	return p.errorf(diag.DiscreteWidth, u.decl.Name.Span(), "the sum over `%s` needs more than %.3g terms, for values up to %d, does not converge, or rounding hides how its terms fall", "", tooLong, u.name, terms, p.last(u))
}

// firstPossible returns the first value of an element at which a factor is not 0, if it is 0 at all
// smaller ones.
func (t *tracer) firstPossible(pat *pattern, in *instance, element int) int64 {
	el := t.p.elements[element]
	if err := t.enter(pat, in); err != nil {
		return el.lo
	}
	set := t.give(el.of)
	defer delete(t.set, t.p.nodes.Vars[el.of.v][0])
	d := &denial{t: t, leaf: pat.leaf, local: map[*ir.Var]bool{}}
	no := func(v int64) bool {
		set(el.of.cell(element), v)
		defer func() {
			for v := range d.local {
				delete(t.set, v)
			}
			clear(d.local)
		}()
		return slices.ContainsFunc(pat.leaf.code, d.never)
	}
	if !no(el.lo) {
		return el.lo
	}
	below, above := el.lo, el.lo+1
	for no(above) {
		if above-el.lo > maxTable {
			return el.lo
		}
		below, above = above, el.lo+2*(above-el.lo)
	}
	for above-below > 1 {
		if mid := below + (above-below)/2; no(mid) {
			below = mid
		} else {
			above = mid
		}
	}
	return above
}

// hidden returns an element with an upper bound that is summed out before a count next to it. The
// terms of the count are then those of a mixture, whose later peaks its last terms do not show.
// Overflows are checked in any order.
func (p *program) hidden(steps []*step) (element, count int, hides bool) {
	for _, s := range steps {
		i := slices.IndexFunc(s.around, p.open)
		if i >= 0 && !p.open(s.element) && !p.overflow {
			return s.element, s.around[i], true
		}
	}
	return 0, 0, false
}

// unbounded refuses counts that have too many values, that no statement is about, or whose sum
// cannot be checked.
func (p *program) unbounded(steps []*step) error {
	if e, count, hides := p.hidden(steps); hides {
		at := p.elements[count].of.decl.Name.Span()
		return p.unchecked(at, "the sum over `%s` cannot be checked, since `%s` must be summed out before it", "The terms of a mixture may rise again beyond the last value of the sum.",
			bounded("`"+p.elements[count].of.name+"`"), p.name(count), p.name(e))
	}
	total, first := 0.0, 0.0
	for _, s := range steps {
		el := p.elements[s.element]
		if el.cut && len(s.factors) == 0 && !p.idle(s.element, 0) {
			return p.errorf(diag.DiscreteParameter, el.of.decl.Name.Span(), "`%s` has no upper bound, and no statement gives it a distribution", "All its values would be equally probable.",
				"give it a distribution, or an upper bound that data decide", p.name(s.element))
		}
		clique := append([]int{s.element}, s.around...)
		n := p.volume(clique)
		total += n
		for _, e := range clique {
			if p.open(e) {
				n = math.Ldexp(n, -p.o.Level)
			}
		}
		first += n
	}
	if p.o.Level == 0 || total <= max(maxDeeper, timesFirst*first) {
		return nil
	}
	for _, u := range p.unknowns {
		for _, el := range p.elements[u.first:min(u.first+1, len(p.elements))] {
			if el.cut {
				return p.tooLong(u, total)
			}
		}
	}
	return nil
}

// tooLong says what helps where a count has too many values.
const tooLong = "if no statement keeps it small, give it a distribution, as in N ~ poisson(lambda), or an upper bound; otherwise give the parameters of its distribution priors that keep it small, or sum it out by hand, as Poisson(lambda p) for a thinned Poisson count"

// cuts describes the sums over counts.
func (w *writer) cuts() (out []Cut) {
	for _, u := range w.p.unknowns {
		last := len(w.p.elements)
		if u.id+1 < len(w.p.unknowns) {
			last = w.p.unknowns[u.id+1].first
		}
		if u.first == last || !u.counted {
			continue
		}
		c, sums := Cut{Name: u.name, First: u.least, Marks: w.marks[u]}, false
		for e := u.first; e < last; e++ {
			el := w.p.elements[e]
			c.Open = append(c.Open, el.cut && w.p.overflow && !w.freely[e])
			c.Last, sums = max(c.Last, el.hi), sums || !w.freely[e]
		}
		if !sums {
			continue
		}
		if w.p.overflow {
			c.Last = w.p.lasts[u]
		}
		out = append(out, c)
	}
	return out
}

// marked declares the marks, and returns their declarations.
func (w *writer) marked() (out []ast.Stmt) {
	w.marks = map[*unknown]string{}
	for _, c := range w.cuts() {
		u := w.p.unknowns[slices.IndexFunc(w.p.unknowns, func(u *unknown) bool { return u.name == c.Name })]
		if !slices.Contains(c.Open, true) {
			continue
		}
		name := w.p.names.fresh("mark")
		w.marks[u] = name
		rows, size := w.int(int64(len(c.Open))), w.int(c.Last-c.First+2)
		out = append(out, w.declare([]ast.Expr{rows}, "vector", []ast.Expr{size}, name,
			w.call("rep_array", w.call("rep_vector", w.int(0), clone(size, nil)), clone(rows, nil))))
	}
	return out
}

// bare is a check of the elements of a parameter that are summed out where no other count is given.
// It holds for each value of the given elements: their probabilities may be wrong where the cut
// leaves out a peak, as in a mixture of a small and a large rate.
type bare struct{ left, ratio string }

// singles declares the variables of the checks: what the cut of each element leaves out, and the
// ratio of its last terms.
func (w *writer) singles() (out []ast.Stmt) {
	w.bare = map[*unknown]bare{}
	for _, s := range w.steps {
		u := w.p.elements[s.element].of
		if w.p.overflow || !w.p.open(s.element) || w.freely[s.element] || w.bare[u].left != "" {
			continue
		}
		one := bare{w.p.names.fresh("left"), w.p.names.fresh("ratio")}
		w.bare[u] = one
		for _, name := range []string{one.left, one.ratio} {
			out = append(out, w.declare(nil, "vector", []ast.Expr{w.int(w.p.cells(u))}, name, w.call("rep_vector", w.int(0), w.int(w.p.cells(u)))))
		}
	}
	return out
}

// judged returns the statements of the checks.
func (w *writer) judged() (out []ast.Stmt) {
	for _, u := range w.p.unknowns {
		one, ok := w.bare[u]
		if !ok {
			continue
		}
		out = append(out, &ast.If{Base: w.base(), Cond: w.not(w.op("<=", w.call("sum", w.name(one.left)), w.maxLeft())), Then: w.block(
			&ast.Reject{Base: w.base(), Args: []ast.Expr{&ast.StringLit{Base: w.base(), Value: beyond(u.name, w.p.last(u))}, w.call("max", w.name(one.ratio))}})})
	}
	return out
}

func (w *writer) not(x ast.Expr) ast.Expr {
	return &ast.Unary{Base: w.base(), Op: "!", X: &ast.Paren{Base: w.base(), X: x}}
}

func (w *writer) maxLeft() ast.Expr {
	return &ast.RealLit{Base: w.base(), Text: "1e-12", Value: MaxLeft}
}

// cells returns the number of elements of a parameter.
func (p *program) cells(u *unknown) (n int64) {
	for _, el := range p.elements {
		if el.of == u {
			n++
		}
	}
	return n
}

// last returns the last value of the sums over a parameter.
func (p *program) last(u *unknown) (last int64) {
	for _, el := range p.elements {
		if el.of == u {
			last = max(last, el.hi)
		}
	}
	return last
}

// leaves returns statements that store what the cut of a step leaves out, if no count is given. lp
// are its terms, and sum is the variable with the log of their sum.
func (w *writer) leaves(g *group, c counter, q clique, m messages, lp, sum string) []ast.Stmt {
	one, ok := w.bare[g.unknowns[0]]
	open := w.opens(g)
	if !ok || slices.Max(open) == 0 {
		return nil
	}
	element := w.of(c, column(g, func(r *row) int64 { return int64(r.clique[0]-g.unknowns[0].first) + 1 }))
	before, value := w.beyond(g, c, q, m, lp, w.name(sum))
	growth := w.growth(g, lp)
	if slices.Min(open) == 0 {
		value = w.op("*", w.of(c, open), value)
	}
	left, ratio := w.at(w.name(one.left), element), w.at(w.name(one.ratio), clone(element, nil))
	if len(g.unknowns) > 1 { // the largest for all values of the others, of which some are impossible
		impossible := w.op("==", w.name(sum), w.never())
		value = w.call("fmax", clone(left, nil), &ast.Cond{Base: w.base(), Cond: impossible, Then: w.int(0), Else: value})
		growth = w.call("fmax", clone(ratio, nil), growth)
	}
	return append(before, w.assign(left, "=", value), w.assign(ratio, "=", growth))
}

// massBeyond are the functions that bound the mass beyond the last term of a sum, relative to the
// sum: by a geometric series whose log ratio is at least that of later terms. For the first two,
// see overflow.go, for those up to mass_rounded, rise.go. Values before the first possible one are
// impossible. The terms of the others are concave, those of the last one for numbers with the same
// remainder.
//
// A difference of infinite numbers would make the gradient of Stan NaN, even though it is not read.
const massBeyond = `functions {
  real mass_after(real now, real next, real most) {
    return now == negative_infinity() ? now : next < now ? fmin(most, now - log1m_exp(next - now)) : most;
  }
  real most_after(real now, real next, real most) {
    return next < now ? fmin(most, now) : most;
  }
  real mass_past(real last, real rate, real total) {
    return total == negative_infinity() ? positive_infinity() : last == negative_infinity() ? 0
      : rate < 0 ? exp(last - total) * inv(expm1(-rate)) : positive_infinity();
  }
  real last_rounded(vector lp, vector rest) {
    real low = negative_infinity();
    for (i in 1:size(lp)) {
      low = lp[i] > negative_infinity() ? lp[i] - rest[i] : low;
    }
    return fmax(low, 0.9 * low);
  }
  real mass_rounded(vector lp, vector rest, real low, real total) {
    real mass = 0;
    real begun = 0;
    for (i in 1:size(lp)) {
      begun = lp[i] > negative_infinity() ? 1 : begun;
      mass += lp[i] == negative_infinity() && rest[i] > negative_infinity() ? begun * exp(fmin(rest[i] + low - total, 99)) : 0;
    }
    return total == negative_infinity() ? positive_infinity() : mass;
  }
  real mass_beyond(vector lp, real total) {
    int n = size(lp);
    real ratio = lp[n] == negative_infinity() ? 0 : lp[n] - lp[n - 1];
    real series = ratio < 0 ? inv(expm1(-ratio)) : positive_infinity();
    return total == negative_infinity() ? positive_infinity()
      : lp[n] == negative_infinity() ? 0 : exp(lp[n] - total) * series;
  }
  real mass_beyond_by(vector lp, real total, int period) {
    real mass = 0;
    int values = size(lp) %/% period;
    for (k in 1:period) {
      int start = size(lp) - values * period + k;
      vector[values] alike;
      for (i in 1:values) {
        alike[i] = lp[start + (i - 1) * period];
      }
      mass += mass_beyond(alike, total);
    }
    return mass;
  }
}
`

// helper returns the name of a function of massBeyond.
func (w *writer) helper(name string) string {
	if w.called == nil {
		w.called = map[string]string{}
	}
	if w.called[name] == "" {
		w.called[name] = w.p.names.fresh(name)
	}
	return w.called[name]
}

// beyond returns the mass that a sum leaves out, and statements before.
func (w *writer) beyond(g *group, c counter, q clique, m messages, lp string, sum ast.Expr) ([]ast.Stmt, ast.Expr) {
	if w.p.overflow {
		return nil, w.call("exp", w.op("-", w.at(w.name(lp), w.call("size", w.name(lp))), sum))
	}
	if g.rises() {
		return w.past(g, c, q, m, lp, sum, nil, nil)
	}
	one := w.helper("mass_beyond")
	if period := w.p.turns[g.unknowns[0]].period; period > 1 {
		return nil, w.call(w.helper("mass_beyond_by"), w.name(lp), sum, w.int(period))
	}
	return nil, w.call(one, w.name(lp), sum)
}

// growth returns the ratio of the last terms of a sum.
func (w *writer) growth(g *group, lp string) ast.Expr {
	n := w.call("size", w.name(lp))
	period := max(w.p.turns[g.unknowns[0]].period, 1)
	change := w.op("-", w.at(w.name(lp), n), w.at(w.name(lp), w.op("-", clone(n, nil), w.int(period))))
	if period > 1 {
		change = w.op("/", &ast.Paren{Base: w.base(), X: change}, w.int(period))
	}
	last := w.op("==", w.at(w.name(lp), clone(n, nil)), w.never()) // see massBeyond
	return &ast.Paren{Base: w.base(), X: &ast.Cond{Base: w.base(), Cond: last, Then: w.int(0), Else: w.call("exp", change)}}
}

// helpers returns the functions that the program calls.
func (w *writer) helpers() (out []ast.Stmt) {
	if len(w.called) == 0 {
		return nil
	}
	tree, _ := lang.Parse(source.NewFile("sums over counts", massBeyond))
	for _, s := range tree.Block(ast.Functions).Stmts {
		if w.called[s.(*ast.FunctionDecl).Name.Name] == "" {
			continue
		}
		out = append(out, clone(s, func(n ast.Node) ast.Node {
			switch n := n.(type) {
			case *ast.FunctionDecl:
				n.Name.Name = w.called[n.Name.Name]
			case *ast.CallExpr:
				if name := w.called[n.Func.Name]; name != "" {
					n.Func.Name = name
				}
			}
			reflect.ValueOf(n).Elem().FieldByName("Base").SetZero()
			return n
		}))
	}
	return out
}

// opens returns for each row whether its sum is cut.
func (w *writer) opens(g *group) []int64 {
	return column(g, func(r *row) int64 {
		if w.p.open(r.clique[0]) {
			return 1
		}
		return 0
	})
}

// mark returns the marks of a step's element: that of a value, or those of all values; nil if it
// has none.
func (w *writer) mark(g *group, c counter, q clique, all bool) ast.Expr {
	u := g.unknowns[0]
	name := w.marks[u]
	if name == "" {
		return nil
	}
	row := w.of(c, column(g, func(r *row) int64 { return int64(r.clique[0]-u.first) + 1 }))
	if !all {
		return w.at(w.name(name), row, w.from1(q.values[0], w.int(u.least)))
	}
	at := w.at(w.name(name), row).(*ast.IndexExpr)
	at.Indices = append(at.Indices, &ast.Range{Base: w.base(), From: w.from1(q.lo[0], w.int(u.least)), To: w.from1(q.hi[0], w.int(u.least))})
	return at
}

// checked returns statements that reject a point where the terms lp of a step, which has no
// gradient, do not fall fast enough.
func (w *writer) checked(g *group, c counter, q clique, m messages, lp string) []ast.Stmt {
	return w.checkedBy(g, c, lp, func(sum ast.Expr) ([]ast.Stmt, ast.Expr) { return w.beyond(g, c, q, m, lp, sum) })
}

// checkedBy is checked with the bound of a function of the log of the sum of the terms.
func (w *writer) checkedBy(g *group, c counter, lp string, bound func(sum ast.Expr) ([]ast.Stmt, ast.Expr)) []ast.Stmt {
	open := w.opens(g)
	if slices.Max(open) == 0 {
		return nil
	}
	size := w.call("size", w.name(lp))
	cond := w.op(">", w.at(w.name(lp), size), w.never())
	if w.p.turns[g.unknowns[0]].period > 1 || g.rises() && !w.p.overflow {
		cond = w.op(">", w.call("max", w.name(lp)), w.never())
	}
	if len(g.unknowns) == 1 { // the values of others rule none out
		cond = w.int(1)
	}
	if slices.Min(open) == 0 {
		cond = w.op("&&", w.op("==", w.of(c, open), w.int(1)), cond)
	}
	u := g.unknowns[0]
	before, left := bound(w.call("log_sum_exp", w.name(lp)))
	said := []ast.Expr{&ast.StringLit{Base: w.base(), Value: beyond(u.name, w.p.last(u))}, w.growth(g, lp)}
	if w.p.overflow {
		said = []ast.Expr{&ast.StringLit{Base: w.base(), Value: unbacked(u.name, w.p.lasts[u])}}
	}
	few := &ast.If{Base: w.base(), Cond: w.not(w.op("<=", left, w.maxLeft())), Then: w.block(&ast.Reject{Base: w.base(), Args: said})}
	return []ast.Stmt{&ast.If{Base: w.base(), Cond: cond, Then: w.block(append(before, few)...)}}
}

// logTotal is a function for Stan, in which the derivatives of log_sum_exp are NaN if all terms are
// -inf, as where one value of a discrete parameter rules out all values of another.
const logTotal = `functions {
  real log_total(vector lp) {
    return max(lp) == negative_infinity() ? negative_infinity() : log_sum_exp(lp);
  }
}
`

// guarded returns a written program in which messages may be -inf.
func (r *Result) guarded(f *ast.File) *ast.File {
	used := false
	var visit func(n ast.Node) ast.Node
	visit = func(n ast.Node) ast.Node {
		if c, ok := n.(*ast.CallExpr); ok && c.Func.Name == "log_sum_exp" && len(c.Args) == 1 {
			if v, ok := c.Args[0].(*ast.VarExpr); ok && r.vectors[v.Name] {
				used = true
				return builder{c.Span()}.call(r.total, v)
			}
		}
		return ast.Map(n, visit)
	}
	out := visit(f).(*ast.File)
	if !used {
		return f
	}
	tree, _ := lang.Parse(source.NewFile("sums of impossible terms", logTotal))
	added := tree.Block(ast.Functions)
	added.Stmts[0].(*ast.FunctionDecl).Name.Name = r.total
	c := *out
	if b := out.Block(ast.Functions); b == nil {
		c.Blocks = slices.Concat([]*ast.Block{added}, out.Blocks)
	} else {
		both := *b
		both.Stmts = slices.Concat(b.Stmts, added.Stmts)
		c.Blocks = slices.Clone(out.Blocks)
		c.Blocks[slices.Index(out.Blocks, b)] = &both
	}
	return &c
}

// Unmarked returns a written program without marks, to be read or to be run by Stan.
func (r *Result) Unmarked() *ast.File {
	names := map[string]bool{}
	for _, c := range r.Cuts {
		names[c.Marks] = c.Marks != ""
	}
	of := func(e ast.Expr) bool {
		x, ok := ast.Unparen(e).(*ast.IndexExpr)
		if !ok {
			return false
		}
		v, ok := x.X.(*ast.VarExpr)
		return ok && names[v.Name]
	}
	var strip func(n ast.Node) ast.Node
	strip = func(n ast.Node) ast.Node {
		switch n := n.(type) {
		case *ast.Binary:
			if n.Op == "+" && of(n.Y) {
				return strip(n.X)
			}
		case *ast.Block:
			c := *n
			c.Stmts = slices.DeleteFunc(slices.Clone(n.Stmts), func(s ast.Stmt) bool {
				d, ok := s.(*ast.VarDecl)
				return ok && names[d.Name.Name]
			})
			return ast.Map(&c, strip)
		}
		return ast.Map(n, strip)
	}
	tree := r.Tree
	if len(names) > 0 {
		tree = strip(tree).(*ast.File)
	}
	if len(r.vectors) > 0 {
		tree = r.guarded(tree)
	}
	return tree
}
