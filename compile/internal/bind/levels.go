package bind

// Iterations by levels: where an iteration reads what others before it wrote, at distances
// without pattern, as products by index do, or what each row takes from the row of its parent, those
// that read nothing that the loop wrote are evaluated first, in lanes; then those that only read what
// these wrote, and so on: as many times as the longest chain of iterations has links. The
// iterations of a level are a group, as those of a size are (split.go), and
// versions of elements tell which of them a read sees. Of 800 products with elements of a vector of 400, no
// more than 8 with the same one, a gradient took 277 µs carried whole and takes 4.

// levels are the levels of the iterations of the nest's loop, by what units read of one another that
// are neither a sum nor a recurrence; nil if there are none such, or too many to look at.
func (n *nest) levels() *split {
	if len(n.tangled) == 0 {
		return nil
	}
	ax := n.root.ax
	among := map[*unit]bool{}
	elements := 0
	for _, u := range n.tangled {
		among[u] = true
		for _, t := range u.touches {
			if t.how == reads {
				elements += lanesOf(t.ax) * t.acc.ix.Size()
			}
		}
	}
	if elements > mostLevelled {
		return nil
	}
	defer n.b.opts.Budget.Back(n.b.opts.Budget.Used())
	type edge struct{ from, to int32 } // iterations
	var edges []edge
	starts := make([]int32, ax.n+1)
	n.b.reserve(12, ax.n)
	for _, u := range n.tangled {
		for _, t := range u.touches {
			h := n.watched[t.c]
			if t.how != reads || len(h.writes) == 0 || h.sum || h.private || t.ax == nil || !ax.within(t.ax) {
				continue
			}
			up := upTo(t.ax, ax)
			from := h.origins(u, t.acc, t.ax, t.acc.outIn(t.ax))
			n.b.reserve(8, len(from))
			width := len(from) / max(1, t.ax.n)
			for k, o := range from {
				if o.w == nil || !among[o.w.u] {
					continue
				}
				e := edge{from: o.pos / int32(len(o.w.offs)), to: int32(k / width)}
				if up != nil {
					e.to = up[e.to]
				}
				if w := upTo(o.w.u.dom, ax); w != nil {
					e.from = w[e.from]
				}
				if e.from < e.to {
					edges = append(edges, e)
					starts[e.to+1]++
				}
			}
		}
	}
	if len(edges) == 0 { // they depend on one another within iterations
		return nil
	}
	for i := range ax.n {
		starts[i+1] += starts[i]
	}
	into := make([]int32, len(edges)) // by iteration, those whose values it reads
	next := append([]int32(nil), starts...)
	for _, e := range edges {
		into[next[e.to]] = e.from
		next[e.to]++
	}
	s := &split{axis: ax, sizes: make([]int64, ax.n)}
	for i := range ax.n {
		for _, from := range into[starts[i]:starts[i+1]] {
			s.sizes[i] = max(s.sizes[i], s.sizes[from]+1)
		}
	}
	return s
}
