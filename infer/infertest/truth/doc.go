// Package truth has targets whose answer is known exactly, and judges runs of samplers by it.
//
// A run may be wrong in silence: its figures are off, and nothing that the user sees says so.
// That is what this package looks for. [Fixed] and [Drawn] give the targets, [Target.Run] runs
// a sampler on one of them and collects the findings that a user would see, and [Judge] says
// whether a known figure is off, and whether the user was warned: a [Verdict].
//
//	target.go     Target, Class, Quantity; the list of all targets
//	law.go        distributions that are known: density, exact draws, moments, marginals;
//	              products, affine images and mixtures of them
//	scalars.go    distributions of one coordinate
//	shapes.go     funnels, bananas, rings and other shapes with one mode
//	grid.go       posteriors of up to three parameters by quadrature, the other parameters
//	              integrated in closed form
//	models.go     posteriors with data: hierarchies, mixtures, factors, hidden Markov models
//	curves.go     posteriors of curves with two solutions: transfection, oscillators, an ODE
//	improper.go   targets that have no posterior
//	fixed.go      the targets that are written down
//	drawn.go      families, from which a seed draws targets
//	reach.go      whether climbs from random starts find all modes
//	run.go        runs of a sampler, with what a user sees of them
//	judge.go      what counts as wrong
//
// # What counts as wrong
//
// Each target has quantities f(x) whose mean and standard deviation under the target are
// known: coordinates, indicators of their quantiles, shares of modes. An estimate is wrong if
// it is off by more than 0.1 standard deviations (a share: by more than 0.1) and by more than
// five Monte Carlo standard errors. These are computed from the exact standard deviation and
// the effective sample size that the run claims for f, but at least [MinESS], so a run cannot
// excuse itself by few effective draws. Independent exact draws are never wrong by this
// measure (a test sees to it); a healthy chain is wrong about once in a million quantities.
//
// A run reports that it is wrong if one of its findings is more than a note, or if it ends with
// an error. Sentences of warm-up (ChainReport.Notes) do not count: programs that read results
// never see them. On a target without a posterior every run is wrong.
package truth
