package assess

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/psis"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/model/predict"
)

// This file makes findings about how well a model predicts.

// Findings reports problems with the estimates of [LogLik.LOO]. Set moved if [LogLik.MatchMoments]
// was already applied to the observations whose Pareto k is too large.
func (l *LogLik) Findings(r *criticise.Result, moved bool) []diagnose.Finding {
	findings := []diagnose.Finding{}
	if r == nil {
		return findings
	}
	if len(r.K) == 1 && l.groups == "" {
		return append(findings, OneObservation())
	}
	limit := psis.Limit(r.Draws)
	bad, undefined := []int{}, []string{}
	for _, i := range r.Bad() {
		if math.IsNaN(r.ELPD[i]) {
			undefined = append(undefined, l.Names[i])
		} else {
			bad = append(bad, i)
		}
	}
	if len(undefined) > 0 {
		findings = append(findings, diagnose.Finding{Code: "undefined", Severity: diagnose.Problem, Quantities: undefined[:min(5, len(undefined))],
			Summary: fmt.Sprintf("%d of %d %s have no estimate, for instance %s: the log likelihood is NaN or infinite at some or all draws.", len(undefined), len(r.K), l.What(), undefined[0]),
			Advice:  "Compute the log likelihood on the log scale. Usual causes are a probability that rounds to 0, and an overflow."})
	}
	if len(bad) > 0 {
		shown := ""
		for n, i := range bad[:min(5, len(bad))] {
			if n > 0 {
				shown += ", "
			}
			shown += fmt.Sprintf("%s (%.2g)", l.Names[i], r.K[i])
		}
		if len(bad) > 5 {
			shown += fmt.Sprintf(" and %d more", len(bad)-5)
		}
		what, advice, folds := l.What(), "Look at these observations: the model finds them surprising. ", "cross-validate with larger folds"
		settings := []string{"moment-match", "exact", "cv"}
		if l.groups != "" {
			advice, folds = "Without a whole group, the posterior is far from what it is with it. ", "fit it without each of all groups"
			settings = append(settings, "by="+l.groups)
		}
		why, rows := l.noRefits()
		switch {
		case why != "" && moved:
			advice += "Moving the draws is not enough, and fits without each are not possible: " + why + ". Use a distribution with heavier tails, or sum out parameters that only one observation informs."
			settings = nil
		case why != "":
			advice += "Move the draws for each. Fits without each are not possible: " + why + "."
			settings = settings[:1]
			if l.groups != "" {
				settings = append(settings, "by="+l.groups)
			}
		case moved:
			advice += "Moving the draws is not enough. Fit the model again without each, or " + folds + "."
			settings = settings[1:]
		default:
			advice += "Move the draws for each, fit the model again without each, or " + folds + "."
		}
		if rows {
			advice += " Cross-validate whole rows, of all outcomes."
			settings = append(settings, "cv")
		}
		findings = append(findings, diagnose.Finding{Code: "pareto-k", Severity: diagnose.Problem,
			Summary: fmt.Sprintf("%d of %d %s have a Pareto k above %.2g: %s. Their estimates are unreliable.", len(bad), len(r.K), what, limit, shown),
			Advice:  advice, Settings: settings})
	}
	for _, left := range l.Left {
		findings = append(findings, diagnose.Finding{Code: "left-out", Severity: diagnose.Problem,
			Summary: "Not part of the log likelihood: " + left.String() + ".",
			Advice:  "If such a statement is about the data, compute a log_lik that includes it in generated quantities."})
	}
	if high := slices.MaxFunc(append(slices.Clone(r.PWAIC), 0), func(a, b float64) int {
		switch {
		case a < b || math.IsNaN(a):
			return -1
		case a > b:
			return 1
		}
		return 0
	}); high > 0.4 && len(findings) == 0 {
		n := 0
		for _, p := range r.PWAIC {
			if p > 0.4 {
				n++
			}
		}
		findings = append(findings, diagnose.Finding{Code: "p-waic", Severity: diagnose.Note,
			Summary: fmt.Sprintf("WAIC is unreliable: %d of %d %s have a p_waic above 0.4.", n, len(r.PWAIC), l.What()),
			Advice:  "Use elpd_loo instead."})
	}
	return findings
}

