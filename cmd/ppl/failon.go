package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/infer/diagnose"
)

// failOn selects which findings make a command end with an exit code, for scripts: none, problems,
// or all.
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
	declare(cmd).Value(f, "fail-on")
}

// of returns the exit code if these findings make the command fail, otherwise nil.
func (f failOn) of(findings []diagnose.Finding) error {
	problems := 0
	for _, x := range findings {
		if x.Severity == diagnose.Problem {
			problems++
		}
	}
	return f.ofCounts(problems, len(findings)-problems)
}

// ofCounts is like of, for given numbers of problems and notes.
func (f failOn) ofCounts(problems, notes int) error {
	if f != failNever && problems > 0 || f == failWarnings && notes > 0 {
		return exitCode(exitFindings)
	}
	return nil
}
