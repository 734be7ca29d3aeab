package dense

// Cholesky factors and their adjoints.

// From these orders on matrices are factorised, and adjoints found, in blocks of outer rows,
// of which what other rows contribute is subtracted by panels that are copied to where they
// follow each other: once matrices leave the second-level cache. Factors of order 512 take
// 1.15 times as long by that, of order 1000 0.8 times; adjoints of order 400 1.06 times, of
// order 512 0.67, of order 1000 0.43.
const (
	blockedFactor  = 768
	blockedAdjoint = 500
	outer          = 128
)

// CholeskyWork is the size of the work space of Cholesky and of its adjoint.
func (k *Kernels) CholeskyWork(n int) int {
	m := up(n, k.rows)
	size := k.space() + m*stride(m)
	if m >= blockedAdjoint {
		size += up(outer*atOnce, 8) + up(k.wide*k.lanes*atOnce, 8)
	}
	return size
}

// panels is memory for panels of A and of B.
type panels struct{ as, bs []float64 }

func (c *call) takePanels() panels {
	return panels{c.take(outer * atOnce), c.take(c.wide * c.lanes * atOnce)}
}

// less subtracts Aᵀ B from C, of no more than outer rows; A and B have a row for every term.
// With upper, elements more than a tile below the diagonal may be left out.
func (c *call) less(p panels, to []float64, sc int, a []float64, sa int, b []float64, sb int, rows, cols, terms int, upper bool) {
	w := c.wide * c.lanes
	for t := 0; t < terms; t += atOnce {
		part := min(atOnce, terms-t)
		for i := 0; i < rows; i += c.rows {
			panel := p.as[i*part:]
			for k := range part {
				copy(panel[k*c.rows:(k+1)*c.rows], a[(t+k)*sa+i:])
			}
		}
		c.strides(sc, c.rows, w)
		for j := 0; j < cols; j += w {
			width := min(w, cols-j)
			for k := range part {
				copy(p.bs[k*w:k*w+width], b[(t+k)*sb+j:])
			}
			for i := 0; i < rows && !(upper && j+w <= i); i += c.rows {
				c.tile(subtract, to[i*sc+j:], p.as[i*part:], p.bs, part, width/c.lanes)
			}
		}
	}
}

// upper makes a matrix of m rows whose upper triangle is that of the transpose of the lower
// triangle of a, continued by zeros.
func (c *call) upper(a []float64, n int) (u []float64, m, s int) {
	m = up(n, c.rows)
	s = stride(m)
	u = c.take(m * s)
	c.word(c.strideFrom, n)
	c.word(c.strideTo, 8*s)
	i := 0
	for ; i+c.rows <= n; i += c.rows {
		c.blocks(u[i:], a[i*n:], i/c.rows+1)
	}
	for ; i < n; i++ {
		for j, x := range a[i*n : i*n+i+1] {
			u[j*s+i] = x
		}
	}
	if m > n {
		for i := range m {
			clear(u[i*s+n : i*s+m])
		}
		for i := n; i < m; i++ {
			clear(u[i*s : i*s+m])
		}
	}
	return u, m, s
}

