package vm

import (
	"fmt"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/ad"
)

func TestZZ(t *testing.T) {
	for _, n := range []int{1000, 10000, 40000} {
		g := ad.NewGraph()
		x := g.Input(ad.Type{Shape: []int{n}})
		s := g.Const(0)
		prev := g.Slice(x, 0, nil)
		for i := range n {
			v := g.Slice(x, i, nil)
			prev = g.Add(g.Scale(0.5, prev), g.Do(ad.OpTanh, nil, v))
			s = g.Add(s, g.Square(g.Sub(v, prev)))
		}
		t0 := time.Now()
		gr := g.Grad(s, x)
		g.Output(s)
		g.Output(gr[0])
		t1 := time.Now()
		p, err := Compile(g)
		t2 := time.Now()
		if err != nil {
			t.Fatal(err)
		}
		m := p.New()
		t3 := time.Now()
		_ = m.Run(nil)
		fmt.Println(n, len(g.Nodes), "grad", t1.Sub(t0), "compile", t2.Sub(t1), "new", t3.Sub(t2), "run", least(100*time.Millisecond, func() { _ = m.Run(nil) })/float64(len(g.Nodes)), "ns/node")
	}
}
