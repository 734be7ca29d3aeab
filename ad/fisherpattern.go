package ad

import (
	"math/bits"
	"slices"
)

// row is the set of those elements of a vector (of n) that a value may depend on. It is an
// ascending list of few elements, or n bits if these take less memory. Rows are shared, so they are
// not modified once they are built.
type row struct {
	few  []int32
	bits []uint64
}

func (r row) empty() bool { return len(r.few) == 0 && r.bits == nil }

// each calls f with the index of each element.
func (r row) each(f func(int)) {
	for _, i := range r.few {
		f(int(i))
	}
	for i, w := range r.bits {
		for ; w != 0; w &= w - 1 {
			f(64*i + bits.TrailingZeros64(w))
		}
	}
}

// has reports whether r is known to contain all elements of o. It returns false if the answer would
// take long.
func (r row) has(o row) bool {
	if r.bits != nil {
		return o.bits == nil && !slices.ContainsFunc(o.few, func(i int32) bool { return r.bits[i/64]>>(i%64)&1 == 0 })
	}
	if o.bits != nil || len(o.few) > 8 {
		return false
	}
	for _, i := range o.few {
		if _, ok := slices.BinarySearch(r.few, i); !ok {
			return false
		}
	}
	return true
}

// growing is a row to which elements are being added.
type growing struct {
	row
	own   bool // row is used only here, so that it can be modified
	clean int  // length of few when it was last sorted; later elements are unsorted
}

// add adds the elements of o. It returns the number of words of memory that this took.
func (r *growing) add(o row, words int) (took int) {
	switch {
	case o.empty():
		return 0
	case r.empty():
		r.row = o
		return 0
	case !r.own && r.has(o):
		return 0
	case !r.own && o.has(r.row):
		r.row = o
		return 0
	}
	if !r.own {
		r.own, r.clean = true, len(r.few)
		r.few, r.bits = slices.Clone(r.few), slices.Clone(r.bits)
		took += len(r.few)/2 + len(r.bits)
	}
	if o.bits != nil && r.bits == nil {
		took += r.spread(words)
	}
	if r.bits != nil {
		o.each(func(i int) { r.bits[i/64] |= 1 << (i % 64) })
		return took
	}
	r.few = append(r.few, o.few...)
	took += len(o.few)/2 + 1
	if len(r.few) > 2*r.clean+32 {
		r.order()
	}
	if len(r.few) > 2*words {
		took += r.spread(words)
	}
	return took
}

// order sorts the elements and drops duplicates.
func (r *growing) order() {
	if r.own && r.bits == nil && len(r.few) > r.clean {
		slices.Sort(r.few)
		r.few = slices.Compact(r.few)
		r.clean = len(r.few)
	}
}

// spread converts the list to bits.
func (r *growing) spread(words int) int {
	r.bits = make([]uint64, words)
	for _, i := range r.few {
		r.bits[i/64] |= 1 << (i % 64)
	}
	r.few = nil
	return words
}

// pattern has, for every element of a value, over all lanes, the set of elements of a vector that
// it may depend on. A pattern with a single row has that row for all elements.
type pattern []row

// row returns the row of element e.
func (p pattern) row(e int) row {
	if len(p) == 1 {
		return p[0]
	}
	return p[e]
}

// builder is a pattern under construction.
type builder struct {
	rows  []growing
	words int // number of words of a row that is stored as bits
	left  int // words of memory that it may still use
}

// rowWords is the memory, in words, of a row under construction without its elements.
const rowWords = 8

// newBuilder begins a pattern for the given number of elements. ok is false if it takes too much
// memory.
func (d *dependence) newBuilder(elements int) (b *builder, ok bool) {
	if elements == 0 || elements > maxPattern/rowWords {
		return nil, false
	}
	return &builder{make([]growing, elements), d.words, maxPattern - elements*rowWords}, true
}

func (b *builder) add(e int, r row) {
	if b.left >= 0 {
		b.left -= b.rows[e].add(r, b.words)
	}
}

// done returns the pattern; ok is false if it took too much memory.
func (b *builder) done() (p pattern, ok bool) {
	if b.left < 0 {
		return nil, false
	}
	p = make(pattern, len(b.rows))
	for e := range b.rows {
		b.rows[e].order()
		p[e] = b.rows[e].row
	}
	return p, true
}

// dependence finds which of the n elements of wrt each element of a node may depend on. Where an op
// does not distinguish elements, all of them are assumed to depend. Each node is visited once.
type dependence struct {
	g     *Graph
	wrt   Ref
	words int
	found map[Ref]pattern // nil: does not depend on wrt
}

func (g *Graph) dependence(wrt Ref) *dependence {
	n := g.Type(wrt).Size()
	numbers, eye := make([]int32, n), make(pattern, n)
	for i := range n {
		numbers[i] = int32(i)
		eye[i] = row{few: numbers[i : i+1 : i+1]}
	}
	return &dependence{g, wrt, (n + 63) / 64, map[Ref]pattern{wrt: eye}}
}

// of returns the pattern of a node; ok is false if it does not depend on wrt.
func (d *dependence) of(r Ref) (p pattern, ok bool) {
	// Not recursive, because graphs may be deep.
	waiting := []Ref{r}
	for len(waiting) > 0 {
		r := waiting[len(waiting)-1]
		if _, known := d.found[r]; known || r < d.wrt {
			waiting = waiting[:len(waiting)-1]
			continue
		}
		ready, active := true, false
		for _, a := range d.g.Nodes[r].Args {
			p, known := d.found[a]
			if !known && a > d.wrt {
				waiting, ready = append(waiting, a), false
			}
			active = active || p != nil
		}
		switch {
		case !ready:
		case active:
			d.found[r] = d.look(&d.g.Nodes[r])
		default:
			d.found[r] = nil
		}
	}
	p = d.found[r]
	return p, p != nil
}

