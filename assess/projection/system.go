package projection

import (
	"math"
)

// system has the weighted cross products of a design, and the solution for some covariances. It
// solves penalised least squares: the squares of the independent standardised effects are added.
type system struct {
	d *design

	zz []float64 // by group of the first factor: products of its columns, k × k
	zr []float64 // by group: products of its columns with the rest, k × rest
	rr []float64 // products of the rest, lower triangle filled to a square
	zy []float64 // by group: products of the columns with the right-hand side
	ry []float64 // products of the rest with the right-hand side
	yy float64

	triangles [][]float64 // by factor
	szr, srr  []float64   // zr and rr in the standardised effects
	sry       []float64
	blocks    []float64 // by group: factor of the eliminated block
	c         []float64 // by group: eliminated block⁻¹ times its row of szr
	a         []float64 // what is left after the elimination
	rhs       []float64
	row       []float64

	effects []float64 // by group of the first factor, standardised
	other   []float64 // standardised effects of the other factors, then the coefficients
}

func newSystem(d *design) *system {
	levels := 0
	if d.k > 0 {
		levels = d.factors[0].levels
	}
	k, r := d.k, d.rest
	s := &system{d: d,
		zz: make([]float64, levels*k*k), zr: make([]float64, levels*k*r), rr: make([]float64, r*r),
		zy: make([]float64, levels*k), ry: make([]float64, r),
		szr: make([]float64, levels*k*r), srr: make([]float64, r*r), sry: make([]float64, r),
		blocks: make([]float64, levels*k*k), c: make([]float64, levels*k*r), a: make([]float64, r*r), rhs: make([]float64, r), row: make([]float64, k),
		effects: make([]float64, levels*k), other: make([]float64, r),
	}
	for _, f := range d.factors {
		s.triangles = append(s.triangles, make([]float64, len(f.columns)*len(f.columns)))
	}
	return s
}

// products computes the cross products of the columns. weights may be nil.
func (s *system) products(weights []float64) {
	d, k, r := s.d, s.d.k, s.d.rest
	clear(s.zz)
	clear(s.zr)
	clear(s.rr)
	for i := range d.rows {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		index, value := d.index[i*d.entries:(i+1)*d.entries], d.value[i*d.entries:(i+1)*d.entries]
		if k > 0 {
			f := d.factors[0]
			g := f.groups[i]
			for a := range k {
				x := w * f.columns[a][i]
				for b := range k {
					s.zz[(g*k+a)*k+b] += x * f.columns[b][i]
				}
				row := s.zr[(g*k+a)*r : (g*k+a+1)*r]
				for e, j := range index {
					row[j] += x * value[e]
				}
			}
		}
		for e, j := range index {
			x := w * value[e]
			row := s.rr[j*r : (j+1)*r]
			for q := range e + 1 {
				row[index[q]] += x * value[q]
			}
		}
	}
	for j := range r {
		for q := range j {
			s.rr[q*r+j] = s.rr[j*r+q]
		}
	}
}

// right computes the products with a right-hand side. weights may be nil.
func (s *system) right(weights, y []float64) {
	d, k := s.d, s.d.k
	clear(s.zy)
	clear(s.ry)
	s.yy = 0
	for i, v := range y {
		x := v
		if weights != nil {
			x *= weights[i]
		}
		s.yy += x * v
		for e := i * d.entries; e < (i+1)*d.entries; e++ {
			s.ry[d.index[e]] += x * d.value[e]
		}
		if k > 0 {
			f := d.factors[0]
			for a := range k {
				s.zy[f.groups[i]*k+a] += x * f.columns[a][i]
			}
		}
	}
}

// penalised is the result of a solution.
type penalised struct {
	squares    float64 // penalised sum of squares
	effectsDet float64 // logarithm of the determinant of the effects' matrix
	coefDet    float64 // of what is left for the coefficients
	ok         bool    // the matrix is positive definite
}

