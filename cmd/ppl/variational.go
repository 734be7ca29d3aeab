package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/optimize"
)

// varying is a run of the command variational.
type varying struct {
	approximation
	options optimize.VariationalOptions
	family  string
}

// variationalJSON is the part about the method in what variational prints with --json; a stable
// format.
type variationalJSON struct {
	Family     string  `json:"family"`     // meanfield or fullrank
	ELBO       number  `json:"elbo"`       // evidence lower bound at the end
	Eta        number  `json:"eta"`        // scale of the steps
	Converged  bool    `json:"converged"`  // whether the bound settled
	Iterations int     `json:"iterations"` // iterations made
	Mean       []exact `json:"mean"`       // mean of the unconstrained parameters
	SD         []exact `json:"sd"`         // standard deviation of the unconstrained parameters
}

func variationalCommand() *cobra.Command {
	var o varying
	cmd := &cobra.Command{
		Use: "variational MODEL --data FILE",
		Long: `Fits a normal distribution of the unconstrained parameters to the posterior by stochastic
gradient ascent of the evidence lower bound (ADVI), and draws from it. Its coordinates are
independent (meanfield) or have any covariance (fullrank). It tends to understate the
posterior's spread; the Pareto k of the importance weights says how close it is. ppl
pathfinder is usually better, and faster.

With --out, the first row of the file is the approximation's mean, as in CmdStan's files.`,
		Example: `  ppl variational m.model -d d.json --algorithm fullrank`,
		Args:    arguments("MODEL"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	o.flags(cmd)
	f := declare(cmd)
	f.String(&o.family, "algorithm", "meanfield")
	f.Int(&o.options.Iterations, "iter", 10000)
	f.Int(&o.options.GradientDraws, "grad-samples", 1)
	f.Int(&o.options.ELBODraws, "elbo-samples", 100)
	f.Float64(&o.options.Eta, "eta", 0)
	f.Int(&o.options.AdaptIter, "adapt-iter", 50)
	f.Float64(&o.options.TolRelObj, "tol-rel-obj", 0.01)
	f.Int(&o.options.EvalELBO, "eval-elbo", 100)
	f.Int(&o.options.Draws, "draws", 1000)
	return cmd
}

func (o *varying) run(cmd *cobra.Command, model string) error {
	o.options.Family = optimize.Family(o.family)
	if o.options.Family != optimize.MeanField && o.options.Family != optimize.FullRank {
		return usagef("unknown algorithm %q; it can be meanfield or fullrank", o.family)
	}
	for _, c := range []struct {
		name  string
		value int
	}{{"iter", o.options.Iterations}, {"grad-samples", o.options.GradientDraws}, {"elbo-samples", o.options.ELBODraws},
		{"adapt-iter", o.options.AdaptIter}, {"eval-elbo", o.options.EvalELBO}, {"draws", o.options.Draws}} {
		if c.value < 1 {
			return usagef("--%s must be at least 1, but is %d", c.name, c.value)
		}
	}
	if !(o.options.TolRelObj > 0) || !(o.options.Eta >= 0) || cmd.Flags().Changed("eta") && o.options.Eta == 0 {
		return usagef("--tol-rel-obj and --eta must be positive")
	}
	o.noPropto = true
	l, err := o.begin(cmd, model)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	return o.approximate(ctx, cmd, l)
}

// elboWidth is the length of a line of progress, in CmdStan's format, that ends with a long note.
const elboWidth = 110

// approximate fits the approximation and makes the draws, with the current program of the log
// density.
func (o *varying) approximate(ctx context.Context, cmd *cobra.Command, l *loaded) error {
	start, err := o.start(ctx, l.posterior)
	if err != nil {
		return ended(ctx, o.stderr, err)
	}
	head, line := "  iter             ELBO   delta_ELBO_mean   delta_ELBO_med   notes", "%6d  %15.3f  %16.3f  %15.3f   %s"
	if width, _, ok := terminalSize(o.stderr); ok && width < elboWidth {
		head, line = "  iter       ELBO  delta mean  delta med  notes", "%6d  %9.2f  %10.3f  %9.3f  %s"
	}
	o.tell("%s", head)
	o.options.Progress = func(e optimize.ELBO) {
		o.tell(line, e.Iteration, e.Value, e.Mean, e.Median, e.Note)
	}
	adapt := o.options.Eta == 0
	r, err := optimize.Variational(ctx, l.posterior, start, infer.Stream(o.seed, 1, "variational", 0), o.options)
	if err != nil {
		return ended(ctx, o.stderr, err)
	}
	switch again, err := o.compare(ctx, l, append([][]float64{r.Mean}, r.Points...)...); {
	case err != nil:
		return ended(ctx, o.stderr, err)
	case again:
		return o.approximate(ctx, cmd, l)
	}
	took := time.Since(o.started)
	all, err := o.generate(ctx, l.posterior, append([][]float64{r.Mean}, r.Points...))
	if err != nil {
		return ended(ctx, o.stderr, err)
	}
	statistics := [][]float64{{0, 0, 0}}
	for i, p := range r.LogP {
		statistics = append(statistics, []float64{0, p, r.LogQ[i]})
	}
	before := []string{}
	if adapt {
		before = []string{"Stepsize adaptation complete.", fmt.Sprintf("eta = %g", r.Eta)}
	}
	path, err := o.write(l, method("variational", choice("algorithm", o.family, "meanfield"), option("iter", o.options.Iterations, 10000),
		option("grad_samples", o.options.GradientDraws, 1), option("elbo_samples", o.options.ELBODraws, 100), option("eta", r.Eta, 1.0),
		option("tol_rel_obj", o.options.TolRelObj, 0.01), option("eval_elbo", o.options.EvalELBO, 100), option("output_samples", o.options.Draws, 1000)), []string{"lp__", "log_p__", "log_g__"},
		statistics, all.rows, before, elapsed(took, "Total"))
	if err != nil {
		return err
	}
	o.showRejections(r.Rejections, r.Evaluations)
	_, k := r.Weights()
	findings := fit.ApproximationFindings(len(r.Points), k)
	if !r.Converged || r.Receded {
		summary := fmt.Sprintf("The fit has not converged in %d iterations.", r.Iterations)
		if r.Receded {
			summary = "The evidence lower bound was larger at an earlier iteration."
		}
		findings = append(findings, diagnose.Finding{Code: "not-converged", Severity: diagnose.Problem, Summary: summary,
			Advice: "More draws per gradient (--grad-samples) and more iterations (--iter) help; ppl pathfinder needs neither."})
	}
	res := &result{model: all.model, names: all.names, rows: all.rows[1:], failed: all.failed, reason: all.reason}
	j := approximationJSON{Method: "variational", ParetoK: number(k), Evaluations: r.Evaluations, Findings: findings,
		Details: variationalJSON{o.family, number(r.ELBO), number(r.Eta), r.Converged, r.Iterations, exacts(r.Mean), exacts(r.SD)}}
	if path != "" {
		j.Files = []string{path}
	}
	return o.report(cmd.OutOrStdout(), res, j, []string{fmt.Sprintf("ELBO %.4g after %d iterations, eta %g, %d draws, %s. %s",
		r.ELBO, r.Iterations, r.Eta, len(r.Points), short(took), closeness(k))})
}
