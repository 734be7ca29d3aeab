package predict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
)

// This file writes programs for new rows that summarise the old ones. In (x - mean(x)) / sd(x), the
// mean and the standard deviation are those of the fit's data, and the other x those of the new
// rows. The program declares the fit's data a second time, with other names. Each summary is
// computed from these. If it needs transformed data, their statements are written twice: for the
// fit's data, and for the new ones.

// Kept is a program whose summaries are computed from the data of a fit.
type Kept struct {
	Program *compile.Program

	// Data maps each variable of the fit's data that the program needs to its name there.
	Data map[string]string
}

// NotKeptError says why a summary cannot be computed from the data of the fit.
type NotKeptError struct {
	Summary Summary
	Reason  string
}

func (e *NotKeptError) Error() string {
	at := e.Summary.Span.Begin()
	return fmt.Sprintf("`%s` (%s, line %d) cannot have the value that it has in the fit: %s", e.Summary.Text, at.File, at.Line, e.Reason)
}

// Summaries lists the summaries on which outputs of a kind depend, for [Replicated], [Expected] and
// [LinearPredictor]. Those of variables in o.Unknown are included even if the outputs do not depend
// on them, because there are no values to compute them from.
func Summaries(p *compile.Program, kind Kind, o Options) []Summary {
	tree, info := p.Syntax()
	e := &emitter{
		analysis: analyse(tree, info, nil), kind: kind, comments: map[ast.Stmt]string{},
		dims: map[*check.Var]int{}, names: map[*check.Var]string{},
	}
	e.gather()
	s := e.summariser()
	s.terms(len(o.Grown) > 0)
	if b := tree.Block(ast.TransformedData); b != nil && len(o.Unknown) > 0 {
		all := e.summariser()
		all.everything(b)
		for _, f := range all.found {
			if slices.ContainsFunc(f.Of, func(name string) bool { return slices.Contains(o.Unknown, name) }) &&
				!slices.ContainsFunc(s.found, func(g Summary) bool { return g.node == f.node }) {
				s.found = append(s.found, f)
			}
		}
	}
	return s.found
}

// Keep writes the program in which summaries are those of the fit's data. changed lists the data
// variables that have other values than in the fit. The program has no generated quantities, unless
// generated is set. The error is a [NotKeptError], or says that the program is invalid.
func Keep(p *compile.Program, summaries []Summary, changed []string, generated bool) (*Kept, error) {
	tree, info := p.Syntax()
	e := &emitter{analysis: analyse(tree, info, nil), used: namesOf(tree)}
	k := newKeeper(e.summariser(), summaries)
	k.generated = generated
	for _, s := range tree.Block(ast.Data).Stmts {
		if v := info.Defs[s]; v != nil && slices.Contains(changed, v.Name) {
			k.changed[v] = true
		}
		if v := info.Defs[s]; v != nil && slices.ContainsFunc(summaries, func(f Summary) bool { return slices.Contains(f.Of, v.Name) }) {
			if first := firstSizeOf(v); first != nil {
				e.directly(first, func(u *check.Var) bool {
					k.sized[u] = true
					return false
				})
			}
		}
	}
	f := k.program(false)
	if k.needsCopies || len(k.sums) > 0 {
		f = k.program(true)
	}
	if k.failed != nil {
		return nil, k.failed
	}
	out := &Kept{Data: map[string]string{}}
	for v := range k.needed {
		out.Data[v.Name] = k.names[v]
	}
	text := printer.Commented(f, func(ast.Stmt) []string { return nil }) + "\n"
	program, list := compile.CompileWith(placed(tree.Source.Name, text, tree.Source), compile.Options{Like: p})
	if list.HasErrors() {
		at := list.Errors()[0]
		return nil, fmt.Errorf("the model with the summaries of the fit is no program: line %d: %s\n%s", at.Span.Begin().Line, at.Summary, text)
	}
	out.Program = program
	return out, nil
}

