package predict

import (
	"slices"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Summary is an expression that summarises data columns over all rows, such as mean(x), and that
// affects the distribution of observations. New rows change its value, so that (x - mean(x)) no
// longer means what it meant in the fit.
type Summary struct {
	Span source.Span
	Text string
	Of   []string // the summarised data variables

	node ast.Node
	sum  *check.Var // the variable in which node, a statement, adds up rows; nil for expressions
}

// summarised lists functions whose value depends on all elements of the first argument.
var summarised = map[string]bool{
	"mean": true, "sd": true, "variance": true, "sum": true, "prod": true, "min": true, "max": true, "quantile": true,
	"norm1": true, "norm2": true, "log_sum_exp": true, "dot_self": true, "columns_dot_self": true, "crossprod": true,
	"sort_asc": true, "sort_desc": true, "sort_indices_asc": true, "sort_indices_desc": true, "rank": true,
	"qr_Q": true, "qr_R": true, "qr": true, "qr_thin_Q": true, "qr_thin_R": true, "qr_thin": true,
	"svd": true, "svd_U": true, "svd_V": true, "singular_values": true,
}

// products lists functions that summarise if both arguments are data columns.
var products = map[string]bool{"dot_product": true, "columns_dot_product": true}

// summariser finds the summaries that terms depend on.
type summariser struct {
	*emitter
	rows   map[string]bool // texts of the outputs' first sizes
	seen   map[*check.Var]bool
	params map[*check.Func][]int // the arguments of a function that its body summarises
	counts map[*check.Var]bool   // numbers of rows: data that are sizes of data
	column func(*check.Var) bool // whether a variable has rows
	found  []Summary
}

func (e *emitter) summariser() *summariser {
	s := &summariser{emitter: e, column: isColumn, rows: map[string]bool{}, seen: map[*check.Var]bool{}, params: map[*check.Func][]int{}}
	if b := e.tree.Block(ast.Functions); b != nil {
		e.context(b)
	}
	for _, v := range e.variables {
		s.rows[firstSize(v)] = true
	}
	delete(s.rows, "")
	s.counts = map[*check.Var]bool{}
	if b := e.tree.Block(ast.Data); b != nil {
		for _, d := range b.Stmts {
			if v := e.info.Defs[d]; v != nil {
				s.sizes(v, func(u *check.Var) { s.counts[u] = true })
			}
		}
	}
	return s
}

// sizes calls f for each variable in the sizes of a declared variable.
func (s *summariser) sizes(v *check.Var, f func(*check.Var)) {
	d, ok := v.Decl.(*ast.VarDecl)
	if !ok || v.Type.Rank() == 0 {
		return
	}
	for _, size := range sizesOf(d.Type, v.Type) {
		if size == nil {
			continue
		}
		s.directly(size, func(u *check.Var) bool {
			f(u)
			return false
		})
	}
}

// terms finds the summaries on which the distributions of observations depend. If priors is set, it
// also finds those on which the distributions of parameters depend.
func (s *summariser) terms(priors bool) {
	for _, at := range s.order {
		terms := s.findings[at].terms
		if priors && len(terms) == 0 {
			s.walk(at)
		}
		for _, t := range terms {
			for _, a := range t.args {
				s.walk(a)
			}
			if t.trunc != nil {
				s.walk(t.trunc)
			}
			s.conditions(at)
			s.density(t)
		}
	}
}

// GeneratedSummaries lists the summaries that generated quantities combine with parameters, as in a
// + b * (x - mean(x)). With new data, such quantities may mean something else than in the fit.
func GeneratedSummaries(p *compile.Program) []Summary {
	tree, info := p.Syntax()
	b := tree.Block(ast.GeneratedQuantities)
	if b == nil {
		return nil
	}
	e := &emitter{analysis: analyse(tree, info, nil), kind: Replicated}
	e.context(b)
	for _, at := range b.Stmts {
		if d, ok := at.(*ast.VarDecl); ok && info.Defs[d] != nil {
			e.variables = append(e.variables, info.Defs[d])
		}
	}
	s := e.summariser()
	s.column = nil
	ast.Inspect(b, func(n ast.Node) bool {
		var value ast.Expr
		switch n := n.(type) {
		case *ast.VarDecl:
			value = n.Init
		case *ast.Assign:
			value = n.RHS
		}
		if value != nil && s.readsValues(value, s.isParameter) {
			s.walk(value)
			s.conditions(n.(ast.Stmt))
		}
		return true
	}, nil)
	return s.found
}

// firstSize returns the text of a variable's first size; "" if the variable is a scalar.
func firstSize(v *check.Var) string {
	if first := firstSizeOf(v); first != nil {
		return printer.Line(first)
	}
	return ""
}

// firstSizeOf returns a variable's first size; nil if the variable is a scalar.
func firstSizeOf(v *check.Var) ast.Expr {
	d, ok := v.Decl.(*ast.VarDecl)
	if !ok || v.Type.Rank() == 0 {
		return nil
	}
	if sizes := sizesOf(d.Type, v.Type); len(sizes) > 0 {
		return sizes[0]
	}
	return nil
}

// walk looks for summaries in everything that a node depends on.
func (s *summariser) walk(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && ofSizes[c.Func.Name] {
			return false
		}
		if e, ok := n.(ast.Expr); ok {
			if s.record(e, s.argumentsOf(e)) {
				return s.ofRows(e) // the rows of its argument may depend on summaries too
			}
			s.countsIn(e)
		}
		x, ok := n.(*ast.VarExpr)
		if !ok {
			return true
		}
		if v := s.info.Uses[x]; v != nil {
			s.variable(v)
		}
		return true
	}, nil)
}

