package marginal

import (
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/types"
)

// Data may make values of an element impossible, whatever the parameters: an animal that was seen
// is there, and at least as many are there as were counted. The sum over an element then goes from
// its first possible value to its last. Only elements that no factor connects with others are
// shortened: steps of a chain stay alike.

const (
	maxTried       = 2_000_000 // factors that are evaluated at values of their element
	maxTriedValues = 10_000    // values of an element
)

// prune shortens the ranges of elements.
func (p *program) prune(patterns []*pattern) {
	connected := make([]bool, len(p.elements))
	work := 0.0
	for _, pat := range patterns {
		for _, in := range pat.instances {
			if len(in.elements) != 1 {
				for _, e := range in.elements {
					connected[e] = true
				}
			} else if p.deniable(pat) {
				work += float64(p.elements[in.elements[0]].size())
			}
		}
	}
	if work > maxTried {
		return
	}
	t := p.tracer()
	never := map[int][]bool{} // by element and value
	for _, pat := range patterns {
		if !p.deniable(pat) || pat.tail != nil && len(pat.tail.vague) > 0 {
			continue
		}
		for k := range pat.instances {
			in := &pat.instances[k]
			if len(in.elements) != 1 || connected[in.elements[0]] {
				continue
			}
			e := in.elements[0]
			el := p.elements[e]
			if el.size() > maxTriedValues || el.cut && (&kind{pattern: pat, axes: []int{0}}).any(rounded) {
				continue
			}
			if never[e] == nil {
				never[e] = make([]bool, el.size())
			}
			t.denied(pat, in, e, never[e])
		}
	}
	for e, no := range never {
		el := &p.elements[e]
		lo, hi := 0, len(no)-1
		for lo < hi && no[lo] {
			lo++
		}
		for lo < hi && no[hi] {
			hi--
		}
		if el.cut {
			// Data bound it. A few impossible values at the end may be a gap between others.
			if len(no)-1-hi >= max(fewestValues/2, len(no)/4, int(p.turns[el.of].period)) {
				el.cut = false
			} else {
				hi = len(no) - 1
			}
		}
		if lo < hi || !no[lo] { // otherwise the density is 0
			el.lo, el.hi = el.lo+int64(lo), el.lo+int64(hi)
		}
	}
}

// deniable reports whether factors of a pattern may rule values out of the sums.
func (p *program) deniable(pat *pattern) bool {
	// The density of the others has to know the values that an observation rules out.
	return !pat.tagged() && p.denies(pat)
}

// denies reports whether factors of a pattern may be 0 at values of their element.
func (p *program) denies(pat *pattern) bool {
	found := false
	for _, s := range pat.leaf.code {
		ast.Inspect(s, func(n ast.Node) bool {
			name := ""
			switch n := n.(type) {
			case *ast.Tilde:
				if c := p.info.Calls[n]; c != nil && n.Trunc == nil {
					name = c.Name
				}
			case *ast.CallExpr:
				if c := p.info.Calls[n]; c != nil {
					name = c.Name
				}
			}
			if name == "categorical_lpmf" {
				ast.Inspect(n, func(n ast.Node) bool {
					_, written := n.(*ast.RowVectorExpr) // with zeros, maybe
					found = found || written
					return !found
				}, nil)
			}
			_, counts := supports[name]
			found = found || counts || name == "hypergeometric_lpmf" || name == "discrete_range_lpmf" || name == "negative_infinity" || name == "log"
			return !found
		}, nil)
	}
	return found
}

// denied marks the values of an element at which a factor is 0.
func (t *tracer) denied(pat *pattern, in *instance, element int, never []bool) {
	if err := t.enter(pat, in); err != nil {
		return
	}
	el := t.p.elements[element]
	set := t.give(el.of)
	d := &denial{t: t, leaf: pat.leaf, local: map[*ir.Var]bool{}}
	for i := range never {
		if never[i] {
			continue
		}
		set(el.of.cell(element), el.lo+int64(i))
		never[i] = d.denies()
	}
	delete(t.set, t.p.nodes.Vars[el.of.v][0])
}

// denial runs a leaf at a value of its element, as far as it is known.
type denial struct {
	t     *tracer
	leaf  *leaf
	local map[*ir.Var]bool

	numbers map[*ir.Var]float64 // of variables that are numbers

	open bool // a statement may add something else than 0 or -inf
}

// denies reports whether the leaf adds -inf.
func (d *denial) denies() bool {
	d.open = false
	never := slices.ContainsFunc(d.leaf.code, d.never)
	d.forget()
	return never
}

// forget makes the local variables of the leaf unknown.
func (d *denial) forget() {
	for v := range d.local {
		delete(d.t.set, v)
	}
	clear(d.local)
}

