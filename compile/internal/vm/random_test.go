package vm

import (
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
)

// gen builds random graphs over the table of ops: every elementwise op, index maps with strides and
// tables, concatenations, products, nested regions, side effects.
type gen struct {
	rng   *rand.Rand
	g     *ad.Graph
	refs  []ad.Ref
	lanes int // number of lanes of values that have lanes; 0 within regions
	sizes []int
	depth int
	rand  bool // OpRandom is allowed
}

var elementwise = func() (ops []ad.OpCode) {
	for op := ad.OpConst; op <= ad.OpRandom; op++ {
		if r := op.Row(); r.Class == ad.Elementwise && op != ad.OpPolygamma && r.Name != "" {
			ops = append(ops, op)
		}
	}
	return
}()

// randomGraph returns a graph of about n nodes, and a function that returns values of its inputs.
func randomGraph(seed uint64, n int) (*ad.Graph, func(k uint64) [][]float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	gn := &gen{rng: rng, g: ad.NewGraph(), lanes: 1 + rng.IntN(5), sizes: []int{1, 2, 3, 4}, rand: rng.IntN(4) == 0}
	switch rng.IntN(6) {
	case 0:
		gn.lanes = 300 + rng.IntN(400) // so that there are several strips
	case 1:
		gn.sizes = []int{1, 3, 290 + rng.IntN(300)}
	}
	for range 3 + rng.IntN(4) {
		gn.refs = append(gn.refs, gn.g.Input(gn.typ()))
	}
	gn.refs = append(gn.refs, gn.g.Input(ad.Scalar))
	gn.grow(n)
	for range 1 + rng.IntN(4) {
		gn.g.Output(gn.pick())
	}
	gn.g.Output(gn.refs[len(gn.refs)-1])
	if rng.IntN(3) == 0 {
		gn.gradient()
	}
	inputs := func(k uint64) [][]float64 {
		rng := rand.New(rand.NewPCG(seed, 100+k))
		var in [][]float64
		for _, r := range gn.g.Inputs {
			x := make([]float64, gn.g.Type(r).Total())
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			in = append(in, x)
		}
		return in
	}
	return gn.g, inputs
}

// gradient adds the derivatives of a function of the last values that has moderate slopes.
func (gn *gen) gradient() {
	g := gn.g
	defer func() {
		if e, ok := recover().(*ad.BuildError); !ok && e != nil {
			panic(e)
		}
	}()
	sum := g.Const(0)
	for range 3 {
		sum = g.Add(sum, g.SumLanes(g.Sum(g.Do(ad.OpTanh, nil, gn.pick()))))
	}
	for _, r := range g.Grad(sum, g.Inputs...) {
		g.Output(r)
	}
}

func (gn *gen) size() int { return gn.sizes[gn.rng.IntN(len(gn.sizes))] }

func (gn *gen) shape() []int {
	var s []int
	total := 1
	for gn.rng.IntN(5) < 3 && len(s) < 3 {
		n := gn.size()
		if gn.rng.IntN(60) == 0 {
			n = 0
		}
		if total *= n; total > 1000 {
			break
		}
		s = append(s, n)
	}
	return s
}

func (gn *gen) typ() ad.Type {
	t := ad.Type{Shape: gn.shape()}
	if gn.lanes > 0 && gn.rng.IntN(2) == 0 && t.Size() < 8 {
		t.Lanes = gn.lanes
	}
	return t
}

// pick returns a random value, preferably a recent one.
func (gn *gen) pick() ad.Ref {
	if n := len(gn.refs); gn.rng.IntN(2) == 0 && n > 6 {
		return gn.refs[n-1-gn.rng.IntN(6)]
	}
	return gn.refs[gn.rng.IntN(len(gn.refs))]
}

