package ahmc_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/bayesopt"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// kernels collects the kernels passed to Sampler.Watch.
type kernels struct {
	sync.Mutex
	byID map[int]*ahmc.Kernel
}

func (k *kernels) watch(id int, kernel *ahmc.Kernel) {
	k.Lock()
	defer k.Unlock()
	if k.byID == nil {
		k.byID = map[int]*ahmc.Kernel{}
	}
	k.byID[id] = kernel
}

// sample runs and returns the positions [chain][draw][coordinate].
func sample(t testing.TB, target infer.LogDensity, config infer.Config) ([][][]float64, infer.Report) {
	t.Helper()
	session, err := infer.NewSession(target, config)
	if err != nil {
		t.Fatal(err)
	}
	x := make([][][]float64, session.Config().Chains)
	for d, err := range session.Draws(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		x[d.Chain] = append(x[d.Chain], d.Position)
	}
	return x, session.Report()
}

// column returns the values of f for all draws, by chain.
func column(x [][][]float64, f func([]float64) float64) [][]float64 {
	out := make([][]float64, len(x))
	for c := range x {
		for _, draw := range x[c] {
			out[c] = append(out[c], f(draw))
		}
	}
	return out
}

// TestErgodic never ends adaptation, and adapts far more often than by default. The long-run means
// of several functions must agree with those of the target within five Monte Carlo standard errors
// (a false alarm every few million tests). The standard errors must be small.
func TestErgodic(t *testing.T) {
	for _, c := range []struct {
		target infertest.Exact
		second float64 // E of the first coordinate squared
		first  float64 // E of it
	}{
		{infertest.AR1(3, 0.8), 1, 0},
		{infertest.NewNormal([]float64{3, -1}, [][]float64{{0.5, 0}, {1, 2}}), 9.25, 3},
		{infertest.Logistic{D: 2}, math.Pi * math.Pi / 3, 0},
	} {
		config := infer.Config{
			Sampler: ahmc.Sampler{BatchLength: 2, StepSizePoints: 12, StepsPoints: 12},
			Warmup:  100, Draws: 20000, Seed: 5,
		}
		x, report := sample(t, c.target, config)
		for name, check := range map[string]struct {
			f    func([]float64) float64
			want float64
		}{
			"mean":   {func(x []float64) float64 { return x[0] }, c.first},
			"square": {func(x []float64) float64 { return x[0] * x[0] }, c.second},
			"median": {func(x []float64) float64 {
				u := make([]float64, len(x))
				c.target.Uniforms(x, u)
				return math.Abs(u[len(u)-1] - 0.5)
			}, 0.25},
		} {
			values := column(x, check.f)
			mean := 0.0
			for _, chain := range values {
				for _, v := range chain {
					mean += v / float64(len(chain)*len(values))
				}
			}
			mcse := diagnose.MCSEMean(values)
			if math.Abs(mean-check.want) > 5*mcse {
				t.Errorf("%s: %s is %v ± %v, want %v", c.target, name, mean, mcse, check.want)
			}
			if mcse > 0.05 {
				t.Errorf("%s: %s has standard error %v: no test", c.target, name, mcse)
			}
			if r := diagnose.Rhat(values); r > 1.01 {
				t.Errorf("%s: %s has R-hat %v", c.target, name, r)
			}
		}
		for _, chain := range report.Chains {
			if k := chain.Kernel; k["batches"] < 10000 || k["changes"] < 40 {
				t.Errorf("%s: hardly adapted while sampling: %v", c.target, k)
			}
		}
	}
}

// TestSchedule checks that m and k are computed from the length of warm-up. Short warm-ups also
// adapt; in the authors' program they did not (defect a).
func TestSchedule(t *testing.T) {
	for _, c := range []struct{ warmup, length, m, k int }{
		{10000, 0, 100, 100}, {1000, 0, 10, 100}, {1050, 0, 10, 105}, {250, 0, 2, 125},
		{199, 0, 1, 199}, {100, 0, 1, 100}, {50, 0, 1, 50}, {1, 0, 1, 1}, {-1, 0, 1, 1}, {1000, 7, 7, 142},
	} {
		var seen kernels
		s := ahmc.Sampler{Box: ahmc.Box{0.1, 1, 1, 5}, BatchLength: c.length, Watch: seen.watch}
		_, report := sample(t, infertest.AR1(2, 0.5), infer.Config{Sampler: s, Chains: 1, Warmup: c.warmup, Draws: 30, Seed: 1})
		kernel := seen.byID[1]
		if m, k := kernel.Schedule(); m != c.m || k != c.k {
			t.Errorf("warm-up of %d: m = %d, k = %d, want %d, %d", c.warmup, m, k, c.m, c.k)
		}
		if got, want := len(kernel.Batches()), (max(c.warmup, 0)+30)/c.m; got != want {
			t.Errorf("warm-up of %d: %d batches, want %d", c.warmup, got, want)
		}
		if n := report.Chains[0].Warmup.Transitions; n != max(c.warmup, 0) {
			t.Errorf("warm-up of %d has %d transitions", c.warmup, n)
		}
		if kernel.Batches()[0].StepSize != 0.1 || kernel.Batches()[0].Steps != 1 {
			t.Errorf("the first setting is %+v", kernel.Batches()[0])
		}
	}
}