// variable looks for summaries in everything on which the value of a variable depends.
func (s *summariser) variable(v *check.Var) {
	if s.seen[v] {
		return
	}
	s.seen[v] = true
	for _, a := range s.assigned[v] {
		s.walk(a.value)
		s.conditions(a.at)
		if of := s.accumulated(a, v, isColumn); len(of) > 0 && !s.readsValues(a.value, s.isParameter) {
			s.add(a.at, of, v)
		}
		s.countAssigned(v, a.value)
	}
}

// countAssigned adds the numbers of rows in an integer that becomes a real number.
func (s *summariser) countAssigned(v *check.Var, value ast.Expr) {
	if s.column != nil && v.Type.Scalar() == types.Real && s.typeOf(value).Kind == types.Int {
		s.count(value)
	}
}

// ofRows reports whether a summary has an element for each row of its argument.
func (s *summariser) ofRows(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	return ok && (byRow[c.Func.Name] || s.info.Calls[c] != nil && s.info.Calls[c].Func != nil && s.typeOf(c).Rank() > 0)
}

// countsIn adds the numbers of rows with which a real number or a container is computed, as in
// sqrt(N - 1). A parameter that is computed with one has no fixed meaning, so these are left.
func (s *summariser) countsIn(e ast.Expr) {
	if t := s.typeOf(e); s.column == nil || t.Kind == types.Int {
		return
	}
	var parts []ast.Expr
	switch e := e.(type) {
	case *ast.Binary:
		parts = []ast.Expr{e.X, e.Y}
	case *ast.CallExpr:
		call := s.info.Calls[e]
		if call == nil || call.Func != nil || conditional(e.Func.Name) || !s.typeOf(e).IsScalar() {
			return
		}
		parts = e.Args
	}
	if len(parts) == 0 || slices.ContainsFunc(parts, func(p ast.Expr) bool { return s.readsValues(p, s.isParameter) }) {
		return
	}
	for _, p := range parts {
		if t := s.typeOf(p); t.Kind == types.Int && t.Rank() == 0 {
			s.count(p)
		}
	}
}

