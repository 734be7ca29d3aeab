package vm

// multiply is dst = op(a) op(b), of r rows and c columns, summing over k.
func multiply(dst, a, b []float64, r, c, k int, ta, tb bool) {
	ai, aj, bi, bj := k, 1, c, 1
	if ta {
		ai, aj = 1, r
	}
	if tb {
		bi, bj = 1, k
	}
	for i := range r {
		for j := range c {
			s := 0.0
			for t := range k {
				s += a[i*ai+t*aj] * b[t*bi+j*bj]
			}
			dst[i*c+j] = s
		}
	}
}
