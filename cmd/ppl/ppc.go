package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/front/report/plotfile"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/model"
)

// checking is a run of the command ppc.
type checking struct {
	criticised
	options assess.PredictiveOptions
	vpc     vpcOptions
	prior   bool
	plots   string
	json    bool
}

// ppcJSON is what ppc prints with --json; a stable format.
type ppcJSON struct {
	Method string `json:"method"` // always ppc
	Prior  bool   `json:"prior"`  // whether the draws are from the prior
	// whether the prior's predictions include such data and are not much wider; null unless the
	// draws are from the prior
	Plausible *bool `json:"plausible"`
	// parameters that each replication draws anew from their distribution
	Redrawn   []string           `json:"redrawn"`
	Variables []ppcVariable      `json:"variables"` // data that the model replicates
	Findings  []diagnose.Finding `json:"findings"`  // problems and remarks
}

type ppcVariable struct {
	Name         string `json:"name"`         // name of the variable
	Observations int    `json:"observations"` // number of observations
	// whether only a part is replicated, so that nothing is compared
	Partial bool       `json:"partly_replicated"`
	Checks  []ppcCheck `json:"checks"` // one entry per statistic
	// checks of groups of rows, with --by or --x; null without
	Groups *ppcGroups `json:"groups"`
	// visual predictive check, with --vpc; null without
	VPC *vpcJSON `json:"vpc"`
	// survival curves, if some values are censored; null otherwise
	Survival *ppcSurvival `json:"survival"`
	// how often each value of a count occurs; null if there are at most two values
	Frequencies *ppcCounts `json:"frequencies"`
	// leave-one-out probability integral transform; null if not computed
	LOOPIT *pitSummary `json:"loo_pit"`
}

type ppcGroups struct {
	Statistic string     `json:"statistic"` // what is compared: mean, sd …
	P         number     `json:"p"`         // p value of the largest deviation of all groups together
	Cells     []ppcGroup `json:"cells"`     // one entry per group, or interval of --x
}

type ppcGroup struct {
	By    []settingJSON `json:"by"`    // group of --by
	Low   *number       `json:"low"`   // least value of --x; null without
	High  *number       `json:"high"`  // greatest value of --x; null without
	Rows  int           `json:"rows"`  // number of rows
	Check ppcCheck      `json:"check"` // the statistic, with its replications
	// whether it deviates by more than the largest deviation of 99 % of the replications
	Odd bool `json:"odd"`
}

type ppcSurvival struct {
	Below  bool       `json:"below"`  // values are censored from below; points have the shares of smaller values
	P      number     `json:"p"`      // p value of the largest deviation of all points together
	Curves []ppcCurve `json:"curves"` // one entry per group, or one of all rows
}

type ppcCurve struct {
	By     []settingJSON `json:"by"`     // group of --by
	Low    *number       `json:"low"`    // least value of --x; null without
	High   *number       `json:"high"`   // greatest value of --x; null without
	Rows   int           `json:"rows"`   // number of rows
	Events int           `json:"events"` // number of rows that are not censored
	Points []ppcPoint    `json:"points"` // the curve at times of events
	// whether it deviates by more than the largest deviation of 99 % of the replications
	Odd bool `json:"odd"`
}

type ppcPoint struct {
	Time   number   `json:"time"`    // time of an event
	AtRisk int      `json:"at_risk"` // number of rows with no event and not censored before (of values censored from below: after)
	Check  ppcCheck `json:"check"`   // the Kaplan–Meier estimate, with that of the replications
}

type ppcCounts struct {
	P       number     `json:"p"`       // p value of the largest deviation of all classes together
	Classes []ppcClass `json:"classes"` // one entry per value, or class of values
}

