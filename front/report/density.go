package report

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer/diagnose"
)

// gridded is a density or a histogram on a grid of equally spaced values.
type gridded struct {
	from, step float64
	y          [][]float64 // by sample
}

const (
	densityPoints = 100 // of a curve
	fineBins      = 800 // for computing curves
	wholeNumbers  = 60  // maximum number of different values with one bar each
)

// densities estimates the densities of several samples at the same points. It uses a Gaussian
// kernel whose width follows Silverman's rule of thumb: 0.9 times the smaller of the standard
// deviation and the interquartile range over 1.34, divided by the fifth root of the number of
// values. The points range from the smallest to the largest value. Outliers, farther from the
// middle 98 % than its range, are not shown but counted. ok is false if there is nothing to show.
func densities(samples [][]float64) (g gridded, outside int, ok bool) {
	var all []float64
	for _, s := range samples {
		all = append(all, finite(s)...)
	}
	if len(all) < 2 {
		return g, 0, false
	}
	slices.Sort(all)
	low, high := limits(all)
	if !(low < high) || math.IsInf(high-low, 0) {
		return g, 0, false
	}
	for _, v := range all {
		if v < low || v > high {
			outside++
		}
	}
	g.from, g.step = low, (high-low)/(densityPoints-1)
	for _, s := range samples {
		g.y = append(g.y, smooth(finite(s), low, high, false, false))
	}
	return g, outside, true
}

// limits returns the smallest and the largest value of a sorted sample that are shown.
func limits(sorted []float64) (low, high float64) {
	n := len(sorted)
	a, b := sorted[n/100], sorted[n-1-n/100]
	return max(sorted[0], a-(b-a)), min(sorted[n-1], b+(b-a))
}

// smooth returns the density of a sample at densityPoints values from low to high. If an end is a
// bound of the values, the part of the kernel beyond it is reflected, since otherwise the density
// would fall there.
func smooth(sample []float64, low, high float64, lower, upper bool) []float64 {
	out := make([]float64, densityPoints)
	if len(sample) < 2 {
		return nil
	}
	spread := deviation(sample)
	if iqr := (diagnose.Quantile(sample, 0.75) - diagnose.Quantile(sample, 0.25)) / 1.34; iqr > 0 {
		spread = min(spread, iqr)
	}
	width := 0.9 * spread * math.Pow(float64(len(sample)), -0.2)
	bin := (high - low) / fineBins
	width = max(width, bin) // for nearly constant samples: the narrowest width that can be drawn
	counts := make([]float64, fineBins+1)
	for _, v := range sample {
		if v < low || v > high {
			continue
		}
		// Each value is shared among the two neighbouring points of the fine grid.
		at := (v - low) / bin
		i := min(int(at), fineBins-1)
		counts[i] += 1 - (at - float64(i))
		counts[i+1] += at - float64(i)
	}
	reach := min(int(4*width/bin)+1, fineBins)
	kernel := make([]float64, reach+1)
	for i := range kernel {
		z := float64(i) * bin / width
		kernel[i] = math.Exp(-z*z/2) / (width * math.Sqrt(2*math.Pi) * float64(len(sample)))
	}
	for k := range out {
		centre := int(math.Round(float64(k) * fineBins / (densityPoints - 1)))
		for j := max(0, centre-reach); j <= min(fineBins, centre+reach); j++ {
			if counts[j] != 0 {
				out[k] += counts[j] * kernel[max(j-centre, centre-j)]
				if d := centre + j; lower && d <= reach {
					out[k] += counts[j] * kernel[d]
				}
				if d := 2*fineBins - centre - j; upper && d <= reach {
					out[k] += counts[j] * kernel[d]
				}
			}
		}
	}
	return out
}

func deviation(sample []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range sample {
		mean += v / float64(len(sample))
	}
	for _, v := range sample {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(max(len(sample)-1, 1)))
}

// shares counts values that are whole numbers, with one bar each. ok is false if some values are
// not, or if there are too many different ones.
func shares(samples [][]float64) (g gridded, ok bool) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range samples {
		for _, v := range s {
			if v != math.Trunc(v) || math.IsInf(v, 0) || math.Abs(v) > 1<<40 {
				return g, false // NaN too
			}
			low, high = min(low, v), max(high, v)
		}
	}
	if !(low <= high) || high-low >= wholeNumbers {
		return g, false
	}
	g.from, g.step = low-0.5, 1
	for _, s := range samples {
		y := make([]float64, int(high-low)+1)
		for _, v := range s {
			y[int(v-low)] += 1 / float64(len(s))
		}
		g.y = append(g.y, y)
	}
	return g, true
}
