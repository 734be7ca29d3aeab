// Command ppl runs models written in Stan's language.
//
//	ppl run MODEL --data FILE    draw from the posterior and summarise it
//	ppl help                     all commands and topics
//
// Each subcommand has a file of its name. Shared files:
//
//	run_start.go     start of a run; run_record.go: the record of a run; heap.go: its memory
//	approximate.go   shared by optimize, laplace, pathfinder and variational
//	criticised.go    shared by commands that judge a model by its draws
//	parquet.go       the input of the program that writes Parquet, for convert
//	commands.go      the table of commands; flagtable.go: the table of flags; flags.go: how they are declared
//	common.go        the flags that commands have in common
//	usage.go         help texts; topics.go: the topics of ppl help; man.go: manual pages
//	complete.go      completion in shells; config.go: configuration files; color.go: colours
//	input.go         reading model and data
//	samplers.go      the options of samplers, from the table of package sampler
//	progress.go      progress as plain lines; bars.go: as bars on a terminal; progress_json.go: as JSON
//	session.go       the report of a run in the terminal; run_json.go: as JSON
//	show.go          the summary, findings, times; rows.go: which quantities; table.go: the table
//	fitinput.go      reading runs
//	study_engine.go  where the fits of a study are made; study_progress.go: its progress; study_report.go: its results
//	report.go        the report as a page; watch.go: live, during a run
//	terminal.go      the abilities of the terminal
//	documents.go     the JSON that commands print, with its schemas in doc/reference/json
//	number.go        numbers in JSON
//	helps.go         suggestions for wrong command lines
//	serve_work.go    the work of the processes of serve
//	mcp_tools.go     the tools of mcp; mcp_work.go: the work of its processes; held.go: fits and texts in memory
//	cmdstan.go       the programs that front ends of CmdStan call
//	ending.go        how commands end early: Ctrl-C, --time-limit
//	escape.go        text of models and data on terminals
//	failure.go       errors, how they are shown, exit codes; failon.go: findings that scripts fail on
//	given.go         standard output and the limit of open files
//	parent.go        ending with the parent process
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
	"slices"
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

// executeIn is like execute, in a given context.
func executeIn(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &checkedWriter{Writer: stdout}
	root := rootCommandFor(args, out)
	root.SetArgs(args)
	stderr = &tinted{stderr, out.color}
	root.SetErr(stderr)
	// Report an unknown command before the parser complains about flags that follow it.
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && !strings.HasPrefix(args[0], "__complete") {
		if found, _, err := root.Find(args); err != nil || found == root {
			text := fmt.Sprintf("unknown command %q", args[0])
			if help := commandHelp(root, args[0], args); help != "" {
				text += "; " + help
			} else {
				text += "; ppl help lists the commands"
			}
			return fail(stderr, root, usagef("%s", text))
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd, err := root.ExecuteContextC(ctx)
	// Some code that prints, such as help texts and tables, does not return its errors.
	if code, told := errors.AsType[exitCode](err); out.err != nil && (err == nil || told && code != exitError) {
		err = fmt.Errorf("cannot write to standard output: %w", out.err)
	}
	return fail(stderr, cmd, err)
}

// rootCommand returns the program with all its commands, which print to out.
func rootCommand(out *checkedWriter) *cobra.Command { return rootCommandFor(nil, out) }

// rootCommandFor is rootCommand for one command line. If the line begins with the name of a
// command, the program has no other one: it takes less time to run most commands than to declare
// the flags of all.
func rootCommandFor(args []string, out *checkedWriter) *cobra.Command {
	table := commandTable()
	called := func(r commandRow) bool { return len(args) > 0 && r.name == args[0] && r.make != nil }
	if i := slices.IndexFunc(table, called); i >= 0 {
		table = table[i : i+1]
	}
	root := &cobra.Command{
		Use: "ppl",
		Long: `ppl fits Bayesian models written in Stan's language. It needs no C++ compiler.

    ppl run eight_schools.model --data eight_schools.data.json`,
		Args:          cobra.NoArgs,
		SilenceErrors: true, // shown by fail
		SilenceUsage:  true,
	}
	var version, all bool
	declare(root).Bool(&version, "version", false)
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if version {
			c := versionCommand()
			c.SetOut(cmd.OutOrStdout())
			return c.RunE(c, nil)
		}
		showHelp(cmd.OutOrStdout(), cmd, false)
		return nil
	}
	in := &input{color: colorAuto}
	out.color = &in.color
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error { return in.prepare(cmd, args, out) }
	root.SetOut(out)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		showHelp(cmd.OutOrStdout(), cmd, all)
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		help := flagHelp(cmd, err)
		if help == "" && unknownFlag.MatchString(err.Error()) {
			return usagef("%w; %s --help-all lists the flags", err, cmd.CommandPath())
		}
		return usage(meant(err, help))
	})
	root.SuggestionsMinimumDistance = -1 // commandHelp knows better
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	for _, row := range table {
		if row.make != nil {
			cmd := row.make()
			cmd.ValidArgsFunction = row.args
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	completions(root)
	for _, row := range table {
		for _, cmd := range root.Commands() {
			if cmd.Name() == row.name {
				cmd.Short = row.text
			}
		}
	}
	addToAll(root, in, &all)
	return root
}

// prepare sets up a command: its output, configuration and colours.
func (in *input) prepare(cmd *cobra.Command, args []string, out *checkedWriter) error {
	if err := neededOutput(cmd, out); err != nil {
		return err
	}
	if !configured(cmd) {
		return nil
	}
	files, err := configure(cmd, args)
	if err != nil {
		return err
	}
	if in.showConfig {
		if err := showConfig(cmd.OutOrStdout(), cmd, files); err != nil {
			return err
		}
		return exitCode(0)
	}
	return nil
}

// checkedWriter keeps the first error of writing and writes nothing after it.
type checkedWriter struct {
	io.Writer
	err   error
	color *colorMode // nil: auto
}

func (w *checkedWriter) Write(p []byte) (n int, err error) {
	if w.err != nil {
		return 0, w.err
	}
	n, w.err = w.Writer.Write(p)
	return n, w.err
}
