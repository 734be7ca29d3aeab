package bind

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// What can be read off statements alone, whatever the data.

// neverGoesOn reports whether a statement ends in a jump whatever happens.
func neverGoesOn(s ir.Stmt) bool {
	switch s := s.(type) {
	case *ir.Break, *ir.Continue, *ir.Return:
		return true
	case *ir.Block:
		return slices.ContainsFunc(s.Stmts, neverGoesOn)
	case *ir.If:
		return s.Else != nil && neverGoesOn(s.Then) && neverGoesOn(s.Else)
	}
	return false
}

// has reports whether there is such a statement within s.
func has(s ir.Stmt, such func(s ir.Stmt) bool) bool {
	for t := range ir.Stmts(s) {
		if such(t) {
			return true
		}
	}
	return false
}

func isReturn(s ir.Stmt) bool {
	_, ok := s.(*ir.Return)
	return ok
}

func isWhile(s ir.Stmt) bool {
	_, ok := s.(*ir.While)
	return ok
}

// mayJump reports whether a statement holds a return, or a break or continue of
// a loop around it.
func mayJump(s ir.Stmt) bool { return jumpsOut(s, true) }

// leaves reports whether a statement may leave the loop around it, or the function.
func leaves(s ir.Stmt) bool { return jumpsOut(s, false) }

// jumpsOut reports whether a statement holds a jump out of it, or, without continues,
// one of another kind.
func jumpsOut(s ir.Stmt, continues bool) bool {
	switch s.(type) {
	case *ir.Continue:
		return continues
	case *ir.Break, *ir.Return:
		return true
	}
	if isLoop(s) {
		return has(s, isReturn)
	}
	for t := range ir.Inner(s) {
		if jumpsOut(t, continues) {
			return true
		}
	}
	return false
}

func isLoop(s ir.Stmt) bool {
	switch s.(type) {
	case *ir.For, *ir.ForEach, *ir.While:
		return true
	}
	return false
}

// variables are those that a statement brings into being: declared ones, and those of
// its loops; and those that it assigns, in order.
type variables struct {
	declared, ofLoops map[*ir.Var]bool
	assigned          []*ir.Var
}

func variablesOf(s ir.Stmt) variables {
	out := variables{declared: map[*ir.Var]bool{}, ofLoops: map[*ir.Var]bool{}}
	seen := map[*ir.Var]bool{}
	for s := range ir.Stmts(s) {
		switch s := s.(type) {
		case *ir.Declare:
			out.declared[s.Var] = true
		case *ir.Unpack:
			for _, v := range s.Vars {
				out.declared[v] = true
			}
		case *ir.For:
			out.ofLoops[s.Var] = true
		case *ir.ForEach:
			out.ofLoops[s.Var] = true
		case *ir.Assign:
			if !seen[s.Var] {
				seen[s.Var] = true
				out.assigned = append(out.assigned, s.Var)
			}
		}
	}
	return out
}

// carriedVars are the variables of outside that a statement assigns, in order.
func carriedVars(body ir.Stmt) []*ir.Var {
	vars := variablesOf(body)
	return slices.DeleteFunc(vars.assigned, func(v *ir.Var) bool { return vars.declared[v] })
}

// carriedInts are those of carriedVars that are integers.
func carriedInts(body ir.Stmt) []*ir.Var {
	return slices.DeleteFunc(carriedVars(body), func(v *ir.Var) bool { return v.Type.Kind != types.Int })
}

// dist returns the declaration of a resolved call.
func funcOf(c *ir.Call) *stdlib.Func { return c.Overload.(*stdlib.Func) }

// measured is the variable of which a call tells a size, and nothing else; nil of other calls.
func measured(c *ir.Call) *ir.Var {
	if funcOf(c).OfShape == nil || len(c.Args) != 1 {
		return nil
	}
	if v, ok := c.Args[0].(*ir.VarRef); ok && !v.Ty.Composite() {
		return v.Var
	}
	return nil
}
