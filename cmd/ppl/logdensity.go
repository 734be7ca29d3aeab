package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

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
}

func logDensityCommand() *cobra.Command {
	var o pointed
	var asJSON bool
	cmd := &cobra.Command{
		Use: "logdensity MODEL --data FILE --points FILE",
		Long: `Evaluates the log density and its gradient at points of the unconstrained space,
which are read from a file

    {"points": [[0.1, -0.5], [1, 2]]}

and shows the parameters and transformed parameters there. The log density is
that of the sampler: constant terms of statements with ~ are dropped, and the
log Jacobians of the transforms of constrained parameters are included.

Where the model rejects a point, its log density is -Infinity and its gradient
NaN; if that leaves no parameters and transformed parameters, they are null. The
reason is told on stderr.`,
		Args: arguments("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			stderr := cmd.ErrOrStderr()
			o.impossible = true
			l, xs, err := o.load(cmd.Context(), args[0], stderr)
			if err != nil {
				return err
			}
			if l.posterior, err = compared(cmd.Context(), l.posterior, xs, o.seed, stderr); err != nil {
				return err
			}
			l.posterior.SetStop(asked(cmd.Context()))
			d, err := evaluate(l.posterior, xs, stderr)
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
	f.Bool(&asJSON, "json", false)
	return cmd
}

// compared compares the log density with the reference evaluator near the origin and at some of the
// points, and returns the posterior with the program that agrees.
func compared(ctx context.Context, p *model.Posterior, xs [][]float64, seed uint64, stderr io.Writer) (*model.Posterior, error) {
	check, err := fit.Trust(ctx, p, seed)
	if err == nil {
		_, err = check.At(ctx, xs...)
	}
	if err != nil {
		return nil, err
	}
	for _, f := range selfcheck.Findings(&folder.Density{Wrong: check.Record().Wrong, Share: 1}) {
		printMessage(stderr, "%s %s", f.Summary, f.Advice)
	}
	return p.With(check.Bound()), nil
}

// evaluate computes log density, gradient and quantities at each point. It returns an error only if
// it would occur at every other point too: the time is up, or a limit is exceeded.
func evaluate(p *model.Posterior, xs [][]float64, stderr io.Writer) (*densities, error) {
	d := &densities{
		UnconstrainedNames: notNil(p.UnconstrainedNames()),
		LogDensity:         []exact{},
		Gradient:           [][]exact{},
		ConstrainedNames:   notNil(p.ConstrainedNames()),
		Constrained:        [][]exact{},
	}
	for i, x := range xs {
		grad := make([]float64, len(x))
		lp, err := p.LogDensityGrad(x, grad)
		if ends(err) {
			return nil, err
		}
		if err != nil {
			printMessage(stderr, "point %d is rejected: %s", i+1, err)
			lp = math.Inf(-1)
			fill(grad, math.NaN())
		}
		d.LogDensity = append(d.LogDensity, exact(lp))
		d.Gradient = append(d.Gradient, exacts(grad))

		values, cerr := p.Constrain(x)
		if ends(cerr) {
			return nil, cerr
		}
		if cerr != nil {
			if err == nil { // if the density failed, the error is the same
				printMessage(stderr, "point %d: %s", i+1, cerr)
			}
			d.Constrained = append(d.Constrained, nil)
			continue
		}
		d.Constrained = append(d.Constrained, exacts(values))
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
	for i, lp := range d.LogDensity {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "point %d: log density %.17g\n", i+1, float64(lp))
		for j, name := range d.UnconstrainedNames {
			fmt.Fprintf(w, "  gradient of %s: %.17g\n", diagnose.DisplayName(name), float64(d.Gradient[i][j]))
		}
		if d.Constrained[i] == nil {
			fmt.Fprintln(w, "  no constrained values: the point is rejected")
			continue
		}
		for j, name := range d.ConstrainedNames {
			fmt.Fprintf(w, "  %s = %.17g\n", diagnose.DisplayName(name), float64(d.Constrained[i][j]))
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