// count adds the numbers of rows in a sum or product of integers.
func (s *summariser) count(e ast.Expr) {
	switch e := e.(type) {
	case *ast.Paren:
		s.count(e.X)
	case *ast.Unary:
		s.count(e.X)
	case *ast.Binary:
		s.count(e.X)
		s.count(e.Y)
	case *ast.VarExpr:
		if v := s.info.Uses[e]; v != nil && s.counts[v] {
			s.add(e, []*check.Var{v}, nil)
		}
	case *ast.CallExpr:
		if ofSizes[e.Func.Name] && e.Func.Name != "cols" && len(e.Args) == 1 {
			if of := s.whole(e.Args[0], s.column); len(of) > 0 {
				s.add(e, of, nil)
			}
		}
	}
}

// everything looks for summaries in all statements of a block.
func (s *summariser) everything(b *ast.Block) {
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.VarDecl:
			if v := s.info.Defs[n]; v != nil {
				s.variable(v)
			}
		case *ast.If:
			s.walk(n.Cond)
		case *ast.CallStmt:
			s.walk(n.Call)
		}
		return true
	}, nil)
}

// conditions walks the conditions of a statement. It skips the bounds of its loops, which are
// sizes.
func (s *summariser) conditions(at ast.Stmt) {
	var bounds []ast.Expr
	for _, l := range s.loops[at] {
		if f, ok := l.(*ast.For); ok {
			bounds = append(bounds, f.From, f.To)
		}
	}
	for _, e := range s.under[at] {
		if !slices.Contains(bounds, e) {
			s.walk(e)
		}
	}
}

// density looks for summaries in a function of the model that is the density of a term, or that
// computes the mean of its distribution.
func (s *summariser) density(t term) {
	if !t.user {
		return
	}
	name, _ := density(t.function)
	name += map[Kind]string{Replicated: "_rng", Expected: "_mean", LinearPredictor: "_link", Variance: varianceSuffix}[s.kind]
	for _, f := range s.info.Funcs {
		if f.Name != name || len(f.Params) != len(t.args) {
			continue
		}
		for _, i := range s.paramsOf(f) {
			if of := s.whole(t.args[i], isColumn); len(of) > 0 && !s.readsValues(t.args[i], s.isParameter) {
				s.add(t.at, of, nil)
			}
		}
	}
}

// summarisedArguments lists the arguments that a call summarises. If all is set, as for a product,
// the call summarises only if all of them are data.
type summarisedArguments struct {
	args []ast.Expr
	all  bool
}

// argumentsOf returns the arguments that an expression summarises.
func (s *summariser) argumentsOf(e ast.Expr) (out summarisedArguments) {
	switch e := e.(type) {
	case *ast.CallExpr:
		call := s.info.Calls[e]
		switch {
		case call == nil || len(e.Args) == 0:
		case call.Func != nil:
			for _, i := range s.paramsOf(call.Func) {
				out.args = append(out.args, e.Args[i])
			}
		case products[e.Func.Name]:
			out = summarisedArguments{e.Args, true}
		case summarised[e.Func.Name]:
			out.args = e.Args[:1]
		}
	case *ast.Binary:
		if x, ok := ast.Unparen(e.X).(*ast.Unary); ok && e.Op == "*" && x.Op == "'" && s.typeOf(x.X).Rank() > 0 && s.typeOf(e.Y).Rank() > 0 {
			out = summarisedArguments{[]ast.Expr{x.X, e.Y}, true}
		}
	}
	return out
}

// record adds an expression to the summaries if the arguments that it summarises are data.
func (s *summariser) record(e ast.Expr, a summarisedArguments) bool {
	var of []*check.Var
	for _, x := range a.args {
		columns := s.whole(x, isColumn)
		if len(columns) == 0 || s.readsValues(x, s.isParameter) {
			if a.all {
				return false
			}
			continue
		}
		of = append(of, columns...)
	}
	if len(of) > 0 {
		s.add(e, of, nil)
	}
	return len(of) > 0
}

func (s *summariser) add(at ast.Node, of []*check.Var, sum *check.Var) {
	if slices.ContainsFunc(s.found, func(f Summary) bool { return f.node == at }) {
		return
	}
	found := Summary{Span: at.Span(), Text: printer.Line(at), node: at, sum: sum}
	for _, v := range of {
		if !slices.Contains(found.Of, v.Name) {
			found.Of = append(found.Of, v.Name)
		}
	}
	s.found = append(s.found, found)
}

