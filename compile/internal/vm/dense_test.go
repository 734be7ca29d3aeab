package vm

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// factorGraph returns a graph of a function of Cholesky factors, one in each lane, and of
// triangular solves with them, and its gradient.
func factorGraph(lanes, n, others int) *ad.Graph {
	g := ad.NewGraph()
	a := g.Input(ad.Type{Lanes: lanes, Shape: []int{n, n}})
	b := g.Input(ad.Type{Shape: []int{n, others}})
	l := g.Cholesky(a)
	x := g.TriSolve(l, b, ad.TriAttr{})
	y := g.TriSolve(l, x, ad.TriAttr{Trans: true})
	z := g.TriSolve(l, g.Transpose(y), ad.TriAttr{Right: true})
	u := g.Transpose(l)
	w := g.TriSolve(u, g.TriSolve(u, b, ad.TriAttr{Upper: true, Trans: true}), ad.TriAttr{Upper: true})
	w = g.Transpose(g.TriSolve(l, g.Transpose(w), ad.TriAttr{Trans: true, Right: true}))
	f := g.Add(g.Sum(g.Mul(g.Square(z), g.Transpose(w))), g.Sum(g.Log(g.Diagonal(l))))
	if lanes > 0 {
		f = g.SumLanes(f)
	}
	g.Output(f)
	for _, d := range g.Grad(f, a, b) {
		g.Output(d)
	}
	return g
}

// TestDense compares the machine code for factors, solves and their adjoints with the op table of
// package ad. Errors must be the same, and nothing may be allocated.
func TestDense(t *testing.T) {
	for _, target := range native.Targets {
		if native.Find(target.Name) == nil {
			continue
		}
		t.Setenv(processor, target.Name)
		for _, c := range []struct{ lanes, n, others, dense int }{
			{0, 20, 12, 8}, {0, 41, 12, 8}, {2, 22, 1, 2}, {0, 25, 1, 2}, {2, 41, 1, 2}, {0, 64, 1, 2}, // dense are the blocks that package dense runs
			{0, 1, 1, 0}, {0, 2, 1, 0}, {0, 3, 2, 0}, {0, 5, 8, 0}, {0, 8, 1, 0}, {0, 13, 3, 0}, {0, 18, 5, 0},
			{7, 1, 3, 0}, {5, 2, 1, 0}, {3, 4, 7, 0}, {2, 11, 4, 0}, {9, 3, 1, 0}, {10, 8, 1, 0}, {6, 18, 1, 0},
		} {
			lanes, n := max(c.lanes, 1), c.n
			g := factorGraph(c.lanes, n, c.others)
			fast, err := Compile(g, passes.Options{})
			if err != nil {
				t.Fatal(err)
			}
			slow, err := Compile(g, passes.Options{Without: []string{passes.NativePass}})
			if err != nil {
				t.Fatal(err)
			}
			f, s := fast.New(), slow.New()
			used, inGo, end := 0, 0, 0
			for i := range fast.blocks {
				b := &fast.blocks[i]
				if b.fused != nil {
					end = i + b.fused.n
				}
				switch {
				case b.dense != nil:
					used++
				case b.node != nil && i >= end && slices.Contains([]ad.OpCode{ad.OpCholesky, ad.OpCholeskyAdjoint, ad.OpTriSolve}, b.node.Op):
					inGo++
				}
			}
			if used < c.dense || c.dense == 0 && inGo > 0 {
				t.Errorf("%s, %v: %d blocks are run by package dense, and %d by rows", target.Name, c, used, inGo)
			}
			x := normals(lanes*n*n, 3)
			for _, m := range []*Machine{f, s} {
				for lane := range lanes {
					a, x := m.Input(0)[lane*n*n:], x[lane*n*n:]
					for i := range n {
						for j := range n {
							a[i*n+j] = 0
							for k := range n {
								a[i*n+j] += x[i*n+k] * x[j*n+k] / float64(n)
							}
						}
						a[i*n+i]++
					}
				}
				copy(m.Input(1), normals(n*c.others, 4))
				if err := m.Run(nil); err != nil {
					t.Fatal(err)
				}
			}
			for i := range g.Outputs {
				for e, w := range s.Output(i) {
					if v := f.Output(i)[e]; !(math.Abs(v-w) <= 1e-10*(1+math.Abs(w))) {
						t.Errorf("%s, %v: output %d[%d] is %v, want %v", target.Name, c, i, e, v, w)
					}
				}
			}
			if k := testing.AllocsPerRun(10, func() { _ = f.Run(nil) }); k > 0 {
				t.Errorf("%s, %v: %v allocations", target.Name, c, k)
			}
			p := max(n-2, 0)
			good := f.Input(0)[p*(n+1)]
			for _, bad := range []float64{-1, 0, math.NaN(), math.Inf(1)} {
				f.Input(0)[p*(n+1)] = bad
				var not *ad.NotPositiveError
				if err := f.Run(nil); !errors.As(err, &not) || not.Pivot != p+1 && !math.IsInf(bad, 1) {
					t.Errorf("%s, %v: the error for %v is %v", target.Name, c, bad, err)
				}
			}
			f.Input(0)[p*(n+1)] = good
			if err := f.Run(nil); err != nil {
				t.Errorf("%s, %v: %v after an error", target.Name, c, err)
			}
		}
	}
}

