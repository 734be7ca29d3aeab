// Package diagnose measures the quality of Markov chain draws. It answers two questions:
//
//   - How precise is each estimate? [Summarize] gives one [Row] per quantity: mean, its Monte Carlo
//     standard error, standard deviation, quantiles, bulk and tail effective sample size,
//     rank-normalised split R-hat.
//   - Can the run be trusted at all? [Check] looks at the rows and at the sampler's own statistics
//     (divergences, tree depth, energy) and returns [Finding]s, each with a summary and advice.
//
// Both read a [Draws], which a draws.Store satisfies; [Slices] wraps nested slices. The single
// measures are exported too. For the chains of one quantity ([chain][draw] float64): [Rhat],
// [NestedRhat], [ESSBulk], [ESSTail], [ESSMean], [ESSSD], [ESSSquares], [ESSQuantile], [MCSEMean],
// [MCSESD], [MCSEQuantile], [Quantile]. For one chain: [EBFMI], [AutoCorrelation] and
// [InitialMonotoneESS] (the estimator of Girolami and Calderhead, for comparison with papers that
// used it).
//
// # Files
//
//	draws.go       Draws, Slices; how chains of unequal length are cut
//	chains.go      one quantity's chains: pooled, split, ranked, folded
//	names.go       DisplayName: readable names of elements
//	lags.go        mean autocovariance, directly or by Fourier transform
//	indicators.go  mean autocovariance of indicators, by counting bits
//	measures.go    R-hat, ESS, MCSE: the formulas
//	single.go      measures of one chain: E-BFMI, Geyer's monotone sequence
//	sampling.go    divergences with their positions, statistics of each chain's
//	               sampler, effective sample sizes per gradient and second
//	summary.go     Row, Summarize (parallel over quantities), Summarizer
//	precision.go   Precision, Precisions: MCSE of all figures of a Row, and more ESS
//	check.go       Finding, Check and the table of checks
//	tails.go       the check for means that do not exist
//
// # Sources and conventions
//
// Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding, and
// localization: an improved R-hat", Bayesian Analysis 16(2). If some chains began at the same place
// ([Arrived]), the R-hat of a row is the nested one if that is larger, see [NestedRhat].
//
// Results equal those of R's package posterior (checked against 1.4.0, see testdata) to 1e-8 or
// better. Chains are split in half. If a chain has an odd number of draws, the middle one does not
// count for R-hat and ESS, but it does for mean and quantiles.
//
// An undefined result is NaN, never a panic: for a constant quantity, for one with a NaN among its
// draws, or for too few draws. Infinite draws have ranks, hence R-hat and bulk ESS, but no tail
// ESS.
//
// A quantity is constant if its range is within rounding error of its magnitude (constantRange). So
// the diagonal of the Cholesky factor of a correlation matrix is constant even if its last bit
// varies. R's posterior uses an absolute tolerance, by which a parameter of scale 1e-17 would be
// constant.
package diagnose
