package assess

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// This file: groups of log likelihoods.

// by groups the observations by the values of a data variable. It has a value for each observation,
// also for those that are missing, or for each row of ragged data or of a matrix.
func (l *LogLik) by(name string) error {
	if l.Given {
		return fmt.Errorf("groups by %s: the model has discrete parameters, so that the likelihood of a group is a sum over them; compute log_lik with an element for each group in generated quantities", name)
	}
	values, err := l.fit.Data()
	if err != nil {
		return err
	}
	if m, err := l.fit.Model(); err == nil {
		values = m.Program().Flattened(values)
	}
	v, ok := values.Get(name)
	if !ok {
		return fmt.Errorf("groups by %s: %w", name, noData(values, name))
	}
	if !v.IsInt || len(v.Shape) != 1 {
		return fmt.Errorf("groups by %s: it must be an array of integers, a group for each observation", name)
	}
	own := make([]int64, len(l.columns)) // the group of each element
	for i := range l.columns {
		k, ok := l.elementOf(values, i, len(v.Ints))
		if !ok {
			return fmt.Errorf("groups by %s: it has %d elements, but there are %d observations", name, len(v.Ints), len(l.columns))
		}
		own[i] = v.Ints[k]
	}
	groups := slices.Clone(own)
	slices.Sort(groups)
	groups = slices.Compact(groups)
	l.Names, l.groups = nil, name
	for _, g := range groups {
		l.Names = append(l.Names, groupName(values, name, float64(g)))
	}
	for i, g := range own {
		l.group[i], _ = slices.BinarySearch(groups, g)
	}
	return nil
}

// elementOf returns the element of a variable with n elements that an observation belongs to, and
// false if that is not known.
func (l *LogLik) elementOf(values *data.Set, observation, n int) (int, bool) {
	if l.derived == nil {
		return slices.Index(l.elements, l.columns[observation]), n == len(l.elements)
	}
	full := l.derived.GeneratedNames()[l.columns[observation]]
	own := diagnose.VariableName(full)
	suffix := strings.TrimPrefix(full, own)
	v, _ := values.Get(l.Variables[slices.Index(l.outputs, own)])
	parts := strings.Count(suffix, ".")
	if r := v.Ragged; r != nil {
		row, ok := offset(strings.Join(strings.Split(suffix, ".")[:min(parts, len(r.Outer))+1], "."), r.Outer, nil)
		if at, whole := offset(suffix, v.Shape, r); whole && n == v.Shape[r.At] && n != len(r.Sizes) {
			return placeOf(at, v), true
		}
		return row, ok && n == len(r.Sizes)
	}
	if parts == 0 || len(v.Shape) == 0 {
		return 0, n == 1
	}
	row, ok := offset(strings.Join(strings.Split(suffix, ".")[:2], "."), v.Shape[:1], nil)
	return row, ok && n == v.Shape[0]
}
