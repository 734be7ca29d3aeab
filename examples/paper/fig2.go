package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/infer/riemann"
)

// The names that trials have in books.
const trialName, trialMean, trialError = "trial", "min_ess_per_step", "min_ess_per_step_error"

// trial is the result of NUTS at a δ. Its chains are used for nothing else.
type trial struct {
	delta   float64
	chains  int
	perStep spread // smallest effective sample size per leapfrog step
}

// bestDelta tries every δ and returns the one with the largest mean, over chains, of the smallest
// effective sample size per leapfrog step; NUTS takes one gradient per step. If an earlier book
// (see [book]) has tried some δ with more chains than others, only those with the most chains
// count. If several are equal, the largest δ wins.
func (w *workshop) bestDelta(ctx context.Context, title string, p problem, n plan) (best float64, trials []trial, err error) {
	if len(w.protocol.deltas) == 1 { // nothing to choose
		return w.protocol.deltas[0], nil, nil
	}
	// A δ that an earlier book has tried with as many chains is not tried again, unless the results
	// of these chains exist.
	var chains []chain
	of := map[float64][]chain{}
	for _, d := range w.protocol.deltas {
		list := p.chains(nutsAt(d), "try-", n)
		if w.keeps(list[0]) || p.book.trialChains(p.name, d) < n.chains {
			of[d] = list
			chains = append(chains, list...)
		}
	}
	tried, err := w.run(ctx, title+", δ of NUTS", chains)
	if err != nil {
		return 0, nil, err
	}
	for _, d := range w.protocol.deltas {
		done := complete(tried[:len(of[d])])
		tried = tried[len(of[d]):]
		s, count := spread{math.NaN(), math.NaN()}, len(done)
		if count > 0 {
			s = summarise(values(done, perStep(least)))
		}
		s.mean, count = p.book.note(figure{p.name, trialName, d, count, trialMean, s.mean})
		s.se, _ = p.book.note(figure{p.name, trialName, d, count, trialError, s.se})
		if math.IsNaN(s.mean) {
			continue
		}
		trials = append(trials, trial{d, count, s})
	}
	most, largest := 0, math.Inf(-1)
	for _, t := range trials {
		if t.chains > most || t.chains == most && t.perStep.mean >= largest {
			most, largest, best = t.chains, t.perStep.mean, t.delta
		}
	}
	if len(trials) == 0 {
		return 0, nil, errors.New("NUTS has not been tried with any δ yet")
	}
	return best, trials, nil
}

// group has the results of an arm.
type group struct {
	arm
	results []*result
}

// runArms runs several arms. It runs the first chain of each arm before the second of any, so that
// the results of an interrupted program can be compared. In a report, it leaves out arms without
// any chain.
func (w *workshop) runArms(ctx context.Context, title string, p problem, arms []arm, n func(arm) plan) ([]group, error) {
	arms = w.wanted(arms)
	lists := make([][]chain, len(arms))
	groups := make([]group, len(arms))
	before := make([]map[int]*result, len(arms))
	var all []chain
	type place struct{ arm, chain int }
	var places []place
	for i, a := range arms {
		lists[i] = p.chains(a, "", n(a))
		groups[i] = group{a, make([]*result, len(lists[i]))}
		if p.book != nil {
			before[i] = p.book.earlierChains(p.name, a)
		}
	}
	for c, more := 0, true; more; c++ {
		more = false
		for i, list := range lists {
			if c >= len(list) {
				continue
			}
			more = true
			if r := before[i][c+1]; r != nil && r.BurnIn == list[c].warmup && r.Draws == list[c].draws && !w.keeps(list[c]) {
				groups[i].results[c] = r
				continue
			}
			all, places = append(all, list[c]), append(places, place{i, c})
		}
	}
	results, err := w.run(ctx, title, all)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		groups[places[i].arm].results[places[i].chain] = r
	}
	for i, g := range groups {
		if len(complete(g.results)) == 0 { // an incomplete report has no results
			for c := range g.results {
				g.results[c] = before[i][c+1]
			}
		}
		for c, r := range g.results {
			if r != nil && p.book != nil {
				p.book.enter(p.name, g.arm, c+1, r)
			}
		}
		groups[i].results = complete(g.results)
	}
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.results) == 0 }), nil
}

// regressionResults has the results of one data set.
type regressionResults struct {
	set    set
	book   *book
	delta  float64 // the best
	trials []trial
	groups map[string]group
	order  []string // names of the groups
	gate   gate
}

