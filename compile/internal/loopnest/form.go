package loopnest

import (
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/ad"
)

// BufferID names a buffer of one Program.
type BufferID int32

// None is the absent BufferID.
const None BufferID = -1

// Buffer is a contiguous piece of memory: an input, a constant, a carried value, a slice of a
// stream, or the result of nodes. Nodes write it once per run, step or lane. Slices, reshapes, and
// values with or without lanes are Values that refer to the buffer.
type Buffer struct {
	N       int
	Data    []float64 // of a constant; never modified
	Binding *Binding  // of a region's argument that moves with the step or lane
	Body    *Body     // in which it is written; nil for constants and bindings
	Input   int       // number of the program's input, from 1; 0 for other buffers
	Kept    bool      // written by others than nodes: an input, a carried value; never placed within another

	In BufferID // the buffer that it is part of, from element At; None if it has its own memory
	At int

	Makers []int32 // nodes of Body that write it
	Clears []Span  // what must be 0 before its makers run
	Shared bool    // read by others than nodes: an output, a kept or carried value
	Local  bool    // read only within its block, lane by lane; set when blocks are formed
}

// Span is the elements from Lo up to but not including Hi.
type Span struct{ Lo, Hi int }

// Value is an operand: N elements of a buffer from Off on (a slice), or, with
// Rep, one element that stands for N equal ones (a broadcast).
type Value struct {
	Buf BufferID
	Off int
	N   int
	Rep bool
}

// LaneValue is a value that has lanes or not.
type LaneValue struct {
	Value
	Laned bool
}

// Kind says how a node acts.
type Kind uint8

// The kinds. Nodes up to Accumulate form blocks with others of the same N:
// scalar code if it is 1, maps otherwise. What follows runs alone.
const (
	Elementwise Kind = iota // Op, element by element; operands have N elements or 1. Checks too
	Load                    // Dst = Args[0] through Map: strided, gathered or broadcast
	Accumulate              // Dst through Map += Args[0] (ops.Dot: products), or = with Store: sums, scatters, placements
	MatMul
	Array   // Op on whole arrays, per lane
	Random  // draws numbers
	Effect  // a rejection or print
	Regions // a region, with its bodies
)

// Node is an operation, in SSA form except for accumulations: every buffer is written before it is
// read.
type Node struct {
	Kind  Kind
	Op    ad.OpCode // of ad, or one of this package's own
	N     int       // elements that it computes or, Accumulate, reads
	Args  []Value
	Dst   BufferID // None for effects and regions
	Map   Map
	Store bool
	Src   *ad.Node  // what was lowered, for what runs alone and checks
	Types []ad.Type // of the arguments, for ops that see them
	Reg   *Region
	Site  ad.Site

	// InPlace is set by the assembler where an array that the node changes in a few places takes
	// the memory of the array that it was: the node costs these places.
	InPlace bool

	After int32   // node that must run before: order of effects; -1 for none
	Perm  []int32 // of a check of sorted rows: which element each was
}

// BlockKind is the kind of a block.
type BlockKind uint8

// The kinds of blocks.
const (
	ScalarBlock BlockKind = iota // straight-line code on single numbers
	MapBlock                     // N independent lanes
	SingleBlock                  // one node that runs alone, a region with its bodies too
)

// Block is nodes that run together, in this order.
type Block struct {
	Kind  BlockKind
	N     int
	Nodes []int32 // of the body
}

// Body is the program itself or the body of a region.
type Body struct {
	*Program
	Parent *Body
	Region *Region // whose body it is; nil for the program's own
	Nodes  []Node
	Blocks []Block // in order of execution; nil until blocks are formed
	Own    []BufferID

	last int32 // last node with an effect
}

// Program is a lowered graph.
type Program struct {
	Buffers []Buffer
	Main    *Body
	Inputs  []BufferID
	Outputs []Value // each in its own memory

	consts map[uint64]BufferID
	zero   BufferID // no elements
	values []Value  // of which operands are cut
	makers []int32
}

// Region is a region of any kind: its bodies, and the values that they share with the surrounding
// body. Bodies address captured values directly, and slices of streams and of lanes through
// bindings. Carried values are in buffers of the surrounding body.
type Region struct {
	Node    *ad.Node
	Layout  ad.Layout
	Lanes   int         // 0: without
	Results []LaneValue // dead ones have Buf None
	Sizes   []int       // of one lane of each result
	Live    []bool      // results that somebody reads

	Bodies   []*Body   // in the layout's order
	Cond     LaneValue // of Chosen; of Tested, in its first body
	Bindings []*Binding
	Carries  []Carry
	Sums     []BufferID // accumulators
	Finals   []LanePart // carried values and sums to copy after every lane
	Keeps    []Keep     // at each step, or snapshot
	Outs     [2][]Keep  // results of the bodies of Chosen

	Trips, Stride BufferID // results of Tested; None if nobody reads them
}

// Binding ties a buffer of a body to a slice of a value that moves with the
// step or the lane.
type Binding struct {
	Region     *Region
	Src        Value // in the surrounding body
	Step, Lane int   // strides
	ByStep     bool
}

// Carry is a carried value.
type Carry struct {
	Buf  BufferID
	Init LaneValue
	Next Value // in the body
}

// LanePart is a buffer of one lane's size and the result to which it is copied
// after every lane.
type LanePart struct{ Buf, Part BufferID }

// Keep is a value of a body that every step stores in part of a result: at its end or, with First,
// at its beginning.
type Keep struct {
	Value
	Dst        BufferID
	Step, Lane int
	First      bool
}

// fault is a mistake of this package's; it ends lowering and is recovered by
// Recover.
type fault struct{ error }

