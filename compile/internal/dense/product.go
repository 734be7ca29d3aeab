package dense

// A product adds up atOnce terms at a time, for rowsAtOnce rows. A panel of B then stays in the
// first-level cache, and the rows of A in the second-level cache.
const (
	atOnce     = 192
	rowsAtOnce = 384
)

// ProductWork returns the size of the work space of Product.
func (k *Kernels) ProductWork(r, terms int) int {
	n, w := min(terms, atOnce), k.wide*k.lanes
	return k.space() + up(up(min(r, rowsAtOnce), k.rows)*n, 8) + up(n*w, 8) + up(k.rows*w, 8)
}

// Product computes rows from up to to of dst = op(A) op(B), which has r rows and cols columns;
// terms is the inner dimension. op is the transpose with transA or transB, else the identity.
// Panels of A and B are copied to contiguous memory; each panel of B serves all rows.
func (k *Kernels) Product(dst, a, b []float64, r, cols, terms, from, to int, transA, transB bool, work []float64) {
	c := k.begin(work)
	n, w := min(terms, atOnce), k.wide*k.lanes
	as := c.take(up(min(r, rowsAtOnce), k.rows) * n)
	bs, corner := c.take(n*w), c.take(k.rows*w)
	for t := 0; t < terms; t += n {
		for i := from; i < to; i += rowsAtOnce {
			p := part{row: i, rows: min(rowsAtOnce, to-i), term: t, terms: min(n, terms-t)}
			c.packRows(as, a, r, terms, &p, transA)
			for j := 0; j < cols; j += w {
				p.col, p.cols = j, min(w, cols-j)
				c.packColumns(bs, b, cols, terms, &p, transB)
				c.panel(dst, cols, as, bs, corner, &p, a, r, transA)
			}
		}
	}
}

// part is a part of a product: ranges of rows, columns and terms.
type part struct{ row, rows, col, cols, term, terms int }

// panel adds a part to the product. Incomplete tiles are computed in corner. Whole tiles of a
// transposed A are not copied, since their terms are rows.
func (c *call) panel(dst []float64, cols int, as, bs, corner []float64, p *part, a []float64, r int, transA bool) {
	w := c.wide * c.lanes
	vectors := up(p.cols, c.lanes) / c.lanes
	m := add
	if p.term == 0 {
		m = set
	}
	c.strides(cols, c.rows, w)
	for i := 0; i < p.rows; i += c.rows {
		panel := as[i*p.terms:]
		rows := min(c.rows, p.rows-i)
		if transA && rows == c.rows {
			panel = a[p.term*r+p.row+i:]
			c.strides(cols, r, w)
		} else if transA {
			c.strides(cols, c.rows, w)
		}
		if rows == c.rows && p.cols%c.lanes == 0 {
			c.tile(m, dst[(p.row+i)*cols+p.col:], panel, bs, p.terms, vectors)
			continue
		}
		c.word(c.strideC, w)
		c.tile(set, corner, panel, bs, p.terms, vectors)
		c.word(c.strideC, cols)
		for k := range rows {
			to := dst[(p.row+i+k)*cols+p.col:][:p.cols]
			if m == set {
				copy(to, corner[k*w:])
				continue
			}
			for q := range to {
				to[q] += corner[k*w+q]
			}
		}
	}
}

// packRows copies the part's rows of op(A), tile by tile, and each tile term by term.
func (c *call) packRows(as, a []float64, r, terms int, p *part, transA bool) {
	for i := 0; i < p.rows; i += c.rows {
		panel, rows := as[i*p.terms:(i+c.rows)*p.terms], min(c.rows, p.rows-i)
		if transA && rows == c.rows {
			continue
		}
		if rows < c.rows {
			clear(panel)
		}
		if !transA {
			c.transposed(panel, c.rows, a[(p.row+i)*terms+p.term:], terms, rows, p.terms)
			continue
		}
		for k := range p.terms {
			copy(panel[k*c.rows:k*c.rows+rows], a[(p.term+k)*r+p.row+i:])
		}
	}
}

// packColumns copies the part's columns of op(B).
func (c *call) packColumns(bs, b []float64, cols, terms int, p *part, transB bool) {
	w := c.wide * c.lanes
	if full := up(p.cols, c.lanes); full > p.cols {
		for k := range p.terms {
			clear(bs[k*w+p.cols : k*w+full])
		}
	}
	if transB {
		c.transposed(bs, w, b[p.col*terms+p.term:], terms, p.cols, p.terms)
		return
	}
	for k := range p.terms {
		copy(bs[k*w:k*w+p.cols], b[(p.term+k)*cols+p.col:])
	}
}
