package plotfile

import (
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/front/report"
)

// TestTicks: ticks are at round values within the range, in order, with different texts, for ranges
// of all sizes.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		s    scale
		want string
	}{
		{scale{low: 0, high: 1}, "0 0.2 0.4 0.6 0.8 1.0"},
		{scale{low: -0.0003, high: 0.0011}, "-0.0002 0 0.0002 0.0004 0.0006 0.0008 0.0010"},
		{scale{low: 3, high: 11}, "4 6 8 10"},
		{scale{low: 0, high: 5e8}, "0 1e+08 2e+08 3e+08 4e+08 5e+08"},
		{scale{low: 0.1, high: 0.2, log: true}, "0.1 0.2"},
		{scale{low: 1, high: 1e4, log: true}, "1 10 100 1000 1e+04"},
		{scale{low: 1234564, high: 1234569}, "1234564 1234565 1234566 1234567 1234568 1234569"},
		{scale{low: 1 - 1e-9, high: 1 + 1e-9}, "0.9999999990 0.9999999995 1.0000000000 1.0000000005 1.0000000010"},
		{scale{low: 1e12, high: 1.0004e12}, "1e+12 1.0001e+12 1.0002e+12 1.0003e+12 1.0004e+12"},
		{scale{low: -1.7e308, high: 1.7e308}, "-1.5e+308 -1e+308 -5e+307 0 5e+307 1e+308 1.5e+308"},
		{scale{low: 0.3, high: 0.4, log: true}, "0.30 0.32 0.34 0.36 0.38 0.40"},
	} {
		var texts []string
		for _, k := range c.s.ticks(report.Axis{}, 5) {
			texts = append(texts, k.text)
		}
		if got := strings.Join(texts, " "); got != c.want {
			t.Errorf("from %v to %v: %s, want %s", c.s.low, c.s.high, got, c.want)
		}
	}
	for high, want := range map[float64]string{0: "0", 1: "0 1", 2: "0 1 2", 3: "0 1 2 3", 12: "0 2 4 6 8 10 12"} { // counts
		var texts []string
		for _, k := range (&scale{high: max(high, 0.5)}).ticks(report.Axis{Whole: true}, 5) {
			texts = append(texts, k.text)
		}
		if got := strings.Join(texts, " "); got != want {
			t.Errorf("counts up to %v: %s, want %s", high, got, want)
		}
	}
	for exponent := -300; exponent <= 300; exponent += 7 {
		for _, m := range []float64{1, 1.7, 2.6, 6.1, 9.99} {
			size := m * math.Pow(10, float64(exponent))
			s := scale{low: -size / 3, high: size}
			seen := map[string]bool{}
			last := math.Inf(-1)
			for _, k := range s.ticks(report.Axis{}, 6) {
				if k.value <= last || k.value < s.low-size*1e-8 || k.value > s.high+size*1e-8 || seen[k.text] {
					t.Errorf("from %v to %v: tick %v %q", s.low, s.high, k.value, k.text)
				}
				last, seen[k.text] = k.value, true
			}
			if len(seen) < 3 || len(seen) > 10 {
				t.Errorf("from %v to %v: %d ticks", s.low, s.high, len(seen))
			}
		}
	}
}

// TestSettle: there is a range whatever the values are.
func TestSettle(t *testing.T) {
	inf := math.Inf(1)
	for _, values := range [][]float64{nil, {0}, {3}, {-1e300}, {1e-300}, {-1.7e308, 1.7e308}, {math.NaN(), inf}, {1, 2}, {0, 0}} {
		for _, log := range []bool{false, true} {
			s := scale{low: inf, high: -inf, log: log}
			for _, v := range values {
				s.include(v)
			}
			s.settle(report.Axis{})
			if !(s.low < s.high) || math.IsInf(s.low, 0) || math.IsInf(s.high, 0) || s.log && s.low <= 0 {
				t.Errorf("%v, logarithmic %t: from %v to %v, %t", values, log, s.low, s.high, s.log)
			}
			if low, high := s.share(s.low), s.share(s.high); low != 0 || math.Abs(high-1) > 1e-12 {
				t.Errorf("%v, logarithmic %t: the ends are at %v and %v", values, log, low, high)
			}
		}
	}
}

// TestDashes: dashes have the lengths that are asked for, across the corners of a line.
func TestDashes(t *testing.T) {
	got := dashed([]point{{0, 0}, {3, 0}, {3, 10}}, []float64{4, 2})
	length := func(p []point) (sum float64) {
		for i := 1; i < len(p); i++ {
			sum += math.Hypot(p[i].x-p[i-1].x, p[i].y-p[i-1].y)
		}
		return sum
	}
	if len(got) != 3 || length(got[0]) != 4 || length(got[1]) != 4 || length(got[2]) != 1 || len(got[0]) != 3 {
		t.Errorf("%v", got)
	}
}

// TestFitted: a text that is too wide ends with an ellipsis and fits.
func TestFitted(t *testing.T) {
	const text = "a long text with θ and ж"
	for width := 1.0; width < 150; width += 7 {
		got := fitted(text, 9, width)
		if got != text && (!strings.HasSuffix(got, "…") || got != "…" && textWidth(got, 9) > width) {
			t.Errorf("width %v: %q is %v wide", width, got, textWidth(got, 9))
		}
	}
	if got := fitted(text, 9, 1000); got != text {
		t.Errorf("%q", got)
	}
}
