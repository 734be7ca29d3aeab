package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// variables are those of the frame in force, as the units of nests see them.
type variables struct {
	at        *context
	functions *static.Functions
	b         *builder
	arr       *arrays
	mem       *contents

	cells []*cell // by ir.Var.ID
}

func (vs *variables) cell(v *ir.Var) *cell { return vs.cells[v.ID] }

// load reads elements of a variable.
func (vs *variables) load(c *cell, acc lanes.Access, typ types.Type) value {
	c, acc = vs.resolve(c, acc)
	for n := vs.at.nest; n != nil; n = n.around {
		if h := n.watched[c]; h != nil && n.unit != nil {
			return vs.readVersions(n, h, acc, typ)
		}
	}
	return vs.mem.readLocal(c, acc, typ)
}

// store writes elements of a variable.
func (vs *variables) store(c *cell, acc lanes.Access, val value) {
	val = vs.arr.convert(val, c.typ)
	if to, all := vs.resolve(c, acc); to != c {
		c, acc = to, all
		if !slices.Equal(val.shape, acc.Index.Shape()) {
			val = vs.arr.shaped(val, acc.Index.Shape(), c.typ)
		}
	}
	if n := vs.at.nest; n != nil && n.unit != nil {
		if h := n.watched[c]; h != nil {
			vs.record(h, val, false)
			return
		}
	}
	vs.mem.saveForBranch(c)
	vs.mem.writeLocal(c, acc, val, vs.at.axis)
}

// accumulate adds val to (or, with negate, subtracts it from) elements of a
// variable.
func (vs *variables) accumulate(c *cell, acc lanes.Access, val value, negate bool) {
	c, acc = vs.resolve(c, acc)
	if n := vs.at.nest; n != nil && n.unit != nil && c.typ.Kind != types.Int {
		if h := n.watched[c]; h != nil && (h.Sum || n.summing == h) {
			vs.record(h, vs.arr.convert(val, c.typ), negate)
			return
		}
	}
	op := ad.OpAdd
	if negate {
		op = ad.OpSub
	}
	old := vs.load(c, acc, c.typ)
	sum := vs.b.emit(c.typ, []value{old, vs.arr.reshapeLike(val, old)}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		return g.Do(op, nil, a...)
	})
	vs.store(c, acc, sum)
}
