package examples

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/internal/short"
)

// expected is the content of an expected.json.
type expected struct {
	UnconstrainedNames []string `json:"unconstrained_names"`
	ConstrainedNames   []string `json:"constrained_names"`
	Points             []struct {
		X           []float64 `json:"x"`
		LogDensity  float64   `json:"log_density"`
		Gradient    []float64 `json:"gradient"`
		Full        float64   `json:"log_density_full"`
		NoJacobian  float64   `json:"log_density_full_no_jacobian"`
		Constrained []float64 `json:"constrained"`
	} `json:"points"`
	Draws   int `json:"draws"` // of Stan's run, over all chains
	Summary []struct {
		Name    string  `json:"name"`
		Mean    float64 `json:"mean"`
		SD      float64 `json:"sd"`
		ESSBulk float64 `json:"ess_bulk"`
	} `json:"summary"`
}

// names lists the examples: every folder with a model.
func names(t *testing.T) []string {
	models, err := filepath.Glob("*/*.model")
	if err != nil || len(models) == 0 {
		t.Fatal("no examples", err)
	}
	var out []string
	for _, m := range models {
		out = append(out, filepath.Dir(m))
	}
	return out
}

func load(t *testing.T, name string, o ppl.BindOptions) (*ppl.Posterior, expected) {
	t.Helper()
	model, err := ppl.CompileFile(filepath.Join(name, name+".model"))
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := model.BindContext(t.Context(), ppl.DataFile{Path: filepath.Join(name, name+".data.json")}, o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(name, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var e expected
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	return posterior, e
}

// tolerance is the relative error allowed for a number; for numbers below 1, the absolute error.
const tolerance = 1e-10

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s is %.17g, Stan's %.17g", what, got, want)
	}
}

// TestDensities compares names, log densities in three forms, gradients and constrained values with
// those of Stan at the recorded points.
func TestDensities(t *testing.T) {
	for _, name := range names(t) {
		t.Run(name, func(t *testing.T) {
			usual, e := load(t, name, ppl.BindOptions{})
			full, _ := load(t, name, ppl.BindOptions{NoPropto: true})
			plain, _ := load(t, name, ppl.BindOptions{NoPropto: true, NoJacobian: true})
			for i, n := range usual.UnconstrainedNames() {
				if n != e.UnconstrainedNames[i] {
					t.Errorf("unconstrained name %d is %s, Stan's %s", i, n, e.UnconstrainedNames[i])
				}
			}
			for i, n := range usual.ConstrainedNames() {
				if n != e.ConstrainedNames[i] {
					t.Errorf("constrained name %d is %s, Stan's %s", i, n, e.ConstrainedNames[i])
				}
			}
			if len(e.Points) < 6 {
				t.Fatalf("%d points", len(e.Points))
			}
			grad := make([]float64, usual.Dim())
			for _, p := range e.Points {
				lp, err := usual.LogDensityGrad(p.X, grad)
				if err != nil {
					t.Fatal(err)
				}
				near(t, "log density", lp, p.LogDensity)
				for i, g := range grad {
					near(t, "gradient of "+e.UnconstrainedNames[i], g, p.Gradient[i])
				}
				if lp, err = full.LogDensity(p.X); err != nil {
					t.Fatal(err)
				}
				near(t, "log density with all terms", lp, p.Full)
				if lp, err = plain.LogDensity(p.X); err != nil {
					t.Fatal(err)
				}
				near(t, "log density without Jacobian", lp, p.NoJacobian)
				values, err := usual.Constrain(p.X)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range values {
					near(t, e.ConstrainedNames[i], v, p.Constrained[i])
				}
			}
		})
	}
}

