package passes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// sameAfter checks that a pass removes all nodes of an op, and does not change values and gradients
// of the first output by more than tol. It evaluates them at each of points.
func sameAfter(t *testing.T, g *ad.Graph, pass func(*ad.Graph) *ad.Graph, op ad.OpCode, tol float64, points ...[]float64) {
	t.Helper()
	after := pass(g)
	for i := range after.Nodes {
		if after.Nodes[i].Op == op {
			t.Errorf("there is a %s left", op)
		}
	}
	for _, h := range []*ad.Graph{g, after} {
		h.Output(h.Grad(h.Outputs[0], h.Inputs[0])[0])
	}
	for _, x := range points {
		want, err := g.Eval([][]float64{x}, &ad.Env{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := after.Eval([][]float64{x}, &ad.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			for i, v := range want[k] {
				if w := got[k][i]; v != w && !(math.Abs(v-w) <= tol*(1+math.Abs(v))) {
					t.Errorf("at %v output %d[%d] is %v, want %v", x, k, i, w, v)
				}
			}
		}
	}
}

// TestCostRule checks the cost estimate (bill) of a graph against a count by hand: work, memory
// accesses, loops and live values. It also checks that an increase of any item can decide.
func TestCostRule(t *testing.T) {
	b := ad.NewGraph()
	v, y := b.Input(ad.Type{Shape: []int{6}}), b.Input(ad.Scalar)
	w := b.Mul(v, v)             // a loop of two vectors
	x := b.Slice(w, 2, nil)      // a number from memory
	b.Output(b.Exp(b.Add(x, y))) // two operations, one of which takes longer
	got, exp := billOf(b), ops.Of(ad.OpExp).Cost
	if want := (bill{work: 4*opNS + exp, memory: 1, loops: 1, code: 3, live: 3}); math.Abs(got.work-want.work) > 1e-12 || got.memory != want.memory ||
		got.loops != want.loops || got.code != want.code || got.live != want.live {
		t.Errorf("%+v, want %+v", got, want)
	}
	base := bill{work: 10, memory: 4, loops: 1, code: 20, live: registers}
	for _, c := range []struct {
		what   string
		change func(b *bill)
	}{
		{"arithmetic", func(b *bill) { b.work += 3 }},
		{"memory", func(b *bill) { b.memory += 4 }},
		{"loops", func(b *bill) { b.loops++ }},
		{"code", func(b *bill) { b.code = 101 }},
		{"registers", func(b *bill) { b.live++ }},
		{"many live numbers", func(b *bill) { b.live = maxLive + 1 }},
	} {
		before, after := base, base
		before.work++
		if !after.beats(before, 100) {
			t.Errorf("%s: the lower bill does not win", c.what)
		}
		if c.change(&after); after.beats(before, 100) {
			t.Errorf("%s: a higher bill wins", c.what)
		}
	}
	if base.beats(base, 100) {
		t.Error("an equal bill wins")
	}
}

// TestForwardingPays checks gathers from a concatenated array. They read its parts directly only if
// all gathers together need few of the parts and nothing reads the whole array.
func TestForwardingPays(t *testing.T) {
	for _, c := range []struct {
		parts int // of four that are read
		whole bool
		stays bool
	}{{parts: 2}, {parts: 3, stays: true}, {parts: 4, stays: true}, {parts: 2, whole: true, stays: true}, {parts: 1, whole: true}} {
		const size = 5
		g := ad.NewGraph()
		in := g.Input(ad.Type{Shape: []int{4 * size}})
		var parts, read []ad.Ref
		for k := range 4 {
			parts = append(parts, g.Exp(g.Scale(1/float64(k+1), g.Slice(in, k*size, []int{size}))))
		}
		all := g.Concat(parts...)
		for k := range 2 {
			table := ad.Dim{N: 3 * c.parts}
			for e := range table.N {
				table.Table = append(table.Table, int32(e%c.parts*size+(3*e*e+k)%size))
			}
			read = append(read, g.Sum(g.Square(g.Gather(all, ad.Index{Dims: []ad.Dim{table}}))))
		}
		if c.whole {
			read = append(read, g.Sum(g.Sqrt(all)))
		}
		g.Output(g.Sum(g.Stack(read...)))
		after := replaceElements(g)
		stays := false
		for i, live := range after.Live(after.Outputs, true) {
			if n := &after.Nodes[i]; live && n.Op == ad.OpGather {
				of := &after.Nodes[n.Args[0]]
				stays = stays || of.Op == ad.OpConcat && of.Type.Size() == 4*size
			}
		}
		if stays != c.stays {
			t.Errorf("%d parts, read whole: %v: gathers from the array: %v, want %v", c.parts, c.whole, stays, c.stays)
		}
		at := make([]float64, 4*size)
		for i := range at {
			at[i] = float64(i%7)/3 - 1
		}
		sameAfter(t, g, replaceElements, ad.OpInvalid, 1e-14, at)
	}
}

// TestUnroll unrolls a scan in lanes, forward and reverse, all of whose results are used.
func TestUnroll(t *testing.T) {
	const lanes, steps = 5, 4
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, lanes*steps)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for _, reverse := range []bool{false, true} {
		g := ad.NewGraph()
		in := g.Lane(g.Input(ad.Type{Shape: []int{lanes, steps}}))
		body := ad.NewGraph()
		carried, stream, factor := body.Input(ad.Scalar), body.Input(ad.Scalar), body.Input(ad.Scalar)
		next := body.Add(body.Mul(carried, factor), stream)
		body.Output(next)
		body.Output(body.Square(next))
		body.Output(body.Mul(carried, stream))
		scan := g.DoScan(&ad.Scan{Body: body, Carries: 1, Streams: 1, Outs: 1, Sums: 1, Steps: steps, Reverse: reverse}, []ad.Ref{g.Const(0.5), in, g.Const(0.7)})
		weights := g.ConstArray(ad.Type{Shape: []int{steps}}, []float64{1, 2, 3, 5})
		of := g.Add(g.Sum(g.Mul(g.History(scan, 0), weights)), g.Sum(g.Mul(g.Kept(scan, 0), weights)))
		g.Output(g.Sum(g.Unlane(g.Add(of, g.Add(g.Final(scan, 0), g.SumOf(scan, 0))))))
		sameAfter(t, g, replaceInRegions, ad.OpScan, 1e-14, x)
	}
}

// TestUnrolledSums checks log_sum_exp, written out for short vectors. Terms may be impossible; if
// all are, there is no derivative.
func TestUnrolledSums(t *testing.T) {
	for _, n := range []int{2, 3, 8} {
		g := ad.NewGraph()
		in := g.Input(ad.Type{Shape: []int{n}})
		var terms []ad.Ref
		for k := range n {
			terms = append(terms, g.Scale(float64(k+1), g.Slice(in, k, nil)))
		}
		g.Output(g.LogSumExp(g.Add(g.Stack(terms...), g.Square(in))))
		some, none, first, far := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for k := range n {
			some[k], far[k] = float64(k)/3-1, 700*float64(k%2)
			none[k], first[k] = math.Inf(-1), 0.3
		}
		first[0] = 40
		sameAfter(t, g, replaceElements, ad.OpLogSumExp, 1e-14, some, first, far)
		g = ad.NewGraph()
		in = g.Input(ad.Type{Shape: []int{n}})
		for k := range n {
			terms[k] = g.Scale(float64(k+1), g.Slice(in, k, nil))
		}
		sum := g.LogSumExp(g.Stack(terms...))
		g.Output(g.Select(g.Less(sum, g.Const(-1e300)), g.Const(1), sum))
		sameAfter(t, g, replaceElements, ad.OpLogSumExp, 1e-14, none, some)
	}
}

// TestUnrolledSumsOfRows checks log_sum_exp of many terms, written out, in rows, lanes and both.
// Terms may be impossible, infinite or NaN. Derivatives must not change if one or all terms are.
func TestUnrolledSumsOfRows(t *testing.T) {
	inf := math.Inf(1)
	for _, k := range []int{17, 40} {
		for _, shape := range [][]int{{k}, {1, k}, {3, k}, {2, 3, k}} {
			for _, lanes := range []bool{false, true} {
				if lanes && len(shape) == 1 {
					continue
				}
				g := ad.NewGraph()
				n := ad.SizeOf(shape)
				x := g.Input(ad.Type{Shape: shape})
				v := g.Mul(x, g.Const(1.5))
				if lanes {
					v = g.Lane(v)
				}
				sums := g.Unlane(g.LogSumExp(v))
				weights := make([]float64, n/k)
				for i := range weights {
					weights[i] = float64(i + 1)
				}
				g.Output(g.Sum(g.Mul(sums, g.ConstArray(ad.Type{Shape: g.Type(sums).Shape}, weights))))
				some, far, none, large, undefined := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
				for i := range n {
					some[i], far[i] = float64(i%7)/3-1, 700*float64(i%2)
					none[i], large[i], undefined[i] = -inf, some[i], some[i]
				}
				large[3], undefined[k/2] = inf, math.NaN()
				far[0], none[n-1] = -inf, 2
				if n > k {
					none[n-1] = -inf
				}
				sameAfter(t, g, rewriteLogarithms, ad.OpLogSumExp, 1e-14, some, none, large)
				g.Outputs = g.Outputs[:1]
				// The derivatives of the old expression have the rounding error of a sum of 1050.
				sameAfter(t, g, rewriteLogarithms, ad.OpLogSumExp, 1e-12, far)
				g.Outputs = g.Outputs[:1]
				after := rewriteLogarithms(g)
				if y, err := after.Eval([][]float64{undefined}, &ad.Env{}); err != nil || !math.IsNaN(y[0][0]) {
					t.Errorf("shape %v, lanes %v: no NaN of NaN: %v (%v)", shape, lanes, y[0], err)
				}
			}
		}
	}
	g := ad.NewGraph() // 16 are left as they are
	g.Output(g.LogSumExp(g.Input(ad.Type{Shape: []int{16}})))
	if h := rewriteLogarithms(g); !slices.ContainsFunc(h.Nodes, func(n ad.Node) bool { return n.Op == ad.OpLogSumExp }) {
		t.Error("a sum of 16 terms is written out")
	}
}

// TestForwardedLogarithms checks that log(exp(x)) becomes x if the exponentials were only reshaped
// or gathered in between.
func TestForwardedLogarithms(t *testing.T) {
	for _, lanes := range []bool{false, true} {
		g := ad.NewGraph()
		x := g.Input(ad.Type{Shape: []int{4, 3}})
		e := g.Reshape(g.Exp(x), []int{12})
		e = g.Gather(e, ad.Index{Dims: []ad.Dim{{N: 5, Table: []int32{7, 0, 7, 11, 4}}}})
		if lanes {
			e = g.Lane(e)
		}
		l := g.Unlane(g.Square(g.Log(e)))
		g.Output(g.Sum(g.Mul(l, g.ConstArray(ad.Type{Shape: []int{5}}, []float64{1, 2, 3, 4, 5}))))
		at := make([]float64, 12)
		for i := range at {
			at[i] = float64(i*i%13) - 5
		}
		sameAfter(t, g, rewriteLogarithms, ad.OpLog, 1e-14, at)
	}
}
