package static

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// This file analyses statements without regard to the data.

// NeverGoesOn reports whether a statement always ends in a jump, so that the next one does not run.
func NeverGoesOn(s ir.Stmt) bool {
	switch s := s.(type) {
	case *ir.Break, *ir.Continue, *ir.Return:
		return true
	case *ir.Block:
		return slices.ContainsFunc(s.Stmts, NeverGoesOn)
	case *ir.If:
		return s.Else != nil && NeverGoesOn(s.Then) && NeverGoesOn(s.Else)
	}
	return false
}

// Has reports whether s, or a statement in it, satisfies such.
func Has(s ir.Stmt, such func(s ir.Stmt) bool) bool {
	for t := range ir.Stmts(s) {
		if such(t) {
			return true
		}
	}
	return false
}

// IsReturn reports whether s is a return statement.
func IsReturn(s ir.Stmt) bool {
	_, ok := s.(*ir.Return)
	return ok
}

// IsWhile reports whether s is a while loop.
func IsWhile(s ir.Stmt) bool {
	_, ok := s.(*ir.While)
	return ok
}

// MayJump reports whether a statement contains a return, or a break or continue of a loop around
// the statement.
func MayJump(s ir.Stmt) bool { return jumpsOut(s, true) }

// Leaves reports whether a statement may leave the loop around it, or the function.
func Leaves(s ir.Stmt) bool { return jumpsOut(s, false) }

// jumpsOut reports whether a statement contains a jump that leaves the statement. Continue counts
// only if continues is set.
func jumpsOut(s ir.Stmt, continues bool) bool {
	switch s.(type) {
	case *ir.Continue:
		return continues
	case *ir.Break, *ir.Return:
		return true
	}
	if isLoop(s) {
		return Has(s, IsReturn)
	}
	for t := range ir.Inner(s) {
		if jumpsOut(t, continues) {
			return true
		}
	}
	return false
}

// Ends reports whether a condition on values that parameters may decide can end the loop with this
// body early.
func Ends(body ir.Stmt) bool {
	if f, ok := body.(*ir.If); ok && Leaves(f) {
		for v := range ir.Vars(f.Cond) {
			if v.Level == ir.Param {
				return true
			}
		}
	}
	for t := range ir.Inner(body) {
		if isLoop(t) && !Has(t, IsReturn) {
			continue
		}
		if Ends(t) {
			return true
		}
	}
	return false
}

// Indexes reports whether the variable of a loop occurs in an index in its body.
func Indexes(body ir.Stmt, v *ir.Var) bool {
	found := false
	look := func(indices []ir.Index) {
		for _, i := range indices {
			for _, e := range []ir.Expr{i.A, i.B} {
				if e == nil {
					continue
				}
				for w := range ir.Vars(e) {
					found = found || w == v
				}
			}
		}
	}
	ir.Inspect(body, func(n ir.Node) bool {
		switch n := n.(type) {
		case *ir.IndexExpr:
			look(n.Indices)
		case *ir.Assign:
			look(n.Indices)
		}
		return !found
	})
	return found
}

func isLoop(s ir.Stmt) bool {
	switch s.(type) {
	case *ir.For, *ir.ForEach, *ir.While:
		return true
	}
	return false
}

// Variables holds the variables that a statement declares, including loop variables, and those that
// it assigns, in order.
type Variables struct {
	Declared, OfLoops map[*ir.Var]bool
	Assigned          []*ir.Var
}

// VariablesOf returns the variables that s declares and assigns.
func VariablesOf(s ir.Stmt) Variables {
	out := Variables{Declared: map[*ir.Var]bool{}, OfLoops: map[*ir.Var]bool{}}
	seen := map[*ir.Var]bool{}
	for s := range ir.Stmts(s) {
		switch s := s.(type) {
		case *ir.Declare:
			out.Declared[s.Var] = true
		case *ir.Unpack:
			for _, v := range s.Vars {
				out.Declared[v] = true
			}
		case *ir.For:
			out.OfLoops[s.Var] = true
		case *ir.ForEach:
			out.OfLoops[s.Var] = true
		case *ir.Assign:
			if !seen[s.Var] {
				seen[s.Var] = true
				out.Assigned = append(out.Assigned, s.Var)
			}
		}
	}
	return out
}

// CarriedVars returns the variables declared outside of a statement that it assigns, in order.
func CarriedVars(body ir.Stmt) []*ir.Var {
	vars := VariablesOf(body)
	return slices.DeleteFunc(vars.Assigned, func(v *ir.Var) bool { return vars.Declared[v] })
}

// CarriedInts returns the integers among CarriedVars.
func CarriedInts(body ir.Stmt) []*ir.Var {
	return slices.DeleteFunc(CarriedVars(body), func(v *ir.Var) bool { return v.Type.Kind != types.Int })
}