func faultf(format string, args ...any) {
	panic(fault{fmt.Errorf("loopnest: "+format, args...)})
}

// Recover stores a mistake of this package's in *err; defer it at the border of
// whoever runs passes.
func Recover(err *error) {
	switch r := recover().(type) {
	case nil:
	case fault:
		*err = r.error
	default:
		panic(r)
	}
}

// AddBuffer appends a buffer that has its own memory.
func (p *Program) AddBuffer(b Buffer) BufferID {
	b.In = None
	id := BufferID(len(p.Buffers))
	p.Buffers = append(p.Buffers, b)
	if b.Body != nil {
		b.Body.Own = append(b.Body.Own, id)
	}
	return id
}

// Whole is the value of all of a buffer.
func (p *Program) Whole(b BufferID) Value { return Value{Buf: b, N: p.Buffers[b].N} }

// Constant is the value of a number.
func (p *Program) Constant(v float64) Value {
	bits := math.Float64bits(v)
	b, ok := p.consts[bits]
	if !ok {
		b = p.AddBuffer(Buffer{N: 1, Data: []float64{v}, Kept: true})
		p.consts[bits] = b
	}
	return p.Whole(b)
}

// number is the number that v is known to be.
func (p *Program) number(v Value) (x float64, ok bool) {
	if d := p.Buffers[v.Buf].Data; d != nil && (v.N == 1 || v.Rep) {
		return d[v.Off], true
	}
	return 0, false
}

func (b *Body) newBuffer(n int) BufferID { return b.AddBuffer(Buffer{N: n, Body: b}) }

// add appends a node and makes it a maker of its result.
func (b *Body) add(n Node) int32 {
	i := int32(len(b.Nodes))
	n.After = -1
	b.Nodes = append(b.Nodes, n)
	if n.Dst != None && b.Buffers[n.Dst].Body == b {
		d := &b.Buffers[n.Dst]
		if d.Makers == nil {
			if len(b.makers) == 0 {
				b.makers = make([]int32, 4096)
			}
			d.Makers, b.makers = b.makers[:0:1], b.makers[1:]
		}
		d.Makers = append(d.Makers, i)
	}
	return i
}

// operands allocates memory for n operands.
func (p *Program) operands(n int) []Value {
	if len(p.values) < n {
		p.values = make([]Value, max(n, 1024))
	}
	v := p.values[:0:n]
	p.values = p.values[n:]
	return v
}

// ordered puts the node last in the order of effects.
func (b *Body) ordered(i int32) {
	b.Nodes[i].After = b.last
	b.last = i
}

// setNodes replaces the body's nodes; from[i] is the former number of node i, or
// -1. Makers and the order of effects are brought up to date.
func (b *Body) setNodes(nodes []Node, from []int32) {
	to := make([]int32, len(b.Nodes))
	for i, f := range from {
		if f >= 0 {
			to[f] = int32(i)
		}
	}
	b.Nodes = nodes
	for _, id := range b.Own {
		b.Buffers[id].Makers = b.Buffers[id].Makers[:0]
	}
	for i := range nodes {
		n := &nodes[i]
		if n.After >= 0 {
			n.After = to[n.After]
		}
		b.makes(n.Dst, int32(i))
		if n.Reg != nil {
			for _, r := range n.Reg.Results {
				b.makes(r.Buf, int32(i))
			}
		}
	}
}

// makes records that node i writes buffer id, and what that is part of.
func (b *Body) makes(id BufferID, i int32) {
	for ; id != None && b.Buffers[id].Body == b; id = b.Buffers[id].In {
		d := &b.Buffers[id]
		d.Makers = append(d.Makers, i)
	}
}

// renumber brings makers up to date with nodes that write elsewhere than before.
func (b *Body) renumber() {
	from := make([]int32, len(b.Nodes))
	for i := range from {
		from[i] = int32(i)
	}
	b.setNodes(b.Nodes, from)
}

// drop removes dead nodes.
func (b *Body) drop(dead []bool) {
	n := 0
	for _, d := range dead {
		if !d {
			n++
		}
	}
	if n == len(dead) {
		return
	}
	from := make([]int32, 0, n)
	nodes := make([]Node, 0, n)
	for i := range b.Nodes {
		if !dead[i] {
			nodes = append(nodes, b.Nodes[i])
			from = append(from, int32(i))
		}
	}
	b.setNodes(nodes, from)
}

// maker returns the elementwise node that alone computes all of v; nil if there is none.
func (b *Body) maker(v Value) *Node {
	r := &b.Buffers[v.Buf]
	if r.Body != b || len(r.Makers) != 1 || v.Off != 0 || v.N != r.N || v.Rep {
		return nil
	}
	if n := &b.Nodes[r.Makers[0]]; n.Kind == Elementwise && n.Dst == v.Buf && n.N == v.N {
		return n
	}
	return nil
}

// uses counts, by buffer, how often nodes read it.
func (p *Program) uses() []int32 {
	uses := make([]int32, len(p.Buffers))
	p.Bodies(func(b *Body) {
		for i := range b.Nodes {
			for _, a := range b.Nodes[i].Args {
				uses[a.Buf]++
			}
		}
	})
	return uses
}

// Bodies calls f for the program's body and those of all regions, outer before
// inner.
func (p *Program) Bodies(f func(*Body)) {
	var walk func(b *Body)
	walk = func(b *Body) {
		f(b)
		for i := range b.Nodes {
			if r := b.Nodes[i].Reg; r != nil {
				for _, inner := range r.Bodies {
					walk(inner)
				}
			}
		}
	}
	walk(p.Main)
}
