package check

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// labels checks the labels of a size: strings that differ, for a single integer of the data block.
func (c *checker) labels(b *ast.Bound, vt types.Type) {
	const example = "`int<labels={\"low\", \"high\"}> K`"
	if c.block != ast.Data || !vt.Equal(types.IntType) {
		c.report(diag.Errorf(diag.BadBound, b.Span(), "only an int of the data block can have labels"),
			"They name the elements of all dimensions of that size, and need no value in the data.",
			"declare a size, "+example+", in the data block, and use it, as in vector[K]")
		return
	}
	list, ok := b.Value.(*ast.ArrayExpr)
	if !ok {
		c.report(diag.Errorf(diag.BadBound, b.Value.Span(), "labels are a list of strings"), "", "write them in braces: "+example)
		return
	}
	seen := map[string]*ast.StringLit{}
	for _, e := range list.Elems {
		s, ok := e.(*ast.StringLit)
		if !ok {
			c.report(diag.Errorf(diag.BadBound, e.Span(), "a label is a string"), "", "write it in double quotes: "+example)
			return
		}
		if first := seen[s.Value]; first != nil {
			d := diag.Errorf(diag.BadBound, s.Span(), "two labels are %q", s.Value)
			d.Related = []diag.Note{{Span: first.Span(), Message: "it is the label of another element here"}}
			c.report(d, "", "give each element its own label")
			return
		}
		seen[s.Value] = s
	}
}