// like returns a value that can be an operand of an elementwise op with one of type t.
func (gn *gen) like(t ad.Type) ad.Ref {
	for range 30 {
		r := gn.pick()
		u := gn.g.Type(r)
		if (u.Lanes == 0 || t.Lanes == 0 || u.Lanes == t.Lanes) &&
			(len(u.Shape) == 0 || len(t.Shape) == 0 || equal(u.Shape, t.Shape)) && max(u.Lanes, t.Lanes, 1)*max(u.Size(), t.Size()) < 4000 {
			return r
		}
	}
	if gn.rng.IntN(2) == 0 && len(t.Shape) > 0 {
		return gn.constant(ad.Type{Shape: t.Shape})
	}
	return gn.constant(ad.Scalar)
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (gn *gen) constant(t ad.Type) ad.Ref {
	d := make([]float64, t.Total())
	for i := range d {
		d[i] = gn.rng.NormFloat64()
	}
	return gn.g.ConstArray(t, d)
}

// tame limits the size of values, so that rounding is not amplified.
func (gn *gen) tame(r ad.Ref) ad.Ref {
	switch gn.rng.IntN(3) {
	case 0:
		return gn.g.Do(ad.OpTanh, nil, r)
	case 1:
		return gn.g.Do(ad.OpSin, nil, r)
	}
	return gn.g.Do(ad.OpInvLogit, nil, r)
}

func (gn *gen) add(r ad.Ref) {
	if gn.g.Type(r).Total() > 4000 {
		return
	}
	if gn.rng.IntN(2) == 0 {
		gn.refs = append(gn.refs, r)
	}
	gn.refs = append(gn.refs, gn.tame(r))
}

func (gn *gen) grow(n int) {
	for range 3 * n {
		if len(gn.g.Nodes) < n {
			gn.node()
		}
	}
}

// index returns a random index map for an array of `size` elements.
func (gn *gen) index(size int) ad.Index {
	ix := ad.Index{}
	left := max(0, size-1)
	for range gn.rng.IntN(4) {
		d := ad.Dim{N: gn.size()}
		if ix.Size()*d.N > 1000 {
			break
		}
		switch gn.rng.IntN(4) {
		case 0:
			d.Table = make([]int32, d.N)
			used := int32(0)
			for i := range d.Table {
				d.Table[i] = int32(gn.rng.IntN(left + 1))
				used = max(used, d.Table[i])
			}
			left -= int(used)
		case 1: // broadcast
		default:
			if d.N > 1 && left > 0 {
				d.Stride = gn.rng.IntN(left/(d.N-1) + 1)
				if gn.rng.IntN(2) == 0 {
					d.Stride = min(1, left/(d.N-1))
				}
				left -= (d.N - 1) * d.Stride
				if gn.rng.IntN(4) == 0 {
					ix.Offset += (d.N - 1) * d.Stride
					d.Stride = -d.Stride
				}
			}
		}
		ix.Dims = append(ix.Dims, d)
	}
	ix.Offset += gn.rng.IntN(left + 1)
	return ix
}

func (gn *gen) node() {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *ad.BuildError: // the combination is invalid: try another
			gn.refs = append(gn.refs, gn.g.Const(0.25))
		default:
			panic(e)
		}
	}()
	g, rng := gn.g, gn.rng
	switch k := rng.IntN(40); {
	case k < 16:
		op := elementwise[rng.IntN(len(elementwise))]
		if rng.IntN(2) == 0 {
			op = []ad.OpCode{ad.OpAdd, ad.OpSub, ad.OpMul, ad.OpDiv, ad.OpNeg, ad.OpSquare, ad.OpExp, ad.OpSelect, ad.OpLess, ad.OpMulGuarded, ad.OpLogAddExp, ad.OpInv}[rng.IntN(12)]
		}
		a := gn.pick()
		t := g.Type(a)
		args := []ad.Ref{a}
		for range op.Row().Arity - 1 {
			b := gn.like(t)
			u := g.Type(b)
			if u.Lanes > 0 {
				t.Lanes = u.Lanes
			}
			if len(u.Shape) > 0 {
				t.Shape = u.Shape
			}
			args = append(args, b)
		}
		rng.Shuffle(len(args), func(i, j int) { args[i], args[j] = args[j], args[i] })
		gn.add(g.Do(op, nil, args...))
	case k < 20:
		x := gn.pick()
		gn.add(g.Gather(x, gn.index(max(1, g.Type(x).Size()))))
	case k < 21: // a contiguous part
		x := gn.pick()
		n := g.Type(x).Size()
		if n == 0 {
			break
		}
		o := rng.IntN(n)
		gn.add(g.Slice(x, o, []int{1 + rng.IntN(n-o)}))
	case k < 24:
		x := gn.pick()
		to := gn.shape()
		t := ad.Type{Shape: to}
		s := g.Type(x).Shape
		ix := ad.Index{}
		left := max(0, t.Size()-1)
		for _, n := range s {
			d := ad.Dim{N: n}
			switch rng.IntN(3) {
			case 0:
				d.Table = make([]int32, n)
				used := int32(0)
				for i := range d.Table {
					d.Table[i] = int32(rng.IntN(left + 1))
					used = max(used, d.Table[i])
				}
				left -= int(used)
			case 1:
				if n > 1 {
					d.Stride = min(1, left/(n-1))
					left -= (n - 1) * d.Stride
				}
			}
			ix.Dims = append(ix.Dims, d)
		}
		ix.Offset = rng.IntN(left + 1)
		gn.add(g.Scale(1/float64(max(1, g.Type(x).Size())), g.Scatter(x, ix, to)))
	case k < 25: // means, because sums would amplify rounding errors in later values
		x := gn.pick()
		gn.add(g.Scale(1/float64(max(1, g.Type(x).Size())), g.Sum(x)))
	case k < 26:
		x := gn.pick()
		gn.add(g.Scale(1/float64(max(1, g.Type(x).Lanes)), g.SumLanes(x)))
	case k < 28:
		var xs []ad.Ref
		for range 1 + rng.IntN(4) {
			xs = append(xs, gn.pick())
		}
		gn.add(g.Concat(xs...))
	case k < 29:
		x := gn.pick()
		if t := g.Type(x); t.Lanes > 0 {
			gn.add(g.Unlane(x))
		} else if gn.lanes > 0 {
			gn.add(g.Spread(x, gn.lanes))
		}
	case k < 30:
		for range 20 {
			if x := gn.pick(); g.Type(x).Lanes == 0 && len(g.Type(x).Shape) > 0 && g.Type(x).Shape[0] == gn.lanes {
				gn.refs = append(gn.refs, g.Lane(x))
				break
			}
		}
	case k < 31:
		a, b := gn.pick(), gn.pick()
		if max(g.Type(a).Lanes, g.Type(b).Lanes) > 10 && len(gn.sizes) == 3 {
			return
		}
		n := 1 + rng.IntN(4)
		a, b = gn.resize(gn.finite(a), n*gn.size()), gn.resize(gn.finite(b), n*(1+rng.IntN(3)))
		sa, sb := []int{g.Type(a).Size() / n, n}, []int{n, g.Type(b).Size() / n}
		m := ad.MatMulAttr{TransA: rng.IntN(2) == 0, TransB: rng.IntN(2) == 0}
		if m.TransA {
			sa[0], sa[1] = sa[1], sa[0]
		}
		if m.TransB {
			sb[0], sb[1] = sb[1], sb[0]
		}
		gn.add(g.Do(ad.OpMatMul, m, g.Reshape(a, sa), g.Reshape(b, sb)))
	case k < 32:
		x := gn.pick()
		if len(g.Type(x).Shape) > 0 {
			op := ad.OpLogSumExp
			if rng.IntN(2) == 0 {
				op = ad.OpMaxOf
			}
			gn.add(g.Do(op, nil, x))
		}
	case k < 34 && gn.depth < 2:
		gn.scan()
	case k < 35 && gn.depth < 2:
		if rng.IntN(3) == 0 {
			gn.while()
		} else {
			gn.cond()
		}
	case k < 36 && rng.IntN(4) == 0:
		gn.effect()
	case k < 37 && gn.rand:
		a := gn.pick()
		gn.add(g.Do(ad.OpRandom, &ad.RandomDraw{Name: "test", Draw: func(rng *rand.Rand, v []float64) float64 {
			return v[0] + v[1]*rng.NormFloat64()
		}}, a, gn.like(g.Type(a))))
	case k < 38 && rng.IntN(2) == 0: // computed positions
		x := gn.pick()
		n := g.Type(x).Size()
		if n == 0 {
			break
		}
		at := g.Do(ad.OpFloor, nil, g.Scale(float64(n), g.Do(ad.OpInvLogit, nil, gn.finite(gn.pick()))))
		if rng.IntN(30) > 0 {
			at = g.Do(ad.OpMin, nil, at, g.Const(float64(n-1)))
		} else {
			at = g.Add(at, g.Const(0.6*float64(n)))
		}
		gn.add(g.Take(x, at))
	case k < 38:
		gn.refs = append(gn.refs, gn.constant(gn.typ()))
	}
}

