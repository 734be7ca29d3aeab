package fit

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/fit/arrays"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
)

// mayStay returns a function that reports whether a quantity may have the same value at all draws:
// its declared type fixes it, as the first element of a Cholesky factor of correlations, or it is a
// discrete parameter, whose value may be all but certain. names are all columns, and the function
// takes their readable names. It is nil if there are no such quantities.
func mayStay(m *model.Model, names []string) func(name string) bool {
	discrete := map[string]bool{}
	for name := range m.Program().Discretes() {
		discrete[name] = true
	}
	fixed := fixedByType(m.Program().IR(), names)
	if len(discrete) == 0 {
		return fixed
	}
	return func(name string) bool {
		variable, _, _ := strings.Cut(name, "[")
		return discrete[variable] || fixed != nil && fixed(name)
	}
}

// fixedByType is the part of mayStay about types.
func fixedByType(p *ir.Program, names []string) func(name string) bool {
	if p == nil {
		return nil
	}
	vars := map[string]*ir.Var{}
	for _, v := range slices.Concat(p.Parameters, p.TransformedParameterVars, p.GeneratedQuantityVars) {
		if v.Constraint.Kind.Structured() {
			vars[v.Name] = v
		}
	}
	if len(vars) == 0 {
		return nil
	}
	layouts, err := arrays.Layouts(names)
	if err != nil {
		return nil // these names are not of one program
	}
	fixed := map[string]bool{}
	for _, l := range layouts {
		v, rank := vars[l.Name], 0
		if v != nil {
			rank = v.Constraint.Kind.Type().Rank()
		}
		if v == nil || rank > len(l.Shape) {
			continue
		}
		outer := len(l.Shape) - rank // dimensions of an array of such values
		at := make([]int, len(l.Shape))
		for _, column := range l.Columns {
			if v.Constraint.Kind.Fixed(l.Shape[outer:], at[outer:]) {
				fixed[diagnose.DisplayName(names[column])] = true
			}
			for k := len(at) - 1; k >= 0; k-- {
				if at[k]++; at[k] < l.Shape[k] {
					break
				}
				at[k] = 0
			}
		}
	}
	return func(name string) bool { return fixed[name] }
}

// mayStay is the function of that name for the model and quantities of the fit; nil without a
// model.
func (f *Fit) mayStay() func(name string) bool {
	if f.posterior == nil && f.record == nil {
		return nil
	}
	m, err := f.Model()
	if err != nil {
		return nil
	}
	return mayStay(m, f.Draws.Names())
}
