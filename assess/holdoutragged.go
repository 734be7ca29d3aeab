package assess

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
)

// This file: observations that are elements of ragged data. Leaving some out makes rows shorter;
// the number of rows stays, and so do the parameters of the rows.

// rows finds the data whose rows have the sizes of those of a ragged variable, and the variable of
// these sizes. It returns false if the variable is not ragged.
func (h *Holdout) rows(variable string) (ragged bool, err error) {
	all := h.model.Program().IR().Data
	i := slices.IndexFunc(all, func(v *ir.Var) bool { return v.Name == variable })
	if i < 0 || all[i].Ragged == nil {
		return false, nil
	}
	of := sizesOf(all, all[i])
	if of == nil {
		return false, fmt.Errorf("the sizes of the rows of %s must be a variable of the data, as in array[J] vector[n] %s, so that observations can be left out", variable, variable)
	}
	for _, v := range all {
		if sizesOf(all, v) != of {
			continue
		}
		if v.Ragged.At != v.Ragged.Outer {
			return false, fmt.Errorf("%s has the rows of %s, but these are not its first dimension after those of the array: observations cannot be left out of it", v.Name, variable)
		}
		h.Rows = append(h.Rows, v.Name)
	}
	h.size = of.Name
	h.values = h.model.Program().Flattened(h.values).Filled(func(name string) bool {
		return slices.ContainsFunc(all, func(v *ir.Var) bool { return v.Name == name && v.Missing })
	})
	n, ok := h.values.Get(of.Name)
	if !ok {
		return false, noData(h.values, of.Name)
	}
	total := 0
	h.given.Outer = n.Shape
	for _, k := range n.Ints {
		h.given.Sizes = append(h.given.Sizes, int(k))
		total += max(0, int(k))
	}
	for _, name := range h.Rows {
		v, ok := h.values.Get(name)
		if !ok || len(v.Shape) == 0 || v.Shape[0] != total {
			return false, fmt.Errorf("the rows of %s do not have the sizes %s", name, of.Name)
		}
	}
	return true, nil
}

// choose returns the data with some of the observations.
func (h *Holdout) choose(rows []int) *data.Set {
	if !h.ragged {
		return h.values.ChooseRows(h.Rows, h.size, rows)
	}
	n, _ := h.values.Get(h.size)
	at := rowOf(n)
	left := make([]int, len(n.Ints))
	for _, i := range rows {
		left[at[i]]++
	}
	return h.values.With(func(name string, v data.Value) data.Value {
		switch {
		case name == h.size:
			v.Ints, v.Reals = make([]int64, len(left)), make([]float64, len(left))
			for j, k := range left {
				v.Ints[j], v.Reals[j] = int64(k), float64(k)
			}
		case slices.Contains(h.Rows, name):
			given := v.Ragged
			if v = v.Rows(rows); given != nil {
				v.Ragged = &data.Rows{Outer: given.Outer, Sizes: left, At: given.At}
			}
		}
		return v
	})
}

// byRow returns a value for each element of ragged data from one for each row. Other values stay as
// they are.
func (h *Holdout) byRow(v data.Value) data.Value {
	if !h.ragged {
		return v
	}
	n, _ := h.values.Get(h.size)
	return perElement(v, n)
}

// Name names an observation, which counts from 0, as the data do: y[3], or y[2,1] in ragged data.
// If there are several variables, it is row[3].
func (h *Holdout) Name(observation int) string {
	if h == nil {
		return ""
	}
	name := h.Variables[0]
	if len(h.Variables) > 1 {
		name = "row"
	}
	at, of := observation, h.N+h.Unobserved
	if h.observed != nil {
		at = h.observed[observation]
	}
	if !h.ragged || at >= of {
		return fmt.Sprintf("%s[%d]", name, at+1)
	}
	is := h.given.Place(at)
	for d, i := range is {
		separator := ","
		if d == 0 {
			separator = "["
		}
		name += fmt.Sprint(separator, i+1)
	}
	return name + "]"
}