// finite replaces numbers that are not finite: gonum's products, which the reference uses, skip
// zeros and so lose the NaN of 0·NaN.
func (gn *gen) finite(x ad.Ref) ad.Ref {
	g := gn.g
	return g.Do(ad.OpTanh, nil, g.Select(g.Do(ad.OpIsNaN, nil, x), g.Const(0.5), x))
}

// resize gives x any size by repeating its elements.
func (gn *gen) resize(x ad.Ref, n int) ad.Ref {
	k := gn.g.Type(x).Size()
	if k == 0 {
		return gn.constant(ad.Type{Shape: []int{n}})
	}
	t := make([]int32, n)
	for i := range t {
		t[i] = int32(i % k)
	}
	return gn.g.Gather(x, ad.Index{Dims: []ad.Dim{{N: n, Table: t}}})
}

func (gn *gen) effect() {
	g, rng := gn.g, gn.rng
	x := gn.pick()
	switch rng.IntN(3) {
	case 0:
		iv := ad.Interval{Lo: -50, Hi: 50}
		if rng.IntN(20) == 0 {
			iv.Lo = -0.5
		}
		if rng.IntN(4) > 0 {
			x = g.Do(ad.OpTanh, nil, x)
		}
		g.Check(&ad.Check{Set: iv, Function: "f", Name: "x", Want: "small"}, x)
	case 1:
		m := &ad.Message{Parts: []ad.MessagePart{{Text: "x = ", Arg: -1}, {Arg: 0}}, Fatal: rng.IntN(2) == 0}
		lim := g.Const(3)
		if rng.IntN(10) == 0 {
			lim = g.Const(0.5)
		}
		g.RejectIf(g.Less(lim, g.Do(ad.OpTanh, nil, g.Sum(x))), m, x)
	case 2:
		g.Print(&ad.Message{Parts: []ad.MessagePart{{Text: "x = ", Arg: -1}, {Arg: 0}}}, g.Do(ad.OpRound, nil, x))
	}
}

