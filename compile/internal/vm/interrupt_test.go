package vm

import (
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// TestInterrupted: machine code that signals interrupt, those of a profile and of Go's
// scheduler, while memory is collected and other threads run the same code, computes what
// it computes undisturbed.
func TestInterrupted(t *testing.T) {
	g := ad.NewGraph()
	x := g.Input(ad.Type{Shape: []int{3000}})
	g.Output(g.Sum(g.Log(g.Exp(g.Mul(x, x)))))
	p, err := Compile(g, passes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := func() func() uint64 {
		m := p.New()
		for i, v := 0, m.Input(0); i < len(v); i++ {
			v[i] = math.Sin(float64(i))
		}
		return func() uint64 {
			if err := m.Run(nil); err != nil {
				t.Error(err)
			}
			return math.Float64bits(m.Output(0)[0])
		}
	}
	want := run()()
	if p.native == nil {
		t.Skip("no machine code here")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	if err := pprof.StartCPUProfile(io.Discard); err == nil { // it fails where one is running
		defer pprof.StopCPUProfile()
	}
	end := time.Now().Add(300 * time.Millisecond)
	var all sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		all.Go(func() {
			f := run()
			for n := 0; time.Now().Before(end); n++ {
				if got := f(); got != want {
					t.Errorf("%x, undisturbed %x", got, want)
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
