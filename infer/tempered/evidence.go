package tempered

import "math"

// batches is the maximum number of batches of scans that are kept for standard errors. When it is
// reached, neighbouring batches are joined, so batches become twice as long.
const batches = 64

// evidence accumulates sums for the estimate of the normalising constant. For each pair of
// neighbouring levels and each batch, it has the logarithms of the sums of the two stepping-stone
// estimators and of the bridge between them.
type evidence struct {
	pairs  int
	length int     // number of scans in a full batch
	in     int     // number of scans in the last batch
	sums   [][]sum // by batch and pair
}

// sum has the logarithms of four sums over the scans of a batch. The summands are functions of the
// log ratio ℓ = log π - log r; Δ is the difference between the two values of β.
type sum struct {
	Forward, Backward float64 // exp(Δℓ) at the hotter level, exp(-Δℓ) at the colder one
	HalfHot, HalfCold float64 // exp(½Δℓ) at the hotter level, exp(-½Δℓ) at the colder one
}

func newEvidence(pairs int) evidence { return evidence{pairs: pairs, length: 1} }

// begin begins a scan.
func (e *evidence) begin() {
	if len(e.sums) > 0 && e.in < e.length {
		return
	}
	if len(e.sums) == batches {
		for i := range batches / 2 {
			a, b := e.sums[2*i], e.sums[2*i+1]
			for j := range a {
				a[j].join(b[j])
			}
			e.sums[i] = a
		}
		e.sums, e.length = e.sums[:batches/2], 2*e.length
	}
	row, none := make([]sum, e.pairs), math.Inf(-1)
	for j := range row {
		row[j] = sum{none, none, none, none}
	}
	e.sums, e.in = append(e.sums, row), 0
}

func (s *sum) join(o sum) {
	s.Forward, s.Backward = logAdd(s.Forward, o.Forward), logAdd(s.Backward, o.Backward)
	s.HalfHot, s.HalfCold = logAdd(s.HalfHot, o.HalfHot), logAdd(s.HalfCold, o.HalfCold)
}

// add adds the log ratios at the two levels of a pair.
func (e *evidence) add(pair int, step, hot, cold float64) {
	one := sum{step * hot, -step * cold, 0.5 * step * hot, -0.5 * step * cold}
	e.sums[len(e.sums)-1][pair].join(one)
}

// end ends a scan, after all pairs were added.
func (e *evidence) end() { e.in++ }

// logAdd returns log(exp(a) + exp(b)).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) || math.IsInf(a, 1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// Evidence is an estimate of the logarithm of a normalising constant with its standard error.
type Evidence struct {
	LogZ  float64
	Error float64

	// Forward and Backward are the two stepping-stone estimates. Forward uses only draws of the
	// hotter level of each pair; its exponential is unbiased for Z. Backward uses those of the
	// colder level; the reciprocal of its exponential is unbiased for 1/Z.
	Forward, Backward float64
}

// of returns the estimate from pairs first to last-1.
//
// LogZ uses the geometric bridge between neighbouring levels: the mean of exp(½Δℓ) at the hotter
// level divided by the mean of exp(-½Δℓ) at the colder one (bridge sampling, Meng and Wong 1996).
// It is a stepping stone (Xie and others 2011) from both sides, whose variance is finite even where
// that of a one-sided one is infinite. The error comes from the variation between batches.
func (e *evidence) of(first, last int) Evidence {
	none := math.NaN()
	full := len(e.sums)
	if full == 0 || first == last {
		return Evidence{none, none, none, none}
	}
	scans := float64((full-1)*e.length + e.in)
	totals := make([]sum, e.pairs)
	copy(totals, e.sums[0])
	for _, row := range e.sums[1:] {
		for j := range row {
			totals[j].join(row[j])
		}
	}
	var out Evidence
	for _, t := range totals[first:last] {
		out.LogZ += t.HalfHot - t.HalfCold
		out.Forward += t.Forward - math.Log(scans)
		out.Backward -= t.Backward - math.Log(scans)
	}
	// The relative deviation of each batch from the whole. The sums over all pairs are taken
	// together, so that variation common to all levels counts.
	n, square := 0.0, 0.0
	for b, row := range e.sums {
		size := float64(e.length)
		if b == full-1 {
			size = float64(e.in)
		}
		deviation := 0.0
		for j := first; j < last; j++ {
			deviation += (math.Exp(row[j].HalfHot-totals[j].HalfHot) - math.Exp(row[j].HalfCold-totals[j].HalfCold)) * scans
		}
		// The variance of a batch's sum is proportional to its length.
		square += deviation * deviation / size
		n++
	}
	if n < 2 {
		out.Error = none
	} else {
		out.Error = math.Sqrt(square / (n - 1) / scans)
	}
	return out
}