// all adds, to one row, everything that any element of r depends on.
func (d *dependence) all(to *growing, r Ref) {
	if p, ok := d.of(r); ok {
		for _, o := range p {
			to.add(o, d.words)
		}
	}
}

// union returns the pattern of a node each of whose elements may depend on everything that any
// argument depends on.
func (d *dependence) union(args []Ref) pattern {
	var u growing
	for _, a := range args {
		d.all(&u, a)
	}
	u.order()
	return pattern{u.row}
}

// look derives the pattern of a node from those of its arguments.
func (d *dependence) look(n *Node) pattern {
	g, found := d.g, d.found
	out, ok := d.newBuilder(n.Type.Total())
	if !ok {
		return d.union(n.Args)
	}
	lanes, size := max(n.Type.Lanes, 1), n.Type.Size()
	// from calls f for every lane of the result, with the first element of the corresponding lane
	// of an argument.
	from := func(a Ref, f func(lane, first int)) {
		t := g.Type(a)
		for l := range lanes {
			if t.Lanes == 0 {
				f(l, 0)
			} else {
				f(l, l*t.Size())
			}
		}
	}
	switch {
	case table[n.Op].Class == Elementwise:
		for _, a := range n.Args {
			p := found[a]
			if p == nil {
				continue
			}
			one := g.Type(a).Size() == 1
			from(a, func(l, first int) {
				for e := range size {
					if one {
						out.add(l*size+e, p.row(first))
					} else {
						out.add(l*size+e, p.row(first+e))
					}
				}
			})
		}
	case n.Op == OpGather:
		p, ix := found[n.Args[0]], n.Attr.(Index)
		from(n.Args[0], func(l, first int) {
			ix.Each(func(pos, elem int) { out.add(l*size+pos, p.row(first+elem)) })
		})
	case n.Op == OpScatter:
		p, ix := found[n.Args[0]], n.Attr.(scatterAttr).Index
		from(n.Args[0], func(l, first int) {
			ix.Each(func(pos, elem int) { out.add(l*size+elem, p.row(first+pos)) })
		})
	case n.Op == OpReshape || n.Op == OpLane || n.Op == OpUnlane:
		return found[n.Args[0]]
	case n.Op == OpConcat:
		offset := 0
		for _, a := range n.Args {
			k := g.Type(a).Size()
			if p := found[a]; p != nil {
				from(a, func(l, first int) {
					for e := range k {
						out.add(l*size+offset+e, p.row(first+e))
					}
				})
			}
			offset += k
		}
	case n.Op == OpMatMul:
		d.product(n, out, from)
	case n.Type.Lanes > 0 && n.Op == OpResult:
		d.lane(g.Nodes[n.Args[0]].Args, size, out, from)
	case n.Type.Lanes > 0 && !table[n.Op].OwnLanes && (table[n.Op].Class == Linear || table[n.Op].Class == Array):
		d.lane(n.Args, size, out, from)
	default:
		return d.union(n.Args)
	}
	if p, ok := out.done(); ok {
		return p
	}
	return d.union(n.Args)
}

// lane adds the dependences of ops on whole lanes: each element of a lane depends on all elements
// of the same lane of the arguments.
func (d *dependence) lane(args []Ref, size int, out *builder, from func(a Ref, f func(lane, first int))) {
	for _, a := range args {
		p := d.found[a]
		if p == nil {
			continue
		}
		k := d.g.Type(a).Size()
		from(a, func(l, first int) {
			var u growing
			for e := range k {
				u.add(p.row(first+e), d.words)
			}
			u.order()
			for e := range size {
				out.add(l*size+e, u.row)
			}
		})
	}
}

// product adds the dependences of a matrix product. Terms with a factor known to be 0 do not count.
func (d *dependence) product(n *Node, out *builder, from func(a Ref, f func(lane, first int))) {
	g, found := d.g, d.found
	m := n.Attr.(MatMulAttr)
	a, b := n.Args[0], n.Args[1]
	A, B := g.Type(a).Shape, g.Type(b).Shape
	rows, cols, inner, _ := m.dims(A, B)
	at := func(shape []int, trans bool, i, j int) int {
		if trans {
			i, j = j, i
		}
		return i*shape[1] + j
	}
	// factor adds the dependences of one matrix to the elements of the product.
	factor := func(r, other Ref, element, otherElement func(i, j, k int) int) {
		p := found[r]
		if p == nil {
			return
		}
		known, isKnown := g.Value(other)
		starts := make([]int, max(n.Type.Lanes, 1))
		from(other, func(l, first int) { starts[l] = first })
		from(r, func(l, first int) {
			for i := range rows {
				for k := range inner {
					for j := range cols {
						if isKnown && known[starts[l]+otherElement(i, j, k)] == 0 {
							continue
						}
						out.add((l*rows+i)*cols+j, p.row(first+element(i, j, k)))
					}
				}
			}
		})
	}
	left := func(i, _, k int) int { return at(A, m.TransA, i, k) }
	right := func(_, j, k int) int { return at(B, m.TransB, k, j) }
	factor(a, b, left, right)
	factor(b, a, right, left)
}
