package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/model"
)

// climbing has the options of L-BFGS that optimize and pathfinder share.
type climbing struct{ optimize.Options }

func (c *climbing) flags(cmd *cobra.Command) {
	f := declare(cmd)
	f.Int(&c.History, "history-size", 5)
	f.Float64(&c.InitAlpha, "init-alpha", 1e-3)
	f.Float64(&c.TolObj, "tol-obj", 1e-12)
	f.Float64(&c.TolRelObj, "tol-rel-obj", 1e4)
	f.Float64(&c.TolGrad, "tol-grad", 1e-8)
	f.Float64(&c.TolRelGrad, "tol-rel-grad", 1e7)
	f.Float64(&c.TolParam, "tol-param", 1e-8)
}

// settled returns the options for the package. It translates a tolerance of 0, because the package
// would use its default for 0.
func (c climbing) settled() (optimize.Options, error) {
	o := c.Options
	for _, t := range []struct {
		name string
		v    *float64
	}{{"tol-obj", &o.TolObj}, {"tol-rel-obj", &o.TolRelObj}, {"tol-grad", &o.TolGrad}, {"tol-rel-grad", &o.TolRelGrad}, {"tol-param", &o.TolParam}} {
		if !(*t.v >= 0) {
			return o, usagef("--%s must not be negative, but is %v", t.name, *t.v)
		}
		if *t.v == 0 {
			*t.v = -1
		}
	}
	switch {
	case o.History < 1:
		return o, usagef("--history-size must be at least 1, but is %d", o.History)
	case !(o.InitAlpha > 0) || math.IsInf(o.InitAlpha, 1):
		return o, usagef("--init-alpha must be positive, but is %v", o.InitAlpha)
	}
	return o, nil
}

// settings returns the options for the header of a file.
func (c climbing) settings() []draws.Setting {
	return []draws.Setting{
		option("init_alpha", c.InitAlpha, 1e-3), option("tol_obj", c.TolObj, 1e-12), option("tol_rel_obj", c.TolRelObj, 1e4),
		option("tol_grad", c.TolGrad, 1e-8), option("tol_rel_grad", c.TolRelGrad, 1e7), option("tol_param", c.TolParam, 1e-8),
		option("history_size", c.History, 5),
	}
}

// optimizing is a run of the command optimize.
type optimizing struct {
	approximation
	climbing
	algorithm      string
	jacobian       bool
	iterations     int
	saveIterations bool
	refresh        int
}

// optimumJSON is what optimize prints with --json; a stable format.
type optimumJSON struct {
	Method     string `json:"method"`    // always optimize
	Algorithm  string `json:"algorithm"` // lbfgs, bfgs or newton
	Jacobian   bool   `json:"jacobian"`  // whether Jacobians are included
	LogDensity exact  `json:"lp"`        // log density at the optimum
	// whether a criterion of convergence was met
	Converged    bool        `json:"converged"`
	Code         int         `json:"code"`          // CmdStan's code of the reason
	Reason       string      `json:"reason"`        // why the optimisation ended
	Iterations   int         `json:"iterations"`    // iterations made
	Evaluations  int64       `json:"evaluations"`   // evaluations of the log density
	GradientNorm number      `json:"gradient_norm"` // norm of the gradient at the end
	Estimates    []valueJSON `json:"estimates"`     // value of each quantity at the optimum
	// the optimum on the unconstrained scale
	Unconstrained []exact            `json:"unconstrained"`
	Findings      []diagnose.Finding `json:"findings"` // problems and remarks
	Files         []string           `json:"files"`    // files written, with --out
}

// valueJSON is a quantity at a point.
type valueJSON struct {
	Name  string `json:"name"`  // name of the quantity, with . between indices
	Value exact  `json:"value"` // its value
}