// solve solves the system for parameters of the covariances.
func (s *system) solve(theta []float64) (out penalised) {
	d, k, r := s.d, s.d.k, s.d.rest
	at := 0
	for i, f := range d.factors {
		f.triangle(theta[at:at+f.parameters()], s.triangles[i])
		at += f.parameters()
	}
	s.standardise()
	copy(s.a, s.srr)
	copy(s.rhs, s.sry)
	coefficients := d.first[len(d.first)-1]
	for j := range coefficients {
		s.a[j*r+j]++
	}
	out.squares = s.yy
	if k > 0 && !s.eliminate(&out) {
		return out
	}
	if !cholesky(s.a, r) {
		return out
	}
	for j := range r {
		l := 2 * math.Log(s.a[j*r+j])
		if j < coefficients {
			out.effectsDet += l
		} else {
			out.coefDet += l
		}
	}
	copy(s.other, s.rhs)
	forward(s.a, r, s.other)
	for _, v := range s.other {
		out.squares -= v * v
	}
	backward(s.a, r, s.other)
	for g := range len(s.effects) / max(k, 1) {
		for a := range k {
			v := s.effects[g*k+a]
			row := s.c[(g*k+a)*r : (g*k+a+1)*r]
			for j, x := range row {
				v -= x * s.other[j]
			}
			s.effects[g*k+a] = v
		}
	}
	out.ok = true
	return out
}

// eliminate eliminates the effects of the first factor.
func (s *system) eliminate(out *penalised) bool {
	k, r := s.d.k, s.d.rest
	t := s.triangles[0]
	var nonzero []int
	for g := range s.d.factors[0].levels {
		block := s.blocks[g*k*k : (g+1)*k*k]
		congruent(s.zz[g*k*k:(g+1)*k*k], t, k, block)
		for a := range k {
			block[a*k+a]++
		}
		if !cholesky(block, k) {
			return false
		}
		for a := range k {
			out.effectsDet += 2 * math.Log(block[a*k+a])
		}
		// c becomes L⁻¹ T' szr, then L⁻ᵀ of that; between the two it updates what is left.
		c := s.c[g*k*r : (g+1)*k*r]
		clear(c)
		u := s.effects[g*k : (g+1)*k]
		clear(u)
		for a := range k {
			for b := a; b < k; b++ {
				x := t[b*k+a]
				if x == 0 {
					continue
				}
				for j, v := range s.szr[(g*k+b)*r : (g*k+b+1)*r] {
					c[a*r+j] += x * v
				}
				u[a] += x * s.zy[g*k+b]
			}
		}
		nonzero = nonzero[:0]
		for j := range r {
			for a := range k {
				if c[a*r+j] != 0 {
					nonzero = append(nonzero, j)
					break
				}
			}
		}
		for a := range k {
			for b := range a {
				x := block[a*k+b]
				for _, j := range nonzero {
					c[a*r+j] -= x * c[b*r+j]
				}
				u[a] -= x * u[b]
			}
			x := 1 / block[a*k+a]
			for _, j := range nonzero {
				c[a*r+j] *= x
			}
			u[a] *= x
		}
		for a := range k {
			out.squares -= u[a] * u[a]
			row := c[a*r : (a+1)*r]
			for n, j := range nonzero {
				x := row[j]
				s.rhs[j] -= x * u[a]
				to := s.a[j*r : (j+1)*r]
				for _, q := range nonzero[:n+1] {
					to[q] -= x * row[q]
				}
			}
		}
		for a := k - 1; a >= 0; a-- {
			for b := a + 1; b < k; b++ {
				x := block[b*k+a]
				for _, j := range nonzero {
					c[a*r+j] -= x * c[b*r+j]
				}
				u[a] -= x * u[b]
			}
			x := 1 / block[a*k+a]
			for _, j := range nonzero {
				c[a*r+j] *= x
			}
			u[a] *= x
		}
	}
	return true
}