// inside returns a generator for a region's sub-graph.
func (gn *gen) inside() *gen {
	sizes := gn.sizes
	if gn.rng.IntN(4) > 0 {
		sizes = []int{1, 2, 3}
	}
	return &gen{rng: gn.rng, g: ad.NewGraph(), sizes: sizes, depth: gn.depth + 1, rand: gn.rand}
}

// captured picks arguments and declares inputs of the body for them.
func (gn *gen) captured(b *gen, n int) (args []ad.Ref) {
	for range n {
		x := gn.pick()
		args = append(args, x)
		b.refs = append(b.refs, b.g.Input(ad.Type{Shape: gn.g.Type(x).Shape}))
	}
	return
}

func (gn *gen) scan() {
	g, rng, b := gn.g, gn.rng, gn.inside()
	s := &ad.Scan{Body: b.g, Carries: rng.IntN(4), Streams: rng.IntN(3), Outs: rng.IntN(3), Sums: rng.IntN(3),
		Steps: 1 + rng.IntN(12), Reverse: rng.IntN(2) == 0}
	if s.Carries+s.Outs+s.Sums == 0 {
		s.Carries = 1
	}
	if len(gn.sizes) == 3 && rng.IntN(2) == 0 {
		s.Steps = gn.sizes[2] / 3
	} else if rng.IntN(20) == 0 {
		s.Steps = 0
	}
	var args []ad.Ref
	for range s.Carries {
		x := gn.pick()
		if g.Type(x).Size() > 30 {
			x = gn.resize(x, 3)
		}
		args = append(args, x)
		b.refs = append(b.refs, b.g.Input(ad.Type{Shape: g.Type(x).Shape}))
	}
	for range s.Streams {
		k := 1 + rng.IntN(3)
		shape := []int{s.Steps, k}
		if rng.IntN(2) == 0 {
			k, shape = 1, []int{s.Steps}
		}
		var x ad.Ref
		if rng.IntN(3) == 0 {
			x = gn.constant(ad.Type{Shape: shape})
		} else {
			x = g.Reshape(gn.resize(gn.pick(), s.Steps*k), shape)
		}
		args = append(args, x)
		b.refs = append(b.refs, b.g.Input(ad.Type{Shape: shape[1:]}))
	}
	args = append(args, gn.captured(b, rng.IntN(3))...)
	if len(b.refs) == 0 {
		args = append(args, gn.captured(b, 1)...)
	}
	b.grow(len(b.g.Nodes) + 3 + rng.IntN(12))
	for i := range s.Carries {
		t := b.g.Type(b.g.Inputs[i])
		out := b.like(t)
		if rng.IntN(6) == 0 {
			out = b.g.Inputs[rng.IntN(s.Carries)] // exchange carried values
		}
		if !equal(b.g.Type(out).Shape, t.Shape) {
			out = b.g.Reshape(b.resize(out, t.Size()), t.Shape)
		}
		b.g.Output(out)
	}
	for range s.Outs + s.Sums {
		b.g.Output(b.pick())
	}
	if b.hasLanes() {
		return
	}
	r := g.DoScan(s, args)
	gn.results(r, len(s.Results()))
}

