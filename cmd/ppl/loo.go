package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/psis"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
	"github.com/ppl-lang/ppl/study"
)

// estimateOf is a sum over observations with its standard error, for JSON.
type estimateOf struct {
	Estimate number `json:"estimate"` // the estimate
	SE       number `json:"se"`       // its standard error over observations
}

func estimated(values []float64) estimateOf {
	e := criticise.Sum(values)
	return estimateOf{number(e.Value), number(e.SE)}
}

// pointwiseJSON has the figures of each observation.
type pointwiseJSON struct {
	Name    []string `json:"name"`                // name of each observation
	ELPD    []number `json:"elpd"`                // expected log predictive density
	MCSE    []number `json:"mcse"`                // Monte Carlo standard error of elpd
	P       []number `json:"p,omitempty"`         // effective number of parameters
	ParetoK []number `json:"pareto_k,omitempty"`  // Pareto k
	ESS     []number `json:"ess,omitempty"`       // effective sample size of the weighted draws
	WAIC    []number `json:"elpd_waic,omitempty"` // expected log predictive density by WAIC
}

// looJSON is what loo and cv print with --json, and compare reads; a stable format.
type looJSON struct {
	Method       string `json:"method"`       // loo or cv
	Draws        int    `json:"draws"`        // number of draws used of each fit
	Observations int    `json:"observations"` // number of observations
	Source       string `json:"source"`       // source of the log likelihood

	Folds int `json:"folds,omitempty"` // number of folds, with cv
	// elpd_loo, p_loo, looic, elpd_waic, p_waic, waic; or elpd_cv, cvic
	Estimates map[string]estimateOf `json:"estimates"`
	MCSE      number                `json:"mcse"` // Monte Carlo standard error of elpd
	// Pareto k above which an estimate is unreliable; 0 with cv
	Limit number `json:"pareto_k_limit"`
	// observations for which draws were moved
	Moved []string `json:"moved"`
	// observations without which the model was fitted again
	Refitted []string `json:"refitted"`
	// figures of each observation, by column
	Pointwise pointwiseJSON      `json:"pointwise"`
	Findings  []diagnose.Finding `json:"findings"` // problems and remarks
}

// judging is a run of loo.
type judging struct {
	criticised
	likelihood
	studyOptions
	exact     bool
	match     bool
	pointwise string
	json      bool
	failOn    failOn
}

// likelihood has the options about the log likelihoods of observations.
type likelihood struct {
	assess.LogLikOptions
	rows byteSize // memory for these log likelihoods; 0: a GiB
}

func (l *likelihood) flags(cmd *cobra.Command) {
	f := declare(cmd)
	f.String(&l.Name, "log-lik", "")
	f.Bool(&l.Derive, "derive", false)
	f.String(&l.By, "by", "")
	f.Value(&l.rows, "log-lik-memory")
}

// bytes returns the memory limit for the log likelihoods.
func (l *likelihood) bytes() (int, error) {
	switch {
	case l.rows == 0:
		return 1 << 30, nil
	case l.rows < 1<<20:
		return 0, usagef("--log-lik-memory must be at least 1MiB, but is %v", l.rows.String())
	}
	return int(l.rows), nil
}

