package draws

// rows are the draws of a chain, statistics and values of one after those of the other, in
// blocks of equally many. One slice that grows would hold, while it is copied, and till the
// next collection of garbage, what it has grown out of as well: 3.9 times the numbers of
// 20,000 draws of 2,000 quantities in a whole run, where blocks take 1.8.
type rows struct {
	width  int         // numbers of a draw
	per    int         // draws of a block
	n      int         // draws
	blocks [][]float64 // all of them of full length
}

// blockNumbers is about the greatest length of a block of rows.
const blockNumbers = 1 << 17

// newRows are no rows, to which about so many will be added; 0: it is not known.
func newRows(width, expected int) rows {
	if expected <= 0 {
		expected = 64
	}
	return rows{width: width, per: max(1, min(expected, blockNumbers/max(width, 1)))}
}

// rowsOf are those in a slice, which is kept.
func rowsOf(width int, flat []float64) rows {
	n := len(flat) / max(width, 1)
	if n == 0 {
		return newRows(width, 0)
	}
	return rows{width: width, per: n, n: n, blocks: [][]float64{flat}}
}

// at is row i. Its capacity ends with it.
func (r *rows) at(i int) []float64 {
	from := i % r.per * r.width
	return r.blocks[i/r.per][from : from+r.width : from+r.width]
}

// next is the place of the row after the last; it is not one of the rows before [rows.added].
func (r *rows) next() []float64 {
	if r.n/r.per == len(r.blocks) {
		r.blocks = append(r.blocks, make([]float64, r.per*r.width))
	}
	return r.at(r.n)
}

// added makes one of the rows of what next has given.
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

// clear removes all rows.
func (r *rows) clear() { r.n, r.blocks = 0, nil }
