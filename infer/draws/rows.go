package draws

import "slices"

// rows holds the draws of a chain, each with its statistics and then its values, in blocks of equal
// size. A single growing slice would take more memory, because its old copies stay until the next
// garbage collection. For 20,000 draws of 2,000 quantities, a whole run then took 3.9 times the
// size of the draws, and 1.8 times with blocks.
type rows struct {
	width  int         // numbers per draw
	per    int         // draws per block
	n      int         // draws
	blocks [][]float64 // all have their full length
}

// blockNumbers is about the largest number of float64s in a block of rows.
const blockNumbers = 1 << 17

// newRows returns empty rows, to which about expected draws will be added; 0: unknown.
func newRows(width, expected int) rows {
	if expected <= 0 {
		expected = 64
	}
	return rows{width: width, per: max(1, min(expected, blockNumbers/max(width, 1)))}
}

// rowsOf returns the rows in a slice, which it uses without copying.
func rowsOf(width int, flat []float64) rows {
	n := len(flat) / max(width, 1)
	if n == 0 {
		return newRows(width, 0)
	}
	return rows{width: width, per: n, n: n, blocks: [][]float64{flat}}
}

// at returns row i, with its capacity limited to its length.
func (r *rows) at(i int) []float64 {
	from := i % r.per * r.width
	return r.blocks[i/r.per][from : from+r.width : from+r.width]
}

// next returns memory for another row at the end. It becomes one of the rows when [rows.added] is
// called.
func (r *rows) next() []float64 {
	if r.n/r.per == len(r.blocks) {
		r.blocks = append(r.blocks, make([]float64, r.per*r.width))
	}
	return r.at(r.n)
}

// added adds the memory that next returned as a row.
func (r *rows) added() { r.n++ }

// column appends number i of each row to dst.
func (r *rows) column(dst []float64, i int) []float64 {
	left := r.n
	for _, b := range r.blocks {
		n := min(left, r.per)
		for at := i; n > 0; n-- {
			dst = append(dst, b[at])
			at += r.width
			left--
		}
	}
	return dst
}

// table appends the columns from lo to hi-1, one after another, to dst. It reads eight rows at a
// time: a processor waits for memory once for all of them, and writes whole lines of its cache.
func (r *rows) table(dst []float64, lo, hi int) []float64 {
	before, n := len(dst), r.n
	dst = slices.Grow(dst, n*(hi-lo))[:before+n*(hi-lo)]
	out := dst[before:]
	i := 0
	for ; i+8 <= n; i += 8 {
		var some [8][]float64
		for k := range some {
			some[k] = r.at(i + k)[lo:hi]
		}
		for j := range hi - lo {
			to := (*[8]float64)(out[j*n+i:])
			for k := range some {
				to[k] = some[k][j]
			}
		}
	}
	for ; i < n; i++ {
		for j, v := range r.at(i)[lo:hi] {
			out[j*n+i] = v
		}
	}
	return dst
}

// clear removes all rows.
func (r *rows) clear() { r.n, r.blocks = 0, nil }
