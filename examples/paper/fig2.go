package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/riemann"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// protocol is how long chains are and how many.
type protocol struct {
	kind          string // of results that are kept: those of other protocols are others
	chains        int
	burnIn, draws int
	deltas        []float64 // that NUTS is tried with, on chains of their own
	tries         int       // of these, per delta

	riemannBurnIn, riemannDraws int
}

func (o options) protocol() protocol {
	if o.quick {
		return protocol{kind: "quick", chains: 4, burnIn: 500, draws: 1500, deltas: []float64{0.4, 0.6, 0.8}, tries: 1, riemannBurnIn: 100, riemannDraws: 200}
	}
	p := protocol{kind: "full", chains: 10, burnIn: 1000, draws: 5000, tries: 3, riemannBurnIn: 1000, riemannDraws: 5000}
	for d := 25; d <= 95; d += 5 { // the grid of Hoffman and Gelman
		p.deltas = append(p.deltas, float64(d)/100)
	}
	return p
}

// fisher is the geometry of the regressions.
func fisher(mode riemann.Mode) func(*infer.Meter) (infer.Hamiltonian, error) {
	return riemann.Options{Mode: mode}.Of(func(m *infer.Meter) (riemann.Metric, error) {
		return riemann.FromTarget(riemann.Fisher, m, 0)
	})
}

// arms are the samplers compared, NUTS apart, with the paper's constants.
var arms = []struct {
	name    string
	riemann bool
	sampler infer.Sampler
}{
	{"ahmc", false, ahmc.Sampler{Box: ahmc.Box{MinStepSize: 0.01, MaxStepSize: 0.2, MinSteps: 1, MaxSteps: 100}}},
	{"rmhmc", true, hmc.Sampler{Kernel: hmc.Kernel{Steps: 6}, Hamiltonian: fisher(riemann.Published),
		Adapt: warmup.Options{StepSize: 0.5, FixedStepSize: true}}},
	{"armhmc", true, ahmc.Sampler{Box: ahmc.Box{MinStepSize: 0.1, MaxStepSize: 1, MinSteps: 1, MaxSteps: 12}, Hamiltonian: fisher(riemann.Published)}},
	{"armhmc-reversible", true, ahmc.Sampler{Box: ahmc.Box{MinStepSize: 0.1, MaxStepSize: 1, MinSteps: 1, MaxSteps: 12}, Hamiltonian: fisher(riemann.Reversible)}},
}

func nutsAt(delta float64) infer.Sampler {
	return nuts.Sampler2011{Averaging: warmup.Averaging{Delta: delta}}
}

// seed keys the random numbers of a problem and a sampler.
func seed(problem, sampler string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s/%s", masterSeed, problem, sampler)
	return h.Sum64()
}

// figure2: effective sample size per leapfrog step on five logistic
// regressions.
func figure2(ctx context.Context, w *workshop) error {
	p := w.protocol
	var b, csv strings.Builder
	b.WriteString("# Figure 2\n\n")
	if w.dataDir == "" {
		b.WriteString("**On simulated data of the same shape as the paper's: figures are not comparable with the paper's.**\n\n")
	}
	if w.quick {
		b.WriteString("**Short chains (--quick): a check of the program, not of the paper.**\n\n")
	}
	fmt.Fprintf(&b, "%d chains from dispersed points, %d + %d transitions (Riemannian: %d + %d). Means and standard errors\n"+
		"over the chains; ratios of means with bootstrap intervals of 95 %%. ESS is that of Girolami and Calderhead, capped at\n"+
		"the number of draws. \"Honest\" counts the gradients of warm-up too. Figures of samplers whose R-hat is 1.01 or more\n"+
		"mean little.\n\n", p.chains, p.burnIn, p.draws, p.riemannBurnIn, p.riemannDraws)
	csv.WriteString("set,sampler,chain,min_ess,median_ess,max_ess,min_uncapped,min_squares,leapfrogs,gradients_warmup,gradients,seconds,accept,step_size,steps,divergences,unsolved\n")

	top := table{head: []string{"set", "AHMC min ESS/L", "NUTS min ESS/L", "best δ", "ratio min", "ratio median", "ratio max", "ratio min, honest", "uncapped", "R-hat AHMC, NUTS"}}
	bottom := table{head: []string{"set", "RMHMC min ESS", "RMHMC min ESS/L", "ARMHMC min ESS/L", "ratio min", "reversible ARMHMC min ESS/L", "failed steps", "R-hat RMHMC, ARMHMC"}}
	check := table{head: []string{"set", "sampler", "largest |mean - reference| in standard errors"}}
	for _, s := range w.sets {
		r, err := s.load(w.dataDir)
		if err != nil {
			return err
		}
		var of results
		if err := of.fill(ctx, w, s, r, p); err != nil {
			return err
		}
		n := of.nuts
		a := of.arm["ahmc"]
		perStep := func(f func([]float64) float64) func(*result) float64 {
			return func(r *result) float64 { return f(r.ESS) / float64(r.Leapfrogs) }
		}
		honest := func(r *result) float64 { return least(r.ESS) / float64(r.WarmupGradients+r.Gradients) }
		uncapped := func(r *result) float64 { return least(r.Uncapped) / float64(r.Leapfrogs) }
		ratios := func(x, y []*result, f func(*result) float64) string {
			return compare(values(x, f), values(y, f), s.name).String()
		}
		top.add(s.name, summarise(values(a, perStep(least))).String(), summarise(values(n, perStep(least))).String(), short(of.delta),
			ratios(a, n, perStep(least)), ratios(a, n, perStep(median)), ratios(a, n, perStep(most)), ratios(a, n, honest), ratios(a, n, uncapped),
			fmt.Sprintf("%.3f, %.3f", rhat(a), rhat(n)))
		rm, arm, rev := of.arm["rmhmc"], of.arm["armhmc"], of.arm["armhmc-reversible"]
		bottom.add(s.name, summarise(values(rm, func(r *result) float64 { return least(r.ESS) })).String(),
			summarise(values(rm, perStep(least))).String(), summarise(values(arm, perStep(least))).String(), ratios(arm, rm, perStep(least)),
			summarise(values(rev, perStep(least))).String(), short(summarise(values(rev, func(r *result) float64 { return r.Unsolved / r.ImplicitSteps })).mean),
			fmt.Sprintf("%.3f, %.3f", rhat(rm), rhat(arm)))
		mean, sd, err := reference(w.dataDir, s.name)
		if err != nil {
			return err
		}
		for _, g := range of.groups() {
			for c, r := range g.results {
				fmt.Fprintf(&csv, "%s,%s,%d,%g,%g,%g,%g,%g,%d,%d,%d,%.3f,%g,%g,%g,%d,%g\n", s.name, g.name, c+1, least(r.ESS), median(r.ESS), most(r.ESS),
					least(r.Uncapped), least(r.Squares), r.Leapfrogs, r.WarmupGradients, r.Gradients, r.Seconds, r.AcceptStat, r.StepSize, r.Steps, r.Divergences, r.Unsolved)
			}
			if len(mean) == len(g.results[0].Mean) {
				check.add(s.name, g.name, short(deviation(g.results, mean, sd)))
			}
		}
	}
	b.WriteString("## Top: AHMC and NUTS (2011, at the best δ of a grid tried on other seeds)\n\n")
	top.markdown(&b)
	b.WriteString("## Bottom: RMHMC and ARMHMC\n\nWith the published number of fixed-point iterations, four; and reversible ones, of which some steps fail.\n\n")
	bottom.markdown(&b)
	if len(check.rows) > 0 {
		b.WriteString("## Posterior means against the reference\n\n")
		check.markdown(&b)
	}
	if err := os.WriteFile(filepath.Join(w.out, "fig2.csv"), []byte(csv.String()), 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.out, "fig2.md"), []byte(b.String()), 0o666)
}

