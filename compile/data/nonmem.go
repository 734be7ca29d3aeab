package data

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// This file reads data sets of NONMEM. A row is a record of a subject: a dose, an observation or
// another event. Their columns are known by name, in any case:
//
//	ID    the subject; all records of a subject follow one another
//	TIME  hours or another unit, as a number; or the time of day, as in 13:30
//	DATE  the day, month/day/year; DAT1 day/month/year, DAT2 year/month/day, DAT3 year/day/month
//	DV    the observed value
//	AMT, RATE, II, ADDL, SS, CMT, EVID, MDV  the doses
//
// A field that is empty, "." or NA has no value. Rows that begin with #, @ or a field C are
// comments, and so are repeated headers. Fields may be separated by blanks. With dates, or times of
// day, time is in hours since the first record of the subject: see clock.go.
// The variables are:
//
//	nt, nSubjects        the number of records and of subjects
//	start, end, len      the first and last record of each subject, and their number
//	id                   the subject of each record: a factor in the order of the file
//	time, amt, rate, ii  reals; 0 without a value
//	evid, cmt, addl, ss  integers; 0 without a value, cmt 1
//	nObs, iObs, cObs     the number of observations, their records and their values
//	dv                   DV of all records; NaN without a value
//
// Without a column EVID, a record with AMT or RATE is a dose. An observation is a record with evid
// 0, a value of DV, and MDV 0 if that is a column. Other columns are variables under their own
// name. Where a covariate has no value, it has the last one of the subject before it. Columns about
// observations, such as DVID and LLOQ, are then 0. A column is faulty if it has no number.

// nonmemItem is a column that describes events.
type nonmemItem struct {
	name    string
	whole   bool    // its values are integers
	missing float64 // of a record that has no value
}

func nonmemItems() []nonmemItem {
	return []nonmemItem{{"time", false, 0}, {"amt", false, 0}, {"rate", false, 0}, {"ii", false, 0}, {"evid", true, 0}, {"cmt", true, 1}, {"addl", true, 0}, {"ss", true, 0}}
}

// nonmem is the state of reading.
type nonmem struct {
	file   string
	header []string
	ids    []string
	lines  []int
	fields [][]string
}

// parseNONMEM reads a data set of NONMEM. The error, if any, is an [*Error].
func parseNONMEM(file, text string, o Options) (*Set, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	memory, err := o.allow(file, len(text))
	if err != nil {
		return nil, err
	}
	if err := memory.take(recordMemory(text) + 8*int64(len(text))); err != nil {
		return nil, err
	}
	n := &nonmem{file: file}
	text = plainNONMEM(text)
	r, _ := rowsOf(file, text)
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, tableError(file, err, len(fields), len(n.header))
		}
		line, _ := r.FieldPos(0)
		first := strings.TrimSpace(fields[0])
		switch {
		case n.header == nil:
			for _, h := range fields {
				n.header = append(n.header, strings.TrimSpace(h))
			}
		case n.repeated(fields), !slices.ContainsFunc(fields, func(f string) bool { return strings.TrimSpace(f) != "" }):
		case first == "C" || strings.HasPrefix(first, "#") || strings.HasPrefix(first, "@"):
		default:
			row := make([]string, len(fields))
			for i, f := range fields {
				row[i] = strings.Clone(strings.TrimSpace(f))
			}
			n.fields, n.lines = append(n.fields, row), append(n.lines, line)
		}
	}
	return n.set()
}

// plainNONMEM separates the fields of a table of blanks by tabs, and leaves out lines of blanks and
// the title of a table that NONMEM wrote. The number of lines stays the same.
func plainNONMEM(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.TrimSpace(l) == "" {
			lines[i] = ""
		}
	}
	first := slices.IndexFunc(lines, func(l string) bool { return strings.TrimSpace(l) != "" })
	if first >= 0 && strings.HasPrefix(strings.TrimSpace(lines[first]), "TABLE NO") {
		lines[first] = ""
		first = slices.IndexFunc(lines, func(l string) bool { return strings.TrimSpace(l) != "" })
	}
	if first >= 0 {
		// A header may be marked as a comment for NONMEM.
		header := strings.TrimSpace(lines[first])
		if strings.ContainsAny(header[:1], "#@") && strings.Contains(strings.ToUpper(header), "TIME") {
			lines[first] = header[1:]
		}
	}
	if first < 0 || strings.ContainsAny(lines[first], ",;\t\"") {
		return strings.Join(lines, "\n")
	}
	for i, l := range lines {
		lines[i] = strings.Join(strings.Fields(l), "\t")
	}
	return strings.Join(lines, "\n")
}

