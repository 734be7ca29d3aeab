package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// The arms of Table 1, without NUTS of 2011.
var (
	volatilityArm = arm{name: "ahmc", title: "AHMC",
		sampler: released(ahmc.Box{MinStepSize: 1e-4, MaxStepSize: 1e-2, MinSteps: 1, MaxSteps: 300})}
	wideArm = arm{name: "ahmc-wide", title: "AHMC, step sizes to 0.03",
		sampler: released(ahmc.Box{MinStepSize: 1e-4, MaxStepSize: 3e-2, MinSteps: 1, MaxSteps: 300})}
	// In the whitened space, with the reward per gradient.
	volatilityWhitenedArm = arm{name: "ahmc-whitened", title: "AHMC, whitened", sampler: ahmc.Sampler{
		Cost: ahmc.CostDrawn, StepsPoints: 60,
		Box: ahmc.Box{MinStepSize: 0.02, MaxStepSize: 1, MinSteps: 1, MaxSteps: 60},
	}}
	nutsWhitenedArm = arm{name: "nuts-whitened", title: "NUTS, whitened, diagonal metric", sampler: nuts.Sampler{Adapt: warmup.Options{Metric: infer.Diagonal}}}
)

// volatilityPilot is a short chain that finds the point for whitening. It is used for nothing else.
var volatilityPilot = plan{1, 1000, 500}

// volatilityResults has the results of Table 1.
type volatilityResults struct {
	delta  float64
	trials []trial
	groups map[string]group
	order  []string
	pilot  *result
}

// volatility runs all chains of Table 1.
func (w *workshop) volatility(ctx context.Context, b *book) (*volatilityResults, error) {
	y, err := series(w.dataDir, w.protocol.days)
	if err != nil {
		return nil, err
	}
	target, err := volatility(y)
	if err != nil {
		return nil, err
	}
	n := w.protocol.volatility
	p := problem{
		book: b, exhibit: "table1", name: "volatility", target: target, kind: w.kind(),
		starts: volatilityStarts(y, max(n.chains, w.protocol.volatilityTries.chains)),
	}
	r := &volatilityResults{groups: map[string]group{}}
	if r.delta, r.trials, err = w.bestDelta(ctx, "table 1", p, w.protocol.volatilityTries); err != nil {
		return nil, err
	}
	if w.short > 1 { // but trials of δ are not shortened
		p.kind += fmt.Sprintf("-short%d", w.short)
	}
	add := func(title string, p problem, arms ...arm) error {
		groups, err := w.runArms(ctx, "table 1, "+title, p, arms, func(arm) plan { return n })
		for _, g := range groups {
			r.groups[g.column()] = g
			r.order = append(r.order, g.column())
		}
		return err
	}
	if err := add("as published", p, volatilityArm, nutsAt(r.delta)); err != nil {
		return nil, err
	}
	white, err := w.whitenedVolatility(ctx, p, r)
	if err != nil {
		return nil, err
	}
	if err := add("whitened", white, volatilityWhitenedArm, nutsWhitenedArm); err != nil {
		return nil, err
	}
	return r, add("wider box", p, wideArm)
}

// whitenedVolatility returns the problem in whitened coordinates. They are centred at the mean of a
// short run in the plain coordinates.
func (w *workshop) whitenedVolatility(ctx context.Context, p problem, r *volatilityResults) (problem, error) {
	pilot := nutsAt(nuts.DefaultDelta2011)
	results, err := w.run(ctx, "table 1, pilot", p.chains(pilot, "pilot-", volatilityPilot))
	if err != nil {
		return problem{}, err
	}
	if results[0] == nil {
		return p, nil // a report has no whitened chains
	}
	r.pilot = results[0]
	m := r.pilot.Mean
	white := whiten(p.target, m[atBeta], m[atGamma], m[atAlpha])
	p.target, p.present = white, white.present
	starts := slices.Clone(p.starts)
	for i, x := range starts {
		starts[i] = white.whiten(x)
	}
	p.starts = starts
	return p, nil
}

