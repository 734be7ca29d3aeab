// Package projection projects the posterior of a generalised linear model with groups onto models
// with fewer terms, and searches for the terms that predict as well as all of them. It works on
// matrices of numbers and does not depend on the modelling language.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	problem.go   Problem: the reference, and the terms that submodels may have
//	family.go    Family: density, divergence and link of the outcome
//	design.go    the matrices of a submodel
//	system.go    penalised least squares with groups, by elimination of the largest factor
//	fit.go       the projection: least squares, scoring, and the variances of groups
//	simplex.go   the method of Nelder and Mead
//	cluster.go   Clusters: groups of similar draws
//	search.go    Search: forward search
//	path.go      PathOf: accuracy along the path; PathOf.Suggested
//
// # Method
//
// For a draw of the reference, the submodel is fitted to the expected outcomes of that draw instead
// of to the data. That minimises the Kullback-Leibler divergence of the submodel from the
// reference. Without groups, the projection is exact. Normal models with groups maximise the
// restricted likelihood of the variances (REML). Others maximise Laplace's approximation;
// coefficients and group effects are jointly its mode.
//
// # Sources
//
// Piironen, Paasiniemi and Vehtari (2020), "Projective inference in high-dimensional problems:
// prediction and feature selection", Electronic Journal of Statistics 14. Catalina, Bürkner and
// Vehtari (2022), "Projection predictive inference for generalized linear and additive multilevel
// models", AISTATS. Bates, Mächler, Bolker and Walker (2015), "Fitting linear mixed-effects models
// using lme4", Journal of Statistical Software 67.
package projection
