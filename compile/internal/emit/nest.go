package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
)

// nest is a loop with the loops in its body whose iterations data decide, as package inspect finds
// it, package plan orders it, and emission evaluates it: statement by statement, each
// leaf of the nest, a unit, once for all the iterations that execute it, its domain.
//
// What a unit assigns to the variables of the nest is kept apart from what other
// units assign; a read finds, element by element, the last write before it in the order of the
// program. So units may be evaluated in any order in which writes come before the reads that see
// them.
type nest struct {
	*inspect.Nest

	around  *nest      // the nest that the unit under way belongs to, in which this one is; nil: none
	units   []*unit    // beside Nest.Statements
	order   []*history // beside Nest.Used
	watched map[*cell]*history

	plan    *plan.Plan
	summing *history // of the group under way, which only adds to it
	unit    *unit    // under way
}

// unit is a unit with the cells of its variables.
type unit struct {
	*inspect.Statement
	cells    []*cell            // variables in scope, by ir.Var.ID
	overlays map[*cell]*overlay // while it is evaluated
}

// history is what the units of a nest do to one variable.
type history struct {
	*plan.Variable
	n *nest
	c *cell

	writes []*write // beside Variable.Writes
}

// write is a write of a unit, and its value when the unit has been evaluated.
type write struct {
	*plan.Write
	h   *history
	u   *unit
	acc lanes.Access

	val    value // in lanes of the unit, or, of a sum, the sums
	done   bool
	negate bool // of a sum
}

// newNest is a nest with its plan, ready to be evaluated.
func (ns *nests) newNest(x *inspect.Nest, p *plan.Plan, out *outside) *nest {
	n := &nest{Nest: x, around: ns.at.nest, plan: p, watched: map[*cell]*history{}}
	k := newCells(ns.iter, out.over)
	for _, s := range x.Statements {
		n.units = append(n.units, &unit{Statement: s, cells: k.scope(s.Scope)})
	}
	for i, v := range x.Used {
		h := &history{n: n, c: k.cell(v), Variable: x.Plan.Variables[i]}
		n.watched[h.c] = h
		n.order = append(n.order, h)
		for _, w := range h.Writes {
			u := n.units[w.Unit.ID]
			y := &write{Write: w, h: h, u: u, acc: lanes.WholeOf(h.c.shape)}
			if !w.Whole {
				y.acc = u.Accesses[w.First]
			}
			h.writes = append(h.writes, y)
		}
	}
	return n
}

// memory is the budget of a binding, for plans.
type memory struct{ rep *reporter }

func (m memory) Reserve(bytes int, sizes ...int) { m.rep.reserve(bytes, sizes...) }

func (m memory) Used() int64 { return m.rep.opts.Budget.Used() }

func (m memory) Back(used int64) { m.rep.opts.Budget.Back(used) }

// ofUnit is the write of a unit to the variable, nil if there is none.
func (h *history) ofUnit(u *unit) *write {
	if w := h.Of(u.Unit); w != nil {
		return h.writes[w.Index]
	}
	return nil
}

// write is the write that an origin is of, nil if it is of none.
func (h *history) write(o plan.Origin) *write {
	if o.Write == nil {
		return nil
	}
	return h.writes[o.Write.Index]
}

// origins finds what a read of elements by a unit sees, see [plan.Variable.Origins].
func (h *history) origins(u *unit, acc lanes.Access, ax *axis, skip []bool) []plan.Origin {
	return h.Origins(&h.n.Plan, u.Unit, acc.Plain(), ax, skip)
}

// among reports whether a unit is one of a group.
func among(units []*unit, u *plan.Unit) bool {
	return slices.ContainsFunc(units, func(x *unit) bool { return x.Unit == u })
}
