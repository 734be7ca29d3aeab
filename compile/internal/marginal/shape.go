package marginal

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// The last terms of a sum over a count show what follows them only if it is known how much the
// terms may rise again. So each term of the log density that reads a count must have a known shape.
// D(n) is its change from n - 1 to n. If a term is concave, D falls. Otherwise D(k) must be at most
// max(0, D(n)) for all k > n: where the term falls, it never rises again. Then the last values of a
// term bound its later changes, see rise.go. Comparisons with numbers that data decide are allowed,
// since the sum goes beyond these numbers. So are remainders, as the terms are then checked for
// each remainder. Mixtures have been split into their components, see mixed. Everything else is
// refused.

// shape says how an expression depends on a count.
type shape uint8

const (
	fixed     shape = iota // it does not
	linear                 // a + b N
	logLinear              // log(a + b N), plus a constant
	concave                // concave
	rounded                // concave, but -inf by rounding
	clumped                // linear plus lgamma(N + a) - lgamma(N + b)
	tapering               // where it falls, it never rises again
	multiple               // a multiple of log(a + b N), which is tapering
	geometric              // a multiple of q^N by a number that is not negative
	scaled                 // a multiple of q^N
	chance                 // 1 - geometric, or another probability: rounded logs, also of 1 - chance
	opposite               // with a chance as negative
	convex                 // with a concave negative
	unshaped               // none of these
)

// term reports whether an expression may be a term of the log density.
func (s shape) term() bool { return s <= multiple }

// plus returns the shape of a sum. Sums of terms that are not concave must be terms of a statement,
// where each is examined, see parts.
func (s shape) plus(t shape) shape {
	s, t = min(s, t), max(s, t)
	switch {
	case s == fixed && t == clumped, s == fixed && geometric <= t && t <= opposite:
		return unshaped // log(c + q^N) bends, and a sum might end before
	case s == fixed, s == linear && (t == linear || t == convex):
		return t
	case t <= concave:
		return concave
	case t == rounded:
		return rounded
	}
	return unshaped
}

func (s shape) negative() shape {
	switch s {
	case logLinear:
		return multiple
	case convex:
		return concave
	case geometric:
		return scaled
	case chance:
		return opposite
	case opposite:
		return chance
	case concave, rounded, clumped, tapering:
		return unshaped
	}
	return s
}

// times returns the shape of a multiple by a number of this sign; 0: not known.
func (s shape) times(sign int) shape {
	switch {
	case s == logLinear:
		return multiple
	case s <= linear || s == multiple || s == scaled:
		return s
	case s == chance || s == opposite || s == clumped || s == rounded:
		return unshaped
	case sign > 0:
		return s
	case s == geometric:
		return scaled
	case sign < 0:
		return s.negative()
	}
	return unshaped
}

// or returns the shape of an expression that is one of two.
func (s shape) or(t shape) shape {
	s, t = min(s, t), max(s, t)
	switch {
	case s == t || s == fixed:
		return t
	case t <= concave:
		return concave
	case t.term() && s != clumped && t != clumped:
		return max(t, rounded)
	}
	return unshaped
}

// shaper finds the shape of a factor as a function of one count.
type shaper struct {
	p       *program
	pat     *pattern
	axis    int  // position in instance.elements
	several bool // the factor reads other counts

	env    map[*check.Var]shape
	period int64    // terms are alike for counts with the same remainder
	tests  []tested // comparisons
	parts  map[ast.Stmt][]summand
	bad    ast.Node // what has no known shape
}

// tested is a comparison of the count with a number.
type tested struct{ x, y ast.Expr }

// maxRemainders bounds periods.
const maxRemainders = 1000

// turns is what sums over a count need to know about its factors.
type turns struct {
	period int64 // of the terms
	last   int64 // beyond it, no comparison has another result
}

