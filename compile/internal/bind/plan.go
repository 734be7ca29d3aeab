package bind

import (
	"slices"

	"github.com/ppl-lang/ppl/lang/types"
)

// The planner orders the units of a nest. A unit depends on another if it may
// read what that one writes; strongly connected components of this relation are
// evaluated together: as a sum, if its units only add and nobody looks in between;
// as a recurrence, if what one iteration takes from earlier ones follows a pattern
// (recur.go). All else runs in lanes, in any order that dependences allow.

// plan orders the units; why is not "" if that cannot be done.
func (n *nest) plan() (why string) {
	budget := n.b.opts.Budget
	used := budget.Used()
	defer func() {
		if n.taken = budget.Used() - used; why != "" {
			budget.Back(used)
		}
	}()
	if why := n.collectWrites(); why != "" {
		return why
	}
	for _, u := range n.units {
		for _, t := range u.touches {
			if h := n.watched[t.c]; t.how == reads && len(h.writes) > 0 && lanesOf(t.ax)*t.acc.ix.Size() > maxFollowed {
				return "too many elements to follow"
			}
		}
	}
	if slices.ContainsFunc(n.order, func(h *history) bool { return !h.sum && !h.private && len(h.writes) > 0 }) {
		n.schedule()
	}
	for _, h := range n.order {
		if len(h.writes) > 0 {
			h.index()
		}
	}
	return n.group()
}

// collectWrites makes the writes of units from what they touch.
func (n *nest) collectWrites() (why string) {
	for _, h := range n.order {
		h.sum = !h.inside && h.c.typ.Kind != types.Int
	}
	for _, u := range n.units {
		for _, t := range u.touches {
			if t.how != adds {
				n.watched[t.c].sum = false
			}
		}
	}
	for _, u := range n.units {
		var cells []*cell
		for _, t := range u.touches {
			if t.how != reads && !slices.Contains(cells, t.c) {
				cells = append(cells, t.c)
			}
		}
		for _, c := range cells {
			if why := n.addWrite(u, n.watched[c]); why != "" {
				return why
			}
		}
	}
	for _, h := range n.order {
		h.private = !h.sum && len(h.writes) > 0 && h.isPrivate()
	}
	return ""
}

// addWrite makes the write of a unit to a variable.
func (n *nest) addWrite(u *unit, h *history) (why string) {
	w := &write{h: h, u: u, index: len(h.writes), add: true}
	whole := false
	var first *touch
	reading := false // elements that it writes too
	for k := range u.touches {
		t := &u.touches[k]
		if t.c != h.c || t.how == reads && !u.compound {
			continue
		}
		whole = whole || t.some || t.ax != u.dom || first != nil && !first.acc.equal(t.acc)
		w.add = w.add && t.how == adds
		reading = reading || t.how == adds
		if first == nil {
			first = t
		}
	}
	w.acc = first.acc
	if whole {
		w.acc = wholeOf(h.c.shape)
		if h.c.size*u.dom.n > maxHistory/16 {
			return "too many elements that are not known beforehand"
		}
	}
	w.overlaid = u.compound || whole
	w.base, w.offs = h.c.elements(w.acc, u.dom)
	h.writes = append(h.writes, w)
	if !h.sum && (w.overlaid || reading) {
		u.touches = append(u.touches, touch{c: h.c, v: h.v, acc: w.acc, ax: u.dom, how: reads})
	}
	return ""
}

// schedule numbers the iterations of the units in the order of the program.
func (n *nest) schedule() {
	type cursor struct {
		node node
		up   []int32 // lanes of the loop around
		next int
		sub  []*cursor
	}
	var cursorOf func(x node, in *axis) *cursor
	cursorOf = func(x node, in *axis) *cursor {
		c := &cursor{node: x}
		if x.lanes() != in {
			c.up = x.lanes().lanesOf(in)
		}
		switch x := x.(type) {
		case *unit:
			n.b.reserve(8, x.dom.n)
			x.time = make([]int64, x.dom.n)
		case *loopNode:
			for _, y := range x.body {
				c.sub = append(c.sub, cursorOf(y, x.ax))
			}
		}
		return c
	}
	now := int64(0)
	var run func(c *cursor, lane int)
	run = func(c *cursor, lane int) {
		for c.next < c.node.lanes().n {
			at := c.next
			if c.up != nil {
				at = int(c.up[c.next])
			}
			if at != lane {
				return
			}
			k := c.next
			c.next++
			if u, ok := c.node.(*unit); ok {
				now++
				u.time[k] = now
				continue
			}
			for _, s := range c.sub {
				run(s, k)
			}
		}
	}
	root := cursorOf(n.root, n.root.ax)
	for k := range n.root.ax.n {
		run(root, k)
	}
}

