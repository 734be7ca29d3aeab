package vm

import (
	"cmp"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/internal/sorting"
)

// shareData gives arrays of data that are the beginning or the end of a longer one the memory of
// that array. Unrolled loops make such arrays: a convolution of T rows reads the last 1, 2, … of
// the same T numbers. With separate memory these are T²/2 numbers, which no cache holds.
func (e *emitter) shareData() {
	const ends = 8 // numbers that identify the beginning or the end
	type key struct {
		end  bool
		bits [ends]uint64
	}
	keyOf := func(d []float64, end bool) (k key) {
		if k.end = end; end {
			d = d[len(d)-ends:]
		}
		for i := range k.bits {
			k.bits[i] = math.Float64bits(d[i])
		}
		return k
	}
	var ids []rootID
	for i := range e.roots {
		if len(e.roots[i].data) >= ends {
			ids = append(ids, rootID(i))
		}
	}
	if len(ids) < 2 {
		return
	}
	sorting.Stable(ids, func(a, b rootID) int { return cmp.Compare(len(e.roots[b].data), len(e.roots[a].data)) })
	same := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
	longest := map[key][]float64{} // the longest array that begins or ends so
	for _, id := range ids {
		r := &e.roots[id]
		n, begin, end := len(r.data), keyOf(r.data, false), keyOf(r.data, true)
		if d := longest[end]; d != nil && slices.EqualFunc(d[len(d)-n:], r.data, same) {
			r.data = d[len(d)-n:]
			continue
		}
		if d := longest[begin]; d != nil && slices.EqualFunc(d[:n], r.data, same) {
			r.data = d[:n]
			continue
		}
		for _, k := range []key{begin, end} {
			if longest[k] == nil {
				longest[k] = r.data
			}
		}
	}
}