// shapes refuses factors without a known shape, and returns what sums need to know about each
// count.
func (p *program) shapes(patterns []*pattern) (map[*unknown]turns, error) {
	out := map[*unknown]turns{}
	for _, pat := range patterns {
		in := &pat.instances[0]
		for _, k := range p.axesOf(pat) {
			u := p.elements[in.elements[k]].of
			s := p.shaped(pat, k)
			t := out[u]
			t.period = lcm(max(t.period, 1), s.period)
			last, at := s.turning()
			if at != nil {
				s.bad = at
			}
			if t.period > maxRemainders && s.bad == nil {
				s.bad = pat.leaf.stmt()
			}
			if s.bad != nil {
				return nil, p.unending(s.bad, in.elements[k])
			}
			t.last = max(t.last, last)
			out[u] = t
		}
	}
	return out, nil
}

// axesOf returns the positions of the counts among the elements of a pattern.
func (p *program) axesOf(pat *pattern) (counts []int) {
	for k, e := range pat.instances[0].elements {
		if p.open(e) {
			counts = append(counts, k)
		}
	}
	return counts
}

// shaped notes the parts of a pattern as functions of the count at a position.
func (p *program) shaped(pat *pattern, k int) *shaper {
	s := &shaper{p: p, pat: pat, axis: k, several: len(p.axesOf(pat)) > 1, env: map[*check.Var]shape{}, period: 1, parts: map[ast.Stmt][]summand{}}
	for _, st := range pat.leaf.code {
		s.run(st)
	}
	if pat.parts == nil {
		pat.parts = map[int]map[ast.Stmt][]summand{}
	}
	pat.parts[k] = s.parts
	return s
}

// unending is the error about an expression without a known shape.
func (p *program) unending(at ast.Node, e int) error {
	name := p.elements[e].of.name
	return p.unchecked(at.Span(), "`%s` has no upper bound, and it is not known how fast this expression lets its terms fall", "The sum ends where later terms are known to be negligible. They are for common distributions, sums, products with numbers, logarithms, powers such as q^"+name+", and comparisons with data.",
		bounded("`"+name+"`")+", or write mixtures with log_mix or log_sum_exp", p.name(e))
}

func lcm(a, b int64) int64 {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// run notes the shapes of what a statement computes.
func (s *shaper) run(st ast.Stmt) {
	switch st := st.(type) {
	case *ast.BlockStmt:
		for _, t := range st.Stmts {
			s.run(t)
		}
	case *ast.VarDecl:
		if st.Init != nil {
			s.env[s.p.def(st)] = s.of(st.Init)
		}
	case *ast.Assign:
		if s.p.observation(st) != nil {
			s.add(st, s.split(st.RHS, false))
			return
		}
		value := s.of(st.RHS)
		v, ok := root(st.LHS)
		x, indexed := st.LHS.(*ast.IndexExpr)
		depends := value != fixed || ok && s.env[s.p.info.Uses[v]] != fixed
		if !ok || indexed && (depends && s.among() || slices.ContainsFunc(x.Indices, func(i ast.Index) bool { return s.readsAny(i) })) {
			s.fail(st)
			return
		}
		u := s.p.info.Uses[v]
		switch _, whole := st.LHS.(*ast.VarExpr); {
		case st.Op == "=" && whole:
			s.env[u] = value
		case st.Op == "=":
			s.env[u] = s.env[u].or(value)
		case st.Op == "+=":
			s.env[u] = s.env[u].plus(value)
		case st.Op == "-=":
			s.env[u] = s.env[u].plus(value.negative())
		case value != fixed || s.env[u] != fixed:
			s.env[u] = unshaped
		}
	case *ast.If:
		if !s.restricted(st.Cond, rulesOut(st.Then), st.Else != nil && rulesOut(st.Else)) && s.of(st.Cond) != fixed {
			s.fail(st.Cond)
			return
		}
		before := map[*check.Var]shape{}
		for v, k := range s.env {
			before[v] = k
		}
		s.run(st.Then)
		then := s.env
		s.env = before
		if st.Else != nil {
			s.run(st.Else)
		}
		for v, k := range then {
			s.env[v] = s.env[v].or(k)
		}
	case *ast.For:
		if s.of(st.From) != fixed || s.of(st.To) != fixed {
			s.fail(st)
			return
		}
		for range 3 { // what it sets may be read in the next iteration
			s.run(st.Body)
		}
	case *ast.ForEach:
		if s.among() && s.readsAny(st) {
			s.fail(st)
			return
		}
		s.env[s.p.def(st)] = s.of(st.Over)
		for range 3 {
			s.run(st.Body)
		}
	case *ast.Tilde:
		if st.Trunc != nil && s.readsAny(st) {
			s.fail(st)
			return
		}
		c := s.p.info.Calls[st]
		if c == nil {
			s.fail(st)
			return
		}
		s.add(st, []summand{s.family(summand{at: st}, c, append([]ast.Expr{st.Variate}, st.Args...))})
	case *ast.TargetPlus:
		s.add(st, s.split(st.Value, false))
	default:
		if s.readsAny(st) {
			s.fail(st)
		}
	}
}

// among reports whether the factor reads discrete parameters with an upper bound too. The sum must
// then go beyond the first possible value of the count for each of their values, so that data must
// show that value: see denial.
func (s *shaper) among() bool {
	return len(s.p.axesOf(s.pat)) < len(s.pat.instances[0].elements)
}

// never reports whether an expression is -inf as it is written.
func never(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return e.Func.Name == "negative_infinity"
	case *ast.Unary:
		c, ok := ast.Unparen(e.X).(*ast.CallExpr)
		return e.Op == "-" && ok && c.Func.Name == "positive_infinity"
	}
	return false
}

