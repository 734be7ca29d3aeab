package assess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/model"
)

// WriteDataSets writes the first sets data sets of a simulator to base_1.data.json and so on, and
// the parameters behind them to base_1.params.json and so on. It returns the names of the data
// files.
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

// redrawn returns the data with drawn values in place of the variables that the model draws.
func redrawn(p *model.Posterior, values *data.Set, d *model.Derived, names []string, drawn []float64) (*data.Set, error) {
	rename := map[string]string{}
	whole := map[string]bool{}
	for _, o := range d.Outputs {
		rename[o.Name] = o.Variable
	}
	var own []string // generated quantities that are not data are left out
	var numbers []float64
	for i, n := range names {
		if _, ok := rename[diagnose.VariableName(n)]; ok {
			own, numbers = append(own, n), append(numbers, drawn[i])
		}
	}
	for _, v := range d.Program().IR().GeneratedQuantityVars {
		if v.Type.Kind == types.Int {
			whole[v.Name] = true
		}
	}
	flatten(own, d.Program().IR().GeneratedQuantityVars)
	set, err := setOf(own, numbers, whole)
	if err != nil {
		return nil, err
	}
	return withRows(values.Replace(set, rename), values), nil
}

// withRows returns a set whose values consist of the same rows as those of other data.
func withRows(set, like *data.Set) *data.Set {
	return set.With(func(name string, v data.Value) data.Value {
		if given, _ := like.Get(name); given.Ragged != nil && slices.Equal(given.Shape, v.Shape) {
			v.Ragged = given.Ragged
		}
		return v
	})
}

// flatten changes the names of the elements of ragged variables to those of elements of all rows,
// one row after another.
func flatten(names []string, variables []*ir.Var) {
	for _, v := range variables {
		r := v.Ragged
		if r == nil {
			continue
		}
		row := func(parts []string) string { return strings.Join(parts[1:1+r.Outer], ".") }
		var rows []string
		size := map[string]int{}
		for _, n := range names {
			if diagnose.VariableName(n) == v.Name {
				parts := strings.Split(n, ".")
				if size[row(parts)] == 0 {
					rows = append(rows, row(parts))
				}
				k, _ := strconv.Atoi(parts[1+r.At])
				size[row(parts)] = max(size[row(parts)], k)
			}
		}
		before, total := map[string]int{}, 0
		for _, at := range rows {
			before[at], total = total, total+size[at]
		}
		for i, n := range names {
			if diagnose.VariableName(n) == v.Name {
				parts := strings.Split(n, ".")
				k, _ := strconv.Atoi(parts[1+r.At])
				parts[1+r.At] = strconv.Itoa(before[row(parts)] + k)
				names[i] = strings.Join(append([]string{v.Name}, parts[1+r.Outer:]...), ".")
			}
		}
	}
}

// setOf makes a data set from the columns of a draw, where theta.1.2 is an element of theta.
// Variables in whole become integers.
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
