package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/study"
)

// calibrating is a run of the command sbc.
type calibrating struct {
	input
	studyOptions
	simulations, ranks, thin, warmup int
	vars, program                    string
	json                             bool
	failOn                           failOn
}

// sbcJSON is what sbc prints with --json; a stable format.
type sbcJSON struct {
	Method      string             `json:"method"`      // always sbc
	Simulations int                `json:"simulations"` // number of simulated data sets
	Failed      int                `json:"failed"`      // fits that failed
	Draws       int                `json:"draws"`       // number of draws of a fit among which the true value is ranked
	Parameters  []sbcParameter     `json:"parameters"`  // one entry per parameter
	Findings    []diagnose.Finding `json:"findings"`    // problems and remarks
}

type sbcParameter struct {
	Name   string   `json:"name"`   // name of the parameter
	P      number   `json:"p"`      // p value of the test of uniformity
	Ranks  []int    `json:"ranks"`  // rank of the true value, by simulation
	Points []number `json:"points"` // where the distribution function is evaluated
	// empirical distribution function minus the uniform one, at points
	Difference []number `json:"ecdf_difference"`
	Lower      []number `json:"lower"` // simultaneous 95 % band of the difference
	Upper      []number `json:"upper"` // simultaneous 95 % band of the difference
}

