package compile

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/ast"
)

// This file: rows of a table as the rows of ragged variables.

// grouped returns a table for a program with ragged variables whose sizes are counted by the levels
// of a column. It also counts the levels.
func grouped(d *data.Set, vars []*ir.Var) *data.Set {
	if !d.Table() {
		return d
	}
	for _, v := range vars {
		n := rowSizes(v)
		if n == nil {
			continue
		}
		counts := d.Reading().Counts
		i := slices.IndexFunc(counts, func(c data.Count) bool { return c.Name == n.Name && c.Of != "" })
		if i < 0 {
			continue
		}
		number, isVar := n.Sizes[0].(*ir.VarRef)
		var each []string
		for _, w := range vars {
			if w == n || w.Ragged != nil || len(w.Sizes) == 0 || !isVar {
				continue
			}
			if size, ok := w.Sizes[0].(*ir.VarRef); ok && size.Var == number.Var {
				each = append(each, w.Name)
			}
		}
		name := ""
		if isVar && number.Var.Block == ast.Data {
			name = number.Var.Name
		}
		d = d.Grouped(counts[i], name, each)
	}
	return d
}

// rowSizes returns the variable that has the sizes of the rows of v; nil if v is not ragged in one
// dimension, or its sizes are computed.
func rowSizes(v *ir.Var) *ir.Var {
	if v.Ragged == nil || v.Ragged.Outer != 1 {
		return nil
	}
	if size, ok := v.Ragged.Sizes[v.Ragged.At].(*ir.VarRef); ok && len(size.Var.Sizes) == 1 {
		return size.Var
	}
	return nil
}
