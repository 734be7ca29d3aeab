package marginal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/printer"
)

// observed returns the declarations of the observations in the model block.
func observed(f *ast.File, names []string) (out []*ast.VarDecl) {
	b := f.Block(ast.Model)
	if b == nil || len(names) == 0 {
		return nil
	}
	for _, s := range b.Stmts {
		if d, ok := s.(*ast.VarDecl); ok && slices.Contains(names, d.Name.Name) {
			out = append(out, d)
		}
	}
	return out
}

// observations returns them as generated quantities.
func (p *program) observations() (out []ast.Stmt) {
	for _, d := range observed(p.tree, p.o.Observations) {
		out = append(out, clone(ast.Stmt(d), nil))
	}
	return out
}

// observation returns the variable with observations to which a statement adds; nil if it is none.
func (p *program) observation(s ast.Stmt) *check.Var {
	a, ok := s.(*ast.Assign)
	if !ok || len(p.o.Observations) == 0 {
		return nil
	}
	t, ok := root(a.LHS)
	if !ok {
		return nil
	}
	v := p.info.Uses[t]
	for _, d := range observed(p.tree, p.o.Observations) {
		if p.info.Defs[d] == v {
			return v
		}
	}
	return nil
}

// term is what statements add to an observation.
type term struct{ to, value ast.Expr }

// either returns a conditional that a discrete parameter decides, with what it adds to observations
// as statements behind it: each observation is one factor. Local variables are replaced by their
// values. It returns nil if there is no observation, or if statements change variables.
func (s *splitter) either(st *ast.If) []ast.Stmt {
	rest, terms, ok := s.terms([]ast.Stmt{st})
	if !ok || len(terms) == 0 {
		return nil
	}
	for _, t := range terms {
		rest = append(rest, builder{st.Span()}.assign(t.to, "+=", t.value))
	}
	return rest
}

// addsToElements reports whether a statement adds to observations, each time to one.
func (s *splitter) addsToElements(st ast.Stmt) bool {
	if len(s.seen) == 0 {
		return false
	}
	found, one := false, true
	ast.Inspect(st, func(n ast.Node) bool {
		if a, ok := n.(*ast.Assign); ok {
			if v, ok := root(a.LHS); ok && slices.Contains(s.seen, v.Name) {
				found, one = true, one && s.scalar(a.LHS)
			}
		}
		return true
	}, nil)
	return found && one
}

// terms separates what statements add to observations. It fails if statements change variables.
func (s *splitter) terms(ss []ast.Stmt) (rest []ast.Stmt, out []term, ok bool) {
	find := func(in []term, to ast.Expr) int {
		return slices.IndexFunc(in, func(t term) bool { return printer.String(t.to) == printer.String(to) })
	}
	local := map[string]ast.Expr{}
	for _, st := range ss {
		b := builder{st.Span()}
		if len(local) > 0 {
			st = clone(st, func(n ast.Node) ast.Node {
				if v, ok := n.(*ast.VarExpr); ok && local[v.Name] != nil {
					return &ast.Paren{Base: v.Base, X: clone(local[v.Name], nil)}
				}
				return n
			})
		}
		add := func(t term) {
			if i := find(out, t.to); i >= 0 {
				out[i].value = b.op("+", out[i].value, t.value)
			} else {
				out = append(out, t)
			}
		}
		switch st := st.(type) {
		case *ast.Assign:
			v, ok := root(st.LHS)
			if !ok || !slices.Contains(s.seen, v.Name) || st.Op != "+=" {
				return nil, nil, false
			}
			add(term{st.LHS, st.RHS})
		case *ast.If:
			var parts [2][]ast.Stmt
			var terms [2][]term
			for k, branch := range []ast.Stmt{st.Then, st.Else} {
				if branch == nil {
					continue
				}
				if parts[k], terms[k], ok = s.terms(statements(branch)); !ok {
					return nil, nil, false
				}
			}
			if len(parts[0])+len(parts[1]) > 0 {
				c := *st
				c.Then, c.Else = b.block(parts[0]...), nil
				if len(parts[1]) > 0 {
					c.Else = b.block(parts[1]...)
				}
				rest = append(rest, &c)
			}
			either := func(to, yes, no ast.Expr) {
				add(term{to, &ast.Paren{Base: b.base(), X: &ast.Cond{Base: b.base(), Cond: clone(st.Cond, nil), Then: yes, Else: no}}})
			}
			for _, t := range terms[0] {
				no := b.int(0)
				if i := find(terms[1], t.to); i >= 0 {
					no = terms[1][i].value
					terms[1] = slices.Delete(terms[1], i, i+1)
				}
				either(t.to, t.value, no)
			}
			for _, t := range terms[1] {
				either(t.to, b.int(0), t.value)
			}
		case *ast.BlockStmt:
			r, ts, ok := s.terms(st.Stmts)
			if !ok {
				return nil, nil, false
			}
			rest = append(rest, r...)
			for _, t := range ts {
				add(t)
			}
		case *ast.VarDecl:
			if st.Init == nil {
				return nil, nil, false
			}
			local[st.Name.Name] = st.Init
		case *ast.Tilde, *ast.TargetPlus, *ast.Empty:
			rest = append(rest, st)
		default:
			return nil, nil, false
		}
	}
	return rest, out, true
}

