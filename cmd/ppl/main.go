// Command ppl runs models written in Stan's language.
//
//	ppl run MODEL --data FILE          draw from the posterior and summarise it
//	ppl summary DIR                    the summary of a run again
//	ppl diagnose DIR                   what is wrong with a run
//	ppl report DIR                     a run as one HTML file, with plots
//	ppl generate MODEL --fit DIR       generated quantities at the draws of a run
//	ppl predict DIR                    replicated data at the draws of a run
//	ppl convert DIR --to FORMAT        the draws of a run in another format
//	ppl prior MODEL --data FILE        parameters and data from the prior
//	ppl simulate MODEL --out DIR       data sets from given parameters or the prior
//	ppl optimize MODEL --data FILE     the mode of the posterior
//	ppl laplace MODEL --data FILE      draws from the normal approximation at the mode
//	ppl pathfinder MODEL --data FILE   draws from an approximation found on the way there
//	ppl variational MODEL --data FILE  draws from a normal distribution fitted to the posterior
//	ppl loo DIR                        how well a model predicts: leave-one-out cross-validation
//	ppl cv DIR                         the same by fitting the model without parts of the data
//	ppl compare DIR DIR…               which of several models predicts best, with weights
//	ppl ppc DIR                        the data beside what the model predicts for them
//	ppl sensitivity DIR                how much results depend on prior and likelihood
//	ppl sbc MODEL --data FILE          whether the model can be inferred, by simulated data
//	ppl study PLAN --out DIR           many fits: models, data sets and a grid of options
//	ppl task DIR --of N                a share of a study, as a task of an array of jobs
//	ppl logdensity MODEL --points FILE log density and gradient at given points
//	ppl metric MODEL --points FILE     the metric of Riemannian samplers at given points
//	ppl bench MODEL --data FILE        time the gradient
//	ppl explain MODEL --data FILE      how the gradient is evaluated, where its time goes
//	ppl report-bug DIR                 a report of a wrong log density, to send
//	ppl check MODEL…                   check models for errors and likely mistakes
//	ppl fmt MODEL…                     lay models out in the canonical form
//	ppl explain-error CODE             what a message means, with examples
//	ppl doc NAME                       what a function of the language does
//	ppl cmdstan-home DIR               a folder that front ends take for CmdStan
//	ppl build MODEL -o EXE             an executable as CmdStan makes it of a model
//	ppl serve                          check and run untrusted models over HTTP
//	ppl lsp                            start the language server for editors
//	ppl playground                     write and run models in a browser
//	ppl docs                           read the documentation in a browser
//	ppl version                        the version of this program
//
// Each subcommand is a file of its name; what they share:
//
//	run_start.go what a run starts from; run_record.go: what is kept of how it is made
//	approximate.go what optimize, laplace, pathfinder and variational share
//	criticised.go what commands share that judge a model by its draws
//	parquet.go   what convert hands to the program for Parquet
//	common.go    the flags that commands have in common
//	input.go     reading model and data
//	samplers.go  the options of samplers, from the table of package sampler
//	progress.go  progress as plain lines; bars.go: as bars on a terminal; progress_json.go: as JSON
//	session.go   what is reported of a run; run_json.go: as JSON
//	show.go      the summary, findings, times; rows.go: which quantities; table.go: the table
//	fitinput.go  reading runs
//	study_engine.go where the fits of a study are made; study_progress.go: how far it is; study_report.go: what it has come to
//	report.go    the report as a page; watch.go: live, while a run goes on
//	terminal.go  what the terminal can show
//	documents.go the JSON that commands print, with its schemas in doc/reference/json
//	number.go    numbers in JSON
//	helps.go     what leads from a wrong command line to the right one
//	serve_work.go what the processes of serve do
//	cmdstan.go   what front ends of CmdStan call
//	ending.go    how commands end early: Ctrl-C, --time-limit
//	escape.go    text of models and data on terminals
//	failure.go   errors, how they are shown, exit codes; failon.go: findings that scripts fail on
//	given.go     what the process was started with: standard output, files that may be open
//	parent.go    the end of the program that has started this one
//
// The exit code is 0 for success, 1 for an error, 2 for a wrong command line, 3 for findings
// with --fail-on, and 130 for a run that was interrupted and has kept its draws.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

