// Package compile turns the source text of a program into a log density specialised to its data.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	source ──lang──▶ ir.Program ──bind──▶ ad.Graph ──Backprop──▶ ad.Graph ──vm──▶ Model
//
// [Compile] checks a program. [Program.Bind] evaluates everything that the data decide. It builds
// the graphs from the unconstrained parameters to the log density, its gradient, and the values of
// a draw. A [Model] evaluates these graphs. Models that no graph can represent are interpreted at
// every point. Model satisfies infer.LogDensity, infer.Cloner and infer.Generator structurally.
// With fisher.go and curvature.go it also has the methods that package infer/riemann needs. Neither
// package imports the other.
//
// Map of the package:
//
//	compile.go      Compile: text to a typed program
//	                (internal/censor rewrites declarations of censored data, internal/batch loops
//	                over subjects, internal/ragged and internal/sparse ragged arrays and sparse
//	                matrices)
//	discrete.go     programs with discrete parameters, which are summed out when data are known
//	counts.go       those without an upper bound: points that need more values than others
//	model.go        Bind, Model: log density, outputs
//	missing.go      data with missing values: the program for the observed ones;
//	                missingstan.go: the same as a program of Stan
//	initial.go      from initial values to the unconstrained point where a chain starts
//	pipeline.go     the stages from a graph to an executable program; programs made on first use
//	interpreted.go  models, or parts of them, that have no graph
//	grouped.go      rows of a table as the rows of ragged variables
//	rows.go         finds the data variable that holds the number of observations
//	unconstrain.go  from the values of a draw to its unconstrained point
//	datacheck.go    reports all errors in the data
//	binary.go       columns of strings for variables that count from 0
//	print.go        limits on what models print
//	curvature.go    second derivatives
//	fisher.go       metrics
//	fishersparse.go the elements of a metric that may differ from 0 (sparse metrics)
//	groups.go       the group-level terms of hierarchical models
//	groupvectors.go group-level terms that are vectors of a multivariate normal distribution
//	grouptrace.go   the values that are computed from elements of the point
//	recurrence.go   group-level terms that form chains, such as the states of a time series
//	recentre.go     reparametrisation of group-level terms (effects)
//	explain.go      where the time goes
//	blame.go        finds the statement that makes a density infinite or NaN
//	agree.go        compares the log density with the reference evaluator
//	validate.go     log density and gradient before and after every pass, for tests
//
// Sub-packages: ir (the typed program), data (JSON and Go values), internal/interp (transformed
// data; programs that no graph can represent), internal/inspect, internal/plan, internal/emit and
// internal/bind (the partial evaluator), internal/passes and internal/loopnest (the passes),
// internal/vm (the executor), internal/direct (the oracle of the tests). The transforms of
// parameters are in package stdlib/transform, because the library also has them as functions.
package compile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/batch"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/internal/censor"
	"github.com/ppl-lang/ppl/compile/internal/marginal"
	"github.com/ppl-lang/ppl/compile/internal/ragged"
	"github.com/ppl-lang/ppl/compile/internal/sparse"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// Program is a checked program. It is immutable, and you may bind it any number of times, also
// concurrently.
type Program struct {
	ir   *ir.Program // of a program with discrete parameters: without a model, these are generated quantities
	tree *ast.File
	info *check.Info

	plain *ast.File // tree without declarations of censored data

	discrete *marginal.Split // nil: the program has no discrete parameters
	ragged   bool            // the tree, which has no ragged variables any more, has their rows
	level    int             // of the sums over counts, see marginal.Options
	ladder   *ladder         // of models of other levels; nil: there are none yet
	sparse   bool            // the tree, which has no sparse matrices any more, has their values

	whole func() *ir.Program // the program to which ir leaves stiff systems; nil: it leaves none

	memory atomic.Int64 // DefaultMemory, once it is known
}

// Flattened returns the data with the elements of ragged variables one row after another, and with
// the values of sparse matrices and their places, as the rewritten program reads them.
func (p *Program) Flattened(d *data.Set) *data.Set {
	if !p.ragged && !p.sparse {
		return d
	}
	return flattened(d, p.ir.Data)
}

