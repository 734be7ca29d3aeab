// Package formula writes models from formulas, such as y ~ x + (1 | group), in the syntax of R's
// lme4 and brms, and from the table that they are for.
//
//	grammar.go    Parse: a formula to its syntax tree
//	terms.go      the meaning of the tree: terms of the population and of groups, offsets, splines
//	arith.go      arithmetic of columns, as in log(dose) or I(age^2): its values and its Stan source
//	table.go      the columns of the table
//	design.go     columns of the design matrix: contrasts, centring, interactions
//	rank.go       linearly dependent columns
//	family.go     the table of families: outcome, parameters, priors, statement
//	custom.go     distributions that a program must define: zero-inflated, hurdle
//	predictor.go  the linear predictor, with the priors of its coefficients
//	write.go      New: the program
//	split.go      SplitOf: the terms of a formula with their columns; Split.Formula: smaller formulas
//	error.go      Error: an error in a formula, with its position
//
// The program is complete: constants that come from the table, such as means and standard
// deviations, are rounded numbers in its text, with the reason in a comment. So the program means
// the same for new data.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
package formula