func sbcCommand() *cobra.Command {
	var o calibrating
	cmd := &cobra.Command{
		Use: "sbc MODEL --data FILE",
		Long: `Simulation-based calibration draws parameters from the prior, and data from the model. It
fits the model to these data, and ranks each true parameter among the draws of its posterior.
It repeats this many times, on all processors. The ranks are uniform if model, sampler and
program are right. p is the probability of ranks that differ as much from uniform.

--data has sizes and covariates; the outcomes are simulated. With --out, fits are kept as
they arrive, and the same command continues after a stop. The folder has results.csv, and
ppl report shows it. --engine makes the fits on other machines.`,
		Example: `  ppl sbc m.stan -d d.json --simulations 500 --out calibration`,
		Args:    arguments("MODEL"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	o.input.flags(cmd)
	f := declare(cmd)
	f.Int(&o.simulations, "simulations", 200)
	f.Int(&o.ranks, "ranks", 99)
	f.Int(&o.thin, "thin", 10)
	f.Int(&o.warmup, "warmup", 1000)
	f.Uint64(&o.seed, "seed", 1)
	o.studyOptions.flags(cmd)
	f.String(&o.program, "simulator", "")
	f.String(&o.vars, "vars", "")
	o.failOn.flag(cmd)
	f.Bool(&o.json, "json", false)
	f.Bool(&o.verbose, "verbose", false)
	return cmd
}

func (o *calibrating) run(cmd *cobra.Command, model string) error {
	stderr := cmd.ErrOrStderr()
	for _, c := range []struct {
		name  string
		value int
	}{{"simulations", o.simulations}, {"ranks", o.ranks}, {"thin", o.thin}, {"warmup", o.warmup}} {
		if c.value < 1 {
			return usagef("--%s must be at least 1, but is %d", c.name, c.value)
		}
	}
	if err := heldIn(cmd.Context()).allow(o.simulations, o.warmup, o.ranks*o.thin); err != nil {
		return err
	}
	o.input.quiet = o.studyOptions.quiet
	l, err := o.load(cmd.Context(), model, stderr)
	if err != nil {
		return ended(cmd.Context(), stderr, err)
	}
	chosen, err := chosenNames(o.vars, l.posterior.ParameterNames(), l.levels)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	program, err := o.simulator(ctx, o.program, stderr)
	if err != nil {
		return err
	}
	simulator, err := assess.NewSimulator(ctx, l.model, l.values, o.simulations, o.seed, assess.SimulatorOptions{Program: program, Bind: o.bindOptions()})
	if err != nil {
		return ended(ctx, stderr, err)
	}
	m, err := study.NewModel(folder.BaseName(model), l.model, o.compile.Legacy)
	if err != nil {
		return err
	}
	p := &study.Plan{
		Parts: []study.Part{{Models: []*study.Model{m}, Source: &study.Simulated{Simulator: simulator, Count: o.simulations, Seed: o.seed}}},
		Seed:  o.seed,
		Keep:  study.Keep{Ranks: true},
		Options: study.Options{"chains": "1", "warmup": strconv.Itoa(o.warmup), "draws": strconv.Itoa(o.ranks * o.thin), "thin": strconv.Itoa(o.thin),
			"stan-compat": o.stanCompat},
	}
	c := &calibration{draws: o.ranks, simulations: o.simulations}
	for _, name := range l.posterior.ParameterNames() {
		if chosen(name) {
			c.names = append(c.names, name)
		}
	}
	if _, err := o.studyOptions.run(ctx, stderr, p, "", c.add); err != nil {
		return err
	}
	return o.report(cmd.OutOrStdout(), c)
}

// calibration has the results of simulations. Each draws parameters, simulates data from them, fits
// the model to these data, and ranks the parameters among the draws of the fit.
type calibration struct {
	names              []string
	draws, simulations int
	ranks              [][]int // by simulation, without failed ones, then by parameter
	failed, divergent  int
	reason             string // why the last failed simulation failed
}

func (c *calibration) add(_ *study.Unit, r *study.Result) error {
	if r.Status == study.Failed {
		c.failed++
		c.reason = r.Message
		return nil
	}
	if r.Divergences > 0 {
		c.divergent++
	}
	by := map[string]int{}
	for _, row := range r.Rows {
		by[row.Name] = row.Rank
	}
	ranks := make([]int, len(c.names))
	for i, name := range c.names {
		ranks[i] = by[diagnose.DisplayName(name)]
	}
	c.ranks = append(c.ranks, ranks)
	return nil
}

// fewSimulations is the number of simulations below which uniform ranks say little. With n
// simulations, a deviation d of the distribution function is detected with probability of about 1/2
// if d equals the quantile of Kolmogorov's distribution, 1.36/√n at the 5 % level.
const fewSimulations = 100

// report tests the ranks.
func (o *calibrating) report(w io.Writer, c *calibration) error {
	rng := rand.New(rand.NewPCG(o.seed, 0x736263))
	j := sbcJSON{Method: "sbc", Simulations: c.simulations, Failed: c.failed, Draws: c.draws, Parameters: []sbcParameter{}, Findings: []diagnose.Finding{}}
	var wrong []string // parameters with a problem, and the problem
	for i, name := range c.names {
		var values []float64
		p := sbcParameter{Name: name, Ranks: []int{}}
		for _, ranks := range c.ranks {
			p.Ranks = append(p.Ranks, ranks[i])
			values = append(values, (float64(ranks[i])+rng.Float64())/float64(c.draws+1))
		}
		u := criticise.Uniform(values, rng)
		p.P, p.Points, p.Difference, p.Lower, p.Upper = number(u.P), numbersOf(u.Points), numbersOf(u.Difference), numbersOf(u.Lower), numbersOf(u.Upper)
		if u.P < 0.05/float64(len(c.names)) {
			point, share := u.Farthest()
			shape := map[criticise.Shape]string{criticise.Spread: "the posteriors are too narrow", criticise.Crowded: "the posteriors are too wide",
				criticise.High: "the posteriors are too low", criticise.Low: "the posteriors are too high", criticise.Other: fmt.Sprintf("%.0f %% of the ranks are in the lowest %.0f %% of the draws", 100*share, 100*point)}[u.Shape()]
			wrong = append(wrong, fmt.Sprintf("%s (%s)", diagnose.DisplayName(name), shape))
		}
		j.Parameters = append(j.Parameters, p)
	}
	if len(wrong) > 0 {
		j.Findings = append(j.Findings, diagnose.Finding{Code: "calibration", Severity: diagnose.Problem,
			Summary: fmt.Sprintf("The ranks are not uniform: %s.", strings.Join(wrong[:min(5, len(wrong))], ", ")),
			Advice:  "Look for an error in the model, such as a missing Jacobian, and for dependent draws (--thin). Use ppl run with simulated data to see whether the sampler has problems."})
	}
	if j.Failed > 0 {
		text, _, _ := strings.Cut(c.reason, "\n")
		j.Findings = append(j.Findings, diagnose.Finding{Code: "failed", Severity: diagnose.Problem,
			Summary: fmt.Sprintf("%d of %d simulations failed, for instance: %s", j.Failed, j.Simulations, text),
			Advice:  "The remaining simulations are a biased sample. A frequent cause is a prior that allows extreme parameters."})
	}
	if n := j.Simulations - j.Failed; n > 0 && n < fewSimulations && len(wrong) == 0 {
		j.Findings = append(j.Findings, diagnose.Finding{Code: "few-simulations", Severity: diagnose.Note,
			Summary: fmt.Sprintf("%s can show only gross errors: ranks that differ from uniform by less than about %.2g pass.", count(n, "simulation", "simulations"), min(1, 1.36/math.Sqrt(float64(n)))),
			Advice:  "Run more, such as --simulations 200."})
	}
	if fits := len(c.ranks); c.divergent*20 > fits {
		j.Findings = append(j.Findings, diagnose.Finding{Code: "divergences", Severity: diagnose.Note,
			Summary: fmt.Sprintf("%d of %d fits had divergent transitions.", c.divergent, fits),
			Advice:  "If the ranks are not uniform, reparametrise."})
	}
	fail := o.failOn.of(j.Findings)
	if o.json {
		if err := writeJSON(w, j); err != nil {
			return err
		}
		return fail
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d simulations, ranks among %d draws.\n\n", j.Simulations-j.Failed, j.Draws)
	cells := [][]string{{"", "p", "mean rank", "largest departure"}}
	order := slices.Clone(j.Parameters)
	sorting.Stable(order, func(a, b sbcParameter) int {
		switch {
		case a.P < b.P:
			return -1
		case a.P > b.P:
			return 1
		}
		return 0
	})
	for _, p := range order {
		mean, largest := 0.0, 0.0
		if len(p.Ranks) == 0 {
			mean, largest = math.NaN(), math.NaN()
		}
		for _, r := range p.Ranks {
			mean += float64(r) / float64(len(p.Ranks))
		}
		for _, d := range p.Difference {
			largest = math.Max(largest, math.Abs(float64(d)))
		}
		cells = append(cells, []string{diagnose.DisplayName(p.Name), fixed(float64(p.P), 3), fixed(mean, 1), fixed(largest, 3)})
	}
	writeEstimates(&b, w, cells)
	writeBriefly(&b, j.Findings, inBrief{details: sameVerbose, verbose: o.verbose, width: lineWidth(w)})
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return fail
}
