package fit_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/riemann"
	"github.com/ppl-lang/ppl/model"
)

// This example runs RMHMC with the expected Fisher information, which is derived from the text of
// the model.
func ExamplePosterior_Compiled() {
	model, err := model.Compile("regression.model", `
		data { int N; vector[N] x; array[N] int<lower=0, upper=1> y; }
		parameters { real a, b; }
		model { a ~ normal(0, 2); b ~ normal(0, 2); y ~ bernoulli_logit(a + b * x); }`)
	if err != nil {
		log.Fatal(err)
	}
	posterior, err := model.Bind(map[string]any{"N": 4, "x": []float64{-1, 0, 1, 2}, "y": []int{0, 1, 0, 1}})
	if err != nil {
		log.Fatal(err)
	}
	g := make([]float64, 4)
	if err := posterior.Compiled().FisherMetric([]float64{0, 0}, g); err != nil { // Σ (1, x)(1, x)ᵀ/4 + 1/4
		log.Fatal(err)
	}
	fmt.Println(g)

	fisher := func(target *infer.Meter) (riemann.Metric, error) {
		return riemann.FromTarget(riemann.Fisher, target, 0)
	}
	fit, err := fit.Sample(context.Background(), posterior, fit.Options{
		Sampler: hmc.Sampler{Hamiltonian: riemann.Options{}.Hamiltonian(fisher)},
		Chains:  2,
		Warmup:  100,
		Draws:   200,
		Seed:    1,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range fit.Summary() {
		fmt.Println(row.Name, row.Rhat < 1.05)
	}
	// Output:
	// [1.25 0.5 0.5 1.75]
	// a true
	// b true
}

// exact is a model whose posterior can be drawn from exactly.
type exact struct {
	infer.LogDensity
	posterior *model.Posterior
	name      string
	sample    func(rng *rand.Rand, x []float64)
	uniforms  func(x, u []float64)
}

func (e exact) String() string                         { return e.name }
func (e exact) Sample(rng *rand.Rand, x []float64)     { e.sample(rng, x) }
func (e exact) Uniforms(x, u []float64)                { e.uniforms(x, u) }
func (e exact) CloneDensity() infer.LogDensity         { return e.posterior.CloneDensity() }
func phi(x float64) float64                            { return 0.5 * math.Erfc(-x/math.Sqrt2) }
func bound(t *testing.T, text string) *model.Posterior { return boundTo(t, text, nil) }

func boundTo(t *testing.T, text string, data any) *model.Posterior {
	t.Helper()
	m, err := model.Compile("m.model", text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestInvariance checks that kernels with metrics from the model's text leave the target
// distribution invariant, even with steps so large that some fail.
func TestInvariance(t *testing.T) {
	banana := bound(t, `functions { matrix metric(vector x) { return [[1 + square(x[1]), 0.3 * x[1]], [0.3 * x[1], 1]]; } }
		parameters { vector[2] x; } model { x[1] ~ normal(0, 1); x[2] ~ normal(0.4 * (square(x[1]) - 1), 1); }`)
	scale := bound(t, `parameters { real<lower=0> s; vector[2] z; } model { s ~ gamma(3, 1); target += normal_lupdf(z | 0, s); }`)
	b := infertest.Banana{B: 0.4, Sigma: 1}
	targets := map[string]exact{
		"banana": {banana, banana, "banana", b.Sample, b.Uniforms},
		"scale": {scale, scale, "scale", func(rng *rand.Rand, x []float64) {
			s := rng.ExpFloat64() + rng.ExpFloat64() + rng.ExpFloat64()
			x[0], x[1], x[2] = math.Log(s), s*rng.NormFloat64(), s*rng.NormFloat64()
		}, func(x, u []float64) {
			s := math.Exp(x[0])
			u[0], u[1], u[2] = 1-math.Exp(-s)*(1+s+s*s/2), phi(x[1]/s), phi(x[2]/s)
		}},
	}
	for _, c := range []struct {
		target string
		kind   riemann.Kind
		kernel string
		eps    float64
	}{
		{"banana", riemann.Fisher, "nuts", 0.7}, {"banana", riemann.User, "hmc", 0.7},
		{"scale", riemann.Fisher, "hmc", 0.8}, {"scale", riemann.Fisher, "nuts", 0.8},
	} {
		res, err := infertest.Invariance{
			Target: targets[c.target], StepSize: c.eps, Seed: 5, Replicates: 1500, Transitions: 2,
			Kernel: func() infer.Kernel {
				if c.kernel == "hmc" {
					return &hmc.Kernel{Steps: 3}
				}
				return &nuts.Kernel{MaxDepth: 2}
			},
			Hamiltonian: func(target infer.LogDensity) (infer.Hamiltonian, error) {
				m, err := riemann.FromTarget(c.kind, target, 0)
				if err != nil {
					return nil, err
				}
				return riemann.New(target, m, riemann.Options{Tolerance: 1e-5, ReturnTolerance: 1e-3, Iterations: 15})
			},
		}.Run()
		if err == nil {
			err = res.Err()
		}
		if err != nil || res.AcceptStat < 0.3 || res.AcceptStat > 0.96 {
			t.Errorf("%s, %s, %s: %v, mean acceptance %.2f", c.target, c.kind, c.kernel, err, res.AcceptStat)
		}
		t.Logf("%s, %s, %s: acceptance %.2f, divergent %.3f", c.target, c.kind, c.kernel, res.AcceptStat, res.Divergent)
	}
}