// TestBatched checks factors of small matrices, their adjoints, triangular solves and products in
// lanes, computed as vectors across the lanes. They must have the same bits as single matrices,
// whatever the numbers. The first lane without a factor is reported.
func TestBatched(t *testing.T) {
	odd := []float64{0, math.Copysign(0, -1), 5e-324, -1e-310, 1e300, math.Inf(1), math.Inf(-1), math.NaN()}
	graph := func(lanes, n int) *ad.Graph {
		g := ad.NewGraph()
		in := func(lanes int, shape ...int) ad.Ref { return g.Input(ad.Type{Lanes: lanes, Shape: shape}) }
		a, adj, column, row := in(lanes, n, n), in(lanes, n, n), in(lanes, n, 1), in(lanes, 1, n)
		// in has separate matrices for the lanes, one and same are shared by all lanes.
		one, same := in(0, n, n), in(0, n, 1)
		l := g.Cholesky(a)
		for _, x := range []ad.Ref{l, g.Do(ad.OpCholeskyAdjoint, nil, l, adj), g.Do(ad.OpCholeskyAdjoint, nil, one, adj),
			g.TriSolve(l, column, ad.TriAttr{}), g.TriSolve(l, column, ad.TriAttr{Trans: true}), g.TriSolve(adj, column, ad.TriAttr{Upper: true}),
			g.TriSolve(adj, column, ad.TriAttr{Upper: true, Trans: true}), g.TriSolve(l, row, ad.TriAttr{Right: true}), g.TriSolve(l, row, ad.TriAttr{Right: true, Trans: true}),
			g.TriSolve(one, column, ad.TriAttr{}), g.TriSolve(l, same, ad.TriAttr{}),
			g.Do(ad.OpMatMul, ad.MatMulAttr{}, a, adj), g.Do(ad.OpMatMul, ad.MatMulAttr{TransA: true}, a, adj), g.Do(ad.OpMatMul, ad.MatMulAttr{TransA: true}, one, adj),
			g.Do(ad.OpMatMul, ad.MatMulAttr{}, a, one), g.Do(ad.OpMatMul, ad.MatMulAttr{}, column, row),
		} {
			g.Output(x)
		}
		return g
	}
	for _, target := range native.Targets {
		if native.Find(target.Name) == nil {
			continue
		}
		t.Setenv(processor, target.Name)
		for _, n := range []int{1, 2, 3, 4, 5, 8, 13, 18} {
			single, err := Compile(graph(0, n), passes.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s := single.New()
			for _, lanes := range []int{1, 3, 4, 5, 7, 8, 9, 17} {
				g := graph(lanes, n)
				p, err := Compile(g, passes.Options{})
				if err != nil {
					t.Fatal(err)
				}
				m := p.New()
				if p.mistake != "" {
					t.Fatal(p.mistake)
				}
				for i := range g.Inputs {
					x := m.Input(i)
					copy(x, normals(len(x), uint64(10*lanes+i)))
					for k := range x {
						if size := n * n; i == 0 && k%size%(n+1) == 0 {
							x[k] = float64(n) + math.Abs(x[k])
						} else if i > 0 && k%5 == 0 && k/5%3 == 0 {
							x[k] = odd[k/15%len(odd)]
						}
					}
				}
				if err := m.Run(nil); err != nil {
					t.Fatal(err)
				}
				for lane := range lanes {
					for i := range g.Inputs {
						to := s.Input(i)
						if from := m.Input(i); len(from) > len(to) {
							copy(to, from[lane*len(to):])
						} else {
							copy(to, from)
						}
					}
					if err := s.Run(nil); err != nil {
						t.Fatal(err)
					}
					for i := range g.Outputs {
						want := s.Output(i)
						for e, w := range want {
							if v := m.Output(i)[lane*len(want)+e]; math.Float64bits(v) != math.Float64bits(w) && !(math.IsNaN(v) && math.IsNaN(w)) {
								t.Fatalf("%s, order %d, lane %d of %d, output %d[%d]: %v, by itself %v", target.Name, n, lane, lanes, i, e, v, w)
							}
						}
					}
				}
				m.Input(0)[(lanes-1)*n*n] = -1
				var not *ad.NotPositiveError
				if err := m.Run(nil); !errors.As(err, &not) || not.Pivot != 1 {
					t.Errorf("%s, order %d, %d lanes: %v", target.Name, n, lanes, err)
				}
			}
		}
	}
}

// TestEigen checks that symmetric eigendecompositions in machine code have the same bits as the
// op's Go function, in lanes too.
func TestEigen(t *testing.T) {
	for _, target := range native.Targets {
		if native.Find(target.Name) == nil {
			continue
		}
		t.Setenv(processor, target.Name)
		for _, n := range []int{1, 3, 4, 11, 33} {
			const lanes = 2
			g := ad.NewGraph()
			values, vectors := g.EigenSym(g.Input(ad.Type{Lanes: lanes, Shape: []int{n, n}}))
			g.Output(values)
			g.Output(vectors)
			x := normals(lanes*n*n, uint64(n))
			var outs [2][2][]float64
			for k, o := range []passes.Options{{}, {Without: []string{passes.NativePass}}} {
				p, err := Compile(g, o)
				if err != nil {
					t.Fatal(err)
				}
				m := p.New()
				copy(m.Input(0), x)
				if err := m.Run(nil); err != nil {
					t.Fatal(err)
				}
				if k == 0 && testing.AllocsPerRun(10, func() { _ = m.Run(nil) }) > 0 {
					t.Errorf("%s, order %d: allocates", target.Name, n)
				}
				for i := range outs[k] {
					outs[k][i] = m.Output(i)
				}
			}
			for i := range outs[0] {
				for e, w := range outs[1][i] {
					if v := outs[0][i][e]; math.Float64bits(v) != math.Float64bits(w) {
						t.Fatalf("%s, order %d: output %d[%d] is %v, want %v", target.Name, n, i, e, v, w)
					}
				}
			}
		}
	}
}
