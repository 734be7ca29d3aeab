package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/files"
)

// criticised has the options of the commands that judge a model by its draws.
type criticised struct {
	fitInput
	quantities *fit.Fit // log likelihoods and replications of the run read last, if they were generated after it
}

// flags declares --model, --data, and the flags that say how to read the data.
func (c *criticised) flags(cmd *cobra.Command) {
	declare(cmd).String(&c.model, "model", "")
	c.input.flags(cmd)
}

// read reads one run, with the model and the data that belong to it.
func (c *criticised) read(cmd *cobra.Command, args []string) (*fit.Fit, error) {
	runs, err := runsOf(cmd.Context(), args)
	if err != nil {
		return nil, err
	}
	switch {
	case len(runs) == 0:
		return nil, usagef("DIR is missing: the folder of a run, or CSV files")
	case len(runs) > 1:
		return nil, usagef("unexpected argument %q: one folder, or the CSV files of one run", args[1])
	}
	fit, err := openFit(cmd.Context(), runs[0], &c.memory)
	if err != nil {
		return nil, err
	}
	c.quantities = nil
	if c.data != "" && fit.Record() != nil {
		return nil, keepsData(args[0])
	}
	if dir := fit.GeneratedFrom; c.model == "" && dir != "" {
		if !isFolder(dir) {
			return nil, fmt.Errorf("%s has quantities generated from the run %s, which is not there", args[0], dir)
		}
		c.quantities = fit
		if fit, err = openFit(cmd.Context(), []string{dir}, &c.memory); err != nil {
			return nil, err
		}
	}
	_, err = c.posterior(cmd, fit)
	return fit, err
}

// run returns the run whose draws are used, given the argument of the command.
func (c *criticised) run(arg string) string {
	if c.quantities != nil {
		return c.quantities.GeneratedFrom
	}
	return arg
}

// keepsData returns the error for --data with the folder of a run, where the flag would be ignored.
func keepsData(dir string) error {
	return usagef("%s keeps the data of its draws, so --data is not for it: leave it out", dir)
}

// runProblems returns a finding if a run has problems, because then no verdict based on its draws
// is safe. It returns none for draws of an approximation or of the prior: commands describe these
// themselves.
func runProblems(fit *fit.Fit, name string) []diagnose.Finding {
	if fit.Approximate() != "" || fit.FromPrior {
		return nil
	}
	n, worst := 0, ""
	for _, f := range fit.Findings() {
		if f.Severity == diagnose.Problem {
			if n++; n == 1 {
				worst = f.Summary
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []diagnose.Finding{{Code: "run-problems", Severity: diagnose.Problem,
		Summary: fmt.Sprintf("The run %s has %s, so results from its draws may be wrong: %s", name, count(n, "problem", "problems"), worst),
		Advice:  fmt.Sprintf("See ppl diagnose %s, and repeat the run.", name)}}
}

// writePointwise writes columns to a CSV file with a header.
func writePointwise(path string, names []string, header []string, columns ...[]float64) error {
	var b strings.Builder
	b.WriteString("observation," + strings.Join(header, ",") + "\n")
	for i, name := range names {
		fmt.Fprintf(&b, "%q", name)
		for _, c := range columns {
			fmt.Fprintf(&b, ",%.10g", c[i])
		}
		b.WriteString("\n")
	}
	if err := files.Save(path, []byte(b.String())); err != nil {
		return fmt.Errorf("--pointwise: %w", err)
	}
	return nil
}

// numbersOf converts a slice to numbers for JSON.
func numbersOf(values []float64) []number {
	out := make([]number, len(values))
	for i, v := range values {
		out[i] = number(v)
	}
	return out
}

// UnmarshalJSON implements json.Unmarshaler, for numbers that this program wrote.
func (n *number) UnmarshalJSON(text []byte) error {
	var f float64
	if err := json.Unmarshal(text, &f); err == nil {
		*n = number(f)
		return nil
	}
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	if _, err := fmt.Sscan(s, &f); err != nil {
		return err
	}
	*n = number(f)
	return nil
}
