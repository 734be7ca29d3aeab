package batch

import (
	"fmt"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// Apart is in each note about a call that stays in its loop.
const Apart = "solves for each iteration apart"

// notes says why calls in loops are not batches.
func notes(f *ast.File, info *check.Info, done map[ast.Node]bool) (out []string) {
	r := newRewriter(f, info, done)
	if r == nil {
		return nil
	}
	noted := map[int]bool{}
	note := func(n ast.Node, name, why string) {
		if line := n.Span().Begin().Line; !noted[line] {
			noted[line] = true
			out = append(out, fmt.Sprintf("line %d: %s %s: %s", line, name, Apart, why))
		}
	}
	wrappers := map[*check.Func]bool{} // functions of the program with such calls
	for _, fn := range info.Funcs {
		r.calls(fn.Decl, func(*ast.CallExpr) { wrappers[fn] = true })
	}
	var walk func(n ast.Node, loop ast.Node)
	walk = func(n, loop ast.Node) {
		if done[n] {
			return
		}
		switch x := n.(type) {
		case *ast.For:
			for _, d := range r.divisions(x) {
				if why := d.impossible(); why != "" {
					note(d.call, d.call.Func.Name, why)
				}
			}
			loop = x
		case *ast.ForEach:
			loop = x
		case *ast.While:
			loop = x
		case *ast.CallExpr:
			switch c := info.Calls[x]; {
			case loop == nil || c == nil:
			case wrappers[c.Func]:
				note(x, x.Func.Name, "it is a function of the program; call the solver in the loop")
			case batchOf(c) != nil:
				if _, ok := loop.(*ast.For); ok {
					note(x, x.Func.Name, "the call is in a condition or an inner block; move it to the top level of the loop")
				} else {
					note(x, x.Func.Name, "write the loop as for (i in 1:n)")
				}
			}
		}
		for c := range ast.Children(n) {
			walk(c, loop)
		}
	}
	for _, b := range f.Blocks {
		if b.Kind >= ast.TransformedParameters {
			walk(b, nil)
		}
	}
	return out
}

// calls visits the calls in a node for which there are batches.
func (r *rewriter) calls(n ast.Node, visit func(*ast.CallExpr)) {
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && batchOf(r.info.Calls[c]) != nil {
			visit(c)
		}
		return true
	}, nil)
}
