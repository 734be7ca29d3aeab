package compile

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: data with missing values. Once the data are known, the program is rewritten: a data
// variable with missing elements becomes a transformed variable, which is not an output. Its
// elements are those of the data, and those of a parameter that consists of the missing elements.
// After that, the program is an ordinary one.

// Missing returns the elements of a data variable that are missing, in row-major order and from 0:
// those that the program declares as possibly missing, and that are NaN.
func (p *Program) Missing(d *data.Set, name string) []int {
	for _, v := range p.ir.Data {
		if v.Name == name && v.Missing {
			value, _ := p.Flattened(d).Filled(func(n string) bool { return n == name }).Get(name)
			return missing(value)
		}
	}
	return nil
}

func missing(v data.Value) (out []int) {
	for i, x := range v.Reals {
		if math.IsNaN(x) {
			out = append(out, i)
		}
	}
	return out
}

// incomplete reports whether a data variable may have missing elements, in a program that has not
// been rewritten.
func incomplete(v *ir.Var) bool { return v.Missing && v.Level == ir.Param }

// complete returns the program for data with missing values.
func complete(p *ir.Program, d *data.Set) *ir.Program {
	if !slices.ContainsFunc(p.Data, incomplete) {
		return p
	}
	c := &completion{Program: *p}
	c.Data = slices.Clone(p.Data)
	var assembled []ir.Stmt
	var missed []*ir.Var
	var places []ir.Stmt
	for i, v := range p.Data {
		if !incomplete(v) {
			continue
		}
		given := *v // as it is read
		given.ID, given.Level = c.id(), ir.Data
		c.Data[i] = &given
		assembled = append(assembled, &ir.Declare{Pos: ir.Pos{At: v.Span}, Var: v, Init: ref(&given)})
		value, _ := d.Get(v.Name)
		at := missing(value)
		if len(at) == 0 || len(value.Shape) != v.Type.Rank() {
			continue
		}
		m := c.parameter(v, value.Shape, at)
		missed = append(missed, m)
		declare, fill := c.fill(v, m, value.Shape, at)
		places, assembled = append(places, declare...), append(assembled, fill)
	}
	c.Parameters = append(missed, c.Parameters...)
	c.TransformedData = append(places, c.TransformedData...)
	c.TransformedParameters = append(assembled, c.TransformedParameters...)
	return &c.Program
}

// completion is a program that is being rewritten.
type completion struct{ ir.Program }

// id returns the place of a new variable.
func (c *completion) id() int {
	c.NumVars++
	return c.NumVars - 1
}

// parameter returns the parameter that consists of the missing elements of a variable. It has the
// variable's bounds.
func (c *completion) parameter(v *ir.Var, shape, at []int) *ir.Var {
	elements := func(e ir.Expr) ir.Expr {
		if e == nil || e.Type().IsScalar() {
			return e
		}
		list := &ir.ArrayLit{Typed: typed(v, types.RealType.Array(1), e.Level())}
		for _, k := range at {
			x := &ir.IndexExpr{Typed: typed(v, types.RealType, e.Level()), X: e}
			for d, i := range position(shape, k) {
				x.Indices = append(x.Indices, c.index(v, d, number(v, i+1)))
			}
			list.Elems = append(list.Elems, x)
		}
		return list
	}
	return &ir.Var{
		ID: c.id(), Name: v.Name, Type: types.RealType.Array(1), Sizes: []ir.Expr{number(v, len(at))},
		Constraint: ir.Constraint{Kind: v.Constraint.Kind, Lower: elements(v.Constraint.Lower), Upper: elements(v.Constraint.Upper)},
		Block:      ast.Parameters, Global: true, Level: ir.Param, Span: v.Span, Places: &ir.Places{Shape: shape, Elements: at}, Ragged: v.Ragged,
	}
}

// fill returns the statement that stores the elements of the parameter m in the variable, and
// declarations that it needs in transformed data.
func (c *completion) fill(v, m *ir.Var, shape, at []int) (declare []ir.Stmt, fill ir.Stmt) {
	pos := ir.Pos{At: v.Span}
	if len(shape) == 0 {
		return nil, &ir.Assign{Pos: pos, Var: v, Value: c.element(m, number(v, 1))}
	}
	ints := types.IntType.Array(1)
	k := &ir.Var{ID: c.id(), Name: "k", Type: types.IntType, Block: ast.Functions, Loop: true, Span: v.Span}
	assign := &ir.Assign{Pos: pos, Var: v, Value: c.element(m, ref(k))}
	for d := range shape {
		of := &ir.Var{ID: c.id(), Name: v.Name + ".place", Type: ints, Sizes: []ir.Expr{number(v, len(at))}, Block: ast.TransformedData, Global: true, Span: v.Span}
		list := &ir.ArrayLit{Typed: typed(v, ints, ir.Data)}
		for _, e := range at {
			list.Elems = append(list.Elems, number(v, position(shape, e)[d]+1))
		}
		c.TransformedDataVars = append(slices.Clip(c.TransformedDataVars), of)
		declare = append(declare, &ir.Declare{Pos: pos, Var: of, Init: list})
		assign.Indices = append(assign.Indices, c.index(v, d, c.element(of, ref(k))))
	}
	return declare, &ir.For{Pos: pos, Var: k, From: number(v, 1), To: number(v, len(at)), Body: assign}
}

// index returns the index of dimension d of a variable.
func (c *completion) index(v *ir.Var, d int, i ir.Expr) ir.Index {
	return ir.Index{Kind: ir.IndexSingle, Array: d < v.Type.Dims, A: i, At: v.Span}
}

// element returns an element of an array.
func (c *completion) element(of *ir.Var, i ir.Expr) ir.Expr {
	return &ir.IndexExpr{Typed: typed(of, types.Type{Kind: of.Type.Kind}, of.Level), X: ref(of), Indices: []ir.Index{c.index(of, 0, i)}}
}

// position returns the indices of an element, from 0.
func position(shape []int, e int) []int {
	at := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		at[d], e = e%shape[d], e/shape[d]
	}
	return at
}

func typed(v *ir.Var, t types.Type, level ir.Level) ir.Typed {
	return ir.Typed{At: v.Span, Ty: t, Lv: level}
}

func ref(v *ir.Var) ir.Expr { return &ir.VarRef{Typed: typed(v, v.Type, v.Level), Var: v} }

func number(v *ir.Var, n int) ir.Expr {
	return &ir.IntLit{Typed: typed(v, types.IntType, ir.Data), Value: int64(n)}
}
