package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/infer/diagnose"
)

// failOn is which findings end a command with an exit code, for scripts: none, those that
// are problems, or all.
type failOn string

const (
	failNever    failOn = ""
	failProblems failOn = "problems"
	failWarnings failOn = "warnings"
)

// Set implements pflag.Value.
func (f *failOn) Set(text string) error {
	switch v := failOn(text); v {
	case failProblems, failWarnings:
		*f = v
		return nil
	}
	return errors.New("it can be problems or warnings")
}

// String implements pflag.Value.
func (f *failOn) String() string { return string(*f) }

// Type implements pflag.Value.
func (f *failOn) Type() string { return "findings" }

// flag declares --fail-on.
func (f *failOn) flag(cmd *cobra.Command) {
	cmd.Flags().Var(f, "fail-on", "end with exit code 3 if there are `findings`: problems, or warnings, which are problems and notes")
}

// of is the exit code for findings, if they end the command; nil if not.
func (f failOn) of(findings []diagnose.Finding) error {
	problems := 0
	for _, x := range findings {
		if x.Severity == diagnose.Problem {
			problems++
		}
	}
	return f.ofCounts(problems, len(findings)-problems)
}

// ofCounts is of, for so many problems and notes.
func (f failOn) ofCounts(problems, notes int) error {
	if f != failNever && problems > 0 || f == failWarnings && notes > 0 {
		return exitCode(exitFindings)
	}
	return nil
}

// exitCodesHelp is the topic exit-codes of ppl help.
func exitCodesHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "Exit codes, for scripts",
		Long: `Every command ends with one of these exit codes:

    0    success; findings alone do not change it
    1    an error: the command could not do what it was asked to
    2    a wrong command line: an unknown command, option or value
    3    findings, with --fail-on
    130  interrupted by Ctrl-C; what there is was kept

With --fail-on problems, the commands run, diagnose, loo, sbc and study end with 3 if there is a
problem among the findings; a fit of a study that has failed counts as one. With --fail-on
warnings they do so for notes too. What they print and write is the same. An error, a wrong
command line and an interruption come first.

    ppl run model.stan -d data.json --out fit --fail-on problems || exit 1
    ppl diagnose fit --fail-on warnings`,
	}
}
