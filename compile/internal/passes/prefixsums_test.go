package passes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// TestPrefixSums rewrites scans that carry a log_sum_exp: with and without shifts and restarts,
// forwards and backwards, in lanes and alone. For terms of any size, also -Inf, values and
// derivatives must equal those of the scan.
func TestPrefixSums(t *testing.T) {
	const steps, lanes = 11, 3
	inf := math.Inf(1)
	anew, weights := make([]float64, steps), make([]float64, steps)
	for i := range anew {
		anew[i] = []float64{0, 0, 0, 1}[i%4]
		weights[i] = []float64{-inf, 0, 0.5}[i%3]
	}
	for what, c := range map[string]struct {
		next  func(b *ad.Graph, c, x, anew, captured ad.Ref) ad.Ref
		stays bool
	}{
		"plain":      {next: func(b *ad.Graph, c, x, _, _ ad.Ref) ad.Ref { return b.Do(ad.OpLogAddExp, nil, c, x) }},
		"term first": {next: func(b *ad.Graph, c, x, _, _ ad.Ref) ad.Ref { return b.Do(ad.OpLogAddExp, nil, b.Scale(0.5, x), c) }},
		"captured":   {next: func(b *ad.Graph, c, _, _, k ad.Ref) ad.Ref { return b.Do(ad.OpLogAddExp, nil, c, b.Add(k, k)) }},
		"shifted": {next: func(b *ad.Graph, c, x, anew, k ad.Ref) ad.Ref {
			return b.Do(ad.OpLogAddExp, nil, b.Add(b.Sub(k, anew), c), x)
		}},
		"shifted back": {next: func(b *ad.Graph, c, x, _, k ad.Ref) ad.Ref { return b.Do(ad.OpLogAddExp, nil, b.Sub(c, k), x) }},
		"of a new start": {next: func(b *ad.Graph, c, x, anew, _ ad.Ref) ad.Ref {
			return b.Do(ad.OpLogAddExp, nil, b.Select(anew, b.Const(-inf), c), x)
		}},
		"of a start that is shifted": {next: func(b *ad.Graph, c, x, anew, k ad.Ref) ad.Ref {
			return b.Do(ad.OpLogAddExp, nil, b.Add(b.Select(anew, k, b.Add(c, k)), k), b.Scale(2, x))
		}},
		"chosen by what is carried": {stays: true, next: func(b *ad.Graph, c, x, _, k ad.Ref) ad.Ref {
			return b.Do(ad.OpLogAddExp, nil, b.Select(b.Less(c, k), k, c), x)
		}},
		"scaled":     {stays: true, next: func(b *ad.Graph, c, x, _, _ ad.Ref) ad.Ref { return b.Do(ad.OpLogAddExp, nil, b.Scale(0.5, c), x) }},
		"both terms": {stays: true, next: func(b *ad.Graph, c, x, _, _ ad.Ref) ad.Ref { return b.Do(ad.OpLogAddExp, nil, c, b.Add(c, x)) }},
	} {
		for _, reverse := range []bool{false, true} {
			for _, inLanes := range []bool{false, true} {
				g := ad.NewGraph()
				size := 2 + steps
				if inLanes {
					size = lanes * size
				}
				in := g.Input(ad.Type{Shape: []int{size}})
				first, captured, x := g.Slice(in, 0, nil), g.Slice(in, 1, nil), g.Slice(in, 2, []int{steps})
				if inLanes {
					first = g.Lane(g.Slice(in, 0, []int{lanes}))
					captured = g.Lane(g.Slice(in, lanes, []int{lanes}))
					x = g.Lane(g.Reshape(g.Slice(in, 2*lanes, []int{lanes * steps}), []int{lanes, steps}))
				}
				x = g.Add(x, g.ConstArray(ad.Type{Shape: []int{steps}}, weights))
				b := ad.NewGraph()
				carried, term, again, k := b.Input(ad.Type{Shape: []int{1}}), b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar)
				next := b.Reshape(c.next(b, b.Reshape(carried, nil), term, again, k), []int{1})
				b.Output(next)
				b.Output(b.Reshape(next, nil))
				b.Output(carried)
				scan := g.DoScan(&ad.Scan{Body: b, Carries: 1, Streams: 2, Outs: 2, Steps: steps, Reverse: reverse},
					[]ad.Ref{g.Reshape(first, []int{1}), x, g.ConstArray(ad.Type{Shape: []int{steps}}, anew), captured})
				total := g.Sum(g.Square(g.Final(scan, 0)))
				for i, r := range []ad.Ref{g.History(scan, 0), g.Kept(scan, 0), g.Kept(scan, 1)} {
					total = g.Add(total, g.Sum(g.Do(ad.OpTanh, nil, g.Scale(0.1+float64(i), r))))
				}
				g.Output(g.Sum(g.Unlane(total)))
				rng := rand.New(rand.NewPCG(5, 6))
				points := make([][]float64, 5)
				for p := range points {
					points[p] = make([]float64, size)
					for i := range points[p] {
						points[p][i] = rng.NormFloat64() * []float64{1, 30, 1000, 1, 1}[p]
					}
				}
				slices.Sort(points[3])
				for i := range points[4] {
					points[4][i] = 0.25
				}
				after := recognisePrefixSums(g)
				if err := loopnest.VerifyGraph(after); err != nil {
					t.Error(what, err)
				}
				stays := slices.ContainsFunc(after.Nodes, func(n ad.Node) bool {
					return slices.ContainsFunc(n.Bodies(), func(b *ad.Graph) bool {
						return slices.ContainsFunc(b.Nodes, func(n ad.Node) bool { return n.Op == ad.OpLogAddExp })
					})
				})
				if stays != c.stays {
					t.Errorf("%s: stays %v, want %v", what, stays, c.stays)
				}
				t.Run(what, func(t *testing.T) { sameAfter(t, g, recognisePrefixSums, ad.OpInvalid, 1e-12, points...) })
			}
		}
	}
}

// TestPrefixSumsOutOfRange checks that sums with infinite or NaN terms do not change.
func TestPrefixSumsOutOfRange(t *testing.T) {
	const steps = 9
	inf := math.Inf(1)
	for _, first := range []float64{-inf, 0, inf, math.NaN()} {
		g := ad.NewGraph()
		x := g.Input(ad.Type{Shape: []int{steps}})
		b := ad.NewGraph()
		next := b.Do(ad.OpLogAddExp, nil, b.Input(ad.Scalar), b.Input(ad.Scalar))
		b.Output(next)
		b.Output(next)
		scan := g.DoScan(&ad.Scan{Body: b, Carries: 1, Streams: 1, Outs: 1, Steps: steps}, []ad.Ref{g.Const(first), x})
		g.Output(g.Kept(scan, 0))
		after := recognisePrefixSums(g)
		for _, at := range [][]float64{
			{-inf, -inf, 1, -inf, 2, -1e300, 1e300, 0, -inf},
			{-inf, -800, 800, -1e5, inf, 0, -inf, inf, 3},
			{1, -inf, math.NaN(), 1, 2, 3, 4, inf, -inf},
			{-inf, -inf, -inf, -inf, -inf, -inf, -inf, -inf, -inf},
		} {
			want, err := g.Eval([][]float64{at}, &ad.Env{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := after.Eval([][]float64{at}, &ad.Env{})
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range want[0] {
				if v := got[0][i]; v != w && !(math.Abs(v-w) <= 1e-14*math.Abs(w)) && !(math.IsNaN(v) && math.IsNaN(w)) {
					t.Errorf("from %v, %v: step %d is %v, want %v", first, at, i, v, w)
				}
			}
		}
	}
}