// isColumn reports whether a variable is a data variable with several elements.
func isColumn(v *check.Var) bool { return v.Block == ast.Data && v.Type.Rank() > 0 }

// paramsOf lists the arguments of a function over whose elements its body summarises.
func (s *summariser) paramsOf(f *check.Func) []int {
	if out, ok := s.params[f]; ok {
		return out
	}
	s.params[f] = nil // so that recursive functions end
	if f.Decl == nil || f.Decl.Body == nil {
		return nil
	}
	is := func(v *check.Var) bool { return v.Type.Rank() > 0 && slices.Contains(f.Params, v) }
	var out []int
	add := func(of []*check.Var) {
		for _, v := range of {
			if i := slices.Index(f.Params, v); !slices.Contains(out, i) {
				out = append(out, i)
			}
		}
	}
	ast.Inspect(f.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case ast.Expr:
			a := s.argumentsOf(n)
			var of []*check.Var
			for _, x := range a.args {
				columns := s.whole(x, is)
				if a.all && len(columns) == 0 {
					return true
				}
				of = append(of, columns...)
			}
			add(of)
		case *ast.Assign:
			for x := range ast.Targets(n.LHS) {
				if v := s.info.Uses[x]; v != nil {
					add(s.accumulated(assignment{n, n.RHS}, v, is))
				}
			}
		}
		return true
	}, nil)
	s.params[f] = out
	return out
}

// whole lists the variables of which an expression uses all rows, among those for which is returns
// true.
func (s *summariser) whole(e ast.Node, is func(*check.Var) bool) (out []*check.Var) {
	seen := map[*check.Var]bool{}
	var look func(n ast.Node, element bool)
	look = func(n ast.Node, element bool) { // element: n is an element of a variable that is used as a whole
		ast.Inspect(n, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CallExpr:
				return !ofSizes[x.Func.Name]
			case *ast.IndexExpr:
				if element || !s.selects(x) {
					look(x.X, element)
				}
				return false
			case *ast.VarExpr:
				v := s.info.Uses[x]
				if v == nil || seen[v] {
					return true
				}
				seen[v] = true
				if is(v) {
					out = append(out, v)
				}
				for _, a := range s.assigned[v] {
					set, _ := a.at.(*ast.Assign)
					look(a.value, element || set != nil && !isVariable(set.LHS) && (v.Global || s.rows[firstSize(v)]))
				}
			}
			return true
		}, nil)
	}
	look(e, false)
	return out
}

func isVariable(e ast.Expr) bool {
	_, ok := ast.Unparen(e).(*ast.VarExpr)
	return ok
}

// selects reports whether an index selects a single row or element.
func (s *summariser) selects(x *ast.IndexExpr) bool {
	if s.typeOf(x).Rank() == 0 {
		return true
	}
	i, ok := x.Indices[0].(*ast.Single)
	if !ok || s.typeOf(i.X).Rank() > 0 {
		return false
	}
	v, ok := ast.Unparen(x.X).(*ast.VarExpr)
	if !ok || s.info.Uses[v] == nil {
		return false
	}
	u := s.info.Uses[v]
	if u.Block == ast.Functions {
		return u.Type.Dims == 0 // a row of a matrix
	}
	return s.rows[firstSize(u)]
}

// accumulated lists the variables whose rows an assignment in a loop adds up in v, as s += x[n]
// does for n in 1:N, among those for which is returns true.
func (s *summariser) accumulated(a assignment, v *check.Var, is func(*check.Var) bool) (out []*check.Var) {
	set, ok := a.at.(*ast.Assign)
	if !ok || v.Type.Scalar() != types.Real {
		return nil
	}
	adds := set.Op != "=" || s.mentions(set.RHS, v)
	for _, l := range s.loops[set] {
		loop, ok := l.(*ast.For)
		if !ok || slices.Contains(s.loops[statement(v)], l) || s.readElsewhere(loop, set, v) {
			continue
		}
		if n := s.info.Defs[loop]; s.placedBy(set.LHS, n) || !adds && s.mentions(set.LHS, n) {
			continue
		}
		out = append(out, s.rowsRead(set.RHS, loop, is)...)
		for n := range ast.Children(set.LHS) {
			if i, ok := n.(ast.Index); ok && adds { // sums by group, such as count[g[n]] += 1
				out = append(out, s.rowsRead(i, loop, is)...)
			}
		}
	}
	return out
}

