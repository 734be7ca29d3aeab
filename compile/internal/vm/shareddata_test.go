package vm

import (
	"slices"
	"testing"
	"unsafe"
)

// TestShareData checks that arrays which begin or end like a longer one get its memory, and that no
// array changes.
func TestShareData(t *testing.T) {
	long := make([]float64, 40)
	for i := range long {
		long[i] = float64(i*i%17) - 3
	}
	for _, n := range []int{0, 1, 7, 8, 9, 39, 40} {
		other := slices.Clone(long[40-n:])
		if n > 0 {
			other[0] += 0.5
		}
		arrays := [][]float64{slices.Clone(long[40-n:]), slices.Clone(long), slices.Clone(long[:n]), nil, other}
		e := &emitter{}
		for _, a := range arrays {
			e.roots = append(e.roots, root{n: len(a), data: slices.Clone(a)})
		}
		e.shareData()
		shares := func(i int) bool {
			all, d := e.roots[1].data, e.roots[i].data
			first := uintptr(unsafe.Pointer(unsafe.SliceData(all)))
			at := uintptr(unsafe.Pointer(unsafe.SliceData(d)))
			return at >= first && at < first+8*uintptr(len(all))
		}
		for i, a := range arrays {
			if !slices.Equal(e.roots[i].data, a) || (e.roots[i].data == nil) != (a == nil) {
				t.Errorf("%d elements: array %d has changed", n, i)
			}
		}
		if n == 40 { // equal arrays: one of them has the memory
			continue
		}
		for _, i := range []int{0, 2} {
			if shares(i) != (n >= 8) {
				t.Errorf("%d elements: array %d shares memory: %v", n, i, shares(i))
			}
		}
		if n > 0 && shares(4) {
			t.Errorf("%d elements: an array with another number shares memory", n)
		}
	}
}
