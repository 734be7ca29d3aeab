package loopnest

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// Cost is the cost of some nodes in one evaluation.
type Cost struct {
	Ops   float64 // numbers computed, counting lanes, steps and trips of regions; a while loop counts as one trip
	Bytes float64 // bytes read from and written to memory, without local values
	Guess float64 // time by the weights of ops: to compare nodes of a block, not to predict its duration
}

// Add adds d to c.
func (c *Cost) Add(d Cost) {
	c.Ops += d.Ops
	c.Bytes += d.Bytes
	c.Guess += d.Guess
}

// Cost returns the cost of a node that is not a region. The cost of a region is that of the nodes
// in its bodies.
func (b *Body) Cost(n *Node) Cost {
	if n.Reg != nil {
		return Cost{}
	}
	const number = 8
	c := Cost{Ops: float64(max(n.N, 1))}
	for k, a := range n.Args {
		switch {
		case b.Buffers[a.Buf].Local || a.Rep:
		// These ops read or change a few elements of their first argument.
		case k > 0 || n.Op != ad.OpTake && !n.InPlace:
			c.Bytes += number * float64(a.N)
		case n.Op == ad.OpTake:
			c.Bytes += number * float64(n.N)
		}
	}
	if n.InPlace {
		c.Ops = float64(n.Args[1].N)
		c.Bytes += number * c.Ops
	} else if n.Dst != None && !b.Buffers[n.Dst].Local {
		size := n.N
		if n.Kind == Accumulate && n.Map.Uniform() {
			size = 1
		}
		c.Bytes += number * float64(size)
	}
	if n.Kind == MatMul {
		c.Ops = float64(b.Buffers[n.Args[0].Buf].N) // multiplied by the number of columns below
		if s := n.Types[1].Shape; len(s) == 2 {
			cols := s[1]
			if a, ok := n.Src.Attr.(ad.MatMulAttr); ok && a.TransB {
				cols = s[0]
			}
			c.Ops = float64(n.Args[0].N * cols)
		}
	}
	c.Guess = c.Ops * weight(n)
	times := b.Times()
	c.Ops *= times
	c.Bytes *= times
	c.Guess *= times
	return c
}

// weight returns the approximate time of an op per number, in ns.
func weight(n *Node) float64 {
	w := 0.45 // a pass over a strip
	if n.N == 1 {
		w = 2.5 // an instruction of scalar code
	}
	switch n.Kind {
	case MatMul:
		return 0.25
	case Load:
		return w + 0.2
	case Accumulate:
		if n.N > 1 && !n.Map.Uniform() && !n.Map.Contiguous() {
			return w + 0.5
		}
		return w + ops.Of(n.Op).Cost
	case Array:
		return 10
	}
	return w + ops.Of(n.Op).Cost
}