// with returns the sets that have results of all these arms.
func with(sets []*regressionResults, arms ...string) []*regressionResults {
	return slices.DeleteFunc(slices.Clone(sets), func(s *regressionResults) bool {
		return slices.ContainsFunc(arms, func(name string) bool { return len(s.groups[name].results) == 0 })
	})
}

// problem returns the posterior of a data set, with starting points.
func (s set) problem(w *workshop) (problem, error) {
	r, err := s.load(w.dataDir)
	if err != nil {
		return problem{}, err
	}
	p := problem{exhibit: "fig2", name: s.name, target: r.Posterior, kind: w.kind()}
	if p.mode, _, err = r.mode(); err != nil {
		return problem{}, err
	}
	if p.starts, err = r.starts(max(w.protocol.regression.chains, w.protocol.reference.chains), s.name); err != nil {
		return problem{}, err
	}
	fisher, err := riemann.FromTarget(riemann.Fisher, p.target, 0)
	if err != nil {
		return p, err
	}
	metric, _, err := riemann.Freeze(fisher, p.mode)
	p.metric = &metric
	return p, err
}

// parts lists the comparisons of Figure 2 in the order in which their chains are run, each for all
// data sets. The first one needs the best δ.
var parts = []struct {
	title string
	arms  []arm
	nuts  bool // also run NUTS of 2011
	mode  bool // start at the mode instead of dispersed points
	plan  func(protocol) plan
}{
	{"top", []arm{ahmcArm}, true, false, func(p protocol) plan { return p.regression }},
	{"bottom", []arm{rmhmcArm, armhmcArm}, false, false, func(p protocol) plan { return p.riemann }},
	{"ours", []arm{nutsDiagonalArm, nutsDenseArm, ahmcDenseArm, whitenedArm}, false, false, func(p protocol) plan { return p.regression }},
	{"from the mode", []arm{ahmcArm}, true, true, func(p protocol) plan { return p.regression }},
	{"reversible", []arm{reversibleArm}, false, false, func(p protocol) plan { return p.reversible }},
}

// regressions runs all chains of Figure 2.
func (w *workshop) regressions(ctx context.Context, b *book) ([]*regressionResults, error) {
	all := make([]*regressionResults, len(w.sets))
	problems := make([]problem, len(w.sets))
	for i, s := range w.sets {
		p, err := s.problem(w)
		if err != nil {
			return nil, err
		}
		title := "figure 2, " + s.name
		r := &regressionResults{set: s, book: b, groups: map[string]group{}, gate: noGate}
		long, err := w.runArms(ctx, title+", reference", p, []arm{referenceNUTSArm, referenceHMCArm}, func(arm) plan { return w.protocol.reference })
		if err != nil {
			return nil, err
		}
		if len(long) == 2 { // a report may have fewer
			r.gate = newGate(long[0].results, long[1].results)
		}
		p.book = b
		if r.delta, r.trials, err = w.bestDelta(ctx, title, p, w.protocol.tries); err != nil {
			return nil, err
		}
		all[i], problems[i] = r, p
	}
	for _, part := range parts {
		for i, r := range all {
			arms := part.arms
			if part.nuts {
				arms = append(arms[:len(arms):len(arms)], nutsAt(r.delta))
			}
			p := problems[i]
			if part.mode {
				p, arms = p.fromMode(arms)
			}
			groups, err := w.runArms(ctx, "figure 2, "+r.set.name+", "+part.title, p, arms, func(arm) plan { return part.plan(w.protocol) })
			if err != nil {
				return nil, err
			}
			for _, g := range groups {
				r.groups[g.column()] = g
				r.order = append(r.order, g.column())
			}
		}
	}
	return all, nil
}

// fromMode returns the problem and its arms with another name, such that chains start where those
// of the authors' released program do.
func (p problem) fromMode(arms []arm) (problem, []arm) {
	const suffix = "-mode"
	p.starts = [][]float64{p.mode}
	arms = slices.Clone(arms)
	for i := range arms {
		arms[i].name += suffix
		arms[i].suffix = suffix
		arms[i].title += ", from the mode"
	}
	return p, arms
}

// statistics lists the figures that plots and tables show of effective sample sizes.
var statistics = []struct {
	name string
	of   func([]float64) float64
}{{"minimum", least}, {"median", median}, {"maximum", most}}

