package vm

import (
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// TestModels compares gradients of the machine, the reference and hand-written Go. It also checks
// that a run does not allocate.
func TestModels(t *testing.T) {
	for _, md := range models() {
		g := md.graph()
		p, err := Compile(g, passes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := p.New()
		x := md.point()
		compare(t, md.name, g, m, [][]float64{x}, 1e-11)
		grad := make([]float64, md.dim)
		if lp := md.hand(x, grad); !agree(lp, m.Output(0)[0], 1e-10) {
			t.Errorf("%s: log density %v, by hand %v", md.name, m.Output(0)[0], lp)
		}
		for i, v := range grad {
			if !agree(v, m.Output(1)[i], 1e-9) {
				t.Errorf("%s: gradient[%d] = %v, by hand %v", md.name, i, m.Output(1)[i], v)
				break
			}
		}
		if n := testing.AllocsPerRun(10, func() { _ = m.Run(nil) }); n != 0 {
			t.Errorf("%s: %v allocations per run", md.name, n)
		}
	}
}

func BenchmarkMachine(b *testing.B) {
	for _, md := range models() {
		p, err := Compile(md.graph(), passes.Options{})
		if err != nil {
			b.Fatal(err)
		}
		m := p.New()
		copy(m.Input(0), md.point())
		env := &ad.Env{}
		b.Run(md.name, func(b *testing.B) {
			for b.Loop() {
				if err := m.Run(env); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHand(b *testing.B) {
	for _, md := range models() {
		x, grad := md.point(), make([]float64, md.dim)
		b.Run(md.name, func(b *testing.B) {
			for b.Loop() {
				md.hand(x, grad)
			}
		})
	}
}

func BenchmarkReference(b *testing.B) {
	for _, md := range models() {
		g, x := md.graph(), [][]float64{md.point()}
		b.Run(md.name, func(b *testing.B) {
			for b.Loop() {
				_, _ = g.Eval(x, &ad.Env{})
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, md := range models() {
		g := md.graph()
		b.Run(md.name, func(b *testing.B) {
			for b.Loop() {
				_, _ = Compile(g, passes.Options{})
			}
		})
	}
}
