package fit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/ppl-lang/ppl/fit/arrays"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/model"
)

// simulated makes the random numbers of [Simulate] differ from those of [Generate] with the same
// seed. Otherwise quantities that are generated for simulated parameters would have the random
// numbers from which these were drawn.
const simulated = 0x73696d756c617465

// Simulate computes the generated quantities of a posterior without parameters, n times in each of
// the given number of chains.
func Simulate(ctx context.Context, p *model.Posterior, chains, n int, seed uint64, parallel int) (*Fit, error) {
	contents := make([]*draws.Contents, chains)
	for i := range contents {
		// A column that no model has, because a store needs a column to have draws.
		contents[i] = &draws.Contents{Columns: draws.Columns{Names: []string{"none"}}, Draws: make([]float64, n)}
	}
	store, err := draws.NewStoreFrom(make([]string, chains), contents)
	if err != nil {
		return nil, err
	}
	g, err := Generate(ctx, p, &Fit{Draws: store}, GenerateOptions{Seed: seed ^ simulated, Parallel: parallel})
	if err != nil {
		return nil, err
	}
	return g.Fit(), nil
}

// At returns a fit of n identical draws with the given parameters, for use with [Generate]. All
// parameters must be given.
func At(p *model.Posterior, values any, n int) (*Fit, error) {
	x, err := p.Unconstrain(values)
	if err != nil {
		return nil, err
	}
	names := p.UnconstrainedNames()
	for i, v := range x {
		if v != v {
			return nil, fmt.Errorf("the parameters given have no %s", diagnose.VariableName(names[i]))
		}
	}
	constrained, err := p.Constrain(x)
	if err != nil {
		return nil, err
	}
	c := &draws.Contents{Columns: draws.Columns{Names: p.ParameterNames()}}
	for range n {
		c.Draws = append(c.Draws, constrained[:len(c.Columns.Names)]...)
	}
	if len(c.Columns.Names) == 0 {
		c.Columns.Names, c.Draws = []string{"none"}, make([]float64, n)
	}
	store, err := draws.NewStoreFrom([]string{""}, []*draws.Contents{c})
	if err != nil {
		return nil, err
	}
	return &Fit{Draws: store}, nil
}

// Fit returns the generated quantities as a separate fit, for its summary and files; nil with
// [GenerateOptions.Each].
func (g *Generated) Fit() *Fit {
	if g.Draws == nil {
		return nil
	}
	f := &Fit{Draws: g.Draws, indices: g.by, FromPrior: g.Prior, config: infer.Config{Chains: g.Draws.Chains(), Thin: 1, FirstID: 1}}
	if g.Density != nil { // nil if the log density was not needed
		d := *g.Density
		d.Share, f.density = 1, &d
	}
	for i := range g.Draws.Chains() {
		f.config.Draws = max(f.config.Draws, g.Draws.Len(i))
		r := infer.ChainReport{Chain: i, ID: i + 1, Started: true, Sampling: infer.Phase{Transitions: g.Draws.Len(i)}}
		if i == 0 {
			r.Ungenerated = g.Failed
			if g.Reason != nil {
				r.UngeneratedReason = g.Reason.Error()
			}
		}
		f.Report.Chains = append(f.Report.Chains, r)
	}
	return f
}

// Only returns the generated quantities for whose names wanted is true.
func (g *Generated) Only(wanted func(name string) bool) (*Generated, error) {
	return g.Renamed(func(name string) string {
		if !wanted(name) {
			return ""
		}
		return name
	})
}

