package auto

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// A static kernel that NUTS relieves, with more transitions between some draws, leaves its target invariant; one that
// tries again after a rejection does not (on the banana, where that shows).
func TestReliefInvariance(t *testing.T) {
	for _, target := range []infertest.Exact{infertest.Banana{B: 0.3, Sigma: 1.5}, infertest.LogGamma{D: 2, Shape: 0.7}} {
		for _, kind := range []Kind{Leapfrog, ExactNormal} {
			run := func(make func() infer.Kernel) infertest.InvarianceResult {
				res, err := infertest.Invariance{
					Target: target, StepSize: 1.1, Seed: 43, Replicates: 8000, Transitions: 5, Kernel: make,
					Hamiltonian: func(l infer.LogDensity) (infer.Hamiltonian, error) {
						return hmc.NewWhitened(l, hmc.Identity(infer.Dense, 2))
					},
				}.Run()
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			kernel := func(spare float64) *Kernel {
				k := newKernel(Sampler{}.withDefaults())
				k.use(Setting{kind, 2})
				k.relief, k.spare = 0.6, spare
				return k
			}
			for _, spare := range []float64{0, 0.4} {
				res := run(func() infer.Kernel { return kernel(spare) })
				if err := res.Err(); err != nil {
					t.Errorf("%s, %s: %v", target, kind, err)
				}
				if res.AcceptStat < 0.2 || res.AcceptStat > 0.97 {
					t.Errorf("%s, %s: mean acceptance %.2f is no test", target, kind, res.AcceptStat)
				}
			}
			if _, banana := target.(infertest.Banana); banana && run(func() infer.Kernel { return &retrying{kernel(0)} }).Err() == nil {
				t.Errorf("%s, %s: a kernel that tries again after a rejection passes", target, kind)
			}
		}
	}
}

// retrying is a planted fault: a transition that was rejected is made again.
type retrying struct{ *Kernel }

func (r *retrying) Transition(rng *rand.Rand, h infer.Hamiltonian, eps float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	next, info, err := r.Kernel.Transition(rng, h, eps, z)
	for range 4 {
		if err != nil || next.Position[0] != z.Position[0] {
			break
		}
		next, info, err = r.Kernel.Transition(rng, h, eps, z)
	}
	return next, info, err
}

// charted is a funnel in other coordinates.
type charted struct {
	infertest.Funnel
	*infer.Chart
	lambda []float64
}

func newCharted(f infertest.Funnel, lambda float64, m infer.Recentring) charted {
	c := charted{f, infer.NewChart(f, m), make([]float64, f.D-1)}
	for i := range c.lambda {
		c.lambda[i] = lambda
	}
	if err := c.Use(c.lambda); err != nil {
		panic(err)
	}
	return c
}

func (c charted) Dim() int { return c.D }
func (c charted) LogDensityGrad(u, grad []float64) (float64, error) {
	return c.Chart.LogDensityGrad(u, grad)
}
func (c charted) Clone() infer.LogDensity { return newCharted(c.Funnel, c.lambda[0], c.Of()) }
func (c charted) Sample(rng *rand.Rand, u []float64) {
	x := make([]float64, len(u))
	c.Funnel.Sample(rng, x)
	_ = c.At(x, u)
}
func (c charted) Uniforms(u, uniforms []float64) {
	x := make([]float64, len(u))
	_, _ = c.Original(u, x)
	c.Funnel.Uniforms(x, uniforms)
}

// funnelMap is the map of a funnel's effects, whose scale is exp(x0/2), written by hand.
type funnelMap struct {
	d     int
	fault bool // the Jacobian is forgotten
}

func (m funnelMap) Elements() []int {
	e := make([]int, m.d-1)
	for i := range e {
		e[i] = i + 1
	}
	return e
}
func (m funnelMap) Written() []float64 {
	w := make([]float64, m.d-1)
	for i := range w {
		w[i] = 1
	}
	return w
}
func (m funnelMap) Forward(u, lambda, x []float64) (jacobian float64, err error) {
	x[0] = u[0]
	for i, l := range lambda {
		x[i+1] = math.Exp((1-l)*u[0]/2) * u[i+1]
		jacobian += (1 - l) * u[0] / 2
	}
	if m.fault {
		jacobian = 0
	}
	return jacobian, nil
}
func (m funnelMap) Pull(u, lambda, gx, gu []float64) error {
	gu[0] = gx[0]
	for i, l := range lambda {
		a := math.Exp((1 - l) * u[0] / 2)
		gu[i+1] = gx[i+1] * a
		gu[0] += gx[i+1] * a * u[i+1] * (1 - l) / 2
		if !m.fault {
			gu[0] += (1 - l) / 2
		}
	}
	return nil
}
func (m funnelMap) Inverse(x, lambda, u []float64) error {
	u[0] = x[0]
	for i, l := range lambda {
		u[i+1] = math.Exp(-(1-l)*x[0]/2) * x[i+1]
	}
	return nil
}
func (m funnelMap) Push(x, lambda, gu, gx []float64) error { panic("not used") }
func (m funnelMap) Chained() []bool                        { return make([]bool, len(m.Elements())) }
func (m funnelMap) LogScales(x, dst []float64) error {
	for i := range dst {
		dst[i] = x[0] / 2
	}
	return nil
}

// Kernels in other coordinates leave the target invariant, and do not where the Jacobian
// is forgotten.
func TestChartInvariance(t *testing.T) {
	f := infertest.Funnel{D: 3}
	for _, lambda := range []float64{0, 0.3, 1} {
		for _, fault := range []bool{false, true} {
			if fault && lambda == 1 { // there is none
				continue
			}
			res, err := infertest.Invariance{
				Target: newCharted(f, lambda, funnelMap{3, fault}), StepSize: 0.6, Seed: 44, Replicates: 8000,
				Kernel:      func() infer.Kernel { return newKernel(Sampler{}.withDefaults()) },
				Hamiltonian: func(l infer.LogDensity) (infer.Hamiltonian, error) { return hmc.NewWhitened(l, infer.Metric{}) },
			}.Run()
			if err != nil {
				t.Fatal(err)
			}
			if (res.Err() != nil) != fault {
				t.Errorf("λ %v, without Jacobian %v: %v", lambda, fault, res.Err())
			}
		}
	}
}