func flattened(d *data.Set, vars []*ir.Var) *data.Set {
	d = grouped(d, vars)
	for _, v := range vars {
		if r := v.Ragged; r != nil {
			d = d.Flattened(v.Name, len(r.Sizes), r.Outer, r.At)
			if n := rowSizes(v); n != nil {
				d = d.InRows(v.Name, n.Name, len(r.Sizes)-r.Outer, r.At-r.Outer)
			}
		}
		if s := v.Sparse; s != nil && s.Count != nil {
			d = d.Triplets(v.Name, s.Count.Name, s.Row.Name, s.Column.Name)
		}
	}
	return d
}

// MemoryOr returns limit or, if it is 0, [DefaultMemory]. It asks the system once for each program.
func (p *Program) MemoryOr(limit int64) int64 {
	if limit != 0 {
		return limit
	}
	if p.memory.Load() == 0 {
		p.memory.Store(DefaultMemory())
	}
	return p.memory.Load()
}

// Syntax returns the syntax tree of the program and the checker's results for its nodes. Do not
// change either.
func (p *Program) Syntax() (*ast.File, *check.Info) { return p.tree, p.info }

// Options are options of [CompileWith]; the zero value is the default.
type Options struct {
	// Include finds the files of #include lines; nil refuses such lines.
	Include func(name string) (*source.File, error)

	// Legacy reads the syntax of older versions of Stan, with warnings.
	Legacy bool

	// Pedantic keeps the warnings whose codes are [diag.Code.Pedantic].
	Pedantic bool

	// StanOnly refuses what Stan does not have, by the code [diag.BeyondStan].
	StanOnly bool

	// Sums says what becomes of discrete parameters.
	Sums Sums

	// Observations lists the variables that [SumsLeaveOneOut] is about.
	Observations []string

	// Apart leaves calls in loops as they are that one call for all iterations could replace.
	Apart bool

	// Like is the program from which this one was derived, or nil. Variables that it declares as
	// ragged are so here. Derived maps the names of other variables to theirs.
	Like    *Program
	Derived map[string]string

	// MaxSource bounds the size in bytes of the source text with the files that it includes. 0
	// means [source.DefaultLimit].
	MaxSource int64
}

// Check parses and checks a program.
func Check(f *source.File, o Options) diag.List {
	_, _, list := checked(f, o)
	list.Sort()
	return list
}

// Known reports whether the library has a function of this name.
func Known(name string) bool { return len(stdlib.Language().Lookup(name)) > 0 }

// checked parses and checks; the Info is nil if the list has errors.
func checked(f *source.File, o Options) (*ast.File, *check.Info, diag.List) {
	go func() { // takes milliseconds the first time, while we parse
		defer func() { _ = recover() }() // the calls below panic with the same value
		stdlib.Language()
	}()
	tree, list := lang.ParseWith(f, lang.Options{Include: o.Include, Legacy: o.Legacy, Known: Known, MaxBytes: o.MaxSource})
	if list.HasErrors() {
		// After the errors of syntax come those that the checker finds.
		if lang.Recovered(list) {
			_, list = check.After(tree, list, stdlib.Language())
		}
		return tree, nil, list
	}
	if o.Like != nil && (o.Like.ragged || o.Like.sparse) {
		ragged.Copy(tree, o.Like.tree, o.Derived)
	}
	info, more := check.Check(tree, stdlib.Language())
	if !o.Pedantic {
		more = slices.DeleteFunc(more, func(d diag.Diagnostic) bool { return d.Code.Pedantic() })
	}
	if list = append(list, more...); o.StanOnly && !list.HasErrors() {
		list = append(list, check.Extensions(tree, info)...)
	}
	if list.HasErrors() {
		return tree, nil, list
	}
	return tree, info, list
}

// Compile is CompileWith without options.
func Compile(f *source.File) (*Program, diag.List) { return CompileWith(f, Options{}) }

// CompileContext is CompileWith with a context. When ctx ends, it returns an error that wraps the
// cause. The compilation may then continue for a while in the background.
func CompileContext(ctx context.Context, f *source.File, o Options) (*Program, diag.List, error) {
	if ctx.Done() == nil {
		p, list := CompileWith(f, o)
		return p, list, nil
	}
	type result struct {
		p       *Program
		list    diag.List
		failure any
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			r.failure = recover() // passed to the caller, as if it had occurred there
			done <- r
		}()
		r.p, r.list = CompileWith(f, o)
	}()
	select {
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("compiling was interrupted: %w", context.Cause(ctx))
	case r := <-done:
		if r.failure != nil {
			panic(r.failure)
		}
		return r.p, r.list, nil
	}
}

