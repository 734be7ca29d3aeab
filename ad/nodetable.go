package ad

import "slices"

// nodeTable finds equal nodes. It is a hash table with linear probing that is one piece of memory;
// a map takes several, and graphs are made and copied often.
type nodeTable struct {
	entries []nodeEntry // their number is a power of 2
	n       int
}

type nodeEntry struct {
	key  nodeKey
	node Ref
	used bool
}

// grow makes the table large enough for n nodes.
func (t *nodeTable) grow(n int) {
	size := 16
	for 3*size < 4*n {
		size *= 2
	}
	old := t.entries
	t.entries = make([]nodeEntry, size)
	for i := range old {
		if old[i].used {
			*t.place(old[i].key) = old[i]
		}
	}
}

// place returns the entry of a key, or the free entry where it belongs.
func (t *nodeTable) place(k nodeKey) *nodeEntry {
	const odd = 0x9e3779b97f4a7c15
	h := (uint64(k.op)<<16 | uint64(k.n)) * odd
	h = (h ^ uint64(uint32(k.a))<<32 ^ uint64(uint32(k.b))) * odd
	h = (h ^ h>>29 ^ uint64(uint32(k.c))<<32 ^ uint64(uint32(k.attr))) * odd
	for i := h >> 32; ; i++ {
		e := &t.entries[i&uint64(len(t.entries)-1)]
		if !e.used || e.key == k {
			return e
		}
	}
}

// find returns the node with a key.
func (t *nodeTable) find(k nodeKey) (Ref, bool) {
	if len(t.entries) == 0 {
		return None, false
	}
	e := t.place(k)
	return e.node, e.used
}

// set makes r the node with a key.
func (t *nodeTable) set(k nodeKey, r Ref) {
	if 4*(t.n+1) > 3*len(t.entries) {
		t.grow(2 * (t.n + 1))
	}
	e := t.place(k)
	if !e.used {
		t.n++
	}
	*e = nodeEntry{key: k, node: r, used: true}
}

// clone returns a copy that can grow independently.
func (t *nodeTable) clone() nodeTable { return nodeTable{slices.Clone(t.entries), t.n} }

// keyTable numbers the keys of attributes, from 1. A nodeKey holds these numbers: a graph has few
// attributes compared with its nodes, and keys without pointers are faster to look up.
type keyTable struct {
	text    []byte     // all keys, one after another
	entries []keyEntry // a hash table like that of nodeTable
	n       int32
}

// keyEntry is a key, as a part of the text, and its number; a free entry has number 0.
type keyEntry struct {
	start, end int
	number     int32
}

// number returns the number of an attribute's key.
func (t *keyTable) number(a Keyed) int32 {
	if 4*(int(t.n)+1) > 3*len(t.entries) {
		t.grow()
	}
	start := len(t.text)
	t.text = a.AppendKey(t.text)
	e := t.place(t.text[start:])
	if e.number > 0 {
		t.text = t.text[:start]
		return e.number
	}
	t.n++
	*e = keyEntry{start, len(t.text), t.n}
	return t.n
}

// grow doubles the table.
func (t *keyTable) grow() {
	old := t.entries
	t.entries = make([]keyEntry, max(16, 2*len(old)))
	if t.text == nil {
		t.text = make([]byte, 0, 128)
	}
	for _, e := range old {
		if e.number > 0 {
			*t.place(t.text[e.start:e.end]) = e
		}
	}
}

// place returns the entry of a key, or the free entry where it belongs.
func (t *keyTable) place(key []byte) *keyEntry {
	h := uint64(14695981039346656037) // FNV-1a
	for _, c := range key {
		h = (h ^ uint64(c)) * 1099511628211
	}
	for i := h >> 32; ; i++ {
		e := &t.entries[i&uint64(len(t.entries)-1)]
		if e.number == 0 || string(t.text[e.start:e.end]) == string(key) {
			return e
		}
	}
}

// clone returns a copy that can grow independently.
func (t *keyTable) clone() keyTable {
	return keyTable{slices.Clone(t.text), slices.Clone(t.entries), t.n}
}