// results picks n of a region's results.
func (gn *gen) results(r ad.Ref, n int) {
	for range 1 + gn.rng.IntN(3) {
		x := gn.g.Result(r, gn.rng.IntN(n))
		gn.refs = append(gn.refs, x)
		if k := gn.g.Type(x).Size(); k > 2 && gn.rng.IntN(2) == 0 {
			gn.refs = append(gn.refs, gn.g.Slice(x, 1, []int{k - 1}))
		}
	}
	if gn.rng.IntN(5) == 0 {
		all := make([]ad.Ref, n)
		for i := range all {
			all[i] = gn.g.Result(r, i)
		}
		gn.add(gn.g.Concat(all...))
	}
}

func (gn *gen) hasLanes() bool {
	for _, r := range gn.g.Outputs {
		if gn.g.Type(r).Lanes > 0 {
			return true
		}
	}
	return false
}

// while adds a loop that counts to a computed bound.
func (gn *gen) while() {
	g, rng, b, c := gn.g, gn.rng, gn.inside(), gn.inside()
	w := &ad.While{Cond: c.g, Body: b.g, Carries: 1 + rng.IntN(3), Sums: rng.IntN(3), Snapshots: 2 << rng.IntN(3)}
	args := []ad.Ref{g.Const(0)}
	for range w.Carries - 1 {
		x := gn.pick()
		if g.Type(x).Size() > 30 {
			x = gn.resize(x, 3)
		}
		args = append(args, x)
	}
	bound := gn.pick()
	if len(g.Type(bound).Shape) > 0 {
		bound = g.Sum(bound)
	}
	args = append(args, bound)
	for range rng.IntN(3) {
		args = append(args, gn.pick())
	}
	for _, a := range args {
		for _, in := range []*gen{b, c} {
			in.refs = append(in.refs, in.g.Input(ad.Type{Shape: g.Type(a).Shape}))
		}
	}
	c.grow(len(c.g.Nodes) + rng.IntN(6))
	if c.hasLanes() {
		return
	}
	trips := c.g.Scale(10, c.g.Do(ad.OpSin, nil, c.g.Inputs[w.Carries]))
	c.g.Output(c.g.Less(c.g.Inputs[0], trips))
	b.grow(len(b.g.Nodes) + 3 + rng.IntN(10))
	b.g.Output(b.g.Add(b.g.Inputs[0], b.g.Const(1)))
	for i := 1; i < w.Carries; i++ {
		t := b.g.Type(b.g.Inputs[i])
		out := b.like(t)
		if !equal(b.g.Type(out).Shape, t.Shape) {
			out = b.g.Reshape(b.resize(out, t.Size()), t.Shape)
		}
		b.g.Output(out)
	}
	for range w.Sums {
		b.g.Output(b.pick())
	}
	if b.hasLanes() {
		return
	}
	gn.results(g.DoWhile(w, args), len(w.Results()))
}

func (gn *gen) cond() {
	g, rng := gn.g, gn.rng
	then, els := gn.inside(), gn.inside()
	var args []ad.Ref
	for range 1 + rng.IntN(3) {
		x := gn.pick()
		args = append(args, x)
		for _, b := range []*gen{then, els} {
			b.refs = append(b.refs, b.g.Input(ad.Type{Shape: g.Type(x).Shape}))
		}
	}
	then.grow(len(then.g.Nodes) + 2 + rng.IntN(8))
	els.grow(len(els.g.Nodes) + 2 + rng.IntN(8))
	n := 1 + rng.IntN(3)
	for range n {
		a := then.pick()
		b := els.pick()
		if rng.IntN(8) == 0 {
			b = els.constant(ad.Type{Shape: then.g.Type(a).Shape})
		}
		if s := then.g.Type(a).Shape; !equal(els.g.Type(b).Shape, s) {
			b = els.g.Reshape(els.resize(b, then.g.Type(a).Size()), s)
		}
		then.g.Output(a)
		els.g.Output(b)
	}
	if then.hasLanes() || els.hasLanes() {
		return
	}
	c := gn.pick()
	if rng.IntN(4) > 0 {
		if len(g.Type(c).Shape) > 0 {
			c = g.Sum(c)
		}
		c = g.Less(g.Const(0), g.Do(ad.OpSin, nil, c))
	} else if len(g.Type(c).Shape) > 0 {
		c = g.Const(float64(rng.IntN(2)))
	}
	gn.results(g.Do(ad.OpIf, &ad.If{Then: then.g, Else: els.g}, append([]ad.Ref{c}, args...)...), n)
}

// agree reports whether two numbers differ by at most tol, absolutely or relatively.
func agree(a, b, tol float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tol*max(1, math.Abs(a))
}
