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
//	bridge.go    LogZ: both halves of the draws, each with a proposal fitted to the other
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

	// Halves are the two estimates whose mean is LogZ. They use different draws of the target and
	// of the proposal. If they differ by many standard errors, the standard errors are too small.
	Halves [2]Half
}

// Half is the estimate from one half of the draws, with a proposal fitted to the other.
type Half struct {
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
var ErrFewDraws = errors.New("bridge sampling: each chain needs at least 8 draws")

// minDraws is the minimum number of draws of a chain.
const minDraws = 8

// LogZ estimates the logarithm of the integral of a density from draws of it, by chain. All draws
// have the same length, the number of dimensions, which must not be 0. With n draws, LogZ evaluates
// the density at 4n points: the draws, their mirror images, and the same for n draws of the
// proposals.
func LogZ(ctx context.Context, draws [][][]float64, density Density, rng *rand.Rand) (Estimate, error) {
	var halves [2][][][]float64 // by half and chain
	for _, chain := range draws {
		if len(chain) < minDraws {
			return Estimate{}, ErrFewDraws
		}
		middle := len(chain) / 2
		halves[0] = append(halves[0], chain[:middle])
		halves[1] = append(halves[1], chain[middle:])
	}
	if len(draws) == 0 {
		return Estimate{}, ErrFewDraws
	}
	var out Estimate
	for i := range halves {
		half, err := estimate(ctx, halves[1-i], halves[i], density, rng)
		if err != nil {
			return Estimate{}, err
		}
		out.Halves[i] = half
	}
	a, b := out.Halves[0], out.Halves[1]
	out.LogZ = (a.LogZ + b.LogZ) / 2
	out.Error = math.Hypot(a.Error, b.Error) / 2
	return out, nil
}

// estimate fits a proposal to the draws in fitted, and estimates the constant from other draws.
func estimate(ctx context.Context, fitted, draws [][][]float64, density Density, rng *rand.Rand) (Half, error) {
	p, err := fit(fitted)
	if err != nil {
		return Half{}, err
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
		return Half{}, err
	}
	reference, err := p.logRatios(ctx, proposed, density)
	if err != nil {
		return Half{}, err
	}
	return optimal(target, reference, lengths, effective(draws)), nil
}
