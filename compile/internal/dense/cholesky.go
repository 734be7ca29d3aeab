package dense

// This file: Cholesky factors and their adjoints.

// From these orders on, factors and adjoints use blocks of outer rows. What other rows contribute
// to a block is subtracted in panels, which are copied to contiguous memory. This pays if matrices
// exceed the second-level cache. Measured with blocks of 128 rows, it changes the time by these
// factors: factors of order 512 by 1.15, of order 1000 by 0.8; adjoints of order 400 by 1.06, of
// order 512 by 0.67, of order 1000 by 0.43.
const (
	blockedFactor  = 768
	blockedAdjoint = 500
	outer          = 144
)

// From order InParts on (chosen, not measured), a team of workers can share the work on a block of
// inner rows. Once the square on the diagonal of the block is known, the columns next to it are
// independent, so they are divided into parts. The first part has the columns of the next square
// and also factorises that square, so that no worker waits for it. If panels are copied, a part has
// more columns: there are at most four parts.
const (
	InParts       = 128
	inner         = 48
	columnsAtOnce = 48
	copiedParts   = 4
)

// CholeskyWork returns the size of the work space of Cholesky and of its adjoint.
func (k *Kernels) CholeskyWork(n int) int { return k.jobWork(n) + k.PartWork(n) }

// PartWork returns the size of the memory that a worker needs for parts of matrices of order n.
func (k *Kernels) PartWork(n int) int {
	size := k.space()
	if up(n, k.rows) >= blockedAdjoint {
		size += up(outer*atOnce, 8) + up(k.wide*k.lanes*atOnce, 8)
	}
	return size
}

// panels is memory for copied panels of A and of B.
type panels struct{ as, bs []float64 }

func (c *call) takePanels() panels {
	return panels{c.take(outer * atOnce), c.take(c.wide * c.lanes * atOnce)}
}

// less subtracts columns left to right of Aᵀ B from C, which has at most outer rows. A and B have a
// row for every term. With upper, elements more than a tile below the diagonal may be skipped.
func (c *call) less(to []float64, sc int, a []float64, sa int, b []float64, sb int, rows, left, right, terms int, upper bool) {
	p := c.takePanels()
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
		for j := left; j < right; j += w {
			width := min(w, right-j)
			for k := range part {
				copy(p.bs[k*w:k*w+width], b[(t+k)*sb+j:])
			}
			for i := 0; i < rows && !(upper && j+w <= i); i += c.rows {
				c.tile(subtract, to[i*sc+j:], p.as[i*part:], p.bs, part, width/c.lanes)
			}
		}
	}
}

// panelWidth returns the number of columns that share copied panels, for columns from left on.
func (j *Job) panelWidth(left int) int {
	return up(max((j.m-left+copiedParts-1)/copiedParts, columnsAtOnce), columnsAtOnce)
}

// transpose fills the upper triangle of the job's matrix with the transposed lower triangle of the
// argument, padded with zeros.
func (j *Job) transpose() {
	j.eachRow(transposeRows)
	n, m, s := j.n, j.m, j.s
	if m > n {
		for i := range m {
			clear(j.matrix[i*s+n : i*s+m])
		}
		for i := n; i < m; i++ {
			clear(j.matrix[i*s : i*s+m])
		}
	}
}

// transposeRows is transpose for some rows of the argument.
func (j *Job) transposeRows(c *call, from, to int) {
	a, u, n, s := j.from, j.matrix, j.n, j.s
	c.word(c.strideFrom, n)
	c.word(c.strideTo, 8*s)
	i := from
	for ; i+c.rows <= to; i += c.rows {
		c.blocks(u[i:], a[i*n:], i/c.rows+1)
	}
	for ; i < to; i++ {
		for p, x := range a[i*n : i*n+i+1] {
			u[p*s+i] = x
		}
	}
}

