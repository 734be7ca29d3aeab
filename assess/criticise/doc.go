// Package criticise judges models by their draws: how well they predict, how they compare, and
// whether their replications look like the data. It works on matrices of numbers and does not
// depend on the modelling language.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	loo.go         LOO: leave-one-out cross-validation and WAIC, draw by draw, without the matrix
//	moments.go     Moments: better estimates for influential observations, by moment matching
//	matrix.go      Matrix: draws × observations in memory, with relative efficiencies; CrossValidate
//	compare.go     Compare: differences of expected log predictive densities
//	stacking.go    Stacking, PseudoBMA: weights of models
//	folds.go       Fold: which observations are held out together
//	predictive.go  Check: statistics of data and replications; PIT, and LOO-PIT with weights
//	survival.go    KaplanMeier: survival curves of censored times; Censoring of replications
//	uniform.go     Uniformity: are ranks or probabilities uniform? simultaneous bands of their ECDF
//	scaling.go     PowerScale: sensitivity to the weight of the prior or the likelihood
//
// # Sources
//
// Vehtari, Gelman and Gabry (2017), "Practical Bayesian model evaluation using
// leave-one-out cross-validation and WAIC", Statistics and Computing 27. Vehtari,
// Simpson, Gelman, Yao and Gabry (2024), "Pareto smoothed importance sampling", Journal
// of Machine Learning Research 25(72). Yao, Vehtari, Simpson and Gelman (2018), "Using
// stacking to average Bayesian predictive distributions", Bayesian Analysis 13(3).
// Paananen, Piironen, Bürkner and Vehtari (2021), "Implicitly adaptive importance
// sampling", Statistics and Computing 31.
// Säilynoja, Bürkner and Vehtari (2022), "Graphical test for discrete uniformity and its
// applications in goodness-of-fit evaluation and multiple sample comparison", Statistics
// and Computing 32. Kallioinen, Paananen, Bürkner and Vehtari (2024), "Detecting and
// diagnosing prior and likelihood sensitivity with power-scaling", Statistics and
// Computing 34.
//
// Results equal those of R's packages loo and posterior to 1e-8 (checked against 2.5.1
// and 1.4.0, see testdata) where they compute the same.
package criticise
