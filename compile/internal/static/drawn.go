package static

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/ir"
)

// Drawn returns the variables of a block whose values may depend on random draws: directly, through
// other variables, or because draws determine whether or how often they are assigned. The result is
// conservative: it may also contain other variables.
func Drawn(k *Functions, block []ir.Stmt) map[*ir.Var]bool {
	drawn := map[*ir.Var]bool{}
	depends := func(s ir.Stmt) bool {
		for e := range ir.Exprs(s) {
			if k.SideEffectsIn(e)&Draws != 0 {
				return true
			}
			for v := range ir.Vars(e) {
				if drawn[v] {
					return true
				}
			}
		}
		return false
	}
	jump := func(s ir.Stmt) bool {
		switch s.(type) {
		case *ir.Break, *ir.Continue, *ir.Return:
			return true
		}
		return false
	}
	for again := true; again; {
		again = false
		mark := func(vars ...*ir.Var) {
			for _, v := range vars {
				again = again || !drawn[v]
				drawn[v] = true
			}
		}
		for _, top := range block {
			for s := range ir.Stmts(top) {
				if !depends(s) {
					continue
				}
				switch s := s.(type) {
				case *ir.Declare:
					mark(s.Var)
				case *ir.Unpack:
					mark(s.Vars...)
				case *ir.Assign:
					mark(s.Var)
				case *ir.For:
					mark(s.Var)
				case *ir.ForEach:
					mark(s.Var)
				}
				if inner := slices.Collect(ir.Inner(s)); len(inner) == 0 {
					continue
				}
				mark(VariablesOf(s).Assigned...)
				if Has(s, jump) { // a draw determines whether the statements after it run
					mark(VariablesOf(top).Assigned...)
				}
			}
		}
	}
	return drawn
}