func main() {
	if err := enoughFiles(minFiles, "This program"); err != nil { // before the first is opened
		showError(os.Stderr, err)
		os.Exit(exitError)
	}
	endWithParent()
	if code, ok := cmdstanProgram(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(execute(os.Args[1:], standardOutput(), os.Stderr))
}

// execute runs the program and returns its exit code.
func execute(args []string, stdout, stderr io.Writer) int {
	return executeIn(context.Background(), args, stdout, stderr)
}

// executeIn is execute in a context.
func executeIn(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &checkedWriter{Writer: stdout}
	root := rootCommand(out)
	root.SetArgs(args)
	root.SetErr(stderr)
	// A word that is no command is told of before the options after it.
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && !strings.HasPrefix(args[0], "__complete") && args[0] != "help" && args[0] != "completion" {
		if found, _, err := root.Find(args); err != nil || found == root {
			text := fmt.Sprintf("unknown command %q", args[0])
			if help := commandHelp(root, args[0], args); help != "" {
				text += "; " + help
			}
			return fail(stderr, root, usagef("%s", text))
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd, err := root.ExecuteContextC(ctx)
	// Not every way to print tells what came of it: help texts, tables.
	if code, told := errors.AsType[exitCode](err); out.err != nil && (err == nil || told && code != exitError) {
		err = fmt.Errorf("cannot write to standard output: %w", out.err)
	}
	return fail(stderr, cmd, err)
}

// rootCommand is the program with all its commands, which print to out.
func rootCommand(out *checkedWriter) *cobra.Command {
	root := &cobra.Command{
		Use:   "ppl",
		Short: "Run models written in Stan's language",
		Long: `ppl compiles models written in Stan's language, binds them to data and draws
from their posterior, without a C++ compiler.

    ppl run eight_schools.model --data eight_schools.data.json`,
		Args:          cobra.NoArgs,
		SilenceErrors: true, // shown by fail
		SilenceUsage:  true,
	}
	version := root.Flags().Bool("version", false, "as the command version")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *version {
			c := versionCommand()
			c.SetOut(cmd.OutOrStdout())
			return c.RunE(c, nil)
		}
		return cmd.Help()
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return neededOutput(cmd, out) }
	root.SetOut(out)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(meant(err, flagHelp(cmd, err))) })
	root.SuggestionsMinimumDistance = -1 // commandHelp knows better
	root.AddCommand(runCommand(), summaryCommand(), diagnoseCommand(), reportCommand(), generateCommand(), predictCommand(), convertCommand(), priorCommand(), simulateCommand(),
		optimizeCommand(), laplaceCommand(), pathfinderCommand(), variationalCommand(),
		looCommand(), cvCommand(), compareCommand(), ppcCommand(), sensitivityCommand(), sbcCommand(), studyCommand(), taskCommand(),
		logDensityCommand(), metricCommand(), benchCommand(), explainCommand(), reportBugCommand(),
		checkCommand(), fmtCommand(), docCommand(), explainErrorCommand(), versionCommand(), serveCommand(), workCommand(), lspCommand(), playgroundCommand(), docsCommand(), cmdstanHomeCommand(), buildCommand(), exitCodesHelp())
	addToAll(root, &input{})
	return root
}

// checkedWriter keeps the first error of writing, after which it writes no more.
type checkedWriter struct {
	io.Writer
	err error
}

func (w *checkedWriter) Write(p []byte) (n int, err error) {
	if w.err != nil {
		return 0, w.err
	}
	n, w.err = w.Writer.Write(p)
	return n, w.err
}
