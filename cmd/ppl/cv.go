package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/study"
)

// validating is a run of the command cv.
type validating struct {
	input
	studyOptions
	folds                 int
	by, time              string
	firstShare            float64
	chains, warmup, draws int
	bindSeed              uint64
	fit                   *fit.Fit // whose folder is given
	pointwise             string
	json                  bool
}

func cvCommand() *cobra.Command {
	var o validating
	cmd := &cobra.Command{
		Use: "cv DIR | MODEL --data FILE",
		Long: `Cross-validation divides the observations into folds. For each fold, it fits the model to the
other observations, and computes the log predictive density of those in the fold. This takes
one fit per fold, and needs no approximation.

  --folds K     K folds at random
  --by GROUP    whole groups are predicted: one fold per group, or --folds of them
  --time T      the future is predicted from the past: the observations after the first
                (--first, a share) in --folds blocks, each from all before it

DIR is the folder of a run with --out, whose numbers of chains and draws are used. Instead of
it, you can give a model with its data. With --out, the fits are kept as they arrive, and the
same command continues after a stop. Observations are rows: ppl leaves out the same rows of
the outcomes and of all data with as many rows. In ragged data, they are the elements of rows.
They must be independent given the parameters.`,
		Example: `  ppl cv fit --folds 10
  ppl cv m.stan -d d.json --by school --json > schools.json`,
		Args: arguments("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	o.input.flags(cmd)
	f := declare(cmd)
	f.Int(&o.folds, "folds", 0)
	f.String(&o.by, "by", "")
	f.String(&o.time, "time", "")
	f.Float64(&o.firstShare, "first", 0.5)
	f.Int(&o.chains, "chains", 4)
	f.Int(&o.warmup, "warmup", 1000)
	f.Int(&o.draws, "draws", 1000)
	f.Uint64(&o.seed, "seed", 1)
	f.String(&o.pointwise, "pointwise", "")
	o.studyOptions.flags(cmd)
	f.Bool(&o.json, "json", false)
	f.Bool(&o.verbose, "verbose", false)
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
	o.input.quiet = o.studyOptions.quiet
	if o.time != "" && !(o.firstShare > 0 && o.firstShare < 1) {
		return usagef("--first must be a share between 0 and 1, but is %v", o.firstShare)
	}
	h, m, options, err := o.prepare(cmd, arg)
	if err != nil {
		return ended(cmd.Context(), stderr, err)
	}
	folds, err := study.NewFolds(h, study.FoldOptions{K: o.folds, By: o.by, Time: o.time, First: o.firstShare, Seed: o.seed})
	if err != nil {
		return keptOnly(err, o.fit)
	}
	folds.Seed = o.bindSeed
	for i := range folds.Folds {
		f := &folds.Folds[i]
		f.Name = fmt.Sprintf("fold %d: %s predicted from %d", i+1, count(len(f.Test), "observation", "observations"), len(f.Train))
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	j := looJSON{Method: "cv", Folds: len(folds.Folds), Observations: 0, Source: "derived from the statements on " + strings.Join(h.Variables, ", "), Moved: []string{}, Refitted: []string{}, Findings: []diagnose.Finding{}}
	var elpd, mcse []float64
	problems := map[string]int{}
	p := &study.Plan{Parts: []study.Part{{Models: []*study.Model{m}, Source: folds}}, Options: options, Seed: o.seed, Keep: study.Keep{NoSummary: true}}
	if _, err := o.studyOptions.run(ctx, stderr, p, "", func(u *study.Unit, r *study.Result) error {
		if r.Status == study.Failed {
			return fmt.Errorf("%s: %s", u.Data, r.Message)
		}
		var codes []string
		for _, f := range r.Findings {
			if f.Severity == diagnose.Problem && !slices.Contains(codes, f.Code) {
				codes = append(codes, f.Code)
				problems[f.Code]++
			}
		}
		j.Draws = r.Draws
		for k, row := range folds.Folds[u.Number].Test {
			elpd, mcse = append(elpd, r.HeldOut[k].ELPD), append(mcse, r.HeldOut[k].MCSE)
			j.Pointwise.Name = append(j.Pointwise.Name, h.Name(row))
		}
		return nil
	}); err != nil {
		return err
	}
	o.arrange(&j, folds.Folds, elpd, mcse)
	for code, n := range problems {
		j.Findings = append(j.Findings, diagnose.Finding{Code: code, Severity: diagnose.Problem,
			Summary: fmt.Sprintf("%d of the %d fits had the problem %s.", n, len(folds.Folds), code),
			Advice:  "Run the model on all data, and follow the advice of ppl run. More draws or a longer warm-up may help."})
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
	return o.show(cmd.OutOrStdout(), h, &j, len(folds.Folds))
}

// prepare reads the folder of a run, or a model with its data.
func (o *validating) prepare(cmd *cobra.Command, arg string) (*assess.Holdout, *study.Model, study.Options, error) {
	given := study.Options{"chains": strconv.Itoa(o.chains), "warmup": strconv.Itoa(o.warmup), "draws": strconv.Itoa(o.draws), "stan-compat": o.stanCompat}
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		fit, err := openFit(cmd.Context(), []string{arg}, &o.memory)
		if err != nil {
			return nil, nil, nil, err
		}
		o.fit = fit
		h, m, own, err := holdout(cmd.Context(), fit)
		if err != nil {
			return nil, nil, nil, err
		}
		for name, value := range given {
			if cmd.Flags().Changed(name) {
				own[name] = value
			}
		}
		o.bindSeed = bindSeed(fit)
		return h, m, own, nil
	}
	l, err := o.load(cmd.Context(), arg, cmd.ErrOrStderr())
	if err != nil {
		return nil, nil, nil, err
	}
	h, err := assess.NewHoldout(cmd.Context(), l.model, l.values, o.bindOptions())
	if err != nil {
		return nil, nil, nil, err
	}
	o.bindSeed = o.seed
	m, err := study.NewModel(folder.BaseName(arg), l.model, o.compile.Legacy)
	return h, m, given, err
}

// floats is the reverse of numbersOf.
func floats(values []number) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

// arrange puts the predictions, made fold by fold, in the order of the observations.
func (o *validating) arrange(j *looJSON, folds []study.Fold, elpd, mcse []float64) {
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

func (o *validating) show(w io.Writer, h *assess.Holdout, j *looJSON, fits int) error {
	var b strings.Builder
	writeParagraph(&b, "", fmt.Sprintf("%s of %d observations of %s, %d draws each. Left out together: the rows of %s.",
		count(fits, "fold", "folds"), j.Observations, strings.Join(h.Variables, ", "), j.Draws, strings.Join(h.Rows, ", ")), lineWidth(w))
	if h.Unobserved > 0 {
		text := fmt.Sprintf("%d values of %s are missing, so they are in no fold: they are parameters, from which nothing is learnt.", h.Unobserved, h.Variables[0])
		if h.Unobserved == 1 {
			text = fmt.Sprintf("1 value of %s is missing, so it is in no fold: it is a parameter, from which nothing is learnt.", h.Variables[0])
		}
		writeParagraph(&b, "", text, lineWidth(w))
	}
	b.WriteString("\n")
	cells := [][]string{{"", "estimate", "se"}}
	for _, name := range []string{"elpd_cv", "cvic"} {
		e := j.Estimates[name]
		cells = append(cells, []string{name, figure(float64(e.Estimate), 1), figure(float64(e.SE), 1)})
	}
	writeEstimates(&b, w, cells)
	writeParagraph(&b, "", fmt.Sprintf("Monte Carlo standard error of elpd_cv: %s.", figure(float64(j.MCSE), 2)), lineWidth(w))
	writeBriefly(&b, j.Findings, inBrief{details: sameVerbose, verbose: o.verbose, width: lineWidth(w)})
	_, err := io.WriteString(w, b.String())
	return err
}
