package report

import "github.com/ppl-lang/ppl/assess"

// Scope says what a plot is about.
type Scope string

// The scopes.
const (
	OfQuantity Scope = "quantity" // an element of a variable
	OfPair     Scope = "pair"     // two of them
	OfVariable Scope = "variable" // a variable of the model or of the data
	OfRun      Scope = "run"      // the sampler
	OfData     Scope = "data"     // data and their predictions by the model
)

// Kind is a kind of plot in reports.
type Kind struct {
	Name  string `json:"name"`  // name of the plot
	Title string `json:"title"` // title of the plot
	Scope Scope  `json:"scope"` // what the plot is about: a quantity, a pair, a variable, the run or the data

	// Shows explains what the plot shows and how to read it.
	Shows string `json:"shows"`

	// Findings are the codes of the findings that the plot shows.
	Findings []string `json:"findings,omitempty"`

	// quantity draws the plot of one quantity. For plots of the run, run returns all of them, and
	// checks those of predictive checks.
	quantity func(*work, *columns) Figure
	run      func(*work) []Figure
	checks   func(*assess.Predictive) []Figure
}

// Kinds lists all plots in the order of a report: first the plots of the posterior, then those that
// show whether it can be trusted.
func Kinds() []Kind {
	return []Kind{
		{Name: "trace", Title: "Trace", Scope: OfQuantity, quantity: trace,
			Findings: []string{"stuck-chain", "improper", "separation", "undefined", "constant"},
			Shows:    "The draws of each chain in order. Chains that have converged overlap and look like noise around one level. A chain that drifts, sticks or stays apart has not converged. Ticks at the bottom mark divergent transitions."},
		{Name: "rank", Title: "Ranks", Scope: OfQuantity, quantity: rankHistogram,
			Findings: []string{"rhat"},
			Shows:    "The number of draws of each chain, by their rank among all draws. Chains that agree are flat at the dashed line. A chain with a slope has another location. A chain that is high at both ends is wider than the others."},
		{Name: "density", Title: "Density", Scope: OfQuantity, quantity: density,
			Shows: "The distribution of the quantity, by chain: a kernel density estimate within the range of the draws, or the share of each value for whole numbers. The curves of chains that agree coincide."},
		{Name: "autocorrelation", Title: "Autocorrelation", Scope: OfQuantity, quantity: autocorrelation,
			Shows: "The correlation between draws, by the number of draws between them. The sooner it falls to zero, the more each draw is worth. Below zero is better than independent."},
		{Name: "ess", Title: "Effective sample size", Scope: OfQuantity, quantity: essGrowth,
			Findings: []string{"ess"},
			Shows:    "The effective sample size after each number of draws. It should grow in proportion. If it levels off, the chains found something new on the way, and longer runs may do so again. Rely on estimates only above the dashed line, 100 per chain."},
		{Name: "pairs", Title: "Pairs", Scope: OfPair, run: pairs,
			Findings: []string{"divergences", "treedepth"},
			Shows:    "The draws of two quantities; crosses are divergent transitions. Where crosses crowd, often in a narrow place, the sampler cannot enter. Reparametrise a banana or a funnel; rescale a thin diagonal."},
		{Name: "curve", Title: "Curve", Scope: OfVariable, run: curves,
			Shows: "A function that the model estimates without a given form, such as a Gaussian process, a spline or a random walk, at the values of a variable or from one time to the next: the median, and the middle 50 % and 90 % of the posterior at each value. The whole function leaves the band more often than each value does. Points are the data, if the function is on their scale."},
		{Name: "intervals", Title: "Intervals", Scope: OfVariable, run: intervals,
			Shows: "The elements of a variable: median, the middle 50 % (thick) and 90 % (thin). Levels are sorted by their medians, and each column of a matrix of group-level terms has its own plot. Of correlation matrices, the upper triangle is shown; if the model has only a Cholesky factor, it is multiplied by its transpose. Many elements without levels are shown along their index, with the middle 90 %."},
		{Name: "prior", Title: "Prior and posterior", Scope: OfVariable, run: priors,
			Shows: "The distribution of a parameter before and after the data. A posterior that is much narrower than the prior comes from the data. One that looks like the prior says that the data have little information about the parameter. One at an end of the prior says that prior and data disagree."},
		{Name: "effects", Title: "Expected outcome", Scope: OfVariable, run: effects,
			Shows: "The expected outcome at values of a variable, averaged over the rows of the data, with all other variables as observed: the mean and the middle 90 % of the posterior. The points are the data; for outcomes of 0 and 1, the share of 1 in tenths of the rows."},
		{Name: "energy", Title: "Energy", Scope: OfRun, run: energy,
			Findings: []string{"ebfmi"},
			Shows:    "The energies of the draws, each chain around its mean, and their changes from one draw to the next. The changes should be about as wide as the energies. If they are much narrower (E-BFMI below 0.3), the sampler moves through the tails in small steps and explores them badly."},
		{Name: "surface", Title: "What the tuner has learnt", Scope: OfRun, run: surface,
			Findings: []string{"acceptance"},
			Shows:    "The objective of AHMC for each step size and maximum number of steps, as estimated in warm-up: lighter is better. Dots are settings that were tried. The ring is the setting used for sampling. A ring at the border means that the box of settings is too small."},
		{Name: "predictive", Title: "Data and replications", Scope: OfData, checks: replications,
			Findings: []string{"predictive"},
			Shows:    "The distribution of the data, and of data sets replicated from the model's statements at some of the draws. Where the data differ, the model lacks something: another tail, a second hump, more zeros."},
		{Name: "groups", Title: "Data by group", Scope: OfData, checks: groups,
			Findings: []string{"predictive-groups"},
			Shows:    "The mean of the data in each group, for outcomes of 0 and 1 the share of 1, for outcomes with categories the share of each, and the middle 90 % of the same in replications. About one group in ten lies outside. Many outside, or one far outside, mean that the model does not describe how groups differ."},
		{Name: "vpc", Title: "Visual predictive check", Scope: OfData, checks: visual,
			Findings: []string{"predictive-vpc"},
			Shows:    "Quantiles of the data along a column: 5 %, 50 % and 95 % of the observations in each bin (lines). Each band has the middle 90 % of the same quantile in replications. Lines that leave their bands show what the model misses: the median how the outcome develops, the outer lines how much it varies."},
		{Name: "individual", Title: "Individual fits", Scope: OfData, run: individuals,
			Shows: "The observations of a subject over time, with what the model expects: of the subject, with the middle 90 %, and of a subject at the means of the population. Where the lines of the subject and of the population are apart, the subject's data have moved it. Points far from both show what the model misses."},
		{Name: "goodness", Title: "Goodness of fit", Scope: OfData, run: goodness,
			Shows: "The observations of all subjects against the predictions of the model, normalised prediction distribution errors (NPDE) and conditional weighted residuals (CWRES). Points around the line have the right mean. NPDE are standard normal if the model holds, CWRES nearly: around 0 everywhere, with about one in twenty outside the dashed lines. A trend says what the model misses: how the outcome develops in time, or a covariate. A width that changes says that the variation is not right."},
		{Name: "rootogram", Title: "Frequencies", Scope: OfData, checks: rootogram,
			Findings: []string{"predictive-counts"},
			Shows:    "How often each value of a count occurs in the data, and the middle 90 % of its frequency in replications. On the scale of square roots, deviations of frequent and of rare values can be compared. A point above its interval at 0 means that there are more zeros than the model expects."},
		{Name: "survival", Title: "Survival", Scope: OfData, checks: survival,
			Findings: []string{"predictive-survival"},
			Shows:    "The Kaplan-Meier estimate of the data, and the middle 90 % of the estimates of replications that are censored like the data. Where the curve leaves the band, events come earlier or later than the model expects. Of values that are censored from below, it shows the share of smaller values."},
		{Name: "loo-pit", Title: "Calibration of predictions", Scope: OfData, checks: calibration,
			Findings: []string{"loo-pit"},
			Shows:    "The place of each observation in its prediction from the others (LOO-PIT). The curve is the difference between the distribution function of these places and that of uniform numbers. For 95 % of right models it stays within the band. A slope through the middle means that predictions are too narrow or too wide; a bow, that they are too high or too low."},
		{Name: "pareto-k", Title: "Influence of observations", Scope: OfData, run: paretoK,
			Findings: []string{"pareto-k"},
			Shows:    "The Pareto k of each observation: how much the posterior would change without it. Above the dashed line, leave-one-out estimates are not reliable. Look at these observations: the model finds them surprising, or they have their own parameter."},
	}
}

// kindOf finds the plot that shows a finding; "" if no plot does.
func kindOf(code string) string {
	for _, k := range Kinds() {
		for _, c := range k.Findings {
			if c == code {
				return k.Name
			}
		}
	}
	return ""
}