// noRefits returns the reason why the model cannot be fitted without some observations, as far as
// the program and its data show it; "" if nothing speaks against it. [NewHoldout] reports the rest.
// rows says that rows of several outcomes can be left out as a whole.
func (l *LogLik) noRefits() (why string, rows bool) {
	m, err := l.fit.Model()
	if err != nil {
		return "", false
	}
	derived, err := m.Derive(predict.LogLikelihood)
	if err != nil || len(derived.Left) > 0 {
		return "the log likelihood of new observations cannot be derived", false
	}
	values, err := l.fit.Data()
	if err != nil {
		return "", false
	}
	all := m.RowsOf(derived.Outputs[0].Variable)
	for _, name := range all {
		if (name != derived.Outputs[0].Variable || len(derived.Outputs) > 1) && len(m.Program().Missing(values, name)) > 0 {
			return name + " has missing values", false
		}
	}
	if len(derived.Outputs) < 2 {
		return "", false
	}
	rows = !m.Program().Discrete()
	for _, out := range derived.Outputs {
		rows = rows && out.Dims > 0 && slices.Contains(all, out.Variable)
	}
	if rows && l.groups != "" {
		return "", false
	}
	return "the model has several outcomes, " + derived.Outputs[0].Variable + " and " + derived.Outputs[1].Variable, rows
}

// OneObservation returns the finding for a log likelihood of a single observation.
func OneObservation() diagnose.Finding {
	return diagnose.Finding{Code: "one-observation", Severity: diagnose.Problem,
		Summary: "There is only one observation, and without it only the prior is left. The estimate says little about predictions.",
		Advice:  "If the data are in one multivariate distribution, compute the log density of each element given the others, as log_lik in generated quantities."}
}

// partial reports whether a statement that cannot be replicated is about this variable.
func (p *Predictive) partial(name string) bool {
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	return slices.ContainsFunc(p.Left, func(l predict.Left) bool { return word.MatchString(l.Text) })
}

// maxK is the Pareto k above which importance weights are unreliable for any number of draws, as in
// [psis.Limit].
const maxK = 0.7

// unreliable counts the PIT values whose importance weights have too large a Pareto k.
func (v *PredictiveVariable) unreliable() (n int) {
	for _, k := range v.K {
		if !(k <= maxK) {
			n++
		}
	}
	return n
}

