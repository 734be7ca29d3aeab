package loopnest

import "github.com/ppl-lang/ppl/ad"

// Count measures the size of a program.
type Count struct {
	Ops    int     // operations in the program
	Work   float64 // numbers that they compute per evaluation, counting lanes and steps
	Blocks int     // 0 before blocks are formed
}

// CountGraph counts what a graph's outputs and side effects need. A while loop counts as one
// iteration, a conditional as both branches.
func CountGraph(g *ad.Graph) Count {
	var c Count
	var walk func(g *ad.Graph, times float64)
	walk = func(g *ad.Graph, times float64) {
		for i, live := range g.Live(g.Outputs, true) {
			n := &g.Nodes[i]
			if !live {
				continue
			}
			switch n.Op {
			case ad.OpConst, ad.OpInput, ad.OpReshape, ad.OpLane, ad.OpUnlane, ad.OpResult:
				continue
			}
			c.Ops++
			lanes := float64(max(n.Type.Lanes, 1))
			l := n.Layout()
			if l.Control == ad.Counted {
				lanes *= float64(l.Steps)
			}
			for _, body := range l.Bodies {
				walk(body, times*lanes)
			}
			c.Work += times * float64(n.Type.Total())
		}
	}
	walk(g, 1)
	return c
}

// Count counts the program's nodes.
func (p *Program) Count() Count {
	var c Count
	p.Bodies(func(b *Body) {
		c.Ops += len(b.Nodes)
		c.Blocks += len(b.Blocks)
		for i := range b.Nodes {
			if n := &b.Nodes[i]; n.Reg == nil {
				c.Work += b.Times() * float64(max(n.N, 1))
			}
		}
	})
	return c
}

// Times returns the number of times that the body runs in an evaluation.
func (b *Body) Times() float64 {
	times := 1.0
	for ; b.Region != nil; b = b.Parent {
		times *= float64(max(b.Region.Lanes, 1))
		if l := &b.Region.Layout; l.Control == ad.Counted {
			times *= float64(l.Steps)
		}
	}
	return times
}
