package data

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// This file: dates and times as numbers, see [How].

// timeUnits are the units of dates and times.
var timeUnits = []string{"seconds", "minutes", "hours", "days", "weeks", "months", "years"}

// unitSeconds has the lengths of the units that have one.
var unitSeconds = map[string]float64{"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400, "weeks": 7 * 86400}

const clock = `([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?(?: ?([AaPp][Mm]))?(Z|[+-][0-9]{2}:?[0-9]{2})?`

var (
	yearFirst  = regexp.MustCompile(`^([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?:[T ] *` + clock + `)?$`)
	yearMonth  = regexp.MustCompile(`^([0-9]{4})-([0-9]{2})$`)
	yearLast   = regexp.MustCompile(`^([0-9]{1,2})([-/.])([0-9]{1,2})([-/.])([0-9]{4}|[0-9]{2})(?:[T ] *` + clock + `)?$`)
	dayName    = regexp.MustCompile(`^([0-9]{1,2})[- ]?([A-Za-z]{3,9})\.?[-, ]+([0-9]{4}|[0-9]{2})(?: +` + clock + `)?$`)
	nameDay    = regexp.MustCompile(`^([A-Za-z]{3,9})\.? ([0-9]{1,2}),? ([0-9]{4})(?: +` + clock + `)?$`)
	timeOfDay  = regexp.MustCompile(`^` + clock + `$`)
	digitsOnly = regexp.MustCompile(`^([0-9]{4})([0-9]{2})([0-9]{2})$`)
)

// moment reads a date, a time, or both. order is the order of dates such as 3/4/2024; if it is "",
// such dates are not read. A time of day without a date belongs to year 1.
func moment(text, order string) (time.Time, bool) {
	if m := yearFirst.FindStringSubmatch(text); m != nil {
		return at(m[1], m[2], m[3], m[4:])
	}
	if m := yearMonth.FindStringSubmatch(text); m != nil {
		return at(m[1], m[2], "1", nil)
	}
	if m := yearLast.FindStringSubmatch(text); m != nil && m[2] == m[4] {
		switch {
		case m[2] == "." || order == "dmy":
			return at(m[5], m[3], m[1], m[6:])
		case order == "mdy":
			return at(m[5], m[1], m[3], m[6:])
		}
		return time.Time{}, false
	}
	if m := dayName.FindStringSubmatch(text); m != nil {
		return at(m[3], monthOf(m[2]), m[1], m[4:])
	}
	if m := nameDay.FindStringSubmatch(text); m != nil {
		return at(m[3], monthOf(m[1]), m[2], m[4:])
	}
	if m := timeOfDay.FindStringSubmatch(text); m != nil {
		return at("0001", "1", "1", m[1:])
	}
	return time.Time{}, false
}

// monthOf returns the number of a month with an English name; "0" for other names.
func monthOf(name string) string {
	for m := time.January; m <= time.December; m++ {
		if full := m.String(); strings.EqualFold(name, full) || strings.EqualFold(name, full[:3]) || m == time.September && strings.EqualFold(name, "sept") {
			return strconv.Itoa(int(m))
		}
	}
	return "0"
}

// at returns the moment of a date and a clock: hour, minute, second, am or pm, and zone.
func at(year, month, day string, clock []string) (time.Time, bool) {
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	y, m, d := number(year), number(month), number(day)
	if len(year) == 2 { // two digits mean years as in POSIX
		if y += 1900; y < 1969 {
			y += 100
		}
	}
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if t.Day() != d || int(t.Month()) != m || y < 1 {
		return time.Time{}, false
	}
	if len(clock) == 0 || clock[0] == "" {
		return t, true
	}
	hour, minute := number(clock[0]), number(clock[1])
	second, _ := strconv.ParseFloat("0"+clock[2], 64)
	if half := strings.ToLower(clock[3]); half != "" {
		if hour < 1 || hour > 12 {
			return time.Time{}, false
		}
		if hour %= 12; half == "pm" {
			hour += 12
		}
	}
	if hour > 24 || minute > 59 || second >= 61 {
		return time.Time{}, false
	}
	t = t.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(math.Round(second*1e9)))
	if zone := strings.ReplaceAll(clock[4], ":", ""); len(zone) == 5 {
		ahead := time.Duration(number(zone[1:3]))*time.Hour + time.Duration(number(zone[3:]))*time.Minute
		if zone[0] == '+' {
			ahead = -ahead
		}
		t = t.Add(ahead)
	}
	return t, true
}

