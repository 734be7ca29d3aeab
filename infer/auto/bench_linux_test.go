package auto

import (
	"math"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

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

// threadTime returns the processor time that the calling thread has used.
func threadTime() time.Duration {
	const threadCPUTime = 3
	var t syscall.Timespec
	_, _, _ = syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadCPUTime, uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano())
}

// BenchmarkLeapfrog measures what an integration step costs beyond the gradient: the kernel, its
// trees, copies and random numbers. It uses processor time, so the time of other processes does not
// count. They do share cores and caches, so gradient and kernel are timed alternately, and the
// fastest tenth of the rounds counts. Steps of NUTS are refined as they are by default. With one
// step per transition, a step includes all the work of a transition: momentum, whitening,
// acceptance.
func BenchmarkLeapfrog(b *testing.B) {
	const d, turns = 10, 200
	low := hmc.Identity(infer.LowRank, d) // of rank 2
	low.Inverse = append(low.Inverse, 2, 0.5)
	for k := range 2 {
		for i := range d {
			v := 0.0
			if i%2 == k {
				v = math.Sqrt(2.0 / d)
			}
			low.Inverse = append(low.Inverse, v)
		}
	}
	for _, m := range []infer.Metric{hmc.Identity(infer.Diagonal, d), low, hmc.Identity(infer.Dense, d)} {
		for _, s := range []Setting{{NUTS, 0}, {Leapfrog, 3}, {ExactNormal, 1}} {
			b.Run(string(m.Kind)+"/"+s.String(), func(b *testing.B) {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				meter := infer.NewMeter(standard(d))
				h, err := hmc.NewWhitened(meter, m)
				if err != nil {
					b.Fatal(err)
				}
				k := newKernel(Sampler{}.withDefaults(), nil)
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
				x, g := make([]float64, d), make([]float64, d)
				var own, ofGradient []float64
				for b.Loop() {
					begun := threadTime()
					made := 0
					for range turns {
						next, info, err := k.Transition(rng, h, eps, z)
						if err != nil {
							b.Fatal(err)
						}
						z = next
						made += info.Leapfrogs
					}
					between := threadTime()
					for range made {
						_, _ = meter.LogDensityGrad(x, g)
					}
					gradients := threadTime() - between
					own = append(own, float64(between-begun-gradients)/float64(made))
					ofGradient = append(ofGradient, float64(gradients)/float64(made))
				}
				slices.Sort(own)
				slices.Sort(ofGradient)
				b.ReportMetric(own[len(own)/10], "own-ns/step")
				b.ReportMetric(ofGradient[len(ofGradient)/10], "ns/gradient")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
