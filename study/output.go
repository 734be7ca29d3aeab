package study

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/files"
)

// outputs are the result tables of a study. Except for times, their contents depend only on the
// plan.
type outputs struct {
	dir     string
	axes    []string
	results *table
	times   *table
	draws   *drawsOutput
	record  []string
	fields  []string

	statistics []string // that are kept; nil: all
}

// table is a CSV file that is being written under a temporary name.
type table struct {
	file *files.Temp
	buf  *bufio.Writer
	csv  *csv.Writer
}

func newTable(path string, header []string) (*table, error) {
	f, err := files.CreateTemp(path)
	if err != nil {
		return nil, fmt.Errorf("cannot write the results: %w", err)
	}
	t := &table{file: f, buf: bufio.NewWriterSize(f, 1<<16)}
	t.csv = csv.NewWriter(t.buf)
	return t, t.csv.Write(header)
}

func (t *table) finish() error {
	t.csv.Flush()
	defer t.abandon()
	if err := errors.Join(t.csv.Error(), t.buf.Flush()); err != nil {
		return err
	}
	return t.file.Commit()
}

func (t *table) abandon() {
	if t != nil {
		t.file.Abandon()
	}
}

// resultColumns are the columns of results.csv after those that identify the fit. A failed fit has
// a row without a quantity.
var resultColumns = []string{"seed", "status", "findings", "quantity", "mean", "mcse_mean", "sd", "q5", "q50", "q95", "ess_bulk", "ess_tail", "rhat", "truth", "rank", "draws", "divergences", "message"}

func newOutputs(dir string, p *Plan) (*outputs, error) {
	o := &outputs{dir: dir, statistics: p.Keep.Statistics}
	head := []string{"fit", "model", "data"}
	for _, axis := range p.Grid {
		o.axes = append(o.axes, axis.Name)
	}
	if p.Repeat > 1 {
		o.axes = append(o.axes, "repeat")
	}
	head = append(head, o.axes...)
	var err error
	if o.results, err = newTable(filepath.Join(dir, ResultsName), append(head, resultColumns...)); err != nil {
		return nil, err
	}
	if o.times, err = newTable(filepath.Join(dir, TimesName), []string{"fit", "seconds", "sampling_seconds", "gradients", "cpu"}); err != nil {
		o.abandon()
		return nil, err
	}
	o.draws = &drawsOutput{path: filepath.Join(dir, DrawsName)}
	return o, nil
}

func (o *outputs) abandon() {
	o.results.abandon()
	o.times.abandon()
	if o.draws != nil {
		o.draws.abandon()
	}
}

// figure formats a number for a table, such that it reads back unchanged.
func figure(v float64) string {
	if math.IsNaN(v) {
		return "NaN"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// add writes the rows of a fit.
func (o *outputs) add(u *Unit, r *Result) error {
	var codes []string
	for _, f := range r.Findings {
		codes = append(codes, f.Code)
	}
	seed := ""
	if u.Err == nil {
		seed = strconv.FormatUint(u.Spec.Seed, 10)
	}
	// Only the first line: the rest is source with carets, for terminals.
	message, _, _ := strings.Cut(r.Message, "\n")
	number := strconv.Itoa(u.Number + 1)
	row := func(figures ...string) error {
		o.record = append(o.record[:0], number, u.Model, u.Data)
		o.record = append(append(o.record, u.Labels...), seed, string(r.Status), strings.Join(codes, " "))
		o.record = append(append(o.record, figures...), strconv.Itoa(r.Draws), strconv.Itoa(r.Divergences), message)
		return o.results.csv.Write(o.record)
	}
	for i := range r.Rows {
		x := &r.Rows[i]
		truth, rank := "", ""
		if x.Rank >= 0 {
			truth, rank = figure(x.Truth), strconv.Itoa(x.Rank)
		}
		figures := [...]float64{x.Mean, x.MCSEMean, x.SD, x.Q5, x.Q50, x.Q95, x.ESSBulk, x.ESSTail, x.Rhat}
		fields := append(o.fields[:0], x.Name)
		for i, name := range diagnose.MeasureNames() {
			if o.statistics == nil || slices.Contains(o.statistics, name) {
				fields = append(fields, figure(figures[i]))
			} else {
				fields = append(fields, "")
			}
		}
		o.fields = fields
		if err := row(append(fields, truth, rank)...); err != nil {
			return err
		}
	}
	for i, h := range r.HeldOut {
		if err := row(fmt.Sprintf("elpd[%d]", i+1), figure(h.ELPD), figure(h.MCSE), "", "", "", "", "", "", "", "", ""); err != nil {
			return err
		}
	}
	if len(r.Rows)+len(r.HeldOut) == 0 {
		if err := row("", "", "", "", "", "", "", "", "", "", "", ""); err != nil {
			return err
		}
	}
	if err := o.times.csv.Write([]string{number, figure(r.Seconds), figure(r.Sampling), strconv.FormatInt(r.Gradients, 10), r.CPU}); err != nil {
		return err
	}
	if r.Kept != nil {
		return o.draws.add(u, r.Kept)
	}
	return nil
}

func (o *outputs) finish() error {
	return errors.Join(o.results.finish(), o.times.finish(), o.draws.finish())
}