// repeated reports whether a row is the header again.
func (n *nonmem) repeated(fields []string) bool {
	same := len(fields) == len(n.header)
	for i, f := range fields {
		same = same && strings.TrimSpace(f) == n.header[i]
	}
	return same
}

// fault returns an error about a record, counted from 0.
func (n *nonmem) fault(record int, fix, format string, args ...any) *Error {
	of := ""
	if record < len(n.ids) {
		of = " (ID " + n.ids[record] + ")"
	}
	return &Error{File: n.file, Line: n.lines[record], Column: 1, Message: fmt.Sprintf("record %d%s: ", record+1, of) + fmt.Sprintf(format, args...), Fix: fix}
}

// column returns the position of a column, or -1.
func (n *nonmem) column(name string) int {
	return slices.IndexFunc(n.header, func(h string) bool { return strings.EqualFold(h, name) })
}

// noValue reports whether a field has no value.
func noValue(field string) bool { return field == "" || field == "." || field == "NA" }

// twice returns an error if a later column has the name of a column; at -1 is none.
func (n *nonmem) twice(at int, same func(a, b string) bool) *Error {
	for i := at + 1; 0 < i && i < len(n.header); i++ {
		if same(n.header[i], n.header[at]) {
			return &Error{File: n.file, Line: 1, Column: 1, Message: fmt.Sprintf("columns %d and %d are %s and %s", at+1, i+1, n.header[at], n.header[i]), Fix: "rename one of them"}
		}
	}
	return nil
}

// numbers reads a column. Fields without a value are missing. It also reports the first such
// record, or -1.
func (n *nonmem) numbers(at int, missing float64) (x []float64, without int, err *Error) {
	x, without = make([]float64, len(n.fields)), -1
	for i, row := range n.fields {
		if noValue(row[at]) {
			x[i] = missing
			if without < 0 {
				without = i
			}
			continue
		}
		v, bad := strconv.ParseFloat(strings.NewReplacer("D", "e", "d", "e").Replace(row[at]), 64) // Fortran's 1.0D+02
		if bad != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			fix := "write a number, or . for no value"
			switch {
			case strings.ContainsAny(row[at], ":/"):
				fix = "write times as numbers, such as hours since the first dose"
			case strings.Contains(row[at], ","):
				fix = "write decimals with a point, as in " + strings.Replace(clip(row[at]), ",", ".", 1)
			}
			return nil, 0, n.fault(i, fix, "%s is %s, which is no number", n.header[at], clip(row[at]))
		}
		x[i] = v
	}
	return x, without, nil
}

