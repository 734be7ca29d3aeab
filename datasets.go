package ppl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/lang/types"
)

// FitAt is draws that are all the same: the given parameters, n times, for
// [Posterior.GenerateFrom]. All parameters must be given.
func (p *Posterior) FitAt(values any, n int) (*Fit, error) {
	x, err := p.Unconstrain(values)
	if err != nil {
		return nil, err
	}
	names := p.UnconstrainedNames()
	for i, v := range x {
		if v != v {
			return nil, fmt.Errorf("the parameters given have no %s", variable(names[i]))
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

// JoinGenerated puts the draws of a fit and what was generated at them side by
// side.
func JoinGenerated(f *Fit, g *Generated) (*Generated, error) {
	var all []*draws.Contents
	names := slices.Concat(f.Draws.Names(), g.Draws.Names())
	for chain := range f.Draws.Chains() {
		c := &draws.Contents{Columns: draws.Columns{Names: names}}
		for i := range f.Draws.Len(chain) {
			_, a := f.Draws.Draw(chain, i)
			_, b := g.Draws.Draw(chain, i)
			c.Draws = append(append(c.Draws, a...), b...)
		}
		all = append(all, c)
	}
	store, err := draws.NewStoreFrom(make([]string, len(all)), all)
	return &Generated{Draws: store, Failed: g.Failed, Reason: g.Reason}, err
}

// WriteDataSets writes a data set for each draw of the parameters, in which the
// variables that the model draws are those that d, which was derived from it by
// [Model.Derive] to draw replicated data, draws at it: base_1.data.json and so on,
// and the parameters beside them, base_1.params.json. It returns the names of the
// data sets.
func WriteDataSets(ctx context.Context, d *Derived, values *data.Set, parameters *Fit, b BindOptions, seed uint64, base string) ([]string, error) {
	for _, o := range d.Outputs {
		if !o.Data {
			return nil, fmt.Errorf("%s is computed from the data; a data set cannot have it drawn", o.Variable)
		}
	}
	p, err := d.BindWith(values, b)
	if err != nil {
		return nil, err
	}
	g, err := p.GenerateFrom(ctx, parameters, GenerateOptions{Seed: seed})
	if err != nil {
		return nil, err
	}
	if g.Failed > 0 {
		return nil, fmt.Errorf("%d of the data sets cannot be drawn: %w", g.Failed, g.Reason)
	}
	var files []string
	n := 0
	for chain := range g.Draws.Chains() {
		for i := range g.Draws.Len(chain) {
			n++
			_, drawn := g.Draws.Draw(chain, i)
			set, err := p.redrawn(values, d, g.Draws.Names(), drawn)
			if err != nil {
				return files, err
			}
			name := fmt.Sprintf("%s_%d.data.json", base, n)
			if err := writeSet(name, set); err != nil {
				return files, err
			}
			files = append(files, name)
			_, row := parameters.Draws.Draw(chain, i)
			if set, err = setOf(parameters.Draws.Names(), row, nil); err != nil {
				return files, err
			}
			if err := writeSet(fmt.Sprintf("%s_%d.params.json", base, n), set); err != nil {
				return files, err
			}
		}
	}
	return files, nil
}

func writeSet(path string, set *data.Set) error {
	var b bytes.Buffer
	if err := set.WriteJSON(&b); err != nil {
		return err
	}
	return replaceFile(path, b.Bytes())
}

// redrawn is a data set with the variables that were drawn.
func (p *Posterior) redrawn(values *data.Set, d *Derived, names []string, drawn []float64) (*data.Set, error) {
	rename := map[string]string{}
	whole := map[string]bool{}
	for _, o := range d.Outputs {
		rename[o.Name] = o.Variable
	}
	for _, v := range d.program.IR().GeneratedQuantityVars {
		if v.Type.Kind == types.Int {
			whole[v.Name] = true
		}
	}
	set, err := setOf(names, drawn, whole)
	if err != nil {
		return nil, err
	}
	return values.Replace(set, rename), nil
}

// setOf makes a set of the columns of a draw: theta.1.2 is an element of theta.
// Those of whole variables are integers.
func setOf(names []string, values []float64, whole map[string]bool) (*data.Set, error) {
	b := data.NewBuilder()
	for i, n := range names {
		if n == "none" {
			continue
		}
		if strings.ContainsAny(n, ":") || strings.HasSuffix(n, ".real") || strings.HasSuffix(n, ".imag") {
			return nil, errors.New("tuples and complex numbers cannot be written as data yet: " + n)
		}
		name, index, _ := strings.Cut(n, ".")
		if err := b.Add(name, index, values[i], whole[name]); err != nil {
			return nil, err
		}
	}
	return b.Set(), nil
}