// foundBox runs a chain until tuning begins and returns its box.
func foundBox(t *testing.T, target infer.LogDensity, config infer.Config) (box ahmc.Box) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := config.Sampler.(ahmc.Sampler)
	s.Watch = func(_ int, k *ahmc.Kernel) {
		box = k.Box()
		cancel()
	}
	config.Sampler, config.Chains = s, 1
	for _, err := range infer.Run(ctx, target, config) {
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	return box
}

// TestBox checks that the automatic box suits targets of very different scales.
func TestBox(t *testing.T) {
	diagonal := func(sd ...float64) *infertest.Normal {
		l := make([][]float64, len(sd))
		for i := range l {
			l[i] = make([]float64, len(sd))
			l[i][i] = sd[i]
		}
		return infertest.NewNormal(make([]float64, len(sd)), l)
	}
	many := make([]float64, 100)
	for i := range many {
		many[i] = 1e-4
	}
	for _, c := range []struct {
		name             string
		target           infer.LogDensity
		narrow, wide     float64 // standard deviations along principal axes
		metric           infer.MetricKind
		leastSteps, most int
	}{
		{"one", diagonal(1), 1, 1, "", 10, 10},
		{"tiny", diagonal(1e-8), 1e-8, 1e-8, "", 10, 10},
		{"huge", diagonal(1e6, 2e6), 1e6, 2e6, "", 10, 20},
		{"ratio 30", diagonal(1e-3, 3e-2, 1e-2), 1e-3, 3e-2, "", 50, 250},
		{"ratio 1e5", diagonal(1e-2, 1e3), 1e-2, 1e3, "", 512, 512},
		{"ratio 1e5, metric learnt", diagonal(1e-2, 1e3), 1, 1, infer.Diagonal, 10, 80},
		{"a hundred", diagonal(many...), 1e-4, 1e-4, "", 10, 20},
		{"correlated", infertest.AR1(2, 0.99), 0.1, 1.41, "", 20, 100},
		{"correlated, metric learnt", infertest.AR1(2, 0.99), 1, 1, infer.Dense, 10, 80},
	} {
		for seed := range uint64(3) {
			box := foundBox(t, c.target, infer.Config{Sampler: ahmc.Sampler{Metric: c.metric}, Seed: seed, Init: infer.Uniform{Radius: c.narrow}})
			if box.MaxStepSize < 0.5*c.narrow || box.MaxStepSize > 2.5*c.narrow || math.Abs(box.MinStepSize*20/box.MaxStepSize-1) > 1e-12 {
				t.Errorf("%s: step sizes %+v for a narrowest scale of %v", c.name, box, c.narrow)
			}
			if box.MinSteps != 1 || box.MaxSteps < c.leastSteps || box.MaxSteps > c.most {
				t.Errorf("%s: steps %+v, want %d to %d", c.name, box, c.leastSteps, c.most)
			}
		}
	}
	// Given bounds are not changed.
	for _, given := range []ahmc.Box{
		{MaxStepSize: 0.3}, {MaxSteps: 17}, {MinStepSize: 1e-3}, {MinSteps: 30}, {MinStepSize: 100}, {0.1, 0.2, 3, 4},
	} {
		b := foundBox(t, infertest.AR1(2, 0.9), infer.Config{Sampler: ahmc.Sampler{Box: given}})
		if given.MinStepSize > 0 && b.MinStepSize != given.MinStepSize || given.MaxStepSize > 0 && b.MaxStepSize != given.MaxStepSize ||
			given.MinSteps > 0 && b.MinSteps != given.MinSteps || given.MaxSteps > 0 && b.MaxSteps != given.MaxSteps ||
			!(0 < b.MinStepSize && b.MinStepSize <= b.MaxStepSize && 0 < b.MinSteps && b.MinSteps <= b.MaxSteps) {
			t.Errorf("given %+v, found %+v", given, b)
		}
	}
}

