package infer

import (
	"fmt"
	"math"
	"strconv"
)

// limit is what an option that is a number may be: from least, which Above
// excludes, to most.
type limit struct {
	least, most float64
	above       bool
}

const million = 1_000_000

// limits are those of the options of a run and of its samplers, by the names
// that they have on a command line; options that no number but NaN and negative
// ones can harm are checked by the samplers themselves. They keep a slip of the pen, or a number
// that comes from a stranger, from making a run that cannot end or does not fit
// in memory; NaN is never allowed. What the numbers mean together is checked by
// those who use them.
var limits = map[string]limit{
	"chains":      {1, 10_000, false},
	"warmup":      {0, math.MaxInt32, false},
	"draws":       {0, math.MaxInt32, false},
	"thin":        {1, math.MaxInt32, false},
	"first-id":    {0, math.MaxInt32, false},
	"parallel":    {0, 10_000, false},
	"refresh":     {0, math.MaxInt32, false},
	"sig-figs":    {1, 18, false},
	"target-ess":  {0, 1e9, true},
	"init-radius": {0, 1e300, false},

	"softabs-alpha":   {0, 1e300, true},
	"fixed-points":    {1, million, false},
	"stepsize-points": {2, 1000, false}, // of a grid that is gone through in every batch
	"steps-points":    {2, 1000, false},
	"batches":         {1, million, false},
	"batch-length":    {1, math.MaxInt32, false},
	"first-round":     {5, million, false},
	"race-batch":      {4, million, false},
	"race-length":     {1, 1000, false},
	"folds":           {2, 100_000, false},
	"fold-leapfrogs":  {1, math.MaxInt32, false},
}

// CheckOption says what is wrong with a number among the options of a run, by
// the option's name on the command line, or nothing. Where 0 stands for a
// default, it is not to be asked about.
func CheckOption[T int | float64](name string, value T) error {
	l, ok := limits[name]
	v := float64(value)
	switch {
	case !ok:
		return fmt.Errorf("there is no option %s", name)
	case v >= l.least && v <= l.most && !(l.above && v == l.least):
		return nil
	}
	bound := func(v float64) string { return strconv.FormatFloat(v, 'g', 10, 64) }
	want := "must be "
	switch {
	case v > l.most:
		want += "at most " + bound(l.most)
	case l.above && l.least == 0:
		want += "positive"
	case l.above:
		want += "more than " + bound(l.least)
	default:
		want += "at least " + bound(l.least)
	}
	return fmt.Errorf("%s %s, but is %v", name, want, value)
}

// CheckOptions is CheckOption of several numbers; those that are 0, which stands
// for their default, are left out.
func CheckOptions[T int | float64](values map[string]T) error {
	var worst string // the first in the alphabet, so that the message does not vary
	var found error
	for name, v := range values {
		if v == 0 {
			continue
		}
		if err := CheckOption(name, v); err != nil && (found == nil || name < worst) {
			worst, found = name, err
		}
	}
	return found
}
