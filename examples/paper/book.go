package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// book has the tables of an exhibit's chains: NAME.csv with a row for each chain, and
// NAME-groups.csv with figures that need the draws of all chains of a sampler. With --tables DIR,
// an exhibit starts from the book that an earlier run has written to that folder. Chains that have
// a row there and the length of the protocol are not run again. Chains of other lengths count only
// in a report, if the sampler has no other chains. Entries of the earlier book that the exhibit
// does not use stay in it.
type book struct {
	w      *workshop
	name   string
	rows   []row
	notes  []figure
	before earlier
}

// earlier is the book that an earlier run has written.
type earlier struct {
	rows    []row
	figures []figure
}

// row is a chain in a table. Its result has only what the table contains.
type row struct {
	problem, sampler string
	delta            float64 // δ of NUTS of 2011; 0: another sampler
	chain            int
	result           *result
}

// figure is a number computed from several chains together.
type figure struct {
	problem, sampler string
	delta            float64
	chains           int
	quantity         string
	value            float64
}

const (
	rowsHead    = "problem,sampler,delta,chain,burn_in,draws,min_ess,median_ess,max_ess,min_uncapped,min_squares,leapfrogs,gradients_warmup,gradients,seconds,accept,step_size,steps,divergences,failed_steps"
	figuresHead = "problem,sampler,delta,chains,quantity,value"
)

// open starts the book of an exhibit.
func (w *workshop) open(name string) (*book, error) {
	b := &book{w: w, name: w.titled(name)}
	if w.tables == "" {
		return b, nil
	}
	err := readTable(filepath.Join(w.tables, b.name+".csv"), func(c cells) {
		r := &result{
			ESS: []float64{c.number("min_ess"), c.number("median_ess"), c.number("max_ess")}, Uncapped: []float64{c.number("min_uncapped")}, Squares: []float64{c.number("min_squares")},
			BurnIn: int(c.number("burn_in")), Draws: int(c.number("draws")), Leapfrogs: int64(c.number("leapfrogs")),
			WarmupGradients: int64(c.number("gradients_warmup")), Gradients: int64(c.number("gradients")), Seconds: c.number("seconds"),
			AcceptStat: c.number("accept"), StepSize: c.number("step_size"), Steps: c.number("steps"), Divergences: int(c.number("divergences")), Unsolved: c.number("failed_steps"),
		}
		b.before.rows = append(b.before.rows, row{c.text("problem"), c.text("sampler"), c.number("delta"), int(c.number("chain")), r})
	})
	if err != nil {
		return nil, err
	}
	err = readTable(filepath.Join(w.tables, b.name+"-groups.csv"), func(c cells) {
		b.before.figures = append(b.before.figures, figure{c.text("problem"), c.text("sampler"), c.number("delta"), int(c.number("chains")), c.text("quantity"), c.number("value")})
	})
	return b, err
}

// cells is a line of a table, with access by the names of columns. It keeps the first error.
type cells struct {
	at     map[string]int
	record []string
	err    *error
}

func (c cells) text(name string) string {
	i, ok := c.at[name]
	if !ok {
		*c.err = errors.Join(*c.err, fmt.Errorf("there is no column %s", name))
		return ""
	}
	return c.record[i]
}

// number returns the number in a cell; 0 if the cell is empty.
func (c cells) number(name string) float64 {
	s := c.text(name)
	if s == "" {
		return 0
	}
	v, err := strconv.ParseFloat(s, 64)
	*c.err = errors.Join(*c.err, err)
	return v
}