func (s *shaper) fail(n ast.Node) {
	if s.bad == nil {
		s.bad = n
	}
}

// readsAny reports whether a node depends on the count.
func (s *shaper) readsAny(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if k := s.occurrence(n); k >= 0 {
			found = found || slices.Contains(s.pat.reads[k].axes, s.axis)
		} else if v, ok := n.(*ast.VarExpr); ok {
			found = found || s.env[s.p.info.Uses[v]] != fixed
		}
		return !found
	}, nil)
	return found
}

// occurrence returns the number of the place that reads a discrete parameter; -1: it is none.
func (s *shaper) occurrence(n ast.Node) int {
	return slices.IndexFunc(s.pat.leaf.occs, func(o *occ) bool { return ast.Node(o.node) == n })
}

// of returns the shape of an expression.
func (s *shaper) of(e ast.Expr) shape {
	if !s.readsAny(e) {
		return fixed
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.VarExpr, *ast.IndexExpr:
		return s.variable(e)
	case *ast.Unary:
		k := s.of(e.X)
		switch e.Op {
		case "-":
			return k.negative()
		case "+", "'":
			return k
		}
		if k == fixed {
			return fixed
		}
	case *ast.Binary:
		return s.binary(e)
	case *ast.Cond:
		if !s.restricted(e.Cond, never(e.Then), never(e.Else)) && s.of(e.Cond) != fixed {
			break
		}
		switch {
		case never(e.Then):
			return s.of(e.Else)
		case never(e.Else):
			return s.of(e.Then)
		}
		return s.of(e.Then).or(s.of(e.Else))
	case *ast.ArrayExpr:
		return s.any(e.Elems)
	case *ast.RowVectorExpr:
		return s.any(e.Elems)
	case *ast.CallExpr:
		if c := s.p.info.Calls[e]; c != nil {
			return s.called(c, e.Args)
		}
	}
	return unshaped
}

func (s *shaper) any(es []ast.Expr) (k shape) {
	for _, e := range es {
		k = k.or(s.of(e))
	}
	return k
}

// variable returns the shape of a variable or of its elements.
func (s *shaper) variable(e ast.Expr) shape {
	k := s.occurrence(e)
	if i, ok := e.(*ast.IndexExpr); ok {
		for _, ix := range i.Indices {
			if s.readsAny(ix) {
				return unshaped
			}
		}
		if k < 0 {
			return s.of(i.X)
		}
	}
	if k < 0 {
		return s.env[s.p.info.Uses[e.(*ast.VarExpr)]]
	}
	for _, d := range s.pat.reads[k].dims {
		if d.kind == varying {
			return unshaped
		}
	}
	return linear
}

func (s *shaper) isInt(e ast.Expr) bool { return s.p.info.Types[e].Type.Kind == types.Int }

