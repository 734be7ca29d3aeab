package compile

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// This file: the Stan program that means the same for data with missing values. In it the data have
// NaN for them, as Stan reads them from JSON.

// writeMissing returns the tree with the missing elements of the data as parameters that are
// declared and stored in a copy of the data. parameters are those of the completed program.
func writeMissing(f *ast.File, info *check.Info, parameters []*ir.Var) *ast.File {
	w := &missingWriter{info: info, taken: map[string]bool{}, copies: map[string]string{}}
	ast.Inspect(f, func(n ast.Node) bool {
		if i, ok := n.(*ast.Ident); ok {
			w.taken[i.Name] = true
		}
		return true
	}, nil)
	out := *f
	out.Blocks = nil
	var declared, assembled []ast.Stmt
	for _, b := range f.Blocks {
		c := *b
		if b.Kind == ast.Data {
			c.Stmts = nil
			for _, s := range b.Stmts {
				d, ok := s.(*ast.VarDecl)
				if !ok || d.Type.Missing() == nil {
					c.Stmts = append(c.Stmts, s)
					continue
				}
				plain := *d
				plain.Type = w.bounded(d.Type, nil)
				c.Stmts = append(c.Stmts, &plain)
				i := slices.IndexFunc(parameters, func(v *ir.Var) bool { return v.Places != nil && v.Name == d.Name.Name })
				if i >= 0 {
					p, a := w.variable(d, parameters[i].Places)
					declared, assembled = append(declared, p), append(assembled, a...)
				}
			}
		}
		out.Blocks = append(out.Blocks, &c)
	}
	if declared == nil {
		return &out
	}
	for _, b := range out.Blocks {
		if b.Kind == ast.TransformedParameters || b.Kind == ast.Model || b.Kind == ast.GeneratedQuantities {
			for i, s := range b.Stmts {
				b.Stmts = slices.Clone(b.Stmts)
				b.Stmts[i] = w.renamed(s).(ast.Stmt)
			}
		}
	}
	for kind, first := range map[ast.BlockKind][]ast.Stmt{ast.Parameters: declared, ast.TransformedParameters: assembled} {
		b := out.Block(kind)
		if b == nil {
			b = &ast.Block{Kind: kind}
			at := slices.IndexFunc(out.Blocks, func(o *ast.Block) bool { return o.Kind > kind })
			if at < 0 {
				at = len(out.Blocks)
			}
			out.Blocks = slices.Insert(out.Blocks, at, b)
		}
		b.Stmts = append(slices.Clip(first), b.Stmts...)
	}
	return &out
}

type missingWriter struct {
	info   *check.Info
	taken  map[string]bool
	copies map[string]string // by variable, the name of the complete one
}

// name returns a new name.
func (w *missingWriter) name(name string) string {
	for w.taken[name] {
		name += "_"
	}
	w.taken[name] = true
	return name
}

// bounded returns the type with other bounds.
func (w *missingWriter) bounded(t *ast.TypeExpr, bounds []ast.Bound) *ast.TypeExpr {
	out := *t
	out.Bounds = bounds
	return &out
}

// variable returns the declaration of the missing elements of a variable, and statements that make
// the complete variable.
func (w *missingWriter) variable(d *ast.VarDecl, p *ir.Places) (parameter ast.Stmt, assembled []ast.Stmt) {
	name, whole := d.Name.Name, w.name(d.Name.Name+"_complete")
	w.copies[name] = whole
	missing := w.name(name + "_missing")
	var bounds []ast.Bound
	for _, b := range d.Type.Bounds {
		if b.Kind == ast.Missing {
			continue
		}
		if len(p.Shape) > 0 && !w.info.Types[b.Value].Type.IsScalar() {
			list := &ast.ArrayExpr{}
			for _, e := range p.Elements {
				list.Elems = append(list.Elems, at(b.Value, position(p.Shape, e)...))
			}
			b.Value = list
		}
		bounds = append(bounds, b)
	}
	parameter = &ast.VarDecl{Name: ast.Ident{Name: missing},
		Type: &ast.TypeExpr{ArrayDims: []ast.Expr{literal(len(p.Elements))}, Elem: "real", Bounds: bounds}}
	assembled = append(assembled, &ast.VarDecl{Name: ast.Ident{Name: whole}, Type: w.bounded(d.Type, nil), Init: &ast.VarExpr{Name: name}})
	for k, e := range p.Elements {
		assembled = append(assembled, &ast.Assign{Op: "=", LHS: at(&ast.VarExpr{Name: whole}, position(p.Shape, e)...), RHS: at(&ast.VarExpr{Name: missing}, k)})
	}
	return parameter, assembled
}

// renamed returns a node that reads the complete variables.
func (w *missingWriter) renamed(n ast.Node) ast.Node {
	if v, ok := n.(*ast.VarExpr); ok && w.copies[v.Name] != "" {
		c := *v
		c.Name = w.copies[v.Name]
		return &c
	}
	return ast.Map(n, w.renamed)
}

// at returns an element, whose indices count from 0.
func at(x ast.Expr, indices ...int) ast.Expr {
	if len(indices) == 0 {
		return x
	}
	e := &ast.IndexExpr{X: x}
	for _, i := range indices {
		e.Indices = append(e.Indices, &ast.Single{X: literal(i + 1)})
	}
	return e
}

func literal(n int) ast.Expr { return &ast.IntLit{Text: fmt.Sprint(n), Value: int64(n)} }