// momentText formats a moment as [How].Since expects it.
func momentText(t time.Time) string {
	if t.Equal(t.Truncate(24 * time.Hour)) {
		return t.Format("2006-01-02")
	}
	return t.Format("2006-01-02 15:04:05.999999999")
}

// since returns the time from an origin, in a unit. Months are counted by the calendar; a part of a
// month is a share of the month that it belongs to.
func since(origin, t time.Time, unit string) float64 {
	if s := unitSeconds[unit]; s > 0 {
		whole, rest := t.Unix()-origin.Unix(), t.Nanosecond()-origin.Nanosecond()
		return (float64(whole) + float64(rest)/1e9) / s
	}
	months := monthsOf(t) - monthsOf(origin)
	if unit == "years" {
		return months / 12
	}
	return months
}

// monthsOf returns the number of months since year 0, with the share of the last one.
func monthsOf(t time.Time) float64 {
	first := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	return float64(12*t.Year()+int(t.Month())-1) + t.Sub(first).Seconds()/first.AddDate(0, 1, 0).Sub(first).Seconds()
}

// dateOf reads a field of a column of dates, which may also be eight digits.
func dateOf(text, order string) (time.Time, bool) {
	if m := digitsOnly.FindStringSubmatch(text); m != nil {
		return at(m[1], m[2], m[3], nil)
	}
	return moment(text, order)
}

// convertTimes computes the values of columns of dates and times. Columns without an origin share
// the earliest date of them all, so that differences between columns are durations.
func convertTimes(columns []*column) {
	earliest, some := time.Time{}, false
	for _, c := range columns {
		if c.findOrder(); c.fault != nil && c.fault != c.hole || c.declared.how.Since != "" {
			continue
		}
		for _, f := range c.declared.fields {
			t, ok := dateOf(f.text, c.declared.how.Order)
			if ok && !f.missing && (!some || t.Before(earliest)) {
				earliest, some = t, true
			}
		}
	}
	if earliest.Year() == 1 || !some { // these are times of day
		earliest = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	for _, c := range columns {
		if c.fault != nil && c.fault != c.hole {
			continue
		}
		h := &c.declared.how
		if h.Since == "" {
			h.Since = momentText(earliest)
		}
		origin, _ := moment(h.Since, "")
		c.convert(func(text string) (float64, string, string) {
			t, ok := dateOf(text, h.Order)
			switch {
			case !ok:
				return 0, "which is no date or time", "write it as 2024-01-31 or 2024-01-31 08:30, or leave the field empty"
			case (t.Year() == 1) != (origin.Year() == 1):
				return 0, "a time without a date", "write dates in all rows and in all such columns, or give this column an origin"
			}
			return since(origin, t, h.As), "", ""
		})
	}
}

// findOrder finds the order of dates such as 3/4/2024 that all rows have.
func (c *column) findOrder() {
	h := &c.declared.how
	if h.Order != "" {
		return
	}
	fits := map[string]bool{"dmy": true, "mdy": true}
	differs := tableField{}
	needed := false
	for _, f := range c.declared.fields {
		if _, ok := dateOf(f.text, ""); ok || f.missing {
			continue
		}
		a, first := dateOf(f.text, "dmy")
		b, second := dateOf(f.text, "mdy")
		if !first && !second {
			continue // convert reports this field
		}
		needed = true
		fits["dmy"], fits["mdy"] = fits["dmy"] && first, fits["mdy"] && second
		if differs.text == "" && !a.Equal(b) {
			differs = f
		}
	}
	switch {
	case !needed:
	case fits["dmy"] && fits["mdy"] && differs.text != "":
		c.fault = &Error{Line: differs.line, Column: differs.at, Path: c.name,
			Message: c.name + " has dates such as " + clip(differs.text) + ", of which each may begin with the day or the month",
			Fix:     "say which", Settings: []string{"read='" + c.name + "=" + h.As + " dmy'", "read='" + c.name + "=" + h.As + " mdy'"}}
		c.faultLength = len(differs.text)
	case !fits["dmy"] && !fits["mdy"]:
		h.Order = "dmy" // convert reports the first row that does not fit
	case fits["dmy"]:
		h.Order = "dmy"
	default:
		h.Order = "mdy"
	}
}
