package warmup_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// stanWindows implements Stan's windowed adaptation iteration by iteration, as its documentation
// describes it, for comparison with Schedule.
func stanWindows(n, start, base, end int) (ends []int) {
	size, next := base, start+base-1
	for i := range n {
		if i != next {
			continue
		}
		ends = append(ends, i)
		if next == n-end-1 {
			continue
		}
		size *= 2
		next = i + size
		if next != n-end-1 && next+2*size >= n-end {
			next = n - end - 1
		}
	}
	return ends
}

func TestScheduleIsStans(t *testing.T) {
	for n := 150; n < 3000; n++ {
		windows, start, _ := warmup.Schedule(n, 75, 25, 50)
		var ends []int
		at := start
		for _, w := range windows {
			at += w
			ends = append(ends, at-1)
		}
		if want := stanWindows(n, 75, 25, 50); !slices.Equal(ends, want) {
			t.Fatalf("warm-up of %d: windows end at %v, Stan's at %v", n, ends, want)
		}
	}
}

func TestSchedule(t *testing.T) {
	for _, c := range []struct {
		n, start, base, end int
		windows             []int
		wantStart, wantEnd  int
	}{
		{1000, 75, 25, 50, []int{25, 50, 100, 200, 500}, 75, 50},
		{150, 75, 25, 50, []int{25}, 75, 50},
		{149, 75, 25, 50, []int{113}, 22, 14},
		{100, 75, 25, 50, []int{75}, 15, 10},
		{20, 75, 25, 50, []int{15}, 3, 2},
		{19, 75, 25, 50, nil, 19, 0},
		{0, 75, 25, 50, nil, 0, 0},
		{300, 0, 100, 0, []int{100, 200}, 0, 0},
	} {
		windows, start, end := warmup.Schedule(c.n, c.start, c.base, c.end)
		if !slices.Equal(windows, c.windows) || start != c.wantStart || end != c.wantEnd {
			t.Errorf("Schedule(%d, %d, %d, %d) = %v, %d, %d; want %v, %d, %d", c.n, c.start, c.base, c.end, windows, start, end, c.windows, c.wantStart, c.wantEnd)
		}
	}
}

// TestStagesAddUp checks that the stages make exactly the requested number of transitions.
func TestStagesAddUp(t *testing.T) {
	for _, o := range []warmup.Options{{}, {Metric: infer.Unit}, {Metric: infer.Dense}, {Metric: infer.LowRank}, {FixedMetric: true}, {FixedStepSize: true}, {StartBuffer: -1, EndBuffer: -1}} {
		for _, n := range []int{0, 1, 19, 20, 149, 150, 151, 160, 1000, 1234} {
			total := 0
			for _, s := range o.Stages(n) {
				if w, ok := s.(warmup.Window); ok {
					total += w.Length
				}
			}
			if total != n {
				t.Errorf("%+v: %d transitions instead of %d", o, total, n)
			}
		}
	}
}

// TestDualAveragingConverges checks that dual averaging finds the step size for a given mean
// acceptance from noisy observations.
func TestDualAveragingConverges(t *testing.T) {
	rng := infer.Stream(1, 0, "averaging", 0)
	for _, delta := range []float64{0.6, 0.8, 0.95} {
		for _, scale := range []float64{1e-3, 1, 1e3} {
			// Acceptance 2 Φ(-eps/scale) on average, as for a normal target.
			accept := func(eps float64) float64 { return math.Erfc(eps / scale / math.Sqrt2) }
			d := warmup.NewDualAveraging(warmup.Averaging{Delta: delta}, scale)
			eps := scale
			for range 2000 {
				a := accept(eps)
				// Beta-like noise within [0, 1] with that mean.
				if noise := rng.Float64(); noise < 0.5 {
					a = a * a
				} else {
					a = a * (2 - a)
				}
				eps = d.Update(a)
			}
			if got := accept(d.Final()); math.Abs(got-delta) > 0.02 {
				t.Errorf("scale %g: mean acceptance %v at the final step size, target %v", scale, got, delta)
			}
		}
	}
	if got := warmup.NewDualAveraging(warmup.Averaging{}, 0.3).Final(); got != 0.3 {
		t.Errorf("without updates the step size is %v", got)
	}
}

// run executes the stages of warm-up directly, and then n transitions. It returns the state and the
// mean acceptance statistic after warm-up.
func run(t *testing.T, target infer.LogDensity, s infer.Sampler, warm, n int, seed uint64) (*infer.State, float64) {
	t.Helper()
	meter := infer.NewMeter(target)
	plan, err := s.Plan(meter, warm)
	if err != nil {
		t.Fatal(err)
	}
	state, err := infer.NewState(plan, meter, infer.Stream(seed, 1, t.Name(), 0), make([]float64, target.Dim()))
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range plan.Stages {
		if err := stage.Run(context.Background(), state); err != nil {
			t.Fatal(err)
		}
	}
	if state.Iteration != warm {
		t.Errorf("warm-up made %d transitions instead of %d", state.Iteration, warm)
	}
	sum := 0.0
	for range n {
		info, err := state.Advance()
		if err != nil {
			t.Fatal(err)
		}
		sum += info.AcceptStat
	}
	return state, sum / float64(n)
}