// FuncOf returns the library's declaration of the function that a call was resolved to.
func FuncOf(c *ir.Call) *stdlib.Func { return c.Overload.(*stdlib.Func) }

// Measured returns x if a call only depends on the size of the variable x, as in size(x); nil for
// other calls.
func Measured(c *ir.Call) *ir.Var {
	if FuncOf(c).OfShape == nil || len(c.Args) != 1 {
		return nil
	}
	if v, ok := c.Args[0].(*ir.VarRef); ok && !v.Ty.Composite() {
		return v.Var
	}
	return nil
}

// Signal is the set of ways in which statements may end. If there are several, which one applies
// depends on the iteration or is computed by the program; a value called the code records it.
type Signal uint8

// The ways to end.
const (
	GoesOn Signal = 1 << iota
	Breaks
	Continues
	Returns
)

// Certain reports whether statements can end in at most one way.
func (s Signal) Certain() bool { return s&(s-1) == 0 }

// Sequence runs statements in order. A statement runs only if those before it did not jump. one
// runs a statement; done reports that it also ran the statements after it. onlyIf runs rest only in
// those cases in which the statements that ended with sig did so in one of the ways in on.
func Sequence(stmts []ir.Stmt, one func(s ir.Stmt, rest []ir.Stmt) (sig Signal, done bool), onlyIf func(sig, on Signal, rest func() Signal) Signal) Signal {
	for i, s := range stmts {
		rest := stmts[i+1:]
		if sig, done := one(s, rest); done {
			return sig
		} else if sig != GoesOn {
			return onlyIf(sig, GoesOn, func() Signal { return Sequence(rest, one, onlyIf) })
		}
	}
	return GoesOn
}

// Sides returns the statements of the two sides of a conditional. If one side always ends in a
// jump, the statements after the conditional, rest, become part of the other side, and done is
// true. Otherwise the caller runs rest after the conditional, in the cases without a jump.
func Sides(s *ir.If, rest []ir.Stmt) (then, els []ir.Stmt, done bool) {
	thenEnds, elseEnds := NeverGoesOn(s.Then), s.Else != nil && NeverGoesOn(s.Else)
	done = MayJump(s) && (thenEnds || elseEnds)
	side := func(s ir.Stmt, ends bool) (list []ir.Stmt) {
		if s != nil {
			list = append(list, s)
		}
		if done && !ends {
			list = append(list, rest...)
		}
		return list
	}
	return side(s.Then, thenEnds), side(s.Else, elseEnds), done
}

// ChoosesElements reports whether a condition on parameters decides whether a statement assigns
// elements of v. Conditions in loops within the statement are not counted.
func ChoosesElements(s ir.Stmt, v *ir.Var) bool {
	switch s := s.(type) {
	case *ir.Block:
		return slices.ContainsFunc(s.Stmts, func(t ir.Stmt) bool { return ChoosesElements(t, v) })
	case *ir.If:
		return readsParam(s.Cond) && slices.Contains(CarriedVars(s), v) ||
			ChoosesElements(s.Then, v) || s.Else != nil && ChoosesElements(s.Else, v)
	}
	return false
}

// readsParam reports whether an expression reads a variable of parameter level.
func readsParam(e ir.Expr) (reads bool) {
	ir.Inspect(e, func(n ir.Node) bool {
		x, ok := n.(*ir.VarRef)
		reads = reads || ok && x.Var.Level == ir.Param
		return !reads
	})
	return reads
}

// UsesWhole reports whether a statement uses all of a variable at once, and not only its elements,
// rows, slices or size.
func UsesWhole(s ir.Node, v *ir.Var) bool {
	whole := false
	ir.Inspect(s, func(n ir.Node) bool {
		switch n := n.(type) {
		case *ir.VarRef:
			whole = whole || n.Var == v
		case *ir.Assign:
			whole = whole || n.Var == v && !inParts(n.Indices)
		case *ir.Call:
			return Measured(n) == nil
		case *ir.IndexExpr:
			if x, ok := n.X.(*ir.VarRef); ok && x.Var == v && inParts(n.Indices) {
				for _, i := range n.Indices {
					for _, e := range []ir.Expr{i.A, i.B} {
						whole = whole || e != nil && UsesWhole(e, v)
					}
				}
				return false
			}
		}
		return !whole
	})
	return whole
}

// inParts reports whether some index selects only a part of its dimension.
func inParts(indices []ir.Index) bool {
	return slices.ContainsFunc(indices, func(i ir.Index) bool {
		return i.Kind == ir.IndexSingle || i.Kind == ir.IndexRange && (i.A != nil || i.B != nil)
	})
}
