package auto

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/internal/short"
)

// TestReliefInvariance checks that a static kernel leaves its target invariant if NUTS replaces
// some of its transitions and some draws take several transitions. A planted fault, repeating a
// rejected transition, must be detected on the banana, the target that shows it.
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
				k := newKernel(Sampler{}.withDefaults(), nil)
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

// retrying is a planted fault: it repeats a transition that was rejected.
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
	evidence []float64
}

func newCharted(f infertest.Funnel, evidence []float64, m infer.Recentring) charted {
	c := charted{f, infer.NewChart(f, m), evidence}
	if err := c.Use(evidence); err != nil {
		panic(err)
	}
	return c
}

func (c charted) Dim() int { return c.D }
func (c charted) LogDensityGrad(u, grad []float64) (float64, error) {
	return c.Chart.LogDensityGrad(u, grad)
}
func (c charted) CloneDensity() infer.LogDensity { // a map has its own state
	m := *c.Recentring().(*funnelMap)
	return newCharted(c.Funnel, c.evidence, &m)
}
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

// funnelMap is the hand-written map between coordinates of a funnel's group-level terms, whose
// scale is exp(x0/2).
type funnelMap struct {
	d     int
	fault bool // planted: the Jacobian is omitted
	held  []float64
}

func (m *funnelMap) Hold(evidence []float64) { m.held = slices.Clone(evidence) }

func (m *funnelMap) orHeld(evidence []float64) []float64 {
	if evidence == nil {
		return m.held
	}
	return evidence
}

func (m *funnelMap) Elements() []int {
	e := make([]int, m.d-1)
	for i := range e {
		e[i] = i + 1
	}
	return e
}
func (m *funnelMap) Written() []float64 { return infer.Centred(1, m.d-1) }
func (m *funnelMap) Forward(u, evidence, x []float64) (jacobian float64, err error) {
	evidence = m.orHeld(evidence)
	x[0] = u[0]
	n, v := m.d-1, math.Exp(u[0])
	for i := range n {
		d := evidence[i] + evidence[n+i]*v
		x[i+1] = v*evidence[2*n+i]/d + math.Sqrt(v/d)*u[i+1]
		jacobian += 0.5 * (u[0] - math.Log(d))
	}
	if m.fault {
		jacobian = 0
	}
	return jacobian, nil
}
func (m *funnelMap) Pull(u, evidence, gx, gu []float64) error {
	evidence = m.orHeld(evidence)
	gu[0] = gx[0]
	n, v := m.d-1, math.Exp(u[0])
	for i := range n {
		a, s := evidence[i], evidence[2*n+i]
		d := a + evidence[n+i]*v
		width := math.Sqrt(v / d)
		gu[i+1] = gx[i+1] * width
		gu[0] += gx[i+1] * (s*v*a/(d*d) + width*u[i+1]*a/(2*d))
		if !m.fault {
			gu[0] += a / (2 * d)
		}
	}
	return nil
}
func (m *funnelMap) Inverse(x, evidence, u []float64) error {
	evidence = m.orHeld(evidence)
	u[0] = x[0]
	n, v := m.d-1, math.Exp(x[0])
	for i := range n {
		d := evidence[i] + evidence[n+i]*v
		u[i+1] = (x[i+1] - v*evidence[2*n+i]/d) / math.Sqrt(v/d)
	}
	return nil
}
func (m *funnelMap) Push(x, evidence, gu, gx []float64) error {
	u, rest := make([]float64, m.d), make([]float64, m.d)
	if err := m.Inverse(x, evidence, u); err != nil {
		return err
	}
	evidence = m.orHeld(evidence)
	n, v := m.d-1, math.Exp(x[0])
	gx[0] = 0
	for i := range n {
		gx[i+1] = gu[i+1] / math.Sqrt(v/(evidence[i]+evidence[n+i]*v))
	}
	if err := m.Pull(u, evidence, gx, rest); err != nil {
		return err
	}
	gx[0] = gu[0] - rest[0]
	return nil
}
func (m *funnelMap) Levels() []int { return make([]int, len(m.Elements())) }
func (m *funnelMap) LogScales(x, dst []float64) error {
	for i := range dst {
		dst[i] = x[0] / 2
	}
	return nil
}

// TestChartInvariance checks that kernels in other coordinates leave the target invariant, and that
// omitting the Jacobian is detected.
func TestChartInvariance(t *testing.T) {
	f := infertest.Funnel{D: 3}
	for _, evidence := range short.Every(2, [][]float64{infer.Centred(0, 2), infer.Centred(0.3, 2), {1, 2, 0.5, 0, -1, 3, 0, 0}, infer.Centred(1, 2)}) {
		for _, fault := range []bool{false, true} {
			if fault && evidence[0] == 0 { // there is none
				continue
			}
			res, err := infertest.Invariance{
				Target: newCharted(f, evidence, &funnelMap{d: 3, fault: fault}), StepSize: 0.6, Seed: 44, Replicates: 8000,
				Kernel:      func() infer.Kernel { return newKernel(Sampler{}.withDefaults(), nil) },
				Hamiltonian: func(l infer.LogDensity) (infer.Hamiltonian, error) { return hmc.NewWhitened(l, infer.Metric{}) },
			}.Run()
			if err != nil {
				t.Fatal(err)
			}
			if (res.Err() != nil) != fault {
				t.Errorf("evidence %v, without Jacobian %v: %v", evidence, fault, res.Err())
			}
		}
	}
}
