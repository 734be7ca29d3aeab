package main

import (
	"github.com/spf13/cobra"
)

// This file has the table of commands, from which help, completion and manual pages are made.

// group is a set of commands that help shows together.
type group string

const (
	groupFit    group = "Fit a model"
	groupWrite  group = "Write and check models"
	groupAfter  group = "After the fit"
	groupMany   group = "Many fits"
	groupTools  group = "Tools"
	groupInside group = "" // no group; only the program itself runs them
)

// groupOrder is the order in which help shows groups.
var groupOrder = []group{groupFit, groupWrite, groupAfter, groupMany, groupTools}

// commandRow declares a command.
type commandRow struct {
	name  string
	group group
	text  string // one line: what it does
	args  cobra.CompletionFunc
	see   string                // topics of ppl help to read next
	make  func() *cobra.Command // nil: made by newRoot
}

// commandTable is the table, in the order of ppl help.
func commandTable() []commandRow {
	return []commandRow{
		{"run", groupFit, "Draw from the posterior and summarise it; continue a run", modelArg, "data samplers output", runCommand},
		{"optimize", groupFit, "Find the mode of the posterior", modelArg, "data", optimizeCommand},
		{"laplace", groupFit, "Draw from the normal approximation at the mode", modelArg, "data", laplaceCommand},
		{"pathfinder", groupFit, "Draw from an approximation found on the way to the mode", modelArg, "data", pathfinderCommand},
		{"variational", groupFit, "Fit a normal distribution by stochastic gradients (ADVI)", modelArg, "data", variationalCommand},

		{"new", groupWrite, "Write a model from a formula and a table", noArgs, "data", newCommand},
		{"check", groupWrite, "Check models for errors and likely mistakes", modelArgs, "", checkCommand},
		{"data", groupWrite, "Show what a file of data has, and whether it fits a model", dataArg, "data", dataCommand},
		{"fmt", groupWrite, "Format models", modelArgs, "", fmtCommand},
		{"doc", groupWrite, "Show what a function or distribution does", functionArg, "", docCommand},
		{"explain-error", groupWrite, "Explain an error or warning, with examples", codeArg, "", explainErrorCommand},
		{"prior", groupWrite, "Draw parameters and data from the prior", modelArg, "data", priorCommand},
		{"simulate", groupWrite, "Make data sets from given parameters, or from the prior", modelArg, "data", simulateCommand},
		{"playground", groupWrite, "Write and run models in a browser", noArgs, "", playgroundCommand},
		{"docs", groupWrite, "Read the documentation in a browser", noArgs, "", docsCommand},
		{"lsp", groupWrite, "Start the language server for editors", noArgs, "", lspCommand},

		{"summary", groupAfter, "Summarise the draws of a run again", runsArg, "", summaryCommand},
		{"diagnose", groupAfter, "Show what is wrong with a run, and what to do", runsArg, "exit-codes", diagnoseCommand},
		{"report", groupAfter, "Show a run as one HTML file with plots", runsArg, "", reportCommand},
		{"generate", groupAfter, "Compute generated quantities at the draws of a run", modelArg, "", generateCommand},
		{"predict", groupAfter, "Draw replicated data at the draws of a run", runArg, "", predictCommand},
		{"effects", groupAfter, "Show how the expected outcome depends on variables of the data", runArg, "", effectsCommand},
		{"ppc", groupAfter, "Compare the data with what the model predicts", runsArg, "", ppcCommand},
		{"individuals", groupAfter, "Show how a model fits each subject, and shrinkage", runArg, "", individualsCommand},
		{"states", groupAfter, "Show the probabilities of discrete parameters", runArg, "", statesCommand},
		{"loo", groupAfter, "Estimate predictive accuracy by leave-one-out (PSIS-LOO)", runsArg, "exit-codes", looCommand},
		{"cv", groupAfter, "Estimate predictive accuracy by fits without parts of the data", modelOrRunArg, "", cvCommand},
		{"compare", groupAfter, "Compare models by their predictions of the same data", runsArg, "", compareCommand},
		{"select", groupAfter, "Find the terms of a model that are enough for prediction", runArg, "", selectCommand},
		{"evidence", groupAfter, "Estimate marginal likelihoods and Bayes factors", runsArg, "", evidenceCommand},
		{"sensitivity", groupAfter, "Show how much results depend on prior and likelihood", runsArg, "", sensitivityCommand},
		{"convert", groupAfter, "Write the draws of a run in another format", runsArg, "formats", convertCommand},

		{"study", groupMany, "Make many fits: models, data sets and a grid of flags", anyArg, "", studyCommand},
		{"task", groupMany, "Make a share of the fits of a study, as a task of a job array", runArg, "", taskCommand},
		{"sbc", groupMany, "Check by simulated data that inference works (SBC)", modelArg, "data", sbcCommand},

		{"logdensity", groupTools, "Evaluate log density and gradient at given points", modelArg, "data", logDensityCommand},
		{"metric", groupTools, "Print the metric of Riemannian samplers at given points", modelArg, "data", metricCommand},
		{"bench", groupTools, "Time the log density with its gradient", modelArg, "data", benchCommand},
		{"explain", groupTools, "Show how the gradient is evaluated and where its time goes", modelArg, "data", explainCommand},
		{"report-bug", groupTools, "Write a report of a wrong log density", modelOrRunArg, "", reportBugCommand},
		{"serve", groupTools, "Check and run untrusted models over HTTP", noArgs, "", serveCommand},
		{"mcp", groupTools, "Let an agent check models, fit them and judge the fits", noArgs, "", mcpCommand},
		{"cmdstan-home", groupTools, "Make a folder that looks like CmdStan to front ends", folderArg, "", cmdstanHomeCommand},
		{"build", groupTools, "Make an executable like one that CmdStan makes", modelArg, "", buildCommand},
		{"completion", groupTools, "Print a script that completes commands in your shell", nil, "", nil}, // made by package cobra
		{"schema", groupTools, "Print the JSON schema of what a command prints", schemaArg, "formats", schemaCommand},
		{"man", groupTools, "Write manual pages to a folder", folderArg, "", manCommand},
		{"version", groupTools, "Print the version of this program", noArgs, "", versionCommand},
		{"help", groupTools, "Show help on a command or a topic", nil, "", nil}, // made together with the root command

		{workName, groupInside, "Do the work of one request, for ppl serve", nil, "", workCommand},
	}
}
