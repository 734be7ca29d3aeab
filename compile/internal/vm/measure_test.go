package vm

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// least returns the least time of f, in ns, over many short batches. On a busy machine it varies
// less than the mean.
func least(budget time.Duration, f func()) float64 {
	n := 1
	for ; n < 1<<20; n *= 2 {
		t := time.Now()
		for range n {
			f()
		}
		if time.Since(t) > 100*time.Microsecond {
			break
		}
	}
	best := 1e18
	for end := time.Now().Add(budget); time.Now().Before(end); {
		t := time.Now()
		for range n {
			f()
		}
		best = min(best, float64(time.Since(t).Nanoseconds())/float64(n))
	}
	return best
}

// TestMeasure prints the table of the package documentation:
//
//	VM_MEASURE=1 go test -run Measure -v
func TestMeasure(t *testing.T) {
	which := os.Getenv("VM_MEASURE")
	if which == "" {
		t.Skip("set VM_MEASURE to a part of a model's name, or to 1")
	}
	env := &ad.Env{}
	fmt.Printf("%-16s %10s %10s %7s %12s %8s\n", "model", "machine", "hand", "ratio", "reference", "compile")
	for _, md := range models() {
		if which != "1" && !strings.Contains(md.name, which) {
			continue
		}
		g := md.graph()
		p, err := Compile(g, passes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := p.New()
		x, grad := md.point(), make([]float64, md.dim)
		copy(m.Input(0), x)
		const budget = 500 * time.Millisecond
		run := least(budget, func() { _ = m.Run(env) })
		hand := least(budget, func() { md.hand(x, grad) })
		ref := least(budget, func() { _, _ = g.Eval([][]float64{x}, env) })
		comp := least(budget, func() { _, _ = Compile(g, passes.Options{}) })
		fmt.Printf("%-16s %10.0f %10.0f %7.2f %12.0f %8.0f\n", md.name, run, hand, run/hand, ref, comp)
	}
}

// TestListing prints the program of the model named by VM_LIST.
func TestListing(t *testing.T) {
	for _, md := range models() {
		if md.name == os.Getenv("VM_LIST") {
			nest, err := passes.Run(md.graph(), passes.Options{Verify: true})
			if err != nil {
				t.Fatal(err)
			}
			_ = nest.Print(os.Stdout, loopnest.Names{})
			fmt.Println(Assemble(nest, passes.Options{}))
		}
	}
}
