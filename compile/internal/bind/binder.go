package bind

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// binder evaluates a program with data known and parameters symbolic.
type binder struct {
	prog *ir.Program
	opts Options

	root  *level // the graph being built
	lvl   *level // where effects and conditional work go
	axis  *axis  // iterations in force; nil: the uniform context
	frame *frame // innermost loop in lanes; nil: none

	cells     []*cell // by ir.Var.ID of the frame in force
	vars      map[*cell]*ir.Var
	aligned   map[alignKey]ad.Ref
	covered   map[[2]*axis]bool // whether every lane of the second axis has one of the first, which is inside it
	branches  []*branch
	targets   []value // addends of the log density, without lanes, in the root level
	calls     []callSite
	propto    bool // whether _lupdf and ~ drop addends
	inModel   bool
	operand   *value // ir.Operand
	code      value  // how statements ended, where their signal is not certain
	result    *value // of a return
	asRegions bool   // the next loop makes regions of conditionals that data decide
	masks     []mask // conditions known per iteration of the branches under way, where lanes are hidden

	marking   bool      // densities are represented by inputs, see information.go
	densities []density // so far
	left      []LeftOut // densities that cannot be
	addends   []addend  // of the log density, by statement

	span     source.Span
	sites    []source.Span
	lastSite ad.Site
	siteOf   map[source.Span]ad.Site

	stats   Stats
	split   *split // what the attempt that was given up last stumbled over
	journal *cellJournal
}

type callSite struct {
	name  string
	at    source.Span
	param bool // some argument is of parameter level
}

func newBinder(p *ir.Program, o Options) *binder {
	b := &binder{prog: p, opts: o, siteOf: map[source.Span]ad.Site{}, sites: make([]source.Span, 1)}
	b.begin()
	return b
}

// begin starts a new graph.
func (b *binder) begin() {
	b.root = &level{g: ad.NewGraph()}
	b.lvl, b.axis, b.frame = b.root, nil, nil
	b.aligned = map[alignKey]ad.Ref{}
	b.vars = map[*cell]*ir.Var{}
	b.covered = map[[2]*axis]bool{}
	b.branches, b.targets, b.calls = nil, nil, nil
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
func (b *binder) load(c *cell, v *ir.Var, acc access, typ types.Type) value {
	if c.frame == b.frame {
		return b.readLocal(c, acc, typ)
	}
	return b.readOuter(b.frame, c, v, acc, typ)
}

// store writes elements of a variable.
func (b *binder) store(c *cell, v *ir.Var, acc access, val value) {
	val = b.convert(val, c.typ)
	if c.frame != b.frame {
		b.vars[c] = v
		b.writeOuter(c, v, acc, val)
		return
	}
	b.saveForBranch(c)
	b.journal.note(c)
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
func (b *binder) accumulate(c *cell, v *ir.Var, acc access, val value, negate bool) {
	if c.frame != b.frame && b.frame.accOnly[v] && c.typ.Kind != types.Int {
		b.vars[c] = v
		b.addOuter(c, acc, b.convert(val, c.typ), negate)
		return
	}
	op := ad.OpAdd
	if negate {
		op = ad.OpSub
	}
	old := b.load(c, v, acc, c.typ)
	sum := b.emit(c.typ, []value{old, b.reshapeLike(val, old)}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		return g.Do(op, nil, a...)
	})
	b.store(c, v, acc, sum)
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
	if f := b.frame; f != nil && f.scan != nil && v.lvl == f.scan.lvl && b.lvl == f.ax.lvl {
		b.everyStep(v.lvl)
		f.scan.targets = append(f.scan.targets, v.lvl.g.Sum(v.ref))
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

// hidden reports whether the lanes in force belong to a level around the
// present one.
func (b *binder) hidden() bool { return b.axis != nil && b.axis.lvl != b.lvl }

// totalHere sums r over its elements and over the lanes in force.
func (b *binder) totalHere(r ad.Ref, v value) ad.Ref {
	g := b.lvl.g
	r = g.Sum(r)
	if b.axis == nil || b.hidden() {
		return r
	}
	if g.Type(r).Lanes == 0 {
		return g.Scale(float64(b.axis.n), r)
	}
	return g.SumLanes(r)
}

// dist returns the declaration of a resolved call.
func funcOf(c *ir.Call) *stdlib.Func { return c.Overload.(*stdlib.Func) }
