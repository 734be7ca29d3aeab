// Package predict derives from a model what other tools make users write by
// hand: the log likelihood of every observation, replicated data, draws from
// the prior. Every statement y ~ dist(…) on data says both what the density of
// y is and how to draw it, so that a program with other generated quantities
// follows from the text of the model.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	predict.go   Derive: a program to a derived program, with what could not be derived
//	terms.go     what the statements of the model block say about which data
//	place.go     which elements of which variable a variate is
//	families.go  what is particular about some distributions
//	emit.go      the derived program; package lang/printer writes it
//	build.go     nodes of the derived program
//	fresh.go     names that the program does not have yet, for all that is declared anew
//	loglik.go    statements for the log likelihood
//	replicate.go statements for replicated data
//	expected.go  statements for expected values and linear predictors
//	grown.go     parameters with more elements than a fit has: new groups
//	prior.go     the prior: as a model, or drawn directly; priors.go: parameters without one
//	summaries.go what a program computes from all rows of a column
//	toplevel.go  which priors are not conditional on other parameters
//	truncate.go  generators of truncated distributions
//	rewrite.go   expressions and statements with other names
//
// What is derived is a program in the language, whose text can be read, and run
// elsewhere: see [Derived.Text]. It has the data, the parameters and the
// transformed parameters of the model; its generated quantities are the model
// block with its locals, loops and conditions, in which each statement on data
// has become one that computes its log density or draws it.
//
// What cannot be derived is never left out silently: [Derived.Left] lists it
// with its place and the reason.
package predict