func (s *shaper) binary(e *ast.Binary) shape {
	x, y := s.of(e.X), s.of(e.Y)
	switch e.Op {
	case "+", ".+":
		return x.plus(y)
	case "-", ".-":
		if one, ok := number(e.X); ok && one == 1 && (y == geometric || y == chance) {
			return chance
		}
		return x.plus(y.negative())
	case "*", ".*":
		switch {
		case x == fixed:
			return y.times(s.sign(e.X))
		case y == fixed:
			return x.times(s.sign(e.Y))
		case x == geometric && y == geometric:
			return geometric
		case (x == geometric || x == scaled) && (y == geometric || y == scaled):
			return scaled
		}
	case "/", "./", "%/%":
		switch {
		case y == fixed && x == linear && s.isInt(e):
			return s.periodic(e.Y, linear)
		case y == fixed:
			return x.times(s.sign(e.Y))
		case x == fixed && (y == geometric || y == scaled):
			return y.times(s.sign(e.X))
		}
	case "%":
		if x == linear && y == fixed {
			return s.periodic(e.Y, fixed)
		}
	case "^", ".^":
		return s.power(x, y, e.Y)
	case "&&", "||":
		if x == fixed && y == fixed {
			return fixed
		}
	default:
		if comparisons[e.Op] {
			return s.compared(e.X, x, e.Y, y, fixed)
		}
	}
	return unshaped
}

func (s *shaper) power(x, y shape, exponent ast.Expr) shape {
	switch n, ok := literal(exponent); {
	case x == fixed && y == linear:
		return geometric
	case x == linear && ok && n == 2:
		return convex
	case x == linear && ok && n == 1:
		return linear
	}
	return unshaped
}

// periodic notes that results are alike for counts with the same remainder.
func (s *shaper) periodic(by ast.Expr, k shape) shape {
	t := s.p.tracer()
	n, ok, err := t.int(by)
	if !ok || err != nil || s.several || n == 0 || n > maxRemainders || n < -maxRemainders {
		return unshaped
	}
	s.period = lcm(s.period, max(n, -n))
	return k
}

// compared notes a comparison; its result is k beyond the last number at which it changes.
func (s *shaper) compared(x ast.Expr, xs shape, y ast.Expr, ys shape, k shape) shape {
	switch {
	case xs == fixed && ys == fixed:
		return k
	case xs.or(ys) != linear || xs == linear && !s.isInt(x) || ys == linear && !s.isInt(y):
		return unshaped
	case s.several: // the result may change at any value
		return unshaped
	}
	s.tests = append(s.tests, tested{x, y})
	return k
}

// sign returns the sign of a literal, and 1 for a number that is declared not to be negative; 0 if
// it is not known.
func (s *shaper) sign(e ast.Expr) int {
	if x, ok := number(e); ok {
		return cmp.Compare(x, 0)
	}
	if u, ok := ast.Unparen(e).(*ast.Unary); ok && u.Op == "-" {
		return -s.sign(u.X)
	}
	if lower, _ := declared(s.p.info, e); lower >= 0 {
		return 1
	}
	return 0
}

