package data

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// WriteJSON writes the values in Stan's JSON format, one variable to a line, so
// that reading them gives the same values. Values that are no numbers are left
// out; the levels of a factor g are written as g__levels, which no variable can be
// called.
func (s *Set) WriteJSON(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	out.WriteString("{")
	first := true
	for _, name := range s.names {
		node := s.node(name)
		if node == nil {
			continue
		}
		if !first {
			out.WriteString(",")
		}
		first = false
		fmt.Fprintf(out, "\n  %q: ", name)
		node.write(out, nil)
		if levels := s.levels[name]; levels != nil {
			text, err := json.Marshal(levels)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, ",\n  %q: %s", name+"__levels", text)
		}
	}
	out.WriteString("\n}\n")
	return out.Flush()
}

// tree is a value, or a tuple of trees.
type tree struct {
	value   Value
	members []*tree // of a tuple; nil for a value
}

// node puts the members of a tuple together; nil if there are no numbers.
func (s *Set) node(name string) *tree {
	if v, ok := s.values[name]; ok {
		return &tree{value: v}
	}
	t := &tree{}
	for i := 1; ; i++ {
		prefix := name + "." + strconv.Itoa(i)
		if !slices.ContainsFunc(s.memberNames(name), func(n string) bool { return n == prefix || strings.HasPrefix(n, prefix+".") }) {
			break
		}
		m := s.node(prefix)
		if m == nil {
			return nil
		}
		t.members = append(t.members, m)
	}
	if t.members == nil {
		return nil
	}
	return t
}

func (s *Set) memberNames(name string) []string {
	var names []string
	for n := range s.values {
		if strings.HasPrefix(n, name+".") {
			names = append(names, n)
		}
	}
	return names
}

// leaf is the first value in a tree.
func (t *tree) leaf() Value {
	for t.members != nil {
		t = t.members[0]
	}
	return t.value
}

// arrays is how many dimensions an array of tuples has: those that all of its
// members share. Members that are arrays of one shape themselves cannot be told
// from an array of tuples; either way of writing them is read the same.
func (t *tree) arrays() int {
	if t.members == nil {
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

// write writes a tree at the places that at holds so far.
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
			fmt.Fprintf(out, "\"%d\": ", i+1)
			m.write(out, at)
		}
		out.WriteByte('}')
		return
	}
	k := 0
	for d, i := range at {
		k = k*t.value.Shape[d] + i
	}
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
			text += ".0" // it was written as a real number
		}
		out.WriteString(text)
	}
}
