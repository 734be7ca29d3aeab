package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
)

// Rows finds the data variable that holds the number of observations, and its value. names must
// list all data that have a row for each observation.
func (p *Program) Rows(set *data.Set, names []string) (size string, n int, err error) {
	if len(names) == 0 {
		return "", 0, errors.New("cross-validation needs the names of the data that have a row for each observation")
	}
	program := p.ir
	all := make([]string, len(program.Data))
	for i, v := range program.Data {
		all[i] = v.Name
	}
	for _, name := range names {
		i := slices.Index(all, name)
		if i < 0 {
			return "", 0, fmt.Errorf("the rows of %s: the data of the model are %s", name, strings.Join(all, ", "))
		}
		v := program.Data[i]
		if len(v.Sizes) == 0 {
			return "", 0, fmt.Errorf("the rows of %s: it is a single number", name)
		}
		ref, ok := v.Sizes[0].(*ir.VarRef)
		switch {
		case !ok:
			return "", 0, fmt.Errorf("the rows of %s: their number must be declared as a variable of the data, as in array[N] real %s, so that it can be made smaller", name, name)
		case size == "":
			size = ref.Var.Name
		case ref.Var.Name != size:
			return "", 0, fmt.Errorf("%s has %s rows, but %s has %s: the data with a row for each observation must have the same number", names[0], size, name, ref.Var.Name)
		}
	}
	for _, v := range program.Data {
		if s := v.Sparse; s != nil {
			for _, e := range []ir.Expr{s.Rows, s.Columns} {
				if ref, ok := e.(*ir.VarRef); ok && ref.Var.Name == size {
					return "", 0, fmt.Errorf("the sparse matrix %s has the size %s, too: observations cannot be left out of it", v.Name, size)
				}
			}
		}
		for i, s := range v.Sizes {
			ref, ok := s.(*ir.VarRef)
			if !ok || ref.Var.Name != size {
				continue
			}
			if i > 0 {
				return "", 0, fmt.Errorf("%s has %s columns, too: observations cannot be left out of it", v.Name, size)
			}
			if !slices.Contains(names, v.Name) {
				return "", 0, fmt.Errorf("%s has %s rows as %s has: it must be named with it", v.Name, size, names[0])
			}
		}
	}
	number, ok := set.Get(size)
	if !ok || len(number.Ints) != 1 {
		return "", 0, fmt.Errorf("the data give no number for %s", size)
	}
	n = int(number.Ints[0])
	for _, name := range names {
		v, ok := set.Get(name)
		if !ok || len(v.Shape) == 0 || v.Shape[0] != n {
			return "", 0, fmt.Errorf("the data give no %d rows for %s", n, name)
		}
	}
	return size, n, nil
}
