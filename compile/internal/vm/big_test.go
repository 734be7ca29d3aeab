package vm

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// TestMeasureUnrolled plans a loop that was unrolled to many ops. It only runs if
// VM_MEASURE=unrolled is set.
func TestMeasureUnrolled(t *testing.T) {
	if os.Getenv("VM_MEASURE") != "unrolled" {
		t.Skip("measures: set VM_MEASURE=unrolled")
	}
	g := ad.NewGraph()
	in := g.Input(ad.Type{Shape: []int{1000}})
	x := g.Slice(in, 0, nil)
	begin := time.Now()
	for k := range 100_000 {
		y := g.Slice(in, k%1000, nil)
		x = g.Add(g.Mul(x, g.Const(0.5)), g.Mul(g.Do(ad.OpSin, nil, g.Add(x, g.Const(float64(k)))), y))
	}
	g.Output(x)
	g.Output(g.Grad(x, in)[0])
	fmt.Println("graph", len(g.Nodes), time.Since(begin))
	var last time.Time
	o := passes.Options{Trace: func(s *passes.Step) {
		fmt.Printf("%-14s %8v %d ops\n", s.Pass.Name, time.Since(last).Round(time.Millisecond), s.After.Ops)
		last = time.Now()
	}}
	begin = time.Now()
	last = begin
	nest, err := passes.Run(g, o)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("passes", time.Since(begin))
	p := Assemble(nest, passes.Options{})
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	fmt.Println("all", time.Since(begin), "heap", ms.HeapAlloc>>20, "MB, from the system", ms.Sys>>20, "MB")
	m := p.New()
	fmt.Println("run", least(time.Second, func() { _ = m.Run(nil) }))
}