// Cholesky computes the Cholesky factor, lower triangular with zeros above, of the n×n matrix a, of
// which it reads only the lower triangle. It returns false if a pivot is not positive. It computes
// U with UᵀU = a, block of rows by block of rows: it subtracts the contributions of the rows above,
// then solves with the triangle on the diagonal.
func (k *Kernels) Cholesky(j *Job, l, a []float64, n int, work []float64) bool {
	j.ready(k, n, blockedFactor, work)
	j.from, j.to = a, l
	j.transpose()
	m := j.m
	for i := n; i < m; i++ {
		j.matrix[i*j.s+i] = 1
	}
	j.done = 0
	for i := 0; i < m; i += j.block {
		j.top, j.bottom = i, min(i+j.block, m)
		if j.copies(i) {
			j.done = i
			w := j.panelWidth(i)
			j.columns(subtractAbove, i, w, w)
		}
		if i == j.done { // otherwise the step before has subtracted them
			c := k.begin(j.own)
			j.factorSquare(&c, i, j.bottom)
		}
		if j.bottom < m && !j.failed {
			j.columns(eliminate, j.bottom, j.block, columnsAtOnce)
		}
		if j.failed {
			return false
		}
	}
	j.eachRow(factorRows)
	return true
}

// copies reports whether panels are copied to subtract the contributions of the rows above row i.
func (j *Job) copies(i int) bool { return j.m >= blockedFactor && i%outer == 0 && i > 0 }

// subtractAbove subtracts the contributions of the rows above from some columns of a block of outer
// rows.
func (j *Job) subtractAbove(c *call, from, to int) {
	i, s := j.top, j.s
	c.less(j.matrix[i*s+i:], s, j.matrix[i:], s, j.matrix[i:], s, min(outer, j.m-i), from-i, to-i, i, true)
}

// factorSquare factorises the square of rows and columns top to bottom.
func (j *Job) factorSquare(c *call, top, bottom int) {
	u, s, r := j.matrix, j.s, c.rows
	for i := top; i < bottom; i += r {
		c.strides(s, s, s)
		block, above := u[i*s+i:], u[j.done*s+i:]
		if i > j.done {
			c.tile(subtract, block, above, above, i-j.done, r/c.lanes)
		}
		c.onBlock(c.factor, block)
		for p := range r {
			if d := block[p*s+p]; !(d > 0 && d-d == 0) {
				j.failed = true
				return
			}
		}
		if bottom < j.m || top > 0 {
			copy(j.triangleOf(i), c.scratch[c.coefficients:])
		}
		if rest := bottom - i - r; rest > 0 {
			c.tile(forward, block[r:], above, above[r:], i-j.done, rest/c.lanes)
		}
	}
}

// triangleOf returns the memory for the coefficients of the triangle at row i.
func (j *Job) triangleOf(i int) []float64 {
	size := j.k.triangleSize()
	return j.saved[i/j.k.rows*size:][:size]
}

// eliminate computes some columns of a block of rows, next to its square. If these are the columns
// of the next square, it also factorises that square.
func (j *Job) eliminate(c *call, from, to int) {
	u, s := j.matrix, j.s
	c.strides(s, s, s)
	for i := j.top; i < j.bottom; i += c.rows {
		copy(c.scratch[c.coefficients:], j.triangleOf(i))
		c.tile(forward, u[i*s+from:], u[j.done*s+i:], u[j.done*s+from:], i-j.done, (to-from)/c.lanes)
	}
	if from == j.bottom && !j.copies(from) {
		j.factorSquare(c, from, min(from+j.block, j.m))
	}
}

// factorRows writes some rows of the result.
func (j *Job) factorRows(c *call, from, to int) {
	l, u, n, s, r := j.to, j.matrix, j.n, j.s, c.rows
	c.word(c.strideFrom, s)
	c.word(c.strideTo, 8*n)
	full := from + (to-from)/r*r
	for i := 0; i < full; i += r {
		row := max(from, i)
		c.blocks(l[row*n+i:], u[i*s+row:], (full-row)/r)
	}
	for i := from; i < to; i++ {
		if i >= full {
			for p := range i + 1 {
				l[i*n+p] = u[p*s+i]
			}
		}
		clear(l[i*n+i+1 : (i+1)*n])
	}
}

