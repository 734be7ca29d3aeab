package vm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// exponentialGraph returns a graph with exponentials of matrices and their derivatives: for lanes
// of both operands, and for one operand that all lanes share.
func exponentialGraph(lanes, n int) *ad.Graph {
	g := ad.NewGraph()
	in := func(lanes int) ad.Ref { return g.Input(ad.Type{Lanes: lanes, Shape: []int{n, n}}) }
	a, e, one, direction := in(lanes), in(lanes), in(0), in(0)
	for _, x := range []ad.Ref{g.Do(ad.OpMatrixExp, nil, a), g.Do(ad.OpMatrixExpTangent, nil, a, e),
		g.Do(ad.OpMatrixExpTangent, nil, a, direction), g.Do(ad.OpMatrixExpTangent, nil, one, e), g.Do(ad.OpMatrixExp, nil, one)} {
		g.Output(x)
	}
	return g
}

// TestExponentials compares exponentials of matrices in lanes, and their derivatives, with those by
// Padé approximants, which package ad compares with high precision. Lanes have norms that need
// different numbers of squarings, and some have numbers that the code leaves to the op's row.
func TestExponentials(t *testing.T) {
	const huge = 1e70 // more than dense.farthest
	for _, target := range native.Targets {
		if native.Find(target.Name) == nil {
			continue
		}
		t.Setenv(processor, target.Name)
		for n := 1; n <= maxExponential+1; n++ {
			for _, lanes := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 40} {
				if lanes > 9 && n > 4 {
					continue
				}
				g := exponentialGraph(lanes, n)
				var outs [2][][]float64
				rng := rand.New(rand.NewPCG(uint64(n), uint64(lanes)))
				size := n * n
				inputs := make([][]float64, len(g.Inputs))
				for i := range inputs {
					inputs[i] = make([]float64, max(g.Type(g.Inputs[i]).Lanes, 1)*size)
				}
				for _, odd := range []float64{0, huge, math.NaN(), math.Inf(-1)} {
					for i, x := range inputs {
						for k := range x {
							if x[k] = rng.NormFloat64(); i%2 == 0 { // a matrix, not a direction
								norm := math.Ldexp(1, k/size*5%13-6)
								x[k] *= norm / float64(n)
								if k%size/n == k%size%n { // as of compartments, so that the exponential is not large
									x[k] = -norm
								}
							}
						}
					}
					if odd != 0 {
						inputs[0][len(inputs[0])-size/2-1] = odd
					}
					for k, o := range []passes.Options{{}, {Without: []string{passes.NativePass}}} {
						p, err := Compile(g, o)
						if err != nil || p.mistake != "" {
							t.Fatal(err, p.mistake)
						}
						m := p.New()
						for i, x := range inputs {
							copy(m.Input(i), x)
						}
						if err := m.Run(nil); err != nil {
							t.Fatal(err)
						}
						outs[k] = nil
						for i := range g.Outputs {
							outs[k] = append(outs[k], m.Output(i))
						}
						if a := testing.AllocsPerRun(3, func() { _ = m.Run(nil) }); odd == 0 && a > 0 {
							t.Errorf("%s, order %d, %d lanes: %v allocations", target.Name, n, lanes, a)
						}
					}
					for i, want := range outs[1] {
						for lane := range len(want) / size {
							w, v := want[lane*size:(lane+1)*size], outs[0][i][lane*size:(lane+1)*size]
							largest := 0.0
							for _, x := range w {
								largest = max(largest, math.Abs(x))
							}
							for e := range w {
								same := math.Abs(v[e]-w[e]) <= 2e-13*largest || v[e] == w[e] || math.IsNaN(v[e]) && math.IsNaN(w[e])
								if !same {
									t.Fatalf("%s, order %d, %d lanes, %g, output %d, lane %d: element %d is %v, want %v", target.Name, n, lanes, odd, i, lane, e, v[e], w[e])
								}
							}
						}
					}
				}
			}
		}
	}
}

// TestExponentialsAlone checks that an exponential has the same bits in each lane of a vector, of
// any width, and that pauses of long runs lose nothing.
func TestExponentialsAlone(t *testing.T) {
	const n = 3
	for _, target := range native.Targets {
		if native.Find(target.Name) == nil {
			continue
		}
		t.Setenv(processor, target.Name)
		for _, lanes := range []int{5, 13, int(pauseWork/exponentialWork)/(n*n*n)*target.Lanes*2 + 3} {
			g := exponentialGraph(lanes, n)
			p, err := Compile(g, passes.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p.time = 0 // otherwise the caller asks, every askEvery, and a fast machine ends before
			m := p.New()
			for i := range g.Inputs {
				x := m.Input(i)
				copy(x, normals(len(x), uint64(i)))
			}
			stops := 0
			if err := m.Run(&ad.Env{Stop: func() error { stops++; return nil }}); err != nil {
				t.Fatal(err)
			}
			if long := lanes > 100; long != (stops > 0) {
				t.Errorf("%s, %d lanes: %d calls of the stop function", target.Name, lanes, stops)
			}
			single, err := Compile(exponentialGraph(0, n), passes.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s := single.New()
			for _, lane := range []int{0, 1, lanes / 2, lanes - 2, lanes - 1} {
				for i := range g.Inputs {
					from := m.Input(i)
					copy(s.Input(i), from[min(lane*n*n, len(from)-n*n):])
				}
				if err := s.Run(nil); err != nil {
					t.Fatal(err)
				}
				for i := range g.Outputs {
					from := m.Output(i)
					for e, w := range s.Output(i) {
						if v := from[min(lane*n*n, len(from)-n*n)+e]; v != w {
							t.Fatalf("%s, lane %d of %d, output %d[%d]: %v, alone %v", target.Name, lane, lanes, i, e, v, w)
						}
					}
				}
			}
		}
	}
}
