package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/fit/selfcheck"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
)

// densities is what logdensity prints; a stable format.
type densities struct {
	// names of the unconstrained parameters
	UnconstrainedNames []string `json:"unconstrained_names"`
	LogDensity         []exact  `json:"log_density"` // one per point
	// one per point, by the unconstrained parameters
	Gradient [][]exact `json:"gradient"`
	// names of parameters and transformed parameters
	ConstrainedNames []string  `json:"constrained_names"`
	Constrained      [][]exact `json:"constrained"` // constrained values, one list per point
	// names of generated quantities, with --show generated
	GeneratedNames []string  `json:"generated_names,omitempty"`
	Generated      [][]exact `json:"generated,omitempty"` // their values, one list per point
	Points         [][]exact `json:"points,omitempty"`    // the points, with --show points
}

// The values that logdensity can show.
const (
	showDensity     = "density"
	showGradient    = "gradient"
	showConstrained = "constrained"
	showGenerated   = "generated"
	showPoints      = "points"
)

// usualShow is what logdensity shows without --show, and what ppl serve answers.
func usualShow() []string { return []string{showDensity, showGradient, showConstrained} }

func allShow() []string { return append(usualShow(), showGenerated, showPoints) }

func logDensityCommand() *cobra.Command {
	var o pointed
	var asJSON bool
	var show []string
	cmd := &cobra.Command{
		Use: "logdensity MODEL --data FILE --points FILE",
		Long: `Evaluates the log density and its gradient at points of the unconstrained space,
which are read from a file

    {"points": [[0.1, -0.5], [1, 2]]}

and shows the parameters and transformed parameters there. The log density is
that of the sampler: constant terms of statements with ~ are dropped, and the
log Jacobians of the transforms of constrained parameters are included.

With the folder of a run for --points, the points are its draws, chain after
chain. --show points prints them on the unconstrained scale.

If the model rejects a point, its log density is -Infinity and its gradient NaN. Parameters
that cannot be computed there are null. stderr has the reason.`,
		Args: arguments("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, w := range show {
				if !slices.Contains(allShow(), w) {
					return usagef("--show has %q; it can have %s", w, strings.Join(allShow(), ", "))
				}
			}
			stderr := cmd.ErrOrStderr()
			o.impossible = true
			l, xs, err := o.load(cmd.Context(), args[0], stderr)
			if err != nil {
				return err
			}
			if l.posterior, err = compared(cmd.Context(), l.posterior, xs, slices.Contains(show, showGenerated), o.seed, stderr); err != nil {
				return err
			}
			l.posterior.SetStop(asked(cmd.Context()))
			d, err := evaluate(l.posterior, xs, show, o.seed, stderr)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), d)
			}
			return d.show(cmd.OutOrStdout())
		},
	}
	o.flags(cmd)
	f := declare(cmd)
	f.Bool(&o.noPropto, "no-propto", false)
	f.Bool(&o.noJacobian, "no-jacobian", false)
	f.List(&show, "show", usualShow())
	f.Bool(&asJSON, "json", false)
	return cmd
}

// compared compares the log density with the reference evaluator near the origin and at some of the
// points, and returns the posterior with the program that agrees. outputs compares generated
// quantities too.
func compared(ctx context.Context, p *model.Posterior, xs [][]float64, outputs bool, seed uint64, stderr io.Writer) (*model.Posterior, error) {
	check, err := fit.Trust(ctx, p, seed)
	if err == nil {
		_, err = check.At(ctx, xs...)
	}
	if err == nil && outputs {
		_, err = check.Outputs(ctx, xs...)
	}
	if err != nil {
		return nil, err
	}
	for _, f := range selfcheck.Findings(&folder.Density{Wrong: check.Record().Wrong, Share: 1}) {
		printMessage(stderr, "%s %s", f.Summary, f.Advice)
	}
	return p.With(check.Bound()), nil
}