// CholeskyAdjoint computes the adjoint of the lower triangle of a matrix from its n×n factor l and
// the lower triangle of the factor's adjoint. It writes the result to the lower triangle of dst,
// with zeros above. With U = Lᵀ, and Ū the transposed adjoint, it solves U S = Ū in the upper
// triangle for a symmetric S, from the last block of rows to the first. See package kernel for the
// derivation.
func (k *Kernels) CholeskyAdjoint(j *Job, dst, l, adj []float64, n int, work []float64) {
	j.ready(k, n, blockedAdjoint, work)
	j.from, j.to, j.lower = adj, dst, l
	j.transpose()
	j.done = j.m
	for i := (j.m - 1) / j.block * j.block; i >= 0; i -= j.block {
		j.top, j.bottom = i, min(i+j.block, j.m)
		if j.bottom == j.m {
			continue
		}
		// The first part of these steps begins with the square below.
		if j.m >= blockedAdjoint && j.bottom%outer == 0 {
			w := j.panelWidth(j.bottom)
			j.columns(subtractBelow, j.bottom, w, w)
			j.done = j.bottom
		}
		j.columns(substitute, j.bottom, j.block, columnsAtOnce)
	}
	c := k.begin(j.own)
	j.solveSquare(&c, 0, min(j.block, j.m))
	j.eachRow(adjointRows)
}

// subtractBelow subtracts the contributions of the rows below from some columns of a block of outer
// rows.
func (j *Job) subtractBelow(c *call, from, to int) {
	s, t, end, n := j.matrix, j.s, j.bottom, j.n
	if from == end {
		j.solveSquare(c, end, min(end+j.block, j.m))
	}
	first := end - outer
	c.less(s[first*t+end:], t, j.lower[end*n+first:], n, s[end*t+end:], t, outer, from-end, to-end, n-end, false)
}

// substitute computes some columns of a block of rows, next to its square.
func (j *Job) substitute(c *call, from, to int) {
	s, t, l, n, r := j.matrix, j.s, j.lower, j.n, c.rows
	if from == j.bottom && j.done > from {
		j.solveSquare(c, from, min(from+j.block, j.m))
	}
	for i := j.bottom - r; i >= j.top; i -= r {
		below := i + r
		c.strides(t, n, t)
		c.triangle(l, n, n, i, false)
		for left := from; left < to; {
			right, terms := to, j.done-below
			if left < j.done {
				right, terms = min(to, j.done), n-below
			}
			c.tile(backward, s[i*t+left:], l[below*n+i:], s[below*t+left:], terms, (right-left)/c.lanes)
			left = right
		}
		j.mirror(c, i, from, to)
	}
}

// mirror stores some columns of a row of tiles also as rows, since S is symmetric.
func (j *Job) mirror(c *call, i, from, to int) {
	c.word(c.strideFrom, j.s)
	c.word(c.strideTo, 8*j.s)
	c.blocks(j.matrix[from*j.s+i:], j.matrix[i*j.s+from:], (to-from)/c.rows)
}

// solveSquare solves the square of rows and columns top to bottom.
func (j *Job) solveSquare(c *call, top, bottom int) {
	s, t, l, n, r := j.matrix, j.s, j.lower, j.n, c.rows
	for i := bottom - r; i >= top; i -= r {
		below := i + r
		c.strides(t, n, t)
		c.triangle(l, n, n, i, false)
		block := s[i*t+i:]
		if below < j.m {
			a := l[below*n+i:]
			if below < bottom {
				c.tile(backward, block[r:], a, s[below*t+below:], n-below, (bottom-below)/c.lanes)
				j.mirror(c, i, below, bottom)
			}
			c.tile(subtract, block, a, block[r*t:], n-below, r/c.lanes)
		}
		c.onBlock(c.corner, block)
	}
}

// adjointRows writes some rows of the result.
func (j *Job) adjointRows(from, to int) {
	dst, n := j.to, j.n
	for i := from; i < to; i++ {
		copy(dst[i*n:i*n+i+1], j.matrix[i*j.s:])
		dst[i*n+i] *= 0.5
		clear(dst[i*n+i+1 : (i+1)*n])
	}
}

// triangle sets the coefficients from the square block of a triangular n×n matrix at row and column
// i, or from its transpose. With transposed, coefficient (i, p) is element (i, p), else element (p,
// i). Beyond the end of the matrix they are those of the identity.
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
