package loopnest

import "github.com/ppl-lang/ppl/ad"

// findRegions makes the lowered form of each region among the live nodes.
func (x *lowering) findRegions(live []bool) {
	for r, used := range UsedResults(x.g, live) {
		n := &x.g.Nodes[r]
		reg := &Region{Node: n, Layout: n.Layout(), Lanes: n.Type.Lanes, Live: used, Trips: None, Stride: None}
		for k, t := range n.Results() {
			reg.Sizes = append(reg.Sizes, t.Size())
			used[k] = used[k] && t.Size() > 0
		}
		x.regions[r] = reg
	}
}

// result makes the buffer for a result that something reads.
func (x *lowering) result(reg *Region, k int) BufferID {
	r := x.newBuffer(max(reg.Lanes, 1) * reg.Sizes[k])
	reg.Results[k] = LaneValue{x.Whole(r), reg.Lanes > 0}
	return r
}

// lowerRegion lowers a region and its sub-graphs.
func (x *lowering) lowerRegion(r ad.Ref, n *ad.Node) {
	reg := x.regions[r]
	reg.Results = make([]LaneValue, len(reg.Sizes))
	for k := range reg.Results {
		reg.Results[k].Buf = None
	}
	args := make([]LaneValue, len(n.Args))
	nd := Node{Kind: Regions, Op: n.Op, Src: n, Dst: None, Reg: reg}
	for i, a := range n.Args {
		args[i] = LaneValue{x.vals[a], x.g.Type(a).Lanes > 0}
		nd.Args = append(nd.Args, args[i].Value)
	}
	if reg.Layout.Control == ad.Chosen {
		x.lowerChosen(reg, args)
	} else {
		x.lowerRepeated(reg, args)
	}
	i := x.emit(nd)
	for _, p := range reg.Results {
		if p.Buf != None {
			x.Buffers[p.Buf].Makers = append(x.Buffers[p.Buf].Makers, i)
		}
	}
	if MayFail(n) {
		x.ordered(i)
	}
}

// capture returns the value of an argument within a body, without lanes.
func (x *lowering) capture(reg *Region, a LaneValue) Value {
	if !a.Laned {
		return a.Value
	}
	n := a.N / reg.Lanes
	if a.Rep {
		return Value{Buf: a.Buf, Off: a.Off, N: n, Rep: n > 1}
	}
	return x.bind(reg, &Binding{Src: a.Value, Lane: n}, n)
}

// bind makes a buffer of n elements that is bound by b, and returns its value.
func (x *lowering) bind(reg *Region, b *Binding, n int) Value {
	b.Region = reg
	reg.Bindings = append(reg.Bindings, b)
	return x.Whole(x.AddBuffer(Buffer{N: n, Binding: b, Kept: true}))
}

// input returns the value of argument i within a body that repeats.
func (x *lowering) input(reg *Region, i int, a LaneValue) Value {
	l := &reg.Layout
	body := l.Repeated()
	size := body.Type(body.Inputs[i]).Size()
	switch {
	case i < l.Carries:
		c := x.AddBuffer(Buffer{N: size, Body: x.Body, Kept: true})
		reg.Carries = append(reg.Carries, Carry{Buf: c, Init: a})
		return x.Whole(c)
	case i >= l.Carries+l.Streams:
		return x.capture(reg, a)
	case a.Rep:
		return Value{Buf: a.Buf, Off: a.Off, N: size, Rep: size > 1}
	}
	bd := &Binding{Src: a.Value, Step: size, ByStep: true}
	if a.Laned {
		bd.Lane = a.N / max(reg.Lanes, 1)
	}
	return x.bind(reg, bd, size)
}

