package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/internal/benchsuite"
	"github.com/ppl-lang/ppl/internal/figures"
)

// bar is the required ratio of Stan's time to that of ppl, for each workload.
const bar = 5

type report struct {
	Date    string
	Machine figures.Machine
	Seeds   int
	Rows    []*row
}

// row has the runs of a workload.
type row struct {
	benchsuite.Workload
	ppl, stan []measured
}

func (r *report) add(w benchsuite.Workload, m measured) {
	if len(r.Rows) == 0 || r.Rows[len(r.Rows)-1].Name != w.Name {
		r.Rows = append(r.Rows, &row{Workload: w})
	}
	last := r.Rows[len(r.Rows)-1]
	if m.Program == stanRunner("").name() {
		last.stan = append(last.stan, m)
	} else {
		last.ppl = append(last.ppl, m)
	}
}

// middle returns the run with the median time, and the number of runs that were not enough. The
// latter count as the longest ones: their times are lower bounds.
func middle(all []measured) (m measured, failed int) {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b measured) int {
		switch {
		case a.Enough != b.Enough && b.Enough:
			return 1
		case a.Enough != b.Enough:
			return -1
		case a.Seconds < b.Seconds:
			return -1
		}
		return 1
	})
	for _, m := range sorted {
		if !m.Enough {
			failed++
		}
	}
	return sorted[len(sorted)/2], failed
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s by `go run ./internal/cmd/wholeanswers`: %v. ", r.Date, r.Machine)
	fmt.Fprintf(&b, "Each figure is that of the run with the median time, of at most %d runs. Draws are those of each of four chains. ", r.Seeds)
	b.WriteString("“>” marks runs that were not enough, with the draws and the time of the longest one; “failed” counts them.\n\n")
	b.WriteString("| workload | | ppl, draws | ppl, s | failed | Stan, draws | Stan, s | failed | Stan ÷ ppl |\n| --- | --- " + strings.Repeat("| --: ", 7) + "|\n")
	var ratios []float64
	var misses []string
	for _, w := range r.Rows {
		p, pf := middle(w.ppl)
		cells := []string{w.Name, w.About, mark(p) + fmt.Sprint(p.Draws), mark(p) + figures.Number(p.Seconds), fmt.Sprintf("%d of %d", pf, len(w.ppl))}
		if len(w.stan) == 0 {
			cells = append(cells, "–", "–", "–", "–")
		} else {
			s, sf := middle(w.stan)
			ratio, shown := s.Seconds/p.Seconds, "–"
			if p.Enough {
				ratios = append(ratios, ratio)
				shown = mark(s) + figures.Number(ratio)
			}
			if !p.Enough || ratio < bar {
				misses = append(misses, w.Name)
			}
			cells = append(cells, mark(s)+fmt.Sprint(s.Draws), mark(s)+figures.Number(s.Seconds), fmt.Sprintf("%d of %d", sf, len(w.stan)), shown)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	if len(ratios) > 0 {
		mean := figures.Geometric(ratios)
		fmt.Fprintf(&b, "\nGeometric mean of Stan ÷ ppl over %d workloads, lower bounds included: **%s**.\n", mean.Count, figures.Number(mean.Ratio))
		if len(misses) > 0 {
			fmt.Fprintf(&b, "\nMisses, below %d or not enough: %s.\n", bar, strings.Join(misses, ", "))
		}
	}
	return b.String()
}

func mark(m measured) string {
	if m.Enough {
		return ""
	}
	return "> "
}

// section is the part of a Markdown file that contains the table.
var section = figures.Section{Name: "wholeanswers", Command: "internal/cmd/wholeanswers", Heading: "Whole answers, measured"}
