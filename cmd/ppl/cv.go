package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/criticise"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// validating is a run of cv.
type validating struct {
	input
	folds                 int
	by, time              string
	firstShare            float64
	chains, warmup, draws int
	pointwise             string
	json                  bool
}

func cvCommand() *cobra.Command {
	var o validating
	cmd := &cobra.Command{
		Use:   "cv DIR | MODEL --data FILE",
		Short: "Estimate how well a model predicts, by fitting it without parts of the data",
		Long: `Cross-validation: the observations are divided into folds; for each, the model is
fitted to the others, and the log predictive density of those in the fold is computed.
That takes as many fits as folds, and relies on no approximation.

  --folds K     K folds at random
  --by GROUP    whole groups are predicted: one fold per group, or --folds of them
  --time T      the future is predicted from the past: the observations after the first
                (--first, a share) in --folds blocks, each from all before it

DIR is the folder of a run with --out, whose numbers of chains and draws are used; or a
model with its data. Observations are the rows of the data that have as many as the
variable on the left of the model's statements; they must be independent given the
parameters.`,
		Example: `  ppl cv fit --folds 10
  ppl cv m.stan -d d.json --by school --json > schools.json`,
		Args: arguments("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	o.input.flags(cmd)
	f := cmd.Flags()
	f.IntVar(&o.folds, "folds", 0, "number of folds (default 10; with --by one per group)")
	f.StringVar(&o.by, "by", "", "`data` with a group for each observation")
	f.StringVar(&o.time, "time", "", "`data` with a time for each observation")
	f.Float64Var(&o.firstShare, "first", 0.5, "with --time: share of the observations that are not predicted")
	f.IntVar(&o.chains, "chains", 4, "number of chains")
	f.IntVar(&o.warmup, "warmup", 1000, "transitions of warm-up per chain")
	f.IntVar(&o.draws, "draws", 1000, "draws per chain after warm-up")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the random numbers")
	f.StringVar(&o.pointwise, "pointwise", "", "write the figures of each observation to this CSV `file`")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress and no warnings on stderr")
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	f.SetNormalizeFunc(dashes)
	return cmd
}

func (o *validating) run(cmd *cobra.Command, arg string) error {
	stderr := cmd.ErrOrStderr()
	if o.by != "" && o.time != "" {
		return usagef("--by and --time exclude each other")
	}
	if o.chains < 1 || o.warmup < 0 || o.draws < 1 {
		return usagef("--chains and --draws must be at least 1, --warmup at least 0")
	}
	h, options, err := o.prepare(cmd, arg)
	if err != nil {
		return err
	}
	folds, err := o.divide(h)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(nil)
	defer stop()
	j := looJSON{Method: "cv", Observations: 0, Source: "derived from the statements on " + h.Variable, Moved: []string{}, Refitted: []string{}, Findings: []diagnose.Finding{}}
	var elpd, mcse []float64
	problems := map[string]int{}
	for n, fold := range folds {
		if !o.quiet {
			fmt.Fprintf(stderr, "Fold %d of %d: %s predicted from %d\n", n+1, len(folds), count(len(fold.Test), "observation", "observations"), len(fold.Train))
		}
		held, err := h.Without(ctx, fold.Test, fold.Train, options)
		if err != nil {
			return ended(ctx, stderr, fmt.Errorf("fold %d: %w", n+1, err))
		}
		for _, f := range held.Fit.Findings() {
			if f.Severity == diagnose.Problem {
				problems[f.Code]++
			}
		}
		j.Draws = len(held.LogLik[0])
		for k, row := range fold.Test {
			e, s := held.ELPD(k)
			elpd, mcse = append(elpd, e), append(mcse, s)
			j.Pointwise.Name = append(j.Pointwise.Name, fmt.Sprintf("%s[%d]", h.Variable, row+1))
		}
	}
	o.arrange(&j, folds, elpd, mcse)
	for code, n := range problems {
		j.Findings = append(j.Findings, diagnose.Finding{Code: code, Severity: diagnose.Problem,
			Summary: fmt.Sprintf("%d of the %d fits had the problem %s.", n, len(folds), code),
			Advice:  "Run the model on all data, and see what ppl run says about it; more draws, or more warm-up, may help."})
	}
	if o.pointwise != "" {
		e, s := floats(j.Pointwise.ELPD), floats(j.Pointwise.MCSE)
		if err := writePointwise(o.pointwise, j.Pointwise.Name, []string{"elpd_cv", "mcse_elpd_cv"}, e, s); err != nil {
			return err
		}
	}
	if o.json {
		return writeJSON(cmd.OutOrStdout(), j)
	}
	return o.show(cmd.OutOrStdout(), h, &j, len(folds))
}

// prepare reads a folder, or a model with its data.
func (o *validating) prepare(cmd *cobra.Command, arg string) (*ppl.Holdout, ppl.Options, error) {
	options := ppl.Options{Chains: o.chains, Warmup: orNone(o.warmup), Draws: o.draws, Seed: o.seed}
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		fit, err := ppl.ReadFit(arg)
		if err != nil {
			return nil, options, err
		}
		h, own, err := holdout(fit)
		if err != nil {
			return nil, options, err
		}
		own.Seed = o.seed
		for name, set := range map[string]func(){
			"chains": func() { own.Chains = o.chains },
			"warmup": func() { own.Warmup = orNone(o.warmup) },
			"draws":  func() { own.Draws = o.draws },
		} {
			if cmd.Flags().Changed(name) {
				set()
			}
		}
		return h, own, nil
	}
	l, err := o.load(context.Background(), arg, cmd.ErrOrStderr())
	if err != nil {
		return nil, options, err
	}
	h, err := l.model.Holdout(l.values, o.bindOptions())
	return h, options, err
}

// divide makes the folds.
func (o *validating) divide(h *ppl.Holdout) ([]criticise.Fold, error) {
	rng := rand.New(rand.NewPCG(o.seed, 0x666f6c6473))
	switch {
	case o.by != "":
		groups, _, err := h.Groups(o.by)
		if err != nil {
			return nil, fmt.Errorf("--by: %w", err)
		}
		return criticise.GroupedFolds(groups, o.folds, rng)
	case o.time != "":
		times, err := h.Values(o.time)
		if err != nil {
			return nil, fmt.Errorf("--time: %w", err)
		}
		if !(o.firstShare > 0 && o.firstShare < 1) {
			return nil, usagef("--first must be a share between 0 and 1, but is %v", o.firstShare)
		}
		return criticise.FutureFolds(times, orTen(o.folds), o.firstShare)
	}
	return criticise.RandomFolds(h.N, min(orTen(o.folds), h.N), rng)
}

// orTen is a number of folds that may not be given.
func orTen(n int) int {
	if n == 0 {
		return 10
	}
	return n
}

// floats is the reverse of numbersOf.
func floats(values []number) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

// arrange puts what was predicted fold by fold in the order of the observations.
func (o *validating) arrange(j *looJSON, folds []criticise.Fold, elpd, mcse []float64) {
	at := map[int]int{}
	last := 0
	n := 0
	for _, f := range folds {
		for _, row := range f.Test {
			at[row] = n
			last = max(last, row)
			n++
		}
	}
	names := j.Pointwise.Name
	j.Pointwise = pointwiseJSON{}
	var all []float64
	sum := 0.0
	for row := 0; row <= last; row++ {
		i, ok := at[row]
		if !ok {
			continue
		}
		j.Pointwise.Name = append(j.Pointwise.Name, names[i])
		j.Pointwise.ELPD = append(j.Pointwise.ELPD, number(elpd[i]))
		j.Pointwise.MCSE = append(j.Pointwise.MCSE, number(mcse[i]))
		all = append(all, elpd[i])
		sum += mcse[i] * mcse[i]
	}
	j.Observations = len(all)
	j.MCSE = number(math.Sqrt(sum))
	j.Estimates = map[string]estimateOf{"elpd_cv": estimated(all), "cvic": estimated(twice(all))}
}

func (o *validating) show(w io.Writer, h *ppl.Holdout, j *looJSON, fits int) error {
	var b strings.Builder
	writeParagraph(&b, "", fmt.Sprintf("%s of %d observations of %s, %d draws each. Left out together: the rows of %s.",
		count(fits, "fold", "folds"), j.Observations, h.Variable, j.Draws, strings.Join(h.Rows, ", ")), lineWidth(w))
	b.WriteString("\n")
	cells := [][]string{{"", "estimate", "se"}}
	for _, name := range []string{"elpd_cv", "cvic"} {
		e := j.Estimates[name]
		cells = append(cells, []string{name, figure(float64(e.Estimate), 1), figure(float64(e.SE), 1)})
	}
	writeEstimates(&b, w, cells)
	writeParagraph(&b, "", fmt.Sprintf("Monte Carlo standard error of elpd_cv: %s.", figure(float64(j.MCSE), 2)), lineWidth(w))
	writeFindings(&b, j.Findings, lineWidth(w))
	_, err := io.WriteString(w, b.String())
	return err
}
