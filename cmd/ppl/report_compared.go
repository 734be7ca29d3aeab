package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/front/report"
)

// reportCompared writes one page about several runs.
func (o *reporting) reportCompared(cmd *cobra.Command, args []string) error {
	if o.json || o.embed || o.plots != "" || o.figures != nil || o.model != "" || o.data != "" {
		return usagef("several folders make one page; --json, --embed, --plots, --figure, --model and --data are for one run")
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	var names []string
	var reports []*report.Report
	for _, dir := range args {
		f, err := openFit(ctx, []string{dir}, &o.memory)
		if err != nil {
			return err
		}
		own := *o
		own.numberLevels(f.VariableFactors)
		options := own.options(dir)
		if f.Approximate() == "" {
			options.Again = runAgain(f.Record())
		}
		options.Size = (int(o.size) + len(args) - 1) / len(args)
		r, err := report.New(ctx, f, options)
		if err != nil {
			return ended(ctx, cmd.ErrOrStderr(), err)
		}
		names, reports = append(names, shownName(args, dir)), append(reports, r)
	}
	compare := comparing{criticised: criticised{fitInput: o.fitInput}}
	var table *report.Table
	reason := ""
	all, c, findings, err := compare.compared(ctx, cmd, args)
	switch {
	case ctx.Err() != nil:
		return ended(ctx, cmd.ErrOrStderr(), ctx.Err())
	case err != nil:
		reason = err.Error()
	default:
		table = &report.Table{Kind: "comparison", Title: "Which predicts best", Columns: []report.Column{{}, {Name: "elpd_diff", Decimals: 1}, {Name: "se_diff", Decimals: 1},
			{Name: "elpd", Decimals: 1}, {Name: "se", Decimals: 1}, {Name: "weight", Decimals: 3}, {Name: "verdict"}}}
		for i, m := range c {
			table.Rows = append(table.Rows, []any{all[m.Model].name, report.Number(m.Diff.Value), report.Number(m.Diff.SE), report.Number(m.ELPD.Value), report.Number(m.ELPD.SE),
				report.Number(m.Weight), string(verdictOf(all, c, i))})
		}
		table.Note = fmt.Sprintf("Expected log predictive density by leave-one-out cross-validation, of %d observations; the best first. Weights are those of the mixture that predicts best.", len(all[0].elpd))
	}
	page := report.Compare(names, reports, table, findings, reason)
	path := o.out
	if path == "" {
		path = "comparison.html"
	}
	if path == "-" {
		return page.WriteHTML(cmd.OutOrStdout())
	}
	if err := writeReport(page.WriteHTML, path); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Report: %s\n", path)
	return nil
}
