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
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// coxSize is a size of the grid in Figure 3, with the chains for it.
type coxSize struct {
	d    int
	plan plan
}

// The arms of Figure 3, without NUTS of 2011. All but the first two and the last run in the
// coordinates of models/cox_metric.model. Riemann manifold HMC with a constant metric is the same
// as HMC in coordinates in which that metric is the identity.
var (
	coxArm = arm{name: "ahmc", title: "AHMC",
		sampler: released(ahmc.Box{MinStepSize: 1e-3, MaxStepSize: 0.1, MinSteps: 1, MaxSteps: 500})}
	coxWideArm = arm{name: "ahmc-wide", title: "AHMC, step sizes to 1",
		sampler: released(ahmc.Box{MinStepSize: 1e-3, MaxStepSize: 1, MinSteps: 1, MaxSteps: 500})}
	coxRMHMCArm = arm{name: "rmhmc", title: "RMHMC", sampler: hmc.Sampler{
		Kernel: hmc.Kernel{Steps: 30},
		Adapt:  warmup.Options{StepSize: 0.1, FixedStepSize: true, Metric: infer.Unit},
	}}
	// Its reward is the squared jump of the field, see rewarded.
	coxARMHMCArm = arm{name: "armhmc", title: "ARMHMC",
		sampler: released(ahmc.Box{MinStepSize: 0.01, MaxStepSize: 1, MinSteps: 1, MaxSteps: 60})}
	coxMetricJumpArm = arm{name: "armhmc-metric", title: "ARMHMC, jumps in the metric", sampler: coxARMHMCArm.sampler}
	coxGradientArm   = arm{name: "armhmc-gradient", title: "ARMHMC, reward per gradient", sampler: ahmc.Sampler{
		Cost: ahmc.CostDrawn, StepsPoints: 60,
		Box: ahmc.Box{MinStepSize: 0.05, MaxStepSize: 2, MinSteps: 1, MaxSteps: 30},
	}}
	coxNUTSArm = arm{name: "nuts-metric", title: "NUTS, the same metric", sampler: nuts.Sampler{Adapt: warmup.Options{Metric: infer.Unit}}}
	coxAutoArm = arm{name: "auto", title: "auto", sampler: auto.Sampler{}}
)

// coxResults has the results of one variant on one grid.
type coxResults struct {
	*cox
	book   *book
	delta  float64
	trials []trial
	groups map[string]group
	order  []string
}

func (c *coxResults) name() string { return fmt.Sprintf("%s-%d", c.variant.name, c.d) }

// has reports whether there are results of these arms.
func (c *coxResults) has(arms ...string) bool {
	for _, name := range arms {
		if len(c.groups[name].results) == 0 {
			return false
		}
	}
	return true
}

// coxProblems returns the process as a problem in the coordinates of the paper and in those of the
// metric, with starting points from the prior.
func (w *workshop) coxProblems(b *book, c *cox, chains int) (plain, metric problem, err error) {
	name := fmt.Sprintf("%s-%d", c.variant.name, c.d)
	plain = problem{book: b, exhibit: "fig3", name: name, kind: w.kind()}
	if w.short > 1 {
		plain.kind += fmt.Sprintf("-short%d", w.short)
	}
	target, err := c.posterior("cox.model")
	if err != nil {
		return plain, metric, err
	}
	white, err := c.posterior("cox_metric.model")
	if err != nil {
		return plain, metric, err
	}
	plain.target = target
	metric = plain
	metric.target, metric.present = white, c.field.fromMetric
	for i := range chains {
		x := c.field.draw(infer.Stream(masterSeed, i+1, "start cox "+name, 0))
		plain.starts = append(plain.starts, x)
		metric.starts = append(metric.starts, c.field.toMetric(x))
	}
	return plain, metric, nil
}

// coxPart is a comparison of Figure 3. The first one needs the best δ. Each comparison is made for
// all processes before the next one begins.
type coxPart struct {
	title  string
	metric bool // in the coordinates of the metric
	arms   []arm
	nuts   bool // also run NUTS of 2011
}

