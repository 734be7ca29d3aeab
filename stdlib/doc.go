// Package stdlib is the library of the language: every function, operator and distribution,
// declared once. The checker takes types from a declaration, the binder takes its meaning as a
// graph, the documentation its text and examples, and the tests everything.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// Map of the package:
//
//	stdlib.go        Func, Arg, Builder, Dist: what a declaration is
//	universe.go      Universe, the registry
//	signatures.go    the library for the checker: also forms of tuples and complex numbers, and texts
//	build.go         helpers that declarations are made of
//	density.go       the functions that are derived from a Dist
//	structured.go    helpers of densities that are not a Dist
//	quantiles.go     quantiles of distributions: closed forms, or by search
//	moments.go       means, variances and linear predictors, also of distributions of vectors
//	information.go   expected information of distributions, element by element
//	scores.go        that without a closed form, by quadrature
//	whitening.go     that of vectors, as linear maps of tangents
//	examples.go      executed examples of what is declared in tables: texts, transforms, tuples
//	demonstrate.go   an example of every other function, for documentation
//	texts/           functions written in Stan
//
//	constants.go     pi(), e(), …
//	operators.go     arithmetic and comparison, and the functions of the same meaning
//	elementary.go    powers, exponentials, rounding, trigonometry
//	special.go       gamma function, error function, …
//	integers.go      functions of ints
//	reductions.go    sums, means, norms, log_sum_exp, softmax, log_mix
//	products.go      products of linear algebra, functions that rearrange matrices
//	decompositions.go factors, inverses, determinants, eigenvalues, functions of matrices
//	sizes.go         sizes of containers
//	builders.go      rep_…, zeros_…, linspaced_…
//	joins.go         append_…
//	parts.go         rows, columns, head, tail, blocks
//	conversions.go   to_vector, to_matrix, …
//	sorting.go       sort_…, rank, quantile
//	sparse.go        compressed row storage
//	constraints.go   transforms of parameters as functions; their formulas are in package transform
//	gp.go            covariance functions of Gaussian processes
//
//	distributions.go the list of the univariate distributions
//	normal.go        on the line            skewed.go   on the line, skewed
//	positive.go      on the half-line       bounded.go  on an interval
//	counts.go        counts                 compounds.go counts of random probability
//	poissonbinomial.go successes in trials of different probabilities
//	wiener.go        first passage times    passage.go  the same, parameters varying between trials
//	random.go        generators
//	categorical.go   positions in a vector  ordered.go  ordered outcomes
//	simplexes.go     simplexes, counts given a simplex
//	correlations.go  correlation matrices   wisharts.go positive definite matrices
//	multivariate.go  normal and Student t vectors, Gaussian processes
//	markov.go        hidden Markov chains, linear state space models
//	segments.go      hidden Markov chains of few states in segments
//	glm.go           generalised linear models
//	pharmacometrics.go schedules of doses and compartment models, under Torsten's names
//
// # Adding a function
//
// Add one row to the list of its family: name, text, types, and either a graph expression (Build)
// or, for functions of shapes, OfShape. Functions of ints also have Int, the exact value. If the
// domain is not all numbers, declare it with in, so that the tests draw arguments from it. A test
// of the command doc requires one example of every function and executes it. The tests of
// stdlibtest loop over the registry and check derivatives, lanes and elements.
//
//	unary("log1p", "log(1 + x), accurate near 0.", op1(ad.OpLog1p), aboveMinus1),
//
// # Adding a distribution
//
// Add a Dist to the file of its family, and its name to distributions.go. Terms are the addends of
// the log density of one element. Of says which arguments an addend depends on: under ~, the addend
// is dropped if all of these are data. Stan keeps some addends as a whole that could be split.
// There, Of is always, so that both give the same number (stdlibtest compares with real Stan). The
// checks of arguments are their constraints. LogCDF, LogCCDF, Quantile, Rand and Information are
// optional. doc/contributing/add-a-distribution.md goes through the steps.
//
// # Lanes
//
// Arguments may have lanes (see package ad); a declaration sees one lane. An expression of
// arguments without lanes has none, and is computed once for all iterations of a loop. So do not
// expand values that ops broadcast.
//
// # What depends on values of ints
//
// Sizes, positions and orders (head(v, n), rep_vector(x, n), lmgamma(n, x)) must be known when the
// data are bound, and be the same in all lanes. Otherwise, wholes reports an error to the user.
// Outcomes of distributions need not be known: posterior predictions draw them.
package stdlib
