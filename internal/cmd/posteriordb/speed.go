package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/internal/cputime"
	"github.com/ppl-lang/ppl/internal/figures"
	"github.com/ppl-lang/ppl/model"
)

const (
	// A batch is long enough for the clock, and short enough that minima over batches exclude most
	// disturbances by other processes.
	batchTime = 10 * time.Millisecond
	// Posteriors of the same family share the first word of their names; small families are merged.
	familySize = 3
	worstShown = 10
)

// speedRow is a posterior's time per log density with gradient.
type speedRow struct {
	Name   string  `json:"name"`
	Family string  `json:"family"`
	Reason string  `json:"reason,omitempty"` // why there is no time
	NS     float64 `json:"ns,omitempty"`     // least CPU nanoseconds
	StanNS float64 `json:"stan_ns,omitempty"`
	Ratio  float64 `json:"stan_over_ppl,omitempty"`
	Allocs float64 `json:"allocs"`
	// The most expensive block of the lowered program.
	Block string  `json:"block,omitempty"`
	Share float64 `json:"block_share,omitempty"`
	Lines []int   `json:"block_lines,omitempty"`
}

// family returns the first word of a posterior's name, which the posteriors of one study share.
func family(name string) string {
	return name[:strings.IndexFunc(name+"-", func(r rune) bool { return strings.ContainsRune("_-0123456789", r) })]
}

// speedReport is the check of speed.
type speedReport struct {
	about
	Batches  int                     `json:"batches"`
	Mean     figures.Mean            `json:"stan_over_ppl"`
	Quarts   [3]float64              `json:"quartiles"`
	Families map[string]figures.Mean `json:"families"`
	Rows     []speedRow              `json:"posteriors"`

	options options
}

func (r *speedReport) add(db database, name string) {
	row := speedRow{Name: name, Family: family(name)}
	if err := row.measure(db, r.options.batches); err != nil {
		row.Reason = says(err)
	}
	r.Rows = append(r.Rows, row)
}

func (r *speedReport) take(rows json.RawMessage) error {
	var more []speedRow
	err := json.Unmarshal(rows, &more)
	r.Rows = append(r.Rows, more...)
	return err
}

func (r *speedReport) fail(name, reason string) {
	r.Rows = append(r.Rows, speedRow{Name: name, Family: family(name), Reason: reason})
}

func (r *speedReport) len() int { return len(r.Rows) }

func (r *speedReport) line() string {
	row := &r.Rows[len(r.Rows)-1]
	if row.Reason != "" {
		return fmt.Sprintf("%-60s %s", row.Name, row.Reason)
	}
	return fmt.Sprintf("%-60s %10s  Stan %10s  ratio %6s  allocs %v  %.0f %% in %s", row.Name,
		figures.Nanoseconds(row.NS), figures.Nanoseconds(row.StanNS), figures.Number(row.Ratio), row.Allocs, 100*row.Share, row.Block)
}

// bind binds the posterior to which Stan's points belong.
func (s *subject) bind() (*model.Posterior, error) {
	m, _, err := s.compile()
	if err != nil {
		return nil, err
	}
	return m.BindContext(context.Background(), model.JSON(s.data), forms[0].options)
}

// open reads and binds a posterior and returns Stan's points.
func (db database) open(name string) (*subject, *model.Posterior, [][]float64, error) {
	s, err := db.load(name)
	if err != nil {
		return nil, nil, nil, err
	}
	if s.stan == nil {
		return nil, nil, nil, fmt.Errorf("no figures of Stan")
	}
	p, err := s.bind()
	if err != nil {
		return nil, nil, nil, err
	}
	if p.Dim() != s.stan.Dim {
		return nil, nil, nil, fmt.Errorf("%d unconstrained parameters, Stan has %d", p.Dim(), s.stan.Dim)
	}
	points := make([][]float64, len(s.stan.Points))
	for i, q := range s.stan.Points {
		points[i] = floats(q.X)
	}
	return s, p, points, nil
}

