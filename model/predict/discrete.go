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
func (e *emitter) summed(f *ast.File, o Options, to *compile.Options) error {
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
	stmts := e.model
	if o.Anew || len(o.Unknown) > 0 {
		stmts = e.without(false)
	}
	at := slices.IndexFunc(f.Blocks, func(b *ast.Block) bool { return b.Kind == ast.GeneratedQuantities })
	f.Blocks = slices.Insert(f.Blocks, at, &ast.Block{Kind: ast.Model, Stmts: stmts})
	to.Sums = compile.SumsDraws
	return nil
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
