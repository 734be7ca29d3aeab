package loopnest

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// Columns rewrites the product of a known matrix of few columns and a vector: for each row as a sum
// of products, or for the transposed matrix as a sum of products for each column. These become part
// of the loops around them, so that fewer values go through memory.
func Columns(p *Program) {
	c := &columns{Program: p, known: map[column]Value{}}
	p.Bodies(c.body)
}

// column is one column of a matrix: elements off + i·stride, for n rows.
type column struct {
	buf            BufferID
	off, stride, n int
}

type columns struct {
	*Program
	known map[column]Value
}

func (c *columns) body(b *Body) {
	var nodes []Node
	var from []int32
	for i := range b.Nodes {
		n := b.Nodes[i]
		long, few, transposed := n.narrow(b)
		if few == 0 {
			if nodes != nil {
				nodes, from = append(nodes, n), append(from, int32(i))
			}
			continue
		}
		if nodes == nil {
			nodes = append(make([]Node, 0, len(b.Nodes)+8), b.Nodes[:i]...)
			for k := range nodes {
				from = append(from, int32(k))
			}
		}
		emit := func(m Node) {
			m.N, m.Src, m.Site, m.After = long, n.Src, n.Site, -1
			nodes, from = append(nodes, m), append(from, -1)
		}
		// With the other storage order, the elements of a column are adjacent.
		across, along := 1, few
		if q := n.Types[0].Shape[1]; q == long {
			across, along = long, 1
		}
		var sum Value
		for k := range few {
			x := c.column(column{n.Args[0].Buf, n.Args[0].Off + k*across, along, long})
			if transposed {
				emit(Node{Kind: Accumulate, Op: ops.Dot, Args: []Value{x, n.Args[1]}, Dst: n.Dst, Map: Map{Off: k, Dims: []ad.Dim{{N: long}}, N: long}})
				continue
			}
			a := n.Args[1]
			if a.N, a.Rep = 1, false; !n.Args[1].Rep {
				a.Off += k
			}
			m := Node{Kind: Elementwise, Op: ad.OpMul, Args: []Value{x, a}, Dst: n.Dst}
			if k < few-1 {
				m.Dst = b.newBuffer(long)
			}
			if k > 0 {
				m.Op, m.Args = ops.MulAdd, append(m.Args, sum)
			}
			emit(m)
			sum = b.Whole(m.Dst)
		}
		if transposed {
			b.Buffers[n.Dst].Clears = []Span{{0, few}}
		}
	}
	if nodes != nil {
		b.setNodes(nodes, from)
	}
}

// narrow reports whether a node is a product of a known matrix, with one long and one short side,
// and a vector of numbers. It returns the lengths of both, and whether it sums over the long side.
// few is 0 for other nodes.
func (n *Node) narrow(b *Body) (long, few int, transposed bool) {
	if n.Kind != MatMul || n.Types[0].Lanes > 0 || n.Types[1].Lanes > 0 || n.Args[0].Rep || b.Buffers[n.Args[0].Buf].Data == nil {
		return
	}
	attr, _ := n.Src.Attr.(ad.MatMulAttr)
	rows, cols := n.Types[0].Shape[0], n.Types[0].Shape[1]
	if attr.TransA {
		rows, cols = cols, rows
	}
	switch {
	case n.Types[1].Size() != cols: // its second operand is a matrix
	case rows >= longColumn && cols <= FewColumns && rows > cols:
		return rows, cols, false
	case cols >= longColumn && rows <= FewColumns && cols > rows && !n.Args[1].Rep:
		return cols, rows, true
	}
	return
}

// column returns the numbers of a column, contiguous in memory.
func (c *columns) column(at column) Value {
	v, ok := c.known[at]
	if ok {
		return v
	}
	data := c.Buffers[at.buf].Data
	x := make([]float64, at.n)
	for i := range x {
		x[i] = data[at.off+i*at.stride]
	}
	v = c.Whole(c.AddBuffer(Buffer{N: at.n, Data: x, Kept: true}))
	c.known[at] = v
	return v
}
