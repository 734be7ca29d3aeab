package marginal

import (
	"errors"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// Split is a program whose statements about containers of discrete parameters are loops. It does
// not depend on data.
type Split struct {
	tree  *ast.File
	info  *check.Info
	ir    *ir.Program
	nodes *ir.Nodes
	names *names
	taint map[*check.Var]bool
	o     Options

	indicators map[string]bool // indicators of components, see mixed
}

// Purpose says what the program without discrete parameters computes.
type Purpose uint8

// The purposes; package compile explains them.
const (
	Summed Purpose = iota
	DrawnOnly
	LeaveOneOut
	Probabilities
)

// Options of [Prepare].
type Options struct {
	Purpose      Purpose
	Observations []string // for LeaveOneOut: the variables with the observations

	// Of maps these to the variables of the data that they are about, as far as it is known.
	Of map[string]string

	// Level is the number of times that the number of values of counts is doubled.
	Level int
}

// Derived reports whether the program computes something for draws that another one has made.
func (s *Split) Derived() bool { return s.o.Purpose == DrawnOnly }

// IR returns the typed program, whose parameters include the discrete ones.
func (s *Split) IR() *ir.Program { return s.ir }

// Prepare splits a checked program with discrete parameters.
func Prepare(f *ast.File, info *check.Info, u check.Universe, o Options) (*Split, error) {
	s := &splitter{info: info, taint: tainted(f, info, o.Observations), names: namesOf(f), seen: o.Observations}
	s.measure(f)
	// Each step needs the types of what the step before has written.
	tree, again := f, info
	opened := func() *ast.File { return s.opened(tree) }
	for _, step := range []func() *ast.File{
		opened, opened, opened, opened, // functions call others
		func() *ast.File { return s.sized(tree) },
		func() *ast.File { return s.pushed(tree) },
		func() *ast.File { return s.file(tree) },
		func() *ast.File { return inlined(tree, s) },
		func() *ast.File { return s.mixed(tree) },
		func() *ast.File { return joined(tree, again).(*ast.File) },
	} {
		next := step()
		if next == tree {
			continue
		}
		tree = clone(next, nil)
		var list diag.List
		if again, list = check.Check(tree, u); list.HasErrors() {
			return nil, &Error{List: list.Errors()}
		}
		s.info, s.taint = again, tainted(tree, again, o.Observations)
		s.measure(tree)
	}
	p := &program{tree: tree, info: again, taint: s.taint}
	if p.jacobians(); len(p.found) > 0 {
		return nil, &Error{List: p.found}
	}
	out := &Split{tree: tree, info: again, names: s.names, taint: s.taint, o: o, indicators: s.indicators}
	out.ir, out.nodes = ir.LowerNodes(tree, again, u)
	return out, nil
}

// measure finds the declared sizes of variables that depend on discrete parameters, and of others
// whose values are not known before the run. It also finds the bounds of discrete parameters.
func (s *splitter) measure(f *ast.File) {
	s.sizes, s.bounds = map[*check.Var][]ast.Expr{}, map[*check.Var]map[string]ast.Expr{}
	for d := range Declared(f, s.info) {
		s.bounds[s.info.Defs[d]] = map[string]ast.Expr{}
		for _, b := range d.Type.Bounds {
			s.bounds[s.info.Defs[d]][b.Kind] = b.Value
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if d, ok := n.(*ast.VarDecl); ok {
			v, sizes := s.info.Defs[d], slices.Concat(d.Type.ArrayDims, d.Type.Sizes)
			if len(sizes) > 0 && (s.taint[v] || v.Block >= ast.Parameters && !slices.ContainsFunc(sizes, s.unknown)) {
				s.sizes[v] = sizes
			}
		}
		return true
	}, nil)
}

// unknown reports whether an expression reads anything but data.
func (s *splitter) unknown(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if v, ok := n.(*ast.VarExpr); ok {
			u := s.info.Uses[v]
			found = found || u == nil || u.Loop || u.Block > ast.TransformedData
		}
		return !found
	}, nil)
	return found
}

