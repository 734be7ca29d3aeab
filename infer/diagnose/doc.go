// Package diagnose says what Markov chain draws are worth.
//
// Two questions, two entry points:
//
//   - How precise is each estimate? [Summarize] gives one [Row] per quantity:
//     mean, its Monte Carlo standard error, standard deviation, quantiles,
//     bulk and tail effective sample size, rank-normalised split R-hat.
//   - Can the run be trusted at all? [Check] looks at the rows and at the
//     sampler's own statistics (divergences, tree depth, energy) and returns
//     [Finding]s, each with a summary and with what to do about it.
//
// Both read a [Draws], which a draws.Store satisfies; [Slices] wraps nested
// slices. The single measures are exported too, on one quantity's chains
// ([chain][draw] float64): [Rhat], [NestedRhat], [ESSBulk], [ESSTail], [ESSMean], [ESSSD],
// [ESSSquares], [ESSQuantile], [MCSEMean], [MCSESD], [MCSEQuantile], [Quantile], and, on one
// chain, [EBFMI], [AutoCorrelation] and [InitialMonotoneESS] (the estimator of
// Girolami and Calderhead, for comparison with papers that used it).
//
// # Files
//
//	draws.go     Draws, Slices; how chains of unequal length are cut
//	chains.go    one quantity's chains: pooled, split, ranked, folded
//	names.go     DisplayName: names of elements as people read them
//	sort.go      sorting draws by digits
//	lags.go      mean autocovariance, directly or by Fourier transform
//	indicators.go  likewise, of indicators, by counting bits
//	measures.go  R-hat, ESS, MCSE: the formulas
//	single.go    measures of one chain: E-BFMI, Geyer's monotone sequence
//	sampling.go  divergences with their positions, how each chain's sampler has
//	             fared, effective sample sizes by gradient and second
//	summary.go   Row, Summarize (parallel over quantities), Summarizer
//	precision.go Precision, Precisions: MCSE of all that a Row has, and more ESS
//	check.go     Finding, Check and the one table of checks
//
// # Sources and conventions
//
// Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization,
// folding, and localization: an improved R-hat", Bayesian Analysis 16(2).
// Where chains began at the same place ([Arrived]), R-hat of a row is the nested one if that is
// larger, see [NestedRhat].
//
// Results equal those of R's package posterior (checked against 1.4.0, see
// testdata) to 1e-8 or better. Chains are split in half (the middle draw of an
// odd number is left out of R-hat and ESS, not of mean and quantiles).
//
// A result that does not exist is NaN, never a panic: for a quantity that does
// not vary, for one with a NaN among its draws, for too few draws. A quantity
// counts as constant when its range is within rounding of its magnitude
// (constantRange), so the diagonal of a Cholesky factor of a correlation
// matrix is constant whatever its last bit does; posterior uses an absolute
// tolerance instead, which would call a parameter of scale 1e-17 constant.
// Infinite draws have ranks, hence R-hat and bulk ESS, but no tail ESS.
package diagnose
