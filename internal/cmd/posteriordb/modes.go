package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/model"
)

const (
	// Optima are the same if their log densities differ by at most this, relative to the larger
	// one, or to 1. Stan's criteria stop L-BFGS if a step changes the log density by 2e-12, or is
	// expected to change it by 2e-9, which may be thousands of steps too early.
	sameOptimum = 1e-6
	modesTime   = 20 * time.Second // time limit of one search
)

// stanOptimum is the point at which Stan's L-BFGS ended, for one start.
type stanOptimum struct {
	Code       int      `json:"code"` // as optimize.Reason
	Why        string   `json:"why"`
	Iterations int      `json:"iterations"`
	X          []number `json:"x"` // the unconstrained point
}

// modesRow contains the optima of a posterior from Stan's starting points. Densities are those of
// the parameters as declared, without Jacobians. Differences are ppl's log density at ppl's optimum
// minus that at Stan's.
type modesRow struct {
	Name       string `json:"name"`
	Reason     string `json:"reason,omitempty"` // why there is none
	Starts     int    `json:"starts"`
	Same       int    `json:"same"`
	PPL        int    `json:"ppl_higher"` // of those that differ
	Stan       int    `json:"stan_higher"`
	PPLFailed  int    `json:"ppl_failed"` // not converged
	StanFailed int    `json:"stan_failed"`
	Both       int    `json:"both_failed"` // included in none of the first three
	Worst      number `json:"worst"`       // the smallest relative difference
	PPLSteps   int    `json:"ppl_iterations"`
	StanSteps  int    `json:"stan_iterations"`
}

// modesReport is the check of modes.
type modesReport struct {
	about
	Rows []modesRow `json:"posteriors"`

	folder string // of Stan's optima
}

func (r *modesReport) add(db database, name string) {
	row := modesRow{Name: name}
	if err := row.measure(db, r.folder); err != nil {
		row.Reason = says(err)
	}
	r.Rows = append(r.Rows, row)
}

func (r *modesReport) take(rows json.RawMessage) error {
	var more []modesRow
	err := json.Unmarshal(rows, &more)
	r.Rows = append(r.Rows, more...)
	return err
}

func (r *modesReport) fail(name, reason string) {
	r.Rows = append(r.Rows, modesRow{Name: name, Reason: reason})
}

func (r *modesReport) len() int { return len(r.Rows) }

func (r *modesReport) line() string {
	w := &r.Rows[len(r.Rows)-1]
	if w.Reason != "" {
		return fmt.Sprintf("%-60s %s", w.Name, w.Reason)
	}
	return fmt.Sprintf("%-60s same %d of %d, ppl higher %d, Stan higher %d, both failed %d, worst %.2g", w.Name, w.Same, w.Starts, w.PPL, w.Stan, w.Both, float64(w.Worst))
}

func (w *modesRow) measure(db database, folder string) error {
	var stan struct {
		Runs []stanOptimum `json:"runs"`
	}
	if err := readJSON(filepath.Join(folder, w.Name+".json"), &stan); err != nil {
		return fmt.Errorf("no optimum of Stan")
	}
	s, _, points, err := db.open(w.Name)
	if err != nil {
		return err
	}
	m, _, err := s.compile()
	if err != nil {
		return err
	}
	options := forms[0].options
	options.NoJacobian = true
	p, err := m.BindContext(context.Background(), model.JSON(s.data), options)
	if err != nil {
		return err
	}
	w.Worst = number(math.Inf(1))
	for i, there := range stan.Runs[:min(len(stan.Runs), len(points))] {
		if there.Code == 0 {
			continue // Stan's time was up
		}
		ctx, cancel := context.WithTimeout(context.Background(), modesTime)
		here, err := optimize.Maximize(ctx, p, points[i], optimize.Options{})
		cancel()
		w.compare(p, here, err, there)
	}
	if w.Starts == 0 {
		return fmt.Errorf("no optimum of Stan")
	}
	return nil
}

// compare adds one start to the counts.
func (w *modesRow) compare(p *model.Posterior, here *optimize.Result, err error, there stanOptimum) {
	w.Starts++
	w.StanSteps += there.Iterations
	at, errThere := p.LogDensity(floats(there.X))
	failedThere := !optimize.Reason(there.Code).Converged() || errThere != nil
	failedHere := err != nil || here == nil || !here.Reason.Converged()
	if here != nil {
		w.PPLSteps += here.Iterations
	}
	if failedHere {
		w.PPLFailed++
	}
	if failedThere {
		w.StanFailed++
	}
	if failedHere && failedThere {
		w.Both++
		return
	}
	if here == nil || errThere != nil {
		if here == nil {
			w.Stan++
		} else {
			w.PPL++
		}
		return
	}
	d := (here.LogDensity - at) / max(math.Abs(here.LogDensity), math.Abs(at), 1)
	if !math.IsNaN(d) {
		w.Worst = number(math.Min(float64(w.Worst), d))
	}
	switch {
	case math.Abs(d) <= sameOptimum:
		w.Same++
	case d > 0:
		w.PPL++
	default:
		w.Stan++
	}
}

func (r *modesReport) failures() int { return 0 }

func (r *modesReport) summary() string {
	posteriors, all := 0, modesRow{}
	for _, w := range r.Rows {
		if w.Reason == "" {
			posteriors++
		}
		all.Starts += w.Starts
		all.Same += w.Same
		all.PPL += w.PPL
		all.Stan += w.Stan
		all.Both += w.Both
		all.PPLFailed += w.PPLFailed
		all.StanFailed += w.StanFailed
		all.PPLSteps += w.PPLSteps
		all.StanSteps += w.StanSteps
	}
	return fmt.Sprintf("From %d starts in %d posteriors, L-BFGS ends at the same log density %d times, ppl's is higher %d times and Stan's %d times; %d times neither says that it has converged. "+
		"ppl has not converged from %d starts, Stan from %d. Iterations: ppl %d, Stan %d.\n",
		all.Starts, posteriors, all.Same, all.PPL, all.Stan, all.Both, all.PPLFailed, all.StanFailed, all.PPLSteps, all.StanSteps)
}

func (r *modesReport) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\nLog densities are the same if they differ by at most %g of the larger or of 1. The last column is the least of ppl's optimum less Stan's, relative likewise.\n\n", r.made("modes"), r.summary(), sameOptimum)
	b.WriteString("| posterior | starts | same | ppl higher | Stan higher | neither converged | least difference |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for _, w := range r.Rows {
		if w.Reason != "" {
			continue
		}
		least := "–"
		if !math.IsInf(float64(w.Worst), 0) && !math.IsNaN(float64(w.Worst)) {
			least = fmt.Sprintf("%.1e", float64(w.Worst))
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %s |\n", w.Name, w.Starts, w.Same, w.PPL, w.Stan, w.Both, least)
	}
	return b.String()
}