// keeper rewrites statements so that they summarise other data than those that they transform.
type keeper struct {
	*summariser
	changed map[*check.Var]bool // data, or arguments of a function, that have two versions
	found   map[ast.Node]Summary
	sums    map[*check.Var]Summary // variables in which a loop adds up rows
	sized   map[*check.Var]bool    // data that are numbers of rows
	open    map[ast.Stmt]bool      // loops over rows that are being written for the fit
	names   map[*check.Var]string  // names of the fit's versions
	needed  map[*check.Var]bool    // changed variables whose fit's version is used

	generated   bool // the program has generated quantities
	copies      bool // statements on transformed data are written twice
	needsCopies bool
	inFunction  bool
	failed      error
	at          Summary // the summary that is being written

	functions map[string]string // functions that receive both versions of their arguments
	written   []ast.Stmt        // the declarations of these
}

func newKeeper(s *summariser, summaries []Summary) *keeper {
	k := &keeper{
		summariser: s, changed: map[*check.Var]bool{}, found: map[ast.Node]Summary{}, sums: map[*check.Var]Summary{},
		sized: map[*check.Var]bool{}, open: map[ast.Stmt]bool{}, names: map[*check.Var]string{}, needed: map[*check.Var]bool{}, functions: map[string]string{},
	}
	for _, f := range summaries {
		if f.sum != nil {
			k.sums[f.sum] = f
		} else {
			k.found[f.node] = f
		}
	}
	return k
}

// fail records why the summary at hand cannot be kept.
func (k *keeper) fail(reason string) {
	if k.failed == nil {
		k.failed = &NotKeptError{k.at, reason}
	}
}

// program returns the whole program. With copies, it has the transformed data of the fit too.
func (k *keeper) program(copies bool) *ast.File {
	k.copies, k.written, k.failed = copies, nil, nil
	clear(k.functions)
	f := &ast.File{}
	var data, functions *ast.Block
	for _, b := range k.tree.Blocks {
		if b.Kind == ast.GeneratedQuantities && !k.generated {
			continue
		}
		own := &ast.Block{Kind: b.Kind}
		switch b.Kind {
		case ast.Functions, ast.Data:
			own.Stmts = slices.Clone(b.Stmts)
			if b.Kind == ast.Data {
				data = own
			} else {
				functions = own
			}
		case ast.TransformedData:
			own.Stmts = k.stmts(b.Stmts)
			if copies && k.random(b) {
				k.fail("transformed data are drawn at random")
			}
		default:
			for _, s := range b.Stmts {
				own.Stmts = append(own.Stmts, k.new(s).(ast.Stmt))
			}
		}
		f.Blocks = append(f.Blocks, own)
	}
	for v, s := range k.sums {
		if k.at = s; v.Block != ast.TransformedData {
			k.fail("compute it in the transformed data block")
		} else if !k.ofFit(v) {
			k.fail(v.Name + " has other sizes than in the fit")
		}
	}
	if len(k.written) > 0 {
		functions.Stmts = append(functions.Stmts, k.written...)
	}
	data.Stmts = append(data.Stmts, k.data(data.Stmts)...)
	return f
}

// data declares the fit's versions of data variables, and of their sizes.
func (k *keeper) data(stmts []ast.Stmt) (out []ast.Stmt) {
	for _, s := range slices.Backward(stmts) { // sizes are declared before the variables that have them
		v := k.info.Defs[s]
		if d, ok := s.(*ast.VarDecl); ok && k.needed[v] {
			var sizes []ast.Expr
			for _, size := range sizesOf(d.Type, v.Type) {
				sizes = append(sizes, k.old(size).(ast.Expr))
			}
			out = append(out, declare(typeExpr(v.Type, sizes), k.oldName(v), nil))
		}
	}
	slices.Reverse(out)
	return out
}

// random reports whether statements draw random numbers.
func (k *keeper) random(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			found = found || strings.HasSuffix(c.Func.Name, "_rng")
		}
		return !found
	}, nil)
	return found
}

// stmts returns statements for both versions of the data, or only for the new one.
func (k *keeper) stmts(list []ast.Stmt) (out []ast.Stmt) {
	for _, s := range list {
		if !k.copies {
			out = append(out, k.new(s).(ast.Stmt))
			continue
		}
		switch x := s.(type) {
		case *ast.BlockStmt:
			out = append(out, &ast.BlockStmt{Stmts: k.stmts(x.Stmts)})
			continue
		case *ast.For:
			if !k.changes(x) { // in each iteration, the new version may use the fit's
				out = append(out, &ast.For{Var: x.Var, From: x.From, To: x.To, Body: &ast.BlockStmt{Stmts: k.stmts([]ast.Stmt{x.Body})}})
				continue
			}
		case *ast.If:
			if !k.differs(x.Cond) {
				out = append(out, k.branches(x))
				continue
			}
		case *ast.Assign: // x = x - mean(x) needs the fit's x before it changes
			out = append(out, k.new(s).(ast.Stmt), k.old(s).(ast.Stmt))
			continue
		case *ast.Return:
			out = append(out, k.new(s).(ast.Stmt))
			continue
		case *ast.Print, *ast.Empty:
			continue
		}
		out = append(out, k.old(s).(ast.Stmt), k.new(s).(ast.Stmt))
	}
	return out
}

