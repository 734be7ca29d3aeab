package whiten

// fewRows is the dimension up to which plain loops are faster than calls of a library.
const fewRows = 48

// triangle is a lower triangular matrix L of up to fewRows rows, packed for products by columns of
// four rows at a time. Four independent sums hide the latency of additions, and an element of the
// vector is loaded once for four products. If the number of rows is not a multiple of four, the
// first rows, which are short, are handled one by one.
type triangle struct {
	dim int
	// for Lv: the first rows; then of each four, their columns before the diagonal block, and that
	// by rows
	rows []float64
	// for Lᵀv, four columns at a time: the diagonal block by columns, then the rows below it; then
	// the last columns
	columns []float64
}

// newTriangle packs a matrix of dim rows. room has dim·(dim+1) numbers.
func newTriangle(dim int, room []float64, at func(i, j int) float64) *triangle {
	n := dim * (dim + 1) / 2
	l := &triangle{dim: dim, rows: room[:0:n], columns: room[n:n]}
	first := dim % 4
	for i := range first {
		for j := range i + 1 {
			l.rows = append(l.rows, at(i, j))
		}
	}
	for i := first; i < dim; i += 4 {
		for j := range i {
			for k := i; k < i+4; k++ {
				l.rows = append(l.rows, at(k, j))
			}
		}
		for k := i; k < i+4; k++ {
			for j := i; j <= k; j++ {
				l.rows = append(l.rows, at(k, j))
			}
		}
	}
	last := dim - first
	for j := 0; j < last; j += 4 {
		for k := j; k < j+4; k++ {
			for i := k; i < j+4; i++ {
				l.columns = append(l.columns, at(i, k))
			}
		}
		for i := j + 4; i < dim; i++ {
			for k := j; k < j+4; k++ {
				l.columns = append(l.columns, at(i, k))
			}
		}
	}
	for j := last; j < dim; j++ {
		for i := j; i < dim; i++ {
			l.columns = append(l.columns, at(i, j))
		}
	}
	return l
}

// multiply writes mean + Lv to x, which must be neither mean nor v.
func (l *triangle) multiply(mean, v, x []float64) {
	c := l.rows
	mean, v = mean[:len(x)], v[:len(x)]
	i := 0
	for ; i < len(x)%4; i++ {
		sum := 0.0
		for j, u := range v[:i+1] {
			sum += c[j] * u
		}
		c = c[i+1:]
		x[i] = mean[i] + sum
	}
	for ; i+3 < len(x); i += 4 {
		var s0, s1, s2, s3 float64
		for _, u := range v[:i] {
			b := c[:4]
			c = c[4:]
			s0 += b[0] * u
			s1 += b[1] * u
			s2 += b[2] * u
			s3 += b[3] * u
		}
		b := c[:10]
		c = c[10:]
		u, m, out := v[i:i+4], mean[i:i+4], x[i:i+4]
		u0, u1, u2, u3 := u[0], u[1], u[2], u[3]
		out[0] = m[0] + (s0 + b[0]*u0)
		out[1] = m[1] + (s1 + (b[1]*u0 + b[2]*u1))
		out[2] = m[2] + (s2 + ((b[3]*u0 + b[4]*u1) + b[5]*u2))
		out[3] = m[3] + (s3 + ((b[6]*u0 + b[7]*u1) + (b[8]*u2 + b[9]*u3)))
	}
}

// transposed writes Lᵀv to x, which must not be v.
func (l *triangle) transposed(v, x []float64) {
	c := l.columns
	v = v[:len(x)]
	i := 0
	for ; i+3 < len(x); i += 4 {
		var s0, s1, s2, s3 float64
		b, u, out := c[:10], v[i:i+4], x[i:i+4]
		c = c[10:]
		for _, u := range v[i+4:] {
			b := c[:4]
			c = c[4:]
			s0 += b[0] * u
			s1 += b[1] * u
			s2 += b[2] * u
			s3 += b[3] * u
		}
		u0, u1, u2, u3 := u[0], u[1], u[2], u[3]
		out[0] = s0 + ((b[0]*u0 + b[1]*u1) + (b[2]*u2 + b[3]*u3))
		out[1] = s1 + ((b[4]*u1 + b[5]*u2) + b[6]*u3)
		out[2] = s2 + (b[7]*u2 + b[8]*u3)
		out[3] = s3 + b[9]*u3
	}
	for ; i < len(x); i++ {
		sum := 0.0
		for j, u := range v[i:] {
			sum += c[j] * u
		}
		c = c[len(x)-i:]
		x[i] = sum
	}
}
