// Package predict derives from a model the generated quantities that other tools make users write
// by hand: the log likelihood of every observation, replicated data, draws from the prior. A
// statement y ~ dist(…) about data defines both the density of y and how to draw it. So a program
// with other generated quantities follows from the model's text.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	predict.go    Derive: from a program to a derived program, and what could not be derived
//	roles.go      what variables are for: group-level terms, their scales, auxiliary variables
//	roles_curves.go  unknown functions: Gaussian processes, splines, random walks
//	terms.go      which statements of the model block are about which data
//	place.go      the elements of a variable that a variate consists of
//	families.go   special cases of some distributions
//	emit.go       the derived program; package lang/printer writes it
//	build.go      nodes of the derived program
//	discrete.go   models with discrete parameters
//	mixture.go    mixtures of distributions
//	fresh.go      names that the program does not use yet, for new declarations
//	loglik.go     statements for the log likelihood
//	replicate.go  statements for replicated data
//	censored.go   data that are declared as censored
//	expected.go   statements for expected values and linear predictors
//	grown.go      parameters with more elements than a fit has: new groups
//	ahead.go      rows that follow each other, and are continued
//	prior.go      the prior: as a model, or drawn directly; priors.go: parameters without one
//	slice.go      the statements that a density needs
//	elements.go   the elements of parameters that statements give a prior
//	summaries.go  values that a program computes from all rows of a column
//	transformed.go the values of transformed data
//	keep.go       the program in which these have the values of the fit's data
//	toplevel.go   priors that are not conditional on other parameters
//	truncate.go   generators of truncated distributions
//	rewrite.go    expressions and statements with other names
//
// The result is a program in the language, whose text you can read, and run elsewhere: see
// [Derived.Text]. It has the data, the parameters and the transformed parameters of the model. Its
// generated quantities are the model block with its locals, loops and conditions. Each statement
// about data is replaced by one that computes its log density or draws it.
//
// Nothing is left out silently: [Derived.Left] lists each statement from which nothing could be
// derived, with its position and the reason.
package predict
