package check

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: what the language has beyond Stan's.

// Extensions reports, as errors, every use of what Stan does not have in a checked program. Each
// function is reported once.
func Extensions(f *ast.File, info *Info) diag.List {
	var out diag.List
	report := func(n ast.Node, what, fix string) {
		d := diag.Errorf(diag.BeyondStan, n.Span(), "Stan has no %s", what)
		d.Detail, d.Fix = "This is an extension of ppl, and only Stan's language is allowed.", fix
		out = append(out, d)
	}
	const write = "`ppl fmt` can write the program for Stan"
	seen := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if v := info.Defs[n]; v != nil && v.Missing {
			report(&v.Ident, "missing values", write)
		} else if v.Discrete() {
			report(&v.Ident, "integer parameters", write)
		} else if v != nil && v.Censored {
			report(&v.Ident, "declarations of censored data", write)
		}
		if d, ok := n.(*ast.VarDecl); ok && d.Type.Labels() != nil {
			report(d.Type.Bound(ast.Labels), "labels of a size", write)
		}
		if d, ok := n.(*ast.VarDecl); ok && info.Defs[n] != nil && info.Defs[n].Ragged != nil {
			report(info.Defs[n].Ragged.Sizes, "ragged arrays, such as "+quote(d.Name.Name), write)
		}
		if t, ok := n.(*ast.TypeExpr); ok && t.Elem == types.SparseMatrix.String() {
			report(t, "sparse matrices", write)
		}
		if c := info.Calls[n]; c != nil && !seen[c.Name] {
			if o, ok := c.Overload.(types.Extension); ok && o.Extends() {
				seen[c.Name] = true
				report(n, "function "+quote(c.Name), "")
			}
		}
		return true
	}, nil)
	return out
}