var coxComparisons = []coxPart{
	{"as published", false, []arm{coxArm}, true},
	{"with the metric", true, []arm{coxRMHMCArm, coxARMHMCArm}, false},
	{"ours", true, []arm{coxMetricJumpArm, coxGradientArm, coxNUTSArm}, false},
	{"auto", false, []arm{coxAutoArm}, false},
	{"wider box", false, []arm{coxWideArm}, false},
}

// processes runs all chains of Figure 3, or of the same comparisons on larger grids. On these, NUTS
// has the δ that was best for the process on the smaller grid.
func (w *workshop) processes(ctx context.Context, b *book, sizes []coxSize, large bool) ([]*coxResults, error) {
	var all []*coxResults
	for _, size := range sizes {
		var plain, metric []problem
		var these []*coxResults
		for _, v := range coxVariants {
			if w.variant != "" && v.name != w.variant {
				continue
			}
			c, err := loadCox(v, w.dataDir, size.d)
			if err != nil {
				return nil, err
			}
			p, m, err := w.coxProblems(b, c, max(size.plan.chains, w.protocol.coxTries.chains))
			if err != nil {
				return nil, err
			}
			r := &coxResults{cox: c, book: b, delta: v.delta, groups: map[string]group{}}
			if large {
			} else if r.delta, r.trials, err = w.bestDelta(ctx, "figure 3, "+r.name(), p, w.protocol.coxTries); err != nil {
				return nil, err
			}
			these, plain, metric = append(these, r), append(plain, p), append(metric, m)
		}
		for _, part := range coxComparisons {
			for i, r := range these {
				p, arms := plain[i], part.arms
				if part.metric {
					p, arms = metric[i], r.rewarded(arms)
				}
				if part.nuts {
					arms = append(arms[:len(arms):len(arms)], nutsAt(r.delta))
				}
				groups, err := w.runArms(ctx, "figure 3, "+r.name()+", "+part.title, p, arms, func(arm) plan { return size.plan })
				if err != nil {
					return nil, err
				}
				for _, g := range groups {
					r.groups[g.column()] = g
					r.order = append(r.order, g.column())
				}
			}
		}
		all = append(all, these...)
	}
	return all, nil
}

// figure3 compares effective sample sizes per leapfrog step on log-Gaussian Cox processes.
func figure3(ctx context.Context, w *workshop) error {
	return w.processTables(ctx, "fig3", w.protocol.cox, false)
}

// figure3Large makes the same comparisons on the grid of Girolami and Calderhead.
func figure3Large(ctx context.Context, w *workshop) error {
	return w.processTables(ctx, "fig3-64", w.protocol.coxLarge, true)
}

// rewarded sets the reward of the paper's adaptive Riemannian sampler.
func (c *coxResults) rewarded(arms []arm) []arm {
	arms = slices.Clone(arms)
	for i, a := range arms {
		if a.name == coxARMHMCArm.name {
			s := a.sampler.(ahmc.Sampler)
			s.Reward = fieldJump{c.field}
			arms[i].sampler = s
		}
	}
	return arms
}

