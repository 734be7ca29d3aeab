package diagnose

import "math/bits"

// indicatorLags is the number of autocovariances of indicators that are computed by counting bits.
// Further lags are computed by Fourier transform.
const indicatorLags = 256

// indicators computes the mean autocovariance of half-chains of indicators, such as whether a draw
// is at most some quantile. Sums of their products are numbers of set bits, which it counts 64 at a
// time. It owns its buffers, so each goroutine needs its own.
type indicators struct {
	parts, n, words int
	bits            []uint64  // the indicators; each half-chain (part) begins a new word
	ones            []int     // by part
	means           []float64 // by part: mean
	edges           []int     // by part: number of ones among the first and the last edge bits
	edge            int
	slow            *autocovariances
	draws           []float64 // input of slow
	transformed     bool
}

func newIndicators(parts, n int) *indicators {
	words := (n + 63) / 64
	return &indicators{parts: parts, n: n, words: words, bits: make([]uint64, parts*words), ones: make([]int, parts), edges: make([]int, parts)}
}

// reset sets the indicators at the given places to one and the others to zero. A place is an index
// in the parts one after another; -1 is ignored. It reports whether the indicators vary.
func (x *indicators) reset(places []int32) bool {
	clear(x.bits)
	clear(x.ones)
	all, n := 0, uint32(x.n)
	for _, place := range places {
		if place < 0 {
			continue
		}
		part := uint32(place) / n
		at := uint32(place) - part*n
		x.bits[int(part)*x.words+int(at/64)] |= 1 << (at % 64)
		x.ones[part]++
		all++
	}
	x.means = x.means[:0]
	for _, ones := range x.ones {
		x.means = append(x.means, float64(ones)/float64(x.n))
	}
	x.transformed = false
	clear(x.edges)
	x.edge = 0
	return all > 0 && all < x.parts*x.n
}

// at is [autocovariances.at] for the indicators.
func (x *indicators) at(lag int) float64 {
	if lag >= indicatorLags {
		return x.far(lag)
	}
	if lag < x.edge {
		clear(x.edges)
		x.edge = 0
	}
	sum := 0.0
	for part, ones := range x.ones {
		words := x.bits[part*x.words:][:x.words]
		// Sum of products of centred bits: the products of the bits, corrected for the mean.
		both := 0
		skip, shift := lag/64, uint(lag%64)
		for i := skip; i < len(words); i++ {
			later := words[i] >> shift
			if shift > 0 && i+1 < len(words) {
				later |= words[i+1] << (64 - shift)
			}
			both += bits.OnesCount64(words[i-skip] & later)
		}
		for i := x.edge; i < lag; i++ {
			j := x.n - 1 - i
			x.edges[part] += int(words[i/64]>>(i%64)&1) + int(words[j/64]>>(j%64)&1)
		}
		m := x.means[part]
		sum += float64(both) - m*float64(2*ones-x.edges[part]) + float64(x.n-lag)*m*m
	}
	x.edge = lag
	return sum / float64(x.parts*x.n)
}

// far computes at by Fourier transform.
func (x *indicators) far(lag int) float64 {
	if x.slow == nil {
		x.slow = newAutocovariances(x.n)
		x.draws = make([]float64, x.parts*x.n)
	}
	if !x.transformed {
		for i := range x.draws {
			part, at := i/x.n, i%x.n
			x.draws[i] = float64(x.bits[part*x.words+at/64] >> (at % 64) & 1)
		}
		x.slow.reset(x.draws)
		x.transformed = true
	}
	return x.slow.at(lag)
}