// TestAcceptanceReachesTarget checks that the mean acceptance after warm-up is near its target, for
// both kernels and all metrics, if there are enough transitions to average over. With Stan's 50 it
// is too high, because the averaged logarithms of noisy step sizes favour small ones.
func TestAcceptanceReachesTarget(t *testing.T) {
	target := infertest.NewNormal(make([]float64, 4), [][]float64{{10, 0, 0, 0}, {0.05, 0.1, 0, 0}, {0.5, 0, 1, 0}, {0, 0, 0, 0.1}})
	for _, kind := range []infer.MetricKind{infer.Unit, infer.Diagonal, infer.Dense} {
		for _, delta := range []float64{0.7, 0.8, 0.9} {
			adapt := warmup.Options{Metric: kind, Averaging: warmup.Averaging{Delta: delta}}
			for _, end := range []int{50, 3000} {
				adapt.EndBuffer = end
				for name, s := range map[string]infer.Sampler{"nuts": nuts.Sampler{Adapt: adapt}, "hmc": hmc.Sampler{Adapt: adapt}} {
					_, got := run(t, target, s, 950+end, 500, 1) // with seeds 3 and 4 one of 36 is past the bound by 0.001
					above := 0.22
					if end > 50 {
						above = 0.06
					}
					if got < delta-0.06 || got > delta+above {
						t.Errorf("%s, %s, last %d: mean acceptance %.3f, target %v", name, kind, end, got, delta)
					}
				}
			}
		}
	}
}

// TestMetricIsLearnt checks that the learnt metric is the covariance.
func TestMetricIsLearnt(t *testing.T) {
	target := infertest.NewNormal(make([]float64, 3), [][]float64{{5, 0, 0}, {0.4, 0.3, 0}, {0.5, 0.5, 1}})
	state, _ := run(t, target, nuts.Sampler{Adapt: warmup.Options{Metric: infer.Dense}}, 3000, 1, 4)
	m := state.Hamiltonian.(infer.Euclidean).Metric()
	for i := range 3 {
		for j := range 3 {
			scale := math.Sqrt(target.Cov(i, i) * target.Cov(j, j))
			if d := (m.Inverse[i*3+j] - target.Cov(i, j)) / scale; math.Abs(d) > 0.15 {
				t.Errorf("dense: element (%d, %d) is %v, the covariance %v", i, j, m.Inverse[i*3+j], target.Cov(i, j))
			}
		}
	}
	state, _ = run(t, target, nuts.Sampler{}, 3000, 1, 4)
	m = state.Hamiltonian.(infer.Euclidean).Metric()
	for i, v := range m.Inverse {
		if d := v/target.Cov(i, i) - 1; math.Abs(d) > 0.3 {
			t.Errorf("diagonal: element %d is %v, the variance %v", i, v, target.Cov(i, i))
		}
	}
	if state.StepSize < 0.1 || state.StepSize > 1.5 {
		t.Errorf("step size %v", state.StepSize)
	}
}

// walk is a kernel that visits given positions.
type walk struct {
	xs [][]float64
	i  int
}

func (w *walk) Transition(_ *rand.Rand, h infer.Hamiltonian, _ float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	copy(z.Position, w.xs[w.i])
	w.i++
	return z, infer.Info{Stats: infer.Stats{AcceptStat: 0.5}}, h.Reset(z)
}