type ppcClass struct {
	Low   *number  `json:"low"`   // least value of the class; null if unbounded
	High  *number  `json:"high"`  // greatest value of the class; null if unbounded
	Check ppcCheck `json:"check"` // the number of rows, with its replications
	// whether it deviates by more than the largest deviation of 99 % of the replications
	Odd bool `json:"odd"`
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

// pitSummary is the test of uniformity, with the data for a plot.
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
		Long: `Posterior predictive checks: replicates the data at every draw of a run, from the model's
statements about data. It compares statistics of the data with those of the replications; p
is the share of replications with a larger one.

LOO-PIT is the quantile of each observation in its prediction from the others. These are
uniform if the predictions are right. Too many near 0 and 1 mean that predictions are too
narrow; too few, that they are too wide.

--by compares each group of rows with its replications, and --x rows with about the same
value of a column. With both, --x applies within each group. --statistic chooses what is
compared. The last line judges the largest deviation of all groups together.

--prior draws from the prior instead: are its predictions plausible? Give the folder of a
run, or the model itself. Without the outcome among the data, only the predictions are
shown. There is no LOO-PIT, because calibration is a question about the fit.

For times that are censored from above, as with cens() of ppl new or weibull_lccdf(y | …),
Kaplan-Meier curves are compared. Each replication is censored like the data. For values that
are censored from below, these are the shares of smaller values. Where values are in
intervals, only LOO-PIT is computed. For counts, the table shows how often each value
occurs: a rootogram as numbers.

--vpc is a visual predictive check: quantiles of the outcome in bins of time, or of --x, with
those of the replications; --by makes strata. Times in records of doses are left out.
Parameters that describe a population, such as the effects of subjects, are drawn anew;
--redraw none keeps them. --correct ratio makes doses and covariates comparable
(prediction correction); --correct difference is for outcomes on the scale of logarithms.
Censored values count as their limit, also in replications.

--plots draws the checks: the data with their replications, the groups of --by, survival curves
with a panel for each group, and rootograms. Their numbers are in CSV files with the same names.

Variables with other values that cannot be replicated are left out.

DIR is the folder of a run with --out; or CSV files, with --model and --data.`,
		Example: `  ppl ppc fit
  ppl ppc fit --by hospital --x age
  ppl ppc fit --by hospital --plots plots
  ppl ppc fit --vpc --by SEX --correct ratio --plots plots
  ppl ppc --prior model.stan --data data.json
  ppl ppc --prior fit`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := declare(cmd)
	f.List(&o.options.By, "by", nil)
	f.String(&o.options.X, "x", "")
	f.String(&o.options.Statistic, "statistic", "mean")
	o.vpc.flags(f)
	f.Bool(&o.prior, "prior", false)
	f.String(&o.plots, "plots", "")
	o.criticised.flags(cmd)
	f.Uint64(&o.seed, "seed", 1)
	f.Bool(&o.quiet, "quiet", false)
	f.Bool(&o.verbose, "verbose", false)
	f.Bool(&o.json, "json", false)
	return cmd
}

