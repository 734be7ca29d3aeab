package kernel

// This file: eigenvalues and eigenvectors of symmetric matrices. Reflections reduce the matrix to a
// tridiagonal one, which implicit QL steps make diagonal. The rotations of a sweep are recorded and
// then applied to the rows together.

import "math"

// EigenLoops are the loops over rows in which a symmetric eigendecomposition spends its time; the
// length of rows is a multiple of eight. All implementations compute each number by the same
// operations in the same order, each rounded separately. So eigenvectors are the same everywhere,
// including their signs.
type EigenLoops interface {
	// Combine computes y = Σ x[k]·(row k of a).
	Combine(y, x, a []float64, stride int)
	RowLoops
	// LessBoth subtracts u[i]·v + s[i]·t from row i of a.
	LessBoth(a []float64, stride int, u, v, s, t []float64)
	// Turn rotates pairs of rows of z, each of n numbers. The k-th pair of rows is first + k·step
	// and the one after it; the k-th pair (c, s) of turns is the rotation. The rows become c·first
	// + s·second and c·second - s·first.
	Turn(z []float64, stride, n int, turns []float64, first, step int)
}

// PortableEigenLoops implements EigenLoops in Go.
type PortableEigenLoops struct{}

// Combine implements EigenLoops.
func (PortableEigenLoops) Combine(y, x, a []float64, stride int) {
	clear(y)
	for k, c := range x {
		row := a[k*stride:][:len(y)]
		for j, v := range row {
			y[j] += float64(c * v)
		}
	}
}

// Less implements EigenLoops.
func (PortableEigenLoops) Less(a []float64, stride int, u, v []float64) {
	for i, c := range u {
		row := a[i*stride:][:len(v)]
		for j, x := range v {
			row[j] -= float64(c * x)
		}
	}
}

// LessBoth implements EigenLoops.
func (PortableEigenLoops) LessBoth(a []float64, stride int, u, v, s, t []float64) {
	t, s = t[:len(v)], s[:len(u)]
	for i, c := range u {
		row, b := a[i*stride:][:len(v)], s[i]
		for j, x := range v {
			row[j] -= float64(c*x) + float64(b*t[j])
		}
	}
}

// Turn implements EigenLoops.
func (PortableEigenLoops) Turn(z []float64, stride, n int, turns []float64, first, step int) {
	for ; len(turns) > 0; turns = turns[2:] {
		c, s := turns[0], turns[1]
		x := z[first*stride:][:n]
		first += step
		y := z[first*stride:][:n]
		for j, h := range x {
			v := y[j]
			x[j] = float64(c*h) + float64(s*v)
			y[j] = float64(c*v) - float64(s*h)
		}
	}
}

// eigenStride returns the distance of stored rows of n numbers. It is a multiple of eight but not
// of 64, so that rows do not all use the same few sets of the cache.
func eigenStride(n int) int {
	n = (n + 7) / 8 * 8
	if n%64 == 0 {
		n += 8
	}
	return n
}

// EigenWork returns the size of the work space of EigenSym.
func EigenWork(n int) int { s := eigenStride(n); return 2*n*s + 6*s }

// maxSweeps is the greatest number of sweeps allowed, on average over the eigenvalues.
const maxSweeps = 30

// EigenSym computes the eigenvalues, in ascending order, and the eigenvectors, in columns, of the
// symmetric n×n matrix a, of which it reads the lower triangle. All are NaN if an element of a is
// not finite. It returns false if the iteration does not converge; no such matrix is known.
func EigenSym[L EigenLoops](values, vectors, a []float64, n int, loops L, work []float64) bool {
	s := eigenStride(n)
	take := func(n int) []float64 {
		x := work[:n:n]
		work = work[n:]
		return x
	}
	m, q := take(n*s), take(n*s)
	e, tau, w, turns := take(s), take(s), take(s), take(2*s)
	scale, ok := symmetric(m, a, n, s)
	if !ok {
		for i := range values {
			values[i] = math.NaN()
		}
		for i := range vectors {
			vectors[i] = math.NaN()
		}
		return true
	}
	tridiagonal(m, values, e, tau, w, n, s, loops)
	reflections(q, m, tau, w, n, s, loops)
	for i := range n { // transpose, because rotations are applied to rows
		for j, x := range q[i*s : i*s+n] {
			m[j*s+i] = x
		}
		clear(m[i*s+n : (i+1)*s])
	}
	if !diagonalise(values, e, m, n, s, turns, loops) {
		return false
	}
	order := tau
	for i := range n { // insertion sort: eigenvalues are found mostly in ascending order
		x, j := values[i], i
		for ; j > 0 && values[j-1] > x; j-- {
			values[j], order[j] = values[j-1], order[j-1]
		}
		values[j], order[j] = x, float64(i)
	}
	for i, k := range order[:n] {
		values[i] *= scale
		for j, x := range m[int(k)*s:][:n] {
			vectors[j*n+i] = x
		}
	}
	return true
}

// symmetric fills m with the symmetric matrix whose lower triangle is in a, divided by a power of
// two such that the greatest element is about 1. It returns that power. ok is false if an element
// is not finite.
func symmetric(m, a []float64, n, s int) (scale float64, ok bool) {
	greatest := 0.0
	for i := range n {
		for _, x := range a[i*n : i*n+i+1] {
			greatest = max(greatest, math.Abs(x))
		}
	}
	if greatest-greatest != 0 {
		return 0, false
	}
	scale = 1
	if greatest > 0 {
		_, exponent := math.Frexp(greatest)
		scale = math.Ldexp(1, min(max(exponent, -1021), 1023))
	}
	inverse := 1 / scale
	for i := range n {
		for j, x := range a[i*n : i*n+i+1] {
			x *= inverse
			m[i*s+j], m[j*s+i] = x, x
		}
		clear(m[i*s+n : (i+1)*s])
	}
	return scale, true
}

