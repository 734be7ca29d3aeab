package compile

import (
	"errors"
	"slices"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/ir"
)

// dataErrors collects all errors in data that are known to have one. It binds each variable
// separately, with the variables that its declaration refers to. It skips variables that refer to a
// wrong one, since nothing can be said about them. It returns nil if it finds no error.
func dataErrors(p *ir.Program, d *data.Set, o bind.Options) *Error {
	found := &Error{}
	wrong := map[*ir.Whole]bool{}
	bad := map[*ir.Var]bool{}
	for i, v := range p.Data {
		if v.Whole != nil && wrong[v.Whole] {
			continue // a member of a tuple that has been reported
		}
		needs := []*ir.Var{v}
		for k := 0; k < len(needs); k++ {
			of := needs[k]
			uses := append(slices.Clip(of.Sizes), of.Constraint.Lower, of.Constraint.Upper)
			if s := of.Sparse; s != nil {
				uses = append(uses, s.Rows, s.Columns)
			}
			for _, e := range uses {
				for u := range ir.Vars(e) {
					if !slices.Contains(needs, u) {
						needs = append(needs, u)
					}
				}
			}
		}
		if slices.ContainsFunc(needs, func(u *ir.Var) bool { return bad[u] }) {
			bad[v] = true
			continue
		}
		alone := &ir.Program{Source: p.Source, Functions: p.Functions, NumVars: p.NumVars}
		for _, u := range p.Data[:i+1] {
			if slices.Contains(needs, u) {
				alone.Data = append(alone.Data, u)
			}
		}
		if _, given := d.Get(v.Name); !given && len(v.Sizes) == 0 {
			// Binding ends there; the later declarations show what the missing variable is.
			alone.Data = append(alone.Data, p.Data[i+1:]...)
		}
		var e *Error
		if _, err := bind.Bind(alone, d, o); errors.As(err, &e) {
			found.List = append(found.List, e.List...)
			bad[v] = true
			if v.Whole != nil {
				wrong[v.Whole] = true
			}
		}
	}
	if len(found.List) == 0 {
		return nil
	}
	return found
}