// called returns the shape of a call.
func (s *shaper) called(c *check.Call, args []ast.Expr) shape {
	ks := make([]shape, len(args))
	change := 0
	for i, a := range args {
		if ks[i] = s.of(a); ks[i] != fixed {
			change++
		}
	}
	if change == 0 {
		return fixed
	}
	if c.Func != nil {
		return s.function(c.Func, ks)
	}
	name := strings.NewReplacer("_lupmf", "_lpmf", "_lupdf", "_lpdf").Replace(c.Name)
	if shapes, ok := families[name]; ok && len(shapes) == len(args) && change == 1 {
		for i, k := range ks {
			if to, ok := shapes[i][k]; ok {
				if (to == clumped || to == tapering) && !s.scalars(args) {
					return unshaped // a sum of such terms
				}
				if i == 0 && trials[name] && to == tapering {
					return s.compared(args[0], k, args[1], fixed, concave) // it ends at the number of trials
				}
				return to
			}
		}
		return unshaped
	}
	switch name {
	case "pow":
		return s.power(ks[0], ks[1], args[1])
	case "lchoose", "binomial_coefficient_log":
		switch {
		case !s.scalars(args) || !s.isInt(args[0]) || !s.isInt(args[1]):
		case ks[0].or(ks[1]) == linear && (change == 1 || s.parallel(args[0], args[1])):
			return concave
		}
	case "lbeta", "log_rising_factorial":
		if change == 1 && max(ks[0], ks[1]) == linear && (ks[0] == linear || name == "lbeta") && s.scalars(args) {
			return tapering
		}
	case "log_falling_factorial":
		switch {
		case change == 1 && ks[0] == linear && s.scalars(args):
			return tapering
		case change == 1 && ks[1] == linear:
			return concave
		}
	case "multiply_log", "lmultiply":
		switch {
		case ks[0] == linear && ks[1] == fixed:
			return linear
		case ks[0] == fixed && ks[1] == linear && s.scalars(args):
			return multiple
		}
	case "max", "min", "fmax", "fmin":
		if len(args) == 2 && !s.several {
			return s.compared(args[0], ks[0], args[1], ks[1], ks[0].or(ks[1]))
		}
	case "abs":
		if ks[0] == linear && !s.several {
			b := builder{args[0].Span()}
			return s.compared(args[0], linear, b.int(0), fixed, linear)
		}
	case "to_vector", "to_row_vector", "to_array_1d":
		return ks[0]
	case "rep_vector", "rep_row_vector", "rep_array":
		if change == 1 && ks[0] != fixed {
			return ks[0]
		}
	}
	if len(ks) == 1 {
		if k, ok := functions[name][ks[0]]; ok {
			return k
		}
	}
	return unshaped
}

// turning returns the last count at which a comparison changes in any instance, or a comparison for
// which it is not known.
func (s *shaper) turning() (last int64, at ast.Node) {
	if len(s.tests) == 0 {
		return 0, nil
	}
	t := s.p.tracer()
	for k := range s.pat.instances {
		in := &s.pat.instances[k]
		if err := t.enter(s.pat, in); err != nil {
			return 0, s.tests[0].x
		}
		for _, c := range s.tests {
			x, ok := s.magnitude(t, in, c.x)
			y, ok2 := s.magnitude(t, in, c.y)
			end := (x + y) * float64(s.period) // quotients change more slowly
			if !ok || !ok2 || end > maxTable {
				return 0, c.x
			}
			last = max(last, int64(math.Ceil(end)))
		}
	}
	return last, nil
}

// magnitude bounds the size of a side of a comparison without the multiples of the count.
func (s *shaper) magnitude(t *tracer, in *instance, e ast.Expr) (float64, bool) {
	e = ast.Unparen(e)
	if k := s.occurrence(e); k >= 0 {
		r, size := s.pat.reads[k], 0.0
		for _, a := range r.axes {
			if a >= 0 && a != s.axis {
				el := s.p.elements[in.elements[a]]
				size = max(size, math.Abs(float64(el.lo)), math.Abs(float64(el.hi)))
			} else if a < 0 {
				size = max(size, math.Abs(float64(in.values[^a])))
			}
		}
		return size, !r.given
	}
	if n, ok := literal(e); ok {
		return math.Abs(float64(n)), true
	}
	if x, ok := t.known(e); ok {
		n, err := t.eval.Value(x)
		if err != nil || len(n.Shape) > 0 {
			return 0, false
		}
		if n.Ints != nil {
			return math.Abs(float64(n.Ints[0])), true
		}
		return math.Abs(n.Reals[0]), true
	}
	switch e := e.(type) {
	case *ast.Unary:
		if e.Op == "-" || e.Op == "+" {
			return s.magnitude(t, in, e.X)
		}
	case *ast.Binary:
		x, ok := s.magnitude(t, in, e.X)
		y, ok2 := s.magnitude(t, in, e.Y)
		switch {
		case !ok || !ok2:
		case e.Op == "+" || e.Op == "-":
			return x + y, true
		case e.Op == "*" && !s.readsAny(e):
			return x * y, true
		case e.Op == "*": // a multiple of the count by at least 1, or by 0
			return max(x, 1) * max(y, 1), true
		case (e.Op == "/" || e.Op == "%/%") && s.isInt(e) && !s.readsAny(e.Y):
			return max(x, 1) * max(y, 1), true
		}
	}
	return 0, false
}
