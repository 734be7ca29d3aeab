package data

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/lang/diag"
)

// texts is a value of JSON whose elements are all strings.
type texts struct {
	value Value    // codes of the strings, from 1 in alphabetical order
	words []string // the strings
	gaps  []int    // the missing ones, which are ""
	gap   *Error   // of the first of them
	given []string // levels in the set that was read before; nil: none
	open  bool     // whether other levels are allowed
}

// wording reads a value of strings only, such as a factor that R or pandas writes, again: the
// reader of numbers has refused it. It reports whether there is one. Strings that are all numbers
// are a slip.
func (p *parser) wording(o *Options, name string, start int) bool {
	p.pos = start
	t := texts{value: Value{start: start}, open: o.NewLevels}
	if o.As != nil {
		if t.given = o.As.levels[name]; t.given == nil {
			t.given = o.As.zeros[name]
		}
	}
	var read func(depth int) bool
	read = func(depth int) bool {
		p.space()
		switch {
		case p.peek() == '"':
			s, err := p.str()
			if err != nil || p.memory.take(wordSize(s)) != nil || depth < len(t.value.Shape) {
				return false
			}
			t.words = append(t.words, strings.Clone(s))
			return true
		case p.peek() == 'n' && p.wordEnd(p.pos) == p.pos+4 && p.text[p.pos:p.pos+4] == "null" && depth == len(t.value.Shape) && depth > 0:
			if t.gap == nil {
				errors.As(p.errorAt(p.pos, p.pos+4, gapFix, "%s[%d] is null", name, len(t.words)+1), &t.gap)
			}
			t.gaps = append(t.gaps, len(t.words))
			t.words = append(t.words, "")
			p.pos += 4
			return true
		case p.peek() != '[' || depth == maxDims:
			return false
		}
		if depth == len(t.value.Shape) {
			if len(t.words) > 0 { // earlier elements in this position are strings
				return false
			}
			t.value.Shape = append(t.value.Shape, -1)
		}
		n := 0
		for p.pos++; ; p.pos++ {
			if !read(depth + 1) {
				return false
			}
			n++
			if p.space(); p.peek() != ',' {
				break
			}
		}
		if p.peek() != ']' || t.value.Shape[depth] >= 0 && t.value.Shape[depth] != n {
			return false
		}
		t.value.Shape[depth] = n
		p.pos++
		return true
	}
	if !read(0) {
		return false
	}
	some := false
	for i, w := range t.words {
		some = some || notNumber(w) && !t.lacks(i)
	}
	if !some {
		return false
	}
	t.value.end = p.pos
	if p.set.texts == nil {
		p.set.texts = map[string]texts{}
	}
	p.set.texts[strings.Clone(name)] = t
	return true
}

// lacks reports whether an element is missing.
func (t *texts) lacks(i int) bool {
	_, found := slices.BinarySearch(t.gaps, i)
	return found
}

func notNumber(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return err != nil
}

