package main

import (
	"errors"
	"fmt"

	"github.com/ppl-lang/ppl/internal/figures"
)

// past is a run in the history. Times are comparable only between runs on the same machine.
type past struct {
	Date    string             `json:"date"`
	Version string             `json:"version"`
	Machine figures.Machine    `json:"machine"`
	Load    string             `json:"load,omitempty"` // load averages before the run; see figures.Load
	Rounds  int                `json:"rounds"`
	FastNS  map[string]float64 `json:"fast_ns"` // by workload
	ByHand  figures.Mean       `json:"fast_over_by_hand"`
	Stan    figures.Mean       `json:"stan_over_fast"`
}

// appendTo appends the run to the file of runs.
func (r *report) appendTo(file, version string) error {
	history, err := figures.OpenKept(file, func(p past) string { return fmt.Sprint(p.Date, p.Version, p.Machine) })
	if err != nil {
		return err
	}
	p := past{Date: r.Date, Version: version, Machine: r.Machine, Load: r.Load, Rounds: r.Rounds, FastNS: map[string]float64{}, ByHand: r.ByHand, Stan: r.Stan}
	for _, w := range r.Rows {
		p.FastNS[w.Name] = w.FastNS
	}
	return errors.Join(history.Add(p), history.Close())
}