// Renamed returns the generated quantities with other names, without those whose new name is empty.
func (g *Generated) Renamed(rename func(name string) string) (*Generated, error) {
	var columns []int
	var names []string
	for i, n := range g.Draws.Names() {
		if n = rename(n); n != "" {
			columns, names = append(columns, i), append(names, n)
		}
	}
	var all []*draws.Contents
	for chain := range g.Draws.Chains() {
		c := &draws.Contents{Columns: draws.Columns{Names: names}}
		for i := range g.Draws.Len(chain) {
			_, row := g.Draws.Draw(chain, i)
			for _, k := range columns {
				c.Draws = append(c.Draws, row[k])
			}
		}
		all = append(all, c)
	}
	store, err := draws.NewStoreFrom(make([]string, len(all)), all)
	return &Generated{Draws: store, Failed: g.Failed, Reason: g.Reason, Density: g.Density, Prior: g.Prior, From: g.From, by: g.by}, err
}

// Join combines the draws of a fit with the quantities generated at them. A quantity that both
// have, such as a discrete parameter that is drawn with the data, has its generated values.
func (g *Generated) Join(f *Fit) (*Generated, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	if g == nil || g.Draws == nil {
		return nil, errors.New("ppl: there are no generated quantities to join")
	}
	var all []*draws.Contents
	names := slices.Concat(f.Draws.Names(), g.Draws.Names())
	generated := map[string]bool{}
	for _, n := range g.Draws.Names() {
		generated[n] = true
	}
	var columns []int
	for i, n := range names {
		if i >= len(f.Draws.Names()) || !generated[n] {
			columns = append(columns, i)
		}
	}
	by := map[string][]arrays.Factor{}
	maps.Copy(by, f.VariableFactors())
	maps.Copy(by, g.by)
	names = chosen(names, columns)
	var row []float64
	for chain := range f.Draws.Chains() {
		c := &draws.Contents{Columns: draws.Columns{Names: names}}
		for i := range f.Draws.Len(chain) {
			_, a := f.Draws.Draw(chain, i)
			_, b := g.Draws.Draw(chain, i)
			row = append(append(row[:0], a...), b...)
			for _, k := range columns {
				c.Draws = append(c.Draws, row[k])
			}
		}
		all = append(all, c)
	}
	store, err := draws.NewStoreFrom(make([]string, len(all)), all)
	return &Generated{Draws: store, Failed: g.Failed, Reason: g.Reason, Density: g.Density, Prior: f.FromPrior, by: by}, err
}

// chosen returns the elements at some indices.
func chosen(list []string, at []int) (out []string) {
	for _, i := range at {
		out = append(out, list[i])
	}
	return out
}

// Generated quantities in CmdStan's files have a setting that names the draws from which they were
// computed. The second constant is its value for draws from the prior.
const (
	fittedParams = "fitted_params"
	fromPrior    = "prior"
)

// WriteCSV writes the generated quantities as CSV files, one per chain, in the
// format of CmdStan's method generate_quantities; base "out/fit" makes
// out/fit_1.csv and so on. It returns their names.
func (g *Generated) WriteCSV(base, model string, seed uint64) ([]string, error) {
	var files []string
	for chain := range g.Draws.Chains() {
		path, err := g.writeChain(base, model, seed, chain)
		if err != nil {
			return files, err
		}
		files = append(files, path)
	}
	return files, nil
}

func (g *Generated) writeChain(base, m string, seed uint64, chain int) (string, error) {
	id := strconv.Itoa(chain + 1)
	path := base + "_" + id + ".csv"
	method := draws.Setting{Name: "method", Value: "generate_quantities"}
	if from := g.From; g.Prior || from != "" {
		if g.Prior {
			from = fromPrior
		}
		method.Children = []draws.Setting{{Name: "generate_quantities", Group: true, Children: []draws.Setting{{Name: fittedParams, Value: from}}}}
	}
	file, err := draws.Create(path, draws.Header{
		Columns: g.Draws.Columns(),
		Config: draws.Configuration{
			Model: m, Program: "ppl " + model.Version(), Method: method,
			ID: chain + 1, Seed: seed,
		}.Settings(path),
	})
	if err != nil {
		return "", err
	}
	defer file.Close()
	if err := writeRows(file.Writer, g.Draws, chain); err != nil {
		return "", err
	}
	return path, file.Finish(draws.Elapsed{})
}
