package main

import (
	"bytes"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/internal/files"
)

// bugPoints is the number of points at which report-bug compares a model with the reference
// evaluator if no points are given.
const bugPoints = 5

func reportBugCommand() *cobra.Command {
	in := pointed{random: bugPoints}
	var out string
	cmd := &cobra.Command{
		Use: "report-bug DIR | MODEL --data FILE",
		Long: `Compares the compiled log density of a model, and its gradient, with the reference evaluator,
which runs the model statement by statement. For a folder (ppl run --out), it does so at the
points where the run found a difference. For a model, it takes the points of a file, or random
ones. If the two differ, it writes one file for you to read and send: the values, the points,
the version, the model, the data and the compiled program.

Every run makes such comparisons automatically, as long as they take little of its time. This
command makes them however long they take.`,
		Args: arguments("DIR | MODEL"),
	}
	in.flags(cmd)
	declare(cmd).String(&out, "out", "")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := in.bugReport(cmd, args[0])
		if err != nil {
			return err
		}
		stderr := cmd.ErrOrStderr()
		switch n := len(r.Points); {
		case r.Wrong():
			printMessage(stderr, "The compiled log density is wrong. That is a fault of ppl, not of the model.")
		case r.Compared() == 0:
			printMessage(stderr, "Nothing could be compared at %s: the model rejects them, or its log density is infinite there. Give others by --points.", count(n, "point", "points"))
		default:
			printMessage(stderr, "The compiled log density agrees with the reference evaluator at %d of %s; the largest difference is %.2g of what rounding explains.", r.Compared(), count(n, "point", "points"), r.Excess())
		}
		path := out
		if path == "" {
			if !r.Wrong() {
				return nil
			}
			path = "ppl-bug.md"
		}
		var text bytes.Buffer
		if err := r.Write(&text); err != nil {
			return err
		}
		if path == "-" {
			_, err = cmd.OutOrStdout().Write(text.Bytes())
		} else if err = files.Replace(path, text.Bytes()); err == nil {
			printMessage(stderr, "The report is in %s. It holds the model and the data: read it before you send it.", path)
		}
		if err == nil && r.Wrong() {
			return exitCode(exitError)
		}
		return err
	}
	return cmd
}

// bugReport compares the model of a run, or a model with data, with the reference evaluator.
func (o *pointed) bugReport(cmd *cobra.Command, of string) (*fit.BugReport, error) {
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	if !isFolder(of) {
		l, xs, err := o.load(ctx, of, stderr)
		if err != nil {
			return nil, err
		}
		r, err := fit.NewBugReport(ctx, l.posterior, xs, nil)
		return r, ended(ctx, stderr, err)
	}
	f, err := openFit(ctx, []string{of}, &o.memory)
	if err != nil {
		return nil, ended(ctx, stderr, err)
	}
	p, err := f.Posterior(ctx)
	if err != nil {
		return nil, ended(ctx, stderr, err)
	}
	var xs [][]float64
	for i := range f.Report.Chains {
		if x := f.Report.Chains[i].Last; len(x) == p.Dim() {
			xs = append(xs, x)
		}
	}
	r, err := fit.NewBugReport(ctx, p, xs, f.DensityCheck())
	return r, ended(ctx, stderr, err)
}
