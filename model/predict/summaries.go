package predict

import (
	"slices"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
)

// summaries are functions of all elements of a column.
var summaries = map[string]bool{
	"mean": true, "sd": true, "variance": true, "sum": true, "min": true, "max": true, "quantile": true, "norm1": true, "norm2": true,
	"dot_self": true, "sort_asc": true, "sort_desc": true, "sort_indices_asc": true, "sort_indices_desc": true, "rank": true,
	"qr_Q": true, "qr_R": true, "qr_thin_Q": true, "qr_thin_R": true,
}

// Summarised lists the expressions of a program, outside its generated quantities, that summarise
// one of some data variables over all rows, such as mean(x). For other rows of data they have other
// values, so that (x - mean(x)) does not mean the same there.
func Summarised(p *compile.Program, names ...string) (found []Left) {
	tree, info := p.Syntax()
	a := analyse(tree, info, nil)
	is := func(v *check.Var) bool { return v.Block == ast.Data && slices.Contains(names, v.Name) }
	for _, b := range tree.Blocks {
		if b.Kind == ast.Functions || b.Kind == ast.GeneratedQuantities {
			continue
		}
		ast.Inspect(b, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if ok && summaries[c.Func.Name] && info.Calls[c] != nil && info.Calls[c].Func == nil && a.readsValues(c.Args[0], is) && !a.readsValues(c.Args[0], a.isParameter) {
				found = append(found, Left{Span: c.Span(), Text: printer.Line(c), Reason: "it is computed from all rows"})
			}
			return true
		}, nil)
	}
	return found
}

// Indices lists the data variables whose values select elements, as in theta[g[n]].
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