// Findings reports the features of the data that the model does not reproduce.
func (p *Predictive) Findings() []diagnose.Finding {
	findings := []diagnose.Finding{}
	tested := 0
	for _, v := range p.Variables {
		if v.Uniform != nil {
			tested++
		}
	}
	for _, v := range p.Variables {
		if v.Partial && v.VPC == nil {
			findings = append(findings, diagnose.Finding{Code: "partly-replicated", Severity: diagnose.Note, Quantities: []string{v.Name},
				Summary: fmt.Sprintf("Some values of %s, such as those within an interval, are not replicated. Its statistics and LOO-PIT are left out, because they would compare different quantities.", v.Name),
				Advice:  "Generate the censored data in generated quantities, and compare them yourself."})
			continue
		}
		if v.Partial {
			if cells, checks := v.VPC.Odd(); len(cells) > 0 {
				findings = append(findings, p.oddVPC(v, cells, checks))
			}
			continue
		}
		var odd []string
		for _, c := range v.Checks {
			if c.Odd() {
				odd = append(odd, fmt.Sprintf("%s (%.5g; predicted %.5g to %.5g)", c.Name, c.Observed, c.Q5, c.Q95))
			}
		}
		switch {
		case odd == nil:
		case p.Prior:
			findings = append(findings, diagnose.Finding{Code: "prior-predictive", Severity: diagnose.Note,
				Summary: fmt.Sprintf("The prior hardly expects data such as %s: %s.", v.Name, strings.Join(odd, ", ")),
				Advice:  "Check whether the prior expresses what you know. The data alone are no reason to change it."})
		default:
			findings = append(findings, diagnose.Finding{Code: "predictive", Severity: diagnose.Problem,
				Summary: fmt.Sprintf("The model does not reproduce %s: %s.", v.Name, strings.Join(odd, ", ")),
				Advice:  "Change the part of the model that the statistic depends on: the distribution or its tails (min, max, sd), missing structure (mean, quartiles), an extra share of zeros (zeros)."})
		}
		if p.Prior {
			findings = append(findings, v.implausible()...)
		}
		if odd := v.Groups.Odd(); len(odd) > 0 {
			findings = append(findings, p.oddGroups(v, odd))
		}
		if cells, checks := v.VPC.Odd(); len(cells) > 0 {
			findings = append(findings, p.oddVPC(v, cells, checks))
		}
		if v.NoVPC != nil {
			findings = append(findings, diagnose.Finding{Code: "no-vpc", Severity: diagnose.Note, Quantities: []string{v.Name},
				Summary: fmt.Sprintf("There is no visual predictive check of %s: %s.", v.Name, strings.TrimSuffix(v.NoVPC.Error(), ".")),
				Advice:  "Name a column that has a value for each of its rows."})
		}
		if odd := v.Survival.Odd(); len(odd) > 0 {
			findings = append(findings, p.oddSurvival(v, odd))
		}
		if odd := v.Frequencies.Odd(); len(odd) > 0 {
			findings = append(findings, p.oddCounts(v, odd))
		}
		if u := v.Uniform; u != nil && u.P < 0.05/float64(tested) {
			point, share := u.Farthest()
			shape := map[criticise.Shape]string{criticise.Other: fmt.Sprintf("%.0f %% of the data are below the %.2g quantile of their predictions, where %.0f %% are expected", 100*share, point, 100*point), criticise.Spread: "predictions are too narrow",
				criticise.Crowded: "predictions are too wide", criticise.High: "predictions are too low", criticise.Low: "predictions are too high"}[u.Shape()]
			findings = append(findings, diagnose.Finding{Code: "loo-pit", Severity: diagnose.Problem,
				Summary: fmt.Sprintf("The predictions of %s are not calibrated (p = %.3f): %s.", v.Name, u.P, shape),
				Advice:  "Find the observations whose LOO-PIT is near 0 or 1. A distribution with other tails or another variance may fit.", Settings: []string{"json"}})
		}
		if n := v.unreliable(); 10*n > len(v.K) {
			findings = append(findings, diagnose.Finding{Code: "loo-pit-weights", Severity: diagnose.Note, Quantities: []string{v.Name},
				Summary: fmt.Sprintf("LOO-PIT of %d of %d values of %s rest on weights whose Pareto k is above %.2g.", n, len(v.K), v.Name, maxK),
				Advice:  "The check of calibration is less reliable for these values. Leave-one-out cross-validation names the observations."})
		}
	}
	if p.Failed > 0 {
		findings = append(findings, diagnose.Finding{Code: "prior-impossible", Severity: diagnose.Problem,
			Summary: fmt.Sprintf("No data could be drawn at %d of %d draws of the prior: %s.", p.Failed, p.Draws, strings.TrimSuffix(p.Reason.Error(), ".")),
			Advice:  "Choose narrower priors: these allow parameters that cannot generate data, such as rates that overflow."})
	}
	for _, left := range p.Left {
		findings = append(findings, diagnose.Finding{Code: "left-out", Severity: diagnose.Note,
			Summary: "Not replicated: " + left.String() + ".",
			Advice:  "Generate such data in generated quantities, and compare them yourself."})
	}
	return findings
}

// farWider is the ratio of the spread of data drawn from the prior to that of the observed data, at
// the median, above which the prior is reported as much too wide.
const farWider = 10

