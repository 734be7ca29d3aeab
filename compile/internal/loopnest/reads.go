package loopnest

// This file answers one question, for every pass that reorders, joins or places elements: which
// readers depend on the positions of elements? A pass may move an element only if all its readers
// move too.

// reading is the way in which a node reads an operand.
type reading uint8

const (
	// readsNumber: the operand's buffer holds one number, which has no position.
	readsNumber reading = iota
	// readsElements: lane i reads element i of the whole buffer. The reader may move with what
	// it reads.
	readsElements
	// readsPosition: the reader depends on the position of each element. It is an element, a slice,
	// a gather, an op on a whole array, or a region.
	readsPosition
)

// reads returns the way in which node q reads its argument k.
func (b *Body) reads(q *Node, k int) reading {
	switch {
	case b.Buffers[q.Args[k].Buf].N == 1:
		return readsNumber
	case b.perElement(q, k):
		return readsElements
	}
	return readsPosition
}

// readElsewhere reports whether not only nodes read or write the buffer: it may be an output, a
// kept or carried value, or part of an array. These depend on positions.
func (b *Body) readElsewhere(id BufferID) bool {
	r := &b.Buffers[id]
	return r.Body != b || r.Shared || r.Kept || r.In != None
}

// perElement reports whether node q reads all of its argument k, element by element.
func (b *Body) perElement(q *Node, k int) bool {
	a := q.Args[k]
	return (q.Kind == Elementwise || q.Kind == Accumulate) && q.N > 1 && a.N == q.N && !a.Rep && a.Off == 0 && b.Buffers[a.Buf].N == q.N
}