func looCommand() *cobra.Command {
	var o judging
	cmd := &cobra.Command{
		Use: "loo DIR",
		Long: `Estimates the expected log predictive density of new data from the draws of a run. It uses
leave-one-out cross-validation by Pareto smoothed importance sampling (PSIS-LOO), and WAIC
for comparison. DIR is the folder of a run with --out; or CSV files, with --model and --data.

ppl derives the log likelihood of each observation from the model's statements about data,
such as y ~ normal(mu, sigma). If there is a generated quantity log_lik, it uses that.

If the Pareto k of an observation is too large, weights cannot leave it out. --moment-match
moves the draws to the posterior without the observation; this takes some evaluations of the
model for each draw. --exact fits the model again without each such observation. With both,
--exact applies to those that moving does not solve. With --out, these fits are kept as they
arrive, and the same command continues after a stop.`,
		Example: `  ppl run m.model -d d.json --out fit && ppl loo fit
  ppl loo fit --moment-match --exact
  ppl loo fit --by school --pointwise loo.csv
  ppl loo fit_1.csv fit_2.csv --model m.stan --data d.json`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.criticised.flags(cmd)
	o.likelihood.flags(cmd)
	f := declare(cmd)
	f.Bool(&o.match, "moment-match", false)
	f.Bool(&o.exact, "exact", false)
	f.String(&o.pointwise, "pointwise", "")
	o.studyOptions.flags(cmd)
	o.failOn.flag(cmd)
	f.Bool(&o.json, "json", false)
	f.Bool(&o.verbose, "verbose", false)
	return cmd
}

func (o *judging) run(cmd *cobra.Command, args []string) error {
	o.input.quiet = o.studyOptions.quiet
	memory, err := o.bytes()
	if err != nil {
		return err
	}
	collectWithin(int64(memory) + int64(memory)/2) // doubling the stored draws would waste memory
	fit, err := o.read(cmd, args)
	if err != nil {
		return err
	}
	l, err := o.logLik(cmd.Context(), fit, o.LogLikOptions)
	if err != nil {
		return ended(cmd.Context(), cmd.ErrOrStderr(), err)
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	r, err := l.LOO(ctx, memory)
	if err != nil {
		return ended(ctx, cmd.ErrOrStderr(), err)
	}
	var moved []string
	if o.match {
		if moved, err = o.moveDraws(ctx, cmd.ErrOrStderr(), l, r); err != nil {
			return ended(ctx, cmd.ErrOrStderr(), err)
		}
	}
	var refitted []string
	if o.exact {
		if refitted, err = o.refit(ctx, cmd.ErrOrStderr(), fit, l, r); err != nil {
			return err
		}
	}
	if o.pointwise != "" {
		if err := writePointwise(o.pointwise, l.Names, []string{"elpd_loo", "mcse_elpd_loo", "p_loo", "pareto_k", "ess", "elpd_waic", "p_waic"},
			r.ELPD, r.MCSE, r.P, r.K, r.ESS, r.WAIC, r.PWAIC); err != nil {
			return err
		}
	}
	findings := worded(l.Findings(r, o.match), args[0])
	for i, name := range l.Names {
		const vague = 0.3
		if slices.Contains(refitted, name) && !(r.MCSE[i] <= vague) {
			findings = append(findings, diagnose.Finding{Code: "refit-mcse", Severity: diagnose.Problem,
				Summary: fmt.Sprintf("The log density of %s in the fit without it, %.4g, is uncertain too (Monte Carlo standard error %.2g).", name, r.ELPD[i], r.MCSE[i]),
				Advice:  "The model certainly predicts this observation badly, but the figure is rough."})
		}
	}
	findings = append(findings, runProblems(fit, o.criticised.run(args[0]))...)
	if method := fit.Approximate(); method != "" {
		findings = append(findings, diagnose.Finding{Code: "approximation", Severity: diagnose.Problem,
			Summary: "The draws come from an approximation (" + method + "), whose error is not accounted for.",
			Advice:  "Treat the figures as a first look, and sample with ppl run."})
	}
	if o.json {
		err = writeJSON(cmd.OutOrStdout(), newLooJSON(l, r, moved, refitted, findings))
	} else {
		err = showLoo(cmd.OutOrStdout(), l, r, moved, refitted, findings, o.verbose)
	}
	if err != nil {
		return err
	}
	return o.failOn.of(findings)
}

// logLik returns the log likelihoods of a run that was read, or of what was generated from it.
func (c *criticised) logLik(ctx context.Context, f *fit.Fit, o assess.LogLikOptions) (*assess.LogLik, error) {
	o.Quantities = c.quantities
	l, err := assess.LogLikOf(ctx, f, o)
	return l, keptOnly(noLogLik(err), f)
}

// noLogLik adds the lines to write to an error that says that a model has no log likelihood of
// observations.
func noLogLik(err error) error {
	e, ok := errors.AsType[*predict.UnderivableError](err)
	if !ok {
		return err
	}
	size, index, term, what := cmp.Or(e.Size, "N"), cmp.Or(e.Index, "n"), e.Term, ""
	if term == "" {
		term = "…"
		what = fmt.Sprintf(" For … write the log density of %s[%s] given the parameters.", cmp.Or(e.Outcome, "observation y"), index)
	}
	return fmt.Errorf("%w\nAdd it to the generated quantities of a copy of the model.%s\n"+
		"  vector[%s] log_lik;\n  for (%s in 1:%s) log_lik[%s] = %s;\n"+
		"Then: ppl generate COPY --fit DIR --out DIR2 and ppl loo DIR2", err, what, size, index, size, index, term)
}

// moveDraws improves the estimates of the unreliable observations by moment matching. It returns
// those whose estimates are reliable afterwards.
func (o *judging) moveDraws(ctx context.Context, stderr io.Writer, l *assess.LogLik, r *criticise.Result) ([]string, error) {
	bad := r.Bad()
	line := &overwritten{w: stderr}
	_, err := l.MatchMoments(ctx, r, bad, func(n, i int) {
		if !o.studyOptions.quiet {
			line.show(fmt.Sprintf("Moving draws, %d of %d: without %s", n+1, len(bad), l.Names[i]))
		}
	})
	line.end()
	if err != nil {
		return nil, fmt.Errorf("--moment-match: %w", err)
	}
	still := r.Bad()
	var names []string
	for _, i := range bad {
		if !slices.Contains(still, i) {
			names = append(names, l.Names[i])
		}
	}
	return names, nil
}

// refit computes the predictive densities of the unreliable observations exactly, by a fit without
// each.
func (o *judging) refit(ctx context.Context, stderr io.Writer, fit *fit.Fit, l *assess.LogLik, r *criticise.Result) ([]string, error) {
	bad := r.Bad()
	if len(bad) == 0 {
		return nil, nil
	}
	h, m, options, err := holdout(ctx, fit)
	if err != nil {
		return nil, fmt.Errorf("--exact: %w", err)
	}
	out := func(i int) []int { return []int{i} }
	if o.By != "" {
		groups, _, err := h.Groups(o.By)
		if err != nil {
			return nil, fmt.Errorf("--exact: %w", err)
		}
		out = func(i int) []int { return groups[i] }
	} else if h.N != l.Observations() {
		return nil, fmt.Errorf("--exact: there are %d rows of %s, but %d observations: they cannot be left out one by one", h.N, strings.Join(h.Variables, ", "), l.Observations())
	}
	folds := &study.Folds{Holdout: h, Seed: bindSeed(fit)}
	for _, i := range bad {
		folds.Folds = append(folds.Folds, study.Fold{Name: "without " + l.Names[i], Test: out(i)})
	}
	var names []string
	p := &study.Plan{Parts: []study.Part{{Models: []*study.Model{m}, Source: folds}}, Options: options, Seed: fit.Config().Seed, Keep: study.Keep{NoSummary: true}}
	_, err = o.studyOptions.run(ctx, stderr, p, "", func(u *study.Unit, result *study.Result) error {
		i := bad[u.Number]
		if result.Status == study.Failed {
			return fmt.Errorf("the fit %s: %s", u.Data, result.Message)
		}
		r.Replace(i, result.Joint.ELPD, result.Joint.MCSE)
		names = append(names, l.Names[i])
		return nil
	})
	return names, err
}

// bindSeed returns the seed that was used to bind the data of a fit.
func bindSeed(fit *fit.Fit) uint64 {
	if record := fit.Record(); record != nil {
		return record.Seed
	}
	return fit.Config().Seed
}

// holdout prepares refits with the same options as the fit.
func holdout(ctx context.Context, fit *fit.Fit) (*assess.Holdout, *study.Model, study.Options, error) {
	m, err := fit.Model()
	if err != nil {
		return nil, nil, nil, err
	}
	values, err := fit.Data()
	if err != nil {
		return nil, nil, nil, err
	}
	c := fit.Config()
	bind := model.BindOptions{Seed: bindSeed(fit)}
	o := study.Options{"chains": strconv.Itoa(max(c.Chains, 1)), "draws": strconv.Itoa(fit.Draws.Len(0) * max(c.Thin, 1)), "thin": strconv.Itoa(max(c.Thin, 1))}
	if c.Warmup > 0 {
		o["warmup"] = strconv.Itoa(c.Warmup)
	}
	legacy := false
	if record := fit.Record(); record != nil {
		bind.StanCompat, legacy = record.StanCompat, record.Legacy
		o["stan-compat"] = record.StanCompat
		name := record.Option("sampler")
		if row, ok := sampler.Lookup(name); ok {
			o["sampler"] = name
			fs := flag.NewFlagSet(name, flag.ContinueOnError)
			row.Options(fs)
			fs.VisitAll(func(f *flag.Flag) {
				if v := record.Option(f.Name); v != "" {
					o[f.Name] = v
				}
			})
		}
	}
	if s, ok := c.Sampler.(nuts.Sampler); ok && o["sampler"] == "" {
		o["sampler"] = "nuts"
		if s.MaxDepth > 0 {
			o["max-depth"] = strconv.Itoa(s.MaxDepth)
		}
	}
	if o["sampler"] == "auto" { // auto may have ended warm-up early: use the length that was asked for
		delete(o, "warmup")
		if record := fit.Record(); record != nil && record.Option("warmup") != "" {
			o["warmup"] = record.Option("warmup")
		}
	}
	h, err := assess.NewHoldout(ctx, m, values, bind)
	if err != nil {
		return nil, nil, nil, err
	}
	named, err := study.NewModel(folder.BaseName(m.Name()), m, legacy)
	return h, named, o, err
}

func twice(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = -2 * v
	}
	return out
}

// totalMCSE returns the Monte Carlo standard error of the sum. It is NaN if the error of a summand
// is unknown because its Pareto k is too large.
func totalMCSE(r *criticise.Result) float64 {
	sum := 0.0
	if len(r.Bad()) > 0 {
		return math.NaN()
	}
	for _, v := range r.MCSE {
		sum += v * v
	}
	return math.Sqrt(sum)
}

func newLooJSON(l *assess.LogLik, r *criticise.Result, moved, refitted []string, findings []diagnose.Finding) looJSON {
	return looJSON{Method: "loo", Draws: r.Draws, Observations: len(r.ELPD), Source: l.Source,
		Estimates: map[string]estimateOf{
			"elpd_loo": estimated(r.ELPD), "p_loo": estimated(r.P), "looic": estimated(twice(r.ELPD)),
			"elpd_waic": estimated(r.WAIC), "p_waic": estimated(r.PWAIC), "waic": estimated(twice(r.WAIC)),
		},
		MCSE: number(totalMCSE(r)), Limit: number(psis.Limit(r.Draws)), Moved: notNil(moved), Refitted: notNil(refitted), Findings: findings,
		Pointwise: pointwiseJSON{Name: l.Names, ELPD: numbersOf(r.ELPD), MCSE: numbersOf(r.MCSE), P: numbersOf(r.P), ParetoK: numbersOf(r.K), ESS: numbersOf(r.ESS), WAIC: numbersOf(r.WAIC)},
	}
}

func showLoo(w io.Writer, l *assess.LogLik, r *criticise.Result, moved, refitted []string, findings []diagnose.Finding, verbose bool) error {
	var b strings.Builder
	writeParagraph(&b, "", fmt.Sprintf("%d draws, %s; log likelihood %s.", r.Draws, count(len(r.ELPD), strings.TrimSuffix(l.What(), "s"), l.What()), l.Source), lineWidth(w))
	b.WriteString("\n")
	cells := [][]string{{"", "estimate", "se"}}
	for _, row := range []struct {
		name   string
		values []float64
	}{{"elpd_loo", r.ELPD}, {"p_loo", r.P}, {"looic", twice(r.ELPD)}, {"elpd_waic", r.WAIC}, {"p_waic", r.PWAIC}, {"waic", twice(r.WAIC)}} {
		e := criticise.Sum(row.values)
		cells = append(cells, []string{row.name, figure(e.Value, 1), figure(e.SE, 1)})
	}
	writeEstimates(&b, w, cells)
	if e := totalMCSE(r); !math.IsNaN(e) {
		writeParagraph(&b, "", fmt.Sprintf("Monte Carlo standard error of elpd_loo: %s.", figure(e, 2)), lineWidth(w))
	} else if len(r.Bad()) > 0 {
		writeParagraph(&b, "", "Monte Carlo standard error of elpd_loo: not known, as some Pareto k are too large.", lineWidth(w))
	}
	if len(moved) > 0 {
		writeParagraph(&b, "", fmt.Sprintf("Draws were moved for: %s.", strings.Join(moved, ", ")), lineWidth(w))
	}
	if len(refitted) > 0 {
		writeParagraph(&b, "", fmt.Sprintf("Fitted again without: %s.", strings.Join(refitted, ", ")), lineWidth(w))
	}
	if bad := len(r.Bad()); bad == 0 && len(r.K) > 0 {
		largest := "."
		if k := slices.Max(r.K); !math.IsInf(k, -1) { // if all k are -Inf, the likelihoods are constant
			largest = fmt.Sprintf(" (largest: %.2g).", k)
		}
		writeParagraph(&b, "", fmt.Sprintf("All Pareto k are at most %.2g%s", psis.Limit(r.Draws), largest), lineWidth(w))
	}
	writeBriefly(&b, findings, inBrief{details: sameVerbose, verbose: verbose, width: lineWidth(w)})
	_, err := io.WriteString(w, b.String())
	return err
}

// readPredictions reads a saved result of loo or cv.
func readPredictions(path string) (*looJSON, error) {
	text, err := data.ReadText(path, data.Options{Memory: compile.DefaultMemory()})
	if err != nil {
		return nil, err
	}
	j := &looJSON{}
	if err := json.Unmarshal([]byte(text), j); err != nil || len(j.Pointwise.ELPD) == 0 {
		return nil, fmt.Errorf("%s holds no result of ppl loo --json or ppl cv --json", path)
	}
	return j, nil
}
