package bridge

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer/diagnose"
)

// The iterations stop when the estimate of log Z changes by less than tolerance.
const (
	maxIterations = 1000
	tolerance     = 1e-10
)

// optimal iterates to the bridge of least variance. target and reference are the log ratios log q -
// log g, at draws of the target and of the proposal g; q is the unnormalised target. lengths are
// the numbers of draws of the target's chains, and size is their effective number.
//
// The best bridge is 1/(s₁q/Z + s₂g), where s₁ and s₂ are the two shares of the effective numbers
// of draws. It depends on Z, so each iteration uses the Z of the previous one. This fixed-point
// iteration converges from any start (Meng and Wong 1996).
func optimal(target, reference []float64, lengths []int, size float64) Part {
	n := float64(len(reference))
	s1, s2 := size/(size+n), n/(size+n)
	part := Part{LogZ: math.NaN(), Error: math.NaN()}
	sorted := slices.Sorted(slices.Values(target))
	logZ := sorted[len(sorted)/2]
	if math.IsInf(logZ, 0) || math.IsNaN(logZ) {
		return part
	}
	// With ratio = q/(Zg), the estimate is Z times the mean of ratio/(s₁ ratio + s₂) over the draws
	// of the proposal divided by the mean of 1/(s₁ ratio + s₂) over those of the target.
	above := func(l float64) float64 { return 1 / (s1 + s2*math.Exp(logZ-l)) }
	below := func(l float64) float64 { return 1 / (s1*math.Exp(l-logZ) + s2) }
	for part.Iterations < maxIterations && !part.Settled {
		part.Iterations++
		numerator, denominator := mean(reference, above), mean(target, below)
		step := math.Log(numerator / denominator)
		if math.IsNaN(step) || math.IsInf(step, 0) {
			return part
		}
		logZ += step
		part.Settled = math.Abs(step) < tolerance
	}
	part.LogZ = logZ
	f1, f2 := make([]float64, len(reference)), make([][]float64, 0, len(lengths))
	for i, l := range reference {
		f1[i] = above(l)
	}
	all := make([]float64, len(target))
	for i, l := range target {
		all[i] = below(l)
	}
	for rest := all; len(lengths) > 0; lengths = lengths[1:] {
		f2, rest = append(f2, rest[:lengths[0]]), rest[lengths[0]:]
	}
	// ESSMean is NaN for values that do not vary, whose mean has no error.
	draws := diagnose.ESSMean(f2)
	if !(draws > 0) {
		draws = float64(len(all))
	}
	a, b := relativeVariance(f1), relativeVariance(all)
	part.Error = math.Sqrt(a/n + b/draws)
	part.Effective = min(n/(1+a), draws/(1+b))
	return part
}

// mean returns the mean of f over values.
func mean(values []float64, f func(float64) float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += f(v)
	}
	return sum / float64(len(values))
}

// relativeVariance returns the variance of values divided by the square of their mean.
func relativeVariance(values []float64) float64 {
	m := mean(values, func(v float64) float64 { return v })
	square := mean(values, func(v float64) float64 { return (v - m) * (v - m) })
	return square / (m * m)
}
