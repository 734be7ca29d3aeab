package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// The limits of plots of priors.
const (
	maxPriors     = 24 // quantities with a plot
	maxElements   = 12 // elements of a variable with plots
	maxGroups     = 5  // levels of a factor that make a variable one of groups
	priorDraws    = 4000
	widthOfPriors = 8 // maximum range of a plot, in ranges of the posterior
)

// priors shows the prior of each population parameter with its posterior.
func priors(w *work) []Figure {
	if !w.judged() {
		return nil
	}
	prior, err := assess.PopulationPriorOf(w.ctx, w.fit, priorDraws, maxGroups, maxElements, w.o.Seed, func(variable string) bool { return w.rank(variable) > 0 })
	if err != nil {
		if w.ctx.Err() == nil {
			w.note("No priors are shown: %v", err)
		}
		return nil
	}
	if prior.Reason != "" {
		w.note("No priors are shown: they cannot be drawn one after another, because %s. The command ppl prior samples them.", prior.Reason)
	}
	for _, reason := range prior.Undrawn {
		w.note("A prior is not shown: %s.", reason)
	}
	if len(prior.Unsettled) > 0 {
		w.note("Priors are not shown whose sampling did not converge, as of a parameter without a prior: %s.", strings.Join(prior.Unsettled, ", "))
	}
	if len(prior.Large) > 0 {
		w.note("Priors of variables with more than %d elements are not shown: %s.", maxElements, strings.Join(prior.Large, ", "))
	}
	var out []Figure
	left := 0
	for _, q := range prior.Quantities {
		if w.rows[q.Index].SD == 0 || w.mirrored(w.names[q.Index]) {
			continue
		}
		if len(out) == maxPriors {
			left++
		} else if f, ok := w.prior(&q); ok {
			out = append(out, f)
		}
	}
	if left > 0 {
		w.note("The priors of %d more parameters are not shown.", left)
	}
	return out
}

// prior shows the prior and the posterior of a quantity, where most of the posterior is.
func (w *work) prior(p *assess.PriorQuantity) (f Figure, ok bool) {
	i := p.Index
	var posterior []float64
	for _, chain := range w.level {
		posterior = append(posterior, w.fit.Draws.Column(nil, chain, i)[:w.length]...)
	}
	prior, posterior := finite(p.Draws), finite(posterior)
	if len(prior) < 2 || len(posterior) < 2 {
		return f, false
	}
	slices.Sort(posterior)
	slices.Sort(prior)
	low, high := limits(posterior)
	least, largest := limits(prior)
	if !(low < high) || !(least < largest) {
		return f, false
	}
	room := (widthOfPriors - 1) * (high - low)
	from, to := low, high
	low, high = min(low, max(least, from-room/2)), max(high, min(largest, to+room/2))
	lower := p.Lower && low <= min(prior[0], posterior[0])
	upper := p.Upper && high >= max(prior[len(prior)-1], posterior[len(posterior)-1])
	name := w.names[i]
	f = Figure{Kind: "prior", Of: []string{name}, X: Axis{Label: w.report.shown(i, name)}, Y: Axis{Label: "density", Zero: true}}
	if labels := w.report.Summary.Label; labels != nil && labels[i] != "" {
		f.Of = append(f.Of, labels[i])
	}
	step := (high - low) / (densityPoints - 1)
	f.Layers = []Layer{
		{Mark: Line, Role: Second, Label: "prior", From: low, Step: step, Y: coarse(smooth(prior, low, high, lower, upper))},
		{Mark: Line, Role: First, Label: "posterior", From: low, Step: step, Y: coarse(smooth(posterior, low, high, lower, upper))},
	}
	q := diagnose.Quantiles(prior, 0.05, 0.95)
	ratio := (w.rows[i].Q95 - w.rows[i].Q5) / (q[1] - q[0])
	digits := 0
	if ratio < 0.1 {
		digits = 1
	}
	f.Note = fmt.Sprintf("The middle 90 %% of the prior is %.3g … %.3g, of the posterior %.3g … %.3g: %.*f %% as wide.", q[0], q[1], w.rows[i].Q5, w.rows[i].Q95, digits, 100*ratio)
	f.Alt = fmt.Sprintf("Densities of the prior and of the posterior of %s. %s", strings.Join(f.Of, ", "), f.Note)
	return f, true
}