// readTable calls each with the lines of a table. It does nothing if there is no such file.
func readTable(path string, each func(cells)) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	at := map[string]int{}
	for i, name := range records[0] {
		at[name] = i
	}
	for _, record := range records[1:] {
		each(cells{at, record, &err})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// earlierChains returns the results of an arm in the earlier book, by the number of the chain.
func (b *book) earlierChains(problem string, a arm) map[int]*result {
	list := map[int]*result{}
	for _, r := range b.before.rows {
		if r.problem == problem && r.sampler == a.column() && r.delta == a.delta {
			list[r.chain] = r.result
		}
	}
	return list
}

// enter adds a row for a chain of an arm.
func (b *book) enter(problem string, a arm, chain int, r *result) {
	b.rows = append(b.rows, row{problem, a.column(), a.delta, chain, r})
}

// figure returns a figure of a group. It is computed if the draws of the group exist; otherwise it
// is taken from the earlier book. It is NaN if neither has it.
func (b *book) figure(problem string, g group, quantity string, of func() float64) float64 {
	v := math.NaN()
	if drawn(g.results) {
		v = of()
	}
	v, _ = b.note(figure{problem, g.column(), g.delta, len(g.results), quantity, v})
	return v
}

// note adds a figure to the book, and returns its value and its number of chains. If the value is
// NaN, it uses the earlier figure of as many chains, or of any number of chains if that is 0.
func (b *book) note(f figure) (value float64, chains int) {
	if math.IsNaN(f.value) {
		i := slices.IndexFunc(b.before.figures, f.follows)
		if i < 0 {
			return f.value, f.chains
		}
		f = b.before.figures[i]
	}
	b.notes = append(b.notes, f)
	return f.value, f.chains
}

// follows reports whether an earlier figure is about the same quantity.
func (f figure) follows(e figure) bool {
	return e.problem == f.problem && e.sampler == f.sampler && e.delta == f.delta && e.quantity == f.quantity && (f.chains == 0 || e.chains == f.chains)
}

// trialChains returns the number of chains with which an earlier book has tried a δ.
func (b *book) trialChains(problem string, delta float64) int {
	f := figure{problem: problem, sampler: trialName, delta: delta, quantity: trialMean}
	if i := slices.IndexFunc(b.before.figures, f.follows); i >= 0 {
		return b.before.figures[i].chains
	}
	return 0
}

// drawn reports whether all results have the figures that are computed from draws.
func drawn(results []*result) bool {
	return len(results) > 0 && !slices.ContainsFunc(results, func(r *result) bool { return r.Mean == nil })
}

// close writes the book. Problems come in the order in which they were begun.
func (b *book) close() error {
	for _, r := range b.before.rows {
		if !slices.ContainsFunc(b.rows, func(x row) bool {
			return x.problem == r.problem && x.sampler == r.sampler && x.delta == r.delta && x.chain == r.chain
		}) {
			b.rows = append(b.rows, r)
		}
	}
	for _, f := range b.before.figures {
		if !slices.ContainsFunc(b.notes, func(x figure) bool {
			return x.problem == f.problem && x.sampler == f.sampler && x.delta == f.delta && x.quantity == f.quantity
		}) {
			b.notes = append(b.notes, f)
		}
	}
	place := map[string]int{}
	for _, r := range b.rows {
		if _, ok := place[r.problem]; !ok {
			place[r.problem] = len(place)
		}
	}
	slices.SortStableFunc(b.rows, func(x, y row) int { return place[x.problem] - place[y.problem] })
	delta := func(d float64) string {
		if d == 0 {
			return ""
		}
		return fmt.Sprint(d)
	}
	var s strings.Builder
	s.WriteString(rowsHead + "\n")
	for _, c := range b.rows {
		r := c.result
		fmt.Fprintf(&s, "%s,%s,%s,%d,%d,%d,%.1f,%.1f,%.1f,%.1f,%.1f,%d,%d,%d,%.1f,%.4g,%.4g,%g,%d,%g\n", c.problem, c.sampler, delta(c.delta), c.chain, r.BurnIn, r.Draws,
			least(r.ESS), median(r.ESS), most(r.ESS), least(r.Uncapped), least(r.Squares), r.Leapfrogs, r.WarmupGradients, r.Gradients, r.Seconds, r.AcceptStat, r.StepSize, r.Steps,
			r.Divergences, r.Unsolved)
	}
	if err := b.w.write(b.name+".csv", s.String()); err != nil {
		return err
	}
	s.Reset()
	s.WriteString(figuresHead + "\n")
	for _, f := range b.notes {
		fmt.Fprintf(&s, "%s,%s,%s,%d,%s,%.6g\n", f.problem, f.sampler, delta(f.delta), f.chains, f.quantity, f.value)
	}
	return b.w.write(b.name+"-groups.csv", s.String())
}
