package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/assess/projection"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/front/formula"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/psis"
	"github.com/ppl-lang/ppl/lang/diag"
)

// selecting is a run of the command select.
type selecting struct {
	criticised
	formula, family string
	terms, size     int
	validate        bool
	seed            uint64
	json            bool
}

// selectJSON is what select prints with --json; a stable format.
type selectJSON struct {
	Method       string     `json:"method"`         // always select
	Outcome      string     `json:"outcome"`        // variable that is predicted
	Family       string     `json:"family"`         // distribution of the outcome
	Draws        int        `json:"draws"`          // draws of the fit that were used
	Projected    int        `json:"projected"`      // draws that were projected
	Validated    bool       `json:"validated"`      // the search was repeated without each row
	Reference    estimateOf `json:"reference"`      // expected log predictive density of the fitted model
	Limit        number     `json:"pareto_k_limit"` // Pareto k above which an estimate is unreliable
	Sizes        []sizeJSON `json:"sizes"`          // submodels of the path, the smallest first
	Suggested    int        `json:"suggested"`      // number of terms of the suggested submodel; -1: none
	Formula      string     `json:"formula"`        // formula of the submodel whose coefficients are given
	Coefficients []coefJSON `json:"coefficients"`   // its coefficients at the projected draws

	Findings []diagnose.Finding `json:"findings"` // problems and remarks
}

// sizeJSON is a submodel.
type sizeJSON struct {
	Size       int        `json:"size"`       // number of terms
	Term       string     `json:"term"`       // the term that was added; empty for none
	Divergence number     `json:"divergence"` // mean Kullback-Leibler divergence per row from the fitted model
	ELPD       estimateOf `json:"elpd"`       // expected log predictive density
	Difference estimateOf `json:"difference"` // of elpd from the fitted model
	// share of the searches without a row that have the term at this size; null without --validate
	Share *number `json:"share"`
}

// coefJSON is a coefficient of a submodel.
type coefJSON struct {
	Name string `json:"name"` // column of the design, as in R
	Mean number `json:"mean"` // posterior mean
	SD   number `json:"sd"`   // posterior standard deviation
}

