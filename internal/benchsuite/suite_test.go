package benchsuite

import (
	"math"
	"testing"
)

func bind(tb testing.TB, w Workload) *Bound {
	tb.Helper()
	b, err := w.Bind()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// largest returns the largest absolute value, at least 1. Rounding errors of sums over the rows are
// small relative to it.
func largest(v ...float64) float64 {
	m := 1.0
	for _, x := range v {
		m = max(m, math.Abs(x))
	}
	return m
}

// other is a log density and its gradient, computed in another way.
type other struct {
	name string
	lp   float64
	grad []float64
}

// TestWorkloads checks that the fast path, the reference evaluator and the hand-written gradient
// agree, and that the fast path and the hand-written gradient do not allocate.
func TestWorkloads(t *testing.T) {
	for _, w := range All() {
		t.Run(w.Name, func(t *testing.T) {
			b := bind(t, w)
			points, err := b.Points()
			if err != nil {
				t.Fatal(err)
			}
			n := b.Model.Dim()
			fast, hand, reference := make([]float64, n), make([]float64, n), make([]float64, n)
			evaluate := b.Reference()
			for _, x := range []int{0, 5} { // one far out, one near the middle
				lp, err := b.Model.LogDensityGrad(points[x], fast)
				if err != nil {
					t.Fatal(err)
				}
				var others []other
				if evaluate != nil {
					others = append(others, other{"reference", evaluate(points[x], reference), reference})
				}
				if b.ByHand != nil {
					others = append(others, other{"by hand", b.ByHand(points[x], hand), hand})
				}
				for _, other := range others {
					// The terms of a sum may cancel, so that an element is much smaller than its
					// terms. So errors are relative to the largest element of the gradient.
					const tolerance = 1e-10
					if !(math.Abs(lp-other.lp) <= tolerance*largest(lp)) {
						t.Errorf("point %d: log density %.17g, %s %.17g", x, lp, other.name, other.lp)
					}
					scale := largest(fast...)
					for i, v := range other.grad {
						if !(math.Abs(fast[i]-v) <= tolerance*scale) {
							t.Errorf("point %d: gradient[%d] = %.17g, %s %.17g", x, i, fast[i], other.name, v)
							break
						}
					}
				}
			}
			if a := testing.AllocsPerRun(3, func() { _, _ = b.Model.LogDensityGrad(points[0], fast) }); a != 0 {
				t.Errorf("%v allocations per gradient", a)
			}
			if b.ByHand == nil {
				return
			}
			if a := testing.AllocsPerRun(3, func() { b.ByHand(points[0], hand) }); a != 0 {
				t.Errorf("%v allocations per gradient by hand", a)
			}
		})
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range All() {
		if seen[w.Name] {
			t.Errorf("two workloads are called %s", w.Name)
		}
		seen[w.Name] = true
	}
}

// BenchmarkGradient times one gradient of each workload in three ways:
//
//	go test -bench Gradient/logistic -benchmem ./internal/benchsuite
func BenchmarkGradient(b *testing.B) {
	for _, w := range All() {
		b.Run(w.Name, func(b *testing.B) {
			bound := bind(b, w)
			points, err := bound.Points()
			if err != nil {
				b.Fatal(err)
			}
			fast := func(x, grad []float64) float64 {
				lp, _ := bound.Model.LogDensityGrad(x, grad)
				return lp
			}
			for _, way := range []struct {
				name string
				f    Gradient
			}{{"fast", fast}, {"reference", bound.Reference()}, {"byhand", bound.ByHand}} {
				if way.f == nil {
					continue
				}
				b.Run(way.name, func(b *testing.B) {
					grad := make([]float64, bound.Model.Dim())
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						way.f(points[i%len(points)], grad)
					}
				})
			}
		})
	}
}

// BenchmarkBind times binding alone.
func BenchmarkBind(b *testing.B) {
	for _, w := range All() {
		b.Run(w.Name, func(b *testing.B) {
			bound := bind(b, w)
			b.ReportAllocs()
			for b.Loop() {
				if err := bound.Rebind(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