// branches returns a condition that is the same for both versions of the data.
func (k *keeper) branches(x *ast.If) *ast.If {
	out := &ast.If{Cond: k.new(x.Cond).(ast.Expr), Then: &ast.BlockStmt{Stmts: k.stmts([]ast.Stmt{x.Then})}}
	if x.Else != nil {
		out.Else = &ast.BlockStmt{Stmts: k.stmts([]ast.Stmt{x.Else})}
	}
	return out
}

// changes reports whether a loop goes over rows: the new data may have others than the fit's.
func (k *keeper) changes(l ast.Stmt) bool {
	switch l := l.(type) {
	case *ast.For:
		return k.differs(l.From) || k.differs(l.To)
	case *ast.ForEach:
		return k.differs(l.Over)
	case *ast.While:
		return k.differs(l.Cond)
	}
	return false
}

// differs reports whether a size or a condition depends on the rows.
func (k *keeper) differs(n ast.Node) bool {
	seen := map[*check.Var]bool{}
	var look func(n ast.Node) bool
	look = func(n ast.Node) (found bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && c.Func.Name == "cols" {
				return false
			}
			x, ok := n.(*ast.VarExpr)
			if !ok || k.info.Uses[x] == nil || seen[k.info.Uses[x]] {
				return !found
			}
			v := k.info.Uses[x]
			seen[v] = true
			found = found || k.changed[v] || k.sized[v]
			if d, ok := v.Decl.(*ast.VarDecl); ok && !v.Loop {
				for _, size := range d.Type.ArrayDims {
					found = found || size != nil && look(size)
				}
				for _, size := range d.Type.Sizes {
					found = found || size != nil && look(size)
				}
			}
			for _, a := range k.assigned[v] {
				found = found || look(a.value)
			}
			return !found
		}, nil)
		return found
	}
	return look(n)
}

// ofRow reports whether a variable belongs to an iteration of a loop over rows, other than the
// loops that are being written for the fit.
func (k *keeper) ofRow(v *check.Var) bool {
	is := func(l ast.Stmt) bool { return !k.open[l] && k.changes(l) }
	s := statement(v)
	return v.Loop && is(s) || slices.ContainsFunc(k.loops[s], is)
}

// ofFit reports whether a variable of transformed data has the fit's value: it holds summaries, and
// its sizes are those of the fit.
func (k *keeper) ofFit(v *check.Var) bool {
	if v.Block != ast.TransformedData && !k.inFunction || k.changed[v] || v.Loop || k.ofRow(v) {
		return false
	}
	d, ok := v.Decl.(*ast.VarDecl)
	if !ok {
		return false
	}
	for _, size := range sizesOf(d.Type, v.Type) {
		if k.differs(size) {
			return false
		}
	}
	return k.summarises(v, map[*check.Var]bool{})
}

// summarises reports whether the value of a variable depends on summaries.
func (k *keeper) summarises(v *check.Var, seen map[*check.Var]bool) bool {
	if _, ok := k.sums[v]; ok {
		return true
	}
	if seen[v] {
		return false
	}
	seen[v] = true
	found := false
	for _, a := range k.assigned[v] {
		ast.Inspect(a.value, func(n ast.Node) bool {
			if x, ok := n.(*ast.VarExpr); ok && k.info.Uses[x] != nil {
				found = found || k.summarises(k.info.Uses[x], seen)
			}
			_, is := k.found[n]
			found = found || is
			return !found
		}, nil)
	}
	return found
}

