package bind

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// binder evaluates a program with data known and parameters symbolic.
type binder struct {
	prog *ir.Program
	opts Options

	root *level // the graph being built
	context

	cells   []*cell // by ir.Var.ID of the frame in force
	aligned map[alignKey]ad.Ref
	covered map[[2]*axis]bool // whether every lane of the second axis has one of the first, which is inside it
	targets []value           // addends of the log density, without lanes, in the root level
	calls   []callSite
	levels  int  // of statements and expressions that are evaluated within one another
	propto  bool // whether _lupdf and ~ drop addends
	inModel bool
	operand *value // ir.Operand
	code    value  // how statements ended, where their signal is not certain
	result  *value // of a return

	instead    int // indices that are wrong where parameters may never lead, and stand as 1
	functions  *static.Functions
	frame      *ir.Function // the function under way; nil: the blocks of the program
	evaluators map[*ir.Function]*inspect.Evaluator

	marking   bool      // densities are represented by inputs, see information.go
	densities []density // so far
	left      []LeftOut // densities that cannot be
	addends   []addend  // of the log density, by statement

	span     source.Span
	sites    []source.Span
	lastSite ad.Site
	siteOf   map[source.Span]ad.Site

	stats Stats
	free  func() // gives back what the present graph does not keep
}

type callSite struct {
	name  string
	at    source.Span
	param bool // some argument is of parameter level
}

func newBinder(p *ir.Program, o Options) *binder {
	b := &binder{prog: p, opts: o, functions: static.NewFunctions(), evaluators: map[*ir.Function]*inspect.Evaluator{}, siteOf: map[source.Span]ad.Site{}, sites: make([]source.Span, 1)}
	b.begin()
	return b
}

// begin starts a new graph.
func (b *binder) begin() {
	b.root = &level{g: ad.NewGraph()}
	b.root.g.Use(b.opts.Budget)
	b.restart()
}

// restart leaves all statements, with nothing evaluated.
func (b *binder) restart() {
	b.context = context{lvl: b.root}
	b.aligned = map[alignKey]ad.Ref{}
	b.covered = map[[2]*axis]bool{}
	b.targets, b.calls, b.levels, b.frame = nil, nil, 0, nil
	b.propto, b.inModel = b.opts.Propto, false
}

// at sets the position to which what follows belongs and returns the former.
func (b *binder) at(s source.Span) source.Span {
	old := b.span
	b.setSpan(s)
	return old
}

func (b *binder) setSpan(s source.Span) { b.span = s }

// site is the number of the position in force, for nodes.
func (b *binder) site() ad.Site {
	if b.span == b.sites[b.lastSite] {
		return b.lastSite
	}
	id, ok := b.siteOf[b.span]
	if !ok {
		id = ad.Site(len(b.sites))
		b.sites = append(b.sites, b.span)
		b.siteOf[b.span] = id
	}
	b.lastSite = id
	return id
}

// ---- variables ----

func (b *binder) cell(v *ir.Var) *cell { return b.cells[v.ID] }

// load reads elements of a variable.
func (b *binder) load(c *cell, acc lanes.Access, typ types.Type) value {
	c, acc = b.resolve(c, acc)
	for n := b.nest; n != nil; n = n.around {
		if h := n.watched[c]; h != nil && n.unit != nil {
			return b.readVersions(n, h, acc, typ)
		}
	}
	return b.readLocal(c, acc, typ)
}

// store writes elements of a variable.
func (b *binder) store(c *cell, acc lanes.Access, val value) {
	val = b.convert(val, c.typ)
	if to, all := b.resolve(c, acc); to != c {
		c, acc = to, all
		if !slices.Equal(val.shape, acc.Index.Shape()) {
			val = b.shaped(val, acc.Index.Shape(), c.typ)
		}
	}
	if n := b.nest; n != nil && n.unit != nil {
		if h := n.watched[c]; h != nil {
			b.record(h, val, false)
			return
		}
	}
	b.saveForBranch(c)
	b.writeLocal(c, acc, val, b.axis)
}

// convert promotes known integers stored in a real variable.
func (b *binder) convert(v value, to types.Type) value {
	if to.Kind != types.Int && v.ints != nil {
		v = b.numeric(v)
	}
	return v
}

// accumulate adds val to (or, with negate, subtracts it from) elements of a
// variable.
func (b *binder) accumulate(c *cell, acc lanes.Access, val value, negate bool) {
	c, acc = b.resolve(c, acc)
	if n := b.nest; n != nil && n.unit != nil && c.typ.Kind != types.Int {
		if h := n.watched[c]; h != nil && (h.Sum || n.summing == h) {
			b.record(h, b.convert(val, c.typ), negate)
			return
		}
	}
	op := ad.OpAdd
	if negate {
		op = ad.OpSub
	}
	old := b.load(c, acc, c.typ)
	sum := b.emit(c.typ, []value{old, b.reshapeLike(val, old)}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		return g.Do(op, nil, a...)
	})
	b.store(c, acc, sum)
}

func (b *binder) reshapeLike(v, like value) value {
	if len(v.shape) == 0 || len(v.shape) == len(like.shape) {
		return v
	}
	return b.reshape(v, like.shape, v.typ)
}

// addTarget adds v, over all its elements and lanes, to the log density.
func (b *binder) addTarget(v value) {
	if !b.inModel {
		return
	}
	v = b.numeric(v)
	if b.scanning() && v.lvl == b.scan.lvl {
		r := b.scan
		r.targets = append(r.targets, v.lvl.g.Sum(v.ref))
		return
	}
	if n := len(b.branches); n > 0 && b.lvl.branch {
		br := b.branches[n-1]
		g := b.lvl.g
		r := b.use(v, b.lvl, b.axis)
		if v.lvl != b.lvl && b.hidden() {
			r = g.Sum(r)
		} else {
			r = b.totalHere(r, v)
		}
		br.target = append(br.target, r)
		return
	}
	b.lvl.g.SetSite(b.site())
	r := b.totalHere(b.use(v, b.lvl, b.axis), v)
	if b.marking {
		b.addends = append(b.addends, addend{b.span, r})
	}
	b.targets = append(b.targets, value{typ: types.RealType, lvl: b.lvl, ref: r, param: v.param})
}

// totalHere sums r over its elements and over the lanes in force.
func (b *binder) totalHere(r ad.Ref, v value) ad.Ref {
	g := b.lvl.g
	r = g.Sum(r)
	if b.axis == nil || b.hidden() {
		return r
	}
	if g.Type(r).Lanes == 0 {
		return g.Scale(float64(b.axis.N), r)
	}
	return g.SumLanes(r)
}

// saveForBranch keeps a cell's content before a branch writes to it.
func (b *binder) saveForBranch(c *cell) {
	for i := len(b.branches) - 1; i >= 0; i-- {
		br := b.branches[i]
		if c.depth >= br.lvl.depth {
			return // declared inside
		}
		if _, ok := br.saved[c]; ok {
			continue
		}
		s := c.state
		s.owned = false
		c.owned = false
		br.saved[c] = s
		br.order = append(br.order, c)
	}
}
