package predict

import (
	"cmp"
	"maps"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
)

// namesOf returns all names in a program: those of functions, arguments, variables and loop
// variables. It skips generated quantities, which a derived program does not keep.
func namesOf(tree *ast.File) map[string]bool {
	used := map[string]bool{}
	for _, b := range tree.Blocks {
		if b.Kind == ast.GeneratedQuantities {
			continue
		}
		ast.Inspect(b, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				used[n.Name] = true
			case *ast.VarExpr:
				used[n.Name] = true
			}
			return true
		}, nil)
	}
	return used
}

// fresh returns a name that neither the program nor the library uses. Every new name in a derived
// program comes from here.
func (e *emitter) fresh(name string) string { return e.freshEnding(name, "") }

// freshEnding returns a fresh name with a suffix that has a meaning in the language, such as _rng
// for a function that draws random numbers.
func (e *emitter) freshEnding(name, ending string) string {
	for n := name; ; n += "_" {
		if strings.HasSuffix(n, "__") {
			n = strings.TrimRight(n, "_") + "_x"
		}
		if full := n + ending; !e.used[full] && len(e.candidates(full)) == 0 {
			e.used[full] = true
			return full
		}
	}
}

// scope calls write, which writes a block or a function, and then frees the names declared in it
// for reuse.
func (e *emitter) scope(write func()) {
	before := maps.Clone(e.used)
	write()
	e.used = before
	for _, name := range e.truncated { // functions are declared for the whole program
		e.used[name] = true
	}
}

// renamed returns a tree in which the locals have fresh names, assigned in the given order.
func (e *emitter) renamed(tree *ast.File, locals []string) *ast.File {
	to := map[string]string{}
	for _, l := range locals {
		to[l] = e.fresh(l)
	}
	return ast.Rewrite(tree, nil, func(n ast.Node) ast.Node {
		switch n := n.(type) {
		case *ast.Ident:
			return &ast.Ident{Base: n.Base, Name: cmp.Or(to[n.Name], n.Name)}
		case *ast.VarExpr:
			return &ast.VarExpr{Base: n.Base, Name: cmp.Or(to[n.Name], n.Name)}
		}
		return n
	}).(*ast.File)
}
