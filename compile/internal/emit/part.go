package emit

import (
	"errors"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
)

// maxRefused bounds the number of statements that Part leaves out because a graph cannot hold them.
// After each of them, the others are evaluated again.
const maxRefused = 8

// Part returns a graph of those statements of a log density that a graph can hold, if they do not
// depend on other statements. Their sum is the output. Part returns nil if it would have to leave
// out too many statements, or if memory does not suffice. Call it after the other graphs of the
// program.
func (pr *Program) Part() *ad.Graph {
	first := len(pr.prog.TransformedParameters)
	slice := static.NewSlice(static.NewFunctions(), slices.Concat(pr.prog.TransformedParameters, pr.prog.Model))
	for range maxRefused + 1 {
		var g *ad.Graph
		index := -1
		err := pr.complaints(func() {
			pr.start()
			pr.lp.inModel = true
			pr.params.parameters(func(v value) { pr.lp.targets = append(pr.lp.targets, v) })
			for i, s := range append(slice.Rest(), nil) {
				if i == first {
					pr.checkTransformed(slice)
				}
				index = min(i, len(pr.prog.Model)+first-1)
				pr.stmts.exec(s)
			}
			g = pr.sum()
		})
		pr.lp.inModel = false
		var refused *Error
		switch {
		case err == nil:
			return g
		case index < 0 || !errors.As(err, &refused) || !Unknown(refused.List) && !refused.Skippable:
			return nil
		}
		at := refused.List[0].Span
		if len(pr.rep.calls) > 0 { // it is in a function
			at = pr.rep.calls[0].at
		}
		slice.Drop(index, func(st ir.Stmt) bool {
			b := st.Span()
			return b.File == at.File && b.Start <= at.Start && at.End <= b.End
		})
	}
	return nil
}

// checkTransformed checks the bounds of the transformed parameters that a slice contains.
func (pr *Program) checkTransformed(slice *static.Slice) {
	for _, v := range pr.prog.TransformedParameterVars {
		if !slice.Unknown(v) {
			pr.params.checkDeclared(v)
		}
	}
}
