package vm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/internal/short"
)

// TestCarriesMove checks scans whose carried values become one another in any way: delays, several
// that become the same one, and cycles. Some are arrays, which may become a carried number, and
// numbers that become an element of an array. With many, not all are in registers.
func TestCarriesMove(t *testing.T) {
	targets := targetsHere()
	for seed := range uint64(short.Of(400, 60)) {
		r := rand.New(rand.NewPCG(seed, 3))
		g := movingCarries(r, 1+r.IntN(20), seed%3 == 0)
		x := normals(g.Type(g.Inputs[0]).Size(), seed)
		for _, to := range targets {
			t.Run(fmt.Sprint(seed, to), func(t *testing.T) {
				p, err := Compile(g, passes.Options{Verify: true, Without: []string{"scalars", "distribute"}})
				if err != nil {
					t.Fatal(err)
				}
				p.target = to
				m := p.New()
				if p.mistake != "" {
					t.Fatal(p.mistake)
				}
				compare(t, t.Name(), g, m, [][]float64{x}, 1e-12)
			})
		}
	}
}

// movingCarries returns a scan with n carried values, some of them arrays if these are wanted.
func movingCarries(r *rand.Rand, n int, arrays bool) *ad.Graph {
	const steps, length = 9, 3
	b, g := ad.NewGraph(), ad.NewGraph()
	in := g.Input(ad.Type{Shape: []int{n*length + steps}})
	var carried, numbers, args []ad.Ref
	for k := range n {
		var shape []int
		if arrays && r.IntN(3) == 0 {
			shape = []int{length}
		}
		x := b.Input(ad.Type{Shape: shape})
		carried = append(carried, x)
		if shape == nil {
			numbers = append(numbers, x)
		} else {
			numbers = append(numbers, b.Slice(x, r.IntN(length), nil))
		}
		args = append(args, g.Slice(in, k*length, shape))
	}
	y := b.Input(ad.Scalar)
	any := func() ad.Ref { return numbers[r.IntN(n)] }
	for k, x := range carried {
		next := any()
		if r.IntN(3) == 0 {
			next = b.Add(b.Scale(0.5, b.Sub(next, any())), b.Mul(y, any()))
		}
		switch shape := b.Type(x).Shape; {
		case shape == nil:
		case r.IntN(3) == 0:
			next = b.Broadcast(next, shape)
		default:
			next = x
			if like := carried[r.IntN(n)]; b.Type(like).Equal(b.Type(x)) {
				next = like
			}
		}
		if r.IntN(8) == 0 {
			next = carried[k]
		}
		b.Output(next)
	}
	b.Output(b.Add(any(), any()))
	s := g.DoScan(&ad.Scan{Body: b, Carries: n, Streams: 1, Outs: 1, Steps: steps, Reverse: r.IntN(2) == 0},
		append(args, g.Slice(in, n*length, []int{steps})))
	g.Output(g.Kept(s, 0))
	for k := range n {
		g.Output(g.Final(s, k))
		if r.IntN(3) == 0 {
			g.Output(g.History(s, k))
		}
	}
	return g
}
