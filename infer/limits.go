package infer

import (
	"fmt"
	"math"
	"strconv"
)

// limit is the range of a numeric option, from min to max. open says which ends are excluded.
type limit struct {
	min, max float64
	open     ends
}

type ends uint8

const (
	closed ends = 0
	above  ends = 1 // min is excluded
	below  ends = 2 // max is excluded
)

const (
	million = 1_000_000
	huge    = 1e300
)

// limits has the range of each numeric option of a run and of its samplers, by its name on the
// command line. The ranges prevent a typing error, or a number from an untrusted user, from
// starting a run that cannot end or does not fit in memory. NaN is never allowed. Conditions on
// several options are checked where the options are used. Package bayesopt, which does not depend
// on runs, checks its own options.
var limits = map[string]limit{
	"chains":      {1, 10_000, closed},
	"warmup":      {0, math.MaxInt32, closed},
	"draws":       {0, math.MaxInt32, closed},
	"thin":        {1, math.MaxInt32, closed},
	"first-id":    {0, math.MaxInt32, closed},
	"parallel":    {0, 10_000, closed},
	"refresh":     {0, math.MaxInt32, closed},
	"sig-figs":    {1, 18, closed},
	"target-ess":  {0, 1e9, above},
	"init-radius": {0, huge, closed},

	"stepsize":         {0, huge, above},
	"delta":            {0, 1, above | below},
	"gamma":            {0, huge, above},
	"kappa":            {0, huge, above},
	"reach":            {0, huge, above},
	"t0":               {0, huge, above},
	"init-buffer":      {0, math.MaxInt32, closed},
	"window":           {0, math.MaxInt32, closed},
	"term-buffer":      {0, math.MaxInt32, closed},
	"max-depth":        {1, 30, closed}, // a tree has 2^depth points
	"max-energy-error": {0, math.Inf(1), above},
	"stepsize-jitter":  {0, 1, closed},
	"refine":           {0, huge, closed},
	"steps":            {1, math.MaxInt32, closed},
	"int-time":         {0, huge, above},
	"most-steps":       {1, math.MaxInt32, closed},

	"min-stepsize":   {0, huge, above},
	"max-stepsize":   {0, huge, above},
	"first-stepsize": {0, huge, above},
	"radius":         {0, huge, above},
	"adapt-power":    {0, huge, above},
	"min-steps":      {1, math.MaxInt32, closed},
	"max-steps":      {1, math.MaxInt32, closed},
	"first-steps":    {1, math.MaxInt32, closed},

	"implicit-tolerance": {0, 1, above},
	"return-tolerance":   {0, 1, above},
	"softabs-alpha":      {0, huge, above},
	"fixed-points":       {1, million, closed},
	"stepsize-points":    {2, 1000, closed}, // number of grid points that each batch evaluates
	"steps-points":       {2, 1000, closed},
	"batches":            {1, million, closed},
	"batch-length":       {1, math.MaxInt32, closed},
	"first-round":        {5, million, closed},
	"replicas":           {2, 10_000, closed},
	"starts":             {1, million, closed},
	"refreshes":          {1, million, closed},
	"race-batch":         {4, million, closed},
	"race-length":        {1, 1000, closed},
	"folds":              {2, 100_000, closed},
	"fold-leapfrogs":     {1, math.MaxInt32, closed},
}

// CheckOption returns an error if a number is out of range for the option that has this name on the
// command line. Do not call it if 0 means the default.
func CheckOption[T int | float64](name string, value T) error {
	l, ok := limits[name]
	v := float64(value)
	switch {
	case !ok:
		return fmt.Errorf("there is no option %s", name)
	case v >= l.min && v <= l.max && !(l.open&above != 0 && v == l.min) && !(l.open&below != 0 && v == l.max):
		return nil
	}
	bound := func(v float64) string { return strconv.FormatFloat(v, 'g', 10, 64) }
	want := "must be "
	switch {
	case v >= l.max && l.open&below != 0:
		want += "less than " + bound(l.max)
	case v > l.max:
		want += "at most " + bound(l.max)
	case l.open&above != 0 && l.min == 0:
		want += "positive"
	case l.open&above != 0:
		want += "more than " + bound(l.min)
	default:
		want += "at least " + bound(l.min)
	}
	return fmt.Errorf("%s %s, but is %v", name, want, value)
}

// CheckOptions is CheckOption for several numbers, except those that are 0, which mean their
// defaults.
func CheckOptions[T int | float64](values map[string]T) error {
	var worst string // first name in alphabetical order, so that the message is always the same
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

// Limited is the optional interface of a [LogDensity] that limits the memory that a sampler may use
// in addition to the target's own.
type Limited interface {
	MemoryLimit() int64 // in bytes
}

// Squares is the optional interface of a [Sampler] whose chains keep matrices with a row and
// a column for each parameter.
type Squares interface {
	Squares() int // approximate maximum number of matrices that a chain keeps; 0: none
}

// CheckSquares returns an error if some matrices would exceed the memory limit of a target. Each
// matrix has a row and a column for each parameter. instead says, in the message, what the user can
// do.
func CheckSquares(target LogDensity, matrices int, instead string) error {
	l, ok := Innermost(target).(Limited)
	if !ok {
		return nil
	}
	d := float64(target.Dim())
	if need, limit := 8*d*d*float64(matrices), float64(l.MemoryLimit()); need > limit {
		return fmt.Errorf("with %d parameters a matrix of a row and a column for each takes %.3g GB, and about %d are needed; there are %.3g GB: %s",
			target.Dim(), 8*d*d/1e9, matrices, limit/1e9, instead)
	}
	return nil
}
