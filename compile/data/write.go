package data

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// WriteJSON writes the values in Stan's JSON format, one variable to a line. Reading the result
// gives the same values. Non-numeric values are left out. The levels of a factor g are written as
// g__levels, a name that no variable can have.
func (s *Set) WriteJSON(w io.Writer) error {
	out := bufio.NewWriter(w)
	out.WriteString("{")
	first := true
	tuples := s.tuples()
	for _, name := range s.names {
		node := tuples[name]
		if u, ragged := s.uneven[name]; ragged {
			node = &tree{value: u.value, lengths: u.lengths}
		}
		v, simple := s.values[name]
		if simple {
			node = &tree{value: v}
		}
		if v.Sparse() != nil || node == nil {
			node = s.sparseTree(name)
		}
		if node == nil {
			continue
		}
		if !first {
			out.WriteString(",")
		}
		first = false
		quoted, err := json.Marshal(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n  %s: ", quoted)
		switch {
		case node.lengths != nil:
			at := 0
			node.lists(out, 0, make([]int, len(node.lengths)), &at)
		case node.value.Ragged != nil:
			node.rows(out, nil)
		default:
			node.write(out, nil)
		}
		if levels := s.levels[name]; levels != nil {
			text, err := json.Marshal(levels)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, ",\n  %s__levels\": %s", quoted[:len(quoted)-1], text)
		}
	}
	out.WriteString("\n}\n")
	return out.Flush()
}

// tree is a value, or a tuple of trees.
type tree struct {
	value   Value
	members []*tree          // of a tuple; nil for a value
	keyed   map[string]*tree // its members by number, while the tree is built
	leafed  bool             // it has a value, while the tree is built
	names   []string         // of the members of a sparse matrix
	lengths [][]int          // of a value whose lists differ in length, see uneven
}

// sparseTree returns a sparse matrix; nil if the name has none.
func (s *Set) sparseTree(name string) *tree {
	t := &tree{}
	add := func(member string, v Value) {
		t.names, t.members = append(t.names, member), append(t.members, &tree{value: v})
	}
	v := s.values[name]
	if v.Sparse() == nil {
		for _, member := range sparseMembers {
			if v, ok := s.values[name+"."+member]; ok {
				add(member, v)
			}
		}
		if t.members == nil {
			return nil
		}
		return t
	}
	integers := func(ints []int64) Value { return Value{Shape: []int{len(ints)}, IsInt: true, Ints: ints} }
	add("row", integers(v.Sparse().Row))
	add("column", integers(v.Sparse().Column))
	add("value", Value{Shape: v.Shape, Reals: v.Reals})
	if size := v.Sparse().Size; min(size[0], size[1]) >= 0 {
		add("size", integers([]int64{int64(size[0]), int64(size[1])}))
	}
	return t
}

// lists writes the next list at a depth of a value whose lists differ in length; at is the number
// of elements written so far.
func (t *tree) lists(out *bufio.Writer, depth int, next []int, at *int) {
	n := t.lengths[depth][next[depth]]
	next[depth]++
	// Below a list without lists are numbers, as below those without elements.
	numbers := depth+1 == len(t.lengths)
	out.WriteByte('[')
	for i := range n {
		if i > 0 {
			out.WriteString(", ")
		}
		if numbers {
			t.number(out, *at)
			*at++
		} else {
			t.lists(out, depth+1, next, at)
		}
	}
	out.WriteByte(']')
}

// rows writes the part of a value with rows at the given indices.
func (t *tree) rows(out *bufio.Writer, at []int) {
	v, r := t.value, t.value.Ragged
	outer := len(r.Outer)
	if len(at) == outer+len(v.Shape) {
		row := 0
		for d, i := range at[:outer] {
			row = row*r.Outer[d] + i
		}
		k := 0
		for d, i := range at[outer:] {
			if d == r.At {
				for _, n := range r.Sizes[:row] {
					i += n
				}
			}
			k = k*v.Shape[d] + i
		}
		t.number(out, k)
		return
	}
	n := 0
	switch d := len(at); {
	case d < outer:
		n = r.Outer[d]
	case d-outer == r.At:
		row := 0
		for d, i := range at[:outer] {
			row = row*r.Outer[d] + i
		}
		n = r.Sizes[row]
	default:
		n = v.Shape[d-outer]
	}
	out.WriteByte('[')
	for i := range n {
		if i > 0 {
			out.WriteString(", ")
		}
		t.rows(out, append(at, i))
	}
	out.WriteByte(']')
}