// tridiagonal reduces m to a tridiagonal matrix with diagonal d and off-diagonal e, by reflections
// I - τ v vᵀ. The k-th v, whose elements up to the diagonal are 0 and the next one 1, is stored in
// row k of m.
func tridiagonal[L EigenLoops](m, d, e, tau, w []float64, n, s int, loops L) {
	for k := range n {
		d[k] = m[k*s+k]
		row := m[k*s : (k+1)*s]
		clear(row[:k+1])
		if k == n-1 {
			break
		}
		first, rest := row[k+1], 0.0
		for _, x := range row[k+2 : n] {
			rest += float64(x * x)
		}
		e[k], tau[k] = first, 0
		if rest == 0 {
			continue
		}
		beta := -math.Copysign(math.Sqrt(float64(first*first)+rest), first)
		t := (beta - first) / beta
		over := 1 / (first - beta)
		row[k+1] = 1
		for i := k + 2; i < n; i++ {
			row[i] *= over
		}
		e[k], tau[k] = beta, t
		// Compute A - τ (v wᵀ + w vᵀ) for w = Av - ½ τ (vᵀAv) v, in whole groups of eight columns.
		at := (k + 1) &^ 7
		v, w, part := row[at:], w[at:], m[(k+1)*s+at:]
		below := k + 1 - at
		loops.Combine(w, row[k+1:n], part, s)
		dot := 0.0
		for i, x := range v {
			dot += float64(x * w[i])
		}
		half := 0.5 * t * dot
		for i, x := range v {
			w[i] = t * (w[i] - float64(half*x))
		}
		clear(w[:below])
		loops.LessBoth(part, s, row[k+1:n], w, w[below:], v)
	}
}

// reflections sets q to the product of the reflections that tridiagonal stored.
func reflections[L EigenLoops](q, m, tau, w []float64, n, s int, loops L) {
	clear(q)
	for i := range n {
		q[i*s+i] = 1
	}
	for k := n - 2; k >= 0; k-- {
		if tau[k] == 0 {
			continue
		}
		at := (k + 1) &^ 7
		v, w, part := m[k*s+k+1:k*s+n], w[at:], q[(k+1)*s+at:]
		loops.Combine(w, v, part, s)
		for i := range w {
			w[i] *= tau[k]
		}
		loops.Less(part, s, v, w)
	}
}

// diagonalise reduces the tridiagonal matrix with diagonal d and off-diagonal e to a diagonal one,
// by implicit QL steps with Wilkinson's shifts. In each block it starts from the end with the
// smaller elements. It applies the rotations to the rows of z. It reports whether it converged.
func diagonalise[L EigenLoops](d, e, z []float64, n, s int, turns []float64, loops L) bool {
	const eps, tiny = 0x1p-52, 0x1p-1000
	small := func(i int) bool {
		return math.Abs(e[i]) <= eps*math.Sqrt(math.Abs(d[i])+math.Abs(d[i+1])) || math.Abs(e[i]) < tiny
	}
	left := maxSweeps * n
	for lo := 0; lo < n-1; {
		if small(lo) {
			lo++
			continue
		}
		hi := lo + 1
		for hi < n-1 && !small(hi) {
			hi++
		}
		// The k-th position of the block, counted from the end with the smaller elements, is at +
		// k·step. The off-diagonal element between that and the next is e[at + k·step + beside].
		at, step, beside := lo, 1, 0
		if math.Abs(d[hi]) < math.Abs(d[lo]) {
			at, step, beside = hi, -1, -1
		}
		for size := hi - lo; size > 0; {
			if small(at + beside) {
				at += step
				size--
				continue
			}
			last := 1
			for last < size && !small(at+last*step+beside) {
				last++
			}
			if left--; left < 0 {
				return false
			}
			sweep(d, e, at, step, beside, last, turns)
			loops.Turn(z, s, (n+7)&^7, turns[:2*last], at+last*step, -step)
		}
		lo = hi
	}
	return true
}

// sweep does one QL step on positions 0 to last of a block. It records the rotations, from the last
// pair of positions to the first; see diagonalise for at, step and beside.
func sweep(d, e []float64, at, step, beside, last int, turns []float64) {
	first := at + beside
	g := (d[at+step] - d[at]) / (2 * e[first])
	shift := d[at] - e[first]/(g+math.Copysign(math.Hypot(g, 1), g))
	i := at + last*step
	g = d[i] - shift
	s, c, p := 1.0, 1.0, 0.0
	for k := range last {
		next := i - step
		f, b := s*e[next+beside], c*e[next+beside]
		square := float64(g*g) + float64(f*f)
		norm := math.Sqrt(square)
		if !(square > 0x1p-900) {
			if norm = math.Hypot(g, f); norm == 0 {
				g, norm = 1, 1
			}
		}
		c, s = g/norm, f/norm
		if k > 0 {
			e[i+beside] = norm
		}
		g = d[i] - p
		r := float64((d[next]-g)*s) + float64(2*c*b)
		p = s * r
		d[i] = g + p
		g = float64(c*r) - b
		turns[2*k], turns[2*k+1] = c, s
		i = next
	}
	d[at] -= p
	e[first] = g
}
