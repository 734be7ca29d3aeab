package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// figure1: HMC on a bivariate normal with correlation 0.99, at three settings,
// with trajectories of fixed length (as the figure must have been made) and of
// random length (as Algorithm 1 says), and the tuner's own choice.
func figure1(ctx context.Context, w *workshop) error {
	text, err := models.ReadFile("models/normal.model")
	if err != nil {
		return err
	}
	model, err := ppl.Compile("normal.model", string(text))
	if err != nil {
		return err
	}
	target, err := model.Bind(map[string]any{"rho": 0.99})
	if err != nil {
		return err
	}
	settings := []struct {
		stepSize float64
		steps    int
	}{{0.16, 40}, {0.16, 50}, {0.15, 50}}
	var chains []chain
	for _, fixed := range []bool{true, false} {
		for i, s := range settings {
			chains = append(chains, chain{
				name:   fmt.Sprintf("fig1-%d-%v", i, fixed),
				target: target,
				sampler: hmc.Sampler{
					Kernel: hmc.Kernel{Steps: s.steps, FixedLength: fixed},
					Adapt:  warmup.Options{StepSize: s.stepSize, FixedStepSize: true, Metric: infer.Unit},
				},
				draws: 20000, id: i + 1, seed: masterSeed, start: []float64{0, 0},
			})
		}
	}
	chains = append(chains, chain{
		name: "fig1-tuned", target: target, sampler: ahmc.Sampler{Freeze: true},
		warmup: 5000, draws: 20000, id: 1, seed: masterSeed,
	})
	results, err := w.run(ctx, "figure 1", chains)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# Figure 1\n\nHMC on a bivariate normal with correlation 0.99, 20000 draws. The study's figures for\n" +
		"fixed lengths: lag-1 autocorrelation 0.18, 0.87, 0.58 and acceptance 0.70, 0.68, 0.996.\n\n")
	t := table{head: []string{"step size", "L", "length", "acceptance", "lag-1 autocorrelation", "min ESS", "min ESS per gradient"}}
	for i, r := range results {
		length, eps, steps := "fixed", r.StepSize, r.Steps
		if i < 6 {
			eps, steps = settings[i%3].stepSize, float64(settings[i%3].steps)
		}
		if i >= 3 {
			length = "random"
		}
		if i == 6 {
			length = "random, tuned"
		}
		t.add(short(eps), short(steps), length, short(r.AcceptStat), short(r.Lag1), short(least(r.Uncapped)), short(least(r.Uncapped)/float64(r.Gradients)))
	}
	t.markdown(&b)
	return os.WriteFile(filepath.Join(w.out, "fig1.md"), []byte(b.String()), 0o666)
}
