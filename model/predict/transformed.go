package predict

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// Transformed derives the program that has no parameters and whose generated quantities are some
// variables of transformed data, under other names. names maps these to the variables.
func Transformed(p *compile.Program, variables []string) (program *compile.Program, names map[string]string, err error) {
	tree, info := p.Syntax()
	e := &emitter{analysis: analyse(tree, info, nil), kind: Replicated, used: namesOf(tree), comments: map[ast.Stmt]string{}}
	names = map[string]string{}
	quantities := &ast.Block{Kind: ast.GeneratedQuantities}
	if b := tree.Block(ast.TransformedData); b != nil {
		for _, s := range b.Stmts {
			v := info.Defs[s]
			if v == nil || !slices.Contains(variables, v.Name) {
				continue
			}
			name := e.fresh(v.Name + "_value")
			names[name] = v.Name
			quantities.Stmts = append(quantities.Stmts, declare(typeExpr(v.Type, sizesOf(v.Decl.(*ast.VarDecl).Type, v.Type)), name, variable(v.Name)))
		}
	}
	e.unknown = map[*check.Var]bool{}
	text := e.text(e.file(quantities, ast.Functions, ast.Data, ast.TransformedData))
	program, list := compile.CompileWith(placed(tree.Source.Name, text, tree.Source), compile.Options{Like: p})
	if list.HasErrors() {
		return nil, nil, fmt.Errorf("the transformed data are no program: %s", list.Errors()[0].Summary)
	}
	return program, names, nil
}