// SolvesApart is in the notes of [Model.Loops] about calls in loops that one call for all
// iterations could replace, if the loop were written otherwise.
const SolvesApart = batch.Apart

// CompileWith parses and checks a program. The Program is nil if the list has errors; otherwise the
// list may hold warnings.
func CompileWith(f *source.File, o Options) (*Program, diag.List) {
	tree, info, list := checked(f, o)
	if info == nil {
		return nil, list
	}
	list = oneLegacy(list)
	p := &Program{ragged: o.Like != nil && o.Like.ragged, sparse: o.Like != nil && o.Like.sparse}
	if flat := ragged.Rewrite(tree, info); flat != tree {
		var more diag.List
		if info, more = check.Check(flat, stdlib.Language()); more.HasErrors() {
			return nil, append(list, more.Errors()...)
		}
		tree, p.ragged = flat, true
	}
	if sparse.Is(info) {
		tree = sparse.Rewrite(tree, info)
		var more diag.List
		if info, more = check.Check(tree, stdlib.Language()); more.HasErrors() {
			return nil, append(list, more.Errors()...)
		}
		p.sparse = true
	}
	p.tree, p.info, p.plain = tree, info, tree
	if censor.Is(info) {
		plain, more, err := uncensored(tree, info)
		if err != nil {
			return nil, append(list, err...)
		}
		p.plain, tree, info = plain, plain, more
	}
	if marginal.Is(tree, info) {
		if err := p.prepare(tree, info, o); err != nil {
			return nil, append(list, err...)
		}
		return p, list
	}
	var notes []string
	if !o.Apart {
		tree, info, notes = batch.Rewrite(tree, info, func(f *ast.File) *check.Info {
			if info, list := check.Check(f, stdlib.Language()); !list.HasErrors() {
				return info
			}
			return nil
		})
	}
	p.ir = ir.LowerLeaving(tree, info, stdlib.Language())
	p.ir.Notes = notes
	if p.ir.Leaves {
		p.whole = sync.OnceValue(func() *ir.Program { return ir.Lower(tree, info, stdlib.Language()) })
	}
	return p, list
}

// uncensored returns the program without declarations of censored data.
func uncensored(tree *ast.File, info *check.Info) (*ast.File, *check.Info, diag.List) {
	tree = censor.Rewrite(tree, info, func(c *check.Call) bool {
		f, ok := c.Overload.(*stdlib.Func)
		if ok {
			_, ok = f.Overload.(types.Elementwise)
		}
		return ok
	})
	info, list := check.Check(tree, stdlib.Language())
	if list.HasErrors() {
		return nil, nil, list.Errors()
	}
	return tree, info, nil
}

// Sided is a data variable of which another one says for each value how it is censored.
type Sided struct {
	Name  string
	Sides string // the variable with -1, 0, 1 or 2 for each value; "" if there is none
	To    string // the variable with the upper ends of intervals; "" if there is none
}

// Sided lists the data variables that are censored value by value, and not by limits.
func (p *Program) Sided() (out []Sided) {
	for n, v := range p.info.Defs {
		d, ok := n.(*ast.VarDecl)
		if !ok || !v.Censored {
			continue
		}
		name := func(kind string) string {
			if b := d.Type.Bound(kind); b != nil {
				return ast.Unparen(b.Value).(*ast.VarExpr).Name
			}
			return ""
		}
		if s := (Sided{v.Name, name(ast.Censored), name(ast.CensoredTo)}); s.Sides+s.To != "" {
			out = append(out, s)
		}
	}
	sorting.Stable(out, func(a, b Sided) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// oneLegacy keeps only the first warning about legacy syntax, since the caller asked for that
// syntax. Check lists all of them.
func oneLegacy(list diag.List) diag.List {
	var out diag.List
	first, n := -1, 0
	for _, d := range list {
		if d.Code == diag.LegacySyntax {
			n++
			if first >= 0 {
				continue
			}
			first = len(out)
		}
		out = append(out, d)
	}
	if n > 1 {
		out[first].Summary = fmt.Sprintf("this program has the syntax of an older version of Stan, here and in %d more places", n-1)
		out[first].Fix, out[first].Settings = "rewrite it with the formatter", []string{"upgrade"}
	}
	return out
}

// IR returns the typed program.
func (p *Program) IR() *ir.Program { return p.ir }

// Error holds diagnostics with positions in the program or in the data;
// diag.Render shows them.
type Error = bind.Error
