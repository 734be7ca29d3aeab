package dense

// SolveWork returns the size of the work space of Solve for cols right sides at a time.
func (k *Kernels) SolveWork(n, cols int) int {
	return k.space() + up(n, k.rows)*stride(cols) + up(n*k.rows, 8)
}

// System is a triangular system of equations, op(A) X = B or, with Right, X op(A) = B. A is an N×N
// matrix of which only one triangle is read. op is the transpose with Trans, else the identity. B
// and X have the dimensions N and Others.
type System struct {
	N, Others           int
	Upper, Trans, Right bool
}

// Solve computes columns of the solution X or, with Right, rows: from up to, but excluding, to.
func (k *Kernels) Solve(x, a, b []float64, y *System, from, to int, work []float64) {
	c := k.begin(work)
	n, cols, trans := y.N, to-from, y.Trans
	m, s := up(n, k.rows), stride(cols)
	xs := c.take(m * s)
	wide := up(cols, k.lanes)
	if y.Right { // solve op(A)ᵀ Xᵀ = Bᵀ
		trans = !trans
		c.transposed(xs, s, b[from*n:], n, cols, n)
	} else {
		for i := range n {
			copy(xs[i*s:], b[i*y.Others+from:i*y.Others+to])
		}
	}
	for i := range n {
		clear(xs[i*s+cols : i*s+wide])
	}
	for i := n; i < m; i++ {
		clear(xs[i*s : i*s+wide])
	}
	panel := c.take(n * k.rows)
	sa := n
	if !trans {
		sa = k.rows
	}
	c.strides(s, sa, s)
	for block := range m / k.rows {
		i, mode, first, terms := block*k.rows, forward, 0, block*k.rows
		if y.Upper != trans {
			i = m - (block+1)*k.rows
			mode, first, terms = backward, i+k.rows, max(n-i-k.rows, 0)
		}
		c.triangle(a, n, n, i, !trans)
		left := panel
		switch {
		case terms == 0:
		case trans:
			left = a[first*n+i:]
		default:
			rows := min(k.rows, n-i)
			if rows < k.rows {
				clear(panel)
			}
			c.transposed(panel, k.rows, a[i*n+first:], n, rows, terms)
		}
		below := xs
		if terms > 0 {
			below = xs[first*s:]
		}
		c.tile(mode, xs[i*s:], left, below, terms, wide/k.lanes)
	}
	if y.Right {
		c.transposed(x[from*n:], n, xs, s, n, cols)
		return
	}
	for i := range n {
		copy(x[i*y.Others+from:i*y.Others+to], xs[i*s:])
	}
}
