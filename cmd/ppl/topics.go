package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/lang/diag"
)

// This file: the topics of ppl help, and the command help.

// helpTopic is a topic of ppl help that is not a command.
type helpTopic struct {
	name, title string
	text        func() string
}

// helpTopics is the table of topics.
var helpTopics = []helpTopic{
	{"samplers", "Samplers, and when to choose which", samplersTopic},
	{"data", "Files of data: JSON, CSV, R dumps, Matrix Market", func() string { return dataTopic }},
	{"output", "Folders of runs, and how to continue a run", func() string { return outputTopic }},
	{"formats", "Formats of draws and of results", formatsTopic},
	{"exit-codes", "Exit codes, for scripts", func() string { return exitCodesTopic }},
	{"environment", "Environment variables, colours, and configuration files", environmentTopic},
}

func samplersTopic() string {
	var b strings.Builder
	b.WriteString("--sampler chooses the sampler of ppl run. Without it, ppl uses " + sampler.Names()[0] + ", which needs no tuning.\n\n")
	for _, row := range sampler.Table() {
		lines := wrap(row.Doc, helpWidth-18)
		for i, line := range lines {
			name := ""
			if i == 0 {
				name = row.Name
			}
			fmt.Fprintf(&b, "    %-13s %s\n", name, line)
		}
	}
	b.WriteString(`
Choose nuts to compare with Stan: it is Stan's sampler, with Stan's flags. Choose tempered if the posterior has several modes far from each other; it also estimates the normalising constant.

--delta sets the target of the acceptance statistic; raise it towards 1 if transitions diverge. --max-depth limits the length of trajectories.

ppl run --help-all shows the flags of each sampler. doc/evidence/samplers.md has measurements.`)
	return b.String()
}

const dataTopic = `--data FILE gives the data. The name of the file decides the format; a compressed file ends in .gz as well, and - is standard input.

    .json   an object with a value for each variable, as CmdStan reads it
    .csv    a table with a header line: each column is a vector
    .R      an R dump, as rstan writes it
    .mtx    a matrix in the format Matrix Market, which has the name of the file

Data that the model does not declare are ignored. In a CSV file, texts become levels 1, 2, … in alphabetical order.

    --count N           sets N to the number of rows
    --count J=school    sets J to the number of levels of the column school
    --count n=school    sets array[J] int n to the number of rows of each level, and makes these rows the rows of ragged arrays

    ppl run model.stan --data schools.csv --count N --count J=school

An empty field or NA is an error if the model declares the column; --na drop leaves out the rows. --missing unknown makes a text mean the same.

    --read days         reads dates as days since the first; or weeks, months, years, …
    --read number       reads 1,234 or $5 or 72 kg as numbers
    --read lowercase    ignores case in levels
    --read zip=levels   makes a column of numbers a factor

ppl data FILE --model MODEL shows what the file has, what the model needs, and the command to run it. For files above 1GiB, raise --max-data and, if needed, --memory.`

const outputTopic = `--out FOLDER keeps a run. Draws are written as they are made, one CSV file per chain in CmdStan's format; --format zarr writes one store for ArviZ instead. The folder also has

    run.json     flags, seed, versions, and what warm-up found
    the model    with the files that it includes
    the data     those that the model declares; all of them with --keep-data all

You can move the folder. ppl summary, diagnose, report, generate, predict, loo and others need nothing else. Data above 100 MB are not copied.

To continue a run that was interrupted or killed: ppl run --resume FOLDER. It makes the draws that the run would have made. With --resume you may change limits and what is printed, but not the draws. A loss of power costs at most the last five seconds. If files are damaged, --resume says what is intact, and --salvage continues from that.

ppl does not write a run to a folder that has one, unless you give --overwrite. The earlier run stays until the new one is complete, or has reached --time-limit with draws.

The first Ctrl-C ends a run at the next draw: its draws are kept and summarised, and the exit code is 130. The second ends the program at once. --time-limit ends a run like the first Ctrl-C, with exit code 0 if there are draws.

A later run can start from an earlier one: --metric-file FOLDER takes its metric and step size, --init FOLDER its last draws.`

