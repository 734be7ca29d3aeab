package report

// Scope says what a plot is about.
type Scope string

// The scopes.
const (
	OfQuantity Scope = "quantity" // an element of a variable
	OfPair     Scope = "pair"     // two of them
	OfVariable Scope = "variable" // all elements of a variable
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

	// quantity draws the plot of one quantity. For plots of the run, run returns all of them.
	quantity func(*work, *columns) Figure
	run      func(*work) []Figure
}

// Kinds lists all plots in the order of a report: first the plots of the posterior, then those that
// show whether it can be trusted.
func Kinds() []Kind {
	return []Kind{
		{Name: "trace", Title: "Trace", Scope: OfQuantity, quantity: trace,
			Findings: []string{"stuck-chain", "improper", "separation", "undefined", "constant"},
			Shows:    "The draws of each chain in order. Chains that have converged lie on top of each other and look like noise around the same level; one that drifts, sticks or keeps to itself has not. Ticks at the bottom mark divergent transitions."},
		{Name: "rank", Title: "Ranks", Scope: OfQuantity, quantity: rankHistogram,
			Findings: []string{"rhat"},
			Shows:    "How often each chain has draws of each rank among all draws. Chains that agree are flat at the dashed line; one that slopes has another location, one that is high at both ends is wider than the others."},
		{Name: "density", Title: "Density", Scope: OfQuantity, quantity: density,
			Shows: "The distribution of the quantity, by chain: a kernel density estimate within the range of the draws or, of whole numbers, the share of each. The curves of chains that agree coincide."},
		{Name: "autocorrelation", Title: "Autocorrelation", Scope: OfQuantity, quantity: autocorrelation,
			Shows: "How much a draw resembles that of so many draws before. The sooner it falls to zero, the more each draw is worth; below zero is better than independent."},
		{Name: "ess", Title: "Effective sample size", Scope: OfQuantity, quantity: essGrowth,
			Findings: []string{"ess"},
			Shows:    "What the effective sample size was after so many draws. It should grow in proportion; one that levels off means that the chains have found something new on the way, and that longer runs may do so again. The dashed line is the least to rely on, 100 per chain."},
		{Name: "pairs", Title: "Pairs", Scope: OfPair, run: pairs,
			Findings: []string{"divergences", "treedepth"},
			Shows:    "The draws of two quantities, with those that diverged marked by crosses. Where they crowd, often in a narrow place, is what the sampler cannot enter; a banana or a funnel is to be reparametrised, a thin diagonal to be rescaled."},
		{Name: "intervals", Title: "Intervals", Scope: OfVariable, run: intervals,
			Shows: "The elements of a variable: median, the middle 50 % (thick) and 90 % (thin). Many elements are a ribbon along their index, 90 % wide."},
		{Name: "energy", Title: "Energy", Scope: OfRun, run: energy,
			Findings: []string{"ebfmi"},
			Shows:    "The energies of the draws, each chain about its mean, and their changes from one draw to the next. The changes should be about as wide as the energies; if they are much narrower (E-BFMI below 0.3), the sampler walks through the tails in small steps and explores them badly."},
		{Name: "surface", Title: "What the tuner has learnt", Scope: OfRun, run: surface,
			Findings: []string{"acceptance"},
			Shows:    "What AHMC believes of its objective for each step size and largest number of steps, as learnt in warm-up: lighter is better. Dots are settings that were tried, the ring the one that sampling was made with. A ring at the border means that the box of settings is too small."},
		{Name: "predictive", Title: "Data and replications", Scope: OfData, run: replications,
			Findings: []string{"predictive"},
			Shows:    "The distribution of the data, and of data sets that the model's statements have drawn anew at some of the draws. Data that stand out from them show what the model does not know: another tail, a second hump, more zeros."},
		{Name: "loo-pit", Title: "Calibration of predictions", Scope: OfData, run: calibration,
			Findings: []string{"loo-pit"},
			Shows:    "Where the observations lie in what is predicted for each from the others (LOO-PIT): the difference between their distribution function and that of uniform numbers, within which it stays for 95 % of right models (band). A slope through the middle means that predictions are too narrow or too wide, a bow that they are too high or too low."},
		{Name: "pareto-k", Title: "Influence of observations", Scope: OfData, run: paretoK,
			Findings: []string{"pareto-k"},
			Shows:    "The Pareto k of each observation: how much it would change the posterior to leave it out. Above the dashed line, leave-one-out estimates cannot be relied on, and the observation deserves a look: it surprises the model, or has its own parameter."},
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