// set makes the variables.
func (n *nonmem) set() (*Set, error) {
	s := &Set{file: n.file, values: map[string]Value{}}
	s.addHow("", How{As: "nonmem"})
	count := len(n.fields)
	if n.header == nil || count == 0 {
		return nil, &Error{File: n.file, Message: "there are no records", Fix: "write a header line with ID, TIME, DV, AMT and so on, then a line for each record"}
	}
	if n.column("time") < 0 {
		return nil, &Error{File: n.file, Line: 1, Column: 1, Message: "there is no column TIME, but " + strings.Join(n.header, ", "), Fix: "write a header line with the names of the columns; TIME is required"}
	}
	// Subjects.
	var start, end, sizes, subject []int64
	var labels []string
	at := n.column("id")
	for i, row := range n.fields {
		id := "1"
		if at >= 0 {
			id = row[at]
		}
		n.ids = append(n.ids, id)
		switch {
		case noValue(id):
			n.ids = n.ids[:i]
			return nil, n.fault(i, "write the number of the subject", "ID has no value")
		case i > 0 && id == n.ids[i-1]:
			end[len(end)-1]++
			sizes[len(sizes)-1]++
		case slices.Contains(labels, id):
			return nil, n.fault(i, "put all records of a subject after one another", "the subject comes again, after others")
		default:
			labels = append(labels, id)
			start, end, sizes = append(start, int64(i+1)), append(end, int64(i+1)), append(sizes, 1)
		}
		subject = append(subject, int64(len(labels)))
	}
	// Events.
	events := map[string][]float64{}
	known := []string{"id", "dv", "mdv"}
	for format := range dateOrders() {
		known = append(known, format)
	}
	for _, item := range nonmemItems() {
		known = append(known, item.name)
	}
	for _, name := range known {
		if err := n.twice(n.column(name), strings.EqualFold); err != nil {
			return nil, err
		}
	}
	for _, item := range nonmemItems() {
		x := slices.Repeat([]float64{item.missing}, count)
		if at := n.column(item.name); at >= 0 {
			var without int
			var err *Error
			if x, without, err = n.numbers(at, item.missing); item.name == "time" {
				x, without, err = n.times(at)
			}
			if err != nil {
				return nil, err
			}
			if item.name == "time" && without >= 0 {
				return nil, n.fault(without, "write the time of the record", "TIME has no value")
			}
		}
		if i := slices.IndexFunc(x, func(v float64) bool { return item.whole && v != math.Trunc(v) }); i >= 0 {
			return nil, n.fault(i, "write a whole number", "%s is %g", strings.ToUpper(item.name), x[i])
		}
		events[item.name] = x
	}
	if n.column("evid") < 0 {
		for i := range count {
			if events["amt"][i] > 0 || events["rate"][i] > 0 {
				events["evid"][i] = 1
			}
		}
	}
	if err := n.check(events); err != nil {
		return nil, err
	}
	// Observations.
	dv := slices.Repeat([]float64{math.NaN()}, count)
	if at := n.column("dv"); at >= 0 {
		var err *Error
		if dv, _, err = n.numbers(at, math.NaN()); err != nil {
			return nil, err
		}
	}
	mdv := make([]float64, count)
	if at := n.column("mdv"); at >= 0 {
		var err *Error
		if mdv, _, err = n.numbers(at, 0); err != nil {
			return nil, err
		}
	}
	observations, values := []int64{}, []float64{}
	for i := range count {
		if events["evid"][i] == 0 && mdv[i] == 0 && !math.IsNaN(dv[i]) {
			observations, values = append(observations, int64(i+1)), append(values, dv[i])
		}
	}
	whole := func(name string, x []int64, shape ...int) {
		v := Value{Shape: shape, IsInt: true, Ints: x, Reals: make([]float64, len(x))}
		for i, k := range x {
			v.Reals[i] = float64(k)
		}
		s.add(name, v)
	}
	whole("nt", []int64{int64(count)})
	whole("nSubjects", []int64{int64(len(labels))})
	whole("start", start, len(start))
	whole("end", end, len(end))
	whole("len", sizes, len(sizes))
	whole("id", subject, count)
	s.addLevels("id", labels)
	for _, item := range nonmemItems() {
		x := events[item.name]
		if !item.whole {
			s.add(item.name, Value{Shape: []int{count}, Reals: x})
			continue
		}
		ints := make([]int64, count)
		for i, v := range x {
			ints[i] = int64(v)
		}
		whole(item.name, ints, count)
	}
	whole("nObs", []int64{int64(len(observations))})
	whole("iObs", observations, len(observations))
	s.add("cObs", Value{Shape: []int{len(values)}, Reals: values, IsInt: len(values) == 0})
	s.add("dv", Value{Shape: []int{count}, Reals: dv})
	// Covariates.
	for at, h := range n.header {
		name := ColumnName(h)
		if name == "" || slices.Contains(known, strings.ToLower(h)) || s.has(name) {
			continue
		}
		if err := n.twice(at, func(a, b string) bool { return a == b }); err != nil {
			s.addFault(name, err)
			continue
		}
		x, _, err := n.numbers(at, math.NaN())
		if err == nil {
			if without := n.carry(x, aboutObservations(h)); without >= 0 {
				err = n.fault(without, "write its value: there is none in an earlier record of the subject", "%s has no value", h)
			}
		}
		if err != nil {
			s.addFault(name, err)
			continue
		}
		if slices.ContainsFunc(x, func(v float64) bool { return v != math.Trunc(v) || math.Abs(v) >= 1<<53 }) {
			s.add(name, Value{Shape: []int{count}, Reals: x})
			continue
		}
		ints := make([]int64, count)
		for i, v := range x {
			ints[i] = int64(v)
		}
		whole(name, ints, count)
	}
	return s, nil
}