// figure2 compares effective sample sizes per leapfrog step on five logistic regressions.
func figure2(ctx context.Context, w *workshop) error {
	book, err := w.open("fig2")
	if err != nil {
		return err
	}
	sets, err := w.regressions(ctx, book)
	if err != nil {
		return err
	}
	if err := w.plotFigure2(sets); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# Figure 2: Bayesian logistic regression\n\n")
	w.preface(&b)
	p := w.protocol
	fmt.Fprintf(&b, "Euclidean samplers: %v; Riemannian: %v; from dispersed points (twice the\n"+
		"deviation of the normal approximation at the mode, times a Student t with 4 degrees of freedom).\n"+
		"ESS is that of Girolami and Calderhead's programs, capped at the number of draws as theirs, unless it\n"+
		"is said to be uncapped. ESS/L is per leapfrog step after warm-up. Means ± standard errors over chains;\n"+
		"ratios of means with 95 %% intervals by bootstrap over chains.\n\n", p.regression, p.riemann)
	topTables(&b, w, sets)
	bottomTables(&b, w, sets)
	oursTables(&b, w, sets)
	checkTables(&b, w, sets)
	return errors.Join(w.write("fig2.md", b.String()), book.close())
}

func topTables(b *strings.Builder, w *workshop, sets []*regressionResults) {
	b.WriteString("## Top: AHMC and NUTS\n\nAHMC has the constants of the authors' released program, step sizes [0.01, 0.2], L {1..100}. NUTS is\n" +
		"that of 2011 with the identity metric" + w.choice() + ".\n\n![box plots](fig2.png)\n\n")
	t := table{head: []string{"set", "chains", "AHMC min ESS/L", "NUTS min ESS/L", "δ", "ratio", "band", "verdict"}}
	for _, s := range with(sets, "ahmc", "nuts") {
		a, n := s.groups["ahmc"].results, s.groups["nuts"].results
		q := compare(values(a, perStep(least)), values(n, perStep(least)), s.set.name)
		t.add(s.set.name, counts(a, n), summarise(values(a, perStep(least))).String(), summarise(values(n, perStep(least))).String(), short(s.delta),
			q.String(), bandOf(bands[s.set.name]), w.verdict(q.claim()+"; "+q.within(bands[s.set.name])))
	}
	t.markdown(b)
	b.WriteString("The other statistics, and what the comparison becomes with other counts: ESS without the cap, ESS of\n" +
		"squared deviations, and all gradients, those of warm-up too (\"honest\").\n\n")
	t = table{head: []string{"set", "min", "median", "max", "min, uncapped", "min, squares", "min, honest", "gradients of warm-up, AHMC", "NUTS"}}
	for _, s := range with(sets, "ahmc", "nuts") {
		a, n := s.groups["ahmc"].results, s.groups["nuts"].results
		row := []string{s.set.name}
		for _, f := range []func(*result) float64{
			perStep(least), perStep(median), perStep(most),
			func(r *result) float64 { return least(r.Uncapped) / float64(r.Leapfrogs) },
			func(r *result) float64 { return least(r.Squares) / float64(r.Leapfrogs) },
			honest,
		} {
			row = append(row, compare(values(a, f), values(n, f), s.set.name).String())
		}
		warm := func(r *result) float64 { return float64(r.WarmupGradients) }
		t.add(append(row, short(summarise(values(a, warm)).mean), short(summarise(values(n, warm)).mean))...)
	}
	t.markdown(b)
	if from := with(sets, "ahmc-mode", "nuts-mode"); len(from) > 0 {
		b.WriteString("From the mode, where the authors' released program begins, instead of dispersed points:\n\n")
		t = table{head: []string{"set", "chains", "AHMC min ESS/L", "NUTS min ESS/L", "ratio", "ratio, honest", "AHMC over AHMC from dispersed points"}}
		for _, s := range from {
			a, n := s.groups["ahmc-mode"].results, s.groups["nuts-mode"].results
			row := []string{s.set.name, counts(a, n), summarise(values(a, perStep(least))).String(), summarise(values(n, perStep(least))).String(),
				compare(values(a, perStep(least)), values(n, perStep(least)), s.set.name).String(), compare(values(a, honest), values(n, honest), s.set.name).String(), "-"}
			if d := s.groups["ahmc"].results; len(d) > 0 {
				row[len(row)-1] = compare(values(a, perStep(least)), values(d, perStep(least)), s.set.name).String()
			}
			t.add(row...)
		}
		t.markdown(b)
	}
	b.WriteString("The table has the settings that AHMC settled on (means over chains, at the end of the chain), and the spread between chains:\n\n")
	t = table{head: []string{"set", "step size", "L", "acceptance", "min ESS/L: least, median, largest of the chains", "NUTS: the same"}}
	for _, s := range with(sets, "ahmc", "nuts") {
		a, n := s.groups["ahmc"].results, s.groups["nuts"].results
		spread := func(r []*result) string {
			v := values(r, perStep(least))
			return short(least(v)) + ", " + short(median(v)) + ", " + short(most(v))
		}
		mean := func(f func(*result) float64) string { return short(summarise(values(a, f)).mean) }
		t.add(s.set.name, mean(func(r *result) float64 { return r.StepSize }), mean(func(r *result) float64 { return r.Steps }),
			mean(func(r *result) float64 { return r.AcceptStat }), spread(a), spread(n))
	}
	t.markdown(b)
	b.WriteString("The surfaces that AHMC has learnt in its first chain, with the points visited:\n\n")
	w.picture(b, "surfaces", "fig2-surface")
	if len(w.protocol.deltas) == 1 {
		return
	}
	n := w.protocol.tries
	fmt.Fprintf(b, "NUTS's min ESS/L by δ, on other chains (%v each, or fewer as said):\n\n", n)
	t = table{head: []string{"δ"}}
	for _, s := range sets {
		t.head = append(t.head, s.set.name)
	}
	for _, delta := range w.protocol.deltas {
		row := []string{short(delta)}
		for _, s := range sets {
			cell := "-"
			for _, tr := range s.trials {
				if tr.delta == delta {
					cell = tr.perStep.String()
					if tr.chains != n.chains {
						cell += fmt.Sprintf(" (%d)", tr.chains)
					}
				}
			}
			row = append(row, cell)
		}
		t.add(row...)
	}
	t.markdown(b)
}