// efficiency returns the effective sample size per gradient of static HMC with a setting: the
// smaller one of the two coordinates.
func efficiency(t *testing.T, target infer.LogDensity, stepSize float64, steps int) float64 {
	t.Helper()
	h, err := hmc.NewEuclidean(target, infer.Metric{})
	if err != nil {
		t.Fatal(err)
	}
	rng := infer.Stream(9, 1, "efficiency", 0)
	k := &hmc.Kernel{Steps: steps}
	z := infer.NewPoint(target.Dim())
	if err := h.Reset(z); err != nil {
		t.Fatal(err)
	}
	x := make([][]float64, target.Dim())
	leapfrogs := 0
	for range 20000 {
		var info infer.Info
		if z, info, err = k.Transition(rng, h, stepSize, z); err != nil {
			t.Fatal(err)
		}
		leapfrogs += info.Leapfrogs
		for i, v := range z.Position {
			x[i] = append(x[i], v)
		}
	}
	least := math.Inf(1)
	for _, v := range x {
		_, ess := diagnose.InitialMonotoneESS(v)
		least = min(least, ess)
	}
	return least / float64(leapfrogs)
}

// TestFigure1 uses the bivariate normal of correlation 0.99. The tuner chooses its own boxes. It
// must settle at settings at least as good as the best of the three in the paper, up to Monte Carlo
// error.
func TestFigure1(t *testing.T) {
	target := infertest.AR1(2, 0.99)
	best := 0.0
	for _, c := range []struct {
		stepSize float64
		steps    int
	}{{0.16, 40}, {0.16, 50}, {0.15, 50}} {
		e := efficiency(t, target, c.stepSize, c.steps)
		t.Logf("(%v, %d): %.4f", c.stepSize, c.steps, e)
		best = max(best, e)
	}
	var total float64
	const chains = 6
	var seen kernels
	sample(t, target, infer.Config{Sampler: ahmc.Sampler{Freeze: true, Watch: seen.watch}, Chains: chains, Warmup: 5000, Draws: 1, Seed: 3})
	for id, kernel := range seen.byID {
		stepSize, steps := kernel.Setting()
		e := efficiency(t, target, stepSize, steps)
		t.Logf("chain %d: box %+v, setting (%.3f, %d): %.4f", id, kernel.Box(), stepSize, steps, e)
		if e < 0.75*best {
			t.Errorf("chain %d settles at (%v, %d) with %v, the paper's best has %v", id, stepSize, steps, e, best)
		}
		total += e / chains
	}
	if total < 0.98*best {
		t.Errorf("the settings found have %v on average, the paper's best %v", total, best)
	}
}

// TestFreeze checks that a frozen kernel draws no random numbers for adaptation. It must keep its
// setting, which is the maximum of the surface's mean.
func TestFreeze(t *testing.T) {
	var seen kernels
	s := ahmc.Sampler{Box: ahmc.Box{0.05, 1.5, 1, 20}, Freeze: true, Watch: seen.watch}
	_, report := sample(t, infertest.AR1(2, 0.5), infer.Config{Sampler: s, Chains: 2, Warmup: 300, Draws: 300})
	for id, kernel := range seen.byID {
		stepSize, steps := kernel.Setting()
		if len(kernel.Batches()) != 100 || kernel.Describe()["frozen"] != 1 {
			t.Errorf("%d batches after a warm-up of 100", len(kernel.Batches()))
		}
		surface := kernel.Surface()
		top := slices.MaxFunc(surface, func(a, b bayesopt.Belief) int {
			switch {
			case a.Mean < b.Mean:
				return -1
			case a.Mean > b.Mean:
				return 1
			}
			return 0
		})
		if top.Coordinates[0] != stepSize || int(top.Coordinates[1]) != steps {
			t.Errorf("frozen at (%v, %d), the mean is largest at %v", stepSize, steps, top.Coordinates)
		}
		if r := report.Chains[id-1]; r.StepSize != stepSize || r.Kernel["steps"] != float64(steps) {
			t.Errorf("the report has %v, %v", r.StepSize, r.Kernel)
		}
	}
}