// results are those of one data set.
type results struct {
	arm   map[string][]*result
	nuts  []*result
	delta float64 // the best
}

type group struct {
	name    string
	results []*result
}

func (r results) groups() []group {
	g := []group{{"nuts2011", r.nuts}}
	for _, a := range arms {
		g = append(g, group{a.name, r.arm[a.name]})
	}
	return g
}

// fill runs all chains of a data set.
func (r *results) fill(ctx context.Context, w *workshop, s set, target *regression, p protocol) error {
	starts, err := target.starts(p.chains, s.name)
	if err != nil {
		return err
	}
	kind := p.kind
	if w.dataDir == "" {
		kind += "-simulated"
	}
	chains := func(name string, sampler infer.Sampler, n, burnIn, draws int) []chain {
		var list []chain
		for c := range n {
			list = append(list, chain{
				name:   fmt.Sprintf("fig2-%s-%s-%s-%02d", kind, s.name, name, c+1),
				target: target, sampler: sampler, warmup: burnIn, draws: draws,
				id: c + 1, seed: seed(s.name, name), start: starts[c%len(starts)],
			})
		}
		return list
	}
	// First which δ suits NUTS, on seeds of their own.
	var tries []chain
	for _, d := range p.deltas {
		tries = append(tries, chains(fmt.Sprintf("try%.2f", d), nutsAt(d), p.tries, p.burnIn, p.draws)...)
	}
	tried, err := w.run(ctx, "figure 2, "+s.name+", NUTS", tries)
	if err != nil {
		return err
	}
	best := -1.0
	for i, d := range p.deltas {
		perGradient := summarise(values(tried[i*p.tries:(i+1)*p.tries], func(r *result) float64 { return least(r.ESS) / float64(r.Gradients) })).mean
		if perGradient > best {
			best, r.delta = perGradient, d
		}
	}
	all := chains(fmt.Sprintf("nuts%.2f", r.delta), nutsAt(r.delta), p.chains, p.burnIn, p.draws)
	for _, a := range arms {
		burnIn, draws := p.burnIn, p.draws
		if a.riemann {
			burnIn, draws = p.riemannBurnIn, p.riemannDraws
		}
		all = append(all, chains(a.name, a.sampler, p.chains, burnIn, draws)...)
	}
	out, err := w.run(ctx, "figure 2, "+s.name, all)
	if err != nil {
		return err
	}
	r.nuts, out = out[:p.chains], out[p.chains:]
	r.arm = map[string][]*result{}
	for _, a := range arms {
		r.arm[a.name], out = out[:p.chains], out[p.chains:]
	}
	return nil
}

// deviation is the largest distance of a mean over all chains from the
// reference, in its standard error.
func deviation(results []*result, mean, sd []float64) float64 {
	worst := 0.0
	for i := range mean {
		m, ess := 0.0, 0.0
		for _, r := range results {
			m += r.Mean[i] / float64(len(results))
			ess += r.ESS[i]
		}
		// The reference itself has an error of about one percent of a deviation.
		se := sd[i] * math.Sqrt(1/ess+1e-4)
		worst = max(worst, math.Abs(m-mean[i])/se)
	}
	return worst
}