// tagged reports whether the instances of a pattern are observations.
func (pat *pattern) tagged() bool { return len(pat.instances) > 0 && pat.instances[0].tag != nil }

// tag evaluates the indices of an observation.
func (t *tracer) tag(a *ast.Assign) ([]int64, error) {
	out := []int64{}
	e, ok := a.LHS.(*ast.IndexExpr)
	if !ok {
		return out, nil
	}
	for _, i := range e.Indices {
		s, ok := i.(*ast.Single)
		if !ok {
			return nil, t.p.errorf(diag.DiscreteUse, i.Span(), "an observation has one index in each dimension", "", "")
		}
		n, known, err := t.int(s.X)
		if err != nil {
			return nil, err
		}
		if !known {
			return nil, t.p.errorf(diag.DiscreteUse, s.Span(), "which observation this is, is not known before the run", "", "let data decide the index")
		}
		out = append(out, n)
	}
	return out, nil
}

// observation returns the element of the observation that a factor is.
func (w *writer) observation(pat *pattern, c counter, all []factor) ast.Expr {
	a := pat.leaf.stmt().(*ast.Assign)
	t, _ := root(a.LHS)
	var is []ast.Expr
	for d := range pat.instances[0].tag {
		ns := make([]int64, len(all))
		for i, f := range all {
			ns[i] = pat.instances[f.instance].tag[d]
		}
		is = append(is, w.of(c, ns))
	}
	return w.at(w.name(t.Name), is...)
}

// observedOnce checks that each observation is one factor.
func (p *program) observedOnce(patterns []*pattern) error {
	seen := map[string]bool{}
	for _, pat := range patterns {
		if !pat.tagged() {
			continue
		}
		t, _ := root(pat.leaf.stmt().(*ast.Assign).LHS)
		for _, in := range pat.instances {
			name := t.Name
			for _, i := range in.tag {
				name += fmt.Sprintf(".%d", i)
			}
			if seen[name] {
				stem, rest, _ := strings.Cut(name, ".")
				return p.errorf(diag.DiscreteUse, pat.leaf.stmt().Span(), "several statements with discrete parameters are about the same observation, that of %s[%s]",
					"Its density without the discrete parameters is one sum over all of them.", "write one statement for each observation, or log_lik in generated quantities",
					stem, strings.ReplaceAll(rest, ".", ", "))
			}
			seen[name] = true
		}
	}
	return nil
}

