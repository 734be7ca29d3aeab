package diagnose

import "math"

// EBFMI is the estimated Bayesian fraction of missing information of one chain's energies
// (Betancourt 2016, arXiv 1604.00695, eq. 3.1): the mean squared change of the energy divided by
// its variance. Below 0.3 the momentum refreshment explores the energies too slowly. The result is
// NaN for constant or too few energies.
func EBFMI(energy []float64) float64 {
	if len(energy) < 3 {
		return math.NaN()
	}
	centre := mean(energy)
	changes, spread := 0.0, 0.0
	for i, e := range energy {
		spread += (e - centre) * (e - centre)
		if i > 0 {
			changes += (e - energy[i-1]) * (e - energy[i-1])
		}
	}
	if !(spread > 0) {
		return math.NaN()
	}
	return changes / spread
}

// AutoCorrelation returns the autocorrelations of one chain at lags 0 … maxLag (at most len(x)-1).
// They are "biased" as is usual for chains: autocovariances are divided by n at every lag. All are
// NaN for a constant chain.
func AutoCorrelation(x []float64, maxLag int) []float64 {
	if len(x) == 0 || maxLag < 0 {
		return nil
	}
	lags := newAutocovariances(len(x))
	lags.reset(x)
	out := make([]float64, min(maxLag+1, len(x)))
	for lag := range out {
		out[lag] = lags.at(lag)
	}
	scale := out[0]
	if constant(x) {
		scale = math.NaN()
	}
	for lag := range out {
		out[lag] /= scale
	}
	return out
}

// InitialMonotoneESS is the effective sample size of one chain by Geyer's initial monotone
// sequence, as in Girolami and Calderhead's (2011) programs, which the AHMC paper uses. Sums of
// pairs of autocorrelations are limited to their running minimum. The leading positive ones give
// tau = -1 + 2 Σ (rho(2j-2) + rho(2j-1)), and ESS = n/tau.
//
// capped is their figure, with tau at least 1, hence at most n. uncapped lets antithetic chains
// exceed n, up to n·log10(n), since a tau that is not positive is meaningless. Both are NaN for a
// constant chain or fewer than four draws. The estimator assumes a stationary reversible chain and
// uses only one chain: to judge a run, use [ESSBulk].
func InitialMonotoneESS(x []float64) (capped, uncapped float64) {
	return monotoneESS(x, func() *autocovariances { return newAutocovariances(len(x)) })
}

// geyer is InitialMonotoneESS for one of the chains.
func (w *workspace) geyer(x []float64) (capped, uncapped float64) {
	return monotoneESS(x, func() *autocovariances {
		if w.whole == nil {
			w.whole = newAutocovariances(w.length)
		}
		return w.whole
	})
}

// monotoneESS is InitialMonotoneESS; memory returns autocovariances for the length of x.
func monotoneESS(x []float64, memory func() *autocovariances) (capped, uncapped float64) {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return math.NaN(), math.NaN()
		}
	}
	if len(x) < 4 || constant(x) {
		return math.NaN(), math.NaN()
	}
	covariances := memory()
	covariances.reset(x)
	variance := covariances.at(0)
	sum, running := 0.0, math.Inf(1)
	for j := 0; j+1 < len(x); j += 2 {
		running = min(running, (covariances.at(j)+covariances.at(j+1))/variance)
		if running <= 0 {
			break
		}
		sum += running
	}
	n := float64(len(x))
	tau := -1 + 2*sum
	return n / max(tau, 1), n / max(tau, 1/math.Log10(n))
}