// aboutObservations reports whether a column is about observations, so that records without a value
// have 0.
func aboutObservations(name string) bool {
	return slices.Contains([]string{"dvid", "blq", "bql", "cens", "lloq"}, strings.ToLower(name))
}

// carry gives records without a value, which is NaN, the last value of the subject before it. The
// first records of a subject have its value if that does not change; with zero, all records without
// a value have 0. It returns the first record for which there is no value, or -1.
func (n *nonmem) carry(x []float64, zero bool) (without int) {
	for first := 0; first < len(x); {
		last := first + 1
		for last < len(x) && n.ids[last] == n.ids[first] {
			last++
		}
		own := x[first:last]
		given := slices.DeleteFunc(slices.Clone(own), math.IsNaN)
		for i := range own {
			switch {
			case !math.IsNaN(own[i]):
			case zero:
				own[i] = 0
			case i > 0:
				own[i] = own[i-1]
			case len(given) > 0 && slices.Min(given) == slices.Max(given):
				own[i] = given[0]
			default:
				return first + i
			}
		}
		first = last
	}
	return -1
}

// check checks what events may have, so that messages name the record and its subject.
func (n *nonmem) check(e map[string][]float64) error {
	for i := range n.fields {
		evid, dose := e["evid"][i], e["evid"][i] == 1 || e["evid"][i] == 4
		amt, rate, ii, ss := e["amt"][i], e["rate"][i], e["ii"][i], e["ss"][i]
		constant := ss > 0 && rate > 0 && ii == 0
		switch {
		case evid < 0 || evid > 4:
			return n.fault(i, "it is 0 (observation), 1 (dose), 2 (other), 3 (reset) or 4 (reset and dose)", "EVID is %g", evid)
		case i > 0 && n.ids[i] == n.ids[i-1] && e["time"][i] < e["time"][i-1] && evid < 3:
			return n.fault(i, "sort the records of the subject by time; only resets (EVID 3 or 4) may go back", "TIME is %g, after %g", e["time"][i], e["time"][i-1])
		case !dose && amt > 0:
			return n.fault(i, "write EVID 1 for a dose, or no AMT", "AMT is %g, but EVID is %g", amt, evid)
		case !dose:
		case rate < 0 && rate != -1 && rate != -2:
			return n.fault(i, "write the rate of the infusion, 0 for a bolus, or -1 or -2 for a rate or duration that the program computes", "RATE is %g", rate)
		case amt < 0:
			return n.fault(i, "write the amount of the dose", "AMT is %g", amt)
		case e["cmt"][i] < 1:
			return n.fault(i, "write the number of the compartment, from 1", "CMT is %g", e["cmt"][i])
		case ss < 0 || ss > 2:
			return n.fault(i, "it is 0, 1 or 2", "SS is %g", ss)
		case ss > 0 && !constant && ii <= 0:
			return n.fault(i, "write the interval between the doses", "SS is %g, but II is %g", ss, ii)
		case e["addl"][i] < 0 || e["addl"][i] > 0 && ii <= 0:
			return n.fault(i, "write the interval between the doses, and no negative number", "ADDL is %g, and II is %g", e["addl"][i], ii)
		case constant && amt > 0:
			return n.fault(i, "a constant infusion at steady state has AMT 0; other doses at steady state need II", "SS is %g and II is 0, but AMT is %g", ss, amt)
		}
	}
	return nil
}
