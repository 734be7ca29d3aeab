package ad

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
)

// OrderAttr is the direction of an OpOrder.
type OrderAttr struct{ Descending bool }

// AppendKey implements Keyed.
func (o OrderAttr) AppendKey(b []byte) []byte { return strconv.AppendBool(b, o.Descending) }

// orderOps returns the rows of ops that find positions by comparing elements.
func orderOps() map[OpCode]Op {
	none := func(*Graph, *Node, Ref, Ref, []bool) []Ref { return []Ref{None} }
	return map[OpCode]Op{
		OpOrder: {Name: "order", Class: Array, Arity: 1, Flat: true, Total: true, VJP: none,
			Shape: func(args []Type, _ any) (Type, error) {
				if len(args[0].Shape) != 1 {
					return Type{}, errors.New("only vectors have an order")
				}
				return Type{Shape: args[0].Shape}, nil
			},
			Eval: func(dst []float64, args [][]float64, _ []Type, attr any, _ []float64) error {
				order(dst, args[0], attr.(OrderAttr).Descending)
				return nil
			}},
		OpFirstMax: {Name: "first_max", Class: Array, Arity: 1, Flat: true, Total: true, VJP: none,
			Shape: lastDimReduced,
			Eval: func(dst []float64, args [][]float64, types []Type, _ any, _ []float64) error {
				k := types[0].Shape[len(types[0].Shape)-1]
				for i := range dst {
					first, m := 0, math.Inf(-1)
					for j, v := range args[0][i*k : (i+1)*k] {
						if v > m || math.IsNaN(v) {
							first, m = j, v
						}
					}
					dst[i] = float64(first)
				}
				return nil
			}},
	}
}

// order sets dst to the positions of the elements of x in sorted order. Equal elements have the
// same order as in Stan, which uses the introspective sort (Musser 1997) of the GNU C++ library:
//
//   - Quicksort, by the median of the second, the middle and the last element, until no part is
//     longer than 16. Parts that are still longer after 2 log₂ n partitions are sorted by heapsort.
//   - Then one insertion sort of the whole.
//
// NaN comes last.
func order(dst, x []float64, descending bool) {
	for i := range dst {
		dst[i] = float64(i)
	}
	s := introsort{at: dst, less: func(i, j float64) bool {
		a, b := x[int(i)], x[int(j)]
		if descending {
			return a > b || !math.IsNaN(a) && math.IsNaN(b)
		}
		return a < b || !math.IsNaN(a) && math.IsNaN(b)
	}}
	n := len(x)
	if n == 0 {
		return
	}
	s.partitions(0, n, 2*(bits.Len(uint(n))-1))
	s.insert(n)
}

// introsort sorts the indices at by less.
type introsort struct {
	at   []float64
	less func(a, b float64) bool
}

const shortPart = 16 // partitions leaves parts of this length to the insertion sort

func (s *introsort) swap(i, j int) { s.at[i], s.at[j] = s.at[j], s.at[i] }

// partitions sorts the elements from lo up to, but excluding, hi, except within short parts, which
// stay unsorted.
func (s *introsort) partitions(lo, hi, depth int) {
	for ; hi-lo > shortPart; depth-- {
		if depth == 0 {
			s.heap(lo, hi)
			return
		}
		s.median(lo, lo+1, lo+(hi-lo)/2, hi-1)
		cut := s.partition(lo+1, hi, s.at[lo])
		s.partitions(cut, hi, depth-1)
		hi = cut
	}
}

// median swaps the median of the elements at a, b and c with the element at to.
func (s *introsort) median(to, a, b, c int) {
	less := func(i, j int) bool { return s.less(s.at[i], s.at[j]) }
	m := a
	switch {
	case less(a, b) && less(b, c):
		m = b
	case less(a, b) && less(a, c):
		m = c
	case less(a, b):
	case less(a, c):
	case less(b, c):
		m = c
	default:
		m = b
	}
	s.swap(to, m)
}

// partition partitions the elements from lo up to, but excluding, hi. It returns the index of the
// first element that is not less than the pivot.
func (s *introsort) partition(lo, hi int, pivot float64) int {
	for {
		for s.less(s.at[lo], pivot) {
			lo++
		}
		hi--
		for s.less(pivot, s.at[hi]) {
			hi--
		}
		if lo >= hi {
			return lo
		}
		s.swap(lo, hi)
		lo++
	}
}

// insert is an insertion sort of the first n elements. It checks for the beginning of the slice
// only while it inserts the first short part: that contains the smallest element, at which later
// searches stop.
func (s *introsort) insert(n int) {
	for i := 1; i < n; i++ {
		v, j := s.at[i], i
		if i < shortPart && s.less(v, s.at[0]) {
			copy(s.at[1:i+1], s.at[:i])
			s.at[0] = v
			continue
		}
		for ; s.less(v, s.at[j-1]); j-- {
			s.at[j] = s.at[j-1]
		}
		s.at[j] = v
	}
}

// heap sorts the elements from lo up to, but excluding, hi by heapsort.
func (s *introsort) heap(lo, hi int) {
	h := s.at[lo:hi]
	for top := (len(h) - 2) / 2; top >= 0; top-- {
		s.sift(h, top, h[top])
	}
	for n := len(h) - 1; n > 0; n-- {
		v := h[n]
		h[n] = h[0]
		s.sift(h[:n], 0, v)
	}
}

// sift puts v in place of the root, at top, of a heap: at each level the greater child moves up;
// then v moves up to where it belongs.
func (s *introsort) sift(h []float64, top int, v float64) {
	hole := top
	for 2*hole+2 < len(h) {
		child := 2*hole + 2
		if s.less(h[child], h[child-1]) {
			child--
		}
		h[hole], hole = h[child], child
	}
	if 2*hole+1 < len(h) {
		h[hole], hole = h[2*hole+1], 2*hole+1
	}
	for hole > top && s.less(h[(hole-1)/2], v) {
		h[hole], hole = h[(hole-1)/2], (hole-1)/2
	}
	h[hole] = v
}