// evaluate computes what is to be shown at each point. It returns an error only if
// it would occur at every other point too: the time is up, or a limit is exceeded.
func evaluate(p *model.Posterior, xs [][]float64, show []string, seed uint64, stderr io.Writer) (*densities, error) {
	d := &densities{
		UnconstrainedNames: notNil(p.UnconstrainedNames()),
		LogDensity:         []exact{},
		Gradient:           [][]exact{},
		ConstrainedNames:   notNil(p.ConstrainedNames()),
		Constrained:        [][]exact{},
	}
	shown := func(w string) bool { return slices.Contains(show, w) }
	if shown(showGenerated) {
		d.GeneratedNames = notNil(p.GeneratedNames())
	}
	all := make([]float64, len(p.OutputNames()))
	for i, x := range xs {
		if shown(showPoints) {
			d.Points = append(d.Points, exacts(x))
		}
		var err error
		if shown(showDensity) || shown(showGradient) {
			grad := make([]float64, len(x))
			var lp float64
			lp, err = p.LogDensityGrad(x, grad)
			if ends(err) {
				return nil, err
			}
			if err != nil {
				printMessage(stderr, "point %d is rejected: %s", i+1, err)
				lp = math.Inf(-1)
				fill(grad, math.NaN())
			}
			if shown(showDensity) {
				d.LogDensity = append(d.LogDensity, exact(lp))
			}
			if shown(showGradient) {
				d.Gradient = append(d.Gradient, exacts(grad))
			}
		}
		failed := func(other error) {
			if err == nil { // if the density failed, the error is the same
				printMessage(stderr, "point %d: %s", i+1, other)
			}
		}
		if shown(showConstrained) {
			values, cerr := p.Constrain(x)
			if ends(cerr) {
				return nil, cerr
			}
			if cerr != nil {
				failed(cerr)
				d.Constrained = append(d.Constrained, nil)
			} else {
				d.Constrained = append(d.Constrained, exacts(values))
			}
		}
		if shown(showGenerated) {
			gerr := p.Generate(x, rand.New(rand.NewPCG(seed, uint64(i))), all)
			if ends(gerr) {
				return nil, gerr
			}
			if gerr != nil {
				failed(gerr)
				d.Generated = append(d.Generated, nil)
			} else {
				d.Generated = append(d.Generated, exacts(all[len(all)-len(d.GeneratedNames):]))
			}
		}
	}
	return d, nil
}

// ends reports whether an error would occur at every point, so that further evaluations make no
// sense.
func ends(err error) bool {
	return errors.As(err, new(*timeLimitError)) || errors.As(err, new(*ad.LimitError))
}

// show prints the values for people.
func (d *densities) show(w io.Writer) error {
	n := max(len(d.LogDensity), len(d.Gradient), len(d.Constrained), len(d.Generated), len(d.Points))
	values := func(form string, names []string, values []exact) {
		for j, v := range values {
			fmt.Fprintf(w, form, diagnose.DisplayName(names[j]), float64(v))
		}
	}
	for i := range n {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "point %d:", i+1)
		if len(d.LogDensity) > 0 {
			fmt.Fprintf(w, " log density %.17g", float64(d.LogDensity[i]))
		}
		fmt.Fprintln(w)
		if len(d.Points) > 0 {
			values("  unconstrained %s = %.17g\n", d.UnconstrainedNames, d.Points[i])
		}
		if len(d.Gradient) > 0 {
			values("  gradient of %s: %.17g\n", d.UnconstrainedNames, d.Gradient[i])
		}
		if len(d.Constrained) > 0 {
			if d.Constrained[i] == nil {
				fmt.Fprintln(w, "  no constrained values: the point is rejected")
			}
			values("  %s = %.17g\n", d.ConstrainedNames, d.Constrained[i])
		}
		if len(d.Generated) > 0 {
			if d.Generated[i] == nil {
				fmt.Fprintln(w, "  no generated quantities: the point is rejected")
			}
			values("  %s = %.17g\n", d.GeneratedNames, d.Generated[i])
		}
	}
	return nil
}

func fill(dst []float64, v float64) {
	for i := range dst {
		dst[i] = v
	}
}

// notNil returns an empty slice for nil, so that JSON has [] instead of null.
func notNil(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}
