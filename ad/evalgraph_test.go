package ad

import (
	"runtime"
	"testing"
)

// The evaluator keeps a value only until its last reader has run.
func TestEvalFreesValues(t *testing.T) {
	const steps, size = 64, 1 << 17 // 64 arrays of 1 MiB
	g := NewGraph()
	x := g.Input(Scalar)
	v := g.Spread(x, size)
	for range steps {
		v = g.Exp(g.Neg(v))
	}
	g.Print(&Message{}, v)
	g.Output(v)
	var held uint64
	_, err := g.Eval([][]float64{{0.5}}, &Env{Print: func(string) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		held = m.HeapAlloc
	}})
	if err != nil {
		t.Fatal(err)
	}
	if held == 0 || held > steps/2<<20 {
		t.Errorf("%d MiB are in use at the end of a chain of %d arrays of 1 MiB", held>>20, steps)
	}
}
