package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/model"
)

// laplacing is a run of the command laplace.
type laplacing struct {
	approximation
	mode       string
	noJacobian bool
	draws      int
	noLP       bool
}

// laplaceJSON is the part about the method in what laplace prints with --json; a stable format.
type laplaceJSON struct {
	Mode         []exact   `json:"mode"`          // the unconstrained mode
	LogDensity   exact     `json:"lp_mode"`       // log density at the mode
	GradientNorm number    `json:"gradient_norm"` // norm of the gradient at the mode
	Hessian      [][]exact `json:"hessian"`       // Hessian of the log density at the mode
	// whether the Hessian is exact, not by finite differences
	Exact bool `json:"exact_hessian"`
}

func laplaceCommand() *cobra.Command {
	var o laplacing
	cmd := &cobra.Command{
		Use: "laplace MODEL --data FILE",
		Long: `Draws from the normal distribution of the unconstrained parameters that has the
posterior's mode and its curvature there. The curvature is exact.

--mode gives the mode: the folder or the CSV file of ppl optimize --jacobian, or parameters
as JSON. Without it, ppl finds the mode. Each draw has its log density (log_p__) and that of
the approximation (log_q__). The Pareto k of their differences says how close the
approximation is.`,
		Example: `  ppl laplace m.model -d d.json --draws 4000
  ppl optimize m.model -d d.json --jacobian --out mode
  ppl laplace m.model -d d.json --mode mode`,
		Args: arguments("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	o.flags(cmd)
	f := declare(cmd)
	f.String(&o.mode, "mode", "")
	f.Bool(&o.noJacobian, "no-jacobian", false)
	f.Int(&o.draws, "draws", 1000)
	f.Bool(&o.noLP, "no-lp", false)
	return cmd
}

func (o *laplacing) run(cmd *cobra.Command, model string) error {
	if o.draws < 1 {
		return usagef("--draws must be at least 1, but is %d", o.draws)
	}
	o.input.noJacobian = o.noJacobian
	l, err := o.begin(cmd, model)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	return o.approximate(ctx, cmd, l)
}

// approximate finds the mode and makes the draws, with the current program of the log density.
func (o *laplacing) approximate(ctx context.Context, cmd *cobra.Command, l *loaded) (err error) {
	var mode []float64
	if o.mode == "" {
		mode, err = o.modeOf(ctx, l.posterior)
	} else {
		mode, err = o.readMode(l.posterior)
	}
	if err != nil {
		return ended(ctx, o.stderr, err)
	}
	r, err := optimize.Laplace(ctx, l.posterior, mode, infer.Stream(o.seed, 1, "laplace", 0), optimize.LaplaceOptions{Draws: o.draws, NoLogDensity: o.noLP})
	var no *optimize.MaximumError
	if errors.As(err, &no) {
		return fmt.Errorf("there is no normal approximation: the second derivative along a direction that is mostly %s is %.3g, not negative, so the point is no maximum.\n"+
			"Give a maximum by --mode (found with --jacobian), start elsewhere, or use ppl pathfinder", diagnose.DisplayName(l.posterior.UnconstrainedNames()[no.Coordinate]), no.Curvature)
	}
	if err != nil {
		return ended(ctx, o.stderr, err)
	}
	switch again, err := o.compare(ctx, l, append([][]float64{mode}, r.Points...)...); {
	case err != nil:
		return ended(ctx, o.stderr, err)
	case again:
		return o.approximate(ctx, cmd, l)
	}
	return o.finish(ctx, cmd, l, r)
}

func (o *laplacing) finish(ctx context.Context, cmd *cobra.Command, l *loaded, r *optimize.LaplaceResult) error {
	res, err := o.generate(ctx, l.posterior, r.Points)
	if err != nil {
		return ended(ctx, o.stderr, err)
	}
	path, err := o.write(l, method("laplace", option("mode", o.mode, ""), option("jacobian", !o.noJacobian, true), option("draws", o.draws, 1000),
		option("calculate_lp", !o.noLP, true)), []string{"log_p__", "log_q__"},
		pairs(r.LogP, r.LogQ), res.rows, nil, nil)
	if err != nil {
		return err
	}
	o.showRejections(r.Rejections, r.Evaluations)
	norm := r.GradientNorm()
	k := math.NaN()
	if !o.noLP {
		_, k = r.Weights()
	}
	findings := worded(fit.ApproximationFindings(len(r.Points), k), "")
	if gain := r.Gain(); gain > 1e-3 {
		findings = append(findings, diagnose.Finding{Code: "no-mode", Severity: diagnose.Problem,
			Summary: fmt.Sprintf("The point is not the mode: the log density is %.3g higher at the maximum of the approximation.", gain),
			Advice:  "Find the mode of the unconstrained parameters: ppl optimize --jacobian, or leave --mode out."})
	}
	d := l.posterior.Dim()
	details := laplaceJSON{Mode: exacts(r.Mode), LogDensity: exact(r.LogDensity), GradientNorm: number(norm), Exact: r.Exact, Hessian: [][]exact{}}
	for i := range d {
		details.Hessian = append(details.Hessian, exacts(r.Hessian[i*d:(i+1)*d]))
	}
	j := approximationJSON{Method: "laplace", ParetoK: number(k), Evaluations: r.Evaluations, Findings: findings, Details: details}
	if path != "" {
		j.Files = []string{path}
	}
	how := "exact second derivatives"
	if !r.Exact {
		how = "second derivatives by differences of the gradient, as the model has no exact ones"
	}
	lines := []string{fmt.Sprintf("Log density at the mode %.6g, %s, %d draws, %s.", r.LogDensity, how, len(r.Points), short(time.Since(o.started)))}
	if !o.noLP {
		lines[0] += " " + closeness(k)
	}
	return o.report(cmd.OutOrStdout(), res, j, lines)
}

// pairs returns rows with the elements of a and b as columns.
func pairs(a, b []float64) [][]float64 {
	rows := make([][]float64, len(a))
	for i := range a {
		rows[i] = []float64{a[i], b[i]}
	}
	return rows
}

// readMode reads --mode.
func (o *laplacing) readMode(p *model.Posterior) ([]float64, error) {
	path := o.mode
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		record, err := folder.Read(path)
		if err != nil {
			return nil, fmt.Errorf("--mode %s: the folder holds no optimum: %w", o.mode, err)
		}
		name := record.Name
		if name == "" {
			name = folder.BaseName(record.Model)
		}
		path = filepath.Join(path, name+"_1.csv")
	}
	var values any
	switch {
	case strings.HasPrefix(strings.TrimSpace(path), "{"):
		values = model.JSON(path)
	case strings.EqualFold(filepath.Ext(path), ".csv"):
		last, err := lastDraw(path, o.memory)
		if err != nil {
			return nil, fmt.Errorf("--mode: %w", err)
		}
		values = last
	default:
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("--mode %s: neither a folder nor a file nor parameters as JSON", o.mode)
		}
		values = model.DataFile{Path: path}
	}
	x, err := p.Unconstrain(values)
	if err != nil {
		return nil, err
	}
	for i, v := range x {
		if v != v {
			return nil, fmt.Errorf("--mode %s: there is no value of %s", o.mode, diagnose.DisplayName(p.UnconstrainedNames()[i]))
		}
	}
	return x, nil
}
