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
// stream, or the result of nodes. Nodes write it once in each run, step or lane. Slices, reshapes,
// and values with or without lanes are Values that refer to a buffer.
type Buffer struct {
	N       int
	Data    []float64 // of a constant; never modified
	Binding *Binding  // set for an argument of a region that moves with the step or lane
	Body    *Body     // the body in which it is written; nil for constants and bindings
	Input   int       // number of the program's input, from 1; 0 for other buffers
	Kept    bool      // not only nodes write it: an input, a carried value; never part of another buffer

	In BufferID // In is the buffer that contains it, from element At; None if it has separate memory.
	At int

	Makers []int32 // nodes of Body that write it
	Clears []Span  // what must be 0 before its makers run
	Shared bool    // not only nodes read it: an output, a kept or carried value
	Local  bool    // read only by the block that writes it, lane by lane; known once blocks are formed
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

// LaneValue is a value that may have lanes.
type LaneValue struct {
	Value
	Laned bool
}

// Kind is the way in which a node acts.
type Kind uint8

// The kinds. Nodes up to Accumulate share blocks with others of the same N: scalar code if N is 1,
// maps otherwise. The other kinds run alone.
const (
	Elementwise Kind = iota // Op, element by element; operands have N elements or 1. Checks too
	Load                    // Dst = Args[0] through Map: strided, gathered or broadcast
	Accumulate              // Dst through Map += Args[0] (for ops.Dot, += a product); with Store, = : sums, scatters, placements
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
	Op    ad.OpCode // an op of package ad or of package ops
	N     int       // number of elements that it computes; for Accumulate, that it reads
	Args  []Value
	Dst   BufferID // None for effects and regions
	Map   Map
	Store bool
	Src   *ad.Node  // the node of the graph, for nodes that run alone and for checks
	Types []ad.Type // types of the arguments, for ops that need them
	Reg   *Region
	Site  ad.Site

	// InPlace is set, by package vm, if the node changes a few elements of an array in the array's
	// own memory. It then costs only these elements.
	InPlace bool

	After int32   // node that must run before, to keep the order of side effects; -1: none
	Perm  []int32 // for a check of sorted rows: the original index of each element
}

// BlockKind is the kind of a block.
type BlockKind uint8

// The kinds of blocks.
const (
	ScalarBlock BlockKind = iota // straight-line code on single numbers
	MapBlock                     // N independent lanes
	SingleBlock                  // one node that runs alone, such as a region with its bodies
)

// Block is a group of nodes that run together, in order.
type Block struct {
	Kind  BlockKind
	N     int
	Nodes []int32 // indices into the body's nodes
}

// Body is the program itself or the body of a region.
type Body struct {
	*Program
	Parent *Body
	Region *Region // the region that it is a body of; nil for the program's body
	Nodes  []Node
	Blocks []Block // in order of execution; nil until blocks are formed
	Own    []BufferID

	last int32 // last node with a side effect
}

// Program is a lowered graph.
type Program struct {
	Buffers []Buffer
	Main    *Body
	Inputs  []BufferID
	Outputs []Value // each in separate memory

	consts map[uint64]BufferID
	zero   BufferID // a buffer without elements
	values []Value  // memory from which lists of operands are cut
	makers []int32
}

// Region is a region of any kind: its bodies, and the values that they share with the surrounding
// body. Bodies refer to captured values directly, and to slices of streams and of lanes through
// bindings. Carried values are in buffers of the surrounding body.
type Region struct {
	Node    *ad.Node
	Layout  ad.Layout
	Lanes   int         // number of lanes; 0: none
	Results []LaneValue // a result that nothing reads has Buf None
	Sizes   []int       // for each result, the number of elements in a lane
	Live    []bool      // the results that something reads

	Bodies   []*Body   // in the layout's order
	Cond     LaneValue // the condition: of Chosen, or of Tested, for which its first body computes it
	Bindings []*Binding
	Carries  []Carry
	Sums     []BufferID // the accumulators
	Finals   []LanePart // carried values and sums that are copied to results after every lane
	Keeps    []Keep     // values that are stored at each step, or at snapshots
	Outs     [2][]Keep  // for Chosen: the results that each body stores

	Trips, Stride BufferID // results of Tested; None if nothing reads them
}

// Binding makes a buffer of a body a slice of a value, which moves with the step or the lane.
type Binding struct {
	Region     *Region
	Src        Value // in the surrounding body
	Step, Lane int   // distances by which the slice moves
	ByStep     bool
}

// Carry is a carried value.
type Carry struct {
	Buf  BufferID
	Init LaneValue
	Next Value // in the body
}

// LanePart is a buffer with the size of one lane, and the buffer of the result to which it is
// copied after every lane.
type LanePart struct{ Buf, Part BufferID }

// Keep is a value of a body that every step stores in its part of a result: when the step ends or,
// with First, when it begins.
type Keep struct {
	Value
	Dst        BufferID
	Step, Lane int
	First      bool
}

// fault is a mistake in this package or in a pass. It ends lowering by a panic, see Recover.
type fault struct{ error }

func faultf(format string, args ...any) {
	panic(fault{fmt.Errorf("loopnest: "+format, args...)})
}

// Recover stores a fault in *err. Defer it in functions of a package's border that lower or run
// passes.
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

// Whole returns the value of all elements of a buffer.
func (p *Program) Whole(b BufferID) Value { return Value{Buf: b, N: p.Buffers[b].N} }

// Constant returns the value of a constant number.
func (p *Program) Constant(v float64) Value {
	bits := math.Float64bits(v)
	b, ok := p.consts[bits]
	if !ok {
		b = p.AddBuffer(Buffer{N: 1, Data: []float64{v}, Kept: true})
		p.consts[bits] = b
	}
	return p.Whole(b)
}

// number returns the number that v has in every run, if it is known.
func (p *Program) number(v Value) (x float64, ok bool) {
	if d := p.Buffers[v.Buf].Data; d != nil && (v.N == 1 || v.Rep) {
		return d[v.Off], true
	}
	return 0, false
}

func (b *Body) newBuffer(n int) BufferID { return b.AddBuffer(Buffer{N: n, Body: b}) }

// add appends a node, and records that it writes its result.
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

// operands returns memory for n operands.
func (p *Program) operands(n int) []Value {
	if len(p.values) < n {
		p.values = make([]Value, max(n, 1024))
	}
	v := p.values[:0:n]
	p.values = p.values[n:]
	return v
}

// ordered makes node i the last one in the order of side effects.
func (b *Body) ordered(i int32) {
	b.Nodes[i].After = b.last
	b.last = i
}

// setNodes replaces the body's nodes. from[i] is the previous index of node i, or -1 for a new one.
// It updates Makers and the order of side effects.
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

// makes records that node i writes buffer id, and the buffers that contain it.
func (b *Body) makes(id BufferID, i int32) {
	for ; id != None && b.Buffers[id].Body == b; id = b.Buffers[id].In {
		d := &b.Buffers[id]
		d.Makers = append(d.Makers, i)
	}
}

// renumber updates Makers after nodes were made to write other buffers.
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

// maker returns the elementwise node that computes all of v, and nothing else; nil if there is
// none.
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

// uses returns, for each buffer, the number of times that nodes read it.
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

// Bodies calls f for the program's body and for the bodies of all regions, outer ones before inner.
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