// lowerRepeated lowers a region whose last body repeats; another one is its condition.
func (x *lowering) lowerRepeated(reg *Region, args []LaneValue) {
	l := &reg.Layout
	bodies := make([]*lowering, len(l.Bodies))
	for k, g := range l.Bodies {
		bodies[k] = x.newLowering(g, x.Body, reg)
		reg.Bodies = append(reg.Bodies, bodies[k].Body)
	}
	for i, a := range args {
		v := x.input(reg, i, a)
		for k, g := range l.Bodies {
			bodies[k].vals[g.Inputs[i]] = v
		}
	}
	if l.Control == ad.Tested {
		bodies[0].lower([]int{0})
		reg.Cond = LaneValue{Value: bodies[0].output(0)}
	}
	b := bodies[len(bodies)-1]
	live := func(from ad.Source, output int) (result int, ok bool) {
		result = l.At(from, output)
		return result, result >= 0 && reg.Live[result]
	}
	var outputs []int
	for k := range l.Repeated().Outputs {
		_, kept := live(ad.Kept, k)
		_, summed := live(ad.Sum, k)
		if k < l.Carries || kept || summed {
			outputs = append(outputs, k)
		}
	}
	b.lower(outputs)
	for k := range reg.Carries {
		c := &reg.Carries[k]
		c.Next = b.output(k)
		if r, ok := live(ad.Final, k); ok {
			x.final(reg, k, r)
		}
		if r, ok := live(ad.History, k); ok {
			x.keep(reg, Keep{Value: x.Whole(c.Buf), First: true}, r)
		}
	}
	for k := range l.Repeated().Outputs {
		if r, ok := live(ad.Kept, k); ok {
			x.keep(reg, Keep{Value: b.output(k)}, r)
		}
	}
	if r, ok := live(ad.Trips, 0); ok {
		reg.Trips = x.result(reg, r)
	}
	if r, ok := live(ad.Stride, 0); ok {
		reg.Stride = x.result(reg, r)
	}
	for k := range l.Repeated().Outputs {
		if r, ok := live(ad.Sum, k); ok {
			x.sum(reg, b, k, r)
		}
	}
}

// keep makes the steps store a value of the body, each in a row of result r.
func (x *lowering) keep(reg *Region, k Keep, r int) {
	k.Dst, k.Step, k.Lane = x.result(reg, r), k.N, reg.Layout.Rows()*k.N
	reg.Keeps = append(reg.Keeps, k)
}

// final makes carried value k, after the last step, result p.
func (x *lowering) final(reg *Region, k, p int) {
	c := &reg.Carries[k]
	if reg.Lanes == 0 {
		f := x.newBuffer(reg.Sizes[p])
		x.Buffers[f].In = c.Buf
		reg.Results[p] = LaneValue{x.Whole(f), false}
	} else {
		reg.Finals = append(reg.Finals, LanePart{c.Buf, x.result(reg, p)})
	}
}

// sum makes the sum of output k of the body over the steps result p.
func (x *lowering) sum(reg *Region, b *lowering, k, p int) {
	acc := x.AddBuffer(Buffer{N: reg.Sizes[p], Body: x.Body, Kept: true})
	if v := b.solid(b.output(k)); v.N > 0 {
		b.emit(Node{Kind: Accumulate, Op: ad.OpScatter, N: v.N, Args: []Value{v}, Dst: acc, Map: affine2(1, 0, v.N, 1)})
	}
	if reg.Lanes == 0 {
		reg.Results[p] = LaneValue{x.Whole(acc), false}
	} else {
		reg.Finals = append(reg.Finals, LanePart{acc, x.result(reg, p)})
	}
	reg.Sums = append(reg.Sums, acc)
}

// output returns the value of the graph's output k, and marks its buffer as read by more than
// nodes.
func (x *lowering) output(k int) Value {
	v := x.vals[x.g.Outputs[k]]
	x.Buffers[v.Buf].Shared = true
	return v
}

// lowerChosen lowers a region that runs one of its bodies.
func (x *lowering) lowerChosen(reg *Region, args []LaneValue) {
	l := &reg.Layout
	first := l.First()
	reg.Cond = args[0]
	captured := make([]Value, len(args)-first)
	for i, a := range args[first:] {
		captured[i] = x.capture(reg, a)
	}
	var outputs, results []int
	parts := l.Parts()
	for r, live := range reg.Live {
		if live {
			outputs, results = append(outputs, parts[r].Output), append(results, r)
			x.result(reg, r)
		}
	}
	for side, g := range l.Bodies {
		b := x.newLowering(g, x.Body, reg)
		reg.Bodies = append(reg.Bodies, b.Body)
		for i, v := range captured {
			b.vals[g.Inputs[i]] = v
		}
		b.lower(outputs)
		for i, k := range outputs {
			v := b.output(k)
			reg.Outs[side] = append(reg.Outs[side], Keep{Value: v, Dst: reg.Results[results[i]].Buf, Lane: v.N})
		}
	}
}

// UsedResults returns, for each live region of g, the results that live nodes read.
func UsedResults(g *ad.Graph, live []bool) map[ad.Ref][]bool {
	used := map[ad.Ref][]bool{}
	for i := range g.Nodes {
		switch n := &g.Nodes[i]; {
		case !live[i]:
		case n.Op.Row().Class == ad.Region:
			used[ad.Ref(i)] = make([]bool, len(n.Results()))
		case n.Op == ad.OpResult:
			used[n.Args[0]][n.ResultIndex()] = true
		}
	}
	return used
}
