package quick

import (
	"cmp"
	"math"
	"slices"
)

// Sorter sorts the draws of quantities. It owns its buffers, so each goroutine needs its own. The
// zero value is ready for use.
type Sorter struct {
	from, to []uint64 // the key in the upper half, the index in the lower
	counts   [2][1 << radixBits]int32

	few           []ranked // scratch of few and of digits
	fewTo         []ranked
	digitsOfFloat *[floatDigits][1 << radixBits]int32
}

// ranked is a draw and its index.
type ranked struct {
	value float64
	place int32
}

// radixLength is the smallest number of draws for radix sort. For fewer, counting digits takes
// longer than comparisons.
const radixLength = 512

// The size of the digits for radix sort in bits, and the number of digits in a float64.
const (
	radixBits   = 11
	radixMask   = 1<<radixBits - 1
	floatDigits = (64 + radixBits - 1) / radixBits
)

// Sort writes values in ascending order to sorted, and their indices to order. The values must not
// have a NaN; low and high are their minimum and maximum.
func (s *Sorter) Sort(sorted []float64, order []int32, values []float64, low, high float64) {
	if len(values) >= radixLength && s.fixed(sorted, order, values, low, high) {
		return
	}
	s.few = s.few[:0]
	for i, v := range values {
		s.few = append(s.few, ranked{v, int32(i)})
	}
	if len(values) >= radixLength {
		s.digits()
	} else {
		slices.SortFunc(s.few, func(a, b ranked) int { return cmp.Compare(a.value, b.value) })
	}
	for i, r := range s.few {
		sorted[i], order[i] = r.value, r.place
	}
}

// fixed sorts by fixed-point keys: the position of each value between the minimum and the maximum,
// in 22 bits. It sorts the keys by two digits, and then values with equal keys by insertion. It
// returns false if insertion takes too long, which happens if a few outliers make most keys equal.
// For 4000 draws without outliers it takes a fifth of the time of sorting by all digits, and a
// twelfth of the time of sorting by comparisons.
func (s *Sorter) fixed(sorted []float64, order []int32, values []float64, low, high float64) bool {
	scale := (1<<(2*radixBits) - 1) / (high - low)
	if !(scale > 0) || math.IsInf(scale, 0) { // also where the range is not finite
		return false
	}
	n := len(values)
	if cap(s.from) < n {
		s.from, s.to = make([]uint64, n), make([]uint64, n)
	}
	from, to := s.from[:n], s.to[:n]
	clear(s.counts[0][:])
	clear(s.counts[1][:])
	for i, v := range values {
		key := uint64((v - low) * scale)
		from[i] = key<<32 | uint64(i)
		s.counts[0][key&radixMask]++
		s.counts[1][key>>radixBits&radixMask]++
	}
	for d := range s.counts {
		at := int32(0)
		counts := &s.counts[d]
		for i, c := range counts {
			counts[i] = at
			at += c
		}
		shift := 32 + radixBits*d
		for _, e := range from {
			c := &counts[e>>shift&radixMask]
			to[*c] = e
			*c++
		}
		from, to = to, from
	}
	moves := 0
	for i, e := range from {
		at := uint32(e)
		v := values[at]
		j := i
		for j > 0 && sorted[j-1] > v {
			sorted[j], order[j] = sorted[j-1], order[j-1]
			j--
		}
		sorted[j], order[j] = v, int32(at)
		if moves += i - j; moves > 4*n {
			return false
		}
	}
	return true
}

// digits sorts s.few by all digits of the values' floating-point representation.
func (s *Sorter) digits() {
	n := len(s.few)
	if s.digitsOfFloat == nil {
		s.digitsOfFloat = new([floatDigits][1 << radixBits]int32)
	}
	s.fewTo = append(s.fewTo[:0], s.few...)
	counts := s.digitsOfFloat
	clear(counts[:])
	for _, r := range s.few {
		key := sortKey(r.value)
		for d := range counts {
			counts[d][key>>(radixBits*d)&radixMask]++
		}
	}
	from, to := s.few, s.fewTo
	for d := range counts {
		counts := &counts[d]
		shift := radixBits * d
		if counts[sortKey(from[0].value)>>shift&radixMask] == int32(n) {
			continue // all have the same digit
		}
		at := int32(0)
		for i, c := range counts {
			counts[i] = at
			at += c
		}
		for _, r := range from {
			c := &counts[sortKey(r.value)>>shift&radixMask]
			to[*c] = r
			*c++
		}
		from, to = to, from
	}
	s.few, s.fewTo = from, to
}

// sortKey maps values to integers in the same order; 0 and -0 have the same key.
func sortKey(v float64) uint64 {
	bits := math.Float64bits(v + 0)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}
