package loopnest

import "github.com/ppl-lang/ppl/ad"

// findRegions prepares the regions among live nodes.
func (x *lowering) findRegions(live []bool) {
	for r, used := range UsedResults(x.g, live) {
		n := &x.g.Nodes[r]
		reg := &Region{Node: n, Lanes: n.Type.Lanes, Live: used}
		for k, t := range n.Results() {
			reg.Sizes = append(reg.Sizes, t.Size())
			used[k] = used[k] && t.Size() > 0
		}
		x.regions[r] = reg
	}
}

// result makes the buffer of a live result.
func (x *lowering) result(reg *Region, k int) BufferID {
	r := x.newBuffer(max(reg.Lanes, 1) * reg.Sizes[k])
	reg.Results[k] = LaneValue{x.Whole(r), reg.Lanes > 0}
	return r
}

// lowerRegion lowers a scan or conditional and its sub-graphs.
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
	switch a := n.Attr.(type) {
	case *ad.Scan:
		reg.Scan = a
		x.lowerScan(reg, args)
	case *ad.While:
		reg.While = a
		x.lowerWhile(reg, args)
	default:
		x.lowerIf(reg, args)
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

// capture is the value of an argument within a sub-graph, without lanes.
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

// bind makes the buffer that b moves.
func (x *lowering) bind(reg *Region, b *Binding, n int) Value {
	b.Region = reg
	reg.Bindings = append(reg.Bindings, b)
	return x.Whole(x.AddBuffer(Buffer{N: n, Binding: b, Kept: true}))
}

func (x *lowering) lowerScan(reg *Region, args []LaneValue) {
	s, L := reg.Scan, max(reg.Lanes, 1)
	b := x.newLowering(s.Body, x.Body, reg)
	reg.Bodies = []*Body{b.Body}
	for i, a := range args {
		in := s.Body.Inputs[i]
		size := s.Body.Type(in).Size()
		switch {
		case i < s.Carries:
			c := x.AddBuffer(Buffer{N: size, Body: x.Body, Kept: true})
			reg.Carries = append(reg.Carries, Carry{Buf: c, Init: a})
			b.vals[in] = x.Whole(c)
		case i >= s.Carries+s.Streams:
			b.vals[in] = x.capture(reg, a)
		case a.Rep:
			b.vals[in] = Value{Buf: a.Buf, Off: a.Off, N: size, Rep: size > 1}
		default:
			bd := &Binding{Src: a.Value, Step: size, ByStep: true}
			if a.Laned {
				bd.Lane = a.N / L
			}
			b.vals[in] = x.bind(reg, bd, size)
		}
	}
	var outputs []int
	sum := s.Carries + s.Outs // the first sum among outputs; results have the history besides
	for k := range s.Body.Outputs {
		if k < s.Carries || reg.Live[s.Carries+k] {
			outputs = append(outputs, k)
		}
	}
	b.lower(outputs)
	for k := range reg.Carries {
		c := &reg.Carries[k]
		c.Next = b.output(k)
		x.final(reg, k)
		if h := s.Carries + k; reg.Live[h] {
			reg.Keeps = append(reg.Keeps, Keep{Value: x.Whole(c.Buf), Dst: x.result(reg, h), First: true})
		}
	}
	for k := s.Carries; k < sum; k++ {
		if reg.Live[s.Carries+k] {
			reg.Keeps = append(reg.Keeps, Keep{Value: b.output(k), Dst: x.result(reg, s.Carries+k)})
		}
	}
	for i := range reg.Keeps {
		k := &reg.Keeps[i]
		k.Step, k.Lane = k.N, s.Steps*k.N
	}
	for k := sum; k < len(s.Body.Outputs); k++ {
		x.sum(reg, b, k, s.Carries+k)
	}
}

// final makes the result of carried value k after the last step.
func (x *lowering) final(reg *Region, k int) {
	c := &reg.Carries[k]
	switch {
	case !reg.Live[k]:
	case reg.Lanes == 0:
		f := x.newBuffer(reg.Sizes[k])
		x.Buffers[f].In = c.Buf
		reg.Results[k] = LaneValue{x.Whole(f), false}
	default:
		reg.Finals = append(reg.Finals, LanePart{c.Buf, x.result(reg, k)})
	}
}

// sum adds output k of the body up over the steps, in result p.
func (x *lowering) sum(reg *Region, b *lowering, k, p int) {
	if !reg.Live[p] {
		return
	}
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

// lowerWhile lowers a loop of dynamic trip count: its bodies are the condition
// and what it repeats.
func (x *lowering) lowerWhile(reg *Region, args []LaneValue) {
	w := reg.While
	cond, b := x.newLowering(w.Cond, x.Body, reg), x.newLowering(w.Body, x.Body, reg)
	reg.Bodies = []*Body{cond.Body, b.Body}
	for i, a := range args {
		var v Value
		if i < w.Carries {
			c := x.AddBuffer(Buffer{N: w.Body.Type(w.Body.Inputs[i]).Size(), Body: x.Body, Kept: true})
			reg.Carries = append(reg.Carries, Carry{Buf: c, Init: a})
			v = x.Whole(c)
		} else {
			v = x.capture(reg, a)
		}
		cond.vals[w.Cond.Inputs[i]], b.vals[w.Body.Inputs[i]] = v, v
	}
	cond.lower([]int{0})
	reg.Cond = LaneValue{Value: cond.output(0)}
	const offset = 2 // results between those of carried values and sums: trips, stride
	var outputs []int
	for k := range w.Body.Outputs {
		if k < w.Carries || reg.Live[w.Carries+offset+k] {
			outputs = append(outputs, k)
		}
	}
	b.lower(outputs)
	trips, stride := w.Carries, 2*w.Carries+1
	for k := range reg.Carries {
		c := &reg.Carries[k]
		c.Next = b.output(k)
		x.final(reg, k)
		if h := trips + 1 + k; reg.Live[h] {
			n := x.Buffers[c.Buf].N
			reg.Keeps = append(reg.Keeps, Keep{Value: x.Whole(c.Buf), Dst: x.result(reg, h), First: true, Step: n, Lane: w.Snapshots * n})
		}
	}
	reg.Trips, reg.Stride = None, None
	if reg.Live[trips] {
		reg.Trips = x.result(reg, trips)
	}
	if reg.Live[stride] {
		reg.Stride = x.result(reg, stride)
	}
	for k := w.Carries; k < len(w.Body.Outputs); k++ {
		x.sum(reg, b, k, w.Carries+offset+k)
	}
}

// output is the value of the graph's output k, read by others than nodes.
func (x *lowering) output(k int) Value {
	v := x.vals[x.g.Outputs[k]]
	x.Buffers[v.Buf].Shared = true
	return v
}

func (x *lowering) lowerIf(reg *Region, args []LaneValue) {
	f := reg.Node.Attr.(*ad.If)
	reg.Cond = args[0]
	captured := make([]Value, len(args)-1)
	for i, a := range args[1:] {
		captured[i] = x.capture(reg, a)
	}
	var outputs []int
	for k, live := range reg.Live {
		if live {
			outputs = append(outputs, k)
			x.result(reg, k)
		}
	}
	for side, g := range []*ad.Graph{f.Then, f.Else} {
		b := x.newLowering(g, x.Body, reg)
		reg.Bodies = append(reg.Bodies, b.Body)
		for i, v := range captured {
			b.vals[g.Inputs[i]] = v
		}
		b.lower(outputs)
		for _, k := range outputs {
			v := b.output(k)
			reg.Outs[side] = append(reg.Outs[side], Keep{Value: v, Dst: reg.Results[k].Buf, Lane: v.N})
		}
	}
}

// UsedResults finds which results of the live regions of g live nodes take.
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