// group finds the groups of units and their order.
func (n *nest) group() (why string) {
	may := n.dependences(nil)
	comps, of := components(may)
	cyclic := make([]bool, len(comps))
	for k, c := range comps {
		cyclic[k] = len(c) > 1 || slices.Contains(may[c[0]], c[0])
	}
	// Where variables alone do not tell, elements do.
	next := n.dependences(func(a, b *unit) bool { return of[a.id] == of[b.id] && cyclic[of[a.id]] })
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
	// In the order of the program as far as dependences leave it open.
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
	kinds := make([]groupKind, len(comps))
	members := make([][]*unit, len(comps))
	for k, c := range comps {
		for _, i := range c {
			members[k] = append(members[k], n.units[i])
		}
		if self[k] {
			kind, not := n.kindOf(members[k])
			if kinds[k] = kind; why == "" {
				why = not
			}
			if not != "" {
				n.tangled = append(n.tangled, members[k]...)
			}
		}
	}
	if why != "" {
		return why
	}
	for len(ready) > 0 {
		k := ready[0]
		ready = ready[1:]
		g := group{units: members[k], kind: kinds[k]}
		done := []int{k}
		if g.kind == asRecurrence { // with others of the same steps: one scan takes the time of two
			ready = slices.DeleteFunc(ready, func(j int) bool {
				if kinds[j] != asRecurrence || members[j][0].dom != g.units[0].dom {
					return false
				}
				g.units = append(g.units, members[j]...)
				done = append(done, j)
				return true
			})
			slices.SortFunc(g.units, func(a, b *unit) int { return a.id - b.id })
		}
		n.groups = append(n.groups, g)
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

// dependences lists for every unit those that may read what it writes, or, of two
// for which closely says so, that read it.
func (n *nest) dependences(closely func(a, b *unit) bool) [][]int {
	next := make([][]int, len(n.units))
	edge := func(a, b *unit) { // edges to b are found one after the other
		if to := next[a.id]; len(to) == 0 || to[len(to)-1] != b.id {
			next[a.id] = append(next[a.id], b.id)
		}
	}
	for _, u := range n.units {
		for _, t := range u.touches {
			h := n.watched[t.c]
			if t.how != reads || h.sum {
				continue
			}
			var seen []bool // by write
			for _, w := range h.writes {
				switch {
				case h.private:
					if w.u.id < u.id {
						edge(w.u, u)
					}
				case closely == nil || !closely(w.u, u):
					edge(w.u, u)
				default:
					if seen == nil {
						seen = make([]bool, len(h.writes))
						for _, o := range h.origins(u, t.acc, t.ax, nil) {
							if o.w != nil {
								seen[o.w.index] = true
							}
						}
					}
					if seen[w.index] {
						edge(w.u, u)
					}
				}
			}
		}
	}
	return next
}

// components are the strongly connected components of a graph (Tarjan's
// algorithm), the nodes of each in rising order, and the component of each node.
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

// kindOf is how units that depend on one another are evaluated.
func (n *nest) kindOf(units []*unit) (kind groupKind, why string) {
	if n.isSum(units) {
		return asSum, ""
	}
	for _, u := range units {
		if u.loop != units[0].loop {
			n.acrossLoops(units)
			return 0, "iterations that depend on earlier ones, across loops"
		}
		if u.dom != units[0].dom {
			return 0, irregularly
		}
	}
	if why := n.regular(units); why != "" {
		return 0, why
	}
	return asRecurrence, ""
}

// acrossLoops notes the inner loops of units, and the innermost that is around all of
// them.
func (n *nest) acrossLoops(units []*unit) {
	common := units[0].loop
	for _, u := range units {
		for !common.around(u.loop) {
			common = common.parent
		}
		for l := u.loop; l.parent != nil; l = l.parent {
			if !slices.Contains(n.across, l.stmt) {
				n.across = append(n.across, l.stmt)
			}
		}
	}
	if common.parent != nil && !slices.Contains(n.steps, common.stmt) {
		n.steps = append(n.steps, common.stmt)
	}
}

// isSum reports whether units only add to one variable, so that what they add up
// to is all that is read: each run of additions to an element, without another
// write in between, is one sum.
func (n *nest) isSum(units []*unit) bool {
	var h *history
	among := map[*write]bool{}
	for _, u := range units {
		var w *write
		for _, x := range n.order {
			if y := x.ofUnit(u); y != nil && (w != nil || !y.add || y.overlaid) {
				return false
			} else if y != nil {
				w = y
			}
		}
		if w == nil || h != nil && h != w.h {
			return false
		}
		h = w.h
		among[w] = true
		for _, t := range u.touches { // the value that is added must not depend on the sum
			if t.c == h.c && t.how == reads && !(t.acc.equal(w.acc) && t.ax == u.dom) || t.c == h.c && t.how == writes {
				return false
			}
		}
		if !slices.ContainsFunc(u.touches, func(t touch) bool { return t.c == h.c && t.how == adds }) {
			return false
		}
		count := 0
		for _, t := range u.touches {
			if t.c == h.c && t.how == reads {
				count++
			}
		}
		if count != 1 { // more than what += itself reads
			return false
		}
	}
	for _, w := range h.writes {
		if among[w] {
			n.b.reserve(4, len(w.base), len(w.offs))
			w.slot = make([]int32, len(w.base)*len(w.offs))
		}
	}
	runs := int32(0)
	for e := range h.c.total() {
		in := false
		for _, v := range h.versions[h.starts[e]:h.starts[e+1]] {
			w := h.writes[v.write]
			if !among[w] {
				in = false
				continue
			}
			if !in {
				runs++
			}
			in = true
			w.slot[v.pos] = runs - 1
		}
	}
	// Nobody may look at a version that another addition follows.
	last := make([]int64, runs)
	for w := range among {
		width := len(w.offs)
		for pos, k := range w.slot {
			last[k] = max(last[k], w.u.time[pos/width])
		}
	}
	ok := true
	for _, u := range n.units {
		if slices.Contains(units, u) {
			continue
		}
		for _, t := range u.touches {
			if t.c != h.c || t.how != reads {
				continue
			}
			for _, o := range h.origins(u, t.acc, t.ax, nil) {
				if among[o.w] && o.w.u.time[int(o.pos)/len(o.w.offs)] != last[o.w.slot[o.pos]] {
					ok = false
				}
			}
		}
	}
	if !ok {
		for w := range among {
			w.slot = nil
		}
		return false
	}
	for w := range among {
		w.runs = int(runs)
	}
	return true
}
