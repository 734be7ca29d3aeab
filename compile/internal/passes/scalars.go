package passes

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// replaceScalars is scalar replacement of aggregates; the package documentation describes its
// parts. They run in this order, and bill.beats decides about every application.
func replaceScalars(g *ad.Graph) *ad.Graph {
	first, held := g, g.Taken()
	for _, part := range []func(*ad.Graph) *ad.Graph{replaceInRegions, replaceInLanes, replaceElements} {
		before, taken := g, g.Taken()
		if g = part(g); g != before && before != first {
			g.GiveBack(taken - held)
		}
	}
	return g
}

// bill is the cost of one way to compute something, per lane and step.
type bill struct {
	work   float64 // nanoseconds of arithmetic; arrays use vectors
	memory float64 // numbers stored and loaded, except operands of loops over arrays
	loops  float64 // entries of loops over arrays, and calls of routines
	code   int     // operations of scalar code
	live   int     // largest number of scalars that are live at once
}

// time returns the total cost in nanoseconds.
func (b bill) time() float64 {
	t := b.work + memoryNS*b.memory + loopNS*b.loops
	if b.live > registers {
		t += spillNS * float64(b.code)
	}
	if b.live > maxLive {
		t += spillNS * float64(b.code)
	}
	return t
}

// beats is the cost rule: b must take less time than before, and its code must not exceed most.
func (b bill) beats(before bill, most int) bool {
	return b.code <= most && b.time() < before.time()
}

func (b bill) plus(c bill) bill {
	return bill{b.work + c.work, b.memory + c.memory, b.loops + c.loops, b.code + c.code, max(b.live, c.live)}
}

// times returns the bill of the given number of unrolled steps.
func (b bill) times(steps int) bill {
	n := float64(steps)
	return bill{n * b.work, n * b.memory, n * b.loops, steps * b.code, b.live}
}

// inLanes returns the bill, per lane, of scalar code that lanes execute as vectors.
func (b bill) inLanes(lanes int, width float64) bill {
	width = max(1, min(width, float64(lanes)))
	return bill{b.work / width, b.memory / width, b.loops, b.code, b.live}
}

// vectors returns the number of vector operations for a number of elements.
func vectors(elements int) float64 { return float64((elements + vectorLanes - 1) / vectorLanes) }

// billOf returns the bill of the graphs of a region: both sides of a conditional, or one trip of a
// loop.
func billOf(graphs ...*ad.Graph) (b bill) {
	for _, g := range graphs {
		live := g.Live(g.Outputs, true)
		last := make([]int, len(g.Nodes)) // by node: its last reader
		for i := range g.Nodes {
			if live[i] {
				for _, a := range g.Nodes[i].Args {
					last[a] = i
				}
			}
		}
		for _, r := range g.Outputs {
			last[r] = len(g.Nodes)
		}
		ends := make([]int, len(g.Nodes)+1) // by node: number of values that it is the last to read
		held := 0
		for i := range g.Nodes {
			n := &g.Nodes[i]
			if !live[i] {
				continue
			}
			b = b.plus(price(g, n))
			b = b.plus(billOf(n.Bodies()...))
			if n.Type.Size() == 1 && n.Op != ad.OpConst {
				held++
				ends[last[i]]++
			}
			b.live = max(b.live, held)
			held -= ends[i]
		}
	}
	return b
}

// price returns the bill of a single node.
func price(g *ad.Graph, n *ad.Node) bill {
	size := n.Type.Size()
	switch n.Op {
	case ad.OpConst, ad.OpInput, ad.OpResult, ad.OpReshape, ad.OpLane, ad.OpUnlane:
		return bill{}
	case ad.OpGather, ad.OpConcat, ad.OpScatter:
		of := g.Type(n.Args[0]).Size()
		switch {
		case n.Op == ad.OpScatter && of > 1:
			return bill{memory: float64(of), loops: 1}
		case size > 1:
			return bill{memory: float64(size), loops: 1}
		case of > 1:
			return bill{memory: 1, code: 1}
		}
		return bill{}
	case ad.OpMatMul:
		inner := 1
		if size > 0 {
			a, b := g.Type(n.Args[0]).Size(), g.Type(n.Args[1]).Size()
			for inner*inner*size < a*b { // the sizes are rows·inner, inner·columns and rows·columns
				inner++
			}
		}
		return bill{work: 2 * opNS * vectors(size*inner), loops: 1}
	}
	each := opNS + ops.Of(n.Op).Cost
	switch {
	case n.Op.Row().Class == ad.Region:
		return bill{}
	case n.Op.Row().Class != ad.Elementwise:
		for _, a := range n.Args {
			size = max(size, g.Type(a).Size())
		}
		return bill{work: each * float64(size), loops: 1}
	case size == 1:
		return bill{work: each, code: 1}
	}
	return bill{work: each * vectors(size), loops: 1}
}
