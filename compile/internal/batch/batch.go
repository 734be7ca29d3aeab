// Package batch rewrites loops that solve for one subject in each iteration: one call, before the
// loop, then solves for all subjects, whose solutions are lanes.
//
//	batch.go     Rewrite: finds the calls
//	accesses.go  what statements read and write, and their side effects
//	divide.go    whether a loop may be divided before a call, and what each part needs
//	write.go     the statements that replace a loop
//	notes.go     why calls stay in their loops
//
// A loop whose iterations are A; x = f(g(s)); C becomes a loop with A that collects the arguments
// of f, one call of the function for several subjects, and a loop with the rest (loop
// distribution). Variables that A assigns and C reads are kept for each iteration. What only the
// data decide is checked in the new program, which has the loop as it was for the other case: a
// subject without records, or parameters with an unexpected number of rows.
package batch

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// Rewrite returns a checked program in which calls in loops are batches, and the facts about it,
// which again finds. It returns the tree itself if there are none. The notes say why other calls
// in loops stay as they are.
func Rewrite(f *ast.File, info *check.Info, again func(*ast.File) *check.Info) (*ast.File, *check.Info, []string) {
	done := map[ast.Node]bool{}
	for { // each round divides a loop before its first call
		next := rewrite(f, info, done)
		if next == f {
			return f, info, notes(f, info, done)
		}
		facts := again(next)
		if facts == nil {
			return f, info, nil
		}
		f, info = next, facts
	}
}

func rewrite(f *ast.File, info *check.Info, done map[ast.Node]bool) *ast.File {
	r := newRewriter(f, info, done)
	if r == nil {
		return f
	}
	out := *f
	out.Blocks = nil
	for _, b := range f.Blocks {
		if b.Kind == ast.Functions || b.Kind >= ast.TransformedParameters {
			b = ast.Map(b, r.node).(*ast.Block)
		}
		out.Blocks = append(out.Blocks, b)
	}
	if !r.changed {
		return f
	}
	return &out
}

// rewriter is the state of Rewrite.
type rewriter struct {
	info     *check.Info
	done     map[ast.Node]bool // loops that stay as they are
	names    ast.Names
	assigned map[*check.Var]bool // variables that the program assigns after their declaration
	acts     bool                // functions of the program print or end the run
	changed  bool
}

// newRewriter returns a rewriter of a program; nil if no call has a batch.
func newRewriter(f *ast.File, info *check.Info, done map[ast.Node]bool) *rewriter {
	r := &rewriter{info: info, done: done, names: ast.NamesOf(f), assigned: map[*check.Var]bool{}}
	found := false
	for _, c := range info.Calls {
		found = found || batchOf(c) != nil
	}
	if !found {
		return nil
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if n, ok := n.(*ast.Assign); ok {
			for v := range ast.Targets(n.LHS) {
				r.assigned[info.Uses[v]] = true
			}
		}
		return true
	}, nil)
	if b := f.Block(ast.Functions); b != nil {
		r.acts = actsIn(b)
	}
	return r
}

// node rewrites the loops in a node, inner loops first.
func (r *rewriter) node(n ast.Node) ast.Node {
	if r.done[n] {
		return n
	}
	inner := ast.Map(n, r.node)
	loop, ok := n.(*ast.For)
	if !ok || inner != n {
		return inner
	}
	if s := r.loop(loop); s != nil {
		r.changed = true
		return s
	}
	return n
}

// loop returns what replaces a loop; nil: nothing does.
func (r *rewriter) loop(loop *ast.For) ast.Stmt {
	for _, d := range r.divisions(loop) {
		if d.impossible() == "" {
			return d.write()
		}
	}
	return nil
}

// divisions returns the divisions of a loop before each of its calls.
func (r *rewriter) divisions(loop *ast.For) (out []*division) {
	body, ok := loop.Body.(*ast.BlockStmt)
	if !ok {
		body = &ast.BlockStmt{Base: ast.Base{Pos: loop.Body.Span()}, Stmts: []ast.Stmt{loop.Body}}
	}
	for i, s := range body.Stmts {
		if call := r.callIn(s); call != nil {
			out = append(out, &division{rewriter: r, loop: loop, before: body.Stmts[:i], after: body.Stmts[i:], call: call, batch: batchOf(r.info.Calls[call])})
		}
	}
	return out
}

// callIn returns a call in a statement for which there is a batch, if every execution of the
// statement evaluates it once.
func (r *rewriter) callIn(s ast.Stmt) (found *ast.CallExpr) {
	switch s.(type) {
	case *ast.VarDecl, *ast.Assign, *ast.TargetPlus, *ast.Tilde:
	default:
		return nil
	}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if found == nil && batchOf(r.info.Calls[n]) != nil {
				found = n
			}
		case *ast.Cond:
			return false
		case *ast.Binary:
			return n.Op != "&&" && n.Op != "||"
		}
		return found == nil
	}, nil)
	return found
}

// batchOf returns the batch for a call; nil if there is none.
func batchOf(c *check.Call) *types.Batch {
	if c == nil {
		return nil
	}
	w, ok := c.Overload.(types.Written)
	if !ok || w.Batch == nil {
		return nil
	}
	var args []types.Type
	for _, t := range c.Match.Params {
		if t.Kind != types.Function {
			args = append(args, t)
		}
	}
	return w.Batch(args)
}
