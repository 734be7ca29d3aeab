package ragged

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// instance is a user's function for some ragged arguments, each of which becomes three: all
// elements, the starts of the rows, and their sizes.
type instance struct {
	of   *check.Func
	name string
	args []*rows // by parameter; nil for those that are not ragged
}

// library rewrites a call.
func (r *rewriter) library(e *ast.CallExpr) ast.Node {
	f := r.info.Calls[e]
	if k := r.first1(e.Args); k != nil && f != nil && f.Func == nil && f.Name == "size" {
		return &ast.CallExpr{Base: written(e), Func: e.Func, Args: []ast.Expr{k.sizes()}}
	}
	if f == nil || f.Func == nil || !slices.ContainsFunc(e.Args, func(a ast.Expr) bool { return r.of(a) != nil }) {
		return ast.Map(e, r.rewrite)
	}
	c := *e
	name, args := r.instance(f.Func, e.Args)
	_, suffix := check.SplitSuffix(name)
	if check.Unnormalised(e.Func.Name) {
		base, _ := check.SplitSuffix(name)
		name = base + map[string]string{"_lpdf": "_lupdf", "_lpmf": "_lupmf"}[suffix]
	}
	c.Base, c.Func.Name, c.Args = written(e), name, args
	return &c
}

// first1 returns how the only argument is stored, if it is a ragged variable.
func (r *rewriter) first1(args []ast.Expr) *rows {
	if len(args) != 1 {
		return nil
	}
	return r.of(args[0])
}

// tilde rewrites y ~ dist(…).
func (r *rewriter) tilde(s *ast.Tilde) ast.Node {
	f, es := r.info.Calls[s], append([]ast.Expr{s.Variate}, s.Args...)
	if f == nil || f.Func == nil || !slices.ContainsFunc(es, func(a ast.Expr) bool { return r.of(a) != nil }) {
		return ast.Map(s, r.rewrite)
	}
	c := *s
	c.Base = written(s)
	name, args := r.instance(f.Func, es)
	c.Dist.Name, _ = check.SplitSuffix(name)
	c.Variate, c.Args = args[0], args[1:]
	return &c
}

// instance returns the name of a function for ragged arguments, and the arguments of its call.
func (r *rewriter) instance(f *check.Func, es []ast.Expr) (name string, args []ast.Expr) {
	i := &instance{of: f, args: make([]*rows, len(es))}
	key := fmt.Sprintf("%p", f)
	for n, e := range es {
		k := r.of(e)
		args = append(args, r.expr(e))
		if k != nil {
			args = append(args, k.start(), k.sizes())
			i.args[n] = k
			key += fmt.Sprintf(" %d:%d,%d", n, k.Outer, k.At)
		}
	}
	if r.made[key] == "" {
		base, suffix := check.SplitSuffix(f.Name)
		i.name = r.names.New(base+"_ragged") + suffix
		r.made[key] = i.name
		r.waiting = append(r.waiting, i)
	}
	return r.made[key], args
}

// functions makes the functions for ragged arguments.
func (r *rewriter) functions() []ast.Stmt {
	var out []ast.Stmt
	r.block = ast.Functions
	for len(r.waiting) > 0 {
		i := r.waiting[0]
		r.waiting = r.waiting[1:]
		r.types = map[*ast.TypeExpr]*ast.TypeExpr{}
		d := *i.of.Decl
		d.Result = ast.Fresh(d.Result)
		d.Name.Name, d.Params = i.name, nil
		for n, p := range i.of.Decl.Params {
			k := i.args[n]
			if k == nil {
				d.Params = append(d.Params, ast.Fresh(p))
				continue
			}
			flat, t := *p, *p.Type
			if t.ArrayDims = t.ArrayDims[k.Outer:]; len(t.ArrayDims) == 0 {
				t.ArrayDims = nil
			}
			flat.Type = &t
			start, sizes := r.names.New(p.Name.Name+"_start"), r.names.New(p.Name.Name+"_size")
			d.Params = append(d.Params, &flat)
			for _, name := range []string{start, sizes} {
				d.Params = append(d.Params, &ast.Param{Base: p.Base, Name: ast.Ident{Base: p.Name.Base, Name: name},
					Type: &ast.TypeExpr{Base: p.Type.Base, Unsized: true, Elem: "int", ArrayDims: make([]ast.Expr, k.Outer)}})
			}
			r.rows[i.of.Params[n]] = &rows{Ragged: k.Ragged, start: named(start), sizes: named(sizes)}
		}
		d.Body = ast.Fresh(r.rewrite(i.of.Decl.Body).(*ast.BlockStmt))
		for _, v := range i.of.Params {
			delete(r.rows, v)
		}
		out = append(out, &d)
	}
	slices.Reverse(out) // most functions are called by those made before them
	return out
}
