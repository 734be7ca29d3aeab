package tools

//lint:file-ignore ST1005 errors are in CmdStan's words, which front ends look for

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/internal/files"
)

// fit is a run that was read.
type fit struct {
	store    *draws.Store
	contents []*draws.Contents
	model    string
	engine   string
	maxDepth int
	warmup   time.Duration
	sampling time.Duration
}

// interrupted is the exit code of a tool that a signal has ended, by the convention of shells.
const interrupted = 130

// readFit reads the files of the chains of a run.
func readFit(ctx context.Context, paths []string, memory int64) (*fit, error) {
	f := &fit{maxDepth: 10}
	room := &draws.Room{Limit: memory}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("Cannot read input csv file: %s.", path)
		}
		c, err := files.Until(ctx, func() (*draws.Contents, error) { return draws.ReadFile(path, room) })
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("Cannot parse input csv file: %s%v.", path, err)
		}
		if width := len(c.Columns.Statistics) + len(c.Columns.Names); c.Cut > 0 && c.Cut < width {
			return nil, fmt.Errorf("Cannot parse input csv file: %sError: expected %d columns, but found %d instead for row %d.", path, width, c.Cut, c.Len()+1)
		}
		if c.Len() == 0 {
			return nil, fmt.Errorf("Cannot parse input csv file: %s: it holds no draws.", path)
		}
		f.contents = append(f.contents, c)
		f.warmup += c.Elapsed.Warmup
		f.sampling += c.Elapsed.Sampling
	}
	if len(f.contents) == 0 {
		return nil, errors.New("input_files is required")
	}
	var err error
	if f.store, err = draws.NewStoreFrom(paths, f.contents); err != nil {
		return nil, err
	}
	config := f.contents[0].Config
	if s, ok := draws.Lookup(config, "model"); ok {
		f.model = s.Value
	}
	if s, ok := draws.Lookup(config, "method", "sample", "algorithm", "hmc", "engine"); ok {
		f.engine = s.Value
		if d, ok := draws.Lookup(config, "method", "sample", "algorithm", "hmc", "engine", s.Value, "max_depth"); ok {
			f.maxDepth, _ = strconv.Atoi(d.Value)
		}
	}
	return f, nil
}

// quantity is a column of the files.
type quantity struct {
	name      string // readable name
	statistic bool
	chains    [][]float64
}

// quantities returns all columns: lp__ first, then the other statistics, then the variables.
func (f *fit) quantities() []quantity {
	var all []quantity
	for _, name := range f.store.Columns().StatisticNames() {
		q := quantity{name: name, statistic: true}
		for chain := range f.store.Chains() {
			values, _ := f.store.Statistic(nil, chain, name)
			q.chains = append(q.chains, values)
		}
		all = append(all, q)
	}
	for i, name := range f.store.Names() {
		q := quantity{name: diagnose.DisplayName(name)}
		for chain := range f.store.Chains() {
			q.chains = append(q.chains, f.store.Column(nil, chain, i))
		}
		all = append(all, q)
	}
	return all
}

// pooled returns the draws of all chains.
func (q quantity) pooled() []float64 {
	var all []float64
	for _, c := range q.chains {
		all = append(all, c...)
	}
	return all
}

// slicesOf converts quantities to the form that package diagnose takes.
func slicesOf(all []quantity) diagnose.Draws {
	names := make([]string, len(all))
	var chains [][][]float64
	for i, q := range all {
		names[i] = q.name
		for c, column := range q.chains {
			if c >= len(chains) {
				chains = append(chains, make([][]float64, len(column)))
				for d := range chains[c] {
					chains[c][d] = make([]float64, len(all))
				}
			}
			for d, v := range column {
				if d < len(chains[c]) {
					chains[c][d][i] = v
				}
			}
		}
	}
	return diagnose.Slices(names, chains)
}

// base returns a variable's name without indices.
func base(name string) string {
	name, _, _ = strings.Cut(name, "[")
	name, _, _ = strings.Cut(name, ".")
	return name
}
