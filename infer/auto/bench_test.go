package auto

import (
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
)

// standard is a normal target whose gradient costs next to nothing.
type standard int

func (d standard) Dim() int { return int(d) }
func (standard) LogDensityGrad(x, grad []float64) (float64, error) {
	sum := 0.0
	for i, v := range x {
		grad[i] = -v
		sum += v * v
	}
	return -0.5 * sum, nil
}

// BenchmarkLeapfrog tells what an integration step costs a kernel, its trees, copies and
// random numbers included, beyond the gradient: ns/step less ns/gradient.
func BenchmarkLeapfrog(b *testing.B) {
	const d = 10
	x, g := make([]float64, d), make([]float64, d)
	b.Run("gradient", func(b *testing.B) {
		for b.Loop() {
			_, _ = standard(d).LogDensityGrad(x, g)
		}
	})
	dense := hmc.Identity(infer.Dense, d)
	low := hmc.Identity(infer.LowRank, d)
	for _, m := range []infer.Metric{hmc.Identity(infer.Diagonal, d), low, dense} {
		for _, s := range []Setting{{NUTS, 0}, {Leapfrog, 3}, {ExactNormal, 1}} {
			b.Run(string(m.Kind)+"/"+s.String(), func(b *testing.B) {
				h, err := hmc.NewWhitened(standard(d), m)
				if err != nil {
					b.Fatal(err)
				}
				k := newKernel(Sampler{}.withDefaults())
				k.use(s)
				rng := infer.Stream(1, 0, "bench", 0)
				z := infer.NewPoint(d)
				if err := h.Reset(z); err != nil {
					b.Fatal(err)
				}
				eps := 0.7
				if s.Kind == ExactNormal {
					eps = 1.57
				}
				steps := 0
				for b.Loop() {
					next, info, err := k.Transition(rng, h, eps, z)
					if err != nil {
						b.Fatal(err)
					}
					z = next
					steps += info.Leapfrogs
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