// compare makes the checks. It returns the fit, or the draws from the prior.
func (o *checking) compare(cmd *cobra.Command, args []string) (p *assess.Predictive, f *fit.Fit, prior *assess.Prior, err error) {
	if !slices.Contains(criticise.Statistics(true), o.options.Statistic) {
		return nil, nil, nil, usagef("--statistic can be %s, but is %q", strings.Join(criticise.Statistics(true), ", "), o.options.Statistic)
	}
	o.options.Seed = o.seed
	if err := o.vpc.set(&o.options); err != nil {
		return nil, nil, nil, err
	}
	if !o.prior {
		if f, err = o.read(cmd, args); err != nil {
			return nil, nil, nil, err
		}
		ctx, stop := interruptible(cmd.Context(), nil)
		defer stop()
		o.options.Quantities = o.quantities
		p, err = assess.PredictiveOf(ctx, f, o.options)
		if err != nil {
			values, _ := f.Data()
			err = o.vpc.missing(err, o.options.X, values)
		}
		return p, f, nil, ended(ctx, cmd.ErrOrStderr(), keptOnly(underivable(err, "replicated data"), f))
	}
	if len(args) != 1 {
		return nil, nil, nil, usagef("--prior needs one model, with --data, or one folder of a run")
	}
	var m *model.Model
	var values *data.Set
	var bind model.BindOptions
	if isFolder(args[0]) {
		if f, err = openFit(cmd.Context(), args, &o.memory); err != nil {
			return nil, nil, nil, err
		}
		if o.data != "" && f.Record() != nil {
			return nil, nil, nil, keepsData(args[0])
		}
		if m, err = f.Model(); err != nil {
			return nil, nil, nil, err
		}
		if values, err = f.Data(); err != nil {
			return nil, nil, nil, err
		}
		bind = f.Binding()
	} else {
		in := priorOptions{quantityOptions: quantityOptions{input: o.input}}
		in.print = printer(cmd.ErrOrStderr())
		if m, values, err = in.load(cmd.Context(), args[0], cmd.ErrOrStderr()); err != nil {
			return nil, nil, nil, ended(cmd.Context(), cmd.ErrOrStderr(), err)
		}
		bind = in.bindOptions()
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	p, prior, err = assess.PriorPredictive(ctx, m, values, bind, fit.Options{Seed: o.seed}, o.options)
	if err != nil {
		return nil, nil, nil, ended(ctx, cmd.ErrOrStderr(), keptOnly(underivable(err, "replicated data"), f))
	}
	return p, nil, prior, nil
}

func (o *checking) run(cmd *cobra.Command, args []string) error {
	p, f, prior, err := o.compare(cmd, args)
	if err != nil {
		return err
	}
	findings := worded(p.Findings(), "")
	if f != nil {
		findings = append(findings, runProblems(f, o.criticised.run(args[0]))...)
	}
	if prior != nil {
		findings = append(findings, worded(priorFindings(prior), "")...)
	}
	plots, err := o.draw(cmd, p)
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(cmd.OutOrStdout(), o.asJSON(p, findings))
	}
	w := cmd.OutOrStdout()
	var b strings.Builder
	for _, v := range p.Variables {
		if o.vpc.on {
			writeVPC(&b, w, v)
			continue
		}
		if v.Partial {
			continue
		}
		if len(v.Checks) > 0 {
			o.writeChecks(&b, w, v)
		}
		writeFrequencies(&b, w, v)
		writeSurvival(&b, w, v)
		if v.Groups != nil {
			o.writeGroups(&b, w, v)
		}
		if v.Uniform == nil {
			continue
		}
		if len(v.Checks) == 0 && v.Survival == nil {
			writeParagraph(&b, "", fmt.Sprintf("Values of %s are in intervals or censored on both sides, so that only their LOO-PIT is computed.", v.Name), lineWidth(w))
		}
		writeParagraph(&b, "", fmt.Sprintf("LOO-PIT of %d of %d observations: p = %s for uniformity; %s %% lie in their 50 %% intervals, %s %% in their 90 %% intervals.",
			len(v.PIT), v.Observations, fixed(v.Uniform.P, 3), fixed(100*criticise.Coverage(v.PIT, 0.5), 0), fixed(100*criticise.Coverage(v.PIT, 0.9), 0)), lineWidth(w))
		b.WriteString("\n")
	}
	if p.NoPIT != nil && !o.vpc.on {
		writeParagraph(&b, "", fmt.Sprintf("LOO-PIT is not computed. It needs observations that do not share discrete parameters: %v.", p.NoPIT), lineWidth(w))
		b.WriteString("\n")
	}
	if text := redrawnText(p); text != "" && (o.vpc.on || len(p.Redrawn) > 0) {
		writeParagraph(&b, "", text, lineWidth(w))
		b.WriteString("\n")
	}
	if prior != nil && !o.quiet {
		writeParagraph(&b, "", howDrawn(prior), lineWidth(w))
		b.WriteString("\n")
	}
	o.writeVerdict(&b, p, findings, lineWidth(w))
	if len(plots) > 0 {
		fmt.Fprintf(&b, "Plots: %s\n", filesText(plots))
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// draw writes the plots of the checks, if --plots asks for them.
func (o *checking) draw(cmd *cobra.Command, p *assess.Predictive) ([]string, error) {
	if o.plots == "" {
		return nil, nil
	}
	if err := files.MakeFolder(o.plots); err != nil {
		return nil, fmt.Errorf("--plots: %w", err)
	}
	r := report.PredictiveReport(p)
	return plotfile.Write(cmd.Context(), r, o.plots, plotfile.Figures(r, nil))
}

// writeVerdict prints findings. If the draws are from the prior, their verdict is whether it is
// plausible, and the text claims no agreement with the data.
func (o *checking) writeVerdict(b *strings.Builder, p *assess.Predictive, findings []diagnose.Finding, width int) {
	if len(findings) > 0 || !p.Prior {
		writeBriefly(b, findings, inBrief{details: sameVerbose, verbose: o.verbose, width: width})
	}
	switch {
	case !p.Prior || !assess.Plausible(findings):
	case slices.ContainsFunc(p.Variables, func(v assess.PredictiveVariable) bool {
		return v.Survival != nil || len(v.Checks) > 0 && !math.IsNaN(v.Checks[0].Observed)
	}):
		writeParagraph(b, "", "The prior is plausible: it expects data such as these, and not far wider ones. Whether the model fits them is another question: ppl ppc with the folder of a run.", width)
	default:
		writeParagraph(b, "", "There are no data to compare with. Judge whether such values can occur.", width)
	}
}

// writeChecks prints the checks of a variable, a row for each statistic.
func (o *checking) writeChecks(b *strings.Builder, w io.Writer, v assess.PredictiveVariable) {
	cells := [][]string{{v.Name, "observed", "mean", "5%", "50%", "95%", "p"}}
	for _, c := range v.Checks {
		cells = append(cells, append([]string{c.Name}, checkCells(c)...))
	}
	writeEstimates(b, w, cells)
}

// checkCells returns the figures of a check as cells of a table.
func checkCells(c criticise.Check) []string {
	d := decimals(diagnose.Row{MCSEMean: math.NaN(), SD: c.SD})
	return []string{figure(c.Observed, d), figure(c.Mean, d), figure(c.Q5, d), figure(c.Q50, d), figure(c.Q95, d), fixed(c.P, 3)}
}

// writeGroups prints the checks for groups of rows.
func (o *checking) writeGroups(b *strings.Builder, w io.Writer, v assess.PredictiveVariable) {
	g := v.Groups
	var head []string
	for _, name := range g.By {
		head = append(head, escaped(name))
	}
	if g.X != "" {
		head = append(head, escaped(g.X))
	}
	texts := len(head)
	cells := [][]string{append(head, "rows", "observed", "mean", "5%", "50%", "95%", "p")}
	for _, c := range g.Cells {
		var row []string
		for _, s := range c.By {
			row = append(row, escaped(s.Label))
		}
		if g.X != "" {
			row = append(row, intervalText(c.Low, c.High))
		}
		cells = append(cells, slices.Concat(row, []string{strconv.Itoa(c.Rows)}, checkCells(c.Check)))
	}
	writeParagraph(b, "", fmt.Sprintf("The %s of %s in groups of rows:", g.Statistic, v.Name), lineWidth(w))
	writeLabelled(b, w, cells, texts)
	if !math.IsNaN(g.P) {
		writeParagraph(b, "", fmt.Sprintf("Largest deviation of all groups together: p = %s.", fixed(g.P, 3)), lineWidth(w))
		b.WriteString("\n")
	}
}

// asJSON returns the result in the form for --json.
func (o *checking) asJSON(p *assess.Predictive, findings []diagnose.Finding) ppcJSON {
	j := ppcJSON{Method: "ppc", Prior: p.Prior, Redrawn: append([]string{}, p.Redrawn...), Variables: []ppcVariable{}, Findings: findings}
	if p.Prior {
		plausible := assess.Plausible(findings)
		j.Plausible = &plausible
	}
	for _, v := range p.Variables {
		out := ppcVariable{Name: v.Name, Observations: v.Observations, Partial: v.Partial, Checks: []ppcCheck{}}
		for _, c := range v.Checks {
			out.Checks = append(out.Checks, statisticJSON(c))
		}
		if g := v.Groups; g != nil {
			out.Groups = &ppcGroups{Statistic: g.Statistic, P: number(g.P), Cells: []ppcGroup{}}
			for _, c := range g.Cells {
				cell := ppcGroup{By: settingsJSON(c.By), Rows: c.Rows, Check: statisticJSON(c.Check), Odd: math.Abs(c.Deviation) > g.Limit}
				if g.X != "" {
					low, high := number(c.Low), number(c.High)
					cell.Low, cell.High = &low, &high
				}
				out.Groups.Cells = append(out.Groups.Cells, cell)
			}
		}
		out.VPC = vpcOf(v.VPC)
		out.Survival, out.Frequencies = survivalJSON(v.Survival), countsJSON(v.Frequencies)
		if v.Uniform != nil {
			out.LOOPIT = newPITSummary(v.PIT, v.Uniform)
		}
		j.Variables = append(j.Variables, out)
	}
	return j
}