// joined returns a tree with x[i, j] for x[i][j], where i is one index.
func joined(n ast.Node, info *check.Info) ast.Node {
	m := ast.Map(n, func(n ast.Node) ast.Node { return joined(n, info) })
	e, ok := n.(*ast.IndexExpr)
	if !ok {
		return m
	}
	inner, ok := ast.Unparen(e.X).(*ast.IndexExpr)
	if !ok {
		return m
	}
	for _, i := range inner.Indices {
		if s, ok := i.(*ast.Single); !ok || !info.Types[s.X].Type.IsScalar() {
			return m
		}
	}
	now := m.(*ast.IndexExpr)
	in, ok := ast.Unparen(now.X).(*ast.IndexExpr)
	if !ok {
		return m
	}
	return &ast.IndexExpr{Base: e.Base, X: in.X, Indices: slices.Concat(in.Indices, now.Indices)}
}

// Interface returns the program that others see before data are known: the discrete parameters, and
// what is computed from them, are generated quantities.
func (s *Split) Interface() *ast.File {
	p := &program{tree: s.tree, info: s.info, taint: s.taint, names: s.names, o: s.o, indicators: s.indicators, copies: map[ast.Node]*check.Var{}}
	return p.written(nil, nil, nil, nil, true)
}

// Result is a program without discrete parameters.
type Result struct {
	Tree  *ast.File
	Steps []Step           // for reports
	Least map[string]int64 // the lowest bound of the elements of each discrete parameter
	Holes []Hole           // data with missing elements
	Cuts  []Cut            // discrete parameters without an upper bound
	level int
	sized bool // it has the probabilities of values

	vectors map[string]bool // with the terms of sums all of which may be -inf, see Unmarked
	total   string          // the name of a function that adds them
}

// Step describes the elimination of the elements of a group.
type Step struct {
	Variable string
	Elements int  // the number of elements that are summed out in this way
	Sums     int  // the number of different sums among theirs; 0: data leave each element one value
	Around   int  // the number of other elements that each sum depends on
	Terms    int  // the number of terms of the largest of these sums, over all values of the others
	Taken    int  // the number of different sums that are messages of other steps
	Total    int  // the number of terms of the rest of the different sums
	Chain    bool // a sum needs the one before
	Running  bool // running sums add up factors that read the element through comparisons alone

	// Clique names the elements of the largest of these sums: the one that is summed out, and those
	// that the sum depends on, in the order in which they are summed out.
	Clique []string
}

// Rewrite sums the discrete parameters out, for known data. Counts have the values of a level, and
// overflows where the last terms of a sum do not show what follows them.
func (s *Split) Rewrite(known *interp.Known, budget *ad.Budget, level int) (*Result, error) {
	r, err := s.rewrite(known, budget, level, false)
	var e *Error
	if errors.As(err, &e) && e.unchecked {
		return s.rewrite(known, budget, level, true)
	}
	return r, err
}