// placedBy reports whether a loop variable is itself an index of the place, so that each iteration
// has its own. It is not in sum[g[n]]: iterations with the same g have a common place.
func (s *summariser) placedBy(place ast.Expr, v *check.Var) bool {
	found := false
	ast.Inspect(place, func(n ast.Node) bool {
		if i, ok := n.(*ast.IndexExpr); ok && i.X != nil {
			for _, x := range i.Indices {
				single, ok := x.(*ast.Single)
				found = found || ok && s.directlyOutside(single.X, v)
			}
			return false
		}
		return !found
	}, nil)
	return found
}

// directlyOutside reports whether an expression reads a variable other than as an index.
func (s *summariser) directlyOutside(e ast.Expr, v *check.Var) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			return false
		case *ast.VarExpr:
			found = found || v != nil && s.info.Uses[n] == v
		}
		return !found
	}, nil)
	return found
}

// statement returns the statement that declares a variable, or nil.
func statement(v *check.Var) ast.Stmt {
	s, _ := v.Decl.(ast.Stmt)
	return s
}

func (s *summariser) mentions(n ast.Node, v *check.Var) bool {
	return v != nil && s.directly(n, func(u *check.Var) bool { return u == v })
}

// readElsewhere reports whether another statement of a loop uses the value of v in each iteration.
// Such a value, for instance a running sum, belongs to a row and is not a summary.
func (s *summariser) readElsewhere(loop *ast.For, except *ast.Assign, v *check.Var) bool {
	found := false
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		at, ok := n.(ast.Stmt)
		if !ok || at == ast.Stmt(except) {
			return false
		}
		for c := range ast.Children(at) {
			if _, ok := c.(ast.Stmt); ok {
				return true // here, only the conditions read variables
			}
		}
		if set, ok := at.(*ast.Assign); ok {
			n = set.RHS
		}
		found = found || s.mentions(n, v)
		return false
	}, nil)
	return found
}

// rowsRead lists the variables of which an expression reads the row of the current iteration,
// directly or through variables of the loop, among those for which is returns true.
func (s *summariser) rowsRead(e ast.Node, loop *ast.For, is func(*check.Var) bool) (out []*check.Var) {
	seen := map[*check.Var]bool{}
	var look func(n ast.Node)
	look = func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IndexExpr:
				if i, ok := n.Indices[0].(*ast.Single); ok && s.mentions(i.X, s.info.Defs[loop]) {
					out = append(out, s.whole(n.X, is)...)
					return false
				}
			case *ast.VarExpr:
				v := s.info.Uses[n]
				if v == nil || seen[v] || !slices.Contains(s.loops[statement(v)], ast.Stmt(loop)) {
					return true
				}
				seen[v] = true
				for _, a := range s.assigned[v] {
					look(a.value)
				}
			}
			return true
		}, nil)
	}
	look(e)
	return out
}

// Indices lists the data variables that are used as indices, such as g in theta[g[n]].
func Indices(p *compile.Program) []string {
	tree, info := p.Syntax()
	var out []string
	for _, b := range tree.Blocks {
		ast.Inspect(b, func(n ast.Node) bool {
			x, ok := n.(*ast.IndexExpr)
			if !ok {
				return true
			}
			for _, i := range x.Indices {
				s, ok := i.(*ast.Single)
				if !ok {
					continue
				}
				e := ast.Unparen(s.X)
				if y, ok := e.(*ast.IndexExpr); ok {
					e = ast.Unparen(y.X)
				}
				if v, ok := e.(*ast.VarExpr); ok && info.Uses[v] != nil && info.Uses[v].Block == ast.Data && !slices.Contains(out, v.Name) {
					out = append(out, v.Name)
				}
			}
			return true
		}, nil)
	}
	return out
}
