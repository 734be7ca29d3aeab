package main

import (
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// findingsJSON is what diagnose --json prints about a run.
type findingsJSON struct {
	Findings    []diagnose.Finding `json:"findings"`    // problems and remarks
	Diagnostics []chainJSON        `json:"diagnostics"` // one entry per chain
	Divergent   []divergence       `json:"divergent"`   // divergent transitions
}

func diagnoseCommand() *cobra.Command {
	var asJSON bool
	var fail failOn
	var in input
	cmd := &cobra.Command{
		Use: "diagnose DIR… | FILE.csv…",
		Long: `Prints figures of the chains of a run, and its findings with advice. The run is a folder of
ppl run --out, or CSV files of CmdStan, one per chain.`,
		Args: cobra.ArbitraryArgs,
	}
	readsFit.add(cmd, &in)
	fail.flag(cmd)
	declare(cmd).Bool(&asJSON, "json", false)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var found []diagnose.Finding
		err := eachFit(cmd, args, &rowOptions{}, &in.memory, func(stdout io.Writer, title, name string, fit *fit.Fit) error {
			found = append(found, fit.Findings()...)
			s := newSession(&runOptions{chains: fit.Draws.Chains()}, nil, fit, false, nil)
			if asJSON {
				j := s.asJSON(nil)
				return writeJSON(stdout, findingsJSON{j.Findings, j.Diagnostics, j.Divergent})
			}
			return s.look(stdout, title, name, false)
		})
		if err != nil {
			return err
		}
		return fail.of(found)
	}
	return cmd
}

// chains writes a line for each chain.
func (s *session) chains(b io.Writer, width int) {
	cells := [][]string{{"chain"}, {"draws"}, {"divergent"}, {"at depth limit"}, {"accepted"}, {"E-BFMI"}, {"step size"}, {"gradients"}}
	for i, f := range s.fit.Sampling() {
		c := s.fit.Report.Chains[i]
		for k, text := range []string{
			strconv.Itoa(c.ID), strconv.Itoa(f.Draws), strconv.Itoa(f.Divergences), strconv.Itoa(f.Saturated),
			fixed(f.AcceptStat, 3), fixed(f.EBFMI, 2), figure(f.StepSize, 4), fmt.Sprint(c.Sampling.Gradients),
		} {
			cells[k] = append(cells[k], text)
		}
	}
	widths := make([]int, len(cells))
	for c := range cells {
		for _, text := range cells[c] {
			widths[c] = max(widths[c], utf8.RuneCountInString(text))
		}
	}
	writeCells(b, cells, widths, []int{0, 0, 0, 1, 2, 0, 3, 4}, width)
}