// Cholesky computes the lower factor, with zeros above the diagonal, of the lower triangle
// of the n×n matrix a; false if a pivot is not positive. It factorises Uᵀ U by blocks of
// rows of U: each is what those above leave of it, solved with its triangle.
func (k *Kernels) Cholesky(l, a []float64, n int, work []float64) bool {
	c := k.begin(work)
	u, m, s := c.upper(a, n)
	for i := n; i < m; i++ {
		u[i*s+i] = 1
	}
	r, v := k.rows, k.rows/k.lanes
	var p panels
	if m >= blockedFactor {
		p = c.takePanels()
	}
	begin := 0 // of the rows that are still to be subtracted
	for i := 0; i < m; i += r {
		if m >= blockedFactor && i%outer == 0 && i > 0 {
			begin = i
			c.less(p, u[i*s+i:], s, u[i:], s, u[i:], s, min(outer, m-i), m-i, i, true)
		}
		c.strides(s, s, s)
		block, above := u[i*s+i:], u[begin*s+i:]
		if i > begin {
			c.tile(subtract, block, above, above, i-begin, v)
		}
		c.onBlock(k.factor, block)
		for j := range r {
			if d := block[j*s+j]; !(d > 0 && d-d == 0) {
				return false
			}
		}
		if rest := m - i - r; rest > 0 {
			c.tile(forward, block[r:], above, above[r:], i-begin, rest/k.lanes)
		}
	}
	c.word(c.strideFrom, s)
	c.word(c.strideTo, 8*n)
	full := n / r
	for i := range full {
		c.blocks(l[i*r*n+i*r:], u[i*r*s+i*r:], full-i)
	}
	for i := range n {
		if i >= full*r {
			for j := range i + 1 {
				l[i*n+j] = u[j*s+i]
			}
		}
		clear(l[i*n+i+1 : (i+1)*n])
	}
	return true
}

// CholeskyAdjoint is the adjoint of the lower triangle of a matrix, in the lower triangle
// of dst with zeros above, from the n×n factor l and the lower triangle of its adjoint.
// See package kernel for the derivation: with U = Lᵀ and Ū the adjoint's, it solves
// U S = Ū in the upper triangle for a symmetric S, from the last block of rows to the first.
func (k *Kernels) CholeskyAdjoint(dst, l, adj []float64, n int, work []float64) {
	c := k.begin(work)
	s, m, t := c.upper(adj, n)
	r, v := k.rows, k.rows/k.lanes
	var p panels
	if m >= blockedAdjoint {
		p = c.takePanels()
	}
	end := m // of the rows whose part in columns beyond is still to be subtracted
	for i := m - r; i >= 0; i -= r {
		if below := i + r; m >= blockedAdjoint && below%outer == 0 && below < m {
			end = below
			first := below - outer
			c.less(p, s[first*t+end:], t, l[end*n+first:], n, s[end*t+end:], t, outer, m-end, n-end, false)
		}
		c.strides(t, n, t)
		c.triangle(l, n, n, i, false)
		block, below := s[i*t+i:], i+r
		if below < m {
			a := l[below*n+i:]
			if end > below {
				c.tile(backward, block[r:], a, s[below*t+below:], n-below, (end-below)/k.lanes)
			}
			if end < m {
				c.tile(backward, s[i*t+end:], a, s[below*t+end:], end-below, (m-end)/k.lanes)
			}
			c.word(c.strideFrom, t)
			c.word(c.strideTo, 8*t)
			c.blocks(block[r*t:], block[r:], (m-below)/r)
			c.tile(subtract, block, a, block[r*t:], n-below, v)
		}
		c.onBlock(k.corner, block)
	}
	for i := range n {
		copy(dst[i*n:i*n+i+1], s[i*t:])
		dst[i*n+i] *= 0.5
		clear(dst[i*n+i+1 : (i+1)*n])
	}
}

// triangle makes the coefficients those of the square block of a triangular n×n matrix at
// row and column i, or of its transpose: with transposed, coefficient (i, p) is element
// (i, p), else element (p, i). Beyond the end they are those of the identity.
func (c *call) triangle(a []float64, sa, n, i int, transposed bool) {
	r := min(c.rows, n-i)
	cs := c.scratch[c.coefficients:c.inverses]
	if r < c.rows {
		clear(cs)
	}
	from := a[i*sa+i:]
	for p := range r {
		row := from[p*sa : p*sa+r]
		if transposed {
			for q, x := range row {
				cs[q*c.rows+p] = x
			}
		} else {
			copy(cs[p*c.rows:], row)
		}
		c.scratch[c.inverses+p] = -1 / row[p]
	}
	for p := r; p < c.rows; p++ {
		c.scratch[c.inverses+p] = -1
	}
}
