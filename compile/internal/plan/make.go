package plan

import (
	"slices"

	"github.com/ppl-lang/ppl/internal/sorting"
)

// These bounds decide when a loop is evaluated in another way.
const (
	// MaxHistory bounds the carried numbers that a scan may keep: 2 GB.
	MaxHistory = 1 << 28

	// maxCopied bounds the copies of whole variables that units work on, one in each lane. Such
	// copies make the cost of a loop proportional to the variable's size; as a region, the loop
	// changes the variable in place.
	maxCopied = 1 << 20

	// maxFollowed bounds the number of elements of a variable that a unit reads in all its
	// iterations, if the nest writes the variable. Each takes 16 bytes, 256 MB in total.
	maxFollowed = 1 << 24

	// maxLevelled bounds the elements read by units whose iterations Levels analyses. Without it,
	// covid models with sums over earlier days took 15 s instead of 0.8 to bind, and had no levels.
	maxLevelled = 1 << 17
)

// Plan is the schedule of a nest: the order of its units and the way to evaluate them.
type Plan struct {
	Groups []Group
	Why    string // if not "", the reason why there is no plan; Groups is then empty

	// These explain why there is no plan. Tangled are units that depend on one another and are
	// neither a sum nor a recurrence. Across are inner loops around units that depend on others
	// across loops. Steps are the innermost loops around all units of such a component.
	Tangled       []*Unit
	Across, Steps []*Loop

	// Taken is the memory used by the plan, in bytes.
	Taken int64

	Histories []*History // by Variable.ID

	memory  Memory
	time    [][]int64 // by unit and lane: the position in program order
	touches [][]Touch // by unit: the touches of the nest, and the reads of copies and sums
	making  bool      // reads of the plan are those of the evaluation, too
	kept    int       // origins
}

// Group is a set of units evaluated together: one unit, or units that depend on one another across
// iterations.
type Group struct {
	Units []*Unit
	Kind  Kind
}

// Kind is a way to evaluate a group.
type Kind uint8

const (
	Map        Kind = iota // one unit, in lanes over its domain
	Sum                    // units that only add to one variable
	Recurrence             // a scan
)

// String returns the kind as printed in plans.
func (k Kind) String() string { return [...]string{"lanes", "sum", "recurrence"}[k] }

// planner makes a plan.
type planner struct {
	*Nest
	*Plan
}

// Make plans a nest. A unit depends on another if it may read a value that the other writes.
// Strongly connected components of this relation are evaluated together, all other units in lanes.
// Where dependences leave the order open, program order is kept.
func Make(n *Nest, m Memory) *Plan {
	p := &planner{n, &Plan{memory: m, time: make([][]int64, len(n.Units)), touches: make([][]Touch, len(n.Units))}}
	used := m.Used()
	p.making = true
	p.Why = p.make()
	p.making = false
	if p.Taken = m.Used() - used; p.Why != "" {
		m.Back(used)
	}
	return p.Plan
}

// of returns the history of the variable of a touch.
func (p *Plan) of(t Touch) *History { return p.Histories[t.Variable.ID] }

func (p *planner) make() (why string) {
	if why := p.collectWrites(); why != "" {
		return why
	}
	for _, u := range p.Units {
		for _, t := range p.touches[u.ID] {
			if t.How == Reads && len(p.of(t).Writes) > 0 && Lanes(t.Axis)*len(t.Access.Offsets) > maxFollowed {
				return "too many elements to follow"
			}
		}
	}
	if slices.ContainsFunc(p.Histories, func(v *History) bool { return !v.Sum && !v.Private && len(v.Writes) > 0 }) {
		p.schedule()
	}
	for _, v := range p.Histories {
		if len(v.Writes) > 0 {
			v.index()
		}
	}
	return p.group()
}

// collectWrites makes the writes of units from their touches.
func (p *planner) collectWrites() (why string) {
	for _, v := range p.Variables {
		p.Histories = append(p.Histories, &History{Variable: v, plan: p.Plan, Sum: !v.Inside && !v.Integer})
	}
	for _, u := range p.Units {
		p.touches[u.ID] = slices.Clip(u.Touches)
		for _, t := range u.Touches {
			if t.How != Adds {
				p.of(t).Sum = false
			}
		}
	}
	for _, u := range p.Units {
		var written []*History
		for _, t := range u.Touches {
			if v := p.of(t); t.How != Reads && !slices.Contains(written, v) {
				written = append(written, v)
			}
		}
		for _, v := range written {
			if why := p.addWrite(u, v); why != "" {
				return why
			}
		}
	}
	for _, v := range p.Histories {
		v.Private = !v.Sum && len(v.Writes) > 0 && v.isPrivate()
	}
	return ""
}