func (s *Split) rewrite(known *interp.Known, budget *ad.Budget, level int, overflow bool) (*Result, error) {
	p := &program{
		overflow: overflow,
		tree:     s.tree, info: s.info, ir: s.ir, nodes: s.nodes, known: known, budget: budget, taint: s.taint, o: s.o, indicators: s.indicators,
		copies: map[ast.Node]*check.Var{},
		names:  &names{used: map[string]bool{}},
	}
	p.o.Level = level
	for n := range s.names.used {
		p.names.used[n] = true
	}
	if err := p.unknownsOf(); err != nil {
		return nil, err
	}
	if b := p.tree.Block(ast.TransformedParameters); b != nil {
		for _, s := range b.Stmts {
			if d := p.without(s, false); d != nil && p.touches(s) {
				p.derived = append(p.derived, d)
			}
		}
	}
	p.fix()
	leaves, kept := p.collect()
	for _, l := range leaves {
		p.check(l)
		p.settled(l)
	}
	if len(p.found) > 0 {
		return nil, &Error{List: p.found}
	}
	if err := p.once(leaves, kept); err != nil {
		return nil, err
	}
	patterns, err := p.trace(leaves)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(p.unknowns, func(u *unknown) bool { return u.counted }) {
		if err := p.examine(patterns); err != nil {
			return nil, err
		}
		if err := p.lengthen(patterns); err != nil {
			return nil, err
		}
		if patterns, err = p.trace(leaves); err != nil {
			return nil, err
		}
	}
	same := p.contents()
	var before *traced
	if p.determine(patterns, same) {
		before = &traced{patterns, same}
		if patterns, err = p.trace(leaves); err != nil {
			return nil, err
		}
		same = p.contents()
	}
	if p.overflow {
		if err := p.overflows(patterns); err != nil {
			return nil, err
		}
	}
	for _, pat := range patterns {
		for _, k := range p.axesOf(pat) {
			p.shaped(pat, k)
		}
	}
	constants, patterns := apart(patterns)
	p.prune(patterns)
	if err := p.undefined(patterns); err != nil {
		return nil, err
	}
	steps, blocks, err := p.plan(patterns, same, before)
	if err != nil {
		return nil, err
	}
	if err := p.unbounded(steps); err != nil {
		return nil, err
	}
	if err := p.eachOnce(patterns, blocks); err != nil {
		return nil, err
	}
	merged := p.merge(steps, blocks, patterns, same, before)
	w := &writer{p: p, steps: steps, blocks: blocks, merged: merged, arrays: map[string]string{}, stem: p.names.stem("index"), possible: map[factor]*table{}}
	for _, t := range p.tables(patterns, same, false) {
		w.possible[t.factor] = t
	}
	for _, g := range slices.Concat(slices.Concat(blocks...), slices.Concat(merged...)) {
		g.selectors = map[int]*selector{}
		for k := range g.kinds {
			g.selectors[k] = p.selectorOf(g, k)
		}
		g.regions = w.regions(g)
	}
	for d := range Declared(p.tree, p.info) {
		w.pos = d.Name.Span()
		break
	}
	if n := groups(blocks); n > maxGroups {
		return nil, p.errorf(diag.DiscreteWidth, w.pos, "the discrete parameters depend on one another without any regularity: %d sums of different form", "", "give similar elements similar statements", n)
	}
	w.frees()
	if p.o.Purpose != Summed {
		if err := p.observedOnce(patterns); err != nil {
			return nil, err
		}
		quantities := p.locals(kept)
		switch p.o.Purpose {
		case DrawnOnly:
			quantities = slices.Concat(quantities, w.concealed(), w.draws(drawing))
		case LeaveOneOut:
			quantities = slices.Concat(quantities, w.plain(constants, same), w.outside())
		case Probabilities:
			quantities = append(quantities, w.builder.block(w.outside()...), w.builder.block(slices.Concat(w.concealed(), w.draws(maximising))...))
		}
		least := map[string]int64{}
		for _, u := range p.unknowns {
			least[u.name] = u.least
		}
		var whole []ast.Stmt
		if p.o.Purpose == DrawnOnly {
			whole = w.assembled()
		}
		return &Result{Tree: w.written(nil, quantities, whole), Steps: w.report(), Least: least, Holes: p.holed(), Cuts: w.cuts(), level: level, sized: p.o.Purpose == Probabilities}, nil
	}
	marks := slices.Concat(w.marked(), w.singles())
	w.sharing = newSharing(slices.Concat(constants, patterns))
	density, _ := w.density(true, drawing)
	density = slices.Concat(w.plain(constants, same), density)
	density = slices.Concat(w.sharing.statements(w), density)
	w.sharing = nil
	density = append(density, w.judged()...)
	cuts := w.cuts()
	w.marks, w.bare = nil, nil
	model := slices.Concat(marks, kept, density)
	draws := slices.Concat(p.locals(kept), w.concealed(), w.draws(drawing))
	whole := w.assembled()
	out := &Result{Tree: w.written(model, draws, whole), Steps: w.report(), Holes: p.holed(), Cuts: cuts, level: level}
	if slices.ContainsFunc(patterns, p.denies) {
		out.vectors, out.total = w.vectors, p.names.fresh("log_total")
	}
	return out, nil
}