// TestAllocations checks that computing a gradient does not allocate.
func TestAllocations(t *testing.T) {
	for _, name := range names(t) {
		posterior, e := load(t, name, ppl.BindOptions{})
		grad := make([]float64, posterior.Dim())
		if n := testing.AllocsPerRun(20, func() {
			if _, err := posterior.LogDensityGrad(e.Points[5].X, grad); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations per gradient", name, n)
		}
	}
}

// runs lists what TestPosteriors samples: every example by NUTS, and one also by static HMC.
var runs = []struct {
	example string
	options ppl.Options
}{
	{"eight_schools", ppl.Options{Seed: 11, Draws: 2000, Sampler: nuts.Sampler{}}},
	{"eight_schools", ppl.Options{Seed: 12, Draws: 4000, Sampler: hmc.Sampler{}}},
	{"garch", ppl.Options{Seed: 13, Sampler: nuts.Sampler{}}},
	{"hierarchical_regression", ppl.Options{Seed: 14, Sampler: nuts.Sampler{}}},
	{"logistic_regression", ppl.Options{Seed: 15, Sampler: nuts.Sampler{}}},
	{"normal_mixture", ppl.Options{Seed: 16, Sampler: nuts.Sampler{}}},
	{"stochastic_volatility", ppl.Options{Seed: 17, Sampler: nuts.Sampler{}}},
}

// TestPosteriors compares posterior means and standard deviations with those of Stan's long runs.
// Seeds are fixed. With random seeds, the test would fail by chance once in a million runs: the
// maximum difference, in Monte Carlo standard errors, is the normal quantile at 1e-6 over the
// number of comparisons.
func TestPosteriors(t *testing.T) {
	short.Skip(t, "it samples six posteriors")
	comparisons := 0
	for _, r := range runs {
		_, e := load(t, r.example, ppl.BindOptions{})
		comparisons += 2 * len(e.Summary)
	}
	threshold := twoSided(1e-6 / float64(comparisons))
	t.Logf("%d comparisons, threshold %.2f standard errors", comparisons, threshold)
	for _, r := range runs {
		t.Run(r.example, func(t *testing.T) {
			t.Parallel()
			posterior, e := load(t, r.example, ppl.BindOptions{})
			fit, err := ppl.Sample(t.Context(), posterior, r.options)
			if err != nil {
				t.Fatal(err)
			}
			rows := map[string]diagnose.Row{}
			for i, row := range fit.Summary() {
				rows[fit.Names()[i]] = row
			}
			worst := 0.0
			for _, s := range e.Summary {
				row, ok := rows[s.Name]
				if !ok {
					t.Fatalf("no quantity %s", s.Name)
				}
				if s.SD == 0 { // constant by construction
					continue
				}
				if row.Rhat > 1.05 {
					t.Errorf("%s: R-hat %.3f", s.Name, row.Rhat)
				}
				// The squared standard error of an estimate is the variance of a draw over the
				// effective sample size. For second moments this size differs from that for means,
				// and is much smaller if draws alternate. Stan's runs are assumed to have the same
				// ratio of effective sample size to draws.
				chains := byChain(fit, s.Name)
				seMean := s.SD * math.Sqrt(1/row.ESSBulk+1/s.ESSBulk)
				share := float64(len(chains)*len(chains[0])) / float64(e.Draws)
				seSD := diagnose.MCSESD(chains) * math.Sqrt(1+share)
				zMean, zSD := (row.Mean-s.Mean)/seMean, (row.SD-s.SD)/seSD
				worst = max(worst, math.Abs(zMean), math.Abs(zSD))
				if math.Abs(zMean) > threshold {
					t.Errorf("%s: mean %.5g, Stan's %.5g: %.1f standard errors", s.Name, row.Mean, s.Mean, zMean)
				}
				if math.Abs(zSD) > threshold {
					t.Errorf("%s: sd %.5g, Stan's %.5g: %.1f standard errors", s.Name, row.SD, s.SD, zSD)
				}
			}
			t.Logf("largest deviation %.2f standard errors", worst)
		})
	}
}

// twoSided returns the z that a standard normal variable exceeds in absolute value with probability
// p.
func twoSided(p float64) float64 {
	lo, hi := 0.0, 20.0
	for range 100 {
		mid := (lo + hi) / 2
		if math.Erfc(mid/math.Sqrt2) > p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// byChain returns the draws of a quantity, one slice per chain.
func byChain(fit *ppl.Fit, name string) [][]float64 {
	q, err := fit.Quantity(name)
	if err != nil {
		panic(err) // the test has taken the name from the fit
	}
	return q.Chains
}
