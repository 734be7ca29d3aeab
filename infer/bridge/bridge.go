// Package bridge estimates the normalising constant of a density from draws of it, by bridge
// sampling.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// The constant Z of an unnormalised density q is estimated from draws of q/Z and draws of a
// proposal whose constant is known. Draws of both kinds are weighted by a function that is large
// where both densities are: the bridge. So neither needs to cover the tails of the other. The
// proposal is a normal distribution fitted to draws. First the target is made symmetric (warp-III):
// the mean of its densities at x and at the mirror image of x has the same constant and no skew.
//
//	bridge.go    LogZ: three parts of the draws, each with a proposal fitted to the next
//	proposal.go  proposal: the normal distribution
//	optimal.go   optimal: the iterations for the bridge of least variance, and the error
//
// Sources: Meng and Wong (1996), "Simulating ratios of normalizing constants via a simple
// identity", Statistica Sinica 6; Meng and Schilling (2002), "Warp bridge sampling", Journal of
// Computational and Graphical Statistics 11; Overstall and Forster (2010), "Default Bayesian model
// determination methods for generalised linear mixed models", Computational Statistics & Data
// Analysis 54, for separate draws for the proposal; Frühwirth-Schnatter (2004), "Estimating
// marginal likelihoods for mixture and Markov switching models using bridge sampling techniques",
// Econometrics Journal 7, for the error.
package bridge

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
)

// Density computes log densities, up to a constant, at points. Where the density is 0, or cannot be
// computed, the log density is -Inf. It must not keep the slices. It stops early if ctx ends.
type Density func(ctx context.Context, points [][]float64, logDensity []float64) error

// Estimate is an estimate of the logarithm of a normalising constant.
type Estimate struct {
	LogZ  float64
	Error float64 // standard error

	// Parts are the estimates whose mean is LogZ. They use different draws of the target and of the
	// proposal. If they differ by many standard errors, the standard errors are too small.
	Parts [parts]Part
}

// Effective returns the smallest effective number of draws of the parts; NaN if one has none.
func (e *Estimate) Effective() float64 {
	least := math.Inf(1)
	for _, p := range e.Parts {
		least = min(least, p.Effective)
	}
	return least
}

// parts is the number of parts of the draws. The proposal of each is fitted to the next one, in a
// ring. Let d be the error of a fit, which is about linear in its draws. The error of an estimate
// has a term that is bilinear in the d of its draws and the d of the draws that its proposal was
// fitted to. Two halves that exchange their draws have this term in common, so that their estimates
// are correlated, and their mean has a larger error than independent ones would have. In a ring of
// three no two parts exchange draws, and the terms are uncorrelated.
const parts = 3

// Part is the estimate from one part of the draws, with a proposal fitted to another.
type Part struct {
	LogZ  float64
	Error float64

	// Effective is the smaller of two effective numbers of draws: that of the target and that of
	// the proposal, each weighted by the bridge. If it is small, the two distributions hardly
	// overlap, and the error is not reliable.
	Effective float64

	Iterations int
	Settled    bool // the iterations have converged
}

// ErrFewDraws says that there are too few draws for an estimate.
var ErrFewDraws = errors.New("bridge sampling: each chain needs at least 12 draws")

// minDraws is the minimum number of draws of a chain.
const minDraws = 12

// LogZ estimates the logarithm of the integral of a density from draws of it, by chain. All draws
// have the same length, the number of dimensions, which must not be 0. With n draws, LogZ evaluates
// the density at 4n points: the draws, their mirror images, and the same for n draws of the
// proposals.
func LogZ(ctx context.Context, draws [][][]float64, density Density, rng *rand.Rand) (Estimate, error) {
	var split [parts][][][]float64 // by part and chain
	for _, chain := range draws {
		if len(chain) < minDraws {
			return Estimate{}, ErrFewDraws
		}
		for i := range split {
			split[i] = append(split[i], chain[i*len(chain)/parts:(i+1)*len(chain)/parts])
		}
	}
	if len(draws) == 0 {
		return Estimate{}, ErrFewDraws
	}
	var out Estimate
	square := 0.0
	for i := range split {
		part, err := estimate(ctx, split[(i+1)%parts], split[i], density, rng)
		if err != nil {
			return Estimate{}, err
		}
		out.Parts[i] = part
		out.LogZ += part.LogZ / parts
		square += part.Error * part.Error
	}
	out.Error = math.Sqrt(square) / parts
	return out, nil
}

// estimate fits a proposal to the draws in fitted, and estimates the constant from other draws.
func estimate(ctx context.Context, fitted, draws [][][]float64, density Density, rng *rand.Rand) (Part, error) {
	p, err := fit(fitted)
	if err != nil {
		return Part{}, err
	}
	var points [][]float64
	var lengths []int
	for _, chain := range draws {
		points, lengths = append(points, chain...), append(lengths, len(chain))
	}
	proposed := make([][]float64, len(points))
	for i := range proposed {
		proposed[i] = p.draw(rng)
	}
	target, err := p.logRatios(ctx, points, density)
	if err != nil {
		return Part{}, err
	}
	reference, err := p.logRatios(ctx, proposed, density)
	if err != nil {
		return Part{}, err
	}
	return optimal(target, reference, lengths, effective(draws)), nil
}