// addWrite adds the write of a unit to a variable.
func (p *planner) addWrite(u *Unit, v *History) (why string) {
	w := &Write{History: v, Unit: u, Index: len(v.Writes), Add: true, First: -1}
	reading := false // it also reads elements that it writes
	for k, t := range u.Touches {
		if t.Variable != v.Variable || t.How == Reads && !u.Compound {
			continue
		}
		if t.How == Reads && p.readsOthers(u, v, t) {
			w.Others = true
			continue
		}
		w.Whole = w.Whole || t.Some || t.Axis != u.Domain || w.First >= 0 && !u.Touches[w.First].Access.equal(t.Access)
		w.Add = w.Add && t.How == Adds
		reading = reading || t.How == Adds
		if w.First < 0 {
			w.First = k
		}
	}
	access := u.Touches[w.First].Access
	if w.Whole {
		if v.Size*u.Domain.N > maxCopied {
			return "too many elements that are not known beforehand"
		}
		access = Access{Offsets: v.every()}
	}
	w.Apart = u.Compound || w.Whole
	w.Base, w.Offsets = v.elements(access, u.Domain)
	v.Writes = append(v.Writes, w)
	if !v.Sum && (w.Apart || reading) {
		p.touches[u.ID] = append(p.touches[u.ID], Touch{Variable: v.Variable, Access: access, Axis: u.Domain, How: Reads})
	}
	return ""
}

// readsOthers reports whether a read by a compound unit is of elements of a variable that the unit
// does not write in the same iteration.
func (p *planner) readsOthers(u *Unit, v *History, t Touch) bool {
	for _, w := range u.Touches {
		if w.Variable != t.Variable || w.How == Reads {
			continue
		}
		if w.Some || t.Some || w.Axis != u.Domain || t.Axis != u.Domain || len(w.Access.Offsets) != 1 || len(t.Access.Offsets) != 1 {
			return false
		}
		to, o := v.elements(w.Access, u.Domain)
		from, q := v.elements(t.Access, u.Domain)
		out, skip := w.Access.outIn(u.Domain), t.Access.outIn(u.Domain)
		for l := range to {
			if (out == nil || !out[l]) && (skip == nil || !skip[l]) && to[l]+o[0] == from[l]+q[0] {
				return false
			}
		}
	}
	return true
}

// schedule numbers the iterations of the units in program order, and lists the writes in it.
func (p *planner) schedule() {
	type cursor struct {
		node Node
		up   []int32 // lanes of the loop around
		next int
		sub  []*cursor
	}
	var cursorOf func(x Node, in *Axis) *cursor
	cursorOf = func(x Node, in *Axis) *cursor {
		c := &cursor{node: x}
		if x.lanes() != in {
			c.up = x.lanes().LanesOf(in)
		}
		switch x := x.(type) {
		case *Unit:
			p.memory.Reserve(8, x.Domain.N)
			p.time[x.ID] = make([]int64, x.Domain.N)
		case *Loop:
			for _, y := range x.Body {
				c.sub = append(c.sub, cursorOf(y, x.Axis))
			}
		}
		return c
	}
	writes, outs := make([][]*Write, len(p.Units)), map[*Write][]bool{}
	for _, v := range p.Histories {
		n := 0
		for _, w := range v.Writes {
			if !v.Sum && !v.Private {
				writes[w.Unit.ID], outs[w] = append(writes[w.Unit.ID], w), w.out()
				n += w.Unit.Domain.N
			}
		}
		p.memory.Reserve(16, n)
		v.order = make([]version, 0, n)
	}
	now := int64(0)
	var run func(c *cursor, lane int)
	run = func(c *cursor, lane int) {
		for c.next < c.node.lanes().N {
			at := c.next
			if c.up != nil {
				at = int(c.up[c.next])
			}
			if at != lane {
				return
			}
			k := c.next
			c.next++
			if u, ok := c.node.(*Unit); ok {
				now++
				p.time[u.ID][k] = now
				for _, w := range writes[u.ID] {
					if out := outs[w]; out == nil || !out[k] {
						w.History.order = append(w.History.order, version{now, int32(w.Index), int32(k)})
					}
				}
				continue
			}
			for _, s := range c.sub {
				run(s, k)
			}
		}
	}
	root := cursorOf(p.Root, p.Root.Axis)
	for k := range p.Root.Axis.N {
		run(root, k)
	}
}

