package vm

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// TestInterrupted checks that machine code computes the same results while signals interrupt it, as
// those of a profile and of Go's scheduler do. Meanwhile the garbage collector runs, and other
// threads run the same code. The code contains strips, factors and products of small and large
// matrices, and random graphs with scans, loops and conditionals.
func TestInterrupted(t *testing.T) {
	g := ad.NewGraph()
	x := g.Input(ad.Type{Shape: []int{3000}})
	g.Output(g.Sum(g.Log(g.Exp(g.Mul(x, x)))))
	graphs := []*ad.Graph{g}
	for _, n := range []int{7, 60} {
		g := ad.NewGraph()
		x := g.Input(ad.Type{Shape: []int{n, n}})
		one := make([]float64, n*n)
		for i := range n {
			one[i*n+i] = 1
		}
		a := g.Add(g.Do(ad.OpMatMul, ad.MatMulAttr{TransB: true}, x, x), g.ConstArray(ad.Type{Shape: []int{n, n}}, one))
		l := g.Do(ad.OpCholesky, nil, a)
		s := g.Do(ad.OpTriSolve, ad.TriAttr{}, l, x)
		g.Output(s)
		g.Output(g.Grad(g.Sum(g.Square(s)), x)[0])
		graphs = append(graphs, g)
	}
	for seed := range uint64(30) {
		g, _ := randomGraph(seed+9000, 40)
		graphs = append(graphs, g)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	if err := pprof.StartCPUProfile(io.Discard); err == nil { // fails if another profile is running
		defer pprof.StopCPUProfile()
	}
	compiled := 0
	for k, g := range graphs {
		p, err := Compile(g, passes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		run := func() func() (sum uint64) {
			m := p.New()
			for i := range g.Inputs {
				for j, v := 0, m.Input(i); j < len(v); j++ {
					v[j] = math.Sin(float64(i + j))
				}
			}
			return func() uint64 {
				err := m.Run(&ad.Env{Rand: rand.New(rand.NewPCG(5, 6)), Print: func(string) {}})
				h := fnv.New64()
				fmt.Fprint(h, err)
				for i := 0; i < len(g.Outputs) && err == nil; i++ {
					for _, v := range m.Output(i) {
						fmt.Fprintf(h, " %x", math.Float64bits(v))
					}
				}
				return h.Sum64()
			}
		}
		want := run()()
		if p.native == nil {
			continue
		}
		compiled++
		end := time.Now().Add(max(20, 300/time.Duration(k*k+1)) * time.Millisecond)
		var all sync.WaitGroup
		for range 2 * runtime.GOMAXPROCS(0) {
			all.Go(func() {
				f := run()
				for n := 0; time.Now().Before(end); n++ {
					if got := f(); got != want {
						t.Errorf("graph %d: %x, undisturbed %x", k, got, want)
						return
					}
					if n%50 == 0 {
						runtime.GC()
					}
				}
			})
		}
		all.Wait()
	}
	if compiled == 0 {
		t.Skip("no machine code here")
	}
	if compiled < len(graphs)/2 {
		t.Errorf("only %d graphs have machine code", compiled)
	}
}