// paperDraws is the number of draws of the paper's chains. Figures of shorter chains are scaled to
// it.
const paperDraws = 20000

// perMeanSteps returns a function that computes a figure of the effective sample sizes in the unit
// of Table 1: for the paper's number of draws, divided by the mean number of leapfrog steps per
// draw.
func perMeanSteps(f func([]float64) float64) func(*result) float64 {
	return func(r *result) float64 { return f(r.ESS) * paperDraws / float64(r.Leapfrogs) }
}

// factor1 is the factor by which a figure of Table 1 may differ and still count as reproduced.
const factor1 = 1.5

// table1 makes the comparison on the stochastic volatility model.
func table1(ctx context.Context, w *workshop) error {
	book, err := w.open("table1")
	if err != nil {
		return err
	}
	r, err := w.volatility(ctx, book)
	if err != nil {
		return err
	}
	if len(r.groups["ahmc"].results) == 0 || len(r.groups["nuts"].results) == 0 {
		return errors.New("no chains of AHMC or NUTS are complete")
	}
	if err := w.plotTable1(book.name, r); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# Table 1: stochastic volatility\n\n")
	w.preface(&b)
	if w.short > 1 {
		fmt.Fprintf(&b, "**Chains %d times shorter than the protocol's.**\n\n", w.short)
	}
	fmt.Fprintf(&b, "%d days, %d dimensions, parameters and log variances together; %v from draws of the prior (beta: a lognormal\n"+
		"about the deviation of the returns). \"ESS per leapfrog\" is ESS over the mean number of leapfrog steps per draw, for %d draws:\n"+
		"only so is the paper's unit possible. Means ± standard errors over chains; ratios with 95 %% intervals by bootstrap over chains.\n\n",
		w.protocol.days, volatilityParameters+w.protocol.days, w.protocol.volatility, paperDraws)
	b.WriteString("AHMC has the constants of the authors' released program, step sizes [1e-4, 1e-2], L {1..300}; NUTS is that of 2011 with the\n" +
		"identity metric" + w.choice() + ".\n\n")
	w.picture(&b, "box plots", book.name)
	t := table{head: []string{"sampler", "", "minimum", "median", "maximum"}}
	for _, name := range []string{"ahmc", "nuts"} {
		g := r.groups[name]
		paper, ours, over, verdict := []string{g.title, "paper"}, []string{"", "here"}, []string{"", "here over paper"}, []string{"", ""}
		for i, f := range statistics {
			p := paperTable1[name][i]
			v := values(g.results, perMeanSteps(f.of))
			s := summarise(v)
			// The error of either.
			q := s.mean / p.mean
			e := 2 * q * math.Hypot(s.se/s.mean, p.se/p.mean)
			paper, ours = append(paper, p.String()), append(ours, s.String())
			over = append(over, short(q))
			verdict = append(verdict, w.verdict(ratio{q, q - e, q + e}.within([2]float64{1 / factor1, factor1})))
		}
		t.add(paper...)
		t.add(ours...)
		t.add(over...)
		t.add(verdict...)
	}
	a, n := r.groups["ahmc"].results, r.groups["nuts"].results
	paper, ours, verdict := []string{"AHMC over NUTS", "paper"}, []string{"", "here"}, []string{"", ""}
	for i, f := range statistics {
		paper = append(paper, short(paperTable1["ahmc"][i].mean/paperTable1["nuts"][i].mean))
		q := compare(values(a, perMeanSteps(f.of)), values(n, perMeanSteps(f.of)), "volatility")
		ours, verdict = append(ours, q.String()), append(verdict, w.verdict(q.claim()))
	}
	t.add(paper...)
	t.add(ours...)
	t.add(verdict...)
	t.markdown(&b)
	fmt.Fprintf(&b, "All samplers; \"honest\" is min ESS per 1000 gradients, those of warm-up too.\n\n")
	t = table{head: []string{"sampler", "chains", "transitions", "minimum", "median", "maximum", "honest", "its ratio to AHMC's", "step size", "L", "steps per draw", "acceptance", "R-hat", "largest distance of a mean from AHMC's"}}
	base := newGate(a, n)
	reference, note := a, ""
	if !drawn(a) {
		reference, note = r.groups[nutsWhitenedArm.name].results, " AHMC's draws are gone: that of AHMC, whitened, is from NUTS, whitened."
	}
	for _, name := range r.order {
		g := r.groups[name]
		row := []string{g.title, counts(g.results), lengths(g.results)}
		for _, f := range statistics {
			row = append(row, summarise(values(g.results, perMeanSteps(f.of))).String())
		}
		thousand := func(r *result) float64 { return 1000 * honest(r) }
		mean := func(f func(*result) float64) string { return short(summarise(values(g.results, f)).mean) }
		t.add(append(row, summarise(values(g.results, thousand)).String(), compare(values(g.results, honest), values(a, honest), name).String(),
			mean(func(r *result) float64 { return r.StepSize }), mean(func(r *result) float64 { return r.Steps }),
			mean(func(r *result) float64 { return float64(r.Leapfrogs) / float64(r.Draws) }), mean(func(r *result) float64 { return r.AcceptStat }),
			fourDigits(book.rhat("volatility", g)), short(book.figure("volatility", g, "distance", func() float64 { return newGate(reference, g.results).agreement })))...)
	}
	t.markdown(&b)
	b.WriteString("(The distance is in standard errors, the largest of all coordinates: of 2003, a faultless sampler has about 3.5." + note + ")\n\n")
	w.picture(&b, "surfaces", book.name+"-surface")
	t = table{head: []string{"parameter", "mean", "standard deviation"}}
	for i, name := range []string{"beta", "gamma", "alpha"} {
		both := figure{"volatility", "ahmc and nuts", 0, len(a) + len(n), name, math.NaN()}
		sd := both
		sd.quantity += "_sd"
		if base.mean != nil {
			both.value, sd.value = base.mean[i], base.sd[i]
		}
		mean, _ := book.note(both)
		deviation, _ := book.note(sd)
		if !math.IsNaN(mean) {
			t.add(name, short(mean), short(deviation))
		}
	}
	if len(t.rows) > 0 {
		t.markdown(&b)
	}
	if len(r.trials) > 0 {
		fmt.Fprintf(&b, "NUTS by δ, on other chains (%v each), min ESS per mean number of steps:\n\n", w.protocol.volatilityTries)
		t = table{head: []string{"δ", "minimum"}}
		for _, tr := range r.trials {
			t.add(short(tr.delta), short(tr.perStep.mean*paperDraws))
		}
		t.markdown(&b)
	}
	pilot := figure{"volatility", "pilot", 0, volatilityPilot.chains, "gradients", math.NaN()}
	if r.pilot != nil {
		pilot.value = float64(r.pilot.WarmupGradients + r.pilot.Gradients)
	}
	if gradients, _ := book.note(pilot); !math.IsNaN(gradients) {
		fmt.Fprintf(&b, "The whitened arms have x = L⁻ᵀz with LLᵀ = I/2 + C⁻¹ at the means of a run of NUTS of %v, whose %g gradients are not among\n"+
			"the \"honest\" ones. Their step sizes and L are in other units.\n", volatilityPilot, gradients)
	}
	return errors.Join(w.write(book.name+".md", b.String()), book.close())
}

// lengths returns the lengths of the chains of a group as text.
func lengths(results []*result) string {
	var list []string
	for _, r := range results {
		if s := fmt.Sprintf("%d + %d", r.BurnIn, r.Draws); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return strings.Join(list, ", ")
}
