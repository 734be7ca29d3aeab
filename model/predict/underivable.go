package predict

import (
	"fmt"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
)

// UnderivableError says that no statement defines the distribution of data.
type UnderivableError struct {
	Left Left // the first statement about data

	// Outcome is the data variable that the statement is about, and Size its number of rows, as it
	// is declared. Both are "" if no array among the data is.
	Outcome, Size string

	// Index is the variable of a loop over all rows around the statement, and Term the increment of
	// the log density in it. Both are "" if there is no such loop.
	Index, Term string
}

func (e *UnderivableError) Error() string {
	return fmt.Sprintf("nothing can be derived: %s", e.Left)
}

// underivable returns the error of a program from whose statements about data nothing is derived.
func (e *emitter) underivable() error {
	out := &UnderivableError{Left: e.left[0]}
	for _, s := range e.order {
		if len(e.findings[s].left) == 0 {
			continue
		}
		if d := e.outcomeOf(s); d != nil {
			out.Outcome, out.Size = d.Name.Name, printer.Line(e.sizes(d)[0])
			out.Index, out.Term = e.increment(s, out.Size)
		}
		break
	}
	return out
}

// outcomeOf returns the declaration of the first array among the data that a statement depends on,
// preferably of one that is the variate of a density. It returns nil if there is none.
func (e *emitter) outcomeOf(s ast.Stmt) (found *ast.VarDecl) {
	block := e.tree.Block(ast.Data)
	if block == nil {
		return nil
	}
	modelled := false
	for _, member := range block.Stmts {
		d, ok := member.(*ast.VarDecl)
		if !ok || len(e.sizes(d)) == 0 {
			continue
		}
		v := e.info.Defs[d]
		if found != nil && (modelled || !e.modelled[v]) || !e.readsValues(s, func(u *check.Var) bool { return u == v }) {
			continue
		}
		found, modelled = d, e.modelled[v]
	}
	return found
}

// increment returns the variable of the loop from 1 to size around a statement target += term, and
// the term.
func (e *emitter) increment(s ast.Stmt, size string) (index, term string) {
	add, ok := s.(*ast.TargetPlus)
	if !ok || len(e.loops[s]) != 1 {
		return "", ""
	}
	l, ok := e.loops[s][0].(*ast.For)
	if !ok || printer.Line(l.From) != "1" || printer.Line(l.To) != size {
		return "", ""
	}
	return l.Var.Name, printer.Line(add.Value)
}

// sizes returns the sizes of a declared variable, the first for its rows.
func (e *emitter) sizes(d *ast.VarDecl) []ast.Expr { return sizesOf(d.Type, e.info.Defs[d].Type) }
