package assess

import (
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/model"
)

// censoredAnew returns simulated data in which values are censored as those of the original data
// are. A value that is censored there, or is in an interval, has the same bounds in all data sets.
// It is known to be below, between or above them. For a value that is known there, no bounds are
// known, so it is known in all data sets.
func censoredAnew(m *model.Model, original, drawn *data.Set) *data.Set {
	for _, c := range m.Program().Sided() {
		known, ok := boundsOf(original, c)
		y, has := drawn.Get(c.Name)
		if !ok || !has || len(y.Reals) != len(known) {
			continue
		}
		value, side, to := slices.Clone(y.Reals), make([]float64, len(known)), slices.Clone(y.Reals)
		if v, ok := original.Get(c.To); ok && c.Sides != "" {
			to = slices.Clone(v.Reals)
		}
		for i, b := range known {
			x := y.Reals[i]
			if b.between && y.Ints != nil { // an interval includes its ends
				b.lo, b.hi = b.lo-1, b.hi+1
			}
			switch {
			case x <= b.lo:
				side[i], value[i] = -1, b.lo
				if c.Sides == "" {
					value[i], to[i] = math.Inf(-1), b.lo
				}
			case x >= b.hi:
				side[i], value[i] = 1, b.hi
				if c.Sides == "" {
					to[i] = math.Inf(1)
				}
			case b.between:
				side[i], value[i], to[i] = 2, known[i].lo, known[i].hi
			}
		}
		drawn = drawn.With(func(name string, v data.Value) data.Value {
			switch name {
			case c.Name:
				return numbers(v, value)
			case c.Sides:
				return numbers(v, side)
			case c.To:
				return numbers(v, to)
			}
			return v
		})
	}
	return drawn
}

// bounds are the values at which an observation is cut off.
type bounds struct {
	lo, hi  float64 // infinite where there is none
	between bool    // values between them are not known either
}

// boundsOf returns the bounds of each value of a variable; ok is false if the data lack them.
func boundsOf(d *data.Set, c compile.Sided) (out []bounds, ok bool) {
	y, ok := d.Get(c.Name)
	if !ok {
		return nil, false
	}
	reals := func(name string) []float64 {
		v, has := d.Get(name)
		if name != "" && (!has || len(v.Reals) != len(y.Reals)) {
			ok = false
		}
		return v.Reals
	}
	sides, to := reals(c.Sides), reals(c.To)
	for i := 0; ok && i < len(y.Reals); i++ {
		b := bounds{lo: math.Inf(-1), hi: math.Inf(1)}
		switch {
		case sides == nil:
			if y.Reals[i] != to[i] {
				b = bounds{y.Reals[i], to[i], true}
				if math.IsInf(b.lo, -1) {
					b = bounds{b.hi, math.Inf(1), false}
				} else if math.IsInf(b.hi, 1) {
					b = bounds{math.Inf(-1), b.lo, false}
				}
			}
		case sides[i] < 0:
			b.lo = y.Reals[i]
		case sides[i] == 1:
			b.hi = y.Reals[i]
		case sides[i] == 2:
			b = bounds{y.Reals[i], to[i], true}
		}
		out = append(out, b)
	}
	return out, ok
}

// numbers returns a value with other numbers. It stays one of integers if it is one.
func numbers(v data.Value, reals []float64) data.Value {
	out := data.Value{Shape: v.Shape, Ragged: v.Ragged, Reals: reals, IsInt: v.Ints != nil && !slices.ContainsFunc(reals, func(x float64) bool { return x != math.Trunc(x) || math.IsInf(x, 0) })}
	if out.IsInt {
		for _, x := range reals {
			out.Ints = append(out.Ints, int64(x))
		}
	}
	return out
}

// uncut returns an error if data lack the bounds at which their values are cut off.
func uncut(m *model.Model, d *data.Set) error {
	for _, c := range m.Program().Sided() {
		if _, ok := boundsOf(d, c); !ok {
			return fmt.Errorf("%s is declared as censored, and the data lack its values, or how they are censored: the bounds at which simulated values are cut off. Give them, or declare limits with censored_below and censored_above", c.Name)
		}
		if v, _ := d.Get(c.Name); v.Ints != nil && c.Sides == "" {
			return fmt.Errorf("%s has integers in intervals, of which none includes the values outside it, so that data cannot be simulated", c.Name)
		}
	}
	return nil
}
