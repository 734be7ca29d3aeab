package dense

// SolveWork is the size of the work space of Solve.
func (k *Kernels) SolveWork(n, cols int) int {
	return k.space() + up(n, k.rows)*stride(cols) + up(n*k.rows, 8)
}

// Solve is the solution X of op(A) X = B or, with right, X op(A) = B, for a triangular
// n×n matrix A, of which only that triangle is read; op is the transpose with trans. The
// other dimension of B and of X is others.
func (k *Kernels) Solve(x, a, b []float64, n, others int, isUpper, trans, right bool, work []float64) {
	c := k.begin(work)
	m, s := up(n, k.rows), stride(others)
	xs := c.take(m * s)
	wide := up(others, k.lanes)
	if right { // op(A)ᵀ Xᵀ = Bᵀ
		trans = !trans
		c.transposed(xs, s, b, n, others, n)
	} else {
		for i := range n {
			copy(xs[i*s:], b[i*others:(i+1)*others])
		}
	}
	for i := range n {
		clear(xs[i*s+others : i*s+wide])
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
		i, mode, from, terms := block*k.rows, forward, 0, block*k.rows
		if isUpper != trans {
			i = m - (block+1)*k.rows
			mode, from, terms = backward, i+k.rows, max(n-i-k.rows, 0)
		}
		c.triangle(a, n, n, i, !trans)
		left := panel
		switch {
		case terms == 0:
		case trans:
			left = a[from*n+i:]
		default:
			rows := min(k.rows, n-i)
			if rows < k.rows {
				clear(panel)
			}
			c.transposed(panel, k.rows, a[i*n+from:], n, rows, terms)
		}
		below := xs
		if terms > 0 {
			below = xs[from*s:]
		}
		c.tile(mode, xs[i*s:], left, below, terms, wide/k.lanes)
	}
	if right {
		c.transposed(x, n, xs, s, n, others)
		return
	}
	for i := range n {
		copy(x[i*others:(i+1)*others], xs[i*s:])
	}
}