func bottomTables(b *strings.Builder, w *workshop, sets []*regressionResults) {
	b.WriteString("## Bottom: ARMHMC and RMHMC\n\nMetric X'ΛX + I/100; four fixed-point iterations, unchecked, as Girolami and Calderhead's program has. RMHMC\n" +
		"with step size 0.5 and at most 6 steps; ARMHMC tunes within [0.1, 1] and {1..12}.\n\n")
	t := table{head: []string{"set", "chains", "RMHMC ESS min", "median", "max", "Girolami and Calderhead's", "min over theirs", "verdict"}}
	for _, s := range with(sets, "rmhmc") {
		r := s.groups["rmhmc"].results
		g := girolami[s.set.name]
		row := []string{s.set.name, counts(r)}
		for _, f := range statistics {
			row = append(row, summarise(values(r, func(r *result) float64 { return f.of(r.ESS) })).String())
		}
		q := scaled(values(r, func(r *result) float64 { return least(r.ESS) }), g[0])
		t.add(append(row, fmt.Sprintf("%g, %g, %g", g[0], g[1], g[2]), q.String(), w.verdict(q.within([2]float64{0.97, 1.03})))...)
	}
	t.markdown(b)
	t = table{head: []string{"set", "chains", "RMHMC min ESS/L", "ARMHMC min ESS/L", "ratio min", "ratio median", "ratio max", "step size, L", "verdict"}}
	for _, s := range with(sets, "rmhmc", "armhmc") {
		r, a := s.groups["rmhmc"].results, s.groups["armhmc"].results
		row := []string{s.set.name, counts(r, a), summarise(values(r, perStep(least))).String(), summarise(values(a, perStep(least))).String()}
		var first ratio
		for i, f := range statistics {
			q := compare(values(a, perStep(f.of)), values(r, perStep(f.of)), s.set.name)
			if i == 0 {
				first = q
			}
			row = append(row, q.String())
		}
		end := short(summarise(values(a, func(r *result) float64 { return r.StepSize })).mean) + ", " + short(summarise(values(a, func(r *result) float64 { return r.Steps })).mean)
		t.add(append(row, end, w.verdict(first.claim()))...)
	}
	t.markdown(b)
	if len(with(sets, "armhmc", "armhmc-reversible")) == 0 {
		return
	}
	b.WriteString("With implicit steps that are solved to a tolerance and checked for reversibility, those that fail being\nrejected:\n\n")
	t = table{head: []string{"set", "chains", "min ESS/L", "over the published iterations", "failed steps", "transitions that diverge", "step size: least, largest of the chains"}}
	for _, s := range with(sets, "armhmc", "armhmc-reversible") {
		a, r := s.groups["armhmc"].results, s.groups["armhmc-reversible"].results
		draws := 0
		for _, c := range r {
			draws += c.Draws
		}
		divergent := percent(float64(divergences(r)) / float64(draws))
		sizes := values(r, func(r *result) float64 { return r.StepSize })
		spread := short(least(sizes)) + ", " + short(most(sizes))
		t.add(s.set.name, counts(r), summarise(values(r, perStep(least))).String(), compare(values(r, perStep(least)), values(a, perStep(least)), s.set.name).String(),
			percent(s.book.figure(s.set.name, s.groups["armhmc-reversible"], "failed_share", func() float64 {
				return summarise(values(r, func(r *result) float64 { return r.Unsolved / r.ImplicitSteps })).mean
			})), divergent, spread)
	}
	t.markdown(b)
}