// processTables makes Figure 3 and its tables.
func (w *workshop) processTables(ctx context.Context, name string, sizes []coxSize, large bool) error {
	book, err := w.open(name)
	if err != nil {
		return err
	}
	all, err := w.processes(ctx, book, sizes, large)
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := w.plotFigure3(book.name, all); err != nil {
		return err
	}
	b.WriteString("# Figure 3: the log-Gaussian Cox process\n\n")
	w.preface(&b)
	for _, size := range sizes {
		fmt.Fprintf(&b, "- %d × %d cells: %v\n", size.d, size.d, size.plan)
	}
	b.WriteString("\nStarting points are draws from the prior. In A, \"as run\", the range of the covariance is 64/33 sides of the unit square, as the programs and\n" +
		"the data of Girolami and Calderhead have it; on grids coarser than theirs cells are joined. In B, \"as printed\", it is d/33 cells, and the data\n" +
		"are simulated. Hyper-parameters are fixed. The metric is the Fisher information that the model's text yields where the field is mu + variance\n" +
		"throughout; being constant, its samplers run in coordinates in which it is the identity, but the paper's ARMHMC is rewarded for jumps of the field.\n" +
		"ESS is capped at the number of draws as in the paper. Means ± standard errors over chains; ratios with 95 % intervals by bootstrap over chains.\n\n")
	if large {
		b.WriteString("NUTS with the identity has the δ that was best with 32 × 32 cells.\n\n")
	}
	w.picture(&b, "scatter", book.name)
	w.ratiosTable(&b, all)
	w.girolamiTable(&b, all)
	w.coxTable(&b, all)
	w.coxGates(&b, all)
	trialsTable(&b, w, all)
	return errors.Join(w.write(book.name+".md", b.String()), book.close())
}

// ratiosTable writes the two comparisons of the paper.
func (w *workshop) ratiosTable(b *strings.Builder, all []*coxResults) {
	t := table{head: []string{"process", "comparison", "chains", "minimum", "median", "maximum", "minimum, honest", "chains below the diagonal", "verdict"}}
	for _, c := range all {
		for _, pair := range [][2]string{{"ahmc", "nuts"}, {"armhmc", "rmhmc"}} {
			if !c.has(pair[0], pair[1]) {
				continue
			}
			x, y := c.groups[pair[0]], c.groups[pair[1]]
			row := []string{c.name(), x.title + " over " + y.title, counts(x.results, y.results)}
			verdicts := map[string]bool{}
			below, points := 0, 0
			for _, f := range statistics {
				q := compare(values(x.results, perStep(f.of)), values(y.results, perStep(f.of)), c.name())
				row = append(row, q.String())
				verdicts[q.claim()] = true
				for i := range min(len(x.results), len(y.results)) {
					points++
					if perStep(f.of)(x.results[i]) > perStep(f.of)(y.results[i]) {
						below++
					}
				}
			}
			row = append(row, compare(values(x.results, honest), values(y.results, honest), c.name()).String(), fmt.Sprintf("%d of %d", below, points))
			t.add(append(row, w.coxVerdict(c, joined(verdicts)))...)
		}
	}
	t.markdown(b)
}

// joined combines the verdicts on three ratios.
func joined(verdicts map[string]bool) string {
	switch {
	case len(verdicts) == 1:
		for v := range verdicts {
			return v
		}
	case verdicts["refuted"] && verdicts["reproduced"]:
		return "reproduced in part"
	case verdicts["refuted"]:
		return "refuted in part"
	}
	return "reproduced, in part a tie"
}

// coxVerdict returns a verdict if the results are a test of the paper. That includes data that are
// simulated by the printed formula, since this is what the paper describes.
func (w *workshop) coxVerdict(c *coxResults, text string) string {
	if w.quick || w.dataDir == "" && !c.variant.ours || len(c.groups["ahmc"].results) < 2 {
		return "-"
	}
	return text
}

// girolamiTable compares RMHMC with table 10 of its inventors.
func (w *workshop) girolamiTable(b *strings.Builder, all []*coxResults) {
	t := table{head: []string{"process", "chains", "draws", "RMHMC ESS min", "median", "max", "Girolami and Calderhead's", "min over theirs"}}
	for _, c := range all {
		if c.variant.ours || c.d != coxSide || w.dataDir == "" || !c.has("rmhmc") {
			continue
		}
		r := c.groups["rmhmc"].results
		row := []string{c.name(), counts(r), fmt.Sprint(r[0].Draws)}
		scale := float64(girolamiDraws) / float64(r[0].Draws)
		for _, f := range statistics {
			row = append(row, summarise(values(r, func(r *result) float64 { return scale * f.of(r.ESS) })).String())
		}
		q := summarise(values(r, func(r *result) float64 { return scale * least(r.ESS) })).mean / girolamiCox[0]
		t.add(append(row, fmt.Sprintf("%g, %g, %g", girolamiCox[0], girolamiCox[1], girolamiCox[2]), short(q))...)
	}
	if len(t.rows) > 0 {
		fmt.Fprintf(b, "RMHMC with step size 0.1 and at most 30 steps, of %d draws:\n\n", girolamiDraws)
		t.markdown(b)
	}
}

