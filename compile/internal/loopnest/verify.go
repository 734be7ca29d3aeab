package loopnest

import (
	"fmt"
	"github.com/ppl-lang/ppl/compile/internal/ops"

	"github.com/ppl-lang/ppl/ad"
)

// Verify checks the invariants of the form, which every pass must preserve:
//
//   - Operands lie within their buffers. These belong to the node's body, to an outer one, or to an
//     argument of one of these regions.
//   - A buffer is written before it is read: the nodes that write it precede, and so do the nodes
//     after which a node must run. Once blocks are formed, this holds for the order of blocks.
//   - The sizes of elementwise operands, maps, results, carried and kept values agree.
//   - Once blocks are formed, every node is in exactly one block, with nodes of its size. It shares
//     the block with nodes that make its operands only if it reads them lane by lane.
//   - A Local buffer is read only within its block.
func (p *Program) Verify() error {
	v := &verifier{Program: p, bound: map[*Binding][]BufferID{}}
	for i := range p.Buffers {
		b := &p.Buffers[i]
		if b.Binding != nil {
			v.bound[b.Binding] = append(v.bound[b.Binding], BufferID(i))
		}
		if b.Data != nil && len(b.Data) != b.N {
			v.wrong("buffer %d of %d elements has %d numbers", i, b.N, len(b.Data))
		}
		if b.In != None && b.At+b.N > p.Buffers[b.In].N {
			v.wrong("buffer %d does not fit into buffer %d", i, b.In)
		}
	}
	p.Bodies(v.body)
	for k, o := range p.Outputs {
		v.value(p.Main, o, fmt.Sprintf("output %d", k))
		if r := &p.Buffers[o.Buf]; o.N > 0 && (r.Input > 0 || r.Data != nil || !r.Shared) {
			v.wrong("output %d has no separate memory", k)
		}
	}
	return v.err
}

type verifier struct {
	*Program
	bound map[*Binding][]BufferID // for each binding, the buffers that it binds
	err   error                   // the first violation
}

func (v *verifier) wrong(format string, args ...any) {
	if v.err == nil {
		v.err = fmt.Errorf("loopnest: "+format, args...)
	}
}

// value checks that the nodes of b may read x.
func (v *verifier) value(b *Body, x Value, who string) {
	if x.Buf < 0 || int(x.Buf) >= len(v.Buffers) {
		v.wrong("%s reads buffer %d", who, x.Buf)
		return
	}
	n := x.N
	if x.Rep {
		n = 1
	}
	r := &v.Buffers[x.Buf]
	if x.Off < 0 || n < 0 || x.Off+n > r.N {
		v.wrong("%s reads elements %d to %d of buffer %d, which has %d", who, x.Off, x.Off+n, x.Buf, r.N)
	}
	home := r.Body
	if r.Binding != nil {
		home = r.Binding.Region.Bodies[0].Parent
	}
	for y := b; home != nil; y = y.Parent {
		if y == home || y != nil && r.Binding != nil && y.Region == r.Binding.Region {
			return
		}
		if y == nil {
			v.wrong("%s reads buffer %d of another body", who, x.Buf)
			return
		}
	}
}

func (v *verifier) body(b *Body) {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		who := fmt.Sprintf("node %d (%s)", i, ops.Of(n.Op).Name)
		for k, a := range n.Args {
			v.value(b, a, who)
			if v.err != nil {
				return
			}
			r := &b.Buffers[a.Buf]
			if r.Body != b {
				continue
			}
			if len(r.Makers) == 0 && !r.Kept && r.In == None && r.N > 0 {
				v.wrong("%s reads buffer %d, which nobody writes", who, a.Buf)
			}
			for _, m := range r.Makers {
				if int(m) >= i {
					v.wrong("%s reads buffer %d, which node %d writes later", who, a.Buf, m)
				}
			}
			if r.Local && b.reads(n, k) != readsElements {
				v.wrong("%s reads the local buffer %d otherwise than lane by lane", who, a.Buf)
			}
		}
		if int(n.After) >= i {
			v.wrong("%s must run after node %d", who, n.After)
		}
		v.node(b, n, who)
		if n.Reg != nil {
			v.region(b, n.Reg, who)
		}
	}
	if b.Blocks != nil {
		v.blocks(b)
	}
}

func (v *verifier) node(b *Body, n *Node, who string) {
	size := -1
	if n.Dst != None {
		size = b.Buffers[n.Dst].N
	}
	fits := func(m Map, size int) bool {
		s := m.Span()
		return m.N == 0 || s.Lo >= 0 && s.Hi <= size
	}
	switch n.Kind {
	case Elementwise:
		for _, a := range n.Args {
			if a.Rep || a.N != 1 && a.N != n.N {
				v.wrong("%s on %d lanes has an operand of %d elements", who, n.N, a.N)
			}
		}
		if n.Op != ad.OpCheck && size != n.N {
			v.wrong("%s on %d lanes has a result of %d elements", who, n.N, size)
		}
	case Load:
		if n.Map.N != n.N || size != n.N {
			v.wrong("%s of %d elements by a map of %d into %d", who, n.N, n.Map.N, size)
		}
		if !fits(n.Map, n.Args[0].N) {
			v.wrong("%s reads outside its operand", who)
		}
	case Accumulate:
		want := 1
		if row := ops.Of(n.Op); row.Reduce != nil {
			want = row.Arity
		}
		if len(n.Args) != want || n.Args[0].N != n.N || n.Map.N != n.N || n.Args[want-1].N != n.N {
			v.wrong("%s of %d elements has other operands", who, n.N)
		}
		if !fits(n.Map, size) {
			v.wrong("%s writes outside its result", who)
		}
	}
}

