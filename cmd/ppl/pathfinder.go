package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/optimize"
)

// pathfinding is a run of the command pathfinder.
type pathfinding struct {
	approximation
	climbing
	paths, draws, pathDraws, elboDraws, iterations int
	noResample, noLP                               bool
}

// pathJSON describes a path in what pathfinder prints with --json; a stable format.
type pathJSON struct {
	ID          int    `json:"id"`              // number of the path, from 1
	ELBO        number `json:"elbo"`            // evidence lower bound of the chosen approximation
	Best        int    `json:"best_iteration"`  // iteration that was chosen
	Iterations  int    `json:"iterations"`      // iterations of L-BFGS
	Evaluations int64  `json:"evaluations"`     // evaluations of the log density
	Reason      string `json:"reason"`          // why the path ended
	Error       string `json:"error,omitempty"` // why the path failed
}

func pathfinderCommand() *cobra.Command {
	var o pathfinding
	cmd := &cobra.Command{
		Use: "pathfinder MODEL --data FILE",
		Long: `Follows several paths to modes by L-BFGS (Pathfinder). The curvature at each point of a path
gives a normal distribution; ppl takes the closest one on each path, and resamples their
draws by importance. This takes a small part of the time of ppl run, and gives good starting
points for it: ppl run --init pathfinder.

The Pareto k of the importance weights says how close the approximation is.`,
		Example: `  ppl pathfinder m.model -d d.json
  ppl pathfinder m.model -d d.json --paths 1 --no-resample --out path`,
		Args: arguments("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	o.approximation.flags(cmd)
	f := declare(cmd)
	f.Int(&o.paths, "paths", 4)
	f.Int(&o.draws, "draws", 1000)
	f.Int(&o.pathDraws, "path-draws", 1000)
	f.Int(&o.elboDraws, "elbo-draws", 25)
	f.Int(&o.iterations, "iter", 1000)
	f.Bool(&o.noResample, "no-resample", false)
	f.Bool(&o.noLP, "no-lp", false)
	o.climbing.flags(cmd)
	return cmd
}

func (o *pathfinding) run(cmd *cobra.Command, model string) error {
	options, err := o.settled()
	if err != nil {
		return err
	}
	options.Iterations = o.iterations
	for _, c := range []struct {
		name  string
		value int
	}{{"paths", o.paths}, {"draws", o.draws}, {"path-draws", o.pathDraws}, {"elbo-draws", o.elboDraws}, {"iter", o.iterations}} {
		if c.value < 1 {
			return usagef("--%s must be at least 1, but is %d", c.name, c.value)
		}
	}
	o.noPropto = true // lp__ includes constants, as in CmdStan
	l, err := o.begin(cmd, model)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	return o.approximate(ctx, cmd, l, options)
}

// approximate finds the paths and makes the draws, with the current program of the log density.
func (o *pathfinding) approximate(ctx context.Context, cmd *cobra.Command, l *loaded, options optimize.Options) error {
	init, err := o.starts(ctx, l.posterior, o.paths)
	if err != nil {
		return ended(ctx, o.stderr, err)
	}
	r, err := optimize.Pathfinder(ctx, l.posterior, optimize.PathfinderOptions{
		PathOptions: optimize.PathOptions{Options: options, Draws: o.pathDraws, ELBODraws: o.elboDraws, NoLogDensity: o.noLP},
		Paths:       o.paths, Resampled: o.draws, NoResample: o.noResample, Init: init, Seed: o.seed,
	})
	if err != nil {
		return ended(ctx, o.stderr, err)
	}
	switch again, err := o.compare(ctx, l, r.Points...); {
	case err != nil:
		return ended(ctx, o.stderr, err)
	case again:
		return o.approximate(ctx, cmd, l, options)
	}
	took := time.Since(o.started)
	res, err := o.generate(ctx, l.posterior, r.Points)
	if err != nil {
		return ended(ctx, o.stderr, err)
	}
	path, err := o.write(l, method("pathfinder", append(o.climbing.settings(), option("num_psis_draws", o.draws, 1000), option("num_paths", o.paths, 4),
		option("save_single_paths", false, false), option("psis_resample", !o.noResample, true), option("calculate_lp", !o.noLP, true),
		option("max_lbfgs_iters", o.iterations, 1000), option("num_draws", o.pathDraws, 1000), option("num_elbo_draws", o.elboDraws, 25))...), []string{"lp_approx__", "lp__"},
		pairs(r.LogQ, r.LogP), res.rows, nil, elapsed(took, "Total"))
	if err != nil {
		return err
	}
	findings := fit.ApproximationFindings(len(r.Candidates.Points), r.K)
	details := []pathJSON{}
	var evaluations int64
	var failed []string
	var rejections []infer.Rejection
	lines := []string{}
	for _, q := range r.Paths {
		j := pathJSON{ID: q.ID, ELBO: number(q.ELBO), Best: q.Best, Iterations: q.Iterations, Evaluations: q.Evaluations, Reason: q.Reason.String()}
		if q.Err != nil {
			first, _, _ := strings.Cut(q.Err.Error(), "\n")
			j.Error = first
			failed = append(failed, fmt.Sprintf("path %d: %s", q.ID, first))
		} else {
			lines = append(lines, fmt.Sprintf("Path %d: ELBO %.4g at iteration %d of %d, %d evaluations.", q.ID, q.ELBO, q.Best, q.Iterations, q.Evaluations))
		}
		details = append(details, j)
		evaluations += q.Evaluations
		rejections = append(rejections, q.Rejections...)
	}
	o.showRejections(rejections, evaluations)
	if len(failed) > 0 {
		findings = append(findings, diagnose.Finding{Code: "failed-paths", Severity: diagnose.Problem,
			Summary: fmt.Sprintf("%d of %d paths failed: %s.", len(failed), len(r.Paths), strings.Join(failed[:min(3, len(failed))], "; ")),
			Advice:  "The result uses the other paths. Other starting points (--init, --seed) may help."})
	}
	j := approximationJSON{Method: "pathfinder", ParetoK: number(r.K), Evaluations: evaluations, Findings: findings, Details: details}
	if path != "" {
		j.Files = []string{path}
	}
	last := fmt.Sprintf("%d draws, %s.", len(r.Points), short(took))
	if r.K == r.K {
		last = closeness(r.K) + " " + last
	}
	return o.report(cmd.OutOrStdout(), res, j, append(lines, last))
}
