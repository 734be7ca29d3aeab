package marginal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// instance is one factor: a leaf at values of its loops.
type instance struct {
	loops    []int64 // values of the loop variables, outermost first
	elements []int   // the elements that it reads, each once, in order of first use
	shifts   []int64 // for each index that varies within the instance: the number before its first value
	tag      []int64 // of an observation: the indices of its variable
	values   []int64 // of cells that data have, in a read with others
}

// pattern is a leaf with one way of reading elements. All instances of a pattern have the same
// code.
type pattern struct {
	leaf      *leaf
	loops     []*ast.For
	reads     []read // by occurrence of the leaf
	instances []instance

	parts map[int]map[ast.Stmt][]summand // of the terms of each statement, as functions of a count; see shaper
	tail  *bounds                        // what bounds it beyond the last values of counts; see overflows
}

// read says how an occurrence reads the elements of an instance.
type read struct {
	absent bool // the place is never reached
	given  bool // data have all that it reads
	dims   []dimension
	axes   []int // positions in instance.elements, the last dimension fastest; ^k is instance.values[k]
}

// dimension is what an occurrence selects of one dimension of a variable.
type dimension struct {
	kind  dimKind
	n     int // number of indices; 1 for one
	shift int // for varying: position in instance.shifts
}

type dimKind uint8

const (
	one     dimKind = iota // the same index throughout the instance
	listed                 // a known list of indices, all of which are read
	varying                // the index expression stays; the indices from shift+1 to shift+n may be read
)

// tracer runs leaves with known integers to find which elements each instance reads.
type tracer struct {
	p        *program
	eval     *interp.Evaluator
	set      map[*ir.Var]bool
	patterns map[string]*pattern
	order    []*pattern
	found    map[*occ]*selected // of the current instance
	steps    int
	values   map[*unknown][]int64 // of discrete parameters that were given values
}

// selected is what an occurrence reads in an instance, as far as it has run.
type selected struct {
	dims []span
}

type span struct {
	kind   dimKind
	list   []int64 // one: its only element
	lo, hi int64   // varying
}

// maxInstances bounds the number of factors.
const maxInstances = 20_000_000

// tracer returns a tracer that knows the data, but for integers that may be missing.
func (p *program) tracer() *tracer {
	t := &tracer{p: p, set: map[*ir.Var]bool{}, patterns: map[string]*pattern{}}
	t.eval = interp.NewEvaluator(p.ir, p.ir.NumVars, interp.Options{}, p.budget)
	p.known.Each(func(v *ir.Var, shape []int, ints []int64, reals []float64) {
		if v.Missing && v.Type.Kind == types.Int {
			return
		}
		t.eval.Set(v, interp.Number{Shape: shape, Ints: ints, Reals: reals})
		t.set[v] = true
	})
	return t
}

func (p *program) trace(leaves []*leaf) ([]*pattern, error) {
	t := p.tracer()
	for _, l := range leaves {
		if err := t.path(l, 0, nil, nil); err != nil {
			return nil, err
		}
	}
	return t.order, nil
}

