package fit_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/infer/riemann"
	"github.com/ppl-lang/ppl/infer/warmup"
	"github.com/ppl-lang/ppl/model"
)

// TestTooManyParameters checks that draws and square matrices too large for the memory are refused
// before they are allocated, since this would end the process.
func TestTooManyParameters(t *testing.T) {
	m, err := model.Compile("many", "parameters { vector[300000] x; } model { x ~ std_normal(); }")
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.BindContext(t.Context(), nil, model.BindOptions{Memory: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	ctx, rng, x := context.Background(), rand.New(rand.NewPCG(1, 1)), make([]float64, p.Dim())
	sample := func(s infer.Sampler, draws int) error {
		_, err := fit.Sample(ctx, p, fit.Options{Sampler: s, Chains: 1, Warmup: 1, Draws: draws})
		return err
	}
	maximize := func(a optimize.Algorithm) error {
		_, err := optimize.Maximize(ctx, p, x, optimize.Options{Algorithm: a})
		return err
	}
	dense := warmup.Options{Metric: infer.Dense}
	for name, err := range map[string]error{
		"nuts":  sample(nuts.Sampler{Adapt: dense}, 1),
		"hmc":   sample(hmc.Sampler{Adapt: dense}, 1),
		"ahmc":  sample(ahmc.Sampler{Metric: infer.Dense}, 1),
		"auto":  sample(auto.Sampler{Metric: infer.Dense}, 1),
		"draws": sample(nuts.Sampler{}, 1000),
		"bfgs":  maximize(optimize.BFGS), "newton": maximize(optimize.Newton),
		"laplace": func() error {
			_, err := optimize.Laplace(ctx, p, x, rng, optimize.LaplaceOptions{})
			return err
		}(),
		"full rank": func() error {
			_, err := optimize.Variational(ctx, p, x, rng, optimize.VariationalOptions{Family: optimize.FullRank})
			return err
		}(),
		"metric": func() error {
			_, err := riemann.FromTarget(riemann.Fisher, p.Clone(), 0)
			return err
		}(),
	} {
		if err == nil || !strings.Contains(err.Error(), "allow for more memory") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if err := sample(nuts.Sampler{MaxDepth: 1}, 1); err != nil {
		t.Errorf("what fits was refused: %v", err)
	}
}
