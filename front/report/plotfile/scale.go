package plotfile

import (
	"math"
	"strconv"

	"github.com/ppl-lang/ppl/front/report"
)

// scale maps the values of an axis to points of the page.
type scale struct {
	low, high float64 // values at the two ends
	log       bool
	from, to  float64 // positions of the ends on the page
}

// at returns the position of a value on the page.
func (s *scale) at(v float64) float64 {
	return s.from + s.share(v)*(s.to-s.from)
}

// share returns the relative position of a value: 0 at the low end, 1 at the high end.
func (s *scale) share(v float64) float64 {
	if s.log {
		return math.Log(v/s.low) / math.Log(s.high/s.low)
	}
	// Without the factors, the difference of the largest numbers would be infinite.
	return (v/4 - s.low/4) / (s.high/4 - s.low/4)
}

// include widens the range of a scale to a value.
func (s *scale) include(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) || s.log && v <= 0 {
		return
	}
	s.low, s.high = min(s.low, v), max(s.high, v)
}

// settle sets the range of a scale from the options of its axis, after all values were included.
func (s *scale) settle(a report.Axis) {
	if a.Range != nil {
		s.low, s.high = float64(a.Range[0]), float64(a.Range[1])
	}
	if a.Zero {
		s.low = min(s.low, 0)
	}
	if n := len(a.Names); n > 0 {
		s.low, s.high = -0.6, float64(n)-0.4
	}
	if a.Range == nil && a.Names == nil && !s.log && s.low < s.high {
		// A little space, so that marks at the ends do not lie on the axes.
		pad := 0.02*s.high - 0.02*s.low
		s.high = min(s.high+pad, math.MaxFloat64)
		if !a.Zero || s.low < 0 {
			s.low = max(s.low-pad, -math.MaxFloat64)
		}
	}
	switch {
	case s.low < s.high && s.log && s.low <= 0:
		s.log = false
	case s.low < s.high:
	case math.IsInf(s.low, 0): // no value is shown
		s.low, s.high, s.log = -0.5, 0.5, false
	case s.log:
		s.low, s.high = s.low/2, min(s.high*2, math.MaxFloat64)
	default: // all values are the same
		pad := 0.5
		if big := math.Abs(s.low); big+pad == big {
			pad = big / 2
		}
		s.low, s.high = s.low-pad, s.high+pad
	}
}

// tick is a mark of an axis with its text.
type tick struct {
	value float64
	text  string
}

// ticks returns about as many ticks as are wanted, at round values.
func (s *scale) ticks(a report.Axis, wanted int) []tick {
	if a.Names != nil {
		var out []tick
		for i, name := range a.Names {
			out = append(out, tick{float64(i), name})
		}
		return out
	}
	if s.log {
		if out := s.powers(wanted); len(out) >= 2 {
			return out
		}
	}
	return s.round(wanted, a.Whole)
}

// longest is the largest number of characters of a number of many digits that has no exponent.
const longest = 12

// round returns ticks at multiples of 1, 2 or 5 times a power of ten.
func (s *scale) round(wanted int, whole bool) []tick {
	raw := s.high/float64(wanted) - s.low/float64(wanted)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * power
	for _, m := range []float64{1, 2, 5} {
		if next := m * 2; raw < power*math.Sqrt(m*next) { // is raw nearer to m than to the next number?
			step = m * power
			break
		}
	}
	if whole {
		step = max(1, math.Round(step))
	}
	decimals := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	large := max(math.Abs(s.low), math.Abs(s.high))
	// Neighbouring ticks differ in the last of so many digits.
	digits := int(math.Ceil(math.Log10(large/step)-1e-9)) + 1
	var out []tick
	slack := step * 1e-9
	for k := math.Ceil((s.low - slack) / step); k*step <= s.high+slack && len(out) < 50; k++ {
		v := k * step
		text := strconv.FormatFloat(v, 'f', decimals, 64)
		if (large >= 1e6 || decimals > 5) && (digits <= 4 || len(text) > longest) {
			text = strconv.FormatFloat(v, 'g', max(4, digits), 64)
		}
		if v == 0 {
			v, text = 0, "0" // without a minus sign
		}
		out = append(out, tick{v, text})
	}
	return out
}

// powers returns ticks of a logarithmic axis: powers of ten, with 2 and 5 times them if there are
// few.
func (s *scale) powers(wanted int) []tick {
	first, last := int(math.Floor(math.Log10(s.low))), int(math.Ceil(math.Log10(s.high)))
	factors := []float64{1, 2, 5}
	if last-first > wanted/2 {
		factors = []float64{1}
	}
	every := max(1, (last-first)/max(1, wanted))
	var out []tick
	for k := first; k <= last; k += every {
		for _, m := range factors {
			v := m * math.Pow(10, float64(k))
			if v >= s.low*(1-1e-9) && v <= s.high*(1+1e-9) {
				out = append(out, tick{v, strconv.FormatFloat(v, 'g', 4, 64)})
			}
		}
	}
	return out
}