// implausible reports features of the prior's predictions that real data hardly ever have.
func (v *PredictiveVariable) implausible() (findings []diagnose.Finding) {
	for _, c := range v.Checks {
		if c.Name == "sd" && c.Observed > 0 && c.Q50 > farWider*c.Observed {
			findings = append(findings, diagnose.Finding{Code: "prior-wide", Severity: diagnose.Note,
				Summary: fmt.Sprintf("The prior expects far more variation than %s has: a standard deviation of %.3g (%.3g to %.3g), compared with %.3g in the data.", v.Name, c.Q50, c.Q5, c.Q95, c.Observed),
				Advice:  "If you know that such data cannot occur, narrow the priors of the coefficients and scales."})
		}
	}
	if v.Constant > 0.5 && v.Observations >= 10 {
		findings = append(findings, diagnose.Finding{Code: "prior-constant", Severity: diagnose.Note,
			Summary: fmt.Sprintf("In %.0f %% of the data sets of the prior, all values of %s are equal.", 100*v.Constant, v.Name),
			Advice:  "On the scale of logarithms or log odds, a wide prior makes outcomes almost certain. Standard deviations of 1 to 2 are usually wide enough there."})
	}
	return findings
}

// Plausible reports whether none of the findings is about what the prior expects.
func Plausible(findings []diagnose.Finding) bool {
	return !slices.ContainsFunc(findings, func(f diagnose.Finding) bool { return strings.HasPrefix(f.Code, "prior-") })
}

// groupText names a group of rows by its columns.
func groupText(by []Setting, x string, low, high float64) string {
	var where []string
	for _, s := range by {
		where = append(where, s.Name+" "+s.Label)
	}
	if !math.IsNaN(low) {
		where = append(where, fmt.Sprintf("%s %.4g to %.4g", x, low, high))
	}
	return strings.Join(where, ", ")
}

// fewTexts joins texts, of which there may be many.
func fewTexts(texts []string) string {
	if n := len(texts) - 5; n > 0 {
		texts = append(texts[:5], fmt.Sprintf("%d more", n))
	}
	return strings.Join(texts, "; ")
}

// oddSurvival returns the finding about survival curves that deviate from their predictions.
func (p *Predictive) oddSurvival(v PredictiveVariable, odd []SurvivalCurve) diagnose.Finding {
	var texts []string
	for _, c := range odd {
		at := slices.MaxFunc(c.Points, func(a, b SurvivalPoint) int {
			away := func(p SurvivalPoint) float64 {
				if p.Check.SD == 0 {
					return 0
				}
				return math.Abs(p.Check.Observed-p.Check.Mean) / p.Check.SD
			}
			return cmp.Compare(away(a), away(b))
		})
		text := fmt.Sprintf("at %.4g (%.2f; predicted %.2f to %.2f)", at.Time, at.Check.Observed, at.Check.Q5, at.Check.Q95)
		if where := groupText(c.By, v.Survival.X, c.Low, c.High); where != "" {
			text = where + " " + text
		}
		texts = append(texts, text)
	}
	curve, advice := "survival curve", "Try a distribution with another hazard, such as lognormal instead of weibull, or let its shape depend on a predictor."
	if v.Survival.Below {
		curve, advice = "distribution", "Try a distribution with another shape, such as gamma instead of lognormal, or let its scale depend on a predictor."
	}
	if p.Prior {
		return diagnose.Finding{Code: "prior-survival", Severity: diagnose.Note,
			Summary: fmt.Sprintf("The prior hardly expects the %s of %s: %s.", curve, v.Name, fewTexts(texts)),
			Advice:  "Check whether the prior expresses what you know. The data alone are no reason to change it."}
	}
	return diagnose.Finding{Code: "predictive-survival", Severity: diagnose.Problem,
		Summary: fmt.Sprintf("The model does not reproduce the %s of %s (p = %.3f for all points together): %s.", curve, v.Name, v.Survival.P, fewTexts(texts)),
		Advice:  advice}
}