// examine finds out how the sums over counts bound what they leave out.
func (p *program) examine(patterns []*pattern) (err error) {
	if p.overflow = p.overflow || slices.ContainsFunc(patterns, func(pat *pattern) bool { return len(p.axesOf(pat)) > 1 }); p.overflow {
		return p.overflows(patterns)
	}
	p.turns, err = p.shapes(patterns)
	return err
}

// maxGroups bounds the length of the written program.
const maxGroups = 2000

// check refuses what a leaf cannot do.
func (p *program) check(l *leaf) {
	for _, s := range l.code {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Assign:
				if p.observation(n) != nil && n != l.stmt() {
					p.refuse(diag.DiscreteUse, n.Span(), "no density of an observation alone can be derived here", "A discrete parameter decides whether or how often this statement runs, and it changes variables.",
						"compute the value in one expression, or log_lik in generated quantities")
				}
			case *ast.CallStmt:
				p.refuse(diag.DiscreteUse, n.Span(), "this call gets a discrete parameter, and its function cannot be written out here", "A sum over the parameter needs the term of each value. Functions in _lp without return are written out.",
					"leave return out of the function, or make it a function with a result, and write target += …")
			case *ast.CallExpr:
				if strings.HasSuffix(n.Func.Name, "_lp") {
					p.refuse(diag.DiscreteUse, n.Span(), "this call is in a statement about a discrete parameter, and may add to the target", "A sum over the parameter needs the term of each value.",
						"make it a function without the suffix _lp, and write target += …")
				}
			case *ast.Target:
				p.refuse(diag.DiscreteUse, n.Span(), "target() has no value together with a discrete parameter", "", "leave it out")
			case *ast.Print, *ast.Reject:
				p.refuse(diag.DiscreteUse, n.Span(), "a statement about discrete parameters cannot print or reject", "It runs for every value of the parameter, not for one.", "print or check in generated quantities")
			case *ast.Tilde:
				if c := p.info.Calls[n]; n.Trunc != nil && (c == nil || len(c.Match.Params) == 0 || c.Match.Params[0].Kind == types.Int || c.Func != nil) {
					p.refuse(diag.DiscreteUse, n.Trunc.Span(), "this truncated distribution of integers involves a discrete parameter, and cannot be written out here", "", "write the normalised mass, as in target += poisson_lpmf(N | lambda) - poisson_lccdf(0 | lambda)")
				}
			}
			return true
		}, nil)
	}
}

// jacobians refuses what transformed parameters add to the Jacobian for values of discrete
// parameters: a change of variables is the same for all of them.
func (p *program) jacobians() {
	b := p.tree.Block(ast.TransformedParameters)
	if b == nil {
		return
	}
	var visit func(n ast.Node, under bool)
	visit = func(n ast.Node, under bool) {
		adds := false
		switch n := n.(type) {
		case *ast.If:
			under = under || p.involved(n.Cond)
		case *ast.For:
			under = under || p.involved(n.From) || p.involved(n.To)
		case *ast.ForEach, *ast.While, *ast.Profile:
			under = under || p.touches(n.(ast.Stmt))
		case *ast.TargetPlus:
			adds = true
		case *ast.CallExpr:
			adds = strings.HasSuffix(n.Func.Name, "_jacobian")
		}
		if adds && (under || p.involved(n)) {
			p.refuse(diag.DiscreteUse, n.Span(), "the Jacobian cannot depend on a discrete parameter", "A change of variables is the same for all values of the parameter.",
				"move the term to the model block, with target +=")
			return
		}
		for c := range ast.Children(n) {
			visit(c, under)
		}
	}
	visit(b, false)
}

