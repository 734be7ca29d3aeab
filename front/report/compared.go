package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
)

// Compared has the reports of several fits, to be shown on one page.
type Compared struct {
	Title    string    `json:"title"`    // names of the fits
	Program  string    `json:"program"`  // program that made it, with its version
	Names    []string  `json:"names"`    // names of the fits
	Tables   []Table   `json:"tables"`   // comparison of predictions, and parameters of all fits
	Findings []Finding `json:"findings"` // problems and remarks about the comparison
	Notes    []string  `json:"notes"`    // what was left out, and why
	Reports  []*Report `json:"reports"`  // report of each fit, in the order of names
}

// maxAnswers is the maximum number of quantities in the table of several fits.
const maxAnswers = 40

// Compare puts the reports of several fits together. predictions is the table that compares what
// they predict; nil: there is none, and reason says why.
func Compare(names []string, reports []*Report, predictions *Table, found []diagnose.Finding, reason string) *Compared {
	c := &Compared{Program: "ppl " + model.Version(), Names: names, Reports: reports, Tables: []Table{}, Findings: []Finding{}, Notes: []string{}}
	for i, name := range names {
		c.Title += []string{"", ", ", " and "}[min(i, 1)+map[bool]int{true: 1}[i > 0 && i == len(names)-1]] + name
	}
	if predictions != nil {
		c.Tables = append(c.Tables, *predictions)
	}
	if reason != "" {
		c.Notes = append(c.Notes, "Their predictions are not compared: "+reason)
	}
	for _, f := range found {
		f.Settings = nil
		c.Findings = append(c.Findings, Finding{Finding: f})
	}
	if t := parametersOf(names, reports); len(t.Rows) > 0 {
		c.Tables = append(c.Tables, t)
	}
	return c
}

// parametersOf returns the table of the quantities that are no group-level terms: the mean and the
// middle 90 % of each fit.
func parametersOf(names []string, reports []*Report) Table {
	t := Table{Kind: "parameters", Title: "Parameters of the fits: mean, and the middle 90 %", Columns: []Column{{"", 0}}, Rows: [][]any{}}
	for _, name := range names {
		t.Columns = append(t.Columns, Column{name, 0})
	}
	var order []string
	cells := map[string][]any{}
	for k, r := range reports {
		s := &r.Summary
		for i, name := range s.Name {
			if s.Grouped != nil && s.Grouped[i] || s.Aside != nil && s.Aside[i] {
				continue
			}
			if s.Label != nil && s.Label[i] != "" {
				name += " " + s.Label[i]
			}
			if cells[name] == nil {
				order = append(order, name)
				cells[name] = slices.Repeat([]any{""}, len(reports))
			}
			mean, low, high := float64(s.Mean[i]), float64(s.Q5[i]), float64(s.Q95[i])
			cells[name][k] = interval(mean, low, high, float64(s.SD[i]))
		}
	}
	for _, name := range order[:min(len(order), maxAnswers)] {
		t.Rows = append(t.Rows, append([]any{name}, cells[name]...))
	}
	if len(order) > maxAnswers {
		t.Note = fmt.Sprintf("%d of %d quantities are shown.", maxAnswers, len(order))
	}
	return t
}

// WriteHTML writes one self-contained page: the comparison, and below it the report of the fit that
// the reader chooses.
func (c *Compared) WriteHTML(w io.Writer) error {
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	out, _ := page(c.Title, text, liveScript, pageScript, startScript)
	_, err = w.Write(out)
	return err
}