// standardise computes szr, srr and sry: the columns of the other factors times the triangles of
// their covariances.
func (s *system) standardise() {
	d, r := s.d, s.d.rest
	copy(s.szr, s.zr)
	copy(s.srr, s.rr)
	copy(s.sry, s.ry)
	for f := 1; f < len(d.factors); f++ {
		fac, t := d.factors[f], s.triangles[f]
		n := len(fac.columns)
		for g := range fac.levels {
			at := d.first[f-1] + g*n
			for row := range len(s.szr) / max(r, 1) {
				times(s.szr[row*r+at:row*r+at+n], t, n, 1)
			}
			for row := range r {
				times(s.srr[row*r+at:row*r+at+n], t, n, 1)
			}
			for col := range r {
				times(s.srr[at*r+col:], t, n, r)
			}
			times(s.sry[at:at+n], t, n, 1)
		}
	}
}

// times replaces a vector x, with a stride, by T'x. T is lower triangular.
func times(x, t []float64, n, stride int) {
	for a := range n {
		v := 0.0
		for b := a; b < n; b++ {
			v += t[b*n+a] * x[b*stride]
		}
		x[a*stride] = v
	}
}

// congruent computes T' A T. T is lower triangular.
func congruent(a, t []float64, n int, dst []float64) {
	for i := range n {
		for j := range n {
			v := 0.0
			for p := i; p < n; p++ {
				for q := j; q < n; q++ {
					v += t[p*n+i] * a[p*n+q] * t[q*n+j]
				}
			}
			dst[i*n+j] = v
		}
	}
}

// cholesky replaces the lower triangle of a matrix by that of its factor. It reports whether the
// matrix is positive definite.
func cholesky(a []float64, n int) bool {
	for j := range n {
		rowJ := a[j*n : j*n+j+1]
		d := rowJ[j]
		for q := range j {
			d -= rowJ[q] * rowJ[q]
		}
		if !(d > 1e-14*math.Abs(rowJ[j])) {
			return false
		}
		d = math.Sqrt(d)
		rowJ[j] = d
		for i := j + 1; i < n; i++ {
			rowI := a[i*n : i*n+j+1]
			v := rowI[j]
			for q := range j {
				v -= rowI[q] * rowJ[q]
			}
			rowI[j] = v / d
		}
	}
	return true
}

// forward solves L x = b in place.
func forward(l []float64, n int, b []float64) {
	for i := range n {
		for j := range i {
			b[i] -= l[i*n+j] * b[j]
		}
		b[i] /= l[i*n+i]
	}
}

// backward solves L' x = b in place.
func backward(l []float64, n int, b []float64) {
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			b[i] -= l[j*n+i] * b[j]
		}
		b[i] /= l[i*n+i]
	}
}

// predictor computes the linear predictor of the solution, without the offset.
func (s *system) predictor(dst []float64) {
	d, k := s.d, s.d.k
	raw := append([]float64(nil), s.other...)
	for f := 1; f < len(d.factors); f++ {
		n := len(d.factors[f].columns)
		for g := range d.factors[f].levels {
			lift(raw[d.first[f-1]+g*n:d.first[f-1]+(g+1)*n], s.triangles[f], n)
		}
	}
	var own []float64
	if k > 0 {
		own = append(own, s.effects...)
		for g := range d.factors[0].levels {
			lift(own[g*k:(g+1)*k], s.triangles[0], k)
		}
	}
	for i := range d.rows {
		v := 0.0
		for e := i * d.entries; e < (i+1)*d.entries; e++ {
			v += d.value[e] * raw[d.index[e]]
		}
		if k > 0 {
			f := d.factors[0]
			for a := range k {
				v += f.columns[a][i] * own[f.groups[i]*k+a]
			}
		}
		dst[i] = v
	}
}

// lift replaces standardised effects u by T u.
func lift(u, t []float64, n int) {
	for a := n - 1; a >= 0; a-- {
		v := 0.0
		for b := range a + 1 {
			v += t[a*n+b] * u[b]
		}
		u[a] = v
	}
}

// penalty is the sum of the squares of the standardised effects.
func (s *system) penalty() float64 {
	sum := 0.0
	for _, v := range s.effects {
		sum += v * v
	}
	for _, v := range s.other[:s.d.first[len(s.d.first)-1]] {
		sum += v * v
	}
	return sum
}