// apart separates the factors that read no element.
func apart(all []*pattern) (constants, factors []*pattern) {
	for _, p := range all {
		if len(p.instances[0].elements) == 0 {
			constants = append(constants, p)
		} else {
			factors = append(factors, p)
		}
	}
	return constants, factors
}

// plain returns the statements of factors that read no element.
func (w *writer) plain(constants []*pattern, same *contents) []ast.Stmt {
	var out []ast.Stmt
	for _, pat := range constants {
		if !pat.tagged() && w.p.o.Purpose == LeaveOneOut {
			continue // the same with and without an observation
		}
		g := &group{segments: []int{0}}
		var all []factor
		var times []int64
		first := map[int]int{}
		for i, n := range same.all(pat) {
			if k, ok := first[n]; ok {
				times[k]++
				continue
			}
			first[n] = len(all)
			g.rows = append(g.rows, row{number: int64(len(all) + 1)})
			all, times = append(all, factor{pattern: pat, instance: i}), append(times, 1)
		}
		out = append(out, w.looped(block{g}, false, func(_ *group, c counter) []ast.Stmt {
			before, value := w.value(&kind{pattern: pat}, c, all, clique{}, messages{})
			if pat.tagged() {
				return append(before, w.assign(w.observation(pat, c, all), "+=", value))
			}
			return append(before, w.target(w.multiplied(c, times, value)))
		}))
	}
	return out
}

// locals returns what generated quantities need of the model block: the variables that it computes.
func (p *program) locals(kept []ast.Stmt) []ast.Stmt {
	var out []ast.Stmt
	for _, s := range kept {
		if s = p.withoutTargets(s); s != nil {
			out = append(out, clone(s, nil))
		}
	}
	return out
}

// written returns the program with these statements, and what they need.
func (w *writer) written(model, draws, whole []ast.Stmt) *ast.File {
	out := w.p.written(w.tables, model, draws, whole, false)
	helpers := w.helpers()
	if len(helpers) == 0 {
		return out
	}
	if b := out.Block(ast.Functions); b != nil {
		b.Stmts = slices.Concat(b.Stmts, helpers)
	} else {
		out.Blocks = slices.Concat([]*ast.Block{{Kind: ast.Functions, Stmts: helpers}}, out.Blocks)
	}
	return out
}

// written returns the program with these additions. whole are the statements that follow draws.
// With outside it has no model.
func (p *program) written(tables, model, draws, whole []ast.Stmt, outside bool) *ast.File {
	out := *p.tree
	out.Blocks = nil
	have := map[ast.BlockKind]*ast.Block{}
	for _, b := range p.tree.Blocks {
		have[b.Kind] = b
	}
	var declared, moved []ast.Stmt
	for k := ast.Functions; k <= ast.GeneratedQuantities; k++ {
		b := &ast.Block{Kind: k}
		if old := have[k]; old != nil {
			b = clone(old, nil)
		}
		old := have[k]
		switch k {
		case ast.TransformedData:
			b.Stmts = append(b.Stmts, tables...)
		case ast.Parameters:
			b.Stmts = nil
			if old == nil {
				break
			}
			for _, s := range old.Stmts {
				if d, ok := s.(*ast.VarDecl); ok && p.info.Defs[d].Discrete() {
					if p.indicators[d.Name.Name] {
						continue
					}
					declared = append(declared, clone(s, nil))
					continue
				}
				b.Stmts = append(b.Stmts, clone(s, nil))
			}
		case ast.TransformedParameters:
			if old == nil {
				break
			}
			b.Stmts = nil
			for _, s := range old.Stmts {
				if k := p.without(s, true); k != nil {
					b.Stmts = append(b.Stmts, clone(k, nil))
				}
				if m := p.without(s, false); m != nil && p.touches(s) {
					moved = append(moved, clone(m, nil))
				}
			}
		case ast.Model:
			b.Stmts = model
			if outside {
				b.Stmts = nil
			}
		case ast.GeneratedQuantities:
			var stmts []ast.Stmt
			switch p.o.Purpose {
			case LeaveOneOut:
				declared, moved = p.observations(), nil
			case Probabilities:
				declared, moved, b.Stmts = p.probabilities(), nil, nil
			default:
				for _, u := range p.unknowns {
					if u.holes != nil && len(u.holes.cells) > 0 {
						declared = append(declared, u.drawn(builder{u.decl.Span()}))
					}
				}
				moved, b.Stmts = p.completed(moved), p.completed(b.Stmts)
			}
			stmts = append(stmts, declared...)
			if len(draws) > 0 {
				stmts = append(stmts, builder{draws[0].Span()}.block(draws...))
			}
			b.Stmts = slices.Concat(stmts, whole, moved, b.Stmts)
		}
		if len(b.Stmts) > 0 || k == ast.Model {
			out.Blocks = append(out.Blocks, b)
		}
	}
	return &out
}