// oldName returns the name of the fit's version of a variable.
func (k *keeper) oldName(v *check.Var) string {
	switch {
	case k.changed[v]:
		k.needed[v] = true
	case k.ofRow(v):
		k.fail("it depends on the row")
	case v.Loop || v.Block == ast.Data || k.inFunction && !isLocal(v):
		return v.Name // an argument that does not change
	case v.Block == ast.TransformedData || k.inFunction:
		k.needsCopies = true
	default:
		for _, a := range k.assigned[v] {
			if k.differs(a.value) {
				k.fail("compute " + v.Name + " in the transformed data block")
			}
		}
		return v.Name
	}
	if k.names[v] == "" {
		k.names[v] = k.fresh(v.Name + "_fit")
	}
	return k.names[v]
}

func isLocal(v *check.Var) bool {
	_, ok := v.Decl.(*ast.VarDecl)
	return ok
}

// old returns the fit's version of a node.
func (k *keeper) old(n ast.Node) ast.Node {
	switch x := n.(type) {
	case *ast.VarExpr:
		if v := k.info.Uses[x]; v != nil {
			return variable(k.oldName(v))
		}
		return x
	case *ast.VarDecl:
		d := *ast.Map(x, k.old).(*ast.VarDecl)
		if v := k.info.Defs[x]; v != nil && !k.ofRow(v) {
			d.Name = ast.Ident{Name: k.oldName(v)}
		}
		return &d
	case *ast.Print:
		return &ast.Empty{}
	case *ast.For, *ast.ForEach, *ast.While:
		l := x.(ast.Stmt)
		k.open[l] = true
		defer delete(k.open, l)
	}
	return ast.Map(n, k.old)
}

// new returns the version of a node for the new data, with the summaries of the fit.
func (k *keeper) new(n ast.Node) ast.Node {
	switch x := n.(type) {
	case *ast.Assign:
		a := *x
		a.LHS, a.RHS = k.place(x.LHS), k.new(x.RHS).(ast.Expr)
		return &a
	case *ast.Tilde, *ast.Block, *ast.TypeExpr, *ast.Bound:
		if s, ok := k.found[n]; ok {
			k.at = s
			k.fail("write the summary in the transformed data block")
		}
	case ast.Expr:
		if to := k.expr(x); to != nil {
			return to
		}
	}
	return ast.Map(n, k.new)
}

// place returns the place of an assignment, whose variable stays the same.
func (k *keeper) place(e ast.Expr) ast.Expr {
	return ast.Map(e, func(n ast.Node) ast.Node {
		if x, ok := n.(ast.Expr); ok {
			return k.place(x)
		}
		return k.new(n)
	}).(ast.Expr)
}

// byRow lists functions whose result has an element for each row, or for each pair of rows.
var byRow = map[string]bool{
	"sort_asc": true, "sort_desc": true, "sort_indices_asc": true, "sort_indices_desc": true,
	"qr_Q": true, "qr_R": true, "qr": true, "qr_thin_Q": true, "qr_thin": true, "svd": true, "svd_U": true,
}

// expr returns the version of an expression that has a summary's place; nil for other expressions.
func (k *keeper) expr(e ast.Expr) ast.Expr {
	if i, ok := e.(*ast.IndexExpr); ok {
		if c, ok := ast.Unparen(i.X).(*ast.CallExpr); ok && byRow[c.Func.Name] {
			if s, ok := k.found[c]; ok {
				k.at = s
				return k.elements(i, c)
			}
		}
	}
	s, ok := k.found[e]
	if x, is := e.(*ast.VarExpr); is && !ok {
		if v := k.info.Uses[x]; v != nil && k.copies && k.ofFit(v) {
			return variable(k.oldName(v))
		}
		return nil
	}
	if !ok {
		return nil
	}
	k.at = s
	c, isCall := e.(*ast.CallExpr)
	switch {
	case !isCall:
	case k.info.Calls[c] != nil && k.info.Calls[c].Func != nil && k.typeOf(c).Rank() > 0:
		return k.specialised(c)
	case c.Func.Name == "qr_thin_Q": // X = Q R, so that these are the rows of Q for other rows of X
		return binary("/", k.new(c.Args[0]).(ast.Expr), call("qr_thin_R", k.old(c.Args[0]).(ast.Expr)))
	case c.Func.Name == "svd_U": // X = U diag(s) V'
		x := k.old(c.Args[0]).(ast.Expr)
		return call("diag_post_multiply", binary("*", k.new(c.Args[0]).(ast.Expr), call("svd_V", x)), call("inv", call("singular_values", x)))
	case byRow[c.Func.Name]:
		k.fail("it has an element for each row")
	}
	return k.old(e).(ast.Expr)
}

