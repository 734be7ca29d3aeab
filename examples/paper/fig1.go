package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// setting has the settings of HMC for one panel of Figure 1.
type setting struct {
	stepSize float64
	steps    int
}

var figure1Settings = []setting{{0.16, 40}, {0.16, 50}, {0.15, 50}}

// figure1Draws exceeds the paper's 1000 draws, of which only as many are plotted.
const figure1Draws, figure1Warmup, figure1Tuned = 20000, 5000, 10

// figure1 runs HMC on a bivariate normal with correlation 0.99, at three settings. Trajectories
// have a fixed length, with which the paper's figure must have been made, or a random length, as
// Algorithm 1 says. The tuner's own choice is shown too.
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
	var chains []chain
	for _, fixed := range []bool{true, false} {
		for i, s := range figure1Settings {
			chains = append(chains, chain{
				name:   fmt.Sprintf("fig1-%d-%v", i+1, fixed),
				target: target,
				sampler: hmc.Sampler{
					Kernel: hmc.Kernel{Steps: s.steps, FixedLength: fixed},
					Adapt:  warmup.Options{StepSize: s.stepSize, FixedStepSize: true, Metric: infer.Unit},
				},
				draws: figure1Draws, id: i + 1, seed: masterSeed, start: []float64{0, 0},
			})
		}
	}
	for i := range figure1Tuned {
		chains = append(chains, chain{
			name: fmt.Sprintf("fig1-tuned-%02d", i+1), target: target, sampler: ahmc.Sampler{Freeze: true, Cost: ahmc.CostDrawn},
			warmup: figure1Warmup, draws: figure1Draws, id: i + 1, seed: masterSeed,
		})
	}
	results, err := w.run(ctx, "figure 1", chains)
	if err != nil {
		return err
	}
	if len(complete(results)) < len(results) {
		return errors.New("not all chains are complete")
	}
	n := len(figure1Settings)
	fixed, random, tuned := results[:n], results[n:2*n], results[2*n:]
	if err := w.plotFigure1(figure1Settings, fixed, random); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Figure 1: HMC is sensitive to its settings\n\nA bivariate normal with correlation 0.99; %d draws from the mode. The figure shows %d of them.\n\n"+
		"![trajectories and autocorrelations](fig1.png)\n\n", figure1Draws, headDraws)
	t := table{head: []string{"step size", "L", "length", "acceptance", "lag-1 autocorrelation of x₁", "min ESS per gradient", "expected acceptance, lag-1", "verdict"}}
	perGradient := func(r *result) float64 { return least(r.Uncapped) / float64(r.Gradients) }
	best := map[string]float64{} // by length
	for i, r := range results[:2*n] {
		s := figure1Settings[i%n]
		length, expected, verdict := "random", "-", "-"
		if i < n {
			length = "fixed"
			e := paperFigure1[i]
			expected = fmt.Sprintf("%g, %g ± %g", e.accept, e.lag1, e.lag1Error)
			verdict = "refuted"
			if d := r.Correlation[1] - e.lag1; -e.lag1Error <= d && d <= e.lag1Error {
				verdict = "reproduced"
			}
		}
		best[length] = max(best[length], perGradient(r))
		t.add(short(s.stepSize), short(float64(s.steps)), length, short(r.AcceptStat), short(r.Correlation[1]), short(perGradient(r)), expected, verdict)
	}
	ratios := map[string]ratio{}
	for length, b := range best {
		ratios[length] = scaled(values(tuned, perGradient), b)
	}
	mean := func(f func(*result) float64) string { return short(summarise(values(tuned, f)).mean) }
	t.add(mean(func(r *result) float64 { return r.StepSize }), mean(func(r *result) float64 { return r.Steps }), "random, tuned",
		mean(func(r *result) float64 { return r.AcceptStat }), mean(func(r *result) float64 { return r.Correlation[1] }),
		summarise(values(tuned, perGradient)).String(), "twice the best of the three with fixed L", ratios["fixed"].surpasses())
	t.markdown(&b)
	fmt.Fprintf(&b, "The last row is AHMC with a box that it finds and the reward per gradient, %d chains of %d + %d transitions, frozen after\n"+
		"warm-up: %s times the best of the three with fixed lengths, %s times the best of the three with random lengths.\n",
		figure1Tuned, figure1Warmup, figure1Draws, ratios["fixed"], ratios["random"])
	return w.write("fig1.md", b.String())
}