// touches reports whether a statement declares or assigns a variable that depends on discrete
// parameters.
func (p *program) touches(s ast.Stmt) bool { return p.defines(s, p.taint) }

// without returns a statement of transformed parameters without what assigns variables that depend
// on discrete parameters, or without what assigns others; nil if nothing is left.
func (p *program) without(s ast.Stmt, dependent bool) ast.Stmt {
	both := func(a ast.Stmt) ast.Stmt {
		if a == nil {
			return nil
		}
		return p.without(a, dependent)
	}
	switch s := s.(type) {
	case *ast.VarDecl:
		v := p.info.Defs[s]
		if p.taint[v] == dependent && (v.Global || dependent) {
			return nil
		}
	case *ast.Assign:
		for t := range ast.Targets(s.LHS) {
			v := p.info.Uses[t]
			if p.taint[v] == dependent && (v.Global || dependent) {
				return nil
			}
		}
	case *ast.BlockStmt:
		c := *s
		c.Stmts = nil
		for _, t := range s.Stmts {
			if t = p.without(t, dependent); t != nil {
				c.Stmts = append(c.Stmts, t)
			}
		}
		if len(c.Stmts) == 0 {
			return nil
		}
		return &c
	case *ast.For:
		c := *s
		if c.Body = both(s.Body); c.Body == nil || dependent && (p.involved(s.From) || p.involved(s.To)) {
			return nil
		}
		p.copies[&c] = p.def(s)
		return &c
	case *ast.If:
		c := *s
		c.Then, c.Else = both(s.Then), both(s.Else)
		if c.Then == nil && c.Else == nil || dependent && p.involved(s.Cond) {
			return nil
		}
		if c.Then == nil {
			c.Then = builder{s.Span()}.block()
		}
		return &c
	case *ast.ForEach, *ast.While, *ast.Profile:
		if p.touches(s) == dependent {
			return nil
		}
	default:
		if dependent && p.involved(s) {
			return nil
		}
	}
	return s
}

// report describes the groups.
func (w *writer) report() []Step {
	var out []Step
	for _, g := range slices.Concat(w.blocks...) {
		s := Step{Variable: g.unknowns[0].name, Elements: len(g.rows), Around: len(g.unknowns) - 1, Chain: g.chained}
		for _, sel := range g.selectors {
			s.Running = s.Running || sel != nil
		}
		for _, r := range g.rows {
			n := g.terms(w.p, r)
			if w.freely[r.clique[0]] {
				n = 1
			}
			if n > s.Terms {
				s.Clique = nil
				for _, e := range r.clique {
					s.Clique = append(s.Clique, w.p.name(e))
				}
			}
			s.Terms = max(s.Terms, n)
			if w.steps[r.step].same == r.step && !(len(g.kinds) == 0 && g.certain(w.p)) {
				s.Sums++
				if w.steps[r.step].of == nil {
					s.Total += n
				} else {
					s.Taken++
				}
			}
		}
		out = append(out, s)
	}
	return out
}
