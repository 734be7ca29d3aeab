package static

import "github.com/ppl-lang/ppl/compile/ir"

// Slice is a list of statements from which some can be dropped, together with all statements that
// depend on the dropped ones. The variables of a dropped statement are unknown everywhere, even
// before it.
type Slice struct {
	functions *Functions
	all       []ir.Stmt
	dropped   map[ir.Stmt]bool
	unknown   map[*ir.Var]bool
}

// NewSlice returns the slice with all statements.
func NewSlice(k *Functions, all []ir.Stmt) *Slice {
	return &Slice{functions: k, all: all, dropped: map[ir.Stmt]bool{}, unknown: map[*ir.Var]bool{}}
}

// Unknown reports whether a dropped statement declares or assigns v.
func (s *Slice) Unknown(v *ir.Var) bool { return s.unknown[v] }

// Drop drops the innermost statement for which around returns true, within the statement with that
// index. If there is none, it drops that statement as a whole.
func (s *Slice) Drop(index int, around func(st ir.Stmt) bool) {
	whole := s.all[index]
	inner := whole
	for t := range ir.Stmts(whole) {
		if !s.dropped[t] && around(t) {
			inner = t // statements found later are further inside
		}
	}
	if MayJump(inner) { // a jump determines where the loop around it ends, so that is dropped too
		inner = whole
	}
	s.drop(inner)
	for changed := true; changed; {
		changed = false
		for _, st := range s.all {
			changed = s.spread(st, st) || changed
		}
	}
}

// drop drops a statement.
func (s *Slice) drop(st ir.Stmt) {
	s.dropped[st] = true
	vars := VariablesOf(st)
	for v := range vars.Declared {
		s.unknown[v] = true
	}
	for _, v := range vars.Assigned {
		s.unknown[v] = true
	}
}

// spread drops the statements within st, a part of whole, that depend on dropped ones. changed is
// true if there were any.
func (s *Slice) spread(st, whole ir.Stmt) (changed bool) {
	switch {
	case s.dropped[st]:
		return false
	case !s.depends(st):
	case MayJump(st):
		s.drop(whole)
		return true
	default:
		s.drop(st)
		return true
	}
	for t := range ir.Inner(st) {
		changed = s.spread(t, whole) || changed
	}
	return changed
}

// depends reports whether the expressions that belong to a statement directly depend on dropped
// statements.
func (s *Slice) depends(st ir.Stmt) bool {
	if a, ok := st.(*ir.Assign); ok && s.unknown[a.Var] {
		return true
	}
	for e := range ir.Exprs(st) {
		if s.functions.SideEffectsIn(e)&Looks != 0 {
			return true
		}
		for v := range ir.Vars(e) {
			if s.unknown[v] {
				return true
			}
		}
	}
	return false
}

// Rest returns the statements without the dropped parts. Statements that were dropped completely
// are nil.
func (s *Slice) Rest() []ir.Stmt {
	out := make([]ir.Stmt, len(s.all))
	for i, st := range s.all {
		out[i] = s.rest(st)
	}
	return out
}

// rest returns a statement without the dropped parts; nil if it was dropped itself.
func (s *Slice) rest(st ir.Stmt) ir.Stmt {
	if st == nil || s.dropped[st] {
		return nil
	}
	body := func(b ir.Stmt) ir.Stmt {
		if b = s.rest(b); b == nil {
			return &ir.Block{Pos: ir.Pos{At: st.Span()}}
		}
		return b
	}
	switch st := st.(type) {
	case *ir.Block:
		c := &ir.Block{Pos: st.Pos}
		for _, t := range st.Stmts {
			if t = s.rest(t); t != nil {
				c.Stmts = append(c.Stmts, t)
			}
		}
		return c
	case *ir.If:
		return &ir.If{Pos: st.Pos, Cond: st.Cond, Then: body(st.Then), Else: s.rest(st.Else)}
	case *ir.For:
		return &ir.For{Pos: st.Pos, Var: st.Var, From: st.From, To: st.To, Body: body(st.Body), InOrder: st.InOrder}
	case *ir.ForEach:
		return &ir.ForEach{Pos: st.Pos, Var: st.Var, Over: st.Over, Body: body(st.Body)}
	case *ir.While:
		return &ir.While{Pos: st.Pos, Cond: st.Cond, Body: body(st.Body)}
	}
	return st
}
