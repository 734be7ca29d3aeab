package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/study"
)

// This file: the table of flags. Help, completion, manual pages, configuration files and the check
// of --resume are based on it. The options of samplers and the limits of ppl serve are in tables of
// their packages.

// topic is the subject of a flag. Help shows flags by topic, in the order of topicOrder.
type topic string

const (
	topicData    topic = "Model and data"
	topicMethod  topic = "Method"
	topicSampler topic = "Sampling"
	topicStart   topic = "Start of the chains"
	topicOutput  topic = "Files"
	topicShown   topic = "What is printed"
	topicLimits  topic = "Limits"
	topicFits    topic = "Many fits"
	topicJobs    topic = "Clusters"
	topicServer  topic = "Server"
	topicOptim   topic = "Optimiser"
	topicShared  topic = "Options of several samplers"
	topicGeneral topic = "General"
)

// topicOrder is the order of topics. The options of single samplers come just before topicGeneral.
var topicOrder = []topic{topicData, topicMethod, topicSampler, topicStart, topicOutput, topicShown,
	topicFits, topicJobs, topicServer, topicLimits, topicOptim, topicShared}

// flagRow declares a flag.
type flagRow struct {
	name, short string
	of          string // the commands that have it; "": all without another row of that name
	topic       topic
	common      bool   // shown by --help, not only by --help-all
	value       string // the word for the value in help; "" for switches
	text        string // what it does
	values      cobra.CompletionFunc
	passing     bool   // concerns how a run is made, not its draws, so it is allowed with --resume
	path        bool   // the value is, or may be, a path
	by          origin // the least trusted place that may set it; zero: any place
	env         string // environment variable that also sets it
}

const (
	approximations = "optimize laplace pathfinder variational"
	fitting        = "cv loo sbc study"
)

