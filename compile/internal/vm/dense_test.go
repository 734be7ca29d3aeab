package vm

import (
	"errors"
	"math"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// factorGraph has a function of a Cholesky factor and of triangular solves with it, and its
// gradient.
func factorGraph(n, others int) *ad.Graph {
	g := ad.NewGraph()
	a := g.Input(ad.Type{Shape: []int{n, n}})
	b := g.Input(ad.Type{Shape: []int{n, others}})
	l := g.Cholesky(a)
	x := g.TriSolve(l, b, ad.TriAttr{})
	y := g.TriSolve(l, x, ad.TriAttr{Trans: true})
	z := g.TriSolve(l, g.Transpose(y), ad.TriAttr{Right: true})
	f := g.Add(g.Sum(g.Square(z)), g.Sum(g.Log(g.Diagonal(l))))
	g.Output(f)
	for _, d := range g.Grad(f, a, b) {
		g.Output(d)
	}
	return g
}

// TestDense compares factors, solves and their adjoints by machine code with the rows of
// the ops, does so without allocating, and has the same errors.
func TestDense(t *testing.T) {
	for _, target := range native.Targets {
		if native.Find(target.Name) == nil {
			continue
		}
		t.Setenv(processor, target.Name)
		for _, n := range []int{8, 13, 20, 41} {
			g := factorGraph(n, 12)
			fast, err := Compile(g, passes.Options{})
			if err != nil {
				t.Fatal(err)
			}
			slow, err := Compile(g, passes.Options{Without: []string{passes.NativePass}})
			if err != nil {
				t.Fatal(err)
			}
			used := 0
			for i := range fast.blocks {
				if fast.blocks[i].dense != nil {
					used++
				}
			}
			if used < 8 {
				t.Errorf("%s: %d blocks are run by package dense", target.Name, used)
			}
			f, s := fast.New(), slow.New()
			x := normals(n*n, 3)
			for _, m := range []*Machine{f, s} {
				a := m.Input(0)
				clear(a)
				for i := range n {
					for j := range n {
						for k := range n {
							a[i*n+j] += x[i*n+k] * x[j*n+k] / float64(n)
						}
					}
					a[i*n+i]++
				}
				copy(m.Input(1), normals(n*12, 4))
				if err := m.Run(nil); err != nil {
					t.Fatal(err)
				}
			}
			for i := range g.Outputs {
				for e, w := range s.Output(i) {
					if v := f.Output(i)[e]; !(math.Abs(v-w) <= 1e-10*(1+math.Abs(w))) {
						t.Errorf("%s, order %d: output %d[%d] is %v, want %v", target.Name, n, i, e, v, w)
					}
				}
			}
			if k := testing.AllocsPerRun(10, func() { _ = f.Run(nil) }); k > 0 {
				t.Errorf("%s, order %d: %v allocations", target.Name, n, k)
			}
			f.Input(0)[(n-2)*(n+1)] = -1
			var not *ad.NotPositiveError
			if err := f.Run(nil); !errors.As(err, &not) || not.Pivot != n-1 {
				t.Errorf("%s, order %d: the error is %v", target.Name, n, err)
			}
		}
	}
}
