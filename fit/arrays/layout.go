package arrays

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// Layout describes a variable and its columns in a draw.
type Layout struct {
	Name    string // name of the variable, such as theta, or t.1 for a member of a tuple
	Shape   []int  // extents, outermost first; for complex numbers, the last one is for real and imaginary part
	Complex bool
	Columns []int // columns of the elements, in row-major order

	// Pattern describes the names of the variable's columns: a star for each index, as in
	// theta.*.*, and .~ for real or imag.
	Pattern string

	// Labels are the indices of the elements, as in 2,3, if the columns are only some of an array.
	Labels []string
}

// ElementOf splits the name of a column, such as theta.2.1, t:1.2 or z.real. It returns the name of
// the variable (t.1 for t:1.2), the indices from 0, and the pattern, see [Layout.Pattern].
func ElementOf(column string) (name string, at []int, pattern string) {
	var names, patterns []string
	for member := range strings.SplitSeq(column, ":") {
		parts := strings.Split(member, ".")
		names = append(names, parts[0])
		p := parts[0]
		for _, part := range parts[1:] {
			switch part {
			case "real":
				at = append(at, 0)
				p += ".~"
			case "imag":
				at = append(at, 1)
				p += ".~"
			default:
				i, _ := strconv.Atoi(part)
				at = append(at, i-1)
				p += ".*"
			}
		}
		patterns = append(patterns, p)
	}
	return strings.Join(names, "."), at, strings.Join(patterns, ":")
}

// Layouts finds the variables to which columns belong, in the order of their first columns. Some
// elements of an array, such as the missing ones of data, are a list. An error says that the
// indices of a variable do not form an array.
func Layouts(columns []string) ([]Layout, error) {
	type element struct {
		column int
		at     []int
	}
	var all []Layout
	var elements [][]element
	index := map[string]int{}
	for column, n := range columns {
		name, at, pattern := ElementOf(n)
		i, ok := index[name]
		if !ok {
			i = len(all)
			index[name] = i
			all = append(all, Layout{Name: name, Shape: make([]int, len(at)), Pattern: pattern, Complex: strings.HasSuffix(pattern, "~")})
			elements = append(elements, nil)
		}
		l := &all[i]
		if pattern != l.Pattern || slices.ContainsFunc(at, func(i int) bool { return i < 0 }) {
			return nil, fmt.Errorf("ppl: the columns of %s have indices that are not those of an array, such as %s", name, n)
		}
		for d, i := range at {
			l.Shape[d] = max(l.Shape[d], i+1)
		}
		elements[i] = append(elements[i], element{column, at})
	}
	for i := range all {
		l := &all[i]
		n, fits := 1, true
		for _, extent := range l.Shape {
			// The product of the extents may overflow, so compare by division.
			if fits = fits && extent <= len(elements[i])/n; fits {
				n *= extent
			}
		}
		if fits = fits && n == len(elements[i]); !fits && l.sparse() {
			// Some elements of an array, such as the missing ones of data: a list.
			l.Shape, l.Pattern = []int{len(elements[i])}, l.Name+".*"
			for k, e := range elements[i] {
				if slices.ContainsFunc(elements[i][:k], func(o element) bool { return slices.Equal(o.at, e.at) }) {
					return nil, fmt.Errorf("ppl: there are two columns %s", columns[e.column])
				}
				l.Columns = append(l.Columns, e.column)
				var label []string
				for _, i := range e.at {
					label = append(label, strconv.Itoa(i+1))
				}
				l.Labels = append(l.Labels, strings.Join(label, ","))
			}
			continue
		}
		if !fits {
			return nil, fmt.Errorf("ppl: the draws of %s have %d elements, but its indices are those of %v", l.Name, len(elements[i]), l.Shape)
		}
		l.Columns = slices.Repeat([]int{-1}, n)
		for _, e := range elements[i] {
			k := 0
			for d, i := range e.at {
				k = k*l.Shape[d] + i
			}
			if l.Columns[k] >= 0 {
				return nil, fmt.Errorf("ppl: there are two columns %s", columns[e.column])
			}
			l.Columns[k] = e.column
		}
	}
	return all, nil
}

// sparse reports whether columns may be only some elements of the variable: it is an array of real
// numbers.
func (l *Layout) sparse() bool {
	return len(l.Shape) > 0 && !l.Complex && !strings.Contains(l.Pattern, ":")
}

// Elements returns the number of columns of a variable.
func (l *Layout) Elements() int {
	n := 1
	for _, extent := range l.Shape {
		n *= extent
	}
	return n
}

// ColumnNames is the inverse of [Layouts]: it returns the names of the columns of all variables. In
// each variable the first index runs fastest, but the parts of a complex number stay together.
func ColumnNames(all []Layout) []string {
	var names []string
	for _, l := range all {
		at := make([]int, len(l.Shape))
		for range l.Elements() {
			name := l.Pattern
			for _, i := range at {
				place := strings.IndexAny(name, "*~")
				part := strconv.Itoa(i + 1)
				if name[place] == '~' {
					part = [...]string{"real", "imag"}[i]
				}
				name = name[:place] + part + name[place+1:]
			}
			names = append(names, name)
			for k := range at {
				d := k
				if l.Complex { // its part runs fastest
					d = (k + len(at) - 1) % len(at)
				}
				if at[d]++; at[d] < l.Shape[d] {
					break
				}
				at[d] = 0
			}
		}
	}
	return names
}

// Integers returns the names of the variables that are declared as integers.
func Integers(vars []*ir.Var) map[string]bool {
	out := map[string]bool{}
	for _, v := range vars {
		if v.Type.Kind == types.Int {
			out[v.Name] = true
		}
	}
	return out
}

// Factor is a column of a table that divides the rows into groups. A data variable is the number of
// its levels.
type Factor struct {
	Name   string
	Levels []string
}
