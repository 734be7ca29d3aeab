package projection

import "math"

// Family is the distribution of the outcome, with its link.
type Family int

// The families. They are those whose projection is a fit to expected outcomes.
const (
	Gaussian Family = iota // identity link, one residual standard deviation
	Binomial               // logit link
	Poisson                // logarithmic link
)

// mean returns the expected outcome, or the probability, for a linear predictor.
func (f Family) mean(eta float64) float64 {
	switch f {
	case Binomial:
		if eta < 0 {
			e := math.Exp(eta)
			return e / (1 + e)
		}
		return 1 / (1 + math.Exp(-eta))
	case Poisson:
		return math.Exp(eta)
	}
	return eta
}

// link is the inverse of mean. It is finite for all means that a reference can have.
func (f Family) link(mean float64) float64 {
	const tiny = 1e-15
	switch f {
	case Binomial:
		m := min(max(mean, tiny), 1-tiny)
		return math.Log(m / (1 - m))
	case Poisson:
		return math.Log(max(mean, tiny))
	}
	return mean
}

// slope is the derivative of the mean by the linear predictor. It is also the variance of one
// trial.
func (f Family) slope(eta float64) float64 {
	switch f {
	case Binomial:
		m := f.mean(-math.Abs(eta))
		return m * (1 - m)
	case Poisson:
		return math.Exp(eta)
	}
	return 1
}

// divergence is the Kullback-Leibler divergence of one trial with predictor eta from one with the
// given mean. For Gaussian it is half the squared difference, as for a standard deviation of 1.
func (f Family) divergence(mean, eta float64) float64 {
	switch f {
	case Binomial:
		// log p = -softplus(-eta), log(1 - p) = -softplus(eta)
		d := mean*softplus(-eta) + (1-mean)*softplus(eta)
		return max(d+xlogx(mean)+xlogx(1-mean), 0)
	case Poisson:
		return max(xlogx(mean)-mean*eta-mean+math.Exp(eta), 0)
	}
	return (mean - eta) * (mean - eta) / 2
}

// logLik is the log density of an outcome.
func (f Family) logLik(y, trials, eta, sd float64) float64 {
	switch f {
	case Binomial:
		choose := 0.0
		if trials != 1 {
			choose = lgamma(trials+1) - lgamma(y+1) - lgamma(trials-y+1)
		}
		return choose - y*softplus(-eta) - (trials-y)*softplus(eta)
	case Poisson:
		return y*eta - math.Exp(eta) - lgamma(y+1)
	}
	z := (y - eta) / sd
	return -z*z/2 - math.Log(sd) - math.Log(2*math.Pi)/2
}

// LogLik returns the log density of the outcome of a row.
func (p *Problem) logLik(i int, eta, sd float64) float64 {
	return p.Family.logLik(p.Outcome[i], p.trials(i), eta, sd)
}

// Differs returns the largest difference of the log likelihoods of the draws from those that the
// family has at the linear predictors. It is small relative to 1 if the reference has this family.
func (p *Problem) Differs() float64 {
	worst := 0.0
	for s := range p.Predictor {
		sd := 1.0
		if p.Family == Gaussian {
			sd = p.SD[s]
		}
		for i, eta := range p.Predictor[s] {
			want := p.logLik(i, eta, sd)
			d := math.Abs(p.LogLik[s][i]-want) / (1 + math.Abs(want))
			if !(d <= worst) {
				worst = d
			}
		}
	}
	return worst
}

// ResidualSD returns the standard deviation of normal outcomes with the given means and log
// likelihoods. The log likelihoods are linear in the squared residuals; the slope has the variance.
// It is NaN if there are too few different residuals.
func ResidualSD(outcome, mean, logLik []float64) float64 {
	var n, sx, sy float64
	for i := range outcome {
		r := outcome[i] - mean[i]
		n, sx, sy = n+1, sx+r*r, sy+logLik[i]
	}
	var sxx, sxy float64
	for i := range outcome {
		r := outcome[i] - mean[i]
		sxx += (r*r - sx/n) * (r*r - sx/n)
		sxy += (r*r - sx/n) * (logLik[i] - sy/n)
	}
	return math.Sqrt(-sxx / sxy / 2)
}

// softplus is log(1 + exp(x)).
func softplus(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

func xlogx(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return x * math.Log(x)
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