// probabilities returns the declarations of the probabilities and of the most likely value for each
// discrete parameter.
func (p *program) probabilities() (out []ast.Stmt) {
	for d := range Declared(p.tree, p.info) {
		b := builder{d.Span()}
		u := p.byVar[p.info.Defs[d]]
		if p.indicators[d.Name.Name] || p.info.Defs[d].Missing && (u == nil || len(u.holes.cells) == 0) {
			continue
		}
		var lo, hi ast.Expr
		for _, bound := range d.Type.Bounds {
			if !bound.Restricts() {
				continue
			}
			if bound.Kind == "lower" {
				lo = p.extreme(b, bound.Value, "min")
			} else {
				hi = p.extreme(b, bound.Value, "max")
			}
		}
		if hi == nil {
			last := int64(0) // not known before the data
			if u != nil {
				for _, el := range p.elements[u.first:] {
					if el.of == u {
						last = max(last, el.hi)
					}
				}
			}
			hi = b.int(last)
		}
		size := b.plus(b.op("-", hi, lo), 1)
		if n, ok := literal(lo); ok {
			size = b.plus(hi, 1-n)
		}
		dims := func() (out []ast.Expr) {
			if u != nil && u.holes != nil {
				return []ast.Expr{b.int(int64(len(u.holes.cells)))}
			}
			for _, e := range d.Type.ArrayDims {
				out = append(out, clone(e, nil))
			}
			return out
		}
		rows := func(inner ...ast.Expr) (out []ast.Expr) {
			if u != nil && u.holes != nil {
				return nil
			}
			for _, e := range d.Rows {
				out = append(out, clone(e, nil))
			}
			if out != nil {
				out = append(out, inner...)
			}
			return out
		}
		probability := b.declare(dims(), "vector", []ast.Expr{size}, d.Name.Name+probabilitySuffix, nil)
		mode := b.declare(dims(), "int", nil, d.Name.Name+modeSuffix, nil)
		probability.Rows, mode.Rows = rows(clone(size, nil)), rows()
		out = append(out, probability, mode)
	}
	return out
}

// extreme returns the least or greatest of the bounds of a parameter.
func (p *program) extreme(b builder, bound ast.Expr, f string) ast.Expr {
	x := clone(ast.Unparen(bound), nil)
	if p.info.Types[bound].Type.IsScalar() {
		switch x.(type) {
		case *ast.IntLit, *ast.VarExpr:
			return x
		}
		return &ast.Paren{Base: b.base(), X: x}
	}
	none := b.op("==", b.call("num_elements", clone(x, nil)), b.int(0))
	return &ast.Paren{Base: b.base(), X: &ast.Cond{Base: b.base(), Cond: none, Then: b.int(0), Else: b.call(f, b.call("to_array_1d", x))}}
}

// assignProbabilities returns statements that store the probabilities of the values of an element.
func (w *writer) assignProbabilities(g *group, c counter, q clique, lp string) []ast.Stmt {
	u := g.unknowns[0]
	if w.p.indicators[u.name] {
		return nil
	}
	shift := column(g, func(r *row) int64 { return w.p.elements[r.clique[0]].lo - u.least })
	to := w.at(w.name(u.name+probabilitySuffix), w.indices(g, c, 0)...)
	all := w.at(clone(to, nil))
	e := &ast.IndexExpr{Base: w.base(), X: w.name(u.name + probabilitySuffix)}
	for _, i := range w.indices(g, c, 0) {
		e.Indices = append(e.Indices, w.single(i))
	}
	from := w.plus(w.of(c, shift), 1)
	last := w.op("+", w.of(c, shift), w.from1(q.hi[0], q.lo[0]))
	e.Indices = append(e.Indices, &ast.Range{Base: w.base(), From: from, To: last})
	size := w.call("size", clone(all, nil))
	return []ast.Stmt{
		w.assign(all, "=", w.call("rep_vector", w.int(0), size)),
		w.assign(e, "=", w.call("softmax", w.name(lp))),
	}
}
