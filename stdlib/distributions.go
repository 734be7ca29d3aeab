package stdlib

// Source returns the reference for the formula of a distribution: Cite or, if there is none, the
// handbook for its kind.
func (d *Dist) Source() string {
	switch {
	case d.Cite != "":
		return d.Cite
	case d.Discrete:
		return "Johnson, Kemp & Kotz, Univariate Discrete Distributions (3rd ed.)"
	}
	return "Johnson, Kotz & Balakrishnan, Continuous Univariate Distributions (2nd ed.)"
}

// distributions lists the univariate distributions, in alphabetical order.
var distributions = []Dist{
	bernoulli,
	bernoulliLogit,
	beta,
	betaBinomial,
	betaNegBinomial,
	betaProportion,
	binomial,
	binomialLogit,
	cauchy,
	chiSquare,
	discreteRange,
	doubleExponential,
	expModNormal,
	exponential,
	frechet,
	gamma,
	gumbel,
	invChiSquare,
	invGamma,
	logistic,
	loglogistic,
	lognormal,
	negBinomial,
	negBinomial2,
	negBinomial2Log,
	normal,
	pareto,
	paretoType2,
	poisson,
	poissonLog,
	rayleigh,
	scaledInvChiSquare,
	skewDoubleExponential,
	skewNormal,
	stdNormal,
	studentT,
	uniform,
	vonMises,
	weibull,
	wiener,
	yuleSimon,
}