// never reports whether a statement adds -inf.
func (d *denial) never(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.BlockStmt:
		for _, b := range s.Stmts {
			if d.never(b) {
				return true
			}
		}
	case *ast.If:
		if c, ok := d.value(s.Cond); !ok {
			d.t.forget(s)
			d.open = true
		} else if c != 0 {
			return d.never(s.Then)
		} else if s.Else != nil {
			return d.never(s.Else)
		}
	case *ast.VarDecl:
		if s.Init == nil {
			return false
		}
		v := d.t.variable(s)
		if x, ok := d.value(s.Init); ok && v != nil && d.store(v, x) {
			return false
		}
		_ = d.t.store(v, s.Init, d.local) // an error leaves it unknown
	case *ast.For:
		from, ok, err := d.t.int(s.From)
		to, ok2, err2 := d.t.int(s.To)
		v := d.t.variable(s)
		if !ok || !ok2 || err != nil || err2 != nil || v == nil || jumps(s.Body) || to-from > maxTriedValues {
			d.t.forget(s)
			d.open = true
			return false
		}
		defer delete(d.t.set, v)
		for i := from; i <= to; i++ {
			d.t.eval.SetInt(v, i)
			d.t.set[v] = true
			if d.never(s.Body) {
				return true
			}
		}
	case *ast.Tilde:
		if c := d.t.p.info.Calls[s]; c != nil && c.Func == nil && s.Trunc == nil {
			args := append([]ast.Expr{s.Variate}, s.Args...)
			d.open = d.open || !d.one(c.Name, args)
			return d.mass(c.Name, args)
		}
		d.open = true
	case *ast.TargetPlus:
		d.open = d.open || !d.nothing(s.Value)
		return d.negative(s.Value)
	case *ast.Assign:
		if d.t.p.observation(s) != nil {
			d.open = d.open || !d.nothing(s.RHS)
			return d.negative(s.RHS)
		}
		x, ok := d.value(s.RHS)
		e, whole := s.LHS.(*ast.VarExpr)
		if !whole || !ok || !d.update(e, s.Op, x) {
			d.t.forget(s)
		}
	default:
		d.t.forget(s)
		d.open = true
	}
	return false
}

// store sets a variable that is one number, and reports whether it is.
func (d *denial) store(v *ir.Var, x float64) bool {
	switch {
	case v.Type.Equal(types.RealType):
		d.t.eval.Set(v, interp.Number{Reals: []float64{x}})
	case v.Type.Equal(types.IntType):
		d.t.eval.SetInt(v, int64(x))
	default:
		return false
	}
	if d.numbers == nil {
		d.numbers = map[*ir.Var]float64{}
	}
	d.t.set[v], d.local[v], d.numbers[v] = true, true, x
	return true
}

// update applies an assignment of a number, and reports whether the result is known.
func (d *denial) update(e *ast.VarExpr, op string, x float64) bool {
	vs := d.t.p.nodes.Vars[d.t.p.info.Uses[e]]
	if len(vs) != 1 {
		return false
	}
	before, known := d.numbers[vs[0]]
	known = known && d.t.set[vs[0]]
	switch {
	case op == "=":
		return d.store(vs[0], x)
	case op == "+=" && known:
		return d.store(vs[0], before+x)
	case op == "-=" && known:
		return d.store(vs[0], before-x)
	case op == "*=" && known:
		return d.store(vs[0], before*x)
	}
	return false
}

// negative reports whether an expression is -inf.
func (d *denial) negative(e ast.Expr) bool {
	if x, ok := d.value(e); ok {
		return math.IsInf(x, -1)
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Cond:
		if c, ok := d.value(e.Cond); ok && c != 0 {
			return d.negative(e.Then)
		} else if ok {
			return d.negative(e.Else)
		}
	case *ast.Binary:
		switch e.Op {
		case "+":
			return d.negative(e.X) || d.negative(e.Y)
		case "-":
			return d.negative(e.X)
		}
	case *ast.CallExpr:
		c := d.t.p.info.Calls[e]
		switch {
		case c == nil || c.Func != nil:
		case c.Name == "log":
			x, ok := d.value(e.Args[0])
			return ok && x == 0
		case strings.HasSuffix(c.Name, "_lpmf"):
			return d.mass(c.Name, e.Args)
		}
	}
	return false
}

// value evaluates a number as far as it is known; a product with the integer 0 is.
func (d *denial) value(e ast.Expr) (float64, bool) {
	if x, ok := d.t.known(e); ok {
		n, err := d.t.eval.Value(x)
		switch {
		case err != nil || len(n.Shape) > 0:
			return 0, false
		case n.Ints != nil:
			return float64(n.Ints[0]), true
		case n.Reals != nil:
			return n.Reals[0], true
		}
		return 0, false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Cond:
		if c, ok := d.value(e.Cond); ok && c != 0 {
			return d.value(e.Then)
		} else if ok {
			return d.value(e.Else)
		}
	case *ast.Binary:
		if e.Op != "*" {
			return 0, false
		}
		if n, _, ok := d.t.p.multiple(e); ok {
			if x, ok := d.value(n); ok && x == 0 {
				return 0, true
			}
		}
	}
	return 0, false
}