func oursTables(b *strings.Builder, w *workshop, sets []*regressionResults) {
	b.WriteString("## The same targets with a metric\n\nMin ESS per leapfrog step, and its ratio to AHMC's as published. The metric is learnt in warm-up, or that of the\n" +
		"mode, where AHMC has step sizes [0.1, 1.6], L {1..12}. ESS without the cap is in fig2.csv.\n\n")
	t := table{head: []string{"set"}}
	var ours []string
	titles := map[string]string{}
	for _, a := range []arm{nutsDiagonalArm, nutsDenseArm, ahmcDenseArm, whitenedArm} {
		ours = append(ours, a.name)
		titles[a.name] = a.title
	}
	for _, name := range ours {
		t.head = append(t.head, titles[name])
	}
	t.head = append(t.head, "ratio of the best", "the same, honest", "verdict")
	for _, s := range with(sets, "ahmc") {
		row := []string{s.set.name}
		base := s.groups["ahmc"].results
		var best, bestHonest ratio
		for _, name := range ours {
			r := s.groups[name].results
			if len(r) == 0 {
				row = append(row, "-")
				continue
			}
			row = append(row, summarise(values(r, perStep(least))).String())
			if q := compare(values(r, perStep(least)), values(base, perStep(least)), s.set.name); q.value > best.value {
				best = q
			}
			if q := compare(values(r, honest), values(base, honest), s.set.name); q.value > bestHonest.value {
				bestHonest = q
			}
		}
		if best.value > 0 {
			t.add(append(row, best.String(), bestHonest.String(), w.verdict(best.surpasses()))...)
		}
	}
	t.markdown(b)
}

// A group of chains passes if R-hat is below gateRhat and no mean is further than gateDeviation
// standard errors from the reference. With 25 coefficients, a correct sampler has one beyond 3
// standard errors in 7 of 100 runs, and beyond 4 in 2 of 1000.
const gateRhat, gateDeviation = 1.01, 4

func checkTables(b *strings.Builder, w *workshop, sets []*regressionResults) {
	fmt.Fprintf(b, "## Gates\n\nLargest rank-normalised split R-hat of a coefficient, to be below %g; and the largest distance of a posterior mean\n"+
		"from the reference, in standard errors, at most %d. The reference is two independent samplers, NUTS and HMC with dense\n"+
		"metrics, %v each.\n\n", gateRhat, gateDeviation, w.protocol.reference)
	t := table{head: []string{"set", "sampler", "chains", "R-hat", "distance", "divergences", ""}}
	for _, s := range sets {
		agreement, _ := s.book.note(figure{s.set.name, "references", 0, 0, "distance", s.gate.agreement})
		t.add(s.set.name, "the two references", "-", "-", short(agreement), "-", passed(agreement, gateDeviation))
		for _, name := range s.order {
			g := s.groups[name]
			r, d := s.book.rhat(s.set.name, g), s.book.distance(s.set.name, g, s.gate)
			t.add(s.set.name, g.title, counts(g.results), fourDigits(r), short(d), fmt.Sprint(divergences(g.results)), passed(r, gateRhat, d, gateDeviation))
		}
	}
	t.markdown(b)
}

// counts returns the numbers of chains of groups as text.
func counts(groups ...[]*result) string {
	var b strings.Builder
	for i, g := range groups {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, len(g))
	}
	return b.String()
}

// passed judges pairs of a figure and the limit that it must not exceed.
func passed(pairs ...float64) string {
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i]; {
		case math.IsNaN(v):
			return "-"
		case v > pairs[i+1]:
			return "**failed**"
		}
	}
	return "passed"
}

// divergences returns the number of divergent transitions of all chains.
func divergences(results []*result) (n int) {
	for _, r := range results {
		n += r.Divergences
	}
	return n
}
