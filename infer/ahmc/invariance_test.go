package ahmc

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/riemann"
	"github.com/ppl-lang/ppl/internal/short"
)

// geometries are several geometries of a target, none of them with the identity as metric.
func geometries(dim int) map[string]func(infer.LogDensity) (infer.Hamiltonian, error) {
	euclidean := func(m infer.Metric) func(infer.LogDensity) (infer.Hamiltonian, error) {
		return func(l infer.LogDensity) (infer.Hamiltonian, error) { return hmc.NewEuclidean(l, m) }
	}
	diag, dense := hmc.Identity(infer.Diagonal, dim), hmc.Identity(infer.Dense, dim)
	for i := range dim {
		diag.Inverse[i] = 0.5 + float64(i)
		for j := range dim {
			dense.Inverse[i*dim+j] = math.Pow(0.6, math.Abs(float64(i-j))) * math.Sqrt((1+float64(i))*(1+float64(j)))
		}
	}
	return map[string]func(infer.LogDensity) (infer.Hamiltonian, error){
		"diagonal": euclidean(diag),
		"dense":    euclidean(dense),
		"curved": func(l infer.LogDensity) (infer.Hamiltonian, error) {
			return riemann.New(l, infertest.Curved{D: dim}, riemann.Options{Iterations: 30, Tolerance: 1e-7, ReturnTolerance: 1e-4})
		},
	}
}

// TestInvariance checks that the kernel of Algorithm 2 leaves the target invariant: chains start
// with exact draws, on every geometry, with a coarse step size.
func TestInvariance(t *testing.T) {
	for _, c := range []struct {
		target infertest.Exact
		eps    float64
		curved float64 // step size on the curved geometry
	}{
		{infertest.Banana{B: 0.3, Sigma: 1.5}, 1.0, 0.8},
		{infertest.LogGamma{D: 2, Shape: 0.7}, 1.1, 1.0},
	} {
		for name, geometry := range geometries(c.target.Dim()) {
			eps, replicates := c.eps, 15000
			if name == "curved" {
				eps, replicates = c.curved, 4000
			}
			res, err := infertest.Invariance{
				Target: c.target, StepSize: 77, Seed: 31, Replicates: replicates,
				Hamiltonian: geometry,
				Kernel: func() infer.Kernel {
					k := newKernel(Sampler{}.withDefaults(), nil)
					return &lazy{kernel: k, box: Box{eps, eps, 4, 4}}
				},
			}.Run()
			if err == nil {
				err = res.Err()
			}
			if err != nil {
				t.Errorf("%s, %s: %v", c.target, name, err)
			}
			if res.AcceptStat < 0.25 || res.AcceptStat > 0.9 {
				t.Errorf("%s, %s: mean acceptance %.2f is no test", c.target, name, res.AcceptStat)
			}
		}
	}
}

// lazy begins Algorithm 2 at the first transition, with a single setting to choose from. Although
// it adapts after each transition, the kernel is then a Markov kernel.
type lazy struct {
	kernel *Kernel
	box    Box
}

func (l *lazy) Transition(rng *rand.Rand, h infer.Hamiltonian, eps float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	if !l.kernel.tuning() {
		if err := l.kernel.begin(l.box, 1, 1, h); err != nil {
			return z, infer.Info{}, err
		}
	}
	return l.kernel.Transition(rng, h, eps, z)
}

// TestErgodicRiemannian checks that long-run moments are correct within five Monte Carlo standard
// errors if adaptation on a Riemannian geometry (ARMHMC) never ends.
func TestErgodicRiemannian(t *testing.T) {
	short.Skip(t, "thousands of draws on a curved geometry; TestErgodic has a flat one")
	target := infertest.Banana{B: 0.3, Sigma: 1.5}
	s := Sampler{
		Box: Box{0.1, 1, 1, 6}, BatchLength: 2, StepSizePoints: 8, StepsPoints: 6,
		Hamiltonian: riemann.Options{Tolerance: 1e-7, ReturnTolerance: 1e-4}.Hamiltonian(func(m *infer.Meter) (riemann.Metric, error) { return riemann.FromTarget(riemann.Fisher, m, 0) }),
	}
	values := make([][2][]float64, 3)
	session, err := infer.NewSession(target, infer.Config{Sampler: s, Chains: 3, Warmup: 100, Draws: 6000, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	for d, err := range session.Draws(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		v := &values[d.Chain]
		v[0] = append(v[0], d.Position[0]*d.Position[0])
		v[1] = append(v[1], d.Position[1]*d.Position[1])
	}
	for i, want := range []float64{1.5 * 1.5, 1 + 2*math.Pow(0.3, 2)*math.Pow(1.5, 4)} {
		chains := [][]float64{values[0][i], values[1][i], values[2][i]}
		mean := 0.0
		for _, c := range chains {
			for _, v := range c {
				mean += v / 18000
			}
		}
		if mcse := diagnose.MCSEMean(chains); math.Abs(mean-want) > 5*mcse || mcse > 0.1*want {
			t.Errorf("E x%d² = %v ± %v, want %v", i+1, mean, mcse, want)
		}
	}
	if k := session.Report().Chains[0].Kernel; k["changes"] < 20 {
		t.Errorf("hardly adapted: %v", k)
	}
}
