package emit

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/source"
)

// The parts of an emission, each with what it stands on. A part uses those above it; what
// expressions and statements need of one another further down goes through two interfaces.

// evaluator evaluates expressions.
type evaluator interface {
	eval(e ir.Expr) value
	args(es []ir.Expr) []value
}

// runner runs statements.
type runner interface {
	exec(s ir.Stmt) signal
	execAll(stmts []ir.Stmt) signal
}

// New prepares the emission of a program.
func New(prog *ir.Program, known []Constant, o Options) *Program {
	opts, at, functions := &o, &context{}, static.NewFunctions()
	rep := &reporter{at: at, opts: opts}
	b := &builder{at: at, rep: rep, siteOf: map[source.Span]ad.Site{}, sites: make([]source.Span, 1)}
	arr := &arrays{at: at, rep: rep, b: b}
	mem := &contents{at: at, rep: rep, b: b, arr: arr}
	vars := &variables{at: at, functions: functions, b: b, arr: arr, mem: mem}
	lp := &logDensity{at: at, rep: rep, b: b}
	log := &journal{at: at}
	ctl := &control{at: at, rep: rep, b: b, arr: arr, mem: mem, lp: lp, log: log}
	marks := &marks{at: at, prog: prog, rep: rep, b: b, lp: lp}
	ex, stmts := &expressions{}, &statements{}
	idx := &indexer{at: at, rep: rep, b: b, arr: arr, vars: vars, ex: ex}
	lib := &library{at: at, opts: opts, rep: rep, b: b, arr: arr, vars: vars, lp: lp, marks: marks, idx: idx, ex: ex}
	users := &userCalls{at: at, rep: rep, b: b, arr: arr, mem: mem, vars: vars, lp: lp, ctl: ctl, ex: ex, stmts: stmts}
	*ex = expressions{at: at, rep: rep, b: b, arr: arr, mem: mem, vars: vars, lp: lp, ctl: ctl, idx: idx, lib: lib, users: users}
	all := &trial{at: at, rep: rep, vars: vars, lp: lp, log: log, ctl: ctl, marks: marks, idx: idx, users: users, ex: ex}
	iter := &iterator{
		at: at, opts: opts, prog: prog, functions: functions, rep: rep, arr: arr, mem: mem, vars: vars, users: users, ex: ex,
		trial: all, evaluators: map[*ir.Function]*inspect.Evaluator{},
	}
	scans := &scans{at: at, b: b, arr: arr, lp: lp, marks: marks}
	nests := &nests{at: at, opts: opts, rep: rep, b: b, arr: arr, mem: mem, vars: vars, log: log, iter: iter, scans: scans, ex: ex, stmts: stmts}
	carr := &carrier{at: at, functions: functions, rep: rep, b: b, mem: mem, vars: vars, lp: lp, log: log, ctl: ctl, iter: iter, ex: ex, stmts: stmts}
	loops := &loops{at: at, opts: opts, rep: rep, log: log, ctl: ctl, idx: idx, iter: iter, nests: nests, carr: carr, ex: ex, stmts: stmts}
	*stmts = statements{
		at: at, opts: opts, rep: rep, b: b, arr: arr, mem: mem, vars: vars, lp: lp, ctl: ctl, idx: idx, lib: lib, users: users, ex: ex, loops: loops,
	}
	params := &parameters{opts: opts, prog: prog, rep: rep, b: b, mem: mem, vars: vars, lp: lp, ex: ex}
	p := &Program{
		at: at, opts: opts, prog: prog, rep: rep, b: b, mem: mem, vars: vars, lp: lp, log: log, marks: marks, users: users, ex: ex, stmts: stmts, params: params, known: known,
	}
	p.begin()
	return p
}

// trial evaluates what is dropped again.
type trial struct {
	at    *context
	rep   *reporter
	vars  *variables
	lp    *logDensity
	log   *journal
	ctl   *control
	marks *marks
	idx   *indexer
	users *userCalls
	ex    *expressions
}

// run runs fn, of which nothing stays but nodes that nobody uses.
func (t *trial) run(fn func()) {
	at, rep, vars, lp, log, ctl, marks, idx, users, ex := *t.at, *t.rep, *t.vars, *t.lp, *t.log, *t.ctl, *t.marks, *t.idx, *t.users, *t.ex
	used, effects := rep.opts.Budget.Used(), map[*level]int{}
	for l := at.lvl; l != nil; l = l.parent {
		effects[l] = len(l.g.Effects)
	}
	defer func() {
		*t.at, *t.rep, *t.vars, *t.lp, *t.log, *t.ctl, *t.marks, *t.idx, *t.users, *t.ex = at, rep, vars, lp, log, ctl, marks, idx, users, ex
		for l, n := range effects {
			l.g.Effects = l.g.Effects[:n]
		}
		rep.opts.Budget.Back(used)
	}()
	fn()
}
