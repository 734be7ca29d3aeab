package engine

import (
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
)

// dataAnswer describes the contents of a data file.
type dataAnswer struct {
	Summary string           `json:"summary"`
	Ints    map[string]int64 `json:"ints"` // whole numbers in the data, such as sizes
}

// maxDescribed is the maximum number of variables that a summary names.
const maxDescribed = 12

// data reads the data.
func (e *Engine) data(_ *call, s *Settings) (*dataAnswer, error) {
	set, err := s.read()
	if err != nil {
		return nil, err
	}
	return &dataAnswer{describeSet(set), ints(set)}, nil
}

// ints returns the integers in a data set, by name.
func ints(set *data.Set) map[string]int64 {
	out := map[string]int64{}
	for _, n := range set.Names() {
		if v, ok := set.Get(n); ok && v.IsInt && v.Shape == nil && len(v.Ints) == 1 {
			out[n] = v.Ints[0]
		}
	}
	return out
}

// describeSet describes the variables of a data set in words.
func describeSet(set *data.Set) string {
	names := set.Names()
	if len(names) == 0 {
		return "No data."
	}
	var parts []string
	for _, n := range names[:min(len(names), maxDescribed)] {
		v, _ := set.Get(n)
		levels := set.Levels(n)
		switch {
		case len(levels) > 0:
			shown := strings.Join(levels[:min(len(levels), 4)], ", ")
			if len(levels) > 4 {
				shown += ", …"
			}
			parts = append(parts, fmt.Sprintf("%s: %s, %d levels (%s)", n, extents(v.Shape), len(levels), shown))
		case v.Shape == nil && v.IsInt:
			parts = append(parts, fmt.Sprintf("%s = %d", n, v.Ints[0]))
		case v.Shape == nil && len(v.Reals) == 1:
			parts = append(parts, fmt.Sprintf("%s = %.6g", n, v.Reals[0]))
		case v.IsInt:
			parts = append(parts, fmt.Sprintf("%s: %s whole numbers", n, extents(v.Shape)))
		default:
			parts = append(parts, fmt.Sprintf("%s: %s numbers", n, extents(v.Shape)))
		}
	}
	text := strings.Join(parts, "; ")
	if more := len(names) - maxDescribed; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text + "."
}

// extents formats sizes for reading: 5 × 3.
func extents(shape []int) string {
	var parts []string
	for _, n := range shape {
		parts = append(parts, fmt.Sprint(n))
	}
	return strings.Join(parts, " × ")
}