// values evaluates a number, or all numbers of a container.
func (d *denial) values(e ast.Expr) ([]float64, bool) {
	if d.t.p.info.Types[e].Type.IsScalar() {
		x, ok := d.value(e)
		return []float64{x}, ok
	}
	x, ok := d.t.known(e)
	if !ok {
		return nil, false
	}
	n, err := d.t.eval.Value(x)
	if err != nil {
		return nil, false
	}
	out := slices.Clone(n.Reals)
	for _, i := range n.Ints {
		out = append(out, float64(i))
	}
	return out, true
}

// mass reports whether the mass of values is 0: one is outside the support, or the probability or
// rate allows no other value than 0.
func (d *denial) mass(name string, args []ast.Expr) bool {
	if name == "categorical_lpmf" {
		return d.holds(0, args[0], args[1])
	}
	if name == "discrete_range_lpmf" {
		y, known := d.values(args[0])
		upper, ok := d.value(args[2])
		return known && ok && d.t.p.involved(args[2]) && slices.ContainsFunc(y, func(y float64) bool { return y > upper })
	}
	if name == "hypergeometric_lpmf" {
		var x []float64
		for _, a := range args {
			n, ok := d.value(a)
			if !ok {
				return false
			}
			x = append(x, n)
		}
		return slices.ContainsFunc(args, func(a ast.Expr) bool { return d.t.p.involved(a) }) && (x[0] < 0 || x[0] > x[1] || x[0] > x[2] || x[1]-x[0] > x[3])
	}
	sup, ok := supports[name]
	if !ok {
		return false
	}
	ns, ok := d.values(args[0])
	if !ok {
		return false
	}
	discrete := d.t.p.involved(args[0]) // otherwise such data are an error
	most := []float64{float64(sup.upper)}
	if trials[name] {
		if most, ok = d.values(args[1]); !ok || len(most) != 1 && len(most) != len(ns) {
			return false
		}
	}
	last, known := d.value(args[len(args)-1])
	known = known && edges[name] && d.t.p.info.Types[args[len(args)-1]].Type.IsScalar()
	for i, n := range ns {
		most := most[min(i, len(most)-1)]
		switch {
		case discrete && n < float64(sup.lower) || most != none && n > most && (discrete || trials[name] && d.t.p.involved(args[1])):
			return true
		case known && (last == 0 && n > 0 || last == 1 && name != "poisson_lpmf" && n < most):
			return true
		}
	}
	return false
}

// holds reports whether the element of a written vector is a number, such as 0 in
// [0, phi, 1 - phi]'.
func (d *denial) holds(number float64, at, vector ast.Expr) bool {
	n, ok := d.value(at)
	if c, is := ast.Unparen(vector).(*ast.Cond); is && ok {
		x, ok := d.value(c.Cond)
		return ok && (x != 0 && d.holds(number, at, c.Then) || x == 0 && d.holds(number, at, c.Else))
	}
	t, is := ast.Unparen(vector).(*ast.Unary)
	if !ok || !is || t.Op != "'" {
		return false
	}
	row, is := ast.Unparen(t.X).(*ast.RowVectorExpr)
	if !is || n < 1 || int(n) > len(row.Elems) {
		return false
	}
	x, ok := d.value(row.Elems[int(n)-1])
	return ok && x == number
}

// nothing reports whether an expression is 0, as the logarithm of a density.
func (d *denial) nothing(e ast.Expr) bool {
	if x, ok := d.value(e); ok {
		return x == 0
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Cond:
		if c, ok := d.value(e.Cond); ok && c != 0 {
			return d.nothing(e.Then)
		} else if ok {
			return d.nothing(e.Else)
		}
	case *ast.Binary:
		return e.Op == "+" && d.nothing(e.X) && d.nothing(e.Y)
	case *ast.CallExpr:
		c := d.t.p.info.Calls[e]
		return c != nil && c.Func == nil && strings.HasSuffix(c.Name, "_lpmf") && d.one(c.Name, e.Args)
	}
	return false
}

// one reports whether the mass of values is 1: the probability or rate allows no others.
func (d *denial) one(name string, args []ast.Expr) bool {
	if name == "categorical_lpmf" {
		return d.holds(1, args[0], args[1])
	}
	ns, ok := d.values(args[0])
	last, known := d.value(args[len(args)-1])
	switch {
	case !ok || !known || !edges[name]:
		return false
	case last == 0:
		return !slices.ContainsFunc(ns, func(n float64) bool { return n != 0 })
	}
	return last == 1 && name == "bernoulli_lpmf" && !slices.ContainsFunc(ns, func(n float64) bool { return n != 1 })
}

// edges are distributions whose last argument is a probability or a rate, which may be 0.
var edges = map[string]bool{"bernoulli_lpmf": true, "binomial_lpmf": true, "poisson_lpmf": true}