// oddVPC returns the finding about quantiles along a column that deviate from their predictions.
func (p *Predictive) oddVPC(v PredictiveVariable, cells []VPCCell, checks []VPCCheck) diagnose.Finding {
	var texts []string
	for i, c := range cells {
		texts = append(texts, fmt.Sprintf("%s at %s (%.4g; predicted %.4g to %.4g)", checks[i].Name, groupText(c.By, v.VPC.X, c.Low, c.High), checks[i].Observed, checks[i].Q5, checks[i].Q95))
	}
	if p.Prior {
		return diagnose.Finding{Code: "prior-vpc", Severity: diagnose.Note,
			Summary: fmt.Sprintf("The prior hardly expects some quantiles of %s along %s: %s.", v.Name, v.VPC.X, fewTexts(texts)),
			Advice:  "Check whether the prior expresses what you know. The data alone are no reason to change it."}
	}
	return diagnose.Finding{Code: "predictive-vpc", Severity: diagnose.Problem,
		Summary: fmt.Sprintf("The model does not reproduce some quantiles of %s along %s (p = %.3f for all together): %s.", v.Name, v.VPC.X, v.VPC.P, fewTexts(texts)),
		Advice:  "If medians deviate, change how the outcome develops, such as absorption or elimination. If only outer quantiles deviate, change the variation between groups or the residual error."}
}

// oddCounts returns the finding about frequencies of counts that deviate from their predictions.
func (p *Predictive) oddCounts(v PredictiveVariable, odd []CountClass) diagnose.Finding {
	var texts []string
	for _, c := range odd {
		texts = append(texts, fmt.Sprintf("%s (%.0f; predicted %.5g to %.5g)", c.Name(), c.Check.Observed, c.Check.Q5, c.Check.Q95))
	}
	if p.Prior {
		return diagnose.Finding{Code: "prior-counts", Severity: diagnose.Note,
			Summary: fmt.Sprintf("The prior hardly expects how often some values of %s occur: %s.", v.Name, fewTexts(texts)),
			Advice:  "Check whether the prior expresses what you know. The data alone are no reason to change it."}
	}
	return diagnose.Finding{Code: "predictive-counts", Severity: diagnose.Problem,
		Summary: fmt.Sprintf("The model does not reproduce how often some values of %s occur (p = %.3f for all together): %s.", v.Name, v.Frequencies.P, fewTexts(texts)),
		Advice:  "Try a distribution with another shape: more spread than Poisson, an extra share of zeros, another share for a value that is special."}
}

// oddGroups returns the finding about groups of rows that deviate from their predictions.
func (p *Predictive) oddGroups(v PredictiveVariable, odd []GroupCheck) diagnose.Finding {
	sorting.Stable(odd, func(a, b GroupCheck) int { return cmp.Compare(math.Abs(b.Deviation), math.Abs(a.Deviation)) })
	var texts []string
	for _, c := range odd {
		texts = append(texts, fmt.Sprintf("%s (%.4g; predicted %.4g to %.4g)", groupText(c.By, v.Groups.X, c.Low, c.High), c.Check.Observed, c.Check.Q5, c.Check.Q95))
	}
	f := diagnose.Finding{Code: "predictive-groups", Severity: diagnose.Problem,
		Summary: fmt.Sprintf("The model does not reproduce the %s of %s in some groups of rows (p = %.3f for all together): %s.", v.Groups.Statistic, v.Name, v.Groups.P, fewTexts(texts)),
		Advice:  "Let the model depend on this column, or change how it does: a term for each group, a curve instead of a line, another variance."}
	if p.Prior {
		f.Code, f.Severity = "prior-groups", diagnose.Note
		f.Summary = fmt.Sprintf("The prior hardly expects the %s of %s in some groups of rows: %s.", v.Groups.Statistic, v.Name, fewTexts(texts))
		f.Advice = "Check whether the prior expresses what you know. The data alone are no reason to change it."
	}
	return f
}
