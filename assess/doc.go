// Package assess assesses fitted models: how well a model predicts, whether it reproduces its data,
// and what its prior implies.
//
//	likelihoods, err := assess.LogLikOf(ctx, f, assess.LogLikOptions{})
//	result, err := likelihoods.LOO(ctx, 0)
//	findings := likelihoods.Findings(result, false)
//
// # Map
//
//	loglik.go      LogLikOf: log likelihoods of observations; leave-one-out cross-validation
//	moments.go     moment matching for influential observations
//	holdout.go     NewHoldout: data without some observations, for refits; PredictHeldOut;
//	               holdoutragged.go: elements of ragged data; raggedrows.go: values for their rows
//	predictive.go  PredictiveOf: data and replications; alone.go: with discrete parameters
//	sensitivity.go SensitivityOf: prior and likelihood
//	grouped.go     predictive checks of groups of rows
//	vpc.go         visual predictive checks; columns.go: columns for the rows of an outcome
//	redrawn.go     parameters that replications draw anew; expected.go: expected outcomes
//	individual.go  IndividualsOf: predictions by subject; shrinkage.go: ShrinkageOf
//	npde.go        normalised prediction distribution errors; cwres.go: conditional weighted residuals
//	effects.go     EffectsOf: how expected outcomes depend on variables of the data
//	curves.go      CurvesOf: expected outcomes at values of every variable
//	evidence.go    EvidenceOf: marginal likelihoods, by bridge sampling or parallel tempering
//	linear.go      LinearPredictorsOf: what a projection onto smaller models needs of a fit
//	criticism.go   findings about predictions and about the estimates of LOO
//	prior.go       SamplePrior: draws from the prior; PriorPredictive: what it expects of the data
//	states.go      StatesOf: probabilities of discrete parameters
//	simulator.go   NewSimulator: data sets from a model; datasets.go writes them to files
//	fitted.go      the model and the data of a fit
//	zarrgroups.go  groups of a Zarr store that are computed from draws, model and data
package assess
