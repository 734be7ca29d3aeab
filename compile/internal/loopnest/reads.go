package loopnest

// This file answers one question for every pass that reorders, joins or places elements: which
// readers see positions? A pass may move an element only if all its readers move with it.

// reading is the way in which a node reads an operand.
type reading uint8

const (
	// readsNumber: the operand's buffer holds one number, which has no position.
	readsNumber reading = iota
	// readsElements: lane i reads element i of the whole buffer. The reader may move with what
	// it reads.
	readsElements
	// readsPosition: an element, a slice, a gather, an op on the whole array, a region. The reader
	// depends on the position of each element.
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

// readElsewhere reports whether anything but nodes reads or writes the buffer: outputs, carried and
// kept values, the array that it is part of. These see positions.
func (b *Body) readElsewhere(id BufferID) bool {
	r := &b.Buffers[id]
	return r.Body != b || r.Shared || r.Kept || r.In != None
}

// perElement reports whether node q reads its argument k element by element,
// all of the buffer.
func (b *Body) perElement(q *Node, k int) bool {
	a := q.Args[k]
	return (q.Kind == Elementwise || q.Kind == Accumulate) && q.N > 1 && a.N == q.N && !a.Rep && a.Off == 0 && b.Buffers[a.Buf].N == q.N
}