func optimizeCommand() *cobra.Command {
	var o optimizing
	cmd := &cobra.Command{
		Use: "optimize MODEL --data FILE",
		Long: `Climbs to a maximum of the log density and prints the parameters, transformed
parameters and generated quantities there.

Without --jacobian, the density is that of the parameters as declared: the maximum is the mode of the posterior, or, without priors, the maximum
likelihood estimate. With --jacobian, it is that of the unconstrained parameters. ppl laplace needs that one.

If --time-limit or Ctrl-C ends the climb, the point reached so far is shown and written,
marked as not converged.

The algorithms are lbfgs, bfgs, and newton, which uses exact second derivatives. They end by
the criteria of the flags --tol-…, as Stan's do. The last line says which criterion it was.
With --out, the file has CmdStan's columns.`,
		Example: `  ppl optimize m.model -d d.json
  ppl optimize m.model -d d.json --jacobian --out mode
  ppl laplace m.model -d d.json --mode mode`,
		Args: arguments("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	o.approximation.flags(cmd)
	f := declare(cmd)
	f.String(&o.algorithm, "algorithm", "lbfgs")
	f.Bool(&o.jacobian, "jacobian", false)
	f.Int(&o.iterations, "iter", 2000)
	o.climbing.flags(cmd)
	f.Bool(&o.saveIterations, "save-iterations", false)
	f.Int(&o.refresh, "refresh", 100)
	return cmd
}

func (o *optimizing) run(cmd *cobra.Command, model string) error {
	options, err := o.settled()
	if err != nil {
		return err
	}
	options.Algorithm, options.Iterations = optimize.Algorithm(o.algorithm), o.iterations
	if !slices.Contains(optimize.Algorithms(), options.Algorithm) {
		return usagef("unknown algorithm %q; it can be lbfgs, bfgs or newton", o.algorithm)
	}
	if o.iterations < 1 {
		return usagef("--iter must be at least 1, but is %d", o.iterations)
	}
	if options.Algorithm == optimize.Newton && !cmd.Flags().Changed("tol-obj") {
		options.TolObj = 0 // its own default
	}
	o.noJacobian = !o.jacobian
	l, err := o.begin(cmd, model)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	start, err := o.start(ctx, l.posterior)
	if err != nil {
		return ended(ctx, o.stderr, err)
	}
	r, trace, err := o.climb(ctx, l.posterior, start, options)
	for r != nil && err == nil {
		again, wrong := o.compare(ctx, l, r.X)
		if wrong != nil {
			return ended(ctx, o.stderr, wrong)
		}
		if !again {
			break
		}
		r, trace, err = o.climb(ctx, l.posterior, start, options)
	}
	if r == nil {
		return ended(ctx, o.stderr, err)
	}
	cut := err != nil && ctx.Err() != nil
	if err != nil && !cut {
		return err
	}
	o.showRejections(r.Rejections, r.Evaluations)
	if err := o.finish(ctx, cmd.OutOrStdout(), l, r, trace, cut); err != nil {
		return err
	}
	switch {
	case cut && timeUp(ctx) == nil:
		return exitCode(exitInterrupted)
	case r.Reason == optimize.LineSearchFailed:
		return exitCode(exitError)
	}
	return nil
}

// climb runs the optimisation and reports its iterations. Each row of trace has lp__, converged__
// and the point.
func (o *optimizing) climb(ctx context.Context, p *model.Posterior, start []float64, options optimize.Options) (*optimize.Result, [][]float64, error) {
	var trace [][]float64
	var last *optimize.Iteration
	line := climbLine
	if width, _, ok := terminalSize(o.stderr); ok && width < climbWidth {
		line = narrowClimbLine
	}
	telling := !o.quiet && o.refresh > 0
	options.Progress = func(i *optimize.Iteration) {
		if o.saveIterations {
			trace = append(trace, append([]float64{i.LogDensity, 0}, i.X...))
		}
		if !telling {
			return
		}
		switch {
		case i.Number == 0:
			printMessage(o.stderr, "Initial log joint probability = %.6g", i.LogDensity)
			printMessage(o.stderr, "%s", line(nil))
		case i.Number%o.refresh == 0 || i.Note != "":
			printMessage(o.stderr, "%s", line(i))
			last = nil
		default:
			c := *i
			c.Gradient = slices.Clone(i.Gradient)
			last = &c
		}
	}
	r, err := optimize.Maximize(ctx, p, start, options)
	if last != nil {
		printMessage(o.stderr, "%s", line(last))
	}
	return r, trace, err
}

// climbWidth is the length of a line of progress that ends with a long note.
const climbWidth = 118

// climbLine returns a line of progress in CmdStan's format, or the titles if i is nil.
func climbLine(i *optimize.Iteration) string {
	if i == nil {
		return "    Iter      log prob        ||dx||      ||grad||       alpha      alpha0  # evals  Notes"
	}
	return fmt.Sprintf(" %7d  %12.6g  %12.6g  %12.6g  %10.4g  %10.4g  %7d  %s",
		i.Number, i.LogDensity, i.Step, i.GradientNorm(), i.Alpha, i.Alpha0, i.Evaluations, i.Note)
}

// narrowClimbLine is like climbLine, but without the steps, for terminals narrower than climbWidth.
func narrowClimbLine(i *optimize.Iteration) string {
	if i == nil {
		return "    Iter      log prob      ||grad||  # evals  Notes"
	}
	return strings.TrimRight(fmt.Sprintf(" %7d  %12.6g  %12.6g  %7d  %s", i.Number, i.LogDensity, i.GradientNorm(), i.Evaluations, i.Note), " ")
}

// finish writes the file and prints the result.
func (o *optimizing) finish(ctx context.Context, w io.Writer, l *loaded, r *optimize.Result, trace [][]float64, cut bool) error {
	p := l.posterior
	if !o.saveIterations || len(trace) == 0 {
		trace = [][]float64{append([]float64{r.LogDensity, 0}, r.X...)}
	}
	trace[len(trace)-1][1] = float64(r.Reason)
	points, statistics := make([][]float64, len(trace)), make([][]float64, len(trace))
	for i, row := range trace {
		statistics[i], points[i] = row[:2], row[2:]
	}
	res, err := o.generate(ctx, p, points)
	if err != nil && timeUp(ctx) == nil && !cut {
		return ended(ctx, o.stderr, err)
	}
	if err != nil { // the point that was reached is kept
		statistics, points = statistics[len(points)-1:], points[len(points)-1:]
		allowed, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), grace, context.Cause(ctx))
		defer cancel()
		if res, err = o.generate(allowed, p, points); err != nil {
			return err
		}
	}
	algorithm := o.climbing.settings()
	if o.algorithm != "lbfgs" {
		algorithm = algorithm[:len(algorithm)-1] // no history
	}
	if o.algorithm == "newton" {
		algorithm = nil
	}
	path, err := o.write(l, method("optimize", choice("algorithm", o.algorithm, "lbfgs", algorithm...), option("jacobian", o.jacobian, false),
		option("iter", o.iterations, 2000), option("save_iterations", o.saveIterations, false)), []string{"lp__", "converged__"},
		statistics, res.rows, nil, nil)
	if err != nil {
		return err
	}
	values := res.rows[len(res.rows)-1]
	norm := r.GradientNorm()
	reason := r.Reason.String()
	if cut {
		reason = "Interrupted"
		if timeUp(ctx) != nil {
			reason = "Time limit reached"
		}
	}
	findings := o.findings(p, r, res, reason)
	if o.json {
		j := optimumJSON{Method: "optimize", Algorithm: o.algorithm, Jacobian: o.jacobian, LogDensity: exact(r.LogDensity),
			Converged: r.Reason.Converged(), Code: int(r.Reason), Reason: reason, Iterations: r.Iterations, Evaluations: r.Evaluations,
			GradientNorm: number(norm), Unconstrained: exacts(r.X), Findings: findings, Files: []string{}, Estimates: []valueJSON{}}
		for i, name := range res.names {
			j.Estimates = append(j.Estimates, valueJSON{name, exact(values[i])})
		}
		if path != "" {
			j.Files = append(j.Files, path)
		}
		return writeJSON(w, j)
	}
	var b strings.Builder
	cells := [][]string{{"", "estimate"}, {"lp__", figure(r.LogDensity, -1)}}
	for i, name := range res.names {
		cells = append(cells, []string{diagnose.DisplayName(name), figure(values[i], -1)})
	}
	writeEstimates(&b, w, cells)
	writeBriefly(&b, findings, inBrief{details: sameVerbose, verbose: o.verbose, width: lineWidth(w)})
	b.WriteString("\n")
	how := "Optimization terminated normally"
	if r.Reason == optimize.LineSearchFailed || cut {
		how = "Optimization terminated with error"
	}
	ending := fmt.Sprintf("%s:\n  %s\n%d iterations, %d evaluations, norm of the gradient %.3g, %s.", how, reason,
		r.Iterations, r.Evaluations, norm, short(time.Since(o.started)))
	b.WriteString(fitted(w, ending) + "\n")
	if path != "" {
		b.WriteString("Estimates: " + path + "\n")
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// findings returns the problems of an optimum.
func (o *optimizing) findings(p *model.Posterior, r *optimize.Result, res *result, reason string) []diagnose.Finding {
	findings := []diagnose.Finding{}
	if !r.Reason.Converged() && len(r.X) > 0 {
		findings = append(findings, diagnose.Finding{Code: "not-converged", Severity: diagnose.Problem,
			Summary: "The optimisation has not converged: " + reason + ".",
			Advice:  "Allow more iterations (--iter), try other starting points (--init, --seed) or --algorithm newton. A density that grows without bound has no maximum; a hierarchical scale can cause this. Then use --jacobian, a prior that keeps the scale away from 0, or ppl run."})
	}
	if flat := o.atBounds(p, r.X); len(flat) > 0 {
		findings = append(findings, diagnose.Finding{Code: "at-bound", Severity: diagnose.Problem,
			Summary: "The maximum is at the bounds of these parameters: " + strings.Join(flat[:min(5, len(flat))], ", ") + ".",
			Advice:  "Use --jacobian, or a prior that keeps the parameters away from their bounds. At a bound, standard errors and ppl laplace are meaningless."})
	}
	if res.failed > 0 {
		reason, _, _ := strings.Cut(res.reason.Error(), "\n")
		findings = append(findings, diagnose.Finding{Code: "generated-quantities", Severity: diagnose.Problem,
			Summary: "Generated quantities failed, and are NaN: " + reason, Advice: "Fix the statement that fails, or give its result a value there."})
	}
	if names := undefined(res); len(names) > 0 && res.failed == 0 {
		shown := strings.Join(names[:min(5, len(names))], ", ")
		if n := len(names) - 5; n > 0 {
			shown += fmt.Sprintf(" and %d more", n)
		}
		findings = append(findings, diagnose.Finding{Code: "undefined", Severity: diagnose.Problem, Summary: "These values are NaN or infinite: " + shown + ".",
			Advice: "An overflow, an operation without a result or a missing assignment causes this. Compute the quantity on the log scale, or assign it on every path."})
	}
	return findings
}

// undefined names the quantities whose final values are NaN or infinite.
func undefined(res *result) []string {
	var names []string
	for i, v := range res.rows[len(res.rows)-1] {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			names = append(names, diagnose.DisplayName(res.names[i]))
		}
	}
	return names
}

// atBounds returns the names of unconstrained coordinates so large that the constrained values no
// longer change.
func (o *optimizing) atBounds(p *model.Posterior, x []float64) []string {
	const far = 15 // on the log and logit scales: 3e-7 from the bound
	var names []string
	base, err := p.Constrain(x)
	if err != nil {
		return nil
	}
	for i, v := range x {
		if math.Abs(v) < far {
			continue
		}
		moved := slices.Clone(x)
		moved[i] -= math.Copysign(1, v) // inwards
		values, err := p.Constrain(moved)
		if err != nil {
			continue
		}
		change := 0.0
		for k := range values {
			change = max(change, math.Abs(values[k]-base[k])/max(1, math.Abs(base[k])))
		}
		if change < 1e-5 {
			names = append(names, diagnose.DisplayName(p.UnconstrainedNames()[i]))
		}
	}
	return names
}

// modeOf finds the mode of the unconstrained parameters, for laplace.
func (a *approximation) modeOf(ctx context.Context, p *model.Posterior) ([]float64, error) {
	start, err := a.start(ctx, p)
	if err != nil {
		return nil, err
	}
	r, err := optimize.Maximize(ctx, p, start, optimize.Options{TolRelGrad: 1e3, TolRelObj: 1})
	if err != nil {
		return nil, err
	}
	if r.Reason == optimize.OutOfIterations {
		return nil, fmt.Errorf("no mode found: %s.\nStart elsewhere (--init, --seed), or give the mode by --mode", strings.ToLower(r.Reason.String()))
	}
	// Newton steps make the last digits right, where second derivatives exist.
	polished, err := optimize.Maximize(ctx, p, r.X, optimize.Options{Algorithm: optimize.Newton, Iterations: 20, TolObj: 1e-14})
	if err != nil {
		if errors.Is(err, infer.ErrInterrupted) {
			return nil, err
		}
		return r.X, nil
	}
	return polished.X, nil
}