func (v *verifier) region(b *Body, r *Region, who string) {
	lanes, steps := max(r.Lanes, 1), 1
	if r.Layout.Control != ad.Chosen {
		steps = r.Layout.Rows()
	}
	if r.Layout.Control == ad.Tested {
		v.value(r.Bodies[0], r.Cond.Value, who)
	}
	for _, bd := range r.Bindings {
		v.value(b, bd.Src, who)
		for _, buf := range v.bound[bd] {
			n := v.Buffers[buf].N
			if steps > 0 && (lanes-1)*bd.Lane+(steps-1)*bd.Step+n > bd.Src.N {
				v.wrong("%s: slices of %d elements do not fit into a value of %d", who, n, bd.Src.N)
			}
		}
	}
	for _, c := range r.Carries {
		n := v.Buffers[c.Buf].N
		if want := c.Init.N; c.Init.Laned && want != n*lanes || !c.Init.Laned && want != n || c.Next.N != n {
			v.wrong("%s carries %d elements from %d and %d", who, n, c.Init.N, c.Next.N)
		}
	}
	keep := func(k Keep) {
		if k.N > 0 && (lanes-1)*k.Lane+(steps-1)*k.Step+k.N > v.Buffers[k.Dst].N {
			v.wrong("%s keeps more than its result holds", who)
		}
	}
	for _, k := range r.Keeps {
		keep(k)
	}
	for _, ks := range r.Outs {
		for _, k := range ks {
			keep(k)
		}
	}
}

func (v *verifier) blocks(b *Body) {
	type place struct{ block, at int }
	places := make([]place, len(b.Nodes))
	for i := range places {
		places[i].block = -1
	}
	for k, blk := range b.Blocks {
		for at, i := range blk.Nodes {
			n := &b.Nodes[i]
			if places[i].block >= 0 {
				v.wrong("node %d stands in two blocks", i)
			}
			places[i] = place{k, at}
			single := n.Kind > Accumulate
			if single != (blk.Kind == SingleBlock) || single && len(blk.Nodes) > 1 || !single && n.N != blk.N || (blk.N == 1) != (blk.Kind == ScalarBlock) && !single {
				v.wrong("node %d does not belong into block %d", i, k)
			}
		}
	}
	for i := range b.Nodes {
		n := &b.Nodes[i]
		here := places[i]
		if here.block < 0 {
			v.wrong("node %d stands in no block", i)
			return
		}
		before := func(m int32, arg int) {
			p := places[m]
			if p.block > here.block || p.block == here.block && (p.at >= here.at || !b.sameBlock(&b.Nodes[m], n, arg)) {
				v.wrong("node %d depends on node %d, which does not run before", i, m)
			}
		}
		for k, a := range n.Args {
			r := &b.Buffers[a.Buf]
			if r.Body != b {
				continue
			}
			for _, m := range r.Makers {
				before(m, k)
				if r.Local && places[m].block != here.block {
					v.wrong("node %d reads buffer %d, which is local to another block", i, a.Buf)
				}
			}
		}
		if n.After >= 0 {
			before(n.After, -1)
		}
	}
}

// VerifyGraph checks what every pass on graphs must leave true: arguments
// precede, and types are those that the ops' rules give.
func VerifyGraph(g *ad.Graph) error {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		row := n.Op.Row()
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("node %d (%s): %s", i, n.Op, fmt.Sprintf(format, args...))
		}
		lanes := 0
		types := make([]ad.Type, len(n.Args))
		for k, a := range n.Args {
			if a < 0 || int(a) >= i {
				return wrong("argument %d does not precede", a)
			}
			if g.Nodes[a].Op.Row().Class == ad.Region && n.Op != ad.OpResult {
				return wrong("argument %d is a region, which has no value", k)
			}
			types[k] = g.Type(a)
			if l := types[k].Lanes; l > 0 {
				if lanes > 0 && l != lanes {
					return wrong("operands of %d and %d lanes", lanes, l)
				}
				lanes = l
			}
		}
		switch {
		case n.Op == ad.OpConst:
			if len(n.Data) != n.Type.Total() {
				return wrong("%d numbers of type %v", len(n.Data), n.Type)
			}
			continue
		case n.Op == ad.OpInput:
			if k, ok := n.Attr.(int); !ok || k >= len(g.Inputs) || g.Inputs[k] != ad.Ref(i) {
				return wrong("not an input of the graph")
			}
			continue
		case row.Arity >= 0 && len(n.Args) != row.Arity:
			return wrong("%d arguments", len(n.Args))
		}
		want := ad.Type{Lanes: lanes}
		switch {
		case n.Op == ad.OpResult:
			t, ok := g.Nodes[n.Args[0]].ResultType(n.ResultIndex())
			if !ok {
				return wrong("no result %d", n.ResultIndex())
			}
			want.Shape = t.Shape
		case row.Class == ad.Elementwise || row.Class == ad.Random:
			for _, t := range types {
				if len(t.Shape) > 0 {
					want.Shape = t.Shape
				}
			}
		case row.Shape != nil:
			t, err := row.Shape(types, n.Attr)
			if err != nil {
				return wrong("%v", err)
			}
			if want.Shape = t.Shape; row.OwnLanes {
				want.Lanes = t.Lanes
			}
		}
		if !want.Equal(n.Type) {
			return wrong("type %v, want %v", n.Type, want)
		}
		for _, b := range n.Bodies() {
			if err := VerifyGraph(b); err != nil {
				return wrong("%v", err)
			}
		}
	}
	for k, r := range g.Outputs {
		if g.Nodes[r].Op.Row().Class == ad.Region {
			return fmt.Errorf("output %d is a region, which has no value", k)
		}
	}
	return nil
}
