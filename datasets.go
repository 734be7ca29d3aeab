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
	"github.com/ppl-lang/ppl/internal/files"
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

// Join puts the draws of a fit, and what was generated at them, side by side.
func (g *Generated) Join(f *Fit) (*Generated, error) {
	if err := f.missing(); err != nil {
		return nil, err
	}
	if g == nil || g.Draws == nil {
		return nil, errors.New("ppl: there are no generated quantities to join")
	}
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
	return &Generated{Draws: store, Failed: g.Failed, Reason: g.Reason, Prior: f.prior, labels: joined(f, g)}, err
}

// joined are the labels of the quantities of a fit and of what was generated; nil if
// there are none.
func joined(f *Fit, g *Generated) []string {
	first, second := f.Labels(), g.labels
	if first == nil && second == nil {
		return nil
	}
	if first == nil {
		first = make([]string, len(f.Names()))
	}
	if second == nil {
		second = make([]string, len(g.Draws.Names()))
	}
	return slices.Concat(first, second)
}

// WriteDataSets writes the data sets of a simulator up to a number of them:
// base_1.data.json and so on, and the parameters beside them, base_1.params.json. It
// returns the names of the data sets.
func (s *Simulator) WriteDataSets(ctx context.Context, sets int, base string) ([]string, error) {
	var files []string
	for n := range sets {
		if err := ctx.Err(); err != nil {
			return files, err
		}
		values, params, err := s.Set(n)
		if err != nil {
			return files, fmt.Errorf("data set %d: %w", n+1, err)
		}
		name := fmt.Sprintf("%s_%d.data.json", base, n+1)
		if err := writeSet(name, values); err != nil {
			return files, err
		}
		if err := writeSet(fmt.Sprintf("%s_%d.params.json", base, n+1), params); err != nil {
			return files, err
		}
		files = append(files, name)
	}
	return files, nil
}

func writeSet(path string, set *data.Set) error {
	var b bytes.Buffer
	if err := set.WriteJSON(&b); err != nil {
		return err
	}
	return files.Replace(path, b.Bytes())
}

// redrawn is a data set with the variables that were drawn.
func (p *Posterior) redrawn(values *data.Set, d *Derived, names []string, drawn []float64) (*data.Set, error) {
	rename := map[string]string{}
	whole := map[string]bool{}
	for _, o := range d.Outputs {
		rename[o.Name] = o.Variable
	}
	var own []string // what is generated beside data is left out
	var numbers []float64
	for i, n := range names {
		if _, ok := rename[variable(n)]; ok {
			own, numbers = append(own, n), append(numbers, drawn[i])
		}
	}
	for _, v := range d.program.IR().GeneratedQuantityVars {
		if v.Type.Kind == types.Int {
			whole[v.Name] = true
		}
	}
	set, err := setOf(own, numbers, whole)
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
