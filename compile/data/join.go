package data

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// This file: several tables as one.

// Text is the text of a file.
type Text struct{ File, Text string }

// ParseJoined reads several files as one. Each row of the first table gets the columns of the row
// of another one that has the same values in the columns that both have. Files of a matrix add
// this matrix, see matrixfile.go. The error, if any, is an [*Error].
func ParseJoined(first Text, others []Text, o Options) (*Set, error) {
	if len(others) == 0 {
		return Parse(first.File, first.Text, o)
	}
	texts := append([]Text{first}, others...)
	var matrices []*matrixFile
	var files []string
	var rest []Text
	for i, t := range texts {
		var before []string
		if i > 0 {
			before = headerOf(first.Text)
		}
		m, err := matrixOf(t, before, o)
		if err != nil {
			return nil, err
		}
		if m == nil {
			rest = append(rest, t)
		} else {
			matrices, files = append(matrices, m), append(files, t.File)
		}
	}
	s := &Set{}
	if len(rest) > 0 {
		var err error
		if s, err = parseTables(rest[0], rest[1:], o); err != nil {
			return nil, err
		}
	} else {
		s.file = files[0]
	}
	for i, m := range matrices {
		if err := m.add(s, files[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// parseTables reads the first file, with the columns of the others.
func parseTables(first Text, others []Text, o Options) (*Set, error) {
	if len(others) == 0 {
		return Parse(first.File, first.Text, o)
	}
	counts := o
	o.Counts, o.uncounted = nil, true
	s, err := parseOne(first, o)
	if err != nil {
		return nil, err
	}
	for _, t := range others {
		// Dates of all tables have one origin.
		next := o
		next.How = map[string]How{}
		for name, how := range o.How {
			next.How[name] = how
			for _, earlier := range s.how {
				if how.Since == "" && earlier.Since != "" && (o.As == nil || o.As.how[name].As == "") {
					next.How[name] = How{how.As, earlier.Since, how.Order}
				}
			}
		}
		if o.As != nil { // the other table may have keys that no row needs
			as := *o.As
			as.levels, as.zeros = maps.Clone(as.levels), maps.Clone(as.zeros)
			for _, c := range s.columns {
				delete(as.levels, c.Name)
				delete(as.zeros, c.Name)
			}
			next.As = &as
		}
		if o.Memory > 0 {
			next.Memory = max(1, o.Memory-s.Memory())
		}
		u, err := parseOne(t, next)
		if err != nil {
			return nil, err
		}
		if s, err = s.join(u, counts); err != nil {
			return nil, err
		}
	}
	return s, s.count(counts)
}

// parseOne reads a table that is to be joined.
func parseOne(t Text, o Options) (*Set, error) {
	s, err := Parse(t.File, t.Text, o)
	if err == nil && !s.table {
		return nil, &Error{File: t.File, Message: "only tables (CSV) can be matched with each other, and this is another kind of file", Fix: "write all data in one file; only a matrix can have another one, W.mtx, or W.csv with the columns row, column and value"}
	}
	return s, err
}

// join adds the columns of u to the rows of s.
func (s *Set) join(u *Set, o Options) (*Set, error) {
	var keys []string
	for _, c := range u.columns {
		if slices.ContainsFunc(s.columns, func(d Column) bool { return d.Name == c.Name }) {
			keys = append(keys, c.Name)
		}
	}
	if len(keys) == 0 {
		return nil, &Error{File: u.file, Message: fmt.Sprintf("this table and %s have no column in common, by which rows could be matched", s.file),
			Fix: "give the column that names the same things the same name in both"}
	}
	theirs, err := u.keyTexts(keys, u.rows)
	if err != nil {
		return nil, err
	}
	row := map[string]int{}
	for i, key := range theirs {
		if earlier, twice := row[key]; twice {
			return nil, &Error{File: u.file, Message: fmt.Sprintf("rows %d and %d both have %s, so which one belongs to a row of %s is not known", earlier+1, i+1, keyShown(keys, key), s.file),
				Fix: "give the table with a row for each observation first; the other has each key once"}
		}
		row[key] = i
	}
	ours, err := s.keyTexts(keys, s.rows)
	if err != nil {
		return nil, err
	}
	var chosen, kept []int
	for i, key := range ours {
		at, ok := row[key]
		switch {
		case ok:
			chosen, kept = append(chosen, at), append(kept, i)
		case u.dropped > 0: // its row may have been left out
			s.dropped++
		default:
			return nil, &Error{File: s.file, Message: fmt.Sprintf("row %d has %s, which is in no row of %s", i+1, keyShown(keys, key), u.file),
				Fix: "add it there, or correct the spelling"}
		}
	}
	out := s
	if len(kept) < len(ours) {
		out = s.chosen(kept)
	}
	out.file += " and " + u.file
	for _, c := range u.columns {
		if slices.Contains(keys, c.Name) {
			continue
		}
		out.columns = append(out.columns, c)
		if how, ok := u.how[c.Name]; ok {
			out.addHow(c.Name, how)
		}
		if fault := u.faults[c.Name]; fault != nil {
			if v, ok := u.gaps[c.Name]; ok && !(o.ByKey != nil && len(keys) == 1 && o.ByKey(c.Name, keys[0])) {
				out.addGaps(c.Name, v.Rows(chosen), fault)
				continue
			}
			out.addFault(c.Name, fault)
			continue
		}
		rows := chosen
		out.columns[len(out.columns)-1].byKey = o.ByKey != nil && len(keys) == 1 && o.ByKey(c.Name, keys[0])
		if o.ByKey != nil && len(keys) == 1 && o.ByKey(c.Name, keys[0]) {
			if rows, err = out.rowsByLevel(u, keys[0], row); err != nil {
				return nil, err
			}
		}
		v := u.values[c.Name].Rows(rows)
		v.firstReal = int32(max(0, slices.IndexFunc(v.Reals, func(x float64) bool { return x != float64(int64(x)) })))
		if v.IsInt && v.Ints == nil {
			v.Ints = []int64{}
		}
		out.add(c.Name, v)
		if levels := u.levels[c.Name]; levels != nil {
			out.addLevels(c.Name, levels)
		}
		if find := u.notIntegers[c.Name]; find != nil {
			if out.notIntegers == nil {
				out.notIntegers = map[string]func() *Error{}
			}
			out.notIntegers[c.Name] = find
		}
	}
	return out, nil
}

// keySeparator separates the values of several key columns. It cannot occur in a field that is a
// level.
const keySeparator = "\x00"

// keyShown writes a key for messages.
func keyShown(keys []string, key string) string {
	var shown []string
	for i, value := range strings.Split(key, keySeparator) {
		shown = append(shown, keys[i]+" "+strconv.Quote(clip(value)))
	}
	return strings.Join(shown, " and ")
}

// keyTexts returns the values of columns in each row, as text.
func (s *Set) keyTexts(keys []string, rows int) ([]string, error) {
	texts := make([]string, rows)
	for k, name := range keys {
		if e := s.faults[name]; e != nil {
			return nil, e
		}
		v := s.values[name]
		if !v.IsInt {
			return nil, &Error{File: s.file, Message: fmt.Sprintf("rows cannot be matched by %s, which has real numbers", name), Fix: "rename the column in one of the tables, or match by texts or integers"}
		}
		for i, x := range v.Ints {
			if k > 0 {
				texts[i] += keySeparator
			}
			if levels := s.levels[name]; levels != nil {
				texts[i] += levels[x-1]
			} else {
				texts[i] += strconv.FormatInt(x, 10)
			}
		}
	}
	return texts, nil
}

// rowsByLevel returns the rows of u for each level of a key of s: those of a factor, or 1 to the
// largest integer.
func (s *Set) rowsByLevel(u *Set, key string, row map[string]int) (rows []int, err error) {
	levels := s.levels[key]
	if levels == nil {
		for i := range slices.Max(append([]int64{0}, s.values[key].Ints...)) {
			levels = append(levels, strconv.FormatInt(i+1, 10))
		}
	}
	for _, l := range levels {
		at, ok := row[l]
		if !ok {
			return nil, &Error{File: u.file, Message: fmt.Sprintf("there is no row for %s", keyShown([]string{key}, l)), Fix: "add it"}
		}
		rows = append(rows, at)
	}
	return rows, nil
}

// chosen returns a table with some of its rows.
func (s *Set) chosen(rows []int) *Set {
	out := *s
	out.values, out.rows = map[string]Value{}, len(rows)
	for name, v := range s.values {
		first := v.firstReal
		v = v.Rows(rows)
		v.firstReal = min(first, int32(max(0, len(v.Reals)-1)))
		out.values[name] = v
	}
	return &out
}

// count adds the integers that are counted in a table; see [Options].Counts.
func (s *Set) count(o Options) error {
	if o.uncounted {
		return nil
	}
	counts := o.Counts
	if o.As != nil {
		counts = slices.Clone(counts)
		for _, c := range o.As.counts {
			if !s.has(c.Name) && !slices.ContainsFunc(o.Counts, func(given Count) bool { return given.Name == c.Name }) {
				counts = append(counts, c)
			}
		}
	}
	s.counts = counts
	for _, count := range counts {
		n := s.rows
		if count.Of != "" {
			v, ok := s.values[count.Of]
			earlier, counted := Value{}, false
			if o.As != nil && slices.Contains(o.As.counts, count) {
				earlier, counted = o.As.values[count.Name]
			}
			switch {
			case counted && len(earlier.Ints) == 1:
				n = int(earlier.Ints[0])
				if o.NewLevels && ok && v.IsInt {
					for _, x := range v.Ints {
						n = max(n, int(x))
					}
				}
			case !ok && s.faults[count.Of] != nil:
				e := *s.faults[count.Of]
				e.Fix = strings.Replace(e.Fix, gapFix, "write the level that the row belongs to, or leave these rows out", 1)
				return &e
			case !ok:
				return &Error{File: s.file, Message: fmt.Sprintf("there is no column %s whose levels could be counted", count.Of), Fix: "the columns are " + strings.Join(s.names, ", ")}
			case !v.IsInt:
				return &Error{File: s.file, Message: fmt.Sprintf("the column %s has real numbers: it has no levels", count.Of)}
			case s.levels[count.Of] != nil:
				n = len(s.levels[count.Of])
			default:
				if e := s.Codes(count.Of, count.Name); e != nil {
					return e
				}
				n = int(max(0, slices.Max(append([]int64{0}, v.Ints...))))
			}
		}
		if !s.add(count.Name, Value{IsInt: true, Ints: []int64{int64(n)}, Reals: []float64{float64(n)}}) {
			return &Error{File: s.file, Message: fmt.Sprintf("there is a column %s already", count.Name), Fix: "choose another name for what is counted", Settings: []string{"count"}}
		}
	}
	return nil
}