// group computes the groups of units and their order.
func (p *planner) group() (why string) {
	may := p.dependences(nil)
	comps, of := components(may)
	cyclic := make([]bool, len(comps))
	for k, c := range comps {
		cyclic[k] = len(c) > 1 || slices.Contains(may[c[0]], c[0])
	}
	// Within cyclic components, refine the dependences by elements.
	next := p.dependences(func(a, b *Unit) bool { return of[a.ID] == of[b.ID] && cyclic[of[a.ID]] })
	comps, of = components(next)
	waits, after, self := make([]int, len(comps)), make([][]int, len(comps)), make([]bool, len(comps))
	for i, list := range next {
		for _, j := range list {
			if a, b := of[i], of[j]; a == b {
				self[a] = true
			} else {
				after[a] = append(after[a], b)
				waits[b]++
			}
		}
	}
	// Where dependences leave the order open, keep program order.
	var ready []int
	insert := func(k int) {
		at, _ := slices.BinarySearchFunc(ready, comps[k][0], func(r, id int) int { return comps[r][0] - id })
		ready = slices.Insert(ready, at, k)
	}
	for k := range comps {
		if waits[k] == 0 {
			insert(k)
		}
	}
	kinds := make([]Kind, len(comps))
	members := make([][]*Unit, len(comps))
	for k, c := range comps {
		for _, i := range c {
			members[k] = append(members[k], p.Units[i])
		}
		if self[k] {
			kind, not := p.kindOf(members[k])
			if kinds[k] = kind; why == "" {
				why = not
			}
			if not != "" {
				p.Tangled = append(p.Tangled, members[k]...)
			}
		}
	}
	if why != "" {
		return why
	}
	for len(ready) > 0 {
		k := ready[0]
		ready = ready[1:]
		g := Group{Units: members[k], Kind: kinds[k]}
		done := []int{k}
		if g.Kind == Recurrence { // merge recurrences over the same steps into one scan
			ready = slices.DeleteFunc(ready, func(j int) bool {
				if kinds[j] != Recurrence || members[j][0].Domain != g.Units[0].Domain {
					return false
				}
				g.Units = append(g.Units, members[j]...)
				done = append(done, j)
				return true
			})
			sorting.Stable(g.Units, func(a, b *Unit) int { return a.ID - b.ID })
		}
		p.Groups = append(p.Groups, g)
		for _, k := range done {
			for _, j := range after[k] {
				if waits[j]--; waits[j] == 0 {
					insert(j)
				}
			}
		}
	}
	return ""
}

// dependences lists, for every unit, the units that may read values that it writes. It compares
// variables and, for pairs for which closely is true, elements.
func (p *planner) dependences(closely func(a, b *Unit) bool) [][]int {
	next := make([][]int, len(p.Units))
	edge := func(a, b *Unit) { // edges to the same b are found consecutively
		if to := next[a.ID]; len(to) == 0 || to[len(to)-1] != b.ID {
			next[a.ID] = append(next[a.ID], b.ID)
		}
	}
	for _, u := range p.Units {
		for _, t := range p.touches[u.ID] {
			v := p.of(t)
			if t.How != Reads || v.Sum {
				continue
			}
			var seen []bool // indexed by write
			for _, w := range v.Writes {
				switch {
				case v.Private:
					if w.Unit.ID < u.ID {
						edge(w.Unit, u)
					}
				case closely == nil || !closely(w.Unit, u):
					edge(w.Unit, u)
				default:
					if seen == nil {
						seen = make([]bool, len(v.Writes))
						for _, o := range v.Origins(u, t.Access, t.Axis, nil) {
							if o.Written() {
								seen[o.Index()] = true
							}
						}
					}
					if seen[w.Index] {
						edge(w.Unit, u)
					}
				}
			}
		}
	}
	return next
}

// components returns the strongly connected components of a graph (Tarjan's algorithm), each with
// its nodes in rising order, and the component of each node.
func components(next [][]int) (comps [][]int, of []int) {
	n := len(next)
	of = make([]int, n)
	low, num := make([]int, n), make([]int, n)
	var stack []int
	onStack := make([]bool, n)
	count := 0
	var visit func(v int)
	visit = func(v int) {
		count++
		num[v], low[v] = count, count
		stack = append(stack, v)
		onStack[v] = true
		for _, w := range next[v] {
			if num[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if onStack[w] {
				low[v] = min(low[v], num[w])
			}
		}
		if low[v] != num[v] {
			return
		}
		var c []int
		for {
			w := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			onStack[w] = false
			of[w] = len(comps)
			c = append(c, w)
			if w == v {
				break
			}
		}
		slices.Sort(c)
		comps = append(comps, c)
	}
	for v := range n {
		if num[v] == 0 {
			visit(v)
		}
	}
	return comps, of
}

// kindOf returns the way to evaluate units that depend on one another.
func (p *planner) kindOf(units []*Unit) (kind Kind, why string) {
	if p.isSum(units) {
		return Sum, ""
	}
	for _, u := range units {
		if u.Loop != units[0].Loop {
			p.acrossLoops(units)
			return 0, "iterations that depend on earlier ones, across loops"
		}
		if u.Domain != units[0].Domain {
			return 0, Irregular
		}
	}
	if why := p.regular(units); why != "" {
		return 0, why
	}
	return Recurrence, ""
}

// acrossLoops records the inner loops of units, and the innermost loop around all of them.
func (p *planner) acrossLoops(units []*Unit) {
	common := units[0].Loop
	for _, u := range units {
		for !common.around(u.Loop) {
			common = common.Parent
		}
		for l := u.Loop; l.Parent != nil; l = l.Parent {
			if !slices.Contains(p.Across, l) {
				p.Across = append(p.Across, l)
			}
		}
	}
	if common.Parent != nil && !slices.Contains(p.Steps, common) {
		p.Steps = append(p.Steps, common)
	}
}