// Worded returns the set with the strings of JSON as factors, for variables of which integers
// returns true; for others they are a fault. sizes reports whether a variable is a single integer:
// a list of strings then has the labels of its elements, and their number is the value.
func (s *Set) Worded(integers, sizes, missing func(name string) bool) *Set {
	out := *s
	if len(s.texts) == 0 {
		return &out
	}
	out.faults, out.values, out.levels, out.counts = maps.Clone(s.faults), maps.Clone(s.values), maps.Clone(s.levels), slices.Clone(s.counts)
	out.texts = maps.Clone(s.texts)
	for _, name := range s.names {
		t, ok := s.texts[name]
		if !ok || !integers(name) {
			continue
		}
		levels, fault := t.words, (*Error)(nil)
		out.values[name] = t.value
		if size := sizes(name) && len(t.value.Shape) == 1; size {
			if fault = out.distinct(name, levels); fault == nil && t.given != nil && !(slices.Equal(t.given, levels) || t.open && len(levels) > len(t.given) && slices.Equal(t.given, levels[:len(t.given)])) {
				fault = out.Errorf(name, -1, "the labels of %s are not those in the data of the fit", name)
				fault.Fix = "give the same labels in the same order: " + someLevels(t.given)
			}
			if t.gaps != nil {
				fault = t.gap
			}
			t.value.Shape, t.words = nil, nil
			t.value.IsInt, t.value.Ints, t.value.Reals = true, []int64{int64(len(levels))}, []float64{float64(len(levels))}
			out.counts = append(out.counts, Count{Name: name, Of: name})
		} else {
			if t.gaps != nil && !missing(name) {
				fault = t.gap
			}
			levels = nil
			for i, w := range t.words {
				if !t.lacks(i) {
					levels = append(levels, w)
				}
			}
			slices.Sort(levels)
			levels = slices.Compact(levels)
			if t.given != nil {
				others := slices.DeleteFunc(slices.Clone(levels), func(l string) bool { return slices.Contains(t.given, l) })
				levels = slices.Clip(t.given)
				if t.open {
					levels = slices.Concat(levels, others)
				}
			}
			number := numbered(levels)
			t.value.IsInt = t.gaps == nil
			for i, w := range t.words {
				if t.lacks(i) {
					t.value.Reals = append(t.value.Reals, math.NaN())
					continue
				}
				n, known := number[w]
				if !known {
					u := unknownLevel(name, w, i+1, 0, t.given)
					fault = out.Errorf(name, i, "%s is %q, which is none of the %d levels in the data of the fit", out.Path(name, i), clip(w), len(t.given))
					fault.Fix, fault.Settings = u.Fix, u.Settings
					break
				}
				if t.value.Reals = append(t.value.Reals, float64(n)); t.value.IsInt {
					t.value.Ints = append(t.value.Ints, n)
				}
			}
		}
		delete(out.texts, name)
		if fault != nil {
			out.faults[name] = fault
			delete(out.values, name)
			continue
		}
		delete(out.faults, name)
		out.values[name] = t.value
		out.addLevels(name, levels)
	}
	return &out
}

// numbered returns the numbers of levels, from 1.
func numbered(levels []string) map[string]int64 {
	out := make(map[string]int64, len(levels))
	for i, l := range levels {
		out[l] = int64(i + 1)
	}
	return out
}

// distinct returns an error about labels of which two are equal.
func (s *Set) distinct(name string, labels []string) *Error {
	seen := map[string]int{}
	for i, l := range labels {
		if first, twice := seen[l]; twice {
			e := s.Errorf(name, -1, "labels %d and %d of %s are both %q", first+1, i+1, name, clip(l))
			e.Fix = "give each element of a dimension its own label"
			return e
		}
		seen[l] = i
	}
	return nil
}

// someLevels lists levels for a message.
func someLevels(levels []string) string {
	const shown = 12
	list := strings.Join(levels[:min(len(levels), shown)], ", ")
	if len(levels) > shown {
		list += ", …"
	}
	return list
}

// Labelled returns the set with labels for the elements of dimensions of a size. If the set has no
// value of the size, it is the number of labels. The error says that the value is another number,
// or that the data give other labels.
func (s *Set) Labelled(size string, labels []string) (*Set, *Error) {
	out := *s
	if v, ok := s.values[size]; !ok && s.faults[size] == nil {
		out = *s.Counted(Count{Name: size, Of: size}, len(labels))
	} else if own := s.levels[size]; own != nil && !slices.Equal(own, labels) {
		e := s.Errorf(size, -1, "the labels of %s are not those of the program", size)
		e.Fix = "leave " + size + " out of the data; its labels are " + someLevels(labels)
		return nil, e
	} else if v.IsInt && len(v.Ints) == 1 && v.Ints[0] != int64(len(labels)) {
		e := s.Errorf(size, -1, "%s is %d, but has %d labels", size, v.Ints[0], len(labels))
		e.Fix = "leave " + size + " out of the data; its labels are " + someLevels(labels)
		return nil, e
	}
	out.levels, out.counts = maps.Clone(out.levels), replaced(out.counts, Count{Name: size, Of: size})
	out.addLevels(size, labels)
	return &out, nil
}

// replaced returns counts with another count of its name.
func replaced(counts []Count, c Count) []Count {
	return append(slices.DeleteFunc(slices.Clone(counts), func(o Count) bool { return o.Name == c.Name }), c)
}

