package predict

import (
	"errors"
	"slices"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/printer"
)

// This file derives programs from models with discrete parameters. The derived program has them
// too, and a model block by which they are summed out or drawn.

// summed adds the model block that a derived program with discrete parameters needs.
//
// Quantities that are computed at draws, such as replicated data, need draws of the discrete
// parameters: given the data of the fit, by the whole model, or for other data by the model without
// its statements about data. The log likelihood of an observation is a sum over them, so its
// statements move to the model block.
func (e *emitter) summed(p *compile.Program, f *ast.File, o Options, to *compile.Options) error {
	if len(o.Grown) > 0 {
		return errors.New("the model has discrete parameters and needs more elements of others than the fit has; this cannot be predicted. Predict for the levels of the fit, or compute the prediction in generated quantities")
	}
	if o.Ahead != nil {
		return errors.New("the model has discrete parameters, whose values in later rows are not known; write the later rows as generated quantities")
	}
	if e.kind == LogLikelihood {
		quantities := f.Block(ast.GeneratedQuantities)
		stmts := append([]ast.Stmt{&ast.BlockStmt{Stmts: e.without(true)}}, quantities.Stmts...)
		f.Blocks = slices.DeleteFunc(f.Blocks, func(b *ast.Block) bool { return b == quantities })
		f.Blocks = append(f.Blocks, &ast.Block{Kind: ast.Model, Stmts: stmts})
		for _, v := range e.variables {
			to.Observations = append(to.Observations, e.names[v])
		}
		to.Sums = compile.SumsLeaveOneOut
		return nil
	}
	if e.kind == Terms {
		unknown := map[string]bool{}
		for name := range p.Discretes() {
			unknown[name] = true
		}
		computedFrom(unknown, f)
		quantities := f.Block(ast.GeneratedQuantities)
		quantities.Stmts = eachWay(unknown, quantities.Stmts)
	}
	stmts := e.model
	if o.Anew || len(o.Unknown) > 0 {
		stmts = e.without(false)
	}
	at := slices.IndexFunc(f.Blocks, func(b *ast.Block) bool { return b.Kind == ast.GeneratedQuantities })
	f.Blocks = slices.Insert(f.Blocks, at, &ast.Block{Kind: ast.Model, Stmts: stmts})
	to.Sums = compile.SumsDraws
	return nil
}

// computedFrom adds the names of the variables that are computed from variables of a set.
func computedFrom(set map[string]bool, f *ast.File) {
	for before := -1; before < len(set); {
		before = len(set)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.VarDecl:
				if n.Init != nil && mentionsAny(set, n.Init) {
					set[n.Name.Name] = true
				}
			case *ast.Assign:
				if mentionsAny(set, n.RHS) {
					for v := range ast.Targets(n.LHS) {
						set[v.Name] = true
					}
				}
			}
			return true
		}, nil)
	}
}

func mentionsAny(set map[string]bool, n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if v, ok := n.(*ast.VarExpr); ok {
			found = found || set[v.Name]
		}
		return !found
	}, nil)
	return found
}

// eachWay returns statements with both branches of each conditional that a discrete parameter
// decides: they are about an observation if any value of the parameter leads there.
func eachWay(unknown map[string]bool, list []ast.Stmt) []ast.Stmt {
	var visit func(n ast.Node) ast.Node
	visit = func(n ast.Node) ast.Node {
		n = ast.Map(n, visit)
		c, ok := n.(*ast.If)
		if !ok || !mentionsAny(unknown, c.Cond) {
			return n
		}
		out := &ast.BlockStmt{}
		for _, branch := range []ast.Stmt{c.Then, c.Else} {
			if branch != nil {
				out.Stmts = append(out.Stmts, &ast.BlockStmt{Stmts: []ast.Stmt{ast.Map(branch, unset).(ast.Stmt)}})
			}
		}
		return out
	}
	out := make([]ast.Stmt, len(list))
	for i, s := range list {
		out[i] = visit(s).(ast.Stmt)
	}
	return out
}

// unset leaves out the values of local real numbers: with other values of a discrete parameter,
// they may not be computable. Nothing that is counted depends on them.
func unset(n ast.Node) ast.Node {
	if d, ok := n.(*ast.VarDecl); ok && d.Init != nil && d.Type.Elem != "int" {
		c := *d
		c.Init = nil
		return &c
	}
	return ast.Map(n, unset)
}

// without returns the statements of the model without those about data. With left it keeps
// statements about data from which nothing is derived.
func (e *emitter) without(left bool) []ast.Stmt {
	kind, now, names := e.kind, e.now, e.comments
	e.kind, e.now = Prior, rename{}
	e.keepsLeft = left
	defer func() { e.kind, e.now, e.comments, e.keepsLeft = kind, now, names, false }()
	return e.stmts(e.model)
}

// ModeSuffix and ProbabilitySuffix end the names of the generated quantities of [Probabilities].
const (
	ModeSuffix        = "_mode"
	ProbabilitySuffix = "_probability"
)

// Probabilities derives the program that computes the probabilities of the values of discrete
// parameters, and their most likely configuration, at given values of the other parameters; see
// [compile.SumsProbabilities].
func Probabilities(p *compile.Program) (*Derived, error) {
	if !p.Discrete() {
		return nil, errors.New("the model has no discrete parameters")
	}
	tree, _ := p.Syntax()
	f := &ast.File{}
	for _, b := range tree.Blocks {
		if b.Kind != ast.GeneratedQuantities {
			f.Blocks = append(f.Blocks, b)
		}
	}
	text := printer.Commented(f, func(ast.Stmt) []string { return nil }) + "\n"
	program, list := compile.CompileWith(placed(tree.Source.Name+" (probabilities)", text, tree.Source), compile.Options{Sums: compile.SumsProbabilities, Like: p})
	if list.HasErrors() {
		return nil, &compile.Error{List: list}
	}
	return &Derived{Program: program, Text: text}, nil
}