// path runs the loops around a leaf.
func (t *tracer) path(l *leaf, at int, loops []*ast.For, values []int64) error {
	if at == len(l.path) {
		return t.instance(l, loops, values)
	}
	local := map[*ir.Var]bool{}
	for _, s := range l.before[at] {
		if err := t.exec(s, l, local); err != nil {
			return err
		}
	}
	switch s := l.path[at].(type) {
	case *ast.If:
		c, err := t.truth(s.Cond)
		if err != nil {
			return err
		}
		if c != l.then[at] {
			return nil
		}
		return t.path(l, at+1, loops, values)
	case *ast.For:
		from, ok, err := t.int(s.From)
		if err != nil {
			return err
		}
		to, ok2, err := t.int(s.To)
		if err != nil {
			return err
		}
		if !ok || !ok2 {
			return t.p.errorf(diag.DiscreteUse, s.Span(), "the end of this loop is not known before the run", "The loop has statements about a discrete parameter; they must be known when the model is bound to data.", "let data decide the bounds of the loop")
		}
		v := t.variable(s)
		t.set[v] = true
		defer delete(t.set, v)
		for i := from; i <= to; i++ {
			t.eval.SetInt(v, i)
			if err := t.path(l, at+1, append(loops, s), append(values, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// variable returns the variable of the typed program that a node declares.
func (t *tracer) variable(n ast.Node) *ir.Var {
	vs := t.p.nodes.Vars[t.p.def(n)]
	if len(vs) != 1 {
		return nil
	}
	return vs[0]
}

// known reports whether an expression has a known value now.
func (t *tracer) known(e ast.Expr) (*interp.Expression, bool) {
	x := t.p.nodes.Exprs[e]
	if x == nil || x.Type().Composite() {
		return nil, false
	}
	r := t.eval.Resolve(x)
	for _, v := range r.Vars {
		if !t.set[v] {
			return nil, false
		}
	}
	return r, true
}

// int evaluates an integer expression if it is known.
func (t *tracer) int(e ast.Expr) (int64, bool, error) {
	x, ok := t.known(e)
	if !ok || !x.IsInt() {
		return 0, false, nil
	}
	n, err := t.eval.Int(x)
	return n, true, t.failed(err)
}

// ints evaluates an array of integers if it is known.
func (t *tracer) ints(e ast.Expr) ([]int64, bool, error) {
	x, ok := t.known(e)
	if !ok {
		return nil, false, nil
	}
	n, err := t.eval.Value(x)
	return slices.Clone(n.Ints), true, t.failed(err)
}

// truth evaluates a condition that data decide.
func (t *tracer) truth(e ast.Expr) (bool, error) {
	x, ok := t.known(e)
	if !ok {
		return false, t.p.errorf(diag.DiscreteUse, e.Span(), "this condition is not known before the run", "", "let data decide it")
	}
	n, err := t.eval.Value(x)
	if err != nil {
		return false, t.failed(err)
	}
	if n.Ints != nil {
		return n.Ints[0] != 0, nil
	}
	return n.Reals[0] != 0, nil
}

// decided returns the value of a condition that data decide; ok is false for others. In t == 1 ||
// z[t - 1] == 1, t may decide alone.
func (t *tracer) decided(e ast.Expr) (value, ok bool, err error) {
	if _, ok := t.known(e); ok {
		value, err = t.truth(e)
		return value, true, err
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Unary:
		if e.Op == "!" {
			value, ok, err = t.decided(e.X)
			return !value, ok, err
		}
	case *ast.Binary:
		if e.Op != "&&" && e.Op != "||" {
			break
		}
		value, ok, err = t.decided(e.X)
		if ok && err == nil && value == (e.Op == "&&") {
			return t.decided(e.Y)
		}
		return value, ok, err
	}
	return false, false, nil
}

func (t *tracer) failed(err error) error {
	var e *interp.Error
	if errors.As(err, &e) {
		return &Error{List: diag.List{e.Diagnostic}}
	}
	return err
}

// instance runs the code of a leaf and adds its factor.
func (t *tracer) instance(l *leaf, loops []*ast.For, values []int64) error {
	if t.steps++; t.steps > maxInstances {
		return t.p.errorf(diag.DiscreteWidth, l.stmt().Span(), "there are more than %d factors of discrete parameters", "", "", maxInstances)
	}
	t.found = map[*occ]*selected{}
	local := map[*ir.Var]bool{}
	for _, s := range l.code {
		if err := t.exec(s, l, local); err != nil {
			return err
		}
	}
	for v := range local {
		delete(t.set, v)
	}
	in := instance{loops: slices.Clone(values)}
	if t.p.observation(l.stmt()) != nil {
		tag, err := t.tag(l.stmt().(*ast.Assign))
		if err != nil {
			return err
		}
		if in.tag = tag; t.p.lacks(l.stmt().(*ast.Assign), tag) {
			in.tag = nil
		}
	}
	var key strings.Builder
	fmt.Fprint(&key, l.id, in.tag != nil)
	reads := make([]read, len(l.occs))
	position := map[int]int{}
	for k, o := range l.occs {
		sel := t.found[o]
		r := &reads[k]
		if sel == nil {
			r.absent = true
			key.WriteString(";-")
			continue
		}
		elements := []int{0} // cells
		var shifts []int64
		for d, s := range sel.dims {
			dim := dimension{kind: s.kind, n: len(s.list), shift: -1}
			list := s.list
			if s.kind == varying {
				list = nil
				for i := s.lo; i <= s.hi; i++ {
					list = append(list, i)
				}
				dim.n, dim.shift = len(list), len(in.shifts)+len(shifts)
				shifts = append(shifts, s.lo-1)
			}
			var next []int
			for _, e := range elements {
				for _, i := range list {
					if i < 1 || i > int64(o.of.shape[d]) {
						return t.p.errorf(diag.IndexRange, o.node.Span(), "index %d of `%s` is not between 1 and %d", "", "", i, o.of.name, o.of.shape[d])
					}
					next = append(next, e*o.of.shape[d]+int(i-1))
				}
			}
			elements = next
			r.dims = append(r.dims, dim)
			fmt.Fprintf(&key, ";%d,%d", s.kind, dim.n)
		}
		if o.of.given(elements) {
			r.given = true
			key.WriteString("=")
			continue
		}
		in.shifts = append(in.shifts, shifts...)
		for _, cell := range elements {
			e, value, ok := o.of.at(cell)
			if !ok {
				key.WriteString(":=")
				r.axes = append(r.axes, ^len(in.values))
				in.values = append(in.values, value)
				continue
			}
			at, ok := position[e]
			if !ok {
				at = len(in.elements)
				position[e] = at
				in.elements = append(in.elements, e)
			}
			r.axes = append(r.axes, at)
			fmt.Fprintf(&key, ":%d", at)
		}
	}
	for _, e := range in.elements { // of which variable each is, and whether its bounds are
		fmt.Fprintf(&key, "/%d", t.p.elements[e].of.id)
	}
	k := key.String()
	pat := t.patterns[k]
	if pat == nil {
		pat = &pattern{leaf: l, loops: slices.Clone(loops), reads: reads}
		t.patterns[k] = pat
		t.order = append(t.order, pat)
	}
	pat.instances = append(pat.instances, in)
	return nil
}

// forget marks variables that statements assign as unknown.
func (t *tracer) forget(s ast.Stmt) {
	ast.Inspect(s, func(n ast.Node) bool {
		if a, ok := n.(*ast.Assign); ok {
			for v := range ast.Targets(a.LHS) {
				for _, x := range t.p.nodes.Vars[t.p.info.Uses[v]] {
					delete(t.set, x)
				}
			}
		}
		return true
	}, nil)
}

// store sets a local variable to the value of an expression if it is known.
func (t *tracer) store(v *ir.Var, e ast.Expr, local map[*ir.Var]bool) error {
	if v == nil {
		return nil
	}
	delete(t.set, v)
	if e == nil {
		return nil
	}
	x, ok := t.known(e)
	if !ok {
		return nil
	}
	n, err := t.eval.Value(x)
	if err != nil {
		return t.failed(err)
	}
	n = interp.Number{Shape: slices.Clone(n.Shape), Ints: slices.Clone(n.Ints), Reals: slices.Clone(n.Reals)}
	if n.Ints != nil && v.Type.Kind != types.Int {
		for _, i := range n.Ints {
			n.Reals = append(n.Reals, float64(i))
		}
		n.Ints = nil
	}
	t.eval.Set(v, n)
	t.set[v], local[v] = true, true
	return nil
}

// exec runs a statement as far as it is known, and notes what it reads.
func (t *tracer) exec(s ast.Stmt, l *leaf, local map[*ir.Var]bool) error {
	switch s := s.(type) {
	case *ast.VarDecl:
		if err := t.visit(s.Type, l); err != nil {
			return err
		}
		if s.Init != nil {
			if err := t.visit(s.Init, l); err != nil {
				return err
			}
		}
		return t.store(t.variable(s), s.Init, local)
	case *ast.Assign:
		if err := t.visit(s.RHS, l); err != nil {
			return err
		}
		if err := t.visit(s.LHS, l); err != nil {
			return err
		}
		if v, ok := s.LHS.(*ast.VarExpr); ok && s.Op == "=" {
			if vs := t.p.nodes.Vars[t.p.info.Uses[v]]; len(vs) == 1 {
				return t.store(vs[0], s.RHS, local)
			}
		}
		t.forget(s)
	case *ast.BlockStmt:
		for _, b := range s.Stmts {
			if err := t.exec(b, l, local); err != nil {
				return err
			}
		}
	case *ast.If:
		if c, ok, err := t.decided(s.Cond); err != nil {
			return err
		} else if ok && c {
			return t.exec(s.Then, l, local)
		} else if ok && s.Else != nil {
			return t.exec(s.Else, l, local)
		} else if ok {
			return nil
		}
		if err := t.visit(s.Cond, l); err != nil {
			return err
		}
		for _, b := range []ast.Stmt{s.Then, s.Else} {
			if b != nil {
				if err := t.exec(b, l, local); err != nil {
					return err
				}
				t.forget(b)
			}
		}
	case *ast.For:
		v := t.variable(s)
		from, ok, err := t.int(s.From)
		if err != nil {
			return err
		}
		to, ok2, err := t.int(s.To)
		if err != nil {
			return err
		}
		if ok && ok2 && !jumps(s.Body) {
			for i := from; i <= to; i++ {
				if t.steps++; t.steps > maxInstances {
					return t.p.errorf(diag.DiscreteWidth, s.Span(), "there are more than %d factors of discrete parameters", "", "", maxInstances)
				}
				t.eval.SetInt(v, i)
				t.set[v] = true
				if err := t.exec(s.Body, l, local); err != nil {
					return err
				}
			}
			delete(t.set, v)
			return nil
		}
		delete(t.set, v)
		for _, e := range []ast.Expr{s.From, s.To} {
			if err := t.visit(e, l); err != nil {
				return err
			}
		}
		t.forget(s)
		err = t.exec(s.Body, l, local)
		t.forget(s)
		return err
	case *ast.ForEach, *ast.While:
		t.forget(s)
		for c := range ast.Children(s) {
			if b, ok := c.(ast.Stmt); ok {
				if err := t.exec(b, l, local); err != nil {
					return err
				}
			} else if err := t.visit(c, l); err != nil {
				return err
			}
		}
		t.forget(s)
	default:
		return t.visit(s, l)
	}
	return nil
}

// visit notes what an expression reads.
func (t *tracer) visit(n ast.Node, l *leaf) error {
	switch e := n.(type) {
	case *ast.Cond:
		if c, ok, err := t.decided(e.Cond); err != nil {
			return err
		} else if ok && c {
			return t.visit(e.Then, l)
		} else if ok {
			return t.visit(e.Else, l)
		}
	case *ast.Binary:
		if e.Op == "&&" || e.Op == "||" {
			if c, ok, err := t.decided(e.X); err != nil || ok && c == (e.Op == "||") {
				return err
			} else if ok {
				return t.visit(e.Y, l)
			}
		}
	case *ast.IndexExpr:
		if u := t.p.unknownOf(e.X); u != nil {
			for _, i := range e.Indices {
				if err := t.visit(i, l); err != nil {
					return err
				}
			}
			return t.read(l, e)
		}
	case *ast.VarExpr:
		if u := t.p.unknownOf(e); u != nil {
			return t.read(l, e)
		}
	}
	for c := range ast.Children(n) {
		if err := t.visit(c, l); err != nil {
			return err
		}
	}
	return nil
}

// read notes the elements that an occurrence reads.
func (t *tracer) read(l *leaf, n ast.Expr) error {
	k := slices.IndexFunc(l.occs, func(o *occ) bool { return o.node == n })
	o := l.occs[k]
	sel := &selected{}
	for d, size := range o.of.shape {
		s := span{kind: listed}
		all := func() {
			for i := 1; i <= size; i++ {
				s.list = append(s.list, int64(i))
			}
		}
		if d >= len(o.indices) {
			all()
			sel.dims = append(sel.dims, s)
			continue
		}
		switch ix := o.indices[d].(type) {
		case *ast.Single:
			if t.p.info.Types[ix.X].Type.IsScalar() {
				i, ok, err := t.int(ix.X)
				if err != nil {
					return err
				}
				s = span{kind: one, list: []int64{i}}
				if !ok {
					s = span{kind: varying, lo: 1, hi: int64(size)}
					if lo, hi, ok := t.between(ix.X); ok {
						s.lo, s.hi = max(s.lo, lo), min(s.hi, hi)
					}
				}
			} else {
				list, ok, err := t.ints(ix.X)
				if err != nil {
					return err
				}
				if s.list = list; !ok {
					s = span{kind: varying, lo: 1, hi: int64(size)}
				}
			}
		case *ast.Range:
			from, to, ok := int64(1), int64(size), true
			for _, end := range []struct {
				e  ast.Expr
				to *int64
			}{{ix.From, &from}, {ix.To, &to}} {
				if end.e != nil {
					v, known, err := t.int(end.e)
					if err != nil {
						return err
					}
					*end.to, ok = v, ok && known
				}
			}
			if !ok {
				return t.p.errorf(diag.DiscreteUse, ix.Span(), "this range is not known before the run", "", "let data decide its ends")
			}
			for i := from; i <= to; i++ {
				s.list = append(s.list, i)
			}
		default:
			all()
		}
		sel.dims = append(sel.dims, s)
	}
	before := t.found[o]
	t.found[o] = sel
	if before == nil {
		return nil
	}
	for d := range sel.dims {
		a, b := before.dims[d], &sel.dims[d]
		switch {
		case a.kind == b.kind && slices.Equal(a.list, b.list) && a.kind != varying:
		case a.kind == listed || b.kind == listed:
			return t.p.errorf(diag.DiscreteUse, o.node.Span(), "this reads different parts of `%s` in one statement", "", "write a loop over the elements", o.of.name)
		default:
			lo, hi := a.ends()
			lo2, hi2 := b.ends()
			*b = span{kind: varying, lo: min(lo, lo2), hi: max(hi, hi2)}
		}
	}
	return nil
}

// between returns limits of an index that discrete parameters decide.
func (t *tracer) between(e ast.Expr) (lo, hi int64, ok bool) {
	e = ast.Unparen(e)
	if n, ok, err := t.int(e); ok && err == nil {
		return n, n, true
	}
	switch e := e.(type) {
	case *ast.VarExpr, *ast.IndexExpr:
		x := ast.Expr(e)
		if i, ok := e.(*ast.IndexExpr); ok {
			x = i.X
		}
		u := t.p.unknownOf(x)
		if u == nil {
			return 0, 0, false
		}
		lo, hi = t.p.range1(u)
		return lo, hi, true
	case *ast.Binary:
		a, b, ok := t.between(e.X)
		c, d, ok2 := t.between(e.Y)
		if !ok || !ok2 || max(-a, b, -c, d) > maxInstances {
			return 0, 0, false
		}
		switch e.Op {
		case "+":
			return a + c, b + d, true
		case "-":
			return a - d, b - c, true
		}
	}
	return 0, 0, false
}

func (s span) ends() (lo, hi int64) {
	if s.kind == one {
		return s.list[0], s.list[0]
	}
	return s.lo, s.hi
}

// decided reports whether data alone decide an expression, as far as its variables show.
func (p *program) decided(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		if v, is := n.(*ast.VarExpr); is {
			ok = ok && p.certain(p.info.Uses[v])
		}
		return ok
	}, nil)
	return ok
}

// certain reports whether a variable is data, transformed data, the variable of a loop, or an
// integer that is computed from these once.
func (p *program) certain(v *check.Var) bool {
	return v == nil || v.Block == ast.Data && !v.Discrete() || v.Block == ast.TransformedData || v.Loop && !p.taint[v] || p.fixed[v]
}

// fix finds the integers of the model block that are computed once, from data.
func (p *program) fix() {
	p.fixed = map[*check.Var]bool{}
	b := p.tree.Block(ast.Model)
	if b == nil {
		return
	}
	assigned := map[*check.Var]bool{}
	p.assigns(b, assigned)
	ast.Inspect(b, func(n ast.Node) bool {
		if d, ok := n.(*ast.VarDecl); ok && d.Init != nil {
			if v := p.info.Defs[d]; v.Type.Kind == types.Int && !assigned[v] && !p.taint[v] && p.decided(d.Init) {
				p.fixed[v] = true
			}
		}
		return true
	}, nil)
}