// flagTable is the table.
var flagTable = []flagRow{
	// Model and data.
	{name: "data", short: "d", of: "study", topic: topicData, common: true, value: "FILE", values: dataFiles, path: true,
		text: "with MODEL: data, or a pattern such as 'sets/*.json' for one fit per file; may be repeated"},
	{name: "data", short: "d", topic: topicData, common: true, value: "FILE", values: dataFiles, path: true,
		text: "data: JSON, CSV with a header line, or an R dump; may be compressed by gzip; - is standard input; further tables are matched by the columns in common, and W.mtx is the sparse matrix W"},
	{name: "nonmem", topic: topicData, value: "FILE", values: dataFiles, path: true,
		text: "data: a data set of NONMEM, as CSV with a header line; the same as --data FILE --read nonmem"},
	{name: "count", topic: topicData, value: "NAME",
		text: "variable to set to the number of rows of a CSV file, as in N, or of levels of a column, as in J=school; may be repeated"},
	{name: "na", topic: topicData, value: "WHAT", values: holeWords,
		text: "what to do with empty fields and NA in a CSV file: error, drop the rows, or keep them as NaN; age=drop applies to one column; may be repeated"},
	{name: "missing", topic: topicData, value: "WORD",
		text: "text in a CSV file that means a missing value, as NA does; age=999 applies to one column; may be repeated"},
	{name: "read", topic: topicData, value: "HOW", values: howWords,
		text: "how to read columns of a CSV file: number (such as 1,234 or $5), levels, lowercase, nonmem (the whole table), or dates as days, weeks, months, years, hours, minutes or seconds; from,to=days applies to some columns; may be repeated"},
	{name: "include-path", topic: topicData, value: "FOLDER", values: folders, path: true,
		text: "search this folder for files of #include, after the model's folder; may be repeated"},
	{name: "legacy", topic: topicData, text: "read the syntax of older versions of Stan, with warnings"},
	{name: "stan-compat", topic: topicData, value: "VERSION", values: oneOf("2.32"),
		text: "constrain parameters as this version of Stan does: 2.32, whose simplexes differ"},
	{name: "model", of: "data", topic: topicData, common: true, value: "FILE", values: modelFiles, path: true,
		text: "the model that the data are for"},
	{name: "model", topic: topicData, common: true, value: "FILE", values: modelFiles, path: true,
		text: "the model, for CSV files, which do not contain it"},
	{name: "fit", topic: topicData, common: true, value: "FOLDER", values: runFolders, path: true, text: "the run that has the draws"},
	{name: "points", short: "p", topic: topicData, common: true, value: "FILE", values: dataFiles, path: true, text: "file of unconstrained points, or the folder of a run, to use its draws"},
	{name: "mode", topic: topicData, common: true, value: "MODE", values: runFolders, path: true,
		text: "the mode: a folder or CSV file of ppl optimize, or parameters as JSON"},
	{name: "grid", topic: topicData, common: true, value: "FLAG=VALUES", text: "with MODEL: values of a flag of ppl run, such as chains=2 or delta=0.8,0.95; may be repeated"},
	{name: "repeat", topic: topicData, common: true, value: "N", text: "with MODEL: make each fit this many times, with different seeds"},
	{name: "keep-draws", topic: topicData, value: "QUANTITY", text: "with MODEL: keep the draws of this quantity; may be repeated"},

	// Method: flags that only some commands have.
	{name: "formula", topic: topicMethod, common: true, value: "FORMULA", text: "the terms to select from (default: the formula in the first line of a model of ppl new)"},
	{name: "max-terms", topic: topicMethod, common: true, value: "N", text: "search for submodels with up to this many terms (default: all)"},
	{name: "terms", topic: topicMethod, common: true, value: "N", text: "show the coefficients of the submodel with this many terms (default: the suggested one)"},
	{name: "validate", topic: topicMethod, common: true, text: "repeat the search without each row, so that its choices do not profit from the row"},
	{name: "family", of: "select", topic: topicMethod, common: true, value: "FAMILY", values: oneOf("gaussian", "lognormal", "bernoulli", "binomial", "poisson"),
		text: "the distribution of the outcome (default: that in the second line of a model of ppl new)"},
	{name: "family", topic: topicMethod, common: true, value: "FAMILY", values: oneOf(familyWords()...),
		text: "the distribution of the outcome"},
	{name: "standardise", topic: topicMethod, common: true, value: "COLUMNS", values: dataNames,
		text: "columns to be divided by their standard deviation in the program, separated by commas; all: all numbers"},
	{name: "log-lik", topic: topicMethod, common: true, value: "NAME", values: variables,
		text: "generated quantity with the log likelihoods (default: log_lik if it exists, otherwise derived from the statements about data)"},
	{name: "derive", topic: topicMethod, text: "derive the log likelihoods even if there is a log_lik"},
	{name: "by", of: "cv", topic: topicMethod, common: true, value: "DATA", values: dataNames, text: "data with a group for each observation"},
	{name: "by", of: "effects", topic: topicMethod, common: true, value: "DATA", values: dataNames, text: "variables whose values make groups of rows, to average over each, separated by commas"},
	{name: "by", of: "individuals", topic: topicMethod, common: true, value: "DATA", values: dataNames, text: "variable of the data with the number of each row's subject (default: id)"},
	{name: "x", of: "individuals", topic: topicMethod, common: true, value: "DATA", values: dataNames, text: "variable of the data along which the predictions of a subject are ordered (default: time)"},
	{name: "by", of: "ppc", topic: topicMethod, common: true, value: "DATA", values: dataNames, text: "variables whose values make groups of rows, to compare each, separated by commas"},
	{name: "x", topic: topicMethod, common: true, value: "DATA", values: dataNames, text: "variable of the data along which rows are compared, in up to ten intervals"},
	{name: "vpc", topic: topicMethod, common: true, text: "visual predictive check: compare quantiles of the outcome along time, or along --x"},
	{name: "bins", topic: topicMethod, value: "BINS", text: "with --vpc: the maximum number of bins (default 10), or their limits, as in 0.5,2,6"},
	{name: "correct", topic: topicMethod, value: "HOW", values: oneOf(assess.Corrections()...), text: "with --vpc: correct by population predictions, as ratio or difference"},
	{name: "prediction", topic: topicMethod, value: "NAME", values: variables,
		text: "with --correct: the population predictions among the draws, as in cPred or c[iObs] (default: the expected outcomes, with redrawn parameters at their means)"},
	{name: "redraw", topic: topicMethod, value: "PARAMETERS", values: variables,
		text: "parameters to draw anew for each replication, separated by commas; all: those that describe a population (default with --vpc); none"},
	{name: "statistic", topic: topicMethod, common: true, value: "WHAT", values: oneOf(criticise.Statistics(true)...),
		text: "what is compared in groups of rows: " + strings.Join(criticise.Statistics(true), ", ")},
	{name: "by", topic: topicMethod, common: true, value: "DATA", values: dataNames, text: "data with a group for each observation: leave out groups, not observations"},
	{name: "moment-match", topic: topicMethod, common: true, text: "move the draws for each observation whose Pareto k is too large"},
	{name: "exact", topic: topicMethod, common: true, text: "fit the model again without each observation whose Pareto k is too large"},
	{name: "folds", topic: topicMethod, common: true, value: "N", text: "number of folds (default 10; with --by one per group)"},
	{name: "time", topic: topicMethod, common: true, value: "DATA", values: dataNames, text: "data with a time for each observation"},
	{name: "first", topic: topicMethod, value: "SHARE", text: "with --time: share of the observations that are not predicted"},
	{name: "simulations", topic: topicMethod, common: true, value: "N", text: "number of simulated data sets"},
	{name: "ranks", topic: topicMethod, value: "N", text: "rank each parameter among this many draws"},
	{name: "sets", topic: topicMethod, common: true, value: "N", text: "number of data sets"},
	{name: "simulator", topic: topicMethod, common: true, value: "FILE", values: modelFiles, path: true,
		text: "program in Stan that makes the data, if the model's statements do not say how, as for censored data; it has the model's parameters, and generated quantities with the names of the data"},
	{name: "params", topic: topicMethod, common: true, value: "VALUES", values: dataFiles, path: true,
		text: "values of the parameters, in a file (JSON or an R dump) or as JSON (default: drawn from the prior)"},
	{name: "prior", of: "ppc", topic: topicMethod, common: true, text: "use the prior instead of the posterior, of a model (with --data) or a run"},
	{name: "prior", topic: topicMethod, common: true, value: "WHAT", values: oneOf("top", "all"),
		text: "what is scaled as the prior: top, the priors of the top level; all, everything but the likelihood"},
	{name: "program", topic: topicMethod, common: true, text: "print the program that draws the data, and end"},
	{name: "expected", topic: topicMethod, common: true, text: "compute the mean of each observation, or the probability of each category, instead of draws"},
	{name: "link", topic: topicMethod, common: true, text: "compute the linear predictor of each observation, such as the log odds of a binary one"},
	{name: "new-levels", topic: topicMethod, common: true, value: "HOW", values: oneOf("error", "sample", "mean"),
		text: "for groups and rows that the fit does not have: report an error, draw from their distribution (sample), or take its mean"},
	{name: "ahead", topic: topicMethod, common: true, value: "N", text: "continue the series by this many rows"},
	{name: "of", of: "effects", topic: topicMethod, common: true, value: "DATA", values: dataNames, text: "compute the effects of these variables of the data, separated by commas"},
	{name: "at", topic: topicMethod, common: true, value: "DATA=VALUES", text: "values that all rows get: numbers or levels separated by commas, or mean; may be repeated"},
	{name: "show", of: "logdensity", topic: topicShown, common: true, value: "WHAT", values: listOf(allShow),
		text: "what is shown at each point, separated by commas: " + strings.Join(allShow(), ", ")},
	{name: "show", topic: topicMethod, common: true, value: "WHAT", values: oneOf("predictions", "comparisons", "slopes"),
		text: "predictions, comparisons (the default with --of) or slopes"},
	{name: "compare", topic: topicMethod, common: true, value: "HOW", values: oneOf("difference", "ratio", "odds", "lift"),
		text: "how two averages are compared: difference, ratio, odds (ratio of odds) or lift (relative difference)"},
	{name: "pairs", topic: topicMethod, common: true, value: "WHICH", values: oneOf("reference", "sequential", "pairwise"),
		text: "levels that are compared: each with the first (reference), with the one before (sequential), or all pairs (pairwise)"},
	{name: "step", topic: topicMethod, common: true, value: "X", text: "increase numbers by this in comparisons"},
	{name: "rank", topic: topicMethod, common: true, text: "compute the probability of each rank of each level, the highest expected outcome first"},
	{name: "outcome", topic: topicMethod, common: true, value: "DATA", values: dataNames, text: "the outcome, if the model has several"},
	{name: "pedantic", topic: topicMethod, common: true, text: "also warn of what is often a mistake"},
	{name: "stan-only", topic: topicMethod, common: true, text: "refuse what Stan does not have: integer parameters, missing values, functions of other libraries"},
	{name: "stdio", topic: topicMethod, text: "accepted because some editors pass it; has no effect"},
	{name: "to-stan", topic: topicMethod, common: true, text: "print the model as Stan runs it, for the data of --data"},
	{name: "upgrade", topic: topicMethod, common: true, text: "rewrite the syntax of older versions of Stan"},
	{name: "no-propto", topic: topicMethod, common: true, text: "keep the constant terms that statements with ~ drop"},
	{name: "no-jacobian", topic: topicMethod, common: true, text: "leave out the log Jacobians of constrained parameters; in laplace, for a mode found without them"},
	{name: "jacobian", topic: topicMethod, common: true, text: "include the log Jacobians of constrained parameters"},
	{name: "metric", of: "metric", topic: topicMethod, common: true, value: "METRIC", values: oneOf(metricKinds()...),
		text: "the metric: " + strings.Join(metricKinds(), ", ")},
	{name: "softabs-alpha", of: "metric", topic: topicMethod, value: "X", text: "hardness of the metric softabs"},
	{name: "algorithm", of: "variational", topic: topicMethod, common: true, value: "FAMILY", values: oneOf("meanfield", "fullrank"), text: "meanfield or fullrank"},
	{name: "algorithm", topic: topicMethod, common: true, value: "METHOD", values: oneOf("lbfgs", "bfgs", "newton"), text: "lbfgs, bfgs or newton"},
	{name: "paths", topic: topicMethod, common: true, value: "N", text: "number of paths"},
	{name: "path-draws", topic: topicMethod, value: "N", text: "draws of each path, to resample from"},
	{name: "elbo-draws", topic: topicMethod, value: "N", text: "draws by which the points of a path are compared"},
	{name: "no-resample", topic: topicMethod, text: "keep all draws of all paths, as they are"},
	{name: "no-lp", of: "pathfinder", topic: topicMethod, text: "compute the log density of as few draws as possible; without it there is no resampling"},
	{name: "no-lp", topic: topicMethod, text: "do not compute the log density of the draws"},
	{name: "grad-samples", topic: topicMethod, value: "N", text: "draws per gradient"},
	{name: "elbo-samples", topic: topicMethod, value: "N", text: "draws per estimate of the evidence lower bound (ELBO)"},
	{name: "eta", topic: topicMethod, value: "X", text: "scale of the steps (default: found by trial)"},
	{name: "adapt-iter", topic: topicMethod, value: "N", text: "iterations of each trial of --eta"},
	{name: "eval-elbo", topic: topicMethod, value: "N", text: "estimate the evidence lower bound every N iterations"},
	{name: "without", topic: topicMethod, value: "PASS", text: "leave out this pass of the compiler"},

	// Sampling.
	{name: "sampler", topic: topicSampler, common: true, value: "NAME", values: oneOf(sampler.Names()...),
		text: "the sampler: " + strings.Join(sampler.Names(), ", ") + "; see ppl help samplers"},
	{name: "chains", topic: topicSampler, common: true, value: "N", text: "number of chains"},
	{name: "warmup", topic: topicSampler, common: true, value: "N", text: "transitions of warm-up per chain"},
	{name: "draws", of: "laplace variational", topic: topicSampler, common: true, value: "N", text: "number of draws"},
	{name: "draws", of: "pathfinder", topic: topicSampler, common: true, value: "N", text: "draws after resampling"},
	{name: "draws", topic: topicSampler, common: true, value: "N", text: "draws per chain after warm-up"},
	{name: "thin", of: "sbc", topic: topicSampler, value: "N", text: "transitions between the draws that are ranked"},
	{name: "thin", topic: topicSampler, value: "N", text: "keep every Nth draw"},
	{name: "target-ess", topic: topicSampler, common: true, value: "N",
		text: "end when the effective sample size of every quantity, bulk and tail, is N and R-hat is below 1.01; --draws is then a limit (default 100000)"},
	{name: "seed", of: "run " + approximations, topic: topicSampler, common: true, value: "N", text: "seed of the random numbers (default: random, and recorded)"},
	{name: "seed", of: "study", topic: topicSampler, common: true, value: "N", text: "seed of the random numbers (default: the plan's)"},
	{name: "seed", of: "logdensity metric", topic: topicSampler, value: "N", text: "seed of random points, and of random numbers in transformed data"},
	{name: "seed", topic: topicSampler, common: true, value: "N", text: "seed of the random numbers"},
	{name: "parallel", of: "run", topic: topicSampler, common: true, passing: true, value: "N",
		text: "processors to use, for chains and, if there are fewer chains, for evaluations of a large model (default: all)"},
	{name: "parallel", of: "bench", topic: topicMethod, common: true, value: "N", text: "processors that share a long evaluation; above 1, evaluations by one processor are timed too"},
	{name: "parallel", of: "generate predict prior simulate", topic: topicLimits, value: "N", text: "draws to process at the same time (default: one per processor)"},
	{name: "parallel", topic: topicFits, common: true, value: "N", text: "fits at the same time (default: one per processor; 1 in a task of slurm)"},

	// Start of the chains.
	{name: "init", of: approximations, topic: topicStart, common: true, value: "START", values: initValues, path: true,
		text: "start at: random values of this radius on the unconstrained scale; values in a file (JSON or an R dump) or as JSON; the end of a run, by its folder or a CSV file"},
	{name: "init", topic: topicStart, common: true, value: "START", values: initValues, path: true,
		text: "start at: random values of this radius on the unconstrained scale; values in a file (JSON or an R dump) or as JSON; the end of a run, by its folder or a CSV file; pathfinder, at its draws"},
	{name: "metric-file", topic: topicStart, value: "RUN", values: runFolders, path: true,
		text: `start with the step size and metric of an earlier run (its folder), or of a JSON file: {"inv_metric": [0.1, 2], "stepsize": 0.5}`},

	// Files.
	{name: "out", short: "o", of: "run", topic: topicOutput, common: true, value: "FOLDER", values: folders, path: true, by: originUser,
		text: "write the draws to this folder as they are made; see ppl help output"},
	{name: "out", short: "o", of: approximations, topic: topicOutput, common: true, value: "FOLDER", values: folders, path: true, by: originUser,
		text: "write a CSV file in CmdStan's format to this folder"},
	{name: "out", short: "o", of: fitting, topic: topicOutput, common: true, value: "FOLDER", values: folders, path: true, by: originUser,
		text: "keep the fits in this folder; the same command continues from it"},
	{name: "out", short: "o", of: "convert", topic: topicOutput, common: true, value: "PATH", path: true, values: anyFile, by: originUser,
		text: "write to this path: a folder, or for parquet a file"},
	{name: "out", short: "o", of: "report report-bug", topic: topicOutput, common: true, value: "FILE", path: true, values: anyFile, by: originUser,
		text: "write to this file; - is standard output"},
	{name: "out", short: "o", of: "new", topic: topicOutput, common: true, value: "FILE", path: true, values: anyFile, by: originUser,
		text: "write the model to this file (default: standard output)"},
	{name: "out", short: "o", of: "docs", topic: topicOutput, common: true, value: "FOLDER", values: folders, path: true, by: originUser,
		text: "write the pages to this new or empty folder, and end"},
	{name: "out", short: "o", topic: topicOutput, common: true, value: "FOLDER", values: folders, path: true, by: originUser,
		text: "write one CSV file per chain to this folder"},
	{name: "output", short: "o", topic: topicOutput, common: true, value: "PROGRAM", path: true, values: anyFile, by: originUser,
		text: "the program to make (default: the model's name without its extension)"},
	{name: "overwrite", topic: topicOutput, common: true, passing: true, by: originUser, text: "replace what is at --out"},
	{name: "resume", topic: topicOutput, common: true, passing: true, path: true, value: "FOLDER", values: runFolders, by: originCommand,
		text: "continue the run in this folder"},
	{name: "salvage", topic: topicOutput, passing: true, by: originCommand, text: "with --resume: continue from the intact parts of damaged files"},
	{name: "format", topic: topicOutput, value: "FORMAT", values: oneOf(fit.RunFormats()...), text: formatText()},
	{name: "to", topic: topicOutput, common: true, value: "FORMAT", values: oneOf(formatNames()...), text: "the format: " + orList(formatNames())},
	{name: "groups", topic: topicOutput, value: "GROUPS", values: listOf(groupNames), text: groupsText()},
	{name: "prior-draws", topic: topicOutput, value: "N", text: "draws of the group prior"},
	{name: "sig-figs", topic: topicOutput, value: "N", text: "significant digits in CSV files, such as CmdStan's 8; 0: enough to read back the same numbers"},
	{name: "save-warmup", topic: topicOutput, text: "keep the draws of warm-up, too"},
	{name: "save-iterations", topic: topicOutput, text: "write each iteration to the CSV file"},
	{name: "keep-data", topic: topicOutput, value: "WHICH", values: oneOf("declared", "all"),
		text: "data to keep in the folder of --out: declared, the variables that the model declares; or all, for example for ppl loo --by"},
	{name: "pointwise", topic: topicOutput, value: "FILE", values: anyFile, path: true, by: originUser, text: "write the figures of each observation to this CSV file"},
	{name: "plots", topic: topicOutput, common: true, value: "FOLDER", values: folders, path: true, by: originUser, text: "write plots to this folder, as PNG, SVG and PDF files, with their numbers as CSV"},
	{name: "figure", topic: topicOutput, common: true, value: "NAME", text: "write only these plots, such as survival, density:tau or pairs:mu,tau; may be repeated"},
	{name: "export", topic: topicOutput, common: true, value: "FOLDER", values: folders, path: true, by: originUser, text: "write the page to this new or empty folder, and end"},
	{name: "write", short: "w", topic: topicOutput, common: true, by: originCommand, text: "write the result back to the files"},
	{name: "check", topic: topicOutput, common: true, text: "list the files that are not in the canonical form"},
	{name: "diff", topic: topicOutput, common: true, text: "show what would change"},
	{name: "name", topic: topicOutput, value: "NAME", text: "the model's name in files (default: that of its file, with _model)"},
	{name: "threads", topic: topicOutput, text: "have front ends run all chains in one process"},
	{name: "standalone", topic: topicOutput, text: "make a copy of ppl that contains the model"},

	// What is printed.
	{name: "watch", topic: topicShown, common: true, passing: true, text: "show the run in a browser while it runs"},
	{name: "listen", of: "run", topic: topicShown, passing: true, value: "ADDRESS", by: originUser, text: "address of this machine for --watch; port 0 is any free one"},
	{name: "vars", of: "report", topic: topicShown, common: true, value: "QUANTITIES", values: variables, text: "show plots of these quantities, such as beta,Omega[1,2],theta[1:5],u[Paris]"},
	{name: "vars", topic: topicShown, common: true, passing: true, value: "QUANTITIES", values: variables,
		text: "show these quantities only, such as beta,Omega[1,2],theta[1:5],b[,2],u[Paris]"},
	{name: "sort", topic: topicShown, passing: true, value: "ORDER", values: oneOf("rhat", "ess", "name"),
		text: "order of rows: rhat or ess, the worst first; or name (default: the model's order)"},
	{name: "limit", topic: topicShown, passing: true, value: "N", text: "show at most N rows (default: all; on a terminal, many quantities are shown by variable)"},
	{name: "percentiles", topic: topicShown, passing: true, value: "P,…", text: "show these percentiles"},
	{name: "fail-on", topic: topicShown, common: true, passing: true, value: "FINDINGS", values: oneOf(string(failProblems), string(failWarnings)),
		text: "exit with 3 if there are findings: problems; or warnings, which include notes"},
	{name: "title", topic: topicShown, value: "TEXT", text: "title of the report (default: the name of the model)"},
	{name: "size", topic: topicShown, value: "SIZE", text: "use up to this size for draws and plots of quantities (default 8MiB)"},
	{name: "quick", topic: topicShown, common: true, text: "leave out parts that run the model again: predictions and influence of observations"},
	{name: "embed", topic: topicShown, text: "print the report as an HTML element for documents and notebooks, and write no file"},
	{name: "refresh", topic: topicShown, value: "N", text: "report every Nth iteration; 0: none"},
	{name: "print", topic: topicShown, common: true, text: "print the plan, and make no fits"},
	{name: "progress", topic: topicShown, passing: true, value: "HOW", values: oneOf("text", "json"), text: "how progress is reported on stderr: text, or json, an object per line"},
	{name: "json", of: "report", topic: topicShown, common: true, text: "print the data of the report as JSON, and write no file"},
	{name: "json", topic: topicShown, common: true, passing: true, text: "print the result as JSON"},
	{name: "quiet", short: "q", topic: topicShown, common: true, passing: true, text: "report no progress, notes or warnings on stderr"},
	{name: "verbose", of: "mcp", short: "v", topic: topicShown, text: "print a line for each call on standard error"},
	{name: "verbose", short: "v", topic: topicShown, common: true, passing: true, text: "print all findings and notes in full, with reasons and remedies"},

	// Many fits, and clusters.
	{name: "retry", topic: topicFits, common: true, text: "repeat failed fits, for example with more memory"},
	{name: "engine", topic: topicFits, value: "ENGINE", values: oneOf(engineNames...), by: originUser,
		text: "where fits are made: local, on this machine; slurm, by an array of jobs; nats, by workers of ppl-nats"},
	{name: "tasks", topic: topicJobs, value: "N", text: "tasks of the array, with --engine slurm or --manifest (default 10)"},
	{name: "sbatch", topic: topicJobs, value: "OPTION", by: originUser, text: "option for sbatch, such as --sbatch=--time=1:00:00; may be repeated"},
	{name: "nats", topic: topicJobs, value: "URL", by: originUser, text: "with --engine nats: the server, as ppl-nats serve prints it"},
	{name: "nats-token-file", topic: topicJobs, value: "FILE", values: anyFile, path: true, by: originUser, text: "with --engine nats: file with the token (default: the variable PPL_NATS_TOKEN)"},
	{name: "nats-ca", topic: topicJobs, value: "FILE", values: anyFile, path: true, by: originUser, text: "with --engine nats: file with the certificate that a server with tls:// must present"},
	{name: "manifest", topic: topicJobs, value: "SCHEDULER", values: oneOf(manifestNames()...), text: "make files for a scheduler instead of fits: " + strings.Join(manifestNames(), ", ")},
	{name: "job-name", topic: topicJobs, value: "NAME", text: "with --manifest: name of the job"},
	{name: "image", topic: topicJobs, value: "IMAGE", by: originUser, text: "with --manifest: container image with the command ppl"},
	{name: "mount", topic: topicJobs, value: "FOLDER", text: "with --manifest: path of the folder of --out in the container"},
	{name: "volume", topic: topicJobs, value: "CLAIM", text: "with --manifest: the volume to mount there: a persistent volume claim, an EFS file system, or SERVER:/PATH of NFS"},
	{name: "queue", of: "serve mcp", topic: topicServer, common: true, value: "N", text: "requests that may wait; further ones are refused"},
	{name: "queue", topic: topicJobs, value: "QUEUE", text: "with --manifest aws-batch: the job queue"},
	{name: "task-memory", topic: topicJobs, value: "MIB", text: "with --manifest: memory of a task in MiB"},
	{name: "of", topic: topicFits, common: true, value: "N", text: "number of tasks"},
	{name: "number", topic: topicFits, common: true, value: "N", text: "number of the task, from 0 (default: the scheduler's variable)"},

	// Server.
	{name: "listen", topic: topicServer, common: true, value: "ADDRESS", by: originUser, text: "address to listen on; port 0 is any free one"},
	{name: "remote", topic: topicServer, common: true, by: originUser, text: "permit an address that other machines can reach"},
	{name: "token-file", topic: topicServer, common: true, value: "FILE", values: anyFile, path: true, by: originUser, text: "file with the token"},
	{name: "processes", topic: topicServer, common: true, value: "N", text: "requests to process at the same time"},
	{name: "short-processes", topic: topicServer, value: "N", text: "requests to check models to process at the same time, in addition to the others"},
	{name: "max-bodies", topic: topicServer, value: "BYTES", text: "memory for requests at a time (default: four times --max-bytes)"},
	{name: "folder", of: "mcp", topic: topicServer, common: true, value: "FOLDER", values: folders, path: true, by: originCommand,
		text: "folder whose files may be models and data; without it, no file is read"},
	{name: "max-fits", of: "mcp", topic: topicServer, value: "SIZE", text: "memory for the fits that are kept; beyond it, the oldest are dropped"},
	{name: "require-sandbox", topic: topicServer, common: true, text: "do not start if the system cannot confine the processes"},
	{name: "drain", topic: topicServer, value: "TIME", text: "keep taking requests for this long after SIGTERM, while /healthz answers 503"},
	{name: "grace", topic: topicServer, value: "TIME", text: "give running requests this long when the server ends"},

	// Limits.
	{name: "time-limit", of: "study", topic: topicLimits, common: true, value: "TIME", text: "fail a fit that takes longer, such as 90s (default: the plan's)"},
	{name: "time-limit", topic: topicLimits, common: true, passing: true, value: "TIME", text: "end after this time, such as 90s or 2h, including compiling and binding"},
	{name: "memory", topic: topicLimits, passing: true, value: "SIZE", env: memoryVariable,
		text: "refuse models, data and draws that need more memory than this, such as 500MB or 8GiB (default: half of the machine's)"},
	{name: "log-lik-memory", topic: topicLimits, value: "SIZE", text: "use up to this size for the log likelihoods (default 1GiB)"},
	{name: "max-data", topic: topicLimits, passing: true, value: "SIZE", text: "read files of data up to this size (default 1GiB)"},
	{name: "max-source", topic: topicLimits, passing: true, value: "SIZE", text: "read models, with included files, up to this size (default 1MiB)"},
	{name: "max-print", topic: topicLimits, value: "SIZE", text: "show the model's prints up to this size (default 64MiB)"},
	{name: "statements", topic: topicLimits, passing: true, value: "N",
		text: "refuse models that run more statements before the first evaluation; a statement of the model itself counts for 100 each time it is written out (default 1000000000)"},

	// Optimiser.
	{name: "iter", topic: topicOptim, common: true, value: "N", text: "maximum number of iterations"},
	{name: "history-size", topic: topicOptim, value: "N", text: "steps that L-BFGS remembers"},
	{name: "init-alpha", topic: topicOptim, value: "X", text: "first step of the first line search"},
	{name: "tol-obj", topic: topicOptim, value: "X", text: "end when the log density changes by less"},
	{name: "tol-rel-obj", of: "variational", topic: topicOptim, value: "X", text: "end when the relative change of the bound is smaller"},
	{name: "tol-rel-obj", topic: topicOptim, value: "X", text: "end when the relative change of the log density is below X·2⁻⁵²"},
	{name: "tol-grad", topic: topicOptim, value: "X", text: "end when the norm of the gradient is smaller"},
	{name: "tol-rel-grad", topic: topicOptim, value: "X", text: "end when the gradient along the next step, relative to the log density, is below X·2⁻⁵²"},
	{name: "tol-param", topic: topicOptim, value: "X", text: "end when the unconstrained parameters change by less"},

	// General: flags of all commands.
	{name: "color", topic: topicGeneral, passing: true, value: "WHEN", values: oneOf("auto", "always", "never"),
		text: "use colours: auto, on terminals; always; never. See ppl help environment"},
	{name: "no-config", topic: topicGeneral, passing: true, by: originCommand, text: "ignore the files " + configName},
	{name: "show-config", topic: topicGeneral, passing: true, by: originCommand, text: "print the value of each flag and where it comes from, and end"},
	{name: "help", short: "h", topic: topicGeneral, common: true, passing: true, by: originCommand, text: "show this help"},
	{name: "help-all", topic: topicGeneral, common: true, passing: true, by: originCommand, text: "show all flags, by topic"},
	{name: "version", of: "ppl", topic: topicGeneral, by: originCommand, text: "print the version, as ppl version does"},
}

// groupNames returns the values that --groups accepts.
func groupNames() []string {
	names := []string{"none", "all"}
	for _, g := range assess.ZarrGroups() {
		names = append(names, g.Name)
	}
	return names
}

func groupsText() string {
	text := "groups to add to a Zarr store, separated by commas, or none, or all:"
	for _, g := range assess.ZarrGroups() {
		text += fmt.Sprintf("\n%s: %s", g.Name, g.Doc)
	}
	return text
}

// standardGroups returns the default value of --groups.
func standardGroups() (names []string) {
	for _, g := range assess.ZarrGroups() {
		if g.Default {
			names = append(names, g.Name)
		}
	}
	return names
}

func formatText() string {
	text := "format of the draws: " + string(fit.CSV)
	for _, name := range fit.RunFormats()[1:] {
		text += ", or " + name
		if r, _ := fit.FormatOf(fit.Format(name)); r.Run != "" {
			text += ", " + strings.ReplaceAll(r.Run, "\n", " ")
		}
	}
	return text
}

// manifestNames returns the values that --manifest accepts.
func manifestNames() (names []string) {
	for _, k := range study.ManifestKinds() {
		names = append(names, k.Name)
	}
	return names
}
