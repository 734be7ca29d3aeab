package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/riemann"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/model"
)

// metrics is what metric prints; a stable format.
type metrics struct {
	// names of the unconstrained parameters
	UnconstrainedNames []string `json:"unconstrained_names"`
	Kind               string   `json:"kind"` // fisher, softabs or user
	// a matrix per point, as a list of rows
	Metric [][][]exact `json:"metric"`
	// one per point; NaN where not positive definite
	LogDeterminant []exact `json:"log_determinant"`
	// statements that contribute nothing, with the reason
	LeftOut []string `json:"left_out"`
}

func metricCommand() *cobra.Command {
	var o pointed
	var kind string
	var alpha float64
	var asJSON bool
	cmd := &cobra.Command{
		Use: "metric MODEL --data FILE --points FILE",
		Long: `Prints the matrix that the samplers rmhmc, armhmc, hmc and nuts use with the same
--metric. A file gives the points of the unconstrained space:

    {"points": [[0.1, -0.5], [1, 2]]}

  fisher    the expected Fisher information: the sum of JᵀIJ over the statements
            with ~ and the densities added to target, priors included. I is the
            expected information of the distribution, and J the derivative of its
            variate and arguments. Parts that contribute nothing are listed with
            the reason: a distribution without declared information, part of a
            mixture, any other addition to target. Transforms of constrained
            parameters contribute nothing either. On a bounded support, the
            information is that of the variate on the unbounded scale.
  softabs   SoftAbs of the negative Hessian of the log density
  user      the value of the function metric of the model's functions block:

                matrix metric(vector beta, matrix x) { … }

            Its arguments are the model's variables of these names (data,
            parameters or transformed ones), its value is the metric of the
            unconstrained parameters in their order.

With --json, "metric" has one matrix per point, a list of rows. Printed for one
point, it can be the constant metric of a run: --metric FILE.`,
		Example: `  ppl metric m.model -d d.json --points p.json --json > metric.json
  ppl run m.model -d d.json --sampler nuts --metric metric.json`,
		Args: arguments("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(riemann.Kinds(), riemann.Kind(kind)) {
				return usagef("unknown metric %q; it can be %s", kind, strings.Join(metricKinds(), ", "))
			}
			if err := infer.CheckOption("softabs-alpha", alpha); err != nil {
				return usagef("--%w", err)
			}
			stderr := cmd.ErrOrStderr()
			l, xs, err := o.load(cmd.Context(), args[0], stderr)
			if err != nil {
				return err
			}
			m, err := metricsAt(l.posterior, riemann.Kind(kind), alpha, xs, stderr)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), m)
			}
			return m.show(cmd.OutOrStdout())
		},
	}
	o.flags(cmd)
	f := declare(cmd)
	f.String(&kind, "metric", string(riemann.Fisher))
	f.Float64(&alpha, "softabs-alpha", riemann.DefaultAlpha)
	f.Bool(&asJSON, "json", false)
	return cmd
}

func metricKinds() []string {
	var names []string
	for _, k := range riemann.Kinds() {
		names = append(names, string(k))
	}
	return names
}

// metricsAt evaluates the metric at each point.
func metricsAt(p *model.Posterior, kind riemann.Kind, alpha float64, xs [][]float64, stderr io.Writer) (*metrics, error) {
	m := &metrics{UnconstrainedNames: notNil(p.UnconstrainedNames()), Kind: string(kind), Metric: [][][]exact{}, LogDeterminant: []exact{}, LeftOut: []string{}}
	metric, err := riemann.FromTarget(kind, p, alpha)
	if err != nil {
		return nil, err
	}
	if kind == riemann.Fisher {
		left, err := p.Compiled().FisherLeftOut()
		if err != nil {
			return nil, err
		}
		for _, l := range left {
			m.LeftOut = append(m.LeftOut, l.String())
		}
	}
	d := p.Dim()
	for i, x := range xs {
		g := make([]float64, d*d)
		err := metric.Metric(x, g)
		if ends(err) {
			return nil, err
		}
		if err != nil {
			printMessage(stderr, "point %d is rejected: %s", i+1, err)
			fill(g, math.NaN())
		}
		logDet, ok := riemann.LogDeterminant(g, d)
		if !ok && err == nil {
			printMessage(stderr, "point %d: the metric is not positive definite", i+1)
		}
		rows := make([][]exact, d)
		for k := range rows {
			rows[k] = exacts(g[k*d : (k+1)*d])
		}
		m.Metric, m.LogDeterminant = append(m.Metric, rows), append(m.LogDeterminant, exact(logDet))
	}
	return m, nil
}

// metricNotes returns an error if a run cannot have the metric that its sampler asks for, and
// otherwise notes on what the metric leaves out. Planning the metric of a large model takes
// seconds; it stops when ctx ends.
func (o *running) metricNotes(ctx context.Context, p *model.Posterior, tell func(string)) error {
	g, ok := o.sampler.(sampler.Geometric)
	if !ok {
		return nil
	}
	stop := asked(ctx)
	p.SetStop(stop)
	defer p.SetStop(nil)
	kind, why := g.Riemannian.Settle(p)
	if err := stop(); err != nil {
		return err
	}
	completed := why != nil && kind == g.Riemannian.Kind
	if why != nil && !o.quiet {
		reason, _, _ := strings.Cut(why.Error(), "\n")
		if completed {
			tell("The metric takes these parameters to have a width of 1 on the unconstrained scale:\n  " + reason)
		} else {
			tell(fmt.Sprintf("The metric is %s, since the default cannot be had:\n  %s", kind, reason))
		}
	}
	form, _, err := g.Riemannian.SettleForm(p)
	if err == nil && form == sampler.Dense {
		err = p.Compiled().MetricError(string(kind))
		if r := g.Riemannian; (completed || r.Frozen || r.At != "") && errors.As(err, new(riemann.Uninformed)) {
			err = nil // the metric is regularised
		}
	}
	if err != nil || kind != riemann.Fisher {
		return err
	}
	if form == sampler.Diagonal && !o.quiet {
		tell("The metric is the diagonal of the expected Fisher information (--metric-form).")
	}
	left, err := p.Compiled().FisherLeftOut()
	if err == nil && form != sampler.Dense {
		more, failure := p.Compiled().FisherTooLarge(form == sampler.Diagonal)
		left, err = append(more, left...), failure
	}
	if err != nil || len(left) == 0 || o.quiet {
		return err
	}
	text := "These parts of the log density are not part of the metric:"
	const shown = 10
	for _, l := range left[:min(shown, len(left))] {
		text += "\n  " + l.String()
	}
	if n := len(left) - shown; n > 0 {
		text += fmt.Sprintf("\n  and %d more", n)
	}
	tell(text)
	return nil
}

// show prints the metrics for people.
func (m *metrics) show(w io.Writer) error {
	width := 0
	for _, name := range m.UnconstrainedNames {
		width = max(width, len(diagnose.DisplayName(name)))
	}
	for i, rows := range m.Metric {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "point %d: log determinant %.9g\n", i+1, float64(m.LogDeterminant[i]))
		for k, row := range rows {
			fmt.Fprintf(w, "  %-*s", width, diagnose.DisplayName(m.UnconstrainedNames[k]))
			for _, v := range row {
				fmt.Fprintf(w, " %12.6g", float64(v))
			}
			fmt.Fprintln(w)
		}
	}
	if len(m.LeftOut) > 0 {
		fmt.Fprintf(w, "\nNot part of it:\n")
		for _, l := range m.LeftOut {
			fmt.Fprintf(w, "  %s\n", l)
		}
	}
	return nil
}