func formatsTopic() string {
	return `ppl run --format chooses the format of draws. ppl convert writes an existing run in another format:

` + strings.TrimRight(formatHelp(), "\n") + `

Results are tables on standard output, or one JSON object with --json. In JSON, quantities are named as in CSV files, such as theta.1. Numbers that are not finite are the strings "NaN", "Infinity" and "-Infinity". "seconds" is wall-clock time. doc/reference/json.md has the schemas.

Progress, notes and warnings go to standard error; --quiet leaves them out.`
}

const exitCodesTopic = `Every command ends with one of these exit codes:

    0    success; findings alone do not change it
    1    an error: the command could not do its work
    2    a wrong command line: an unknown command, flag or value
    3    findings, with --fail-on
    130  interrupted by Ctrl-C; the draws so far are kept

--fail-on problems makes run, diagnose, loo, sbc and study end with 3 if a finding is a problem; a failed fit of a study counts as one. --fail-on warnings includes notes. What is printed and written stays the same. An error, a wrong command line and an interruption take precedence.

    ppl run model.stan -d data.json --out fit --fail-on problems || exit 1
    ppl diagnose fit --fail-on warnings`

func environmentTopic() string {
	return `Variables:

    PPL_MEMORY      limit of memory, as --memory
    PPL_PROCESSOR   instructions to use: AVX-512, AVX2, NEON, or none
    PPL_NATS_TOKEN  token of ppl study --engine nats
    PPL_TOKEN       token of ppl serve
    NO_COLOR        if not empty: no colours
    FORCE_COLOR     if not empty: colours in files and pipes, too; 0: no colours
    TERM=dumb       no colours and no progress bars

Colours: --color always or never comes first, then NO_COLOR, then FORCE_COLOR. Otherwise terminals get colours, files and pipes do not.

Configuration: the file ` + configName + ` sets defaults of flags, in a table for each command.

    [run]
    chains = 8
    sampler = "nuts"
    delta = 0.95
    percentiles = [2.5, 50, 97.5]

ppl reads two such files, if they exist:

    the model's  in the model's folder or, in a Git repository, in the nearest folder above
    yours        ` + userConfigDoc + `; on macOS in ~/Library/Application Support, on Windows in %AppData%

The command line comes first, then variables, then the model's file, then yours. Paths are relative to the file. Flags of other samplers than the run's are ignored. Only your own file may set flags that write files, listen on the network or submit jobs.

ppl run MODEL --show-config prints each value and where it comes from; run.json records what came from a file. --no-config ignores both files.`
}

// helpCommand returns the command ppl help.
func helpCommand(root *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:  "help [COMMAND | TOPIC]",
		Long: "Without an argument, lists the commands and the topics.",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return slices.Collect(helpNames), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			showHelp(cmd.OutOrStdout(), root, false)
			return nil
		}
		for _, t := range helpTopics {
			if t.name == args[0] && len(args) == 1 {
				showTopic(cmd.OutOrStdout(), t)
				return nil
			}
		}
		found, rest, err := root.Find(args)
		if err != nil || found == root || len(rest) > 0 {
			text := fmt.Sprintf("there is no command or topic %q", strings.Join(args, " "))
			if own, ok := otherCommands[strings.ToLower(args[0])]; ok {
				text += "; here it is: ppl help " + strings.Fields(own)[0]
			} else if near := diag.Nearest(args[0], helpNames); near != "" {
				text += "; did you mean: ppl help " + near
			} else {
				text += "; ppl help lists them"
			}
			return usagef("%s", text)
		}
		found.InitDefaultHelpFlag()
		showHelp(cmd.OutOrStdout(), found, false)
		return nil
	}
	return cmd
}

// helpNames yields the names for which ppl help has a text.
func helpNames(yield func(string) bool) {
	for _, row := range commandTable() {
		if row.group != groupInside && !yield(row.name) {
			return
		}
	}
	for _, t := range helpTopics {
		if !yield(t.name) {
			return
		}
	}
}

// showTopic writes the text of a topic.
func showTopic(w io.Writer, t helpTopic) {
	h := newHelping(w)
	h.heading(t.title)
	h.b.WriteString("\n")
	h.prose(t.text())
	_, _ = io.WriteString(w, strings.TrimPrefix(h.b.String(), "\n")) // checkedWriter notices errors
}
