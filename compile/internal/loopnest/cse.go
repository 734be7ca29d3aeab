package loopnest

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// EliminateCommon is common-subexpression elimination: equal nodes on arrays become one node. The
// graph has merged most duplicates already. Others become equal only here: a value that the graph
// computes both in lanes and as an array, or two reads of one value.
func EliminateCommon(p *Program) {
	same := map[BufferID]BufferID{}
	p.Bodies(func(b *Body) { b.eliminateCommon(same) })
	if len(same) > 0 {
		p.substitute(same)
	}
}

// cseKey is equal for equal nodes.
type cseKey struct {
	kind    Kind
	op      ad.OpCode
	n, size int
	store   bool
	args    [3]Value
	m       mapKey
}

// cseHash is the part of a key that a map uses: a map allocates memory for each key of more than
// 128 bytes.
type cseHash struct {
	op   ad.OpCode
	n    int
	a, b BufferID
}

func (k *cseKey) hash() cseHash { return cseHash{k.op, k.n, k.args[0].Buf, k.args[1].Buf} }

// cseEntry is the first node with a key.
type cseEntry struct {
	key    cseKey
	dst    BufferID
	before int32 // index of the previous entry with the same hash, from 1
}

type mapKey struct {
	off, n, s0, n1, s1 int
	table              *int32
}

// key identifies a map by content and its table by address; ok is false for other maps.
func (m *Map) key() (k mapKey, ok bool) {
	k.off, k.n = m.Off, m.N
	if _, k.s0, k.n1, k.s1, ok = m.Affine(); ok {
		return k, true
	}
	if len(m.Dims) == 1 && m.Dims[0].Table != nil {
		k.table = &m.Dims[0].Table[0]
		return k, true
	}
	return k, false
}

func (b *Body) eliminateCommon(same map[BufferID]BufferID) {
	keys := make([]cseEntry, 0, len(b.Nodes))
	last := map[cseHash]int32{} // for each hash, the index of its last entry, from 1
	dead := make([]bool, len(b.Nodes))
	for i := range b.Nodes {
		n := &b.Nodes[i]
		for k := range n.Args {
			if id, ok := same[n.Args[k].Buf]; ok {
				n.Args = slices.Clone(n.Args)
				n.Args[k].Buf = id
			}
		}
		if n.Kind > Accumulate || n.N == 1 || n.Dst == None || len(n.Args) > 3 {
			continue
		}
		d := &b.Buffers[n.Dst]
		if d.Body != b || d.Kept || d.In != None || len(d.Makers) != 1 {
			continue
		}
		key := cseKey{kind: n.Kind, op: n.Op, n: n.N, size: d.N, store: n.Store}
		copy(key.args[:], n.Args)
		if n.Kind != Elementwise {
			m, ok := n.Map.key()
			if !ok {
				continue
			}
			key.m = m
		}
		if n.Kind == Accumulate && d.N > 1 { // the elements that the node does not write may differ
			continue
		}
		hash := key.hash()
		at := last[hash]
		for at > 0 && keys[at-1].key != key {
			at = keys[at-1].before
		}
		if at > 0 {
			id := keys[at-1].dst
			same[n.Dst] = id
			b.Buffers[id].Shared = b.Buffers[id].Shared || d.Shared
			dead[i] = true
			continue
		}
		keys = append(keys, cseEntry{key, n.Dst, last[hash]})
		last[hash] = int32(len(keys))
	}
	b.drop(dead)
}

// substitute replaces buffers by others, wherever they are read.
func (p *Program) substitute(same map[BufferID]BufferID) {
	put := func(v *Value) {
		if id, ok := same[v.Buf]; ok {
			v.Buf = id
		}
	}
	for i := range p.Outputs {
		put(&p.Outputs[i])
	}
	p.Bodies(func(b *Body) {
		for i := range b.Nodes {
			n := &b.Nodes[i]
			for k := range n.Args {
				if _, ok := same[n.Args[k].Buf]; ok {
					n.Args = slices.Clone(n.Args)
					put(&n.Args[k])
				}
			}
			r := n.Reg
			if r == nil {
				continue
			}
			put(&r.Cond.Value)
			for k := range r.Bindings {
				put(&r.Bindings[k].Src)
			}
			for k := range r.Carries {
				put(&r.Carries[k].Init.Value)
				put(&r.Carries[k].Next)
			}
			for k := range r.Keeps {
				put(&r.Keeps[k].Value)
			}
			for _, ks := range r.Outs {
				for k := range ks {
					put(&ks[k].Value)
				}
			}
		}
	})
}