func selectCommand() *cobra.Command {
	var o selecting
	cmd := &cobra.Command{
		Use: "select DIR",
		Long: `Finds the fewest terms of a formula that predict as well as all of them. This is projection
predictive variable selection, as in R's package projpred.

The fit has all terms. Its posterior is projected onto models with fewer terms, which are not
fitted to the data: they predict what the fit predicts, as well as they can. The search begins
without terms. It adds the term with the smallest Kullback-Leibler divergence from the fit,
again and again. Leave-one-out cross-validation (PSIS-LOO) estimates the accuracy of each
submodel. The suggested one is the smallest whose accuracy is at most one standard error below
that of the fit.

The formula is that in the first line of a model of ppl new. Any other model of one outcome
needs --formula, and its priors may be any. Families are gaussian, lognormal, bernoulli,
binomial and poisson.`,
		Example: `  ppl select fit
  ppl select fit --validate
  ppl select fit --formula 'y ~ x1 + x2 + (1 | group)' --family poisson`,
		Args: arguments("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.criticised.flags(cmd)
	f := declare(cmd)
	f.String(&o.formula, "formula", "")
	f.String(&o.family, "family", "")
	f.Int(&o.terms, "max-terms", 0)
	f.Int(&o.size, "terms", -1)
	f.Bool(&o.validate, "validate", false)
	f.Uint64(&o.seed, "seed", 1)
	f.Bool(&o.quiet, "quiet", false)
	f.Bool(&o.verbose, "verbose", false)
	f.Bool(&o.json, "json", false)
	return cmd
}

// projectedFamilies has the families with a projection. logs is set if the logarithm of the outcome
// has the distribution.
var projectedFamilies = []struct {
	name string
	of   projection.Family
	logs bool
}{
	{"gaussian", projection.Gaussian, false},
	{"lognormal", projection.Gaussian, true},
	{"bernoulli", projection.Binomial, false},
	{"binomial", projection.Binomial, false},
	{"poisson", projection.Poisson, false},
}

// split reads the formula of the fit, or that of --formula.
func (o *selecting) split(cmd *cobra.Command, f *fit.Fit, rows int) (*formula.Split, error) {
	m, err := f.Model()
	if err != nil {
		return nil, err
	}
	text, family, ok := formula.Written(m.Text())
	if o.formula != "" {
		text = o.formula
	} else if !ok {
		return nil, usagef("%s does not begin with the formula of ppl new: give it by --formula, and the distribution by --family", m.Name())
	}
	if o.family != "" {
		family = o.family
	}
	values, err := f.Data()
	if err != nil {
		return nil, err
	}
	s, err := formula.SplitOf(text, values, rows, formula.Options{Family: family})
	if wrong, ok := errors.AsType[*formula.Error](err); ok {
		diag.Render(cmd.ErrOrStderr(), wordedList(diag.List{wrong.Diagnostic()}), diagOptions(cmd.ErrOrStderr()))
		return nil, exitCode(exitError)
	}
	return s, err
}

// problem returns the problem of the projection.
func (o *selecting) problem(s *formula.Split, p *assess.LinearPredictors) (*projection.Problem, error) {
	var names []string
	for _, f := range projectedFamilies {
		names = append(names, f.name)
	}
	at := slices.Index(names, s.Family)
	switch {
	case at < 0:
		return nil, fmt.Errorf("there is no projection for %s, only for %s", s.Family, strings.Join(names, ", "))
	case s.Censored:
		return nil, errors.New("there is no projection for censored outcomes")
	case !s.Intercept:
		return nil, errors.New("submodels have an intercept, but the formula has none")
	case len(s.Parts) == 0:
		return nil, errors.New("the formula has no terms to select from")
	case s.Variable != p.Variable:
		return nil, fmt.Errorf("the formula is for %s, but the outcome of the model is %s", s.Variable, p.Variable)
	}
	family, outcome := projectedFamilies[at], s.Outcome
	if family.logs {
		outcome = make([]float64, len(s.Outcome))
		for i, y := range s.Outcome {
			outcome[i] = math.Log(y)
		}
		for _, row := range p.LogLik { // the density of the logarithm
			for i := range row {
				row[i] += outcome[i]
			}
		}
	}
	var terms []projection.Term
	for i, part := range s.Parts {
		t := projection.Term{Columns: part.Columns, Needs: part.Needs, Groups: part.Group, Levels: part.Groups, Set: part.Set}
		switch {
		case part.Curves:
			t.Groups, t.Levels, t.Set, t.Covariance = make([]int, len(outcome)), 1, -i-1, projection.Scalar
		case part.Set > 0 && !part.Correlated:
			t.Covariance = projection.Diagonal
		}
		terms = append(terms, t)
	}
	problem, ok := p.Problem(family.of, outcome, s.Trials, s.Offset, terms)
	if !ok {
		return nil, fmt.Errorf("the model's density of %s is not that of the family %s with one linear predictor per row", s.Variable, s.Family)
	}
	return problem, nil
}

func (o *selecting) run(cmd *cobra.Command, args []string) error {
	f, err := o.read(cmd, args)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	p, err := assess.LinearPredictorsOf(ctx, f)
	if err != nil {
		return ended(ctx, cmd.ErrOrStderr(), underivable(err, "linear predictors"))
	}
	s, err := o.split(cmd, f, p.Rows())
	if err != nil {
		return err
	}
	if o.terms < 0 || o.size > len(s.Parts) || o.size < -1 {
		return usagef("the formula has %s: --terms and --max-terms must be between 0 and that", count(len(s.Parts), "term", "terms"))
	}
	problem, err := o.problem(s, p)
	if err != nil {
		return err
	}
	path, err := o.search(ctx, cmd.ErrOrStderr(), problem, s)
	if err != nil {
		return ended(ctx, cmd.ErrOrStderr(), err)
	}
	j := o.result(s, path)
	j.Draws = len(p.Predictor)
	j.Findings = append(o.findings(path, j), runProblems(f, args[0])...)
	if method := f.Approximate(); method != "" {
		j.Findings = append(j.Findings, diagnose.Finding{Code: "approximation", Severity: diagnose.Problem,
			Summary: "The draws come from an approximation (" + method + "), whose error is not accounted for.",
			Advice:  "Treat the figures as a first look, and sample with ppl run."})
	}
	if o.json {
		return writeJSON(cmd.OutOrStdout(), j)
	}
	return o.show(cmd.OutOrStdout(), j)
}

// search makes the path. It shows how far it is.
func (o *selecting) search(ctx context.Context, stderr io.Writer, p *projection.Problem, s *formula.Split) (*projection.Path, error) {
	line := &overwritten{w: stderr}
	defer line.end()
	options := projection.PathOptions{Terms: o.terms, Validate: o.validate, Seed: o.seed}
	if !o.quiet {
		options.Done = func(done, of int) {
			if done < of {
				line.show(fmt.Sprintf("Projecting, %d of %d", done, of))
			}
		}
	}
	path, err := projection.PathOf(ctx, p, options)
	if term := (*projection.TermError)(nil); errors.As(err, &term) {
		return nil, fmt.Errorf("the submodel with %s cannot be fitted: %w", s.Parts[term.Term].Label, term.Err)
	}
	return path, err
}

// result words the path.
func (o *selecting) result(s *formula.Split, path *projection.Path) *selectJSON {
	j := &selectJSON{Method: "select", Outcome: s.Variable, Family: s.Family, Projected: len(path.Refs), Validated: o.validate,
		Reference: estimated(path.Reference), Suggested: path.Suggested(), Sizes: []sizeJSON{}, Coefficients: []coefJSON{}}
	var order []int
	for size, step := range path.Steps {
		row := sizeJSON{Size: size, Divergence: number(step.Divergence), ELPD: estimated(step.ELPD)}
		d := path.Difference(size)
		row.Difference = estimateOf{number(d.Value), number(d.SE)}
		if size > 0 {
			row.Term = s.Parts[step.Term].Label
			order = append(order, step.Term)
			if o.validate {
				share := number(step.Share)
				row.Share = &share
			}
		}
		j.Sizes = append(j.Sizes, row)
	}
	size := o.size
	if size < 0 {
		size = j.Suggested
	}
	if size < 0 || size >= len(path.Steps) {
		size = len(path.Steps) - 1
	}
	chosen := order[:size]
	j.Formula = s.Formula(chosen)
	names := []string{"(Intercept)"}
	for i, part := range s.Parts {
		if part.Set == 0 && !part.Curves && slices.Contains(chosen, i) {
			names = append(names, part.Labels...)
		}
	}
	for c, name := range names {
		var draws []float64
		for _, fitted := range path.Steps[size].Projected {
			draws = append(draws, fitted.Coefficients[c])
		}
		e := criticise.Sum(draws) // the standard error of a sum is √n times the standard deviation
		n := float64(len(draws))
		j.Coefficients = append(j.Coefficients, coefJSON{name, number(e.Value / n), number(e.SE / math.Sqrt(n))})
	}
	return j
}

// findings returns what limits the conclusions.
func (o *selecting) findings(path *projection.Path, j *selectJSON) []diagnose.Finding {
	out := []diagnose.Finding{}
	limit := psis.Limit(j.Draws)
	j.Limit = number(limit)
	bad := 0
	for _, k := range path.K {
		if k > limit {
			bad++
		}
	}
	if bad > 0 {
		out = append(out, diagnose.Finding{Code: "selection-pareto-k", Severity: diagnose.Problem,
			Summary: fmt.Sprintf("The Pareto k of %s is above %.2g, so the accuracy of all submodels is uncertain.", count(bad, "row", "rows"), limit),
			Advice:  "Run ppl loo on the fit: it lists the rows. Check them, or choose a model with heavier tails."})
	}
	if j.Suggested < 0 {
		out = append(out, diagnose.Finding{Code: "selection-too-short", Severity: diagnose.Note,
			Summary: "No submodel of the path predicts as well as the fit.",
			Advice:  "Search further, with a larger --max-terms."})
	}
	if !o.validate && len(path.Steps) > 2 {
		out = append(out, diagnose.Finding{Code: "selection-not-validated", Severity: diagnose.Note,
			Summary: "The search used all rows, so the accuracy of its submodels is a little too high.",
			Advice:  "Use --validate to repeat the search without each row; it takes longer."})
	}
	return out
}

func (o *selecting) show(w io.Writer, j *selectJSON) error {
	var b strings.Builder
	cells := [][]string{{"terms", "added", "divergence", "elpd", "se", "difference", "se"}}
	if o.validate {
		cells[0] = append(cells[0], "share")
	}
	for _, s := range j.Sizes {
		row := []string{strconv.Itoa(s.Size), s.Term, figure(float64(s.Divergence), 4), figure(float64(s.ELPD.Estimate), 1), figure(float64(s.ELPD.SE), 1),
			figure(float64(s.Difference.Estimate), 1), figure(float64(s.Difference.SE), 1)}
		if o.validate {
			share := ""
			if s.Share != nil {
				share = fixed(float64(*s.Share), 2)
			}
			row = append(row, share)
		}
		cells = append(cells, row)
	}
	all := []string{"", "the fit", "", figure(float64(j.Reference.Estimate), 1), figure(float64(j.Reference.SE), 1), "", ""}
	if o.validate {
		all = append(all, "")
	}
	writeLabelled(&b, w, append(cells, all), 2)
	if j.Suggested >= 0 {
		writeParagraph(&b, "", fmt.Sprintf("Suggested: %s. The smallest submodel whose elpd is at most one standard error below that of the fit.", count(j.Suggested, "term", "terms")), lineWidth(w))
	}
	fmt.Fprintf(&b, "\nProjected onto %s:\n", j.Formula)
	cells = [][]string{{"", "mean", "sd"}}
	for _, c := range j.Coefficients {
		d := decimals(diagnose.Row{SD: float64(c.SD), MCSEMean: float64(c.SD) / math.Sqrt(float64(j.Projected))})
		cells = append(cells, []string{c.Name, figure(float64(c.Mean), d), figure(float64(c.SD), d)})
	}
	writeEstimates(&b, w, cells)
	writeBriefly(&b, j.Findings, inBrief{details: sameVerbose, verbose: o.verbose, width: lineWidth(w)})
	_, err := io.WriteString(w, b.String())
	return err
}