// tuples returns the tuples and arrays of tuples, by name, as trees.
func (s *Set) tuples() map[string]*tree {
	out := map[string]*tree{}
	for _, name := range s.names {
		if _, simple := s.values[name]; !simple {
			out[name] = &tree{}
		}
	}
	for path, v := range s.values {
		for i, c := range path {
			if t := out[path[:i]]; c == '.' && t != nil {
				t.place(path[i+1:], v)
			}
		}
	}
	for name, t := range out {
		if !t.order() {
			delete(out, name)
		}
	}
	return out
}

// place puts a value into the tree at its path, such as 1 or 2.1.
func (t *tree) place(path string, v Value) {
	for path != "" {
		var key string
		key, path, _ = strings.Cut(path, ".")
		if t.keyed == nil {
			t.keyed = map[string]*tree{}
		}
		if t.keyed[key] == nil {
			t.keyed[key] = &tree{}
		}
		t = t.keyed[key]
	}
	t.value, t.leafed = v, true
}

// order sorts the members by their numbers, from 1 on. It reports whether the tree is complete:
// every node is a value or has only complete members.
func (t *tree) order() bool {
	for i := 1; ; i++ {
		m := t.keyed[strconv.Itoa(i)]
		if m == nil {
			return i > 1 || t.leafed && t.keyed == nil
		}
		if !m.order() {
			return false
		}
		t.members = append(t.members, m)
	}
}

// leaf returns the first value in a tree.
func (t *tree) leaf() Value {
	for t.members != nil {
		t = t.members[0]
	}
	return t.value
}

// arrays returns the number of dimensions of an array of tuples: those that all members share.
// Members that are arrays of one shape look like an array of tuples; both forms are read the same.
func (t *tree) arrays() int {
	if t.members == nil || t.names != nil {
		return 0
	}
	shape := t.leaf().Shape
	n := len(shape)
	var look func(t *tree)
	look = func(t *tree) {
		for _, m := range t.members {
			look(m)
		}
		if t.members == nil {
			k := 0
			for k < min(n, len(t.value.Shape)) && t.value.Shape[k] == shape[k] {
				k++
			}
			n = k
		}
	}
	look(t)
	return n
}

// write writes the part of a tree at the given indices.
func (t *tree) write(out *bufio.Writer, at []int) {
	depth, shape := 0, []int(nil)
	if t.members == nil {
		depth, shape = len(t.value.Shape), t.value.Shape
	} else {
		depth, shape = t.arrays(), t.leaf().Shape
	}
	if len(at) < depth {
		out.WriteByte('[')
		for i := range shape[len(at)] {
			if i > 0 {
				out.WriteString(", ")
			}
			t.write(out, append(at, i))
		}
		out.WriteByte(']')
		return
	}
	if t.members != nil {
		out.WriteByte('{')
		for i, m := range t.members {
			if i > 0 {
				out.WriteString(", ")
			}
			name := strconv.Itoa(i + 1)
			if t.names != nil {
				name = t.names[i]
			}
			fmt.Fprintf(out, "%q: ", name)
			m.write(out, at)
		}
		out.WriteByte('}')
		return
	}
	k := 0
	for d, i := range at {
		k = k*t.value.Shape[d] + i
	}
	t.number(out, k)
}

// number writes an element of a value.
func (t *tree) number(out *bufio.Writer, k int) {
	if t.value.IsInt {
		out.WriteString(strconv.FormatInt(t.value.Ints[k], 10))
		return
	}
	switch v := t.value.Reals[k]; {
	case math.IsNaN(v):
		out.WriteString(`"NaN"`)
	case math.IsInf(v, 1):
		out.WriteString(`"Infinity"`)
	case math.IsInf(v, -1):
		out.WriteString(`"-Infinity"`)
	default:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0" // so that it is read as a real again
		}
		out.WriteString(text)
	}
}
