package emit

import (
	"errors"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
)

// maxRefused bounds the number of statements that Part leaves out because of their refusal. The
// others are evaluated again after each of them.
const maxRefused = 8

// Part returns a graph of the statements of a log density that a graph can hold, and that do not
// depend on others. Their sum is the output. It is nil if there are too many others, or if memory
// does not suffice. Call it after the other graphs of the program.
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

// checkTransformed checks the bounds of the transformed parameters that a slice knows.
func (pr *Program) checkTransformed(slice *static.Slice) {
	for _, v := range pr.prog.TransformedParameterVars {
		if !slice.Unknown(v) {
			pr.params.checkDeclared(v)
		}
	}
}
