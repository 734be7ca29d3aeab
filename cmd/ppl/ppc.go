package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// checking is a run of ppc.
type checking struct {
	criticised
	json bool
}

// ppcJSON is what ppc prints with --json; a stable format.
type ppcJSON struct {
	Method    string             `json:"method"`    // always ppc
	Prior     bool               `json:"prior"`     // whether the draws are from the prior
	Variables []ppcVariable      `json:"variables"` // data that the model replicates
	Findings  []diagnose.Finding `json:"findings"`  // problems and remarks
}

type ppcVariable struct {
	Name         string `json:"name"`         // name of the variable
	Observations int    `json:"observations"` // number of observations
	// whether only a part is replicated, so that nothing is compared
	Partial bool       `json:"partly_replicated"`
	Checks  []ppcCheck `json:"checks"` // one entry per statistic
	// leave-one-out probability integral transform; null if not computed
	LOOPIT *pitSummary `json:"loo_pit"`
}

type ppcCheck struct {
	Statistic string `json:"statistic"` // mean, sd, min, max …
	Observed  number `json:"observed"`  // its value in the data
	Mean      number `json:"mean"`      // its mean over replications
	SD        number `json:"sd"`        // its standard deviation over replications
	Q5        number `json:"q5"`        // its 5 % quantile
	Q50       number `json:"q50"`       // its median
	Q95       number `json:"q95"`       // its 95 % quantile
	P         number `json:"p"`         // share of replications with a larger value
}

// pitSummary is uniformity, with what a plot of it needs.
type pitSummary struct {
	N          int      `json:"n"`           // number of values
	P          number   `json:"p"`           // p value of the test of uniformity
	Mean       number   `json:"mean"`        // mean of the values
	Variance   number   `json:"variance"`    // variance of the values
	Coverage50 number   `json:"coverage_50"` // share of observations in their 50 % intervals
	Coverage90 number   `json:"coverage_90"` // share of observations in their 90 % intervals
	Points     []number `json:"points"`      // where the distribution function is evaluated
	// empirical distribution function minus the uniform one, at points
	Difference []number `json:"ecdf_difference"`
	Lower      []number `json:"lower"`  // simultaneous 95 % band of the difference
	Upper      []number `json:"upper"`  // simultaneous 95 % band of the difference
	Values     []number `json:"values"` // one per observation
}

func newPITSummary(values []float64, u *criticise.Uniformity) *pitSummary {
	return &pitSummary{N: u.N, P: number(u.P), Mean: number(u.Mean), Variance: number(u.Variance),
		Coverage50: number(criticise.Coverage(values, 0.5)), Coverage90: number(criticise.Coverage(values, 0.9)),
		Points: numbersOf(u.Points), Difference: numbersOf(u.Difference), Lower: numbersOf(u.Lower), Upper: numbersOf(u.Upper), Values: numbersOf(values)}
}

func ppcCommand() *cobra.Command {
	var o checking
	cmd := &cobra.Command{
		Use: "ppc DIR",
		Long: `Posterior predictive checks: replicates the data at every draw of a run, from the
model's statements on data, and compares statistics of the data with those of the
replications; p is the share of replications with a larger one.

LOO-PIT: where each observation lies in what is predicted for it from the others, as a
probability. These are uniform if the predictions are right: too many near 0 and 1 mean
predictions that are too narrow, too few that they are too wide.

Variables some values of which are not replicated, such as censored ones, are left out.
Draws of ppl prior --out give prior predictive checks, without LOO-PIT.

DIR is the folder of a run with --out; or CSV files, with --model and --data.`,
		Example: `  ppl ppc fit
  ppl ppc prior/*.csv --model model.stan --data data.json`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.criticised.flags(cmd)
	f := declare(cmd)
	f.Uint64(&o.seed, "seed", 1)
	f.Bool(&o.quiet, "quiet", false)
	f.Bool(&o.json, "json", false)
	return cmd
}

func (o *checking) run(cmd *cobra.Command, args []string) error {
	fit, err := o.read(cmd, args)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	p, err := assess.PredictiveOf(ctx, fit, o.seed)
	if err != nil {
		return ended(ctx, cmd.ErrOrStderr(), underivable(err, "replicated data"))
	}
	findings := append(worded(p.Findings(), ""), runProblems(fit, args[0])...)
	if o.json {
		j := ppcJSON{Method: "ppc", Prior: p.Prior, Variables: []ppcVariable{}, Findings: findings}
		for _, v := range p.Variables {
			out := ppcVariable{Name: v.Name, Observations: v.Observations, Partial: v.Partial, Checks: []ppcCheck{}}
			for _, c := range v.Checks {
				out.Checks = append(out.Checks, ppcCheck{c.Name, number(c.Observed), number(c.Mean), number(c.SD), number(c.Q5), number(c.Q50), number(c.Q95), number(c.P)})
			}
			if v.Uniform != nil {
				out.LOOPIT = newPITSummary(v.PIT, v.Uniform)
			}
			j.Variables = append(j.Variables, out)
		}
		return writeJSON(cmd.OutOrStdout(), j)
	}
	w := cmd.OutOrStdout()
	var b strings.Builder
	for _, v := range p.Variables {
		if v.Partial {
			continue
		}
		cells := [][]string{{v.Name, "observed", "mean", "5%", "50%", "95%", "p"}}
		for _, c := range v.Checks {
			d := decimals(diagnose.Row{MCSEMean: math.NaN(), SD: c.SD})
			cells = append(cells, []string{c.Name, figure(c.Observed, d), figure(c.Mean, d), figure(c.Q5, d), figure(c.Q50, d), figure(c.Q95, d), fixed(c.P, 3)})
		}
		writeEstimates(&b, w, cells)
		if v.Uniform == nil {
			continue
		}
		writeParagraph(&b, "", fmt.Sprintf("LOO-PIT of %d of %d observations: p = %s for uniformity; %s %% lie in their 50 %% intervals, %s %% in their 90 %% intervals.",
			len(v.PIT), v.Observations, fixed(v.Uniform.P, 3), fixed(100*criticise.Coverage(v.PIT, 0.5), 0), fixed(100*criticise.Coverage(v.PIT, 0.9), 0)), lineWidth(w))
		b.WriteString("\n")
	}
	writeFindings(&b, findings, lineWidth(w))
	_, err = io.WriteString(w, b.String())
	return err
}