// elements returns a part of a summary that has an element for each row.
func (k *keeper) elements(i *ast.IndexExpr, c *ast.CallExpr) ast.Expr {
	switch at := i.Indices[0].(type) {
	case *ast.Single:
		return k.old(i).(ast.Expr)
	case *ast.Range:
		if at.To != nil && !k.differs(at.To) {
			return k.old(i).(ast.Expr)
		}
	case *ast.All:
		if r, ok := i.Indices[len(i.Indices)-1].(*ast.Range); ok && c.Func.Name == "qr_Q" && len(i.Indices) == 2 && r.To != nil {
			return indexed(binary("/", k.new(c.Args[0]).(ast.Expr), call("qr_thin_R", k.old(c.Args[0]).(ast.Expr))), i.Indices)
		}
	}
	if c.Func.Name == "qr_thin_Q" || c.Func.Name == "svd_U" {
		return ast.Map(i, k.new).(ast.Expr)
	}
	k.fail("it has an element for each row")
	return i
}

// specialised returns a call of a function that receives the data of the fit too, from which it
// computes its summaries.
func (k *keeper) specialised(c *ast.CallExpr) ast.Expr {
	f := k.info.Calls[c].Func
	over := k.paramsOf(f)
	in := newKeeper(k.summariser, nil)
	in.inFunction, in.copies, in.at, in.functions = true, true, k.at, k.functions
	key := f.String()
	for i, v := range f.Params {
		if slices.Contains(over, i) || k.differs(c.Args[i]) {
			in.changed[v] = true
			key += fmt.Sprintf(" %d", i)
		}
	}
	name, done := k.functions[key]
	if !done {
		name = k.fresh(f.Name + "_of")
		k.functions[key] = name
		k.written = append(k.written, in.function(f, name)...)
		if k.failed == nil {
			k.failed = in.failed
		}
	}
	var args []ast.Expr
	for _, a := range c.Args {
		args = append(args, k.new(a).(ast.Expr))
	}
	for i, v := range f.Params {
		if in.changed[v] {
			args = append(args, k.old(c.Args[i]).(ast.Expr))
		}
	}
	return call(name, args...)
}

// function declares a function with a second version of the arguments that change.
func (k *keeper) function(f *check.Func, name string) []ast.Stmt {
	returns := 0
	is := func(v *check.Var) bool { return v.Type.Rank() > 0 && k.changed[v] }
	sizes := *k.summariser
	sizes.counts, sizes.column, sizes.found = k.changed, is, nil
	ast.Inspect(f.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case ast.Expr:
			sizes.countsIn(n)
			a := k.argumentsOf(n)
			for _, x := range a.args {
				if whole := len(k.whole(x, is)) > 0; whole {
					k.found[n] = k.at
				} else if a.all {
					delete(k.found, n)
					break
				}
			}
		case *ast.Assign:
			for x := range ast.Targets(n.LHS) {
				v := k.info.Uses[x]
				if v == nil {
					continue
				}
				sizes.countAssigned(v, n.RHS)
				if len(k.accumulated(assignment{n, n.RHS}, v, is)) > 0 {
					k.sums[v] = k.at
				}
			}
		case *ast.VarDecl:
			if v := k.info.Defs[n]; v != nil && n.Init != nil {
				sizes.countAssigned(v, n.Init)
			}
		case *ast.Return:
			returns++
		}
		return true
	}, nil)
	for _, s := range sizes.found {
		k.found[s.node] = k.at
	}
	stmts := f.Decl.Body.Stmts
	if _, last := stmts[len(stmts)-1].(*ast.Return); returns != 1 || !last {
		k.fail("the function " + f.Name + " returns at several places")
	}
	d := *f.Decl
	d.Name, d.Params = ast.Ident{Name: name}, slices.Clone(d.Params)
	for i, p := range f.Decl.Params {
		if v := f.Params[i]; k.changed[v] {
			second := *p
			second.Name = ast.Ident{Name: k.oldName(v)}
			d.Params = append(d.Params, &second)
		}
	}
	d.Body = &ast.BlockStmt{Stmts: k.stmts(stmts)}
	for v := range k.sums {
		if !k.ofFit(v) {
			k.fail(v.Name + " has other sizes than in the fit")
		}
	}
	return append(slices.Clone(k.written), &d)
}