func (row *speedRow) measure(db database, batches int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	s, p, points, err := db.open(row.Name)
	if err != nil {
		return err
	}
	grad := make([]float64, p.Dim())
	cycle := func() {
		for _, x := range points {
			_, _ = p.LogDensityGrad(x, grad) // a rejected point also takes its time
		}
	}
	row.Allocs = figures.Allocations(func() { _, _ = p.LogDensityGrad(points[0], grad) })
	// Times are CPU times of this thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runtime.GC()
	row.NS = math.Inf(1)
	for cycles, done := 1, 0; done < batches; {
		t := cputime.Thread()
		for range cycles {
			cycle()
		}
		d := cputime.Thread() - t
		if d < batchTime/2 {
			cycles = int(math.Ceil(float64(cycles) * min(1.1*float64(batchTime)/float64(max(d, time.Microsecond)), 100)))
			continue
		}
		done++
		row.NS = min(row.NS, float64(d)/float64(cycles*len(points)))
	}
	row.StanNS = s.stan.GradNS.CPUMin
	row.Ratio = figures.Ratio(row.StanNS, row.NS)
	e, err := p.Compiled().Explain(points[0], 100*time.Millisecond)
	if err != nil {
		row.Block = says(err)
		return nil
	}
	for _, b := range e.Blocks {
		if b.Share > row.Share {
			row.Block, row.Share, row.Lines = b.Title, b.Share, b.Lines
		}
	}
	return nil
}

func (r *speedReport) conclude() {
	byFamily := map[string][]float64{}
	var all []float64
	r.Batches = r.options.batches
	for _, w := range r.Rows {
		if w.Ratio > 0 {
			byFamily[w.Family] = append(byFamily[w.Family], w.Ratio)
			all = append(all, w.Ratio)
		}
	}
	if len(all) == 0 {
		return
	}
	r.Mean, r.Quarts, r.Families = figures.Geometric(all), quartiles(all), map[string]figures.Mean{}
	var others []float64
	for f, v := range byFamily {
		if len(v) < familySize {
			others = append(others, v...)
			continue
		}
		r.Families[f] = figures.Geometric(v)
	}
	if len(others) > 0 {
		slices.Sort(others)
		r.Families["others"] = figures.Geometric(others)
	}
}

// slowest returns the rows that compare worst with Stan.
func (r *speedReport) slowest() []*speedRow {
	var rows []*speedRow
	for i := range r.Rows {
		if r.Rows[i].Ratio > 0 {
			rows = append(rows, &r.Rows[i])
		}
	}
	slices.SortFunc(rows, func(a, b *speedRow) int {
		if a.Ratio < b.Ratio {
			return -1
		}
		return 1
	})
	return rows[:min(len(rows), worstShown)]
}

func (r *speedReport) failures() int {
	n := 0
	for _, w := range r.Rows {
		if w.Ratio == 0 && w.Reason != "no figures of Stan" {
			n++
		}
	}
	return n
}

func (r *speedReport) summary() string {
	allocating := 0
	for _, w := range r.Rows {
		if w.Allocs > 0 {
			allocating++
		}
	}
	return fmt.Sprintf("Stan's time ÷ ppl's: geometric mean %s over %d posteriors, quartiles %s, %s, %s. %d posteriors allocate while they are evaluated.\n",
		figures.Number(r.Mean.Ratio), r.Mean.Count, figures.Number(r.Quarts[0]), figures.Number(r.Quarts[1]), figures.Number(r.Quarts[2]), allocating)
}

func (r *speedReport) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Speed\n\n%s\n", r.made("speed"))
	fmt.Fprintf(&b, "The table has the CPU time per log density with gradient, on one thread: the minimum of %d batches that cycle over Stan's points. It is compared with the same figure of Stan 2.32.2 "+
		"(g++ -O3 -march=native), recorded at another time and, unless the reference says otherwise, on another machine. The ratios contain the difference of the machines.\n\n%s\n", r.Batches, r.summary())
	b.WriteString("| family | posteriors | Stan ÷ ppl, geometric mean |\n| --- | --: | --: |\n")
	names := make([]string, 0, len(r.Families))
	for f := range r.Families {
		names = append(names, f)
	}
	slices.Sort(names)
	for _, f := range names {
		fmt.Fprintf(&b, "| %s | %d | %s |\n", f, r.Families[f].Count, figures.Number(r.Families[f].Ratio))
	}
	b.WriteString("\nThe slowest against Stan, with the block of the lowered program that costs most:\n\n| posterior | Stan ÷ ppl | block | share | lines of the model |\n| --- | --: | --- | --: | --- |\n")
	for _, w := range r.slowest() {
		fmt.Fprintf(&b, "| %s | %s | %s | %.0f %% | %s |\n", w.Name, figures.Number(w.Ratio), w.Block, 100*w.Share, strings.Trim(fmt.Sprint(w.Lines), "[]"))
	}
	b.WriteString("\n| posterior | ppl | Stan | Stan ÷ ppl | allocations | |\n| --- | --: | --: | --: | --: | --- |\n")
	for _, w := range r.Rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %v | %s |\n", w.Name, figures.Nanoseconds(w.NS), figures.Nanoseconds(w.StanNS), figures.Number(w.Ratio), w.Allocs, w.Reason)
	}
	return b.String()
}