// coxTable writes the results of all samplers.
func (w *workshop) coxTable(b *strings.Builder, all []*coxResults) {
	b.WriteString("All samplers: ESS per leapfrog step; \"honest\" is min ESS per 1000 gradients, those of warm-up too; its ratio to that of NUTS with the identity.\n\n")
	t := table{head: []string{"process", "sampler", "chains", "transitions", "minimum", "median", "maximum", "minimum over NUTS's", "minimum, uncapped", "honest", "over NUTS's", "step size", "L", "steps per draw", "acceptance"}}
	for _, c := range all {
		for _, name := range c.order {
			g := c.groups[name]
			row := []string{c.name(), g.title, counts(g.results), lengths(g.results)}
			for _, f := range statistics {
				row = append(row, summarise(values(g.results, perStep(f.of))).String())
			}
			mean := func(f func(*result) float64) string { return short(summarise(values(g.results, f)).mean) }
			over, overHonest := "-", "-"
			if n := c.groups["nuts"].results; len(n) > 0 {
				over = compare(values(g.results, perStep(least)), values(n, perStep(least)), c.name()).String()
				overHonest = compare(values(g.results, honest), values(n, honest), c.name()).String()
			}
			t.add(append(row, over, mean(func(r *result) float64 { return least(r.Uncapped) / float64(r.Leapfrogs) }),
				mean(func(r *result) float64 { return 1000 * honest(r) }), overHonest,
				mean(func(r *result) float64 { return r.StepSize }), mean(func(r *result) float64 { return r.Steps }),
				mean(func(r *result) float64 { return float64(r.Leapfrogs) / float64(r.Draws) }), mean(func(r *result) float64 { return r.AcceptStat }))...)
		}
	}
	t.markdown(b)
}

// coxReferences are the two samplers whose draws together are the reference: of the
// same coordinates, but different kernels.
var coxReferences = [2]string{"rmhmc", "nuts-metric"}

// coxGateDeviation is what the largest distance of a mean must not exceed: of some
// thousand cells a faultless sampler has one beyond 4.5 in 1 of 100 runs.
const coxGateDeviation = 4.5

func (w *workshop) coxGates(b *strings.Builder, all []*coxResults) {
	fmt.Fprintf(b, "Largest rank-normalised split R-hat of a cell, to be below %g; the largest distance of a posterior mean from the reference, RMHMC and NUTS with the\n"+
		"metric together, in standard errors, at most %g.\n\n", gateRhat, coxGateDeviation)
	t := table{head: []string{"process", "sampler", "chains", "R-hat", "distance", "divergences", ""}}
	for _, c := range all {
		gate := newGate(c.groups[coxReferences[0]].results, c.groups[coxReferences[1]].results)
		agreement, _ := c.book.note(figure{c.name(), "references", 0, 0, "distance", gate.agreement})
		t.add(c.name(), "the two references", "-", "-", short(agreement), "-", passed(agreement, coxGateDeviation))
		for _, name := range c.order {
			g := c.groups[name]
			r, d := c.book.rhat(c.name(), g), c.book.distance(c.name(), g, gate)
			t.add(c.name(), g.title, counts(g.results), fourDigits(r), short(d), fmt.Sprint(divergences(g.results)), passed(r, gateRhat, d, coxGateDeviation))
		}
	}
	t.markdown(b)
}

