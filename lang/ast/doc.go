// Package ast is the syntax tree of a model: what the user wrote, resolved to
// nothing.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	ast.go     the types of nodes
//	walk.go    the children of each; Inspect, Children, Map, Rewrite, Targets
//	parens.go  how strongly operators bind; parentheses that a tree needs
//	equal.go   whether two trees say the same
//	names.go   for programs that are rewritten: new names, and a changed block
//
// Nodes are sealed: [Expr], [Stmt] and [Index] are closed sets, listed in ast.go, so
// a switch over them can be complete. Trees are immutable after parsing; facts about
// nodes (types, resolved calls) live in check.Info, keyed by node. Every node knows
// its Span.
//
// # Going over trees
//
// Code that looks for something in a tree, or replaces something, goes by [Inspect],
// [Children], [Map] or [Rewrite], on the typed program by ir.Inspect and its like. A
// new type of node is one entry in walk.go. A switch over the types of nodes is for
// code that gives each type its own meaning. These functions have one over four
// or more types of this package or of compile/ir; TestSwitches compares the list.
//
// The tree and the typed program themselves:
//
//	lang/ast.cursor.children                    the children of each node
//	compile/ir.walker.children                  the same of the typed program
//	lang/ast.Parenthesise                       the operands of each operator
//	lang/internal/grammar.notAssignable         what can be on the left of an assignment
//	lang.upgrader.node                          what older versions wrote otherwise
//	lang/format.bare                            where parentheses help to read
//	lang/printer.printer.node                   text: any node
//	lang/printer.printer.stmt                   text: statements
//	lang/printer.printer.expr                   text: expressions
//	lang/printer.endsInIf                       text: an else that would join another if
//	compile/ir.expr                             text of the typed program: expressions
//	compile/ir.printer.stmt                     text of the typed program: statements
//	compile/ir.verifier.expr                    invariants of expressions
//	compile/ir.verifier.stmt                    invariants of statements
//
// Types, control flow and warnings:
//
//	lang/check.checker.stmt                     rules of statements
//	lang/check.checker.untypedExpr              types of expressions
//	lang/check.checker.lvalue                   types of places that are assigned to
//	lang/check.checker.varies                   which integers depend on parameters
//	lang/check.flow                             how control leaves a statement
//	lang/check.escapes                          after which statements nothing runs
//	lang/check.raggedUses.visit                 what is done with ragged variables
//	lang/check.Info.Number                      values that are known before a run
//	lang/check.checker.belowOne                 what a loop reads for certain, and what a condition guards
//	lang/check.checker.reach                    intervals of values
//	lang/check.checker.ofParameter              smooth functions of parameters
//	lang/check.checker.decisions                where parameters decide
//	lang/check.tracer.trace                     what statements say about parameters
//	lang/check.tracer.term                      addends of the target
//
// Editors:
//
//	lang/service.Snapshot.Hints                 which nodes have a hint
//	lang/service.Snapshot.eachCall              calls, and functions as arguments
//	lang/service.Snapshot.shape                 shapes of values
//	lang/service.Snapshot.bindings              which nodes declare or use a name
//	lang/service.Snapshot.nodeSymbol            what a name at a place is
//	lang/service.Snapshot.eachCall              where calls are
//	lang/service.Snapshot.references            which names are the same
//
// Lowering to the typed program:
//
//	compile/ir.lowerer.stmt                     statements
//	compile/ir.lowerer.plainExpr                expressions
//	compile/ir.lowerer.places                   leaves of places that are assigned to
//	compile/ir.lowerer.acts                     what may not be evaluated twice
//	compile/ir.repeatable                       what may be evaluated twice
//	compile/ir.accumulator.fits                 which loops accumulate in an element
//	compile/ir.accumulator.rewritten            … with a number in place of the element
//	compile/ir.counter.steps                    which while loops count
//	compile/ir.continues                        what may continue the loop around it
//	compile/ir.alike                            what has the same value
//
// Evaluation. Each evaluator says for itself what a node means, so that tests that
// compare them find a mistake of one:
//
//	compile/internal/interp.scope.stmt          interpreter: statements
//	compile/internal/interp.scope.expr          interpreter: expressions
//	compile/internal/direct.run.exec            oracle: statements
//	compile/internal/direct.run.eval            oracle: expressions
//	compile/internal/direct.run.levels          oracle: autodiff levels
//	compile/internal/emit.statements.exec       binding: statements
//	compile/internal/emit.expressions.eval      binding: expressions
//	compile/internal/static.Levels  binding: autodiff levels
//	compile/internal/static.Drawn               binding: what random draws decide
//	compile/internal/static.Functions.SideEffectsIn  binding: side effects
//	compile/internal/static.NeverGoesOn         binding: control flow
//	compile/internal/static.Slice.rest          binding: statements without some of them
//	compile/internal/static.UsesWhole           binding: which variables are used as a whole
//	compile/internal/static.VariablesOf         binding: what statements declare and assign
//	compile/internal/static.sizing.stmt         binding: which sizes differ
//	compile/internal/inspect.inspection.stmt    binding: units of a loop
//	compile/internal/inspect.recorder.unit      binding: what a unit uses
//	compile/internal/inspect.recorder.uses      binding: what an expression uses
//	compile/internal/known.Evaluator.Eval       binding: what data decide
//	compile/internal/known.follower.exec        binding: integers of loops, statements
//	compile/internal/known.sizer.of             binding: sizes of values that are not known
//
// Programs made from programs:
//
//	model/predict.emitter.stmt                  statements of derived models
//	model/predict.analysis.placeOf              which data a variate is
//	model/predict.emitter.countAsValue          which uses of a number are sizes or positions
//	model/predict.emitter.extent                sizes of vectors, from declarations
//	model/predict.summariser.count              numbers of rows in sums of integers
//	model/predict.roles.collect                 what makes each variable
//	model/predict.roles.scaleOr                 which expressions are scales
//	model/predict.roles.scaledBy                by which scale an expression is multiplied
//	model/predict.keeper.stmts                  statements for the fit's data and for new data
//	model/predict.keeper.old                    the fit's version of a node
//	model/predict.keeper.new                    the version for new data
//	lang/check.censoring.visit                  uses of censored data
//	compile/internal/censor.term.pushed         an element of what a statement computes for all
//	compile/internal/batch.accesses.node        what statements read and write
//	compile/internal/batch.division.sizeable    sizes that are known before a loop
//	compile/internal/batch.rewriter.callIn      statements whose calls are evaluated once
//	compile/internal/batch.notes                the loop that a call is in
//	compile/internal/marginal.spread            what is computed from discrete parameters
//	compile/internal/marginal.splitter.stmt     statements about containers as loops
//	compile/internal/marginal.splitter.size     the number of elements of a container
//	compile/internal/marginal.splitter.at       an element of a container
//	compile/internal/marginal.splitter.opened   calls that are written out
//	compile/internal/marginal.called.body       the names of a function that is written out
//	compile/internal/marginal.called.replaced   the body of a function in place of a call
//	compile/internal/marginal.splitter.terms    what statements add to observations
//	compile/internal/marginal.program.jacobians   conditions around Jacobian adjustments
//	compile/internal/marginal.inliner.find      definitions of containers
//	compile/internal/marginal.collector.involved   factors: statements
//	compile/internal/marginal.collector.apart   loops whose iterations are separate factors
//	compile/internal/marginal.program.check     what a factor cannot do
//	compile/internal/marginal.mixer.node        mixtures of terms about counts
//	compile/internal/marginal.shaper.run        how factors depend on counts: statements
//	compile/internal/marginal.shaper.of         how factors depend on counts: expressions
//	compile/internal/marginal.shaper.split      the summands of a term
//	compile/internal/marginal.shaper.slope      the factor of a count in a linear expression
//	compile/internal/marginal.riser.stmt        factors at the last two values of a count
//	compile/internal/marginal.shaper.adds       distributions of a count: statements
//	compile/internal/marginal.shaper.needsCount   what a count must not decide
//	compile/internal/marginal.compound          statements that have others
//	compile/internal/marginal.reader.limited    factors that have a largest value: statements
//	compile/internal/marginal.reader.largest    a factor with its largest value: statements
//	compile/internal/marginal.reader.peakOfTerm   the largest value of a factor: terms
//	compile/internal/marginal.shaper.oneLeft    conditions that rule out one value of a count
//	compile/internal/marginal.shaper.restricts   conditions that leave consecutive values of a count
//	compile/internal/marginal.editor.mayFall    numbers that may depend on a negative difference
//	compile/internal/marginal.denial.never      statements that data rule out
//	compile/internal/marginal.denial.firstNaN   expressions that data make NaN
//	compile/internal/marginal.program.atoms     comparisons that read discrete parameters
//	compile/internal/marginal.program.finiteTerms   statements whose density is never -inf
//	compile/internal/marginal.program.positive   rates whose form shows that they are positive
//	compile/internal/marginal.silent            statements that set no variable and leave no loop
//	compile/internal/marginal.program.looked    terms that only look parameters up
//	compile/internal/marginal.program.vanishes  arguments that data may make 0 or 1
//	compile/internal/marginal.program.without   transformed parameters with and without discrete ones
//	compile/internal/marginal.adds              statements with an effect
//	compile/internal/marginal.tracer.exec       the elements that a factor reads: statements
//	compile/internal/marginal.tracer.visit      the elements that a factor reads: expressions
//	compile/internal/marginal.editor.node       the code of a factor for given values
//	compile/internal/marginal.shallow           copies of trees
//	compile/internal/contest.mutator.inside        where a program can be mutated
//	compile/internal/ragged.rewriter.rewrite    uses of ragged variables
//	lang/ast.Fresh                              copies of trees
//	compile/internal/sparse.rewriter.rewrite    uses of sparse matrices
//	compile/internal/sparse.rewriter.parts      values and places of sparse matrices
//	compile/internal/contest.mutator.exprs         which expressions can be mutated
package ast