// TestEstimates checks that the estimates are the usual ones, regularised as in Stan.
func TestEstimates(t *testing.T) {
	rng := infer.Stream(5, 0, "estimates", 0)
	const n, skip, dim = 30, 4, 3
	xs := make([][]float64, n)
	for i := range xs {
		xs[i] = make([]float64, dim)
		for j := range xs[i] {
			xs[i][j] = 1000 + rng.NormFloat64()*float64(j+1)
		}
	}
	used := xs[skip:]
	cov := func(a, b int) (c float64) {
		var ma, mb float64
		for _, x := range used {
			ma += x[a] / float64(len(used))
			mb += x[b] / float64(len(used))
		}
		for _, x := range used {
			c += (x[a] - ma) * (x[b] - mb) / float64(len(used)-1)
		}
		return c
	}
	for _, kind := range []infer.MetricKind{infer.Diagonal, infer.Dense} {
		meter := infer.NewMeter(infertest.AR1(dim, 0))
		h, err := hmc.NewEuclidean(meter, infer.Metric{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := infer.NewState(infer.Plan{Hamiltonian: h, Kernel: &walk{xs: xs}, StepSize: 1}, meter, rng, xs[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := (warmup.Window{Length: n, Skip: skip, Learn: kind, FixedStepSize: true}).Run(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		m := h.Metric()
		if m.Kind != kind || s.StepSize != 1 {
			t.Fatalf("metric %s, step size %v", m.Kind, s.StepSize)
		}
		k := float64(len(used))
		for i := range dim {
			for j := range dim {
				want := k / (k + 5) * cov(i, j)
				if i == j {
					want += 1e-3 * 5 / (k + 5)
				}
				got := m.Inverse[min(i, len(m.Inverse)-1)]
				if kind == infer.Dense {
					got = m.Inverse[i*dim+j]
				} else if i != j {
					continue
				}
				if math.Abs(got-want) > 1e-9 {
					t.Errorf("%s: element (%d, %d) is %v instead of %v", kind, i, j, got, want)
				}
			}
		}
	}
}

// slope is an improper target: exp(a x) on the whole line.
type slope struct{ a float64 }

func (slope) Dim() int { return 1 }
func (s slope) LogDensityGrad(x, grad []float64) (float64, error) {
	grad[0] = s.a
	return s.a * x[0], nil
}

// cliff is a log density that is finite only at zero.
type cliff struct{}

func (cliff) Dim() int { return 1 }
func (cliff) LogDensityGrad(x, grad []float64) (float64, error) {
	grad[0] = 1
	if x[0] != 0 {
		return math.Inf(-1), nil
	}
	return 0, nil
}

func TestSearch(t *testing.T) {
	search := func(target infer.LogDensity, eps float64) (float64, error) {
		meter := infer.NewMeter(target)
		h, err := hmc.NewEuclidean(meter, infer.Metric{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := infer.NewState(infer.Plan{Hamiltonian: h, Kernel: &hmc.Kernel{}, StepSize: eps}, meter, infer.Stream(6, 0, "search", 0), make([]float64, target.Dim()))
		if err != nil {
			t.Fatal(err)
		}
		err = warmup.Search{}.Run(context.Background(), s)
		return s.StepSize, err
	}
	for _, sd := range []float64{1e-6, 1, 1e4} {
		target := infertest.NewNormal([]float64{0}, [][]float64{{sd}})
		for _, eps := range []float64{1e-3 * sd, sd, 1e3 * sd} {
			got, err := search(target, eps)
			if err != nil || got < 0.05*sd || got > 50*sd {
				t.Errorf("scale %v, from %v: step size %v, error %v", sd, eps, got, err)
			}
		}
	}
	if _, err := search(slope{0}, 1); err == nil || !strings.Contains(err.Error(), "improper") {
		t.Errorf("flat density: %v", err)
	}
	if _, err := search(cliff{}, 1); err == nil || !strings.Contains(err.Error(), "discontinuous") {
		t.Errorf("density in a point: %v", err)
	}
	if got, err := search(infertest.Logistic{}, 0.7); err != nil || got != 0.7 {
		t.Errorf("no dimensions: %v, %v", got, err)
	}
}

func TestOverflowIsExplained(t *testing.T) {
	xs := [][]float64{{1e200}, {-1e200}, {1e200}}
	meter := infer.NewMeter(slope{})
	h, err := hmc.NewEuclidean(meter, infer.Metric{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := infer.NewState(infer.Plan{Hamiltonian: h, Kernel: &walk{xs: xs}, StepSize: 1}, meter, infer.Stream(0, 0, "", 0), xs[0])
	if err != nil {
		t.Fatal(err)
	}
	err = warmup.Window{Length: 3, Learn: infer.Diagonal}.Run(context.Background(), s)
	if err == nil || !strings.Contains(err.Error(), "overflows") {
		t.Errorf("got %v", err)
	}
}

func TestOptionsValidate(t *testing.T) {
	for _, o := range []warmup.Options{
		{StepSize: -1}, {StepSize: math.Inf(1)}, {StepSize: math.NaN()},
		{Averaging: warmup.Averaging{Delta: 1}}, {Averaging: warmup.Averaging{Delta: -0.1}},
		{Averaging: warmup.Averaging{Gamma: -1}}, {Averaging: warmup.Averaging{Kappa: -1}}, {Averaging: warmup.Averaging{T0: -1}},
		{Metric: "banana"},
	} {
		if o.Validate() == nil {
			t.Errorf("%+v passes", o)
		}
		if _, err := (nuts.Sampler{Adapt: o}).Plan(infer.NewMeter(slope{}), 10); err == nil {
			t.Errorf("nuts: %+v passes", o)
		}
	}
	if err := (warmup.Options{}).Validate(); err != nil {
		t.Error(err)
	}
}

// TestStagesPassOnErrors checks that a stage returns an error that ends the chain.
func TestStagesPassOnErrors(t *testing.T) {
	meter := infer.NewMeter(&dying{after: 40})
	plan, err := nuts.Sampler{}.Plan(meter, 100)
	if err != nil {
		t.Fatal(err)
	}
	s, err := infer.NewState(plan, meter, infer.Stream(7, 0, "", 0), []float64{0})
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range plan.Stages {
		if err = stage.Run(context.Background(), s); err != nil {
			break
		}
	}
	if !errors.Is(err, infer.ErrFatal) {
		t.Errorf("got %v", err)
	}
}

type dying struct{ after int }

func (*dying) Dim() int { return 1 }
func (d *dying) LogDensityGrad(x, grad []float64) (float64, error) {
	if d.after--; d.after < 0 {
		return 0, fmt.Errorf("no more: %w", infer.ErrFatal)
	}
	grad[0] = -x[0]
	return -0.5 * x[0] * x[0], nil
}