func trialsTable(b *strings.Builder, w *workshop, all []*coxResults) {
	if !slices.ContainsFunc(all, func(c *coxResults) bool { return len(c.trials) > 0 }) {
		return
	}
	fmt.Fprintf(b, "NUTS's min ESS per leapfrog step by δ, on other chains (%v each):\n\n", w.protocol.coxTries)
	t := table{head: []string{"δ"}}
	for _, c := range all {
		t.head = append(t.head, c.name())
	}
	for _, delta := range w.protocol.deltas {
		row := []string{short(delta)}
		for _, c := range all {
			cell := "-"
			for _, tr := range c.trials {
				if tr.delta == delta {
					cell = short(tr.perStep.mean)
				}
			}
			row = append(row, cell)
		}
		t.add(row...)
	}
	t.markdown(b)
}

// figure4 compares what AHMC and NUTS say about the field with the true field.
func figure4(ctx context.Context, w *workshop) error {
	book, err := w.open("fig3") // its chains are those of Figure 3
	if err != nil {
		return err
	}
	all, err := w.processes(ctx, book, w.protocol.cox, false)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# Figure 4: the field of the log-Gaussian Cox process\n\n")
	w.preface(&b)
	b.WriteString("The true field and the counts; mean and standard deviation of the field by AHMC, by NUTS with the identity metric at its best δ, and by the\n" +
		"reference (RMHMC and NUTS with the metric together). The paper says that NUTS does not capture the variance of the field.\n\n")
	t := table{head: []string{"process", "sampler", "mean: root mean square distance", "largest, in standard errors", "sd over the reference's: mean", "least", "largest", "correlation of the sds", "expected of exact draws"}}
	for _, c := range all {
		if !drawn(c.groups["ahmc"].results) || !drawn(c.groups["nuts"].results) || !drawn(c.groups[coxReferences[0]].results) || !drawn(c.groups[coxReferences[1]].results) {
			continue // not run, or the draws were not kept
		}
		reference := append(append([]*result(nil), c.groups[coxReferences[0]].results...), c.groups[coxReferences[1]].results...)
		gate := newGate(c.groups[coxReferences[0]].results, c.groups[coxReferences[1]].results)
		if err := w.plotFigure4(c, reference); err != nil {
			return err
		}
		fmt.Fprintf(&b, "![%s](fig4-%s.png)\n\n", c.name(), c.name())
		_, truth, _ := pool(reference)
		for _, name := range []string{"ahmc", "nuts"} {
			g := c.groups[name]
			mean, sd, _ := pool(g.results)
			square, low, high, average := 0.0, math.Inf(1), 0.0, 0.0
			// The error of a standard deviation is the error of the mean of squared deviations,
			// divided by twice the standard deviation.
			expected := 0.0
			for i := range mean {
				square += (mean[i] - gate.mean[i]) * (mean[i] - gate.mean[i]) / float64(len(mean))
				q := sd[i] / truth[i]
				low, high, average = min(low, q), max(high, q), average+q/float64(len(mean))
				squares := 0.0
				for _, r := range g.results {
					squares += r.Squares[i]
				}
				expected = max(expected, 1/math.Sqrt(2*squares))
			}
			t.add(c.name(), g.title, short(math.Sqrt(square)), short(gate.deviation(g.results)), short(average), short(low), short(high),
				short(correlation(sd, truth)), fmt.Sprintf("within ± %s", short(coxGateDeviation*expected)))
		}
	}
	t.markdown(&b)
	b.WriteString("\"Expected\" is the largest relative error of a standard deviation over all cells that the effective sample size of squared deviations explains.\n")
	return w.write("fig4.md", b.String())
}

// correlation returns the correlation of two lists.
func correlation(a, b []float64) float64 {
	ma, sa := moments(a)
	mb, sb := moments(b)
	sum := 0.0
	for i := range a {
		sum += (a[i] - ma) * (b[i] - mb) / float64(len(a)-1)
	}
	return sum / (sa * sb)
}