// Shared returns the set with the same levels for factors that index dimensions of one size. These
// are the labels of the size, if it has any; a factor with another level is then an error.
// Otherwise they are the levels of all the factors in alphabetical order, after those that all have
// at the beginning. A size that was counted is their number.
func (s *Set) Shared(size string, factors []string) (*Set, *Error) {
	out := *s
	labels, own := s.levels[size]
	if own && !slices.Contains(s.counts, Count{Name: size, Of: size}) {
		return &out, nil
	}
	if !own {
		labels = s.levels[factors[0]]
		var others []string
		for _, f := range factors[1:] {
			n := 0
			for l := s.levels[f]; n < len(labels) && n < len(l) && labels[n] == l[n]; n++ {
			}
			others = slices.Concat(others, labels[n:], s.levels[f][n:])
			labels = labels[:n]
		}
		slices.Sort(others)
		labels = slices.Concat(labels, slices.Compact(others))
	}
	out.values, out.levels = maps.Clone(s.values), maps.Clone(s.levels)
	number := numbered(labels)
	for _, f := range factors {
		if slices.Equal(s.levels[f], labels) {
			continue
		}
		v := s.values[f]
		v.Ints, v.Reals = slices.Clone(v.Ints), slices.Clone(v.Reals)
		for i, n := range v.Reals {
			if !(n >= 1) { // the value of this row is missing
				continue
			}
			word := s.levels[f][int(n)-1]
			to, known := number[word]
			if !known {
				in := ""
				if s.table {
					in = " in " + s.file
				}
				e := s.Errorf(f, i, "%s is %q%s, which is no label of %s", s.Path(f, i), clip(word), in, size)
				e.Fix = "the labels are " + someLevels(labels)
				if near := diag.Nearest(word, slices.Values(labels)); near != "" {
					e.Fix = fmt.Sprintf("did you mean %q? ", near) + e.Fix
				}
				return nil, e
			}
			if v.Reals[i] = float64(to); v.IsInt {
				v.Ints[i] = to
			}
		}
		out.values[f], out.levels[f] = v, labels
	}
	if own {
		return &out, nil
	}
	v, ok := out.values[size]
	at := slices.IndexFunc(s.counts, func(c Count) bool { return c.Name == size })
	switch counted := at >= 0 && s.counts[at].Of != ""; {
	case !ok || !v.IsInt || len(v.Ints) != 1 || at >= 0 && !counted: // the number of rows
		return &out, nil
	case counted && int(v.Ints[0]) < len(labels):
		v.Ints, v.Reals = []int64{int64(len(labels))}, []float64{float64(len(labels))}
		out.values[size] = v
	case int(v.Ints[0]) < len(labels):
		return &out, nil
	}
	if len(factors) == 1 {
		out.counts = replaced(out.counts, Count{Name: size, Of: factors[0]})
		return &out, nil
	}
	out.addLevels(size, labels)
	out.counts = replaced(out.counts, Count{Name: size, Of: size})
	return &out, nil
}

// Codes returns an error if a column of integers has names of groups, such as years or postcodes,
// rather than numbers from 1: the largest would be the number of levels, most of which have no row.
// size is the variable for this number.
func (s *Set) Codes(column, size string) *Error {
	v := s.values[column]
	if s.levels[column] != nil || !v.IsInt || len(v.Ints) == 0 {
		return nil
	}
	different := slices.Sorted(slices.Values(v.Ints))
	different = slices.Compact(different)
	largest := different[len(different)-1]
	if largest <= 2*int64(len(different))+10 {
		return nil
	}
	codes := make([]string, len(different))
	for i, x := range different {
		codes[i] = strconv.FormatInt(x, 10)
	}
	return &Error{File: s.file, Message: fmt.Sprintf("%s would be %d, the largest integer of %s, but the column only has %s", size, largest, column, someLevels(codes)),
		Fix: "to give " + size + " yourself, write all data in JSON; if the integers are names of groups, have them read as levels", Settings: []string{"read=" + column + "=levels"}}
}