// TestRadius checks that no draw lies outside a compact set, if there is one, and that the draws
// are those of the truncated density.
func TestRadius(t *testing.T) {
	x, _ := sample(t, infertest.AR1(1, 0), infer.Config{
		Sampler: ahmc.Sampler{Box: ahmc.Box{0.1, 1.5, 1, 5}, Radius: 1.2}, Chains: 4, Draws: 5000, Init: infer.Uniform{Radius: 1},
	})
	for _, chain := range x {
		for _, draw := range chain {
			if math.Abs(draw[0]) > 1.2 {
				t.Fatalf("a draw at %v", draw)
			}
		}
	}
	values := column(x, func(x []float64) float64 { return x[0] * x[0] })
	mean := 0.0
	for _, chain := range values {
		for _, v := range chain {
			mean += v / 20000
		}
	}
	// E x² of a normal truncated to (-a, a) is 1 - 2aφ(a)/(2Φ(a)-1).
	const a = 1.2
	want := 1 - 2*a*math.Exp(-a*a/2)/math.Sqrt(2*math.Pi)/math.Erf(a/math.Sqrt2)
	if mcse := diagnose.MCSEMean(values); math.Abs(mean-want) > 5*mcse {
		t.Errorf("E x² = %v ± %v, want %v", mean, mcse, want)
	}
}

// TestReproducible checks that the draws do not depend on the number of processors.
func TestReproducible(t *testing.T) {
	run := func() [][][]float64 {
		x, _ := sample(t, infertest.Banana{B: 0.3, Sigma: 2}, infer.Config{Sampler: ahmc.Sampler{Metric: infer.Diagonal}, Chains: 3, Warmup: 300, Draws: 100, Seed: 8})
		return x
	}
	want := run()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if got := run(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Error("the draws depend on GOMAXPROCS")
	}
}

// TestHamiltonian checks that any geometry can be used, as for the paper's ARMHMC.
func TestHamiltonian(t *testing.T) {
	target := infertest.AR1(3, 0.95)
	cov := make([]float64, 9)
	for i := range 3 {
		for j := range 3 {
			cov[3*i+j] = target.Cov(i, j)
		}
	}
	s := ahmc.Sampler{Hamiltonian: func(target *infer.Meter) (infer.Hamiltonian, error) {
		h, err := hmc.NewEuclidean(target, infer.Metric{Kind: infer.Dense, Dim: 3, Inverse: cov})
		return plain{h}, err
	}}
	x, report := sample(t, target, infer.Config{Sampler: s, Draws: 2000, Seed: 2})
	if ess := diagnose.ESSBulk(column(x, func(x []float64) float64 { return x[1] })); ess < 2000 {
		t.Errorf("ESS = %v with the right metric", ess)
	}
	if b := report.Chains[0].Kernel; b["max_step_size"] < 0.5 || b["max_step_size"] > 2.5 {
		t.Errorf("box %v", b)
	}
}

// plain is a Hamiltonian that is not recognised as Euclidean.
type plain struct{ infer.Hamiltonian }

func TestValidate(t *testing.T) {
	for _, bad := range []ahmc.Sampler{
		{Box: ahmc.Box{MinStepSize: 2, MaxStepSize: 1}}, {Box: ahmc.Box{MinSteps: 2, MaxSteps: 1}},
		{Box: ahmc.Box{MaxStepSize: math.NaN()}}, {Box: ahmc.Box{MaxSteps: -1}}, {Batches: -1}, {BatchLength: -1},
		{StepSizePoints: 1}, {StepsPoints: -2}, {Cost: 9}, {Cost: -1}, {MaxEnergyError: -1}, {Metric: "round"}, {Radius: -1},
	} {
		if bad.Validate() == nil {
			t.Errorf("took %+v", bad)
		}
		if _, err := infer.NewSession(infertest.AR1(2, 0), infer.Config{Sampler: bad}); err == nil {
			t.Errorf("a session took %+v", bad)
		}
	}
}

// TestOdd checks a model without parameters, and one with a flat density.
func TestOdd(t *testing.T) {
	x, _ := sample(t, infertest.Logistic{}, infer.Config{Sampler: ahmc.Sampler{}, Chains: 1, Warmup: 100, Draws: 10})
	if len(x[0]) != 10 {
		t.Errorf("%d draws", len(x[0]))
	}
	session, err := infer.NewSession(flat{}, infer.Config{Sampler: ahmc.Sampler{}, Chains: 1})
	if err != nil {
		t.Fatal(err)
	}
	failed := false
	for _, err := range session.Draws(context.Background()) {
		failed = failed || err != nil
	}
	if !failed {
		t.Error("an improper density was sampled")
	}
}

type flat struct{}

func (flat) Dim() int { return 1 }
func (flat) LogDensityGrad(_, grad []float64) (float64, error) {
	grad[0] = 0
	return 0, nil
}
