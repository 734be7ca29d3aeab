package data

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// This file reads dates and times of day in data sets of NONMEM.

// dateOrders returns the order of year, month and day in the columns for dates.
func dateOrders() map[string]string {
	return map[string]string{"date": "mdy", "dat1": "dmy", "dat2": "ymd", "dat3": "ydm"}
}

// times reads the column TIME. With a column of dates, or with times of day, it returns hours since
// the first record of each subject. It also reports the first record without a time, or -1.
func (n *nonmem) times(at int) (x []float64, without int, err *Error) {
	day, order := -1, ""
	for name, o := range dateOrders() {
		if c := n.column(name); c >= 0 {
			day, order = c, o
		}
	}
	clock := false
	for i, row := range n.fields {
		if noValue(row[at]) {
			return nil, i, nil
		}
		clock = clock || strings.Contains(row[at], ":")
	}
	if day < 0 && !clock {
		return n.numbers(at, 0)
	}
	x = make([]float64, len(n.fields))
	first := 0.0
	for i, row := range n.fields {
		hours, ok := clockHours(row[at])
		if !ok {
			return nil, 0, n.fault(i, "write hours, or the time of day as in 13:30", "%s is %s, which is no time", n.header[at], clip(row[at]))
		}
		if day >= 0 {
			if noValue(row[day]) {
				return nil, 0, n.fault(i, "write the day of the record", "%s has no value", n.header[day])
			}
			days, reason := dateDays(row[day], order)
			if reason != "" {
				return nil, 0, n.fault(i, "DATE is month/day/year, DAT1 day/month/year, DAT2 year/month/day, DAT3 year/day/month", "%s is %s, %s", n.header[day], clip(row[day]), reason)
			}
			hours += 24 * days
		}
		if i == 0 || n.ids[i] != n.ids[i-1] {
			first = hours
		}
		if x[i] = hours - first; i > 0 && n.ids[i] == n.ids[i-1] && day < 0 && x[i] < x[i-1] {
			return nil, 0, n.fault(i, "times of day do not pass midnight: add a column DATE", "TIME is %s, after %s", clip(row[at]), clip(n.fields[i-1][at]))
		}
	}
	return x, -1, nil
}

// clockHours reads hours, hh:mm or hh:mm:ss.
func clockHours(text string) (hours float64, ok bool) {
	unit := 1.0
	parts := strings.Split(text, ":")
	for i, part := range parts {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || !(v >= 0) || v > 1e9 || i > 2 || i > 0 && v >= 60 || len(parts) > 1 && v > 24 && i == 0 {
			return 0, false
		}
		hours += v / unit
		unit *= 60
	}
	return hours, true
}

// dateDays reads a date as days since a fixed one. One number is a day, two are in the order
// without the year. A first number of four digits is always the year. reason says what is wrong.
func dateDays(text, order string) (days float64, reason string) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '-' || r == '.' })
	switch {
	case len(parts) == 3 && len(parts[0]) == 4 && order[0] != 'y':
		order = "ymd"
	case len(parts) == 2:
		order = strings.ReplaceAll(order, "y", "")
	case len(parts) == 1:
		order = "d"
	}
	if len(parts) != len(order) {
		return 0, "which is no date"
	}
	of := map[byte]int{'y': 2000, 'm': 1, 'd': 1}
	for i, part := range parts {
		v, err := strconv.Atoi(part)
		if err != nil || v < 0 || v > 9999 {
			return 0, "which is no date"
		}
		if of[order[i]] = v; order[i] == 'y' && v < 100 {
			of['y'] = 1900 + v + map[bool]int{true: 100}[v < 50]
		}
	}
	if len(parts) == 1 {
		return float64(of['d']), ""
	}
	at := time.Date(of['y'], time.Month(of['m']), of['d'], 0, 0, 0, 0, time.UTC)
	if int(at.Month()) != of['m'] || at.Day() != of['d'] {
		return 0, fmt.Sprintf("which has day %d in month %d", of['d'], of['m'])
	}
	return float64(at.Unix() / 86400), ""
}
