// Package truth has targets with exactly known answers, and judges runs of samplers by them.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// A run may be silently wrong: its figures are off, and nothing warns the user. This package looks
// for such runs. [Fixed] and [Drawn] return the targets. [Target.Run] runs a sampler on one of
// them, collects the findings that a user would see, and returns a [Verdict]: whether a known
// figure is off, and whether the user was warned.
//
//	target.go    Target, Class, Quantity; the list of all targets
//	law.go       known distributions (laws): density, exact draws, moments, marginals;
//	             products, affine images and mixtures of them
//	scalars.go   distributions of one coordinate
//	shapes.go    funnels, bananas, rings and other shapes with one mode
//	grid.go      posteriors of up to three parameters by quadrature, the other parameters
//	             integrated in closed form
//	models.go    posteriors with data: hierarchies, mixtures, factors, hidden Markov models
//	curves.go    posteriors of curves with two solutions: transfection, oscillators, an ODE
//	improper.go  targets that have no posterior
//	fixed.go     the fixed list of targets
//	drawn.go     families from which targets are drawn at random, by a seed
//	reach.go     whether climbs from random starts find all modes
//	run.go       runs of a sampler, with the findings that a user sees
//	judge.go     what counts as wrong
//
// # What counts as wrong
//
// Each target has quantities f(x) whose mean and standard deviation under the target are known:
// coordinates, indicators of their quantiles, shares of modes. An estimate is wrong if it is off by
// more than 0.1 standard deviations (a share: by more than 0.1) and by more than five Monte Carlo
// standard errors. These are computed from the exact standard deviation and the effective sample
// size that the run claims for f, but at least [MinESS]. So few effective draws are no excuse. A
// test checks that independent exact draws are never wrong by this measure; a healthy chain is
// wrong about once in a million quantities.
//
// A run warns if one of its findings is more than a note, or if it ends with an error. Notes of
// warm-up (ChainReport.Notes) do not count, because programs that read results do not see them. On
// a target without a posterior, every run is wrong.
package truth
